"""Deliver events to their recipients, and store the outcome of each delivery."""

from . import tables as tables
