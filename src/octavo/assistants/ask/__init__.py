"""Answers to questions, based on what the asker can see, with their sources."""

from . import tables as tables
