"""Computed content: pages and documents generated from other data, such as an OpenAPI specification.

A source ``{type, props, dependencies}`` defines the content. Packages register a ``Computer`` for a type, and a
resolver for a kind of dependency. Results are cached by their source, the state of all dependencies, and the seed of
generated IDs: the same three inputs always produce the same bytes. Dependencies are resolved for the reader before a
cached result is returned, so that no one sees content computed from data that is hidden from them.
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
from octavo.errors import BadRequest, format_size
from octavo.kit.context import Context
from octavo.kit.db.cache import OwnCache
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor
from octavo.kit.http.schema_names import schema_name
from octavo.organization.access.authorization import find_space_access
from octavo.organization.access.roles import Can
from octavo.organization.spaces.store import get_space

from .item_versions import Item

MAX_PAGES = 5_000
"""Maximum number of pages, and of files and reusable content, that one source can produce."""
MAX_DOCUMENT = 8 * 1024 * 1024
"""Maximum size of a document as JSON, in bytes."""
_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


class Dependency(Struct):
    """Dependency of a source. ``ref``: the reference, with its ``kind``. A ``value`` that callers send is
    ignored."""

    ref: dict[str, Any] = {}


@schema_name("Source")
class ComputedSource(Struct):
    """Source of computed content. ``type``: the type, which selects the computer. ``dependencies``: the inputs by name.
    ``seed``: the seed of the IDs of other computed pages. The document can refer to these pages, which were computed
    together with its own page."""

    type: str
    props: dict[str, Any] = {}
    dependencies: Annotated[dict[str, Dependency], Meta(max_length=20)] = {}
    seed: Annotated[str, Meta(max_length=256)] | UnsetType = UNSET


class Requester(Struct, frozen=True):
    """Reader of computed content in a space. ``actor``: the actor; None for visitors to a site that
    publishes the content."""

    space_id: str
    organization_id: str
    actor: Actor | None


class ComputeInput(Struct, frozen=True):
    """Input for a computer. ``values``: the dependencies by name; None for a dependency that doesn't exist. The reader
    isn't part of the input, because all readers get the same result."""

    space_id: str
    organization_id: str
    source: ComputedSource
    values: Mapping[str, Any]
    seed: str

    def id(self, key: str) -> str:
        """Return the ID for ``key`` in the source: 20 characters that depend only on the key and the seed."""
        return seeded_id(self.seed, key)


def seeded_id(seed: str, key: str) -> str:
    """Return the ID for ``key`` in a source with the seed ``seed``."""
    number = int.from_bytes(blake2b(f"{seed}\0{key}".encode(), digest_size=15).digest(), "big")
    digits = []
    for _ in range(20):
        number, digit = divmod(number, 62)
        digits.append(_ALPHABET[digit])
    return "".join(digits)


class NotFetchedYet(BadRequest):
    """Error for a source whose external data hasn't been fetched. ``fetch`` requests the data and waits for it.
    Afterward, this process can compute the source.

    Never call ``fetch`` inside a transaction. It raises the errors of the request.
    """

    def __init__(self, message: str, fetch: Callable[[Context], None]) -> None:
        super().__init__(message)
        self.fetch = fetch


class Computed(Struct, frozen=True):
    """Computed pages and items. ``pages``: the pages, parents before children, siblings in order and with
    unique slugs. Pages with a document have the source of their document in ``computed``, with the page ID as
    its seed. ``items``: the files and reusable content, whose bytes are already stored."""

    pages: list[Page]
    items: list[Item] = []


class Computer(NamedTuple):
    """Functions that compute sources of one type; a function is None if the type doesn't support it.

    ``document`` and ``revision`` depend only on their input, on ``state``, and on data that can't change unless a
    dependency changes. They run while pages are read, so they make no external requests: a job fetches external data,
    and they raise NotFetchedYet until it is available. If a source is invalid, they raise BadRequest with the field,
    such as ``source.props.page: ...``, or ``source.type: ...`` if the computation itself failed. References in
    documents are resolved. ``state``: returns a string that identifies the fetched data for a revision (True) or a
    document (False) and changes with that data.
    """

    document: Callable[[Transaction, ComputeInput], Document] | None = None
    revision: Callable[[Transaction, ComputeInput], Computed] | None = None
    state: Callable[[Transaction, ComputeInput, bool], str] | None = None


Resolve = Callable[[Transaction, Requester, Mapping[str, Any]], Any]
"""Function that returns the value of a reference for a reader; the value changes whenever the target
changes. It returns None if the target doesn't exist or the reader can't see it."""

_computers: dict[str, Computer] = {}
_resolvers: dict[str, Resolve] = {}
OnChange = Callable[[Transaction, str, Collection[str] | None], None]
_on_change: list[OnChange] = []
_documents: OwnCache[bytes] = OwnCache("computed documents", 16)
_revisions: OwnCache[Computed] = OwnCache("computed revisions", 16)


def register_computer(type: str, computer: Computer) -> None:
    """Register the computer of a type. A type that ends with ``:`` matches all types that start with it."""
    _computers[type] = computer


def register_resolver(kind: str, resolve: Resolve) -> None:
    """Register the resolver for a kind of dependency."""
    _resolvers[kind] = resolve


def on_dependency_change(hook: OnChange) -> None:
    """Register ``hook(tx, organization_id, space_ids)``, which is called when a dependency of computed
    pages in these spaces has changed. It is called with None if all spaces of the organization can be
    affected."""
    _on_change.append(hook)


