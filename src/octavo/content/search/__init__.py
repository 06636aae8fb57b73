"""Search: an index that every revision of main updates, and queries on it."""

from . import tables as tables
