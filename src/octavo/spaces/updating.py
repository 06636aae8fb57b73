"""Changing the settings of spaces and collections: what is left out stays."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from ..access import (
    CollectionAccess,
    Level,
    ObjectAccess,
    SpaceAccess,
    at_least,
    audit,
    guard_roles,
    keep_own_role,
)
from ..errors import Forbidden
from ..kit.db import Transaction
from ..orgs import require_merge_rules
from . import store
from .store import CollectionRow, SpaceRow
from .wire import UpdateCollection, UpdateSpace


def update_space(tx: Transaction, space: SpaceAccess, given: UpdateSpace) -> None:
    """Raises Forbidden for a default level above the caller's role, NotFound for merge rules that name others than
    members."""
    values = _given(given)
    # The one that is given takes the place of the other.
    if isinstance(given.emoji, str):
        values["icon"] = None
    elif isinstance(given.icon, str):
        values["emoji"] = None
    if given.merge_rules is not UNSET:
        if given.merge_rules.rules is not UNSET:
            require_merge_rules(tx, space.organization_id, given.merge_rules.rules)
        values["merge_rules"] = msgspec.json.encode(given.merge_rules).decode()
    before = store.get_space(tx, space.space_id)
    if values:
        target = ObjectAccess.of(space)
        with _guard_default_level(tx, target, given.default_level):
            store.update_space(tx, space.space_id, **values)
        _audit(tx, target, before, values)


def update_collection(tx: Transaction, collection: CollectionAccess, given: UpdateCollection) -> None:
    """Raises Forbidden for a default level above the caller's role."""
    values = _given(given)
    before = store.get_collection(tx, collection.collection_id)
    if values:
        target = ObjectAccess.of(collection)
        with _guard_default_level(tx, target, given.default_level):
            store.update_collection(tx, collection.collection_id, **values)
        _audit(tx, target, before, values)


def _given(body: UpdateSpace | UpdateCollection) -> dict[str, Any]:
    """The columns that a body changes; merge rules are stored in another form."""
    given = msgspec.structs.asdict(body)
    return {name: value for name, value in given.items() if value is not UNSET and name != "merge_rules"}


@contextmanager
def _guard_default_level(tx: Transaction, target: ObjectAccess, level: Level | UnsetType) -> Iterator[None]:
    """Around a change of what members may do by default. Raises Forbidden for more than the caller has there.

    Whoever closes what they came in by keeps their role by a grant.
    """
    if level is UNSET:
        yield
        return
    if level not in (None, "inherit") and not at_least(target.role, level):
        raise Forbidden(f"defaultLevel: `{level}` is more than your own role here, `{target.role}`.")
    with guard_roles(tx, target):
        yield
        keep_own_role(tx, target)


def _audit(
    tx: Transaction,
    target: ObjectAccess,
    before: SpaceRow | CollectionRow,
    values: dict[str, Any],
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
