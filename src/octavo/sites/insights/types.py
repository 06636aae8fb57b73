"""Visitor events and their locations."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

EventType = Literal[
    "page_view",
    "search_open",
    "search_type_query",
    "search_open_result",
    "page_post_feedback",
    "page_post_feedback_comment",
    "ask_question",
    "ask_view",
    "ask_rate_response",
    "link_click",
    "api_client_open",
    "api_client_request",
    "ad_click",
    "ad_display",
    "trademark_click",
    "page_markdown_request",
    "llms_request",
    "mcp_request",
    "rss_request",
    "agent_feedback",
    "page_missing",
    "search_missing",
]
DisplayContext = Literal["site", "server", "embed", "markdown", "mcp"]
PageRating = Literal["bad", "ok", "good"]
LinkPosition = Literal["announcement", "header", "footer", "sidebar", "content"]
Url = Annotated[str, Meta(max_length=2048)]
Id = Annotated[str, Meta(max_length=100)]
Text = Annotated[str, Meta(max_length=512)]
Word = Annotated[str, Meta(max_length=256)]
CONSENT = "__gitbook_cookie_granted"
"""Cookie that stores whether a visitor consents to scripts that set cookies: ``yes`` or ``no``."""


class VisitorSession(Struct, rename="camel"):
    """Session of a visitor. ``ip`` and ``cookies`` aren't stored. ``visitorAuthClaims`` is ignored, because only the
    claims in the signed token are used."""

    visitor_id: Id
    session_id: Id
    cookies: Annotated[dict[str, str], Meta(max_length=200)]
    user_agent: Annotated[str, Meta(max_length=1024)]
    language: Annotated[str, Meta(max_length=64)] | None
    referrer: Url | None
    ip: Annotated[str, Meta(max_length=100)] | UnsetType = UNSET
    visitor_auth_token: Annotated[str, Meta(max_length=16_384)] | None = None
    visitor_auth_claims: dict[str, Any] | UnsetType = UNSET


class VisitorLocation(Struct, rename="camel"):
    url: Url
    site_section: Id | None
    site_space: Id | None
    site_share_key: Id | None
    space: Id | None
    revision: Id | None
    page: Id | None
    display_context: DisplayContext = "site"


class _Event(Struct, rename="camel", tag_field="type", kw_only=True):
    session: VisitorSession
    location: VisitorLocation
    timestamp: Annotated[str, Meta(max_length=40)] | UnsetType = UNSET


class PageView(_Event, tag="page_view"):
    pass


class PageMarkdownRequest(_Event, tag="page_markdown_request"):
    """Request for the Markdown of a page. ``markdownSource``: the item in the page actions menu that
    triggered the request."""

    markdown_source: Literal["page-action"] | UnsetType = UNSET


class LlmsRequest(_Event, tag="llms_request"):
    llms_variant: Literal["standard", "full"]


class McpRequest(_Event, tag="mcp_request"):
    pass


class RssRequest(_Event, tag="rss_request"):
    pass


class AgentFeedback(_Event, tag="agent_feedback"):
    """Agent feedback. ``goal``: the agent's goal. ``comment`` (an Octavo extension): the agent's comment."""

    goal: Annotated[str, Meta(max_length=1024)] = ""
    comment: Annotated[str, Meta(max_length=10_000)] = ""


class SearchOpen(_Event, tag="search_open"):
    pass


class SearchTypeQuery(_Event, tag="search_type_query"):
    query: Text


class PageMissing(_Event, tag="page_missing"):
    """Bot request for a URL that has no page; an Octavo extension."""


class SearchMissing(_Event, tag="search_missing"):
    """Bot search without results; an Octavo extension."""

    query: Text


class SearchResult(Struct, rename="camel"):
    space_id: Id
    page_id: Id


class SearchOpenResult(_Event, tag="search_open_result"):
    query: Text
    result: SearchResult


class Rating(Struct):
    rating: PageRating


class RatingComment(Struct):
    rating: PageRating
    comment: Annotated[str, Meta(min_length=1, max_length=512)]


class PagePostFeedback(_Event, tag="page_post_feedback"):
    feedback: Rating


class PagePostFeedbackComment(_Event, tag="page_post_feedback_comment"):
    feedback: RatingComment


class AskQuestion(_Event, tag="ask_question"):
    query: Text


class AskView(_Event, tag="ask_view"):
    pass


class AskRateResponse(_Event, tag="ask_rate_response"):
    query: Text
    rating: Literal[1, -1]
    response_id: Id


class LinkTarget(Struct):
    """Link target of any kind. Fields other than ``kind`` and ``url`` are IDs."""

    kind: Literal[
        "file", "url", "page", "anchor", "user", "collection", "space", "reusable-content", "openapi"
    ]
    url: Url | UnsetType = UNSET
    file: Id | UnsetType = UNSET
    page: Id | UnsetType = UNSET
    space: Id | UnsetType = UNSET
    anchor: Word | UnsetType = UNSET
    user: Id | UnsetType = UNSET
    collection: Id | UnsetType = UNSET
    reusable_content: Id | UnsetType = field(name="reusableContent", default=UNSET)
    spec: Id | UnsetType = UNSET


class Link(Struct):
    target: LinkTarget
    position: LinkPosition


class LinkClick(_Event, tag="link_click"):
    link: Link


class ApiOperation(Struct):
    path: Word
    method: Annotated[str, Meta(max_length=16)]


class ApiClientOpen(_Event, tag="api_client_open"):
    operation: ApiOperation


class ApiClientRequest(_Event, tag="api_client_request"):
    operation: ApiOperation


class TrademarkClick(_Event, tag="trademark_click"):
    placement: Literal["sidebar", "ad", "footer", "pdf"]


class Ad(Struct, rename="camel"):
    domain: Word
    zone_id: Id
    placement: Literal["aside"]


class AdClick(_Event, tag="ad_click"):
    ad: Ad


class AdDisplay(_Event, tag="ad_display"):
    ad: Ad


Event = (
    PageView
    | PageMarkdownRequest
    | LlmsRequest
    | McpRequest
    | RssRequest
    | AgentFeedback
    | PageMissing
    | SearchMissing
    | SearchOpen
    | SearchTypeQuery
    | SearchOpenResult
    | PagePostFeedback
    | PagePostFeedbackComment
    | AskQuestion
    | AskView
    | AskRateResponse
    | LinkClick
    | ApiClientOpen
    | ApiClientRequest
    | TrademarkClick
    | AdClick
    | AdDisplay
)
