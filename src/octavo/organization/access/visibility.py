"""Authorization check in SQL, for listing all objects that a person can see in an organization, with the rank of the
person's role (see ``roles.role_height``).

The check is equivalent to ``roles.effective_role``; a test compares the two. It never checks spaces one by one, because
only a few objects have grants or their own level, and these special objects are found once through indexes. A guest can
see only special objects that are open to the guest. A member can see all objects except special objects that are closed
to the member, so a query follows an index and stops when it has enough rows, and the total is the difference between
two counts. If most spaces are closed to a member, the query lists the open ones instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from octavo.kit.db.cache import OwnCache
from octavo.kit.db.database import Transaction

from .authorization import OrgAccess, OtherMember
from .roles import ORDER, role_height

_HEIGHTS = " ".join(f"WHEN '{role}' THEN {role_height(role)}" for role in ORDER)
_SOME_ROLE = "IN (" + ", ".join(f"'{role}'" for role in ORDER) + ")"


def _height_of(column: str) -> str:
    return f"CASE {column} {_HEIGHTS} ELSE 0 END"


# A default level is for members, not for guests.
_FOUND = f"""WITH RECURSIVE granted(kind, id, height) AS MATERIALIZED (
    SELECT g.object_type, g.object_id,
           COALESCE(max(CASE WHEN g.subject_type = 'user' THEN {_height_of("g.role")} END), max({_height_of("g.role")}))
      FROM grants g
     WHERE (g.subject_type = 'user' AND g.subject_id = :viewer)
        OR (g.subject_type = 'team' AND g.subject_id IN (SELECT team_id FROM team_members WHERE user_id = :viewer))
     GROUP BY g.object_type, g.object_id),
  decided(id, height) AS (
    SELECT g.id, g.height FROM granted g WHERE g.kind = 'collection'
    UNION ALL SELECT c.id, {_height_of("c.default_level")} FROM collections c
      WHERE :viewer_height > 0 AND c.organization_id = :organization AND c.default_level {_SOME_ROLE}
        AND c.id NOT IN (SELECT id FROM granted)
    UNION ALL SELECT c.id, 0 FROM collections c
      WHERE :viewer_height > 0 AND c.organization_id = :organization AND c.default_level IS NULL
        AND c.id NOT IN (SELECT id FROM granted)
    UNION ALL SELECT c.id, d.height FROM decided d JOIN collections c ON c.parent_id = d.id
      WHERE c.default_level = 'inherit' AND c.id NOT IN (SELECT id FROM granted))"""

_NOT_GRANTED = "s.id NOT IN (SELECT id FROM granted)"


Viewer = OrgAccess | OtherMember
"""Person for whom the list is built: the caller, or a colleague whose view the caller is allowed to see."""


_MANY = 1000
"""Number of spaces from which an organization is checked for closed collections."""
_closed: OwnCache[bool] = OwnCache("people with closed collections", 1)
"""Results of ``is_mostly_closed``. They only determine how a list is computed, so they can be outdated."""


def is_mostly_closed(tx: Transaction, org: Viewer) -> bool:
    """Return whether a large organization has mostly collections that are closed to this member."""
    if org.role is None or org.role == "admin":
        return False
    cache, key = _closed.of(tx), (org.organization_id, org.user_id)
    found = cache.get(key)
    if found is None:
        found = bool(
            tx.value(
                f"""{_FOUND} SELECT CASE
                    WHEN (SELECT count(*) FROM (SELECT 1 FROM spaces WHERE organization_id = :organization
                          LIMIT {_MANY}) AS first_spaces) < {_MANY} THEN 0
                    WHEN (SELECT count(*) FROM decided WHERE height = 0) * 2
                          > (SELECT count(*) FROM collections WHERE organization_id = :organization) THEN 1
                    ELSE 0 END""",
                **_merge_parameters(org, {}),
            )
        )
        cache.put(key, found, 200)
    return found


class VisibleRows(NamedTuple):
    """SQL fragments for listing the objects that a person can see. ``FROM source WHERE where`` returns each row of the
    table under its one-letter alias. ``height``: the rank of the viewer's role on the object. ``visible``: a table of
    the objects' IDs and the ranks of the roles. ``total``: an expression for the number of rows. All of these must come
    after ``prefix``."""

    prefix: str
    source: str
    where: str
    height: str
    total: str
    visible: str
    parameters: dict[str, Any]


def select_visible_spaces(
    org: Viewer, where: str, mostly_closed: bool = False, /, **parameters: object
) -> VisibleRows:
    """Return SQL fragments for the visible spaces that match ``where`` (on ``spaces s``). ``parameters``: the
    values for ``where``. ``mostly_closed``: whether to expect that a member can see only a few spaces. It makes the
    query faster or slower, but doesn't change its result."""
    table, within = "spaces s", f"s.organization_id = :organization AND {where}"
    if org.role == "admin":
        return _select_everything(org, table, within, parameters)
    granted = f"FROM granted g JOIN spaces s ON s.id = g.id WHERE g.kind = 'space' AND {within}"
    inherited = f"""FROM decided d JOIN spaces s ON s.collection_id = d.id
        WHERE s.default_level = 'inherit' AND {within} AND {_NOT_GRANTED}"""
    if org.role is None or mostly_closed:
        opened = f"""SELECT s.id, g.height {granted} AND g.height > 0
            UNION ALL SELECT s.id, d.height {inherited} AND d.height > 0"""
        if org.role is not None:
            as_member = f"s.default_level = 'inherit' AND {within} AND {_NOT_GRANTED}"
            # SQLite never reorders a cross join, and would otherwise read all spaces.
            opened += f"""
                UNION ALL SELECT s.id, {role_height(org.role)} FROM collections c CROSS JOIN spaces s
                  WHERE c.organization_id = :organization AND c.id NOT IN (SELECT id FROM decided)
                    AND s.collection_id = c.id AND {as_member}
                UNION ALL SELECT s.id, {role_height(org.role)} FROM spaces s
                  WHERE s.collection_id IS NULL AND {as_member}
                UNION ALL SELECT s.id, {_height_of("s.default_level")} FROM spaces s
                  WHERE s.default_level {_SOME_ROLE} AND {within} AND {_NOT_GRANTED}"""
        return _select_opened(org, table, opened, parameters)
    closed = f"""SELECT s.id {granted} AND g.height = 0 UNION ALL SELECT s.id {inherited} AND d.height = 0
        UNION ALL SELECT s.id FROM spaces s WHERE s.default_level IS NULL AND {within} AND {_NOT_GRANTED}"""
    role = f"""COALESCE(g.height,
        CASE WHEN s.default_level = 'inherit' THEN COALESCE(d.height, :viewer_height)
        ELSE {_height_of("s.default_level")} END)"""
    joined = "LEFT JOIN granted g ON g.id = s.id LEFT JOIN decided d ON d.id = s.collection_id"
    return _select_not_closed(org, table, within, closed, role, joined, parameters)


