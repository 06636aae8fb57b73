"""Where an import comes from: a folder, a ZIP archive, or a Git repository.

Whatever the kind, a source is a list of safe relative paths and their bytes. Single bad entries are left out
and reported; a source that cannot be used at all, or looks like an attack, raises ``SourceError``.
"""

from __future__ import annotations

import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from typing import IO

from msgspec import Struct, field

from octavo.content.revisions.files import MAX_FILE, store_file
from octavo.core.docs_config import DocsEntry
from octavo.core.paths import MAX_PATH, composed, folders_of, unsafe_path
from octavo.core.problems import Problem
from octavo.kit.context import Context
from octavo.kit.files import Blob

MAX_TOTAL = 4 * 1024**3
MAX_ENTRIES = 100_000
MAX_RATIO = 200
"""How many times its packed bytes an entry, and an archive as a whole, may have unpacked."""
_SMALL = 64 * 1024
"""Bytes unpacked that nobody minds: a short text of one letter packs very well."""
_MAX_DIRECTORY = 16 * 1024 * 1024
_PIECE = 64 * 1024

AllowUrl = Callable[[str], str]
"""Answers with the IP address to connect to for a URL, or raises ``ValueError`` when it may not be fetched."""


class SourceError(ValueError):
    """The source as a whole cannot be read; the message is for whoever named it."""


LOOK_LEFT_OUT = "look_left_out"
"""Of a problem: a part of the stated look that no site gets."""


class Brand(Struct):
    """What a source states of the look of its site: the color of links and buttons on light and on dark pages, as
    ``#rrggbb``; a logo, another one for dark pages, and an icon, each a URL or the path of one of ``pictures``, which
    says how it is read. Empty where nothing is stated."""

    color: str = ""
    dark_color: str = ""
    logo: str = ""
    dark_logo: str = ""
    favicon: str = ""
    pictures: dict[str, Callable[[], bytes]] = field(default_factory=dict)
    stored: dict[str, Blob] = field(default_factory=dict)
    """The pictures that are in the store of files, by their paths."""

    def __bool__(self) -> bool:
        return bool(self.color or self.logo or self.dark_logo or self.favicon)

    def left_out(self) -> Problem:
        """What is told where no site is made of the source."""
        said = {"logo": self.logo or self.dark_logo, "icon": self.favicon, "color": self.color}
        names = ", ".join(name for name, value in said.items() if value)
        message = f"{names}: a space has none; publish it, and set them in the customization of its site"
        return Problem("", 0, LOOK_LEFT_OUT, message)

    def store(self, context: Context) -> None:
        """Store the pictures that can be read, outside of any transaction."""
        for path, read in self.pictures.items():
            with suppress(SourceError):
                self.stored[path] = store_file(context, read())


