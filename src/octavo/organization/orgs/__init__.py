"""Organizations."""

from . import tables as tables
