"""Save live pages: write the changes since the last revision as edits to single blocks.

Every save is computed from rows and is written in one transaction along with the version that it contains. Therefore,
each save happens exactly once, even if several processes try or some of them crash.
"""

from __future__ import annotations

import itertools
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import msgspec
from msgspec import Struct

from octavo.content.changes.applying import EditedContent
from octavo.content.changes.auto_resolving import list_still_open
from octavo.content.changes.commands import DocumentInput, InsertBlocks, MoveBlocks, SetBlock, UpdateBlocks
from octavo.content.changes.editing import edit
from octavo.content.changes.saving import lock_unchanged, resolver_maker, retry_on_conflict
from octavo.content.changes.store import (
    Author,
    ChangeRow,
    add_contribution,
    encode_conflicts,
    put_authors,
    set_fields,
    was_written_live,
)
from octavo.content.revisions.history import find_continued_saves, get_revision
from octavo.content.revisions.revising import changed_pages, new_revision
from octavo.content.revisions.states import State
from octavo.content.revisions.store import BranchMoved
from octavo.core.editor.differences import (
    BlockDifferences,
    SavedBlock,
    UnwritableBlock,
    block_differences,
    tidy_steps,
)
from octavo.core.merge import MergeConflict
from octavo.errors import BlockNotFound, OctavoError, TooLarge
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction, json_list
from octavo.kit.work.outbox import emit
from octavo.organization.access.reach import actor_for_job

from . import store
from .accepting import accepting
from .branches import LiveBranch, get_branch, lock_branch
from .documents import (
    LivePage,
    SavedBlocks,
    blocks_of,
    editable_page,
    encode_document,
    live_pages,
    read_page,
)
from .store import LiveRow, PageKey

log = logging.getLogger("octavo.live")

_ENTRY = re.compile(r"changes\[0\]\.(set|insert)\[(\d+)\]")
_HOLD = 10_000
"""Time in milliseconds after which steps are accepted again if the process that blocked them ends without lifting the
block."""
_STEPS_OF_SNAPSHOT = 300
"""Number of steps after which the stored document is updated, so that a process that loads it has only a few steps to
apply."""


class Saved(Struct, frozen=True):
    """Result of a save. ``refused``: the keys of blocks that keep their previously saved content, because
    their new content can't be saved."""

    revision: str
    version: int
    refused: tuple[str, ...] = ()


class _Save(Struct, frozen=True):
    branch: LiveBranch
    row: LiveRow
    page: LivePage
    edited: EditedContent
    conflicts: list[MergeConflict]
    authors: Sequence[Author]
    continues: tuple[str, int] | None
    blocks: dict[str, SavedBlock]
    refused: tuple[str, ...]
    renews: bool


def save_page(context: Context, key: PageKey) -> Saved | None:
    """Save the unsaved steps of a page. Return None if no one is editing the page live, if the page was deleted, or if
    its change request was merged or archived. Raises the errors of an edit to the page. If the page is too large, its
    editors are notified."""
    try:
        return retry_on_conflict(lambda: _try_to_save(context, key))
    except TooLarge:
        with context.db.write() as tx:
            store.refuse_page(tx, key)
        raise


def save_branch(context: Context, branch_id: str) -> None:
    """Save all live pages of a branch before its content is used."""
    with context.db.read() as tx:
        unsaved = store.list_unsaved(tx, branch_id)
    for key in unsaved:
        save_page(context, key)


@contextmanager
def hold_branch(context: Context, branch_id: str) -> Iterator[None]:
    """Reject steps for the pages of a branch during the ``with`` block, for at most a few seconds. Clients send
    rejected steps again. Pages whose first step arrives during this time aren't affected."""
    with context.db.write() as tx:
        store.hold_branch(tx, branch_id, now() + _HOLD)
    try:
        yield
    finally:
        with context.db.write() as tx:
            store.hold_branch(tx, branch_id, 0)


def _try_to_save(context: Context, key: PageKey) -> Saved | None:
    with context.db.read() as tx:
        branch, row = get_branch(tx, key.branch_id), store.find_live(tx, key)
        if row is None or branch.is_closed:
            return None
        if row.save_at is None and row.revision == branch.revision:
            return Saved(
                branch.revision, row.saved_version, msgspec.json.decode(row.refused, type=tuple[str, ...])
            )
        page = read_page(tx, key, row)
    if row.revision != branch.revision or tidy_steps(page.doc, itertools.repeat("new")):
        if not accepting(context).tidy(key):
            return None
        raise BranchMoved
    with context.db.read() as tx:
        authors = _authors(tx, key, branch, row)
        save = _prepare(context, tx, key, branch, row, page, authors) if authors else None
    if save is None:
        # Only keys of blocks have changed, and no author is known. They are saved together with the next
        # steps.
        with context.db.write() as tx:
            store.postpone_save(tx, key, row.version)
        return None
    revision_id = _write(context, key, save)
    if revision_id is None:
        return Saved(branch.revision, row.version, save.refused)
    return Saved(revision_id, row.version, save.refused)


