"""Packs of Git objects from other servers. Each pack is saved to a file and inspected before it is unpacked.

A pack declares the size of each of its objects. A few kilobytes can declare objects of several gigabytes, which
would be kept in memory during unpacking. Packs of this kind are rejected. Objects that large are also rejected in
local repositories, because packs in these repositories weren't inspected when they arrived. This module is loaded
only if Git is used, because the Git libraries are slow to load.
"""

from __future__ import annotations

import os
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
from dulwich.object_store import DiskObjectStore
from dulwich.objects import ObjectID, RawObjectID, hex_to_sha, sha_to_hex
from dulwich.pack import UnresolvedDeltas
from dulwich.repo import Repo

from octavo.kit.scheduling import deadlines

from .git_http import GitRefused, RepositoryTooLarge

MOST_OBJECT = 256 * 1024**2
"""Maximum size in bytes of one object. Files in spaces are smaller, but a repository may also contain other
files."""
MOST_UNPACKED = 64 * 1024**3
"""Maximum total size in bytes of all unpacked objects in a pack. The objects of a long history are much larger than
the deltas that a pack stores."""
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
"""Exceptions that are raised when reading objects that no Git program would write."""
_IN_MEMORY = 4 * 1024**2
_PIECE = 16 * 1024
_OFFSET_DELTA, _NAME_DELTA = 6, 7
_HEX = 40
_TOO_LARGE = (
    "the repository contains an object that is too large. Remove the object from the history, or import a"
    " smaller repository."
)
_CORRUPT = "the Git server sent a corrupt packfile. Try again, or check the repository with `git fsck`."
_CUT_OFF = "the packfile was truncated. Try again."
_NUMBERS = 32
"""Maximum number of bytes that the two sizes at the beginning of a delta can take up."""
_CHECKED_EVERY = 1000


def fetch(
    client: GitClient, path: bytes, repo: Repo, wants: Any, depth: int | None = None, most: int | None = None
) -> FetchPackResult:
    """Fetch objects, as ``client.fetch`` does, and inspect the pack. ``most``: the maximum size of the pack in bytes.
    Raises GitRefused if the pack is rejected. The client's own errors are also raised."""
    store: Any = repo.object_store
    with SpooledTemporaryFile(max_size=_IN_MEMORY, prefix="incoming-", dir=store.path) as pack:
        received = 0

        def write(data: bytes) -> int:
            nonlocal received
            received += len(data)
            if most is not None and received > most:
                raise RepositoryTooLarge(most)
            return pack.write(data)

        result = client.fetch_pack(
            path, wants, repo.get_graph_walker(), write, progress=lambda said: None, depth=depth
        )
        if result.object_format not in (None, "sha1"):
            raise GitRefused(
                f"the repository uses the object format {result.object_format}, but only sha1 is supported"
            )
        if received:
            pack.seek(0)
            inspect_pack(pack)
            pack.seek(0)
            store.add_thin_pack(pack.read, None)
    repo.update_shallow(result.new_shallow, result.new_unshallow)
    return result


def inspect_pack(pack: IO[bytes]) -> None:
    """Inspect a pack. Raises GitRefused if its objects are too large, or if the file isn't a pack."""
    reading = _Reading(pack)
    head = reading.take(12)
    if head[:4] != b"PACK":
        raise GitRefused("the Git server sent no packfile. Check the URL, then try again.")
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
            raise GitRefused(_TOO_LARGE)


class GuardedStore(DiskObjectStore):
    """Object store of a local repository.

    Objects from untrusted sources are checked for their size before they are unpacked. These are the objects of the
    store's alternates and, if the store is ``foreign``, its own objects. Reading an object that is too large raises
    GitRefused.
    """

    def __init__(self, path: str | os.PathLike[str], *, foreign: bool = False) -> None:
        super().__init__(path)
        self._foreign = foreign

    def get_raw(self, name: RawObjectID | ObjectID) -> tuple[int, bytes]:
        oid = ObjectID(name) if len(name) == _HEX else sha_to_hex(RawObjectID(name))
        if self._foreign:
            _require_unpackable(self, oid)
        else:
            for alternate in self.alternates:
                _require_unpackable(alternate, oid)
        return super().get_raw(name)


