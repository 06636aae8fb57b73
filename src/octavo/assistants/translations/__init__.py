"""Translations: spaces that follow other spaces in another language."""

from . import tables as tables
