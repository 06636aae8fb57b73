"""Fonts: the built-in ones, and those that organizations upload."""

from . import tables as tables
