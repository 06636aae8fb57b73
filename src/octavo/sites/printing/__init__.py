"""Print: pages, spaces, and change requests as PDF."""

from . import tables as tables
