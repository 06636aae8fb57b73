"""Spaces and collections go to another organization, with everything in them but what only the old one knows.

Grants to people who are members there stay; grants to others and to teams, and invite links, end. Default
levels stay, so nothing that was private opens.
"""

from __future__ import annotations

from ..access import OrgAccess
from ..errors import Conflict, PreconditionFailed
from ..kit.db import Transaction
from ..kit.outbox import emit
from . import store
from .placing import Kind, list_inside, lock_order


def transfer_space(tx: Transaction, space_id: str, target: OrgAccess) -> None:
    """Puts a space at the top of the target. Raises Conflict when it is there, PreconditionFailed in a site."""
    source = store.get_space(tx, space_id).organization_id
    _begin(tx, source, target, [space_id])
    _hand_over(tx, [space_id], [], target)
    store.update_space(
        tx, space_id, collection_id=None, rank=store.last_rank(tx, target.organization_id, None)
    )


def transfer_collection(tx: Transaction, collection_id: str, target: OrgAccess) -> None:
    """The same for a collection with all that lies in it, the trash included."""
    source = store.get_collection(tx, collection_id).organization_id
    collections = [id for level in list_inside(tx, collection_id, deleted=True) for id in level]
    rows = tx.all("SELECT id FROM spaces WHERE collection_id IN :ids ORDER BY id", ids=collections)
    spaces = [row[0] for row in rows]
    _begin(tx, source, target, spaces)
    _hand_over(tx, spaces, collections, target)
    store.update_collection(
        tx, collection_id, parent_id=None, rank=store.last_rank(tx, target.organization_id, None)
    )


def _begin(tx: Transaction, source: str, target: OrgAccess, spaces: list[str]) -> None:
    if source == target.organization_id:
        raise Conflict("organization: it is there already")
    for organization_id in sorted((source, target.organization_id)):
        lock_order(tx, organization_id)
    row = tx.one(
        """SELECT s.title, t.title FROM site_spaces x JOIN spaces s ON s.id = x.space_id
           JOIN sites t ON t.id = x.site_id WHERE x.space_id IN :spaces ORDER BY s.id""",
        spaces=spaces,
    )
    if row is not None:
        raise PreconditionFailed(f"{row[0]!r} is part of the site {row[1]!r}: take it out of there first.")


def _hand_over(tx: Transaction, spaces: list[str], collections: list[str], target: OrgAccess) -> None:
    kinds: list[tuple[Kind, str, list[str]]] = [
        ("space", "spaces", spaces),
        ("collection", "collections", collections),
    ]
    for kind, table, ids in kinds:
        tx.run(
            f"UPDATE {table} SET organization_id = :org WHERE id IN :ids", org=target.organization_id, ids=ids
        )
        tx.run(
            """DELETE FROM grants WHERE object_type = :kind AND object_id IN :ids AND (subject_type = 'team'
                 OR subject_id NOT IN (SELECT user_id FROM members WHERE organization_id = :org))""",
            kind=kind,
            ids=ids,
            org=target.organization_id,
        )
        tx.run("DELETE FROM invite_links WHERE target_type = :kind AND target_id IN :ids", kind=kind, ids=ids)
    for space_id in spaces:
        emit(tx, "space_transferred", organization_id=target.organization_id, space_id=space_id)
