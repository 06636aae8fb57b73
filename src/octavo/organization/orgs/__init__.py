"""Organizations, their members, and their teams."""

from . import tables as tables
