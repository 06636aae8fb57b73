"""Who may do what at a space or a collection: the same operations on both."""

from __future__ import annotations

from msgspec import UNSET

from ...kit.operation import Area, Call, Deletion
from ...kit.pagination import Listing, PageQuery, decode_token, present_slice, slice_rows
from ..entering import CollectionAccess, SpaceAccess
from ..evaluation import list_standings, list_steps
from ..roles import Can
from ..store import list_users_by_id
from ..wire import present_team, present_user
from . import granting, store
from .granting import Shared, shared
from .store import Subject
from .wire import AggregateQuery, Invite, TeamPermission, UpdatePermission, UserPermission, present_source

operation = Area("access").operation

_SPACE = "/spaces/{spaceId}/permissions"
_COLLECTION = "/collections/{collectionId}/permissions"


def _invite(call: Call, place: Shared, body: Invite) -> None:
    users = [] if body.users is UNSET else body.users
    teams = [] if body.teams is UNSET else body.teams
    with call.db.write() as tx:
        granting.invite(tx, call, place, body.role, users=users, teams=teams)


def _list_users(call: Call, place: Shared, query: PageQuery) -> Listing[UserPermission]:
    with call.db.read() as tx:
        found = store.list_user_grants(tx, place.kind, place.id, query.limit, query.page)
    return present_slice(found, lambda item: UserPermission(item[1], present_user(call, item[0])))


def _list_teams(call: Call, place: Shared, query: PageQuery) -> Listing[TeamPermission]:
    with call.db.read() as tx:
        found = store.list_team_grants(tx, place.kind, place.id, query.limit, query.page)
        owned = store.teams_owned(tx, place.organization_id, place.user_id)
    everything = place.member_role == "admin"
    return present_slice(
        found,
        lambda item: TeamPermission(item[1], present_team(item[0], admin=everything or item[0].id in owned)),
    )


def _list_aggregate(call: Call, place: Shared, query: AggregateQuery) -> Listing[UserPermission]:
    after = decode_token(query.page, str)
    with call.db.read() as tx:
        steps = list_steps(tx, place.kind, place.id)
        standings = list_standings(tx, place.organization_id, steps)
        seeing = [
            user_id
            for user_id, (decision, _) in standings.items()
            if decision.role is not None and query.role in (None, decision.role)
        ]
        rest = [user_id for user_id in seeing if after is None or user_id > after[0]]
        found = slice_rows(rest[: query.limit + 1], query.limit, len(seeing), lambda user_id: (user_id,))
        users = list_users_by_id(tx, list(found.rows))
    return present_slice(
        found,
        lambda user_id: UserPermission(
            standings[user_id].decision.role,
            present_user(call, users[user_id]),
            present_source(standings[user_id], steps, place.organization_id),
        ),
    )


def _change(call: Call, place: Shared, subject: Subject, body: UpdatePermission) -> None:
    with call.db.write() as tx:
        if body.role is UNSET:
            granting.require_granted(tx, place, subject)
        else:
            granting.change(tx, call, place, subject, body.role)


def _revoke(call: Call, place: Shared, subject: Subject) -> bool:
    with call.db.write() as tx:
        return granting.revoke(tx, call, place, subject)


# --- spaces ------------------------------------------------------------------------------------------


@operation("inviteToSpace", "POST", _SPACE, needs=Can.ADMIN, errors=(404,))
def invite_to_space(call: Call, space: SpaceAccess, body: Invite) -> None:
    """Gives members and teams of the organization a role here; one they had here is replaced.

    Nobody gives a role above their own.
    """
    _invite(call, shared(space), body)


@operation(
    "listUserPermissionsInSpace",
    "GET",
    _SPACE + "/users",
    needs=Can.ADMIN,
    returns=Listing[UserPermission],
    errors=(404,),
)
def list_space_users(call: Call, space: SpaceAccess, query: PageQuery) -> Listing[UserPermission]:
    """The people who were given a role at this very space."""
    return _list_users(call, shared(space), query)


@operation(
    "listTeamPermissionsInSpace",
    "GET",
    _SPACE + "/teams",
    needs=Can.ADMIN,
    returns=Listing[TeamPermission],
    errors=(404,),
)
def list_space_teams(call: Call, space: SpaceAccess, query: PageQuery) -> Listing[TeamPermission]:
    """The teams that were given a role at this very space."""
    return _list_teams(call, shared(space), query)


@operation(
    "listPermissionsAggregateInSpace",
    "GET",
    _SPACE + "/aggregate",
    needs=Can.ADMIN,
    returns=Listing[UserPermission],
)
def list_space_aggregate(call: Call, space: SpaceAccess, query: AggregateQuery) -> Listing[UserPermission]:
    """Everybody who can see this space, with their role there and, in `source`, why."""
    return _list_aggregate(call, shared(space), query)


