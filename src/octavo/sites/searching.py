"""Search of a site over the API: the spaces it shows, as far as the caller sees them, and for a visitor what the site
tells them of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..access import SiteAccess, VisitedSite
from ..core.pages import Page
from ..errors import NotFound
from ..kit.db import Transaction
from ..kit.operation import Recipient
from ..search import SearchListing, SearchQuery, SearchSpace, search_spaces
from ..spaces import list_spaces_by_id
from .sight import sight_of
from .structure.outline import Outline
from .structure.store import load_structure


def search_site(
    tx: Transaction,
    to: Recipient,
    site: SiteAccess | VisitedSite,
    asked: SearchQuery,
    named: Mapping[str, str],
    *,
    narrow: bool,
) -> SearchListing[SearchSpace]:
    """Spaces with pages that match, each with its best pages. ``named``: site spaces by where in the body they are named;
    ``narrow``: only those are searched. Raises NotFound for a site space that is not in the site, or
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
    for place, id in named.items():
        if id not in wanted:
            raise NotFound(f"{place}: there is no site space {id!r} in this site.")
    if narrow:
        wanted = {id: wanted[id] for id in named.values()}
    spaces = list(dict.fromkeys(wanted.values()))
    if isinstance(site, SiteAccess):
        return search_spaces(tx, to, spaces, asked)
    sight = sight_of(tx, site.visitor)

    def trace(space_id: str, page_ids: Sequence[str]) -> dict[str, list[Page]]:
        tree = sight.views[space_id].tree
        found = {page_id: tree.page(page_id) for page_id in page_ids}
        return {id: [*tree.ancestors(page), page] for id, page in found.items() if page is not None}

    return search_spaces(tx, to, spaces, asked, sight, trace, sight.draft)
