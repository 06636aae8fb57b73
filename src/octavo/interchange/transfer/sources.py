"""Sources of imports: a folder, a ZIP archive, or a Git repository.

Every source is a list of safe relative paths and their bytes. Single invalid entries are skipped and reported. A
source that can't be used at all, or looks like an attack, raises ``SourceError``.
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
"""Maximum ratio of unpacked to packed bytes, for an entry and for an archive as a whole."""
_SMALL = 64 * 1024
"""Number of unpacked bytes that are always allowed, because a short text of one repeated letter compresses very
well."""
_MAX_DIRECTORY = 16 * 1024 * 1024
_PIECE = 64 * 1024

AllowUrl = Callable[[str], str]
"""Callback that returns the IP address to connect to for a URL, or raises ``ValueError`` if it must not be
fetched."""


class SourceError(ValueError):
    """The source as a whole can't be read. The message is for the person who named it."""


LOOK_LEFT_OUT = "look_left_out"
"""Problem code for a part of the stated branding that no site gets."""


class Brand(Struct):
    """The branding that a source states for its site: the color of links and buttons on light and on dark pages,
    as ``#rrggbb``; a logo, another one for dark pages, and an icon, each a URL or the path of one of ``pictures``,
    which tells how to read it. Empty where nothing is stated."""

    color: str = ""
    dark_color: str = ""
    logo: str = ""
    dark_logo: str = ""
    favicon: str = ""
    pictures: dict[str, Callable[[], bytes]] = field(default_factory=dict)
    stored: dict[str, Blob] = field(default_factory=dict)
    """The images that are in the file store, by path."""

    def __bool__(self) -> bool:
        return bool(self.color or self.logo or self.dark_logo or self.favicon)

    def left_out(self) -> Problem:
        """Return the problem to report if no site is created from the source."""
        said = {"logo": self.logo or self.dark_logo, "icon": self.favicon, "color": self.color}
        names = ", ".join(name for name, value in said.items() if value)
        message = f"{names}: a space has no branding. Publish the space and set these in the customization of its site"
        return Problem("", 0, LOOK_LEFT_OUT, message)

    def store(self, context: Context) -> None:
        """Store the images that can be read, outside of any transaction."""
        for path, read in self.pictures.items():
            with suppress(SourceError):
                self.stored[path] = store_file(context, read())


