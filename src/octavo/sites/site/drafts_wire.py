"""Wire types of the drafts of a site."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

DraftObject = Literal[
    "site-section", "site-section-group", "site-external-link", "site-space", "site-redirect"
]


class SiteDraft(Struct, rename="camel", kw_only=True):
    """Draft of a site. ``object``: of a part of the structure, or `site-redirect`. ``path``: of a section or variant
    below the site; ``url``: of a link. ``pages``: that become visible; ``redirects``: that then lead to it.
    ``linksElsewhere``: links of these pages to spaces that the site doesn't show. ``within``: a draft that contains
    it, and hides it as long as it is one."""

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
    """All drafts of a site that the caller can see, in reading order, redirects last."""

    items: list[SiteDraft]


class PublishDrafts(Struct):
    """``items``: ids of drafts. ``draft``: true turns them into drafts again."""

    items: Annotated[list[str], Meta(min_length=1, max_length=1000)]
    draft: bool = False
