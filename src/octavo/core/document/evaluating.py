"""Documents with values in the place of expressions and conditions."""

from __future__ import annotations

from typing import Any

from ..expressions import ExpressionError, Shown, is_deterministic
from .nodes import Block, Document, Fragment, Inline, Leaf, Text


def evaluate_document(document: Document, shown: Shown, *, deterministic: bool) -> Document:
    """The document, changed in place: an expression becomes the text it gives, an ``if`` the blocks inside it or
    nothing. What cannot be evaluated gives no text and counts as false.

    ``deterministic``: only where the outcome is the same for every visitor; the rest stays as it is.
    """
    nodes: list[Block] = []
    for top in document.nodes:
        found, changed = _evaluated([top], shown, deterministic)
        if changed:
            for block in found:
                block.source = None
        nodes += found
    if nodes != document.nodes:
        document.gaps = []
    document.nodes = nodes
    return document


def _evaluated(nodes: list[Any], shown: Shown, deterministic: bool) -> tuple[list[Any], bool]:
    """The nodes with everything below them evaluated, and whether anything was."""
    holder = Fragment("", list(nodes))
    stack: list[Any] = [holder]
    changed = False
    while stack:
        here = stack.pop()
        waiting, kept = list(reversed(here.nodes)), []
        while waiting:
            node = waiting.pop()
            if isinstance(node, Text) or not _is_open(node, deterministic):
                kept.append(node)
                continue
            changed = True
            if node.type == "expression":
                kept.append(Text([Leaf(shown.text(node.data["expression"]))], node.key))
            elif shown.holds(node.data["expression"]):
                waiting.extend(reversed(node.nodes))
        here.nodes = kept
        for node in kept:
            if isinstance(node, (Block, Inline)):
                stack.append(node)
                stack.extend(node.fragments)
    return holder.nodes, changed


def _is_open(node: Block | Inline, deterministic: bool) -> bool:
    """Whether the node is to be replaced by what it gives."""
    if node.type not in ("expression", "if"):
        return False
    try:
        return not deterministic or is_deterministic(node.data["expression"])
    except ExpressionError:
        return not deterministic
