"""Wire types for reviews and reviewers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.kit.clock import iso
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import PageQuery
from octavo.kit.http.operation import Recipient
from octavo.organization.access.wire import User, present_people

from .store import ChangeRow, Reviewer, ReviewRow
from .suggesting_reviewers import ReviewerSuggestion
from .types import ReviewStatus
from .wire import Subject


class RequestedReviewer(Struct, rename="camel", kw_only=True):
    revision: str
    requested_by: User
    created_at: str
    user: User
    kind: Literal["user"] = "user"
    object: Literal["change-request-requested-reviewer"] = "change-request-requested-reviewer"


class SuggestedReviewer(Struct):
    """Suggested reviewer. ``reason``: the reason for the suggestion. ``count``: the number of edited pages that the
    person created or edited, or the number of change requests in the space that the person reviewed."""

    user: User
    reason: Literal["required", "created", "edited", "reviewed"]
    count: int


class RequestReviewers(Struct):
    """Request for reviews. ``teams``: the teams to request reviews from; only members who can review are asked. An
    Octavo extension."""

    users: Annotated[list[str], Meta(max_length=100)] = []
    teams: Annotated[list[str], Meta(max_length=20)] = []
    subject: Subject | UnsetType = UNSET
    description: dict[str, Any] | UnsetType = UNSET

    def __post_init__(self) -> None:
        if not self.users and not self.teams:
            raise ValueError("users: provide at least one person in `users` or one team in `teams`")


class RequestedReviewers(Struct):
    users: list[RequestedReviewer]


class ReviewsQuery(PageQuery):
    format: Literal["document", "markdown"] | None = None
    outdated: bool | None = None


class ReviewQuery(Struct):
    format: Literal["document", "markdown"] | None = None


class ReviewUrls(Struct):
    location: str


class Review(Struct, rename="camel", kw_only=True):
    """Review of a change request. ``agent`` (an Octavo extension): the agent that the reviewer used."""

    id: str
    revision: str
    reviewer: User
    status: ReviewStatus
    outdated: bool
    created_at: str
    updated_at: str
    urls: ReviewUrls
    object: Literal["change-request-review"] = "change-request-review"
    requested_by: User | UnsetType = UNSET
    comment: Any | UnsetType = UNSET
    agent: str | UnsetType = UNSET


class SubmitReview(Struct):
    status: ReviewStatus
    comment: dict[str, Any] | None = None


def present_reviewers(to: Recipient, tx: Transaction, reviewers: list[Reviewer]) -> list[RequestedReviewer]:
    people = present_people(to, tx, [i for r in reviewers for i in (r.user_id, r.requested_by)])
    return [
        RequestedReviewer(
            revision=r.revision,
            requested_by=people[r.requested_by],
            created_at=iso(r.created_at),
            user=people[r.user_id],
        )
        for r in reviewers
    ]


def present_suggestions(
    to: Recipient, tx: Transaction, suggestions: list[ReviewerSuggestion]
) -> list[SuggestedReviewer]:
    people = present_people(to, tx, [one.user_id for one in suggestions])
    return [SuggestedReviewer(people[one.user_id], one.reason, one.count) for one in suggestions]


def present_reviews(
    to: Recipient,
    tx: Transaction,
    change: ChangeRow,
    reviews: list[ReviewRow],
    comments: Mapping[str, object],
) -> list[Review]:
    """Return reviews in their API format. ``comments``: the review comments, already in their API format, by review
    ID."""
    asked = [i for r in reviews for i in (r.reviewer, r.requested_by) if i]
    people = present_people(to, tx, asked)
    return [
        Review(
            id=review.id,
            revision=review.revision,
            reviewer=people[review.reviewer],
            status=review.status,  # type: ignore[arg-type]
            outdated=review.edits < change.edits,
            created_at=iso(review.created_at),
            updated_at=iso(review.updated_at),
            urls=ReviewUrls(
                to.url(f"/spaces/{change.space_id}/change-requests/{change.id}/reviews/{review.id}")
            ),
            requested_by=people[review.requested_by] if review.requested_by else UNSET,
            comment=comments.get(review.id, UNSET),
            agent=review.agent or UNSET,
        )
        for review in reviews
    ]


class SeenMark(Struct, rename="camel"):
    """Viewed mark. ``id``: the ID of the page, file, or reusable content; ``variables`` or ``tags`` for all
    variables or tags."""

    id: str
    seen_at: str
    object: Literal["seen-mark"] = "seen-mark"


class MarkSeen(Struct):
    """Request to mark a page or item as viewed. ``revision``: the revision of the change request that the caller
    viewed."""

    revision: str


def present_seen(object_id: str, seen_at: int) -> SeenMark:
    return SeenMark(object_id, iso(seen_at))
