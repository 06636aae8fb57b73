"""Import and export of content: folders, archives, Git, HTML, Word, and websites."""

from . import tables as tables
