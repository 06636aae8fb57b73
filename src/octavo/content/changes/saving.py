"""Working on a change request, or on main itself where that is allowed.

Everything here reads without a lock, computes, and writes only if nothing moved in between; else it looks again.
"""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from msgspec import UNSET, Struct

from octavo.content.references.resolving import MemberViewer, Resolver, state_resolver
from octavo.content.revisions.revising import changed_pages, first_revision, new_revision, write_unchanged
from octavo.content.revisions.store import BranchMoved, State, find_continued_saves, main_state, open_branch
from octavo.core import merge as merging
from octavo.core.links import app_hosts
from octavo.errors import Conflict, Forbidden, TooLarge
from octavo.kit.context import Context
from octavo.kit.db.database import TURN_SECONDS, RetryTransaction, Transaction, no_turn
from octavo.kit.http.operation import Actor
from octavo.kit.work.outbox import emit
from octavo.organization.access.authorization import SpaceAccess
from octavo.organization.access.roles import Can

from . import store
from .applying import Edited
from .authorization import ChangeAccess, require_still
from .auto_resolving import still_open
from .commands import ContentChange, DocumentInput
from .comparing import Merged
from .rebasing import Resolving, edit_since
from .store import ChangeRow, encode_conflicts
from .uploading import store_uploads

_PAUSE = 0.02
_MOST_PAUSES = 8
T = TypeVar("T")


def again(attempt: Callable[[], T]) -> T:
    """Tries until nobody changed the same thing meanwhile. Raises OutOfReach, which says when to try again, after
    ``TURN_SECONDS``."""
    end = time.monotonic() + TURN_SECONDS
    for number in itertools.count(1):
        try:
            return attempt()
        except (BranchMoved, RetryTransaction):
            if time.monotonic() > end:
                break
            time.sleep(random.uniform(0, _PAUSE) * min(number, _MOST_PAUSES))  # noqa: S311
    raise no_turn()


def require_editable(change: ChangeRow) -> None:
    """Raises Conflict when the change request is merged or archived."""
    if change.status == "merged":
        raise Conflict("This change request is merged; make a new one, or revert the merge.")
    if change.status == "archived":
        raise Conflict("This change request is archived; open it again first.")


def held(tx: Transaction, seen: ChangeRow) -> ChangeRow:
    """The change request, locked and as it was seen. Raises BranchMoved."""
    fresh = store.lock_change(tx, seen.id)
    if (fresh.sequence, fresh.status) != (seen.sequence, seen.status):
        raise BranchMoved
    return fresh


def tell(tx: Transaction, type: str, access: ChangeAccess | SpaceAccess, change_id: str, **more: Any) -> None:
    emit(
        tx,
        type,
        organization_id=access.organization_id,
        space_id=access.space_id,
        change_request=change_id,
        by=access.user_id,
        **more,
    )


# --- creating -----------------------------------------------------------------------------------------


def create(tx: Transaction, space: SpaceAccess, subject: str, issues_cluster: str | None = None) -> ChangeRow:
    """A draft over the head of main. ``issues_cluster``: the questions it is to answer."""
    main = main_state(tx, space.space_id)
    branch = open_branch(tx, main, space.user_id)
    change = store.insert_change(
        tx,
        branch,
        main.revision_id,
        by=space,
        subject=subject,
        issues_cluster=issues_cluster,
    )
    tell(tx, "change_request_created", space, change.id)
    return change


def create_with(
    context: Context,
    space: SpaceAccess,
    main: State,
    merged: Merged,
    *,
    subject: str,
    type: str = "edits",
    parents: Sequence[str] = (),
    also: Callable[[Transaction, ChangeRow], None] | None = None,
) -> ChangeRow:
    """A draft over ``main`` that holds these changes and their conflicts. ``also``: what is written in the same
    transaction. Raises BranchMoved when that is no longer the head of main."""
    with first_revision(context, main, merged.changes, merged.bodies, merged.keys, space.user_id) as revision:
        tx = revision.tx
        require_still(tx, space, Can.EDIT)
        change = store.insert_change(tx, revision.state, main.revision_id, by=space, subject=subject[:100])
        made = revision.write(
            type=type,
            author=space.user_id,
            agent=space.agent,
            parents=parents,
            conflicts=encode_conflicts(merged.conflicts),
        )
        store.add_contribution(tx, change.id, space.user_id, "edit")
        tell(tx, "change_request_created", space, change.id, revision=made.revision_id)
        if also is not None:
            also(tx, store.get_change(tx, change.id))
        return store.get_change(tx, change.id)


def set_status(tx: Transaction, access: ChangeAccess | SpaceAccess, change: ChangeRow, status: str) -> None:
    """Opens, archives or takes back to a draft one that is not merged."""
    if change.status in (status, "merged"):
        return
    store.set_fields(tx, change, status=status)
    tell(tx, "change_request_status_updated", access, change.id, status=status)


