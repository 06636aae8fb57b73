"""Wire format of favorites."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.kit.db.pagination import PageQuery

Id = Annotated[str, Meta(max_length=100)]
FavoriteKind = Literal["space", "page", "site"]


class FavoriteUrls(Struct):
    app: str


class Favorite(Struct, rename="camel", kw_only=True):
    """Space, page, or site that the caller marked as a favorite. ``space``: the space, or the space that the page is
    in. ``emoji``, ``icon``: the emoji or icon of the space or page, if any."""

    id: str
    kind: FavoriteKind
    title: str
    organization: str
    added_at: str
    urls: FavoriteUrls
    object: Literal["favorite"] = "favorite"
    space: str | UnsetType = UNSET
    page: str | UnsetType = UNSET
    site: str | UnsetType = UNSET
    emoji: str | UnsetType = UNSET
    icon: str | UnsetType = UNSET


class FavoritesQuery(PageQuery, rename="camel"):
    organization: str | None = None


class AddFavorite(Struct):
    """Favorite to add: a ``site``, a ``space``, or, with ``page``, a page in the space. ``before``: the ID of the
    favorite before which the new favorite is inserted; by default, it is added at the end."""

    space: Id | UnsetType = UNSET
    page: Id | UnsetType = UNSET
    site: Id | UnsetType = UNSET
    before: Id | UnsetType = UNSET

    def __post_init__(self) -> None:
        if (self.space is UNSET) == (self.site is UNSET):
            raise ValueError("space: provide exactly one of `space` and `site`")
        if self.page is not UNSET and self.space is UNSET:
            raise ValueError("page: requires `space`, the ID of the space that contains the page")


class MoveFavorite(Struct):
    """Request to move a favorite. ``before``: the ID of the favorite before which the moved favorite is placed; null
    moves it to the end."""

    before: Id | None
