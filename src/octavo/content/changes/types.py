"""Statuses of change requests and reviews, and choices for conflicts."""

from __future__ import annotations

from typing import Literal

ChangeOrder = Literal["createdAt", "updatedAt"]
Status = Literal["draft", "open", "archived", "merged"]
ReviewStatus = Literal["approved", "changes-requested"]
Choice = Literal["ours", "theirs", "base", "edited"]
