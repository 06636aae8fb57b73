"""Insights: what visitors of sites read, search for, and rate, counted without identifying them."""

from . import tables as tables
