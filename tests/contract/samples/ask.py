from typing import Any

from octavo.organization.access.roles import SPACE, Can
from world import Place, World

from . import Sample

_AGENT = "/orgs/{organizationId}/agent/conversations"
_SITE = "/orgs/{organizationId}/sites/{siteId}"
_SITE_CHANNELS = f"{_SITE}/channels"


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


def _with_question(world: World, place: Place) -> None:
    """Ask a question at the site that its page answers, and continue the conversation."""
    page = {"operation": "update_page", "page": place["pageId"]}
    page["document"] = {"markdown": "# Install\n\nInstall it on a server with one command.\n"}
    world.post(place.admin, place.path("/spaces/{spaceId}/content"), {"changes": [page]})
    body: dict[str, Any] = {"input": [{"role": "user", "content": "How do I install it on a server?"}]}
    for _ in range(2):
        answered = world.call(place.admin, "POST", place.path(f"{_SITE}/ai/response"), json=body)
        assert answered.status_code == 200, answered.text
        answer = world.get(place.admin, place.path(f"{_SITE}/answers"))["items"][0]
        body["previousResponseId"] = answer["responseId"]
    place.ids["siteQuestionId"] = answer["question"]["id"]
    place.ids["siteQuestionAnswerId"] = answer["id"]


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

_QUESTIONS = {
    "listSiteQuestions": Sample(before=_with_question, query={"sort": "stats.answers", "answered": "yes"}),
    "getSiteQuestionById": Sample(before=_with_question),
    "listSiteQuestionSources": Sample(before=_with_question),
    "getSiteQuestionStats": Sample(before=_with_question),
    "listSiteQuestionAnswers": Sample(before=_with_question, query={"channelType": "api"}),
    "getSiteQuestionAnswerById": Sample(before=_with_question),
    "getSiteQuestionAnswerThreadById": Sample(before=_with_question),
    "listSiteQuestionAnswerSources": Sample(before=_with_question),
}

SAMPLES = {
    **_CHANNELS,
    **_QUESTIONS,
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
