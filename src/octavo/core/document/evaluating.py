"""Documents as somebody sees them: values in the place of expressions and conditions, and nothing of what is meant
for writers alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import zip_longest
from typing import Any

from ..expressions import ExpressionError, Shown, is_deterministic
from .guards import hide_unread
from .nodes import Block, Document, Fragment, Inline, Leaf, Text, is_plain, walk
from .parts import without_comments
from .reader import MAX_TAGS, read

_OPEN_IF = re.compile(r"\s*\{%-?\s*if\b(.*?)-?%\}\s*\Z", re.DOTALL)


def close_conditions(document: Document) -> Document:
    """The document, in place, with every ``{% if %}`` that nobody closed holding all that follows it where it
    is: forgetting to close a condition must not show what is under it. Under more than ``MAX_TAGS`` of them is
    nothing. What was meant as a condition and is not understood hides what it was meant for."""
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


Decided = Callable[[Block | Inline, bool], None]
"""Is told of each conditional part that is come to, as it is written, and whether it is shown."""


def show_document(document: Document, shown: Shown, decided: Decided | None = None) -> Document:
    """The document, changed in place, as a visitor sees it: evaluated, without comments and without definitions
    that only other, unseen text refers to. Blocks in which nothing had to change keep their source."""
    return _settle(replace_nodes(document, lambda node: _seen(node, shown, decided)))


def _seen(node: Block | Inline, shown: Shown, decided: Decided | None = None) -> list[Any] | None:
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
    # What was nested too deep to be read may hold conditions.
    return [] if node.data.get("kind") == "text" and "{%" in source else None


def _settle(document: Document) -> Document:
    """Definitions between blocks go: what refers to one says it itself from now on."""
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
    """Whether the source of a block, read by itself, is that block."""
    assert block.source is not None
    alone = read(block.source)
    return len(alone.nodes) == 1 and _plain(alone.nodes[0]) == _plain(block)


def _plain(block: Block) -> list[Any]:
    """A block as plain values, without keys."""
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
    """The document, changed in place: an expression becomes the text it gives, an ``if`` the blocks inside it or
    nothing. What cannot be evaluated gives no text and counts as false.

    ``deterministic``: only where the outcome is the same for every visitor; the rest stays as it is.
    """

    def evaluated(node: Block | Inline) -> list[Any] | None:
        return _seen(node, shown) if _is_open(node, deterministic) else None

    return replace_nodes(document, evaluated)


def replace_nodes(
    document: Document, change: Callable[[Block | Inline], list[Any] | None], *, again: bool = True
) -> Document:
    """The document, in place, with the nodes that ``change`` gives for one in its place, ``again``: looked at in their
    turn. Top-level blocks in which one was replaced lose their source."""
    nodes: list[Block] = []
    gaps = document.gaps[:1]
    for top, gap in zip_longest(document.nodes, document.gaps[1 : len(document.nodes) + 1], fillvalue=""):
        found, changed = _replaced([top], change, again)
        if changed:
            for block in found:
                block.source = None
        nodes += found
        if found:
            gaps += [""] * (len(found) - 1) + [gap]
        else:
            # The gaps before and after a block that is gone become one.
            gaps[-1:] = [_one_gap(gaps[-1] if gaps else "", gap, first=not nodes)]
    document.nodes, document.gaps = nodes, gaps
    return document


def _one_gap(before: str, after: str, *, first: bool) -> str:
    if before.strip() and after.strip():
        return before + after
    if before.strip() or (first and not after.strip()):
        return before
    return after


def _replaced(
    nodes: list[Any], change: Callable[[Block | Inline], list[Any] | None], again: bool
) -> tuple[list[Any], bool]:
    """The nodes with everything below them changed, and whether anything was."""
    holder = Fragment("", list(nodes))
    stack: list[Any] = [holder]
    changed = False
    while stack:
        here = stack.pop()
        waiting, kept = here.nodes[::-1], []
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
    """Whether the node is to be replaced by what it gives."""
    if node.type not in ("expression", "if"):
        return False
    try:
        return not deterministic or is_deterministic(node.data["expression"])
    except ExpressionError:
        return not deterministic
