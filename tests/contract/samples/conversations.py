from octavo.organization.access.roles import SPACE, Can

from . import Sample

_SAID = {
    "id": "ticket-9",
    "subject": "Export",
    "metadata": {
        "url": "https://help.example.org/9",
        "attributes": {"plan": "pro"},
        "createdAt": "2026-01-05T10:00:00Z",
    },
    "parts": [{"type": "message", "role": "user", "body": "How do I export a page as PDF?"}],
}

# Permissions for a task are those for its space.
_VIEW = {"like": (SPACE, Can.VIEW)}
_EDIT = {"like": (SPACE, Can.EDIT)}

SAMPLES = {
    "ingestConversation": Sample(body=[_SAID]),
    "listConversations": Sample(),
    "getConversationById": Sample(),
    "listConversationsIssues": Sample(),
    "getConversationIssueById": Sample(),
    "listConversationsIssuesClusters": Sample(),
    "getConversationsIssuesCluster": Sample(),
    "listPagesForConversationsIssuesCluster": Sample(),
    "listAgentTasks": Sample(),
    "createAgentTask": Sample(
        body=lambda place: {"space": place["spaceId"], "cluster": place["clusterId"]}, **_EDIT
    ),
    "getAgentTask": Sample(**_VIEW),
    "updateAgentTask": Sample(body={"status": "started"}, **_EDIT),
    "getAgentSetupState": Sample(),
}
