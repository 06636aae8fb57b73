"""Benchmark how often an edit of one word keeps every other byte of a page.

    python bench/bytes_kept.py [--show N] FOLDER...

On each page, one word is changed in one leaf of each kind (a paragraph, a cell, the title of an expandable
…), once by saving the whole document and once by setting its block. Prints the share of pages on which all of
these edits kept the other bytes, the share of such edits, and the kinds of leaves with exceptions.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from octavo.core.document.blocks import BlockEdits, index_blocks, is_empty, without_empty
from octavo.core.document.json import from_json, nodes_from_json, to_json
from octavo.core.document.keys import assign_keys, carry_keys, carry_sources
from octavo.core.document.nodes import Document
from octavo.core.document.page import split_page
from octavo.core.document.reader import read
from octavo.core.document.writing import write

MARK = "Zq"
"""Mark that is added after a word; no page contains it."""
WORD = re.compile(r"[^\W\d_]{3,}")
ADDRESS = re.compile(r"[a-z]+://|www\.|mailto:|[^\s@]+@")
NAMED = ("type", "fragment")


def leaves(nodes: list[Any]) -> Iterator[tuple[int, str, dict[str, Any], str]]:
    """Return each place with words in nodes given as JSON: its top-level block, its kind, what contains it, and under
    which name."""
    for at, top in enumerate(nodes):
        stack: list[tuple[Any, tuple[str, ...]]] = [(top, ())]
        while stack:
            node, path = stack.pop()
            if "leaves" in node:
                for leaf in node["leaves"]:
                    marks = "+".join(sorted(mark["type"] for mark in leaf["marks"]))
                    kind = " > ".join(path) + (f" ({marks})" if marks else "")
                    # The words of an address that is a link are its address: other words are another link.
                    if WORD.search(leaf["text"]) and not ADDRESS.match(leaf["text"]):
                        yield at, kind, leaf, "text"
                continue
            here = next((node[name] for name in NAMED if node.get(name)), "")
            here = "cell" if re.fullmatch(r"r\d+c\d+", here) else here
            below = (*path, str(here))
            stack += [(child, below) for child in (*node.get("nodes", ()), *node.get("fragments", ()))]


def save_whole(text: str, change: Callable[[list[Any]], int]) -> str:
    """Return the text after a change of its document, saved as a whole."""
    old = assign_keys(read(text))
    given = to_json(old)
    change(given["nodes"])
    new = from_json(given)
    if not any(map(is_empty, old.nodes)):
        new = without_empty(new)
    carry_keys(old, new)
    carry_sources(old, new)
    return write(new, {block.key or "": block for block in old.nodes})


def save_block(text: str, change: Callable[[list[Any]], int]) -> str:
    """Return the text after a change of one top-level block, which alone is saved."""
    old = assign_keys(read(text))
    nodes = to_json(old)["nodes"]
    at = change(nodes)
    index = index_blocks(old)
    try:
        edits = BlockEdits(text, index)
        edits.set(nodes[at]["key"], Document(nodes_from_json([nodes[at]], "").nodes), "")
        return edits.finish().text
    except Exception as error:
        if type(error).__name__ != "NotLocal":
            raise
    edits = BlockEdits(text, index, assign_keys(read(text)))
    edits.set(nodes[at]["key"], Document(nodes_from_json([nodes[at]], "").nodes), "")
    return edits.finish().text


def changing(number: int) -> Callable[[list[Any]], int]:
    """Return a function that changes the leaf with this number."""

    def change(nodes: list[Any]) -> int:
        for count, (at, _, holder, name) in enumerate(leaves(nodes)):
            if count == number:
                found = WORD.search(holder[name])
                assert found is not None
                holder[name] = holder[name][: found.end()] + MARK + holder[name][found.end() :]
                return at
        raise AssertionError(number)

    return change


class Count:
    def __init__(self) -> None:
        self.pages, self.exact, self.edits, self.kept = 0, 0, 0, 0
        self.kinds: Counter[str] = Counter()
        self.shown: list[str] = []

    def page(self, name: str, text: str) -> None:
        body = split_page(text)[2]
        kinds: dict[str, int] = {}
        for number, (_, kind, _, _) in enumerate(leaves(to_json(read(body))["nodes"])):
            kinds.setdefault(kind, number)
        bad = False
        for kind, number in kinds.items():
            for way in (save_whole, save_block):
                said = way(body, changing(number))
                self.edits += 1
                if is_kept(body, said):
                    self.kept += 1
                    continue
                bad = True
                self.kinds[f"{way.__name__}: {kind}"] += 1
                self.shown.append(f"--- {name}: {way.__name__}: {kind}\n{difference(body, said)}")
        self.pages += 1
        self.exact += not bad


def is_kept(before: str, after: str) -> bool:
    """Return whether nothing else differs. A reference link named only by its words has a URL after they change."""
    if after.count(MARK) != 1:
        return False
    if after.replace(MARK, "") == before:
        return True
    low = next((n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), 0)
    pattern = re.escape(after[:low]) + r"[^\]]*\](\(.*?\))"
    found = re.match(pattern, after)
    return found is not None and any(
        after[: found.start(1)].replace(MARK, "") + label + after[found.end(1) :] == before
        for label in ("", "[]")
    )


def difference(before: str, after: str) -> str:
    """Return what differs between the common beginning and end, with some context."""
    low = next((n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), 0)
    high = next((n for n, (a, b) in enumerate(zip(before[::-1], after[::-1], strict=False)) if a != b), 0)
    high = min(high, len(before) - low, len(after) - low)
    start = max(0, low - 30)
    return f"    {before[start : len(before) - high + 20]!r:.400}\n    {after[start : len(after) - high + 20]!r:.400}"


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument(
        "--show", type=int, default=0, help="number of edits to print that changed other bytes"
    )
    asked.add_argument("--every", type=int, default=1, help="check only every Nth page")
    asked.add_argument("folders", nargs="+", type=Path)
    given = asked.parse_args()
    for folder in given.folders:
        count = Count()
        for file in sorted(folder.rglob("*.md"))[:: given.every]:
            text = file.read_bytes().decode("utf-8", "replace")
            if MARK not in text and len(text) < 200_000:
                count.page(str(file.relative_to(folder)), text)
        if not count.pages:
            continue
        print(
            f"{folder}: {100 * count.exact / count.pages:.1f} % of {count.pages} pages exact, "
            f"{100 * count.kept / max(1, count.edits):.2f} % of {count.edits} edits"
        )
        for kind, number in count.kinds.most_common(12):
            print(f"    {number} {kind}")
        for shown in count.shown[: given.show]:
            print(shown)


if __name__ == "__main__":
    main()
