"""Reviews of change requests."""

from __future__ import annotations

from msgspec import UNSET

from ..access import Can
from ..kit.operation import Area, Call, Deletion
from ..kit.pagination import Listing, PageQuery, Slice, present_slice
from . import reviewing, store
from .entering import ChangeAccess
from .review_wire import (
    RequestedReviewer,
    RequestedReviewers,
    RequestReviewers,
    Review,
    ReviewQuery,
    ReviewsQuery,
    SubmitReview,
    present_reviewers,
    present_reviews,
)
from .wire import document_text

operation = Area("changes").operation

_REVIEWERS = "/spaces/{spaceId}/change-requests/{changeRequestId}/requested-reviewers"
_REVIEWS = "/spaces/{spaceId}/change-requests/{changeRequestId}/reviews"


@operation(
    "getRequestedReviewersByChangeRequestId",
    "GET",
    _REVIEWERS,
    needs=Can.VIEW,
    returns=Listing[RequestedReviewer],
)
def list_reviewers(call: Call, change: ChangeAccess, query: PageQuery) -> Listing[RequestedReviewer]:
    """Who was asked for a review."""
    with call.db.read() as tx:
        found = store.list_reviewers(tx, change.change_id, query.limit, query.page)
        shown = present_reviewers(call, tx, list(found.rows))
    return present_slice(Slice(shown, found.count, found.next_token), lambda reviewer: reviewer)


@operation(
    "requestReviewersForChangeRequest",
    "POST",
    _REVIEWERS,
    needs=Can.EDIT,
    returns=RequestedReviewers,
    errors=(400, 404, 409),
)
def request_reviewers(call: Call, change: ChangeAccess, body: RequestReviewers) -> RequestedReviewers:
    """Asks people for a review, opening a draft; may set subject and description on the way."""
    description = document_text(body.description) if body.description is not UNSET else UNSET
    fields = {"subject": body.subject, "description": description}
    given = {name: value for name, value in fields.items() if value is not UNSET}
    with call.db.write() as tx:
        row = store.lock_change(tx, change.change_id)
        asked = reviewing.request_reviews(tx, change, row, body.users)
        if given:
            store.set_fields(tx, store.get_change(tx, row.id), **given)
        return RequestedReviewers(present_reviewers(call, tx, asked))


@operation(
    "removeRequestedReviewerFromChangeRequest",
    "DELETE",
    f"{_REVIEWERS}/{{userId}}",
    needs=Can.EDIT,
    returns=Deletion,
)
def remove_reviewer(call: Call, change: ChangeAccess, user_id: str) -> bool:
    """Takes back the request for somebody's review; a review that was given stays."""
    with call.db.write() as tx:
        return store.delete_reviewer(tx, change.change_id, user_id)


@operation(
    "getReviewsByChangeRequestId",
    "GET",
    _REVIEWS,
    needs=Can.VIEW,
    returns=Listing[Review],
    errors=(404,),
)
def list_reviews(call: Call, change: ChangeAccess, query: ReviewsQuery) -> Listing[Review]:
    """The reviews of a change request, newest first. A review is outdated once the content was edited after it;
    bringing the change request up to date with main does not outdate it."""
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
    returns=Review,
    status=201,
    errors=(403, 404, 409),
)
def submit_review(call: Call, change: ChangeAccess, body: SubmitReview) -> Review:
    """A review of the content as it is now, by anybody but who made the change request."""
    with call.db.write() as tx:
        review = reviewing.submit(call, tx, change, body.status, body.comment)
        row = store.get_change(tx, change.change_id)
        comments = reviewing.review_comments(call, tx, row, [review], None)
        return present_reviews(call, tx, row, [review], comments)[0]


@operation(
    "getChangeRequestReviewById",
    "GET",
    f"{_REVIEWS}/{{reviewId}}",
    needs=Can.VIEW,
    returns=Review,
    errors=(404,),
)
def get_review(call: Call, change: ChangeAccess, review_id: str, query: ReviewQuery) -> Review:
    """One review."""
    with call.db.read() as tx:
        row = store.get_change(tx, change.change_id)
        review = store.get_review(tx, row.id, review_id)
        comments = reviewing.review_comments(call, tx, row, [review], query.format)
        return present_reviews(call, tx, row, [review], comments)[0]
