"""Links and backlinks in a state of a space, limited to content that the caller can see.

All queries use the rows of main; for a change request, its changes are overlaid on these rows. The result reveals
nothing about spaces that the caller can't see: references to them appear to be broken, and references from them don't
count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from octavo.content.revisions.restrictions import hidden_from
from octavo.kit.db.database import Transaction, json_list
from octavo.kit.db.pagination import PageQuery, Slice, decode_token, list_page, slice_rows
from octavo.organization.access.authorization import SpaceAccess
from octavo.organization.access.visibility import select_visible_collections, select_visible_spaces

from .index import Delta
from .row import COLUMNS, IS_CURRENT, Row
from .totals import (
    MOST_LOCATIONS,
    ReferenceGroup,
    ReferenceTotals,
    count_targets,
    read_targets,
    read_totals,
    target_of_row,
    total_of,
)

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
# References to hidden targets must not be grouped, so each has its own key.
_KEY = "CASE WHEN {hidden} THEN 'hidden ' || r.owner_id || ' ' || r.place ELSE r.target_key END"

# Spaces and collections that a space refers to, and those that refer to it.


def _different(name: str, column: str, where: str) -> str:
    """Return SQL for the distinct values in a column of references. Each value takes one index lookup, which is fast
    because a space has many references but refers to few other spaces."""
    least = f"SELECT min({column}) AS id FROM content_references WHERE {where}"
    return f"""{name}(id) AS ({least} UNION ALL
                 SELECT ({least} AND {column} > {name}.id) FROM {name} WHERE {name}.id IS NOT NULL)"""


_NAMED = _different("named", "target_space", "space_id = :space")
_NEIGHBORS = f"""WITH RECURSIVE {_NAMED},
    {_different("collected", "target", "space_id = :space AND kind = 'collection'")},
    {_different("naming", "space_id", "target_space = :space")}
  SELECT id FROM named UNION SELECT id FROM collected UNION SELECT id FROM naming
  UNION SELECT id FROM {{new}} AS n"""


_Name = tuple[str, str, str]


def _name(row: Row) -> _Name:
    return row.owner_id, row.type, row.written


class Overlay(Struct, frozen=True):
    """Change request overlaid on the rows of main. ``was``: the rows of the state on which it is based, by owner, type,
    and written reference; unchanged rows of main are left out."""

    delta: Delta
    was: Mapping[_Name, Row]


def overlay_of(delta: Delta, before: Delta) -> Overlay:
    """Return the overlay. ``delta``: the changes from the head of main to the change request. ``before``: the
    changes from the head of main to the state on which the change request is based."""
    was = {_name(row): row for row in delta.old.values()}
    for row in before.old.values():
        was.pop(_name(row), None)
    return Overlay(delta, was | {_name(row): row for row in before.new})


class Spot(Struct, frozen=True, array_like=True):
    """Position of a reference. ``owner``: the ID of the page or reusable content. ``kind``: the kind of owner.
    ``node``: the key that the node has in the stored text."""

    space: str
    owner: str
    place: int
    kind: str
    node: str | None


class ReferenceTarget(Struct, frozen=True):
    """Target of references with up to `MOST_LOCATIONS` locations; more locations follow in additional usages with the
    same ``key``. ``target``: the target; None if only ``written`` (JSON) is known or can be revealed."""

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
    """Page of usages. ``total`` and ``broken``: the numbers of references. ``broken_by_change``: the number
    of references that the change request broke."""

    found: Slice[ReferenceTarget]
    total: int
    broken: int
    broken_by_change: int


class _Seen(NamedTuple):
    """Reference as the caller sees it. ``hidden``: whether its target is hidden from the caller, in which case it
    isn't grouped with other references."""

    status: str
    hidden: bool


