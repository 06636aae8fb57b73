"""Making a revision of main: its rows, what is derived from it, and the one event that tells of it."""

from __future__ import annotations

from typing import Any

from ..kit.db import Transaction
from ..kit.outbox import emit
from . import store
from .deriving import apply_derived, prepare_derived
from .store import Changes, State


def prepare_main(tx: Transaction, state: State, changes: Changes) -> list[Any]:
    """What ``revise_main`` needs of what is derived from main, read outside the write. New texts must be stored."""
    return prepare_derived(tx, state, changes)


def revise_main(tx: Transaction, state: State, changes: Changes, prepared: list[Any], **about: Any) -> State:
    """The next revision of main, ``base`` being its head; ``about`` as for ``store.commit``. Raises BranchMoved."""
    made = store.commit(tx, state, changes, **about)
    apply_derived(tx, state.space_id, prepared)
    emit(
        tx,
        "space_content_updated",
        organization_id=tx.value("SELECT organization_id FROM spaces WHERE id = :id", id=state.space_id),
        space_id=state.space_id,
        revision=made.revision_id,
    )
    return made
