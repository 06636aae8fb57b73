"""Wire format of spaces and collections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, cast
from urllib.parse import quote

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from octavo.core.emoji import require_emoji
from octavo.core.languages import Language
from octavo.kit.clock import iso
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Order, PageQuery
from octavo.kit.http.operation import Recipient, Visitor
from octavo.kit.texts import NOT_BLANK
from octavo.kit.urls import HttpUrl
from octavo.organization.access.permitting import permissions, reach_for
from octavo.organization.access.rights.wire import PermissionSource
from octavo.organization.access.roles import Level
from octavo.organization.access.scopes import FULL_REACH

from .hooks import count_hidden_comments
from .placing import Neighbor
from .store import CollectionRow, SpaceRow
from .types import MAX_TITLE, UNTITLED, EditMode, SpaceMergeRules, SpaceType

Visibility = Literal["public", "unlisted", "share-link", "visitor-auth", "in-collection", "private"]
Emoji = Annotated[str, Meta(min_length=1, max_length=50)]
Title = Annotated[str, Meta(min_length=1, max_length=MAX_TITLE, pattern=NOT_BLANK)]
DEFAULT_EMOJI = "1f4d8"
"""Emoji for spaces without one, because the public API description requires an emoji on every space."""


class SpaceUrls(Struct):
    location: str
    app: str
    published: str | UnsetType = UNSET
    public: str | UnsetType = UNSET
    icon: str | UnsetType = UNSET


class VisitorAuth(Struct):
    """Visitor authentication for a space: ``custom`` (on the owner's own server) or through an ``integration``."""

    backend: Literal["custom", "integration"]


class GitOperation(Struct, rename="camel", kw_only=True):
    """Sync with a repository."""

    state: Literal["running", "failure", "success", "timeout"]
    direction: Literal["export", "import"]
    started_at: str
    ended_at: str | UnsetType = UNSET
    error: str | UnsetType = UNSET


class GitSyncState(Struct, rename="camel", kw_only=True):
    """Repository that a space or site is synced with. ``url``: the URL of the folder in the repository.
    ``parentInstallationId``: the site or collection whose sync includes the space. ``operation``: the last sync."""

    repo_name: str
    installation_status: Literal["unauthenticated", "active", "pending"] = "active"
    installation_id: str = ""
    parent_installation_id: str | UnsetType = UNSET
    operation: GitOperation | UnsetType = UNSET
    operation_timeout: int | UnsetType = UNSET
    installation_provider: Literal["github", "gitlab"] | UnsetType = UNSET
    integration: str | UnsetType = UNSET
    url: str | UnsetType = UNSET
    updated_at: str | UnsetType = UNSET


class Space(Struct, rename="camel", kw_only=True):
    """Space of an organization. ``rank`` (an Octavo extension): the position among the spaces and collections with the
    same parent. Ranks are compared as strings, byte by byte, and can change when another item moves."""

    id: str
    title: str
    emoji: str
    visibility: Visibility
    created_at: str
    updated_at: str
    edit_mode: EditMode
    merge_rules: Raw
    urls: SpaceUrls
    organization: str
    revision: str
    default_level: str | None
    comments: int
    change_requests: int
    change_requests_open: int
    change_requests_draft: int
    rank: str
    permissions: dict[str, bool]
    object: Literal["space"] = "space"
    deleted_at: str | UnsetType = UNSET
    parent: str | UnsetType = UNSET
    language: str | UnsetType = UNSET
    visitor_auth: VisitorAuth | UnsetType = UNSET
    git_sync: GitSyncState | UnsetType = UNSET
    type: SpaceType | UnsetType = UNSET


class SpaceQuery(Struct, rename="camel"):
    share_key: str | None = None


class CreateSpace(Struct, rename="camel"):
    title: Title = UNTITLED
    emoji: Emoji | None = None
    parent: str | None = None
    language: Language | None = None
    edit_mode: EditMode = "live"

    def __post_init__(self) -> None:
        require_emoji(self.emoji, "emoji")


class UpdateSpace(Struct, rename="camel", kw_only=True):
    """Request body for updating a space. Set either an emoji or an icon, or set both to null to remove
    them."""

    edit_mode: EditMode | UnsetType = UNSET
    title: Title | UnsetType = UNSET
    default_level: Level | UnsetType = UNSET
    language: Language | UnsetType = UNSET
    merge_rules: SpaceMergeRules | UnsetType = UNSET
    emoji: Emoji | None | UnsetType = UNSET
    icon: HttpUrl | None | UnsetType = UNSET

    def __post_init__(self) -> None:
        if isinstance(self.emoji, str) and isinstance(self.icon, str):
            raise ValueError("emoji: provide `emoji` or `icon`, not both")
        require_emoji(self.emoji, "emoji")


class SpacePointer(Struct, tag="space"):
    space: str


class CollectionPointer(Struct, tag="collection"):
    collection: str


class Position(Struct):
    before: SpacePointer | CollectionPointer | UnsetType = UNSET
    after: SpacePointer | CollectionPointer | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.before is UNSET and self.after is UNSET:
            raise ValueError("provide `before`, `after`, or both")


class Move(Struct):
    """Request body for a move. ``parent``: the new parent; null for the top level of the organization; by
    default, the current parent. ``position``: the new position; by default, the end."""

    parent: str | None | UnsetType = UNSET
    position: Position | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.parent is UNSET and self.position is UNSET:
            raise ValueError("provide `parent`, `position`, or both")


class MemberSpacesQuery(PageQuery):
    """Query parameters for a member's spaces. ``closed``: whether to include spaces that the member can't see, with the
    permission null; only for administrators."""

    order: Order = "desc"
    closed: bool = False


class MemberContentPermission(Struct):
    """Permission of a member in a space. ``source`` (an Octavo extension): the reason for the permission, only for
    administrators."""

    permission: str | None
    space: Space
    source: PermissionSource | UnsetType = UNSET


class MemberCollectionPermission(Struct):
    permission: str | None
    collection: Collection


class Transfer(Struct):
    organization: str


def get_neighbors(move: Move) -> tuple[Neighbor | None, Neighbor | None]:
    """Return the siblings that a request body places an object before or after."""
    position = move.position
    if position is UNSET:
        return None, None
    return _get_neighbor(position.before, "position.before"), _get_neighbor(position.after, "position.after")


def _get_neighbor(pointer: SpacePointer | CollectionPointer | UnsetType, place: str) -> Neighbor | None:
    match pointer:
        case SpacePointer():
            return Neighbor("space", pointer.space, place)
        case CollectionPointer():
            return Neighbor("collection", pointer.collection, place)
        case _:
            return None


class CollectionUrls(Struct):
    location: str
    app: str


class Collection(Struct, rename="camel", kw_only=True):
    """Collection of spaces. ``rank``: the position among the spaces and collections with the same parent, as for
    spaces."""

    id: str
    title: str
    organization: str
    rank: str
    default_level: str | None
    urls: CollectionUrls
    permissions: dict[str, bool]
    object: Literal["collection"] = "collection"
    description: str | UnsetType = UNSET
    parent: str | UnsetType = UNSET


class CreateCollection(Struct):
    title: Title = UNTITLED
    parent: str | None = None


class UpdateCollection(Struct, rename="camel"):
    title: Title | UnsetType = UNSET
    description: Annotated[str, Meta(max_length=100)] | UnsetType = UNSET
    default_level: Level | UnsetType = UNSET


class RankedQuery(PageQuery, rename="camel"):
    """Query parameters of an ordered list. ``orderBy``: `rank` for the custom order within each parent; by
    default, newest first."""

    order_by: Literal["createdAt", "rank"] = "createdAt"


class CollectionsQuery(RankedQuery):
    nested: bool = True


def _published(to: Recipient, space: SpaceRow) -> tuple[Visibility, str | UnsetType]:
    """Return the audience and URL of a space, based on the site that contains it."""
    if space.published is None:
        return ("in-collection" if space.collection_id else "private"), UNSET
    visibility, _, named = space.published.partition(" ")
    place = quote(named)
    sites_url = to.settings.sites_url.rstrip("/")
    url = f"{sites_url}{place}" if place.startswith("/") else f"{sites_url.partition('://')[0]}://{place}"
    return cast(Visibility, visibility), url


class _ByIntegration(Struct):
    by_integration: bool = False


class _SiteSettings(Struct):
    visitor_auth: _ByIntegration = msgspec.field(default_factory=_ByIntegration)


_site_settings = msgspec.json.Decoder(_SiteSettings)
_git_state = msgspec.json.Decoder(GitSyncState)


def _visitor_auth(space: SpaceRow) -> VisitorAuth | UnsetType:
    if space.visitor_auth is None:
        return UNSET
    by_integration = _site_settings.decode(space.visitor_auth).visitor_auth.by_integration
    return VisitorAuth("integration" if by_integration else "custom")


def _git_sync(space: SpaceRow) -> GitSyncState | UnsetType:
    if space.git_state is None:
        return UNSET
    state = _git_state.decode(space.git_state)
    state.installation_id = space.id
    return state


def present_space(to: Recipient, tx: Transaction, space: SpaceRow, role: str | None) -> Space:
    return present_spaces(to, tx, [(space, role)])[0]


def present_spaces(
    to: Recipient, tx: Transaction, spaces: Sequence[tuple[SpaceRow, str | None]]
) -> list[Space]:
    """Present spaces with the caller's role in each. Comments that the caller can't see aren't counted."""
    counted = [space.id for space, _ in spaces if space.comments]
    hidden = count_hidden_comments(tx, to, counted) if counted else {}
    return [_present(to, space, role, space.comments - hidden.get(space.id, 0)) for space, role in spaces]


def _present(to: Recipient, space: SpaceRow, role: str | None, comments: int) -> Space:
    visibility, published = _published(to, space)
    return Space(
        id=space.id,
        title=space.title,
        emoji=space.emoji or DEFAULT_EMOJI,
        visibility=visibility,
        created_at=iso(space.created_at),
        updated_at=iso(space.updated_at),
        edit_mode=space.edit_mode,  # type: ignore[arg-type]
        merge_rules=Raw(space.merge_rules.encode()),
        urls=SpaceUrls(
            location=to.url(f"/spaces/{space.id}"),
            app=to.app.space(space.id),
            published=published,
            public=published if visibility == "public" else UNSET,
            icon=space.icon or UNSET,
        ),
        organization=space.organization_id,
        revision=space.main_revision,
        default_level=space.default_level,
        comments=comments,
        change_requests=space.changes_total,
        change_requests_open=space.changes_open,
        change_requests_draft=space.changes_draft,
        rank=space.rank,
        permissions=permissions("space", role, reach_for(to)),
        deleted_at=iso(space.deleted_at) if space.deleted_at else UNSET,
        parent=space.collection_id or UNSET,
        language=space.language or UNSET,
        visitor_auth=_visitor_auth(space),
        git_sync=_git_sync(space),
        type=space.type or UNSET,
    )


def present_space_to_visitor(
    to: Recipient, space: SpaceRow, visitor: Visitor, place: str | None = None
) -> Space:
    """Return a space as a site shows it, without details about the people who work in it or about other sites
    that contain it. ``place``: the space's path relative to the site's URL, if known."""
    drafted = visitor.drafted
    published = UNSET if place is None else f"{visitor.base}{quote(place)}"
    return Space(
        id=space.id,
        title=space.title,
        emoji=space.emoji or DEFAULT_EMOJI,
        visibility=visitor.visibility,  # type: ignore[arg-type]
        created_at=iso(space.created_at),
        updated_at=iso(space.updated_at),
        edit_mode="locked",
        merge_rules=Raw(b'{"type":"none"}'),
        urls=SpaceUrls(
            location=to.url(f"/spaces/{space.id}"),
            app=to.app.space(space.id),
            published=published,
            public=published if visitor.visibility == "public" else UNSET,
            icon=space.icon or UNSET,
        ),
        organization=space.organization_id,
        revision=drafted.revision_id
        if drafted is not None and drafted.space_id == space.id
        else space.main_revision,
        default_level=None,
        comments=0,
        change_requests=0,
        change_requests_open=0,
        change_requests_draft=0,
        rank="",
        permissions=dict.fromkeys(permissions("space", None, FULL_REACH), False),
        language=space.language or UNSET,
    )


def present_collection(to: Recipient, collection: CollectionRow, role: str | None) -> Collection:
    return Collection(
        id=collection.id,
        title=collection.title,
        organization=collection.organization_id,
        rank=collection.rank,
        default_level=collection.default_level,
        urls=CollectionUrls(
            location=to.url(f"/collections/{collection.id}"), app=to.app.collection(collection.id)
        ),
        permissions=permissions("collection", role, reach_for(to)),
        description=collection.description or UNSET,
        parent=collection.parent_id or UNSET,
    )
