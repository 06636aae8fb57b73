"""Apply fixes for findings to documents."""

from __future__ import annotations

from collections.abc import Iterator

from octavo.core.document.nodes import Block, Document, Leaf, Text, walk
from octavo.core.document.references import Reference, rewrite
from octavo.core.json_types import JsonObject

from .faults import TextFix

_CONTEXT = 40
"""Number of characters to store before and after a passage, so that it can be found again."""


def text_fix(text: str, start: int, end: int, new: str) -> TextFix:
    """Return the fix that replaces part of a text.

    >>> text_fix("You can simply start", 8, 15, "")
    TextFix(before='You can ', old='simply ', after='start', new='')
    """
    return TextFix(text[max(0, start - _CONTEXT) : start], text[start:end], text[end : end + _CONTEXT], new)


def replace_text(document: Document, fix: TextFix) -> bool:
    """Replace a string in a document, in place. Return False if the document doesn't contain the text, or if formatting
    splits it.

    If the text occurs more than once, the occurrence whose surroundings best match the expected surroundings is
    replaced, because other fixes may have changed some of the surrounding text. Changed blocks lose their source, so
    only these blocks are written again.
    """
    best: tuple[int, Block, Text, int, int] | None = None
    for top in document.nodes:
        for node in walk(top):
            if not isinstance(node, Text):
                continue
            for alike, number, at in _find_in(node, fix):
                if best is None or alike > best[0]:
                    best = (alike, top, node, number, at)
    if best is None:
        return False
    _, top, node, number, at = best
    leaf = node.leaves[number]
    node.leaves[number] = Leaf(leaf.text[:at] + fix.new + leaf.text[at + len(fix.old) :], leaf.marks)
    top.source = None
    return True


def _find_in(node: Text, fix: TextFix) -> Iterator[tuple[int, int, int]]:
    """Yield three numbers for each occurrence of a string: how many of the surrounding characters match the expected
    characters, the index of the leaf that contains the string, and the string's offset in that leaf."""
    for number, leaf in enumerate(node.leaves):
        if any(mark.type in ("code", "keyboard") for mark in leaf.marks):
            continue
        before = "".join(each.text for each in node.leaves[:number])
        after = "".join(each.text for each in node.leaves[number + 1 :])
        at = leaf.text.find(fix.old)
        while at >= 0:
            left, right = before + leaf.text[:at], leaf.text[at + len(fix.old) :] + after
            # A match inside a longer word is a different word, so compare the characters around it, including those of
            # adjacent nodes.
            if (not left or left[-1:] == fix.before[-1:]) and (not right or right[:1] == fix.after[:1]):
                yield _count_equal(left[::-1], fix.before[::-1]) + _count_equal(right, fix.after), number, at
            at = leaf.text.find(fix.old, at + 1)


def _count_equal(one: str, two: str) -> int:
    """Return the length of the common prefix of two strings."""
    return next(
        (at for at, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two))
    )


def replace_link(document: Document, url: str, ref: JsonObject) -> bool:
    """Replace, in place, the target of every link to this URL. Return whether the document contains any."""
    replaced = 0

    def change(reference: Reference) -> JsonObject | None:
        nonlocal replaced
        if reference.type not in ("link", "button") or reference.ref.get("url") != url:
            return None
        replaced += 1
        return ref

    rewrite(document, change)
    return replaced > 0
