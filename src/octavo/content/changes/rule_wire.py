"""What stops a merge, on the wire."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Recipient
from octavo.organization.access.wire import User, present_people
from octavo.organization.orgs.types import MergeRule, RuleName

from .rules import UNNAMED, Checked, users_of
from .types import ReviewStatus
from .wire import Subject

CheckName = Literal["status", "permission", "conflicts", RuleName, "unknown"]


class MergeCheck(Struct):
    """``check``: a merge rule by its name, or what holds everywhere: that it is not merged or archived (`status`), that
    who merges may (`permission`), and that no conflict is open. ``users``: whom the rule names. ``missing``: those whose
    review it waits for, or who asked for changes."""

    check: CheckName
    passes: bool
    reason: str | UnsetType = UNSET
    users: list[User] | UnsetType = UNSET
    missing: list[User] | UnsetType = UNSET
    expression: str | UnsetType = UNSET


class MergeChecks(Struct):
    """``merges``: whether a merge would go through. ``bypasses``: whether who merges may do so although rules do not
    pass."""

    merges: bool
    bypasses: bool
    checks: list[MergeCheck]
    object: Literal["merge-checks"] = "merge-checks"


class DescribedReview(Struct):
    """``reviewer``: a member; somebody unnamed where that is left out."""

    status: ReviewStatus
    reviewer: str | UnsetType = UNSET
    outdated: bool = False


class DescribedChange(Struct, rename="camel"):
    """A change request as it might be. ``createdBy``: the caller where that is left out."""

    created_by: str | UnsetType = UNSET
    subject: Subject = ""
    description: Annotated[str, Meta(max_length=10_000)] = ""
    outdated: bool = False
    reviews: Annotated[list[DescribedReview], Meta(max_length=100)] = []


class TryMergeRules(Struct, rename="camel"):
    """``rules``: to be tried instead of those that hold. Either ``changeRequest``, by its id or number, or ``described``.
    ``mergedBy``: who would merge; the caller where that is left out."""

    rules: Annotated[list[MergeRule], Meta(max_length=50)] | UnsetType = UNSET
    change_request: str | UnsetType = UNSET
    described: DescribedChange | UnsetType = UNSET
    merged_by: str | UnsetType = UNSET

    def __post_init__(self) -> None:
        if (self.change_request is UNSET) == (self.described is UNSET):
            raise ValueError("changeRequest: expected, or `described` instead of it")


class TryOrganizationMergeRules(TryMergeRules, rename="camel"):
    """``space``: the one that the change request is in."""

    space: str | UnsetType = UNSET

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.change_request is UNSET) != (self.space is UNSET):
            raise ValueError("space: expected with `changeRequest`, and only there")


def present_checks(
    to: Recipient, tx: Transaction, first: list[MergeCheck], checked: list[Checked], *, bypasses: bool
) -> MergeChecks:
    """``first``: what holds everywhere, before the rules."""
    ids = [user for one in checked for user in (*users_of(one.rule), *one.missing)]
    people = present_people(to, tx, ids)
    shown = [*first, *(_present(one, people) for one in checked)]
    stopped = [one for one in first if not one.passes]
    refused = [] if bypasses else [one for one in checked if one.reason is not None]
    return MergeChecks(merges=not stopped and not refused, bypasses=bypasses, checks=shown)


def _present(one: Checked, people: dict[str, User]) -> MergeCheck:
    name = one.rule.get("rule")
    users = [people[user] for user in users_of(one.rule)]
    return MergeCheck(
        check=name if name in get_args(RuleName) else "unknown",  # type: ignore[arg-type]
        passes=one.reason is None,
        reason=one.reason or UNSET,
        users=users or UNSET,
        missing=[people[user] for user in one.missing if user != UNNAMED] or UNSET,
        expression=str(one.rule["expression"]) if "expression" in one.rule else UNSET,
    )