class Source:
    """The files of a source: ``paths()``, ``size(path)``, ``read(path)``, ``pieces(path)``; ``problems`` tells
    what was left out. ``commit`` is the id of the commit read, for Git.

    ``kind``: of which kind the original is that it was made of, empty where its files are as they came. ``origins`` and
    ``lines`` then say of each page which file and lines of the original it was made of, ``addresses`` at which address
    readers had which page. ``became``: of files in other formats the Markdown that they are now.

    ``parts``: where the original has several versions or languages and all were read, each as a source of its own by its
    key, this one among them. ``structure``: what the variants of a site are that they become, or would become.

    ``keeps_names``: names stay as they are spelled, for a repository that gets them back."""

    def __init__(self, name: str, *, keeps_names: bool = False) -> None:
        self.name = name
        self.keeps_names = keeps_names
        self.commit: str | None = None
        self.problems: list[Problem] = []
        self.kind = ""
        self.brand = Brand()
        self.language = ""
        """The language that the source itself states, as it spells it."""
        self.origins: dict[str, str] = {}
        self.lines: dict[str, list[int]] = {}
        self.addresses: dict[str, str] = {}
        self.became: dict[str, str] = {}
        self.parts: dict[str, Source] = {}
        self.structure: list[DocsEntry] = []
        self._files: dict[str, tuple[int, Callable[[], IO[bytes]]]] = {}
        self._folders: set[str] = set()
        self.total = 0
        self.seen = 0

    def paths(self) -> list[str]:
        return list(self._files)

    def size(self, path: str) -> int:
        """In bytes, as the source declares it."""
        return self._files[path][0]

    def opening(self, path: str) -> Callable[[], IO[bytes]]:
        """How the bytes are opened, for another source that holds the same file."""
        return self._files[path][1]

    def read(self, path: str) -> bytes:
        return b"".join(self.pieces(path))

    def pieces(self, path: str) -> Iterator[bytes]:
        """The bytes, some at a time. Raises ``SourceError`` if the entry is damaged or longer than it said."""
        size, opening = self._files[path]
        left = size
        try:
            with opening() as stream:
                while piece := stream.read(_PIECE):
                    left -= len(piece)
                    if left < 0:
                        raise SourceError(f"{path} is longer than it said")
                    yield piece
        except (
            OSError,
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            NotImplementedError,
            RuntimeError,
        ) as error:
            raise SourceError(f"{path} cannot be read: {error}") from error

    def problem(self, path: str, code: str, message: str) -> None:
        self.problems.append(Problem(path, 0, code, message))

    def take_facts(self, other: Source) -> None:
        """Takes over what is known of a source whose files these are, changed or not."""
        self.commit, self.problems, self.kind = other.commit, other.problems, other.kind
        self.language, self.brand = other.language, other.brand
        self.origins, self.lines, self.addresses = other.origins, other.lines, other.addresses

    def as_original(self, problem: Problem) -> Problem:
        """A problem of a page, naming the file and line of the original that it is about."""
        if problem.path not in self.origins:
            return problem
        lines = self.lines[problem.path]
        line = lines[min(problem.line, len(lines)) - 1] if problem.line and lines else 0
        return Problem(self.origins[problem.path], line, problem.code, problem.message)

    def count(self, entries: int = 1) -> None:
        """To be called for every entry looked at, whatever becomes of it."""
        self.seen += entries
        if self.seen > MAX_ENTRIES:
            raise SourceError(f"more than {MAX_ENTRIES} entries")

    def add(self, path: str, size: int, opening: Callable[[], IO[bytes]]) -> None:
        """One file, if its path is safe and free and its size is within the limits."""
        path = path if self.keeps_names else composed(path)
        if wrong := unsafe_path(path):
            self.problem(printable(path), "unsafe_path", f"left out: {wrong}")
        elif path in self._files or path in self._folders or any(f in self._files for f in folders_of(path)):
            self.problem(path, "duplicate_name", "left out: a second entry of this name")
        elif size > MAX_FILE:
            self.problem(path, "too_large", f"left out: larger than {MAX_FILE // 1024**2} MB")
        else:
            self.total += size
            if self.total > MAX_TOTAL:
                raise SourceError(f"more than {MAX_TOTAL // 1024**3} GB of files")
            self._files[path] = (size, opening)
            self._folders.update(folders_of(path))

    def replace(self, path: str, size: int, opening: Callable[[], IO[bytes]]) -> None:
        """Other bytes for a file that is there. Raises SourceError for more than a source may have."""
        self.total += size - self._files[path][0]
        if self.total > MAX_TOTAL:
            raise SourceError(f"more than {MAX_TOTAL // 1024**3} GB of files")
        self._files[path] = (size, opening)

    def within(self, folder: str, *, without: str = "") -> Source:
        """What lies in a folder, named with a slash at its end, as a source of its own; of problems those of its own
        files. The empty folder is all of it. ``without``: a path that is left out."""
        part = Source(folder.strip("/").rpartition("/")[2] or self.name)
        part.commit = self.commit
        for path, (size, opening) in self._files.items():
            if path.startswith(folder) and path != without:
                part.add(path[len(folder) :], size, opening)
        part.problems += [
            Problem(problem.path[len(folder) :], problem.line, problem.code, problem.message)
            for problem in self.problems
            if problem.path.startswith(folder)
        ]
        return part

    def descend(self, folder: str) -> None:
        """From here on the source is what lies in ``folder``."""
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


def printable(path: str) -> str:
    return path.encode("unicode_escape", "replace").decode()[:MAX_PATH] if unsafe_path(path) else path


def is_git_path(path: str) -> bool:
    return any(part.lower() == ".git" for part in path.split("/"))


# Folders


