"""Insights: site visitors' page views, searches, and ratings, counted without identifying the visitors."""

from . import tables as tables
