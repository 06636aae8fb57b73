"""Who may do what where."""

from . import tables as tables
