"""Activities of people who are present."""

from __future__ import annotations

from typing import Literal

Activity = Literal["viewing", "editing"]
