"""APIs on a site: operations for the filter above the navigation, and operations, fields, and models for
search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any
from urllib.parse import quote
from weakref import WeakKeyDictionary

from msgspec import Struct

from octavo.content.revisions.expanding import requester_at
from octavo.core.page_tree import PageTree
from octavo.core.pages import Page
from octavo.delivery.visits.authorization import SpaceVisit
from octavo.kit.db.database import Transaction
from octavo.sites.openapi.description import ApiDescription
from octavo.sites.openapi.index import IndexHit, OperationIndex
from octavo.sites.openapi.models import index_models, list_models
from octavo.sites.openapi.operation_drawing import MANY
from octavo.sites.openapi.pages import (
    Listed,
    authentication_of,
    find_reference,
    list_operations,
    lists_models,
    method_of,
    model_of,
)
from octavo.sites.openapi.trying import Form, make_access

from .views import ApiHit

_LISTED = 5_000
_HITS = 20
"""Maximum number of hits of each kind."""


class _Shown(Struct):
    """Pages generated from one specification, by operation and model. ``first``: one of the pages.
    ``crowded``: the IDs of pages whose fields have no anchors."""

    first: Page
    operations: dict[str, tuple[Page, Listed]] = {}
    crowded: set[str] = set()
    models: dict[str, Page] = {}
    all_models: Page | None = None


_shown: WeakKeyDictionary[PageTree, list[_Shown]] = WeakKeyDictionary()
_indexes: WeakKeyDictionary[ApiDescription, OperationIndex] = WeakKeyDictionary()


def _references(tree: PageTree) -> list[_Shown]:
    """Return the specifications that a space's pages are generated from. The result is cached, because a
    tree never changes."""
    found = _shown.get(tree)
    if found is None:
        by_seed: dict[str, _Shown] = {}
        for page in tree.computed():
            if page.hidden or page.computed is None:
                continue
            listed, model = list_operations(page), model_of(page)
            if not listed and model is None:
                continue
            dependencies = page.computed.get("dependencies")
            one = by_seed.setdefault(repr(dependencies), _Shown(page))
            one.operations.update({f"{each.method} {each.path}": (page, each) for each in listed})
            if len(listed) > MANY:
                one.crowded.add(page.id)
            if model:
                one.models[model] = page
            elif model is not None:
                one.all_models = page
        found = _shown[tree] = list(by_seed.values())
    return found


_authentication: WeakKeyDictionary[PageTree, dict[str, str]] = WeakKeyDictionary()


def find_authentication(tree: PageTree, spec: str) -> str | None:
    """Return the ID of the space's authentication page for a specification's API."""
    found = _authentication.get(tree)
    if found is None:
        pages = ((authentication_of(page), page.id) for page in tree.computed() if not page.hidden)
        # If several pages qualify, use the first.
        found = _authentication[tree] = {name: id for name, id in reversed([*pages]) if name is not None}
    return found.get(spec)


_counts: WeakKeyDictionary[PageTree, dict[str, int]] = WeakKeyDictionary()


def count_operations(tree: PageTree, page: Page) -> int:
    """Return the number of operations that a page shows or links to; 0 for the page of a single operation. The numbers
    are computed for all pages at once, because every page of a reference shows the numbers for all tags."""
    found = _counts.get(tree)
    if found is None:
        found = {}
        for each in tree.computed():
            if method_of(each) is None:
                found[each.id] = found.get(each.id, 0) + len(list_operations(each))
            elif each.parent is not None:
                found[each.parent] = found.get(each.parent, 0) + 1
        _counts[tree] = found
    return found.get(page.id, 0)


def shows_operations(tree: PageTree) -> bool:
    return any(one.operations for one in _references(tree))


def list_shown_operations(visit: SpaceVisit) -> list[tuple[str, str, str, str]]:
    """Return the method, path, title, and URL of all operations on pages of a space."""
    found = (entry for one in _references(visit.view.tree) for entry in one.operations.values())
    return [
        (each.method.upper(), each.path, each.title, _address(visit, page, each.anchor))
        for page, each in islice(found, _LISTED)
    ]


def list_shown_models(tx: Transaction, visit: SpaceVisit, page_id: str) -> list[Any] | None:
    """Return the models that a page lists, each with its page, for the filter above the list; None for pages
    that don't list models."""
    page = visit.view.tree.page(page_id)
    found = find_reference(tx, requester_at(tx, visit.view.state.space_id, None), page) if page else None
    if page is None or found is None or not lists_models(page):
        return None
    shown = next((one for one in _references(visit.view.tree) if _share_specification(one.first, page)), None)
    pages = shown.models if shown is not None else {}
    listed = [model for model in list_models(found[0]) if model.name in pages]
    return index_models(listed, lambda name: _address(visit, pages[name], ""))


def find_access_form(tx: Transaction, visit: SpaceVisit, page: Page) -> Form | None:
    """Return the fields of an authentication page's form; None for other pages."""
    if authentication_of(page) is None:
        return None
    found = find_reference(tx, requester_at(tx, visit.view.state.space_id, None), page)
    form = make_access(found[0]) if found is not None else None
    return form if form is not None and form.security and form.servers else None


def _share_specification(one: Page, other: Page) -> bool:
    """Return whether two pages are generated from the same specification."""
    return (one.computed or {}).get("dependencies") == (other.computed or {}).get("dependencies")


def find_in_references(
    tx: Transaction, spaces: Sequence[SpaceVisit], query: str
) -> dict[str, tuple[ApiHit, ...]]:
    """Search operations, fields, and models. Return hits of each kind, only from pages that this visitor can
    see."""
    found: dict[str, list[ApiHit]] = {"operations": [], "fields": [], "models": []}
    for visit in spaces:
        for one in _references(visit.view.tree):
            known = find_reference(tx, requester_at(tx, visit.view.state.space_id, None), one.first)
            if known is None:
                continue
            description = known[0]
            index = _indexes.get(description)
            if index is None:
                index = _indexes[description] = OperationIndex(description)
            for kind, hit in _hits(visit, one, index.find(query)):
                if len(found[kind]) < _HITS:
                    found[kind].append(hit)
    return {kind: tuple(hits) for kind, hits in found.items()}


def _hits(visit: SpaceVisit, shown: _Shown, found: Iterator[IndexHit]) -> Iterator[tuple[str, ApiHit]]:
    for each in found:
        if each.operation is None:
            page = shown.models.get(each.model) or shown.all_models
            if page is None:
                continue
            alone = each.model in shown.models
            if each.kind == "model":
                href = _address(visit, page, "" if alone else each.id)
                yield "models", ApiHit(title=each.name, href=href, about=each.about)
            else:
                href = _address(visit, page, each.id)
                yield "fields", ApiHit(title=each.name, href=href, path=each.model, about=each.about)
            continue
        there = shown.operations.get(each.operation.key)
        if there is None:
            continue
        page, listed = there
        method = each.operation.method
        if each.kind == "operation":
            href = _address(visit, page, listed.anchor)
            yield "operations", ApiHit(title=listed.title, href=href, method=method, path=listed.path)
        else:
            anchor = f"{listed.anchor}.{each.id}" if listed.anchor else each.id
            href = _address(visit, page, listed.anchor if page.id in shown.crowded else anchor)
            yield (
                "fields",
                ApiHit(title=each.name, href=href, method=method, path=listed.title, about=each.about),
            )


def _address(visit: SpaceVisit, page: Page, anchor: str) -> str:
    place = f"#{quote(anchor)}" if anchor else ""
    return f"{visit.base}{quote(visit.view.tree.url_path(page))}{place}"
