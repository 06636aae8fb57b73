"""Fonts: the built-in ones, and those that organizations upload."""

from . import tables as tables
from .built_in import (
    FONTS,
    BuiltInFont,
    Kind,
    custom_faces,
    first_file,
    font_faces,
    font_files,
    font_stack,
    printed_files,
    read_font,
    upright_files,
)
from .serving import CustomFont, find_face, find_fonts, list_faces

__all__ = [
    "CustomFont", "FONTS", "BuiltInFont", "Kind", "custom_faces", "find_face", "list_faces", "find_fonts",
    "first_file", "font_faces", "font_files", "font_stack", "printed_files", "read_font", "upright_files",
]  # fmt: skip
