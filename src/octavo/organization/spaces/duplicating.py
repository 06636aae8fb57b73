"""Duplicate a space: the content of the main version becomes the first revision of a new branch.

The packages that own the rows copy them inside the database (``hooks``). A small space is copied in one
transaction. For a large space, short transactions precede the transaction that makes the duplicate visible."""

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
from .hooks import Copy, NewSpace, list_writes, notify_copied, notify_created
from .store import SpaceRow
from .trash import ABANDONED, UNFINISHED
from .types import MAX_TITLE

_SUFFIX = " (copy)"


@contextmanager
def prepare_copy(db: Database, space: SpaceAccess) -> Iterator[str | None]:
    """Provide the input for one call to ``duplicate_space`` in the ``with`` block. For a large space, it is a
    copy of the main version that no one can see yet; for a small space, it is None.

    Call this outside any transaction. If the block fails, the copy is discarded. Raises the same errors as
    ``duplicate_space``."""
    with db.read() as tx:
        placing.require_parent(tx, space.organization, store.get_space(tx, space.space_id).collection_id)
        writes = list_writes(tx, space.space_id)
    if not writes:
        yield None
        return
    with db.write() as tx:
        copy_id = _insert_invisible_copy(tx, space)
    try:
        for write in writes:
            with short_write(db) as tx:
                _lock_copy(tx, copy_id)
                write(tx, copy_id)
        yield copy_id
    except BaseException:
        with db.write() as tx:
            _discard_copy(tx, copy_id)
        raise


def duplicate_space(tx: Transaction, space: SpaceAccess, prepared: str | None) -> SpaceRow:
    """Place a duplicate right after the original, with its settings and grants. Raises NotFound or Forbidden if the
    caller can't (or can no longer) duplicate the space or create content in its collection."""
    space = space_access(tx, space.actor, Can.ADMIN, space.space_id)
    placing.lock_order(tx, space.organization_id)
    source = store.get_space(tx, space.space_id)
    placing.require_parent(tx, space.organization, source.collection_id)
    if prepared is None:
        # Block new revisions in the meantime, so that the duplicate reflects a single state.
        tx.one(f"SELECT 1 FROM branches WHERE id = :branch{tx.for_update}", branch=source.main_branch)
    copy_id = prepared or _insert_invisible_copy(tx, space)
    _lock_copy(tx, copy_id)
    made = _publish_copy(tx, source, Copy(source.id, copy_id, written=prepared is not None))
    after = {"title": made.title, "duplicateOf": source.id}
    audit(tx, space.actor, "space.created", space.organization_id, ("space", made.id), after=after)
    return made


def _insert_invisible_copy(tx: Transaction, space: SpaceAccess) -> str:
    """Create an invisible space whose main branch doesn't have a first revision yet, and return the space's
    ID."""
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
        being_made=UNFINISHED,
        source=space.space_id,
    )
    notify_created(tx, NewSpace(copy_id, branch_id, revision_id, space.user_id, counts=False))
    return copy_id


def _lock_copy(tx: Transaction, copy_id: str) -> None:
    """Lock an unfinished duplicate so that no one removes it while this transaction writes it. Raises
    NotFound if it no longer exists."""
    if not tx.one(
        f"SELECT 1 FROM spaces WHERE id = :id AND deleted_at = :being_made{tx.for_update}",
        id=copy_id,
        being_made=UNFINISHED,
    ):
        raise NotFound("The duplicate was deleted while it was being created. Try again.")


def _publish_copy(tx: Transaction, source: SpaceRow, copy: Copy) -> SpaceRow:
    """Write the remaining data of a duplicate, and make the duplicate visible."""
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
        raise NotFound(
            "The space was transferred to another organization while it was being duplicated. Try again."
        )
    copy_grants(tx, "space", source.id, copy.copy_id)
    notify_copied(tx, copy)
    emit(
        tx,
        "space_duplicated",
        organization_id=source.organization_id,
        space_id=copy.copy_id,
        source=source.id,
    )
    return store.get_space(tx, copy.copy_id)


def _discard_copy(tx: Transaction, copy_id: str) -> None:
    """Enqueue a job that removes an unfinished duplicate."""
    if tx.run(
        "UPDATE spaces SET deleted_at = :given_up WHERE id = :id AND deleted_at = :being_made",
        given_up=ABANDONED,
        id=copy_id,
        being_made=UNFINISHED,
    ):
        organization = tx.value("SELECT organization_id FROM spaces WHERE id = :id", id=copy_id)
        jobs.enqueue(tx, "purgeSpaces", organization=organization, key=f"purgeSpaces {organization}")
