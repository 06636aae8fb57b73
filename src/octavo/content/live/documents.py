"""Documents of live pages in memory. A document can be dropped at any time, because the rows contain the same data."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Sequence
from threading import Lock

import msgspec
from msgspec import Struct
from prosemirror.model import Node

from octavo.content.references.resolving import page_owner, state_resolver
from octavo.content.revisions.history import find_last_update, find_revision_at
from octavo.content.revisions.keys import keyed_document
from octavo.content.revisions.page_versions import (
    find_access_change,
    find_page,
    has_restricted,
    list_ancestors,
)
from octavo.content.revisions.restrictions import unrestricted
from octavo.content.revisions.states import Layer, State, main_state
from octavo.core.document.containing import contained
from octavo.core.document.json import to_json
from octavo.core.document.nodes import Document
from octavo.core.editor.differences import SavedBlock
from octavo.core.editor.reading import read_document
from octavo.core.editor.schema import SCHEMA
from octavo.core.editor.steps import Ranges, StepJson, apply_steps, ranges_of
from octavo.core.json_types import JsonObject
from octavo.core.links import app_hosts
from octavo.core.pages import Page
from octavo.errors import Conflict, NotFound
from octavo.kit.context import Context
from octavo.kit.db.database import Database, Transaction

from . import store
from .store import BatchRow, LiveRow, PageKey

_TAIL = 400
"""Number of batches that are kept in memory with a document, for clients that are behind."""
_MOST_SIZE = 2_000_000
"""Maximum size of all documents, in ProseMirror positions: about 100 MB with their saved blocks."""
_IDLE_SECONDS = 120.0
"""Number of seconds after which an unused document is dropped from memory."""


class LoadedBatch(Struct, frozen=True):
    """Batch, with the ranges that its steps changed."""

    row: BatchRow
    ranges: tuple[Ranges, ...]

    @property
    def before(self) -> int:
        """Return the version of the page before the batch's first step."""
        return self.row.version - len(self.ranges)


class LivePage(Struct, frozen=True):
    """Document of a live page at a version, with the most recent batches."""

    epoch: str
    version: int
    doc: Node
    tail: tuple[LoadedBatch, ...] = ()

    def with_steps(self, row: BatchRow, steps: Sequence[StepJson]) -> LivePage:
        """Return the page after a batch. Raises StepError if a step can't be applied."""
        applied = apply_steps(self.doc, steps)
        tail = (*self.tail[-_TAIL:], LoadedBatch(row, tuple(applied.ranges)))
        return LivePage(self.epoch, row.version, applied.doc, tail)


class SavedBlocks(Struct, frozen=True):
    """Blocks of a page by key, in order, as saved in the source ``body``."""

    body: str
    blocks: dict[str, SavedBlock]


