"""Wire format of a published site's profile."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.content.search.querying import MAX_SEARCH

from .customization.model import Customization
from .scripts import IntegrationScript
from .structure.wire import SiteStructure
from .types import SearchedSpaces
from .wire import Site


class Customizations(Struct, rename="camel"):
    """Customization of the site, and of each site space that has overrides, by ID."""

    site: Customization
    site_spaces: dict[str, Customization]


class PublishedSite(Struct, tag_field="object", tag="published-content-site"):
    site: Site
    structure: SiteStructure
    customizations: Customizations
    scripts: list[IntegrationScript] = []


# --- search -------------------------------------------------------------------------------------------


class SearchScope(Struct, rename="camel"):
    """Search scope. ``default``: search ``currentSiteSpace`` and the default content of each section, in the
    language of ``currentSiteSpace`` if the section has a variant in that language. ``restrictTo``: limits the search
    to the current site space, or to the other site spaces."""

    mode: Literal["default", "specific", "all"]
    current_site_space: str | None = None
    restrict_to: Literal["currentSiteSpace", "otherSiteSpaces"] | None = None
    site_space_ids: Annotated[list[str], Meta(max_length=1000)] | None = None

    def __post_init__(self) -> None:
        if self.mode == "specific" and self.site_space_ids is None:
            raise ValueError("scope.siteSpaceIds: is required when `mode` is `specific`")
        if self.restrict_to is not None and (self.mode != "default" or self.current_site_space is None):
            raise ValueError("scope.restrictTo: requires `currentSiteSpace` and the `mode` `default`")


class SearchSite(Struct, rename="camel"):
    """Search request. Older clients set the scope alongside the query; in this case, ``current`` means the scope
    ``default``."""

    query: Annotated[str, Meta(max_length=MAX_SEARCH)]
    scope: SearchScope | UnsetType = UNSET
    mode: Literal["specific", "current", "all"] | UnsetType = UNSET
    site_space_ids: Annotated[list[str], Meta(max_length=1000)] | UnsetType = UNSET
    site_space_id: str | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.scope is UNSET and self.mode is UNSET and self.site_space_ids is UNSET:
            raise ValueError("scope: provide at least one of `scope`, `mode`, and `siteSpaceIds`")
        if self.mode == "current" and self.site_space_id is UNSET:
            raise ValueError("siteSpaceId: is required when `mode` is `current`")
        if self.mode == "specific" and self.site_space_ids is UNSET:
            raise ValueError("siteSpaceIds: is required when `mode` is `specific`")


def named_spaces(body: SearchSite) -> dict[str, str]:
    """Return the site spaces that a request names, by field."""
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


def requested_spaces(body: SearchSite) -> SearchedSpaces:
    scope = body.scope
    if scope is not UNSET:
        if scope.mode == "default":
            return SearchedSpaces(scope.restrict_to or "default", scope.current_site_space)
        return SearchedSpaces("named" if scope.mode == "specific" else "all")
    if body.mode == "current" and body.site_space_id is not UNSET:
        return SearchedSpaces("default", body.site_space_id)
    return SearchedSpaces("all" if body.mode == "all" else "named")
