"""Translatable text segments in a document.

A segment is the content of one block, such as a paragraph, a heading, or a table cell. Everything in it other than
words becomes numbered tags: ``<1>around text</1>`` for marks, links, and notes, ``<2/>`` for code, expressions,
images, and other content that must not change. A translation is accepted only if it has the same tags, properly
nested. Therefore, only the text of a document changes, whether a person or a model translates it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from octavo.core.document.anchors import place_ids
from octavo.core.document.nodes import Block, Document, Fragment, Inline, Leaf, Text
from octavo.core.json_types import JsonObject

_TAG = re.compile(r"<(/?)(\d{1,4})(/?)>")
_ESCAPED = re.compile(r"&(amp|lt|gt);")
_SIGNS = {"amp": "&", "lt": "<", "gt": ">"}
_PLACEHOLDER = re.compile(r"\{\{[^{}]*\}\}|\{%[^{}]*%\}|\$?\{[\w.-]+\}|%(?:\(\w+\))?[sd]\b|https?://[^\s<>]+")
_LETTER = re.compile(r"[^\W\d_]")
_CLOSED = frozenset(
    [
        "code",
        "prompt",
        "unknown",
        "math",
        "swagger",
        "openapi-operation",
        "openapi-schemas",
        "openapi-webhook",
        "integration",
        "embed",
    ]
)
"""Blocks whose text can't be translated or isn't stored in the document."""
_FIELDS = {"tabs-item": "title", "image": "alt", "content-ref": "label"}
"""Fields of block data that contain translatable text, by block type."""

Nodes = list[Any]


class TextSegment(Struct):
    """Translatable text in a document, with inline formatting represented by tags. ``replace``: a function that
    replaces the text in the document."""

    text: str
    replace: Callable[[str], bool]

    def put(self, translated: str) -> bool:
        """Insert a translation. If its tags or placeholders differ from those of the original, change nothing and
        return False."""
        return _find_fixed(translated) == _find_fixed(self.text) and self.replace(translated)


def _find_fixed(text: str) -> list[str]:
    """Return the machine-readable parts of a segment, such as placeholders and URLs, in no particular order."""
    return sorted(_PLACEHOLDER.findall(text))


def segments(document: Document) -> list[TextSegment]:
    """Return the text segments in a document, in reading order, except segments without words. Heading anchors are
    kept, so that links to headings keep working."""
    anchors = place_ids(document)
    found: list[TextSegment] = []
    for block in _blocks(document):
        field = _FIELDS.get(block.type)
        if field is not None and isinstance(block.data.get(field), str):
            found.append(_of_data(block, field))
        if block.type == "table":
            found += [_of_column(column) for column in _columns(block)]
        if any(isinstance(node, (Text, Inline)) for node in block.nodes):
            is_heading = block.type.startswith("heading-")
            found.append(_of_nodes(block, anchors.get(id(block)) if is_heading else None))
    return [segment for segment in found if _LETTER.search(strip_tags(segment.text))]


def _blocks(document: Document) -> Iterator[Block]:
    waiting: list[Any] = list(reversed(document.nodes))
    while waiting:
        node = waiting.pop()
        if isinstance(node, Block):
            if node.type in _CLOSED:
                continue
            yield node
        below = [*node.nodes, *([] if isinstance(node, Fragment) else node.fragments)]
        waiting.extend(child for child in reversed(below) if not isinstance(child, Text))


def mark_edited(document: Document) -> None:
    """Mark all blocks to be written again, because their text may have changed."""
    for block in document.nodes:
        block.source = None


def _of_data(block: Block, field: str) -> TextSegment:
    def put(translated: str) -> bool:
        block.data = {**block.data, field: _line(translated)}
        return True

    return TextSegment(_escape(block.data[field]), put)


def _columns(table: Block) -> list[JsonObject]:
    return [column for column in table.data.get("definition", {}).values() if column.get("title")]


def _of_column(column: JsonObject) -> TextSegment:
    def put(translated: str) -> bool:
        column["title"] = _line(translated)
        return True

    return TextSegment(_escape(column["title"]), put)


def _line(translated: str) -> str:
    return " ".join(_unescape(_TAG.sub("", translated)).split())


def _of_nodes(block: Block, anchor: str | None) -> TextSegment:
    parts: list[Any] = []
    text = _serialize(block.nodes, parts)

    def put(translated: str) -> bool:
        made = _rebuild(translated, parts)
        if made is None:
            return False
        block.nodes = made
        if anchor is not None:
            block.data = {**block.data, "id": anchor}
        return True

    return TextSegment(text, put)


def _serialize(nodes: Nodes, parts: list[object]) -> str:
    """Return the text of nodes with numbered tags, and append what each tag represents to ``parts``."""
    out: list[str] = []
    for node in nodes:
        if isinstance(node, Text):
            for leaf in node.leaves:
                if not leaf.marks:
                    out.append(_escape(leaf.text))
                    continue
                parts.append(leaf)
                number = len(parts)
                tagged = f"<{number}>{_escape(leaf.text)}</{number}>"
                out.append(tagged if _has_text(leaf) else f"<{number}/>")
            continue
        parts.append(node)
        number = len(parts)
        if isinstance(node, Inline) and node.type in ("link", "annotation") and node.nodes:
            out.append(f"<{number}>{_serialize(node.nodes, parts)}</{number}>")
        else:
            out.append(f"<{number}/>")
    return "".join(out)


def _rebuild(translated: str, parts: Sequence[object]) -> Nodes | None:
    """Return the nodes of a translation; None unless it contains each tag exactly once, with the original kind and
    nesting."""
    stack: list[tuple[int, Nodes]] = [(0, [])]
    seen: set[int] = set()
    at = 0
    for match in _TAG.finditer(translated):
        _add_text(stack[-1][1], translated[at : match.start()])
        at = match.end()
        number = int(match[2])
        if match[1]:
            if match[3] or stack[-1][0] != number:
                return None
            _, inside = stack.pop()
            stack[-1][1].append(_wrap_nodes(parts[number - 1], inside))
            if stack[-1][1][-1] is None:
                return None
            continue
        if not 0 < number <= len(parts) or number in seen:
            return None
        seen.add(number)
        part = parts[number - 1]
        if bool(match[3]) == _has_text(part):
            return None
        if match[3]:
            stack[-1][1].append(Text([part]) if isinstance(part, Leaf) else part)
        else:
            stack.append((number, []))
    _add_text(stack[0][1], translated[at:])
    if len(stack) != 1 or len(seen) != len(parts):
        return None
    return _merge_texts(stack[0][1])


def _has_text(part: object) -> bool:
    if isinstance(part, Leaf):
        kept = any(mark.type in ("code", "keyboard") for mark in part.marks)
        return not kept and bool(part.text.strip())
    return isinstance(part, Inline) and part.type in ("link", "annotation") and bool(part.nodes)


def _wrap_nodes(part: Any, inside: Nodes) -> object:
    """Return this part with its content replaced by these nodes; None if it can't contain them."""
    if isinstance(part, Inline):
        return Inline(part.type, part.data, _merge_texts(inside), part.fragments, part.key)
    if any(not isinstance(node, Text) or len(node.leaves) > 1 or node.leaves[0].marks for node in inside):
        return None
    text = "".join(leaf.text for node in inside for leaf in node.leaves)
    return Text([Leaf(text, part.marks)]) if text.strip() else None


