"""Making a revision of main: its rows, what is derived from it, and the one event that says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..kit.db import Transaction
from ..kit.outbox import emit
from . import store
from .deriving import apply_derived, prepare_derived
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
    made = store.commit(tx, state, changes, **about)
    for hook in _on_commit:
        hook(tx, state.space_id, changes)
    return made


def prepare_main(tx: Transaction, state: State, changes: Changes, hosts: tuple[str, ...]) -> list[Any]:
    """What ``revise_main`` needs of what is derived from main, read outside the write. New texts must be stored.
    ``hosts``: the addresses of this installation (``core.links.app_hosts``)."""
    return prepare_derived(tx, state, changes, hosts)


def revise_main(
    tx: Transaction, state: State, changes: Changes, prepared: list[Any], page_size: int, **about: Any
) -> State:
    """The next revision of main. The state is its head, or was and means the same still; the rest as for
    ``commit``."""
    head = lock_main(tx, state, changes, prepared)
    made = commit(tx, head, changes, page_size, **about)
    apply_derived(tx, state.space_id, prepared)
    emit(
        tx,
        "space_content_updated",
        organization_id=tx.value("SELECT organization_id FROM spaces WHERE id = :id", id=state.space_id),
        space_id=state.space_id,
        revision=made.revision_id,
    )
    return made
