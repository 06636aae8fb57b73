"""Insights: what visitors of sites read, look for and say, counted without knowing who they are."""

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
from .queueing import EventQueue, Events, HeldEvents
from .store import EventRow
from .wire import event_schemas

__all__ = [
    "ApiClientRequest", "ApiOperation", "AskQuestion", "CONSENT", "DisplayContext", "Event", "EventQueue",
    "EventRow", "Events", "HeldEvents", "Link", "LinkClick", "LinkPosition", "LinkTarget", "PageMissing",
    "PagePostFeedback", "PagePostFeedbackComment", "PageRating", "PageView", "Rating", "RatingComment",
    "SearchMissing", "SearchOpenResult", "SearchResult", "SearchTypeQuery", "VisitorLocation",
    "VisitorSession", "collect", "event_schemas", "on_events", "read_style",
]  # fmt: skip