def _add_text(nodes: Nodes, text: str) -> None:
    if text:
        nodes.append(Text([Leaf(_unescape(text))]))


def _merge_texts(nodes: Nodes) -> Nodes:
    """Merge adjacent text nodes, as the Markdown parser does."""
    found: Nodes = []
    for node in nodes:
        if isinstance(node, Text) and found and isinstance(found[-1], Text):
            leaves = list(found[-1].leaves)
            for leaf in node.leaves:
                if leaves and leaves[-1].marks == leaf.marks and not leaf.marks:
                    leaves[-1] = Leaf(leaves[-1].text + leaf.text)
                else:
                    leaves.append(leaf)
            found[-1] = Text(leaves)
        else:
            found.append(node)
    return found


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _unescape(text: str) -> str:
    return _ESCAPED.sub(lambda match: _SIGNS[match[1]], text)


def strip_tags(text: str) -> str:
    """Return the words of a text, without tags and machine-readable parts.

    >>> strip_tags("Now <1>open</1> https://example.com/login {name}")
    'Now open  '"""
    return _unescape(_PLACEHOLDER.sub("", _TAG.sub("", text)))


def abbreviate_tags(text: str) -> str:
    """Return text for display, with untranslatable parts replaced with ``…``.

    >>> abbreviate_tags("Run <1/> in <2>the &lt;root&gt;</2>.")
    'Run … in the <root>.'"""
    return _unescape(_TAG.sub(lambda tag: "…" if tag[3] else "", text))
