"""Making a revision of main: its rows, what is derived from it, and the one event that says so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..kit.db import Database, Transaction
from ..kit.outbox import emit
from . import store
from .deriving import Prepared, apply_derived, prepare_derived
from .limits import require_limits
from .rebasing import lock_main
from .store import Changes, State

_on_commit: list[Callable[[Transaction, str, Changes], None]] = []


def on_commit(hook: Callable[[Transaction, str, Changes], None]) -> None:
    """Registers ``hook(tx, space_id, changes)``: called in the transaction of each revision of any branch."""
    _on_commit.append(hook)


def commit(tx: Transaction, state: State, changes: Changes, page_size: int, **about: Any) -> State:
    """The next revision of the state's upper branch; ``about`` as for ``store.commit``. ``page_size`` is the setting.
    Raises BranchMoved, and BadRequest or TooLarge where the space would hold more than it may."""
    require_limits(tx, state, changes, page_size)
    return _commit(tx, state, changes, **about)


def _commit(tx: Transaction, state: State, changes: Changes, **about: Any) -> State:
    made = store.commit(tx, state, changes, **about)
    for hook in _on_commit:
        hook(tx, state.space_id, changes)
    return made


@contextmanager
def prepare_main(
    db: Database, state: State, changes: Changes, hosts: tuple[str, ...], page_size: int
) -> Iterator[Prepared]:
    """What one call of ``revise_main`` in the block needs: what is derived from main, computed and where it is much
    also written before the transaction. New texts must be stored. ``hosts``: the addresses of this installation
    (``core.links.app_hosts``); ``page_size`` is the setting. Raises BadRequest or TooLarge where the space would hold
    more than it may."""
    with db.read() as tx:
        require_limits(tx, state, changes, page_size)
    with prepare_derived(db, state, changes, hosts) as prepared:
        yield prepared


def revise_main(
    tx: Transaction, state: State, changes: Changes, prepared: Prepared, page_size: int, **about: Any
) -> State:
    """The next revision of main. The state is its head, or was and means the same still; the rest as for
    ``commit``."""
    head = lock_main(tx, state, changes, prepared)
    if head != state:
        require_limits(tx, head, changes, page_size)
    made = _commit(tx, head, changes, **about)
    apply_derived(tx, state.space_id, prepared)
    emit(
        tx,
        "space_content_updated",
        organization_id=tx.value("SELECT organization_id FROM spaces WHERE id = :id", id=state.space_id),
        space_id=state.space_id,
        revision=made.revision_id,
    )
    return made
