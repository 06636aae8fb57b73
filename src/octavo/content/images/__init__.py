"""Images of spaces in the widths that screens need, created once per file for readers and the app."""

from . import tables as tables
