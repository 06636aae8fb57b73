"""Proof that a caller is a server administrator."""

from __future__ import annotations

from msgspec import Struct

from octavo.errors import Forbidden
from octavo.kit.http.operation import Actor, Call, enters
from octavo.organization.access.accounts import is_operator
from octavo.organization.access.authorization import require_actor
from octavo.organization.access.reach import require_account
from octavo.organization.access.roles import Can


class OperatorAccess(Struct, frozen=True):
    """Proof that the caller is a server administrator and is signed in with their own session."""

    actor: Actor

    @property
    def user_id(self) -> str:
        return self.actor.user_id


@enters(OperatorAccess)
def enter_installation(call: Call, needs: Can) -> OperatorAccess:
    actor = require_actor(call)
    require_account(actor, needs)
    with call.db.read() as tx:
        if not is_operator(tx, call.settings, actor.user_id):
            raise Forbidden(
                "Only server administrators can do this. They are the people whose verified email addresses are"
                " in OCTAVO_ADMIN_EMAIL or, if it isn't set, the first administrator."
            )
    return OperatorAccess(actor)
