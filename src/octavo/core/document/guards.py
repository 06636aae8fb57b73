"""Find misspelled or misplaced conditions, and hide the content that they were meant to guard.

Condition tags belong between blocks. Tags in the middle of a line, `{% else %}` tags, and misspelled tags have no
effect, so the content after them would be visible to everyone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from .nodes import Block, Document, Fragment, Inline, Mark, Node, Text, walk

NEVER = "false"
"""A condition that is never met, until an author fixes the tag."""
_BEGIN = r"\{%-?\s*"
_GUARD = re.compile(
    rf"{_BEGIN}(?:(?P<opens>if|unless|ifnot)\b(?P<what>.*?)(?:%\}}|\Z)|(?P<other>else\s*if|elif|elsif|else)\b"
    rf"|(?P<closes>end\s*(?:if|unless|ifnot))\b)",
    re.IGNORECASE | re.DOTALL,
)
_LIKE_IF = re.compile(r"[\W_]*i[\W_]*f[\W_]*", re.IGNORECASE)
_KEY_LINE = re.compile(r"""[ \t]*(?:-[ \t]+)?["']?(?P<key>[^\s"':#][^"':]*?)["']?[ \t]*:(?:\s|\Z)""")
_SHOWN_AS_TEXT = frozenset({"code", "code-line", "math", "math-block", "inline-math", "expression"})
"""Nodes that contain a tag as text."""


class _Count(NamedTuple):
    """Counts of the guards (conditions) in a block. ``unread``: whether the block contains a guard that can't be
    parsed. ``open``: the number of guards that extend beyond the block. ``closed``: the number of earlier guards that
    end in the block."""

    unread: bool = False
    open: int = 0
    closed: int = 0


def is_like_if(name: str) -> bool:
    """Return whether a key is probably a misspelled ``if``."""
    return name != "if" and _LIKE_IF.fullmatch(name) is not None


def has_guard_key(lines: str) -> bool:
    """Return whether unreadable front matter has a key that is probably meant as a condition."""
    found = map(_KEY_LINE.match, lines.splitlines())
    return any(match is not None and _LIKE_IF.fullmatch(match["key"]) for match in found)


def may_hold_guards(text: str) -> bool:
    """Check quickly whether a source may contain guards."""
    return "{%" in text and _GUARD.search(text) is not None


def hide_unread(document: Document) -> Document:
    """Hide, in place, the content of each guard that can't be parsed: move the guard's block, and all nodes after it up
    to its end tag or the end of the list, into a condition that is never met."""
    if not any(block.source is None or may_hold_guards(block.source) for block in document.nodes):
        return document
    # Inner blocks come before outer ones, without recursion.
    holders: list[Document | Block | Fragment] = [
        node for node in walk(document) if not isinstance(node, (Text, Inline))
    ]
    left: dict[int, int] = {}
    for holder in reversed(holders):
        if any(isinstance(node, Block) for node in holder.nodes):
            left[id(holder)] = _hide_in(holder, left)
    return document


def find_unread(document: Document) -> Iterator[tuple[int, str]]:
    """Yield the line number (from 1) and text of each guard that can't be parsed. A guard inside a block is reported at
    the line where the block starts."""
    line = 1 + document.gaps[0].count("\n") if document.gaps else 1
    for at, block in enumerate(document.nodes):
        source = block.source or ""
        if may_hold_guards(source):
            for node in walk(block):
                if isinstance(node, Block) and _own(node).unread:
                    inside = isinstance(node.data.get("source"), str)
                    text = node.data["source"] if inside else " ".join(_texts(node))
                    match = _GUARD.search(text)
                    yield (
                        line + source[: max(source.find(match[0]), 0)].count("\n") if match else line,
                        (match[0].strip() if match else text)[:80],
                    )
        line += source.count("\n") + (document.gaps[at + 1].count("\n") if at + 1 < len(document.gaps) else 0)


