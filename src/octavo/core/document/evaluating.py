"""Evaluate documents for a visitor: replace expressions and conditions with their results, and remove content
that is only for authors."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import chain, repeat
from typing import Any

from ..expression_values import ExpressionError
from ..expressions import Shown, is_deterministic
from .guards import hide_unread
from .nodes import Block, Document, Fragment, Inline, Leaf, Replacement, Text, is_plain, walk
from .parts import without_comments
from .reader import MAX_TAGS, read

_OPEN_IF = re.compile(r"\s*\{%-?\s*if\b(.*?)-?%\}\s*\Z", re.DOTALL)


def close_conditions(document: Document) -> Document:
    """Close every unclosed ``{% if %}``, in place. The condition then contains all later nodes at its level, because an
    unclosed condition must not reveal the content that follows it. Content under more than ``MAX_TAGS`` such conditions
    is removed. Content that a misspelled condition was meant to guard is hidden."""
    hide_unread(document)
    stack: list[tuple[Any, int]] = [(document, 0)]
    while stack:
        here, depth = stack.pop()
        for at, node in enumerate(here.nodes):
            if (
                type(node) is Block
                and node.type == "unknown"
                and (expression := _left_open(node)) is not None
            ):
                depth += 1
                rest = here.nodes[at + 1 :] if depth <= MAX_TAGS else []
                here.nodes[at:] = [Block("if", {"expression": expression}, rest)]
                if isinstance(here, Document):
                    del here.gaps[at + 1 : -1]
                break
        for node in here.nodes:
            if isinstance(node, (Block, Inline)) and not is_plain(node):
                stack.append((node, depth))
                stack.extend((fragment, depth) for fragment in node.fragments)
    return document


def _left_open(node: Block) -> str | None:
    if node.data.get("kind") != "tag":
        return None
    match = _OPEN_IF.match(str(node.data.get("source", "")))
    return match[1].strip() if match else None


Change = Callable[[Block | Inline], Replacement | None]
"""Callback that returns the replacement of a node, or None to keep it."""
Decided = Callable[[Block | Inline, bool], None]
"""Callback that is called for each conditional part, with the original condition and whether the part is shown."""


def show_document(document: Document, shown: Shown, decided: Decided | None = None) -> Document:
    """Convert the document, in place, to the version that a visitor sees, and return it. The result is evaluated, and
    has no comments and no definitions that only hidden text refers to. Unchanged blocks keep their source."""
    return _resolve_definitions(replace_nodes(document, lambda node: _seen(node, shown, decided)))


def _seen(node: Block | Inline, shown: Shown, decided: Decided | None = None) -> Replacement | None:
    if node.type == "expression":
        return [Text([Leaf(shown.text(node.data["expression"]))], node.key)]
    if node.type == "if":
        holds = shown.holds(node.data["expression"])
        if decided is not None:
            decided(node, holds)
        return node.nodes if holds else []
    if node.type != "unknown":
        return None
    source = str(node.data.get("source", ""))
    if node.data.get("kind") in ("comment", "definition"):
        return []
    if (bare := without_comments(source)) != source:
        data = {**node.data, "source": bare}
        return [type(node)(node.type, data, node.nodes, node.fragments, node.key)]  # type: ignore[arg-type]
    # Text nested too deeply to be read may contain conditions.
    return [] if node.data.get("kind") == "text" and "{%" in source else None


def _resolve_definitions(document: Document) -> Document:
    """Remove, in place, the definitions between blocks, and resolve the references to these definitions."""
    if not any(gap.strip("\ufeff \t\r\n") for gap in document.gaps):
        return document
    for block in document.nodes:
        if block.source is not None and not _stands_alone(block):
            block.source = None
    last = len(document.gaps) - 1
    document.gaps = [
        ("" if at == 0 else "\n" if at == last else "\n\n") if gap.strip() else gap
        for at, gap in enumerate(document.gaps)
    ]
    return document


def _stands_alone(block: Block) -> bool:
    """Return whether parsing the source of a block by itself produces the same block."""
    assert block.source is not None
    alone = read(block.source)
    return len(alone.nodes) == 1 and _plain(alone.nodes[0]) == _plain(block)


def _plain(block: Block) -> list[object]:
    """Return a block as plain values, without keys."""
    found: list[Any] = []
    for node in walk(block):
        if isinstance(node, Text):
            found.append([(leaf.text, leaf.marks) for leaf in node.leaves])
        elif isinstance(node, Fragment):
            found.append((node.fragment, node.type, len(node.nodes)))
        elif not isinstance(node, Document):
            found.append((node.type, node.data, len(node.nodes), len(node.fragments)))
    return found


def evaluate_document(document: Document, shown: Shown, *, deterministic: bool) -> Document:
    """Evaluate the document in place: an expression becomes its text, and an ``if`` becomes the blocks
    inside it or nothing. An expression that fails produces no text and counts as false.

    ``deterministic``: whether to evaluate only expressions and conditions whose result is the same for every visitor,
    and to leave all other expressions and conditions unchanged.
    """

    def evaluated(node: Block | Inline) -> Replacement | None:
        return _seen(node, shown) if _is_open(node, deterministic) else None

    return replace_nodes(document, evaluated)


def replace_nodes(document: Document, change: Change, *, again: bool = True) -> Document:
    """Replace nodes of the document, in place, with the nodes that ``change`` returns for them. ``again``: whether to
    process the replacements as well. Top-level blocks with a replaced node lose their source."""
    nodes: list[Block] = []
    gaps = document.gaps[:1]
    for top, gap in zip(document.nodes, chain(document.gaps[1:], repeat("")), strict=False):
        found, changed = _replaced([top], change, again)
        if changed:
            for block in found:
                block.source = None
        nodes += found
        if found:
            gaps += [""] * (len(found) - 1) + [gap]
        else:
            # The gaps before and after a removed block are joined.
            gaps[-1:] = [_one_gap(gaps[-1] if gaps else "", gap, first=not nodes)]
    document.nodes, document.gaps = nodes, gaps
    return document


def _one_gap(before: str, after: str, *, first: bool) -> str:
    if before.strip() and after.strip():
        return before + after
    if before.strip() or (first and not after.strip()):
        return before
    return after


def _replaced(nodes: list[Block], change: Change, again: bool) -> tuple[list[Block], bool]:
    """Apply ``change`` to the nodes and all nodes inside them. Return the new nodes, and whether any of them changed.
    ``again``: whether to apply ``change`` to the replacements, too."""
    holder = Fragment("", list(nodes))
    stack: list[Any] = [holder]
    changed = False
    while stack:
        here = stack.pop()
        waiting, kept = here.nodes[::-1], list[Any]()
        while waiting:
            node = waiting.pop()
            if type(node) is Text:
                kept.append(node)
                continue
            new = None if type(node) is Fragment else change(node)
            if new is not None and not (len(new) == 1 and new[0] is node):
                changed = True
                if again:
                    waiting.extend(reversed(new))
                else:
                    kept += new
                continue
            kept.append(node)
            if type(node) is not Fragment and not is_plain(node):
                stack.append(node)
                stack.extend(node.fragments)
        here.nodes = kept
    return holder.nodes, changed


def _is_open(node: Block | Inline, deterministic: bool) -> bool:
    """Return whether the node is an expression or condition that must be evaluated and replaced with its result."""
    if node.type not in ("expression", "if"):
        return False
    try:
        return not deterministic or is_deterministic(node.data["expression"])
    except ExpressionError:
        return not deterministic
