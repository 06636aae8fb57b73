"""Helpers shared by all document renderers: safe access to external values, and short pieces of text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import Any
from unicodedata import category

from .markup import MOST_CELLS, SPANS, WRAPPERS, Places, words_of
from .nodes import Block, Data, Fragment, Inline, Text, plain_text, walk

COLORS = {
    name: name.strip("$")
    for name in "green blue red orange yellow purple $primary $info $success $warning $danger".split()
}


_SIGNS_OF_EMOJI = {"So", "Sk", "Sm", "Mn", "Me", "Cf"}
"""Unicode general categories of the characters in emoji, except for ``_OTHER_SIGNS``."""
_OTHER_SIGNS = "#*0123456789ℹ〰‼⁉"


def emoji(code: object) -> str:
    """Return the characters of an emoji, given as characters or as code points (``1f1e9-1f1ea``); an empty string for
    other text.

    >>> emoji("2705"), emoji("✅")
    ('✅', '✅')
    """
    if not isinstance(code, str):
        return ""
    if re.fullmatch(r"[0-9a-fA-F]{2,6}(-[0-9a-fA-F]{2,6}){0,15}", code):
        points = [int(part, 16) for part in code.split("-")]
        if any(p > 0x10FFFF or 0xD800 <= p <= 0xDFFF or p < 0x20 for p in points):
            return ""
        return "".join(map(chr, points))
    is_emoji = (
        len(code) <= 16
        and not code.isascii()
        and all(category(sign) in _SIGNS_OF_EMOJI or sign in _OTHER_SIGNS for sign in code)
    )
    return code if is_emoji else ""


def text_of(data: Data, field: str) -> str | None:
    """Return a value if it is a string; otherwise, None. External documents can contain any value in any field."""
    value = data.get(field)
    return value if isinstance(value, str) else None


def object_of(data: Data, field: str) -> Data:
    value = data.get(field)
    return value if isinstance(value, dict) else {}


def one_of(value: object, choices: Sequence[str], default: str | None = None) -> str | None:
    return value if isinstance(value, str) and value in choices else default


def number_of(value: object, most: float = 10_000) -> int | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= most:
        return None
    return int(value)


def size_text(count: int) -> str:
    amount = float(count)
    for unit in ("B", "KB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" or amount >= 100 else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


def date_text(text: str) -> str:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return text
    return f"{day.day} {day:%B} {day.year}"


def only_paragraph(nodes: Sequence[object]) -> list[Any]:
    """Return the content of the paragraph if the nodes are a single plain paragraph; otherwise, return the nodes
    unchanged."""
    paragraphs = [n for n in nodes if isinstance(n, Block) and n.type == "paragraph"]
    if len(paragraphs) != 1 or nodes[0] is not paragraphs[0] or paragraphs[0].data.get("align"):
        return list(nodes)
    return [*paragraphs[0].nodes, *nodes[1:]]


def line_text(line: Block) -> str:
    """Return the text of a code line for the highlighter, without expressions."""
    parts: list[str] = []
    for node in line.nodes:
        if isinstance(node, Text):
            parts.extend(leaf.text for leaf in node.leaves)
        elif isinstance(node, Inline) and node.type == "annotation":
            parts.extend(leaf.text for n in node.nodes if isinstance(n, Text) for leaf in n.leaves)
    return "".join(parts)


def block_text(block: Block) -> str:
    if block.type == "code":
        return "\n".join(line_text(n) for n in block.nodes if isinstance(n, Block))
    return plain_text(block)


_TAGS_ALONE = re.compile(
    rf"(?:\s*</?(?:p|br|span|details|figure|{'|'.join(sorted(WRAPPERS))})(?:\s[^<>]*)?>)*\s*\Z", re.I
)


_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


def without_comments(html: str) -> str:
    return _COMMENT.sub("", html) if "<!--" in html else html


def inert_text(block: Block) -> str:
    """Return the visible source of a block that no node type represents. The result doesn't include tags that only
    contain other blocks or were never closed, comments, or text that was nested too deeply to be parsed and may contain
    conditions. Other text and HTML are unchanged."""
    source = without_comments(text_of(block.data, "source") or "")
    if block.data.get("kind") == "text" and "{%" in source:
        return ""
    if block.data.get("kind") not in ("html", "text") or block.data.get("end") or _TAGS_ALONE.match(source):
        return ""
    return source.strip("\n")


def value_text(value: object) -> str:
    """Return the value of an expression as text for readers."""
    if value is None or isinstance(value, (dict, list, tuple, set)):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)


def merged_cells(
    block: Block, names: Sequence[str], records: Sequence[Data]
) -> tuple[Places, set[tuple[int, int]]]:
    """Return the number of columns and rows that each cell of a table spans, by position (record, column),
    if the covered cells are empty. Also return the positions of the covered cells. The header is record -1."""
    given = block.data.get("attributes")
    if not isinstance(given, dict) or not any(name.startswith(SPANS) for name in given):
        return {}, set()
    empty = {cell.fragment for cell in block.fragments if all(map(_is_empty, cell.nodes))}
    values = [dict(zip(names, names, strict=True)), *(object_of(record, "values") for record in records)]
    merged: Places = {}
    covered: set[tuple[int, int]] = set()

    def is_free(y: int, x: int) -> bool:
        if (y, x) in covered or x >= len(names):
            return False
        if y < 0:
            return not text_of(object_of(object_of(block.data, "definition"), names[x]), "title")
        return y < len(records) and values[y + 1].get(names[x]) in empty

    for y, row in enumerate(values, -1):
        for x, name in enumerate(names):
            cell = row.get(name)
            across, down = (_number_in(given.get(f"{span}-{cell}")) for span in SPANS)
            if (across > 1 or down > 1) and (y, x) not in covered and down * across <= MOST_CELLS:
                reached = [(y + dy, x + dx) for dy in range(down) for dx in range(across) if dy or dx]
                if all(is_free(*place) for place in reached) and (y >= 0 or down == 1):
                    merged[y, x] = across, down
                    covered.update(reached)
    return merged, covered


def _is_empty(block: Block) -> bool:
    return (
        block.type == "paragraph"
        and all(isinstance(node, Text) for node in block.nodes)
        and not words_of(block)
    )


def _number_in(value: object) -> int:
    return int(value) if isinstance(value, str) and re.fullmatch(r"[1-9]\d{0,4}", value) else 1


def shown_words(node: Block | Inline | Fragment) -> str:
    """Return the text inside a node as readers see it, for titles and IDs."""
    parts: list[str] = []
    for here in walk(node):
        if isinstance(here, Text):
            parts.extend(leaf.text for leaf in here.leaves)
        elif isinstance(here, Inline):
            if here.type == "emoji":
                parts.append(emoji(here.data.get("code")))
            elif here.type == "inline-math":
                parts.append(text_of(here.data, "formula") or "")
    return " ".join("".join(parts).split())


def title_and_body(block: Block) -> tuple[list[Block], list[Block]]:
    """Return the nodes of an expandable's title and body."""
    found: dict[str, list[Block]] = {"expandable-title": [], "expandable-body": []}
    for fragment in block.fragments:
        if fragment.fragment in found:
            found[fragment.fragment] += fragment.nodes
    return found["expandable-title"], found["expandable-body"]


