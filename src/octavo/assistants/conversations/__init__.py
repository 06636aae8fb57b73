"""Conversations with readers: grouped into issues and clusters, and the tasks that follow from them."""

from . import tables as tables
