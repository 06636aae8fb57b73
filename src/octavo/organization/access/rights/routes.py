"""Operations on the permissions of spaces, collections, and sites. These three kinds of objects share handlers."""

from __future__ import annotations

from msgspec import UNSET

from octavo.errors import NotFound
from octavo.kit.clock import iso
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Listing, PageQuery, present_slice
from octavo.kit.http.operation import Area, Call

from ..accounts import list_users_by_id
from ..authorization import role_of_member
from ..evaluation import evaluate_steps, list_step_grants, list_steps
from ..roles import COLLECTION, Can, at_least
from ..wire import present_team, present_user
from . import granting, store
from .aggregating import PeopleWithAccess, list_people_with_access
from .authorization import ObjectAccess
from .store import Grantee
from .wire import (
    AggregateQuery,
    ExplainedPermission,
    Invite,
    TeamPermission,
    UpdatePermission,
    UserPermission,
    UserSitePermission,
    present_origin,
    present_places,
    present_source,
)

operation = Area("access").operation

_SPACE = "/spaces/{spaceId}/permissions"
_COLLECTION = "/collections/{collectionId}/permissions"
_SITE = "/orgs/{organizationId}/sites/{siteId}/permissions"


@operation("inviteToSpace", "POST", _SPACE, needs=Can.ADMIN, errors=(404,))
@operation("inviteToCollection", "POST", _COLLECTION, needs=Can.ADMIN, errors=(404,))
@operation("inviteToSite", "POST", _SITE, needs=Can.ADMIN, errors=(404,))
def invite(call: Call, target: ObjectAccess, body: Invite) -> None:
    """Grant a role to members and teams of the organization. It replaces any role that they already have on this
    object.

    You can't grant a role above your own.
    """
    users = [] if body.users is UNSET else body.users
    teams = [] if body.teams is UNSET else body.teams
    with call.db.write() as tx:
        granting.invite(tx, target, body.role, users=users, teams=teams)


@operation("listUserPermissionsInSpace", "GET", _SPACE + "/users", needs=Can.ADMIN, errors=(404,))
@operation("listUserPermissionsInCollection", "GET", _COLLECTION + "/users", needs=Can.ADMIN, errors=(404,))
@operation("listUserPermissionsInSite", "GET", _SITE + "/users", needs=Can.ADMIN, errors=(404,))
def list_users(call: Call, target: ObjectAccess, query: PageQuery) -> Listing[UserPermission]:
    """List the people with a role granted directly on this object."""
    with call.db.read() as tx:
        found = store.list_user_grants(tx, target.kind, target.id, query.limit, query.page)
    return present_slice(found, lambda item: UserPermission(item[1], present_user(call, item[0])))


@operation("listTeamPermissionsInSpace", "GET", _SPACE + "/teams", needs=Can.ADMIN, errors=(404,))
@operation("listTeamPermissionsInCollection", "GET", _COLLECTION + "/teams", needs=Can.ADMIN, errors=(404,))
@operation("listTeamPermissionsInSite", "GET", _SITE + "/teams", needs=Can.ADMIN, errors=(404,))
def list_teams(call: Call, target: ObjectAccess, query: PageQuery) -> Listing[TeamPermission]:
    """List the teams with a role granted directly on this object."""
    with call.db.read() as tx:
        found = store.list_team_grants(tx, target.kind, target.id, query.limit, query.page)
        owned = store.list_owned_team_ids(tx, target.organization_id, target.user_id)
    everything = target.member_role == "admin"
    return present_slice(
        found,
        lambda item: TeamPermission(
            item[1], present_team(call, item[0], admin=everything or item[0].id in owned)
        ),
    )


def _list_people(tx: Transaction, target: ObjectAccess, query: AggregateQuery) -> PeopleWithAccess:
    return list_people_with_access(
        tx,
        target,
        query.limit,
        query.page,
        role=query.role,
        search=query.search,
        team=query.team,
        sort=query.sort,
        descending=query.order == "desc",
    )


@operation("listPermissionsAggregateInSpace", "GET", _SPACE + "/aggregate", needs=Can.ADMIN)
@operation("listPermissionsAggregateInCollection", "GET", _COLLECTION + "/aggregate", needs=Can.ADMIN)
def list_aggregate(call: Call, target: ObjectAccess, query: AggregateQuery) -> Listing[UserPermission]:
    """List the people who can see this object, with their role and its `source`."""
    with call.db.read() as tx:
        people = _list_people(tx, target, query)
    return present_slice(
        people.slice,
        lambda user_id: UserPermission(
            people.standings[user_id].decision.role,
            present_user(call, people.users[user_id]),
            present_source(people.standings[user_id], people.steps, target.organization_id),
        ),
    )


