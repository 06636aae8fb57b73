"""Undoing one revision of main, as a change request to be looked at, and going back to one."""

from __future__ import annotations

from octavo.content.references.index import list_changes_between
from octavo.content.revisions.drafting import same_version
from octavo.content.revisions.revising import new_revision
from octavo.content.revisions.store import (
    Changes,
    State,
    find_items,
    find_pages,
    get_revision,
    main_state,
    revision_state,
)
from octavo.errors import BadRequest, Conflict
from octavo.kit.clock import iso
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.organization.access.authorization import SpaceAccess
from octavo.organization.access.roles import Can

from . import store
from .authorization import require_still
from .comparing import Merged, undoing, undone
from .saving import again, create_with, require_live
from .store import ChangeRow


def revert(context: Context, space: SpaceAccess, revision_id: str) -> ChangeRow:
    """A change request that undoes one revision of main; what was changed again since is a conflict in it."""

    def attempt() -> ChangeRow:
        with context.db.read() as tx:
            main, done = main_state(tx, space.space_id), _done(tx, space, revision_id)
            merged = undone(tx, undoing(tx, done, main), done, main)
            subject = _subject(tx, revision_id)
        return create_with(
            context, space, main, merged, subject=subject, type="rollback", parents=[revision_id]
        )

    return again(attempt)


def restore(context: Context, space: SpaceAccess, revision_id: str) -> ChangeRow:
    """A change request that holds what an earlier revision of main held. Raises Conflict when main holds that already."""

    def attempt() -> ChangeRow:
        with context.db.read() as tx:
            main, changes = _to_restore(tx, space, revision_id)
            at = get_revision(tx, revision_id).created_at
        return create_with(
            context,
            space,
            main,
            Merged(changes, [], [], []),
            subject=f"Restore {iso(at)[:16].replace('T', ' ')}",
            type="rollback",
            parents=[revision_id],
        )

    return again(attempt)


def _to_restore(tx: Transaction, space: SpaceAccess, revision_id: str) -> tuple[State, Changes]:
    """Main, and what has to change for it to hold what a revision held. Raises Conflict where it does."""
    main, then = main_state(tx, space.space_id), _of_main(tx, space, revision_id)
    found = list_changes_between(tx, main, then)
    now = find_pages(tx, main, found.pages), find_items(tx, main, found.items)
    changes = Changes(
        {id: page for id, page in found.pages.items() if not same_version(page, now[0].get(id))},
        {id: item for id, item in found.items.items() if not same_version(item, now[1].get(id))},
    )
    if not changes:
        raise Conflict("Main holds what this revision held; nothing was changed.")
    return main, changes


def roll_back(context: Context, space: SpaceAccess, revision_id: str) -> str:
    """A revision of main that holds what an earlier one held; gives its id. Raises Forbidden where the space is
    locked, Conflict when main holds that already."""
    require_live(space)

    def attempt() -> str:
        with context.db.read() as tx:
            main, changes = _to_restore(tx, space, revision_id)
        with new_revision(context, main, changes) as revision:
            require_still(revision.tx, space, Can.MERGE)
            made = revision.write(
                type="rollback", author=space.user_id, agent=space.agent, parents=[revision_id]
            )
        return made.revision_id

    return again(attempt)


def _of_main(tx: Transaction, space: SpaceAccess, revision_id: str) -> State:
    found = revision_state(tx, space.space_id, revision_id)
    if len(found.layers) > 1:
        raise BadRequest("revisionId: this revision is one of a change request, not of main.")
    return found


def _done(tx: Transaction, space: SpaceAccess, revision_id: str) -> State:
    done = _of_main(tx, space, revision_id)
    if done.layers[0].sequence == 1:
        raise BadRequest("revisionId: the first revision of a space has nothing before it.")
    return done


def _subject(tx: Transaction, revision_id: str) -> str:
    row = get_revision(tx, revision_id)
    undoes = store.get_change(tx, row.merged_from) if row.merged_from else None
    return f"Revert #{undoes.number} {undoes.subject}".strip() if undoes else "Revert a revision"
