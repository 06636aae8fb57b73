"""Fonts of an organization, made of uploaded files."""

from . import tables as tables
from .serving import CustomFont, find_face, find_fonts

__all__ = [
    "CustomFont", "find_face", "find_fonts", "tables",
]  # fmt: skip
