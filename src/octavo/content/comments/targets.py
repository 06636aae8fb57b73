"""Targets of comments: pages, their nodes and table cells, and their current positions.

Nodes and table cells with text keep their keys when the surrounding text changes. A target is looked up in the state
that its discussion shows: main for a space or a merged change request, and otherwise the change request itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct

from octavo.content.changes.store import get_change
from octavo.content.revisions.keys import keyed_document
from octavo.content.revisions.node_positions import enqueue_notes
from octavo.content.revisions.page_versions import find_page, find_pages
from octavo.content.revisions.restrictions import main_seen_by, seen_by
from octavo.content.revisions.states import State
from octavo.core.document.nodes import Block, Fragment, walk
from octavo.core.pages import Page
from octavo.errors import NotFound, require_found
from octavo.kit.context import Context
from octavo.kit.db.cache import OwnCache
from octavo.kit.db.database import Transaction
from octavo.kit.work.jobs import advance, enqueue, job
from octavo.kit.work.rebuilds import rebuilds_by_job

from .authorization import Discussion
from .store import Anchor, CommentRow

CellRef = tuple[str, str]
"""Keys of the record (row) and the definition (column) that identify a table cell."""


class About(NamedTuple):
    """Target of a new comment: the IDs of a page and a node, and a table cell. If all are None, the comment
    is about the discussion as a whole."""

    page: str | None = None
    node: str | None = None
    cell: CellRef | None = None


class Nodes(Struct, frozen=True):
    """Keys of a page's nodes. ``tables``: the keys of each table's cells; None for cells that have no key."""

    keys: frozenset[str]
    tables: dict[str, dict[CellRef, str | None]]


_PAGES_AT_ONCE = 500
_KEY_BYTES = 100
_nodes: OwnCache[Nodes] = OwnCache("commented nodes", 4)


class TargetLocation(Struct, frozen=True):
    """Current position of a comment's target. ``gone``: whether the target no longer exists; in that case,
    ``revision`` is the last revision known to contain it, and ``spot`` is its position in that revision."""

    revision: str
    gone: bool = False
    spot: CellRef | None = None


def discussed_state(tx: Transaction, discussion: Discussion) -> State:
    """Return the content state that comments of a discussion refer to, as the caller sees it."""
    if discussion.change_id is None:
        return main_seen_by(tx, discussion.space)
    change = get_change(tx, discussion.change_id)
    return seen_by(tx, discussion.space, change.main if change.status == "merged" else change.state)


def make_anchor(tx: Transaction, discussion: Discussion, about: About) -> Anchor:
    """Return the anchor of a new comment. Raises NotFound if the page, node, or cell doesn't exist.

    A node or cell without a page isn't checked, because finding it would mean reading every page of the space. A cell
    with a page but no node refers to the first table that has this record and definition.
    """
    page_id, node_id, cell = about
    state = discussed_state(tx, discussion)
    if page_id is None:
        record, definition = cell if cell is not None else (None, None)
        return Anchor(state.revision_id, None, node_id, record, definition)
    page = require_found(find_page(tx, state, page_id), f"page: there is no page with the ID {page_id!r}")
    if node_id is None and cell is None:
        return Anchor(state.revision_id, page_id)
    nodes = _nodes_of(tx, state, page)
    if node_id is None and cell is not None:
        node_id = next((key for key, spots in nodes.tables.items() if cell in spots), None)
        if node_id is None:
            raise NotFound(
                f"tableCell: there is no cell in row {cell[0]!r} and column {cell[1]!r} on this page"
            )
    assert node_id is not None
    if node_id not in nodes.keys:
        raise NotFound(f"node: there is no node with the key {node_id!r} on this page")
    if cell is None:
        return Anchor(state.revision_id, page_id, node_id)
    spots = nodes.tables.get(node_id, {})
    if cell not in spots:
        raise NotFound(f"tableCell: there is no cell in row {cell[0]!r} and column {cell[1]!r} of this table")
    return Anchor(state.revision_id, page_id, node_id, *cell, spots[cell])


def locate(tx: Transaction, state: State, comments: Sequence[CommentRow]) -> dict[str, TargetLocation]:
    """Return the current position of each comment's target in a state, by comment ID."""
    pages = find_pages(tx, state, [c.page_id for c in comments if c.page_id])
    return {c.id: _locate(tx, state, pages, c) for c in comments}


def _locate(tx: Transaction, state: State, pages: dict[str, Page], comment: CommentRow) -> TargetLocation:
    there = TargetLocation(state.revision_id)
    was = None
    if comment.record is not None and comment.definition is not None:
        was = (comment.record, comment.definition)
    if comment.page_id is None:
        return TargetLocation(state.revision_id, spot=was)
    gone = TargetLocation(comment.revision, True, was)
    if comment.page_id not in pages:
        return gone
    if comment.node_id is None:
        return there
    nodes = _nodes_of(tx, state, pages[comment.page_id])
    if was is None:
        return there if comment.node_id in nodes.keys else gone
    spots = nodes.tables.get(comment.node_id, {})
    if comment.cell is None:
        return TargetLocation(state.revision_id, spot=was) if was in spots else gone
    spot = next((spot for spot, key in spots.items() if key == comment.cell), None)
    return TargetLocation(state.revision_id, spot=spot) if spot else gone


def _nodes_of(tx: Transaction, state: State, page: Page) -> Nodes:
    # The nodes of a page in a revision never change.
    key = (state.key, page.id)
    found = _nodes.of(tx).get(key)
    if found is None:
        found = _read_nodes(tx, page)
        _nodes.of(tx).put(key, found, _KEY_BYTES * (1 + len(found.keys)))
    return found


def _read_nodes(tx: Transaction, page: Page) -> Nodes:
    nodes = [
        node for node in walk(keyed_document(tx, page.id, page.body)) if isinstance(node, (Block, Fragment))
    ]
    return Nodes(
        frozenset(node.key for node in nodes if node.key),
        {
            node.key: _cells(node)
            for node in nodes
            if isinstance(node, Block) and node.type == "table" and node.key is not None
        },
    )


def _cells(table: Block) -> dict[CellRef, str | None]:
    keys = {fragment.fragment: fragment.key for fragment in table.fragments}
    found: dict[CellRef, str | None] = {}
    for record, row in table.data["records"].items():
        for definition in table.data["definition"]:
            value = row["values"].get(definition)
            found[record, definition] = keys.get(value) if isinstance(value, str) else None
    return found


def order_commented_nodes(tx: Transaction, organization_id: str, space_id: str) -> None:
    """Enqueue a job that records the positions of all nodes with comments in a space."""
    enqueue(
        tx,
        "noteCommentedNodes",
        organization=organization_id,
        key=f"nodes-{space_id}",
        space_id=space_id,
    )


@job("noteCommentedNodes", bound=None, in_maintenance=True)
def note_commented_nodes(context: Context, space_id: str, after: str = "") -> None:
    """Record the positions of all nodes with comments in a space, after an upgrade or an import. ``after``:
    the ID of the last page that was processed."""
    while True:
        with context.db.write() as tx:
            rows = tx.all(
                """SELECT DISTINCT page_id FROM comments
                   WHERE space_id = :space AND page_id > :after AND node_id IS NOT NULL ORDER BY page_id LIMIT :most""",
                space=space_id,
                after=after,
                most=_PAGES_AT_ONCE,
            )
            if not rows:
                return
            enqueue_notes(tx, space_id, (row[0] for row in rows))
            after = rows[-1][0]
            advance(tx, after=after)


rebuilds_by_job("positions of comments", "noteCommentedNodes")
