"""Compares the parts of a tree that the API gives with the tree as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

Get = Callable[..., Any]
"""Function that requests a path of some content, with a query."""

SHOWN = ("id", "type", "title", "hidden", "path", "emoji", "icon")


def entry(page: dict[str, Any]) -> dict[str, Any]:
    found = {name: page[name] for name in SHOWN if name in page}
    return {"hidden": False, **found, "hasPages": bool(page.get("pages"))}


def every_level(
    pages: list[Any], parent: str | None = None, above: tuple[Any, ...] = ()
) -> Iterator[tuple[str | None, tuple[Any, ...], list[Any]]]:
    """Yield each level of a whole tree: its parent, the entries above it, and its own entries."""
    yield parent, above, [entry(page) for page in pages]
    for page in pages:
        if page.get("pages"):
            yield from every_level(page["pages"], page["id"], (*above, entry(page)))


def level(get: Get, parent: str | None, limit: int = 2) -> list[Any]:
    """Return all entries of a level, from its list."""
    found: list[Any] = []
    below = {"parent": parent} if parent else {}
    query: dict[str, Any] = {**below, "limit": limit}
    while True:
        part = get("children", **query)
        found += part["items"]
        if "next" not in part:
            assert part["count"] == len(found)
            return found
        assert len(part["items"]) == limit
        query["page"] = part["next"]["page"]


def check_parts(get: Get) -> list[Any]:
    """Check that every part of a tree matches the given whole."""
    whole: list[Any] = get("pages", metadata="false")["pages"]
    for parent, above, entries in every_level(whole):
        assert level(get, parent) == entries
        below = {"parent": parent} if parent else {}
        middle = len(entries) // 2
        assert get("children", at=middle, **below)["items"] == entries[middle:]
        for index, page in enumerate(entries):
            way = get("way", to=page["id"], limit=2)
            assert way["page"] == page["id"] and len(way["levels"]) == len(above) + 1
            at = index - index % 2
            part = {"parent": parent, "at": at, "count": len(entries), "items": entries[at : at + 2]}
            assert way["levels"][-1] == part
            assert all(one in part["items"] for one, part in zip(above, way["levels"], strict=False))
            if "path" in page:
                assert get("way", path=page["path"], limit=2) == way
            trace = get("ways", pages=[page["id"]])["items"]
            assert trace == [{"page": page["id"], "way": [*above, page]}]
    return whole
