"""Routes for site search."""

from __future__ import annotations

import msgspec

from octavo.delivery.visits.authorization import SpaceVisit
from octavo.kit.http.edge import Answer

from ..answers import Frame, html_answer, read_query, revalidated_answer
from ..drawing import draw_search
from ..searching import search_site
from ..table import View, route
from ..tracking import record_empty_search, record_search
from ..views import SearchAnswer


def _search(view: View, visit: SpaceVisit) -> SearchAnswer:
    query = read_query(view)
    record_search(view.events, view.request, visit, query)
    found = search_site(view.tx, visit.visit, query)
    if found.is_empty:
        record_empty_search(view.events, view.request, visit, query)
    return found


@route("searchSite", "~search.json")
def search(view: View, visit: SpaceVisit) -> Answer:
    found = _search(view, visit)
    return revalidated_answer(msgspec.json.encode(found), "application/json")


@route("searchPage", "~search")
def search_page(view: View, visit: SpaceVisit) -> Answer:
    found = _search(view, visit)
    frame = Frame(view, visit)
    site = frame.site()
    return html_answer(site, draw_search(site, found, frame.builder.nav(None)))
