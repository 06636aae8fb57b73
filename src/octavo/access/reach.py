"""How somebody signed in bounds what they reach, whatever their role: the one rule, asked wherever anything is entered.

A session that an organization's identity provider vouched for, and a token bound to an organization, are good
there alone: the provider of one organization must not open another's doors. An organization that forces
single sign-on is closed to sessions that signed in otherwise, but for its administrators, who must be able to
repair a provider that fails. Personal tokens go on working there.
"""

from __future__ import annotations

from typing import assert_never

import msgspec
from msgspec import Struct

from ..errors import Forbidden, ProofRequired
from ..kit.clock import now
from ..kit.db import Transaction
from ..kit.operation import Actor, Person, Script
from .roles import ACCOUNT, Can

PROOF_LASTS = 15 * 60_000
"""Milliseconds after signing in, or giving the password again, in which a session may change how one signs in."""


class _Forced(Struct):
    sso: bool = False


def forces_sso(settings: str) -> bool:
    """Whether an organization with these ``settings`` lets its members in through its identity provider only."""
    return msgspec.json.decode(settings, type=_Forced).sso


def is_bound_elsewhere(actor: Actor, organization_id: str) -> bool:
    """Whether the token or session is good in another organization alone."""
    return actor.organization_id is not None and actor.organization_id != organization_id


def is_shut_out(actor: Actor, role: str | None, forced: bool) -> bool:
    """Whether an organization that forces single sign-on (``forced``) is closed to this member's session."""
    return forced and is_session(actor) and actor.organization_id is None and role != "admin"


def is_session(actor: Actor) -> bool:
    match actor:
        case Person():
            return actor.session
        case Script():
            return False
        case _:
            assert_never(actor)


def require_single_sign_on(actor: Actor, role: str | None, forced: bool) -> None:
    """Raises Forbidden where ``is_shut_out``."""
    if is_shut_out(actor, role, forced):
        raise Forbidden("This organization is entered through its own sign-in. See its /sso for where.")


def list_reached(tx: Transaction, actor: Actor) -> list[str]:
    """The ids of the organizations that the actor can enter at all."""
    rows = tx.all(
        """SELECT m.organization_id, m.role, o.settings FROM members m JOIN organizations o ON o.id = m.organization_id
           WHERE m.user_id = :user AND m.disabled = 0""",
        user=actor.user_id,
    )
    return [
        id
        for id, role, settings in rows
        if not is_bound_elsewhere(actor, id) and not is_shut_out(actor, role, forces_sso(settings))
    ]


def require_account(actor: Actor, needs: Can) -> None:
    """Raises Forbidden when the actor's token or session may not do this to their own account; see ``ACCOUNT``."""
    need = ACCOUNT[needs]
    if need.whole and actor.organization_id is not None:
        raise Forbidden(
            "This is for the owner of the account. Sign in with your password or a link, not through one"
            " organization."
        )
    if need.session and not is_session(actor):
        raise Forbidden("This needs a session: a token does not change how its owner signs in.")
    if need.proved and isinstance(actor, Person) and actor.session and now() - actor.proved_at > PROOF_LASTS:
        raise ProofRequired(
            "Confirm that it is you first: send your password to POST /user/proof, or sign in again."
        )


def require_person(actor: Actor) -> Person:
    """Raises Forbidden for scripts."""
    match actor:
        case Person():
            return actor
        case Script():
            raise Forbidden("This is for people: a script does not do it.")
        case _:
            assert_never(actor)


def act_for(user_id: str, organization_id: str) -> Person:
    """Somebody as a job acts for them: with the rights they have by then, in the organization where they started
    it and nowhere else. That they reached it was checked when they did."""
    return Person(user_id, "", organization_id=organization_id)
