"""Comments on spaces and change requests: their targets, replies, and reactions."""

from . import tables as tables
from .reviews import keep_review_comments
from .targets import order_commented_nodes

__all__ = ["order_commented_nodes"]

keep_review_comments()
