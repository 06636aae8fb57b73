"""The trash: deleted spaces can be restored for seven days. After that, or immediately if an organization
administrator requests it, a job deletes them permanently.

Deleting a collection also deletes its content. The collection itself is kept, but hidden, as long as one of its spaces
can be restored, because the permissions of the spaces depend on it, and restoring a space restores its collections.
"""

from __future__ import annotations

from octavo.errors import Conflict, Forbidden
from octavo.kit.clock import now
from octavo.kit.db.database import Transaction
from octavo.kit.work import jobs
from octavo.kit.work.outbox import emit
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import CollectionAccess, OrgAccess, SpaceAccess

from . import store
from .placing import list_inside, lock_order

BEING_REMOVED = 1
"""Value of ``deleted_at`` for a space that can no longer be restored, because parts of it may be deleted."""
UNFINISHED = 0
"""Value of ``deleted_at`` for an unfinished duplicate, which no one can see yet."""
ABANDONED = -1
"""Value of ``deleted_at`` for an abandoned duplicate, which will be removed completely."""


def delete_space(tx: Transaction, space: SpaceAccess) -> bool:
    """Move a space to the trash. Return False if it was already in the trash."""
    deleted = _delete(tx, space.space_id)
    if deleted:
        audit(tx, space.actor, "space.deleted", space.organization_id, ("space", space.space_id))
    return deleted


def _delete(tx: Transaction, space_id: str) -> bool:
    changed = tx.run(
        "UPDATE spaces SET deleted_at = :at, updated_at = :at WHERE id = :id AND deleted_at IS NULL",
        at=now(),
        id=space_id,
    )
    if changed:
        _emit(tx, "space_deleted", space_id)
    return changed > 0


def discard_space(tx: Transaction, space_id: str) -> None:
    """Enqueue the complete removal of a space that was created for an operation that failed."""
    organization = store.get_space(tx, space_id).organization_id
    if _delete(tx, space_id):
        tx.run("UPDATE spaces SET deleted_at = :given_up WHERE id = :id", given_up=ABANDONED, id=space_id)
        jobs.enqueue(tx, "purgeSpaces", organization=organization, key=f"purgeSpaces {organization}")


def restore_space(tx: Transaction, access: SpaceAccess) -> None:
    """Restore a space from the trash, along with the collections that it was in. Raises Conflict if it isn't
    in the trash or is being permanently deleted."""
    space_id = access.space_id
    space = store.get_space(tx, space_id)
    lock_order(tx, space.organization_id)
    if not tx.run(
        "UPDATE spaces SET deleted_at = NULL, updated_at = :at WHERE id = :id AND deleted_at > :removed",
        at=now(),
        removed=BEING_REMOVED,
        id=space_id,
    ):
        raise Conflict("This space isn't in the trash, so it can't be restored.")
    above = space.collection_id
    while above is not None:
        tx.run("UPDATE collections SET deleted_at = NULL WHERE id = :id", id=above)
        above = tx.value("SELECT parent_id FROM collections WHERE id = :id", id=above)
    _emit(tx, "space_restored", space_id)
    audit(tx, access.actor, "space.restored", space.organization_id, ("space", space_id))


def purge_space_now(tx: Transaction, org: OrgAccess, space_id: str) -> bool:
    """Enqueue the permanent deletion of a space in the trash. Return False if it isn't in the trash."""
    given_up = tx.run(
        """UPDATE spaces SET deleted_at = :removed
           WHERE id = :id AND organization_id = :org AND deleted_at > :removed""",
        removed=BEING_REMOVED,
        id=space_id,
        org=org.organization_id,
    )
    if given_up:
        audit(tx, org.actor, "space.given-up", org.organization_id, ("space", space_id))
        organization = org.organization_id
        jobs.enqueue(tx, "purgeSpaces", organization=organization, key=f"purgeSpaces:{organization}")
    return given_up > 0


def delete_collection(tx: Transaction, collection: CollectionAccess) -> None:
    """Delete a collection and the collections in it, and move their spaces to the trash.

    Raises Forbidden if the collection contains spaces or collections that the caller can't delete.
    """
    org = collection.organization
    collection_id = collection.collection_id
    lock_order(tx, org.organization_id)
    ids = [id for level in list_inside(tx, collection_id) for id in level]
    rows = tx.all(
        "SELECT id FROM spaces WHERE collection_id IN :ids AND deleted_at IS NULL ORDER BY id", ids=ids
    )
    spaces = [row[0] for row in rows]
    if store.count_administered(tx, org, ids) < len(ids) + len(spaces):
        raise Forbidden(
            "This collection contains spaces or collections that you can't delete."
            " Move them first, or ask an administrator."
        )
    for space_id in spaces:
        _delete(tx, space_id)
    tx.run("UPDATE collections SET deleted_at = :at WHERE id IN :ids", at=now(), ids=ids)
    target = ("collection", collection_id)
    audit(
        tx,
        collection.actor,
        "collection.deleted",
        collection.organization_id,
        target,
        before={"spaces": spaces},
    )


def _emit(tx: Transaction, event: str, space_id: str) -> None:
    organization_id = tx.value("SELECT organization_id FROM spaces WHERE id = :id", id=space_id)
    emit(tx, event, organization_id=organization_id, space_id=space_id)
