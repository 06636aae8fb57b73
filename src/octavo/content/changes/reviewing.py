"""Reviews of change requests: asking for them and giving them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple

from octavo.errors import BadRequest, Forbidden, NotFound, Unavailable
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Recipient
from octavo.organization.access.authorization import role_of_person
from octavo.organization.access.roles import SPACE, Can, at_least

from . import store
from .authorization import ChangeAccess
from .saving import require_editable, tell
from .store import ChangeRow, Reviewer, ReviewRow

Format = Literal["document", "markdown"] | None


class ReviewComments(NamedTuple):
    """How the words of a review become a comment and are shown as one.

    ``read(call, tx, change, body)`` makes of a body (``{markdown}`` or ``{document}``) what is kept, and
    ``post(call, tx, change, review_id, said)`` keeps that as a comment on the review;
    ``show(call, tx, change, review_ids, format)`` gives comments as the API shows them, by review.
    """

    read: Callable[[Recipient, Transaction, ChangeRow, dict[str, Any]], Any]
    post: Callable[[Recipient, Transaction, ChangeRow, str, Any], None]
    show: Callable[[Recipient, Transaction, ChangeRow, list[str], Format], dict[str, Any]]


_comments: list[ReviewComments] = []


def comment_reviews(comments: ReviewComments) -> None:
    """Registers who keeps the comments of reviews."""
    _comments[:] = [comments]


def review_comments(
    to: Recipient, tx: Transaction, change: ChangeRow, reviews: Iterable[ReviewRow], format: Format
) -> dict[str, Any]:
    ids = [review.id for review in reviews]
    return _comments[0].show(to, tx, change, ids, format) if _comments and ids else {}


def request_reviews(
    tx: Transaction, access: ChangeAccess, change: ChangeRow, user_ids: list[str]
) -> list[Reviewer]:
    """Asks these people for a review; a draft is opened by it. Raises NotFound for somebody who cannot see the
    space, BadRequest for somebody who cannot review there."""
    require_editable(change)
    asked = []
    for user_id in dict.fromkeys(user_ids):
        role = role_of_person(tx, access.organization_id, "space", access.space_id, user_id)
        if role is None:
            raise NotFound(f"users: there is nobody {user_id!r} in this space.")
        if not at_least(role, SPACE[Can.REVIEW]):
            raise BadRequest(f"users: {user_id!r} may not review in this space.")
        if (reason := _why_not(tx, change, user_id)) is not None:
            raise BadRequest(f"users: {reason}")
        asked.append(store.put_reviewer(tx, change, user_id, access.user_id))
        tell(tx, "change_request_review_requested", access, change.id, user=user_id)
    if change.status == "draft":
        store.set_fields(tx, change, status="open")
        tell(tx, "change_request_status_updated", access, change.id, status="open")
    return asked


def _why_not(tx: Transaction, change: ChangeRow, user_id: str) -> str | None:
    """Why somebody cannot review a change request; None when they can. The lock on it is held: an edit that comes
    later outdates the review."""
    if user_id == change.created_by:
        return "who made a change request cannot review it."
    if store.wrote_since_approval(tx, change.id, user_id):
        return "who edited a change request since it was last approved cannot review it."
    return None


def read_words(to: Recipient, tx: Transaction, access: ChangeAccess, comment: dict[str, Any] | None) -> Any:
    """What a review says, read and checked before anything is locked; None when it says nothing."""
    if not comment:
        return None
    if not _comments:
        raise Unavailable("comment: this installation keeps no comments.")
    return _comments[0].read(to, tx, store.get_change(tx, access.change_id), comment)


def submit(to: Recipient, tx: Transaction, access: ChangeAccess, status: str, said: Any) -> ReviewRow:
    """A review of the content as it is now. ``said``: by ``read_words``. Raises Forbidden for whoever wrote what
    is reviewed."""
    change = store.lock_change(tx, access.change_id)
    require_editable(change)
    if (reason := _why_not(tx, change, access.user_id)) is not None:
        raise Forbidden(reason[0].upper() + reason[1:])
    review = store.insert_review(tx, change, access.author, status)
    if said is not None:
        _comments[0].post(to, tx, change, review.id, said)
    tell(tx, "change_request_review_submitted", access, change.id, review=review.id, status=status)
    return review
