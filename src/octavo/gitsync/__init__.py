"""Spaces and branches of Git repositories that stay in step."""

from ..pages import explain_git
from . import tables as tables
from .jobs import run_here
from .store import First, find_names, find_sync, list_runs, set_first

explain_git(find_names)

__all__ = ["First", "find_sync", "list_runs", "run_here", "set_first", "tables"]
