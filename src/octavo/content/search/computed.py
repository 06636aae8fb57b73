"""Index long pages and derived pages in background jobs, so that people who edit a long page don't wait for the index.

Derived pages are computed pages and pages with blocks that show an API operation. They change without a revision, so
they are indexed again after related revisions and whenever their sources may have changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from importlib.metadata import version

import msgspec

from octavo.content.references.resolving import NobodyViewer, page_owner, state_resolver
from octavo.content.revisions.bodies import read_source
from octavo.content.revisions.computing import on_dependency_change
from octavo.content.revisions.drawing import (
    Drawing,
    contains_rendered_blocks,
    draw_blocks,
    list_drawn,
    list_rendering_states,
)
from octavo.content.revisions.expanding import computed_document, computed_state, expand, requester_at
from octavo.content.revisions.item_versions import Item, find_item
from octavo.content.revisions.page_versions import find_pages, list_spaces_with_computed
from octavo.content.revisions.staging import BATCH
from octavo.content.revisions.states import lock_branch, main_state
from octavo.content.revisions.versions import current_versions
from octavo.core.document.containing import contained
from octavo.core.document.nodes import Document
from octavo.core.links import app_hosts
from octavo.core.pages import Page
from octavo.errors import BadRequest, NotFound
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.scheduling import deadlines
from octavo.kit.work import jobs
from octavo.organization.spaces.store import get_space

from . import store
from .indexing import INDEXED, PreparedIndex, batches, cut_page, page_text, text_hash, titles_of
from .store import IndexedPage, SourceHashes

_AT_ONCE = 50
"""Number of derived pages that are computed and written in one transaction each."""
_PART = 500
"""Number of derived pages to compute in one run of the job."""
_WAIT = 2_000
"""Delay in milliseconds before a long page is indexed, so that consecutive saves are indexed once."""


def enqueue_indexing(tx: Transaction, space_id: str) -> None:
    """Enqueue a job that indexes the derived pages of a space again."""
    organization_id = get_space(tx, space_id).organization_id
    key = f"indexComputedPages {space_id}"
    jobs.enqueue(tx, "indexComputedPages", organization=organization_id, key=key, space_id=space_id)


def apply(tx: Transaction, space_id: str, prepared: PreparedIndex) -> None:
    """Update the index to the revision that this transaction creates."""
    versions = current_versions(tx, space_id, prepared.gone)
    lost = store.remove_pages(tx, space_id, versions.items())
    gained = store.add_pages(tx, space_id, prepared.pages(), versions)
    store.count_words(tx, space_id, gained, lost)
    switch(tx, space_id, prepared)


def switch(tx: Transaction, space_id: str, prepared: PreparedIndex) -> None:
    """Enqueue the remaining jobs after ordinary pages were indexed."""
    if prepared.later or ((prepared.gone or prepared.long) and store.has_computed(tx, space_id)):
        enqueue_indexing(tx, space_id)
    if prepared.long:
        store.mark_waiting(tx, space_id, current_versions(tx, space_id, prepared.long).items())
        _enqueue_long_pages(tx, space_id)


def _enqueue_long_pages(tx: Transaction, space_id: str) -> None:
    organization_id = get_space(tx, space_id).organization_id
    key = f"indexLongPages {space_id}"
    jobs.enqueue(
        tx,
        "indexLongPages",
        organization=organization_id,
        key=key,
        run_at=now() + _WAIT,
        space_id=space_id,
    )


@jobs.job("indexLongPages", bound=None, seconds=600)
def index_long_pages(context: Context, space_id: str) -> None:
    """Index the current text of the pending pages of main."""
    with context.db.read() as tx:
        try:
            branch_id = main_state(tx, space_id).layers[0].branch_id
        except NotFound:
            return
        waiting = store.list_waiting(tx, space_id)
    for page_id in waiting[:_PART]:
        jobs.renew()
        _index_long(context, space_id, branch_id, page_id)
    with context.db.write() as tx:
        jobs.finish(tx)
        if waiting[_PART:]:
            _enqueue_long_pages(tx, space_id)


def _index_long(context: Context, space_id: str, branch_id: str, page_id: str) -> None:
    with context.db.read() as tx:
        page = find_pages(tx, main_state(tx, space_id), [page_id]).get(page_id)
        if page is None:
            return
        document = read_source(tx, page.body)
        draws = contains_rendered_blocks(document)
        text = page_text(tx, space_id, page, document, draws=draws)
    with context.db.write() as tx:
        if not lock_branch(tx, branch_id):
            return
        if find_pages(tx, main_state(tx, space_id), [page_id]).get(page_id) != page:
            return  # Another change enqueued the page again.
        _index(tx, space_id, [text])
        if draws:
            enqueue_indexing(tx, space_id)


def _enqueue_after_change(tx: Transaction, organization_id: str, space_ids: Collection[str] | None) -> None:
    made = {*list_spaces_with_computed(tx, organization_id), *store.list_spaces_drawing(tx, organization_id)}
    for space_id in sorted(made if space_ids is None else made.intersection(space_ids)):
        enqueue_indexing(tx, space_id)


@jobs.job("indexComputedPages", bound=None, seconds=600)
def index_computed_pages(context: Context, space_id: str, most: int = _PART) -> None:
    """Index the current text of derived pages of main.

    A page is computed only if one of its sources changed, and written only if its text changed. One run
    handles at most ``most`` pages and leaves the rest to the next run, so that runs stay short regardless of
    the number of pages.
    """
    with context.db.read() as tx:
        try:
            reading = _MainReader(context, tx, space_id)
        except NotFound:
            return
        known = store.list_source_hashes(tx, space_id)
        drawing = find_pages(tx, reading.state, store.list_drawing(tx, space_id))
        wanted = [page for page in expand(tx, reading.state, None).pages if page.kind in INDEXED]
        wanted += drawing.values()
        changed = []
        for page in wanted:
            jobs.renew()
            was = known.get(page.id)
            if was is None or was[1].of != reading.hash_of(page, page.id in drawing):
                changed.append(page)
        branch_id = reading.state.layers[0].branch_id
    ids = {page.id for page in wanted}
    gone = {page_id: was for page_id, was in known.items() if was[0] and page_id not in ids}
    is_whole = len(changed) <= most
    for start in range(0, min(len(changed), most), _AT_ONCE):
        jobs.renew()
        batch = changed[start : min(start + _AT_ONCE, most)]
        drawn = {page.id: page for page in batch if page.id in drawing}
        is_whole = _index_derived(context, space_id, branch_id, batch, drawn, known) and is_whole
    with context.db.write() as tx:
        if not lock_branch(tx, branch_id):
            return
        unchanged = store.list_source_hashes(tx, space_id, gone)
        _remove(tx, space_id, [page_id for page_id, was in gone.items() if unchanged.get(page_id) == was])
        jobs.finish(tx)
        if not is_whole:
            enqueue_indexing(tx, space_id)


def _index_derived(
    context: Context,
    space_id: str,
    branch_id: str,
    batch: Sequence[Page],
    drawn: Mapping[str, Page],
    known: Mapping[str, tuple[bool, SourceHashes]],
) -> bool:
    """Compute pages and index those whose text changed. ``drawn``: the pages with rendered blocks. ``known``: the state
    of the pages in the index. Return False if another run or a revision changed one of the pages first. Those pages are
    left unchanged."""
    texts, same = PreparedIndex(), dict[str, SourceHashes]()
    with context.db.read() as tx:
        reading = _MainReader(context, tx, space_id)
        for page in batch:
            deadlines.check()
            draws = page.id in drawn
            document = reading.document_of(page, draws)
            titles, cut = titles_of(tx, page), cut_page(page, document)
            made = SourceHashes(reading.hash_of(page, draws), text_hash(titles, cut))
            if page.id in known and known[page.id][1].text == made.text:
                same[page.id] = made
            else:
                texts.add(store.prepare_page(tx, space_id, page.id, titles, cut, draws, made))

    def unchanged(tx: Transaction, page_ids: Sequence[str]) -> set[str]:
        """Return the given pages that haven't changed in the index or in main since this run read them."""
        there = store.list_source_hashes(tx, space_id, page_ids)
        written = find_pages(tx, main_state(tx, space_id), [id for id in page_ids if id in drawn])
        return {id for id in page_ids if there.get(id) == known.get(id) and written.get(id) == drawn.get(id)}

    unchanged_ids: set[str] = set()
    for found in batches(texts, BATCH):
        deadlines.check()
        with context.db.write() as tx:
            if not lock_branch(tx, branch_id):
                return True
            mine = unchanged(tx, [page.page_id for page in found])
            for computed in (True, False):
                _index(
                    tx,
                    space_id,
                    [
                        page
                        for page in found
                        if page.page_id in mine and (page.page_id not in drawn) == computed
                    ],
                    computed=computed,
                )
        unchanged_ids |= mine
    if same:
        with context.db.write() as tx:
            if not lock_branch(tx, branch_id):
                return True
            mine = unchanged(tx, list(same))
            versions = current_versions(tx, space_id, list(mine))
            store.update_source_hashes(tx, space_id, {id: same[id] for id in mine}, versions)
        unchanged_ids |= mine
    return len(unchanged_ids) == len(batch)


