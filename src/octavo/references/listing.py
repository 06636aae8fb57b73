"""Links and backlinks of one state of a space, as the caller may know them.

Rows are those that main keeps; a change request lays what it changes over them, and the questions are the same.
Nothing is told of a space that the caller does not see: a reference to it is broken, one from it does not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import msgspec
from msgspec import Struct

from ..access import SpaceAccess, seen_collections, seen_spaces
from ..kit.db import Transaction
from ..kit.pagination import PageQuery, Slice, decode_token, slice_rows
from .index import COLUMNS, IS_CURRENT, Delta, Place, Row

MOST_LOCATIONS = 100
"""Places in one item of a list; a target that more refer to goes on in the next item."""

_IS_HIDDEN = """(r.target_space IS NOT NULL AND r.target_space <> :space
                AND r.target_space NOT IN (SELECT id FROM {seen}))"""
_SHOWN = """CASE
    WHEN r.status <> 'ok' THEN r.status
    WHEN {hidden} THEN 'broken'
    WHEN r.kind = 'user' AND NOT EXISTS (SELECT 1 FROM members m WHERE m.organization_id = :organization
      AND m.user_id = r.target AND m.disabled = 0) THEN 'broken'
    WHEN r.kind = 'collection' AND r.target NOT IN (SELECT id FROM {seen}) THEN 'broken'
    WHEN r.kind = 'openapi' AND NOT EXISTS (SELECT 1 FROM openapi_specs o
      WHERE o.organization_id = :organization AND o.slug = r.target) THEN 'broken'
    ELSE 'ok' END"""
# By what is hidden nothing may be put together: each reference to it stands alone.
_KEY = "CASE WHEN {hidden} THEN 'hidden ' || r.owner_id || ' ' || r.place ELSE r.target_key END"

# The spaces and collections that a space refers to, and those that refer to it.


def _different(name: str, column: str, where: str) -> str:
    """SQL of the different values that a column of references has, each found by a step in an index: a space has few
    neighbours and many references."""
    least = f"SELECT min({column}) AS id FROM content_references WHERE {where}"
    return f"""{name}(id) AS ({least} UNION ALL
                 SELECT ({least} AND {column} > {name}.id) FROM {name} WHERE {name}.id IS NOT NULL)"""


_NAMED = _different("named", "target_space", "space_id = :space")
_NEIGHBOURS = f"""WITH RECURSIVE {_NAMED},
    {_different("collected", "target", "space_id = :space AND kind = 'collection'")},
    {_different("naming", "space_id", "target_space = :space")}
  SELECT id FROM named UNION SELECT id FROM collected UNION SELECT id FROM naming
  UNION SELECT id FROM {{new}} AS n"""
_COUNTS = ("found", "broken", "by_change", "items")


class Overlay(Struct, frozen=True):
    """A change request over main's rows: ``broken`` are the places whose links it broke."""

    delta: Delta
    broken: frozenset[Place]


def overlay_of(delta: Delta, before: Delta) -> Overlay:
    """``delta`` leads from the head of main to the change request, ``before`` to where it parted from main."""

    def name(row: Row) -> tuple[str, str, str]:
        return row.owner_id, row.type, row.written

    was = {name(row): row.status for row in delta.old.values()}
    for row in before.old.values():
        was.pop(name(row), None)
    was |= {name(row): row.status for row in before.new}
    broken = {row.at for row in delta.new if row.status == "broken" and was.get(name(row)) != "broken"}
    return Overlay(delta, frozenset(broken))


class Spot(Struct, frozen=True, array_like=True):
    """Where a reference is: the ``owner`` of ``kind`` page or reusable-content, and the key of the node as reading
    the text gives it."""

    space: str
    owner: str
    place: int
    kind: str
    node: str | None


class Usage(Struct, frozen=True):
    """One thing that is referred to, with places where: at most `MOST_LOCATIONS`, the others are in the usages of the
    same ``key`` that follow. ``target`` None: nothing but what is ``written`` (JSON) is known of it, or to be
    told."""

    key: str
    status: str
    relation: str
    kind: str
    space: str | None
    target: str | None
    anchor: str | None
    written: str
    spots: tuple[Spot, ...]


