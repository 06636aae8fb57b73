"""Preview images of pages for social networks."""

from __future__ import annotations

from octavo.delivery.visits.authorization import SpaceVisit
from octavo.kit.http.edge import Answer

from ..answers import Frame, not_found
from ..cards import card_of
from ..table import Later, View, route


@route("readImage", "~image/{name}", pool="images")
def read_image(view: View, visit: SpaceVisit, name: str) -> Answer | Later:
    """Return the preview image of a page."""
    page = visit.view.tree.page(name.removesuffix(".png"))
    if page is None or page.kind != "document" or not name.endswith(".png"):
        return not_found(view, visit)
    frame = Frame(view, visit)
    card = card_of(frame.builder.page(page), frame.site(page), frame.look)
    public = visit.visit.indexed and not visit.visit.admission.personal
    headers = {
        "cache-control": f"{'public' if public else 'private'}, max-age=3600",
        "cross-origin-resource-policy": "cross-origin",
        "x-robots-tag": "noindex",
    }

    def answer() -> Answer:
        return Answer(200, view.cards.draw(card), "image/png", headers, card.version)

    return Later(visit.visit.organization_id, answer)