@operation("updateUserPermissionInSpace", "PATCH", _SPACE + "/users/{userId}", needs=Can.ADMIN, errors=(404,))
def update_space_user(call: Call, space: SpaceAccess, user_id: str, body: UpdatePermission) -> None:
    """Changes the role that somebody was given at this very space."""
    _change(call, shared(space), Subject("user", user_id), body)


@operation("updateTeamPermissionInSpace", "PATCH", _SPACE + "/teams/{teamId}", needs=Can.ADMIN, errors=(404,))
def update_space_team(call: Call, space: SpaceAccess, team_id: str, body: UpdatePermission) -> None:
    """Changes the role that a team was given at this very space."""
    _change(call, shared(space), Subject("team", team_id), body)


@operation("removeUserFromSpace", "DELETE", _SPACE + "/users/{userId}", needs=Can.ADMIN, returns=Deletion)
def remove_space_user(call: Call, space: SpaceAccess, user_id: str) -> bool:
    """Takes back what somebody was given at this very space; what they have otherwise then counts."""
    return _revoke(call, shared(space), Subject("user", user_id))


@operation("removeTeamFromSpace", "DELETE", _SPACE + "/teams/{teamId}", needs=Can.ADMIN, returns=Deletion)
def remove_space_team(call: Call, space: SpaceAccess, team_id: str) -> bool:
    """Takes back what a team was given at this very space."""
    return _revoke(call, shared(space), Subject("team", team_id))


# --- collections -------------------------------------------------------------------------------------


@operation("inviteToCollection", "POST", _COLLECTION, needs=Can.ADMIN, errors=(404,))
def invite_to_collection(call: Call, collection: CollectionAccess, body: Invite) -> None:
    """Gives members and teams of the organization a role here; one they had here is replaced.

    Nobody gives a role above their own.
    """
    _invite(call, shared(collection), body)


@operation(
    "listUserPermissionsInCollection",
    "GET",
    _COLLECTION + "/users",
    needs=Can.ADMIN,
    returns=Listing[UserPermission],
    errors=(404,),
)
def list_collection_users(
    call: Call, collection: CollectionAccess, query: PageQuery
) -> Listing[UserPermission]:
    """The people who were given a role at this very collection."""
    return _list_users(call, shared(collection), query)


@operation(
    "listTeamPermissionsInCollection",
    "GET",
    _COLLECTION + "/teams",
    needs=Can.ADMIN,
    returns=Listing[TeamPermission],
    errors=(404,),
)
def list_collection_teams(
    call: Call, collection: CollectionAccess, query: PageQuery
) -> Listing[TeamPermission]:
    """The teams that were given a role at this very collection."""
    return _list_teams(call, shared(collection), query)


@operation(
    "listPermissionsAggregateInCollection",
    "GET",
    _COLLECTION + "/aggregate",
    needs=Can.ADMIN,
    returns=Listing[UserPermission],
)
def list_collection_aggregate(
    call: Call, collection: CollectionAccess, query: AggregateQuery
) -> Listing[UserPermission]:
    """Everybody who can see this collection, with their role there and, in `source`, why."""
    return _list_aggregate(call, shared(collection), query)


@operation(
    "updateUserPermissionInCollection",
    "PATCH",
    _COLLECTION + "/users/{userId}",
    needs=Can.ADMIN,
    errors=(404,),
)
def update_collection_user(
    call: Call, collection: CollectionAccess, user_id: str, body: UpdatePermission
) -> None:
    """Changes the role that somebody was given at this very collection."""
    _change(call, shared(collection), Subject("user", user_id), body)


@operation(
    "updateTeamPermissionInCollection",
    "PATCH",
    _COLLECTION + "/teams/{teamId}",
    needs=Can.ADMIN,
    errors=(404,),
)
def update_collection_team(
    call: Call, collection: CollectionAccess, team_id: str, body: UpdatePermission
) -> None:
    """Changes the role that a team was given at this very collection."""
    _change(call, shared(collection), Subject("team", team_id), body)


@operation(
    "removeUserFromCollection", "DELETE", _COLLECTION + "/users/{userId}", needs=Can.ADMIN, returns=Deletion
)
def remove_collection_user(call: Call, collection: CollectionAccess, user_id: str) -> bool:
    """Takes back what somebody was given at this very collection; what they have otherwise then counts."""
    return _revoke(call, shared(collection), Subject("user", user_id))


@operation(
    "removeTeamFromCollection", "DELETE", _COLLECTION + "/teams/{teamId}", needs=Can.ADMIN, returns=Deletion
)
def remove_collection_team(call: Call, collection: CollectionAccess, team_id: str) -> bool:
    """Takes back what a team was given at this very collection."""
    return _revoke(call, shared(collection), Subject("team", team_id))
