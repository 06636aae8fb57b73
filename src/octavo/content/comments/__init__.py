"""Comments on spaces and change requests: what they are about, replies, reactions."""

from . import registrations as registrations
from . import tables as tables
