"""What merge rules must hold to when they are saved, and what the expression of a custom one is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from msgspec import UNSET

from octavo.core.expressions import ExpressionError, evaluate
from octavo.errors import BadRequest
from octavo.kit.db.database import Transaction
from octavo.organization.access.members import require_members

from .types import MergeRule


class RuledReview(NamedTuple):
    """``status``: `approved` or `changes-requested`; ``outdated``: the content was edited since."""

    status: str
    reviewer: str
    outdated: bool


class RuledChange(NamedTuple):
    """What a custom rule can ask of a change request. ``description`` is plain text, ``created_at`` in ISO 8601;
    people are ids."""

    id: str
    number: int
    subject: str
    description: str
    outdated: bool
    created_by: str
    created_at: str
    reviews: Sequence[RuledReview]

    def asked_by(self, actor_id: str) -> dict[str, Any]:
        """The names that an expression reads, when ``actor_id`` wants to merge."""
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
                {"status": review.status, "reviewer": {"id": review.reviewer}, "outdated": review.outdated}
                for review in self.reviews
            ],
            "actor": {"id": actor_id},
        }


_REVIEWS = (
    (),
    (RuledReview("approved", "reviewer", False),),
    (RuledReview("changes-requested", "reviewer", False), RuledReview("approved", "other", True)),
)
_TRIED = [
    RuledChange("change", 1, words, words, outdated, "author", "2026-01-01T00:00:00.000Z", reviews)
    for words in ("", "Install on Debian")
    for outdated in (False, True)
    for reviews in _REVIEWS
]


def require_merge_rules(tx: Transaction, organization_id: str, rules: Sequence[MergeRule]) -> None:
    """Raises NotFound for people from elsewhere, BadRequest for an expression that cannot be read or gives neither
    true nor false for any change request it is tried with."""
    for index, rule in enumerate(rules):
        if rule.users is not UNSET:
            require_members(tx, organization_id, rule.users, f"mergeRules.rules[{index}].users")
        if rule.expression is not UNSET:
            reason = _refusal(rule.expression)
            if reason is not None:
                raise BadRequest(f"mergeRules.rules[{index}].expression: {reason}")


def _refusal(expression: str) -> str | None:
    """Why no change request could pass. One that gives a boolean for some of them is taken."""
    reason = None
    for change in _TRIED:
        for actor in ("author", "reviewer"):
            try:
                value = evaluate(expression, change.asked_by(actor))
            except ExpressionError as error:
                reason = str(error)
                continue
            if isinstance(value, bool):
                return None
            reason = "it gives neither true nor false; a rule compares something"
    return reason
