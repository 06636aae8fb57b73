"""What a document says: plain text, its outline, its sections for search."""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct

from ..free_names import free_name
from .nodes import Block, Document, Fragment, Inline, Text, children
from .parts import inert_text

_DROP = re.compile(r"[^\w\- ]+")


class Heading(Struct, frozen=True):
    """One entry of an outline: ``level`` 1 to 3, ``id`` unique on the page."""

    id: str
    level: int
    title: str
    key: str | None


class Section(Struct, frozen=True):
    """A part of a page: its heading (None before the first one) and the text under it."""

    id: str | None
    title: str
    text: str


def slug(title: str) -> str:
    """The anchor of a heading, as GitHub makes it: lower case, punctuation dropped, spaces as hyphens."""
    return _DROP.sub("", title.strip().lower()).replace(" ", "-")


def heading_ids(document: Document) -> dict[int, str]:
    """``id(block)`` of every heading to its anchor: the fixed one, else its slug, numbered when taken."""
    headings = [node for node in _flow(document) if _is_heading(node)]
    fixed = {node.data["id"] for node in headings if node.data.get("id")}
    taken: set[str] = set()
    found: dict[int, str] = {}
    for node in headings:
        name = node.data.get("id")
        if not name:
            name = free_name(slug(_said(node)) or "section", lambda other: other in taken or other in fixed)
        taken.add(name)
        found[id(node)] = name
    return found


def outline(document: Document) -> list[Heading]:
    """The headings in reading order, those inside tabs, steps and the like included."""
    ids = heading_ids(document)
    return [
        Heading(ids[id(node)], int(node.type[-1]), _said(node).strip(), node.key)
        for node in _flow(document)
        if _is_heading(node)
    ]


def to_text(document: Document) -> str:
    """The document as plain text, one block a line."""
    lines = [_line(node) for node in _flow(document)]
    return "\n".join(line for line in lines if line)


def sections(document: Document) -> list[Section]:
    """The document cut at its headings, for search: each with the text down to the next heading."""
    ids = heading_ids(document)
    found: list[Section] = []
    anchor: str | None = None
    title = ""
    lines: list[str] = []
    for node in _flow(document):
        if _is_heading(node):
            if anchor is not None or lines:
                found.append(Section(anchor, title, "\n".join(lines)))
            anchor, title, lines = ids[id(node)], _said(node).strip(), []
        elif line := _line(node):
            lines.append(line)
    if anchor is not None or lines:
        found.append(Section(anchor, title, "\n".join(lines)))
    return found


_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|\w+(?:['\u2019-]\w+)*")


def word_count(document: Document) -> int:
    """Words of the text; a CJK character counts as one."""
    return sum(1 for _ in _WORD.finditer(to_text(document)))


def _is_heading(node: Any) -> bool:
    return isinstance(node, Block) and node.type.startswith("heading-")


def _flow(document: Document) -> list[Any]:
    """Every block in reading order, footnotes after the block that refers to them."""
    found: list[Any] = []
    stack: list[Any] = list(reversed(document.nodes))
    while stack:
        node = stack.pop()
        if isinstance(node, Block):
            found.append(node)
        below = children(node)
        if isinstance(node, Block) and node.type == "table":
            below = _cells(node)
        stack.extend(child for child in reversed(below) if not isinstance(child, Text))
    return found


def _cells(table: Block) -> list[Fragment]:
    """The fragments of a table, row by row as they are shown."""
    order: dict[str, tuple[str, int]] = {}
    columns = {name: at for at, name in enumerate(table.data.get("definition", {}))}
    for record in table.data.get("records", {}).values():
        for column, value in record.get("values", {}).items():
            if isinstance(value, str):
                order[value] = (record["orderIndex"], columns.get(column, 0))
    return sorted(table.fragments, key=lambda fragment: order.get(fragment.fragment, ("~", 0)))


_SAID = {
    "math": "formula",
    "tabs-item": "title",
    "prompt": "description",
    "embed": "url",
    "content-ref": "label",
}


def _line(node: Block) -> str:
    """The text the block itself says, without the blocks below it."""
    if node.type in ("paragraph", "code-line") or _is_heading(node):
        return _said(node) if node.type == "code-line" else " ".join(_said(node).split())
    if node.type == "table":
        return " ".join(
            column["title"] for column in node.data.get("definition", {}).values() if column["title"]
        )
    if node.type == "image":
        return str(node.data.get("alt", ""))
    if node.type == "unknown":
        return " ".join(re.sub(r"<[^>]*>", " ", inert_text(node)).split())
    return str(node.data.get(_SAID.get(node.type, ""), ""))


def _said(node: Any) -> str:
    """The text of a block's inline nodes."""
    parts: list[str] = []
    stack = [child for child in reversed(node.nodes) if not isinstance(child, Block)]
    while stack:
        child = stack.pop()
        if isinstance(child, Text):
            parts.extend(leaf.text for leaf in child.leaves)
            continue
        parts.append(_inline_text(child))
        stack.extend(reversed(child.nodes))
    return "".join(parts)


def _inline_text(node: Inline) -> str:
    data = node.data
    if node.type == "emoji":
        try:
            return "".join(chr(int(part, 16)) for part in str(data["code"]).split("-"))
        except (ValueError, OverflowError):
            return ""
    if node.type == "inline-math":
        return str(data["formula"])
    if node.type in ("button", "mention"):
        return str(data.get("label", ""))
    if node.type == "inline-image":
        return str(data.get("alt", ""))
    return ""
