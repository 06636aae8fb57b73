"""Logic for commands and server administration: first start, backup, organization archives, diagnosis, and
credentials."""

from . import tables as tables
