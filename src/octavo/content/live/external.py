"""Apply external edits, made through the API, Git, a merge, or an agent, to pages that are edited live."""

from __future__ import annotations

import itertools

import msgspec
from msgspec.structs import replace

from octavo.content.revisions.history import get_revision
from octavo.content.revisions.page_versions import find_page
from octavo.content.revisions.states import revision_state
from octavo.core.editor.merging import merge_edit
from octavo.core.editor.steps import changed_places
from octavo.core.editor.writing import block_key, last_uid
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction

from . import store
from .adding import add_batch, schedule_save
from .branches import LiveBranch
from .documents import LivePage, batches_after, blocks_of, editable_page
from .store import SERVER, BatchRow, LiveRow, PageKey


def apply_external_edits(
    context: Context, tx: Transaction, key: PageKey, branch: LiveBranch, row: LiveRow, page: LivePage
) -> tuple[LiveRow, LivePage]:
    """Apply the changes since the revision that a live page is based on, as a batch by the author of the last revision.
    Raises NotFound or Conflict if the page can no longer be edited."""
    before = revision_state(tx, branch.space_id, row.revision)
    old, new = find_page(tx, before, key.page_id), editable_page(tx, branch.state, key.page_id)
    if old is None or old.body != new.body:
        blocks = blocks_of(context, tx, before, old)["nodes"] if old is not None else []
        edited = blocks_of(context, tx, branch.state, new)["nodes"]
        uids = itertools.count(last_uid(page.doc) + 1)
        steps = merge_edit(page.doc, blocks, edited, uids, _unsaved_keys(tx, key, row, page))
        if steps:
            revision = get_revision(tx, branch.revision)
            batch = BatchRow(
                version=page.version + len(steps),
                client=SERVER + revision.id,
                batch=1,
                attempt=0,
                user_id=revision.author,
                agent=revision.agent,
                steps=msgspec.json.encode(steps).decode(),
                created_at=now(),
            )
            page = page.with_steps(batch, steps)
            was_saved = row.saved_version == row.version
            row = add_batch(tx, key, row, page)
            if was_saved:
                # The revision contains all of these steps.
                store.set_saved(tx, key, page.version, row.refused)
                row = replace(row, saved_version=page.version, unsaved_since=None, save_at=None)
    if row.saved_version < row.version and row.save_at is None:
        # Its save was postponed while the page was deleted.
        row = schedule_save(tx, key, row)
    store.set_revision(tx, key, branch.revision)
    return replace(row, revision=branch.revision), page


def _unsaved_keys(tx: Transaction, key: PageKey, row: LiveRow, page: LivePage) -> set[str]:
    """Return the keys of the blocks that may have changed since the last revision."""
    batches = batches_after(tx, key, page, row.saved_version)
    if batches is None:
        return {name for node in page.doc.children if (name := block_key(node)) is not None}
    steps = (step for batch in batches for step in msgspec.json.decode(batch.row.steps))
    places = changed_places(steps)
    keys: set[str] = set(msgspec.json.decode(row.refused, type=tuple[str, ...]))
    position = 0
    for node in page.doc.children:
        start, position = position, position + node.node_size
        name = block_key(node)
        if name is not None and any(first <= position and start <= last for first, last in places):
            keys.add(name)
    return keys
