"""The agents that people connected, what they did, and undoing it."""

from __future__ import annotations

from typing import Any

from octavo.errors import BadRequest, NotFound
from octavo.kit.clock import now, parse_iso
from octavo.kit.db.pagination import Listing, PageQuery, present_slice
from octavo.kit.http.operation import Area, Call, Deletion, Reply
from octavo.organization.access.authorization import OrgAccess, SignedIn, organization_access
from octavo.organization.access.roles import Can
from octavo.organization.access.wire import present_people
from octavo.organization.identity.sessions import require_still_signed_in

from . import connecting, store, undoing, wire
from .commands import ConnectAgent

operation = Area("agents").operation


@operation(
    "connectAgent",
    "POST",
    "/user/agents",
    needs=Can.CONNECT_AGENT,
    returns=wire.AgentConnection,
    errors=(400, 404),
    extension=True,
    body_limit=16_384,
)
def connect_agent(call: Call, caller: SignedIn, body: ConnectAgent) -> Reply:
    """Lets a program act for the caller in one organization, as far as they agree to. Only in a session, shortly after
    signing in: a program does not connect another one. The code in the answer is good once, for five minutes."""
    with call.db.write() as tx:
        require_still_signed_in(tx, call.actor)
        org = organization_access(tx, caller.actor, Can.VIEW, body.organization)
        redirect = connecting.connect(tx, call.settings.url, org, body)
    return Reply(wire.AgentConnection(redirect), headers={"cache-control": "no-store"})


@operation(
    "listConnectedAgents",
    "GET",
    "/user/agents",
    needs=Can.SIGN_IN,
    returns=Listing[wire.Agent],
    extension=True,
)
def list_agents(call: Call, caller: SignedIn, query: PageQuery) -> Listing[wire.Agent]:
    """The agents that the caller connected, newest first."""
    with call.db.read() as tx:
        found = store.list_agents(
            tx, caller.user_id, query.limit, query.page, only=call.actor.organization_id
        )
    return present_slice(found, wire.present_agent)


@operation(
    "disconnectAgent",
    "DELETE",
    "/user/agents/{agentId}",
    needs=Can.SIGN_IN,
    returns=Deletion,
    extension=True,
)
def disconnect_agent(call: Call, caller: SignedIn, agent_id: str) -> bool:
    """Takes back at once what an agent was let do. What it did stays."""
    with call.db.write() as tx:
        agent = store.find_agent(tx, caller.user_id, agent_id, only=call.actor.organization_id)
        return agent is not None and connecting.disconnect(tx, caller.actor, agent)


def _agent(call: Call, caller: SignedIn, agent_id: str) -> store.AgentRow:
    with call.db.read() as tx:
        agent = store.find_agent(tx, caller.user_id, agent_id, only=call.actor.organization_id)
    if agent is None:
        raise NotFound(f"You connected no agent {agent_id!r}.")
    return agent


@operation(
    "listAgentActs",
    "GET",
    "/user/agents/{agentId}/acts",
    needs=Can.SIGN_IN,
    returns=Listing[wire.AgentAct],
    errors=(404,),
    extension=True,
)
def list_acts(call: Call, caller: SignedIn, agent_id: str, query: PageQuery) -> Listing[wire.AgentAct]:
    """What an agent of the caller changed, the latest first."""
    with call.db.read() as tx:
        found = store.list_acts(tx, agent_id, query.limit, query.page)
    _agent(call, caller, agent_id)
    return present_slice(found, wire.present_act)


@operation(
    "undoAgentActs",
    "POST",
    "/user/agents/{agentId}/undo",
    needs=Can.SIGN_IN,
    returns=wire.UndoneActs,
    errors=(400, 404),
    extension=True,
)
def undo_acts(call: Call, caller: SignedIn, agent_id: str, body: wire.UndoActs) -> wire.UndoneActs:
    """Undoes what an agent did since a moment, by default in the last day: its change requests are archived, what was
    merged of them is taken back by new change requests, its comments are deleted. Each as far as the caller may do
    it; the answer says of each act what became of it."""
    agent = _agent(call, caller, agent_id)
    try:
        since = parse_iso(body.since) if body.since is not None else now() - store.DAY
    except (ValueError, OverflowError):
        raise BadRequest("since: expected a moment as ISO 8601, such as 2030-01-31T00:00:00Z") from None
    perform = call.ask
    assert perform is not None, "every call of the dispatcher has it"

    def ask(operation_id: str, path: dict[str, str], body: Any = None) -> Any:
        return perform(call, operation_id, path, {}, body)

    undone = undoing.undo(call.db, caller.actor, ask, agent, since, body.before)
    return wire.UndoneActs(undone.acts, undone.next)


@operation(
    "listAgentsInOrganization",
    "GET",
    "/orgs/{organizationId}/agents",
    needs=Can.ADMIN,
    returns=Listing[wire.MemberAgent],
    extension=True,
)
def list_agents_in_organization(call: Call, org: OrgAccess, query: PageQuery) -> Listing[wire.MemberAgent]:
    """The agents that members connected to the organization and that still work, newest first."""
    with call.db.read() as tx:
        found = store.list_of_organization(tx, org.organization_id, query.limit, query.page)
        people = present_people(call, tx, [row.user_id for row in found.rows])
    return present_slice(found, lambda row: wire.present_member_agent(row, people[row.user_id]))


@operation(
    "disconnectAgentInOrganization",
    "DELETE",
    "/orgs/{organizationId}/agents/{agentId}",
    needs=Can.ADMIN,
    returns=Deletion,
    extension=True,
)
def disconnect_agent_in_organization(call: Call, org: OrgAccess, agent_id: str) -> bool:
    """Takes back at once what an agent of a member was let do in the organization. What it did stays."""
    with call.db.write() as tx:
        agent = store.find_in_organization(tx, org.organization_id, agent_id)
        return agent is not None and connecting.disconnect(tx, org.actor, agent)
