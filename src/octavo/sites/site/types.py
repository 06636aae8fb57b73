"""What sites can be."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

from msgspec import Meta

from octavo.kit.texts import TWO_SIGNS

SiteType = Literal["basic", "premium", "ultimate", "sponsored", "legacy-basic", "legacy-premium"]
Visibility = Literal["public", "unlisted", "share-link", "visitor-auth"]
SiteTitle = Annotated[str, Meta(min_length=2, max_length=128, pattern=TWO_SIGNS)]
Backend = Literal["custom", "integration"]
"""Who signs visitors in: an address of the owner's, or an integration."""


class Searched(NamedTuple):
    """``spread``: which site spaces are searched. ``current``: the one that the search is made from."""

    spread: Literal["all", "named", "default", "currentSiteSpace", "otherSiteSpaces"]
    current: str | None = None
