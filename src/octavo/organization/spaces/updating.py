"""Change the settings of spaces and collections. Omitted values stay unchanged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET

from octavo.kit.db.database import Transaction
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import CollectionAccess, SpaceAccess
from octavo.organization.access.rights.authorization import ObjectAccess
from octavo.organization.access.rights.granting import guard_default_level
from octavo.organization.orgs.merge_rules import require_merge_rules

from . import store
from .store import CollectionRow, SpaceRow
from .types import SpaceMergeRules


def update_space(tx: Transaction, space: SpaceAccess, given: Mapping[str, Any]) -> None:
    """Update a space's title, emoji or icon, language, edit mode, default level, and merge rules. ``given``: the
    values to update, by column name.

    Raises Forbidden if the default level is above the caller's role, and NotFound if a merge rule names a person
    who isn't a member.
    """
    values = dict(given)
    # Setting an emoji clears the icon, and vice versa.
    if values.get("emoji") is not None:
        values["icon"] = None
    elif values.get("icon") is not None:
        values["emoji"] = None
    if "merge_rules" in values:
        rules: SpaceMergeRules = values["merge_rules"]
        if rules.rules is not UNSET:
            require_merge_rules(tx, space.organization_id, rules.rules)
        values["merge_rules"] = msgspec.json.encode(rules).decode()
    before = store.get_space(tx, space.space_id)
    if values:
        target = ObjectAccess.of(space)
        with guard_default_level(tx, target, values):
            store.update_space(tx, space.space_id, **values)
        _audit(tx, target, before, values)


def update_collection(tx: Transaction, collection: CollectionAccess, given: Mapping[str, object]) -> None:
    """Update a collection's title, description, and default level. ``given``: the values to update, by column
    name. Raises Forbidden if the new default level is higher than the caller's role."""
    values = dict(given)
    before = store.get_collection(tx, collection.collection_id)
    if values:
        target = ObjectAccess.of(collection)
        with guard_default_level(tx, target, values):
            store.update_collection(tx, collection.collection_id, **values)
        _audit(tx, target, before, values)


def _audit(
    tx: Transaction,
    target: ObjectAccess,
    before: SpaceRow | CollectionRow,
    values: Mapping[str, object],
) -> None:
    audit(
        tx,
        target.actor,
        f"{target.kind}.updated",
        target.organization_id,
        (target.kind, target.id),
        before={name: getattr(before, name) for name in values},
        after=values,
    )
