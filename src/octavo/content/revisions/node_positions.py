"""Record the positions of nodes on pages with comments, for every version of each page. A later version of Octavo may
assign different keys to the same nodes."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from octavo.core.document.node_positions import list_node_positions
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction, json_list
from octavo.kit.work.jobs import enqueue, job, renew

from .keys import keyed_document
from .revising import on_commit
from .store import Changes

_AT_ONCE = 50
"""Number of page versions that one job processes, newest first. The next job continues with older versions."""
_MOST_PAGES = 1000
"""Maximum number of changed pages for which a revision enqueues jobs. If there are more, the next comment or edit on a
page enqueues its job."""


def enqueue_notes(tx: Transaction, space_id: str, page_ids: Iterable[str]) -> None:
    """Enqueue jobs that record the node positions on these pages."""
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


@job("noteNodes", bound=None, in_maintenance=True)
def note_nodes(context: Context, space_id: str, page_id: str) -> None:
    """Record a page's node positions for each version that has no such record yet."""
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
            places = list_node_positions(keyed_document(tx, page_id, body))
        # Each text is a separate transaction, so that results are kept if the job runs out of time.
        with context.db.write() as tx:
            tx.run(
                """INSERT INTO node_whereabouts (owner_id, body, places) VALUES (:owner, :body, :places)
                   ON CONFLICT (owner_id, body) DO NOTHING""",
                owner=page_id,
                body=body,
                places=msgspec.json.encode(places).decode(),
            )


def _enqueue_changed(tx: Transaction, space_id: str, changes: Changes) -> None:
    if not changes.pages or len(changes.pages) > _MOST_PAGES:
        return
    rows = tx.all(
        f"SELECT DISTINCT owner_id FROM node_whereabouts WHERE owner_id {tx.among('pages')}",
        pages=json_list(sorted(changes.pages)),
    )
    enqueue_notes(tx, space_id, (row[0] for row in rows))


on_commit(_enqueue_changed)
