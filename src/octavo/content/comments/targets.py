"""What comments are about: pages, their nodes and table cells, and where these are now.

Nodes keep their keys while the text around them changes, and so do table cells that hold text. A comment is
looked for in the state that its discussion shows: main for a space and for a change request that was merged into it,
else the change request itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct

from octavo.content.changes.store import get_change
from octavo.content.revisions.keys import keyed_document
from octavo.content.revisions.node_positions import enqueue_notes
from octavo.content.revisions.store import State, find_page, find_pages, main_state
from octavo.core.document.nodes import Block, Fragment, walk
from octavo.core.pages import Page
from octavo.errors import NotFound
from octavo.kit.context import Context
from octavo.kit.db.cache import OwnCache
from octavo.kit.db.database import Transaction
from octavo.kit.work.jobs import enqueue, job

from .authorization import Discussion
from .store import Anchor, CommentRow

Spot = tuple[str, str]
"""Record and definition of a table cell."""


class About(NamedTuple):
    """What a new comment is about: ids of a page and a node, and a cell of a table; nothing is the whole discussion."""

    page: str | None = None
    node: str | None = None
    cell: Spot | None = None


class Nodes(Struct, frozen=True):
    """The keys of a page's nodes. ``tables``: for each table what its cells' keys are, None for cells without."""

    keys: frozenset[str]
    tables: dict[str, dict[Spot, str | None]]


_KEY_BYTES = 100
_nodes: OwnCache[Nodes] = OwnCache("nodes with comments", 4)


class Where(Struct, frozen=True):
    """Where the target of a comment is. ``gone``: no longer there; ``revision`` still had it, and ``spot`` is where
    it was."""

    revision: str
    gone: bool = False
    spot: Spot | None = None


def shown_state(tx: Transaction, discussion: Discussion) -> State:
    """The state of content that comments of this discussion speak about."""
    if discussion.change_id is None:
        return main_state(tx, discussion.space_id)
    change = get_change(tx, discussion.change_id)
    return change.main if change.status == "merged" else change.state


def attach(tx: Transaction, discussion: Discussion, about: About) -> Anchor:
    """The anchor of a new comment. Raises NotFound for what is not there.

    A node or a cell without its page is kept as it is named: to find it, every page of the space would have to be
    read. A cell of a page without its table is the first one of that record and definition.
    """
    page_id, node_id, cell = about
    state = shown_state(tx, discussion)
    if page_id is None:
        record, definition = cell if cell is not None else (None, None)
        return Anchor(state.revision_id, None, node_id, record, definition)
    page = find_page(tx, state, page_id)
    if page is None:
        raise NotFound(f"page: there is no page {page_id!r} here.")
    if node_id is None and cell is None:
        return Anchor(state.revision_id, page_id)
    nodes = _nodes_of(tx, state, page)
    if node_id is None and cell is not None:
        node_id = next((key for key, spots in nodes.tables.items() if cell in spots), None)
        if node_id is None:
            raise NotFound(f"tableCell: there is no cell {cell[0]!r}, {cell[1]!r} in this page.")
    assert node_id is not None
    if node_id not in nodes.keys:
        raise NotFound(f"node: there is no node {node_id!r} in this page.")
    if cell is None:
        return Anchor(state.revision_id, page_id, node_id)
    spots = nodes.tables.get(node_id, {})
    if cell not in spots:
        raise NotFound(f"tableCell: there is no cell {cell[0]!r}, {cell[1]!r} in this node.")
    return Anchor(state.revision_id, page_id, node_id, *cell, spots[cell])


def locate(tx: Transaction, state: State, comments: Sequence[CommentRow]) -> dict[str, Where]:
    """Where the targets of comments are in a state, by the comments' ids."""
    pages = find_pages(tx, state, [c.page_id for c in comments if c.page_id])
    return {c.id: _locate(tx, state, pages, c) for c in comments}


def _locate(tx: Transaction, state: State, pages: dict[str, Page], comment: CommentRow) -> Where:
    there = Where(state.revision_id)
    was = None
    if comment.record is not None and comment.definition is not None:
        was = (comment.record, comment.definition)
    if comment.page_id is None:
        return Where(state.revision_id, spot=was)
    gone = Where(comment.revision, True, was)
    if comment.page_id not in pages:
        return gone
    if comment.node_id is None:
        return there
    nodes = _nodes_of(tx, state, pages[comment.page_id])
    if was is None:
        return there if comment.node_id in nodes.keys else gone
    spots = nodes.tables.get(comment.node_id, {})
    if comment.cell is None:
        return Where(state.revision_id, spot=was) if was in spots else gone
    spot = next((spot for spot, key in spots.items() if key == comment.cell), None)
    return Where(state.revision_id, spot=spot) if spot else gone


def _nodes_of(tx: Transaction, state: State, page: Page) -> Nodes:
    # What a revision says of a page never changes.
    key = (state.revision_id, page.id)
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


def _cells(table: Block) -> dict[Spot, str | None]:
    keys = {fragment.fragment: fragment.key for fragment in table.fragments}
    found: dict[Spot, str | None] = {}
    for record, row in table.data["records"].items():
        for definition in table.data["definition"]:
            value = row["values"].get(definition)
            found[record, definition] = keys.get(value) if isinstance(value, str) else None
    return found


def order_commented_nodes(tx: Transaction, organization_id: str, space_id: str) -> None:
    """Have a job note where the nodes are that comments of a space are about."""
    enqueue(
        tx,
        "noteCommentedNodes",
        organization=organization_id,
        key=f"nodes-{space_id}",
        space_id=space_id,
    )


@job("noteCommentedNodes")
def note_commented_nodes(context: Context, space_id: str) -> None:
    """Note where the nodes are that comments of a space are about: after an upgrade, and where they were imported."""
    with context.db.write() as tx:
        rows = tx.all(
            """SELECT DISTINCT page_id FROM comments
               WHERE space_id = :space AND page_id IS NOT NULL AND node_id IS NOT NULL""",
            space=space_id,
        )
        enqueue_notes(tx, space_id, (row[0] for row in rows))
