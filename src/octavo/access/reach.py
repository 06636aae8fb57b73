"""How somebody came in bounds what they reach, whatever their role: asked after every permission check.

A session that an organization's identity provider vouched for, and a token bound to an organization, are good
there alone: the provider of one organization must not open another's doors. An organization that forces
single sign-on is closed to sessions that came in otherwise, but for its administrators, who must be able to
repair a provider that fails.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ..errors import Forbidden, NotFound
from ..kit.db import Transaction
from ..kit.operation import Actor, Call
from .entering import member_role
from .roles import Can
from .scopes import require_scope


class _Forced(Struct):
    sso: bool = False


def forces_sso(tx: Transaction, organization_id: str) -> bool:
    """Whether the organization lets its members in through its identity provider only."""
    settings = tx.value("SELECT settings FROM organizations WHERE id = :id", id=organization_id)
    return settings is not None and msgspec.json.decode(settings, type=_Forced).sso


def admit(call: Call, proof: Any) -> None:
    """Raises Forbidden or NotFound when the actor's token or session does not reach the proved object."""
    actor: Actor = call.actor
    require_scope(actor.scopes, call.operation)
    if actor.organization_id is None and not actor.session:
        return
    organization_id = getattr(proof, "organization_id", None)
    if organization_id is None:
        if actor.organization_id is not None and call.operation.needs is Can.OWN_ACCOUNT:
            raise Forbidden(
                "This is for the owner of the account. Sign in with your password or a link, not through one"
                " organization."
            )
    elif actor.organization_id is not None:
        if actor.organization_id != organization_id:
            raise NotFound("There is nothing at this address that this token or session reaches.")
    else:
        with call.db.read() as tx:
            closed = forces_sso(tx, organization_id) and (
                member_role(tx, organization_id, actor.user_id)[1] != "admin"
            )
        if closed:
            raise Forbidden("This organization is entered through its own sign-in. See its /sso for where.")
