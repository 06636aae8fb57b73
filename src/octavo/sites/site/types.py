"""Types, visibilities, and other enumerations of sites."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

from msgspec import Meta, Struct

from octavo.kit.texts import TWO_SIGNS

SiteType = Literal["basic", "premium", "ultimate", "sponsored", "legacy-basic", "legacy-premium"]
Visibility = Literal["public", "unlisted", "share-link", "visitor-auth"]
SiteTitle = Annotated[str, Meta(min_length=2, max_length=128, pattern=TWO_SIGNS)]
Backend = Literal["custom", "integration"]
"""Backend for visitor authentication: the owner's URL or an integration."""


class SearchedSpaces(NamedTuple):
    """Scope of a search. ``spread``: the site spaces to search. ``current``: the site space where the search
    starts."""

    spread: Literal["all", "named", "default", "currentSiteSpace", "otherSiteSpaces"]
    current: str | None = None


class SiteStyleguide(Struct, tag_field="kind", tag="space"):
    """Style guide of a site: a space whose pages are writing rules."""

    space: str
