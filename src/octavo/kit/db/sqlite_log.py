"""SQLite's write-ahead log, read beside the processes that write it: which pages were committed since a moment.

What SQLite promises of its files (https://sqlite.org/walformat.html) is all that this relies on. A log is begun anew only
when no read needs it, and pages go from it into the database only as far as every read has them. So whoever always has a
read open, and opens the next one before the last one ends, misses no commit: a log is begun anew at most once between
two looks, and only after all of it was seen. The first half of its salt counts these beginnings.
"""

from __future__ import annotations

import os
import sqlite3
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, BinaryIO

from msgspec import Struct

from octavo.errors import Unavailable

_INDEX = struct.Struct("=IIIBBHIIII8sII")
"""The head of the index in shared memory, of which there are two copies: version, unused, changes, is begun, order of
bytes, size of pages, frames, pages, checksum of the last frame, salt, checksum of this head."""
_LOG_HEAD = 32
_FRAME = struct.Struct(">II8sII")
"""What is before each page in the log: its number, the pages of the database after a commit (else 0), salt, checksum."""
_PAGE = struct.Struct(">I")
_TRIES = 1000


class LogEnd(Struct, frozen=True):
    """Behind the last commit. ``salt`` and ``checksum`` in hex; ``frame``: how many the log has, of which the last one has
    this checksum."""

    salt: str
    frame: int
    checksum: str

    def follows(self, before: LogEnd) -> bool:
        """Whether this is the same log, or the one that was begun after it. The first one after an empty file has a salt
        by chance."""
        first, second = int(before.salt[:8], 16), int(self.salt[:8], 16)
        same = self.salt == before.salt and self.frame >= before.frame
        return same or before.frame == 0 or second == (first + 1) & 0xFFFFFFFF


class Pages(Struct):
    """``size``: pages of the database afterwards, each of ``page_size`` bytes; ``wanted``: where in the log with this
    salt the last version of each page is that was written, by its number."""

    salt: str
    size: int
    page_size: int
    wanted: dict[int, int]


class LostTrack(Exception):
    """What was committed in between is not in the log any more."""


