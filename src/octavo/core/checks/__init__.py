"""Checks of documents that need no language model: they find missing, unfinished, or contradictory
content."""
