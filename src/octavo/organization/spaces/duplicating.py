"""A copy of a space: everything main holds, as the first revision of a new branch.

Rows are copied inside the database, by the packages that own them (``hooks``): of a small space in one transaction, of
a large one in short transactions before the one that makes the copy visible.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from octavo.errors import NotFound
from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.db.database import Database, Transaction
from octavo.kit.db.turns import short_write
from octavo.kit.work import jobs
from octavo.kit.work.outbox import emit
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import SpaceAccess, space_access
from octavo.organization.access.rights.store import copy_grants
from octavo.organization.access.roles import Can

from . import placing, store
from .hooks import Beginning, Copy, begun, copied, list_writes
from .store import SpaceRow
from .trash import BEING_MADE, GIVEN_UP
from .types import MAX_TITLE

_SUFFIX = " (copy)"


@contextmanager
def prepare_copy(db: Database, space: SpaceAccess) -> Iterator[str | None]:
    """What one call of ``duplicate_space`` in the block needs: of a large space a copy that nobody sees yet, with what
    main holds now; None for a small one. Called outside of any transaction; a block that fails leaves nothing. Raises
    as ``duplicate_space``."""
    with db.read() as tx:
        placing.require_parent(tx, space.organization, store.get_space(tx, space.space_id).collection_id)
        writes = list_writes(tx, space.space_id)
    if not writes:
        yield None
        return
    with db.write() as tx:
        copy_id = _begin(tx, space)
    try:
        for write in writes:
            with short_write(db) as tx:
                _hold(tx, copy_id)
                write(tx, copy_id)
        yield copy_id
    except BaseException:
        with db.write() as tx:
            _give_up(tx, copy_id)
        raise


def duplicate_space(tx: Transaction, space: SpaceAccess, prepared: str | None) -> SpaceRow:
    """Puts a copy right behind the original, with its settings and what was granted there. Raises NotFound or Forbidden
    where the caller may not, or may no longer, copy the space or create content at its place."""
    space = space_access(tx, space.actor, Can.ADMIN, space.space_id)
    placing.lock_order(tx, space.organization_id)
    source = store.get_space(tx, space.space_id)
    placing.require_parent(tx, space.organization, source.collection_id)
    if prepared is None:
        # Holds off who would make a revision meanwhile: the copy is of one state.
        tx.one(f"SELECT 1 FROM branches WHERE id = :branch{tx.for_update}", branch=source.main_branch)
    copy_id = prepared or _begin(tx, space)
    _hold(tx, copy_id)
    made = _finish(tx, source, Copy(source.id, copy_id, written=prepared is not None))
    after = {"title": made.title, "duplicateOf": source.id}
    audit(tx, space.actor, "space.created", space.organization_id, ("space", made.id), after=after)
    return made


def _begin(tx: Transaction, space: SpaceAccess) -> str:
    """A space that nobody sees, with a main branch that has not come to its first revision; its id."""
    copy_id, branch_id, revision_id, moment = ids.new_id(), ids.new_id(), ids.new_id(), now()
    tx.run(
        """INSERT INTO spaces (id, organization_id, rank, title, main_branch, main_revision, created_by, created_at,
                               updated_at, deleted_at)
           SELECT :id, organization_id, rank, title, :branch, :revision, :by, :at, :at, :being_made
           FROM spaces WHERE id = :source""",
        id=copy_id,
        branch=branch_id,
        revision=revision_id,
        by=space.user_id,
        at=moment,
        being_made=BEING_MADE,
        source=space.space_id,
    )
    begun(tx, Beginning(copy_id, branch_id, revision_id, space.user_id, counts=False))
    return copy_id


def _hold(tx: Transaction, copy_id: str) -> None:
    """Makes sure that nobody removes a copy while this transaction writes it. Raises NotFound where it is gone."""
    if not tx.one(
        f"SELECT 1 FROM spaces WHERE id = :id AND deleted_at = :being_made{tx.for_update}",
        id=copy_id,
        being_made=BEING_MADE,
    ):
        raise NotFound("The copy was removed while it was made.")


def _finish(tx: Transaction, source: SpaceRow, copy: Copy) -> SpaceRow:
    """Makes a copy visible, with all that is not written yet."""
    moment = now()
    if not tx.run(
        """UPDATE spaces SET (collection_id, emoji, icon, language, edit_mode, default_level, merge_rules) = (
             SELECT s.collection_id, s.emoji, s.icon, s.language, s.edit_mode, s.default_level, s.merge_rules
             FROM spaces s WHERE s.id = :source), rank = :rank, title = :title, updated_at = :at, deleted_at = NULL
           WHERE id = :id AND organization_id = :organization""",
        source=source.id,
        rank=placing.rank_behind(tx, source.organization_id, source.collection_id, ("space", source.id)),
        title=source.title[: MAX_TITLE - len(_SUFFIX)] + _SUFFIX,
        at=moment,
        id=copy.copy_id,
        organization=source.organization_id,
    ):
        raise NotFound("The space went to another organization while it was copied.")
    copy_grants(tx, "space", source.id, copy.copy_id)
    copied(tx, copy)
    emit(
        tx,
        "space_duplicated",
        organization_id=source.organization_id,
        space_id=copy.copy_id,
        source=source.id,
    )
    return store.get_space(tx, copy.copy_id)


def _give_up(tx: Transaction, copy_id: str) -> None:
    """Has a copy removed that was not finished."""
    if tx.run(
        "UPDATE spaces SET deleted_at = :given_up WHERE id = :id AND deleted_at = :being_made",
        given_up=GIVEN_UP,
        id=copy_id,
        being_made=BEING_MADE,
    ):
        organization = tx.value("SELECT organization_id FROM spaces WHERE id = :id", id=copy_id)
        jobs.enqueue(tx, "purgeSpaces", organization=organization, key=f"purgeSpaces {organization}")
