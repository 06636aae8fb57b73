"""Files of an import, and information about their origin.

``SourceFiles`` collects files while a source is opened, by safe relative paths. A ``Source`` is the result: the files
and the information about them.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import IO

from msgspec import Struct
from msgspec.structs import replace

from .docs_config import DocsEntry
from .paths import MAX_FILE, MAX_PATH, composed, folders_of, unsafe_path
from .problems import Problem

MAX_TOTAL = 4 * 1024**3
MAX_ENTRIES = 100_000
_PIECE = 64 * 1024


class SourceError(ValueError):
    """Raised if the source as a whole can't be read. The message is for the person who specified the source."""


LOOK_LEFT_OUT = "look_left_out"
"""Problem code for branding that isn't applied to any site."""


class Brand(Struct, frozen=True):
    """Branding that a source specifies for its site: the color of links and buttons on light and on dark
    pages, as ``#rrggbb``; and a logo, a logo for dark pages, and an icon, each as a URL or a path in
    ``pictures``, which maps paths to functions that read the bytes. Unspecified values are empty."""

    color: str = ""
    dark_color: str = ""
    logo: str = ""
    dark_logo: str = ""
    favicon: str = ""
    pictures: Mapping[str, Callable[[], bytes]] = {}

    def __bool__(self) -> bool:
        return bool(self.color or self.logo or self.dark_logo or self.favicon)

    def left_out(self) -> Problem:
        """Return the problem to report if no site is created from the source."""
        branding = {"logo": self.logo or self.dark_logo, "icon": self.favicon, "color": self.color}
        names = ", ".join(name for name, value in branding.items() if value)
        message = (
            f"{names}: not imported, because a space has no branding; publish the space, then set these in"
            " its site's customization"
        )
        return Problem("", 0, LOOK_LEFT_OUT, message)


class SourceFiles:
    """Files by safe relative path, collected within limits. ``problems``: the skipped files. ``seen``: the
    total number of entries. ``keeps_names``: whether to keep the spelling of names, because the files will
    be written back to their repository."""

    def __init__(self, name: str, *, keeps_names: bool = False) -> None:
        self.name = name
        self.keeps_names = keeps_names
        self.problems: list[Problem] = []
        self._files: dict[str, tuple[int, Callable[[], IO[bytes]]]] = {}
        self._folders: set[str] = set()
        self.total = 0
        self.seen = 0

    def paths(self) -> list[str]:
        return list(self._files)

    def size(self, path: str) -> int:
        """Return the size in bytes, as declared by the source."""
        return self._files[path][0]

    def opening(self, path: str) -> Callable[[], IO[bytes]]:
        """Return the function that opens the file, so that another source can contain the same file."""
        return self._files[path][1]

    def read(self, path: str) -> bytes:
        return b"".join(self.pieces(path))

    def pieces(self, path: str) -> Iterator[bytes]:
        """Yield the bytes in chunks. Raises ``SourceError`` if the entry is damaged or larger than declared."""
        size, opening = self._files[path]
        left = size
        try:
            with opening() as stream:
                while piece := stream.read(_PIECE):
                    left -= len(piece)
                    if left < 0:
                        raise SourceError(f"{path} is larger than declared")
                    yield piece
        except (
            OSError,
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            NotImplementedError,
            RuntimeError,
        ) as error:
            raise SourceError(f"{path} can't be read: {error}") from error

    def problem(self, path: str, code: str, message: str) -> None:
        self.problems.append(Problem(path, 0, code, message))

    def count(self, entries: int = 1) -> None:
        """Count an entry. Call this for every entry, whether or not it is used."""
        self.seen += entries
        if self.seen > MAX_ENTRIES:
            raise SourceError(f"the source has more than {MAX_ENTRIES:,} entries")

    def add(self, path: str, size: int, opening: Callable[[], IO[bytes]]) -> None:
        """Add a file if its path is safe and unused and its size is within the limits."""
        path = path if self.keeps_names else composed(path)
        if wrong := unsafe_path(path):
            self.problem(printable(path), "unsafe_path", f"skipped: {wrong}")
        elif path in self._files or path in self._folders or any(f in self._files for f in folders_of(path)):
            self.problem(path, "duplicate_name", "skipped: another file or folder has the same name")
        elif size > MAX_FILE:
            self.problem(path, "too_large", f"skipped: the file is larger than {MAX_FILE // 1024**2} MB")
        else:
            self.total += size
            if self.total > MAX_TOTAL:
                raise SourceError(f"the source has more than {MAX_TOTAL // 1024**3} GB of files")
            self._files[path] = (size, opening)
            self._folders.update(folders_of(path))

    def replace(self, path: str, size: int, opening: Callable[[], IO[bytes]]) -> None:
        """Replace the bytes of an existing file. Raises SourceError if the source becomes too large."""
        self.total += size - self._files[path][0]
        if self.total > MAX_TOTAL:
            raise SourceError(f"the source has more than {MAX_TOTAL // 1024**3} GB of files")
        self._files[path] = (size, opening)

    def descend(self, folder: str) -> None:
        """Limit the source to the contents of ``folder``."""
        prefix = folder.strip("/") + "/"
        self._files = {
            path[len(prefix) :]: entry for path, entry in self._files.items() if path.startswith(prefix)
        }
        self.problems = [
            Problem(problem.path.removeprefix(prefix), problem.line, problem.code, problem.message)
            for problem in self.problems
            if problem.path.startswith(prefix) or problem.code == "unsafe_path"
        ]
        if not self._files:
            raise SourceError(f"there is no folder {folder} in the source")


