"""Grant and revoke roles in a space or collection, or on a site, within limits.

There are two rules. First, no one can grant, change, or revoke a role above their own. Second, no change to
permissions, direct or indirect, can change another person's role if the old or new role is above the caller's own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from octavo.errors import Forbidden, NotFound
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor

from ..auditing import audit
from ..evaluation import Kind, list_evaluated_roles, list_steps, role_along
from ..members import require_members
from ..roles import at_least
from ..teams import require_teams
from . import store
from .authorization import GrantObject, ObjectAccess
from .store import Grantee


@contextmanager
def guard_roles(tx: Transaction, target: ObjectAccess) -> Iterator[None]:
    """Wrap a change to permissions. Raises Forbidden if the change affects a role that is or becomes higher than the
    caller's own."""
    if target.role == "admin":
        yield
        return
    before = _list_roles(tx, target)
    yield
    after = _list_roles(tx, target)
    for user_id, role in after.items():
        was = before.get(user_id)
        if role != was and not (at_least(target.role, role) and at_least(target.role, was)):
            raise Forbidden(
                f"This change would affect a role that is higher than your own role, `{target.role}`. Ask"
                " an administrator to make the change."
            )


def _list_roles(tx: Transaction, target: ObjectAccess) -> dict[str, str | None]:
    steps = list_steps(tx, target.kind, target.id)
    standings = list_evaluated_roles(tx, target.organization_id, steps)
    return {user_id: standing.decision.role for user_id, standing in standings.items()}


def keep_own_role(tx: Transaction, target: ObjectAccess) -> None:
    """Grant the caller their previous role if a change to permissions would remove it, so that callers can't lock
    themselves out."""
    now_role = role_along(tx, target.user_id, target.member_role, list_steps(tx, target.kind, target.id))
    if not at_least(now_role, target.role):
        _put(tx, target, Grantee("user", target.user_id), target.role)


@contextmanager
def guard_default_level(tx: Transaction, target: ObjectAccess, values: Mapping[str, Any]) -> Iterator[None]:
    """Wrap an update that sets ``values`` on an object. Raises Forbidden if the default level is above the
    caller's own role on the object.

    If the caller's access came from the previous default level, they keep their role through a grant."""
    if "default_level" not in values:
        yield
        return
    level = values["default_level"]
    if level not in (None, "inherit") and not at_least(target.role, level):
        raise Forbidden(f"defaultLevel: `{level}` is higher than your own role, `{target.role}`")
    with guard_roles(tx, target):
        yield
        keep_own_role(tx, target)


def invite(
    tx: Transaction,
    target: ObjectAccess,
    role: str | None,
    *,
    users: Iterable[str] = (),
    teams: Iterable[str] = (),
) -> None:
    """Grant people and teams of the organization a role, replacing their previous role on this object.

    Raises NotFound if a person or team isn't in the organization, and Forbidden if the role is above the
    caller's.
    """
    user_ids, team_ids = list(dict.fromkeys(users)), list(dict.fromkeys(teams))
    require_members(tx, target.organization_id, user_ids, "users")
    require_teams(tx, target.organization_id, team_ids, "teams")
    with guard_roles(tx, target):
        for subject in [*(Grantee("user", id) for id in user_ids), *(Grantee("team", id) for id in team_ids)]:
            _put(tx, target, subject, role)


def change_role(tx: Transaction, target: ObjectAccess, subject: Grantee, role: str | None) -> None:
    """Change a role granted directly on this object. Raises NotFound if there is no such grant."""
    with guard_roles(tx, target):
        if store.find_grant(tx, target.kind, target.id, subject) is None:
            raise _not_granted(target, subject)
        _put(tx, target, subject, role)


def require_granted(tx: Transaction, target: ObjectAccess, subject: Grantee) -> None:
    """Raise NotFound unless the subject has a grant directly on this object."""
    if store.find_grant(tx, target.kind, target.id, subject) is None:
        raise _not_granted(target, subject)


def revoke(tx: Transaction, target: ObjectAccess, subject: Grantee) -> bool:
    """Revoke a grant made directly on this object. Return False if there was none."""
    with guard_roles(tx, target):
        was = store.find_grant(tx, target.kind, target.id, subject)
        if was is None:
            return False
        _require_own(target, was[0])
        store.delete_grant(tx, target.kind, target.id, subject)
        _audit(tx, target.actor, target.object, "removed", subject, was, None)
    return True


def grant_by_link(
    tx: Transaction,
    actor: Actor,
    kind: Kind,
    object_id: str,
    organization_id: str,
    user_id: str,
    role: str | None,
) -> None:
    """Grant the caller an invite link's role, unless they already have that role or a higher one on the
    object."""
    was = store.find_grant(tx, kind, object_id, Grantee("user", user_id))
    if was is not None and at_least(was[0], role):
        return
    store.put_grant(tx, kind, object_id, Grantee("user", user_id), role)
    at = GrantObject(kind, object_id, organization_id)
    _audit(tx, actor, at, "granted" if was is None else "changed", Grantee("user", user_id), was, (role,))


def _put(tx: Transaction, target: ObjectAccess, subject: Grantee, role: str | None) -> None:
    was = store.find_grant(tx, target.kind, target.id, subject)
    if was == (role,):
        return
    _require_own(target, role)
    if was is not None:
        _require_own(target, was[0])
    store.put_grant(tx, target.kind, target.id, subject, role)
    _audit(tx, target.actor, target.object, "granted" if was is None else "changed", subject, was, (role,))


def _require_own(target: ObjectAccess, role: str | None) -> None:
    if not at_least(target.role, role):
        raise Forbidden(f"role: `{role}` is higher than your own role, `{target.role}`")


def _not_granted(target: ObjectAccess, subject: Grantee) -> NotFound:
    there = f"on this {target.kind}" if target.kind == "site" else f"in this {target.kind}"
    return NotFound(f"The {subject.type} with the ID {subject.id!r} has no direct role {there}.")


def _audit(
    tx: Transaction,
    actor: Actor,
    at: GrantObject,
    done: str,
    subject: Grantee,
    was: tuple[str | None] | None,
    now_role: tuple[str | None] | None,
) -> None:
    def state(role: tuple[str | None] | None) -> dict[str, str | None] | None:
        return None if role is None else {subject.type: subject.id, "role": role[0]}

    audit(
        tx,
        actor,
        f"permission.{done}",
        at.organization_id,
        (at.kind, at.id),
        before=state(was),
        after=state(now_role),
    )


def grant_installation(tx: Transaction, space_id: str, user_id: str, role: str | None) -> None:
    """Grant an installation's account a role in a space; None revokes the role.

    The person who installs the integration must have at least that role in the space. The audit log records the
    installation."""
    subject = Grantee("user", user_id)
    if role is None:
        store.delete_grant(tx, "space", space_id, subject)
    else:
        store.put_grant(tx, "space", space_id, subject, role)
