"""Fonts: built-in fonts, and fonts that organizations upload."""

from . import tables as tables
