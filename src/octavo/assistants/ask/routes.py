"""Operations that answer questions about the content of an organization or a site."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, assert_never

import msgspec
from msgspec.structs import replace

from octavo.assistants.channels.store import count_answer, find_channel_of_installation
from octavo.assistants.channels.wire import name_of_type
from octavo.assistants.questions.types import Asked
from octavo.content.revisions.restrictions import hidden_from
from octavo.content.search.presenting import visible_spaces
from octavo.errors import NotFound
from octavo.kit.db.database import Transaction
from octavo.kit.http.bodies import or_none
from octavo.kit.http.operation import Area, Call, Script, Stream
from octavo.kit.ids import new_id
from octavo.organization.access.authorization import OrgAccess, SiteAccess, VisitedSite
from octavo.organization.access.roles import Can
from octavo.organization.spaces.store import list_visible_space_ids
from octavo.sites.site.customization.editing import get_customization
from octavo.sites.site.searching import select_site_spaces
from octavo.sites.site.structure.outline import visitor_outline
from octavo.sites.site.structure.store import load_structure
from octavo.sites.site.types import SearchedSpaces

from . import agent_conversation_routes, agent_conversations, asking, site_answers, wire
from .material import AnswerMaterial, MemberMaterial, VisitorMaterial
from .presenting import present_answer, stream_answer

operation = Area("ask").operation

__all__ = ["agent_conversation_routes"]

MAX_EARLIER = 10
"""Maximum number of earlier questions that an answer takes into account."""

_EVENTS: dict[str, Any] = {
    "needs": Can.VIEW,
    "media_type": "text/event-stream",
    "yields": ("content:read",),
}
"""Options shared by the operations that return an answer as server-sent events."""
_ASK = "/orgs/{organizationId}/ask"
_SITE = "/orgs/{organizationId}/sites/{siteId}"


def _member_asker(call: Call, org: OrgAccess) -> asking.QuestionAsker:
    return asking.QuestionAsker(
        org.organization_id,
        org.user_id,
        lambda tx: MemberMaterial(call.context, visible_spaces(tx, org), hidden_from(tx, org)),
    )


@operation(
    "askInOrganization",
    "POST",
    _ASK,
    needs=Can.VIEW,
    errors=(400, 404, 503),
    waits_for="model",
    yields=("content:read",),
    in_maintenance=True,
)
def ask(call: Call, org: OrgAccess, query: wire.AskQuery, body: wire.Ask) -> wire.Answered:
    """Answer a question from the spaces that the caller can see, and return the sections on which the answer is
    based. Without a language model, the answer quotes the best passages. Unanswered questions are recorded as
    conversations. To continue one of the caller's own conversations with the assistant, pass its ID as
    `conversation`."""
    earlier, conversation = body.previous_queries, or_none(body.conversation)
    if conversation is not None:
        with call.db.read() as tx:
            asked = agent_conversations.get_conversation(tx, org, conversation).questions
        earlier = [*asked, *earlier][-MAX_EARLIER:]
    *_, last = asking.ask(call.context, _member_asker(call, org), body.query, earlier)
    if conversation is not None:
        with call.db.write() as tx:
            agent_conversations.record_asked(tx, org, conversation, body.query)
    return wire.Answered(wire.present_answer(last, query))


@operation(
    "streamAskInOrganization",
    "GET",
    f"{_ASK}/stream",
    returns=wire.AnswerEvent | wire.Done,
    errors=(400, 503),
    waits_for="model",
    **_EVENTS,
)
def stream_ask(call: Call, org: OrgAccess, query: wire.StreamQuery) -> Stream:
    """Answer a question, and stream the answer as server-sent events. Each event contains the whole answer so far."""
    answers = asking.ask(call.context, _member_asker(call, org), query.query, [])
    return _stream(wire.AnswerEvent("answer", wire.present_answer(found, query)) for found in answers)


@operation(
    "getRecommendedQuestionsInOrganization",
    "GET",
    f"{_ASK}/questions",
    needs=Can.VIEW,
    yields=("content:read",),
)
def get_questions(call: Call, org: OrgAccess) -> wire.Questions:
    """Suggest questions that pages in the caller's spaces answer."""
    return wire.Questions(_recommend_questions(call, org))


