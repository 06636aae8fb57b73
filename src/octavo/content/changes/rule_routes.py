"""Merge checks for change requests, and tests of merge rules."""

from __future__ import annotations

import msgspec
from msgspec import UNSET

from octavo.errors import NotFound
from octavo.kit.clock import iso, now
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Area, Call
from octavo.organization.access.authorization import OrgAccess, SpaceAccess, role_of_person, space_access
from octavo.organization.access.members import require_members
from octavo.organization.access.roles import SPACE, Can, at_least
from octavo.organization.orgs.merge_rules import RuledChange, RuledReview

from . import store
from .authorization import ChangeAccess, change_access
from .conflicts import list_seen
from .rule_wire import (
    DescribedChange,
    MergeCheck,
    MergeChecks,
    TryMergeRules,
    TryOrganizationMergeRules,
    present_checks,
)
from .rules import (
    NOT_MET,
    UNNAMED,
    CheckedStyle,
    Rule,
    check_rules,
    hidden_from,
    may_bypass,
    ruled_change,
    rules_of_organization,
    rules_of_space,
)
from .store import ChangeRow

operation = Area("changes").operation
# Testing merge rules requires permission to set them, with the scopes of the space and the organization.
space_operation, org_operation = Area("spaces").operation, Area("orgs").operation


@operation(
    "checkMergeOfChangeRequest",
    "GET",
    "/spaces/{spaceId}/change-requests/{changeRequestId}/merge",
    needs=Can.VIEW,
    errors=(404,),
    agents="docs:read",
)
def check_merge(call: Call, change: ChangeAccess) -> MergeChecks:
    """Check whether the caller can merge a change request, and return all conditions with their results. Merging checks
    the conditions again."""
    with call.db.read() as tx:
        return _check_merge(
            call, tx, change, rules_of_space(tx, change.space_id), change.user_id, change.role
        )


@space_operation(
    "tryMergeRulesInSpace", "POST", "/spaces/{spaceId}/merge-rules/try", needs=Can.ADMIN, errors=(400, 404)
)
def try_in_space(call: Call, space: SpaceAccess, body: TryMergeRules) -> MergeChecks:
    """Test the merge rules of a space, or unsaved rules, on one of its change requests or on a hypothetical
    one. The test doesn't change anything."""
    with call.db.read() as tx:
        if body.rules is not UNSET:
            rules = _unsaved_rules(tx, space.organization_id, body)
        else:
            rules = rules_of_space(tx, space.space_id)
        return _try_rules(call, tx, space.organization, space, rules, body)


@org_operation(
    "tryMergeRulesInOrganization",
    "POST",
    "/orgs/{organizationId}/merge-rules/try",
    needs=Can.ADMIN,
    errors=(400, 404),
)
def try_in_organization(call: Call, org: OrgAccess, body: TryOrganizationMergeRules) -> MergeChecks:
    """Test the merge rules of an organization, or unsaved rules, on a change request in one of its spaces
    or on a hypothetical one. The test doesn't change anything."""
    with call.db.read() as tx:
        if body.rules is not UNSET:
            rules = _unsaved_rules(tx, org.organization_id, body)
        else:
            rules = rules_of_organization(tx, org.organization_id)
        space = None
        if body.space is not UNSET:
            space = space_access(tx, org.actor, Can.VIEW, body.space)
            if space.organization_id != org.organization_id:
                raise NotFound(f"There is no space with the ID {body.space!r}.")
        return _try_rules(call, tx, org, space, rules, body)


def _unsaved_rules(tx: Transaction, organization_id: str, body: TryMergeRules) -> list[Rule]:
    assert body.rules is not UNSET
    for index, rule in enumerate(body.rules):
        if rule.users is not UNSET:
            require_members(tx, organization_id, rule.users, f"rules[{index}].users")
    rules: list[Rule] = msgspec.to_builtins(body.rules)
    return rules


def _try_rules(
    call: Call,
    tx: Transaction,
    org: OrgAccess,
    space: SpaceAccess | None,
    rules: list[Rule],
    body: TryMergeRules,
) -> MergeChecks:
    merger = org.user_id
    if body.merged_by is not UNSET:
        require_members(tx, org.organization_id, [body.merged_by], "mergedBy")
        merger = body.merged_by
    if body.change_request is not UNSET:
        assert space is not None
        change = change_access(tx, space, body.change_request)
        if merger == org.user_id:
            role: str | None = space.role
        else:
            role = role_of_person(tx, org.organization_id, "space", space.space_id, merger)
        return _check_merge(call, tx, change, rules, merger, role)
    assert body.described is not UNSET
    described = _describe_change(tx, org, body.described)
    checked = check_rules(tx, rules, described, merger)
    return present_checks(call, tx, [], checked, bypasses=may_bypass(rules, merger))


def _describe_change(tx: Transaction, org: OrgAccess, given: DescribedChange) -> RuledChange:
    if given.created_by is not UNSET:
        require_members(tx, org.organization_id, [given.created_by], "described.createdBy")
    named = [review.reviewer for review in given.reviews if review.reviewer is not UNSET]
    require_members(tx, org.organization_id, named, "described.reviews")
    return RuledChange(
        id="described",
        number=1,
        subject=given.subject,
        description=given.description,
        outdated=given.outdated,
        created_by=given.created_by if given.created_by is not UNSET else org.user_id,
        created_at=iso(now()),
        reviews=[
            RuledReview(
                review.status,
                review.reviewer if review.reviewer is not UNSET else UNNAMED,
                review.outdated,
            )
            for review in given.reviews
        ],
    )


def _check_merge(
    call: Call, tx: Transaction, access: ChangeAccess, rules: list[Rule], merger: str, role: str | None
) -> MergeChecks:
    """Check whether a change request can be merged. ``merger``: the person who would merge it. ``role``: that person's
    role in the space."""
    row = store.get_change(tx, access.change_id)
    hidden, reviews = hidden_from(tx, access.space, row), at_least(access.role, SPACE[Can.REVIEW])
    checked = check_rules(tx, rules, ruled_change(tx, row), merger, CheckedStyle(row, hidden, reviews))
    if not reviews:
        checked = [one._replace(reason=NOT_MET, partial=False) if one.partial else one for one in checked]
    general = _general_checks(row, role, frozenset() if reviews else hidden)
    return present_checks(call, tx, general, checked, bypasses=may_bypass(rules, merger))


def _general_checks(change: ChangeRow, role: str | None, hidden: frozenset[str]) -> list[MergeCheck]:
    """Return the conditions that don't depend on rules. ``hidden``: the pages whose conflicts are ignored."""
    conflicts = len(list_seen(change.open_conflicts, hidden))
    wanted = {
        "status": f"the change request isn't open; its status is `{change.status}`."
        if change.status in ("merged", "archived")
        else UNSET,
        "permission": UNSET
        if at_least(role, SPACE[Can.MERGE])
        else "merging requires a higher role in this space.",
        "conflicts": f"{conflicts} conflict{'' if conflicts == 1 else 's'} must be resolved."
        if conflicts
        else UNSET,
    }
    return [
        MergeCheck(check=name, passes=reason is UNSET, reason=reason)  # type: ignore[arg-type]
        for name, reason in wanted.items()
    ]
