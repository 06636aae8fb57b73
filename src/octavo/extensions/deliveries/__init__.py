"""Deliver events to their recipients, and record the outcome of each delivery."""

from . import tables as tables
