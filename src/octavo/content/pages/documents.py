"""Documents of a state in the API's format: parsed from their sources, with references resolved for the caller.

States are immutable, so results are cached by state and by the revisions of the other spaces that were consulted, and
never become outdated.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec
from msgspec import Raw

from octavo.content.references.lookup import Owner
from octavo.content.references.resolving import Resolver
from octavo.content.revisions.bodies import get_body
from octavo.content.revisions.item_versions import list_variables
from octavo.content.revisions.keys import keyed_document
from octavo.content.revisions.states import State
from octavo.core.document.containing import contained
from octavo.core.document.evaluating import evaluate_document
from octavo.core.document.json import to_json
from octavo.core.document.nodes import Document
from octavo.core.document.page import split_page
from octavo.core.document.reader import read
from octavo.core.document.writing import write
from octavo.core.expressions import Shown
from octavo.core.json_types import JsonObject
from octavo.kit.db.cache import OwnCache
from octavo.kit.db.database import Transaction

_json_cache: OwnCache[bytes] = OwnCache("documents as JSON", 16)
_asked: OwnCache[tuple[str, ...]] = OwnCache("spaces that documents depend on", 2)
"""Cache of the other spaces that a document's references were looked up in."""

Evaluated = Literal["true", "false", "deterministic-only"]


def shown_on(tx: Transaction, state: State, page_variables: Mapping[str, object]) -> Shown:
    """Return the values of expressions on a page for an anonymous visitor."""
    return Shown(list_variables(tx, state), page_variables)


def evaluate_document_for(
    tx: Transaction, state: State, document: Document, mode: Evaluated, page_variables: Mapping[str, object]
) -> Document:
    """Return the document with its expressions replaced by values. ``mode``: how to evaluate them."""
    if mode == "false":
        return document
    shown = shown_on(tx, state, page_variables)
    return evaluate_document(document, shown, deterministic=mode == "deterministic-only")


def document_json(
    tx: Transaction,
    state: State,
    resolver: Resolver,
    owner: Owner,
    body: str | None,
    evaluated: Evaluated = "false",
    page_variables: Mapping[str, object] | None = None,
) -> Raw:
    """Return a document in the API's format, encoded as JSON. ``evaluated``: whether to replace expressions with their
    values."""
    key = (state.key, owner, body, evaluated)
    asked = _asked.of(tx).get(key)
    if asked is not None and (kept := _json_cache.of(tx).get((*key, resolver.revisions(asked)))) is not None:
        return Raw(kept)

    def shown(document: Document) -> JsonObject:
        document = resolver.resolve_all(document, owner)
        return to_json(evaluate_document_for(tx, state, document, evaluated, page_variables or {}))

    encoded = msgspec.json.encode(contained("json", lambda: keyed_document(tx, owner.id, body), shown))
    asked = resolver.asked
    _asked.of(tx).put(key, asked, 200 + 40 * len(asked))
    _json_cache.of(tx).put((*key, resolver.revisions(asked)), encoded, len(encoded))
    return Raw(encoded)


def page_markdown(
    tx: Transaction,
    state: State,
    body: str | None,
    evaluated: Evaluated,
    page_variables: Mapping[str, object],
) -> str:
    """Return the original text of a page file, or that text with only its expressions replaced by values."""
    source = get_body(tx, body) if body else ""
    if evaluated == "false":
        return source
    front, heading, text = split_page(source)

    def shown(document: Document) -> str:
        return write(evaluate_document_for(tx, state, document, evaluated, page_variables))

    return front + heading + contained("markdown", lambda: read(text), shown)
