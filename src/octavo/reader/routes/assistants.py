"""Messages of assistants that read a site by the Model Context Protocol."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec

from ...errors import Forbidden, NotFound
from ...insights import Event, VisitorLocation
from ...kit.edge import Answer
from ...kit.fetch import Fetcher, FetchError
from ...kit.mcp import (
    Headers,
    ToolCall,
    answer_call,
    answer_message,
    called_tool,
    read_call,
    result_of,
    say_instead,
)
from ...openapi import send
from ...sites import get_customization
from ...visits import SendOn, SiteVisit, enter_space
from ..answers import Frame, decoded_path, is_foreign
from ..asking import Question, answer_in_markdown, make_asker
from ..mcp import (
    ASK,
    KEPT,
    MAX_MESSAGE,
    MCP_PATHS,
    Reading,
    ToSend,
    note_sent,
    server_of,
    write_sent,
)
from ..sites import look_of
from ..table import Later, View, route
from ..telling import Told, ToolPlace
from ..tracking import Note, note_again, note_event


@route("postMessage", MCP_PATHS[0], method="POST", body=MAX_MESSAGE, kept=True)
@route("postMessage", MCP_PATHS[1], method="POST", body=MAX_MESSAGE, kept=True)
def post_message(view: View, visit: SiteVisit) -> Answer | Later:
    look = get_customization(view.tx, visit.site.id)
    if not look.page_actions.mcp:
        raise NotFound("There is nothing at this address.")
    if is_foreign(view, visit):
        raise Forbidden("Messages are posted as application/json, and not from pages of other sites.")
    headers = Headers.of(view.request)
    call = read_call(view.body, headers)
    if call is not None and call.asked.tool in KEPT:
        return _read(view, visit, call, headers)
    note = partial(note_event, view.events, view.request, visit)
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
    """What an API answers to a request, in the place of what ``answer`` says."""
    fetcher = Fetcher(view.context.settings.allow_private_fetch)

    def work_out() -> Answer:
        try:
            sent = send(fetcher, wanted.request)
        except FetchError as error:
            return say_instead(answer, error.message, wrong=True)
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
    """The answer to a call of a tool that reads: what was kept, for who is told the same."""

    def make() -> Told:
        notes: list[Note] = []

        def note(location: VisitorLocation, make: Callable[..., Event], **said: Any) -> None:
            notes.append(Note(location, make, said))

        reading = _reading(view, visit, note)
        answer = answer_message(server_of(visit, asks=True, calls=False), reading, view.body, headers)
        return Told(result_of(answer) or answer, tuple(notes), visit.made_of, visit.admission)

    place = ToolPlace(visit.site.id if visit.own_host else "", decoded_path(view.request))
    told = view.tellings.get(view.tx, place, view.request, call, visit.admission, make)
    if not visit.admission.preview:
        note_again(view.events, view.request, told.made_of, told.notes)
    return told.result if isinstance(told.result, Answer) else answer_call(call, told.result)


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
