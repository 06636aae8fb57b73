"""Insights: the pages that site visitors view, their searches, and their ratings, counted without identifying
the visitors."""

from . import tables as tables