class Source(Struct, frozen=True, kw_only=True, eq=False):
    """Source of an import. ``files``: the files. ``problems``: the skipped files. ``commit``: the ID of the
    commit, for Git. ``language``: the language that the source specifies, in its own spelling.

    ``kind``: the kind of the original; empty if the files are unchanged. ``origins`` and ``lines``: the file
    and lines of the original from which each page was created. ``addresses``: the former URL path of each
    page. ``became``: a map from files in other formats to their Markdown files.

    ``parts``: if the original has more than one version or language and all were read, a source for each of them, by
    key, including this source, which is the default. ``structure``: the structure of the site that can be created from
    these parts as variants.
    """

    name: str
    files: SourceFiles
    problems: tuple[Problem, ...] = ()
    commit: str | None = None
    kind: str = ""
    brand: Brand = Brand()
    language: str = ""
    origins: Mapping[str, str] = {}
    lines: Mapping[str, list[int]] = {}
    addresses: Mapping[str, str] = {}
    became: Mapping[str, str] = {}
    parts: Mapping[str, Source] = {}
    structure: tuple[DocsEntry, ...] = ()

    def paths(self) -> list[str]:
        return self.files.paths()

    def size(self, path: str) -> int:
        return self.files.size(path)

    def opening(self, path: str) -> Callable[[], IO[bytes]]:
        return self.files.opening(path)

    def read(self, path: str) -> bytes:
        return self.files.read(path)

    def pieces(self, path: str) -> Iterator[bytes]:
        return self.files.pieces(path)

    def with_files(self, files: SourceFiles) -> Source:
        """Return this source with the given files, which may be changed, and without other parts."""
        return replace(self, files=files, parts={}, structure=())

    def as_original(self, problem: Problem) -> Problem:
        """Return a problem on a page with its location in the original: the file and line that the page was created
        from."""
        if problem.path not in self.origins:
            return problem
        lines = self.lines[problem.path]
        line = lines[min(problem.line, len(lines)) - 1] if problem.line and lines else 0
        return Problem(self.origins[problem.path], line, problem.code, problem.message)

    def within(self, folder: str, *, without: str = "") -> Source:
        """Return the contents of a folder as a source, with only the problems of the files in the folder. The folder
        ends in a slash; an empty string represents the whole source. ``without``: a path to skip."""
        part = SourceFiles(folder.strip("/").rpartition("/")[2] or self.name)
        for path in self.paths():
            if path.startswith(folder) and path != without:
                part.add(path[len(folder) :], self.size(path), self.opening(path))
        problems = (
            Problem(problem.path[len(folder) :], problem.line, problem.code, problem.message)
            for problem in self.problems
            if problem.path.startswith(folder)
        )
        return Source(name=part.name, files=part, problems=(*part.problems, *problems), commit=self.commit)


def join_parts(parts: Mapping[str, Source], structure: tuple[DocsEntry, ...]) -> Source:
    """Join parts into one source, based on the default part."""
    first = next((entry.key for entry in structure if entry.default), structure[0].key)
    return replace(parts[first], parts=parts, structure=structure)


def source_of(files: SourceFiles, commit: str | None = None) -> Source:
    """Return collected files as a source without additional information."""
    return Source(name=files.name, files=files, problems=tuple(files.problems), commit=commit)


def printable(path: str) -> str:
    return path.encode("unicode_escape", "replace").decode()[:MAX_PATH] if unsafe_path(path) else path
