"""Comments on spaces and change requests: their targets, replies, and reactions."""

from . import registrations as registrations
from . import tables as tables
