"""Packs of objects that come from elsewhere: received into a file, and looked over before anything unpacks them.

A pack says how large each of its objects is. A few kilobytes can name objects of gigabytes, which whoever unpacks them
holds in memory: such a pack is refused. Loaded only where Git is used: its libraries take long to load.
"""

from __future__ import annotations

import struct
import zlib
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from dulwich.client import FetchPackResult, GitClient
from dulwich.errors import (
    ApplyDeltaError,
    ChecksumMismatch,
    FileFormatException,
    MissingCommitError,
    ObjectMissing,
    WrongObjectException,
)
from dulwich.pack import UnresolvedDeltas
from dulwich.repo import Repo

from . import deadlines
from .git_http import GitRefused

MOST_OBJECT = 256 * 1024**2
"""Bytes of one object; files of a space are smaller, but others may lie beside them."""
MOST_UNPACKED = 64 * 1024**3
"""Bytes of all objects of a pack. Those of a long history are much larger than their differences."""
DAMAGES = (
    FileFormatException,
    ChecksumMismatch,
    WrongObjectException,
    ObjectMissing,
    MissingCommitError,
    ApplyDeltaError,
    UnresolvedDeltas,
    zlib.error,
    struct.error,
)
"""What reading objects raises that no Git program would have written."""
_IN_MEMORY = 4 * 1024**2
_PIECE = 16 * 1024
_OFFSET_DELTA, _NAME_DELTA = 6, 7
_NUMBERS = 32
"""Bytes at the beginning of a delta that its two sizes are in."""
_CHECKED_EVERY = 1000


def fetch(
    client: GitClient, path: bytes, repo: Repo, wants: Any, depth: int | None = None, most: int | None = None
) -> FetchPackResult:
    """What ``client.fetch`` does, with a look over the pack. ``most``: bytes of the pack. Raises GitRefused, and what
    the client raises."""
    store: Any = repo.object_store
    with SpooledTemporaryFile(max_size=_IN_MEMORY, prefix="incoming-", dir=store.path) as pack:
        received = 0

        def write(data: bytes) -> int:
            nonlocal received
            received += len(data)
            if most is not None and received > most:
                raise GitRefused("the repository is too large")
            return pack.write(data)

        result = client.fetch_pack(
            path, wants, repo.get_graph_walker(), write, progress=lambda said: None, depth=depth
        )
        if result.object_format not in (None, "sha1"):
            raise GitRefused(f"the repository names its objects by {result.object_format}, not by sha1")
        if received:
            pack.seek(0)
            look_over(pack)
            pack.seek(0)
            store.add_thin_pack(pack.read, None)
    repo.update_shallow(result.new_shallow, result.new_unshallow)
    return result


def look_over(pack: IO[bytes]) -> None:
    """Raises GitRefused for a pack whose objects are too large, and for one that is none."""
    reading = _Reading(pack)
    head = reading.take(12)
    if head[:4] != b"PACK":
        raise GitRefused("no pack of objects came")
    total = 0
    for number in range(int.from_bytes(head[8:12], "big")):
        if number % _CHECKED_EVERY == 0:
            deadlines.check()
        kind, size = reading.object_head()
        if kind == _OFFSET_DELTA:
            while reading.take(1)[0] & 0x80:
                pass
        elif kind == _NAME_DELTA:
            reading.take(20)
        beginning = reading.skip_packed(size)
        if kind in (_OFFSET_DELTA, _NAME_DELTA):
            size = max(size, _delta_result(beginning))
        total += size
        if size > MOST_OBJECT or total > MOST_UNPACKED:
            raise GitRefused("the repository is too large: it has objects of more than may be unpacked")


def _delta_result(beginning: bytes) -> int:
    """How large the object is that a delta makes: the second number in it."""
    place, number = 0, 0
    for _ in range(2):
        number, shift = 0, 0
        while True:
            if place >= len(beginning) or shift > 63:
                raise GitRefused("the repository sent a damaged pack")
            byte = beginning[place]
            place += 1
            number |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                break
    return number


class _Reading:
    """A pack, from its beginning, some at a time."""

    def __init__(self, pack: IO[bytes]) -> None:
        self._pack, self._rest, self._at = pack, b"", 0

    def take(self, count: int) -> bytes:
        while self._at + count > len(self._rest):
            more = self._pack.read(_PIECE)
            self._rest, self._at = self._rest[self._at :] + more, 0
            if not more:
                raise GitRefused("the repository sent a pack without its end")
        found = self._rest[self._at : self._at + count]
        self._at += count
        return found

    def object_head(self) -> tuple[int, int]:
        """The kind of the next object and how large it says to be."""
        byte = self.take(1)[0]
        kind, size, shift = byte >> 4 & 7, byte & 15, 4
        while byte & 0x80:
            byte = self.take(1)[0]
            size |= (byte & 0x7F) << shift
            shift += 7
            if shift > 63:
                raise GitRefused("the repository sent a damaged pack")
        return kind, size

    def skip_packed(self, size: int) -> bytes:
        """Goes behind a packed text of this size, and gives its beginning."""
        if size > MOST_OBJECT:
            raise GitRefused("the repository is too large: it has objects of more than may be unpacked")
        unpacking, left, beginning = zlib.decompressobj(), size, b""
        while not unpacking.eof:
            if self._at >= len(self._rest):
                self._rest, self._at = self._pack.read(_PIECE), 0
                if not self._rest:
                    raise GitRefused("the repository sent a pack without its end")
            packed = self._rest[self._at :] if self._at else self._rest
            self._at = len(self._rest)
            while True:
                piece = unpacking.decompress(packed, left + 1)
                if len(beginning) < _NUMBERS:
                    beginning += piece[: _NUMBERS - len(beginning)]
                left -= len(piece)
                if left < 0:
                    raise GitRefused("the repository sent a damaged pack")
                packed = unpacking.unconsumed_tail
                if not packed:
                    break
        self._at -= len(unpacking.unused_data)
        if left:
            raise GitRefused("the repository sent a damaged pack")
        return beginning