def create_conflicted(
    tx: Transaction,
    space: SpaceAccess,
    conflicts: Sequence[merging.Conflict],
    *,
    subject: str,
) -> ChangeRow:
    """A change request over the head of main in which these conflicts are open; main has what they kept. It is open at
    once, for people to settle it."""
    change = create(tx, space, subject[:100])
    made = write_unchanged(
        tx, change.state, author=space.user_id, agent=space.agent, conflicts=encode_conflicts(list(conflicts))
    )
    store.set_fields(tx, store.get_change(tx, change.id), status="open")
    tell(tx, "change_request_content_updated", space, change.id, revision=made.revision_id)
    return store.get_change(tx, change.id)


def set_change(tx: Transaction, change: ChangeAccess, **fields: Any) -> None:
    """Sets subject, description or status. An archived one can only be opened again; a merged one stays as it is.
    Raises Conflict."""
    row = store.lock_change(tx, change.change_id)
    if row.status == "merged" or "status" not in fields:
        require_editable(row)
    store.set_fields(tx, row, **fields)
    if fields.get("status", row.status) != row.status:
        tell(tx, "change_request_status_updated", change, row.id, status=fields["status"])


# --- editing ------------------------------------------------------------------------------------------


class EditedChange(Struct, frozen=True):
    """What an edit made: the state to show it in, and what is to be said of it. ``before``: the revision that it was
    put on. ``change``: the change request that was made of an edit of main that conflicts with what was saved since;
    main stays as it is. ``refused``: nothing was written, because the edit conflicts."""

    state: State
    edited: Edited
    before: str
    change: ChangeRow | None = None
    refused: bool = False


Make = Callable[[Transaction, State, State | None], Edited]
"""What an edit writes over a state; the second state is where a change request started."""


def edit_change(
    context: Context,
    access: ChangeAccess,
    changes: Sequence[ContentChange],
    base_revision: str | None = None,
    *,
    refuse_conflicts: bool = False,
) -> EditedChange:
    """Applies a batch to a change request, as one revision of it. Nothing is written when nothing differs.

    ``base_revision``: the one that the batch was made on. What was saved since is merged with it; where both
    changed the same, what was saved stays and the conflict is open in the change request, or with
    ``refuse_conflicts`` nothing is written.
    """
    _require_open(context, access)
    _require_sizes(context, changes)
    uploads = store_uploads(context, access.space, changes)

    def make(tx: Transaction, state: State, started: State | None) -> Edited:
        return edit_since(meaning, tx, state, started, changes, uploads, base_revision)

    meaning = resolving(context, access.actor)
    return revise_change(
        context, access, make, base_revision=base_revision, refuse_conflicts=refuse_conflicts
    )


def resolving(context: Context, actor: Actor) -> Resolving:
    """What references in a state mean to who edits."""

    def of(tx: Transaction, state: State) -> Resolver:
        return state_resolver(
            tx, state, app_hosts(context.settings.url), MemberViewer(tx, actor, state.space_id)
        )

    return of


Also = Callable[[Transaction, State], None]
"""What is written together with a revision, in the same transaction."""


def _nothing_else(tx: Transaction, made: State) -> None:
    pass


def revise_change(
    context: Context,
    access: ChangeAccess,
    make: Make,
    also: Also = _nothing_else,
    base_revision: str | None = None,
    author: store.Author | None = None,
    *,
    refuse_conflicts: bool = False,
) -> EditedChange:
    """One revision of a change request, of what ``make`` says; it is asked again when another write came first.
    ``author``: whose words it holds, where the caller only takes them in."""

    def attempt() -> EditedChange:
        with context.db.read() as tx:
            change = store.get_change(tx, access.change_id)
            require_editable(change)
            edited = make(tx, change.state, change.below)
            if edited.conflicts and refuse_conflicts:
                return EditedChange(change.state, edited, change.revision, refused=True)
            conflicts = still_open(tx, change.state, change.open_conflicts, edited) + edited.conflicts
            since = _goes_on(tx, change.state, access.author, base_revision)
        if not edited.changes and conflicts == change.open_conflicts:
            return EditedChange(change.state, edited, change.revision)
        made = write_edit(context, access, change, edited, conflicts, also, since, author)
        return EditedChange(made, edited, change.revision)

    return again(attempt)


def _goes_on(
    tx: Transaction, head: State, by: store.Author, base_revision: str | None
) -> tuple[str, int] | None:
    """Where the saves in a row began that an edit of the head goes on, for ``commit``."""
    if base_revision != head.revision_id:
        return None
    since = find_continued_saves(tx, head, *by)
    return None if since is None else (head.revision_id, since)


