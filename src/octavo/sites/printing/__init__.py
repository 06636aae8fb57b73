"""Printing: pages, spaces, and change requests as PDFs."""

from . import tables as tables
