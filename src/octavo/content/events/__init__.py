"""Live events: streams of events, and the presence of people."""

from . import tables as tables
