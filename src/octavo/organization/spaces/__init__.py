"""Spaces and collections, which contain content."""

from . import tables as tables
