"""What becomes of an edit that was suggested."""

from __future__ import annotations

from typing import Literal

SuggestionStatus = Literal["open", "accepted", "declined"]
