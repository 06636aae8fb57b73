"""Change requests: editing content together, reviewing, merging, undoing."""

from . import registrations as registrations
from . import tables as tables
