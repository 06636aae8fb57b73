"""Meta links of pages: the canonical page and alternates."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import UNSET

from octavo.content.references.resolving import Resolver, meta_link_refs, page_owner
from octavo.core.json_types import JsonObject
from octavo.core.pages import Page

from .wire import PageMetaLinks, PageTarget, UrlTarget


def meta_links_of(
    page: Page, resolver: Resolver, is_withheld: Callable[[JsonObject], bool] = lambda ref: False
) -> PageMetaLinks:
    """Return the meta links of a page that point to external URLs or to targets that the resolver's reader
    can see."""

    def target(ref: JsonObject | None) -> PageTarget | UrlTarget | None:
        if ref is None:
            return None
        meaning = resolver.resolve(page_owner(page), ref, "link")
        if meaning.status != "ok":
            return None
        if meaning.kind == "page" and meaning.target is not None:
            elsewhere = meaning.space if meaning.space != resolver.known[0].space_id else None
            found = {"kind": "page", "page": meaning.target, **({"space": elsewhere} if elsewhere else {})}
            return None if is_withheld(found) else PageTarget(meaning.target, elsewhere or UNSET)
        url = ref.get("url")
        return UrlTarget(url) if meaning.kind == "url" and isinstance(url, str) else None

    canonical, given = meta_link_refs(page)
    alternates = [found for ref in given if (found := target(ref))]
    return PageMetaLinks(target(canonical) or UNSET, alternates or UNSET)
