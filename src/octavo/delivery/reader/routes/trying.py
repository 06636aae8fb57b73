"""Try out API operations from the page that shows them."""

from __future__ import annotations

from urllib.parse import parse_qs

import msgspec

from octavo.core.pages import Page
from octavo.delivery.visits.authorization import SiteVisit, SpaceVisit, visit_space
from octavo.errors import BadRequest, Forbidden, NotFound
from octavo.kit.http.edge import Answer
from octavo.kit.net.fetch import Fetcher
from octavo.sites.insights.collecting import collect
from octavo.sites.insights.types import ApiClientRequest, ApiOperation
from octavo.sites.openapi.description import ApiDescription, DescribedOperation
from octavo.sites.openapi.sending import send
from octavo.sites.openapi.trying import MAX_SENT, FilledForm, make_form, prepare_request

from ..answers import HTML, Frame, is_cross_origin, revalidated_answer
from ..drawing import draw_signed_in
from ..locales import direction
from ..sites import ASSETS_PATH, find_look
from ..table import Later, View, route
from ..tracking import location_of, session_of
from ..views import FrameLabels

_MAX_POST = 2 * MAX_SENT
"""Maximum size in bytes of a request body, which contains another body in base64."""
SIGNED_IN = "~signed-in"
"""Path that OAuth providers redirect readers to, relative to the site's base URL."""


def _tried(view: View, visit: SpaceVisit) -> tuple[Page, ApiDescription, DescribedOperation]:
    """Return the visited page, and the operation to try out on it. Raises NotFound if there is none."""
    query = parse_qs(view.request.query_string.decode("latin-1"))
    page_id, spec, key = (query.get(name, [""])[0] for name in ("page", "spec", "operation"))
    page = visit.view.tree.page(page_id)
    found = Frame(view, visit).builder.find_operation(page, spec, key) if page is not None else None
    if page is None or found is None:
        raise NotFound(
            "This page doesn't document this operation, or the operation doesn't support test requests."
        )
    return page, *found


@route("readTryForm", "~try")
def read_try_form(view: View, visit: SpaceVisit) -> Answer:
    _, description, operation = _tried(view, visit)
    form = make_form(description, operation)
    form.signed_in = f"{visit.visit.base}{SIGNED_IN}"
    return revalidated_answer(msgspec.json.encode(form), "application/json")


@route("readSignedIn", SIGNED_IN)
def read_signed_in(view: View, visit: SiteVisit) -> Answer:
    """Return the page that OAuth providers redirect a reader to. The page's script passes the provider's response
    to the page that requested the sign-in, where another script gets the token in the browser."""
    shown = next(iter(visit.outline.site_spaces()), None)
    look = find_look(view.tx, visit_space(view.tx, visit, shown)) if shown is not None else None
    locale, labels = (look.locale, look.labels) if look is not None else ("en", FrameLabels())
    headers = {
        "cache-control": "no-store",
        "content-security-policy": "default-src 'none'; script-src 'self'; base-uri 'none'; frame-ancestors 'none'",
        "referrer-policy": "no-referrer",
        "x-robots-tag": "noindex",
    }
    return Answer(200, draw_signed_in(labels, locale, direction(locale), ASSETS_PATH).encode(), HTML, headers)


@route("tryOperation", "~try", method="POST", body=_MAX_POST, rate="tries", pool="calls")
def try_operation(view: View, visit: SpaceVisit) -> Later:
    if is_cross_origin(view, visit.visit):
        # Other sites could make visitors send values that they never entered.
        raise Forbidden("You can try an operation only from the page that documents it.")
    try:
        wanted = msgspec.json.decode(view.body, type=FilledForm)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadRequest(f"body: {error}") from None
    page, description, operation = _tried(view, visit)
    prepared = prepare_request(description, operation, wanted)
    fetcher = Fetcher(view.context.settings.allow_private_fetch)
    location = location_of(visit, page)
    tried = ApiClientRequest(
        session=session_of(view.request, location),
        location=location,
        operation=ApiOperation(operation.path[:256], operation.method[:16]),
    )

    def answer() -> Answer:
        sent = msgspec.json.encode(send(fetcher, prepared))
        site, admission = visit.visit.site, visit.visit.admission
        if not admission.preview:
            collect(view.context, site.organization_id, site.id, [tried], admission.claims)
        return Answer(200, sent, "application/json", {"cache-control": "no-store"})

    return Later(visit.visit.organization_id, answer)
