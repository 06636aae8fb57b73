"""Compose answers from passages. Either a model writes the answer, or the answer quotes the passages.

A model's output is treated as untrusted content: it becomes nodes, of which only text, lists, code, and similar
content are kept. Its links lead only to the passages, so a manipulated answer can't send readers to other sites or
leak data.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from octavo.assistants.models.calling import Model, as_data
from octavo.assistants.models.provider import ModelMessage
from octavo.core.document.nodes import Block, Document, Inline, Leaf, Mark, Text, plain_text
from octavo.core.document.reader import read
from octavo.core.languages import differ
from octavo.core.sentences import shorten
from octavo.errors import OctavoError
from octavo.kit.scheduling.deadlines import DeadlineExceeded

from .retrieving import ENOUGH, Passage

MAX_FOLLOWUPS = 3
_EVERY = 0.25
"""Minimum number of seconds between two versions of an answer while it is being written."""
_QUOTED = 3
_NOTHING = "NO ANSWER"
_CITATION = re.compile(r"\[(\d{1,2})\]")
_MAX_ANSWER = 20_000

_BLOCKS = frozenset(
    [
        "paragraph",
        "heading-1",
        "heading-2",
        "heading-3",
        "list-ordered",
        "list-unordered",
        "list-item",
        "blockquote",
        "code",
        "code-line",
        "divider",
    ]
)
_TASK = (
    "Answer the reader's question using only the numbered passages. Cite each passage you use by its number in"
    " brackets, like [2], after the statement it supports. Answer in the language of the question, in Markdown,"
    f" briefly. If the passages do not answer the question, say exactly: {_NOTHING}"
)
_URGING = " Important: the last answer wasn't in the language of the question."
_FOREIGN = "the answer isn't in the language of the question"


class AnswerWords(Struct, frozen=True):
    """Text that Octavo adds to an answer, in the language of the person who asks. ``about``: the template for a
    question about ``{title}``."""

    no_model: str
    no_reply: str
    fits: str
    near: str
    nothing: str
    about: str


ENGLISH = AnswerWords(
    no_model="No language model is configured, so there is no summary.",
    no_reply="The language model didn't respond, so there is no summary.",
    fits="These sections of the documentation best match your question.",
    near="No section answers this question directly. These sections of the documentation come closest.",
    nothing="Nothing in the documentation you have access to answers this question.",
    about="What should I know about “{title}”?",
)


class ComposedAnswer(Struct, frozen=True):
    """Answer composed from passages. ``cited``: the passages on which the answer is based. ``is_good``: whether it
    answers the question. ``written``: the document that a model wrote. It refers to passages by their number in
    ``cited``, starting at 1. ``given``: all passages that were found. A model can use them without citing them, and the
    follow-up questions contain their titles."""

    document: Document
    cited: tuple[Passage, ...]
    followups: tuple[str, ...]
    is_good: bool
    given: tuple[Passage, ...]
    written: bool = False


class AskedQuestion(Struct, frozen=True):
    """Question, with the earlier questions that provide its context."""

    question: str
    before: Sequence[str]


def answer(
    asked: AskedQuestion, passages: Sequence[Passage], model: Model | None, words: AnswerWords = ENGLISH
) -> Iterator[ComposedAnswer]:
    """Yield the answer as it grows. The last version is complete. If there is no model, or if the model fails, the
    answer quotes passages."""
    if model is None:
        yield _quote_passages(passages, words, words.no_model)
        return
    if not any(passage.covers > 0 for passage in passages):
        yield _quote_passages([], words, "")
        return
    try:
        yield from _write_answer(asked, passages, model, words)
    except (OctavoError, DeadlineExceeded):
        # The model call log has the reason; the reader can't do anything about it.
        yield _quote_passages(passages, words, words.no_reply)


def _write_answer(
    asked: AskedQuestion, passages: Sequence[Passage], model: Model, words: AnswerWords
) -> Iterator[ComposedAnswer]:
    def judge(written: str) -> str | None:
        return _FOREIGN if _is_foreign(asked, written, model) else None

    written, shown = "", time.monotonic()
    for urging in ("", _URGING):
        written = ""
        for piece in model.stream("ask", _messages(asked, passages, urging), judge=judge):
            written += piece
            if len(written) > _MAX_ANSWER:
                break
            if time.monotonic() - shown > _EVERY and not _NOTHING.startswith(
                written.strip()[: len(_NOTHING)]
            ):
                shown = time.monotonic()
                yield _build_answer(passages, written, words)
        if judge(written) is None:
            break
    if _NOTHING in written[:200] or not written.strip():
        yield _quote_passages([], words, "")
        return
    yield _build_answer(passages, written, words)


def _is_foreign(asked: AskedQuestion, written: str, model: Model) -> bool:
    """Return whether an answer is in a different language than its question. Return False if the organization has
    instructions for the model, because the instructions may request another language."""
    return not model.instructions and _NOTHING not in written[:200] and differ(asked.question, written)


def _messages(asked: AskedQuestion, passages: Sequence[Passage], urging: str) -> list[ModelMessage]:
    material = [
        f"[{number}] {passage.full_title}\n{passage.text}" for number, passage in enumerate(passages, 1)
    ]
    question = [*(f"Asked before: {earlier}" for earlier in asked.before), f"The question: {asked.question}"]
    prompt = f"{as_data(chr(10).join(material))}\n\n{as_data(chr(10).join(question))}"
    return [ModelMessage("system", f"{_TASK}{urging}"), ModelMessage("user", prompt)]


def _build_answer(passages: Sequence[Passage], written: str, words: AnswerWords) -> ComposedAnswer:
    numbers = [number for number in _CITATION.findall(written) if 0 < int(number) <= len(passages)]
    cited = tuple(dict.fromkeys(passages[int(number) - 1] for number in numbers))
    links = {}
    for number in numbers:
        passage = passages[int(number) - 1]
        # Numbers refer to the passages that readers see, not to those the model received.
        links[number] = (f"[{cited.index(passage) + 1}]", passage.address)
    document = sanitize_document(read(written[:_MAX_ANSWER]), links)
    followups = _suggest_followups(passages, cited, words)
    return ComposedAnswer(document, cited, followups, True, tuple(passages), written=True)


def _quote_passages(passages: Sequence[Passage], words: AnswerWords, why: str) -> ComposedAnswer:
    """Return an answer that quotes the best passages. ``why``: an introduction that explains why the answer wasn't
    written by a model."""
    fitting = [passage for passage in passages if passage.covers >= ENOUGH] or [
        passage for passage in passages if passage.covers >= ENOUGH / 2
    ]
    is_good = any(passage.covers >= ENOUGH for passage in fitting)
    if not fitting:
        document = Document([_paragraph(words.nothing)], ["", ""])
        return ComposedAnswer(document, (), _suggest_followups(passages, (), words), False, tuple(passages))
    cited = tuple(fitting[:_QUOTED])
    nodes = [_paragraph(f"{why} {words.fits if is_good else words.near}".strip())]
    for passage in cited:
        nodes.append(Block("paragraph", {}, [_link(passage.full_title, passage.address)]))
        if passage.excerpt:
            nodes.append(Block("blockquote", {}, [_paragraph(passage.excerpt)]))
    followups = _suggest_followups(passages, cited, words)
    return ComposedAnswer(Document(nodes), cited, followups, is_good, tuple(passages))


def _suggest_followups(
    passages: Sequence[Passage], cited: Sequence[Passage], words: AnswerWords
) -> tuple[str, ...]:
    """Return follow-up questions about passages that were found but that the answer doesn't cite."""
    asked = [
        phrase_as_question(passage.heading or passage.title, words)
        for passage in passages
        if passage not in cited
    ]
    return tuple(dict.fromkeys(asked))[:MAX_FOLLOWUPS]


