"""Merge change requests into main, and update them with main."""

from __future__ import annotations

import itertools
from contextlib import nullcontext
from typing import NamedTuple

from octavo.content.revisions.drafting import same_version
from octavo.content.revisions.restrictions import find_rules, require_same_readers, seen_by
from octavo.content.revisions.revising import new_revision
from octavo.content.revisions.store import BranchMoved, Changes
from octavo.core.merge import Versions
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.organization.access.roles import Can

from . import store
from .authorization import ChangeAccess, recheck_permission
from .comparing import MergedContent, merge_into_change, merge_into_main, sides_of
from .pending import has_pending, no_more_pending, save_pending, try_to_save_main, try_to_save_pending
from .rules import hidden_from, require_rules
from .saving import emit_change_event, lock_unchanged, require_editable, retry_on_conflict
from .store import encode_conflicts

_FREE_TRIES = 2
"""Number of merge attempts that don't block people who are editing. Each additional attempt rejects new text until the
attempt ends."""


class MergeOutcome(NamedTuple):
    """Result of a merge. ``conflicts``: whether there are open conflicts in ``revision``, which is then a
    revision of the change request."""

    revision: str
    conflicts: bool


def merge(context: Context, access: ChangeAccess) -> MergeOutcome:
    """Merge a change request into main as one revision. If main and the change request changed the same
    content, record the conflicts in the change request and leave main unchanged.

    Raises Conflict if the change request is merged or archived, and PreconditionFailed if a merge rule doesn't
    pass.
    """
    tries = itertools.count()
    try_to_save_main(context, access.space_id)

    def attempt() -> MergeOutcome:
        # While many people are typing, new text always arrives between the save and the merge.
        with no_more_pending(context, access.change_id) if next(tries) >= _FREE_TRIES else nullcontext():
            save_pending(context, access.change_id)
            return _merge(context, access)

    return retry_on_conflict(attempt)


def _merge(context: Context, access: ChangeAccess) -> MergeOutcome:
    with context.db.read() as tx:
        change = store.get_change(tx, access.change_id)
        require_editable(change)
        require_rules(tx, change, access.user_id, hidden_from(tx, access.space, change))
        if change.conflicts is not None:
            return MergeOutcome(change.revision, True)
        sides = sides_of(tx, change)
        if change.outdated:
            merged = merge_into_main(tx, sides, change.main)
        else:
            merged = MergedContent(_differing(sides.change, sides.base), [], [], [])
        require_same_readers(
            tx, seen_by(tx, access.space, change.main), find_rules(tx, change.state), merged.changes.pages
        )
    if merged.conflicts:
        updated = _update(context, access)
        if not updated.conflicts:
            raise BranchMoved  # The update succeeded after all: merge the new state.
        return updated
    with new_revision(context, change.main, merged.changes, merged.bodies, merged.keys) as revision:
        tx = revision.tx
        recheck_permission(tx, access, Can.MERGE)
        # Main must still be the state that the change request was merged with.
        change = lock_unchanged(tx, change)
        if has_pending(tx, change.branch_id):
            raise BranchMoved  # Someone wrote more text after the save: merge that as well.
        # The text is the same as above, and checking it again would hold up all other changes.
        require_rules(tx, change, access.user_id)
        made = revision.write(
            type="merge",
            author=access.user_id,
            agent=access.author.agent,
            message=change.subject or None,
            merged_from=change.id,
            parents=[change.revision],
        )
        store.set_fields(tx, change, status="merged", revision_merged=made.revision_id)
        store.delete_settled(tx, change.id)
        emit_change_event(tx, "change_request_merged", access, change.id, revision=made.revision_id)
    return MergeOutcome(made.revision_id, False)


def mark_merged(tx: Transaction, access: ChangeAccess, seen: store.ChangeRow, revision: str) -> None:
    """Mark a change request as merged because its content reached main through a different revision, ``revision``.
    Raises BranchMoved if the change request was edited in the meantime."""
    recheck_permission(tx, access, Can.MERGE)
    change = lock_unchanged(tx, seen)
    require_editable(change)
    if has_pending(tx, change.branch_id):
        raise BranchMoved
    store.set_fields(tx, change, status="merged", revision_merged=revision)
    store.delete_settled(tx, change.id)
    emit_change_event(tx, "change_request_merged", access, change.id, revision=revision)


def _differing(change: Versions, state: Versions) -> Changes:
    """Return the changes that a change request makes to the head of main. The change request must be based on that
    head."""
    return Changes(
        {id: page for id, page in change.pages.items() if not same_version(page, state.pages.get(id))},
        {id: item for id, item in change.items.items() if not same_version(item, state.items.get(id))},
    )


def update(context: Context, access: ChangeAccess) -> MergeOutcome:
    """Update a change request with main. It is left unchanged if it already has open conflicts, or if main
    has no new changes."""
    try_to_save_main(context, access.space_id)
    try_to_save_pending(context, access.change_id)
    return retry_on_conflict(lambda: _update(context, access))


def _update(context: Context, access: ChangeAccess) -> MergeOutcome:
    with context.db.read() as tx:
        change = store.get_change(tx, access.change_id)
        require_editable(change)
        if change.conflicts is not None or not change.outdated:
            return MergeOutcome(change.revision, change.conflicts is not None)
        merged = merge_into_change(tx, sides_of(tx, change), change.state, change.main)
    with new_revision(context, change.state, merged.changes, merged.bodies, merged.keys) as revision:
        tx = revision.tx
        recheck_permission(tx, access, Can.EDIT)
        lock_unchanged(tx, change)
        made = revision.write(
            type="update",
            author=access.user_id,
            agent=access.author.agent,
            parents=[change.main_revision],
            base_sequence=change.main_sequence,
            conflicts=encode_conflicts(merged.conflicts),
        )
        store.set_fields(tx, change, revision_merged_ancestor=change.main_revision)
        store.delete_settled(tx, change.id)
        # The number can include conflicts in pages that some recipients of the event can't see.
        counted = {} if find_rules(tx, change.state) else {"conflicts": len(merged.conflicts)}
        emit_change_event(
            tx, "change_request_updated", access, change.id, revision=made.revision_id, **counted
        )
    return MergeOutcome(made.revision_id, bool(merged.conflicts))