def _require_sizes(context: Context, changes: Sequence[ContentChange]) -> None:
    """Raises TooLarge for Markdown that no page may have, before anybody reads it. What comes as nodes is measured
    when it is written."""
    most = context.settings.page_size
    for number, change in enumerate(changes):
        given = getattr(change, "document", None)
        if isinstance(given, DocumentInput) and given.markdown is not UNSET:
            size = len(given.markdown.encode("utf-8", "replace"))
            if size > most:
                raise TooLarge(
                    f"changes[{number}].document.markdown: {size} bytes; a page may have at most {most}"
                )


def _require_open(context: Context, access: ChangeAccess) -> None:
    with context.db.read() as tx:
        require_editable(store.get_change(tx, access.change_id))


def write_edit(
    context: Context,
    access: ChangeAccess,
    seen: ChangeRow,
    edited: Edited,
    conflicts: list[merging.Conflict],
    also: Also = _nothing_else,
    continues: tuple[str, int] | None = None,
    author: store.Author | None = None,
) -> State:
    """The next revision of a change request, with the conflicts that are still open. ``author``: whose words it holds,
    where that is not the caller. Raises BranchMoved."""
    author = author or access.author
    with new_revision(context, seen.state, edited.changes, edited.bodies, edited.keys) as revision:
        tx = revision.tx
        require_still(tx, access, Can.EDIT)
        change = held(tx, seen)
        made = revision.write(
            author=author.user_id,
            agent=author.agent,
            conflicts=encode_conflicts(conflicts),
            continues=continues,
        )
        store.set_fields(tx, change, edits=change.edits + 1)
        store.add_contribution(tx, change.id, access.user_id, "edit")
        if author.user_id != access.user_id:
            store.add_contribution(tx, change.id, author.user_id, "edit", accepted=True)
        tell(
            tx,
            "change_request_content_updated",
            access,
            change.id,
            revision=made.revision_id,
            **changed_pages(edited.changes),
        )
        also(tx, made)
    return made


def edit_main(
    context: Context,
    space: SpaceAccess,
    changes: Sequence[ContentChange],
    base_revision: str | None = None,
    *,
    refuse_conflicts: bool = False,
) -> EditedChange:
    """Applies a batch to main itself, where the space is edited live. Raises Forbidden where it is locked.

    ``base_revision``: the one that the batch was made on. What was saved since is merged with it; where both
    changed the same, main stays as it is, and a new change request holds the edit and its conflicts, or with
    ``refuse_conflicts`` nothing is written.
    """
    require_live(space)
    _require_sizes(context, changes)
    uploads = store_uploads(context, space, changes)

    def make(tx: Transaction, state: State, started: State | None) -> Edited:
        return edit_since(meaning, tx, state, started, changes, uploads, base_revision)

    meaning = resolving(context, space.actor)
    return edit_live(context, space, make, base_revision=base_revision, refuse_conflicts=refuse_conflicts)


def edit_live(
    context: Context,
    space: SpaceAccess,
    make: Make,
    also: Also = _nothing_else,
    base_revision: str | None = None,
    *,
    refuse_conflicts: bool = False,
) -> EditedChange:
    """One revision of main, of what ``make`` says. Raises Forbidden where the space is locked."""
    require_live(space)

    def attempt() -> EditedChange:
        with context.db.read() as tx:
            main = main_state(tx, space.space_id)
            edited = make(tx, main, None)
            since = _goes_on(tx, main, store.Author(space.user_id, space.agent), base_revision)
        if edited.conflicts and refuse_conflicts:
            return EditedChange(main, edited, main.revision_id, refused=True)
        if edited.conflicts:
            change = create_with(
                context,
                space,
                main,
                Merged(edited.changes, edited.bodies, edited.keys, edited.conflicts),
                subject="An edit of an older revision",
            )
            return EditedChange(change.state, edited, main.revision_id, change)
        if not edited.changes:
            return EditedChange(main, edited, main.revision_id)
        with new_revision(context, main, edited.changes, edited.bodies, edited.keys) as revision:
            tx = revision.tx
            require_still(tx, space, Can.EDIT)
            made = revision.write(author=space.user_id, agent=space.agent, continues=since)
            if tx.value("SELECT edit_mode FROM spaces WHERE id = :id", id=space.space_id) == "locked":
                _refuse_locked()
            also(tx, made)
        return EditedChange(made, edited, main.revision_id)

    return again(attempt)


def require_live(space: SpaceAccess) -> None:
    """Raises Forbidden when main is edited through change requests only."""
    if space.locked:
        _refuse_locked()


def _refuse_locked() -> None:
    raise Forbidden("This space is locked: change it through a change request.")
