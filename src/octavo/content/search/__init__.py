"""Search: an index that every revision of main keeps true, and what is asked of it."""

from . import tables as tables
