"""What jobs index. Long texts that a revision changed: whoever writes in one does not wait for its words. And what
pages say that is made of something else, computed pages and blocks that show an operation of an API, because it changes
without a revision: after a revision that has to do with it, and whenever what it may be made of changes."""

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
from octavo.content.revisions.staging import BATCH
from octavo.content.revisions.store import (
    Item,
    find_item,
    find_pages,
    list_spaces_with_computed,
    lock_branch,
    main_state,
)
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
from .store import Made, PageText

_AT_ONCE = 50
"""Pages made of something else that are made in one read and written in one transaction."""
_PART = 500
"""Such pages that one run of the job makes."""
_WAIT = 2_000
"""Milliseconds that a long text waits for its words to be indexed, so that saves in a row are indexed once."""


def order_indexing(tx: Transaction, space_id: str) -> None:
    """Has what pages of a space say that is made of something else indexed anew."""
    organization_id = get_space(tx, space_id).organization_id
    key = f"indexComputedPages {space_id}"
    jobs.enqueue(tx, "indexComputedPages", organization=organization_id, key=key, space_id=space_id)


def apply(tx: Transaction, space_id: str, prepared: PreparedIndex) -> None:
    """Brings the index up to the revision that this transaction makes."""
    versions = current_versions(tx, space_id, prepared.gone)
    lost = store.remove_pages(tx, space_id, versions.items())
    gained = store.add_pages(tx, space_id, prepared.pages(), versions)
    store.count_words(tx, space_id, gained, lost)
    switch(tx, space_id, prepared)


def switch(tx: Transaction, space_id: str, prepared: PreparedIndex) -> None:
    """What is left to do where the pages are indexed: has those indexed that are made of something else."""
    if prepared.later or ((prepared.gone or prepared.long) and store.has_computed(tx, space_id)):
        order_indexing(tx, space_id)
    if prepared.long:
        store.let_wait(tx, space_id, current_versions(tx, space_id, prepared.long).items())
        _order_long(tx, space_id)


def _order_long(tx: Transaction, space_id: str) -> None:
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


@jobs.job("indexLongPages", seconds=600)
def index_long_pages(context: Context, space_id: str) -> None:
    """Indexes the pages of main whose texts wait for it, as they are now."""
    with context.db.read() as tx:
        try:
            branch_id = main_state(tx, space_id).layers[0].branch_id
        except NotFound:
            return
        waiting = store.list_waiting(tx, space_id)
    for page_id in waiting[:_PART]:
        deadlines.check()
        _index_long(context, space_id, branch_id, page_id)
    with context.db.write() as tx:
        jobs.finish(tx)
        if waiting[_PART:]:
            _order_long(tx, space_id)


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
            return  # Whoever changed it meanwhile ordered this again.
        _index(tx, space_id, [text])
        if draws:
            order_indexing(tx, space_id)


def _order_after_change(tx: Transaction, organization_id: str, space_ids: Collection[str] | None) -> None:
    made = {*list_spaces_with_computed(tx, organization_id), *store.list_spaces_drawing(tx, organization_id)}
    for space_id in sorted(made if space_ids is None else made.intersection(space_ids)):
        order_indexing(tx, space_id)


@jobs.job("indexComputedPages", seconds=600)
def index_computed_pages(context: Context, space_id: str, most: int = _PART) -> None:
    """Index what the computed pages of main are now, and what its other pages are drawn as.

    A page is made again only if something it is made of has changed, and written only if its text has. One run makes
    at most ``most`` pages and leaves the rest to the next: no run takes longer the more there is."""
    with context.db.read() as tx:
        try:
            reading = _Reading(context, tx, space_id)
        except NotFound:
            return
        known = store.list_made(tx, space_id)
        drawing = find_pages(tx, reading.state, store.list_drawing(tx, space_id))
        wanted = [page for page in expand(tx, reading.state, None).pages if page.kind in INDEXED]
        wanted += drawing.values()
        changed = []
        for page in wanted:
            deadlines.check()
            was = known.get(page.id)
            if was is None or was[1].of != reading.hash_of(page, page.id in drawing):
                changed.append(page)
        branch_id = reading.state.layers[0].branch_id
    ids = {page.id for page in wanted}
    gone = {page_id: was for page_id, was in known.items() if was[0] and page_id not in ids}
    is_whole = len(changed) <= most
    for start in range(0, min(len(changed), most), _AT_ONCE):
        deadlines.check()
        batch = changed[start : min(start + _AT_ONCE, most)]
        drawn = {page.id: page for page in batch if page.id in drawing}
        is_whole = _index_made(context, space_id, branch_id, batch, drawn, known) and is_whole
    with context.db.write() as tx:
        if not lock_branch(tx, branch_id):
            return
        still = store.list_made(tx, space_id, gone)
        _remove(tx, space_id, [page_id for page_id, was in gone.items() if still.get(page_id) == was])
        jobs.finish(tx)
        if not is_whole:
            order_indexing(tx, space_id)


