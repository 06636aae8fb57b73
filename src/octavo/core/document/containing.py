"""Limit failures in Octavo's code to the block in which they occur. The rest of the page is still parsed, rendered, and
searchable, and the failure is reported to the server administrator.

Parsers and renderers contain failures while they process the blocks. ``contained`` does the same for code that
processes a document as a whole.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from .nodes import Block, Document, plain_text

T = TypeVar("T")

DEFECTS: tuple[type[Exception], ...] = (
    LookupError,
    ValueError,
    TypeError,
    AttributeError,
    ArithmeticError,
    AssertionError,
    RecursionError,
)
"""Exceptions raised by code that encounters an unexpected case. They don't include errors for callers, database errors,
or exceeded deadlines."""

_TRIES = 64
"""Maximum number of parts of a document to try. After that, every block in the parts that weren't tried counts as
failing."""

Report = Callable[[str, Exception, int], None]
_reports: list[Report] = []


def on_failure(report: Report) -> None:
    """Register a callback for failures. Its arguments are the stage of parsing or rendering, the first exception, and
    the number of blocks."""
    _reports.append(report)


class Failures:
    """Failures in one document at one stage (``read``, ``html``, ...). They are reported only once."""

    def __init__(self, stage: str) -> None:
        self._stage = stage
        self._first: Exception | None = None
        self.count = 0

    def add(self, error: Exception) -> None:
        self._first = self._first or error
        self.count += 1

    def report(self) -> None:
        if self._first is not None:
            report_failure(self._stage, self._first, self.count)


def report_failure(stage: str, error: Exception, count: int = 1) -> None:
    """Report one failure that affects this many blocks."""
    for report in _reports:
        report(stage, error, count)


def inert_block(source: str) -> Block:
    """Return the replacement for a failing block: its source as text."""
    return Block("unknown", {"source": source, "kind": "text"}, source=source)


def contained(stage: str, load: Callable[[], Document], work: Callable[[Document], T]) -> T:
    """Return the result of ``work`` on a document, with each top-level block for which it fails replaced by its source.
    ``load``: a function that returns a new copy of the document each time, because ``work`` may change it."""
    try:
        return work(load())
    except DEFECTS as error:
        failures = Failures(stage)
        failures.add(error)
    nodes = load().nodes
    failing = _failing(len(nodes), load, work)
    failures.count = max(1, len(failing))
    failures.report()
    try:
        return work(_without(load(), failing))
    except DEFECTS:
        return work(_without(load(), set(range(len(nodes)))))


def _without(document: Document, failing: set[int]) -> Document:
    nodes = [
        inert_block(node.source if node.source is not None else plain_text(node)) if at in failing else node
        for at, node in enumerate(document.nodes)
    ]
    return Document(nodes, document.gaps)


def _failing(count: int, load: Callable[[], Document], work: Callable[[Document], object]) -> set[int]:
    """Return the indexes of the blocks for which ``work`` fails, found by bisection."""
    failing: set[int] = set()
    parts = [(0, count)]
    tries = 0
    while parts:
        start, end = parts.pop()
        tries += 1
        if tries <= _TRIES:
            document = load()
            try:
                work(Document(document.nodes[start:end], document.gaps[start : end + 1]))
                continue
            except DEFECTS:
                pass
        if tries > _TRIES or end - start == 1:
            failing.update(range(start, end))
        elif end > start:
            middle = (start + end) // 2
            parts += [(middle, end), (start, middle)]
    return failing
