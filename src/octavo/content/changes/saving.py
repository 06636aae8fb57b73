"""Save edits to change requests, or to main where that is allowed.

Each save reads and computes without a lock, and writes only if nothing changed in the meantime. Otherwise, it is
retried.
"""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from msgspec import UNSET, Struct

from octavo.content.pages.access_wire import PageAccess, TeamPageAccess, UserPageAccess
from octavo.content.pages.reading import is_synced
from octavo.content.references.resolving import MemberViewer, Resolver, state_resolver
from octavo.content.revisions.history import find_continued_saves
from octavo.content.revisions.restrictions import main_seen_by, require_editable_pages, seen_by
from octavo.content.revisions.revising import changed_pages, first_revision, new_revision, write_unchanged
from octavo.content.revisions.states import State, main_state
from octavo.content.revisions.store import BranchMoved, open_branch
from octavo.core import merge as merging
from octavo.core.links import app_hosts
from octavo.errors import Conflict, Forbidden, TooLarge, format_size
from octavo.kit.context import Context
from octavo.kit.db.database import TURN_SECONDS, RetryTransaction, Transaction, no_turn_error
from octavo.kit.http.operation import Actor
from octavo.kit.work.outbox import emit
from octavo.organization.access.authorization import SpaceAccess
from octavo.organization.access.members import require_members
from octavo.organization.access.roles import SPACE, Can, at_least
from octavo.organization.access.teams import require_teams

from . import store
from .applying import EditedContent
from .authorization import ChangeAccess, recheck_permission
from .auto_resolving import list_still_open
from .commands import ContentChange, DocumentInput
from .comparing import MergedContent
from .pending import try_to_save_main, try_to_save_pending
from .rebasing import Resolving, edit_since
from .store import ChangeRow, encode_conflicts
from .uploading import store_uploads

_PAUSE = 0.02
_MOST_PAUSES = 8
T = TypeVar("T")


def retry_on_conflict(attempt: Callable[[], T]) -> T:
    """Call ``attempt`` until no concurrent write interferes. After ``TURN_SECONDS``, raises TemporarilyUnavailable,
    which states when to try again."""
    end = time.monotonic() + TURN_SECONDS
    for number in itertools.count(1):
        try:
            return attempt()
        except (BranchMoved, RetryTransaction):
            if time.monotonic() > end:
                break
            time.sleep(random.uniform(0, _PAUSE) * min(number, _MOST_PAUSES))  # noqa: S311
    raise no_turn_error()


def require_editable(change: ChangeRow) -> None:
    """Raise Conflict if the change request is merged or archived."""
    if change.status == "merged":
        raise Conflict("This change request is already merged. Create another one, or revert the merge.")
    if change.status == "archived":
        raise Conflict("This change request is archived. Reopen it first.")


def lock_unchanged(tx: Transaction, seen: ChangeRow) -> ChangeRow:
    """Lock a change request and return it if it still matches ``seen``. Raises BranchMoved if it doesn't."""
    fresh = store.lock_change(tx, seen.id)
    if (fresh.sequence, fresh.status) != (seen.sequence, seen.status):
        raise BranchMoved
    return fresh


def emit_change_event(
    tx: Transaction, type: str, access: ChangeAccess | SpaceAccess, change_id: str, **more: object
) -> None:
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
    """Create a draft based on the head of main. ``issues_cluster``: the ID of the cluster of questions that the draft
    is meant to answer."""
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
    emit_change_event(tx, "change_request_created", space, change.id)
    return change


