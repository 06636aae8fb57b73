"""Convert links and backlinks to their API format: replace index entries with the objects that they refer to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, Struct, UnsetType

from octavo.content.references.listing import LinkIndex, Overlay, ReferenceTarget, Spot
from octavo.content.revisions.item_versions import find_item, get_item
from octavo.content.revisions.keys import find_kept_keys
from octavo.content.revisions.page_versions import find_page, get_page
from octavo.content.revisions.restrictions import main_seen_by
from octavo.content.revisions.states import State
from octavo.errors import NotFound
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Listing, Next, PageQuery, present_slice
from octavo.kit.http.operation import Recipient
from octavo.organization.access.accounts import find_user
from octavo.organization.access.authorization import SpaceAccess, collection_access, space_access
from octavo.organization.access.roles import Can
from octavo.organization.access.wire import present_user
from octavo.organization.orgs.store import get_organization
from octavo.organization.orgs.wire import Organization, present_organization
from octavo.organization.spaces.store import get_collection, get_space
from octavo.organization.spaces.wire import Space, present_collection, present_space

from .reading import ContentReader
from .wire import (
    AnchorLocation,
    BrokenStats,
    ChangeRequestContext,
    CollectionLocation,
    ContentLocation,
    FileLocation,
    LinksQuery,
    NodeLocation,
    PageLocation,
    ReferenceStats,
    ReferenceUsage,
    ReferenceUsages,
    ReusableContentLocation,
    SpaceLocation,
    SpecLocation,
    UrlLocation,
    UserLocation,
)

T = TypeVar("T")

PresentSpec = Callable[[Recipient, Transaction, SpaceAccess, str], Any]
"""Function that returns an API specification of the space's organization by its slug, or None if the caller
can't see it."""

_present_spec: list[PresentSpec] = []


def register_spec_presenter(present: PresentSpec) -> None:
    """Register the function that converts the specifications that pages refer to into their API format."""
    _present_spec.append(present)


class ChangeOverlay(Struct, frozen=True):
    """Change request overlaid on the links of main. ``context``: the state whose content is presented."""

    overlay: Overlay
    context: Any


