"""Search the reference of Octavo's API: operations and schemas by name, path, and description. This module
does no I/O."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import chain
from urllib.parse import quote

from msgspec import Struct

from octavo.core.pages import slugify
from octavo.sites.openapi.description import ApiDescription, tags_of

from .views import MarkedText, SearchHit

_HITS = 20
_WORD = re.compile(r"[a-z0-9]+")


class _IndexEntry(Struct, frozen=True):
    """Index entry for an operation or schema. ``names``: its names. ``text``: all text about it. Both are in
    lowercase."""

    hit: SearchHit
    names: tuple[str, ...]
    text: str


class ReferenceIndex:
    """Index of operations and schemas. It is small enough for a search to scan all entries."""

    def __init__(
        self, description: ApiDescription, title: Callable[[str], str], base: str, schemas: str
    ) -> None:
        """Build the index. ``title``: a function that returns the title of a tag's page. ``base``: the parent
        URL of tag pages. ``schemas``: the parent URL of schema pages."""
        self._entries = list(
            chain(_operations(description, title, base), _schemas(description, title, schemas))
        )

    def find(self, query: str) -> list[SearchHit]:
        """Return the best-matching entries whose text contains all words of the query, including as parts of longer
        words. Exact names come first, then names that contain the words."""
        words = _WORD.findall(query.lower())
        if not words:
            return []
        whole = query.strip().lower()
        ranked = []
        for position, entry in enumerate(self._entries):
            if all(word in entry.text for word in words):
                named = sum(any(word in name for name in entry.names) for word in words)
                exact = whole in entry.names
                begins = any(name.startswith(whole) for name in entry.names)
                ranked.append((-exact, -named, -begins, position))
        return [self._entries[rank[-1]].hit for rank in sorted(ranked)[:_HITS]]


def _operations(description: ApiDescription, title: Callable[[str], str], base: str) -> list[_IndexEntry]:
    found = []
    for operation in description.operations.values():
        (tag,) = tags_of(operation)
        area, id = slugify(tag), str(operation.data["operationId"])
        about = _plain(operation.data.get("description", ""))
        call = f"{operation.method.upper()} {operation.path}"
        hit = SearchHit(
            title=operation.title,
            href=f"{base}/{quote(area)}/{quote(id)}",
            crumbs=(title(area),),
            excerpt=(MarkedText(text=call), MarkedText(text=f" {about}")),
        )
        names = (operation.title.lower(), id.lower(), operation.path.lower(), call.lower())
        found.append(_IndexEntry(hit, names, f"{' '.join(names)} {title(area)} {about}".lower()))
    return found


def _schemas(description: ApiDescription, title: Callable[[str], str], page: str) -> list[_IndexEntry]:
    found = []
    for name, schema in description.schemas.items():
        about = _plain(schema.get("description", ""))
        hit = SearchHit(
            title=name,
            href=f"{page}/{quote(name)}",
            crumbs=(title("schemas"),),
            excerpt=(MarkedText(text=about),),
        )
        found.append(_IndexEntry(hit, (name.lower(),), f"{name} {about}".lower()))
    return found


def _plain(markdown: object) -> str:
    """Return the first paragraph without code formatting."""
    return " ".join(str(markdown).partition("\n\n")[0].replace("`", "").split())
