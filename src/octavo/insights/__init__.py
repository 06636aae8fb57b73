"""Insights: what visitors of sites read, look for and say, counted without knowing who they are."""

from . import tables as tables
from .collecting import collect
from .querying import aggregate
from .wire import (
    Aggregate,
    ApiClientRequest,
    ApiOperation,
    Column,
    Filter,
    Order,
    PagePostFeedback,
    PageRating,
    Preset,
    Rating,
    VisitorLocation,
    VisitorSession,
)

__all__ = [
    "Aggregate", "ApiClientRequest", "ApiOperation", "Column", "Filter", "Order", "PagePostFeedback",
    "PageRating", "Preset", "Rating", "VisitorLocation", "VisitorSession", "aggregate", "collect", "tables",
]  # fmt: skip