def _require_unpackable(store: Any, oid: ObjectID) -> None:
    """Check an object. Raises GitRefused if the object, or an object that it is based on, is too large."""
    try:
        with open(os.path.join(store.path, os.fsdecode(oid[:2]), os.fsdecode(oid[2:])), "rb") as loose:
            head = zlib.decompressobj().decompress(loose.read(_PIECE), _NUMBERS)
        size = head.partition(b"\0")[0].rpartition(b" ")[2]
        _require_size(int(size) if size.isdigit() else 0)
    except FileNotFoundError:
        pass
    for pack in store.packs:
        try:
            offset = pack.index.object_offset(hex_to_sha(oid))
        except KeyError:
            continue
        base = _require_packed(pack.data.path, offset)
        if base is not None:
            _require_unpackable(store, base)
    for alternate in store.alternates:
        _require_unpackable(alternate, oid)


def _require_packed(path: str, offset: int) -> ObjectID | None:
    """Check the objects in a pack along a chain of deltas, starting at an offset. Return the ID of the last delta's
    base object if the delta specifies it by ID; otherwise, return None.

    Raises GitRefused if an object is too large.
    """
    with open(path, "rb") as pack:
        while True:
            deadlines.check()
            pack.seek(offset)
            reading = _Reading(pack)
            kind, size = reading.object_head()
            base = reading.offset_back() if kind == _OFFSET_DELTA else 0
            named = reading.take(20) if kind == _NAME_DELTA else None
            if kind in (_OFFSET_DELTA, _NAME_DELTA):
                size = max(size, _delta_result(reading.begin_packed()))
            _require_size(size)
            if kind != _OFFSET_DELTA:
                return sha_to_hex(RawObjectID(named)) if named is not None else None
            if not 0 < base < offset:
                raise GitRefused(_CORRUPT)
            offset -= base


def _require_size(size: int) -> None:
    if size > MOST_OBJECT:
        raise GitRefused(_TOO_LARGE)


def _delta_result(beginning: bytes) -> int:
    """Return the size of the object that a delta produces: the second number in the delta."""
    place, number = 0, 0
    for _ in range(2):
        number, shift = 0, 0
        while True:
            if place >= len(beginning) or shift > 63:
                raise GitRefused(_CORRUPT)
            byte = beginning[place]
            place += 1
            number |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                break
    return number


class _Reading:
    """Reader that reads a pack sequentially."""

    def __init__(self, pack: IO[bytes]) -> None:
        self._pack, self._rest, self._at = pack, b"", 0

    def take(self, count: int) -> bytes:
        while self._at + count > len(self._rest):
            more = self._pack.read(_PIECE)
            self._rest, self._at = self._rest[self._at :] + more, 0
            if not more:
                raise GitRefused(_CUT_OFF)
        found = self._rest[self._at : self._at + count]
        self._at += count
        return found

    def object_head(self) -> tuple[int, int]:
        """Read the type and the declared size of the next object."""
        byte = self.take(1)[0]
        kind, size, shift = byte >> 4 & 7, byte & 15, 4
        while byte & 0x80:
            byte = self.take(1)[0]
            size |= (byte & 0x7F) << shift
            shift += 7
            if shift > 63:
                raise GitRefused(_CORRUPT)
        return kind, size

    def offset_back(self) -> int:
        """Read the distance from a delta back to its base object."""
        byte = self.take(1)[0]
        back = byte & 0x7F
        while byte & 0x80:
            byte = self.take(1)[0]
            back = (back + 1) << 7 | byte & 0x7F
        return back

    def begin_packed(self) -> bytes:
        """Return the beginning of compressed data."""
        return zlib.decompressobj().decompress(self._rest[self._at :] or self._pack.read(_PIECE), _NUMBERS)

    def skip_packed(self, size: int) -> bytes:
        """Skip compressed data that has this size when decompressed, and return its beginning."""
        _require_size(size)
        unpacking, left, beginning = zlib.decompressobj(), size, b""
        while not unpacking.eof:
            if self._at >= len(self._rest):
                self._rest, self._at = self._pack.read(_PIECE), 0
                if not self._rest:
                    raise GitRefused(_CUT_OFF)
            packed = self._rest[self._at :] if self._at else self._rest
            self._at = len(self._rest)
            while True:
                piece = unpacking.decompress(packed, left + 1)
                if len(beginning) < _NUMBERS:
                    beginning += piece[: _NUMBERS - len(beginning)]
                left -= len(piece)
                if left < 0:
                    raise GitRefused(_CORRUPT)
                packed = unpacking.unconsumed_tail
                if not packed:
                    break
        self._at -= len(unpacking.unused_data)
        if left:
            raise GitRefused(_CORRUPT)
        return beginning
