"""Integrations and installations on the wire."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from ..kit.pagination import PageQuery
from ..kit.texts import TWO_SIGNS
from ..orgs import Organization
from ..sites import Site
from ..spaces import Space

Visibility = Literal["public", "private", "unlisted"]
Target = Literal["all", "site", "space", "organization"]
Runtime = Literal["v1", "v2"]
Status = Literal["active", "pending"]
Selection = Literal["all", "selected"]
Scope = Literal[
    "space:content:read", "space:content:write", "space:metadata:read", "space:metadata:write", "space:git:sync",
    "page:feedback:read", "site:metadata:read", "site:views:read", "site:script:inject", "site:script:cookies",
    "site:visitor:auth", "site:adaptive:read", "site:adaptive:write", "openapi:read", "openapi:write",
    "conversations:ingest",
]  # fmt: skip
Category = Literal["analytics", "collaboration", "content", "gitsync", "marketing", "visitor-auth", "other"]
Name = Annotated[str, Meta(min_length=1, max_length=100, pattern=r"^[a-zA-Z0-9-_.]+\Z")]
Title = Annotated[str, Meta(min_length=2, max_length=30, pattern=TWO_SIGNS)]
Description = Annotated[str, Meta(max_length=100)]
Summary = Annotated[str, Meta(max_length=2048)]
PartTitle = Annotated[str, Meta(min_length=2, max_length=40, pattern=TWO_SIGNS)]
PartDescription = Annotated[str, Meta(max_length=150)]
Id = Annotated[str, Meta(min_length=1, max_length=100)]
Text = Annotated[str, Meta(max_length=2048)]


# --- what a script says of itself -----------------------------------------------------------------------


class BlockMarkdown(Struct):
    """``codeblock``: the language of the code blocks that hold such a block; ``body``: which prop is their text."""

    codeblock: Text
    body: Text


class Block(Struct, rename={"url_unfurl": "urlUnfurl"}, omit_defaults=True):
    """``url_unfurl``: patterns of the URLs that become such a block when they are put on a page, see
    ``core.address_patterns``."""

    id: Id
    title: PartTitle
    description: PartDescription | UnsetType = UNSET
    icon: Text | UnsetType = UNSET
    url_unfurl: Annotated[list[Text], Meta(max_length=100)] | UnsetType = UNSET
    markdown: BlockMarkdown | UnsetType = UNSET


class Component(Struct, rename="camel"):
    component_id: Id


class ContentSource(Struct, omit_defaults=True):
    id: Id
    title: PartTitle
    configuration: Component
    description: PartDescription | UnsetType = UNSET
    icon: Text | UnsetType = UNSET


class ExternalLink(Struct):
    url: Annotated[str, Meta(max_length=2048, pattern=r"^https?://.*\Z")]
    label: Annotated[str, Meta(max_length=255)]


class _Property(Struct, tag_field="type", omit_defaults=True):
    title: Annotated[str, Meta(max_length=30)] | UnsetType = UNSET
    description: Annotated[str, Meta(max_length=100)] | UnsetType = UNSET


class StringProperty(_Property, tag="string"):
    default: Text | UnsetType = UNSET
    completion_url: Text | UnsetType = UNSET
    enum: Annotated[list[Text], Meta(max_length=1000)] | UnsetType = UNSET


class NumberProperty(_Property, tag="number"):
    default: float | UnsetType = UNSET


class BooleanProperty(_Property, tag="boolean"):
    default: bool | UnsetType = UNSET


class ButtonProperty(_Property, tag="button", kw_only=True):
    callback_url: Text
    button_text: Text


Property = StringProperty | NumberProperty | BooleanProperty | ButtonProperty


class Configuration(Struct, rename={"component_id": "componentId"}, omit_defaults=True):
    """Either ``properties``, of which ``required`` must be there, or a component that renders the form."""

    properties: Annotated[dict[str, Property], Meta(max_length=100)] | UnsetType = UNSET
    required: Annotated[list[str], Meta(max_length=100)] | UnsetType = UNSET
    component_id: Id | UnsetType = UNSET

    def __post_init__(self) -> None:
        if (self.properties is UNSET) == (self.component_id is UNSET):
            raise ValueError("expected either properties or componentId")
        if self.required is not UNSET:
            if self.properties is UNSET:
                raise ValueError("required: expected with properties alone")
            if len(set(self.required)) != len(self.required):
                raise ValueError("required: a name comes once")


class Configurations(Struct, omit_defaults=True):
    account: Configuration | UnsetType = UNSET
    space: Configuration | UnsetType = UNSET
    site: Configuration | UnsetType = UNSET


_DIRECTIVES = (
    "base-uri", "block-all-mixed-content", "child-src", "connect-src", "default-src", "font-src", "form-action",
    "frame-ancestors", "frame-src", "img-src", "manifest-src", "media-src", "navigate-to", "object-src",
    "plugin-types", "prefetch-src", "referrer", "report-to", "report-uri", "require-sri-for",
    "require-trusted-types-for", "sandbox", "script-src", "script-src-attr", "script-src-elem", "style-src",
    "style-src-attr", "style-src-elem", "trusted-types", "upgrade-insecure-requests", "worker-src",
)  # fmt: skip
Directive = Literal[_DIRECTIVES]  # type: ignore[valid-type]
_Policy = Annotated[str, Meta(max_length=8192)]
ContentSecurityPolicy = _Policy | dict[Directive, _Policy]


class Manifest(Struct, rename="camel", omit_defaults=True):
    """What is kept of an integration as one piece of JSON."""

    scopes: list[Scope] = []
    categories: list[Category] = []
    external_links: list[ExternalLink] = []
    previews: int = 0
    blocks: list[Block] | UnsetType = UNSET
    content_sources: list[ContentSource] | UnsetType = UNSET
    configurations: Configurations | UnsetType = UNSET
    content_security_policy: ContentSecurityPolicy | UnsetType = UNSET


_Image = Annotated[str, Meta(max_length=2 * 1024 * 1024)]
_Secret = Annotated[str, Meta(max_length=16_384)]


class PublishIntegration(Struct, rename="camel", kw_only=True):
    """Images are base64. Everything that is left out is empty from now on."""

    title: Title
    description: Description
    script: Annotated[str, Meta(min_length=1, max_length=4 * 1024 * 1024)]
    scopes: Annotated[list[Scope], Meta(max_length=16)]
    organization: Annotated[str, Meta(min_length=1, max_length=100)]
    runtime: Runtime = "v1"
    icon: _Image | UnsetType = UNSET
    summary: Summary = ""
    preview_images: Annotated[list[_Image], Meta(max_length=3)] = []
    visibility: Visibility = "private"
    target: Target = "all"
    categories: Annotated[list[Category], Meta(max_length=7)] = []
    blocks: Annotated[list[Block], Meta(max_length=100)] | UnsetType = UNSET
    content_sources: Annotated[list[ContentSource], Meta(max_length=100)] | UnsetType = UNSET
    external_links: Annotated[list[ExternalLink], Meta(max_length=5)] = []
    configurations: Configurations | UnsetType = UNSET
    secrets: Annotated[dict[str, _Secret], Meta(max_length=20)] = {}
    content_security_policy: ContentSecurityPolicy | UnsetType = UNSET


class IntegrationsQuery(PageQuery):
    """``blocks`` and ``content_sources``: whether it has any. ``target``: what it can be installed on."""

    search: Annotated[str, Meta(max_length=512)] | None = None
    category: Category | None = None
    block_domain: Annotated[str, Meta(max_length=100, pattern=r"^[a-zA-Z0-9-_.]+\Z")] | None = None
    blocks: bool | None = None
    content_sources: bool | None = None
    owner: str | None = None
    scope: Scope | None = None
    target: Target | None = None


class SearchQuery(Struct):
    search: Annotated[str, Meta(max_length=512)] | None = None


class InstallationsQuery(PageQuery):
    external_id: str | None = None


class OrganizationInstallationsQuery(PageQuery):
    search: Annotated[str, Meta(max_length=512)] | None = None


class ExtendedQuery(Struct):
    """``extended``: the whole space or site in place of its id."""

    extended: bool = False


class PlacesQuery(PageQuery):
    extended: bool = False


class IntegrationPlacesQuery(PlacesQuery):
    external_id: str | None = None


class StatusQuery(PageQuery):
    target: Literal["organization", "space", "site"] = "organization"


# --- answers --------------------------------------------------------------------------------------------


class IntegrationUrls(Struct, rename="camel"):
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
    blocks: list[Block] | UnsetType = UNSET
    content_sources: list[ContentSource] | UnsetType = UNSET
    configurations: Configurations | UnsetType = UNSET
    content_security_policy: ContentSecurityPolicy | UnsetType = UNSET
    frame_origins: list[str] = []


ExternalIds = Annotated[list[Annotated[str, Meta(min_length=1, max_length=255)]], Meta(max_length=5)]


class InstallationUrls(Struct, rename="camel"):
    location: str
    app: str
    public_endpoint: str
    public_content_endpoint: str


class OrganizationTarget(Struct):
    organization: Annotated[str, Meta(min_length=1, max_length=100)]


class Installation(
    Struct, rename={"created_at": "createdAt", "updated_at": "updatedAt", "external_ids": "externalIds"}
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
    """What is left out stays; ``configuration`` is replaced as a whole."""

    external_ids: ExternalIds | UnsetType = UNSET
    configuration: dict[str, Any] | UnsetType = UNSET
    space_selection: Selection | UnsetType = UNSET
    site_selection: Selection | UnsetType = UNSET


class UpdatePlace(Struct, rename="camel"):
    """What is left out stays; ``configuration`` is replaced as a whole."""

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


class StatusItem(Struct):
    status: Status
    integration: Integration


class IntegrationStatus(Struct):
    status: Status


class SpaceBlocks(Struct):
    """The blocks that the integration ``name`` gives a space."""

    name: str
    blocks: list[Block]


class IntegrationEmbed(Struct, tag_field="type", tag="integration"):
    """An address that the block of an integration stands for: rendered with the action ``@link.unfurl`` and the address,
    it says which props it has there."""

    title: str
    site: str
    integration: str
    block: Block


class TemporaryToken(Struct):
    token: str


# --- events ---------------------------------------------------------------------------------------------


class IntegrationEvent(Struct, rename="camel"):
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
    """``all``: also the events of other organizations than the integration's own."""

    tunnel_url: Annotated[str, Meta(min_length=1, max_length=256)]
    all: bool = False


