"""Messages of assistants that read a site by the Model Context Protocol."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec

from ...errors import Forbidden, NotFound
from ...kit.asgi import Answer
from ...kit.mcp import Headers, answer_message, called_tool
from ...sites import get_customization
from ...visits import SendOn, SiteVisit, enter_space
from ..answers import Frame, is_foreign
from ..asking import Question, answer_in_markdown, make_asker
from ..mcp import ASK, MAX_MESSAGE, MCP_PATHS, Reading, server_of
from ..sites import look_of
from ..table import Later, View, route
from ..tracking import note_event


@route("postMessage", MCP_PATHS[0], method="POST", body=MAX_MESSAGE)
@route("postMessage", MCP_PATHS[1], method="POST", body=MAX_MESSAGE)
def post_message(view: View, visit: SiteVisit) -> Answer | Later:
    look = get_customization(view.tx, visit.site.id)
    if not look.page_actions.mcp:
        raise NotFound("There is nothing at this address.")
    if is_foreign(view, visit):
        raise Forbidden("Messages are posted as application/json, and not from pages of other sites.")
    note = partial(note_event, view.events, view.request, visit)
    reading = Reading(view.tx, visit, lambda space: Frame(view, space).builder, note, look.feedback.enabled)
    headers, asks = Headers.of(view.request), _asks(view, visit)
    server = server_of(visit, asks=asks is not None)
    if asks is None or called_tool(view.body) != ASK:
        return answer_message(server, reading, view.body, headers)
    reading = reading._replace(ask=asks)
    return Later(
        visit.organization_id,
        lambda: answer_message(server, reading, view.body, headers),
        "questions",
        "questions",
    )


def _asks(view: View, visit: SiteVisit) -> Callable[[Question], str] | None:
    """Answers questions out of all that the site shows; None where visitors ask nothing."""
    try:
        space = enter_space(view.tx, msgspec.structs.replace(visit, rest=""))
    except SendOn:
        return None
    look = look_of(view.tx, space) if space is not None else None
    if space is None or look is None or not look.asks:
        return None
    asker = make_asker(view.context, look, space)
    return lambda question: answer_in_markdown(view.context, asker, question, visit)
