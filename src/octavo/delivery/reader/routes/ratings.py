"""Readers' page ratings.

A browser submits the form and returns to the page; a script posts the same data without leaving the page.
The rating is stored as an anonymous insights event: every rating counts as coming from a different visitor."""

from __future__ import annotations

from typing import cast, get_args
from urllib.parse import parse_qs, quote

from octavo.delivery.visits.authorization import SpaceVisit
from octavo.errors import BadRequest, NotFound
from octavo.kit.http.edge import Answer
from octavo.sites.insights.collecting import collect
from octavo.sites.insights.types import PagePostFeedback, PageRating, Rating

from ..pages import FEEDBACK_PATH
from ..sites import find_look
from ..table import Later, View, route
from ..tracking import location_of, session_of

_RATINGS = get_args(PageRating)


@route("ratePage", FEEDBACK_PATH, method="POST", body=4096)
def rate_page(view: View, visit: SpaceVisit) -> Later:
    """Store the rating in a form (``rating``, ``page``), and redirect the browser back to the page."""
    try:
        fields = parse_qs(view.body.decode(), max_num_fields=10)
    except ValueError:
        raise BadRequest("body: must be form-encoded") from None
    rating, page_id = fields.get("rating", [""])[0], fields.get("page", [""])[0]
    page = visit.view.tree.page(page_id)
    if page is None or not find_look(view.tx, visit).customization.feedback.enabled:
        raise NotFound("There is no page to rate at this URL.")
    if rating not in _RATINGS:
        raise BadRequest(f"rating: must be one of {', '.join(_RATINGS)}")
    location = location_of(visit, page)
    session = session_of(view.request, location)
    rated = PagePostFeedback(session=session, location=location, feedback=Rating(cast(PageRating, rating)))
    # The page shows a thank-you message when this anchor is the target.
    address = f"{visit.base}{quote(visit.view.tree.url_path(page))}#thanks"

    def answer() -> Answer:
        site, admission = visit.visit.site, visit.visit.admission
        if not admission.preview:
            collect(view.context, site.organization_id, site.id, [rated], admission.claims)
        return Answer(303, headers={"location": address, "cache-control": "no-store"})

    return Later(visit.visit.organization_id, answer)
