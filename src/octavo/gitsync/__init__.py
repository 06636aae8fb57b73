"""Spaces and branches of Git repositories that stay in step."""

from ..pages import explain_git
from . import collection_folders as collection_folders
from . import tables as tables
from .asking import notice_project
from .hooks import receive_for_project
from .jobs import run_here, run_project_here
from .project_routes import (
    HOOK_LIMIT,
    connect_project,
    disconnect_project,
    preview_project,
    rotate_project,
    run_project,
    show_project,
    update_project,
)
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
    "HOOK_LIMIT", "connect_project", "disconnect_project", "preview_project", "rotate_project", "run_project",
    "show_project", "update_project",
    "ConnectGit", "First", "GitProject", "GitProjectPreview", "GitProjectWithSecret", "Ground", "Place", "ProjectRow",
    "Reason", "RunGitSync", "Settled", "Stopped", "SyncRow", "UpdateGitSync", "add_kind", "collection_folders", "decide", "find_project",
    "find_sync", "list_members", "list_runs", "notice_project", "receive_for_project", "run_here", "run_project_here", "set_first",
    "tables",
]  # fmt: skip
