"""Making a revision of main: its rows, what follows main, and the one event that tells of it."""

from __future__ import annotations

from typing import Any

from ..kit.db import Transaction
from ..kit.outbox import emit
from . import store
from .following import apply_followers, prepare_followers
from .store import Changes, State


def prepare_main(tx: Transaction, state: State, changes: Changes, hosts: tuple[str, ...]) -> list[Any]:
    """What ``revise_main`` needs of the followers of main, read outside the write. New texts must be stored.
    ``hosts``: the addresses of this installation (``core.links.app_hosts``)."""
    return prepare_followers(tx, state, changes, hosts)


def revise_main(tx: Transaction, state: State, changes: Changes, prepared: list[Any], **about: Any) -> State:
    """The next revision of main, ``base`` being its head; ``about`` as for ``store.commit``. Raises BranchMoved."""
    made = store.commit(tx, state, changes, **about)
    apply_followers(tx, state.space_id, prepared)
    emit(
        tx,
        "space_content_updated",
        organization_id=tx.value("SELECT organization_id FROM spaces WHERE id = :id", id=state.space_id),
        space_id=state.space_id,
        revision=made.revision_id,
    )
    return made
