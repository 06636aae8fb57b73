"""Order of spaces and collections within a collection or at the top level of the organization. People can choose any
order."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import UNSET, Struct, UnsetType

from octavo.core.pages import rank_between, ranks
from octavo.errors import BadRequest, Conflict, Forbidden, NotFound
from octavo.kit.db.database import Transaction
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import (
    CollectionAccess,
    OrgAccess,
    SpaceAccess,
    collection_access,
    space_access,
)
from octavo.organization.access.evaluation import Kind
from octavo.organization.access.rights.authorization import ObjectAccess
from octavo.organization.access.rights.granting import guard_roles
from octavo.organization.access.roles import ORGANIZATION, Can, at_least

from . import store

MAX_DEPTH = 16
"""Maximum nesting depth of collections."""


class Placed(NamedTuple):
    """Space or collection among its siblings."""

    rank: str
    kind: Kind
    id: str


class Neighbor(Struct, frozen=True):
    """Sibling to place an object before or after, as specified in a request body."""

    kind: Kind
    id: str
    place: str


def require_parent(tx: Transaction, org: OrgAccess, parent_id: str | None) -> None:
    """Raise NotFound or Forbidden unless the parent is one of the organization's collections and the caller can
    create content in it.

    A parent of None means the top level of the organization, which is available to people who can create content
    at that level."""
    if parent_id is not None:
        parent = collection_access(tx, org.actor, Can.CREATE, parent_id)
        if parent.organization_id != org.organization_id:
            raise NotFound(f"parent: there is no collection with the ID {parent_id!r} in this organization")
        return
    if not at_least(org.role, ORGANIZATION[Can.CREATE_CONTENT]):
        raise Forbidden(
            "parent: you can't create content at the top level of this organization. Choose a collection"
            " where you can create content."
        )


def collection_depth(tx: Transaction, collection_id: str | None) -> int:
    """Return the depth of a collection, including the collection itself; 0 for the top level."""
    count = 0
    while collection_id is not None:
        collection_id = tx.value("SELECT parent_id FROM collections WHERE id = :id", id=collection_id)
        count += 1
    return count


def require_depth(tx: Transaction, parent_id: str | None, height: int) -> None:
    """Raise BadRequest if placing a collection with ``height`` levels in ``parent_id`` would exceed the maximum
    depth."""
    if collection_depth(tx, parent_id) + height > MAX_DEPTH:
        raise BadRequest(f"parent: collections can be nested at most {MAX_DEPTH} levels deep")


def lock_order(tx: Transaction, organization_id: str) -> None:
    """Lock the order of the spaces and collections of an organization until this transaction ends."""
    tx.one(f"SELECT id FROM organizations WHERE id = :id{tx.for_update}", id=organization_id)


def move(
    tx: Transaction,
    access: SpaceAccess | CollectionAccess,
    parent: str | None | UnsetType,
    *,
    before: Neighbor | None,
    after: Neighbor | None,
) -> None:
    """Move a space or collection to ``parent`` (UNSET: its current parent), to a position or to the end.

    Raises BadRequest if the position is invalid, Conflict if the move has no effect, NotFound if the caller
    can't see the parent or sibling, and Forbidden if the move would change a role above the caller's own."""
    moved = ObjectAccess.of(access)
    table, column = ("spaces", "collection_id") if moved.kind == "space" else ("collections", "parent_id")
    lock_order(tx, moved.organization_id)
    was, rank = tx.one(f"SELECT {column}, rank FROM {table} WHERE id = :id", id=moved.id) or (None, "")
    to = was if parent is UNSET else parent
    with guard_roles(tx, moved):
        _place(tx, access.organization, (moved.kind, moved.id), (was, rank), to, before, after)
    if to != was:
        audit(
            tx,
            access.actor,
            f"{moved.kind}.moved",
            moved.organization_id,
            (moved.kind, moved.id),
            before={"parent": was},
            after={"parent": to},
        )


def _place(
    tx: Transaction,
    org: OrgAccess,
    moved: tuple[Kind, str],
    old: tuple[str | None, str],
    parent_id: str | None,
    before: Neighbor | None,
    after: Neighbor | None,
) -> None:
    kind, id = moved
    old_parent, old_rank = old
    if parent_id != old_parent:
        require_parent(tx, org, parent_id)
    if kind == "collection":
        _require_no_cycle(tx, id, parent_id)
        require_depth(tx, parent_id, _height(tx, id))
    siblings = [s for s in list_siblings(tx, org.organization_id, parent_id) if s[1:] != moved]
    if before is None and after is None:
        if parent_id == old_parent:
            raise Conflict("The item is already in this location.")
        rank = rank_between(siblings[-1].rank if siblings else None, None)
    else:
        index = _index(tx, org, moved, siblings, before, after)
        if parent_id == old_parent and sum(s < Placed(old_rank, *moved) for s in siblings) == index:
            raise Conflict("The item is already in this position.")
        rank = _rank_at(tx, siblings, index)
    if kind == "space":
        store.update_space(tx, id, collection_id=parent_id, rank=rank)
    else:
        store.update_collection(tx, id, parent_id=parent_id, rank=rank)


def list_siblings(tx: Transaction, organization_id: str, parent_id: str | None) -> list[Placed]:
    """Return all spaces and collections with the same parent, in order."""
    place = "= :parent" if parent_id else "IS NULL"
    rows = tx.all(
        f"""SELECT rank, 'space', id FROM spaces
              WHERE organization_id = :org AND collection_id {place} AND deleted_at IS NULL
            UNION ALL
            SELECT rank, 'collection', id FROM collections
              WHERE organization_id = :org AND parent_id {place} AND deleted_at IS NULL""",
        org=organization_id,
        **({"parent": parent_id} if parent_id else {}),
    )
    return sorted(Placed(*row) for row in rows)


def rank_behind(
    tx: Transaction, organization_id: str, parent_id: str | None, neighbor: tuple[Kind, str]
) -> str:
    """Return a rank right after a sibling in ``parent_id``."""
    siblings = list_siblings(tx, organization_id, parent_id)
    index = next(i for i, sibling in enumerate(siblings) if sibling[1:] == neighbor)
    return _rank_at(tx, siblings, index + 1)


def _index(
    tx: Transaction,
    org: OrgAccess,
    moved: tuple[Kind, str],
    siblings: list[Placed],
    before: Neighbor | None,
    after: Neighbor | None,
) -> int:
    """Return the index of the requested position among the siblings."""
    found = []
    for neighbor, step in ((before, 0), (after, 1)):
        if neighbor is None:
            continue
        if (neighbor.kind, neighbor.id) == moved:
            raise BadRequest(
                f"{neighbor.place}: must not be the item that you're moving. Choose another item."
            )
        _require_visible(tx, org, neighbor)
        place = [i for i, s in enumerate(siblings) if s[1:] == (neighbor.kind, neighbor.id)]
        if not place:
            raise BadRequest(f"{neighbor.place}: must be an item in the same parent, not {neighbor.id!r}")
        found.append(place[0] + step)
    if len(set(found)) > 1:
        raise BadRequest("position: `before` and `after` must be adjacent items")
    return found[0]


def _require_visible(tx: Transaction, org: OrgAccess, neighbor: Neighbor) -> None:
    enter = space_access if neighbor.kind == "space" else collection_access
    organization_id: str | None
    try:
        organization_id = enter(tx, org.actor, Can.VIEW, neighbor.id).organization_id
    except NotFound:
        organization_id = None
    if organization_id != org.organization_id:
        raise NotFound(
            f"{neighbor.place}: there is no {neighbor.kind} with the ID {neighbor.id!r} in this organization"
        )


def _rank_at(tx: Transaction, siblings: list[Placed], index: int) -> str:
    low = siblings[index - 1].rank if index else None
    high = siblings[index].rank if index < len(siblings) else None
    if low is not None and low == high:
        # If two items were created at the same moment, they have equal ranks, so all siblings get new ranks
        # first.
        for number, rank in enumerate(ranks(len(siblings))):
            table = "spaces" if siblings[number].kind == "space" else "collections"
            tx.run(f"UPDATE {table} SET rank = :rank WHERE id = :id", rank=rank, id=siblings[number].id)
            siblings[number] = siblings[number]._replace(rank=rank)
        return _rank_at(tx, siblings, index)
    return rank_between(low, high)


def _require_no_cycle(tx: Transaction, collection_id: str, parent_id: str | None) -> None:
    above = parent_id
    while above is not None:
        if above == collection_id:
            raise BadRequest("parent: a collection can't be moved into itself")
        above = tx.value("SELECT parent_id FROM collections WHERE id = :id", id=above)


def list_inside(tx: Transaction, collection_id: str, *, deleted: bool = False) -> list[list[str]]:
    """Return the IDs of a collection and of all collections in it, level by level. ``deleted``: whether to
    include collections in the trash."""
    levels = [[collection_id]]
    alive = "" if deleted else " AND deleted_at IS NULL"
    while below := tx.all(f"SELECT id FROM collections WHERE parent_id IN :ids{alive}", ids=levels[-1]):
        levels.append([row[0] for row in below])
    return levels


def _height(tx: Transaction, collection_id: str) -> int:
    return len(list_inside(tx, collection_id))
