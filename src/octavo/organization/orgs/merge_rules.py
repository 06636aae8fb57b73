"""Validate merge rules, and provide names that custom rules can use in expressions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import UNSET

from octavo.core.expression_values import ExpressionError
from octavo.core.expressions import evaluate
from octavo.core.json_types import JsonObject
from octavo.errors import BadRequest
from octavo.kit.db.database import Transaction
from octavo.organization.access.members import require_members

from .types import MergeRule


class RuledReview(NamedTuple):
    """Review, as custom rules see it. ``status``: `approved` or `changes-requested`. ``outdated``: whether the
    content has been edited since the review. ``unseen``: the changed pages that the reviewer can't see."""

    status: str
    reviewer: str
    outdated: bool
    unseen: frozenset[str] = frozenset()


class RuledChange(NamedTuple):
    """Change request, as custom rules see it. ``description``: plain text. ``created_at``: an ISO 8601 time.
    People are represented by IDs."""

    id: str
    number: int
    subject: str
    description: str
    outdated: bool
    created_by: str
    created_at: str
    reviews: Sequence[RuledReview]

    def asked_by(self, actor_id: str) -> JsonObject:
        """Return the names that an expression can use when ``actor_id`` wants to merge."""
        return {
            "changeRequest": {
                "id": self.id,
                "number": self.number,
                "subject": self.subject,
                "description": self.description,
                "outdated": self.outdated,
                "createdBy": {"id": self.created_by},
                "createdAt": self.created_at,
            },
            "reviews": [
                {
                    "status": review.status,
                    "reviewer": {"id": review.reviewer},
                    "outdated": review.outdated,
                    "partial": bool(review.unseen),
                }
                for review in self.reviews
            ],
            "actor": {"id": actor_id},
        }


_REVIEWS = (
    (),
    (RuledReview("approved", "reviewer", False),),
    (RuledReview("changes-requested", "reviewer", False), RuledReview("approved", "other", True)),
)
_SAMPLES = [
    RuledChange("change", 1, words, words, outdated, "author", "2026-01-01T00:00:00.000Z", reviews)
    for words in ("", "Install on Debian")
    for outdated in (False, True)
    for reviews in _REVIEWS
]


def require_merge_rules(tx: Transaction, organization_id: str, rules: Sequence[MergeRule]) -> None:
    """Raise NotFound if a rule names a person from another organization, and BadRequest if an expression is
    invalid or doesn't evaluate to true or false for any of the sample change requests."""
    for index, rule in enumerate(rules):
        if rule.users is not UNSET:
            require_members(tx, organization_id, rule.users, f"mergeRules.rules[{index}].users")
        if rule.expression is not UNSET:
            reason = _explain_refusal(rule.expression)
            if reason is not None:
                raise BadRequest(f"mergeRules.rules[{index}].expression: {reason}")


def _explain_refusal(expression: str) -> str | None:
    """Return the reason why no change request could meet the rule, or None if the expression returns a boolean for at
    least one sample."""
    reason = None
    for change in _SAMPLES:
        for actor in ("author", "reviewer"):
            try:
                value = evaluate(expression, change.asked_by(actor))
            except ExpressionError as error:
                reason = str(error)
                continue
            if isinstance(value, bool):
                return None
            reason = "must be true or false, for example the result of a comparison"
    return reason
