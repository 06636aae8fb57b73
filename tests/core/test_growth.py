"""No text makes more work than its length: what reads, writes, draws, merges and indexes a page, on every pattern.

Work is counted as executed lines of Python: the same on every machine, however busy. What happens inside of one call
of C, such as a regular expression, is not seen by that; the long test below compares times of the processor, on much
longer texts and with wide margins.
"""

from __future__ import annotations

import gc
import sys
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from growing import PAGES, SUMMARIES, Pattern
from octavo.content.search.tokens import words
from octavo.core.diff import diff_text
from octavo.core.document import markdown
from octavo.core.document.evaluating import evaluate_document
from octavo.core.document.html import render
from octavo.core.document.json import from_json, to_json
from octavo.core.document.keys import assign_keys, carry_keys, carry_sources
from octavo.core.document.markdown import MAX_ADDED_CELLS
from octavo.core.document.page import read_head, split_page, with_head
from octavo.core.document.reader import read
from octavo.core.document.references import references
from octavo.core.document.text import outline, sections, to_text, word_count
from octavo.core.document.typst import plain_typst, to_typst
from octavo.core.document.writing import write
from octavo.core.expressions import Shown
from octavo.core.merge_text import merge_page_text
from octavo.core.pages import slugify
from octavo.core.pieces import inner, match, split
from octavo.core.summary import plain_title, read_summary, write_summary


def _body(text: str) -> str:
    return split_page(text)[2]


