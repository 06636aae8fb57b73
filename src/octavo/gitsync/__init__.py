"""Spaces and branches of Git repositories that stay in step."""

from ..pages import explain_git
from . import collection_folders as collection_folders
from . import project_routes as project_routes
from . import tables as tables
from .hooks import receive_for_project
from .jobs import notice_project, run_here, run_project_here
from .project_wire import GitProject, GitProjectPreview, GitProjectWithSecret
from .projects import Ground, Place, Settled, add_kind, decide
from .reasons import Reason, Stopped
from .store import (
    First,
    ProjectRow,
    SyncRow,
    find_names,
    find_project,
    find_sync,
    list_members,
    list_runs,
    set_first,
)
from .wire import ConnectGit, RunGitSync, UpdateGitSync

explain_git(find_names)

__all__ = [
    "ConnectGit", "First", "GitProject", "GitProjectPreview", "GitProjectWithSecret", "Ground", "Place", "ProjectRow",
    "Reason", "RunGitSync", "Settled", "Stopped", "SyncRow", "UpdateGitSync", "add_kind", "collection_folders", "decide", "find_project",
    "find_sync", "list_members", "list_runs", "notice_project", "project_routes", "receive_for_project", "run_here", "run_project_here", "set_first",
    "tables",
]  # fmt: skip
