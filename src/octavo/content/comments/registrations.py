"""Register the functions that store and present comments of reviews."""

from __future__ import annotations

from .reviews import keep_review_comments

keep_review_comments()
