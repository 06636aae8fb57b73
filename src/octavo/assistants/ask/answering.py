"""Answers: written by a model out of passages, or the passages themselves, quoted.

What a model says is content like any: it becomes nodes, of which only text, lists, code and the like are kept.
Its links lead to the passages alone, so that nothing it was tricked into saying can lead anybody away or carry
anything out.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from octavo.assistants.models.calling import Model, as_data
from octavo.assistants.models.provider import Message
from octavo.core.document.nodes import Block, Document, Inline, Leaf, Mark, Text, plain_text
from octavo.core.document.reader import read
from octavo.core.languages import differ
from octavo.core.sentences import shorten
from octavo.errors import OctavoError
from octavo.kit.scheduling.deadlines import OutOfTime

from .retrieving import ENOUGH, Passage

MAX_FOLLOWUPS = 3
_EVERY = 0.25
"""Seconds between two states of an answer that is being written."""
_QUOTED = 3
_NOTHING = "NO ANSWER"
_CITATION = re.compile(r"\[(\d{1,2})\]")
_MAX_ANSWER = 20_000

_BLOCKS = frozenset(
    [
        "paragraph", "heading-1", "heading-2", "heading-3", "list-ordered", "list-unordered", "list-item", "blockquote",
        "code", "code-line", "divider",
    ]
)  # fmt: skip
_TASK = (
    "Answer the reader's question with what the numbered passages say, and with nothing else. Name each passage you use"
    " by its number in brackets, like [2], behind what it says. Answer in the language of the question, in Markdown,"
    f" briefly. If the passages do not answer the question, say exactly: {_NOTHING}"
)
_URGING = " Take care: the last answer was in another language than the question."
_FOREIGN = "the answer is in another language than the question"


class AnswerWords(Struct, frozen=True):
    """What an answer says besides passages, in the language of whoever asks. ``about``: asks about ``{title}``."""

    no_model: str
    no_reply: str
    fits: str
    near: str
    nothing: str
    about: str


ENGLISH = AnswerWords(
    no_model="No language model is set here, so nothing is summed up.",
    no_reply="The language model did not answer, so nothing is summed up.",
    fits="These passages of the documentation fit the question best.",
    near="Nothing answers this question as it is put. These passages of the documentation come nearest.",
    nothing="Nothing in the documentation that you can see answers this question.",
    about="What is there to know about “{title}”?",
)


class Answer(Struct, frozen=True):
    """``cited``: the passages that it is made of. ``is_good``: whether the question was answered. ``written``: by a
    model, which names the passages by their numbers in ``cited``, from 1."""

    document: Document
    cited: tuple[Passage, ...]
    followups: tuple[str, ...]
    is_good: bool
    written: bool = False


class Asked(Struct, frozen=True):
    """A question, and what was asked before it."""

    question: str
    before: Sequence[str]


def answer(
    asked: Asked, passages: Sequence[Passage], model: Model | None, words: AnswerWords = ENGLISH
) -> Iterator[Answer]:
    """The answer as it grows; the last one is complete. Without a model, or when it fails, it is quoted."""
    if model is None:
        yield _quoted(passages, words, words.no_model)
        return
    if not any(passage.covers > 0 for passage in passages):
        yield _quoted([], words, "")
        return
    try:
        yield from _written(asked, passages, model, words)
    except (OctavoError, OutOfTime):
        # Why, the log of calls says; a reader cannot do anything about it.
        yield _quoted(passages, words, words.no_reply)


def _written(asked: Asked, passages: Sequence[Passage], model: Model, words: AnswerWords) -> Iterator[Answer]:
    def judge(said: str) -> str | None:
        return _FOREIGN if _is_foreign(asked, said, model) else None

    said, shown = "", time.monotonic()
    for urging in ("", _URGING):
        said = ""
        for piece in model.stream("ask", _messages(asked, passages, urging), judge=judge):
            said += piece
            if len(said) > _MAX_ANSWER:
                break
            if time.monotonic() - shown > _EVERY and not _NOTHING.startswith(said.strip()[: len(_NOTHING)]):
                shown = time.monotonic()
                yield _made_of(passages, said, words)
        if judge(said) is None:
            break
    if _NOTHING in said[:200] or not said.strip():
        yield _quoted([], words, "")
        return
    yield _made_of(passages, said, words)


def _is_foreign(asked: Asked, said: str, model: Model) -> bool:
    """Whether an answer is in another language than its question. The organization's instructions may ask for that."""
    return not model.instructions and _NOTHING not in said[:200] and differ(asked.question, said)


