"""Wire types for merge checks."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Recipient
from octavo.organization.access.wire import User, present_people
from octavo.organization.orgs.types import MergeRule, RuleName

from .rules import UNNAMED, RuleResult, users_of
from .types import ReviewStatus, StyleViolation
from .wire import Subject

CheckName = Literal["status", "permission", "conflicts", RuleName, "unknown"]


class MergeCheck(Struct, kw_only=True):
    """Merge check. ``check``: the name of a merge rule, or a general condition: the change request isn't merged or
    archived (`status`), the person who merges it has permission (`permission`), and there are no open conflicts
    (`conflicts`). ``users``: the people named by the rule. ``missing``: the people whose review is missing or who
    requested changes. ``partial``: whether there are enough reviews, but some of the changed pages aren't visible to
    any of the reviewers."""

    check: CheckName
    passes: bool
    reason: str | UnsetType = UNSET
    users: list[User] | UnsetType = UNSET
    missing: list[User] | UnsetType = UNSET
    expression: str | UnsetType = UNSET
    message: str | UnsetType = UNSET
    partial: bool | UnsetType = UNSET
    violations: list[StyleViolation] | UnsetType = UNSET


class MergeChecks(Struct):
    """Result of all checks. ``merges``: whether a merge would succeed. ``bypasses``: whether the person who merges can
    bypass rules that don't pass."""

    merges: bool
    bypasses: bool
    checks: list[MergeCheck]
    object: Literal["merge-checks"] = "merge-checks"


class DescribedReview(Struct):
    """Hypothetical review. ``reviewer``: a member; by default, an unnamed person."""

    status: ReviewStatus
    reviewer: str | UnsetType = UNSET
    outdated: bool = False


class DescribedChange(Struct, rename="camel"):
    """Hypothetical change request. ``createdBy``: its creator; by default, the caller."""

    created_by: str | UnsetType = UNSET
    subject: Subject = ""
    description: Annotated[str, Meta(max_length=10_000)] = ""
    outdated: bool = False
    reviews: Annotated[list[DescribedReview], Meta(max_length=100)] = []


class TryMergeRules(Struct, rename="camel"):
    """Test of merge rules on a change request: either ``changeRequest``, by ID or number, or ``described``. ``rules``:
    the rules to test instead of the saved rules. ``mergedBy``: the person who would merge; by default, the caller."""

    rules: Annotated[list[MergeRule], Meta(max_length=50)] | UnsetType = UNSET
    change_request: str | UnsetType = UNSET
    described: DescribedChange | UnsetType = UNSET
    merged_by: str | UnsetType = UNSET

    def __post_init__(self) -> None:
        if (self.change_request is UNSET) == (self.described is UNSET):
            raise ValueError("changeRequest: provide exactly one of `changeRequest` and `described`")


class TryOrganizationMergeRules(TryMergeRules, rename="camel"):
    """Test of an organization's merge rules. ``space``: the space of the change request."""

    space: str | UnsetType = UNSET

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.change_request is UNSET) != (self.space is UNSET):
            raise ValueError("space: is required with `changeRequest`, and must be omitted otherwise")


def present_checks(
    to: Recipient, tx: Transaction, first: list[MergeCheck], checked: list[RuleResult], *, bypasses: bool
) -> MergeChecks:
    """Return merge checks in their API format. ``first``: the general conditions, which are listed before the rules."""
    ids = [user for one in checked for user in (*users_of(one.rule), *one.missing)]
    people = present_people(to, tx, ids)
    shown = [*first, *(_present(one, people) for one in checked)]
    stopped = [one for one in first if not one.passes]
    refused = [] if bypasses else [one for one in checked if one.reason is not None]
    return MergeChecks(merges=not stopped and not refused, bypasses=bypasses, checks=shown)


def _present(one: RuleResult, people: dict[str, User]) -> MergeCheck:
    name = one.rule.get("rule")
    users = [people[user] for user in users_of(one.rule)]
    return MergeCheck(
        check=name if name in get_args(RuleName) else "unknown",  # type: ignore[arg-type]
        passes=one.reason is None,
        reason=one.reason or UNSET,
        users=users or UNSET,
        missing=[people[user] for user in one.missing if user != UNNAMED] or UNSET,
        expression=str(one.rule["expression"]) if "expression" in one.rule else UNSET,
        message=str(one.rule["message"]) if "message" in one.rule else UNSET,
        partial=one.partial or UNSET,
        violations=list(one.violations) or UNSET,
    )
