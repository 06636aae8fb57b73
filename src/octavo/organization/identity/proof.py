"""Proving in a session once more who one is, before changing how one signs in.

Signing in proves it for a while as well. Who has no password, or came through an organization's provider, signs in
again.
"""

from __future__ import annotations

from octavo.errors import Forbidden
from octavo.kit.context import Context
from octavo.kit.http.operation import Actor

from . import attempts, factors, passwords, sessions, signing_in


def prove(context: Context, client: str, actor: Actor, password: str, code: str | None) -> int:
    """Takes the password, and a code where there is a second factor; when it was proved.

    Raises Forbidden when one of them is wrong or missing, TooManyRequests after too many tries.
    """
    counters = attempts.counters("proof", actor.user_id, client, per_account=signing_in.CODE_TRIES)
    with context.db.write() as tx:
        attempts.take(tx, counters)
    with context.db.read() as tx:
        stored = passwords.find_password(tx, actor.user_id)
    if not passwords.verify_password(stored, password):
        raise Forbidden("password: wrong, or there is none. Without one, sign in again.")
    with context.db.write() as tx:
        if factors.needs_code(tx, actor.user_id) and not factors.accept(
            tx, context.sealer, actor.user_id, code or ""
        ):
            raise Forbidden("code: missing, wrong, or used already")
        attempts.give_back(tx, counters)
        return sessions.set_proved(tx, actor.token_id)
