"""The trash: deleted spaces can be restored for seven days, then a job purges them; at once where an administrator of
the organization says so.

A deleted collection takes what is in it along. It is kept, unseen, as long as one of its spaces may come back:
their rights hang on it, and a restored space brings it back with it.
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

DAY = 24 * 3_600_000
BEING_REMOVED = 1
"""When a space was deleted (``deleted_at``) that nobody can restore: some of it may be gone."""
BEING_MADE = 0
"""The same of a copy that is not finished, and so is there for nobody yet."""
GIVEN_UP = -1
"""The same of a copy that never will be: it is removed as if it had not been."""


def delete_space(tx: Transaction, space: SpaceAccess) -> bool:
    """Puts a space in the trash; False when it lay there."""
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


def take_back_space(tx: Transaction, space_id: str) -> None:
    """Has a job remove a space that was made for something that came to nothing, as if it had not been."""
    organization = store.get_space(tx, space_id).organization_id
    if _delete(tx, space_id):
        tx.run("UPDATE spaces SET deleted_at = :given_up WHERE id = :id", given_up=GIVEN_UP, id=space_id)
        jobs.enqueue(tx, "purgeSpaces", organization=organization, key=f"purgeSpaces {organization}")


def restore_space(tx: Transaction, access: SpaceAccess) -> None:
    """Takes a space out of the trash, with the collections it lay in. Raises Conflict when it is not there, or is just
    being removed for good."""
    space_id = access.space_id
    space = store.get_space(tx, space_id)
    lock_order(tx, space.organization_id)
    if not tx.run(
        "UPDATE spaces SET deleted_at = NULL, updated_at = :at WHERE id = :id AND deleted_at > :removed",
        at=now(),
        removed=BEING_REMOVED,
        id=space_id,
    ):
        raise Conflict("This space is not in the trash.")
    above = space.collection_id
    while above is not None:
        tx.run("UPDATE collections SET deleted_at = NULL WHERE id = :id", id=above)
        above = tx.value("SELECT parent_id FROM collections WHERE id = :id", id=above)
    _emit(tx, "space_restored", space_id)
    audit(tx, access.actor, "space.restored", space.organization_id, ("space", space_id))


def give_up_space(tx: Transaction, org: OrgAccess, space_id: str) -> bool:
    """Has a job remove a space in the trash for good; False when there is none such that could be restored."""
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
    """Deletes a collection and those in it, and puts their spaces in the trash.

    Raises Forbidden when it holds something that the caller may not delete.
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
        raise Forbidden("It holds spaces or collections that are not yours to delete.")
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
