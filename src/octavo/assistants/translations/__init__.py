"""Translations: copies of spaces in other languages, updated from the originals."""

from . import tables as tables
