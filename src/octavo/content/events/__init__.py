"""Live events: event streams and presence."""

from . import tables as tables
