"""What happens, told as it happens: streams of events, and who is where just now."""

from . import tables as tables
