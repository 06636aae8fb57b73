"""Where the nodes of pages with comments are, noted for every text of such a page: a later version of the program may read
the same text as other nodes, whose keys are others."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from ..core.document import whereabouts
from ..kit.context import Context
from ..kit.db import Transaction, json_list
from ..kit.jobs import enqueue, job, renew
from .keys import keyed_document
from .revising import on_commit
from .store import Changes

_AT_ONCE = 50
"""Texts of a page, the newest first, that one job notes; older ones follow with the next."""
_MOST_PAGES = 1000
"""Of a revision that changes more pages, the notes are made with the next comment or edit."""


def order_notes(tx: Transaction, space_id: str, page_ids: Iterable[str]) -> None:
    """Have a job note where the nodes of these pages are."""
    organization_id = tx.value("SELECT organization_id FROM spaces WHERE id = :id", id=space_id)
    for page_id in page_ids:
        enqueue(
            tx,
            "noteNodes",
            organization=organization_id,
            key=f"nodes-{page_id}",
            space_id=space_id,
            page_id=page_id,
        )


@job("noteNodes", bound=None)
def note_nodes(context: Context, space_id: str, page_id: str) -> None:
    """Note where the nodes of a page are, in its texts of which that is not known yet."""
    with context.db.read() as tx:
        bodies = tx.all(
            """SELECT v.body FROM page_versions v
               WHERE v.branch_id IN (SELECT id FROM branches WHERE space_id = :space) AND v.page_id = :page
                 AND v.body IS NOT NULL AND NOT EXISTS (
                   SELECT 1 FROM node_whereabouts w WHERE w.owner_id = v.page_id AND w.body = v.body)
               GROUP BY v.body ORDER BY max(v.from_seq) DESC LIMIT :most""",
            space=space_id,
            page=page_id,
            most=_AT_ONCE,
        )
    for (body,) in bodies:
        renew()
        with context.db.read() as tx:
            places = whereabouts(keyed_document(tx, page_id, body))
        # One at a time: what was noted stays when the job has no time left.
        with context.db.write() as tx:
            tx.run(
                """INSERT INTO node_whereabouts (owner_id, body, places) VALUES (:owner, :body, :places)
                   ON CONFLICT (owner_id, body) DO NOTHING""",
                owner=page_id,
                body=body,
                places=msgspec.json.encode(places).decode(),
            )


def _follow(tx: Transaction, space_id: str, changes: Changes) -> None:
    if not changes.pages or len(changes.pages) > _MOST_PAGES:
        return
    rows = tx.all(
        f"SELECT DISTINCT owner_id FROM node_whereabouts WHERE owner_id {tx.among('pages')}",
        pages=json_list(sorted(changes.pages)),
    )
    order_notes(tx, space_id, (row[0] for row in rows))


on_commit(_follow)
