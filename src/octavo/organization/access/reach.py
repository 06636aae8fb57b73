"""Limits on the access of a token or session, regardless of its user's role. The limits are checked on every access to
an object.

A session from an organization's identity provider, and a token that is bound to an organization, work only in that
organization, because one organization's provider must not grant access to another organization. An organization that
requires single sign-on is closed to other sessions, except sessions of its administrators, who must be able to fix a
failing provider. Personal tokens keep working in such an organization."""

from __future__ import annotations

from typing import assert_never

import msgspec
from msgspec import Struct

from octavo.errors import Forbidden, ProofRequired
from octavo.kit.clock import now
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor, Person, Script

from .roles import ACCOUNT, Can

PROOF_LASTS = 15 * 60_000
"""Milliseconds after signing in or confirming the password during which a session can change the user's
sign-in methods."""


class _Forced(Struct):
    sso: bool = False


def forces_sso(settings: str) -> bool:
    """Return whether an organization with these ``settings`` requires single sign-on."""
    return msgspec.json.decode(settings, type=_Forced).sso


def is_bound_elsewhere(actor: Actor, organization_id: str) -> bool:
    """Return whether the token or session works only in another organization."""
    return actor.organization_id is not None and actor.organization_id != organization_id


def is_shut_out(actor: Actor, role: str | None, forced: bool) -> bool:
    """Return whether this member's session is rejected by an organization that requires single sign-on (``forced``)."""
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
    """Raise Forbidden if ``is_shut_out`` returns True."""
    if is_shut_out(actor, role, forced):
        raise Forbidden(
            "This organization requires single sign-on (SSO). Sign in with one of the providers listed at its"
            " `/sso` endpoint."
        )


def list_reachable_organizations(tx: Transaction, actor: Actor) -> list[str]:
    """Return the IDs of the organizations that the actor can enter."""
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
    """Raise Forbidden if the token or session doesn't meet the requirements in ``ACCOUNT`` for an ability over
    the actor's own account."""
    need = ACCOUNT[needs]
    if need.whole and actor.organization_id is not None:
        raise Forbidden(
            "This session or token works in only one organization and can't change the account. Sign in with"
            " your password or an emailed link instead."
        )
    if need.session and not is_session(actor):
        raise Forbidden("Tokens can't be used for this operation. Sign in and use a session instead.")
    if need.proved and isinstance(actor, Person) and actor.session and now() - actor.proved_at > PROOF_LASTS:
        raise ProofRequired(
            "Confirm your identity first: send your password to `POST /user/proof`, or sign in again."
        )


def require_person(actor: Actor) -> Person:
    """Return the actor as a person. Raises Forbidden if the actor is a script."""
    match actor:
        case Person():
            return actor
        case Script():
            raise Forbidden("Integration scripts can't perform this operation. Use a personal token instead.")
        case _:
            assert_never(actor)


def actor_for_job(user_id: str, organization_id: str) -> Person:
    """Return the actor for a job that this user started. The actor has the user's permissions at the time when the job
    runs, but only in the organization in which the job was started. The user's access was checked when the job was
    started."""
    return Person(user_id, "", organization_id=organization_id)
