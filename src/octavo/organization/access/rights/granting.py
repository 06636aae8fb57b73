"""Giving and taking roles at a space or a collection, and what nobody may do by it.

Two rules: nobody gives, changes or takes back a role above their own; and no change of rights by somebody moves
anybody else's role from or to one above theirs, whichever way it would come about.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from octavo.errors import Forbidden, NotFound
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor

from ..auditing import audit
from ..evaluation import Kind, list_standings, list_steps, role_along
from ..members import require_members
from ..roles import at_least
from ..teams import require_teams
from . import store
from .authorization import GrantObject, ObjectAccess
from .store import Subject


@contextmanager
def guard_roles(tx: Transaction, target: ObjectAccess) -> Iterator[None]:
    """Around a change of rights: raises Forbidden when it moves a role from or to one above the caller's own."""
    if target.role == "admin":
        yield
        return
    before = _roles(tx, target)
    yield
    after = _roles(tx, target)
    for user_id, role in after.items():
        was = before.get(user_id)
        if role != was and not (at_least(target.role, role) and at_least(target.role, was)):
            raise Forbidden(f"This would change a role above your own here, `{target.role}`.")


def _roles(tx: Transaction, target: ObjectAccess) -> dict[str, str | None]:
    steps = list_steps(tx, target.kind, target.id)
    standings = list_standings(tx, target.organization_id, steps)
    return {user_id: standing.decision.role for user_id, standing in standings.items()}


def keep_own_role(tx: Transaction, target: ObjectAccess) -> None:
    """Grants the caller the role they had when a change of rights would take it from them: nobody who closes a
    door shuts themselves out."""
    now_role = role_along(tx, target.user_id, target.member_role, list_steps(tx, target.kind, target.id))
    if not at_least(now_role, target.role):
        _put(tx, target, Subject("user", target.user_id), target.role)


def invite(
    tx: Transaction,
    target: ObjectAccess,
    role: str | None,
    *,
    users: Iterable[str] = (),
    teams: Iterable[str] = (),
) -> None:
    """Gives people and teams of the organization a role, in place of one they had at this object.

    Raises NotFound for somebody from elsewhere, Forbidden for a role above the caller's.
    """
    user_ids, team_ids = list(dict.fromkeys(users)), list(dict.fromkeys(teams))
    require_members(tx, target.organization_id, user_ids, "users")
    require_teams(tx, target.organization_id, team_ids, "teams")
    with guard_roles(tx, target):
        for subject in [*(Subject("user", id) for id in user_ids), *(Subject("team", id) for id in team_ids)]:
            _put(tx, target, subject, role)


def change(tx: Transaction, target: ObjectAccess, subject: Subject, role: str | None) -> None:
    """Changes a role that was granted at this very object. Raises NotFound when none was."""
    with guard_roles(tx, target):
        if store.find_grant(tx, target.kind, target.id, subject) is None:
            raise _not_granted(target, subject)
        _put(tx, target, subject, role)


def require_granted(tx: Transaction, target: ObjectAccess, subject: Subject) -> None:
    """Raises NotFound unless something was granted to the subject at this very object."""
    if store.find_grant(tx, target.kind, target.id, subject) is None:
        raise _not_granted(target, subject)


def revoke(tx: Transaction, target: ObjectAccess, subject: Subject) -> bool:
    """Takes back what was granted at this very object; False when nothing was."""
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
    """Gives the caller what an invite link holds, unless as much was granted to them there already."""
    was = store.find_grant(tx, kind, object_id, Subject("user", user_id))
    if was is not None and at_least(was[0], role):
        return
    store.put_grant(tx, kind, object_id, Subject("user", user_id), role)
    at = GrantObject(kind, object_id, organization_id)
    _audit(tx, actor, at, "granted" if was is None else "changed", Subject("user", user_id), was, (role,))


def _put(tx: Transaction, target: ObjectAccess, subject: Subject, role: str | None) -> None:
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
        raise Forbidden(f"role: `{role}` is more than your own role here, `{target.role}`.")


def _not_granted(target: ObjectAccess, subject: Subject) -> NotFound:
    return NotFound(f"The {subject.type} {subject.id!r} was not invited to this {target.kind}.")


def _audit(
    tx: Transaction,
    actor: Actor,
    at: GrantObject,
    done: str,
    subject: Subject,
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
    """Gives the account of an integration's installation a role at a space; None takes it back. Whoever installs it
    there may install integrations, and so has as high a role: the installation is what the audit log says."""
    subject = Subject("user", user_id)
    if role is None:
        store.delete_grant(tx, "space", space_id, subject)
    else:
        store.put_grant(tx, "space", space_id, subject, role)
