"""Transfer spaces and collections to another organization, with all their content except data that belongs
to the old organization.

Grants to people who are members of the new organization are kept. Grants to other people and to teams, invite links,
and merge rules that require other people are removed. Transferred content keeps its own or inherited default level, so
that private content stays private. The person who transfers the content keeps access to it."""

from __future__ import annotations

import msgspec

from octavo.errors import Conflict, Forbidden, NotFound, PreconditionFailed
from octavo.kit.db.database import Transaction
from octavo.kit.work.outbox import emit
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import (
    CollectionAccess,
    OrgAccess,
    SpaceAccess,
    organization_access,
)
from octavo.organization.access.evaluation import Kind, list_steps
from octavo.organization.access.rights.authorization import ObjectAccess
from octavo.organization.access.rights.granting import keep_own_role
from octavo.organization.access.rights.store import delete_grants
from octavo.organization.access.roles import Can

from . import store
from .hooks import notify_left, notify_transferred
from .placing import list_inside, lock_order


def transfer_space(tx: Transaction, access: SpaceAccess, organization_id: str) -> None:
    """Transfer a space to the top level of another organization.

    Raises Forbidden unless the caller administers the current organization, NotFound or Forbidden if the caller doesn't
    have access to the new organization, Conflict if the space already belongs to that organization, and
    PreconditionFailed if the space is part of a site."""
    target = _enter_target(tx, access, organization_id)
    space_id = access.space_id
    _lock_transfer(tx, access.organization_id, target, [space_id])
    level = _effective_level(tx, "space", space_id)
    _move_to_organization(tx, [space_id], [], target)
    rank = store.last_rank(tx, target.organization_id, None)
    store.update_space(tx, space_id, collection_id=None, rank=rank, default_level=level)
    _complete_transfer(tx, ("space", space_id), access.organization_id, target)


def transfer_collection(tx: Transaction, access: CollectionAccess, organization_id: str) -> None:
    """Transfer a collection and all of its content, including content in the trash."""
    target = _enter_target(tx, access, organization_id)
    collection_id = access.collection_id
    collections = [id for level in list_inside(tx, collection_id, deleted=True) for id in level]
    rows = tx.all("SELECT id FROM spaces WHERE collection_id IN :ids ORDER BY id", ids=collections)
    spaces = [row[0] for row in rows]
    _lock_transfer(tx, access.organization_id, target, spaces)
    level = _effective_level(tx, "collection", collection_id)
    _move_to_organization(tx, spaces, collections, target)
    rank = store.last_rank(tx, target.organization_id, None)
    store.update_collection(tx, collection_id, parent_id=None, rank=rank, default_level=level)
    _complete_transfer(tx, ("collection", collection_id), access.organization_id, target)


def _enter_target(tx: Transaction, given: SpaceAccess | CollectionAccess, organization_id: str) -> OrgAccess:
    if given.member_role != "admin":
        raise Forbidden("Only administrators can transfer content to another organization.")
    try:
        return organization_access(tx, given.actor, Can.CREATE_CONTENT, organization_id)
    except NotFound:
        raise NotFound(f"organization: there is no organization with the ID {organization_id!r}") from None


def _effective_level(tx: Transaction, kind: Kind, id: str) -> str | None:
    """Return the effective default level of an object: its own level, or the level that it inherits from a
    collection."""
    levels = [step.default_level for step in list_steps(tx, kind, id)]
    return next((level for level in levels if level != "inherit"), "inherit")


def _complete_transfer(tx: Transaction, given: tuple[Kind, str], source: str, target: OrgAccess) -> None:
    keep_own_role(tx, ObjectAccess.handed_over(target, *given))
    for organization_id in (source, target.organization_id):
        audit(
            tx,
            target.actor,
            f"{given[0]}.transferred",
            organization_id,
            given,
            before={"organization": source},
            after={"organization": target.organization_id},
        )


def _lock_transfer(tx: Transaction, source: str, target: OrgAccess, spaces: list[str]) -> None:
    if source == target.organization_id:
        raise Conflict("organization: must not be the organization that the content already belongs to")
    for organization_id in sorted((source, target.organization_id)):
        lock_order(tx, organization_id)
    row = tx.one(
        """SELECT s.title, t.title FROM site_spaces x JOIN spaces s ON s.id = x.space_id
           JOIN sites t ON t.id = x.site_id WHERE x.space_id IN :spaces ORDER BY s.id""",
        spaces=spaces,
    )
    if row is not None:
        raise PreconditionFailed(f"{row[0]!r} is part of the site {row[1]!r}. Remove it from the site first.")


def _move_to_organization(
    tx: Transaction, spaces: list[str], collections: list[str], target: OrgAccess
) -> None:
    kinds: list[tuple[Kind, str, list[str]]] = [
        ("space", "spaces", spaces),
        ("collection", "collections", collections),
    ]
    for kind, table, ids in kinds:
        tx.run(
            f"UPDATE {table} SET organization_id = :org WHERE id IN :ids", org=target.organization_id, ids=ids
        )
        delete_grants(tx, kind, ids, but=target.organization_id)
        notify_left(tx, kind, ids)
    for space_id in spaces:
        rules = store.get_space(tx, space_id).merge_rules
        if (kept := _rules_of_members(tx, rules, target.organization_id)) != rules:
            store.update_space(tx, space_id, merge_rules=kept)
        notify_transferred(tx, space_id, target.organization_id)
        emit(tx, "space_transferred", organization_id=target.organization_id, space_id=space_id)


def _rules_of_members(tx: Transaction, rules: str, organization_id: str) -> str:
    """Return merge rules without people who aren't members, because rules that require such people could
    never be met."""
    given = msgspec.json.decode(rules)
    named = {user for rule in given.get("rules", []) for user in rule.get("users", [])}
    if not named:
        return rules
    rows = tx.all(
        "SELECT user_id FROM members WHERE organization_id = :org AND user_id IN :users",
        org=organization_id,
        users=sorted(named),
    )
    members = {row[0] for row in rows}
    kept = []
    for rule in given["rules"]:
        if "users" in rule:
            users = [user for user in rule["users"] if user in members]
            if not users:
                continue
            rule = {**rule, "users": users}
        kept.append(rule)
    return msgspec.json.encode({**given, "rules": kept}).decode()
