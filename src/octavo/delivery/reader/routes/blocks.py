"""Routes for integration blocks."""

from __future__ import annotations

from urllib.parse import parse_qs

import msgspec

from octavo.delivery.visits.authorization import SpaceVisit
from octavo.errors import Forbidden, NotFound
from octavo.kit.http.edge import Answer

from ..answers import HTML, Frame, is_cross_origin
from ..block_actions import MAX_PRESS
from ..blocks import PreparedBlock, answer_block, answer_press, prepare_block
from ..drawing import content_security_policy
from ..table import Later, View, route


def _block(view: View, visit: SpaceVisit) -> PreparedBlock:
    """Return the block that the URL refers to, on the visited page. Raises NotFound if there is none."""
    query = parse_qs(view.request.query_string.decode("latin-1"))
    page_id, key = (query.get(name, [""])[0] for name in ("page", "block"))
    page = visit.view.tree.page(page_id)
    frame = Frame(view, visit)
    found = frame.builder.find_block(page, key) if page is not None else None
    prepared = prepare_block(view.tx, visit, found, frame.look) if found is not None else None
    if prepared is None:
        raise NotFound("This page doesn't contain this block.")
    return prepared


@route("readBlock", "~block", pool="scripts")
def read_block(view: View, visit: SpaceVisit) -> Later:
    """Return the output of an integration's block as HTML that scripts insert into its page."""
    prepared = _block(view, visit)
    headers = {
        "cache-control": "no-store",
        "content-security-policy": content_security_policy(""),
        "x-robots-tag": "noindex",
    }

    def answer() -> Answer:
        return Answer(200, answer_block(view.context, view.kept.blocks, prepared), HTML, headers)

    return Later(visit.visit.organization_id, answer)


@route("pressBlock", "~block", method="POST", body=MAX_PRESS, rate="tries", pool="scripts")
def press_block(view: View, visit: SpaceVisit) -> Later:
    """Return the new content of a block after a visitor has used one of its controls."""
    if is_cross_origin(view, visit.visit):
        raise Forbidden("You can use this block only from the page that contains it.")
    prepared = _block(view, visit)

    def answer() -> Answer:
        pressed = msgspec.json.encode(answer_press(view.context, prepared, view.body))
        return Answer(200, pressed, "application/json", {"cache-control": "no-store"})

    return Later(visit.visit.organization_id, answer)
