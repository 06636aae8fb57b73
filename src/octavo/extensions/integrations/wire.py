"""Wire format of integrations and installations."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.kit.db.pagination import PageQuery
from octavo.kit.texts import pattern
from octavo.organization.orgs.wire import Organization
from octavo.organization.spaces.wire import Space
from octavo.sites.site.wire import Site

from .manifest import (
    Category,
    Configurations,
    ContentSecurityPolicy,
    ContentSource,
    ExternalLink,
    IntegrationBlock,
    Scope,
    Selection,
    Status,
    Target,
    Visibility,
)
from .store import InstalledRow, IntegrationFilter

Name = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=100,
        pattern=pattern(
            r"^[a-zA-Z0-9-_.]+\Z", "consist of letters, digits, hyphens, underscores, and periods"
        ),
    ),
]


class IntegrationsQuery(PageQuery, kw_only=True):
    """Query parameters for listing integrations. ``blocks``, ``content_sources``: whether an integration must have
    blocks or content sources. ``target``: the kind of object on which it can be installed."""

    search: Annotated[str, Meta(max_length=512)] | None = None
    category: Category | None = None
    block_domain: (
        Annotated[
            str,
            Meta(
                max_length=100,
                pattern=pattern(
                    r"^[a-zA-Z0-9-_.]+\Z", "consist of letters, digits, hyphens, underscores, and periods"
                ),
            ),
        ]
        | None
    ) = None
    blocks: bool | None = None
    content_sources: bool | None = None
    owner: str | None = None
    scope: Scope | None = None
    target: Target | None = None


def filter_of(query: IntegrationsQuery) -> IntegrationFilter:
    return IntegrationFilter(**{name: getattr(query, name) for name in IntegrationFilter.__struct_fields__})


class IntegrationSearchQuery(Struct):
    search: Annotated[str, Meta(max_length=512)] | None = None


class InstallationsQuery(PageQuery):
    external_id: str | None = None


class OrganizationInstallationsQuery(PageQuery):
    search: Annotated[str, Meta(max_length=512)] | None = None


class ExtendedQuery(Struct):
    """Query parameter ``extended``: whether to return the complete space or site instead of its ID."""

    extended: bool = False


class PlacesQuery(PageQuery):
    extended: bool = False


class IntegrationPlacesQuery(PlacesQuery):
    external_id: str | None = None


class StatusQuery(PageQuery):
    """Query parameters for listing statuses. ``site``, ``space``: the site or space whose integrations are listed.
    Each of these parameters requires the corresponding ``target``."""

    target: Literal["organization", "space", "site"] = "organization"
    site: str | None = None
    space: str | None = None

    def __post_init__(self) -> None:
        for kind, given in (("site", self.site), ("space", self.space)):
            if given is not None and self.target != kind:
                raise ValueError(f"{kind}: can only be used with the target `{kind}`")


# --- answers --------------------------------------------------------------------------------------------


class IntegrationUrls(Struct, rename="camel", kw_only=True):
    location: str
    app: str
    assets: str
    public_endpoint: str
    public_content_endpoint: str
    icon: str | UnsetType = UNSET


class IntegrationPermissions(Struct):
    admin: bool


class Integration(Struct, rename="camel", kw_only=True):
    object: Literal["integration"] = "integration"
    name: str
    version: int
    title: str
    description: str
    summary: str
    preview_images: list[str]
    target: Target
    verified: bool
    visibility: Visibility
    scopes: list[Scope]
    categories: list[Category]
    external_links: list[ExternalLink]
    owner: Organization
    urls: IntegrationUrls
    permissions: IntegrationPermissions
    blocks: list[IntegrationBlock] | UnsetType = UNSET
    content_sources: list[ContentSource] | UnsetType = UNSET
    configurations: Configurations | UnsetType = UNSET
    content_security_policy: ContentSecurityPolicy | UnsetType = UNSET
    frame_origins: list[str] = []


class BuiltinTarget(Struct):
    name: Annotated[str, Meta(min_length=1, max_length=100)]


class BuiltinIntegration(Struct, rename="camel", kw_only=True):
    object: Literal["builtin-integration"] = "builtin-integration"
    name: str
    title: str
    description: str
    summary: str
    target: Target
    scopes: list[Scope]
    categories: list[Category]
    external_links: list[ExternalLink]
    state: Literal["available", "published", "outdated"]
    integration: str | UnsetType = UNSET


ExternalIds = Annotated[list[Annotated[str, Meta(min_length=1, max_length=255)]], Meta(max_length=5)]


class InstallationUrls(Struct, rename="camel"):
    location: str
    app: str
    public_endpoint: str
    public_content_endpoint: str


class OrganizationTarget(Struct):
    organization: Annotated[str, Meta(min_length=1, max_length=100)]


class Installation(
    Struct,
    rename={"created_at": "createdAt", "updated_at": "updatedAt", "external_ids": "externalIds"},
    kw_only=True,
):
    id: str
    status: Status
    space_selection: Selection
    site_selection: Selection
    spaces: int
    configuration: dict[str, Any]
    created_at: str
    updated_at: str
    urls: InstallationUrls
    external_ids: list[str]
    target: OrganizationTarget


class UpdateInstallation(Struct, rename={"external_ids": "externalIds"}):
    """Update of an installation. Missing fields stay unchanged. The entire ``configuration`` is replaced."""

    external_ids: ExternalIds | UnsetType = UNSET
    configuration: dict[str, Any] | UnsetType = UNSET
    space_selection: Selection | UnsetType = UNSET
    site_selection: Selection | UnsetType = UNSET


class UpdatePlace(Struct, rename="camel"):
    """Update of an integration's installation on a space or site. Missing fields stay unchanged. The entire
    ``configuration`` is replaced."""

    external_ids: ExternalIds | UnsetType = UNSET
    configuration: dict[str, Any] | UnsetType = UNSET


class PlaceUrls(Struct, rename="camel"):
    location: str
    public_endpoint: str
    public_content_endpoint: str


class _PlaceInstallation(Struct, rename="camel", kw_only=True):
    integration: str
    installation: str
    status: Status
    configuration: dict[str, Any]
    external_ids: list[str]
    urls: PlaceUrls


class SpaceInstallation(_PlaceInstallation, kw_only=True):
    space: str | Space


class SiteInstallation(_PlaceInstallation, kw_only=True):
    site: str | Site


class InstallOnSpace(Struct):
    space: Annotated[str, Meta(min_length=1, max_length=100)]


class InstallOnSite(Struct, rename="camel"):
    site_id: Annotated[str, Meta(min_length=1, max_length=100)]


class InstalledItem(Struct):
    integration: Integration
    installation: Installation


class InstalledInOrganization(Struct, rename="camel", tag_field="type", tag="organization"):
    organization_id: str


class InstalledOnSite(Struct, rename="camel", tag_field="type", tag="site"):
    site_id: str


class InstalledOnSpace(Struct, rename="camel", tag_field="type", tag="space"):
    space_id: str


class StatusItem(Struct):
    """Status of an integration on the object on which it is installed."""

    status: Status
    integration: Integration
    target: InstalledInOrganization | InstalledOnSite | InstalledOnSpace


_INSTALLED = {"organization": InstalledInOrganization, "site": InstalledOnSite, "space": InstalledOnSpace}


def present_status(row: InstalledRow, kind: str, integration: Integration) -> StatusItem:
    """Return a status in the API format. ``kind``: the kind of the listed objects."""
    return StatusItem(row.status, integration, _INSTALLED[kind](row.target_id))  # type: ignore[arg-type]


class IntegrationStatus(Struct):
    status: Status


class SpaceBlocks(Struct):
    """Blocks that the integration ``name`` adds to a space."""

    name: str
    blocks: list[IntegrationBlock]


class IntegrationEmbed(Struct, tag_field="type", tag="integration"):
    """URL that an integration block represents. To get the block's props, render the block with the action
    ``@link.unfurl`` and the URL."""

    title: str
    site: str
    integration: str
    block: IntegrationBlock


class TemporaryToken(Struct):
    token: str


# --- events ---------------------------------------------------------------------------------------------


class IntegrationEvent(Struct, rename="camel", kw_only=True):
    id: str
    integration_id: str
    created_at: str
    payload: dict[str, Any]
    status: Literal["success", "failed"]
    installation_id: str | UnsetType = UNSET


class EventLog(Struct):
    message: str
    timestamp: str
    level: Literal["debug", "info", "warn", "error"]


class EventTrace(Struct):
    logs: list[EventLog]


class FetchedEvent(Struct):
    event: IntegrationEvent
    trace: EventTrace


class DevelopmentMode(Struct, rename="camel"):
    """Development mode. ``all``: whether to receive events from all organizations, instead of only from the
    integration's own organization."""

    tunnel_url: Annotated[str, Meta(min_length=1, max_length=256)]
    all: bool = False


class QueueTask(Struct):
    """Task to schedule. ``schedule``: the delay in seconds."""

    task: dict[str, Any]
    schedule: Annotated[float, Meta(ge=0, le=86400)] = 0


# --- rendering ------------------------------------------------------------------------------------------


class RenderQuery(Struct):
    """Query parameters for rendering. ``request``: the body of the corresponding POST request as JSON, optionally
    compressed with LZ-string."""

    request: Annotated[str, Meta(min_length=1, max_length=8000)]


class RenderOutput(Struct, rename="camel"):
    """Rendered output. ``type``: `element` for a tree of ContentKit elements with its state, or `complete` for a
    closed modal with its return value."""

    type: Literal["element", "complete"]
    element: dict[str, Any] | UnsetType = UNSET
    state: dict[str, Any] | UnsetType = UNSET
    props: dict[str, Any] | UnsetType = UNSET
    return_value: dict[str, Any] | UnsetType = UNSET
