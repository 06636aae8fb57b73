"""Making, renaming and removing teams, and saying who is in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from octavo.errors import Forbidden, NotFound
from octavo.kit.db.database import Transaction
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import OrgAccess
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
    found = find_team(tx, org.organization_id, team_id)
    if found is None:
        raise NotFound(f"There is no team {team_id!r} in this organization.")
    return found


def create_team(tx: Transaction, org: OrgAccess, title: str, members: Sequence[str]) -> TeamRow:
    """A team of these members, named by id or address. Raises NotFound for who is none."""
    user_ids = _find_members(tx, org, members, "members")
    team_id = insert_team(tx, org.organization_id, title)
    for user_id in user_ids:
        put_team_member(tx, team_id, user_id, "member")
    state = {"title": title, "members": user_ids}
    audit(tx, org.actor, "team.created", org.organization_id, ("team", team_id), after=state)
    return get_team(tx, org, team_id)


def rename_team(tx: Transaction, org: OrgAccess, team_id: str, title: str) -> TeamRow:
    """Raises Forbidden for who does not manage it."""
    _require_manager(tx, org, team_id)
    before = get_team(tx, org, team_id)
    save_title(tx, team_id, title)
    after = get_team(tx, org, team_id)
    was, is_now = {"title": before.title}, {"title": after.title}
    audit(tx, org.actor, "team.updated", org.organization_id, ("team", team_id), before=was, after=is_now)
    return after


def delete_team(tx: Transaction, org: OrgAccess, team_id: str) -> bool:
    """Removes a team with what was granted to it; False when it is not there. Raises Forbidden for who does not
    manage it."""
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
    """Adds and removes people, named by id or address; ``memberships`` says the role of who is added.

    Who is both added and removed is removed. Raises Forbidden for who does not manage the team, NotFound for
    who is no member of the organization.
    """
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
    """Adds a member, or changes their role (None: as it is, or `member`). Raises as ``update_members``."""
    _require_manager(tx, org, team_id)
    user_id = _find_members(tx, org, [name], "userId")[0]
    put_team_member(tx, team_id, user_id, role)
    _audit_members(tx, org, team_id, {"added": {user_id: role}})


def remove_member(tx: Transaction, org: OrgAccess, team_id: str, user_id: str) -> bool:
    """Takes somebody out; False when they were not in it. Raises Forbidden."""
    _require_manager(tx, org, team_id)
    if not remove_team_members(tx, team_id, [user_id]):
        return False
    _audit_members(tx, org, team_id, {"removed": [user_id]})
    return True


def _require_manager(tx: Transaction, org: OrgAccess, team_id: str) -> None:
    get_team(tx, org, team_id)
    if org.role != "admin" and not store.owns(tx, team_id, org.user_id):
        raise Forbidden("A team is managed by its owners and by administrators.")


def _find_members(tx: Transaction, org: OrgAccess, named: Sequence[str], place: str) -> list[str]:
    """The ids of members named by id or address. Raises NotFound naming who is none."""
    found = store.find_member_ids(tx, org.organization_id, list(named))
    for name in named:
        if name not in found:
            raise NotFound(f"{place}: {name!r} is no member of this organization.")
    return list(dict.fromkeys(found[name] for name in named))


def _audit_members(tx: Transaction, org: OrgAccess, team_id: str, state: Mapping[str, object]) -> None:
    audit(tx, org.actor, "team.members-updated", org.organization_id, ("team", team_id), after=state)
