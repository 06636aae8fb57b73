"""Live events: streams of what happens, and who is present where."""

from . import tables as tables
