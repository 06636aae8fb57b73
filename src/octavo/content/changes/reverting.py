"""Revert a revision of main through a change request, and roll main back to an earlier revision."""

from __future__ import annotations

from msgspec.structs import replace

from octavo.content.references.index import list_changes_between
from octavo.content.revisions.drafting import same_version
from octavo.content.revisions.history import get_revision, state_before
from octavo.content.revisions.item_versions import find_items
from octavo.content.revisions.page_versions import find_pages, list_deleted_restricted, list_restricted
from octavo.content.revisions.restrictions import require_editable_pages, seen_by
from octavo.content.revisions.revising import new_revision
from octavo.content.revisions.states import State, main_state, revision_state
from octavo.content.revisions.store import Changes
from octavo.errors import BadRequest, Conflict
from octavo.kit.clock import iso
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.organization.access.authorization import SpaceAccess
from octavo.organization.access.roles import Can

from . import store
from .authorization import recheck_permission
from .comparing import MergedContent, merge_reverted, sides_of_reverting
from .saving import create_with, require_live, retry_on_conflict
from .store import ChangeRow


def revert(context: Context, space: SpaceAccess, revision_id: str) -> ChangeRow:
    """Create a change request that reverts a revision of main. Content that was edited after that revision becomes a
    conflict in the change request."""

    def attempt() -> ChangeRow:
        with context.db.read() as tx:
            main, done = main_state(tx, space.space_id), _reverted_state(tx, space, revision_id)
            merged = merge_reverted(tx, sides_of_reverting(tx, done, main), done, main)
            before = state_before(tx, space.space_id, get_revision(tx, revision_id))
            hidden = _hidden(tx, space, main, done, before)
            _keep_rules(tx, main, merged.changes, hidden)
            require_editable_pages(tx, seen_by(tx, space, main), merged.changes.pages)
            merged.conflicts[:] = [one for one in merged.conflicts if one.id not in hidden]
            subject = _subject(tx, revision_id)
        return create_with(
            context, space, main, merged, subject=subject, type="rollback", parents=[revision_id]
        )

    return retry_on_conflict(attempt)


def restore(context: Context, space: SpaceAccess, revision_id: str) -> ChangeRow:
    """Create a change request with the content of an earlier revision of main. Raises Conflict if main
    already has that content."""

    def attempt() -> ChangeRow:
        with context.db.read() as tx:
            main, changes = _to_restore(tx, space, revision_id)
            at = get_revision(tx, revision_id).created_at
        return create_with(
            context,
            space,
            main,
            MergedContent(changes, [], [], []),
            subject=f"Restore {iso(at)[:16].replace('T', ' ')}",
            type="rollback",
            parents=[revision_id],
        )

    return retry_on_conflict(attempt)


def _to_restore(tx: Transaction, space: SpaceAccess, revision_id: str) -> tuple[State, Changes]:
    """Return main and the changes that restore the content of a revision. Raises Conflict if main already has that
    content."""
    main, then = main_state(tx, space.space_id), _of_main(tx, space, revision_id)
    found = list_changes_between(tx, main, then)
    now = find_pages(tx, main, found.pages), find_items(tx, main, found.items)
    changes = Changes(
        {id: page for id, page in found.pages.items() if not same_version(page, now[0].get(id))},
        {id: item for id, item in found.items.items() if not same_version(item, now[1].get(id))},
    )
    _keep_rules(tx, main, changes, _hidden(tx, space, main, then))
    require_editable_pages(tx, seen_by(tx, space, main), changes.pages)
    if not changes:
        raise Conflict("Nothing was restored, because main already has the content of this revision.")
    return main, changes


def _hidden(tx: Transaction, space: SpaceAccess, *states: State) -> frozenset[str]:
    """Return the pages that the caller can't see in at least one of these states."""
    return frozenset().union(*(seen_by(tx, space, state).hidden for state in states))


def _keep_rules(tx: Transaction, main: State, changes: Changes, hidden: frozenset[str]) -> None:
    """Give restored pages the access rules that they last had, and leave out pages that the caller can't see."""
    for id in hidden & changes.pages.keys():
        del changes.pages[id]
    last = list_deleted_restricted(tx, main) | list_restricted(tx, main)
    for id, page in changes.pages.items():
        if page is not None:
            changes.pages[id] = replace(page, visible_to=last.get(id, ()))


def roll_back(context: Context, space: SpaceAccess, revision_id: str) -> str:
    """Write a revision of main with the content of an earlier revision, and return the ID of the new revision. Raises
    Forbidden if the space is locked, and Conflict if main already has that content."""
    require_live(space)

    def attempt() -> str:
        with context.db.read() as tx:
            main, changes = _to_restore(tx, space, revision_id)
        with new_revision(context, main, changes) as revision:
            recheck_permission(revision.tx, space, Can.MERGE)
            made = revision.write(
                type="rollback", author=space.user_id, agent=space.agent, parents=[revision_id]
            )
        return made.revision_id

    return retry_on_conflict(attempt)


def _of_main(tx: Transaction, space: SpaceAccess, revision_id: str) -> State:
    found = revision_state(tx, space.space_id, revision_id)
    if len(found.layers) > 1:
        raise BadRequest("revisionId: must be a revision of main, not of a change request")
    return found


def _reverted_state(tx: Transaction, space: SpaceAccess, revision_id: str) -> State:
    done = _of_main(tx, space, revision_id)
    if done.layers[0].sequence == 1:
        raise BadRequest("revisionId: must not be the first revision of the space, which can't be reverted")
    return done


def _subject(tx: Transaction, revision_id: str) -> str:
    row = get_revision(tx, revision_id)
    undoes = store.get_change(tx, row.merged_from) if row.merged_from else None
    return f"Revert #{undoes.number} {undoes.subject}".strip() if undoes else "Revert a revision"