def _messages(asked: Asked, passages: Sequence[Passage], urging: str) -> list[Message]:
    material = [
        f"[{number}] {passage.full_title}\n{passage.text}" for number, passage in enumerate(passages, 1)
    ]
    question = [*(f"Asked before: {earlier}" for earlier in asked.before), f"The question: {asked.question}"]
    said = f"{as_data(chr(10).join(material))}\n\n{as_data(chr(10).join(question))}"
    return [Message("system", f"{_TASK}{urging}"), Message("user", said)]


def _made_of(passages: Sequence[Passage], said: str, words: AnswerWords) -> Answer:
    numbers = [number for number in _CITATION.findall(said) if 0 < int(number) <= len(passages)]
    cited = tuple(dict.fromkeys(passages[int(number) - 1] for number in numbers))
    links = {}
    for number in numbers:
        passage = passages[int(number) - 1]
        # Readers count the passages that they are shown, not those that the model was given.
        links[number] = (f"[{cited.index(passage) + 1}]", passage.address)
    document = harmless(read(said[:_MAX_ANSWER]), links)
    return Answer(document, cited, _followups(passages, cited, words), True, written=True)


def _quoted(passages: Sequence[Passage], words: AnswerWords, why: str) -> Answer:
    """The passages that fit best, word for word."""
    fitting = [passage for passage in passages if passage.covers >= ENOUGH] or [
        passage for passage in passages if passage.covers >= ENOUGH / 2
    ]
    is_good = any(passage.covers >= ENOUGH for passage in fitting)
    if not fitting:
        document = Document([_paragraph(words.nothing)], ["", ""])
        return Answer(document, (), _followups(passages, (), words), False)
    cited = tuple(fitting[:_QUOTED])
    nodes = [_paragraph(f"{why} {words.fits if is_good else words.near}".strip())]
    for passage in cited:
        nodes.append(Block("paragraph", {}, [_link(passage.full_title, passage.address)]))
        if passage.excerpt:
            nodes.append(Block("blockquote", {}, [_paragraph(passage.excerpt)]))
    return Answer(Document(nodes), cited, _followups(passages, cited, words), is_good)


def _followups(passages: Sequence[Passage], cited: Sequence[Passage], words: AnswerWords) -> tuple[str, ...]:
    """What else the passages that were found speak of."""
    asked = [
        as_question(passage.heading or passage.title, words) for passage in passages if passage not in cited
    ]
    return tuple(dict.fromkeys(asked))[:MAX_FOLLOWUPS]


def as_question(title: str, words: AnswerWords = ENGLISH) -> str:
    """A heading as somebody might ask for it.

    >>> as_question("How to install")
    'How do I install?'
    >>> as_question("Backups")
    'What is there to know about “Backups”?'
    """
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


def harmless(document: Document, citations: Mapping[str, tuple[str, str]]) -> Document:
    """Of a document that a model wrote, text and its structure; ``[1]`` becomes the text and the address of
    ``citations["1"]``."""
    return Document([_harmless_block(block, citations) for block in document.nodes])


def _harmless_block(block: Block, citations: Mapping[str, tuple[str, str]]) -> Block:
    if block.type not in _BLOCKS:
        said = " ".join(filter(None, (plain_text(part).strip() for part in (*block.nodes, *block.fragments))))
        return Block("paragraph", {}, _cited(Text([Leaf(said)]), citations) if said else [])
    data = {name: value for name, value in block.data.items() if name in ("syntax", "start")}
    inside: list[Block | Inline | Text] = []
    for node in block.nodes:
        if isinstance(node, Block):
            inside.append(_harmless_block(node, citations))
        elif isinstance(node, Text):
            inside += [node] if block.type == "code-line" else _cited(node, citations)
        else:
            inside += _cited(Text([Leaf(plain_text(node))]), citations)
    return Block(block.type, data, _joined(inside))


def _joined(nodes: list[Block | Inline | Text]) -> list[Block | Inline | Text]:
    """Neighbouring texts as one, as a reader makes them."""
    found: list[Block | Inline | Text] = []
    for node in nodes:
        if isinstance(node, Text) and found and isinstance(found[-1], Text):
            found[-1] = Text([*found[-1].leaves, *node.leaves])
        else:
            found.append(node)
    return found


def _cited(text: Text, citations: Mapping[str, tuple[str, str]]) -> list[Block | Inline | Text]:
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
