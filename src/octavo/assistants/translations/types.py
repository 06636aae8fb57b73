"""What translations can be."""

from __future__ import annotations

from typing import Literal

TranslationStatus = Literal["pending", "running", "completed"]
Formality = Literal["default", "formal", "informal"]
"""How readers are addressed, where a language makes a difference."""
