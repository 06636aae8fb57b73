from octavo.organization.access.roles import SPACE, Can
from world import Place, World

from . import Sample

_AGENT = "/orgs/{organizationId}/agent/conversations"
_SITE_CHANNELS = "/orgs/{organizationId}/sites/{siteId}/channels"


def _begun(world: World, place: Place) -> None:
    """Create a conversation of each member; the administrator's is about a change request."""
    _own_of_change(world, place)
    for who in place.roles:
        world.call(who, "PUT", place.path(f"{_AGENT}/{{conversationId}}"))


def _named(world: World, place: Place) -> None:
    """Return an id that a client chose."""
    place.ids["newConversationId"] = "chat"


def _own_of_change(world: World, place: Place) -> None:
    """Return a conversation of the administrator about a change request."""
    place.ids["conversationId"] = f"chat-{place.name}"
    body = {"about": {"space": place["spaceId"], "changeRequest": place["changeRequestId"]}}
    path = place.path(f"{_AGENT}/{{conversationId}}")
    assert world.call(place.admin, "PUT", path, json=body).status_code == 204


def _with_channel(world: World, place: Place) -> None:
    made = world.post(place.admin, place.path(_SITE_CHANNELS), {"type": "builtin:slack"})
    place.ids["siteChannelId"] = made["id"]


_OTHERS = dict.fromkeys(["create", "review", "edit", "comment", "read"], 403)
_CHANNELS = {
    "listSiteChannels": Sample(before=_with_channel),
    "createSiteChannel": Sample(
        body={"type": "builtin:slack", "setupSettings": {"allowedChannels": ["docs-*"]}, "role": "support"}
    ),
    "getSiteChannelById": Sample(before=_with_channel),
    "updateSiteChannelById": Sample(before=_with_channel, body={"role": "support"}),
    "deleteSiteChannelById": Sample(before=_with_channel),
}
_CONVERSATIONS = {
    "listOrganizationAgentConversations": Sample(before=_begun),
    "getOrganizationAgentConversation": Sample(before=_begun),
    "provisionOrganizationAgentConversation": Sample(
        path={"conversationId": "newConversationId"},
        before=_named,
        body=lambda place: {"about": {"space": place["spaceId"], "changeRequest": place["changeRequestId"]}},
        like=(SPACE, Can.VIEW),
    ),
    "updateOrganizationAgentConversation": Sample(before=_begun, body={"title": "Installation"}),
    "deleteOrganizationAgentConversation": Sample(before=_begun),
    "listChangeRequestConversations": Sample(before=_own_of_change),
    "updateChangeRequestConversation": Sample(
        before=_own_of_change, body={"title": "Installation"}, outcomes=_OTHERS
    ),
    "deleteChangeRequestConversation": Sample(before=_own_of_change, outcomes=_OTHERS),
}

SAMPLES = {
    **_CHANNELS,
    **_CONVERSATIONS,
    "askInOrganization": Sample(
        query={"format": "markdown"},
        body={"query": "How do I install it on a server?", "previousQueries": []},
    ),
    "streamAskInOrganization": Sample(query={"query": "How do I install it on a server?"}),
    "getRecommendedQuestionsInOrganization": Sample(),
    "streamRecommendedQuestionsInOrganization": Sample(),
    "streamAskInSite": Sample(
        query={"format": "markdown"},
        body={
            "question": "How do I install it on a server?",
            "scope": {"mode": "all"},
            "context": {"siteSpaceId": "any"},
        },
    ),
    "streamRecommendedQuestionsInSite": Sample(),
    "streamAIResponseInSite": Sample(
        body={
            "input": [{"role": "user", "content": "How do I install it on a server?"}],
            "model": "fast",
            "tools": [],
        }
    ),
    "streamExistingAIResponseInSite": Sample(
        path={"responseId": "siteResponseId"},
        # Each belongs to the person who requested it.
        outcomes=dict.fromkeys(["create", "review", "edit", "comment", "read"], 404),
    ),
}
