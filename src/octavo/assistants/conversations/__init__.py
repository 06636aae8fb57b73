"""Conversations with readers, the issues found in them, clusters of issues, and the resulting tasks."""

from . import tables as tables
