"""What concerns people, told to them: in the app, as it happens, and by mail."""

from . import tables as tables