@operation(
    "streamRecommendedQuestionsInOrganization",
    "GET",
    f"{_ASK}/questions/stream",
    returns=wire.QuestionEvent | wire.Done,
    **_EVENTS,
)
def stream_questions(call: Call, org: OrgAccess) -> Stream:
    """Suggest questions as server-sent events, with one event per question."""
    return _stream([wire.QuestionEvent(question) for question in _recommend_questions(call, org)])


def _recommend_questions(call: Call, org: OrgAccess) -> list[str]:
    with call.db.read() as tx:
        return asking.suggest(tx, _member_asker(call, org))


# --- sites --------------------------------------------------------------------------------------------


@operation(
    "streamAskInSite",
    "POST",
    f"{_SITE}/ask",
    returns=wire.AnswerEvent | wire.Done,
    errors=(503,),
    waits_for="model",
    visitors=True,
    **_EVENTS,
    in_maintenance=True,
)
def stream_ask_in_site(
    call: Call, site: SiteAccess | VisitedSite, query: wire.AskFormatQuery, body: wire.AskSite
) -> Stream:
    """Answer a question from the content that a site shows to the caller, and stream the answer as
    server-sent events."""
    asker = _record_at_site(call, _site_asker(call, site, *_read_scope(body.scope)), site, new_id())
    answers = asking.ask(call.context, asker, body.question, [])
    shown = wire.AskQuery(format=query.format)
    return _stream(wire.AnswerEvent("answer", wire.present_answer(found, shown)) for found in answers)


@operation(
    "streamRecommendedQuestionsInSite",
    "GET",
    f"{_SITE}/ask/questions",
    returns=wire.QuestionEvent | wire.Done,
    visitors=True,
    **_EVENTS,
)
def stream_questions_in_site(
    call: Call, site: SiteAccess | VisitedSite, query: wire.SiteQuestionsQuery
) -> Stream:
    """Suggest questions that pages of a site answer, as server-sent events."""
    named = {"siteSpaceId": query.site_space_id} if query.site_space_id is not None else {}
    where = SearchedSpaces("named" if named else "all")
    asker = _site_asker(call, site, named, where, query.space_id)
    with call.db.read() as tx:
        found = asking.suggest(tx, asker)
    return _stream([wire.QuestionEvent(question) for question in found])


@operation(
    "streamAIResponseInSite",
    "POST",
    f"{_SITE}/ai/response",
    returns=wire.ResponseEvent | wire.Done,
    errors=(503,),
    waits_for="model",
    visitors=True,
    **_EVENTS,
    in_maintenance=True,
)
def stream_response(call: Call, site: SiteAccess | VisitedSite, body: wire.RespondInSite) -> Stream:
    """Get a response from a site's assistant as server-sent events. It can continue from an earlier response
    to the same caller. Responses are kept for a day."""
    question, before = body.question, []
    previous = or_none(body.previous_response_id)
    if previous is not None:
        with call.db.read() as tx:
            before = site_answers.get_answer(tx, site, previous).questions
    asker, response_id = _site_asker(call, site, {}, SearchedSpaces("all")), new_id()
    asker = _record_at_site(call, asker, site, response_id)
    answers = asking.ask(call.context, asker, question, before, previous)
    return _stream(stream_answer(call.context, site, [*before, question], answers, response_id, previous))


@operation(
    "streamExistingAIResponseInSite",
    "GET",
    f"{_SITE}/ai/response/{{responseId}}",
    returns=wire.ResponseEvent | wire.Done,
    visitors=True,
    **_EVENTS,
)
def stream_existing_response(call: Call, site: SiteAccess | VisitedSite, response_id: str) -> Stream:
    """Replay an earlier response from the assistant to the same caller."""
    with call.db.read() as tx:
        found = site_answers.get_visible_answer(tx, site, response_id)
    return _stream(present_answer(response_id, found))


