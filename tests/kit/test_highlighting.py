"""Code is highlighted in a separate process, within a time limit."""

from __future__ import annotations

import pytest

from growing import LISTINGS
from octavo.core.document.html import render
from octavo.core.document.html_context import HtmlContext
from octavo.core.document.nodes import Block, Document, Leaf, Text
from octavo.core.highlighting import highlight
from octavo.kit.processes import highlighting
from octavo.kit.processes.highlighting import Highlighter, highlight_in_time

CODE = "def a(b):\n    return 'c'  # d\n"


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(highlighting, "LISTING_SECONDS", 0.1)
    monkeypatch.setattr(highlighting, "PAGE_SECONDS", 0.2)


@pytest.fixture(scope="module")
def highlighter():
    made = Highlighter()
    yield made
    made.close()


def test_the_process_returns_the_result_of_the_highlighter(highlighter):
    assert highlighter.for_page()(CODE, "python") == highlight(CODE, "python")
    assert highlighter.for_page()(CODE, "no such language") is None


def test_slow_code_blocks_are_not_highlighted(highlighter):
    colour = highlighter.for_page()
    words = "a " * 29_000
    assert colour(words, "java") is None
    assert colour(CODE, "python") == highlight(CODE, "python")
    lines = [Block("code-line", {}, [Text([Leaf(words)])])]
    slow, plain = (
        render(Document([Block("code", {"syntax": "java"}, lines)]), HtmlContext(highlight=how)).body
        for how in (highlighter.for_page(), lambda code, syntax: None)
    )
    assert slow == plain and words.strip() in slow


def test_code_blocks_of_a_page_share_a_time_limit(highlighter):
    colour = highlighter.for_page()
    for _ in range(4):
        assert colour("a " * 29_000, "java") is None
    assert colour(CODE, "python") is None
    assert highlighter.for_page()(CODE, "python") is not None


def test_a_dead_process_is_replaced(highlighter):
    assert highlighter.for_page()(CODE, "python")
    running = highlighter._process._process
    running.kill()
    running.wait()
    assert highlighter.for_page()(CODE, "python")


def test_an_aborted_highlighting_reports_its_time():
    cut = highlight_in_time("a " * 29_000, "java", 0.1)
    assert cut.tokens is None and cut.seconds >= 0.1
    assert highlight_in_time(CODE, "python").tokens == highlight(CODE, "python")


@pytest.mark.slow
@pytest.mark.parametrize(
    "language", ["java", "perl", "make", "js", "python", "bash", "ruby", "html", "yaml", "c++"]
)
def test_no_code_block_exceeds_its_time_limit(highlighter, language):
    for pattern in LISTINGS.values():
        found = highlighter._ask(highlighting._Wanted(pattern(50_000), language, 0.1))
        assert found.seconds < 1
