"""Insights: what visitors of sites read, look for and say, counted without knowing who they are."""

from . import tables as tables
from .collecting import collect
from .wire import PagePostFeedback, PageRating, Rating, VisitorLocation, VisitorSession

__all__ = [
    "PagePostFeedback", "PageRating", "Rating", "VisitorLocation", "VisitorSession", "collect", "tables",
]  # fmt: skip
