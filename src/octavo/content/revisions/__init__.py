"""Content: branches, revisions, pages, files."""

from . import tables as tables
