"""Benchmark how often the section that answers a question is among the first passages that an answer is based on.

    python bench/bench_asking.py [FOLDER...]

Questions are generated from sections of every folder with a SUMMARY.md below the given ones (by default, of the
manual): from the heading, from a sentence of the section reworded with other words around it, and from the heading
with one wrong letter. The page's title is added to the question if several sections have the same heading. Each
question has exactly one right section.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from figures import figure

from octavo.assistants.ask.material import MemberMaterial
from octavo.assistants.ask.retrieving import retrieve
from octavo.content.revisions.bodies import read_source
from octavo.content.revisions.page_versions import list_pages
from octavo.content.revisions.restrictions import hidden_on_sites
from octavo.content.revisions.states import main_state
from octavo.core.document.text import sections
from octavo.core.sentences import content_words, sentences, stems
from octavo.kit.context import Context
from octavo.operations.admin.first_start import token_for
from octavo.operations.admin.import_export import import_space
from octavo.operations.installation import close_context, load_packages, open_context
from octavo.organization.access.accounts import find_user_by_email
from octavo.organization.orgs.creating import create_organization
from octavo.settings import load

SEED = 15
QUESTIONS = 300
FIRST = 5
MISSES = 12
KINDS = {
    "heading": "questions made from headings",
    "sentence": "questions made from sentences",
    "mistyped": "mistyped questions",
}

ASKED = [
    "How do I do this: {}?",
    "What is there to know about {}?",
    "Where is {} explained?",
    "I need help with {}.",
    "Can you tell me about {}",
    "{}?",
]


class Question(NamedTuple):
    kind: str
    text: str
    page: str
    anchor: str | None


class Told(NamedTuple):
    page: str
    anchor: str | None
    title: str
    heading: str
    text: str


def mistype(text: str, chance: random.Random) -> str:
    words = text.split()
    long = [at for at, word in enumerate(words) if len(word) > 5 and word.isalpha()]
    if not long:
        return text
    at = chance.choice(long)
    word, place = words[at], chance.randrange(1, len(words[at]) - 1)
    words[at] = word[:place] + word[place + 1] + word[place] + word[place + 2 :]
    return " ".join(words)


def questions(told: list[Told], chance: random.Random) -> list[Question]:
    headings = Counter(" ".join(sorted(set(stems(each.heading)))) for each in told)
    places = Counter((each.title, each.heading) for each in told)
    found: list[Question] = []
    # Ids, by which pages are in order, are others in each run.
    order = sorted(told, key=lambda each: (each.title, each.heading, each.text))
    chance.shuffle(order)
    for each in order:
        kind = [*KINDS][len(found) % 3]
        if kind == "sentence":
            said = [sentence for sentence in sentences(each.text) if 6 <= len(set(stems(sentence))) <= 25]
            if not said:
                continue
            asked = " ".join(content_words(chance.choice(said))[:8])
        else:
            roots = sorted(set(stems(each.heading)))
            if len(roots) < 2 and len(each.heading) < 6:
                continue
            if places[each.title, each.heading] > 1:
                # The question would be ambiguous.
                continue
            asked = each.heading
            if headings[" ".join(roots)] > 1 or len(roots) < 2:
                asked = f"{each.heading} in {each.title}"
            if kind == "mistyped":
                asked = mistype(asked, chance)
        found.append(Question(kind, chance.choice(ASKED).format(asked), each.page, each.anchor))
        if len(found) == QUESTIONS:
            break
    return found


def read_all(context: Context, spaces: list[str]) -> list[Told]:
    found = []
    with context.db.read() as tx:
        for space in spaces:
            for page in list_pages(tx, main_state(tx, space)):
                if page.kind != "document" or page.hidden or page.no_index:
                    continue
                for section in sections(read_source(tx, page.body)):
                    if len(section.text) > 80:
                        found.append(
                            Told(page.id, section.id, page.title, section.title or page.title, section.text)
                        )
    return found


def main() -> None:
    roots = [Path(name) for name in sys.argv[1:]] or [Path(__file__).parents[1] / "docs"]
    folders = sorted({path.parent for root in roots for path in root.rglob("SUMMARY.md")})
    folders = [folder for folder in folders if not any(other in folder.parents for other in folders)]
    load_packages()
    with tempfile.TemporaryDirectory() as data:
        context = open_context(load(environ={"OCTAVO_DATA": data}))
        token_for(context, email="bench@example.com")
        with context.db.write() as tx:
            user = find_user_by_email(tx, "bench@example.com")
            assert user is not None
            org = create_organization(tx, user.id, "Bench").id
        spaces = [import_space(context, str(folder), organization_id=org).outcome.space for folder in folders]
        told = read_all(context, spaces)
        asked = questions(told, random.Random(SEED))
        right: Counter[str] = Counter()
        of: Counter[str] = Counter()
        misses = []
        begun = time.process_time()
        with context.db.read() as tx:
            material = MemberMaterial(context, spaces, hidden_on_sites(tx, org))
            for question in asked:
                found = retrieve(tx, material, question.text)[:FIRST]
                of[question.kind] += 1
                if any((each.page_id, each.anchor) == (question.page, question.anchor) for each in found):
                    right[question.kind] += 1
                else:
                    is_near = any(each.page_id == question.page for each in found)
                    misses.append(f"  {question.kind}{' (right page)' if is_near else ''}: {question.text}")
        took = time.process_time() - begun
        close_context(context)
    print(f"{len(told)} sections, {len(asked)} questions")
    figure("find sections for a question", took / len(asked) * 1000, "ms of CPU")
    for kind in of:
        figure(f"correct section in the top {FIRST}: {KINDS[kind]}", right[kind] / of[kind])
    figure(f"correct section in the top {FIRST}: all questions", sum(right.values()) / len(asked))
    print("missed:", *misses[:MISSES], sep="\n")


if __name__ == "__main__":
    main()
