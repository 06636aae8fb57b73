"""Search of a site over the API: the spaces it shows, as far as the caller sees them, and for a visitor what the site
tells them of."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET

from ..access import SiteAccess, VisitedSite
from ..core.pages import Page
from ..errors import NotFound
from ..kit.db import Transaction
from ..kit.operation import Recipient
from ..kit.pagination import PageQuery
from ..search import SearchListing, SearchQuery, SearchSpace, search_spaces
from ..spaces import list_spaces_by_id
from .profile_wire import SearchSite
from .sight import sight_of
from .structure.outline import Outline
from .structure.store import load_structure


def search_site(
    tx: Transaction, to: Recipient, site: SiteAccess | VisitedSite, body: SearchSite, query: PageQuery
) -> SearchListing[SearchSpace]:
    """Spaces with pages that match, each with its best pages. Raises NotFound for a site space that is not in the site, or
    whose space the caller does not see."""
    structure = load_structure(tx, site.site_id)
    if isinstance(site, VisitedSite):
        visitor = site.visitor
        wanted = {
            one.id: one.space_id
            for one in Outline(structure, visitor.claims, preview=bool(visitor.preview)).site_spaces()
        }
    else:
        shown = {one.id: one.space_id for one in structure.site_spaces.values()}
        seen = list_spaces_by_id(tx, site.organization, list(set(shown.values())))
        wanted = {id: space for id, space in shown.items() if space in seen}
    named = _named(body)
    for place, id in named.items():
        if id not in wanted:
            raise NotFound(f"{place}: there is no site space {id!r} in this site.")
    if _is_narrow(body):
        wanted = {id: wanted[id] for id in named.values()}
    spaces = list(dict.fromkeys(wanted.values()))
    asked = SearchQuery(query=body.query, page=query.page, limit=query.limit)
    if isinstance(site, SiteAccess):
        return search_spaces(tx, to, spaces, asked)
    sight = sight_of(tx, site.visitor)

    def trace(space_id: str, page_ids: Sequence[str]) -> dict[str, list[Page]]:
        tree = sight.views[space_id].tree
        found = {page_id: tree.page(page_id) for page_id in page_ids}
        return {id: [*tree.ancestors(page), page] for id, page in found.items() if page is not None}

    return search_spaces(tx, to, spaces, asked, sight, trace, sight.draft)


def _named(body: SearchSite) -> dict[str, str]:
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


def _is_narrow(body: SearchSite) -> bool:
    """Whether only the named site spaces are searched."""
    if body.scope is not UNSET:
        return body.scope.mode == "specific"
    return body.mode != "all"
