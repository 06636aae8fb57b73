"""Insights: what visitors of sites read, look for and say, counted without knowing who they are."""

from . import tables as tables
from .collecting import collect, on_events
from .querying import aggregate
from .queueing import EventQueue
from .store import EventRow
from .wire import (
    CONSENT,
    Aggregate,
    ApiClientRequest,
    ApiOperation,
    AskQuestion,
    Column,
    Event,
    Filter,
    Link,
    LinkClick,
    LinkPosition,
    LinkTarget,
    Order,
    PagePostFeedback,
    PageRating,
    PageView,
    Preset,
    Rating,
    SearchOpenResult,
    SearchResult,
    SearchTypeQuery,
    VisitorLocation,
    VisitorSession,
)

__all__ = [
    "CONSENT", "Aggregate", "ApiClientRequest", "ApiOperation", "AskQuestion", "Column", "Event", "EventQueue",
    "EventRow", "Filter", "Link", "LinkClick", "LinkPosition", "LinkTarget", "Order", "PagePostFeedback",
    "PageRating", "PageView", "Preset", "Rating", "SearchOpenResult", "SearchResult", "SearchTypeQuery",
    "VisitorLocation", "VisitorSession", "aggregate", "collect", "on_events", "tables",
]  # fmt: skip