class Links:
    """Links in a space, loaded for one request."""

    def __init__(
        self,
        to: Recipient,
        tx: Transaction,
        access: SpaceAccess,
        state: State,
        over: ChangeOverlay | None = None,
        view: str = "",
    ) -> None:
        self._to = to
        self._tx = tx
        self._access = access
        self._state = state
        self._over = over
        self._view = view
        self._index = LinkIndex(tx, access, state.hidden, over.overlay if over is not None else None)
        self._made: dict[Any, Any] = {}

    def of_space(self, query: LinksQuery, broken_context: str | None = None) -> ReferenceUsages:
        """Return the targets that the space refers to, with their references."""
        return self._usages(query, query.status, broken_context)

    def of_page(self, page_id: str, query: PageQuery, status: str | None = None) -> ReferenceUsages:
        """Return the targets that a page refers to. Raises NotFound if the page doesn't exist."""
        get_page(self._tx, self._state, page_id)
        return self._usages(query, status, None, page_id)

    def _usages(
        self, query: PageQuery, status: str | None, context: str | None, owner: str | None = None
    ) -> ReferenceUsages:
        usages = self._index.usages(query, status, context, owner)
        found = usages.found
        by_change = usages.broken_by_change if self._over is not None else UNSET
        return ReferenceUsages(
            items=[self._usage(usage) for usage in found.rows],
            count=found.count,
            stats=ReferenceStats(usages.total, BrokenStats(usages.broken, by_change)),
            next=Next(found.next_token) if found.next_token else UNSET,
        )

    def _usage(self, usage: ReferenceTarget) -> ReferenceUsage:
        places = [self._present_spot(spot) for spot in usage.spots]
        return ReferenceUsage(
            status=usage.status,  # type: ignore[arg-type]
            relation=usage.relation,  # type: ignore[arg-type]
            location_references=[place for place in places if place is not None],
            target_reference=self._target(usage) or UNSET,
        )

    def to_page(self, page_id: str, query: PageQuery) -> Listing[ContentLocation]:
        """Return the references to a page or to one of its sections. Raises NotFound if the page doesn't
        exist."""
        get_page(self._tx, self._state, page_id)
        return self._backlinks(page_id, "page", query)

    def to_file(self, file_id: str, query: PageQuery) -> Listing[ContentLocation]:
        """Return the locations where a file is used. Raises NotFound if the file doesn't exist."""
        get_item(self._tx, self._state, file_id, "file")
        return self._backlinks(file_id, "file", query)

    def to_reusable(self, content_id: str, query: PageQuery) -> Listing[ContentLocation]:
        """Return the locations where reusable content is included. Raises NotFound if it doesn't exist."""
        get_item(self._tx, self._state, content_id, "reusable-content")
        return self._backlinks(content_id, "reusable-content", query)

    def _backlinks(self, target: str, kind: str, query: PageQuery) -> Listing[ContentLocation]:
        listing = present_slice(self._index.backlinks(target, kind, query), self._present_spot)
        return Listing([place for place in listing.items if place is not None], listing.count, listing.next)

    # --- presenting -----------------------------------------------------------------------------------

    def _cached(self, key: object, make: Callable[[], T]) -> T:
        if key not in self._made:
            self._made[key] = make()
        made: T = self._made[key]
        return made

    def _present_spot(self, spot: Spot) -> ContentLocation | None:
        if spot.kind == "page":
            place = NodeLocation(self._key(spot)) if spot.node else UNSET
            return self._page(spot.space, spot.owner, place)
        return self._reusable(spot.space, spot.owner)

    def _key(self, spot: Spot) -> str:
        """Return the key of a node. An edited node can keep the key of an earlier version."""

        def kept() -> dict[str, str]:
            page = find_page(self._tx, self._state_of(spot.space), spot.owner)
            return find_kept_keys(self._tx, spot.owner, page.body) if page and page.body else {}

        assert spot.node is not None
        return self._cached(("keys", spot.owner), kept).get(spot.node, spot.node)

    def _target(self, usage: ReferenceTarget) -> ContentLocation | None:
        if usage.target is not None:
            found = self._present_target(usage)
            if found is not None:
                return found
        ref = msgspec.json.decode(usage.written)
        return UrlLocation(ref["url"]) if isinstance(ref.get("url"), str) else None

    def _present_target(self, usage: ReferenceTarget) -> ContentLocation | None:
        space_id, target = usage.space or self._access.space_id, usage.target or ""
        match usage.kind:
            case "page":
                return self._page(space_id, target, AnchorLocation(usage.anchor) if usage.anchor else UNSET)
            case "file":
                return self._file(space_id, target)
            case "reusable-content":
                return self._reusable(space_id, target)
            case "space" if usage.status == "ok":
                return SpaceLocation(self._organization(), self._space(space_id))
            case "collection" if usage.status == "ok":
                role = collection_access(self._tx, self._access.actor, Can.VIEW, target).role
                collection = present_collection(self._to, get_collection(self._tx, target), role)
                return CollectionLocation(self._organization(), collection)
            case "openapi":
                shown = (present(self._to, self._tx, self._access, target) for present in _present_spec)
                spec = next((found for found in shown if found is not None), None)
                return SpecLocation(self._organization(), spec) if spec is not None else None
            case "user" if usage.status == "ok":
                user = find_user(self._tx, target)
                return UserLocation(present_user(self._to, user)) if user is not None else None
        return None

    def _page(
        self, space_id: str, page_id: str, place: AnchorLocation | NodeLocation | UnsetType
    ) -> PageLocation | None:
        page = self._cached(("page", space_id, page_id), lambda: self._reader(space_id).found_page(page_id))
        if page is None:
            return None
        return PageLocation(self._organization(), self._space(space_id), page, self._context(space_id), place)

    def _file(self, space_id: str, file_id: str) -> FileLocation | None:
        item = find_item(self._tx, self._state_of(space_id), file_id, "file")
        if item is None:
            return None
        [file] = self._reader(space_id).present_files([item])
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

    def _state_of(self, space_id: str) -> State:
        if space_id == self._access.space_id:
            return self._state
        return self._cached(("base", space_id), lambda: self._main_of(space_id))

    def _main_of(self, space_id: str) -> State:
        return main_seen_by(self._tx, space_access(self._tx, self._access.actor, Can.VIEW, space_id))

    def _reader(self, space_id: str) -> ContentReader:
        view = self._view if space_id == self._access.space_id else ""
        return self._cached(
            ("reader", space_id), lambda: ContentReader(self._to, self._tx, self._state_of(space_id), view)
        )

    def _space(self, space_id: str) -> Space:
        def made() -> Space:
            role = space_access(self._tx, self._access.actor, Can.VIEW, space_id).role
            return present_space(self._to, self._tx, get_space(self._tx, space_id), role)

        return self._cached(("space", space_id), made)

    def _organization(self) -> Organization:
        def made() -> Organization:
            organization = get_organization(self._tx, self._access.organization_id)
            return present_organization(self._to, organization, self._access.member_role)

        return self._cached("organization", made)
