"""Answers to questions, out of what the asker may see, with where each is from."""

from . import tables as tables
