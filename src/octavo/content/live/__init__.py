"""Live editing: several people and agents edit one page at the same time."""

from . import registrations as registrations
from . import retention as retention
from . import tables as tables