def _index_made(
    context: Context,
    space_id: str,
    branch_id: str,
    batch: Sequence[Page],
    drawn: Mapping[str, Page],
    known: Mapping[str, tuple[bool, Made]],
) -> bool:
    """Make pages and index those that say something else now. ``drawn``: the ordinary ones; ``known``: what the index
    had of each. Return False if another run or a revision was faster with one of them, which is left as it is."""
    texts, same = PreparedIndex(), dict[str, Made]()
    with context.db.read() as tx:
        reading = _Reading(context, tx, space_id)
        for page in batch:
            deadlines.check()
            draws = page.id in drawn
            document = reading.document_of(page, draws)
            titles, cut = titles_of(tx, page), cut_page(page, document)
            made = Made(reading.hash_of(page, draws), text_hash(titles, cut))
            if page.id in known and known[page.id][1].text == made.text:
                same[page.id] = made
            else:
                texts.add(store.prepare_page(tx, space_id, page.id, titles, cut, draws, made))

    def still(tx: Transaction, page_ids: Sequence[str]) -> set[str]:
        """Those of these pages that the index and main have as this run found them."""
        there = store.list_made(tx, space_id, page_ids)
        written = find_pages(tx, main_state(tx, space_id), [id for id in page_ids if id in drawn])
        return {id for id in page_ids if there.get(id) == known.get(id) and written.get(id) == drawn.get(id)}

    held: set[str] = set()
    for found in batches(texts, BATCH):
        deadlines.check()
        with context.db.write() as tx:
            if not lock_branch(tx, branch_id):
                return True
            mine = still(tx, [page.page_id for page in found])
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
        held |= mine
    if same:
        with context.db.write() as tx:
            if not lock_branch(tx, branch_id):
                return True
            mine = still(tx, list(same))
            versions = current_versions(tx, space_id, list(mine))
            store.note_made(tx, space_id, {id: same[id] for id in mine}, versions)
        held |= mine
    return len(held) == len(batch)


class _Reading:
    """Main of a space as its visitors read it, in one transaction. Raises NotFound."""

    def __init__(self, context: Context, tx: Transaction, space_id: str) -> None:
        self._tx = tx
        self.state = main_state(tx, space_id)
        self._asker = requester_at(tx, space_id, None)
        self._resolver = state_resolver(tx, self.state, app_hosts(context.settings.url), NobodyViewer())

    def hash_of(self, page: Page, draws: bool) -> str:
        """Return a hash of all that a page is made of, our own code included."""
        if draws:
            drawn = list_drawn(self._drawing(page), read_source(self._tx, page.body))
            made_of: object = (drawn, list_rendering_states(self._tx, self._asker, drawn))
        else:
            made_of = computed_state(self._tx, self.state.space_id, page)
        fields = (page.title, page.link_title, page.description, page.body, page.computed)
        encoded = msgspec.msgpack.encode((version("octavo"), fields, made_of))
        return blake2b(encoded, digest_size=16).hexdigest()

    def document_of(self, page: Page, draws: bool) -> Document:
        """Return what visitors read on a page; empty for one that cannot be computed."""
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


def _index(tx: Transaction, space_id: str, pages: list[PageText], *, computed: bool = False) -> None:
    """Puts pages in the place of what the index has of them."""
    if not pages:
        return
    versions = current_versions(tx, space_id, [page.page_id for page in pages])
    lost = store.remove_pages(tx, space_id, versions.items())
    gained = store.add_pages(tx, space_id, pages, versions, computed=computed)
    store.count_words(tx, space_id, gained, lost)


def _remove(tx: Transaction, space_id: str, page_ids: list[str]) -> None:
    versions = current_versions(tx, space_id, page_ids)
    store.count_words(tx, space_id, Counter(), store.remove_pages(tx, space_id, versions.items()))


on_dependency_change(_order_after_change)