def _prepare(
    context: Context,
    tx: Transaction,
    key: PageKey,
    branch: LiveBranch,
    row: LiveRow,
    page: LivePage,
    authors: Sequence[Author],
) -> _Save:
    differences, edited, refused = _edited(context, tx, key, branch, page, authors[0])
    conflicts = edited.conflicts
    if branch.change is not None:
        conflicts = list_still_open(tx, branch.state, branch.change.open_conflicts, edited) + conflicts
    snapshot = store.find_snapshot_version(tx, key)
    return _Save(
        branch=branch,
        row=row,
        page=page,
        edited=edited,
        conflicts=conflicts,
        authors=authors,
        continues=_continued(tx, branch),
        blocks=differences.blocks,
        refused=tuple(refused),
        renews=row.version - snapshot >= _STEPS_OF_SNAPSHOT,
    )


def _authors(tx: Transaction, key: PageKey, branch: LiveBranch, row: LiveRow) -> Sequence[Author]:
    """Return the authors of unsaved steps. If the steps have no author, as with new block keys, return the author of
    the change request or the last person who edited the page. If neither is known, return an empty sequence."""
    found = store.list_authors(tx, key, row.saved_version, row.version)
    if not found and branch.change is not None:
        return [Author(branch.change.created_by, None)]
    return found or store.list_authors(tx, key, 0, row.version)[:1]


def _continued(tx: Transaction, branch: LiveBranch) -> tuple[str, int] | None:
    """Return the previous revision and the start of the series of consecutive live saves that the next save continues,
    regardless of their authors. Return None if the next save starts a new series."""
    head = branch.state
    if not was_written_live(tx, head.revision_id):
        return None
    last = get_revision(tx, head.revision_id)
    if last.author is None:
        return None
    since = find_continued_saves(tx, head, last.author, last.agent)
    return None if since is None else (head.revision_id, since)


def _edited(
    context: Context, tx: Transaction, key: PageKey, branch: LiveBranch, page: LivePage, writer: Author
) -> tuple[BlockDifferences, EditedContent, list[str]]:
    """Return the data that a save writes. Blocks whose content can't be saved are omitted."""
    head = editable_page(tx, branch.state, key.page_id)
    organization_id = tx.value("SELECT organization_id FROM spaces WHERE id = :id", id=branch.space_id)
    actor = actor_for_job(writer.user_id, organization_id)
    resolver = resolver_maker(context, actor)(tx, branch.state)
    known = live_pages(tx).find_saved(key)
    saved = known.blocks if known is not None and known.body == head.body else None
    started = branch.change.below if branch.change is not None else None
    refused: list[str] = []
    while True:
        if saved is None:
            blocks = blocks_of(context, tx, branch.state, head)["nodes"]
            saved = {block["key"]: SavedBlock(block) for block in blocks}
        try:
            differences = block_differences(saved, page.doc, refused)
        except UnwritableBlock as error:
            refused.append(error.key)
            continue
        changes = [_command(key.page_id, differences)] if differences else []
        try:
            return differences, edit(resolver, tx, branch.state, changes, started=started), refused
        except OctavoError as error:
            if isinstance(error, BlockNotFound) and known is not None:
                # The saved source is read differently than expected, so compare with the page as it is read now.
                saved = known = None
                continue
            block = _block_of(error, differences)
            if block is None or block in refused:
                raise
            log.warning(
                "a block can't be saved: %s", error.message, extra={"page": key.page_id, "block": block}
            )
            refused.append(block)


def _command(page_id: str, differences: BlockDifferences) -> UpdateBlocks:
    # Deleted blocks become empty before the insertions. If another block moved out of one of them, it keeps its key,
    # which would otherwise still refer to its old position.
    return UpdateBlocks(
        page=page_id,
        set=[
            *(SetBlock(block["key"], DocumentInput(document=[block])) for block in differences.set),
            *(SetBlock(key, DocumentInput(document=[])) for key in differences.delete),
        ],
        insert=[
            InsertBlocks(document=DocumentInput(document=[block]), after=after)
            if after is not None
            else InsertBlocks(document=DocumentInput(document=[block]), at=0)
            for after, block in differences.insert
        ],
        move=[
            MoveBlocks(blocks=[block], after=after) if after is not None else MoveBlocks(blocks=[block], at=0)
            for after, block in differences.move
        ],
    )


def _block_of(error: OctavoError, differences: BlockDifferences) -> str | None:
    """Return the key of the block that caused an error."""
    match = _ENTRY.match(error.message)
    if match is None:
        return None
    written = differences.set if match[1] == "set" else [block for _, block in differences.insert]
    number = int(match[2])
    return written[number]["key"] if number < len(written) else None


