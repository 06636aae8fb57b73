"""Requested syncs, and the results of previews."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from octavo.core.problems import Problem

from .credentials import Credential
from .projects import SpaceFolder
from .store import First


class RepositoryFolder(Struct, frozen=True):
    """Repository folder that a person entered, not validated yet. ``folder``: the folder; empty for the entire
    repository. ``credential``: the credential; an `ssh-key` has yet to be generated."""

    remote: str
    branch: str
    folder: str
    credential: Credential | None


class RequestedSync(Struct, frozen=True):
    """Requested sync. ``first``: the side that determines the initial content. ``settings``: the specified
    settings, with the same names as in a request body that updates a sync."""

    where: RepositoryFolder
    first: First
    settings: dict[str, Any]


class RequestedOneTimeSync(Struct, frozen=True):
    """Import or export requested by an integration. ``message``: the commit message. ``is_forced``: whether
    to run even if the sync is waiting for a decision."""

    where: RepositoryFolder
    first: First
    tree_url: str | None
    commit_url: str | None
    message: str | None
    is_forced: bool


class SeenRepository(Struct, frozen=True):
    """State of a repository. ``commit``: the branch's commit; None if the branch doesn't exist. ``host_key``:
    the SSH server's key."""

    branches: list[str]
    default_branch: str | None
    commit: str | None
    host_key: str | None


class Differences(Struct, frozen=True):
    """Changes that a first sync would make. The lists contain all paths, sorted. ``same``: the number of unchanged
    paths."""

    repository: SeenRepository
    same: int
    only_in_space: list[str]
    only_in_repository: list[str]
    different: list[str]


class ProjectLook(Struct, frozen=True):
    """Folders that would become spaces, and content that would be skipped."""

    repository: SeenRepository
    places: list[SpaceFolder]
    problems: list[Problem]
