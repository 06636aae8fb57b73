"""Search of the reference of our own API: operations and schemas by name, address and description. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import chain
from urllib.parse import quote

from msgspec import Struct

from octavo.core.pages import slugify
from octavo.sites.openapi.description import Description, tags_of

from .views import Part, SearchHit

_HITS = 20
_WORD = re.compile(r"[a-z0-9]+")


class _Entry(Struct, frozen=True):
    """``names`` are what it is called by; ``text`` is all that is said of it. Both in lower case."""

    hit: SearchHit
    names: tuple[str, ...]
    text: str


class ReferenceIndex:
    """Small enough to be looked through: an entry for each operation and schema."""

    def __init__(
        self, description: Description, title: Callable[[str], str], base: str, schemas: str
    ) -> None:
        """``title`` says what the page of a tag is called, ``base`` is the address that the pages of tags are below,
        ``schemas`` the address that those of schemas are below."""
        self._entries = list(
            chain(_operations(description, title, base), _schemas(description, title, schemas))
        )

    def find(self, query: str) -> list[SearchHit]:
        """The best entries in whose text all words of the query are, if only as parts of others; what is called exactly
        so is first, then what has the words in its names."""
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


def _operations(description: Description, title: Callable[[str], str], base: str) -> list[_Entry]:
    found = []
    for operation in description.operations.values():
        (tag,) = tags_of(operation)
        area, id = slugify(tag), str(operation.data["operationId"])
        said = _plain(operation.data.get("description", ""))
        call = f"{operation.method.upper()} {operation.path}"
        hit = SearchHit(
            title=operation.title,
            href=f"{base}/{quote(area)}/{quote(id)}",
            crumbs=(title(area),),
            excerpt=(Part(text=call), Part(text=f" {said}")),
        )
        names = (operation.title.lower(), id.lower(), operation.path.lower(), call.lower())
        found.append(_Entry(hit, names, f"{' '.join(names)} {title(area)} {said}".lower()))
    return found


def _schemas(description: Description, title: Callable[[str], str], page: str) -> list[_Entry]:
    found = []
    for name, schema in description.schemas.items():
        said = _plain(schema.get("description", ""))
        hit = SearchHit(
            title=name,
            href=f"{page}/{quote(name)}",
            crumbs=(title("schemas"),),
            excerpt=(Part(text=said),),
        )
        found.append(_Entry(hit, (name.lower(),), f"{name} {said}".lower()))
    return found


def _plain(markdown: object) -> str:
    """The first paragraph, without the marks of code."""
    return " ".join(str(markdown).partition("\n\n")[0].replace("`", "").split())
