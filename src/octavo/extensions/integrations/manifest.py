"""Manifest of an integration: the description that its publisher provides, as it is stored."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.kit.http.schema_names import schema_name
from octavo.kit.texts import TWO_SIGNS
from octavo.kit.urls import HttpUrl

Visibility = Literal["public", "private", "unlisted"]
Target = Literal["all", "site", "space", "organization"]
Runtime = Literal["v1", "v2"]
Status = Literal["active", "pending"]
Selection = Literal["all", "selected"]
Scope = Literal[
    "space:content:read",
    "space:content:write",
    "space:metadata:read",
    "space:metadata:write",
    "space:git:sync",
    "page:feedback:read",
    "site:metadata:read",
    "site:views:read",
    "site:script:inject",
    "site:script:cookies",
    "site:visitor:auth",
    "site:adaptive:read",
    "site:adaptive:write",
    "openapi:read",
    "openapi:write",
    "conversations:ingest",
]
Category = Literal["analytics", "collaboration", "content", "gitsync", "marketing", "visitor-auth", "other"]
Title = Annotated[str, Meta(min_length=2, max_length=30, pattern=TWO_SIGNS)]
Description = Annotated[str, Meta(max_length=100)]
Summary = Annotated[str, Meta(max_length=2048)]
PartTitle = Annotated[str, Meta(min_length=2, max_length=40, pattern=TWO_SIGNS)]
PartDescription = Annotated[str, Meta(max_length=150)]
Id = Annotated[str, Meta(min_length=1, max_length=100)]
Text = Annotated[str, Meta(max_length=2048)]


class BlockMarkdown(Struct):
    """Markdown representation of a block. ``codeblock``: the language of the code blocks that represent the block.
    ``body``: the prop that contains the text of the code block."""

    codeblock: Text
    body: Text


@schema_name("Block")
class IntegrationBlock(Struct, rename={"url_unfurl": "urlUnfurl"}, omit_defaults=True):
    """Block that an integration provides. ``url_unfurl``: patterns for URLs that become this block when they
    are pasted into a page; see ``core.url_patterns``."""

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
    """Stored link. It can contain control characters, because earlier versions allowed them in URLs."""

    url: str
    label: str


class NewExternalLink(ExternalLink):
    url: HttpUrl
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
    """Configuration of an installation: either ``properties``, with the names of the ``required`` ones, or a
    component that renders the form."""

    properties: Annotated[dict[str, Property], Meta(max_length=100)] | UnsetType = UNSET
    required: Annotated[list[str], Meta(max_length=100)] | UnsetType = UNSET
    component_id: Id | UnsetType = UNSET

    def __post_init__(self) -> None:
        if (self.properties is UNSET) == (self.component_id is UNSET):
            raise ValueError("provide exactly one of `properties` and `componentId`")
        if self.required is not UNSET:
            if self.properties is UNSET:
                raise ValueError("required: can only be used with `properties`")
            if len(set(self.required)) != len(self.required):
                raise ValueError("required: must list each name only once")


class Configurations(Struct, omit_defaults=True):
    account: Configuration | UnsetType = UNSET
    space: Configuration | UnsetType = UNSET
    site: Configuration | UnsetType = UNSET


_DIRECTIVES = (
    "base-uri",
    "block-all-mixed-content",
    "child-src",
    "connect-src",
    "default-src",
    "font-src",
    "form-action",
    "frame-ancestors",
    "frame-src",
    "img-src",
    "manifest-src",
    "media-src",
    "navigate-to",
    "object-src",
    "plugin-types",
    "prefetch-src",
    "referrer",
    "report-to",
    "report-uri",
    "require-sri-for",
    "require-trusted-types-for",
    "sandbox",
    "script-src",
    "script-src-attr",
    "script-src-elem",
    "style-src",
    "style-src-attr",
    "style-src-elem",
    "trusted-types",
    "upgrade-insecure-requests",
    "worker-src",
)
Directive = Literal[_DIRECTIVES]  # type: ignore[valid-type]
_Policy = Annotated[str, Meta(max_length=8192)]
ContentSecurityPolicy = _Policy | dict[Directive, _Policy]


class Manifest(Struct, rename="camel", omit_defaults=True):
    """Description of an integration, stored as JSON."""

    scopes: list[Scope] = []
    categories: list[Category] = []
    external_links: list[ExternalLink] = []
    previews: int = 0
    blocks: list[IntegrationBlock] | UnsetType = UNSET
    content_sources: list[ContentSource] | UnsetType = UNSET
    configurations: Configurations | UnsetType = UNSET
    content_security_policy: ContentSecurityPolicy | UnsetType = UNSET


# --- publishing ---------------------------------------------------------------------------------------

_Image = Annotated[str, Meta(max_length=2 * 1024 * 1024)]
_Secret = Annotated[str, Meta(max_length=16_384)]


class PublishIntegration(Struct, rename="camel", kw_only=True):
    """Request body for publishing an integration. Images are in Base64. Fields that are missing are cleared."""

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
    blocks: Annotated[list[IntegrationBlock], Meta(max_length=100)] | UnsetType = UNSET
    content_sources: Annotated[list[ContentSource], Meta(max_length=100)] | UnsetType = UNSET
    external_links: Annotated[list[NewExternalLink], Meta(max_length=5)] = []
    configurations: Configurations | UnsetType = UNSET
    secrets: Annotated[dict[str, _Secret], Meta(max_length=20)] = {}
    content_security_policy: ContentSecurityPolicy | UnsetType = UNSET
