"""Activities that people report with their presence."""

from __future__ import annotations

from typing import Literal

Activity = Literal["viewing", "editing"]
