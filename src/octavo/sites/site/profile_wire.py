"""The profile of a published site on the wire."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.content.search.querying import MAX_SEARCH
from octavo.organization.access.wire import User

from .customization.model import Customization
from .scripts import IntegrationScript
from .structure.wire import SiteStructure
from .types import Searched
from .wire import Site, SiteOrganizationTarget


class Customizations(Struct, rename="camel"):
    """Of the site, and by their ids of those site spaces that look otherwise."""

    site: Customization
    site_spaces: dict[str, Customization]


class PublishedSite(Struct, tag_field="object", tag="published-content-site"):
    site: Site
    structure: SiteStructure
    customizations: Customizations
    scripts: list[IntegrationScript] = []


# --- search -------------------------------------------------------------------------------------------


class SearchScope(Struct, rename="camel"):
    """``default``: the default content of each section, in the language of ``currentSiteSpace`` where there is such a
    variant, and ``currentSiteSpace`` itself; ``restrictTo`` narrows this to the latter, or to the others."""

    mode: Literal["default", "specific", "all"]
    current_site_space: str | None = None
    restrict_to: Literal["currentSiteSpace", "otherSiteSpaces"] | None = None
    site_space_ids: Annotated[list[str], Meta(max_length=1000)] | None = None

    def __post_init__(self) -> None:
        if self.mode == "specific" and self.site_space_ids is None:
            raise ValueError("scope: `specific` needs `siteSpaceIds`")
        if self.restrict_to is not None and (self.mode != "default" or self.current_site_space is None):
            raise ValueError("scope: `restrictTo` needs the mode `default` and `currentSiteSpace`")


class SearchSite(Struct, rename="camel"):
    """Older clients set the scope beside the query: ``current`` is the scope ``default``."""

    query: Annotated[str, Meta(max_length=MAX_SEARCH)]
    scope: SearchScope | UnsetType = UNSET
    mode: Literal["specific", "current", "all"] | UnsetType = UNSET
    site_space_ids: Annotated[list[str], Meta(max_length=1000)] | UnsetType = UNSET
    site_space_id: str | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.scope is UNSET and self.mode is UNSET and self.site_space_ids is UNSET:
            raise ValueError("scope: expected `scope` or `mode`")
        if self.mode == "current" and self.site_space_id is UNSET:
            raise ValueError("siteSpaceId: the mode `current` needs it")
        if self.mode == "specific" and self.site_space_ids is UNSET:
            raise ValueError("siteSpaceIds: the mode `specific` needs it")


def named_spaces(body: SearchSite) -> dict[str, str]:
    """The site spaces that a body names, by where it does."""
    found: dict[str, str] = {}
    if body.scope is not UNSET:
        found |= {f"scope.siteSpaceIds[{n}]": id for n, id in enumerate(body.scope.site_space_ids or [])}
        if body.scope.current_site_space is not None:
            found["scope.currentSiteSpace"] = body.scope.current_site_space
    if body.site_space_ids is not UNSET:
        found |= {f"siteSpaceIds[{n}]": id for n, id in enumerate(body.site_space_ids)}
    if body.site_space_id is not UNSET:
        found["siteSpaceId"] = body.site_space_id
    return found


def searched(body: SearchSite) -> Searched:
    scope = body.scope
    if scope is not UNSET:
        if scope.mode == "default":
            return Searched(scope.restrict_to or "default", scope.current_site_space)
        return Searched("named" if scope.mode == "specific" else "all")
    if body.mode == "current" and body.site_space_id is not UNSET:
        return Searched("default", body.site_space_id)
    return Searched("all" if body.mode == "all" else "named")


# --- people -------------------------------------------------------------------------------------------


class UserSitePermission(Struct):
    permission: str | None
    user: User
    origin: SiteOrganizationTarget
