"""Extract a document's plain text, its outline, and its sections for search."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from .anchors import Conditions, flow, ids_in_flow, inline_text
from .nodes import Block, Document
from .parts import inert_text


class Heading(Struct, frozen=True):
    """Entry of an outline. ``level``: 1 to 3. ``id``: the heading's ID, which is unique on the page."""

    id: str
    level: int
    title: str
    key: str | None


class Section(Struct, frozen=True):
    """Part of a page: its heading (None before the first heading) and text under that heading with the same
    ``conditions``. Titles of linked pages aren't part of the text, because not everyone can see them. ``names``: the
    identifiers of the documented objects. Readers can search for them but don't see them."""

    id: str | None
    title: str
    text: str
    conditions: Conditions = ()
    names: tuple[str, ...] = ()


def outline(document: Document) -> list[Heading]:
    """Return the headings in reading order, including those inside tabs, steps, and similar blocks."""
    nodes = list(flow(document))
    ids = ids_in_flow(nodes)
    return [
        Heading(ids[id(node)], int(node.type[-1]), inline_text(node).strip(), node.key)
        for node, _ in nodes
        if _is_heading(node)
    ]


def to_text(document: Document) -> str:
    """Return the document as plain text, one block per line."""
    lines = [_line(node) for node, _ in flow(document) if isinstance(node, Block)]
    return "\n".join(line for line in lines if line)


class _Part:
    """Section that is still being built. ``under``: the conditions of its heading."""

    def __init__(self, anchor: str | None, title: str, under: Conditions) -> None:
        self.anchor, self.title, self.under = anchor, title, under
        self.lines: dict[Conditions, list[str]] = {under: []} if anchor is not None else {}
        self.names: list[str] = []

    def sections(self) -> Iterator[Section]:
        for conditions, lines in self.lines.items():
            yield Section(self.anchor, self.title, "\n".join(lines), conditions, tuple(self.names))


def sections(document: Document) -> list[Section]:
    """Split the document at its headings for search: each section has the text down to the next heading, and text with
    different conditions is a separate section. Text after a conditional block belongs to the heading before the block,
    because visitors who don't see the block were reading the section of that heading."""
    nodes = list(flow(document))
    ids = ids_in_flow(nodes)
    parts = [_Part(None, "", ())]
    stack = [parts[0]]
    for node, standing in nodes:
        if not isinstance(node, Block):
            continue
        conditions = standing.conditions
        while conditions[: len(stack[-1].under)] != stack[-1].under:
            stack.pop()
        if _is_heading(node):
            part = _Part(ids[id(node)], inline_text(node, mentions=False).strip(), conditions)
            if stack[-1].under == conditions:
                stack.pop()
            stack.append(part)
            parts.append(part)
        elif line := _line(node, mentions=False):
            stack[-1].names += node.data.get("names", ())
            stack[-1].lines.setdefault(conditions, []).append(line)
    return [section for part in parts for section in part.sections()]


_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|\w+(?:['\u2019-]\w+)*")


def word_count(document: Document) -> int:
    """Return the number of words. A CJK character counts as one word."""
    return sum(1 for _ in _WORD.finditer(to_text(document)))


def _is_heading(node: object) -> bool:
    return isinstance(node, Block) and node.type.startswith("heading-")


_SAID = {
    "math": "formula",
    "tabs-item": "title",
    "prompt": "description",
    "embed": "url",
    "content-ref": "label",
}


def _line(node: Block, *, mentions: bool = True) -> str:
    """Return the text of a block itself, without its nested blocks. ``mentions``: whether to include the
    labels of mentions."""
    if node.type == "content-ref" and not mentions:
        return ""
    if node.type in ("paragraph", "code-line") or _is_heading(node):
        text = inline_text(node, mentions=mentions)
        return text if node.type == "code-line" else " ".join(text.split())
    if node.type == "table":
        if node.data.get("view", {}).get("type") == "cards":
            return ""  # cards show the values of columns without the column titles
        return " ".join(
            column["title"] for column in node.data.get("definition", {}).values() if column["title"]
        )
    if node.type == "image":
        return str(node.data.get("alt", ""))
    if node.type == "unknown":
        return " ".join(re.sub(r"<[^>]*>", " ", inert_text(node)).split())
    return str(node.data.get(_SAID.get(node.type, ""), ""))
