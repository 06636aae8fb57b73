"""Answer visitors' questions on a site from the pages that they can see, as a page or as a stream.

``octavo.assistants.ask`` composes the answer. This module converts it to HTML, with labels in the language of
the interface."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple
from urllib.parse import parse_qs

import msgspec
from msgspec.structs import replace

from octavo.assistants.ask.answering import AnswerWords, ComposedAnswer
from octavo.assistants.ask.asking import QuestionAsker, ask
from octavo.assistants.ask.material import VisitorMaterial
from octavo.assistants.ask.wire import MAX_QUESTION
from octavo.assistants.questions.types import Asked, CoreChannel
from octavo.core.document.html import render
from octavo.core.document.html_context import HtmlContext
from octavo.core.document.nodes import Block, Document, Fragment, Inline, Leaf, Mark, Text, walk
from octavo.core.document.writing import write
from octavo.delivery.visits.authorization import SiteVisit, SpaceVisit
from octavo.errors import BadRequest, Forbidden, NotFound, OctavoError
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Visitor
from octavo.kit.ids import new_id

from .styling import SiteLook
from .views import AnsweredView, FrameLabels, SourceView

ASK_PATH = "~ask"
MAX_FORM = 16 * 1024
"""Maximum size in bytes of a posted question, including earlier questions."""
_ASKS = re.compile(rb"(?:^|&)ask=")
_ID = 100
_BEFORE = 4
"""Maximum number of earlier questions from a conversation to include."""


class Question(msgspec.Struct, frozen=True):
    """A visitor's question. ``before``: the earlier questions, oldest first. ``previous``: the ID of the answer
    that it continues."""

    text: str
    before: tuple[str, ...] = ()
    previous: str = ""


def read_question(form: bytes) -> Question:
    """Return the posted question from the fields ``q``, ``before`` (one for each earlier question), and
    ``previous`` (the ID of the answer to the most recent earlier question). Raises BadRequest if they are
    invalid."""
    try:
        fields = parse_qs(form.decode(), max_num_fields=20)
    except ValueError:
        raise BadRequest("body: must be form-encoded") from None
    asked, before = fields.get("q", [""])[0], fields.get("before", [])
    previous = fields.get("previous", [""])[0]
    if len(previous) > _ID or "\0" in previous:
        raise BadRequest("previous: must be the ID of an answer")
    for name, text in (("q", asked), *(("before", one) for one in before)):
        if len(text) > MAX_QUESTION or "\0" in text:
            raise BadRequest(f"{name}: must be text of at most {MAX_QUESTION:,} characters")
    if not asked.strip():
        raise BadRequest("q: must not be empty")
    return Question(asked.strip(), tuple(before[-_BEFORE:]), previous)


def require_asking(look: SiteLook) -> None:
    """Raise NotFound if the site doesn't answer questions."""
    if not look.asks:
        raise NotFound("There is no page at this URL.")


def refuse_cross_origin(origin: str, host: str, fetch_site: str) -> None:
    """Raise Forbidden if the form was submitted from another website, because answers use up tokens."""
    own = origin.partition("://")[2] == host
    if fetch_site in ("cross-site", "same-site") or (origin and not own):
        raise Forbidden("You can ask questions only from a page on this site.")


def read_rating(form: bytes) -> tuple[str, str, Literal[-1, 1]]:
    """Return the ID of the rated answer, its question, and the rating. Raises BadRequest if they are
    invalid."""
    try:
        fields = parse_qs(form.decode(), max_num_fields=10)
    except ValueError:
        raise BadRequest("body: must be form-encoded") from None
    answer, asked, rating = (fields.get(name, [""])[0] for name in ("answer", "q", "rating"))
    if not 0 < len(answer) <= _ID:
        raise BadRequest("answer: must be the ID of an answer")
    if len(asked) > MAX_QUESTION or "\0" in answer + asked:
        raise BadRequest(f"q: must be text of at most {MAX_QUESTION:,} characters")
    if rating not in ("1", "-1"):
        raise BadRequest("rating: must be 1 or -1")
    return answer, asked, 1 if rating == "1" else -1


def make_asker(
    context: Context, look: SiteLook, space: SpaceVisit, channel: CoreChannel | None = None
) -> QuestionAsker:
    """Return the ``QuestionAsker`` for a visit to one of a site's spaces. Other variants are omitted, because
    they have the same content in other languages or versions. ``channel``: the channel that the question
    was asked in, if it wasn't asked on a page."""
    visit = space.visit
    shown = visit.outline.site_spaces()
    visitor = Visitor(
        visit.site.id,
        visit.organization_id,
        visit.site.visibility,
        visit.base,
        visit.admission.claims,
        frozenset(one.space_id for one in shown),
        drafted=visit.admission.drafted,
        drafts=visit.admission.drafts,
    )
    variants = {one.id for one in space.site_spaces} - {space.site_space.id}
    only = [one.id for one in shown if one.id not in variants]

    def material(tx: Transaction) -> VisitorMaterial:
        return VisitorMaterial(context, tx, visitor, only)

    return QuestionAsker(
        visit.organization_id,
        "",
        material,
        _words(look.labels),
        instructions=look.customization.ai.instructions or "",
        suggestions=look.customization.ai.suggestions or (),
        recorded=not visit.admission.preview,
        asked=None
        if visit.admission.preview
        else Asked(
            visit.site.id,
            channel or ("embed" if visit.embedded else "site"),
            new_id(),
            language=look.language,
        ),
    )


