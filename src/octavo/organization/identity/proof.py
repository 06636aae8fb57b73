"""Confirmation of the caller's identity, which is required for changes to sign-in methods.

Signing in also counts as confirmation for a while. People who have no password, or who signed in through an
organization's provider, must sign in again instead."""

from __future__ import annotations

from octavo.errors import Forbidden
from octavo.kit.context import Context
from octavo.kit.http.operation import Actor

from . import attempts, factors, passwords, sessions, signing_in


def confirm_identity(context: Context, client: str, actor: Actor, password: str, code: str | None) -> int:
    """Check the password, and a code if two-factor authentication is on. Return the time of the confirmation.

    Raises Forbidden if either is wrong or missing, and TooManyRequests after too many attempts.
    """
    counters = attempts.counters("proof", actor.user_id, client, per_account=signing_in.CODE_TRIES)
    with context.db.write() as tx:
        attempts.record_or_refuse(tx, counters)
    with context.db.read() as tx:
        stored = passwords.find_password(tx, actor.user_id)
    if not passwords.verify_password(stored, password):
        raise Forbidden(
            "password: is incorrect, or your account has no password. If it has none, sign in again instead."
        )
    with context.db.write() as tx:
        if factors.needs_code(tx, actor.user_id) and not factors.accept(
            tx, context.sealer, actor.user_id, code or ""
        ):
            raise Forbidden("code: is missing, incorrect, or already used")
        attempts.uncount(tx, counters)
        return sessions.set_proved(tx, actor.token_id)
