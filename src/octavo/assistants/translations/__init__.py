"""Translations, which are copies of spaces in other languages that are updated from the originals."""

from . import tables as tables