def answer_question(
    context: Context, asker: QuestionAsker, look: SiteLook, question: Question
) -> Iterator[AnsweredView]:
    """Yield the answer as it grows. The last version is complete, and can be rated if it was recorded."""
    view = None
    for found in ask(context, asker, question.text, question.before, question.previous or None):
        view = _present(found, look, question)
        yield view
    if view is not None and asker.asked is not None:
        yield replace(view, id=asker.asked.response_id)


def _words(labels: FrameLabels) -> AnswerWords:
    return AnswerWords(
        no_model=labels.ask_no_model,
        no_reply=labels.ask_no_reply,
        fits=labels.ask_fits,
        near=labels.ask_near,
        nothing=labels.ask_nothing,
        about=labels.ask_about,
    )


def _present(found: ComposedAnswer, look: SiteLook, question: Question) -> AnsweredView:
    plain = Document([_without_headings(block) for block in found.document.nodes])
    html = render(plain, HtmlContext(labels=look.labels, anchors=False)).body
    # Quoted passages already have their titles above them.
    sources = found.cited if found.written else ()
    return AnsweredView(
        question=question.text,
        before=(*question.before, question.text)[-_BEFORE:],
        body=html,
        written=found.written,
        sources=tuple(SourceView(title=one.full_title, href=one.address) for one in sources),
        followups=found.followups,
    )


def _without_headings(block: Block) -> Block:
    """Return a block with headings converted to bold paragraphs, because the surrounding page has its own
    headings and IDs."""
    nodes = [_without_headings(node) if isinstance(node, Block) else node for node in block.nodes]
    if not block.type.startswith("heading-"):
        return replace(block, nodes=nodes)
    return Block("paragraph", {}, [_make_bold(node) for node in nodes])


def _make_bold(node: Block | Inline | Text | Fragment) -> Block | Inline | Text:
    assert not isinstance(node, Fragment), "fragments are not children of blocks"
    if not isinstance(node, Text):
        return node
    bold = Mark("bold")
    return Text([Leaf(leaf.text, [*(m for m in leaf.marks if m != bold), bold]) for leaf in node.leaves])


# --- questions of agents ---------------------------------------------------------------------------------


def has_question(query_string: bytes) -> bool:
    """Return whether a query contains a question about the page."""
    return _ASKS.search(query_string) is not None


def read_agent_question(query_string: bytes) -> Question:
    """Return the question in the ``ask`` parameter, with its purpose in ``goal``. Raises BadRequest if they
    are invalid."""
    try:
        fields = parse_qs(query_string.decode("latin-1"), keep_blank_values=True, max_num_fields=50)
    except ValueError:
        raise BadRequest("ask: the request has too many query parameters") from None
    return check_question(fields.get("ask", [""])[0], fields.get("goal", [""])[0])


def check_question(asked: str, goal: str) -> Question:
    """Return an agent's question. ``goal``: the purpose of the answer, which is treated like an earlier
    question. Raises BadRequest if it is invalid."""
    for name, text in (("ask", asked), ("goal", goal)):
        if len(text) > MAX_QUESTION or "\0" in text:
            raise BadRequest(f"{name}: must be text of at most {MAX_QUESTION:,} characters")
    if not asked.strip():
        raise BadRequest("ask: must not be empty")
    return Question(asked.strip(), (goal.strip(),) if goal.strip() else ())


class WrittenAnswer(NamedTuple):
    """Answer in Markdown. ``sources``: the titles and URLs of the sections that it is based on.
    ``followups``: suggested follow-up questions."""

    question: str
    markdown: str
    sources: list[tuple[str, str]]
    followups: list[str]

    @property
    def text(self) -> str:
        """Return the complete answer as a single string."""
        parts = [f"# {self.question}", self.markdown]
        if self.sources:
            lines = (f"{number}. {title}: {url}" for number, (title, url) in enumerate(self.sources, 1))
            parts += ["## Sources", "\n".join(lines)]
        if self.followups:
            parts += ["## Follow-up questions", "\n".join(f"- {one}" for one in self.followups)]
        return "\n\n".join(parts) + "\n"


def answer_in_markdown(
    context: Context, asker: QuestionAsker, question: Question, visit: SiteVisit
) -> WrittenAnswer:
    *_, found = ask(context, asker, question.text, question.before)
    for top in found.document.nodes:
        for node in walk(top):
            if isinstance(node, Inline) and node.type == "link":
                url = node.data["ref"]["url"]
                shown = visit.public(url) if url.startswith("/") else url
                node.data["ref"] = {"kind": "url", "url": shown}
    cited = found.cited if found.written else ()
    sources = [(one.full_title, visit.public(one.address)) for one in cited]
    title = " ".join(question.text.split())
    return WrittenAnswer(title, write(found.document).strip(), sources, list(found.followups))


FAILED = b"event: failed\ndata: {}\n\n"


def events_of(parts: Iterator[str]) -> Iterator[bytes]:
    """Yield server-sent events, each with the HTML of the answer so far, followed by a final event."""
    try:
        for part in parts:
            yield b"data: " + msgspec.json.encode(part) + b"\n\n"
    except OctavoError:
        yield FAILED
        return
    yield b"event: done\ndata: {}\n\n"
