"""Insights: the pages that visitors of sites view, their searches, and their ratings, counted without
identifying the visitors."""

from . import tables as tables
