"""Giving and taking roles at a space or a collection, and what nobody may do by it.

Two rules: nobody gives, changes or takes back a role above their own; and no change of rights by somebody moves
anybody else's role from or to one above theirs, whichever way it would come about.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from ...errors import Forbidden, NotFound
from ...kit.db import Transaction
from ...kit.operation import Call
from ..auditing import audit
from ..entering import CollectionAccess, SpaceAccess
from ..evaluation import Kind, list_standings, list_steps, role_along
from ..roles import at_least
from ..store import require_members, require_teams
from . import store
from .store import Subject


class Shared(NamedTuple):
    """A space or collection, and who is about to share it. ``role``: theirs there."""

    kind: Kind
    id: str
    organization_id: str
    user_id: str
    role: str
    member_role: str | None


def shared(access: SpaceAccess | CollectionAccess) -> Shared:
    if isinstance(access, SpaceAccess):
        kind: Kind = "space"
        id = access.space_id
    else:
        kind, id = "collection", access.collection_id
    return Shared(kind, id, access.organization_id, access.user_id, access.role, access.member_role)


@contextmanager
def guarding(tx: Transaction, place: Shared) -> Iterator[None]:
    """Around a change of rights: raises Forbidden when it moves a role from or to one above the caller's own."""
    if place.role == "admin":
        yield
        return
    before = _roles(tx, place)
    yield
    after = _roles(tx, place)
    for user_id, role in after.items():
        was = before.get(user_id)
        if role != was and not (at_least(place.role, role) and at_least(place.role, was)):
            raise Forbidden(f"This would change a role above your own here, `{place.role}`.")


def _roles(tx: Transaction, place: Shared) -> dict[str, str | None]:
    steps = list_steps(tx, place.kind, place.id)
    standings = list_standings(tx, place.organization_id, steps)
    return {user_id: standing.decision.role for user_id, standing in standings.items()}


def stay(tx: Transaction, call: Call, place: Shared) -> None:
    """Grants the caller the role they had when a change of rights would take it from them: nobody who closes a
    door shuts themselves out."""
    now_role = role_along(tx, place.user_id, place.member_role, list_steps(tx, place.kind, place.id))
    if not at_least(now_role, place.role):
        _put(tx, call, place, Subject("user", place.user_id), place.role)


def invite(
    tx: Transaction,
    call: Call,
    place: Shared,
    role: str | None,
    *,
    users: Iterable[str] = (),
    teams: Iterable[str] = (),
) -> None:
    """Gives people and teams of the organization a role, in place of one they had at this object.

    Raises NotFound for somebody from elsewhere, Forbidden for a role above the caller's.
    """
    user_ids, team_ids = list(dict.fromkeys(users)), list(dict.fromkeys(teams))
    require_members(tx, place.organization_id, user_ids, "users")
    require_teams(tx, place.organization_id, team_ids, "teams")
    with guarding(tx, place):
        for subject in [*(Subject("user", id) for id in user_ids), *(Subject("team", id) for id in team_ids)]:
            _put(tx, call, place, subject, role)


def change(tx: Transaction, call: Call, place: Shared, subject: Subject, role: str | None) -> None:
    """Changes a role that was granted at this very object. Raises NotFound when none was."""
    with guarding(tx, place):
        if store.find_grant(tx, place.kind, place.id, subject) is None:
            raise _not_granted(place, subject)
        _put(tx, call, place, subject, role)


def require_granted(tx: Transaction, place: Shared, subject: Subject) -> None:
    """Raises NotFound unless something was granted to the subject at this very object."""
    if store.find_grant(tx, place.kind, place.id, subject) is None:
        raise _not_granted(place, subject)


def revoke(tx: Transaction, call: Call, place: Shared, subject: Subject) -> bool:
    """Takes back what was granted at this very object; False when nothing was."""
    with guarding(tx, place):
        was = store.find_grant(tx, place.kind, place.id, subject)
        if was is None:
            return False
        _require_own(place, was[0])
        store.delete_grant(tx, place.kind, place.id, subject)
        _tell(tx, call, place, "removed", subject, was, None)
    return True


def lift(
    tx: Transaction,
    call: Call,
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
    place = Shared(kind, object_id, organization_id, user_id, "admin", None)
    _tell(tx, call, place, "granted" if was is None else "changed", Subject("user", user_id), was, (role,))


def _put(tx: Transaction, call: Call, place: Shared, subject: Subject, role: str | None) -> None:
    was = store.find_grant(tx, place.kind, place.id, subject)
    if was == (role,):
        return
    _require_own(place, role)
    if was is not None:
        _require_own(place, was[0])
    store.put_grant(tx, place.kind, place.id, subject, role)
    _tell(tx, call, place, "granted" if was is None else "changed", subject, was, (role,))


def _require_own(place: Shared, role: str | None) -> None:
    if not at_least(place.role, role):
        raise Forbidden(f"role: `{role}` is more than your own role here, `{place.role}`.")


def _not_granted(place: Shared, subject: Subject) -> NotFound:
    return NotFound(f"The {subject.type} {subject.id!r} was not invited to this {place.kind}.")


def _tell(
    tx: Transaction,
    call: Call,
    place: Shared,
    done: str,
    subject: Subject,
    was: tuple[str | None] | None,
    now_role: tuple[str | None] | None,
) -> None:
    def state(role: tuple[str | None] | None) -> dict[str, str | None] | None:
        return None if role is None else {subject.type: subject.id, "role": role[0]}

    audit(
        tx,
        call,
        f"permission.{done}",
        place.organization_id,
        (place.kind, place.id),
        before=state(was),
        after=state(now_role),
    )
