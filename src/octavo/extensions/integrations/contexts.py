"""Places in which components of integrations are shown."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType

from .manifest import Id

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
