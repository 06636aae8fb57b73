"""Reviews of change requests."""

from __future__ import annotations

from msgspec import UNSET

from octavo.kit.db.pagination import Listing, PageQuery, Slice, present_slice
from octavo.kit.http.operation import Area, Call
from octavo.organization.access.roles import Can

from . import reviewing, store
from . import viewed as seeing
from .authorization import ChangeAccess
from .pending import try_to_save_pending
from .review_wire import (
    MarkSeen,
    RequestedReviewer,
    RequestedReviewers,
    RequestReviewers,
    Review,
    ReviewQuery,
    ReviewsQuery,
    SeenMark,
    SubmitReview,
    present_reviewers,
    present_reviews,
    present_seen,
)
from .wire import document_text

operation = Area("changes").operation

_REVIEWERS = "/spaces/{spaceId}/change-requests/{changeRequestId}/requested-reviewers"
_REVIEWS = "/spaces/{spaceId}/change-requests/{changeRequestId}/reviews"


@operation("getRequestedReviewersByChangeRequestId", "GET", _REVIEWERS, needs=Can.VIEW, agents="docs:read")
def list_reviewers(call: Call, change: ChangeAccess, query: PageQuery) -> Listing[RequestedReviewer]:
    """List the people whose review has been requested."""
    with call.db.read() as tx:
        found = store.list_reviewers(tx, change.change_id, query.limit, query.page)
        shown = present_reviewers(call, tx, list(found.rows))
    return present_slice(Slice(shown, found.count, found.next_token), lambda reviewer: reviewer)


@operation(
    "requestReviewersForChangeRequest",
    "POST",
    _REVIEWERS,
    needs=Can.EDIT,
    errors=(400, 404, 409),
    agents="docs:draft",
)
def request_reviewers(call: Call, change: ChangeAccess, body: RequestReviewers) -> RequestedReviewers:
    """Request reviews of a change request from people and teams. A draft becomes open. The subject and
    description can be set in the same request."""
    description = document_text(body.description) if body.description is not UNSET else UNSET
    fields = {"subject": body.subject, "description": description}
    given = {name: value for name, value in fields.items() if value is not UNSET}
    try_to_save_pending(call.context, change.change_id)
    with call.db.write() as tx:
        row = store.lock_change(tx, change.change_id)
        asked = reviewing.request_reviews(tx, change, row, body.users, body.teams)
        if given:
            store.set_fields(tx, store.get_change(tx, row.id), **given)
        return RequestedReviewers(present_reviewers(call, tx, asked))


@operation("removeRequestedReviewerFromChangeRequest", "DELETE", f"{_REVIEWERS}/{{userId}}", needs=Can.EDIT)
def remove_reviewer(call: Call, change: ChangeAccess, user_id: str) -> bool:
    """Remove a review request. A review that has already been submitted is kept."""
    with call.db.write() as tx:
        return store.delete_reviewer(tx, change.change_id, user_id)


@operation("getReviewsByChangeRequestId", "GET", _REVIEWS, needs=Can.VIEW, errors=(404,), agents="docs:read")
def list_reviews(call: Call, change: ChangeAccess, query: ReviewsQuery) -> Listing[Review]:
    """List the reviews of a change request, newest first. A review becomes outdated when the content is edited, but not
    when the change request is updated with main."""
    with call.db.read() as tx:
        row = store.get_change(tx, change.change_id)
        found = store.list_reviews(tx, row, query.limit, query.page, query.outdated)
        comments = reviewing.review_comments(call, tx, row, found.rows, query.format)
        shown = present_reviews(call, tx, row, list(found.rows), comments)
    return present_slice(Slice(shown, found.count, found.next_token), lambda review: review)


@operation(
    "submitChangeRequestReview",
    "POST",
    _REVIEWS,
    needs=Can.REVIEW,
    status=201,
    errors=(403, 404, 409),
    agents="docs:review",
)
def submit_review(call: Call, change: ChangeAccess, body: SubmitReview) -> Review:
    """Submit a review of the current content. A change request can't be reviewed by its creator, or by people who
    edited it after someone else last approved it."""
    with call.db.read() as tx:
        comment = reviewing.read_review_body(call, tx, change, body.comment)
    with call.db.write() as tx:
        review = reviewing.submit(call, tx, change, body.status, comment)
        row = store.get_change(tx, change.change_id)
        comments = reviewing.review_comments(call, tx, row, [review], None)
        return present_reviews(call, tx, row, [review], comments)[0]


@operation("getChangeRequestReviewById", "GET", f"{_REVIEWS}/{{reviewId}}", needs=Can.VIEW, errors=(404,))
def get_review(call: Call, change: ChangeAccess, review_id: str, query: ReviewQuery) -> Review:
    """Get a review."""
    with call.db.read() as tx:
        row = store.get_change(tx, change.change_id)
        review = store.get_review(tx, row.id, review_id)
        comments = reviewing.review_comments(call, tx, row, [review], query.format)
        return present_reviews(call, tx, row, [review], comments)[0]


# --- viewed marks -------------------------------------------------------------------------------------

_SEEN = "/spaces/{spaceId}/change-requests/{changeRequestId}/seen"


@operation("listSeenInChangeRequest", "GET", _SEEN, needs=Can.VIEW, errors=(404,))
def list_seen(call: Call, change: ChangeAccess, query: PageQuery) -> Listing[SeenMark]:
    """List the pages and items that the caller has marked as viewed in a change request. A mark expires when the
    content changes again."""
    with call.db.read() as tx:
        row = store.get_change(tx, change.change_id)
        found = seeing.list_marks(tx, change, row, query.limit, query.page)
    return present_slice(found, lambda mark: present_seen(mark.object_id, mark.seen_at))


@operation("markSeenInChangeRequest", "PUT", f"{_SEEN}/{{objectId}}", needs=Can.VIEW, errors=(400, 404))
def mark_seen(call: Call, change: ChangeAccess, object_id: str, body: MarkSeen) -> SeenMark:
    """Mark a page, file, or reusable content as viewed in a revision of the change request. `variables` marks
    all variables, and `tags` all tags."""
    with call.db.read() as tx:
        row = store.get_change(tx, change.change_id)
        made = seeing.make_mark(tx, change, row, object_id, body.revision)
    with call.db.write() as tx:
        made = store.put_seen(tx, made)
    return present_seen(made.object_id, made.seen_at)


@operation("unmarkSeenInChangeRequest", "DELETE", f"{_SEEN}/{{objectId}}", needs=Can.VIEW)
def unmark_seen(call: Call, change: ChangeAccess, object_id: str) -> bool:
    """Remove a viewed mark."""
    with call.db.write() as tx:
        return store.delete_seen(tx, change.change_id, change.user_id, object_id)
