"""Statuses of change requests and reviews, choices for conflicts, and violations of style guides."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

ChangeOrder = Literal["createdAt", "updatedAt"]
Status = Literal["draft", "open", "archived", "merged"]
ReviewStatus = Literal["approved", "changes-requested"]
Choice = Literal["ours", "theirs", "base", "edited"]


class StyleViolation(Struct):
    """Text of a change request that breaks a rule of a style guide. ``title``: the title of the page."""

    page: str
    title: str
    rule: str
    message: str
