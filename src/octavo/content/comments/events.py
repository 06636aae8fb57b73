"""Comment events."""

from __future__ import annotations

from octavo.kit.db.database import Transaction
from octavo.kit.work.outbox import emit

from .authorization import Discussion
from .store import CommentRow, get_comment


def emit_comment_event(
    tx: Transaction, what: str, discussion: Discussion, row: CommentRow, **more: object
) -> None:
    """Emit the event for a comment or reply. ``what``: ``created``, ``updated``, or ``deleted``. Replies have their own
    event types."""
    ids = {"change_request": row.change_id, "review": row.review_id}
    if row.parent_id is None:
        kind, ids["comment"] = "comment", row.id
    else:
        kind, ids["comment"], ids["reply"] = "comment_reply", row.parent_id, row.id
    page_id = row.page_id if row.parent_id is None else get_comment(tx, discussion, row.parent_id).page_id
    if page_id is not None:
        ids["page"] = page_id
    emit(
        tx,
        f"{kind}_{what}",
        organization_id=discussion.space.organization_id,
        space_id=discussion.space_id,
        by=discussion.user_id,
        **{name: id for name, id in ids.items() if id},
        **more,
    )
