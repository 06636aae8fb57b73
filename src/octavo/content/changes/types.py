"""Statuses of change requests and reviews, choices for conflicts, and style guide violations."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

ChangeOrder = Literal["createdAt", "updatedAt"]
Status = Literal["draft", "open", "archived", "merged"]
ReviewStatus = Literal["approved", "changes-requested"]
Choice = Literal["ours", "theirs", "base", "edited"]


class StyleViolation(Struct):
    """Text in a change request that breaks a style guide rule. ``title``: the title of the page."""

    page: str
    title: str
    rule: str
    message: str
