"""Search of a site."""

from __future__ import annotations

from ..kit.db import Transaction
from .resolving import SiteVisit, find_space
from .views import Part, SearchAnswer, SearchHit

_HITS = 20


def search_site(tx: Transaction, visit: SiteVisit, query: str) -> SearchAnswer:
    """Pages whose title or description holds every word."""
    words = query.lower().split()
    space = find_space(tx, visit)
    if not words or space is None:
        return SearchAnswer(query=query)
    hits = []
    for page in space.state.order:
        text = f"{page.title} {page.description or ''}".lower()
        if not page.hidden and not page.no_index and all(word in text for word in words):
            path = space.state.url_path(page)
            excerpt = (Part(page.description),) if page.description else ()
            hits.append(SearchHit(title=page.title, href=f"{space.base}{path}", excerpt=excerpt))
    return SearchAnswer(query=query, hits=tuple(hits[:_HITS]))
