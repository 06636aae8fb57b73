"""Create spaces and collections, and place them last among their siblings."""

from __future__ import annotations

from octavo.kit.db.database import Transaction
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import OrgAccess

from . import placing, store
from .store import CollectionRow, SpaceRow
from .types import UNTITLED, EditMode


def create_space(
    tx: Transaction,
    org: OrgAccess,
    title: str = UNTITLED,
    *,
    parent: str | None = None,
    emoji: str | None = None,
    language: str | None = None,
    edit_mode: EditMode = "live",
) -> SpaceRow:
    """Create an empty space in the collection ``parent``. Raises NotFound or Forbidden if the caller can't
    create content in the parent."""
    placing.require_parent(tx, org, parent)
    space = store.insert_space(
        tx,
        organization_id=org.organization_id,
        collection_id=parent,
        title=title,
        created_by=org.user_id,
        emoji=emoji,
        language=language,
        edit_mode=edit_mode,
    )
    audit(
        tx, org.actor, "space.created", org.organization_id, ("space", space.id), after={"title": space.title}
    )
    return space


def create_collection(
    tx: Transaction, org: OrgAccess, title: str, *, parent: str | None = None
) -> CollectionRow:
    """Create an empty collection in the collection ``parent``. Raises NotFound or Forbidden under the same
    conditions as ``create_space``, and BadRequest if the collection would be nested too deeply."""
    placing.require_parent(tx, org, parent)
    placing.require_depth(tx, parent, 1)
    made = store.insert_collection(tx, organization_id=org.organization_id, parent_id=parent, title=title)
    target = ("collection", made.id)
    audit(tx, org.actor, "collection.created", org.organization_id, target, after={"title": made.title})
    return made
