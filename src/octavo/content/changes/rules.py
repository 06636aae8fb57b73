"""Merge rules: conditions for merging a change request. All rules must pass, and are checked in order. People who can
bypass rules can merge regardless.

A review counts until the content of the change request is edited again; an update with main doesn't make it outdated.
It counts only for the pages that its reviewer can see: the reviews that a rule requires must together cover all changed
pages. An invalid rule never passes, because a rule that is meant to protect content must not be ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec

from octavo.content.revisions.restrictions import seen_by
from octavo.core.expression_values import ExpressionError
from octavo.core.expressions import evaluate
from octavo.core.json_types import JsonObject
from octavo.errors import PreconditionFailed
from octavo.kit.clock import iso
from octavo.kit.db.database import Transaction
from octavo.organization.access.accounts import list_users_by_id
from octavo.organization.access.authorization import SpaceAccess
from octavo.organization.orgs.merge_rules import RuledChange, RuledReview
from octavo.organization.orgs.store import get_organization
from octavo.organization.spaces.store import get_space

from .access_changes import find_unseen
from .store import ChangeRow, list_latest_reviews
from .types import StyleViolation

Rule = dict[str, Any]

_MOST_NAMED = 5
"""Maximum number of style guide violations to list in a reason."""
NOT_MET = "not all conditions of this rule are met."
"""Reason to show to people who must not learn that a change request changes pages that are hidden from them."""
UNNAMED = "someone"
"""ID of an unnamed hypothetical reviewer."""


class RuleResult(NamedTuple):
    """Rule with its result. ``reason``: the reason it doesn't pass; None if it passes. ``missing``: the IDs of people
    whose review is missing or who requested changes. ``partial``: whether the required reviews exist, but some of the
    changed pages aren't visible to any reviewer. ``violations``: the text on visible pages that violates the style
    guide."""

    rule: Rule
    reason: str | None
    missing: list[str]
    partial: bool = False
    violations: Sequence[StyleViolation] = ()


StyleCheck = Callable[[Transaction, ChangeRow, str], list[StyleViolation]]
"""Function that returns the text in a change request that violates rules of at least the given level in its space's
style guides."""
_style_checks: list[StyleCheck] = []


def register_style_check(check: StyleCheck) -> None:
    _style_checks[:] = [check]


class CheckedStyle(NamedTuple):
    """Change request whose text is checked. ``hidden``: the pages that the caller can't see.
    ``counts_hidden``: whether the caller is allowed to know that text on those pages violates rules."""

    change: ChangeRow
    hidden: frozenset[str]
    counts_hidden: bool = True


def require_rules(
    tx: Transaction, change: ChangeRow, actor_id: str, hidden: frozenset[str] | None = None
) -> None:
    """Raise PreconditionFailed with the first rule that doesn't pass and the reason, unless the actor can bypass rules.
    ``hidden``: the pages that the actor can't see; if None, the text isn't checked."""
    rules = rules_of_space(tx, change.space_id)
    if not rules or may_bypass(rules, actor_id):
        return
    style = CheckedStyle(change, hidden) if hidden is not None else None
    for checked in check_rules(tx, rules, ruled_change(tx, change), actor_id, style):
        if checked.reason is not None:
            raise PreconditionFailed(
                f"The merge rule `{checked.rule.get('rule')}` isn't met: {checked.reason}"
            )


def rules_of_space(tx: Transaction, space_id: str) -> list[Rule]:
    """Return the rules of a space: its own rules, or the rules of its organization if the space inherits them."""
    space = get_space(tx, space_id)
    found: JsonObject = msgspec.json.decode(space.merge_rules)
    if found.get("type") == "inherit":
        return rules_of_organization(tx, space.organization_id)
    return _rules_in(found)


def rules_of_organization(tx: Transaction, organization_id: str) -> list[Rule]:
    return _rules_in(get_organization(tx, organization_id).settings.merge_rules)


def _rules_in(rules: JsonObject) -> list[Rule]:
    return list(rules.get("rules", [])) if rules.get("type") == "rules" else []


def may_bypass(rules: list[Rule], actor_id: str) -> bool:
    return any(rule.get("rule") == "allow_bypass" and actor_id in users_of(rule) for rule in rules)


def users_of(rule: Rule) -> list[str]:
    """Return the IDs of the people that a rule names."""
    return [user for user in rule.get("users", []) if isinstance(user, str)]


def hidden_from(tx: Transaction, space: SpaceAccess, change: ChangeRow) -> frozenset[str]:
    """Return the IDs of the pages in a change request that the caller can't see."""
    limits = seen_by(tx, space, change.state).limits
    return limits.hidden if limits is not None else frozenset()


def required_reviewers(tx: Transaction, change: ChangeRow) -> list[str]:
    """Return the IDs of the people named in unmet review rules of the space. Depending on the rule, all of these people
    or any one of them must review."""
    checked = check_rules(
        tx, rules_of_space(tx, change.space_id), ruled_change(tx, change), change.created_by
    )
    named = ("require_specific_reviewers", "require_one_of_specific_reviewers")
    return [user for one in checked if one.rule.get("rule") in named for user in one.missing]


