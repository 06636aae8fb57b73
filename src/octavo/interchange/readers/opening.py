"""Open folders and ZIP archives as the files of a source.

Individual invalid entries are skipped and reported. A source that can't be used at all, or that looks like an
attack, raises ``SourceError``."""

from __future__ import annotations

import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable
from contextlib import ExitStack
from typing import IO

from octavo.core.paths import is_git_path, unsafe_path
from octavo.core.sources import Source, SourceError, SourceFiles, printable, source_of

MAX_RATIO = 200
"""Maximum compression ratio (unpacked to packed bytes) of an entry and of an entire archive."""
_SMALL = 64 * 1024
"""Number of unpacked bytes that is always allowed, because even harmless short files, such as a file with a single
repeated letter, can have a high compression ratio."""
_MAX_DIRECTORY = 16 * 1024 * 1024


def open_folder(where: str) -> Source:
    source = SourceFiles(os.path.basename(os.path.abspath(where)))
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
                # A link to a file in the same folder is treated as that file. Nothing outside the folder is
                # read.
                target, top = os.path.realpath(entry.path), os.path.join(os.path.realpath(where), "")
                if os.path.isfile(target) and target.startswith(top) and not is_git_path(target[len(top) :]):
                    source.add(path, os.path.getsize(target), _file_opening(target))
                else:
                    source.problem(printable(path), "symlink", "skipped: symbolic links aren't supported")
            elif entry.is_dir(follow_symlinks=False):
                if wrong := unsafe_path(path):
                    source.problem(printable(path), "unsafe_path", f"skipped: {wrong}")
                else:
                    waiting.append(path)
            elif entry.is_file(follow_symlinks=False):
                source.add(path, entry.stat(follow_symlinks=False).st_size, _file_opening(entry.path))
            else:
                source.problem(
                    printable(path), "special_file", "skipped: this is neither a file nor a folder"
                )
    return source_of(source)


def _file_opening(path: str) -> Callable[[], IO[bytes]]:
    return lambda: os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb")


# Archives


class _Measured:
    """Archive file that returns at most ``_MAX_DIRECTORY`` bytes per read, which limits the size of the archive's
    directory."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file

    def read(self, size: int = -1) -> bytes:
        if size > _MAX_DIRECTORY:
            raise SourceError("the archive's table of contents is too large")
        return self.file.read(_MAX_DIRECTORY if size < 0 else size)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self.file.seek(offset, whence)

    def tell(self) -> int:
        return self.file.tell()

    def seekable(self) -> bool:
        return True


def open_archive(where: str, stack: ExitStack, whole: bool = False) -> Source:
    source = SourceFiles(os.path.splitext(os.path.basename(where))[0])
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
            source.problem(printable(path), "symlink", "skipped: symbolic links aren't supported")
        elif info.flag_bits & 1:
            source.problem(printable(path), "encrypted", "skipped: the file is encrypted")
        elif info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            source.problem(
                printable(path),
                "unknown_compression",
                "skipped: the compression isn't supported. Create the .zip file again with standard (deflate)"
                " compression.",
            )
        elif info.file_size > max(info.compress_size * MAX_RATIO, _SMALL):
            raise SourceError(
                f"{printable(path)} would unpack to more than {MAX_RATIO} times its compressed size, so "
                "nothing was unpacked"
            )
        else:
            source.add(path, info.file_size, _zip_opening(archive, info))
    # Entries may share bytes, so the actual size of the archive counts.
    if source.total > max(os.path.getsize(where) * MAX_RATIO, _SMALL):
        raise SourceError(
            f"the archive would unpack to more than {MAX_RATIO} times its compressed size, so nothing was unpacked"
        )
    tops = {path.partition("/")[0] for path in source.paths()}
    if not whole and len(tops) == 1 and all("/" in path for path in source.paths()):
        # Repository archives contain a single folder named after the repository.
        source.descend(tops.pop())
    return source_of(source)


_UTF8 = 0x800
_UNICODE_NAME = 0x7075


def _name_of(info: zipfile.ZipInfo) -> str:
    """Return the name of an entry. A name without the UTF-8 flag may still be in UTF-8, because macOS doesn't set
    the flag, and an extra field may contain the name in UTF-8. Otherwise, the name is in the code page that older
    software uses."""
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
