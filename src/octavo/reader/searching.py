"""Search of a site: the spaces it shows, and of their pages those that are told to this visitor."""

from __future__ import annotations

from urllib.parse import quote

from ..core.pages import Page
from ..kit.db import Transaction
from ..search import PageHit, search_pages, suggest, with_snippets
from ..search import SectionHit as Section
from .resolving import SiteVisit, SpaceVisit, list_spaces
from .views import Part, SearchAnswer, SearchHit, SectionHit

_HITS = 20
_SUGGESTIONS = 3


def search_site(tx: Transaction, visit: SiteVisit, query: str) -> SearchAnswer:
    """Pages of the site that match; hidden ones, and those kept from search, are left out."""
    spaces = {space.site_space.space_id: space for space in list_spaces(tx, visit)}
    if not query.strip() or not spaces:
        return SearchAnswer(query=query)
    hits = _hits(tx, spaces, query)
    suggestions: list[str] = []
    if not hits:
        # The index also knows words of pages that are not told here: only what finds something is suggested.
        near = suggest(tx, list(spaces), query, limit=_SUGGESTIONS * 3)
        suggestions = [word for word in near if _hits(tx, spaces, word)][:_SUGGESTIONS]
    return SearchAnswer(query=query, hits=tuple(hits), suggestions=tuple(suggestions))


def _hits(tx: Transaction, spaces: dict[str, SpaceVisit], query: str) -> list[SearchHit]:
    kept: list[tuple[PageHit, Page, Page]] = []
    for found in search_pages(tx, list(spaces), query):
        space = spaces[found.space_id]
        page = space.state.page(found.page_id)
        shown = space.state.first_document(page) if page is not None else None
        if page is None or shown is None or _is_kept_back(space, page):
            continue
        kept.append((found, page, shown))
        if len(kept) == _HITS:
            break
    quoted = with_snippets(tx, [found for found, _, _ in kept])
    return [
        _hit(spaces[found.space_id], page, shown, found.sections)
        for found, (_, page, shown) in zip(quoted, kept, strict=True)
    ]


def _is_kept_back(space: SpaceVisit, page: Page) -> bool:
    above = [*space.state.ancestors(page), page]
    return page.hidden or any(p.no_index or p.hidden for p in above)


def _hit(space: SpaceVisit, page: Page, shown: Page, sections: tuple[Section, ...]) -> SearchHit:
    href = f"{space.base}{quote(space.state.url_path(shown))}"
    lead = next((s for s in sections if s.anchor is None), None)
    return SearchHit(
        title=page.title,
        href=href,
        crumbs=tuple(p.link_title or p.title for p in space.state.ancestors(page)),
        excerpt=tuple(Part(p.text, p.marked) for p in lead.snippet) if lead else (),
        sections=tuple(
            SectionHit(
                title=s.heading,
                href=f"{href}#{quote(s.anchor)}",
                excerpt=tuple(Part(p.text, p.marked) for p in s.snippet),
            )
            for s in sections
            if s.anchor is not None
        ),
    )
