"""Checks of documents that need no language model: what is missing, unfinished, or contradictory."""
