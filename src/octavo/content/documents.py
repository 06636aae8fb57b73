"""Documents of a state: parsed from their sources, with references resolved against that state.

States are immutable, so what is made here is cached by the state and never becomes wrong.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any, Literal, Protocol
from urllib.parse import unquote

import msgspec
from msgspec import Raw

from ..core import links
from ..core.document import Document, Reference, evaluate_document, read, rewrite, split_page, to_json, write
from ..core.expressions import Shown
from ..kit.cache import ByteCache
from ..kit.db import Transaction
from . import store
from .bodies import get_body
from .keys import keyed_document
from .store import State

_CACHE_BYTES = 64 * 1024 * 1024
_json_cache: ByteCache[bytes] = ByteCache(_CACHE_BYTES)
_EMPTY = Document(nodes=[], gaps=[""])


class Lookup(links.Lookup, Protocol):
    """What references mean: pages, files, and reusable contents by the path of their file."""

    def find_reusable(self, path: str) -> str | None: ...


class StateLookup:
    """What a state knows of its own files, asked one by one and remembered for one request."""

    def __init__(self, tx: Transaction, state: State) -> None:
        self._tx = tx
        self._state = state
        self._known: dict[tuple[str, str], str | None] = {}

    def _remember(self, question: str, key: str, ask: Any) -> str | None:
        known = self._known
        if (question, key) not in known:
            found = ask()
            known[question, key] = found.id if found is not None else None
        return known[question, key]

    def find_page(self, file_path: str) -> str | None:
        return self._remember(
            "file", file_path, lambda: store.find_page_by_file(self._tx, self._state, file_path)
        )

    def find_page_by_path(self, path: str) -> str | None:
        return self._remember("path", path, lambda: store.find_page_by_path(self._tx, self._state, path))

    def find_page_by_id(self, page: str) -> str | None:
        return self._remember("page", page, lambda: store.find_page(self._tx, self._state, page))

    def find_file(self, path: str) -> str | None:
        return self._remember("item", path, lambda: self._file(path))

    def _file(self, path: str) -> store.Item | None:
        item = store.find_item_by_path(self._tx, self._state, path)
        return item if item is not None and item.kind == "file" else None

    def find_file_by_id(self, file: str) -> str | None:
        return self._remember("file id", file, lambda: store.find_item(self._tx, self._state, file, "file"))

    def find_reusable(self, path: str) -> str | None:
        return self._remember("reusable", path, lambda: self._reusable(path))

    def _reusable(self, path: str) -> store.Item | None:
        item = store.find_item_by_path(self._tx, self._state, path)
        return item if item is not None and item.kind == "reusable-content" else None


def read_source(tx: Transaction, body: str | None) -> Document:
    """The document of a page file, as written."""
    return read(split_page(get_body(tx, body))[2]) if body else msgspec.structs.replace(_EMPTY)


def resolved_document(
    tx: Transaction, state: State, owner_id: str, body: str | None, file_path: str | None
) -> Document:
    """The document of a page or reusable content with its keys and what its references mean in this state."""
    return resolve_all(StateLookup(tx, state), keyed_document(tx, owner_id, body), file_path)


def resolve_all(lookup: Lookup, document: Document, file_path: str | None) -> Document:
    """Puts, in place, what every reference of a document means to ``lookup``."""

    def change(reference: Reference) -> dict[str, Any] | None:
        return resolve(lookup, file_path, reference.ref, reference.type)

    return rewrite(document, change)


def resolve(lookup: Lookup, file_path: str | None, ref: dict[str, Any], type: str) -> dict[str, Any]:
    """The ContentRef that a reference as written means; one that means nothing here stays as it was written."""
    written = ref.get("url")
    if ref.get("kind") != "url" or not isinstance(written, str):
        return ref
    if type == "reusable-content":
        folder = posixpath.dirname(file_path or "")
        path = posixpath.normpath(posixpath.join(folder, unquote(written))).lstrip("/")
        found = lookup.find_reusable(path)
        return {"kind": "reusable-content", "reusableContent": found} if found else ref
    if (named := by_kind(written)) is not None and named["kind"] in ("user", "collection"):
        return named
    target = links.resolve(written, lookup, file_path or "")
    content_ref = _content_ref(target)
    if type in ("image", "inline-image", "drawing", "file", "embed") and content_ref.get("kind") != "file":
        return ref
    return content_ref if content_ref.get("kind") != "url" else ref


_BY_KIND = re.compile(r"(page|file|user|collection|space|reusable-content|openapi):([A-Za-z0-9_.-]{1,64})")
_ID_FIELD = {"reusable-content": "reusableContent", "openapi": "spec"}


def by_kind(written: str) -> dict[str, Any] | None:
    """The ContentRef of something named by its id, as files name what has no path: ``user:1a2b``."""
    named = _BY_KIND.fullmatch(written)
    return {"kind": named[1], _ID_FIELD.get(named[1], named[1]): named[2]} if named else None


def _content_ref(target: links.Target) -> dict[str, Any]:
    space = {"space": target.space} if target.space else {}
    if target.kind in ("page", "anchor"):
        if target.kind == "page" and target.page is None and target.space:
            return {"kind": "space", **space}
        page = {"page": target.page} if target.page else {}
        if target.anchor:
            return {"kind": "anchor", "anchor": target.anchor, **page, **space}
        return {"kind": "page", **page, **space}
    if target.kind == "file":
        return {"kind": "file", "file": target.file}
    if target.kind == "space":
        return {"kind": "space", **space}
    return {"kind": "url", "url": target.url or ""}


def resolve_reference(tx: Transaction, state: State, file_path: str | None, written: str) -> dict[str, Any]:
    """A cover's reference: a file of the state, or the URL as written."""
    return resolve(StateLookup(tx, state), file_path, {"kind": "url", "url": written}, "image")


Evaluated = Literal["true", "false", "deterministic-only"]


def shown_on(tx: Transaction, state: State, page_variables: dict[str, Any]) -> Shown:
    """What expressions on a page give to a visitor who has proved nothing."""
    return Shown(store.list_variables(tx, state), page_variables)


def evaluated_document(
    tx: Transaction, state: State, document: Document, mode: Evaluated, page_variables: dict[str, Any]
) -> Document:
    """The document with values in the place of expressions, as ``mode`` asks."""
    if mode == "false":
        return document
    shown = shown_on(tx, state, page_variables)
    return evaluate_document(document, shown, deterministic=mode == "deterministic-only")


def document_json(
    tx: Transaction,
    state: State,
    owner_id: str,
    body: str | None,
    file_path: str | None,
    evaluated: Evaluated = "false",
    page_variables: dict[str, Any] | None = None,
) -> Raw:
    """The document as the API shows it, encoded; ``evaluated`` puts values in the place of expressions."""
    key = (state.revision_id, owner_id, body, file_path, evaluated)
    encoded = _json_cache.get(key)
    if encoded is None:
        document = resolved_document(tx, state, owner_id, body, file_path)
        document = evaluated_document(tx, state, document, evaluated, page_variables or {})
        encoded = msgspec.json.encode(to_json(document))
        _json_cache.put(key, encoded, len(encoded))
    return Raw(encoded)


def markdown_of(
    tx: Transaction, state: State, body: str | None, evaluated: Evaluated, page_variables: dict[str, Any]
) -> str:
    """A page file as it was written; or with values in the place of expressions, all else unchanged."""
    source = get_body(tx, body) if body else ""
    if evaluated == "false":
        return source
    front, heading, text = split_page(source)
    return front + heading + write(evaluated_document(tx, state, read(text), evaluated, page_variables))
