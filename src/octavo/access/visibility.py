"""The SQL form of the permission check, for lists: what of an organization somebody sees, each with the height
of their role there (see ``roles.height``).

It says the same as ``roles.effective_role``; a test holds them equal. It never asks space by space: what was
granted is few rows, found once; of the rest all with a default level of their own are seen by members, and of
those that inherit the ones in collections that are seen. An index gives each of these sets.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .entering import Member, OrgAccess
from .roles import ORDER, height

_HEIGHTS = " ".join(f"WHEN '{role}' THEN {height(role)}" for role in ORDER)
_SOME_ROLE = "IN (" + ", ".join(f"'{role}'" for role in ORDER) + ")"


def _height_of(column: str) -> str:
    return f"CASE {column} {_HEIGHTS} ELSE 0 END"


# Who is seen at all is in here, with a height above 0. A default level is for members, not for guests.
_FOUND = f"""WITH RECURSIVE granted(kind, id, height) AS MATERIALIZED (
    SELECT g.object_type, g.object_id,
           COALESCE(max(CASE WHEN g.subject_type = 'user' THEN {_height_of("g.role")} END), max({_height_of("g.role")}))
      FROM grants g
     WHERE (g.subject_type = 'user' AND g.subject_id = :viewer)
        OR (g.subject_type = 'team' AND g.subject_id IN (SELECT team_id FROM team_members WHERE user_id = :viewer))
     GROUP BY g.object_type, g.object_id),
  open_collections(id, height) AS (
    SELECT g.id, g.height FROM granted g WHERE g.kind = 'collection' AND g.height > 0
    UNION ALL SELECT c.id, {_height_of("c.default_level")} FROM collections c
      WHERE :viewer_height > 0 AND c.organization_id = :organization AND c.default_level {_SOME_ROLE}
        AND c.id NOT IN (SELECT id FROM granted)
    UNION ALL SELECT c.id, :viewer_height FROM collections c
      WHERE :viewer_height > 0 AND c.organization_id = :organization AND c.parent_id IS NULL
        AND c.default_level = 'inherit' AND c.id NOT IN (SELECT id FROM granted)
    UNION ALL SELECT c.id, o.height FROM open_collections o JOIN collections c ON c.parent_id = o.id
      WHERE c.default_level = 'inherit' AND c.id NOT IN (SELECT id FROM granted))"""

_NOT_GRANTED = "s.id NOT IN (SELECT id FROM granted)"


Viewer = OrgAccess | Member
"""Whose list it is: the caller's own, or what the caller may know that a colleague sees."""


class Seen(NamedTuple):
    """SQL around a list of what somebody sees. ``visible``: a table of ids, each with the viewer's ``height`` there;
    ``total``: the value of how many there are. Both behind ``prefix``."""

    prefix: str
    visible: str
    total: str
    parameters: dict[str, Any]


def seen_spaces(org: Viewer, where: str, **parameters: Any) -> Seen:
    """The spaces for which ``where`` (on ``spaces s``) holds. ``parameters``: what ``where`` asks for."""
    within = f"s.organization_id = :organization AND {where}"
    if org.role == "admin":
        return _everything(org, "spaces s", within, parameters)
    visible = f"""SELECT s.id, g.height FROM granted g JOIN spaces s ON s.id = g.id
        WHERE g.kind = 'space' AND g.height > 0 AND {within}
      UNION ALL SELECT s.id, o.height FROM open_collections o JOIN spaces s ON s.collection_id = o.id
        WHERE s.default_level = 'inherit' AND {within} AND {_NOT_GRANTED}"""
    if org.role is not None:
        visible += f"""
      UNION ALL SELECT s.id, {_height_of("s.default_level")} FROM spaces s
        WHERE s.default_level {_SOME_ROLE} AND {within} AND {_NOT_GRANTED}
      UNION ALL SELECT s.id, :viewer_height FROM spaces s
        WHERE s.collection_id IS NULL AND s.default_level = 'inherit' AND {within} AND {_NOT_GRANTED}"""
    return _visible(org, visible, parameters)


def seen_collections(org: Viewer, where: str, **parameters: Any) -> Seen:
    """The collections for which ``where`` (on ``collections c``) holds."""
    within = f"c.organization_id = :organization AND {where}"
    if org.role == "admin":
        return _everything(org, "collections c", within, parameters)
    visible = (
        f"SELECT c.id, o.height FROM open_collections o JOIN collections c ON c.id = o.id WHERE {within}"
    )
    return _visible(org, visible, parameters)


def _visible(org: Viewer, visible: str, parameters: dict[str, Any]) -> Seen:
    prefix = f"{_FOUND}, visible(id, height) AS MATERIALIZED ({visible})"
    given = {"organization": org.organization_id, "viewer": org.user_id, "viewer_height": height(org.role)}
    return Seen(prefix, "visible", "(SELECT count(*) FROM visible)", {**parameters, **given})


def _everything(org: Viewer, table: str, within: str, parameters: dict[str, Any]) -> Seen:
    """What an administrator sees: nothing is asked."""
    visible = f"(SELECT {table[-1]}.id AS id, {height('admin')} AS height FROM {table} WHERE {within})"
    total = f"(SELECT count(*) FROM {table} WHERE {within})"
    return Seen("", visible, total, {**parameters, "organization": org.organization_id})
