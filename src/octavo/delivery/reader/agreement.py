"""Consent page on which a visitor allows an agent to read a site with the visitor's own access."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from octavo.delivery.visits.admission import CONNECT_PATH
from octavo.delivery.visits.authorization import SiteVisit, list_spaces
from octavo.errors import require_found
from octavo.kit.http.edge import Answer

from .answers import Frame, html_answer, private_answer, with_headers
from .drawing import draw_agreement
from .table import View
from .views import Agreement


def prepare_agreement(view: View, visit: SiteVisit) -> Callable[[Agreement], Answer]:
    """Load the appearance of the site and return a function that renders the page. Raises NotFound if the
    visitor can't see any space."""
    space = require_found(next(iter(list_spaces(view.tx, visit)), None), "There is no page at this URL.")
    site, action = Frame(view, space).site(), f"{visit.base}{CONNECT_PATH}"

    def draw(agreement: Agreement) -> Answer:
        # Browsers let a form redirect only to targets that the page allows. No third-party script may run on
        # this page.
        sources = (("form-action", (f"{agreement.scheme}:",)),)
        shown = replace(site, scripts=(), sources=sources)
        answer = private_answer(visit.admission, html_answer(shown, draw_agreement(shown, action, agreement)))
        headers = {"cache-control": "no-store", "x-robots-tag": "noindex"}
        return replace(with_headers(answer, headers), etag="", again=False)

    return draw
