"""Computed content: pages and documents that are made of something else, such as an API's description.

A source ``{type, props, dependencies}`` says of what. Packages that know how register a ``Computer`` for a type,
and what a kind of dependency is at the moment. What was computed is kept under its source, the state of all it
depends on, and the seed that its ids are made of: the same three always give the same bytes, and what is kept is
not computed again. Dependencies are looked up for whoever asks before anything kept is answered, so that nobody
is told what is computed of things they may not see.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from hashlib import blake2b
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.core.document.json import DocumentError, from_json, to_json
from octavo.core.document.nodes import Document
from octavo.core.pages import Page
from octavo.errors import BadRequest
from octavo.kit.context import Context
from octavo.kit.db.cache import OwnCache
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor
from octavo.organization.access.authorization import find_space_access
from octavo.organization.access.roles import Can
from octavo.organization.spaces.store import get_space

from .store import Item

MAX_PAGES = 5_000
"""Pages, and as many files and reusable contents, that one source may give."""
MAX_DOCUMENT = 8 * 1024 * 1024
"""Bytes of one document as JSON."""
_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


class Dependency(Struct):
    """``ref``: a reference with its ``kind``. A ``value`` that callers send along is not looked at."""

    ref: dict[str, Any] = {}


class Source(Struct):
    """``type``: who computes it. ``dependencies``: what it is made of, by name. ``seed``: of a document that names pages
    computed together with its own, what the ids of these are made of."""

    type: str
    props: dict[str, Any] = {}
    dependencies: Annotated[dict[str, Dependency], Meta(max_length=20)] = {}
    seed: Annotated[str, Meta(max_length=256)] | UnsetType = UNSET


class Asker(Struct, frozen=True):
    """Who reads computed content of which space. ``actor`` None: visitors of a site that publishes it."""

    space_id: str
    organization_id: str
    actor: Actor | None


class Asked(Struct, frozen=True):
    """What a computer gets. ``values``: of the dependencies by name, None for one that is not there. It does not
    get who asks, because others are given the same answer."""

    space_id: str
    organization_id: str
    source: Source
    values: Mapping[str, Any]
    seed: str

    def id(self, key: str) -> str:
        """The id of what the source calls ``key``: 20 characters, the same for the same seed."""
        return seeded_id(self.seed, key)


def seeded_id(seed: str, key: str) -> str:
    """The id of what a source with this seed calls ``key``."""
    number = int.from_bytes(blake2b(f"{seed}\0{key}".encode(), digest_size=15).digest(), "big")
    digits = []
    for _ in range(20):
        number, digit = divmod(number, 62)
        digits.append(_ALPHABET[digit])
    return "".join(digits)


class NotYet(BadRequest):
    """A source that somebody outside computes, who has not answered yet. ``fetch`` asks them and waits; afterwards
    this process computes it. Never to be called inside a transaction; it raises what the asking raises."""

    def __init__(self, message: str, fetch: Callable[[Context], None]) -> None:
        super().__init__(message)
        self.fetch = fetch


class Computed(Struct, frozen=True):
    """``pages``: parents before children, siblings in order and each with its own slug; documents among them name
    the source of their document in ``computed``, for which the id of the page is the seed. ``items``: files and
    reusable contents whose bytes are stored already."""

    pages: list[Page]
    items: list[Item] = []


class Computer(NamedTuple):
    """None where a type never gives one of the two.

    Both are functions of what they are given, of ``state``, and of nothing that changes and is no dependency. They run
    while somebody reads pages, so they ask nobody outside: what comes from elsewhere is fetched by a job, and NotYet
    is raised until it is there. They raise BadRequest for a source that they cannot compute, naming what is wrong with
    it: ``source.props.page: ...``, or ``source.type: ...`` where the computation itself failed. References in
    documents are resolved. ``state``: what was fetched for a revision (True) or document; another text, other content.
    """

    document: Callable[[Transaction, Asked], Document] | None = None
    revision: Callable[[Transaction, Asked], Computed] | None = None
    state: Callable[[Transaction, Asked, bool], str] | None = None


Resolve = Callable[[Transaction, Asker, Mapping[str, Any]], Any]
"""The value of a reference for whoever asks, which changes whenever what it names does; None for what is not there
for them."""

_computers: dict[str, Computer] = {}
_resolvers: dict[str, Resolve] = {}
OnChange = Callable[[Transaction, str, Collection[str] | None], None]
_on_change: list[OnChange] = []
_documents: OwnCache[bytes] = OwnCache("computed documents", 16)
_revisions: OwnCache[Computed] = OwnCache("computed revisions", 16)


def compute_with(type: str, computer: Computer) -> None:
    """Registers who computes sources of a type; a type that ends in ``:`` stands for all that begin with it."""
    _computers[type] = computer


def resolve_with(kind: str, resolve: Resolve) -> None:
    """Registers what a kind of reference is as a dependency."""
    _resolvers[kind] = resolve


def on_dependency_change(hook: OnChange) -> None:
    """Registers ``hook(tx, organization_id, space_ids)``: called when something that pages of these spaces are computed
    of has changed; None for all spaces of the organization."""
    _on_change.append(hook)


def dependency_changed(
    tx: Transaction, organization_id: str, space_ids: Collection[str] | None = None
) -> None:
    """To be called in the transaction that changes what pages of the organization are computed of, by the package
    that says what it is (``resolve_with``). ``space_ids``: the spaces whose pages are, where that is known."""
    for hook in _on_change:
        hook(tx, organization_id, space_ids)


def compute_document(tx: Transaction, asker: Asker, source: Source, seed: str) -> bytes:
    """The document as JSON, as the API shows it. Raises BadRequest naming what is wrong with the source, NotYet."""
    computer = _computer(source)
    if computer.document is None:
        raise BadRequest(f"source.type: {source.type!r} gives no documents.")
    asked = ask_with(tx, asker, source, seed)
    state = _state(tx, computer, asked, False)
    found = _documents.of(tx).get(state)
    if found is None:
        found = _encoded(source, computer.document(tx, asked))
        _documents.of(tx).put(state, found, len(found))
    return found


def state_of(tx: Transaction, asker: Asker, source: Source, seed: str) -> bytes:
    """A hash of all that the document of a source is computed of now. Raises BadRequest naming what is wrong with the
    source."""
    return _state(tx, _computer(source), ask_with(tx, asker, source, seed), False)


def compute_revision(tx: Transaction, asker: Asker, source: Source, seed: str) -> tuple[Computed, bytes]:
    """Pages, files and reusable contents, and a hash of all that they were computed of. Raises BadRequest naming
    what is wrong with the source, NotYet."""
    computer = _computer(source)
    if computer.revision is None:
        raise BadRequest(f"source.type: {source.type!r} gives no pages.")
    asked = ask_with(tx, asker, source, seed)
    state = _state(tx, computer, asked, True)
    found = _revisions.of(tx).get(state)
    if found is None:
        found = computer.revision(tx, asked)
        _check(source, found)
        _revisions.of(tx).put(
            state, found, sum(_size(page) for page in found.pages) + 500 * len(found.items) + 1
        )
    return found, state


def _computer(source: Source) -> Computer:
    named = _computers.get(source.type)
    if named is None:
        beginnings = (type for type in _computers if type.endswith(":") and source.type.startswith(type))
        named = _computers.get(max(beginnings, key=len, default=""))
    if named is None:
        raise BadRequest(f"source.type: nothing here computes {source.type!r}.")
    return named


def ask_with(tx: Transaction, asker: Asker, source: Source, seed: str) -> Asked:
    """What a computer of the source is given for whoever asks. Raises BadRequest naming a bad dependency."""
    values = {
        name: _value(tx, asker, f"source.dependencies.{name}", dependency)
        for name, dependency in source.dependencies.items()
    }
    return Asked(asker.space_id, asker.organization_id, source, values, seed)


def _state(tx: Transaction, computer: Computer, asked: Asked, whole: bool) -> bytes:
    more = computer.state(tx, asked, whole) if computer.state is not None else ""
    return blake2b(msgspec.json.encode((asked, more), order="sorted"), digest_size=32).digest()


def _value(tx: Transaction, asker: Asker, where: str, dependency: Dependency) -> Any:
    resolve = _resolvers.get(str(dependency.ref.get("kind")))
    if resolve is None:
        raise BadRequest(f"{where}.ref.kind: expected one of {', '.join(sorted(_resolvers))}.")
    return resolve(tx, asker, dependency.ref)


def _encoded(source: Source, document: Document) -> bytes:
    data = to_json(document)
    try:
        from_json(data)
    except DocumentError as error:
        raise BadRequest(f"source.type: what {source.type!r} gives is no document: {error}") from None
    encoded = msgspec.json.encode(data)
    if len(encoded) > MAX_DOCUMENT:
        raise BadRequest(f"source.type: {source.type!r} gives a document of more than {MAX_DOCUMENT} bytes.")
    return encoded


def _check(source: Source, found: Computed) -> None:
    """What computers owe those who read trees: bounds, parents before children, and one place for each page."""
    if max(len(found.pages), len(found.items)) > MAX_PAGES:
        raise BadRequest(f"source.type: {source.type!r} gives more than {MAX_PAGES} pages or files.")
    above: set[str | None] = {None}
    places: set[tuple[str | None, str]] = set()
    for page in found.pages:
        place = (page.parent, page.slug)
        if page.parent not in above or page.id in above or (place in places and page.kind != "link"):
            raise BadRequest(
                f"source.type: {source.type!r} gives the page {page.title!r} no place of its own."
            )
        above.add(page.id)
        places.add(place)


def _size(page: Page) -> int:
    """Of a page in memory, about."""
    return 900 + len(page.title) + 4 * len(page.description or "")


def _resolve_space(tx: Transaction, asker: Asker, ref: Mapping[str, Any]) -> Any:
    """Its id and the revision of main, as the public description has it. Visitors of a site see no space but the
    one they read: that a page names another does not publish it."""
    wanted = ref.get("space")
    if not isinstance(wanted, str):
        return None
    if asker.actor is not None:
        access = find_space_access(tx, asker.actor, Can.VIEW, wanted)
        if access is None or access.organization_id != asker.organization_id:
            return None
    elif wanted != asker.space_id:
        return None
    return {"object": "space", "id": wanted, "revision": get_space(tx, wanted).main_revision}


resolve_with("space", _resolve_space)
