"""The words of a review are a comment of its change request."""

from __future__ import annotations

from typing import Any

from octavo.content.changes.reviewing import ReviewComments, comment_reviews
from octavo.content.changes.store import ChangeRow
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Recipient

from .authorization import discussion_of
from .posting import ReviewWords, post_review, read_review
from .presenting import present_review_comments


def _read(to: Recipient, tx: Transaction, change: ChangeRow, body: dict[str, Any]) -> ReviewWords | None:
    return read_review(tx, discussion_of(tx, to.actor, change), body)


def _post(to: Recipient, tx: Transaction, change: ChangeRow, review_id: str, said: ReviewWords) -> None:
    post_review(tx, discussion_of(tx, to.actor, change), change, review_id, said)


def keep_review_comments() -> None:
    """Lets change requests keep and show them here."""
    comment_reviews(ReviewComments(_read, _post, present_review_comments))
