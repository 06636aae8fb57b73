"""Spaces, pages, and sites that people marked as favorites."""

from . import tables as tables