class SqliteLog:
    """The log of one database, seen by one thread, in a process that ends afterwards: the files that it opens stay open,
    because closing one would give back the locks that SQLite has on it in the whole process."""

    def __init__(self, path: Path) -> None:
        """Opens the log of the database at ``path``, which is in WAL mode."""
        self._path = path
        self._held = self._connect()
        self._next = self._connect()
        self._mover = self._connect()
        self._begin(self._held)
        self._index = os.open(f"{path}-shm", os.O_RDONLY)
        self._log = os.open(f"{path}-wal", os.O_RDONLY)

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False, timeout=10)
        # Whoever only reads moves nothing into the database by itself.
        connection.execute("PRAGMA wal_autocheckpoint=0")
        return connection

    @staticmethod
    def _begin(connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()

    def snapshot(self) -> sqlite3.Connection:
        """A connection of its own with an open read."""
        connection = self._connect()
        self._begin(connection)
        return connection

    def hold(self) -> LogEnd:
        """Opens a read beside the one that is open, and says where the log ends now. Call ``let_go`` when everything
        up to there was read."""
        self._begin(self._next)
        return self._end()[0]

    def let_go(self) -> None:
        """Ends the earlier one of the two reads."""
        self._held.execute("COMMIT")
        self._held, self._next = self._next, self._held

    def move(self) -> None:
        """Moves pages from the log into the database, as far as nobody reads what was before."""
        self._mover.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()

    def _end(self) -> tuple[LogEnd, int]:
        """Where the log ends, and the size of pages."""
        for _ in range(_TRIES):
            both = os.pread(self._index, 2 * _INDEX.size, 0)
            head = both[: _INDEX.size]
            # Whoever writes it writes the second copy first.
            if len(both) == 2 * _INDEX.size and head == both[_INDEX.size :] and _is_whole(head):
                break
            time.sleep(0.001)
        else:
            raise Unavailable(f"{self._path}-shm: cannot be read")
        _, _, _, _, _, size, frames, _, first, second, salt, _, _ = _INDEX.unpack(head)
        page_size = (size & 0xFE00) + ((size & 1) << 16)
        return LogEnd(salt.hex(), frames, f"{first:08x}{second:08x}"), page_size

    def length(self) -> int:
        """Bytes that the log has."""
        end, page_size = self._end()
        return end.frame * (_FRAME.size + page_size)

    def _frame(self, salt: str, number: int, page_size: int) -> tuple[int, int, str]:
        """The page that a frame holds, the pages of the database after it where it ends a commit, its checksum. Raises
        LostTrack where it is none of this log."""
        at = _LOG_HEAD + (number - 1) * (_FRAME.size + page_size)
        head = os.pread(self._log, _FRAME.size, at)
        if len(head) < _FRAME.size:
            raise LostTrack(f"{self._path}-wal: ends before frame {number}")
        page, size, of, first, second = _FRAME.unpack(head)
        if of.hex() != salt:
            raise LostTrack(f"{self._path}-wal: frame {number} is of another log")
        return page, size, f"{first:08x}{second:08x}"

    def changed(self, before: LogEnd, end: LogEnd) -> Pages | None:
        """The pages that were committed between two ends, of which ``hold`` gave the second one; None when there are
        none. ``before`` is what ``hold`` gave the time before, or of the same log. Raises LostTrack."""
        if not end.follows(before):
            raise LostTrack("the log was begun anew more than once")
        page_size = self._end()[1]
        first = before.frame + 1 if end.salt == before.salt else 1
        if end.frame < first:
            return None
        if first > 1 and self._frame(end.salt, before.frame, page_size)[2] != before.checksum:
            raise LostTrack("what was read of the log is not what it says now")
        wanted: dict[int, int] = {}
        size, checksum = 0, ""
        for number in range(first, end.frame + 1):
            page, size, checksum = self._frame(end.salt, number, page_size)
            wanted[page] = _LOG_HEAD + (number - 1) * (_FRAME.size + page_size) + _FRAME.size
        if checksum != end.checksum or not size:
            raise LostTrack("the log does not end as its index says")
        # What a commit left out of the database is of no use.
        return Pages(
            end.salt, size, page_size, {page: at for page, at in sorted(wanted.items()) if page <= size}
        )

    def read(self, pages: Pages) -> Iterator[bytes]:
        """Each page with its number before it, as ``write_pages`` takes them. Raises LostTrack, at the end perhaps."""
        for page, at in pages.wanted.items():
            data = os.pread(self._log, pages.page_size, at)
            if len(data) != pages.page_size:
                raise LostTrack(f"{self._path}-wal: ends in the middle of page {page}")
            yield _PAGE.pack(page) + data
        if self._end()[0].salt != pages.salt:
            raise LostTrack("the log was begun anew while it was read")

    def close(self) -> None:
        for connection in (self._held, self._next, self._mover):
            connection.close()


def write_pages(database: BinaryIO, source: IO[bytes], page_size: int, size: int) -> None:
    """Writes what ``SqliteLog.read`` gave into the file of a database, which has ``size`` pages afterwards. Raises
    ValueError for something else."""
    while entry := source.read(_PAGE.size + page_size):
        if len(entry) != _PAGE.size + page_size:
            raise ValueError("ends in the middle of a page")
        (page,) = _PAGE.unpack_from(entry)
        if not 1 <= page <= size:
            raise ValueError(f"has page {page} of {size}")
        database.seek((page - 1) * page_size)
        database.write(entry[_PAGE.size :])
    database.truncate(size * page_size)


def _is_whole(head: bytes) -> bool:
    """Whether the checksum of a head of the index is that of its words, in this machine's order of bytes."""
    words = struct.unpack("=12I", head)
    first = second = 0
    for at in range(0, 10, 2):
        first = (first + words[at] + second) & 0xFFFFFFFF
        second = (second + words[at + 1] + first) & 0xFFFFFFFF
    return (first, second) == words[10:] and head[12] == 1
