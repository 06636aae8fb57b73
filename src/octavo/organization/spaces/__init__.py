"""Spaces and collections, which contain content."""

from . import purging as purging
from . import tables as tables
