"""Computed content: pages and documents that are made of something else, such as an API's description.

A source ``{type, props, dependencies}`` says of what. Packages that know how register a ``Computer`` for a type,
and what a kind of dependency is at the moment. What was computed is kept under its source, the state of all it
depends on, and the seed that its ids are made of: the same three always give the same bytes, and nothing is
computed twice. Dependencies are looked up for whoever asks before anything kept is answered, so that nobody is
told what is computed of things they may not see.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw, Struct

from ..access import Can, SpaceAccess, space_access
from ..core.document import Document, assign_keys, to_json
from ..core.pages import Page
from ..errors import BadRequest, NotFound
from ..kit.cache import ByteCache
from ..kit.db import Transaction
from ..spaces import get_space
from .store import Item

MAX_PAGES = 5_000
_CACHE_BYTES = 64 * 1024 * 1024
_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


class Source(Struct):
    """``type``: who computes it. ``dependencies``: by name, each ``{ref}``, with ``value`` where it was resolved."""

    type: str
    props: dict[str, Any] = {}
    dependencies: dict[str, dict[str, Any]] = {}


class Asked(Struct, frozen=True):
    """What a computer gets. ``values``: of the dependencies by name, None for one that is not there."""

    space: SpaceAccess
    source: Source
    values: Mapping[str, Any]
    seed: str

    def id(self, key: str) -> str:
        """The id of what the source calls ``key``: 20 characters, the same for the same seed."""
        number = int.from_bytes(blake2b(f"{self.seed}\0{key}".encode(), digest_size=15).digest(), "big")
        digits = []
        for _ in range(20):
            number, digit = divmod(number, 62)
            digits.append(_ALPHABET[digit])
        return "".join(digits)


class Computed(Struct, frozen=True):
    """``pages`` as a state has them; documents among them name the source of their document in ``computed``."""

    pages: list[Page]
    items: list[Item] = []


class Computer(NamedTuple):
    """Each raises BadRequest for a source that it cannot compute; None where it never does."""

    document: Callable[[Transaction, Asked], Document] | None = None
    revision: Callable[[Transaction, Asked], Computed] | None = None


Resolve = Callable[[Transaction, SpaceAccess, Mapping[str, Any]], Any]
"""The value of a reference for whoever asks; None for what is not there for them."""

_computers: dict[str, Computer] = {}
_resolvers: dict[str, Resolve] = {}
_documents: ByteCache[bytes] = ByteCache(_CACHE_BYTES)
_revisions: ByteCache[Computed] = ByteCache(_CACHE_BYTES)


def compute_with(type: str, computer: Computer) -> None:
    """Registers who computes sources of a type; a type that ends in ``:`` stands for all that begin with it."""
    _computers[type] = computer


def resolve_with(kind: str, resolve: Resolve) -> None:
    """Registers what a kind of reference is as a dependency."""
    _resolvers[kind] = resolve


def compute_document(tx: Transaction, space: SpaceAccess, source: Source, seed: str) -> Raw:
    """The document, encoded as the API shows it. Raises BadRequest naming what is wrong with the source."""
    computer = _computer(source).document
    if computer is None:
        raise BadRequest(f"source.type: {source.type!r} gives no documents.")
    asked, key = _ask(tx, space, source, seed)
    found = _documents.get(key)
    if found is None:
        found = msgspec.json.encode(to_json(assign_keys(computer(tx, asked))))
        _documents.put(key, found, len(found))
    return Raw(found)


def compute_revision(tx: Transaction, space: SpaceAccess, source: Source, seed: str) -> Computed:
    """Pages, files and reusable contents. Raises BadRequest naming what is wrong with the source."""
    computer = _computer(source).revision
    if computer is None:
        raise BadRequest(f"source.type: {source.type!r} gives no pages.")
    asked, key = _ask(tx, space, source, seed)
    found = _revisions.get(key)
    if found is None:
        found = computer(tx, asked)
        if len(found.pages) > MAX_PAGES:
            raise BadRequest(f"source: gives more than {MAX_PAGES} pages.")
        _revisions.put(key, found, sum(len(page.title) + 900 for page in found.pages))
    return found


def _computer(source: Source) -> Computer:
    named = _computers.get(source.type)
    if named is None:
        beginnings = (type for type in _computers if type.endswith(":") and source.type.startswith(type))
        named = _computers.get(next(beginnings, ""))
    if named is None:
        raise BadRequest(f"source.type: nothing here computes {source.type!r}.")
    return named


def _ask(tx: Transaction, space: SpaceAccess, source: Source, seed: str) -> tuple[Asked, tuple[Any, ...]]:
    values = {
        name: _value(tx, space, f"source.dependencies.{name}", dependency)
        for name, dependency in source.dependencies.items()
    }
    told = msgspec.json.encode([source.type, source.props, source.dependencies, values], order="sorted")
    return Asked(space, source, values, seed), (space.space_id, told, seed)


def _value(tx: Transaction, space: SpaceAccess, where: str, dependency: Mapping[str, Any]) -> Any:
    ref: Any = dependency.get("ref")
    resolve = _resolvers.get(str(ref.get("kind"))) if isinstance(ref, dict) else None
    if resolve is None:
        raise BadRequest(f"{where}.ref: expected a reference to {', '.join(sorted(_resolvers))}.")
    return resolve(tx, space, ref)


def _resolve_space(tx: Transaction, space: SpaceAccess, ref: Mapping[str, Any]) -> Any:
    """Its id and the revision of main, as the public description has it."""
    wanted = ref.get("space")
    try:
        access = space_access(tx, space.user_id, Can.VIEW, wanted if isinstance(wanted, str) else "")
    except NotFound:
        return None
    if access.organization_id != space.organization_id:
        return None
    return {
        "object": "space",
        "id": access.space_id,
        "revision": get_space(tx, access.space_id).main_revision,
    }


resolve_with("space", _resolve_space)
