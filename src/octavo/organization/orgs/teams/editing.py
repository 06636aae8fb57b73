"""Create, rename, and delete teams, and change their members."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from octavo.errors import Forbidden, NotFound, require_found
from octavo.kit.db.database import Transaction
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import OrgAccess
from octavo.organization.access.avatars import delete_team_avatar, set_team_avatar
from octavo.organization.access.teams import (
    TeamRole,
    TeamRow,
    find_team,
    insert_team,
    put_team_member,
    remove_team_members,
)
from octavo.organization.access.teams import delete_team as remove_team
from octavo.organization.access.teams import rename_team as save_title

from . import store


def get_team(tx: Transaction, org: OrgAccess, team_id: str) -> TeamRow:
    return require_found(
        find_team(tx, org.organization_id, team_id),
        f"There is no team with the ID {team_id!r} in this organization.",
    )


def create_team(tx: Transaction, org: OrgAccess, title: str, members: Sequence[str]) -> TeamRow:
    """Create a team with the given members, identified by ID or email address. Raises NotFound if one of them
    isn't a member of the organization."""
    user_ids = _find_members(tx, org, members, "members")
    team_id = insert_team(tx, org.organization_id, title)
    for user_id in user_ids:
        put_team_member(tx, team_id, user_id, "member")
    state = {"title": title, "members": user_ids}
    audit(tx, org.actor, "team.created", org.organization_id, ("team", team_id), after=state)
    return get_team(tx, org, team_id)


def rename_team(tx: Transaction, org: OrgAccess, team_id: str, title: str) -> TeamRow:
    """Rename a team. Raises Forbidden unless the caller manages it."""
    _require_manager(tx, org, team_id)
    before = get_team(tx, org, team_id)
    save_title(tx, team_id, title)
    after = get_team(tx, org, team_id)
    was, is_now = {"title": before.title}, {"title": after.title}
    audit(tx, org.actor, "team.updated", org.organization_id, ("team", team_id), before=was, after=is_now)
    return after


def set_picture(tx: Transaction, org: OrgAccess, team_id: str, image: bytes) -> TeamRow:
    """Set a team's picture. Raises Forbidden unless the caller manages it."""
    _require_manager(tx, org, team_id)
    before = get_team(tx, org, team_id)
    set_team_avatar(tx, team_id, image)
    return _audit_picture(tx, org, before)


def remove_picture(tx: Transaction, org: OrgAccess, team_id: str) -> bool:
    """Remove the picture of a team. Return False if it has none or doesn't exist. Raises Forbidden unless the caller
    manages it."""
    before = find_team(tx, org.organization_id, team_id)
    if before is None:
        return False
    _require_manager(tx, org, team_id)
    if not delete_team_avatar(tx, team_id):
        return False
    _audit_picture(tx, org, before)
    return True


def _audit_picture(tx: Transaction, org: OrgAccess, before: TeamRow) -> TeamRow:
    after = get_team(tx, org, before.id)
    was, is_now = {"picture": before.avatar_id}, {"picture": after.avatar_id}
    audit(tx, org.actor, "team.updated", org.organization_id, ("team", before.id), before=was, after=is_now)
    return after


def delete_team(tx: Transaction, org: OrgAccess, team_id: str) -> bool:
    """Delete a team and its grants. Return False if it doesn't exist. Raises Forbidden unless the caller
    manages it."""
    before = find_team(tx, org.organization_id, team_id)
    if before is None:
        return False
    _require_manager(tx, org, team_id)
    remove_team(tx, org.organization_id, team_id)
    state = {"title": before.title}
    audit(tx, org.actor, "team.removed", org.organization_id, ("team", team_id), before=state)
    return True


def update_members(
    tx: Transaction,
    org: OrgAccess,
    team_id: str,
    *,
    add: Sequence[str],
    memberships: Mapping[str, TeamRole],
    remove: Sequence[str],
) -> None:
    """Add and remove people, identified by ID or email address. ``memberships``: the roles to give, by person.

    A person who is both added and removed is removed. Raises Forbidden unless the caller manages the team, and
    NotFound if a person isn't a member of the organization."""
    _require_manager(tx, org, team_id)
    removed = _find_members(tx, org, remove, "remove")
    roles: dict[str, TeamRole | None] = dict.fromkeys(_find_members(tx, org, add, "add"))
    for name, role in memberships.items():
        roles[_find_members(tx, org, [name], "memberships")[0]] = role
    for user_id in removed:
        roles.pop(user_id, None)
    for user_id, wanted in roles.items():
        put_team_member(tx, team_id, user_id, wanted)
    remove_team_members(tx, team_id, removed)
    if roles or removed:
        _audit_members(tx, org, team_id, {"added": roles, "removed": removed})


def put_member(tx: Transaction, org: OrgAccess, team_id: str, name: str, role: TeamRole | None) -> None:
    """Add a member, or change the member's role. If the role is None, a new member gets the `member` role, and existing
    members keep their role. Raises the same errors as ``update_members``."""
    _require_manager(tx, org, team_id)
    user_id = _find_members(tx, org, [name], "userId")[0]
    put_team_member(tx, team_id, user_id, role)
    _audit_members(tx, org, team_id, {"added": {user_id: role}})


def remove_member(tx: Transaction, org: OrgAccess, team_id: str, user_id: str) -> bool:
    """Remove a member from a team. Return False if the person isn't in the team. Raises Forbidden unless the caller
    manages the team."""
    _require_manager(tx, org, team_id)
    if not remove_team_members(tx, team_id, [user_id]):
        return False
    _audit_members(tx, org, team_id, {"removed": [user_id]})
    return True


def _require_manager(tx: Transaction, org: OrgAccess, team_id: str) -> None:
    get_team(tx, org, team_id)
    if org.role != "admin" and not store.is_team_owner(tx, team_id, org.user_id):
        raise Forbidden("Only administrators and the team's owners can manage this team.")


def _find_members(tx: Transaction, org: OrgAccess, named: Sequence[str], place: str) -> list[str]:
    """Return the IDs of members identified by ID or email address. Raises NotFound if one of them isn't a
    member."""
    found = store.find_member_ids(tx, org.organization_id, list(named))
    for name in named:
        if name not in found:
            raise NotFound(f"{place}: {name!r} isn't a member of this organization")
    return list(dict.fromkeys(found[name] for name in named))


def _audit_members(tx: Transaction, org: OrgAccess, team_id: str, state: Mapping[str, object]) -> None:
    audit(tx, org.actor, "team.members-updated", org.organization_id, ("team", team_id), after=state)
