"""The SQL form of the permission check, for lists: which spaces and collections of an organization a person sees.

It says the same as ``roles.effective_role`` (a test holds them equal), for the ability to view.
"""

from __future__ import annotations

from typing import Any

from .roles import Role

_TEAMS = "(SELECT team_id FROM team_members WHERE user_id = :viewer)"


def _rung(kind: str, table: str, parent: str) -> str:
    mine = f"FROM grants g WHERE g.object_type = '{kind}' AND g.object_id = {table}.id"
    user = f"{mine} AND g.subject_type = 'user' AND g.subject_id = :viewer"
    team = f"{mine} AND g.subject_type = 'team' AND g.subject_id IN {_TEAMS}"
    return f"""CASE
      WHEN EXISTS (SELECT 1 {user}) THEN (SELECT CASE WHEN max(g.role) IS NULL THEN 0 ELSE 1 END {user})
      WHEN EXISTS (SELECT 1 {team}) THEN (SELECT CASE WHEN max(g.role) IS NULL THEN 0 ELSE 1 END {team})
      WHEN {table}.default_level IS NULL THEN 0
      WHEN {table}.default_level <> 'inherit' THEN :viewer_is_member
      ELSE {parent} END"""


OPEN_COLLECTIONS = f"""WITH RECURSIVE open_collections(id, is_open) AS (
    SELECT c.id, {_rung("collection", "c", ":viewer_is_member")}
      FROM collections c WHERE c.organization_id = :organization AND c.parent_id IS NULL
    UNION ALL
    SELECT c.id, {_rung("collection", "c", "p.is_open")}
      FROM collections c JOIN open_collections p ON c.parent_id = p.id)"""
"""A WITH clause; parameters as ``viewer_parameters`` gives them, and ``organization``."""

SPACE_IS_VISIBLE = f"""(:viewer_is_admin = 1 OR 1 = {
    _rung(
        "space",
        "s",
        "COALESCE((SELECT o.is_open FROM open_collections o WHERE o.id = s.collection_id), :viewer_is_member)",
    )
})"""
"""A condition on ``spaces s``, behind OPEN_COLLECTIONS."""

COLLECTION_IS_VISIBLE = (
    "(:viewer_is_admin = 1 OR EXISTS (SELECT 1 FROM open_collections o WHERE o.id = c.id AND o.is_open = 1))"
)
"""A condition on ``collections c``, behind OPEN_COLLECTIONS."""


def viewer_parameters(organization_id: str, user_id: str, member_role: Role | str | None) -> dict[str, Any]:
    return {
        "organization": organization_id,
        "viewer": user_id,
        "viewer_is_admin": int(member_role == "admin"),
        "viewer_is_member": int(member_role is not None),
    }
