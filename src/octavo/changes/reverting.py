"""Undoing a revision of main: as a change request to be looked at, or at once as a revision of main."""

from __future__ import annotations

from msgspec import Struct

from ..access import SpaceAccess
from ..content import (
    State,
    get_revision,
    main_state,
    put_keys,
    revise_main,
    revision_state,
)
from ..errors import BadRequest
from ..kit.context import Context
from ..kit.db import Transaction
from . import store
from .comparing import Merged, into_main, undoing, undone
from .saving import again, create_with, prepare, require_live
from .store import ChangeRow


class Rollback(Struct, frozen=True):
    """``change``: the change request in which the conflicts are to be settled; then main stays as it is."""

    revision: str
    change: ChangeRow | None = None


def revert(context: Context, space: SpaceAccess, revision_id: str) -> ChangeRow:
    """A change request that undoes one revision of main; what was changed again since is a conflict in it."""

    def attempt() -> ChangeRow:
        with context.db.read() as tx:
            main, done = main_state(tx, space.space_id), _done(tx, space, revision_id)
            merged = undone(tx, undoing(tx, done, main), done, main)
        with context.db.write() as tx:
            return _open_change(tx, space, main, merged, revision_id, context.settings.page_size)

    return again(attempt)


def roll_back(context: Context, space: SpaceAccess, revision_id: str) -> Rollback:
    """A revision of main that undoes an earlier one; or the change request of ``revert`` when something of it was
    changed again since. Raises Forbidden where the space is locked."""
    require_live(space)

    def attempt() -> Rollback:
        with context.db.read() as tx:
            main, done = main_state(tx, space.space_id), _done(tx, space, revision_id)
            merged = into_main(tx, undoing(tx, done, main), main)
        if merged.conflicts:
            change = revert(context, space, revision_id)
            return Rollback(change.revision, change)
        prepared = prepare(context, main, merged.changes, merged.bodies)
        with context.db.write() as tx:
            made = revise_main(
                tx,
                main,
                merged.changes,
                prepared,
                context.settings.page_size,
                type="rollback",
                author=space.user_id,
                parents=[revision_id],
            )
            put_keys(tx, merged.keys)
        return Rollback(made.revision_id)

    return again(attempt)


def _done(tx: Transaction, space: SpaceAccess, revision_id: str) -> State:
    done = revision_state(tx, space.space_id, revision_id)
    if len(done.layers) > 1:
        raise BadRequest("revisionId: this revision is one of a change request, not of main.")
    if done.layers[0].sequence == 1:
        raise BadRequest("revisionId: the first revision of a space has nothing before it.")
    return done


def _open_change(
    tx: Transaction, space: SpaceAccess, main: State, merged: Merged, revision_id: str, page_size: int
) -> ChangeRow:
    row = get_revision(tx, revision_id)
    undoes = store.get_change(tx, row.merged_from) if row.merged_from else None
    subject = f"Revert #{undoes.number} {undoes.subject}".strip() if undoes else "Revert a revision"
    return create_with(
        tx, space, main, merged, page_size, subject=subject, type="rollback", parents=[revision_id]
    )
