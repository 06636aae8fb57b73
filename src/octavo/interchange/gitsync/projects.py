"""Projects, which are synced collections and sites: their spaces, and the folder of each space.

During each sync, ``project_running.py`` gets the spaces and folders from the kind of project (``ProjectKind``)."""

from __future__ import annotations

from typing import Any, Literal, Protocol

from msgspec import Struct, field

from octavo.core.problems import Problem
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor

from .store import First, ProjectRow

Kind = Literal["collection", "site"]


class SpaceFolder(Struct, frozen=True):
    """Folder that corresponds to a space. The path is relative to the project's folder and ends in a slash; it is
    empty for the entire project folder. ``space_id``: the space; None if it hasn't been created yet. ``first``: the
    side that determines the content; None if the folder is already synced or skipped."""

    folder: str
    title: str
    space_id: str | None
    first: First | None


class CommittedFolder(Protocol):
    """Folder of a project in a commit."""

    def folders(self) -> list[str]:
        """Return the names of the folders directly inside the project's folder."""
        ...

    def holds(self, path: str) -> bool:
        """Return whether a file exists. If the path ends in a slash, return whether the folder contains files."""
        ...

    def read(self, path: str) -> bytes | None: ...

    def is_as_seen(self, path: str) -> bool:
        """Return whether a file is unchanged since a person decided how to continue. If there was no decision,
        return True."""
        ...

    def is_moved(self, old: str, new: str, since: str | None) -> bool:
        """Return whether the folder ``old`` in the commit ``since`` was moved to ``new`` and no longer exists."""
        ...


class MatchedProject(Struct):
    """Result of matching. ``spaces``: the space to sync with each folder, and whether the space was just created.
    ``files``: the files to commit for the project itself. ``agreed``: the state to store after the files have been
    pushed."""

    spaces: dict[str, tuple[str, bool]]
    agreed: Any
    files: dict[str, bytes] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


class ProjectKind(Protocol):
    """Kind of project, which determines the project's spaces and their folders."""

    def require(self, tx: Transaction, actor: Actor, row: ProjectRow) -> None:
        """Raise NotFound or Forbidden if the actor can't sync the project."""
        ...

    def spaces(self, tx: Transaction, row: ProjectRow) -> list[str]:
        """Return the existing spaces, whether synced or not."""
        ...

    def preview(
        self, tx: Transaction, actor: Actor, row: ProjectRow, ground: CommittedFolder
    ) -> tuple[list[SpaceFolder], list[Problem]]:
        """Pair folders with spaces as a first sync would, without changing anything. Raises BadRequest if the
        repository can't be used."""
        ...

    def apply_repository(
        self, tx: Transaction, actor: Actor, row: ProjectRow, ground: CommittedFolder
    ) -> MatchedProject:
        """Change spaces and structure to match the repository wherever the repository takes precedence. Where Octavo
        takes precedence, change nothing. Raises OctavoError or Stopped if the sync can't continue."""
        ...


_kinds: dict[Kind, ProjectKind] = {}


def add_kind(name: Kind, kind: ProjectKind) -> None:
    _kinds[name] = kind


def kind_of(row: ProjectRow) -> ProjectKind:
    return _kinds["collection" if row.collection_id is not None else "site"]
