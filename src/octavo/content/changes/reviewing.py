"""Request and submit reviews of change requests."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple

from octavo.core.json_types import JsonObject
from octavo.errors import BadRequest, Forbidden, NotFound, Unavailable
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Recipient
from octavo.organization.access.authorization import role_of_person
from octavo.organization.access.roles import SPACE, Can, at_least
from octavo.organization.access.teams import require_teams
from octavo.organization.orgs.teams.store import list_member_ids

from . import store
from .authorization import ChangeAccess
from .saving import emit_change_event, require_editable
from .store import ChangeRow, Reviewer, ReviewRow

Format = Literal["document", "markdown"] | None


class ReviewComments(NamedTuple):
    """Functions that store and present review bodies as comments.

    ``read(call, tx, change, body)``: parse a body (``{markdown}`` or ``{document}``). ``post(call, tx, change,
    review_id, said)``: store the parsed body as a comment on the review. ``show(call, tx, change,
    review_ids, format)``: return the presented comments by review.
    """

    read: Callable[[Recipient, Transaction, ChangeRow, dict[str, Any]], Any]
    post: Callable[[Recipient, Transaction, ChangeRow, str, Any], None]
    show: Callable[[Recipient, Transaction, ChangeRow, list[str], Format], dict[str, Any]]


_comments: list[ReviewComments] = []


def register_review_comments(comments: ReviewComments) -> None:
    """Register the functions that store and present review comments."""
    _comments[:] = [comments]


def review_comments(
    to: Recipient, tx: Transaction, change: ChangeRow, reviews: Iterable[ReviewRow], format: Format
) -> JsonObject:
    ids = [review.id for review in reviews]
    return _comments[0].show(to, tx, change, ids, format) if _comments and ids else {}


def request_reviews(
    tx: Transaction, access: ChangeAccess, change: ChangeRow, user_ids: list[str], team_ids: list[str]
) -> list[Reviewer]:
    """Request reviews from these people, and from the team members who can review. A draft becomes open.
    Raises NotFound if a person can't see the space, and BadRequest if a person or team can't review in it."""
    require_editable(change)
    asked = []
    for user_id in dict.fromkeys((*user_ids, *_reviewers_in(tx, access, change, team_ids))):
        role = role_of_person(tx, access.organization_id, "space", access.space_id, user_id)
        if role is None:
            raise NotFound(f"users: there is no user with the ID {user_id!r} who can see this space")
        if not at_least(role, SPACE[Can.REVIEW]):
            raise BadRequest(f"users: the user {user_id!r} doesn't have permission to review in this space")
        if (reason := _review_obstacle(tx, change, user_id)) is not None:
            raise BadRequest(f"users: {reason}")
        asked.append(store.put_reviewer(tx, change, user_id, access.user_id))
        emit_change_event(tx, "change_request_review_requested", access, change.id, user=user_id)
    if change.status == "draft":
        store.set_fields(tx, change, status="open")
        emit_change_event(tx, "change_request_status_updated", access, change.id, status="open")
    return asked


def _reviewers_in(tx: Transaction, access: ChangeAccess, change: ChangeRow, team_ids: list[str]) -> list[str]:
    """Return the members of these teams who can review. Raises NotFound if a team doesn't exist, and
    BadRequest if none of a team's members can review."""
    require_teams(tx, access.organization_id, team_ids, "teams")
    found: list[str] = []
    for team_id in dict.fromkeys(team_ids):
        able = [user for user in list_member_ids(tx, [team_id]) if can_review(tx, access, change, user)]
        if not able:
            raise BadRequest(f"teams: no member of the team {team_id!r} can review this change request")
        found += able
    return found


def can_review(tx: Transaction, access: ChangeAccess, change: ChangeRow, user_id: str) -> bool:
    """Return whether a person has permission to review in the space and didn't write any of the content to be
    reviewed."""
    role = role_of_person(tx, access.organization_id, "space", access.space_id, user_id)
    return (
        role is not None
        and at_least(role, SPACE[Can.REVIEW])
        and _review_obstacle(tx, change, user_id) is None
    )


def _review_obstacle(tx: Transaction, change: ChangeRow, user_id: str) -> str | None:
    """Return the reason a person can't review a change request; None if they can. The change request must be locked, so
    that edits after the review make the review outdated."""
    if user_id == change.created_by:
        return "the creator of a change request can't review it"
    if store.wrote_since_approval(tx, change.id, user_id):
        return "people who edited the change request after its last approval can't review it"
    return None


def read_review_body(
    to: Recipient, tx: Transaction, access: ChangeAccess, comment: JsonObject | None
) -> object:
    """Parse the body of a review, before anything is locked. Return None if it is empty."""
    if not comment:
        return None
    if not _comments:
        raise Unavailable("comment: this server doesn't support comments")
    return _comments[0].read(to, tx, store.get_change(tx, access.change_id), comment)


def submit(to: Recipient, tx: Transaction, access: ChangeAccess, status: str, comment: object) -> ReviewRow:
    """Submit a review of the current content. ``comment``: the result of ``read_review_body``. Raises
    Forbidden if the caller wrote any of the reviewed content."""
    change = store.lock_change(tx, access.change_id)
    require_editable(change)
    if (reason := _review_obstacle(tx, change, access.user_id)) is not None:
        raise Forbidden(f"{reason[0].upper()}{reason[1:]}.")
    review = store.insert_review(tx, change, access.author, status)
    if comment is not None:
        _comments[0].post(to, tx, change, review.id, comment)
    emit_change_event(
        tx, "change_request_review_submitted", access, change.id, review=review.id, status=status
    )
    return review
