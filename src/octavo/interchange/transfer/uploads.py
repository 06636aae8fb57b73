"""Combine uploaded files, and archives inside archives, into one source."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from octavo.content.uploads.store import UploadRow
from octavo.core.sources import Source, SourceError, SourceFiles, source_of
from octavo.interchange.readers.converting import CONVERTED, read_files
from octavo.interchange.readers.opening import open_archive
from octavo.interchange.readers.scratch import TemporaryFiles, opening_of
from octavo.interchange.readers.types import Tick
from octavo.kit.files import FileStore

MAX_PARTS = 100
"""Maximum number of archives inside an archive that are read as one source. These archives stay open while they are
read."""


def gather_uploads(
    uploads: Iterable[UploadRow],
    files: FileStore,
    folder: TemporaryFiles,
    stack: ExitStack,
    tick: Tick,
    kind: str | None = None,
    several: bool = False,
) -> Source:
    """Return the uploaded files as one source. If there is more than one file, each archive gets its own folder.
    ``kind``: the kind of source, if a person specified it. ``several``: whether to include all versions and
    languages.

    Raises SourceError if an archive can't be read or looks like an attack.
    """
    uploads = list(uploads)
    raw = SourceFiles(posixpath.splitext(uploads[0].name)[0])
    for upload in uploads:
        tick()
        place = folder.new(".zip")
        with place.open("wb") as out:
            for piece in files.open(upload.hash or ""):
                out.write(piece)
        stem, ending = posixpath.splitext(upload.name)
        if ending.lower() == ".zip":
            archive = unpack_parts(_open(place, upload.name, stack), folder, stack, tick)
            prefix = "" if len(uploads) == 1 else f"{stem}/"
            raw.count(archive.files.seen)
            raw.problems += archive.problems
            for path in archive.paths():
                raw.add(prefix + path, archive.size(path), _entry_opening(archive, path, folder))
        elif ending.lower() in CONVERTED:
            raw.add(upload.name, upload.size, opening_of(place))
        else:
            message = "skipped: only Markdown, HTML, .docx, .odt, and .zip files can be imported"
            raw.problem(upload.name, "unknown_format", message)
    return read_files(source_of(raw), folder, tick, kind, several)


def unpack_parts(
    archive: Source, folder: TemporaryFiles, stack: ExitStack, tick: Tick = lambda: None
) -> Source:
    """Combine the archives in an export into one source if the export consists only of archives; return any other
    source unchanged. Archives inside these archives aren't opened. Raises SourceError if an archive can't be read."""
    paths = archive.paths()
    if not 0 < len(paths) <= MAX_PARTS or not all(path.lower().endswith(".zip") for path in paths):
        return archive
    made = SourceFiles(archive.name)
    made.problems += archive.problems
    for path in paths:
        tick()
        place = folder.new(".zip")
        with place.open("wb") as out:
            for piece in archive.pieces(path):
                out.write(piece)
        part = _open(place, path, stack, whole=True)
        made.count(part.files.seen)
        made.problems += part.problems
        for name in part.paths():
            made.add(name, part.size(name), _entry_opening(part, name, folder))
    return source_of(made, archive.commit)


def _open(place: Path, name: str, stack: ExitStack, whole: bool = False) -> Source:
    """Open an archive. Messages refer to it by ``name``."""
    try:
        return open_archive(str(place), stack, whole)
    except SourceError as error:
        raise SourceError(str(error).replace(str(place), name)) from error


def _entry_opening(archive: Source, path: str, folder: TemporaryFiles) -> Callable[[], IO[bytes]]:
    def opening() -> IO[bytes]:
        # The archive is read through the outer archive, which measures the unpacked size.
        place = folder.new()
        with place.open("wb") as out:
            for piece in archive.pieces(path):
                out.write(piece)
        return place.open("rb")

    return opening
