"""Suggest reviewers: people that rules require, and people who know the edited pages."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from octavo.content.revisions.restrictions import seen_by
from octavo.content.revisions.states import list_branch_content
from octavo.kit.db.database import Transaction

from . import rules, store
from .authorization import ChangeAccess
from .reviewing import can_review
from .store import ChangeRow

Reason = Literal["required", "created", "edited", "reviewed"]
_MOST = 8
_PAGES = 200
"""Maximum number of edited pages whose authors are considered."""


class ReviewerSuggestion(Struct, frozen=True):
    """Reviewer to suggest. ``count``: the number of pages of the change request that the person created or edited, or
    the number of change requests in the space that the person reviewed; 0 for a required reviewer."""

    user_id: str
    reason: Reason
    count: int


def suggest(tx: Transaction, access: ChangeAccess, change: ChangeRow) -> list[ReviewerSuggestion]:
    """Return the best reviewers, each with the strongest reason for the suggestion. People who can't review, and
    authors of pages that the caller can't see, are left out."""
    hidden = seen_by(tx, access.space, change.state).hidden
    pages = sorted(list_branch_content(tx, change.state.layers[0]).pages - hidden)[:_PAGES]
    candidates = [
        *(ReviewerSuggestion(user_id, "required", 0) for user_id in rules.required_reviewers(tx, change)),
        *_counted("created", store.count_created_pages(tx, change.main_branch, pages)),
        *_counted("edited", store.count_edited_pages(tx, change.main_branch, pages)),
        *_counted("reviewed", store.count_reviews(tx, change.space_id)),
    ]
    found: dict[str, ReviewerSuggestion] = {}
    for one in candidates:
        if len(found) == _MOST:
            break
        if one.user_id not in found and can_review(tx, access, change, one.user_id):
            found[one.user_id] = one
    return list(found.values())


def _counted(reason: Reason, counts: list[tuple[str, int]]) -> list[ReviewerSuggestion]:
    return [ReviewerSuggestion(user_id, reason, count) for user_id, count in counts]
