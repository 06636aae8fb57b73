"""Routes for connected agents, and for listing and undoing their changes."""

from __future__ import annotations

from octavo.errors import BadRequest, NotFound
from octavo.kit.clock import DAY, now, parse_iso
from octavo.kit.db.pagination import Listing, PageQuery, present_slice
from octavo.kit.http.operation import Area, Call, Reply
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
    body_limit=16_384,
)
def connect_agent(call: Call, caller: SignedIn, body: ConnectAgent) -> Reply:
    """Connect an app that acts on behalf of the caller in one organization, with the granted scopes. Requires
    a session with a recent sign-in, so apps can't connect other apps. The code in the response expires after
    five minutes and can be used only once."""
    with call.db.write() as tx:
        require_still_signed_in(tx, call.actor)
        org = organization_access(tx, caller.actor, Can.VIEW, body.organization)
        redirect = connecting.connect(tx, call.settings.url, org, body)
    return Reply(wire.AgentConnection(redirect), headers={"cache-control": "no-store"})


@operation("listConnectedAgents", "GET", "/user/agents", needs=Can.SIGN_IN)
def list_agents(call: Call, caller: SignedIn, query: PageQuery) -> Listing[wire.Agent]:
    """List the agents that the caller has connected, newest first."""
    with call.db.read() as tx:
        found = store.list_agents(
            tx, caller.user_id, query.limit, query.page, only=call.actor.organization_id
        )
    return present_slice(found, wire.present_agent)


@operation("disconnectAgent", "DELETE", "/user/agents/{agentId}", needs=Can.SIGN_IN)
def disconnect_agent(call: Call, caller: SignedIn, agent_id: str) -> bool:
    """Revoke an agent's access immediately. The agent's changes are kept."""
    with call.db.write() as tx:
        agent = store.find_agent(tx, caller.user_id, agent_id, only=call.actor.organization_id)
        return agent is not None and connecting.disconnect(tx, caller.actor, agent)


def _agent(call: Call, caller: SignedIn, agent_id: str) -> store.AgentRow:
    with call.db.read() as tx:
        agent = store.find_agent(tx, caller.user_id, agent_id, only=call.actor.organization_id)
    if agent is None:
        raise NotFound(f"You haven't connected an agent with the ID {agent_id!r}.")
    return agent


@operation("listAgentActs", "GET", "/user/agents/{agentId}/acts", needs=Can.SIGN_IN, errors=(404,))
def list_acts(call: Call, caller: SignedIn, agent_id: str, query: PageQuery) -> Listing[wire.AgentAct]:
    """List the changes that one of the caller's agents made, newest first."""
    with call.db.read() as tx:
        found = store.list_acts(tx, agent_id, query.limit, query.page)
    _agent(call, caller, agent_id)
    return present_slice(found, wire.present_act)


@operation("undoAgentActs", "POST", "/user/agents/{agentId}/undo", needs=Can.SIGN_IN, errors=(400, 404))
def undo_acts(call: Call, caller: SignedIn, agent_id: str, body: wire.UndoActs) -> wire.UndoneActs:
    """Undo an agent's actions since a given time (by default, the last 24 hours). Its change requests are
    archived, its merges are reverted by new change requests, and its comments are deleted, as far as the
    caller's permissions allow. The response lists the result for each change."""
    agent = _agent(call, caller, agent_id)
    try:
        since = parse_iso(body.since) if body.since is not None else now() - DAY
    except (ValueError, OverflowError):
        raise BadRequest("since: must be an ISO 8601 time, such as 2030-01-31T00:00:00Z") from None
    undone = undoing.undo(call.db, caller.actor, call.perform, agent, since, body.before)
    return wire.UndoneActs(undone.acts, undone.next)


@operation("listAgentsInOrganization", "GET", "/orgs/{organizationId}/agents", needs=Can.ADMIN)
def list_agents_in_organization(call: Call, org: OrgAccess, query: PageQuery) -> Listing[wire.MemberAgent]:
    """List the active agents that members have connected to the organization, newest first."""
    with call.db.read() as tx:
        found = store.list_of_organization(tx, org.organization_id, query.limit, query.page)
        people = present_people(call, tx, [row.user_id for row in found.rows])
    return present_slice(found, lambda row: wire.present_member_agent(row, people[row.user_id]))


@operation(
    "disconnectAgentInOrganization", "DELETE", "/orgs/{organizationId}/agents/{agentId}", needs=Can.ADMIN
)
def disconnect_agent_in_organization(call: Call, org: OrgAccess, agent_id: str) -> bool:
    """Immediately revoke the access that a member's agent has to the organization. The agent's changes are kept."""
    with call.db.write() as tx:
        agent = store.find_in_organization(tx, org.organization_id, agent_id)
        return agent is not None and connecting.disconnect(tx, org.actor, agent)
