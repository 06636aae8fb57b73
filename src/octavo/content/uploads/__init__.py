"""Files that people upload for later use: for imports, as fonts, and for pages."""

from . import tables as tables