def create_with(
    context: Context,
    space: SpaceAccess,
    main: State,
    merged: MergedContent,
    *,
    subject: str,
    type: str = "edits",
    parents: Sequence[str] = (),
    also: Callable[[Transaction, ChangeRow], None] | None = None,
) -> ChangeRow:
    """Create a draft based on ``main`` with these changes and conflicts. ``also``: a function that makes
    additional writes in the same transaction. Raises BranchMoved if ``main`` is no longer the head."""
    with first_revision(context, main, merged.changes, merged.bodies, merged.keys, space.user_id) as revision:
        tx = revision.tx
        recheck_permission(tx, space, Can.EDIT)
        change = store.insert_change(tx, revision.state, main.revision_id, by=space, subject=subject[:100])
        made = revision.write(
            type=type,
            author=space.user_id,
            agent=space.agent,
            parents=parents,
            conflicts=encode_conflicts(merged.conflicts),
        )
        store.add_contribution(tx, change.id, space.user_id, "edit")
        emit_change_event(tx, "change_request_created", space, change.id, revision=made.revision_id)
        if also is not None:
            also(tx, store.get_change(tx, change.id))
        return store.get_change(tx, change.id)


def set_status(tx: Transaction, access: ChangeAccess | SpaceAccess, change: ChangeRow, status: str) -> None:
    """Set the status of an unmerged change request to open, archived, or draft."""
    if change.status in (status, "merged"):
        return
    store.set_fields(tx, change, status=status)
    emit_change_event(tx, "change_request_status_updated", access, change.id, status=status)


def create_conflicted(
    tx: Transaction,
    space: SpaceAccess,
    conflicts: Sequence[merging.MergeConflict],
    *,
    subject: str,
) -> ChangeRow:
    """Create an open change request with these conflicts, based on the head of main. Main contains the kept
    versions."""
    change = create(tx, space, subject[:100])
    made = write_unchanged(
        tx, change.state, author=space.user_id, agent=space.agent, conflicts=encode_conflicts(list(conflicts))
    )
    store.set_fields(tx, store.get_change(tx, change.id), status="open")
    emit_change_event(tx, "change_request_content_updated", space, change.id, revision=made.revision_id)
    return store.get_change(tx, change.id)


def set_change(tx: Transaction, change: ChangeAccess, **fields: object) -> None:
    """Set the subject, description, or status. An archived change request can only be reopened, and a merged change
    request can't be changed. Raises Conflict if the change isn't allowed."""
    row = store.lock_change(tx, change.change_id)
    if row.status == "merged" or "status" not in fields:
        require_editable(row)
    store.set_fields(tx, row, **fields)
    if fields.get("status", row.status) != row.status:
        emit_change_event(tx, "change_request_status_updated", change, row.id, status=fields["status"])


# --- editing ------------------------------------------------------------------------------------------


class EditedChange(Struct, frozen=True):
    """Result of an edit: the state to present, and details to report. ``before``: the previous revision. ``change``:
    the change request created for an edit to main that conflicts with later saves; main is then unchanged. ``refused``:
    whether nothing was written because the edit conflicts."""

    state: State
    edited: EditedContent
    before: str
    change: ChangeRow | None = None
    refused: bool = False


MakeEdit = Callable[[Transaction, State, State | None], EditedContent]
"""Function that returns the content that an edit writes on top of a state. The second argument is the state
on which a change request is based."""


def edit_change(
    context: Context,
    access: ChangeAccess,
    changes: Sequence[ContentChange],
    base_revision: str | None = None,
    *,
    refuse_conflicts: bool = False,
) -> EditedChange:
    """Apply a batch to a change request as one revision. Nothing is written if nothing changed.

    ``base_revision``: the revision that the batch is based on. The batch is merged with all changes saved since that
    revision. If the batch and later saves changed the same content, the saved version is kept and the change request
    gets an open conflict. ``refuse_conflicts``: whether to write nothing in that case.
    """
    _require_open(context, access)
    _require_rule_rights(context, access.space, changes)
    _require_sizes(context, changes)
    uploads = store_uploads(context, access.space, changes)

    def make(tx: Transaction, state: State, started: State | None) -> EditedContent:
        return edit_since(meaning, tx, state, started, changes, uploads, base_revision)

    meaning = resolver_maker(context, access.actor)
    return revise_change(
        context, access, make, base_revision=base_revision, refuse_conflicts=refuse_conflicts
    )


def resolver_maker(context: Context, actor: Actor) -> Resolving:
    """Return a function that creates a state's reference resolver for the author."""

    def of(tx: Transaction, state: State) -> Resolver:
        return state_resolver(
            tx, state, app_hosts(context.settings.url), MemberViewer(tx, actor, state.space_id)
        )

    return of


