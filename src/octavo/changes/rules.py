"""Merge rules: what must hold before a change request is merged. All must pass, in their order; a bypass that
is given to the actor overrides those that do not.

A review counts until the content of the change request is edited again; bringing it up to date with main does
not outdate it. What a rule cannot understand it refuses: a rule that was meant to protect must not vanish.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ..access import list_users_by_id
from ..core.expressions import ExpressionError, evaluate
from ..errors import PreconditionFailed
from ..kit.clock import iso
from ..kit.db import Transaction
from ..orgs import RuledChange, RuledReview, get_organization
from ..spaces import get_space
from .store import ChangeRow, ReviewRow, list_latest_reviews


def require_rules(tx: Transaction, change: ChangeRow, actor_id: str) -> None:
    """Raises PreconditionFailed naming the first rule that does not pass and why, unless the actor may bypass."""
    rules = _rules_of(tx, change.space_id)
    if not rules or any(rule.get("rule") == "allow_bypass" and actor_id in _users(rule) for rule in rules):
        return
    reviews = list_latest_reviews(tx, change.id)
    for rule in rules:
        reason = _refusal(tx, rule, change, reviews, actor_id)
        if reason is not None:
            raise PreconditionFailed(f"The merge rule `{rule.get('rule')}` does not pass: {reason}")


def _rules_of(tx: Transaction, space_id: str) -> list[dict[str, Any]]:
    space = get_space(tx, space_id)
    found: dict[str, Any] = msgspec.json.decode(space.merge_rules)
    if found.get("type") == "inherit":
        found = get_organization(tx, space.organization_id).settings.merge_rules
    return list(found.get("rules", [])) if found.get("type") == "rules" else []


def _users(rule: dict[str, Any]) -> list[str]:
    return [user for user in rule.get("users", []) if isinstance(user, str)]


def _refusal(
    tx: Transaction, rule: dict[str, Any], change: ChangeRow, reviews: list[ReviewRow], actor_id: str
) -> str | None:
    current = {review.reviewer for review in reviews if review.edits >= change.edits}
    match rule.get("rule"):
        case "allow_bypass":
            return None
        case "require_at_least_one_review":
            return None if current else "nobody has reviewed it since it was last edited."
        case "require_all_reviews_approved":
            refused = [review.reviewer for review in reviews if review.status != "approved"]
            return f"{_names(tx, refused)} asked for changes." if refused else None
        case "require_specific_reviewers":
            missing = [user for user in _users(rule) if user not in current]
            return f"it waits for a review by {_names(tx, missing)}." if missing else None
        case "require_one_of_specific_reviewers":
            wanted = _users(rule)
            there = current.intersection(wanted)
            return None if there else f"it waits for a review by one of {_names(tx, wanted)}."
        case "require_agent_review":
            return "no agent reviews change requests here."
        case "require_up_to_date_change_request":
            return "main has changed since; update the change request." if change.outdated else None
        case "require_change_request_subject":
            return None if change.subject.strip() else "it has no subject."
        case "require_change_request_description":
            return None if _has_text(change.description) else "it has no description."
        case "custom":
            return _custom(str(rule.get("expression", "")), change, reviews, actor_id)
        case _:
            return "it is not known to this version."


def _custom(expression: str, change: ChangeRow, reviews: list[ReviewRow], actor_id: str) -> str | None:
    ruled = RuledChange(
        id=change.id,
        number=change.number,
        subject=change.subject,
        description=_text(change.description),
        outdated=change.outdated,
        created_by=change.created_by,
        created_at=iso(change.created_at),
        reviews=[
            RuledReview(review.status, review.reviewer, review.edits < change.edits) for review in reviews
        ],
    )
    try:
        value = evaluate(expression, ruled.asked_by(actor_id))
    except ExpressionError as error:
        return f"{expression} cannot be evaluated: {error}."
    if not isinstance(value, bool):
        return f"{expression} is neither true nor false: a rule compares something."
    return None if value else f"{expression} is not true."


def _text(description: str | None) -> str:
    if description is None:
        return ""
    found: list[str] = []
    stack: list[Any] = [msgspec.json.decode(description)]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            found += [leaf["text"] for leaf in node.get("leaves", [])]
            stack += reversed([*node.get("nodes", []), *node.get("fragments", [])])
    return " ".join(found).strip()


def _has_text(description: str | None) -> bool:
    return bool(_text(description))


def _names(tx: Transaction, user_ids: list[str]) -> str:
    known = list_users_by_id(tx, user_ids)
    return ", ".join(known[user].display_name if user in known else user for user in user_ids)
