"""Edits suggested in comments. They are stored and shown with the comment, and can be accepted into the
change request or declined."""

from __future__ import annotations

import msgspec

from octavo.content.changes.authorization import change_access
from octavo.content.changes.commands import DocumentInput
from octavo.content.changes.saving import require_editable
from octavo.content.changes.store import Author, get_change, lock_change
from octavo.content.changes.suggesting import (
    AcceptedSuggestion,
    SuggestedEdit,
    accept_suggestion,
    revert_suggestion,
    try_suggestion,
)
from octavo.errors import BadRequest, Conflict, NotFound, TooLarge, format_size
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction

from . import store
from .authorization import Discussion
from .events import emit_comment_event
from .targets import About
from .types import SuggestionStatus

MAX_SUGGESTION = 256 * 1024
"""Maximum size in bytes of a block before and after the edit, as JSON."""


def read_suggestion(
    context: Context, discussion: Discussion, about: About, suggestion: DocumentInput
) -> SuggestedEdit:
    """Return the edit that a new comment suggests, after a trial run on the content of the change request. Raises
    BadRequest, NotFound, TooLarge, or Conflict if the suggestion isn't possible."""
    if discussion.change_id is None:
        raise BadRequest("suggestion: edits can only be suggested in a change request")
    if about.page is None or about.node is None:
        raise BadRequest("suggestion: requires `page` and `node` to identify the block to edit")
    if about.cell is not None:
        raise BadRequest(
            "tableCell: can't be combined with `suggestion`. Suggest an edit to the whole table instead."
        )
    with context.db.read() as tx:
        access = change_access(tx, discussion.space, discussion.change_id)
    made = try_suggestion(context, access, about.page, about.node, suggestion)
    if max(len(msgspec.json.encode(nodes)) for nodes in (made.was, made.becomes)) > MAX_SUGGESTION:
        raise TooLarge(
            f"suggestion: edits can be suggested only for blocks of at most {format_size(MAX_SUGGESTION)}. Edit larger"
            " blocks directly."
        )
    return made


def settle_suggestion(
    context: Context,
    discussion: Discussion,
    comment_id: str,
    status: SuggestionStatus,
) -> None:
    """Accept, decline, or reopen a suggestion. Reopening an accepted suggestion reverts its edit. If the suggestion
    already has this status, nothing changes. Raises NotFound if there is no suggestion, and Conflict if the status
    can't be set."""
    assert discussion.change_id is not None
    with context.db.read() as tx:
        access = change_access(tx, discussion.space, discussion.change_id)
        comment = store.get_comment(tx, discussion, comment_id)
        discussion.require_may_comment(comment.page_id)
        kept = store.find_suggestion(tx, comment_id)
        if kept is None:
            raise NotFound(f"The comment {comment_id!r} doesn't suggest an edit.")
        require_editable(get_change(tx, access.change_id))
    if kept.status == status:
        return
    if kept.status == "accepted" and status == "declined":
        raise Conflict("status: this suggestion was already accepted. Reopen it before declining it.")

    def note(tx: Transaction, accepted: AcceptedSuggestion | None = None) -> None:
        thread = store.get_comment(tx, discussion, comment_id, lock=True)
        if not store.set_suggestion_status(tx, kept, status, discussion.user_id, accepted):
            raise Conflict(
                "status: another request accepted, declined, or reopened the suggestion. Reload it and try"
                " again."
            )
        if (status == "open") == (thread.resolved_at is not None):
            store.set_resolved(tx, thread, None if status == "open" else discussion.user_id)
        emit_comment_event(tx, "updated", discussion, thread, changed=["suggestion"], suggestion=status)

    if status == "accepted":
        assert comment.page_id is not None and comment.node_id is not None
        what = SuggestedEdit(comment.revision, kept.was, kept.becomes)
        by = Author(comment.posted_by, comment.agent)
        accept_suggestion(context, access, comment.page_id, comment.node_id, what, by, note)
    elif kept.revision is not None and kept.revision_before is not None:
        taken = AcceptedSuggestion(kept.revision_before, kept.revision)
        revert_suggestion(context, access, taken, lambda tx, made: note(tx))
    else:
        with context.db.write() as tx:
            require_editable(lock_change(tx, access.change_id))
            note(tx)
