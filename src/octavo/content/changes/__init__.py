"""Change requests: edit content together, review, merge, and revert."""

from . import registrations as registrations
from . import tables as tables
