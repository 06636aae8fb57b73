"""The proof that somebody runs the installation."""

from __future__ import annotations

from msgspec import Struct

from ..access import Can, is_operator, require_account, require_actor
from ..errors import Forbidden
from ..kit.operation import Actor, Call, enters


class OperatorAccess(Struct, frozen=True):
    """One of the installation's first administrators, in a session of their own."""

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
                "This is for those who run the installation: OCTAVO_ADMIN_EMAIL names them, by addresses that they"
                " have proved."
            )
    return OperatorAccess(actor)
