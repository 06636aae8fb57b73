"""Import and export of content: folders, archives, Git repositories, HTML, Word documents, and websites."""

from . import tables as tables
