"""Merging a change request into main, and bringing main into a change request."""

from __future__ import annotations

from typing import NamedTuple

from octavo.content.revisions.drafting import same_version
from octavo.content.revisions.revising import new_revision
from octavo.content.revisions.store import BranchMoved, Changes
from octavo.core.merge import Versions
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.organization.access.roles import Can

from . import store
from .authorization import ChangeAccess, require_still
from .comparing import Merged, into_change, into_main, sides_of
from .rules import require_rules
from .saving import again, held, require_editable, tell
from .store import encode_conflicts


class MergeResult(NamedTuple):
    """``conflicts``: some are open in ``revision``, which is then one of the change request."""

    revision: str
    conflicts: bool


def merge(context: Context, access: ChangeAccess) -> MergeResult:
    """Brings a change request into main, as one revision; or, where both changed the same, records the conflicts
    in the change request and leaves main alone.

    Raises Conflict for one that is merged or archived, PreconditionFailed when a merge rule does not pass.
    """
    return again(lambda: _merge(context, access))


def _merge(context: Context, access: ChangeAccess) -> MergeResult:
    with context.db.read() as tx:
        change = store.get_change(tx, access.change_id)
        require_editable(change)
        require_rules(tx, change, access.user_id)
        if change.conflicts is not None:
            return MergeResult(change.revision, True)
        sides = sides_of(tx, change)
        if change.outdated:
            merged = into_main(tx, sides, change.main)
        else:
            merged = Merged(_differing(sides.change, sides.base), [], [], [])
    if merged.conflicts:
        updated = _update(context, access)
        if not updated.conflicts:
            raise BranchMoved  # it could be brought up to date after all: merge what it is now
        return updated
    with new_revision(context, change.main, merged.changes, merged.bodies, merged.keys) as revision:
        tx = revision.tx
        require_still(tx, access, Can.MERGE)
        # Main must be what was merged with, not what it may be by now.
        require_rules(tx, held(tx, change), access.user_id)
        made = revision.write(
            type="merge",
            author=access.user_id,
            agent=access.author.agent,
            message=change.subject or None,
            merged_from=change.id,
            parents=[change.revision],
        )
        store.set_fields(tx, change, status="merged", revision_merged=made.revision_id)
        store.forget_settled(tx, change.id)
        tell(tx, "change_request_merged", access, change.id, revision=made.revision_id)
    return MergeResult(made.revision_id, False)


def mark_merged(tx: Transaction, access: ChangeAccess, seen: store.ChangeRow, revision: str) -> None:
    """Says of a change request that main has all that it holds since a revision, which did not come from it. Raises
    BranchMoved where it was edited meanwhile."""
    require_still(tx, access, Can.MERGE)
    change = held(tx, seen)
    require_editable(change)
    store.set_fields(tx, change, status="merged", revision_merged=revision)
    store.forget_settled(tx, change.id)
    tell(tx, "change_request_merged", access, change.id, revision=revision)


def _differing(change: Versions, state: Versions) -> Changes:
    """What a change request that is based on the head of main changes there."""
    return Changes(
        {id: page for id, page in change.pages.items() if not same_version(page, state.pages.get(id))},
        {id: item for id, item in change.items.items() if not same_version(item, state.items.get(id))},
    )


def update(context: Context, access: ChangeAccess) -> MergeResult:
    """Brings main into a change request. With conflicts open already, or nothing new in main, it stays as it is."""
    return again(lambda: _update(context, access))


def _update(context: Context, access: ChangeAccess) -> MergeResult:
    with context.db.read() as tx:
        change = store.get_change(tx, access.change_id)
        require_editable(change)
        if change.conflicts is not None or not change.outdated:
            return MergeResult(change.revision, change.conflicts is not None)
        merged = into_change(tx, sides_of(tx, change), change.state, change.main)
    with new_revision(context, change.state, merged.changes, merged.bodies, merged.keys) as revision:
        tx = revision.tx
        require_still(tx, access, Can.EDIT)
        held(tx, change)
        made = revision.write(
            type="update",
            author=access.user_id,
            agent=access.author.agent,
            parents=[change.main_revision],
            base_sequence=change.main_sequence,
            conflicts=encode_conflicts(merged.conflicts),
        )
        store.set_fields(tx, change, revision_merged_ancestor=change.main_revision)
        store.forget_settled(tx, change.id)
        open_ones = len(merged.conflicts)
        tell(tx, "change_request_updated", access, change.id, revision=made.revision_id, conflicts=open_ones)
    return MergeResult(made.revision_id, bool(merged.conflicts))
