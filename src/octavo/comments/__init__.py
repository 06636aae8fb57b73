"""Comments on spaces and change requests: what they are about, replies, reactions."""

from . import tables as tables
from .reviews import keep_review_comments

keep_review_comments()
