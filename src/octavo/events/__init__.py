"""What happens, told as it happens: streams of events, and who is where just now."""

from . import tables as tables
from .presence import write_presence

__all__ = ["write_presence"]
