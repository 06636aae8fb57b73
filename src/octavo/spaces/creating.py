"""New spaces and collections, at the end of where they are put."""

from __future__ import annotations

from ..access import OrgAccess, audit
from ..kit.db import Transaction
from . import placing, store
from .store import CollectionRow, SpaceRow
from .wire import CreateCollection, CreateSpace


def create_space(tx: Transaction, org: OrgAccess, given: CreateSpace) -> SpaceRow:
    """An empty space. Raises NotFound or Forbidden for a parent that the caller may not fill."""
    placing.require_parent(tx, org, given.parent)
    space = store.insert_space(
        tx,
        organization_id=org.organization_id,
        collection_id=given.parent,
        title=given.title,
        created_by=org.user_id,
        emoji=given.emoji,
        language=given.language,
        edit_mode=given.edit_mode,
    )
    audit(
        tx, org.actor, "space.created", org.organization_id, ("space", space.id), after={"title": space.title}
    )
    return space


def create_collection(tx: Transaction, org: OrgAccess, given: CreateCollection) -> CollectionRow:
    """An empty collection. Raises NotFound or Forbidden as ``create_space``, BadRequest where it would lie too deep."""
    placing.require_parent(tx, org, given.parent)
    placing.require_depth(tx, given.parent, 1)
    made = store.insert_collection(
        tx, organization_id=org.organization_id, parent_id=given.parent, title=given.title
    )
    target = ("collection", made.id)
    audit(tx, org.actor, "collection.created", org.organization_id, target, after={"title": made.title})
    return made
