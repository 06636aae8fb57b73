"""What the spaces of a synced collection or site are, and which folder each has: a project is one of the two.

``project_running.py`` asks the kind of the project (``ProjectKind``) at each look.
"""

from __future__ import annotations

from typing import Any, Literal, Protocol

from msgspec import Struct, field

from octavo.core.problems import Problem
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor

from .store import First, ProjectRow

Kind = Literal["collection", "site"]


class SpaceFolder(Struct, frozen=True):
    """A folder that is a space, below the project's and ending in a slash, or empty for all of it. ``space_id``: None
    for one that is yet to be made. ``first``: the side that the other becomes equal to; None: none, it is synced or is
    left alone."""

    folder: str
    title: str
    space_id: str | None
    first: First | None


class Ground(Protocol):
    """A project's folder in a commit."""

    def folders(self) -> list[str]:
        """The names of the folders directly in it."""
        ...

    def holds(self, path: str) -> bool:
        """Whether there is a file, or below a folder that ends in a slash anything."""
        ...

    def read(self, path: str) -> bytes | None: ...

    def is_as_seen(self, path: str) -> bool:
        """Whether a file is what it was when somebody decided how to go on; where nobody did, it is."""
        ...

    def is_moved(self, old: str, new: str, since: str | None) -> bool:
        """Whether a folder that was there in the commit ``since`` and is no more is the one that is there now."""
        ...


class Settled(Struct):
    """What a look came to. ``spaces``: by folder the space that is synced with it, and whether it was made just now.
    ``files``: what is committed of the project itself. ``agreed``: what is remembered, once that arrived."""

    spaces: dict[str, tuple[str, bool]]
    agreed: Any
    files: dict[str, bytes] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


class ProjectKind(Protocol):
    """What the spaces of a project are, and where."""

    def require(self, tx: Transaction, actor: Actor, row: ProjectRow) -> None:
        """Raises NotFound or Forbidden for who may not sync it."""
        ...

    def spaces(self, tx: Transaction, row: ProjectRow) -> list[str]:
        """Those that are there, synced or not."""
        ...

    def look(
        self, tx: Transaction, actor: Actor, row: ProjectRow, ground: Ground
    ) -> tuple[list[SpaceFolder], list[Problem]]:
        """What a first sync would do. Writes nothing. Raises BadRequest."""
        ...

    def settle(self, tx: Transaction, actor: Actor, row: ProjectRow, ground: Ground) -> Settled:
        """Makes spaces and structure what the repository says where that counts, and nothing where it is the repository
        that is to change. Raises OctavoError, Stopped."""
        ...


_kinds: dict[Kind, ProjectKind] = {}


def add_kind(name: Kind, kind: ProjectKind) -> None:
    _kinds[name] = kind


def kind_of(row: ProjectRow) -> ProjectKind:
    return _kinds["collection" if row.collection_id is not None else "site"]
