"""Spaces and collections: the containers of content."""

from . import tables as tables