def notify_dependency_changed(
    tx: Transaction, organization_id: str, space_ids: Collection[str] | None = None
) -> None:
    """Notify that dependencies of computed pages have changed.

    The package that resolves them (``register_resolver``) calls this in the transaction of the change.
    ``space_ids``: the spaces with affected pages, if known.
    """
    for hook in _on_change:
        hook(tx, organization_id, space_ids)


def compute_document(tx: Transaction, asker: Requester, source: ComputedSource, seed: str) -> bytes:
    """Return a document as JSON in the API's format. Raises BadRequest if the source is invalid, and NotFetchedYet if
    external data is missing."""
    computer = _computer(source)
    if computer.document is None:
        raise BadRequest(f"source.type: {source.type!r} doesn't provide documents")
    asked = build_input(tx, asker, source, seed)
    state = _state(tx, computer, asked, False)
    found = _documents.of(tx).get(state)
    if found is None:
        found = _encoded(source, computer.document(tx, asked))
        _documents.of(tx).put(state, found, len(found))
    return found


def state_of(tx: Transaction, asker: Requester, source: ComputedSource, seed: str) -> bytes:
    """Return a hash of all current dependencies of a source's document. Raises BadRequest if the source is invalid."""
    return _state(tx, _computer(source), build_input(tx, asker, source, seed), False)


def compute_revision(
    tx: Transaction, asker: Requester, source: ComputedSource, seed: str
) -> tuple[Computed, bytes]:
    """Return pages, files, and reusable content, with a hash of all their dependencies. Raises BadRequest if the source
    is invalid, and NotFetchedYet if external data is missing."""
    computer = _computer(source)
    if computer.revision is None:
        raise BadRequest(f"source.type: {source.type!r} doesn't provide pages")
    asked = build_input(tx, asker, source, seed)
    state = _state(tx, computer, asked, True)
    found = _revisions.of(tx).get(state)
    if found is None:
        found = computer.revision(tx, asked)
        _check_result(source, found)
        _revisions.of(tx).put(
            state, found, sum(_size(page) for page in found.pages) + 500 * len(found.items) + 1
        )
    return found, state


def _computer(source: ComputedSource) -> Computer:
    named = _computers.get(source.type)
    if named is None:
        beginnings = (type for type in _computers if type.endswith(":") and source.type.startswith(type))
        named = _computers.get(max(beginnings, key=len, default=""))
    if named is None:
        raise BadRequest(
            f"source.type: {source.type!r} isn't supported. Install the integration"
            " that provides it, or check the spelling."
        )
    return named


def build_input(tx: Transaction, asker: Requester, source: ComputedSource, seed: str) -> ComputeInput:
    """Return the input of the script that computes a page, limited to what the reader can see. Raises BadRequest if a
    dependency is invalid."""
    values = {
        name: _value(tx, asker, f"source.dependencies.{name}", dependency)
        for name, dependency in source.dependencies.items()
    }
    return ComputeInput(asker.space_id, asker.organization_id, source, values, seed)


def _state(tx: Transaction, computer: Computer, asked: ComputeInput, whole: bool) -> bytes:
    more = computer.state(tx, asked, whole) if computer.state is not None else ""
    return blake2b(msgspec.json.encode((asked, more), order="sorted"), digest_size=32).digest()


def _value(tx: Transaction, asker: Requester, where: str, dependency: Dependency) -> object:
    resolve = _resolvers.get(str(dependency.ref.get("kind")))
    if resolve is None:
        raise BadRequest(f"{where}.ref.kind: must be one of {', '.join(sorted(_resolvers))}")
    return resolve(tx, asker, dependency.ref)


def _encoded(source: ComputedSource, document: Document) -> bytes:
    data = to_json(document)
    try:
        from_json(data)
    except DocumentError as error:
        raise BadRequest(f"source.type: {source.type!r} returned an invalid document ({error})") from None
    encoded = msgspec.json.encode(data)
    if len(encoded) > MAX_DOCUMENT:
        raise BadRequest(
            f"source.type: {source.type!r} returned a document larger than {format_size(MAX_DOCUMENT)}"
        )
    return encoded


def _check_result(source: ComputedSource, found: Computed) -> None:
    """Check that a computer returned a valid result: not too large, parents before children, and a unique
    position for each page. Raises BadRequest otherwise."""
    if max(len(found.pages), len(found.items)) > MAX_PAGES:
        raise BadRequest(f"source.type: {source.type!r} returned more than {MAX_PAGES:,} pages or files")
    above: set[str | None] = {None}
    places: set[tuple[str | None, str]] = set()
    for page in found.pages:
        place = (page.parent, page.slug)
        if page.parent not in above or page.id in above or (place in places and page.kind != "link"):
            raise BadRequest(
                f"source.type: {source.type!r} returned the invalid page {page.title!r}. Each page must come"
                " after its parent, and have a unique ID and path."
            )
        above.add(page.id)
        places.add(place)


def _size(page: Page) -> int:
    """Estimate the size of a page in memory."""
    return 900 + len(page.title) + 4 * len(page.description or "")


def _resolve_space(tx: Transaction, asker: Requester, ref: Mapping[str, object]) -> object:
    """Return the ID and the main revision of a space.

    Site visitors can see only the space that they are reading, because a reference on a page doesn't publish its
    target.
    """
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


register_resolver("space", _resolve_space)