class QueueTask(Struct):
    """``schedule``: seconds to wait."""

    task: dict[str, Any]
    schedule: Annotated[float, Meta(ge=0, le=86400)] = 0


# --- rendering ------------------------------------------------------------------------------------------

Theme = Literal["dark", "light"]


class AccountContext(Struct, tag="configuration_account", rename="camel"):
    theme: Theme
    organization_id: str


class SpaceContext(Struct, tag="configuration_space", rename="camel"):
    theme: Theme
    space_id: str


class SiteContext(Struct, tag="configuration_site", rename="camel"):
    theme: Theme
    site_id: str


class ContentSourceContext(Struct, tag="configuration_contentsource", rename="camel"):
    theme: Theme
    organization_id: str
    space_id: str | UnsetType = UNSET


class DocumentContext(Struct, tag="document", rename="camel"):
    theme: Theme
    space_id: str
    editable: bool


RenderContext = AccountContext | SpaceContext | SiteContext | ContentSourceContext | DocumentContext


class RenderRequest(Struct, rename="camel"):
    component_id: Id
    props: dict[str, Any]
    context: RenderContext
    state: dict[str, Any] | UnsetType = UNSET
    action: dict[str, Any] | UnsetType = UNSET


class RenderQuery(Struct):
    """``request``: the body of the POST as JSON, compressed with LZ-string for URLs."""

    request: Annotated[str, Meta(min_length=1, max_length=8000)]


class RenderOutput(Struct, rename="camel"):
    """``type`` `element`: a tree of ContentKit elements with its state; `complete`: a modal that is done, with what it
    returns."""

    type: Literal["element", "complete"]
    element: dict[str, Any] | UnsetType = UNSET
    state: dict[str, Any] | UnsetType = UNSET
    props: dict[str, Any] | UnsetType = UNSET
    return_value: dict[str, Any] | UnsetType = UNSET
