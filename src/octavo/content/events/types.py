"""What people do where they are."""

from __future__ import annotations

from typing import Literal

Activity = Literal["viewing", "editing"]
