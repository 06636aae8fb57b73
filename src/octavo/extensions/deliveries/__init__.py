"""Delivery of events to their recipients, and records of the outcome of each delivery."""

from . import tables as tables
