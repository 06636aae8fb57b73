"""Search a site through the API: in the spaces that the caller can see or, for visitors, in the content that
the site shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from octavo.content.search.presenting import search_spaces, sees_as
from octavo.content.search.wire import SearchListing, SearchQuery, SearchSpace
from octavo.core.pages import Page
from octavo.errors import NotFound
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Recipient
from octavo.organization.access.authorization import SiteAccess, VisitedSite
from octavo.organization.spaces.store import get_titles, list_spaces_by_id

from .structure.outline import visitor_outline
from .structure.store import Structure, load_structure
from .types import SearchedSpaces
from .visible_sections import sight_of


def search_site(
    tx: Transaction,
    to: Recipient,
    site: SiteAccess | VisitedSite,
    asked: SearchQuery,
    named: Mapping[str, str],
    where: SearchedSpaces,
) -> SearchListing[SearchSpace]:
    """Search a site, and return spaces with matching pages, each with its best pages. ``named``: the site
    spaces in the request, by field. ``where``: the site spaces to search. Raises NotFound if a site space
    isn't on the site or if the caller can't see its space."""
    structure = load_structure(tx, site.site_id)
    if isinstance(site, VisitedSite):
        visitor = site.visitor
        wanted = {one.id: one.space_id for one in visitor_outline(tx, visitor).site_spaces()}
    else:
        shown = {one.id: one.space_id for one in structure.site_spaces.values()}
        seen = list_spaces_by_id(tx, site.organization, list(set(shown.values())))
        wanted = {id: space for id, space in shown.items() if space in seen}
    wanted = select_site_spaces(tx, structure, wanted, named, where)
    spaces = list(dict.fromkeys(wanted.values()))
    if isinstance(site, SiteAccess):
        return search_spaces(tx, to, spaces, asked, sees_as(tx, site.organization))
    sight = sight_of(tx, site.visitor)

    def trace(space_id: str, page_ids: Sequence[str]) -> dict[str, list[Page]]:
        tree = sight.views[space_id].tree
        found = {page_id: tree.page(page_id) for page_id in page_ids}
        return {id: [*tree.ancestors(page), page] for id, page in found.items() if page is not None}

    return search_spaces(tx, to, spaces, asked, sight, trace, sight.draft)


def select_site_spaces(
    tx: Transaction,
    structure: Structure,
    visible: Mapping[str, str],
    named: Mapping[str, str],
    where: SearchedSpaces,
) -> dict[str, str]:
    """Return the site spaces in a scope, with their spaces. ``visible``: the site spaces that the caller can
    see. Raises NotFound like ``search_site``."""
    for place, id in named.items():
        if id not in visible:
            raise NotFound(f"{place}: there is no site space with the ID {id!r} on this site")
    if where.spread == "all":
        return dict(visible)
    if where.spread == "named":
        return {id: visible[id] for id in named.values()}
    if where.spread == "currentSiteSpace" and where.current is not None:
        return {where.current: visible[where.current]}
    found = _by_default(tx, structure, visible, where.current)
    if where.spread == "otherSiteSpaces":
        found.pop(where.current or "", None)
    return found


def _by_default(
    tx: Transaction, structure: Structure, wanted: Mapping[str, str], current: str | None
) -> dict[str, str]:
    """Return the site space where the search starts, and one site space per section: the first variant in the same
    language, the default variant, or the first visible variant, in this order of preference."""
    languages = {id: titles.language for id, titles in get_titles(tx, list(set(wanted.values()))).items()}
    language = languages.get(wanted[current]) if current is not None else None
    found = {} if current is None else {current: wanted[current]}
    for section_id in (None, *structure.sections):
        variants = [one for one in structure.variants(section_id) if one.id in wanted]
        if not variants or (current is not None and any(one.id == current for one in variants)):
            continue
        alike = [one for one in variants if language and languages.get(one.space_id) == language]
        chosen = [one for one in alike or variants if one.is_default] or alike or variants
        found[chosen[0].id] = chosen[0].space_id
    return found