class Source:
    """The files of a source: ``paths()``, ``size(path)``, ``read(path)``, ``pieces(path)``. ``problems`` lists
    what was skipped. ``commit`` is the id of the commit, for Git.

    ``kind`` is the kind of the original, empty if the files are unchanged. ``origins`` and ``lines`` then give the
    file and lines of the original that each page was made from, and ``addresses`` the URL path where readers found
    each page. ``became`` maps files in other formats to their Markdown files.

    ``parts``: if the original has several versions or languages and all were read, each as a source of its own by
    key, including this one. ``structure`` is the structure of the site that the variants become or would become.

    ``keeps_names`` keeps the spelling of names, for a repository that gets them back.
    """

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
        """Return the size in bytes, as the source declares it."""
        return self._files[path][0]

    def opening(self, path: str) -> Callable[[], IO[bytes]]:
        """Return the function that opens the bytes, for another source that contains the same file."""
        return self._files[path][1]

    def read(self, path: str) -> bytes:
        return b"".join(self.pieces(path))

    def pieces(self, path: str) -> Iterator[bytes]:
        """Yield the bytes in pieces. Raises ``SourceError`` if the entry is damaged or longer than declared."""
        size, opening = self._files[path]
        left = size
        try:
            with opening() as stream:
                while piece := stream.read(_PIECE):
                    left -= len(piece)
                    if left < 0:
                        raise SourceError(f"{path} is longer than declared")
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

    def take_facts(self, other: Source) -> None:
        """Copy what is known about the source that these files belong to, changed or not."""
        self.commit, self.problems, self.kind = other.commit, other.problems, other.kind
        self.language, self.brand = other.language, other.brand
        self.origins, self.lines, self.addresses = other.origins, other.lines, other.addresses

    def as_original(self, problem: Problem) -> Problem:
        """Return a problem of a page with the file and line of the original that it is about."""
        if problem.path not in self.origins:
            return problem
        lines = self.lines[problem.path]
        line = lines[min(problem.line, len(lines)) - 1] if problem.line and lines else 0
        return Problem(self.origins[problem.path], line, problem.code, problem.message)

    def count(self, entries: int = 1) -> None:
        """Count an entry. Call this for every entry, whether or not it is used."""
        self.seen += entries
        if self.seen > MAX_ENTRIES:
            raise SourceError(f"the source has more than {MAX_ENTRIES} entries")

    def add(self, path: str, size: int, opening: Callable[[], IO[bytes]]) -> None:
        """Add a file if its path is safe and free and its size is within the limits."""
        path = path if self.keeps_names else composed(path)
        if wrong := unsafe_path(path):
            self.problem(printable(path), "unsafe_path", f"skipped: {wrong}")
        elif path in self._files or path in self._folders or any(f in self._files for f in folders_of(path)):
            self.problem(path, "duplicate_name", "skipped: a second entry with this name")
        elif size > MAX_FILE:
            self.problem(path, "too_large", f"skipped: larger than {MAX_FILE // 1024**2} MB")
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

    def within(self, folder: str, *, without: str = "") -> Source:
        """Return the contents of a folder, given with a trailing slash, as a source with the problems of its own
        files. The empty folder stands for the whole source. ``without`` is a path to skip."""
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
        """Reduce the source to the contents of ``folder``."""
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
            raise SourceError(f"the source has no folder {folder}")


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
                raise SourceError(f"{where} can't be read: {error.strerror}") from error
            source.problem(folder, "unreadable", f"skipped: {error.strerror}")
            continue
        for entry in entries:
            source.count()
            path = f"{folder}/{entry.name}" if folder else entry.name
            if is_git_path(entry.name):
                continue
            if entry.is_symlink():
                # A link to a file of the same folder is that file. Nothing outside of the folder is read.
                target, top = os.path.realpath(entry.path), os.path.join(os.path.realpath(where), "")
                if os.path.isfile(target) and target.startswith(top) and not is_git_path(target[len(top) :]):
                    source.add(path, os.path.getsize(target), _file_opening(target))
                else:
                    source.problem(printable(path), "symlink", "skipped: symbolic link")
            elif entry.is_dir(follow_symlinks=False):
                if wrong := unsafe_path(path):
                    source.problem(printable(path), "unsafe_path", f"skipped: {wrong}")
                else:
                    waiting.append(path)
            elif entry.is_file(follow_symlinks=False):
                source.add(path, entry.stat(follow_symlinks=False).st_size, _file_opening(entry.path))
            else:
                source.problem(printable(path), "special_file", "skipped: neither a file nor a folder")
    return source


def _file_opening(path: str) -> Callable[[], IO[bytes]]:
    return lambda: os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb")


# Archives


class _Measured:
    """An archive that returns at most ``_MAX_DIRECTORY`` bytes at once, so that the size of its directory is
    limited."""

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
        raise SourceError(f"{where} isn't a readable ZIP archive: {error}") from error
    # Some Windows programs separate folders with a backslash.
    parted = any("/" in info.orig_filename for info in archive.infolist())
    for info in archive.infolist():
        source.count()
        path = _name_of(info)
        if not parted and info.create_system == 0:
            path = path.replace("\\", "/")
        if path.endswith("/") or path.startswith("__MACOSX/") or is_git_path(path):
            continue
        if stat.S_ISLNK(info.external_attr >> 16):
            source.problem(printable(path), "symlink", "skipped: symbolic link")
        elif info.flag_bits & 1:
            source.problem(printable(path), "encrypted", "skipped: encrypted")
        elif info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            source.problem(printable(path), "unknown_compression", "skipped: neither stored nor deflated")
        elif info.file_size > max(info.compress_size * MAX_RATIO, _SMALL):
            raise SourceError(
                f"{printable(path)} would grow to more than {MAX_RATIO} times its size, so it wasn't unpacked"
            )
        else:
            source.add(path, info.file_size, _zip_opening(archive, info))
    # Entries may share bytes, so the actual size of the archive counts.
    if source.total > max(os.path.getsize(where) * MAX_RATIO, _SMALL):
        raise SourceError(
            f"the archive would grow to more than {MAX_RATIO} times its size, so it wasn't unpacked"
        )
    tops = {path.partition("/")[0] for path in source.paths()}
    if not whole and len(tops) == 1 and all("/" in path for path in source.paths()):
        # Archives of repositories contain a single folder named after the repository.
        source.descend(tops.pop())
    return source


_UTF8 = 0x800
_UNICODE_NAME = 0x7075


def _name_of(info: zipfile.ZipInfo) -> str:
    """Return the name of an entry. A name without the UTF-8 flag may still be UTF-8, as macOS writes it, or the
    entry may have its UTF-8 name in an extra field. Otherwise the name is in the code page of old programs."""
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
