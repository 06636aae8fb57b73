"""Register the functions that store, present, and count comments."""

from __future__ import annotations

from octavo.content.changes.wire import HiddenComments, register_hidden_comments
from octavo.organization.spaces import hooks

from .counting import count_hidden
from .reviews import keep_review_comments
from .store import count_by_author, count_open

keep_review_comments()
register_hidden_comments(HiddenComments(count_open, count_by_author))
hooks.register_hidden_comments(count_hidden)