# Listing the people with access to a site requires the scope for sites, as it did before sites had
# permissions.
@Area("sites").operation("listPermissionsAggregateInSite", "GET", _SITE + "/aggregate", needs=Can.ADMIN)
def list_aggregate_of_site(
    call: Call, target: ObjectAccess, query: AggregateQuery
) -> Listing[UserSitePermission]:
    """List the people who can see the site, with their role on it and its `origin`. The role doesn't give access to the
    site's spaces."""
    with call.db.read() as tx:
        people = _list_people(tx, target, query)
        seen = store.list_last_seen(tx, target.organization_id, list(people.slice.rows))
    return present_slice(
        people.slice,
        lambda user_id: UserSitePermission(
            permission=people.standings[user_id].decision.role,
            user=present_user(call, people.users[user_id]),
            disabled=bool(people.users[user_id].disabled),
            last_seen_at=iso(seen[user_id]) if user_id in seen else UNSET,
            origin=present_origin(people.standings[user_id], people.steps, target.organization_id),
            source=present_source(people.standings[user_id], people.steps, target.organization_id),
        ),
    )


@operation("explainUserPermissionInSpace", "GET", _SPACE + "/users/{userId}", needs=Can.ADMIN, errors=(404,))
@operation(
    "explainUserPermissionInCollection",
    "GET",
    _COLLECTION + "/users/{userId}",
    needs=Can.ADMIN,
    errors=(404,),
)
@operation("explainUserPermissionInSite", "GET", _SITE + "/users/{userId}", needs=Can.ADMIN, errors=(404,))
def explain_user(call: Call, target: ObjectAccess, user_id: str) -> ExplainedPermission:
    """Explain a member's role: list all possible sources of the role, and mark the source that determines it."""
    with call.db.read() as tx:
        member, role = role_of_member(tx, target.organization_id, user_id)
        if not member:
            raise NotFound(f"There is no member with the ID {user_id!r} in this organization.")
        steps = list_steps(tx, target.kind, target.id)
        said = list_step_grants(tx, user_id, steps)
        own = list_step_grants(tx, target.user_id, steps)
        user = list_users_by_id(tx, [user_id])[user_id]
    along = [said[step.id] for step in steps]
    # The caller can see the grants on this object, but can see the grants on its ancestors only if they can
    # also share those.
    grants_visible = [
        index == 0
        or at_least(
            evaluate_steps(target.member_role, [own[one.id] for one in steps[index:]]).decision.role,
            COLLECTION[Can.ADMIN],
        )
        for index in range(len(steps))
    ]
    found = evaluate_steps(role, along)
    return ExplainedPermission(
        found.decision.role,
        present_user(call, user),
        present_source(found, steps, target.organization_id),
        present_places(found, along, grants_visible, target.organization_id, role),
    )


@operation("updateUserPermissionInSpace", "PATCH", _SPACE + "/users/{userId}", needs=Can.ADMIN, errors=(404,))
@operation(
    "updateUserPermissionInCollection",
    "PATCH",
    _COLLECTION + "/users/{userId}",
    needs=Can.ADMIN,
    errors=(404,),
)
@operation("updateUserPermissionInSite", "PATCH", _SITE + "/users/{userId}", needs=Can.ADMIN, errors=(404,))
def update_user(call: Call, target: ObjectAccess, user_id: str, body: UpdatePermission) -> None:
    """Update the role granted to a person directly on this object."""
    _update(call, target, Grantee("user", user_id), body)


@operation("updateTeamPermissionInSpace", "PATCH", _SPACE + "/teams/{teamId}", needs=Can.ADMIN, errors=(404,))
@operation(
    "updateTeamPermissionInCollection",
    "PATCH",
    _COLLECTION + "/teams/{teamId}",
    needs=Can.ADMIN,
    errors=(404,),
)
@operation("updateTeamPermissionInSite", "PATCH", _SITE + "/teams/{teamId}", needs=Can.ADMIN, errors=(404,))
def update_team(call: Call, target: ObjectAccess, team_id: str, body: UpdatePermission) -> None:
    """Update the role granted to a team directly on this object."""
    _update(call, target, Grantee("team", team_id), body)


def _update(call: Call, target: ObjectAccess, subject: Grantee, body: UpdatePermission) -> None:
    with call.db.write() as tx:
        if body.role is UNSET:
            granting.require_granted(tx, target, subject)
        else:
            granting.change_role(tx, target, subject, body.role)


@operation("removeUserFromSpace", "DELETE", _SPACE + "/users/{userId}", needs=Can.ADMIN)
@operation("removeUserFromCollection", "DELETE", _COLLECTION + "/users/{userId}", needs=Can.ADMIN)
@operation("removeUserFromSite", "DELETE", _SITE + "/users/{userId}", needs=Can.ADMIN)
def remove_user(call: Call, target: ObjectAccess, user_id: str) -> bool:
    """Remove the role granted to a person directly on this object. Roles from other sources then apply."""
    with call.db.write() as tx:
        return granting.revoke(tx, target, Grantee("user", user_id))


@operation("removeTeamFromSpace", "DELETE", _SPACE + "/teams/{teamId}", needs=Can.ADMIN)
@operation("removeTeamFromCollection", "DELETE", _COLLECTION + "/teams/{teamId}", needs=Can.ADMIN)
@operation("removeTeamFromSite", "DELETE", _SITE + "/teams/{teamId}", needs=Can.ADMIN)
def remove_team(call: Call, target: ObjectAccess, team_id: str) -> bool:
    """Remove the role granted to a team directly on this object."""
    with call.db.write() as tx:
        return granting.revoke(tx, target, Grantee("team", team_id))
