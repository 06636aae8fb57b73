"""Remove leading and trailing spaces from paragraphs and headings. In Markdown, these spaces would have to be entities,
and people usually type them by accident."""

from __future__ import annotations

from collections.abc import Iterator

from octavo.core.json_types import JsonObject

_TEXTS = frozenset(("paragraph", "heading-1", "heading-2", "heading-3"))
_BLANKS = " \t"


def trimmed(block: JsonObject, before: JsonObject | None = None) -> JsonObject:
    """Return a block without leading and trailing spaces in its paragraphs and headings. ``before``: the last saved
    version of the block. Spaces that it already contained are kept, because they weren't typed just now."""
    kept = set(_with_blanks(before)) if before is not None else set()
    return _trim(block, kept)


def _with_blanks(part: JsonObject) -> Iterator[str]:
    """Yield the keys of paragraphs and headings that start or end with spaces."""
    if part.get("type") in _TEXTS:
        text = "".join(
            "".join(leaf["text"] for leaf in node["leaves"]) if node["object"] == "text" else "-"
            for node in part.get("nodes", ())
        )
        if part.get("key") and text.strip(_BLANKS) != text:
            yield part["key"]
        return
    for child in (*part.get("nodes", ()), *part.get("fragments", ())):
        if child["object"] in ("block", "fragment"):
            yield from _with_blanks(child)


def _trim(part: JsonObject, kept: set[str]) -> JsonObject:
    if part.get("type") in _TEXTS:
        if part.get("key") in kept:
            return part
        return {**part, "nodes": _without_blanks(part.get("nodes", []))}
    changed = dict(part)
    for name in ("nodes", "fragments"):
        if name in part:
            changed[name] = [
                _trim(child, kept) if child["object"] in ("block", "fragment") else child
                for child in part[name]
            ]
    return changed


def _without_blanks(nodes: list[JsonObject]) -> list[JsonObject]:
    found = list(nodes)
    for at, strip in ((0, str.lstrip), (-1, str.rstrip)):
        # An inline node, such as an image or a link, ends the spaces.
        while found and found[at]["object"] == "text":
            leaves = list(found[at]["leaves"])
            while leaves:
                text = strip(leaves[at]["text"], _BLANKS)
                if text:
                    leaves[at] = {**leaves[at], "text": text}
                    break
                del leaves[at]
            if leaves:
                found[at] = {**found[at], "leaves": leaves}
                break
            del found[at]
    return found
