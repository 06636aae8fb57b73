"""The SQL form of the permission check, for lists: the role of a person at the spaces and collections of an
organization, as a height (see ``roles.height``; 0: they do not see it).

It says the same as ``roles.effective_role``; a test holds them equal. What somebody was granted is few rows,
found once; every other row is decided by its own default level and its collection's height.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .entering import OrgAccess
from .roles import ORDER, height

_HEIGHTS = " ".join(f"WHEN '{role}' THEN {height(role)}" for role in ORDER)


def _height_of(column: str) -> str:
    return f"CASE {column} {_HEIGHTS} ELSE 0 END"


def _rung(table: str, granted: str, parent: str) -> str:
    """The height at one row of ``table``. A default level is for members, not for guests."""
    return f"""COALESCE({granted}.height, CASE
      WHEN {table}.default_level = 'inherit' THEN {parent}
      WHEN :viewer_height = 0 THEN 0
      ELSE {_height_of(f"{table}.default_level")} END)"""


_ROLES_OF_VIEWER = f"""WITH RECURSIVE granted(kind, id, height) AS (
    SELECT g.object_type, g.object_id,
           COALESCE(max(CASE WHEN g.subject_type = 'user' THEN {_height_of("g.role")} END), max({_height_of("g.role")}))
      FROM grants g
     WHERE (g.subject_type = 'user' AND g.subject_id = :viewer)
        OR (g.subject_type = 'team' AND g.subject_id IN (SELECT team_id FROM team_members WHERE user_id = :viewer))
     GROUP BY g.object_type, g.object_id),
  collection_roles(id, height) AS (
    SELECT c.id, {_rung("c", "g", ":viewer_height")}
      FROM collections c LEFT JOIN granted g ON g.kind = 'collection' AND g.id = c.id
     WHERE c.organization_id = :organization AND c.parent_id IS NULL
    UNION ALL
    SELECT c.id, {_rung("c", "g", "p.height")}
      FROM collection_roles p JOIN collections c ON c.parent_id = p.id
      LEFT JOIN granted g ON g.kind = 'collection' AND g.id = c.id)"""
_SPACE_ROLES = """LEFT JOIN granted sg ON sg.kind = 'space' AND sg.id = s.id
  LEFT JOIN collection_roles sc ON sc.id = s.collection_id"""
_SPACE_HEIGHT = _rung("s", "sg", "COALESCE(sc.height, :viewer_height)")
_COLLECTION_ROLES = "JOIN collection_roles cr ON cr.id = c.id"


class Seen(NamedTuple):
    """SQL around a list of what somebody sees: a WITH clause, joins behind ``spaces s`` or ``collections c``,
    their height at a row, and a condition that begins with AND. ``parameters`` hold ``:organization``."""

    prefix: str
    joins: str
    height: str
    condition: str
    parameters: dict[str, Any]


def seen_spaces(org: OrgAccess) -> Seen:
    return _seen(org, _SPACE_ROLES, _SPACE_HEIGHT)


def seen_collections(org: OrgAccess) -> Seen:
    return _seen(org, _COLLECTION_ROLES, "cr.height")


def _seen(org: OrgAccess, joins: str, height_there: str) -> Seen:
    own = height(org.role)
    if org.role == "admin":
        # An administrator sees everything: nothing is asked.
        return Seen("", "", ":viewer_height", "", {"organization": org.organization_id, "viewer_height": own})
    parameters = {"organization": org.organization_id, "viewer": org.user_id, "viewer_height": own}
    return Seen(_ROLES_OF_VIEWER, joins, height_there, f" AND {height_there} > 0", parameters)