RevisionHook = Callable[[Transaction, State], None]
"""Function that makes additional writes in the transaction of a revision."""


def _write_nothing(tx: Transaction, made: State) -> None:
    pass


def revise_change(
    context: Context,
    access: ChangeAccess,
    make: MakeEdit,
    also: RevisionHook = _write_nothing,
    base_revision: str | None = None,
    author: store.Author | None = None,
    *,
    refuse_conflicts: bool = False,
) -> EditedChange:
    """Write a revision of a change request with the result of ``make``. ``make`` is called again after a concurrent
    write. ``author``: the author of the content, if the caller accepts someone else's content."""

    try_to_save_pending(context, access.change_id)

    def attempt() -> EditedChange:
        with context.db.read() as tx:
            change = store.get_change(tx, access.change_id)
            require_editable(change)
            state = seen_by(tx, access.space, change.state)
            edited = make(tx, state, change.below)
            require_editable_pages(tx, state, edited.changes.pages)
            if edited.conflicts and refuse_conflicts:
                return EditedChange(change.state, edited, change.revision, refused=True)
            conflicts = list_still_open(tx, change.state, change.open_conflicts, edited) + edited.conflicts
            since = _continued_save(tx, change.state, access.author, base_revision)
        if not edited.changes and conflicts == change.open_conflicts:
            return EditedChange(change.state, edited, change.revision)
        made = write_edit(context, access, change, edited, conflicts, also, since, author)
        return EditedChange(made, edited, change.revision)

    return retry_on_conflict(attempt)


def _continued_save(
    tx: Transaction, head: State, by: store.Author, base_revision: str | None
) -> tuple[str, int] | None:
    """Return the previous revision and the start of the series of consecutive saves that an edit to the head continues,
    in the format that ``commit`` expects. Return None if the edit starts a new series."""
    if base_revision != head.revision_id:
        return None
    since = find_continued_saves(tx, head, *by)
    return None if since is None else (head.revision_id, since)


def _require_sizes(context: Context, changes: Sequence[ContentChange]) -> None:
    """Raise TooLarge if the Markdown exceeds the page size, before it is parsed. The size of nodes is
    checked when they are written."""
    most = context.settings.page_size
    for number, change in enumerate(changes):
        given = getattr(change, "document", None)
        if isinstance(given, DocumentInput) and given.markdown is not UNSET:
            size = len(given.markdown.encode("utf-8", "replace"))
            if size > most:
                raise TooLarge(f"changes[{number}].document.markdown: must be at most {format_size(most)}")


def _require_open(context: Context, access: ChangeAccess) -> None:
    with context.db.read() as tx:
        require_editable(store.get_change(tx, access.change_id))


def write_edit(
    context: Context,
    access: ChangeAccess,
    seen: ChangeRow,
    edited: EditedContent,
    conflicts: list[merging.MergeConflict],
    also: RevisionHook = _write_nothing,
    continues: tuple[str, int] | None = None,
    author: store.Author | None = None,
) -> State:
    """Write the next revision of a change request, with the conflicts that are still open. ``author``: the
    author of the content; by default, the caller. Raises BranchMoved if the change request has changed
    since ``seen``."""
    author = author or access.author
    with new_revision(context, seen.state, edited.changes, edited.bodies, edited.keys) as revision:
        tx = revision.tx
        recheck_permission(tx, access, Can.EDIT)
        change = lock_unchanged(tx, seen)
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
        emit_change_event(
            tx,
            "change_request_content_updated",
            access,
            change.id,
            revision=made.revision_id,
            **changed_pages(edited.changes),
        )
        also(tx, made)
    return made


