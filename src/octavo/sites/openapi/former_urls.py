"""Former URLs of operations that were moved or removed, computed from older versions of a specification.

Versions never change, so the URLs of each version are computed once, when a missing page of a reference is
first requested, and cached in memory.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import Struct

from octavo.content.revisions.bodies import get_body
from octavo.content.revisions.computing import ComputedSource, ComputeInput, build_input, compute_revision
from octavo.content.revisions.expanding import requester_at, source_of
from octavo.content.revisions.page_versions import list_computed
from octavo.content.revisions.states import State
from octavo.core.page_tree import PageTree
from octavo.core.pages import Page, slugify
from octavo.errors import BadRequest
from octavo.kit.db.cache import OwnCache
from octavo.kit.db.database import Transaction

from . import store
from .description import ApiDescription, DescribedOperation, text_of
from .pages import COMPARED_BYTES, RELEASES, TYPE, find_version_of, lay_out, load, page_of
from .words import ENGLISH


class _FormerPage(Struct, frozen=True):
    """Page of an operation or webhook in a version. ``above``: the slugs of its ancestors, starting at the
    source. ``parent``: the key of its parent page."""

    key: str
    id: str
    title: str
    is_webhook: bool
    parent: str
    above: tuple[str, ...]


class _Release(Struct, frozen=True):
    """Version of a specification. ``said``: its version number in the specification. ``pages``: its pages by
    the last path segment."""

    said: str
    pages: dict[str, list[_FormerPage]]
    keys: frozenset[str]


class Gone(Struct, frozen=True):
    """Operation that was removed. ``since``: the name of the first version without the operation. ``at``: the time
    in milliseconds when that version was published. ``instead``: the page of the operation that now uses the ID of
    the removed operation. ``changes``: the changelog page."""

    title: str
    method: str
    path: str
    since: str
    at: int
    instead: Page | None = None
    changes: Page | None = None


_SLUG = re.compile(r"[\w-]+")

_former: OwnCache[_Release] = OwnCache("former URLs of APIs", 4)


def find_former(tx: Transaction, state: State, tree: PageTree, path: str) -> Page | Gone | None:
    """Return the current target of a broken URL for a visitor who sees ``tree``: either the page that now
    shows the same operation, or details about a removed operation. ``path``: the path within the space,
    without a suffix."""
    above, _, name = path.strip("/").rpartition("/")
    # Operations are under their tag's page, and most broken URLs don't even look like page URLs.
    if not above or not _SLUG.fullmatch(name):
        return None
    asker = requester_at(tx, state.space_id, None)
    for page in list_computed(tx, state):
        source = source_of(page)
        parent = tree.page(page.parent) if page.parent is not None else None
        root = tree.path(parent) if parent is not None else ""
        is_below = not root or above.startswith(f"{root}/")
        if not is_below or source is None or source.type != TYPE or "spec" not in source.dependencies:
            continue
        try:
            computed, _ = compute_revision(tx, asker, source, page.id)
            asked = build_input(tx, asker, source, page.id)
        except BadRequest:
            continue
        newest = find_version_of(tx, asker, source.dependencies["spec"].ref)
        # Visitors who can't see the reference don't learn anything about its history.
        if newest is not None and any(tree.page(each.id) is not None for each in computed.pages):
            found = _find(tx, asked, tree, newest, page.created_at, root, above, name)
            if found is not None:
                return found
    return None


def _find(
    tx: Transaction,
    asked: ComputeInput,
    tree: PageTree,
    newest: store.VersionRow,
    begun: int,
    root: str,
    above: str,
    name: str,
) -> Page | Gone | None:
    """Find the page or the removed operation. ``root``: the path of the reference's pages. ``begun``: the time when the
    reference was created. Earlier versions stay private, because this site never showed them."""
    shown = load(tx, newest)
    later = [(newest, frozenset((*shown.operations, *shown.webhooks)), text_of(shown.info.get("version")))]
    for was in _release(tx, asked.source, newest).pages.get(name, ()):
        if above == _find_path_above(tree, asked, root, was):
            return _resolve_former(tree, asked, shown, was, later)
    read, version = 0, newest
    for before in store.list_versions_before(tx, newest, RELEASES):
        read += version.size
        if read > COMPARED_BYTES or version.created_at < begun:
            return None
        release = _release(tx, asked.source, before)
        for was in release.pages.get(name, ()):
            if above == _find_path_above(tree, asked, root, was):
                return _resolve_former(tree, asked, shown, was, later)
        later.append((before, release.keys, release.said))
        version = before
    return None


def _find_path_above(tree: PageTree, asked: ComputeInput, root: str, was: _FormerPage) -> str:
    """Return the current path of the parent page, or its former path."""
    parent = tree.page(asked.id(was.parent))
    if parent is not None:
        return tree.path(parent)
    return "/".join([*([root] if root else []), *was.above])


def _resolve_former(
    tree: PageTree,
    asked: ComputeInput,
    shown: ApiDescription,
    was: _FormerPage,
    later: list[tuple[store.VersionRow, frozenset[str], str]],
) -> Page | Gone | None:
    def page_now(operation: DescribedOperation | None) -> Page | None:
        grouping = str(asked.source.props.get("grouping") or "")
        return tree.page(page_of(shown, operation, asked, grouping)) if operation is not None else None

    now = (shown.webhooks if was.is_webhook else shown.operations).get(was.key)
    if now is not None:
        return page_now(now)
    version, _, said = next(each for each in reversed(later) if was.key not in each[1])
    method, _, path = was.key.partition(" ")
    same = shown.by_id.get(was.id) if was.id and not was.is_webhook else None
    return Gone(
        was.title,
        "event" if was.is_webhook else method,
        path,
        said[:100],
        version.created_at,
        page_now(same),
        tree.page(asked.id("changes")),
    )


def _release(tx: Transaction, source: ComputedSource, version: store.VersionRow) -> _Release:
    grouping = source.props.get("grouping")
    key = f"{version.document} {grouping == 'by-operation'}"
    found = _former.of(tx).get(key)
    if found is None:
        # Older versions are large and needed only for this purpose, so they aren't cached themselves.
        description = ApiDescription(msgspec.json.decode(get_body(tx, version.document)))
        found = _addresses(description, ComputedSource(TYPE, {"grouping": grouping}))
        size = sum(400 + len(name) for name, pages in found.pages.items() for _ in pages)
        _former.of(tx).put(key, found, size + 120 * len(found.keys) + 1)
    return found


def _addresses(description: ApiDescription, source: ComputedSource) -> _Release:
    made = lay_out(ComputeInput("", "", source, {}, ""), description, ENGLISH)
    pages: dict[str, list[_FormerPage]] = {}
    by_id = {page.id: page for page in made.pages}
    known: dict[str, Any] = {
        **description.operations,
        **{f"webhook {key}": each for key, each in description.webhooks.items()},
    }
    for page in made.pages:
        operation = known.get(made.keys[page.id])
        if operation is None or page.parent is None:
            continue
        above: list[str] = []
        here: Page | None = by_id[page.parent]
        while here is not None:
            above.append(here.slug)
            here = by_id[here.parent] if here.parent is not None else None
        was = _FormerPage(
            operation.key,
            text_of(operation.data.get("operationId")),
            operation.title,
            operation.webhook,
            made.keys[page.parent],
            tuple(reversed(above)),
        )
        # Until November 2026, URLs were derived from whole summaries.
        for name in {page.slug, slugify(operation.summary)} if operation.summary else {page.slug}:
            pages.setdefault(name, []).append(was)
    keys = frozenset((*description.operations, *description.webhooks))
    return _Release(text_of(description.info.get("version")), pages, keys)
