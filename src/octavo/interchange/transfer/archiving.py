"""Package a revision of a space as a .zip file, for downloads in a browser."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Iterator
from typing import IO

from octavo.content.revisions.states import State
from octavo.kit.context import Context
from octavo.kit.scheduling.owners import Owner
from octavo.kit.scheduling.shares import Shares

from .exporting import export_files

PLACES = Shares("archives are being created", 4)
"""Slots for archives in progress. An archive is written to disk first, so that a slow download doesn't hold a
transaction open."""
SECONDS = 10
"""Number of seconds that a request waits for a slot."""
_IN_MEMORY = 1024 * 1024
_PIECE = 256 * 1024
_MADE = (1980, 1, 1, 0, 0, 0)
"""Date of every archive entry. The date is fixed, so that archives of the same state always have the same bytes."""
_PACKED = (
    ".png",
    ".jpg",
    ".jpeg",
    ".gif",
    ".webp",
    ".avif",
    ".mp4",
    ".webm",
    ".zip",
    ".pdf",
    ".docx",
    ".woff2",
)
"""Extensions of files that are already compressed."""


def archive(context: Context, owner: Owner, state: State) -> Iterator[bytes]:
    """Yield the bytes of a state's archive in chunks. The archive is complete before the first chunk is yielded.
    ``owner``: the owner whose share of the slots this archive uses. Raises Unavailable if all slots are in use."""
    with PLACES.place(owner, SECONDS):
        spool = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - closed by the reader
        try:
            _write(context, state, spool)
        except BaseException:
            spool.close()
            raise
    return _pieces(spool)


def _write(context: Context, state: State, out: IO[bytes]) -> None:
    with context.db.read() as tx, zipfile.ZipFile(out, "w") as packed:
        for exported in export_files(tx, context.files, state):
            entry = zipfile.ZipInfo(exported.path, _MADE)
            small = exported.path.lower().endswith(_PACKED)
            entry.compress_type = zipfile.ZIP_STORED if small else zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            with packed.open(entry, "w", force_zip64=True) as written:
                for piece in exported.pieces:
                    written.write(piece)


def _pieces(spool: IO[bytes]) -> Iterator[bytes]:
    with spool:
        spool.seek(0)
        while piece := spool.read(_PIECE):
            yield piece
