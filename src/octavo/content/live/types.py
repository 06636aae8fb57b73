"""Types for live editing."""

from typing import Literal

Why = Literal["place-gone", "step-refused", "other"]
"""Reason why a text couldn't be added to the page."""
