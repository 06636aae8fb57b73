"""What somebody wants to be synced, and what a look at it found before anything was."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from octavo.core.problems import Problem

from .credentials import Credential
from .projects import SpaceFolder
from .store import First


class RepositoryFolder(Struct, frozen=True):
    """As somebody gave it, not checked yet. ``folder``: empty for the whole repository. ``credential``: of the kind
    `ssh-key` it is one that is to be made."""

    remote: str
    branch: str
    folder: str
    credential: Credential | None


class WantedSync(Struct, frozen=True):
    """``first``: the side that the other one becomes equal to at the beginning. ``settings``: those that were given, by
    their names in the body that changes a sync."""

    where: RepositoryFolder
    first: First
    settings: dict[str, Any]


class WantedOnce(Struct, frozen=True):
    """One import or export, as integrations ask for it. ``message``: of the commit. ``is_forced``: also where the sync
    waits for a decision."""

    where: RepositoryFolder
    first: First
    tree_url: str | None
    commit_url: str | None
    message: str | None
    is_forced: bool


class SeenRepository(Struct, frozen=True):
    """``commit``: None for a branch that is not there. ``host_key``: the one that its server showed over ssh."""

    branches: list[str]
    default_branch: str | None
    commit: str | None
    host_key: str | None


class Differences(Struct, frozen=True):
    """What a first sync would change. The lists have all paths, sorted; ``same`` counts the others."""

    repository: SeenRepository
    same: int
    only_in_space: list[str]
    only_in_repository: list[str]
    different: list[str]


class ProjectLook(Struct, frozen=True):
    """Which folders would be which spaces, and what would be left out."""

    repository: SeenRepository
    places: list[SpaceFolder]
    problems: list[Problem]
