"""Computed pages in the index. They change without a revision, so a job indexes them: after a revision that has to do
with them, and whenever what they may be made of changes."""

from __future__ import annotations

from ..content import (
    Drawing,
    asker_at,
    computed_document,
    draw_blocks,
    expand,
    list_spaces_with_computed,
    lock_branch,
    main_state,
    on_dependency_change,
)
from ..core.document import Document
from ..core.pages import Page
from ..errors import BadRequest, NotFound
from ..kit import deadlines, jobs
from ..kit.context import Context
from ..kit.db import Transaction
from ..spaces import get_space
from . import store
from .indexing import INDEXED, Prepared, page_text


def order_indexing(tx: Transaction, space_id: str) -> None:
    """Has the computed pages of a space indexed anew."""
    organization_id = get_space(tx, space_id).organization_id
    key = f"indexComputedPages {space_id}"
    jobs.enqueue(tx, "indexComputedPages", organization=organization_id, key=key, space_id=space_id)


def apply(tx: Transaction, space_id: str, prepared: Prepared) -> None:
    """Brings the index up to the revision that this transaction makes."""
    lost = store.remove_pages(tx, space_id, prepared.gone)
    gained = store.add_pages(tx, space_id, prepared.pages())
    store.count_words(tx, space_id, gained, lost)
    if prepared.computes or (prepared.gone and store.has_computed(tx, space_id)):
        order_indexing(tx, space_id)


def _order_all(tx: Transaction, organization_id: str) -> None:
    for space_id in list_spaces_with_computed(tx, organization_id):
        order_indexing(tx, space_id)


@jobs.job("indexComputedPages", seconds=600)
def index_computed_pages(context: Context, space_id: str) -> None:
    """Indexes what the computed pages of main are now."""
    prepared = Prepared()
    with context.db.read() as tx:
        try:
            state = main_state(tx, space_id)
        except NotFound:
            return
        for page in expand(tx, state, None).pages:
            deadlines.check()
            if page.kind in INDEXED:
                prepared.add(page_text(tx, space_id, page, _document(tx, space_id, page)))
    with context.db.write() as tx:
        # What was computed from a revision before the last one is indexed again: that revision had it ordered.
        if not lock_branch(tx, state.layers[0].branch_id):
            return
        lost = store.remove_pages(tx, space_id, store.list_computed(tx, space_id))
        gained = store.add_pages(tx, space_id, prepared.pages(), computed=True)
        store.count_words(tx, space_id, gained, lost)
        jobs.finish(tx)


def _document(tx: Transaction, space_id: str, page: Page) -> Document:
    """What visitors read there; empty for what cannot be computed."""
    if not page.computed:
        return Document(nodes=[])
    try:
        document = computed_document(tx, space_id, None, page)
    except BadRequest:
        return Document(nodes=[])
    draw_blocks(tx, Drawing(asker_at(tx, space_id, None), False, page.title), document)
    return document


on_dependency_change(_order_all)
