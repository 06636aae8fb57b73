"""Images of spaces in the widths that screens need: made once of each file, beside it, for readers and for the app."""

from . import tables as tables