def open_folder(where: str) -> Source:
    source = Source(os.path.basename(os.path.abspath(where)))
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            entries = sorted(os.scandir(os.path.join(where, folder)), key=lambda entry: entry.name)
        except OSError as error:
            if not folder:
                raise SourceError(f"{where} cannot be read: {error.strerror}") from error
            source.problem(folder, "unreadable", f"left out: {error.strerror}")
            continue
        for entry in entries:
            source.count()
            path = f"{folder}/{entry.name}" if folder else entry.name
            if is_git_path(entry.name):
                continue
            if entry.is_symlink():
                # A link to a file of the same folder is that file; nothing else is looked at.
                target, top = os.path.realpath(entry.path), os.path.join(os.path.realpath(where), "")
                if os.path.isfile(target) and target.startswith(top) and not is_git_path(target[len(top) :]):
                    source.add(path, os.path.getsize(target), _file_opening(target))
                else:
                    source.problem(printable(path), "symlink", "left out: a symbolic link")
            elif entry.is_dir(follow_symlinks=False):
                if wrong := unsafe_path(path):
                    source.problem(printable(path), "unsafe_path", f"left out: {wrong}")
                else:
                    waiting.append(path)
            elif entry.is_file(follow_symlinks=False):
                source.add(path, entry.stat(follow_symlinks=False).st_size, _file_opening(entry.path))
            else:
                source.problem(printable(path), "special_file", "left out: neither a file nor a folder")
    return source


def _file_opening(path: str) -> Callable[[], IO[bytes]]:
    return lambda: os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb")


# Archives


class _Measured:
    """An archive that gives no more than ``_MAX_DIRECTORY`` bytes at once, so that its directory is bounded."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file

    def read(self, size: int = -1) -> bytes:
        if size > _MAX_DIRECTORY:
            raise SourceError("the directory of the archive is too large")
        return self.file.read(_MAX_DIRECTORY if size < 0 else size)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self.file.seek(offset, whence)

    def tell(self) -> int:
        return self.file.tell()

    def seekable(self) -> bool:
        return True


def open_archive(where: str, stack: ExitStack, whole: bool = False) -> Source:
    source = Source(os.path.splitext(os.path.basename(where))[0])
    try:
        file = stack.enter_context(open(where, "rb"))  # noqa: SIM115
        archive = stack.enter_context(zipfile.ZipFile(_Measured(file)))
    except (OSError, zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        if isinstance(error, SourceError):
            raise
        raise SourceError(f"{where} is no readable ZIP archive: {error}") from error
    # Some programs of Windows part folders by their own sign.
    parted = any("/" in info.orig_filename for info in archive.infolist())
    for info in archive.infolist():
        source.count()
        path = _name_of(info)
        if not parted and info.create_system == 0:
            path = path.replace("\\", "/")
        if path.endswith("/") or path.startswith("__MACOSX/") or is_git_path(path):
            continue
        if stat.S_ISLNK(info.external_attr >> 16):
            source.problem(printable(path), "symlink", "left out: a symbolic link")
        elif info.flag_bits & 1:
            source.problem(printable(path), "encrypted", "left out: encrypted")
        elif info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            source.problem(printable(path), "unknown_compression", "left out: neither stored nor deflated")
        elif info.file_size > max(info.compress_size * MAX_RATIO, _SMALL):
            raise SourceError(f"{printable(path)} would grow more than {MAX_RATIO}-fold; not unpacked")
        else:
            source.add(path, info.file_size, _zip_opening(archive, info))
    # Entries may share their bytes: what counts is what there is.
    if source.total > max(os.path.getsize(where) * MAX_RATIO, _SMALL):
        raise SourceError(f"the archive would grow more than {MAX_RATIO}-fold; not unpacked")
    tops = {path.partition("/")[0] for path in source.paths()}
    if not whole and len(tops) == 1 and all("/" in path for path in source.paths()):
        # Archives of repositories hold one folder that is named for the repository.
        source.descend(tops.pop())
    return source


_UTF8 = 0x800
_UNICODE_NAME = 0x7075


def _name_of(info: zipfile.ZipInfo) -> str:
    """The name of an entry. One without the mark of UTF-8 may be in it all the same, as macOS writes it, or say its name
    in UTF-8 beside the one for old programs; else it is in the letters of such programs."""
    name = info.orig_filename
    if info.flag_bits & _UTF8 or (name.isascii() and not info.extra):
        return name
    try:
        written = name.encode("cp437")
        extra = info.extra
        while len(extra) >= 4:
            kind, size = struct.unpack("<HH", extra[:4])
            if kind == _UNICODE_NAME and size > 5 and extra[5:9] == struct.pack("<L", zlib.crc32(written)):
                return extra[9 : 4 + size].decode()
            extra = extra[4 + size :]
        return written.decode()
    except UnicodeError:
        return name


def _zip_opening(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Callable[[], IO[bytes]]:
    return lambda: archive.open(info)
