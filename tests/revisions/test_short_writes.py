"""No long work happens under the write lock, whatever the page: computation is done beforehand, and many rows
are written in short transactions."""

from __future__ import annotations

import sys
from contextlib import contextmanager

import pytest

from changes.working import Space, insert, update
from growing import PAGES
from octavo.content.revisions import staging
from octavo.content.search import indexing, store
from octavo.core.document import markdown as blocks
from octavo.core.document import reader
from octavo.core.document.reader import read
from octavo.kit.work.worker import Worker

NODES, ROWS, BATCH, SECTIONS, WORDS = 3000, 400, 200, 40, 100
ROWS_OF_A_SECTION = 12
"""Those of the full-text index included."""
HEAVY = [
    "headings",
    "equal headings",
    "links",
    "conditions",
    "footnotes",
    "different words",
    "table with rows",
    "tabs",
]
NEVER_WRITTEN = {"zero characters", "tables with empty cells"}
"""What is refused, and what even at its smallest has more than ``NODES``."""
ALL = [
    name if name in HEAVY else pytest.param(name, marks=pytest.mark.slow)
    for name in PAGES
    if name not in NEVER_WRITTEN
]


class Spent:
    """Rows changed and lines of Python executed by the busiest transaction."""

    rows = 0
    lines = 0


@contextmanager
def counting_writes(context, monkeypatch):
    spent = Spent()
    begin = context.db.write
    connection = context.db._writer

    @contextmanager
    def counted():
        with begin() as tx:
            before, lines = connection.total_changes, 0

            def trace(frame, event, argument):
                nonlocal lines
                lines += 1
                return trace

            earlier = sys.gettrace()
            sys.settrace(trace)
            try:
                yield tx
            finally:
                sys.settrace(earlier)
                spent.rows = max(spent.rows, connection.total_changes - before)
                spent.lines = max(spent.lines, lines)

    with monkeypatch.context() as patched:
        patched.setattr(context.db, "write", counted)
        yield spent


def largest(pattern):
    """Return the longest text with the pattern, within limits, that is processed as a whole with another line
    in its middle."""
    size = 40_000
    while not (read(pattern(size)).whole and read(edited(pattern(size))).whole):
        size = size * 3 // 4
        assert size, "not even the smallest text of this pattern is read as a whole"
    return pattern(size)


def edited(text):
    """Return the text with an additional line in its middle."""
    lines = text.splitlines(keepends=True)
    lines.insert(len(lines) // 2, "new\n")
    return "".join(lines)


@pytest.mark.parametrize("name", ALL)
def test_every_write_is_short(name, sqlite_world, monkeypatch):
    for module in (blocks, reader):
        monkeypatch.setattr(module, "MAX_NODES", NODES)
    monkeypatch.setattr(staging, "MOST_AT_ONCE", ROWS)
    monkeypatch.setattr(staging, "BATCH", BATCH)
    monkeypatch.setattr(indexing, "_MAX_SECTIONS", SECTIONS)
    monkeypatch.setattr(store, "_MAX_WORDS", WORDS)
    context, space = sqlite_world.context, Space(sqlite_world)
    text = largest(PAGES[name])
    with counting_writes(context, monkeypatch) as spent:
        change = space.create()
        made = space.edit(change, insert(text, title="Heavy"))
        space.merge(change)
        page = made["changes"][0]["page"]["id"]
        change = space.create()
        space.edit(change, update(page, document={"markdown": edited(text)}))
        space.merge(change)
        Worker(context.db, context).run_pending()
    assert spent.rows <= ROWS + SECTIONS * ROWS_OF_A_SECTION + 2 * WORDS
    assert spent.lines <= 60 * spent.rows + 6000
