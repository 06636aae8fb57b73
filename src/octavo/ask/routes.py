"""Asking an organization's documentation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from ..access import Can, OrgAccess
from ..kit.operation import Area, Call, Stream
from ..spaces import list_visible_space_ids
from . import asking, recommending, wire

operation = Area("ask").operation

_ASK = "/orgs/{organizationId}/ask"


@operation("askInOrganization", "POST", _ASK, needs=Can.VIEW, returns=wire.Answered, errors=(400,))
def ask(call: Call, org: OrgAccess, query: wire.AskQuery, body: wire.Ask) -> wire.Answered:
    """Answers a question out of the spaces that the caller sees, with the sections that it is from. Without a
    language model the best passages are quoted. A question that nothing answers is kept as a conversation."""
    *_, last = asking.ask(call.context, org, body.query, body.previous_queries)
    return wire.Answered(wire.present_answer(last, query))


@operation(
    "streamAskInOrganization",
    "GET",
    f"{_ASK}/stream",
    needs=Can.VIEW,
    returns=wire.AnswerEvent,
    media_type="text/event-stream",
    errors=(400,),
)
def stream_ask(call: Call, org: OrgAccess, query: wire.StreamQuery) -> Stream:
    """The same as server-sent events while it is written: each has the whole answer so far."""
    answers = asking.ask(call.context, org, query.query, [])
    return _stream(wire.AnswerEvent("answer", wire.present_answer(found, query)) for found in answers)


@operation(
    "getRecommendedQuestionsInOrganization",
    "GET",
    f"{_ASK}/questions",
    needs=Can.VIEW,
    returns=wire.Questions,
)
def get_questions(call: Call, org: OrgAccess) -> wire.Questions:
    """Questions that the spaces the caller sees have pages for."""
    return wire.Questions(_recommended(call, org))


@operation(
    "streamRecommendedQuestionsInOrganization",
    "GET",
    f"{_ASK}/questions/stream",
    needs=Can.VIEW,
    returns=wire.QuestionEvent,
    media_type="text/event-stream",
)
def stream_questions(call: Call, org: OrgAccess) -> Stream:
    """The same as server-sent events, one for each question."""
    return _stream([wire.QuestionEvent(question) for question in _recommended(call, org)])


def _recommended(call: Call, org: OrgAccess) -> list[str]:
    with call.db.read() as tx:
        return recommending.recommend(tx, list_visible_space_ids(tx, org))


def _stream(events: Iterable[msgspec.Struct]) -> Stream:
    def chunks() -> Iterator[bytes]:
        for event in events:
            yield b"data: " + msgspec.json.encode(event) + b"\n\n"
        # Clients of the API close the stream when they are told so.
        yield b"event: done\ndata: {}\n\n"

    return Stream(chunks(), "text/event-stream", {"cache-control": "no-store", "x-accel-buffering": "no"})
