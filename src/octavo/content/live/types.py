"""Types for live editing."""

from typing import Literal

Why = Literal["place-gone", "step-refused", "other"]
"""Reason why a passage couldn't be added to the page."""
