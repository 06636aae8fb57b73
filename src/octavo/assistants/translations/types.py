"""Types shared by the translation modules."""

from __future__ import annotations

from typing import Literal

TranslationStatus = Literal["pending", "running", "completed"]
Formality = Literal["default", "formal", "informal"]
"""Form of address in languages that distinguish formal and informal address."""
