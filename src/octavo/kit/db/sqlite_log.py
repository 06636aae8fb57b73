"""Read SQLite's write-ahead log while other processes write to it, to find the pages that were committed after a
given time.

This relies only on SQLite's documented file format (https://sqlite.org/walformat.html). A log is restarted only
when no read needs it, and pages are moved from it to the database only up to the point that every read has reached.
Therefore, a process that always has a read open, and opens the next read before the previous read ends, doesn't
miss any commits: a log is restarted at most once between two checks, and only after it has been read completely.
The first half of the log's salt counts the restarts.
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
"""Format of the index header in shared memory, of which there are two copies: version, unused, changes, is
initialized, byte order, page size, frames, pages, checksum of the last frame, salt, checksum of this
header."""
_LOG_HEAD = 32
_FRAME = struct.Struct(">II8sII")
"""Format of each page's header in the log: its number, the number of pages of the database after a commit
(otherwise 0), salt, checksum."""
_PAGE = struct.Struct(">I")
_TRIES = 1000


class LogEnd(Struct, frozen=True):
    """End of the last commit. ``salt`` and ``checksum``: the values in hex. ``frame``: the number of frames
    in the log, the last of which has this checksum."""

    salt: str
    frame: int
    checksum: str

    def follows(self, before: LogEnd) -> bool:
        """Return whether this end is in the same log as ``before``, or in the log that directly follows it. The
        first log after an empty file has a random salt."""
        first, second = int(before.salt[:8], 16), int(self.salt[:8], 16)
        same = self.salt == before.salt and self.frame >= before.frame
        return same or before.frame == 0 or second == (first + 1) & 0xFFFFFFFF


class ChangedPages(Struct):
    """Changed pages. ``size``: the number of pages in the database after the change. Each page has ``page_size``
    bytes. ``wanted``: for each page number, the position of the latest version of the page in the log with this
    salt."""

    salt: str
    size: int
    page_size: int
    wanted: dict[int, int]


class LostTrack(Exception):
    """Raised if changes are no longer in the log."""


class SqliteLog:
    """Log of one database. It is read by one thread, in a process that ends afterward. The files that it opens stay
    open, because closing a file would release all of the process's SQLite locks on it."""

    def __init__(self, path: Path) -> None:
        """Open the log of the database at ``path``, which is in WAL mode."""
        self._path = path
        self._held = self._connect()
        self._next = self._connect()
        self._mover = self._connect()
        self._begin(self._held)
        self._index = os.open(f"{path}-shm", os.O_RDONLY)
        self._log = os.open(f"{path}-wal", os.O_RDONLY)

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False, timeout=10)
        # A reader does not move anything into the database by itself.
        connection.execute("PRAGMA wal_autocheckpoint=0")
        return connection

    @staticmethod
    def _begin(connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()

    def snapshot(self) -> sqlite3.Connection:
        """Return a separate connection with an open read."""
        connection = self._connect()
        self._begin(connection)
        return connection

    def open_next_read(self) -> LogEnd:
        """Open a read in addition to the current read, and return the current end of the log. Call
        ``end_previous_read`` after reading the log up to that point."""
        self._begin(self._next)
        return self._end()[0]

    def end_previous_read(self) -> None:
        """End the earlier of the two reads."""
        self._held.execute("COMMIT")
        self._held, self._next = self._next, self._held

    def move(self) -> None:
        """Move pages from the log to the database, unless a reader still needs an older version of them."""
        self._mover.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()

    def _end(self) -> tuple[LogEnd, int]:
        """Return the end of the log and the page size."""
        for _ in range(_TRIES):
            both = os.pread(self._index, 2 * _INDEX.size, 0)
            head = both[: _INDEX.size]
            # Writers write the second copy first.
            if len(both) == 2 * _INDEX.size and head == both[_INDEX.size :] and _is_whole(head):
                break
            time.sleep(0.001)
        else:
            raise Unavailable(f"{self._path}-shm: the file can't be read")
        _, _, _, _, _, size, frames, _, first, second, salt, _, _ = _INDEX.unpack(head)
        page_size = (size & 0xFE00) + ((size & 1) << 16)
        return LogEnd(salt.hex(), frames, f"{first:08x}{second:08x}"), page_size

    def length(self) -> int:
        """Return the size of the log in bytes."""
        end, page_size = self._end()
        return end.frame * (_FRAME.size + page_size)

    def _frame(self, salt: str, number: int, page_size: int) -> tuple[int, int, str]:
        """Return the page in a frame, the checksum of the frame, and, if the frame ends a commit, the number of pages
        in the database after it. Raises LostTrack if the frame doesn't belong to this log."""
        at = _LOG_HEAD + (number - 1) * (_FRAME.size + page_size)
        head = os.pread(self._log, _FRAME.size, at)
        if len(head) < _FRAME.size:
            raise LostTrack(f"{self._path}-wal: the file ends before frame {number}")
        page, size, of, first, second = _FRAME.unpack(head)
        if of.hex() != salt:
            raise LostTrack(f"{self._path}-wal: frame {number} belongs to another log")
        return page, size, f"{first:08x}{second:08x}"

    def changed(self, before: LogEnd, end: LogEnd) -> ChangedPages | None:
        """Return the pages that were committed between two ends; None if there are none.

        ``before``: the result of the previous ``open_next_read``, or an earlier end of the same log. ``end``: the
        result of ``open_next_read``. Raises LostTrack if the pages are no longer in the log.
        """
        if not end.follows(before):
            raise LostTrack("the log was restarted more than once")
        page_size = self._end()[1]
        first = before.frame + 1 if end.salt == before.salt else 1
        if end.frame < first:
            return None
        if first > 1 and self._frame(end.salt, before.frame, page_size)[2] != before.checksum:
            raise LostTrack("the log changed while it was being read")
        wanted: dict[int, int] = {}
        size, checksum = 0, ""
        for number in range(first, end.frame + 1):
            page, size, checksum = self._frame(end.salt, number, page_size)
            wanted[page] = _LOG_HEAD + (number - 1) * (_FRAME.size + page_size) + _FRAME.size
        if checksum != end.checksum or not size:
            raise LostTrack("the log doesn't end at the position given in its index")
        # Pages that a commit removed from the database are not needed.
        return ChangedPages(
            end.salt, size, page_size, {page: at for page, at in sorted(wanted.items()) if page <= size}
        )

    def read(self, pages: ChangedPages) -> Iterator[bytes]:
        """Yield each page preceded by its number, in the format that ``write_pages`` reads. Raises LostTrack if the
        pages are no longer in the log. This may be detected only at the end."""
        for page, at in pages.wanted.items():
            data = os.pread(self._log, pages.page_size, at)
            if len(data) != pages.page_size:
                raise LostTrack(f"{self._path}-wal: the file ends in the middle of page {page}")
            yield _PAGE.pack(page) + data
        if self._end()[0].salt != pages.salt:
            raise LostTrack("the log was restarted while it was being read")

    def close(self) -> None:
        for connection in (self._held, self._next, self._mover):
            connection.close()


def write_pages(database: BinaryIO, source: IO[bytes], page_size: int, size: int) -> None:
    """Write the output of ``SqliteLog.read`` to a database file, which then has ``size`` pages. Raises ValueError if
    the input is in a different format."""
    while entry := source.read(_PAGE.size + page_size):
        if len(entry) != _PAGE.size + page_size:
            raise ValueError("the file ends in the middle of a page")
        (page,) = _PAGE.unpack_from(entry)
        if not 1 <= page <= size:
            raise ValueError(f"the file contains page {page}, but the database has only {size} pages")
        database.seek((page - 1) * page_size)
        database.write(entry[_PAGE.size :])
    database.truncate(size * page_size)


def _is_whole(head: bytes) -> bool:
    """Return whether the checksum of an index header matches its content, in this machine's byte order."""
    words = struct.unpack("=12I", head)
    first = second = 0
    for at in range(0, 10, 2):
        first = (first + words[at] + second) & 0xFFFFFFFF
        second = (second + words[at + 1] + first) & 0xFFFFFFFF
    return (first, second) == words[10:] and head[12] == 1