def _changed(text: str, place: int, word: str) -> str:
    """Return the text with another word, at a third or half of its lines, or of its length if it has few."""
    lines = text.splitlines(keepends=True)
    if len(lines) < 4:
        at = len(text) // place
        return text[:at] + word + text[at:]
    lines[len(lines) // place] = f"{word} {lines[len(lines) // place]}"
    return "".join(lines)


def _everywhere(text: str) -> str:
    return "".join("x" + line for line in text.splitlines(keepends=True))


def _unsourced(text: str) -> Any:
    document = read(_body(text))
    for block in document.nodes:
        block.source = None
    document.gaps = []
    return document


def _versions(text: str, change: Callable[[str], str]) -> tuple[Any, Any]:
    return assign_keys(read(_body(text))), read(_body(change(text)))


def _nodes(text: str) -> Any:
    return msgspec.json.decode(msgspec.json.encode(to_json(read(_body(text)))))


Stage = tuple[Callable[[str], Any], Callable[[Any], Any]]
"""What is made of the text first, and the work that is counted."""

STAGES: dict[str, Stage] = {
    "head": (
        str,
        lambda text: (read_head(text), with_head(text, {"title": "a", "description": "b", "icon": None})),
    ),
    "read": (_body, read),
    "write": (_unsourced, write),
    "keys": (lambda text: read(_body(text)), assign_keys),
    "keys carried": (
        lambda text: _versions(text, lambda it: _changed(it, 2, "new")),
        lambda two: carry_keys(*two),
    ),
    "keys carried far": (lambda text: _versions(text, _everywhere), lambda two: carry_keys(*two)),
    "sources carried": (
        lambda text: _versions(text, lambda it: _changed(it, 2, "new")),
        lambda two: carry_sources(*two),
    ),
    "to nodes": (lambda text: read(_body(text)), to_json),
    "from nodes": (_nodes, from_json),
    "html": (lambda text: read(_body(text)), render),
    "typst": (lambda text: read(_body(text)), to_typst),
    "text": (
        lambda text: read(_body(text)),
        lambda it: (to_text(it), sections(it), outline(it), word_count(it)),
    ),
    "references": (lambda text: read(_body(text)), references),
    "evaluated": (
        lambda text: read(_body(text)),
        lambda it: evaluate_document(it, Shown({}, {}), deterministic=False),
    ),
    "words": (str, words),
    "pieces": (str, lambda text: [inner(piece) for piece in split(text).pieces]),
    "matched": (lambda text: (split(text), split(_everywhere(text))), lambda two: match(*two)),
    "merged": (
        str,
        lambda text: merge_page_text(text, _changed(text, 2, "ours"), _changed(text, 3, "theirs")),
    ),
    "merged far": (str, lambda text: merge_page_text(text, _everywhere(text), _changed(text, 3, "theirs"))),
    "compared": (str, lambda text: diff_text(text, _changed(text, 2, "new"))),
    "compared far": (str, lambda text: diff_text(text, _everywhere(text))),
    "plain": (str, lambda text: (plain_typst(text), slugify(text), plain_title(text))),
    "summary": (str, lambda text: write_summary(read_summary(text))),
}


def count_lines(work: Callable[[], Any]) -> int:
    """Return the number of Python lines that the work executes."""
    count = 0

    def trace(frame: Any, event: str, argument: Any) -> Any:
        nonlocal count
        count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def grown(stage: Stage, pattern: Pattern, size: int, times: int) -> float:
    """Return the factor by which the work grows when the text grows ``times``."""
    prepare, work = stage
    counts = []
    for length in (size, size * times):
        given = prepare(pattern(length))
        counts.append(count_lines(lambda given=given: work(given)))
    return counts[1] / (counts[0] + 2000)


ONCE_SLOW = {
    "fences of growing length",
    "divs open",
    "divs open in lists",
    "quotes of growing depth",
    "details nested",
    "hints nested",
    "conditions nested",
    "long footnote named often",
    "table with empty cells",
    "table with short rows",
    "equal headings",
    "pipes escaped in a cell",
    "lists nested",
    "stars nested",
    "brackets nested",
    "tags nested",
    "equal tabs",
    "headings with anchors",
    "different words",
}
QUICK = ONCE_SLOW | set([*PAGES][::32])
"""Those that every run tries; the others take minutes together."""


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in PAGES]
)
def test_work_grows_linearly_with_the_text(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # In texts this short, a fortieth of the added cells of a page is relevant.
    monkeypatch.setattr(markdown, "MAX_ADDED_CELLS", MAX_ADDED_CELLS // 40)
    pattern = PAGES[name]
    found = {stage: round(grown(STAGES[stage], pattern, 700, 4), 1) for stage in STAGES}
    assert {stage: growth for stage, growth in found.items() if growth > 6} == {}


@pytest.mark.parametrize("name", SUMMARIES)
def test_tables_of_contents_of_any_shape_are_parsed(name: str) -> None:
    assert grown(STAGES["summary"], SUMMARIES[name], 2000, 4) < 6


def processor_time(stage: Stage, pattern: Pattern, size: int) -> float:
    """Return the CPU time of the work in seconds, the better of two runs."""
    prepare, work = stage
    best = float("inf")
    for _ in range(2):
        given = prepare(pattern(size))
        gc.collect()
        begin = time.thread_time()
        work(given)
        best = min(best, time.thread_time() - begin)
        if best < 0.05:
            break
    return best


@pytest.mark.slow
@pytest.mark.parametrize("name", [*PAGES, *SUMMARIES])
def test_time_grows_linearly_with_the_text(name: str) -> None:
    """Eight times the text may take three times as much as eight times the time; a square takes 64 times."""
    pattern = PAGES.get(name) or SUMMARIES[name]
    slow = {}
    for stage, work in STAGES.items():
        for _ in range(3):
            large = processor_time(work, pattern, 32_000)
            if large < 0.07 or large < 24 * processor_time(work, pattern, 4_000):
                break
        else:
            slow[stage] = large
    assert slow == {}


MEMORY = {
    "paragraphs": 205,
    "headings": 55,
    "table with rows": 210,
    "lists": 240,
    "tags nested": 135,
    "stars open": 180,
    "links": 235,
    "equal tabs": 75,
}
"""How many times its text a page may take. Where every third character makes a block with its dict, its lists, its
text and its source, the document alone, which is kept, takes 110 to 145 times; the rest are the tokens of one long
paragraph or list, and the pieces of HTML before they are joined."""


@pytest.mark.parametrize("size", [30_000, pytest.param(100_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", MEMORY)
@pytest.mark.slow
def test_memory_grows_linearly_with_the_text(name: str, size: int) -> None:
    """Peak memory of a page during parsing and rendering."""
    text = PAGES[name](size)
    tracemalloc.start()
    try:
        render(read(_body(text)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < MEMORY[name] * len(text)


@pytest.mark.parametrize(
    "name", ["table with empty cells", "table with short rows", "tables with empty cells"]
)
@pytest.mark.slow
def test_missing_table_cells_are_added_up_to_a_limit(name: str) -> None:
    """However many cells are left out, no more are made than the API takes, and the text stays."""
    text = PAGES[name](20_000)
    document = read(text)
    cells = sum(len(block.fragments) for block in document.nodes)
    assert cells <= MAX_ADDED_CELLS + text.count("|") + text.count("\n")
    assert from_json(to_json(document)).nodes
    assert write(document) == text


@pytest.mark.parametrize("name", ["hints nested", "details nested", "conditions nested", "lists nested"])
def test_deeply_nested_blocks_are_merged(name: str) -> None:
    text = PAGES[name](60_000)
    ours, theirs = _changed(text, 2, "ours"), _changed(text, 3, "theirs")
    merged = merge_page_text(text, ours, theirs)
    said = merged.text + "".join(f"{conflict.ours}{conflict.theirs}" for conflict in merged.conflicts)
    assert "ours" in said and "theirs" in said