class Usages(Struct, frozen=True):
    """A page of usages. ``total`` and ``broken`` count references, ``broken_by_change`` those that the change request
    broke."""

    found: Slice[Usage]
    total: int
    broken: int
    broken_by_change: int


class LinkIndex:
    """The rows as the caller may know them; lives as long as one request."""

    def __init__(self, tx: Transaction, access: SpaceAccess, over: Overlay | None = None) -> None:
        self._tx = tx
        self._access = access
        self._over = over
        self._parameters: dict[str, Any] = {
            "organization": access.organization_id,
            "space": access.space_id,
            "seen": msgspec.json.encode(self._seen()).decode(),
        }
        self._sees = f"{tx.given('seen', 'id')} AS v"
        hidden = _IS_HIDDEN.format(seen=self._sees)
        self._shown = _SHOWN.format(hidden=hidden, seen=self._sees)
        self._hidden_key = _KEY.format(hidden=hidden)
        self._rows = f"SELECT {', '.join(COLUMNS)}, '' AS since FROM content_references r WHERE {IS_CURRENT}"
        if over is not None:
            self._lay(over)

    def _seen(self) -> list[list[str]]:
        """Which spaces and collections that this has to do with the caller sees."""
        access, found = self._access, list[list[str]]()
        new = {row.target_space for row in self._over.delta.new} if self._over else set()
        new |= (
            {row.target for row in self._over.delta.new if row.kind == "collection"} if self._over else set()
        )
        given = {"space": access.space_id, "new": msgspec.json.encode([[id] for id in new if id]).decode()}
        among = _NEIGHBOURS.format(new=self._tx.given("new", "id"))
        org = access.organization
        for seen in (
            seen_spaces(org, f"s.deleted_at IS NULL AND s.id IN ({among})", **given),
            seen_collections(org, f"c.id IN ({among})", **given),
        ):
            rows = self._tx.all(f"{seen.prefix} SELECT v.id FROM {seen.visible} v", **seen.parameters)
            found += [[row[0]] for row in rows]
        return found

    def _hides(self) -> bool:
        """Whether the space refers to one that the caller does not see."""
        new = {row.target_space for row in self._over.delta.new if row.target_space} if self._over else set()
        row = self._tx.one(
            f"""WITH RECURSIVE {_NAMED} SELECT 1
                FROM (SELECT id FROM named UNION SELECT id FROM {self._tx.given("added", "id")} AS a) AS n
                WHERE n.id <> :space AND n.id NOT IN (SELECT id FROM {self._sees}) LIMIT 1""",
            added=msgspec.json.encode([[id] for id in sorted(new)]).decode(),
            space=self._parameters["space"],
            seen=self._parameters["seen"],
        )
        return row is not None

    def _lay(self, over: Overlay) -> None:
        gone = [[" ".join(map(str, at))] for at in over.delta.old]
        new = [
            [*map(_text, msgspec.structs.astuple(row)), "1" if row.at in over.broken else ""]
            for row in over.delta.new
        ]
        self._parameters |= {
            "gone": msgspec.json.encode(gone).decode(),
            "new": msgspec.json.encode(new).decode(),
        }
        picked = ", ".join("CAST(n.place AS INTEGER) AS place" if c == "place" else f"n.{c}" for c in COLUMNS)
        self._rows = f"""{self._rows}
            AND r.space_id || ' ' || r.owner_id || ' ' || r.place NOT IN
              (SELECT at FROM {self._tx.given("gone", "at")} AS g)
            UNION ALL SELECT {picked}, n.since FROM {self._tx.given("new", *COLUMNS, "since")} AS n"""

    def usages(
        self, query: PageQuery, status: str | None, context: str | None, owner: str | None = None
    ) -> Usages:
        """What the space, or one page of it (``owner``), refers to, thing by thing; a thing with more than
        `MOST_LOCATIONS` places is several items one after the other. ``context``: only what is broken,
        ``change-request`` by the change request or ``space`` before it."""
        where = "" if owner is None else "AND r.owner_id = :owner"
        # Where nothing is hidden, an index has the keys of a whole space in order.
        key = "r.target_key" if owner is None and not self._hides() else self._hidden_key
        seen = f"""WITH seen AS (SELECT r.*, {self._shown} AS shown, {key} AS shown_key
                   FROM ({self._rows}) r WHERE r.space_id = :space {where})"""
        wanted = {None: "1 = 1", "change-request": "shown = 'broken' AND since = '1'"}.get(
            context, "shown = 'broken' AND since = ''"
        )
        parameters = self._parameters | ({"owner": owner} if owner is not None else {})
        if status is not None:
            wanted += " AND shown = :status"
            parameters["status"] = status
        counts = self._tx.one(
            f"""{seen}, targets AS (
                  SELECT count(*) AS found, count(CASE WHEN shown = 'broken' THEN 1 END) AS broken,
                    count(CASE WHEN shown = 'broken' AND since = '1' THEN 1 END) AS by_change,
                    (count(CASE WHEN {wanted} THEN 1 END) + :most - 1) / :most AS items
                  FROM seen GROUP BY shown_key)
                SELECT {", ".join(f"CAST(coalesce(sum({name}), 0) AS bigint)" for name in _COUNTS)} FROM targets""",
            most=MOST_LOCATIONS,
            **parameters,
        )
        assert counts is not None
        total, broken, by_change, count = counts
        rows = self._tx.all(
            f"""{seen} SELECT shown_key, shown, relation, kind, target_space, target, anchor, written,
                  space_id, owner_id, place, owner_kind, node
                FROM seen WHERE {wanted} AND shown_key >= :k AND (shown_key > :k
                  OR owner_id > :o OR owner_id = :o AND place > :p)
                ORDER BY shown_key, owner_id, place LIMIT :limit""",
            **dict(zip("kop", decode_token(query.page, str, str, int) or ("", "", -1), strict=True)),
            limit=MOST_LOCATIONS * (query.limit + 1),
            **parameters,
        )
        items = [
            _usage(places[start : start + MOST_LOCATIONS])
            for places in (list(group) for _, group in groupby(rows, lambda row: row[0]))
            for start in range(0, len(places), MOST_LOCATIONS)
        ]
        found = slice_rows(
            items, query.limit, count, lambda usage: (usage.key, usage.spots[-1].owner, usage.spots[-1].place)
        )
        return Usages(found, total, broken, by_change)

    def backlinks(self, target: str, kind: str, query: PageQuery) -> Slice[Spot]:
        """Where others refer to a page or file, in all spaces that the caller sees."""
        seen = f"""FROM ({self._rows}) r WHERE r.target_space = :space AND r.target = :target AND r.kind = :kind
                   AND NOT (r.space_id = :space AND r.owner_id = :target)
                   AND (r.space_id = :space OR r.space_id IN (SELECT id FROM {self._sees}))"""
        parameters = {**self._parameters, "target": target, "kind": kind}
        after = decode_token(query.page, str, str, int)
        rows = self._tx.all(
            f"""SELECT r.space_id, r.owner_id, r.place, r.owner_kind, r.node {seen}
                AND (r.space_id > :s OR r.space_id = :s AND (r.owner_id > :o OR r.owner_id = :o AND r.place > :p))
                ORDER BY r.space_id, r.owner_id, r.place LIMIT :limit""",
            **dict(zip("sop", after or ("", "", -1), strict=True)),
            limit=query.limit + 1,
            **parameters,
        )
        count = self._tx.value(f"SELECT count(*) {seen}", **parameters)
        return slice_rows(
            [Spot(*row) for row in rows],
            query.limit,
            count,
            lambda spot: (spot.space, spot.owner, spot.place),
        )


def _usage(places: Sequence[tuple[Any, ...]]) -> Usage:
    """Of the rows of one target, in their order."""
    key, status, relation, kind, space, target, anchor, written, *_ = places[0]
    known = None if key.startswith("hidden ") else target
    spots = tuple(Spot(*row[8:]) for row in places)
    return Usage(key, status, relation, kind, space, known, anchor, written, spots)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
