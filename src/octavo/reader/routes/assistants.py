"""Messages of assistants that read a site by the Model Context Protocol."""

from __future__ import annotations

from functools import partial

from ...errors import Forbidden, NotFound
from ...kit.asgi import Answer
from ...kit.mcp import Headers, answer_message
from ...sites import get_customization
from ...visits import (
    SiteVisit,
)
from ..answers import Frame, is_foreign
from ..mcp import MAX_MESSAGE, MCP_PATHS, Reading, server_of
from ..table import View, route
from ..tracking import note_tool


@route("postMessage", MCP_PATHS[0], method="POST", body=MAX_MESSAGE)
@route("postMessage", MCP_PATHS[1], method="POST", body=MAX_MESSAGE)
def post_message(view: View, visit: SiteVisit) -> Answer:
    if not get_customization(view.tx, visit.site.id).page_actions.mcp:
        raise NotFound("There is nothing at this address.")
    if is_foreign(view, visit):
        raise Forbidden("Messages are posted as application/json, and not from pages of other sites.")
    note = partial(note_tool, view.events, view.request, visit)
    reading = Reading(view.tx, visit, lambda space: Frame(view, space).builder, note)
    return answer_message(server_of(visit), reading, view.body, Headers.of(view.request))
