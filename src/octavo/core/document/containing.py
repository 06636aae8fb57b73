"""A failure of our own code at one block stays in that block: all else of the page is read, drawn and found, and what
fails is told to who runs the installation.

Readers and drawers contain what fails while they go through the blocks; ``contained`` does it for whatever goes through
a document as a whole.
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
"""What code raises that met something it was not written for. What callers are told, what a database says and what a
deadline ends are others."""

_TRIES = 64
"""So often a document is tried in parts; of a part that is still undecided then, every block counts as failing."""

Report = Callable[[str, Exception, int], None]
_reports: list[Report] = []


def on_failure(report: Report) -> None:
    """Registers who is told of failures: the stage of reading or drawing, the first exception, and at how many
    blocks."""
    _reports.append(report)


class Failures:
    """What failed in one document at one stage (``read``, ``html``, ...); told once."""

    def __init__(self, stage: str) -> None:
        self._stage = stage
        self._first: Exception | None = None
        self.count = 0

    def add(self, error: Exception) -> None:
        self._first = self._first or error
        self.count += 1

    def tell(self) -> None:
        if self._first is not None:
            tell_failure(self._stage, self._first, self.count)


def tell_failure(stage: str, error: Exception, count: int = 1) -> None:
    """Tells of one failure, at so many blocks."""
    for report in _reports:
        report(stage, error, count)


def inert_block(source: str) -> Block:
    """What is shown in the place of a block that fails: its source, as text."""
    return Block("unknown", {"source": source, "kind": "text"}, source=source)


def contained(stage: str, load: Callable[[], Document], work: Callable[[Document], T]) -> T:
    """What ``work`` makes of a document, with the source in the place of each top-level block where it fails. ``load``
    gives the document anew each time, for ``work`` may change it."""
    try:
        return work(load())
    except DEFECTS as error:
        failures = Failures(stage)
        failures.add(error)
    nodes = load().nodes
    failing = _failing(len(nodes), load, work)
    failures.count = max(1, len(failing))
    failures.tell()
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
    """The places of the blocks at which it fails, found by halves."""
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