def select_visible_collections(org: Viewer, where: str, **parameters: object) -> VisibleRows:
    """Return SQL fragments for the visible collections that match ``where`` (on ``collections c``)."""
    table, within = "collections c", f"c.organization_id = :organization AND {where}"
    if org.role == "admin":
        return _select_everything(org, table, within, parameters)
    decided = f"FROM decided d JOIN collections c ON c.id = d.id WHERE {within}"
    if org.role is None:
        return _select_opened(org, table, f"SELECT c.id, d.height {decided} AND d.height > 0", parameters)
    role, joined = "COALESCE(d.height, :viewer_height)", "LEFT JOIN decided d ON d.id = c.id"
    return _select_not_closed(
        org, table, within, f"SELECT c.id {decided} AND d.height = 0", role, joined, parameters
    )


def select_visible_sites(org: Viewer, where: str, **parameters: object) -> VisibleRows:
    """Return SQL fragments for the visible sites that match ``where`` (on ``sites t``). Collections don't contain
    sites, so only grants and the site's own level take precedence over the organization."""
    table, within = "sites t", f"t.organization_id = :organization AND {where}"
    if org.role == "admin":
        return _select_everything(org, table, within, parameters)
    granted = f"FROM granted g JOIN sites t ON t.id = g.id WHERE g.kind = 'site' AND {within}"
    if org.role is None:
        return _select_opened(org, table, f"SELECT t.id, g.height {granted} AND g.height > 0", parameters)
    closed = f"""SELECT t.id {granted} AND g.height = 0 UNION ALL SELECT t.id FROM sites t
        WHERE t.default_level IS NULL AND {within} AND t.id NOT IN (SELECT id FROM granted)"""
    role = f"""COALESCE(g.height, CASE WHEN t.default_level = 'inherit' THEN :viewer_height
        ELSE {_height_of("t.default_level")} END)"""
    return _select_not_closed(
        org, table, within, closed, role, "LEFT JOIN granted g ON g.id = t.id", parameters
    )


def _select_opened(org: Viewer, table: str, opened: str, parameters: Mapping[str, object]) -> VisibleRows:
    """Return SQL fragments for the objects that are open to a guest, with the rank of the guest's role on each."""
    prefix = f"{_FOUND}, visible(id, height) AS MATERIALIZED ({opened})"
    source, total = f"visible v JOIN {table} ON {table[-1]}.id = v.id", "(SELECT count(*) FROM visible)"
    return VisibleRows(
        prefix, source, "TRUE", "v.height", total, "visible", _merge_parameters(org, parameters)
    )


def _select_not_closed(
    org: Viewer,
    table: str,
    within: str,
    closed: str,
    role: str,
    joined: str,
    parameters: Mapping[str, object],
) -> VisibleRows:
    """Return SQL fragments for the objects that a member can see: all objects in ``within`` except the objects in
    ``closed``."""
    prefix = f"{_FOUND}, closed(id) AS MATERIALIZED ({closed})"
    source, where = f"{table} {joined}", f"{within} AND {table[-1]}.id NOT IN (SELECT id FROM closed)"
    total = f"((SELECT count(*) FROM {table} WHERE {within}) - (SELECT count(*) FROM closed))"
    visible = _visible(table, source, where, role)
    return VisibleRows(prefix, source, where, role, total, visible, _merge_parameters(org, parameters))


def _select_everything(org: Viewer, table: str, within: str, parameters: Mapping[str, object]) -> VisibleRows:
    """Return SQL fragments for the objects that an administrator can see, without any check."""
    role, total = str(role_height("admin")), f"(SELECT count(*) FROM {table} WHERE {within})"
    given = {**parameters, "organization": org.organization_id}
    return VisibleRows("", table, within, role, total, _visible(table, table, within, role), given)


def _visible(table: str, source: str, where: str, role: str) -> str:
    return f"(SELECT {table[-1]}.id AS id, {role} AS height FROM {source} WHERE {where})"


def _merge_parameters(org: Viewer, parameters: Mapping[str, object]) -> dict[str, object]:
    asked = {
        "organization": org.organization_id,
        "viewer": org.user_id,
        "viewer_height": role_height(org.role),
    }
    return {**parameters, **asked}
