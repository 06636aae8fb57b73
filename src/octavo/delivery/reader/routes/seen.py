"""Events reported by page scripts."""

from __future__ import annotations

from urllib.parse import parse_qs, unquote

from octavo.core.pages import Page
from octavo.delivery.visits.authorization import SpaceVisit, visit_space
from octavo.errors import Forbidden, NotFound, require_found
from octavo.kit.http.edge import Answer

from ..answers import is_cross_origin
from ..table import View, route
from ..tracking import MAX_SEEN, SEEN_PATH, location_of, read_seen, record_seen


@route("noteSeen", SEEN_PATH, method="POST", body=MAX_SEEN)
def record_report(view: View, visit: SpaceVisit) -> Answer:
    """Record a report about the visitor from a page's script."""
    if is_cross_origin(view, visit.visit):
        raise Forbidden("Only pages on this site can report events.")
    seen = read_seen(view.body)
    query = parse_qs(view.request.query_string.decode("latin-1"))
    page = require_found(visit.view.tree.page(query.get("page", [""])[0]), "There is no page at this URL.")
    location = location_of(visit, page)

    def find_page(path: str) -> tuple[SpaceVisit, Page]:
        shown, rest, _ = visit.visit.outline.locate(unquote(path).removeprefix(unquote(visit.visit.base)))
        there = visit_space(view.tx, visit.visit, shown, rest) if shown is not None else None
        found = there.view.tree.find(rest) if there is not None else None
        if there is None or found is None:
            raise NotFound("There is no page at this path.")
        return there, found

    record_seen(view.events, view.request, visit, location, seen, find_page)
    return Answer(204, headers={"cache-control": "no-store"})
