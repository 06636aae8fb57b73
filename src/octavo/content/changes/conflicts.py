"""Filter conflicts by the pages that a person can see."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

import msgspec
from msgspec.structs import replace

from octavo.core.merge import MergeConflict

from .store import SettledConflict


def list_seen(conflicts: Iterable[MergeConflict], hidden: Collection[str]) -> list[MergeConflict]:
    """Return the conflicts that don't involve any hidden page, neither as the page in conflict nor in one of the
    values."""
    return [conflict for conflict in conflicts if not any(id in hidden for id in _pages_of(conflict))]


def is_seen(settled: SettledConflict, hidden: Collection[str]) -> bool:
    """Return whether neither a resolved conflict nor the value that resolved it involves a hidden page."""
    conflict = settled.were_open[0]
    chosen = [] if settled.value is None else [replace(conflict, ours=msgspec.json.decode(settled.value))]
    return len(list_seen([conflict, *chosen], hidden)) == 1 + len(chosen)


def _pages_of(conflict: MergeConflict) -> Iterator[object]:
    yield conflict.id
    for value in (conflict.base, conflict.ours, conflict.theirs):
        match conflict.field, value:
            case "place", (parent, _) | {"parent": parent}:
                yield parent
            case "target", dict():
                yield value.get("page")
            case None, dict():
                yield value.get("parent")
                yield (value.get("target") or {}).get("page")
