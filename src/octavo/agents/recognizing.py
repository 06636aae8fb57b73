"""Whose token an agent's is."""

from __future__ import annotations

from ..access import AgentOwner, recognize_agents
from ..kit.clock import now
from ..kit.context import Context
from . import store


def find_owner(context: Context, hashed: str) -> AgentOwner | None:
    """Whom the agent with this token acts for; None for a token that is unknown, at its end or taken back."""

    def read() -> store.AgentRow | None:
        with context.db.read() as tx:
            return store.find_by_access(tx, hashed)

    found: store.AgentRow | None = context.fresh.get(("agent", hashed), read)
    if found is None or now() >= min(found.access_until, found.expires_at):
        return None
    granted = frozenset(found.granted)
    return AgentOwner(found.id, found.name, found.user_id, found.organization_id, granted, found.expires_at)


recognize_agents(find_owner)
