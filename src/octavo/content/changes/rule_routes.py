"""What stops a merge, and how merge rules would have it."""

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
from .rule_wire import (
    DescribedChange,
    MergeCheck,
    MergeChecks,
    TryMergeRules,
    TryOrganizationMergeRules,
    present_checks,
)
from .rules import UNNAMED, Rule, check_rules, may_bypass, ruled, rules_of_organization, rules_of_space
from .store import ChangeRow

operation = Area("changes").operation
# Rules are tried by whoever sets them: the scopes are those of the space and the organization.
space_operation, org_operation = Area("spaces").operation, Area("orgs").operation


@operation(
    "checkMergeOfChangeRequest",
    "GET",
    "/spaces/{spaceId}/change-requests/{changeRequestId}/merge",
    needs=Can.VIEW,
    returns=MergeChecks,
    errors=(404,),
    extension=True,
    agents="docs:read",
)
def check_merge(call: Call, change: ChangeAccess) -> MergeChecks:
    """What must hold before the caller can merge a change request, and what of it does not hold yet. The merge asks all
    of it again."""
    with call.db.read() as tx:
        return _check(call, tx, change, rules_of_space(tx, change.space_id), change.user_id, change.role)


@space_operation(
    "tryMergeRulesInSpace",
    "POST",
    "/spaces/{spaceId}/merge-rules/try",
    needs=Can.ADMIN,
    returns=MergeChecks,
    errors=(400, 404),
    extension=True,
)
def try_in_space(call: Call, space: SpaceAccess, body: TryMergeRules) -> MergeChecks:
    """How the merge rules of a space, or others that are not saved, decide about one of its change requests or about one
    that is described. Nothing is changed."""
    with call.db.read() as tx:
        if body.rules is not UNSET:
            rules = _given(tx, space.organization_id, body)
        else:
            rules = rules_of_space(tx, space.space_id)
        return _try(call, tx, space.organization, space, rules, body)


@org_operation(
    "tryMergeRulesInOrganization",
    "POST",
    "/orgs/{organizationId}/merge-rules/try",
    needs=Can.ADMIN,
    returns=MergeChecks,
    errors=(400, 404),
    extension=True,
)
def try_in_organization(call: Call, org: OrgAccess, body: TryOrganizationMergeRules) -> MergeChecks:
    """How the merge rules of an organization, or others that are not saved, decide about a change request of one of its
    spaces or about one that is described. Nothing is changed."""
    with call.db.read() as tx:
        if body.rules is not UNSET:
            rules = _given(tx, org.organization_id, body)
        else:
            rules = rules_of_organization(tx, org.organization_id)
        space = None
        if body.space is not UNSET:
            space = space_access(tx, org.actor, Can.VIEW, body.space)
            if space.organization_id != org.organization_id:
                raise NotFound(f"There is no space {body.space!r}.")
        return _try(call, tx, org, space, rules, body)


def _given(tx: Transaction, organization_id: str, body: TryMergeRules) -> list[Rule]:
    assert body.rules is not UNSET
    for index, rule in enumerate(body.rules):
        if rule.users is not UNSET:
            require_members(tx, organization_id, rule.users, f"rules[{index}].users")
    rules: list[Rule] = msgspec.to_builtins(body.rules)
    return rules


def _try(
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
        return _check(call, tx, change, rules, merger, role)
    assert body.described is not UNSET
    described = _described(tx, org, body.described)
    checked = check_rules(tx, rules, described, merger)
    return present_checks(call, tx, [], checked, bypasses=may_bypass(rules, merger))


def _described(tx: Transaction, org: OrgAccess, given: DescribedChange) -> RuledChange:
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


def _check(
    call: Call, tx: Transaction, access: ChangeAccess, rules: list[Rule], merger: str, role: str | None
) -> MergeChecks:
    """``merger``, ``role``: who would merge, and what they are in the space."""
    row = store.get_change(tx, access.change_id)
    checked = check_rules(tx, rules, ruled(tx, row), merger)
    return present_checks(call, tx, _always(row, role), checked, bypasses=may_bypass(rules, merger))


def _always(change: ChangeRow, role: str | None) -> list[MergeCheck]:
    conflicts = len(change.open_conflicts)
    wanted = {
        "status": f"it is {change.status}." if change.status in ("merged", "archived") else UNSET,
        "permission": UNSET if at_least(role, SPACE[Can.MERGE]) else "who merges needs a higher role here.",
        "conflicts": f"{conflicts} of its conflicts are open." if conflicts else UNSET,
    }
    return [MergeCheck(name, reason is UNSET, reason) for name, reason in wanted.items()]  # type: ignore[arg-type]
