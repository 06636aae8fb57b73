"""Documents of a state as the API shows them: parsed from their sources, with references resolved for the caller.

States are immutable, so what is made here is kept by the state, and by the revisions of other spaces that were
looked into, and never becomes wrong.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Raw

from octavo.content.references.lookup import Owner
from octavo.content.references.resolving import Resolver
from octavo.content.revisions.bodies import get_body
from octavo.content.revisions.keys import keyed_document
from octavo.content.revisions.store import State, list_variables
from octavo.core.document.containing import contained
from octavo.core.document.evaluating import evaluate_document
from octavo.core.document.json import to_json
from octavo.core.document.nodes import Document
from octavo.core.document.page import split_page
from octavo.core.document.reader import read
from octavo.core.document.writing import write
from octavo.core.expressions import Shown
from octavo.kit.db.cache import OwnCache
from octavo.kit.db.database import Transaction

_json_cache: OwnCache[bytes] = OwnCache("documents as JSON", 16)
_asked: OwnCache[tuple[str, ...]] = OwnCache("spaces that documents ask", 2)
"""Which other spaces a document's references were looked up in."""

Evaluated = Literal["true", "false", "deterministic-only"]


def shown_on(tx: Transaction, state: State, page_variables: dict[str, Any]) -> Shown:
    """What expressions on a page give to a visitor who has proved nothing."""
    return Shown(list_variables(tx, state), page_variables)


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
    resolver: Resolver,
    owner: Owner,
    body: str | None,
    evaluated: Evaluated = "false",
    page_variables: dict[str, Any] | None = None,
) -> Raw:
    """The document as the API shows it, encoded; ``evaluated`` puts values in the place of expressions."""
    key = (state.revision_id, owner, body, evaluated)
    asked = _asked.of(tx).get(key)
    if asked is not None and (kept := _json_cache.of(tx).get((*key, resolver.revisions(asked)))) is not None:
        return Raw(kept)

    def shown(document: Document) -> dict[str, Any]:
        document = resolver.resolve_all(document, owner)
        return to_json(evaluated_document(tx, state, document, evaluated, page_variables or {}))

    encoded = msgspec.json.encode(contained("json", lambda: keyed_document(tx, owner.id, body), shown))
    asked = resolver.asked
    _asked.of(tx).put(key, asked, 200 + 40 * len(asked))
    _json_cache.of(tx).put((*key, resolver.revisions(asked)), encoded, len(encoded))
    return Raw(encoded)


def markdown_of(
    tx: Transaction, state: State, body: str | None, evaluated: Evaluated, page_variables: dict[str, Any]
) -> str:
    """A page file as it was written; or with values in the place of expressions, all else unchanged."""
    source = get_body(tx, body) if body else ""
    if evaluated == "false":
        return source
    front, heading, text = split_page(source)

    def shown(document: Document) -> str:
        return write(evaluated_document(tx, state, document, evaluated, page_variables))

    return front + heading + contained("markdown", lambda: read(text), shown)