def _require_rule_rights(context: Context, space: SpaceAccess, changes: Iterable[ContentChange]) -> None:
    """Raise Forbidden if a caller who isn't an administrator of the space changes who can see a page, and Conflict if
    the space is synced with Git."""
    for index, change in enumerate(changes):
        given = getattr(change, "visible_to", UNSET)
        if given is UNSET:
            continue
        place = f"changes[{index}].visibleTo"
        if not at_least(space.role, SPACE[Can.ADMIN]):
            raise Forbidden(f"{place}: only space administrators can change who can see a page")
        with context.db.read() as tx:
            if is_synced(tx, space.space_id):
                raise Conflict(f"{place}: pages can't be restricted, because the space is synced with Git")
            _require_known(tx, space.organization_id, given or (), place)


def _require_known(tx: Transaction, organization_id: str, given: Iterable[PageAccess], place: str) -> None:
    """Raise NotFound unless all people and teams belong to the organization."""
    require_teams(tx, organization_id, [one.team for one in given if isinstance(one, TeamPageAccess)], place)
    users = [one.user for one in given if isinstance(one, UserPageAccess)]
    require_members(tx, organization_id, users, place)


def edit_main(
    context: Context,
    space: SpaceAccess,
    changes: Sequence[ContentChange],
    base_revision: str | None = None,
    *,
    refuse_conflicts: bool = False,
) -> EditedChange:
    """Apply a batch to main in a space with live editing. Raises Forbidden if the space is locked.

    ``base_revision``: the revision that the batch is based on. The batch is merged with all changes saved since that
    revision. If the batch and later saves changed the same content, main is unchanged, and a new change request
    contains the edit and its conflicts. ``refuse_conflicts``: whether to write nothing in that case.
    """
    require_live(space)
    _require_rule_rights(context, space, changes)
    _require_sizes(context, changes)
    uploads = store_uploads(context, space, changes)

    def make(tx: Transaction, state: State, started: State | None) -> EditedContent:
        return edit_since(meaning, tx, state, started, changes, uploads, base_revision)

    meaning = resolver_maker(context, space.actor)
    return edit_live(context, space, make, base_revision=base_revision, refuse_conflicts=refuse_conflicts)


def edit_live(
    context: Context,
    space: SpaceAccess,
    make: MakeEdit,
    also: RevisionHook = _write_nothing,
    base_revision: str | None = None,
    *,
    refuse_conflicts: bool = False,
    message: str | None = None,
    follows_rules: bool = True,
) -> EditedChange:
    """Write a revision of main with the result of ``make``. ``follows_rules``: whether the rules of restricted pages
    apply to the revision. They don't apply to content that comes from another space. Raises Forbidden if the space is
    locked."""
    require_live(space)
    try_to_save_main(context, space.space_id)

    def attempt() -> EditedChange:
        with context.db.read() as tx:
            main = main_seen_by(tx, space)
            edited = make(tx, main, None)
            if follows_rules:
                require_editable_pages(tx, main, edited.changes.pages)
            since = _continued_save(tx, main, store.Author(space.user_id, space.agent), base_revision)
        if edited.conflicts and refuse_conflicts:
            return EditedChange(main, edited, main.revision_id, refused=True)
        if edited.conflicts:
            change = create_with(
                context,
                space,
                main,
                MergedContent(edited.changes, edited.bodies, edited.keys, edited.conflicts),
                subject="Edit of an older revision",
            )
            return EditedChange(change.state, edited, main.revision_id, change)
        if not edited.changes:
            return EditedChange(main, edited, main.revision_id)
        with new_revision(context, main.whole, edited.changes, edited.bodies, edited.keys) as revision:
            tx = revision.tx
            recheck_permission(tx, space, Can.EDIT)
            made = revision.write(author=space.user_id, agent=space.agent, message=message, continues=since)
            if tx.value("SELECT edit_mode FROM spaces WHERE id = :id", id=space.space_id) == "locked":
                _refuse_locked()
            also(tx, made)
        return EditedChange(made, edited, main.revision_id)

    return retry_on_conflict(attempt)


def require_live(space: SpaceAccess) -> None:
    """Raise Forbidden if main can only be edited through change requests."""
    if space.locked:
        _refuse_locked()


def _refuse_locked() -> None:
    raise Forbidden("This space is locked. Edit it through a change request.")
