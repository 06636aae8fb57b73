"""What is derived from main of each space, in tables of its own: kept true by every revision of main, inside the
transaction that makes it, and made anew where it was lost.

Whoever derives something has two steps, so that no heavy work is done under the write lock: ``prepare`` reads and
computes before, ``apply`` writes.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import Any, NamedTuple, Protocol

from msgspec.structs import replace

from ..kit.db import Database, Transaction
from .store import ITEM_KINDS, BranchMoved, Changes, State, list_items, list_pages, lock_branch, main_state

_ATTEMPTS = 5


class Prepare(Protocol):
    def __call__(
        self, tx: Transaction, state: State, changes: Changes, hosts: tuple[str, ...], *, anew: bool = False
    ) -> Any: ...


StillTrue = Callable[[Transaction, str, Changes, Set[str], Any], bool]


class Derived(NamedTuple):
    prepare: Prepare
    is_still_true: StillTrue
    apply: Callable[[Transaction, str, Any], None]
    clear: Callable[[Transaction, str], None]
    check: Callable[[Transaction, str, tuple[str, ...]], str | None]


_derived: list[Derived] = []


def derive_from_main(
    prepare: Prepare,
    is_still_true: StillTrue,
    apply: Callable[[Transaction, str, Any], None],
    clear: Callable[[Transaction, str], None],
    check: Callable[[Transaction, str, tuple[str, ...]], str | None],
) -> None:
    """Registers what derives something from main.

    ``prepare(tx, state, changes, hosts)`` is called in a read with the head of main that is to change and the hosts of
    this installation (``core.links.app_hosts``), or with ``anew=True`` as if nothing of the space had been derived so
    far; ``apply(tx, space_id, prepared)`` in the write. ``clear(tx, space_id)`` deletes what was derived from a space.
    ``check(tx, space_id, hosts)`` says what is wrong with it. ``is_still_true(tx, space_id, changes, page_ids,
    prepared)`` says in the write whether what was prepared would be the same after others changed the texts and fields
    of these other pages.
    """
    _derived.append(Derived(prepare, is_still_true, apply, clear, check))


def prepare_derived(tx: Transaction, state: State, changes: Changes, hosts: tuple[str, ...]) -> list[Any]:
    """What everything derived needs for these changes of main."""
    return [derived.prepare(tx, state, changes, hosts) for derived in _derived]


def is_still_true(
    tx: Transaction, space_id: str, changes: Changes, moved: Set[str], prepared: list[Any]
) -> bool:
    """Whether all that was prepared would be the same after others changed the texts and fields of these pages."""
    return all(
        derived.is_still_true(tx, space_id, changes, moved, ready)
        for derived, ready in zip(_derived, prepared, strict=True)
    )


def apply_derived(tx: Transaction, space_id: str, prepared: list[Any]) -> None:
    """Writes everything that is derived, in the transaction of the revision."""
    for derived, ready in zip(_derived, prepared, strict=True):
        derived.apply(tx, space_id, ready)


def rebuild_derived(database: Database, space_id: str, hosts: tuple[str, ...]) -> None:
    """Makes all that is derived from a space anew. It is there all the while; whoever refers to the space from
    elsewhere is looked at again, too. Raises NotFound, BranchMoved when main never holds still."""
    for attempt in range(_ATTEMPTS):
        with database.read() as tx:
            state, changes = as_new(tx, space_id)
            head = main_state(tx, space_id)
            prepared = [derived.prepare(tx, state, changes, hosts, anew=True) for derived in _derived]
        try:
            with database.write() as tx:
                lock_branch(tx, head.layers[0].branch_id)
                if main_state(tx, space_id) != head:
                    raise BranchMoved
                for derived in _derived:
                    derived.clear(tx, space_id)
                apply_derived(tx, space_id, prepared)
        except BranchMoved:
            if attempt == _ATTEMPTS - 1:
                raise
        else:
            return


def check_derived(tx: Transaction, space_id: str, hosts: tuple[str, ...]) -> list[str]:
    """What is wrong with all that is derived from a space."""
    found = (derived.check(tx, space_id, hosts) for derived in _derived)
    return [what for what in found if what is not None]


def as_new(tx: Transaction, space_id: str) -> tuple[State, Changes]:
    """Main of a space as changes of nothing: the state before there was anything, and all that came since."""
    head = main_state(tx, space_id)
    items = [item for kind in ITEM_KINDS for item in list_items(tx, head, kind)]
    changes = Changes({page.id: page for page in list_pages(tx, head)}, {item.id: item for item in items})
    return replace(head, layers=tuple(replace(layer, sequence=0) for layer in head.layers)), changes