def _hide_in(holder: Document | Block | Fragment, left: dict[int, int]) -> int:
    """Hide the blocks of one list that unreadable guards were meant to guard. Return the number of guards
    that don't end in the list."""
    out: list[Any] = []
    pending = 0
    hidden: Block | None = None
    gaps = holder.gaps if isinstance(holder, Document) else None
    kept_gaps = gaps[:1] if gaps is not None else None
    for at, node in enumerate(holder.nodes):
        gap = gaps[at + 1] if gaps is not None and at + 1 < len(gaps) else ""
        count = _count(node, left) if isinstance(node, Block) else _Count()
        if pending:
            assert hidden is not None
            hidden.nodes.append(node)
            pending = max(pending - _closers(node), 0) + count.open
        elif count.unread or count.open:
            hidden = Block("if", {"expression": NEVER}, [node])
            out.append(hidden)
            pending = count.open
            if kept_gaps is not None:
                kept_gaps.append(gap)
            continue
        else:
            out.append(node)
            if kept_gaps is not None:
                kept_gaps.append(gap)
            continue
        if kept_gaps is not None:
            kept_gaps[-1] = gap
    if len(out) != len(holder.nodes) or hidden is not None:
        holder.nodes = out
        if isinstance(holder, Document) and kept_gaps is not None:
            holder.gaps = kept_gaps
    # The end of a condition is also the end of its `else`.
    return 0 if isinstance(holder, Block) and holder.type == "if" and _has_else(out) else pending


def _has_else(nodes: Sequence[object]) -> bool:
    return any(
        isinstance(node, Block)
        and node.type == "if"
        and node.data.get("expression") == NEVER
        and isinstance(node.nodes[0], Block)
        and node.nodes[0].type == "unknown"
        for node in nodes
    )


def _count(block: Block, left: dict[int, int]) -> _Count:
    """Count the guards of a block, including guards that its inner blocks left open."""
    own = _own(block)
    inside = left.get(id(block), 0) + sum(left.get(id(fragment), 0) for fragment in block.fragments)
    return _Count(own.unread, own.open + inside, own.closed)


def _own(block: Block) -> _Count:
    if block.type in _SHOWN_AS_TEXT or block.type == "if":
        return _Count()
    if block.type == "unknown":
        return _of_unknown(block)
    unread, opened, closed = False, 0, 0
    for text in _texts(block):
        for match in _GUARD.finditer(text):
            if match["closes"]:
                opened, closed = (opened - 1, closed) if opened else (0, closed + 1)
                continue
            unread = True
            # A mention of the tag does not guard anything.
            if (
                match["other"] is None
                and match["what"].strip(" -")
                or match["other"] is not None
                and not opened
            ):
                opened += 1
    return _Count(unread, opened, closed)


def _of_unknown(block: Block) -> _Count:
    source = str(block.data.get("source", ""))
    match = _GUARD.match(source.strip()) if block.data.get("kind") == "tag" else _GUARD.search(source)
    if match is None or block.data.get("kind") in ("comment", "definition"):
        return _Count()
    if match["closes"]:
        return _Count(closed=1)
    if block.data.get("kind") != "tag":
        return _Count(True)
    if match["other"] is None and source.lstrip("{%- \t\n").startswith("if"):
        # A valid opening tag without an end.
        return _Count()
    return _Count(True, 0 if block.nodes or block.data.get("end") else 1)


def _closers(node: Node) -> int:
    """Return the number of guards that end in a node but don't start in it."""
    found = 0
    for below in walk(node):
        if isinstance(below, Block):
            own = _own(below)
            found += own.closed - own.open
    return max(found, 0)


def _texts(block: Block) -> Iterator[str]:
    """Yield the text in a block, except code, and the block's other strings, such as its title."""
    parts = []
    stack: list[Any] = list(reversed(block.nodes))
    while stack:
        node = stack.pop()
        if isinstance(node, Text):
            parts.append("".join(leaf.text if not _is_code(leaf.marks) else " " for leaf in node.leaves))
        elif isinstance(node, Inline) and node.type not in _SHOWN_AS_TEXT:
            stack.extend(reversed(node.nodes))
            parts.extend(_strings(node.data))
    yield "".join(parts)
    yield from _strings(block.data)


def _is_code(marks: Iterable[Mark]) -> bool:
    return any(mark.type == "code" for mark in marks)


def _strings(data: Mapping[str, object]) -> Iterator[str]:
    stack: list[Any] = [data]
    while stack:
        value = stack.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            stack.extend(value.values())
        elif isinstance(value, list):
            stack.extend(value)
