"""Taking in how helpful readers find pages: the one thing that is posted to a site.

A browser posts the form by itself and comes back to the page; a script posts the same and stays there. What is kept is
an event of insights, of nobody: every rating is another visitor.
"""

from __future__ import annotations

from typing import cast, get_args
from urllib.parse import parse_qs, quote

from ..errors import BadRequest, MethodNotAllowed, NotFound, Unauthorized
from ..insights import PagePostFeedback, PageRating, Rating, collect
from ..kit.asgi import Answer, Request
from ..kit.context import Context
from .audiences import SendOn, read_coming
from .pages import FEEDBACK_PATH
from .resolving import enter_site, enter_space
from .sites import look_of
from .tracking import location_of, session_of

FORM_LIMIT = 4096
_RATINGS = get_args(PageRating)


def take_rating(context: Context, request: Request, host: str, path: str, form: bytes) -> Answer:
    """Keeps the rating that a form holds (``rating``, ``page``), and sends the browser back to the page. Raises
    NotFound, BadRequest, Unauthorized, and MethodNotAllowed for any other address."""
    try:
        fields = parse_qs(form.decode(), max_num_fields=10)
    except ValueError:
        raise BadRequest("body: expected a form") from None
    rating, page_id = fields.get("rating", [""])[0], fields.get("page", [""])[0]
    with context.db.read() as tx:
        secure = context.settings.sites_url.startswith("https:")
        coming = read_coming(request.query_string, request.header(b"cookie"), secure)
        try:
            visit = enter_site(tx, context, host, path, coming)
            space = enter_space(tx, visit)
        except SendOn:
            raise Unauthorized("Only who may read this site may rate its pages.") from None
        if space is None or space.rest != FEEDBACK_PATH:
            raise MethodNotAllowed("Nothing but ratings of pages is posted to sites.")
        page = space.view.tree.page(page_id)
        if page is None or not look_of(tx, space).customization.feedback.enabled:
            raise NotFound("There is nothing to rate at this address.")
        if rating not in _RATINGS:
            raise BadRequest(f"rating: expected one of {', '.join(_RATINGS)}")
        location = location_of(space, page)
    if not visit.admission.preview:
        feedback = Rating(cast(PageRating, rating))
        rated = PagePostFeedback(session=session_of(request, location), location=location, feedback=feedback)
        collect(context, visit.organization_id, visit.site.id, [rated], visit.admission.claims)
    # The page says thanks where this anchor is the target.
    address = f"{space.base}{quote(space.view.tree.url_path(page))}#thanks"
    return Answer(303, headers={"location": address, "cache-control": "no-store"})