def _write(context: Context, key: PageKey, save: _Save) -> str | None:
    """Write a save and return its revision; None if nothing changed. Raises BranchMoved if the branch was written to
    since the save was prepared."""
    edited, branch, row = save.edited, save.branch, save.row
    if not edited.changes:
        with context.db.write() as tx:
            _lock_unchanged(tx, branch)
            _require_unsaved(tx, key, row)
            store.set_saved(tx, key, row.version, json_list(save.refused))
        return None
    author = save.authors[0]
    with new_revision(context, branch.state, edited.changes, edited.bodies, edited.keys) as revision:
        tx = revision.tx
        branch = _lock_unchanged(tx, branch)
        _require_unsaved(tx, key, row)
        about = {"live": True} if branch.change is None else {"conflicts": encode_conflicts(save.conflicts)}
        made = revision.write(author=author.user_id, agent=author.agent, continues=save.continues, **about)
        if branch.change is not None:
            _record(tx, branch.change, save, made)
        put_authors(tx, made.revision_id, save.authors)
        store.set_saved(tx, key, row.version, json_list(save.refused))
        store.move_revision(tx, key.branch_id, branch.revision, made.revision_id)
        if save.renews:
            store.put_snapshot(tx, key, row.version, encode_document(save.page.doc))
    page = edited.changes.pages.get(key.page_id)
    if page is not None and page.body is not None:
        live_pages(context.db).keep_saved(key, SavedBlocks(page.body, save.blocks))
    return made.revision_id


def _lock_unchanged(tx: Transaction, seen: LiveBranch) -> LiveBranch:
    """Lock a branch and return it if it still matches ``seen``. Raises BranchMoved if it doesn't."""
    if seen.change is not None:
        change = lock_unchanged(tx, seen.change)
        return LiveBranch(change.state, change)
    branch = lock_branch(tx, seen.space_id, None)
    if branch.state != seen.state:
        raise BranchMoved
    return branch


def _record(tx: Transaction, change: ChangeRow, save: _Save, made: State) -> None:
    """Record a revision in its change request, and emit its event."""
    set_fields(tx, change, edits=change.edits + 1)
    for user_id in dict.fromkeys(by.user_id for by in save.authors):
        add_contribution(tx, change.id, user_id, "edit")
    emit(
        tx,
        "change_request_content_updated",
        organization_id=tx.value("SELECT organization_id FROM spaces WHERE id = :id", id=change.space_id),
        space_id=change.space_id,
        change_request=change.id,
        by=save.authors[0].user_id,
        revision=made.revision_id,
        live=True,
        **changed_pages(save.edited.changes),
    )


def _require_unsaved(tx: Transaction, key: PageKey, seen: LiveRow) -> None:
    """Raise BranchMoved if another process has saved the page since it was read."""
    row = store.lock_live(tx, key)
    if row is None or (row.epoch, row.saved_version, row.revision) != (
        seen.epoch,
        seen.saved_version,
        seen.revision,
    ):
        raise BranchMoved


# --- in the background --------------------------------------------------------------------------------

_AT_ONCE = 50
_CLAIM = 30_000
_LATER = 30_000
"""Time in milliseconds after which a failed save of a page is retried."""
_RECENT = 3_600_000


def save_due(context: Context) -> None:
    """Save the pages that are due, and apply new revisions to pages that are being edited. Processes that
    receive requests call this about once per second. Only one of them saves a given page."""
    moment = now()
    live_pages(context.db).drop_idle()
    with context.db.read() as tx:
        due, outdated = (
            store.list_due(tx, moment, _AT_ONCE),
            store.list_outdated(tx, moment - _RECENT, _AT_ONCE),
        )
        has_ended = store.has_ended_carets(tx)
    for key in outdated:
        _contained(key, partial(accepting(context).tidy, key))
    for key in due:
        with context.db.write() as tx:
            is_claimed = store.claim_save(tx, key, moment + _CLAIM)
        if is_claimed:
            is_saved = _contained(key, partial(save_page, context, key))
            with context.db.write() as tx:
                store.end_claim(tx, key, None if is_saved else now() + _LATER)
    if has_ended:
        with context.db.write() as tx:
            store.remove_ended_carets(tx)


def _contained(key: PageKey, work: Callable[[], object]) -> bool:
    """Run ``work`` for one page and return whether it succeeded. Errors are logged, so that they don't affect
    other pages."""
    try:
        work()
    except OctavoError as error:
        log.warning("a live page couldn't be saved: %s", error.message, extra={"page": key.page_id})
        return False
    except Exception:
        log.exception("a live page couldn't be saved", extra={"page": key.page_id})
        return False
    return True
