"""Search a site's spaces for pages that this visitor can see."""

from __future__ import annotations

from urllib.parse import quote

from octavo.content.search.querying import PageHit, search_pages, suggest, with_snippets
from octavo.delivery.visits.authorization import SiteVisit, SpaceVisit, list_spaces
from octavo.kit.db.database import Transaction
from octavo.sites.site.visible_sections import Sight

from .operations import find_in_references
from .views import MarkedText, SearchAnswer, SearchHit, SectionHitView

_HITS = 20
_SUGGESTIONS = 3


def search_site(tx: Transaction, visit: SiteVisit, query: str) -> SearchAnswer:
    """Return the matching pages of the site, except hidden pages and pages excluded from search."""
    spaces = {space.site_space.space_id: space for space in list_spaces(tx, visit)}
    if not query.strip() or not spaces:
        return SearchAnswer(query=query)
    sees = Sight(tx, {space_id: space.view for space_id, space in spaces.items()}, visit.admission.drafted)
    found = search_pages(tx, list(spaces), query, _HITS, sees=sees, draft=sees.draft, counts=False).hits[
        :_HITS
    ]
    hits = [_hit(spaces[hit.space_id], hit) for hit in with_snippets(tx, found)]
    of_apis = find_in_references(tx, list(spaces.values()), query)
    nothing = not hits and not any(of_apis.values())
    suggestions = suggest(tx, list(spaces), query, _SUGGESTIONS, sees) if nothing else []
    return SearchAnswer(query=query, hits=tuple(hits), suggestions=tuple(suggestions), **of_apis)


def _hit(space: SpaceVisit, found: PageHit) -> SearchHit:
    tree, sections = space.view.tree, found.sections
    page = tree.page(found.page_id)
    assert page is not None
    href = f"{space.base}{quote(tree.url_path(tree.first_document(page) or page))}"
    lead = next((s for s in sections if s.anchor is None), None)
    return SearchHit(
        title=page.title,
        href=href,
        crumbs=tuple(p.link_title or p.title for p in tree.ancestors(page)),
        excerpt=tuple(MarkedText(p.text, p.marked) for p in lead.snippet) if lead else (),
        sections=tuple(
            SectionHitView(
                title=s.heading,
                href=f"{href}#{quote(s.anchor)}",
                excerpt=tuple(MarkedText(p.text, p.marked) for p in s.snippet),
            )
            for s in sections
            if s.anchor is not None
        ),
    )
