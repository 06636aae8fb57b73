"""Routes for asking a site questions."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from octavo.assistants.ask.asking import suggest
from octavo.delivery.visits.authorization import SpaceVisit
from octavo.kit.http.edge import Answer
from octavo.sites.insights.collecting import collect
from octavo.sites.insights.types import AskRateResponse

from ..answers import HTML, Frame, html_answer, read_query, revalidated_answer
from ..drawing import draw_answer, draw_ask, draw_questions
from ..questions import (
    ASK_PATH,
    MAX_FORM,
    answer_question,
    events_of,
    make_asker,
    read_question,
    read_rating,
    refuse_cross_origin,
    require_asking,
)
from ..table import Later, View, route
from ..tracking import location_of, record_question, session_of

EVENTS = "text/event-stream"


@route("readQuestions", f"{ASK_PATH}/questions")
def read_questions(view: View, visit: SpaceVisit) -> Answer:
    """Return suggested questions as HTML that scripts insert into a page."""
    frame = Frame(view, visit)
    require_asking(frame.look)
    asker = make_asker(view.context, frame.look, visit)
    return revalidated_answer(draw_questions(frame.site(), suggest(view.tx, asker)), HTML)


@route("readAsk", ASK_PATH)
def read_ask(view: View, visit: SpaceVisit) -> Answer:
    """Return the form for asking a question. Opening a URL never asks a question, because otherwise
    crawlers that follow links would use up tokens."""
    frame = Frame(view, visit)
    require_asking(frame.look)
    questions = suggest(view.tx, make_asker(view.context, frame.look, visit))
    site = frame.site()
    return html_answer(site, draw_ask(site, frame.builder.nav(None), read_query(view), questions=questions))


@route("askQuestion", ASK_PATH, method="POST", body=MAX_FORM, rate="questions", pool="questions")
def ask_question(view: View, visit: SpaceVisit) -> Later:
    """Answer a question as a page or, for scripts, as server-sent events while the answer is written."""
    frame = Frame(view, visit)
    require_asking(frame.look)
    request, context, look = view.request, view.context, frame.look
    refuse_cross_origin(
        request.header(b"origin"),
        visit.visit.host(request.header(b"host")),
        request.header(b"sec-fetch-site"),
    )
    question = read_question(view.body)
    record_question(view.events, request, visit.visit, location_of(visit), question.text)
    asker = make_asker(context, look, visit)
    site, nav = frame.site(), frame.builder.nav(None)
    headers = {"cache-control": "no-store", "x-robots-tag": "noindex"}

    def parts() -> Iterator[str]:
        for answered in answer_question(context, asker, look, question):
            yield draw_answer(site, answered)

    def stream() -> Answer:
        unbuffered = {**headers, "x-accel-buffering": "no"}
        return Answer(200, b"", EVENTS, unbuffered, stream=lambda: events_of(parts()))

    def page() -> Answer:
        *_, answered = answer_question(context, asker, look, question)
        shown = html_answer(site, draw_ask(site, nav, "", answered))
        return msgspec.structs.replace(shown, headers={**shown.headers, **headers}, etag="", again=False)

    how = stream if EVENTS in request.header(b"accept") else page
    return Later(visit.visit.organization_id, how)


@route("rateAnswer", f"{ASK_PATH}/rating", method="POST", body=4096)
def rate_answer(view: View, visit: SpaceVisit) -> Later:
    """Store the rating in a form (``rating``, ``answer``, ``q``), and redirect the browser to the form for
    questions."""
    require_asking(Frame(view, visit).look)
    answer_id, asked, rating = read_rating(view.body)
    location = location_of(visit)
    rated = AskRateResponse(
        session=session_of(view.request, location),
        location=location,
        query=asked,
        rating=rating,
        response_id=answer_id,
    )

    def answer() -> Answer:
        site, admission = visit.visit.site, visit.visit.admission
        if not admission.preview:
            collect(view.context, site.organization_id, site.id, [rated], admission.claims)
        headers = {"location": f"{visit.base}{ASK_PATH}", "cache-control": "no-store"}
        return Answer(303, headers=headers)

    return Later(visit.visit.organization_id, answer)