def ruled_change(tx: Transaction, change: ChangeRow) -> RuledChange:
    """Return the properties of a change request that rules evaluate."""
    reviews = list_latest_reviews(tx, change.id)
    unseen = find_unseen(tx, change, [review.reviewer for review in reviews])
    return RuledChange(
        id=change.id,
        number=change.number,
        subject=change.subject,
        description=_text(change.description),
        outdated=change.outdated,
        created_by=change.created_by,
        created_at=iso(change.created_at),
        reviews=[
            RuledReview(review.status, review.reviewer, review.edits < change.edits, unseen[review.reviewer])
            for review in reviews
        ],
    )


def check_rules(
    tx: Transaction,
    rules: list[Rule],
    change: RuledChange,
    actor_id: str,
    style: CheckedStyle | None = None,
) -> list[RuleResult]:
    """Check each rule in order, except bypass rules. ``actor_id``: the ID of the person who wants to merge. ``style``:
    the change request whose text is checked; without it, the text is assumed to follow the style guide."""
    return [
        _check_style(tx, rule, style)
        if rule.get("rule") == "require_style_guide"
        else _check_rule(tx, rule, change, actor_id)
        for rule in rules
        if rule.get("rule") != "allow_bypass"
    ]


def _check_rule(tx: Transaction, rule: Rule, change: RuledChange, actor_id: str) -> RuleResult:
    reason, missing = _refusal(tx, rule, change, actor_id)
    if reason is None and not _is_covered(rule, change):
        return RuleResult(rule, "the reviewers can't see all of the changed pages.", [], True)
    return RuleResult(rule, reason, missing)


def _is_covered(rule: Rule, change: RuledChange) -> bool:
    """Return whether the reviewers that a rule requires can together see all changed pages."""
    current = [review for review in change.reviews if not review.outdated]
    match rule.get("rule"):
        case "require_at_least_one_review":
            counted = current
        case "require_at_least_one_approved_review":
            counted = [review for review in current if review.status == "approved"]
        case "require_specific_reviewers" | "require_one_of_specific_reviewers":
            counted = [review for review in current if review.reviewer in users_of(rule)]
        case _:
            return True
    return not counted or not frozenset.intersection(*(review.unseen for review in counted))


def _check_style(tx: Transaction, rule: Rule, style: CheckedStyle | None) -> RuleResult:
    found = (
        [one for check in _style_checks for one in check(tx, style.change, str(rule.get("level", "error")))]
        if style is not None
        else []
    )
    if style is None or not found:
        return RuleResult(rule, None, [])
    shown = [one for one in found if one.page not in style.hidden]
    parts = [f"“{one.title}” breaks “{one.rule}” ({one.message})" for one in shown[:_MOST_NAMED]]
    if not shown and not style.counts_hidden:
        return RuleResult(rule, NOT_MET, [])
    if left := len(found if style.counts_hidden else shown) - len(parts):
        parts.append(f"{left} more" if parts else "text on pages that you can't see breaks style rules")
    reason = f"new text doesn't follow the style guide: {'; '.join(parts)}."
    return RuleResult(rule, reason, [], violations=shown)


def _refusal(tx: Transaction, rule: Rule, change: RuledChange, actor_id: str) -> tuple[str | None, list[str]]:
    current = {review.reviewer for review in change.reviews if not review.outdated}
    missing: list[str] = []
    reason: str | None = None
    match rule.get("rule"):
        case "require_at_least_one_review":
            reason = None if current else "the change request hasn't been reviewed since it was last edited."
        case "require_at_least_one_approved_review":
            approved = any(review.status == "approved" and not review.outdated for review in change.reviews)
            reason = None if approved else "the change request hasn't been approved since it was last edited."
        case "require_author_to_merge":
            reason = (
                None if actor_id == change.created_by else "only the author can merge the change request."
            )
        case "require_all_reviews_approved":
            missing = [review.reviewer for review in change.reviews if review.status != "approved"]
            reason = f"{_names(tx, missing)} requested changes." if missing else None
        case "require_specific_reviewers":
            missing = [user for user in users_of(rule) if user not in current]
            reason = f"the change request requires a review by {_names(tx, missing)}." if missing else None
        case "require_one_of_specific_reviewers":
            wanted = users_of(rule)
            missing = [] if current.intersection(wanted) else wanted
            there = bool(current.intersection(wanted))
            reason = (
                None if there else f"the change request requires a review by one of {_names(tx, wanted)}."
            )
        case "require_agent_review":
            reason = "this server has no agent that reviews change requests."
        case "require_up_to_date_change_request":
            reason = (
                "main has changed since the last update. Update the change request."
                if change.outdated
                else None
            )
        case "require_change_request_subject":
            reason = None if change.subject.strip() else "the change request has no subject."
        case "require_change_request_description":
            reason = None if change.description.strip() else "the change request has no description."
        case "custom":
            reason = _custom(str(rule.get("expression", "")), str(rule.get("message", "")), change, actor_id)
        case _:
            reason = "this version of Octavo doesn't support this rule."
    return reason, missing


def _custom(expression: str, message: str, change: RuledChange, actor_id: str) -> str | None:
    try:
        value = evaluate(expression, change.asked_by(actor_id))
    except ExpressionError as error:
        return f"{expression} can't be evaluated: {error}."
    if not isinstance(value, bool):
        return f"{expression} must be true or false. Use a comparison."
    return None if value else message or f"{expression} isn't true."


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


def _names(tx: Transaction, user_ids: list[str]) -> str:
    known = list_users_by_id(tx, user_ids)
    return ", ".join(known[user].display_name if user in known else user for user in user_ids)
