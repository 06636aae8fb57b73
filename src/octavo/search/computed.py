"""What jobs index. Long texts that a revision changed: whoever writes in one does not wait for its words. And what
pages say that is made of something else, computed pages and blocks that show an operation of an API, because it changes
without a revision: after a revision that has to do with it, and whenever what it may be made of changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from functools import partial

from ..content import (
    BATCH,
    Asker,
    Drawing,
    Item,
    State,
    asker_at,
    computed_document,
    current_versions,
    draw_blocks,
    expand,
    find_item,
    find_pages,
    holds_drawings,
    list_spaces_with_computed,
    lock_branch,
    main_state,
    on_dependency_change,
    read_source,
)
from ..core.document import Document, contained
from ..core.links import app_hosts
from ..core.pages import Page
from ..errors import BadRequest, NotFound
from ..kit import deadlines, jobs
from ..kit.clock import now
from ..kit.context import Context
from ..kit.db import Transaction
from ..references import Nobody, Resolver, page_owner, state_resolver
from ..spaces import get_space
from . import store
from .indexing import INDEXED, PreparedIndex, batches, page_text
from .store import PageText

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
    for page_id in waiting:
        deadlines.check()
        _index_long(context, space_id, branch_id, page_id)
    with context.db.write() as tx:
        jobs.finish(tx)


def _index_long(context: Context, space_id: str, branch_id: str, page_id: str) -> None:
    with context.db.read() as tx:
        page = find_pages(tx, main_state(tx, space_id), [page_id]).get(page_id)
        if page is None:
            return
        document = read_source(tx, page.body)
        draws = holds_drawings(document)
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
def index_computed_pages(context: Context, space_id: str) -> None:
    """Indexes what the computed pages of main are now, and what its other pages are drawn as."""
    computed, drawn = PreparedIndex(), PreparedIndex()
    with context.db.read() as tx:
        try:
            state = main_state(tx, space_id)
        except NotFound:
            return
        asker = asker_at(tx, space_id, None)
        resolver = state_resolver(tx, state, app_hosts(context.settings.url), Nobody())
        for page in expand(tx, state, None).pages:
            deadlines.check()
            if page.kind in INDEXED:
                draw = partial(_draw, tx, state, asker, resolver, page)
                document = contained("search", partial(_computed, tx, space_id, page), draw)
                computed.add(page_text(tx, space_id, page, document))
        pages = find_pages(tx, state, store.list_drawing(tx, space_id))
        for page in pages.values():
            deadlines.check()
            draw = partial(_draw, tx, state, asker, resolver, page)
            document = contained("search", partial(read_source, tx, page.body), draw)
            drawn.add(page_text(tx, space_id, page, document, draws=True))
    branch_id = state.layers[0].branch_id
    there: set[str] = set()
    # What was computed from a revision before the last one is indexed again: that revision had it ordered.
    for batch in batches(computed, BATCH):
        deadlines.check()
        there.update(page.page_id for page in batch)
        with context.db.write() as tx:
            if not lock_branch(tx, branch_id):
                return
            _index(tx, space_id, batch, computed=True)
    for batch in batches(drawn, BATCH):
        deadlines.check()
        with context.db.write() as tx:
            if not lock_branch(tx, branch_id):
                return
            # A page that was changed meanwhile is indexed as it is now, and its revision had it ordered if it still
            # draws.
            there_now = find_pages(tx, main_state(tx, space_id), [page.page_id for page in batch])
            same = [page for page in batch if there_now.get(page.page_id) == pages[page.page_id]]
            _index(tx, space_id, same)
    with context.db.write() as tx:
        if not lock_branch(tx, branch_id):
            return
        _remove(
            tx, space_id, [page_id for page_id in store.list_computed(tx, space_id) if page_id not in there]
        )
        jobs.finish(tx)


def _index(tx: Transaction, space_id: str, pages: list[PageText], *, computed: bool = False) -> None:
    """Puts pages in the place of what the index has of them."""
    versions = current_versions(tx, space_id, [page.page_id for page in pages])
    lost = store.remove_pages(tx, space_id, versions.items())
    gained = store.add_pages(tx, space_id, pages, versions, computed=computed)
    store.count_words(tx, space_id, gained, lost)


def _remove(tx: Transaction, space_id: str, page_ids: list[str]) -> None:
    versions = current_versions(tx, space_id, page_ids)
    store.count_words(tx, space_id, Counter(), store.remove_pages(tx, space_id, versions.items()))


def _computed(tx: Transaction, space_id: str, page: Page) -> Document:
    """What visitors read there; empty for what cannot be computed."""
    if not page.computed:
        return Document(nodes=[])
    try:
        return computed_document(tx, space_id, None, page)
    except BadRequest:
        return Document(nodes=[])


def _draw(
    tx: Transaction, state: State, asker: Asker, resolver: Resolver, page: Page, document: Document
) -> Document:
    owner = page_owner(page)

    def find_file(ref: dict[str, object], type: str) -> Item | None:
        return find_item(tx, state, str(resolver.content_ref(owner, ref, type).get("file")), "file")

    draw_blocks(tx, Drawing(asker, False, find_file, page.title), document)
    return document


on_dependency_change(_order_after_change)
