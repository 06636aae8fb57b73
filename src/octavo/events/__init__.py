"""Live events: streams of what happens, and who is present where."""

from . import tables as tables
from .presence import write_presence

__all__ = ["write_presence"]
