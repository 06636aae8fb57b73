"""Register where comments of reviews are stored."""

from __future__ import annotations

from .reviews import keep_review_comments

keep_review_comments()
