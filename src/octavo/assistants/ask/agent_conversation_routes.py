"""Operations on conversations between a person and the organization's assistant, including conversations about
change requests."""

from __future__ import annotations

from octavo.content.changes.authorization import ChangeAccess, change_access
from octavo.errors import NotFound
from octavo.kit.db.pagination import Listing, PageQuery, present_slice
from octavo.kit.http.operation import Area, Call
from octavo.organization.access.authorization import OrgAccess, space_access
from octavo.organization.access.roles import Can

from . import agent_conversation_wire as wire
from . import agent_conversations as store

operation = Area("ask").operation

_ALL = "/orgs/{organizationId}/agent/conversations"
_ONE = _ALL + "/{conversationId}"
_OF_CHANGE = "/spaces/{spaceId}/change-requests/{changeRequestId}/conversations"
_ONE_OF_CHANGE = _OF_CHANGE + "/{conversationId}"


@operation("listOrganizationAgentConversations", "GET", _ALL, needs=Can.VIEW)
def list_own(call: Call, org: OrgAccess, query: PageQuery) -> Listing[wire.AgentConversation]:
    """List your conversations with the assistant, most recently used first."""
    with call.db.read() as tx:
        found = store.list_conversations(tx, org, query.limit, query.page)
    return present_slice(found, wire.present_conversation)


@operation("getOrganizationAgentConversation", "GET", _ONE, needs=Can.VIEW, errors=(404,))
def get_own(call: Call, org: OrgAccess, conversation_id: str) -> wire.AgentConversationWithQuestions:
    """Get one of your conversations, with its questions."""
    with call.db.read() as tx:
        return wire.present_with_questions(store.get_conversation(tx, org, conversation_id))


@operation(
    "provisionOrganizationAgentConversation", "PUT", _ONE, needs=Can.VIEW, status=204, errors=(400, 404, 409)
)
def provision(
    call: Call, org: OrgAccess, conversation_id: str, body: wire.ProvisionAgentConversation | None
) -> None:
    """Create a conversation with an ID that you choose; repeating the request has no effect. To ask questions
    in it, pass the ID as `conversation` to `askInOrganization`. Octavo keeps each person's 200 most recent
    conversations."""
    about = body.about if body is not None else None
    with call.db.write() as tx:
        change_id = None
        if isinstance(about, wire.ConversationSubject):
            space = space_access(tx, org.actor, Can.VIEW, about.space)
            if space.organization_id != org.organization_id:
                raise NotFound(
                    f"about.space: there is no space with the ID {about.space!r} in this organization"
                )
            change_id = change_access(tx, space, about.change_request).change_id
        store.provision(tx, org, conversation_id, change_id)


@operation("updateOrganizationAgentConversation", "PATCH", _ONE, needs=Can.VIEW, errors=(400, 404))
def rename_own(
    call: Call, org: OrgAccess, conversation_id: str, body: wire.UpdateAgentConversation
) -> wire.AgentConversation:
    """Rename one of your conversations."""
    with call.db.write() as tx:
        row = store.get_conversation(tx, org, conversation_id)
        return wire.present_conversation(store.rename(tx, row, body.title))


@operation("deleteOrganizationAgentConversation", "DELETE", _ONE, needs=Can.VIEW)
def delete_own(call: Call, org: OrgAccess, conversation_id: str) -> bool:
    """Delete one of your conversations."""
    with call.db.write() as tx:
        row = store.find_conversation(tx, org, conversation_id)
        return row is not None and store.delete_conversation(tx, row)


@operation("listChangeRequestConversations", "GET", _OF_CHANGE, needs=Can.VIEW, errors=(404,))
def list_of_change(call: Call, change: ChangeAccess, query: PageQuery) -> Listing[wire.AgentConversation]:
    """List the conversations with the assistant about a change request, without their questions, most recently
    used first."""
    with call.db.read() as tx:
        found = store.list_conversations_of_change(tx, change, query.limit, query.page)
    return present_slice(found, lambda row: wire.present_conversation_to(row, change.user_id))


@operation("updateChangeRequestConversation", "PATCH", _ONE_OF_CHANGE, needs=Can.VIEW, errors=(400, 404))
def rename_of_change(
    call: Call, change: ChangeAccess, conversation_id: str, body: wire.UpdateAgentConversation
) -> wire.AgentConversation:
    """Rename your own conversation about a change request."""
    with call.db.write() as tx:
        row = store.get_conversation_of_change(tx, change, conversation_id)
        return wire.present_conversation(store.rename(tx, row, body.title))


@operation("deleteChangeRequestConversation", "DELETE", _ONE_OF_CHANGE, needs=Can.VIEW)
def delete_of_change(call: Call, change: ChangeAccess, conversation_id: str) -> bool:
    """Delete your own conversation about a change request."""
    with call.db.write() as tx:
        try:
            row = store.get_conversation_of_change(tx, change, conversation_id)
        except NotFound:
            return False
        return store.delete_conversation(tx, row)