class LivePages:
    """Documents of live pages that this process has in memory."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._pages: dict[PageKey, tuple[LivePage, float]] = {}
        """Documents with the times at which they were last used, most recent last."""
        self._saved: dict[PageKey, SavedBlocks] = {}
        self._size = 0

    def find(self, key: PageKey) -> LivePage | None:
        with self._lock:
            found = self._pages.pop(key, None)
            if found is None:
                return None
            self._pages[key] = (found[0], time.monotonic())
            return found[0]

    def keep(self, key: PageKey, page: LivePage) -> None:
        """Keep a document in memory. Its rows must already be committed."""
        # Processes for jobs drop them only here.
        self.drop_idle()
        with self._lock:
            self._remove(key)
            self._pages[key] = (page, time.monotonic())
            self._size += page.doc.content.size
            while self._size > _MOST_SIZE and len(self._pages) > 1:
                self._drop(next(iter(self._pages)))

    def find_saved(self, key: PageKey) -> SavedBlocks | None:
        """Return the blocks of a page as this process last saved them."""
        with self._lock:
            return self._saved.get(key)

    def keep_saved(self, key: PageKey, saved: SavedBlocks) -> None:
        with self._lock:
            if key in self._pages:
                self._saved[key] = saved

    def drop_idle(self) -> None:
        until = time.monotonic() - _IDLE_SECONDS
        with self._lock:
            for key in [key for key, (_, used_at) in self._pages.items() if used_at <= until]:
                self._drop(key)

    def _drop(self, key: PageKey) -> None:
        self._remove(key)
        self._saved.pop(key, None)

    def _remove(self, key: PageKey) -> None:
        found = self._pages.pop(key, None)
        if found is not None:
            self._size -= found[0].doc.content.size


def live_pages(owner: Database | Transaction) -> LivePages:
    found: LivePages | None = owner.caches.get(LivePages)
    return found if found is not None else owner.caches.setdefault(LivePages, LivePages())


def unwritten_page(
    context: Context, tx: Transaction, key: PageKey, epoch: str, state: State, page: Page
) -> LivePage:
    """Return a page that no one has edited live yet, as version 0 of the epoch that the first step will start."""
    found = live_pages(tx).find(key)
    if found is None or (found.epoch, found.version) != (epoch, 0):
        found = LivePage(epoch, 0, document_of(context, tx, state, page))
        live_pages(tx).keep(key, found)
    return found


def load_page(tx: Transaction, key: PageKey, row: LiveRow) -> LivePage:
    """Return a page at the version of its row, using data in memory where possible."""
    page = live_pages(tx).find(key)
    if page is None or page.epoch != row.epoch or page.version > row.version:
        snapshot = store.find_snapshot(tx, key)
        assert snapshot is not None
        version, document = snapshot
        page = LivePage(row.epoch, version, Node.from_json(SCHEMA, msgspec.json.decode(document)))
    if page.version < row.version:
        for batch in store.list_batches(tx, key, page.version):
            page = page.with_steps(batch, msgspec.json.decode(batch.steps))
    return page


def read_page(tx: Transaction, key: PageKey, row: LiveRow) -> LivePage:
    """Return a page as ``load_page`` does, but in a read transaction, and keep the page in memory."""
    page = load_page(tx, key, row)
    live_pages(tx).keep(key, page)
    return page


def batches_after(
    tx: Transaction, key: PageKey, page: LivePage, version: int, most: int = -1
) -> list[LoadedBatch] | None:
    """Return the batches after a version; None if they are no longer available. ``most``: the maximum number
    of batches."""
    if version == page.version:
        return []
    if page.tail and page.tail[0].before <= version:
        found = [batch for batch in page.tail if batch.row.version > version]
    else:
        rows = store.list_batches(tx, key, version, most)
        found = [LoadedBatch(row, _ranges(msgspec.json.decode(row.steps))) for row in rows]
    # If the clock was changed, batches between others may have expired.
    is_complete = all(one.row.version == other.before for one, other in itertools.pairwise(found))
    return found if found and found[0].before <= version and is_complete else None


def find_first_version(tx: Transaction, key: PageKey, state: State) -> int:
    """Return the version of a page since which the rules for who can see the page haven't changed. Earlier steps can
    contain text that some of the people who can see the page now weren't allowed to see. ``state``: the state of the
    page's branch."""
    if not has_restricted(tx, state):
        return 0
    page = find_page(tx, state.whole, key.page_id)
    ids = [one.id for one in [*list_ancestors(tx, state, page), page]] if page is not None else [key.page_id]
    main, (top, *below) = main_state(tx, state.space_id), state.layers
    states = [state, main] if below else [state]
    changes = [(each.layers[0], find_access_change(tx, each, ids)) for each in states]
    revisions = [find_revision_at(tx, Layer(layer.branch_id, at)) for layer, at in changes if at is not None]
    if below:
        # An update can also change the rules of pages above this page that the change request doesn't edit.
        revisions.append(find_last_update(tx, top))
    moments = [revision.created_at for revision in revisions if revision is not None]
    return (store.find_version_at(tx, key, max(moments)) or 0) if moments else 0


def _ranges(steps: Iterable[StepJson]) -> tuple[Ranges, ...]:
    return tuple(map(ranges_of, steps))


def encode_document(doc: Node) -> str:
    return msgspec.json.encode(doc.to_json()).decode()


# --- documents of revisions ---------------------------------------------------------------------------


def editable_page(tx: Transaction, state: State, page_id: str) -> Page:
    """Return a page that can be edited live. Raises NotFound or Conflict if it can't be edited."""
    page = find_page(tx, state, page_id)
    if page is None:
        raise NotFound(f"There is no page with the ID {page_id!r} in this version of the space.")
    if page.kind != "document" or page.computed:
        raise Conflict("This page has no document, so it can't be edited.")
    return page


class _EveryEditor:
    """Viewer who sees only content that every editor of a space can see. References to other spaces stay URLs."""

    members = True

    def sees(self, space_id: str) -> bool:
        return False

    def files(self, space_id: str) -> None:
        return None


def blocks_of(context: Context, tx: Transaction, state: State, page: Page) -> JsonObject:
    """Return the document of a page in the API's format. The result is the same for all editors, so links to restricted
    pages stay URLs."""
    resolver = state_resolver(tx, unrestricted(tx, state), app_hosts(context.settings.url), _EveryEditor())

    def shown(document: Document) -> JsonObject:
        return to_json(resolver.resolve_all(document, page_owner(page)))

    return contained("json", lambda: keyed_document(tx, page.id, page.body), shown)


def document_of(context: Context, tx: Transaction, state: State, page: Page) -> Node:
    """Return the document of a page in the editor's format. The result is the same in all processes."""
    return read_document(blocks_of(context, tx, state, page), itertools.count(1))
