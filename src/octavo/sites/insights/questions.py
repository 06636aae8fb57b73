"""Queries on site events, and their results. The API and the chart page both use these queries."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.kit.http.schema_names import schema_name
from octavo.kit.texts import pattern

Count = Literal["eventsCount", "sessionsCount", "visitorsCount"]
Ratings = Literal["pageFeedbackRating", "askResponseRating"]
Dimension = Literal[
    "datetime",
    "url",
    "eventType",
    "siteSection",
    "siteSpace",
    "siteShareKey",
    "displayContext",
    "page",
    "visitorGeoCountry",
    "visitorGeoPoint",
    "visitorDevice",
    "visitorBrowser",
    "visitorOS",
    "visitorBot",
    "visitorLanguage",
    "visitorClaim",
    "eventLinkTargetValue",
    "eventLinkTargetKind",
    "eventLinkTargetDomain",
    "eventLinkPosition",
    "eventAPIOperationPath",
    "eventAPIOperationMethod",
    "eventSearchQuery",
    "eventPageFeedbackRating",
    "eventPageFeedbackComment",
    "eventAskResponseRating",
    "referrer",
    "referrerDomain",
    "utmSource",
    "utmMedium",
    "utmCampaign",
    "utmTerm",
    "utmContent",
    "eventAdDomain",
    "eventAdPlacement",
    "eventTrademarkPlacement",
    "dayOfWeek",
    "hourOfDay",
    "urlPath",
    "visitorAuthenticated",
    "eventLLMSVariant",
    "eventMarkdownSource",
    "eventPageNotFoundType",
]
Claim = Annotated[
    str,
    Meta(
        max_length=200,
        pattern=pattern(r"^[A-Za-z_$][\w$.]*\Z", "be the name of a claim, such as plan or account.plan"),
    ),
]
Moment = Annotated[str, Meta(max_length=40)]


@schema_name("Column")
class QueryColumn(Struct):
    """Column of a query. Some fields apply only to certain columns: ``interval`` applies to `datetime` (the default is
    a day), ``claim`` to `visitorClaim`, and ``precision`` to `visitorGeoPoint`."""

    column: Count | Ratings | Dimension
    interval: Literal["hour", "day", "week", "month"] = "day"
    claim: Claim | None = None
    precision: Annotated[int, Meta(ge=0, le=15)] = 0

    def __post_init__(self) -> None:
        if self.column == "visitorClaim" and self.claim is None:
            raise ValueError("claim: is required for the column `visitorClaim`")


class Filter(Struct):
    """Condition on events. If the column is a count, the condition applies to the rows of the result."""

    column: Dimension | Count
    values: Annotated[list[Any], Meta(max_length=1000)]
    operator: Literal["in", "notIn", "greaterThan", "greaterThanOrEqual", "lessThan", "lessThanOrEqual"] = (
        "in"
    )
    claim: Claim | None = None

    def __post_init__(self) -> None:
        if self.column == "visitorClaim" and self.claim is None:
            raise ValueError("claim: is required for the column `visitorClaim`")


class Order(Struct):
    by: QueryColumn
    direction: Literal["asc", "desc"]


class Range(Struct, rename={"from_": "from"}):
    from_: Moment
    to: Moment


Preset = Literal["lastYear", "last3Months", "last30Days", "last7Days", "last24Hours"]


class Aggregate(Struct, rename="camel"):
    range: Preset | Range
    select: Annotated[list[QueryColumn], Meta(max_length=20)] = []
    where: Annotated[list[Filter], Meta(max_length=20)] = []
    group_by: Annotated[list[QueryColumn], Meta(max_length=8)] = []
    order: Order | UnsetType = UNSET
    limit: Annotated[int, Meta(ge=1, le=1000)] = 1000


class Values(Struct):
    """Column of the result. Row n consists of the nth value of each column."""

    column: str
    values: list[Any]
    claim: str | UnsetType = UNSET


class Aggregation(Struct):
    columns: list[Values]


class Segment(Struct):
    """Group of visitors with the same claims."""

    title: str
    claims: dict[str, str]
    events: int
    visitors: int
    sessions: int
