"""Uploaded files for later use in imports, fonts, and pages."""

from . import tables as tables
