"""Operations on agent instructions and the log of model calls."""

from __future__ import annotations

from octavo.kit.db.pagination import Listing, PageQuery, present_slice
from octavo.kit.http.operation import Area, Call
from octavo.organization.access.authorization import OrgAccess
from octavo.organization.access.roles import Can

from . import instructing, retention, store, wire

operation = Area("ask").operation

__all__ = ["retention"]

_INSTRUCTIONS = "/orgs/{organizationId}/agent-instructions"


@operation("getOrganizationAgentInstructions", "GET", _INSTRUCTIONS, needs=Can.CREATE_CONTENT)
def get_instructions(call: Call, org: OrgAccess) -> wire.AgentInstructions:
    """Get the instructions for every model that works for the organization."""
    with call.db.read() as tx:
        row = instructing.get_instructions(tx, org.organization_id)
    return wire.present_instructions(
        call, org.organization_id, row.instructions, row.updated_at, row.updated_by
    )


@operation(
    "updateOrganizationAgentInstructions", "PUT", _INSTRUCTIONS, needs=Can.CREATE_CONTENT, errors=(400,)
)
def update_instructions(call: Call, org: OrgAccess, body: wire.UpdateInstructions) -> wire.AgentInstructions:
    """Set the instructions for every model that works for the organization, up to 10,000 characters."""
    with call.db.write() as tx:
        row = instructing.set_instructions(tx, org, body.instructions)
    return wire.present_instructions(
        call, org.organization_id, row.instructions, row.updated_at, row.updated_by
    )


@operation("listModelCalls", "GET", "/orgs/{organizationId}/model-calls", needs=Can.ADMIN)
def list_calls(call: Call, org: OrgAccess, query: PageQuery) -> Listing[wire.ModelCall]:
    """List the organization's model calls, newest first, with the caller, purpose, tokens, and cost of each call."""
    with call.db.read() as tx:
        found = store.list_calls(tx, org.organization_id, query.limit, query.page)
    return present_slice(found, wire.present_call)
