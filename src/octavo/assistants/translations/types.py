"""Values shared by the modules of translations."""

from __future__ import annotations

from typing import Literal

TranslationStatus = Literal["pending", "running", "completed"]
Formality = Literal["default", "formal", "informal"]
"""How to address readers in languages that distinguish this."""
