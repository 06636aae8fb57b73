"""The proof that somebody runs the installation."""

from __future__ import annotations

from msgspec import Struct

from octavo.errors import Forbidden
from octavo.kit.http.operation import Actor, Call, enters
from octavo.organization.access.accounts import is_operator
from octavo.organization.access.authorization import require_actor
from octavo.organization.access.reach import require_account
from octavo.organization.access.roles import Can


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
