"""Links and backlinks of one state of a space, as the caller may know them.

Rows are those that main keeps; a change request lays what it changes over them, and the questions are the same.
Nothing is told of a space that the caller does not see: a reference to it is broken, one from it does not count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, Struct, UnsetType

from ..access import (
    Can,
    SpaceAccess,
    collection_access,
    find_user,
    present_user,
    seen_collections,
    seen_spaces,
    space_access,
)
from ..content import (
    AnchorLocation,
    BrokenStats,
    ChangeRequestContext,
    CollectionLocation,
    ContentLocation,
    FileLocation,
    LinksQuery,
    NodeLocation,
    PageLocation,
    Reader,
    ReferenceStats,
    ReferenceUsage,
    ReferenceUsages,
    ReusableContentLocation,
    SpaceLocation,
    State,
    UrlLocation,
    UserLocation,
    find_item,
    find_page,
    get_item,
    get_page,
    main_state,
)
from ..errors import NotFound
from ..kit.db import Transaction
from ..kit.operation import Call
from ..kit.pagination import Listing, Next, PageQuery, decode_token, present_slice, slice_rows
from ..orgs import Organization, get_organization, present_organization
from ..spaces import Space, get_collection, get_space, present_collection, present_space
from .index import COLUMNS, Delta, Place, Row

T = TypeVar("T")

MOST_LOCATIONS = 100
"""Places shown of one target; its backlinks are all there, page by page."""

_IS_HIDDEN = """(r.target_space IS NOT NULL AND r.target_space <> :space
                AND r.target_space NOT IN (SELECT id FROM {seen}))"""
_SHOWN = """CASE
    WHEN r.status <> 'ok' THEN r.status
    WHEN {hidden} THEN 'broken'
    WHEN r.kind = 'user' AND NOT EXISTS (SELECT 1 FROM members m WHERE m.organization_id = :organization
      AND m.user_id = r.target AND m.disabled = 0) THEN 'broken'
    WHEN r.kind = 'collection' AND r.target NOT IN (SELECT id FROM {seen}) THEN 'broken'
    WHEN r.kind = 'openapi' THEN 'broken'
    ELSE 'ok' END"""
# By what is hidden nothing may be put together: each reference to it stands alone.
_KEY = "CASE WHEN {hidden} THEN 'hidden ' || r.owner_id || ' ' || r.place ELSE r.target_key END"

# The spaces and collections that a space refers to, and those that refer to it.
_NEIGHBOURS = """SELECT target_space FROM content_references WHERE space_id = :space
                 UNION SELECT target FROM content_references WHERE space_id = :space AND kind = 'collection'
                 UNION SELECT space_id FROM content_references WHERE target_space = :space
                 UNION SELECT id FROM {new} AS n"""


class Overlay(Struct, frozen=True):
    """A change request over main's rows: ``broken`` are the places whose links it broke; ``context`` is shown with
    what is in it."""

    delta: Delta
    broken: frozenset[Place]
    context: Any


def overlay_of(delta: Delta, before: Delta, context: Any) -> Overlay:
    """``delta`` leads from the head of main to the change request, ``before`` to where it parted from main."""

    def name(row: Row) -> tuple[str, str, str]:
        return row.owner_id, row.type, row.written

    was = {name(row): row.status for row in delta.old.values()}
    for row in before.old.values():
        was.pop(name(row), None)
    was |= {name(row): row.status for row in before.new}
    broken = {row.at for row in delta.new if row.status == "broken" and was.get(name(row)) != "broken"}
    return Overlay(delta, frozenset(broken), context)


class _Group(Struct, frozen=True, array_like=True):
    key: str
    status: str
    relation: str
    kind: str
    space: str | None
    target: str | None
    anchor: str | None
    written: str


class _Spot(Struct, frozen=True, array_like=True):
    """Where a reference stands."""

    space: str
    owner: str
    place: int
    kind: str
    node: str | None


class Links:
    """Lives as long as one request."""

    def __init__(
        self,
        call: Call,
        tx: Transaction,
        access: SpaceAccess,
        state: State,
        over: Overlay | None = None,
        view: str = "",
    ) -> None:
        self._call = call
        self._tx = tx
        self._access = access
        self._state = state
        self._over = over
        self._view = view
        self._made: dict[Any, Any] = {}
        self._parameters: dict[str, Any] = {
            "organization": access.organization_id,
            "space": access.space_id,
            "seen": msgspec.json.encode(self._seen()).decode(),
        }
        self._sees = f"{tx.given('seen', 'id')} AS v"
        hidden = _IS_HIDDEN.format(seen=self._sees)
        self._shown = _SHOWN.format(hidden=hidden, seen=self._sees)
        self._shown_key = _KEY.format(hidden=hidden)
        self._rows = f"SELECT {', '.join(COLUMNS)}, '' AS since FROM content_references r"
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
            WHERE r.space_id || ' ' || r.owner_id || ' ' || r.place NOT IN
              (SELECT at FROM {self._tx.given("gone", "at")} AS g)
            UNION ALL SELECT {picked}, n.since FROM {self._tx.given("new", *COLUMNS, "since")} AS n"""

    # --- links --------------------------------------------------------------------------------------------

    def of_space(self, query: LinksQuery, broken_context: str | None = None) -> ReferenceUsages:
        """What the space refers to, thing by thing."""
        return self._usages("", query.page, query.limit, query.status, broken_context)

    def of_page(self, page_id: str, query: PageQuery, status: str | None = None) -> ReferenceUsages:
        """What one page refers to. Raises NotFound."""
        get_page(self._tx, self._state, page_id)
        self._parameters["owner"] = page_id
        return self._usages("AND r.owner_id = :owner", query.page, query.limit, status, None)

    def _usages(
        self, where: str, page: str | None, limit: int, status: str | None, context: str | None
    ) -> ReferenceUsages:
        seen = f"""WITH seen AS (SELECT r.*, {self._shown} AS shown, {self._shown_key} AS shown_key
                   FROM ({self._rows}) r WHERE r.space_id = :space {where})"""
        wanted = {None: "1 = 1", "change-request": "shown = 'broken' AND since = '1'"}.get(
            context, "shown = 'broken' AND since = ''"
        )
        parameters = dict(self._parameters)
        if status is not None:
            wanted += " AND shown = :status"
            parameters["status"] = status
        counts = self._tx.one(
            f"""{seen} SELECT count(*), count(CASE WHEN shown = 'broken' THEN 1 END),
                  count(CASE WHEN shown = 'broken' AND since = '1' THEN 1 END),
                  count(DISTINCT CASE WHEN {wanted} THEN shown_key END) FROM seen""",
            **parameters,
        )
        assert counts is not None
        total, broken, by_change, count = counts
        after = decode_token(page, str)
        rows = self._tx.all(
            f"""{seen} SELECT shown_key, min(shown), min(relation), min(kind), min(target_space), min(target),
                  min(anchor), min(written) FROM seen WHERE {wanted} AND shown_key > :after
                GROUP BY shown_key ORDER BY shown_key LIMIT :limit""",
            after=after[0] if after else "",
            limit=limit + 1,
            **parameters,
        )
        found = slice_rows([_Group(*row) for row in rows], limit, count, lambda group: (group.key,))
        spots: dict[str, list[_Spot]] = {}
        for key, *spot in self._tx.all(
            f"""{seen} SELECT shown_key, space_id, owner_id, place, owner_kind, node FROM (
                  SELECT seen.*, row_number() OVER (PARTITION BY shown_key ORDER BY owner_id, place) AS number
                  FROM seen WHERE {wanted} AND shown_key IN :keys) AS numbered
                WHERE number <= :most ORDER BY owner_id, place""",
            keys=[group.key for group in found.rows],
            most=MOST_LOCATIONS,
            **parameters,
        ):
            spots.setdefault(key, []).append(_Spot(*spot))
        return ReferenceUsages(
            items=[self._usage(group, spots.get(group.key, [])) for group in found.rows],
            count=count,
            stats=ReferenceStats(total, BrokenStats(broken, by_change if self._over is not None else UNSET)),
            next=Next(found.next_token) if found.next_token else UNSET,
        )

    def _usage(self, group: _Group, spots: list[_Spot]) -> ReferenceUsage:
        places = [self._where(spot) for spot in spots]
        return ReferenceUsage(
            status=group.status,  # type: ignore[arg-type]
            relation=group.relation,  # type: ignore[arg-type]
            location_references=[place for place in places if place is not None],
            target_reference=self._target(group) or UNSET,
        )

    # --- backlinks ----------------------------------------------------------------------------------------

    def to_page(self, page_id: str, query: PageQuery) -> Listing[ContentLocation]:
        """Where other pages refer to a page or to a place in it. Raises NotFound."""
        get_page(self._tx, self._state, page_id)
        return self._backlinks(page_id, "page", query)

    def to_file(self, file_id: str, query: PageQuery) -> Listing[ContentLocation]:
        """Where a file is used. Raises NotFound."""
        get_item(self._tx, self._state, file_id, "file")
        return self._backlinks(file_id, "file", query)

    def _backlinks(self, target: str, kind: str, query: PageQuery) -> Listing[ContentLocation]:
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
        found = slice_rows(
            [_Spot(*row) for row in rows],
            query.limit,
            count,
            lambda spot: (spot.space, spot.owner, spot.place),
        )
        listing = present_slice(found, self._where)
        return Listing([place for place in listing.items if place is not None], listing.count, listing.next)

    # --- presenting ---------------------------------------------------------------------------------------

    def _once(self, key: Any, make: Callable[[], T]) -> T:
        if key not in self._made:
            self._made[key] = make()
        made: T = self._made[key]
        return made

    def _where(self, spot: _Spot) -> ContentLocation | None:
        if spot.kind == "page":
            place = NodeLocation(self._key(spot)) if spot.node else UNSET
            return self._page(spot.space, spot.owner, place)
        return self._reusable(spot.space, spot.owner)

    def _key(self, spot: _Spot) -> str:
        """The key a node has, which an edit may have carried over from another text."""

        def kept() -> dict[str, str]:
            page = find_page(self._tx, self._base_of(spot.space), spot.owner)
            keys = self._tx.value(
                "SELECT keys FROM node_keys WHERE owner_id = :owner AND body = :body",
                owner=spot.owner,
                body=page.body or "" if page else "",
            )
            return msgspec.json.decode(keys, type=dict[str, str]) if keys else {}

        assert spot.node is not None
        return self._once(("keys", spot.owner), kept).get(spot.node, spot.node)

    def _target(self, group: _Group) -> ContentLocation | None:
        if group.target is not None and not group.key.startswith("hidden "):
            found = self._thing(group)
            if found is not None:
                return found
        ref = msgspec.json.decode(group.written)
        return UrlLocation(ref["url"]) if isinstance(ref.get("url"), str) else None

    def _thing(self, group: _Group) -> ContentLocation | None:
        space_id, target = group.space or self._access.space_id, group.target or ""
        match group.kind:
            case "page":
                return self._page(space_id, target, AnchorLocation(group.anchor) if group.anchor else UNSET)
            case "file":
                return self._file(space_id, target)
            case "reusable-content":
                return self._reusable(space_id, target)
            case "space" if group.status == "ok":
                return SpaceLocation(self._organization(), self._space(space_id))
            case "collection" if group.status == "ok":
                role = collection_access(self._tx, self._access.actor, Can.VIEW, target).role
                collection = present_collection(self._call, get_collection(self._tx, target), role)
                return CollectionLocation(self._organization(), collection)
            case "user" if group.status == "ok":
                user = find_user(self._tx, target)
                return UserLocation(present_user(self._call, user)) if user is not None else None
        return None

    def _page(
        self, space_id: str, page_id: str, place: AnchorLocation | NodeLocation | UnsetType
    ) -> PageLocation | None:
        page = self._once(("page", space_id, page_id), lambda: self._reader(space_id).found_page(page_id))
        if page is None:
            return None
        return PageLocation(self._organization(), self._space(space_id), page, self._context(space_id), place)

    def _file(self, space_id: str, file_id: str) -> FileLocation | None:
        item = find_item(self._tx, self._base_of(space_id), file_id, "file")
        if item is None:
            return None
        file = self._reader(space_id).present_file(item)
        return FileLocation(self._organization(), self._space(space_id), file, self._context(space_id))

    def _reusable(self, space_id: str, item_id: str) -> ReusableContentLocation | None:
        try:
            found = self._reader(space_id).reusable_content(item_id)
        except NotFound:
            return None
        return ReusableContentLocation(
            self._organization(), self._space(space_id), found, self._context(space_id)
        )

    def _context(self, space_id: str) -> ChangeRequestContext | UnsetType:
        if self._over is None or space_id != self._access.space_id:
            return UNSET
        return ChangeRequestContext(self._over.context)

    def _base_of(self, space_id: str) -> State:
        if space_id == self._access.space_id:
            return self._state
        return self._once(("base", space_id), lambda: main_state(self._tx, space_id))

    def _reader(self, space_id: str) -> Reader:
        view = self._view if space_id == self._access.space_id else ""
        return self._once(
            ("reader", space_id), lambda: Reader(self._call, self._tx, self._base_of(space_id), view)
        )

    def _space(self, space_id: str) -> Space:
        def made() -> Space:
            role = space_access(self._tx, self._access.actor, Can.VIEW, space_id).role
            return present_space(self._call, get_space(self._tx, space_id), role)

        return self._once(("space", space_id), made)

    def _organization(self) -> Organization:
        def made() -> Organization:
            organization = get_organization(self._tx, self._access.organization_id)
            return present_organization(self._call, organization, self._access.member_role)

        return self._once("organization", made)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
