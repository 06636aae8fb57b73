"""Questions of visitors at a site: answered out of the pages that it shows them, as a page or while they are written.

What an answer is made of, ``octavo.ask`` says. Here it becomes HTML in the language of the interface.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import parse_qs

import msgspec
from msgspec.structs import replace

from ..ask import MAX_QUESTION, Answer, AnswerWords, Asker, OfVisitor, ask, recommend
from ..core.document import Block, Document, Fragment, Inline, Leaf, Mark, Text, walk, write
from ..core.document.html import Context as Drawing
from ..core.document.html import render
from ..errors import BadRequest, Forbidden, NotFound, OctavoError
from ..kit.context import Context
from ..kit.db import Transaction
from ..kit.operation import Visitor
from ..visits import SiteVisit, SpaceVisit
from .looks import Look
from .views import AnsweredView, Labels, SourceView

ASK_PATH = "~ask"
MAX_FORM = 16 * 1024
"""Bytes of a posted question with those before it."""
_ASKS = re.compile(rb"(?:^|&)ask=")
_BEFORE = 4
"""Earlier questions of a conversation that are sent along."""


class Question(msgspec.Struct, frozen=True):
    """``before``: what was asked before it, the earliest first."""

    text: str
    before: tuple[str, ...] = ()


def read_question(form: bytes) -> Question:
    """What was posted: ``q``, and ``before`` for each earlier question. Raises BadRequest."""
    try:
        fields = parse_qs(form.decode(), max_num_fields=20)
    except ValueError:
        raise BadRequest("body: expected a form") from None
    asked, before = fields.get("q", [""])[0], fields.get("before", [])
    for name, text in (("q", asked), *(("before", one) for one in before)):
        if len(text) > MAX_QUESTION or "\0" in text:
            raise BadRequest(f"{name}: expected at most {MAX_QUESTION} characters of text")
    if not asked.strip():
        raise BadRequest("q: expected a question")
    return Question(asked.strip(), tuple(before[-_BEFORE:]))


def require_asking(look: Look) -> None:
    """Raises NotFound at a site whose visitors ask nothing."""
    if not look.asks:
        raise NotFound("There is nothing at this address.")


def refuse_foreign(origin: str, host: str, fetch_site: str) -> None:
    """Raises Forbidden for a form that a page of another site has a browser post: answers cost tokens."""
    own = origin.partition("://")[2] == host
    if fetch_site in ("cross-site", "same-site") or (origin and not own):
        raise Forbidden("Questions are asked from the pages of the site.")


def make_asker(context: Context, look: Look, space: SpaceVisit) -> Asker:
    """Whoever visits a space of a site. Other variants of what they read are not asked: they say the same in other
    languages, or of other versions."""
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
    )
    variants = {one.id for one in space.site_spaces} - {space.site_space.id}
    only = [one.id for one in shown if one.id not in variants]

    def material(tx: Transaction) -> OfVisitor:
        return OfVisitor(context, tx, visitor, only)

    return Asker(
        visit.organization_id, "", material, _words(look.labels), recorded=not visit.admission.preview
    )


def list_questions(tx: Transaction, asker: Asker) -> list[str]:
    """Questions that the pages answer, for whoever does not know what to ask."""
    return recommend(tx, asker.material(tx), asker.words)


def answer_question(context: Context, asker: Asker, look: Look, question: Question) -> Iterator[AnsweredView]:
    """The answer as it grows; the last one is complete."""
    for found in ask(context, asker, question.text, question.before):
        yield _present(found, look, question)


def _words(labels: Labels) -> AnswerWords:
    return AnswerWords(
        no_model=labels.ask_no_model,
        no_reply=labels.ask_no_reply,
        fits=labels.ask_fits,
        near=labels.ask_near,
        nothing=labels.ask_nothing,
        about=labels.ask_about,
    )


def _present(found: Answer, look: Look, question: Question) -> AnsweredView:
    plain = Document([_without_headings(block) for block in found.document.nodes])
    html = render(plain, Drawing(labels=look.labels, anchors=False)).body
    # Quoted passages have their titles above them already.
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
    """Headings as bold paragraphs: those of the page around it are of another text, and have ids of their own."""
    nodes = [_without_headings(node) if isinstance(node, Block) else node for node in block.nodes]
    if not block.type.startswith("heading-"):
        return replace(block, nodes=nodes)
    return Block("paragraph", {}, [_bold(node) for node in nodes])


def _bold(node: Block | Inline | Text | Fragment) -> Block | Inline | Text:
    assert not isinstance(node, Fragment), "these are no children"
    if not isinstance(node, Text):
        return node
    bold = Mark("bold")
    return Text([Leaf(leaf.text, [*(m for m in leaf.marks if m != bold), bold]) for leaf in node.leaves])


# --- questions of programs --------------------------------------------------------------------------------


def asks(query_string: bytes) -> bool:
    """Whether a query asks a question of the page that it is put behind."""
    return _ASKS.search(query_string) is not None


def read_asked(query_string: bytes) -> Question:
    """The question in ``ask``, with what it is asked for in ``goal``. Raises BadRequest."""
    try:
        fields = parse_qs(query_string.decode("latin-1"), keep_blank_values=True, max_num_fields=50)
    except ValueError:
        raise BadRequest("ask: more fields than a question has") from None
    return checked_question(fields.get("ask", [""])[0], fields.get("goal", [""])[0])


def checked_question(asked: str, goal: str) -> Question:
    """A program's question. ``goal``: what it wants to do with the answer, which is taken for what was said before.
    Raises BadRequest."""
    for name, text in (("ask", asked), ("goal", goal)):
        if len(text) > MAX_QUESTION or "\0" in text:
            raise BadRequest(f"{name}: expected at most {MAX_QUESTION} characters of text")
    if not asked.strip():
        raise BadRequest("ask: expected a question")
    return Question(asked.strip(), (goal.strip(),) if goal.strip() else ())


class WrittenAnswer(NamedTuple):
    """An answer in Markdown. ``sources``: titles and addresses of the sections that it rests on; ``followups``: what
    else could be asked."""

    question: str
    markdown: str
    sources: list[tuple[str, str]]
    followups: list[str]

    @property
    def text(self) -> str:
        """All of it in one text."""
        parts = [f"# {self.question}", self.markdown]
        if self.sources:
            lines = (f"{number}. {title}: {url}" for number, (title, url) in enumerate(self.sources, 1))
            parts += ["## Sources", "\n".join(lines)]
        if self.followups:
            parts += ["## What else could be asked", "\n".join(f"- {one}" for one in self.followups)]
        return "\n\n".join(parts) + "\n"


def answer_in_markdown(context: Context, asker: Asker, question: Question, visit: SiteVisit) -> WrittenAnswer:
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
    """Server-sent events, each with the HTML of the answer so far, and the last one saying whether it is complete."""
    try:
        for part in parts:
            yield b"data: " + msgspec.json.encode(part) + b"\n\n"
    except OctavoError:
        yield FAILED
        return
    yield b"event: done\ndata: {}\n\n"