def _read_scope(
    scope: wire.DefaultScope | wire.SpecificScope | wire.WholeScope,
) -> tuple[dict[str, str], SearchedSpaces]:
    """Return the site spaces that a scope specifies, keyed by the request field that contains them, and the spaces to
    search."""
    match scope:
        case wire.SpecificScope(site_space_ids=ids):
            return {f"scope.siteSpaceIds[{at}]": id for at, id in enumerate(ids)}, SearchedSpaces("named")
        case wire.DefaultScope(current_site_space=str(current), restrict_to=restricted):
            return {"scope.currentSiteSpace": current}, SearchedSpaces(restricted or "default", current)
        case wire.DefaultScope():
            return {}, SearchedSpaces("default")
        case wire.WholeScope():
            return {}, SearchedSpaces("all")
        case _:
            assert_never(scope)


def _site_asker(
    call: Call,
    site: SiteAccess | VisitedSite,
    named: Mapping[str, str],
    where: SearchedSpaces,
    space_id: str | None = None,
) -> asking.QuestionAsker:
    """Return the asker for a site: a visitor, or a member with access to some of the site's spaces. ``named``: the site
    spaces that the request specifies, keyed by the request field that contains them. ``where``: the site spaces to
    search. ``space_id``: if set, only the site spaces of this space are searched. Raises NotFound if the caller can't
    see one of these site spaces or the space."""
    with call.db.read() as tx:
        structure = load_structure(tx, site.site_id)
        assistant = get_customization(tx, site.site_id).ai
        if isinstance(site, VisitedSite):
            shown = {one.id: one.space_id for one in visitor_outline(tx, site.visitor).site_spaces()}
        else:
            linked = sorted({one.space_id for one in structure.site_spaces.values()})
            seen = frozenset(list_visible_space_ids(tx, site.organization, among=linked))
            shown = {one.id: one.space_id for one in structure.site_spaces.values() if one.space_id in seen}
        shown = select_site_spaces(tx, structure, shown, named, where)
    if space_id is not None:
        shown = {id: space for id, space in shown.items() if space == space_id}
        if not shown:
            raise NotFound(f"spaceId: there is no space with the ID {space_id!r} on this site")
    only = None if where.spread == "all" and space_id is None else list(shown)

    def material(tx: Transaction) -> AnswerMaterial:
        if isinstance(site, VisitedSite):
            return VisitorMaterial(call.context, tx, site.visitor, only)
        return MemberMaterial(
            call.context,
            list(dict.fromkeys(shown.values())),
            hidden_from(tx, site.organization),
        )

    user_id = "" if isinstance(site, VisitedSite) else site.user_id
    return asking.QuestionAsker(
        site.organization_id,
        user_id,
        material,
        instructions=assistant.instructions or "",
        suggestions=assistant.suggestions or (),
        answered=_answer_counter(site),
    )


def _record_at_site(
    call: Call, asker: asking.QuestionAsker, site: SiteAccess | VisitedSite, response_id: str
) -> asking.QuestionAsker:
    """Return an asker whose answers are recorded on the site, unless the caller is previewing the site. Renderers
    ask on behalf of their visitors."""
    match site:
        case VisitedSite(visitor=visitor):
            return (
                asker if visitor.preview else replace(asker, asked=Asked(site.site_id, "site", response_id))
            )
        case SiteAccess(actor=Script(installation_id=str() as installation_id)):
            with call.db.read() as tx:
                channel = find_channel_of_installation(tx, site.site_id, installation_id)
        case SiteAccess():
            channel = None
        case _:
            assert_never(site)
    if channel is None:
        return replace(asker, asked=Asked(site.site_id, "api", response_id))
    return replace(
        asker, asked=Asked(site.site_id, name_of_type(channel.type), response_id, channel_id=channel.id)
    )


def _answer_counter(site: SiteAccess | VisitedSite) -> Callable[[Transaction], None] | None:
    """Return a function that counts an answer for the site's channels; None if the caller isn't an
    integration."""
    match site:
        case SiteAccess(actor=Script(installation_id=str() as installation_id)):
            return lambda tx: count_answer(tx, site.site_id, installation_id)
        case _:
            return None


def _stream(events: Iterable[msgspec.Struct]) -> Stream:
    def chunks() -> Iterator[bytes]:
        for event in events:
            yield b"data: " + msgspec.json.encode(event) + b"\n\n"
        # API clients close the stream when they receive this event.
        yield b"event: done\ndata: " + msgspec.json.encode(wire.Done()) + b"\n\n"

    return Stream(chunks(), "text/event-stream", {"cache-control": "no-store", "x-accel-buffering": "no"})
