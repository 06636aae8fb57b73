"""Conversations with readers: what was asked, analysed into issues and clusters, and the work that follows from it."""

from . import tables as tables