class LinkIndex:
    """References that the caller can see, for one request."""

    def __init__(
        self, tx: Transaction, access: SpaceAccess, hidden: frozenset[str], over: Overlay | None = None
    ) -> None:
        self._tx = tx
        self._access = access
        self._over = over
        self._parameters: dict[str, Any] = {
            "organization": access.organization_id,
            "space": access.space_id,
            "seen": json_list(self._list_visible_ids()),
        }
        self._sees = f"{tx.given('seen', 'id')} AS v"
        pages = hidden_from(tx, access.organization)
        self._restricted = {(space, page) for space in pages.spaces for page in pages.of(space)}
        self._restricted |= {(access.space_id, page) for page in hidden}
        self._parameters["restricted"] = msgspec.json.encode(sorted(self._restricted)).decode()
        is_hidden = _IS_HIDDEN.format(seen=self._sees)
        self._shown = _SHOWN.format(hidden=is_hidden, seen=self._sees)
        self._is_hidden = is_hidden
        # References outside the texts of a change request are those of main, so each part can use an index.
        self._parts = [
            f"SELECT {self._columns()}, '' AS since FROM content_references r WHERE {IS_CURRENT}{self._open()}"
        ]
        if over is not None:
            self._apply_overlay(over)

    def _list_visible_ids(self) -> list[str]:
        """Return the IDs of the relevant spaces and collections that the caller can see."""
        access, found = self._access, list[str]()
        new = {row.target_space for row in self._over.delta.new} if self._over else set()
        new |= (
            {row.target for row in self._over.delta.new if row.kind == "collection"} if self._over else set()
        )
        given = {"space": access.space_id, "new": json_list(id for id in new if id)}
        among = _NEIGHBORS.format(new=self._tx.given("new", "id"))
        org = access.organization
        for seen in (
            select_visible_spaces(org, f"s.deleted_at IS NULL AND s.id IN ({among})", **given),
            select_visible_collections(org, f"c.id IN ({among})", **given),
        ):
            rows = self._tx.all(f"{seen.prefix} SELECT v.id FROM {seen.visible} v", **seen.parameters)
            found += [row[0] for row in rows]
        return found

    def _is_restricted(self, space: str, page: str) -> str:
        """Return an SQL condition that is true if a restriction hides the page from the caller."""
        listed = (
            f"SELECT g.space_id, g.page_id FROM {self._tx.given('restricted', 'space_id', 'page_id')} AS g"
        )
        return f"({space}, {page}) IN ({listed})"

    def _open(self) -> str:
        """Return an SQL condition that leaves out references on pages that a restriction hides from the caller."""
        return f" AND NOT {self._is_restricted('r.space_id', 'r.owner_id')}" if self._restricted else ""

    def _columns(self) -> str:
        """Return SQL for the columns of references. References to hidden pages look like broken references. If pages
        are hidden, each broken reference has its own target, so that neither the number of targets nor their order
        reveals which broken references lead to hidden pages."""
        if not self._restricted:
            return ", ".join(COLUMNS)
        hidden = self._is_restricted("r.target_space", "r.target")
        instead = {
            "status": (hidden, "'broken'"),
            "target_key": (f"r.status = 'broken' OR {hidden}", "'broken ' || r.owner_id || ' ' || r.place"),
            **dict.fromkeys(("target_space", "target", "anchor"), (hidden, "NULL")),
        }
        return ", ".join(
            "CASE WHEN {} THEN {} ELSE r.{name} END AS {name}".format(*instead[name], name=name)
            if name in instead
            else f"r.{name}"
            for name in COLUMNS
        )

    def _as_seen(self, row: Row) -> Row | None:
        """Return a row of the change request as the caller sees it; None if it is on a hidden page. See
        ``_columns``."""
        if (row.space_id, row.owner_id) in self._restricted:
            return None
        key = f"broken {row.owner_id} {row.place}"
        if (row.target_space, row.target) in self._restricted:
            return replace(row, status="broken", target_key=key, target_space=None, target=None, anchor=None)
        return replace(row, target_key=key) if self._restricted and row.status == "broken" else row

    def _is_broken_by_change(self, over: Overlay, row: Row) -> bool:
        """Return whether the change request broke a link that it contains. ``row``: the link as the caller sees it."""
        was = over.was.get(_name(row))
        before = self._as_seen(was) if was is not None else None
        return row.status == "broken" and (before is None or before.status != "broken")

    def _apply_overlay(self, over: Overlay) -> None:
        gone = [" ".join(map(str, at)) for at in over.delta.old]
        new = [
            [*map(_text, msgspec.structs.astuple(row)), "1" if self._is_broken_by_change(over, row) else ""]
            for new in over.delta.new
            if (row := self._as_seen(new)) is not None
        ]
        self._parameters |= {
            "gone": json_list(gone),
            "new": msgspec.json.encode(new).decode(),
        }
        picked = ", ".join("CAST(n.place AS INTEGER) AS place" if c == "place" else f"n.{c}" for c in COLUMNS)
        self._parts[0] += f""" AND r.space_id || ' ' || r.owner_id || ' ' || r.place NOT IN
              (SELECT at FROM {self._tx.given("gone", "at")} AS g)"""
        self._parts.append(f"SELECT {picked}, n.since FROM {self._tx.given('new', *COLUMNS, 'since')} AS n")

    # --- totals -----------------------------------------------------------------------------------------

    def _totals(self, context: str | None, owner: str | None) -> tuple[ReferenceTotals, ReferenceTotals]:
        """Return the totals of all references of the space or page, and of the references in ``context``."""
        gone, new, broken = self._changed(owner)
        totals = self._total(owner, gone, new)
        match context:
            case None:
                return totals, totals
            case "change-request":
                return totals, total_of(Counter(target_of_row(row) for row in broken))
        broken_at = {row.at for row in broken}
        return totals, self._total(owner, gone, [row for row in new if row.at not in broken_at])

    def _changed(self, owner: str | None) -> tuple[list[Row], list[Row], list[Row]]:
        """Return three lists of rows of the space or page: the rows that the change request removes, the rows that it
        adds, and those of the added rows that contain a link that the change request broke."""
        over = self._over
        if over is None:
            return [], [], []

        def own(rows: Iterable[Row]) -> list[Row]:
            space = self._access.space_id
            seen = (self._as_seen(row) for row in rows)
            return [row for row in seen if row and row.space_id == space and owner in (None, row.owner_id)]

        new = own(over.delta.new)
        broken = [row for row in new if self._is_broken_by_change(over, row)]
        return own(over.delta.old.values()), new, broken

    def _total(self, owner: str | None, gone: Iterable[Row], new: Iterable[Row]) -> ReferenceTotals:
        """Return the totals of main's references, minus the removed references, plus the new references."""
        space = self._access.space_id
        changed = Counter(target_of_row(row) for row in new)
        changed.subtract(target_of_row(row) for row in gone)
        kept = read_totals(self._tx, space) if owner is None and not self._restricted else None
        if kept is not None:
            targets = read_targets(self._tx, space, (key for key, _ in changed))
        else:
            where, given = ("1 = 1", {}) if owner is None else ("r.owner_id = :owner", {"owner": owner})
            given = {**given, "restricted": self._parameters["restricted"]}
            targets = count_targets(self._tx, space, f"{where}{self._open()}", self._columns(), **given)
        before = total_of(targets)
        targets.update(changed)
        return (before if kept is None else kept).without(before).plus(total_of(targets))

    def _find_visibility(self, groups: Iterable[ReferenceGroup]) -> dict[ReferenceGroup, _Seen]:
        """Return, for each of these groups, how its references appear to the caller."""
        asked = list(groups)
        given = [[str(n), *group] for n, group in enumerate(asked)]
        columns = ("n", *ReferenceGroup._fields)
        rows = self._tx.all(
            f"""SELECT CAST(r.n AS INTEGER), {self._shown}, CASE WHEN {self._is_hidden} THEN 1 ELSE 0 END
                FROM (SELECT n, status, NULLIF(target_space, '') AS target_space, kind, target
                      FROM {self._tx.given("groups", *columns)} AS g) r""",
            groups=msgspec.json.encode(given).decode(),
            **self._parameters,
        )
        return {asked[n]: _Seen(shown, bool(hidden)) for n, shown, hidden in rows}

    # --- lists ------------------------------------------------------------------------------------------

    def usages(
        self, query: PageQuery, status: str | None, context: str | None, owner: str | None = None
    ) -> Usages:
        """Return the references of the space, or of one of its pages (``owner``), grouped by target. A
        target with more than `MOST_LOCATIONS` locations becomes several consecutive items. ``context``:
        limits the result to broken references: those broken by the change request (``change-request``) or
        already broken before it (``space``)."""
        after = decode_token(query.page, str, str, int) or ("", "", -1)
        everything, listed = self._totals(context, owner)
        seen = self._find_visibility({*everything.refs, *listed.refs})
        wanted = status if context is None else "broken"
        some = {group for group, refs in listed.refs.items() if refs and wanted in (None, seen[group].status)}
        if status not in (None, wanted):
            some = set()
        count = sum(listed.refs[group] if seen[group].hidden else listed.items[group] for group in some)
        found = slice_rows(
            self._list(query, after, some, wanted, seen, context, owner) if some else [],
            query.limit,
            count,
            lambda usage: (usage.key, usage.spots[-1].owner, usage.spots[-1].place),
        )
        broken = sum(refs for group, refs in everything.refs.items() if seen[group].status == "broken")
        return Usages(found, everything.refs.total(), broken, len(self._changed(owner)[2]))

    def _list(
        self,
        query: PageQuery,
        after: tuple[str, str, int],
        groups: Iterable[ReferenceGroup],
        wanted: str | None,
        seen: Mapping[ReferenceGroup, _Seen],
        context: str | None,
        owner: str | None,
    ) -> list[ReferenceTarget]:
        """Return a page of the list, plus at least one item of the next page if there is a next page. All items are in
        these groups. ``wanted``: the status that items must have for the caller; None for any status."""
        # Without hidden targets, an index provides the keys of a whole space in order; a page has few keys.
        ordered = owner is None and not any(how.hidden for how in seen.values())
        key = "r.target_key" if ordered else _KEY.format(hidden=self._is_hidden)
        parameters = dict(self._parameters)
        where, chosen = "", "1 = 1"
        if owner is not None:
            where += " AND r.owner_id = :owner"
            parameters["owner"] = owner
        if wanted is not None:
            chosen = "shown = :wanted"
            parameters["wanted"] = wanted
            statuses = {group.status for group in groups}
            if len(statuses) == 1:
                where += " AND r.status = :status"
                parameters["status"] = statuses.pop()
        if context is not None:
            chosen += f" AND since = '{'1' if context == 'change-request' else ''}'"
        order = "ORDER BY shown_key, owner_id, place LIMIT :limit"
        parts = [
            f"""SELECT * FROM (
                  SELECT shown_key, shown, relation, kind, target_space, target, anchor, written, space_id, owner_id,
                    place, owner_kind, node
                  FROM (SELECT r.*, {self._shown} AS shown, {key} AS shown_key
                        FROM ({part}) r WHERE r.space_id = :space {where}) AS s
                  WHERE {chosen} AND shown_key >= :k AND (shown_key > :k
                    OR owner_id > :o OR owner_id = :o AND place > :p)
                  {order}) AS part{n}"""
            for n, part in enumerate(self._parts)
        ]
        sql = f"SELECT * FROM ({' UNION ALL '.join(parts)}) AS places {order}"
        items: list[ReferenceTarget] = []
        rows: list[tuple[Any, ...]] = []
        some = 2 * (query.limit + 1)
        # Most targets have few references, so only a few are read at first.
        while len(items) <= query.limit:
            more = self._tx.all(sql, **dict(zip("kop", after, strict=True)), limit=some, **parameters)
            rows += more
            items = _usages(rows)
            if len(more) < some:
                break
            after = (more[-1][0], more[-1][9], more[-1][10])
            some *= 2
        return items

    def backlinks(self, target: str, kind: str, query: PageQuery) -> Slice[Spot]:
        """Return the references to a page or file from all spaces that the caller can see."""
        seen = f"""FROM ({" UNION ALL ".join(self._parts)}) r WHERE r.target_space = :space AND r.target =
            :target AND r.kind = :kind
                   AND NOT (r.space_id = :space AND r.owner_id = :target)
                   AND (r.space_id = :space OR r.space_id IN (SELECT id FROM {self._sees}))"""
        parameters = {**self._parameters, "target": target, "kind": kind}
        return list_page(
            self._tx,
            query.limit,
            query.page,
            "r.space_id, r.owner_id, r.place, r.owner_kind, r.node",
            seen,
            lambda row: Spot(*row),
            by="r.space_id, r.owner_id, r.place",
            key_types=(str, str, int),
            **parameters,
        )


def _usages(rows: Iterable[tuple[object, ...]]) -> list[ReferenceTarget]:
    return [
        _usage(places[start : start + MOST_LOCATIONS])
        for places in (list(group) for _, group in groupby(rows, lambda row: row[0]))
        for start in range(0, len(places), MOST_LOCATIONS)
    ]


def _usage(places: Sequence[tuple[Any, ...]]) -> ReferenceTarget:
    """Return the target and the locations of one usage. ``places``: the rows that refer to the target, in order."""
    key, status, relation, kind, space, target, anchor, written, *_ = places[0]
    known = None if key.startswith("hidden ") else target
    spots = tuple(Spot(*row[8:]) for row in places)
    return ReferenceTarget(key, status, relation, kind, space, known, anchor, written, spots)


def _text(value: object) -> str | None:
    return None if value is None else str(value)
