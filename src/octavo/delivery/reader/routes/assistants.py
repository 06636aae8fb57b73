"""Route of a site's MCP server, which assistants use to read the site."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec

from octavo.delivery.visits.admission import MCP_PATHS, RedirectBeforeVisit
from octavo.delivery.visits.authorization import SiteVisit, enter_space
from octavo.errors import Forbidden, NotFound
from octavo.kit.http.edge import Answer
from octavo.kit.http.mcp import (
    Headers,
    ToolCall,
    ToolText,
    answer_call,
    answer_message,
    called_tool,
    read_call,
    result_of,
    say_instead,
)
from octavo.kit.net.fetch import Fetcher, FetchError
from octavo.sites.insights.types import Event, VisitorLocation
from octavo.sites.openapi.sending import send
from octavo.sites.site.customization.editing import get_customization

from ..answer_cache import ToolPlace, ToolResult
from ..answers import Frame, decoded_path, is_cross_origin
from ..mcp import ASK, KEPT, MAX_MESSAGE, Reading, ToSend, note_sent, server_of, write_sent
from ..questions import Question, WrittenAnswer, answer_in_markdown, make_asker
from ..sites import find_look
from ..table import Later, View, route
from ..tracking import EventNote, record_cached_events, record_event


@route("postMessage", MCP_PATHS[0], method="POST", body=MAX_MESSAGE, kept=True)
@route("postMessage", MCP_PATHS[1], method="POST", body=MAX_MESSAGE, kept=True)
def post_message(view: View, visit: SiteVisit) -> Answer | Later:
    look = get_customization(view.tx, visit.site.id)
    if not look.page_actions.mcp:
        raise NotFound("There is no page at this URL.")
    if is_cross_origin(view, visit):
        raise Forbidden(
            "Requests must have the content type application/json and come from a page on this site."
        )
    headers = Headers.of(view.request)
    call = read_call(view.body, headers)
    if call is not None and call.asked.tool in KEPT:
        return _read(view, visit, call, headers)
    note = partial(record_event, view.events, view.request, visit)
    reading = _reading(view, visit, note)._replace(takes_feedback=look.feedback.enabled)
    asks = _asks(view, visit)
    calls = look.agent_calls.enabled
    server = server_of(visit, asks=asks is not None, calls=calls)
    if asks is None or called_tool(view.body) != ASK:
        to_send: list[ToSend] = []
        if calls:
            reading = reading._replace(send=to_send.append)
        answer = answer_message(server, reading, view.body, headers)
        return _send(view, visit, reading, to_send[0], answer) if to_send else answer
    reading = reading._replace(ask=asks)
    return Later(
        visit.organization_id,
        lambda: answer_message(server, reading, view.body, headers),
        "questions",
        "questions",
    )


def _send(view: View, visit: SiteVisit, reading: Reading, wanted: ToSend, answer: Answer) -> Later:
    """Send a request to an API, and return its response instead of the text in ``answer``."""
    fetcher = Fetcher(view.context.settings.allow_private_fetch)

    def work_out() -> Answer:
        try:
            sent = send(fetcher, wanted.request)
        except FetchError as error:
            return say_instead(answer, ToolText(error.message), wrong=True)
        note_sent(reading, wanted)
        return say_instead(answer, write_sent(sent), wrong=False)

    return Later(visit.organization_id, work_out, "calls", "tries")


def _reading(view: View, visit: SiteVisit, note: Callable[..., None]) -> Reading:
    return Reading(
        view.tx,
        visit,
        lambda space: Frame(view, space).builder,
        note,
        view.context.files.read,
        takes_feedback=False,
    )


def _read(view: View, visit: SiteVisit, call: ToolCall, headers: Headers) -> Answer:
    """Return the response to a call to a read-only tool. A cached response is used if it is valid for this
    visitor."""

    def make() -> ToolResult:
        notes: list[EventNote] = []

        def note(location: VisitorLocation, make: Callable[..., Event], **values: object) -> None:
            notes.append(EventNote(location, make, values))

        reading = _reading(view, visit, note)
        answer = answer_message(server_of(visit, asks=True, calls=False), reading, view.body, headers)
        return ToolResult(result_of(answer) or answer, tuple(notes), visit.dependencies, visit.admission)

    place = ToolPlace(visit.site.id if visit.own_host else "", decoded_path(view.request))
    result = view.tool_results.get(view.tx, place, view.request, call, visit.admission, make)
    if not visit.admission.preview:
        record_cached_events(view.events, view.request, result.dependencies, result.notes)
    return result.result if isinstance(result.result, Answer) else answer_call(call, result.result)


def _asks(view: View, visit: SiteVisit) -> Callable[[Question], WrittenAnswer] | None:
    """Return a function that answers questions from all of the site's content; None if the site doesn't
    answer questions."""
    try:
        space = enter_space(view.tx, msgspec.structs.replace(visit, rest=""))
    except RedirectBeforeVisit:
        return None
    look = find_look(view.tx, space) if space is not None else None
    if space is None or look is None or not look.asks:
        return None

    def ask(question: Question) -> WrittenAnswer:
        asker = make_asker(view.context, look, space, "api")
        return answer_in_markdown(view.context, asker, question, visit)

    return ask