def phrase_as_question(title: str, words: AnswerWords = ENGLISH) -> str:
    """Rephrase a heading as a question.

    >>> phrase_as_question("How to install")
    'How do I install?'
    >>> phrase_as_question("Backups")
    'What should I know about “Backups”?'"""
    title = shorten(title, 120)
    if title.endswith(("?", "？")):
        return title
    if (match := re.match(r"how to (.+)", title, re.I)) is not None:
        return f"How do I {match[1].rstrip('.:')}?"
    return words.about.replace("{title}", title)


# --- nodes --------------------------------------------------------------------------------------------


def _paragraph(text: str) -> Block:
    return Block("paragraph", {}, [Text([Leaf(text)])])


def _link(text: str, url: str) -> Inline:
    return Inline("link", {"ref": {"kind": "url", "url": url}}, [Text([Leaf(text)])])


def sanitize_document(document: Document, citations: Mapping[str, tuple[str, str]]) -> Document:
    """Return a document that a model wrote, reduced to its text and structure. ``[1]`` becomes a link with the text
    and URL in ``citations["1"]``."""
    return Document([_sanitize_block(block, citations) for block in document.nodes])


def _sanitize_block(block: Block, citations: Mapping[str, tuple[str, str]]) -> Block:
    if block.type not in _BLOCKS:
        text = " ".join(filter(None, (plain_text(part).strip() for part in (*block.nodes, *block.fragments))))
        return Block("paragraph", {}, _link_citations(Text([Leaf(text)]), citations) if text else [])
    data = {name: value for name, value in block.data.items() if name in ("syntax", "start")}
    inside: list[Block | Inline | Text] = []
    for node in block.nodes:
        if isinstance(node, Block):
            inside.append(_sanitize_block(node, citations))
        elif isinstance(node, Text):
            inside += [node] if block.type == "code-line" else _link_citations(node, citations)
        else:
            inside += _link_citations(Text([Leaf(plain_text(node))]), citations)
    return Block(block.type, data, _merge_texts(inside))


def _merge_texts(nodes: list[Block | Inline | Text]) -> list[Block | Inline | Text]:
    """Merge adjacent text nodes, as the Markdown parser does."""
    found: list[Block | Inline | Text] = []
    for node in nodes:
        if isinstance(node, Text) and found and isinstance(found[-1], Text):
            found[-1] = Text([*found[-1].leaves, *node.leaves])
        else:
            found.append(node)
    return found


def _link_citations(text: Text, citations: Mapping[str, tuple[str, str]]) -> list[Block | Inline | Text]:
    found: list[Block | Inline | Text] = []
    for leaf in text.leaves:
        marks = [mark for mark in leaf.marks if mark.type in ("bold", "italic", "code", "strikethrough")]
        if any(mark.type == "code" for mark in marks):
            found.append(_text(leaf.text, marks))
            continue
        for at, part in enumerate(_CITATION.split(leaf.text)):
            if at % 2 == 0:
                found += [_text(part, marks)] if part else []
            elif part in citations:
                found.append(_link(*citations[part]))
    return found


def _text(text: str, marks: list[Mark]) -> Text:
    return Text([Leaf(text, marks)])
