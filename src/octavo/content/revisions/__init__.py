"""Content: branches, revisions, pages, and files."""

from . import tables as tables
