"""Search: an index that every revision of main keeps up to date, and queries on it."""

from . import tables as tables
