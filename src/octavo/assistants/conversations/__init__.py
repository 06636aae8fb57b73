"""Conversations with readers, the issues and clusters found in them, and the resulting tasks."""

from . import tables as tables
