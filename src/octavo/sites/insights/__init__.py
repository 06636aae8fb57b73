"""Insights: what visitors of sites read, look for and say, counted without knowing who they are."""

from . import tables as tables
