"""Wire format of a site's drafts."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

DraftObject = Literal[
    "site-section", "site-section-group", "site-external-link", "site-space", "site-redirect"
]


class SiteDraft(Struct, rename="camel", kw_only=True):
    """Draft of a site. ``object``: the type of a part of the structure, or `site-redirect`. ``path``: the path of a
    section or variant, relative to the site's URL. ``url``: the URL of a link. ``pages``: the number of pages that
    become visible. ``redirects``: the number of redirects that point to the draft once it is published.
    ``linksElsewhere``: the number of links on these pages to spaces that aren't on the site. ``within``: another
    draft that contains this draft and hides it until that draft is published."""

    object: DraftObject
    id: str
    title: str
    path: str | UnsetType = UNSET
    url: str | UnsetType = UNSET
    condition: str | UnsetType = UNSET
    icon: str | UnsetType = UNSET
    pages: int = 0
    redirects: int = 0
    links_elsewhere: int = 0
    within: str | UnsetType = UNSET


class SiteDrafts(Struct):
    """All of a site's drafts that the caller can see, in reading order, with redirects last."""

    items: list[SiteDraft]


class PublishDrafts(Struct):
    """Publication of drafts. ``items``: the IDs of drafts. ``draft``: true converts them back to drafts."""

    items: Annotated[list[str], Meta(min_length=1, max_length=1000)]
    draft: bool = False
