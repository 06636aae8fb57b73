"""Insights on the wire: what is tracked, and what is asked."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

EventType = Literal[
    "page_view", "search_open", "search_type_query", "search_open_result", "page_post_feedback",
    "page_post_feedback_comment", "ask_question", "ask_view", "ask_rate_response", "link_click",
    "api_client_open", "api_client_request", "ad_click", "ad_display", "trademark_click",
]  # fmt: skip
DisplayContext = Literal["site", "embed"]
PageRating = Literal["bad", "ok", "good"]
LinkPosition = Literal["announcement", "header", "footer", "sidebar", "content"]

Url = Annotated[str, Meta(max_length=2048)]
Id = Annotated[str, Meta(max_length=100)]
Text = Annotated[str, Meta(max_length=512)]
Word = Annotated[str, Meta(max_length=256)]


CONSENT = "__gitbook_cookie_granted"
"""The cookie that holds whether a visitor agreed to scripts that set cookies: ``yes`` or ``no``."""


class VisitorSession(Struct, rename="camel"):
    """``ip`` and ``cookies`` are not kept; ``visitorAuthClaims`` are not believed, the token is."""

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


class SearchOpen(_Event, tag="search_open"):
    pass


class SearchTypeQuery(_Event, tag="search_type_query"):
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
    """A reference of any kind; its other fields are ids."""

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


class TrackEvents(Struct):
    events: Annotated[list[Event], Meta(max_length=100)]


# --- questions ----------------------------------------------------------------------------------------

Count = Literal["eventsCount", "sessionsCount", "visitorsCount"]
Ratings = Literal["pageFeedbackRating", "askResponseRating"]
Dimension = Literal[
    "datetime", "url", "eventType", "siteSection", "siteSpace", "siteShareKey", "displayContext", "page",
    "visitorGeoCountry", "visitorGeoPoint", "visitorDevice", "visitorBrowser", "visitorOS", "visitorBot",
    "visitorLanguage", "visitorClaim", "eventLinkTargetValue", "eventLinkTargetKind",
    "eventLinkTargetDomain", "eventLinkPosition", "eventAPIOperationPath", "eventAPIOperationMethod",
    "eventSearchQuery", "eventPageFeedbackRating", "eventPageFeedbackComment", "eventAskResponseRating",
    "referrer", "referrerDomain", "utmSource", "utmMedium", "utmCampaign", "utmTerm", "utmContent",
    "eventAdDomain", "eventAdPlacement", "eventTrademarkPlacement",
]  # fmt: skip
Claim = Annotated[str, Meta(max_length=200, pattern=r"^[A-Za-z_$][\w$.]*\Z")]
Moment = Annotated[str, Meta(max_length=40)]


class Column(Struct):
    """``interval`` of `datetime` (default day), ``claim`` of `visitorClaim`, ``precision`` of `visitorGeoPoint`."""

    column: Count | Ratings | Dimension
    interval: Literal["hour", "day", "week", "month"] = "day"
    claim: Claim | None = None
    precision: Annotated[int, Meta(ge=0, le=15)] = 0

    def __post_init__(self) -> None:
        if self.column == "visitorClaim" and self.claim is None:
            raise ValueError("claim: the column `visitorClaim` needs it")


class Filter(Struct):
    column: Dimension
    values: Annotated[list[Any], Meta(max_length=1000)]
    operator: Literal["in", "notIn", "greaterThan", "greaterThanOrEqual", "lessThan", "lessThanOrEqual"] = (
        "in"
    )
    claim: Claim | None = None

    def __post_init__(self) -> None:
        if self.column == "visitorClaim" and self.claim is None:
            raise ValueError("claim: the column `visitorClaim` needs it")


class Order(Struct):
    by: Column
    direction: Literal["asc", "desc"]


class Range(Struct, rename={"from_": "from"}):
    from_: Moment
    to: Moment


Preset = Literal["lastYear", "last3Months", "last30Days", "last7Days", "last24Hours"]


class Aggregate(Struct, rename="camel"):
    range: Preset | Range
    select: Annotated[list[Column], Meta(max_length=20)] = []
    where: Annotated[list[Filter], Meta(max_length=20)] = []
    group_by: Annotated[list[Column], Meta(max_length=8)] = []
    order: Order | UnsetType = UNSET
    limit: Annotated[int, Meta(ge=1, le=1000)] = 1000


class Values(Struct):
    """A column of the answer; row n is the n-th value of each."""

    column: str
    values: list[Any]
    claim: str | UnsetType = UNSET


class Aggregation(Struct):
    columns: list[Values]


class Segment(Struct):
    """Visitors with the same claims."""

    title: str
    claims: dict[str, str]
    events: int
    visitors: int
    sessions: int
