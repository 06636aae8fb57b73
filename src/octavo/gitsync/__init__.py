"""Spaces and branches of Git repositories that stay in step."""

from ..pages import register_git_names
from . import collection_folders as collection_folders
from . import tables as tables
from .asking import notice_project
from .connecting import decide
from .jobs import run_here
from .projects import Ground, Settled, SpaceFolder, add_kind
from .reasons import Reason, Stopped
from .store import Connected, First, ProjectRow, SyncRow, find, find_names, list_members, list_runs

register_git_names(find_names)

__all__ = [
    "Connected", "First", "Ground", "ProjectRow", "Reason", "Settled", "SpaceFolder", "Stopped", "SyncRow",
    "add_kind", "decide", "find", "list_members", "list_runs", "notice_project", "run_here",
]  # fmt: skip
