"""Benchmark merging a change request of 1,000 pages that main edited too: pages per second on one core, compared with
the time difflib takes for the same lines."""

from __future__ import annotations

import hashlib
import time
from difflib import SequenceMatcher
from random import Random

from figures import figure
from msgspec.structs import replace

from octavo.core.merge import Versions, merge
from octavo.core.pages import Page, ranks

PAGES = 1_000
WORDS = "merge branch page block table reader writer editor review answer question".split()


def sentence(random: Random) -> str:
    return " ".join(random.choices(WORDS, k=14)).capitalize() + "."


def source(random: Random) -> str:
    """Return a page of about 6,000 characters, the average length of real pages."""
    blocks = [f"# {sentence(random)}"]
    for n in range(36):
        if n % 9 == 4:
            blocks.append("\n".join(f"* {sentence(random)}" for _ in range(5)))
        elif n % 9 == 6:
            rows = "\n".join(f"| {random.choice(WORDS)} | {sentence(random)} |" for _ in range(4))
            blocks.append(f"| Name | Text |\n| --- | --- |\n{rows}")
        elif n % 9 == 8:
            blocks.append(f'{{% hint style="info" %}}\n{sentence(random)}\n{{% endhint %}}')
        else:
            blocks.append(sentence(random))
    return "\n\n".join(blocks) + "\n"


def edited(random: Random, text: str) -> str:
    """Return the text with three blocks changed, one added, and one removed."""
    blocks = text.split("\n\n")
    for _ in range(3):
        at = random.randrange(1, len(blocks))
        blocks[at] = blocks[at].replace(random.choice(WORDS), "other", 1)
    blocks.insert(random.randrange(1, len(blocks)), sentence(random))
    del blocks[random.randrange(1, len(blocks))]
    return "\n\n".join(blocks)


def main() -> None:
    random = Random(1)
    texts: dict[str, str] = {}

    def digest(text: str) -> str:
        return hashlib.sha256(text.encode()).hexdigest()

    def page(n: int, rank: str, text: str) -> Page:
        key = digest(text)
        texts[key] = text
        return Page(id=f"p{n:04}", rank=rank, slug=f"page-{n}", title=f"Page {n}", body=key)

    states: list[dict[str, Page | None]] = [{}, {}, {}]
    for n, rank in enumerate(ranks(PAGES)):
        text = source(random)
        first = page(n, rank, text)
        states[0][first.id] = first
        states[1][first.id] = replace(page(n, rank, edited(random, text)), icon="star")
        states[2][first.id] = replace(page(n, rank, edited(random, text)), hidden=True)

    begin = time.process_time()
    result = merge(*(Versions(state) for state in states), read=texts.__getitem__, digest=digest)
    took = time.process_time() - begin

    begin = time.process_time()
    for first, mine, yours in zip(*(state.values() for state in states), strict=True):
        lines = [texts[found.body].split("\n") for found in (first, mine, yours) if found and found.body]
        SequenceMatcher(None, lines[0], lines[1]).get_opcodes()
        SequenceMatcher(None, lines[0], lines[2]).get_opcodes()
    beside = time.process_time() - begin

    size = sum(map(len, texts.values())) // len(texts)
    figure(
        f"merge of {PAGES:,} pages of {size:,} characters, both sides edited",
        PAGES / took,
        "pages per CPU second",
    )
    print(f"{len(result.conflicts)} conflicts, {len(result.bodies)} merged bodies")
    figure(
        f"merge of {PAGES:,} pages, compared with difflib on the same lines", took, "s of CPU", beside=beside
    )


if __name__ == "__main__":
    main()