def table_parts(block: Block) -> tuple[list[tuple[str, Data]], list[Data], dict[str, Fragment]]:
    """Return the visible columns of a table (ID, definition), its records in order, and its content cells
    by ID."""
    view, definition = object_of(block.data, "view"), object_of(block.data, "definition")
    columns = view.get("columns")
    names = [c for c in columns if isinstance(c, str)] if isinstance(columns, list) else list(definition)
    records = [r for r in object_of(block.data, "records").values() if isinstance(r, dict)]
    records.sort(key=lambda r: str(r.get("orderIndex", "")))
    shown = [(name, object_of(definition, name)) for name in names if name in definition]
    return shown, records, {f.fragment: f for f in block.fragments}


def chosen_options(column: Data, value: object) -> list[tuple[str, str | None]]:
    """Return the label and color of each option in a cell of a select column. If a value has no option, the value
    itself is the label. An unknown color is None."""
    given = column.get("options")
    options: dict[str, Data] = {
        o["value"]: o
        for o in (given if isinstance(given, list) else ())
        if isinstance(o, dict) and isinstance(o.get("value"), str)
    }
    chosen: list[tuple[str, str | None]] = []
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, str):
            option = options.get(one, {})
            color = (text_of(option, "color") or "").lower().lstrip("$")
            chosen.append((text_of(option, "label") or one, color if color in COLORS.values() else None))
    return chosen
