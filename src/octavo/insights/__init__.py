"""Insights: what visitors of sites read, search for, and rate, counted without identifying them."""

from . import tables as tables
from .collecting import collect, on_events
from .drawing import read_style
from .kinds import (
    CONSENT,
    ApiClientRequest,
    ApiOperation,
    AskQuestion,
    DisplayContext,
    Event,
    Link,
    LinkClick,
    LinkPosition,
    LinkTarget,
    PageMissing,
    PagePostFeedback,
    PagePostFeedbackComment,
    PageRating,
    PageView,
    Rating,
    RatingComment,
    SearchMissing,
    SearchOpenResult,
    SearchResult,
    SearchTypeQuery,
    VisitorLocation,
    VisitorSession,
)
from .queueing import DeferredEvents, EventQueue, Events
from .store import EventRow
from .wire import event_schemas

__all__ = [
    "ApiClientRequest", "ApiOperation", "AskQuestion", "CONSENT", "DisplayContext", "Event", "EventQueue",
    "EventRow", "Events", "DeferredEvents", "Link", "LinkClick", "LinkPosition", "LinkTarget", "PageMissing",
    "PagePostFeedback", "PagePostFeedbackComment", "PageRating", "PageView", "Rating", "RatingComment",
    "SearchMissing", "SearchOpenResult", "SearchResult", "SearchTypeQuery", "VisitorLocation",
    "VisitorSession", "collect", "event_schemas", "on_events", "read_style",
]  # fmt: skip
