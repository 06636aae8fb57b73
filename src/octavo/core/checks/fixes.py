"""Apply the fixes of findings to documents."""

from __future__ import annotations

from octavo.core.document.nodes import Document, Leaf, Text, walk
from octavo.core.document.references import Reference, rewrite
from octavo.core.json_types import JsonObject

from .faults import TextFix

_CONTEXT = 40
"""Characters before and after a text that identify it."""


def text_fix(text: str, start: int, end: int, new: str) -> TextFix:
    """Return the replacement of a part of a text.

    >>> text_fix("You can simply start", 8, 15, "")
    TextFix(before='You can ', old='simply ', after='start', new='')
    """
    return TextFix(text[max(0, start - _CONTEXT) : start], text[start:end], text[end : end + _CONTEXT], new)


def replace_text(document: Document, fix: TextFix) -> bool:
    """Replace a text in a document, in place. Return False if it isn't there, or is split by formatting.

    The text must be followed and preceded by the same words as when it was found. Blocks with a replacement lose their
    source, so only they are written again.
    """
    for top in document.nodes:
        for node in walk(top):
            if isinstance(node, Text) and _replace_in(node, fix):
                top.source = None
                return True
    return False


def _replace_in(node: Text, fix: TextFix) -> bool:
    for number, leaf in enumerate(node.leaves):
        if any(mark.type in ("code", "keyboard") for mark in leaf.marks):
            continue
        before = "".join(each.text for each in node.leaves[:number])
        after = "".join(each.text for each in node.leaves[number + 1 :])
        at = leaf.text.find(fix.old)
        while at >= 0:
            end = at + len(fix.old)
            left, right = before + leaf.text[:at], leaf.text[end:] + after
            if _fits(left, fix.before, last=True) and _fits(right, fix.after, last=False):
                node.leaves[number] = Leaf(leaf.text[:at] + fix.new + leaf.text[end:], leaf.marks)
                return True
            at = leaf.text.find(fix.old, at + 1)
    return False


def _fits(text: str, context: str, *, last: bool) -> bool:
    """Return whether a text next to a match is the expected one, as far as both extend: other nodes may lie
    in between."""
    length = min(len(text), len(context))
    if length == 0:
        return True
    return text[-length:] == context[-length:] if last else text[:length] == context[:length]


def replace_link(document: Document, url: str, ref: JsonObject) -> bool:
    """Replace, in place, the target of all links with this URL. Return whether there are any."""
    replaced = 0

    def change(reference: Reference) -> JsonObject | None:
        nonlocal replaced
        if reference.type not in ("link", "button") or reference.ref.get("url") != url:
            return None
        replaced += 1
        return ref

    rewrite(document, change)
    return replaced > 0
