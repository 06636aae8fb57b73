"""Find people and API specifications that pages mention, so that visitors can request them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from octavo.content.revisions.restrictions import shown_state
from octavo.core.links import app_hosts
from octavo.core.pages import Page
from octavo.kit.db.cache import OwnCache
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Visitor

from .resolving import Resolver
from .row import IS_CURRENT
from .showing import ViewDocuments
from .viewing import SiteVisitor, SpaceView, ViewFiles, load_view, visitor_of_token

NamedKind = Literal["user", "openapi"]

_FIELD = {"user": "user", "openapi": "spec"}
_found: OwnCache[bool] = OwnCache("spaces with mentioned people", 1)


def list_spaces_naming_person(tx: Transaction, user_id: str) -> list[str]:
    """Return the spaces whose main version mentions a person, whether or not visitors can see the mention."""
    rows = tx.all(
        f"""SELECT DISTINCT r.space_id FROM content_references r
            WHERE r.target_space IS NULL AND r.target = :user AND r.kind = 'user' AND {IS_CURRENT}""",
        user=user_id,
    )
    return [row[0] for row in rows]


def list_spaces_naming_spec(tx: Transaction, organization_id: str, slug: str) -> list[str]:
    """Return the spaces of an organization whose main version uses an API specification, in a computed page
    or a block."""
    rows = tx.all(
        f"""SELECT DISTINCT r.space_id FROM content_references r JOIN spaces s ON s.id = r.space_id
            WHERE r.target_space IS NULL AND r.target = :slug AND r.kind = 'openapi' AND s.organization_id = :org
              AND {IS_CURRENT}""",
        slug=slug,
        org=organization_id,
    )
    return [row[0] for row in rows]


def find_pages_with(tx: Transaction, space_id: str, kind: str, targets: list[str]) -> set[str]:
    """Return the IDs of the pages of main that refer to one of these targets, directly or in reusable content."""

    def owners(kind: str, targets: list[str]) -> dict[str, list[str]]:
        rows = tx.all(
            f"""SELECT DISTINCT r.owner_kind, r.owner_id FROM content_references r
                WHERE r.space_id = :space AND r.kind = :kind AND r.target IN :targets AND {IS_CURRENT}""",
            space=space_id,
            kind=kind,
            targets=targets,
        )
        found: dict[str, list[str]] = {"page": [], "reusable-content": []}
        for owner_kind, owner_id in rows:
            found[owner_kind].append(owner_id)
        return found

    direct = owners(kind, targets)
    pages = set(direct["page"])
    if direct["reusable-content"]:
        pages |= set(owners("reusable-content", direct["reusable-content"])["page"])
    return pages


def is_named_for(tx: Transaction, visitor: Visitor, url: str, kind: NamedKind, target: str) -> bool:
    """Return whether a page that the visitor can see mentions a person by ID, or an API specification by
    slug. ``url``: the URL of this server."""
    for space_id in sorted(visitor.spaces):
        view = load_view(tx, shown_state(tx, visitor.drafted, space_id), visitor.claims)
        key = (view.state.key, view.computed, _encoded(visitor.claims), kind, target)
        found = _found.of(tx).get(key)
        if found is None:
            found = _find_in_pages(tx, view, visitor, url, kind, target)
            _found.of(tx).put(key, found, 300)
        if found:
            return True
    return False


def _find_in_pages(
    tx: Transaction, view: SpaceView, visitor: Visitor, url: str, kind: NamedKind, target: str
) -> bool:
    wanted = {"kind": kind, _FIELD[kind]: target}
    if any(_is_made_of(page, wanted) for page in view.tree):
        return True
    documents = documents_for(tx, view, visitor_of_token(tx, visitor), url)
    pages = map(view.tree.page, sorted(find_pages_with(tx, view.state.space_id, kind, [target])))
    return any(
        page is not None and page.kind == "document" and documents.has_reference(page, wanted)
        for page in pages
    )


def documents_for(tx: Transaction, view: SpaceView, visitor: SiteVisitor, url: str) -> ViewDocuments:
    """Return the documents of a space as presented to a visitor of a site."""
    resolver = Resolver(ViewFiles(tx, view, withheld=True), app_hosts(url), visitor)
    return ViewDocuments(tx, view, resolver)


def _is_made_of(page: Page, wanted: Mapping[str, object]) -> bool:
    """Return whether a page is computed from the target ``wanted``."""
    given = (page.computed or {}).get("dependencies")
    dependencies = given.values() if isinstance(given, dict) else ()
    return any(isinstance(one, dict) and one.get("ref") == wanted for one in dependencies)


def _encoded(claims: Mapping[str, object]) -> bytes:
    return msgspec.json.encode(claims, order="sorted")
