"""Review bodies, stored as comments on their change request."""

from __future__ import annotations

from collections.abc import Mapping

from octavo.content.changes.reviewing import ReviewComments, register_review_comments
from octavo.content.changes.store import ChangeRow
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Recipient

from .authorization import discussion_of
from .posting import ReviewBody, post_review, read_review
from .presenting import present_review_comments


def _read(to: Recipient, tx: Transaction, change: ChangeRow, body: Mapping[str, object]) -> ReviewBody | None:
    return read_review(tx, discussion_of(tx, to.actor, change), body)


def _post(to: Recipient, tx: Transaction, change: ChangeRow, review_id: str, body: ReviewBody) -> None:
    post_review(tx, discussion_of(tx, to.actor, change), change, review_id, body)


def keep_review_comments() -> None:
    """Register the functions of this package, so that change requests store review bodies as comments."""
    register_review_comments(ReviewComments(_read, _post, present_review_comments))
