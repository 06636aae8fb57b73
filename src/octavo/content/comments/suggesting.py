"""Edits that comments suggest: kept with the comment, shown with it, and taken into the change request or declined."""

from __future__ import annotations

import msgspec

from octavo.content.changes.authorization import change_access
from octavo.content.changes.commands import DocumentInput
from octavo.content.changes.saving import require_editable
from octavo.content.changes.store import Author, get_change, lock_change
from octavo.content.changes.suggesting import (
    Accepted,
    Suggested,
    accept_suggestion,
    take_back,
    try_suggestion,
)
from octavo.errors import BadRequest, Conflict, NotFound, TooLarge
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction

from . import store
from .authorization import Discussion
from .events import emit_about
from .targets import About
from .types import SuggestionStatus

MAX_SUGGESTION = 256 * 1024
"""Bytes of the nodes that are to take the place of a block, as JSON."""


def read_suggestion(
    context: Context, discussion: Discussion, about: About, suggestion: DocumentInput
) -> Suggested:
    """What a new comment suggests, tried on what the change request holds. Raises BadRequest, NotFound, TooLarge,
    Conflict."""
    if discussion.change_id is None:
        raise BadRequest("suggestion: edits are suggested in a change request.")
    if about.page is None or about.node is None:
        raise BadRequest("suggestion: expected `page` and `node` beside it: the block that is to be edited.")
    if about.cell is not None:
        raise BadRequest("tableCell: an edit is suggested for a whole block.")
    with context.db.read() as tx:
        access = change_access(tx, discussion.space, discussion.change_id)
    made = try_suggestion(context, access, about.page, about.node, suggestion)
    if max(len(msgspec.json.encode(nodes)) for nodes in (made.was, made.becomes)) > MAX_SUGGESTION:
        raise TooLarge(f"suggestion: a block of more than {MAX_SUGGESTION} bytes is edited, not suggested.")
    return made


def settle(
    context: Context,
    discussion: Discussion,
    comment_id: str,
    status: SuggestionStatus,
) -> None:
    """Takes a suggestion in, declines it, or opens it again, which takes an accepted one out. Nothing happens where it
    is so already. Raises NotFound, Conflict."""
    assert discussion.change_id is not None
    with context.db.read() as tx:
        access = change_access(tx, discussion.space, discussion.change_id)
        comment = store.get_comment(tx, discussion, comment_id)
        kept = store.find_suggestion(tx, comment_id)
        if kept is None:
            raise NotFound(f"The comment {comment_id!r} suggests no edit.")
        require_editable(get_change(tx, access.change_id))
    if kept.status == status:
        return
    if kept.status == "accepted" and status == "declined":
        raise Conflict("status: this suggestion was accepted; open it again first.")

    def note(tx: Transaction, accepted: Accepted | None = None) -> None:
        thread = store.get_comment(tx, discussion, comment_id, lock=True)
        if not store.settle_suggestion(tx, kept, status, discussion.user_id, accepted):
            raise Conflict("status: somebody else settled this suggestion meanwhile.")
        if (status == "open") == (thread.resolved_at is not None):
            store.set_resolved(tx, thread, None if status == "open" else discussion.user_id)
        emit_about(tx, "updated", discussion, thread, changed=["suggestion"], suggestion=status)

    if status == "accepted":
        assert comment.page_id is not None and comment.node_id is not None
        what = Suggested(comment.revision, kept.was, kept.becomes)
        by = Author(comment.posted_by, comment.agent)
        accept_suggestion(context, access, comment.page_id, comment.node_id, what, by, note)
    elif kept.revision is not None and kept.revision_before is not None:
        taken = Accepted(kept.revision_before, kept.revision)
        take_back(context, access, taken, lambda tx, made: note(tx))
    else:
        with context.db.write() as tx:
            require_editable(lock_change(tx, access.change_id))
            note(tx)