class _MainReader:
    """Main of a space as its visitors see it, in one transaction. Raises NotFound if the space doesn't
    exist."""

    def __init__(self, context: Context, tx: Transaction, space_id: str) -> None:
        self._tx = tx
        self.state = main_state(tx, space_id)
        self._asker = requester_at(tx, space_id, None)
        self._resolver = state_resolver(tx, self.state, app_hosts(context.settings.url), NobodyViewer())

    def hash_of(self, page: Page, draws: bool) -> str:
        """Return a hash of all data that a page is derived from, including the version of Octavo."""
        if draws:
            drawn = list_drawn(self._drawing(page), read_source(self._tx, page.body))
            made_of: object = (drawn, list_rendering_states(self._tx, self._asker, drawn))
        else:
            made_of = computed_state(self._tx, self.state.space_id, page)
        fields = (page.title, page.link_title, page.description, page.body, page.computed)
        encoded = msgspec.msgpack.encode((version("octavo"), fields, made_of))
        return blake2b(encoded, digest_size=16).hexdigest()

    def document_of(self, page: Page, draws: bool) -> Document:
        """Return the document of a page as visitors see it; empty if it can't be computed."""
        make = partial(self._written if draws else self._computed, page)
        return contained("search", make, partial(self._draw, page))

    def _written(self, page: Page) -> Document:
        return read_source(self._tx, page.body)

    def _computed(self, page: Page) -> Document:
        if not page.computed:
            return Document(nodes=[])
        try:
            return computed_document(self._tx, self.state.space_id, None, page)
        except BadRequest:
            return Document(nodes=[])

    def _draw(self, page: Page, document: Document) -> Document:
        draw_blocks(self._tx, self._drawing(page), document)
        return document

    def _drawing(self, page: Page) -> Drawing:
        owner = page_owner(page)

        def find_file(ref: dict[str, object], type: str) -> Item | None:
            file = self._resolver.content_ref(owner, ref, type).get("file")
            return find_item(self._tx, self.state, str(file), "file")

        return Drawing(self._asker, False, find_file, page.title)


def _index(tx: Transaction, space_id: str, pages: list[IndexedPage], *, computed: bool = False) -> None:
    """Replace pages in the index."""
    if not pages:
        return
    versions = current_versions(tx, space_id, [page.page_id for page in pages])
    lost = store.remove_pages(tx, space_id, versions.items())
    gained = store.add_pages(tx, space_id, pages, versions, computed=computed)
    store.count_words(tx, space_id, gained, lost)


def _remove(tx: Transaction, space_id: str, page_ids: list[str]) -> None:
    versions = current_versions(tx, space_id, page_ids)
    store.count_words(tx, space_id, Counter(), store.remove_pages(tx, space_id, versions.items()))


on_dependency_change(_enqueue_after_change)
