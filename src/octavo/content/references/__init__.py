"""References: their resolution, the index of links, and documents as presented to readers."""

from . import tables as tables
