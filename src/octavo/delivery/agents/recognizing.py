"""Find the owners of agent tokens, and revoke a person's agents together with the person's other access."""

from __future__ import annotations

from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.organization.access.tokens import AgentOwner, recognize_agents

from . import connecting, store


def find_owner(context: Context, hashed: str) -> AgentOwner | None:
    """Return the owner of the agent with this token; None if the token is unknown, has expired, or was revoked."""

    def read() -> store.AgentRow | None:
        with context.db.read() as tx:
            return store.find_by_access(tx, hashed)

    found: store.AgentRow | None = context.fresh.get(("agent", hashed), read)
    if found is None or now() >= min(found.access_until, found.expires_at):
        return None
    return _owner(found)


def find_owner_by_id(tx: Transaction, agent_id: str) -> AgentOwner | None:
    """Return the owner of a connected agent; None if the agent was revoked or has expired."""
    found = store.find_good_by_id(tx, agent_id)
    return _owner(found) if found is not None and now() < found.expires_at else None


def _owner(found: store.AgentRow) -> AgentOwner:
    granted = frozenset(found.granted)
    return AgentOwner(found.id, found.name, found.user_id, found.organization_id, granted, found.expires_at)


def revoke_of(tx: Transaction, user_id: str, only: str | None) -> int:
    """Revoke a person's agents and unused authorization codes."""
    store.delete_codes(tx, user_id, only=only)
    found = store.find_good(tx, user_id, only=only)
    return sum(connecting.disconnect(tx, None, agent) for agent in found)


recognize_agents(find_owner, find_owner_by_id, revoke_of)
