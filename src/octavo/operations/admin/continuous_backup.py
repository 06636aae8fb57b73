"""Continuous backup of SQLite, which consists of a full copy of the database (a base) at regular intervals and,
every few seconds, the pages committed in the meantime.

``continuous_restore.py`` describes the storage format. A new process continues the newest chain of these backups if
SQLite's log still contains the end of the chain; otherwise, it starts a new chain. Files are copied before the
pages that may refer to them.
"""

from __future__ import annotations

import fcntl
import hashlib
import logging
import os
import re
import secrets
import sqlite3
import tempfile
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from msgspec import Struct

from octavo.errors import BadRequest, OctavoError, Unavailable
from octavo.kit.clock import DAY, HOUR, iso, now
from octavo.kit.context import Context
from octavo.kit.db.database import SqliteDatabase
from octavo.kit.db.sqlite_log import LogEnd, LostTrack, SqliteLog
from octavo.kit.files import CHUNK

from .backup_storage import BackupPlace
from .continuous_restore import (
    FORMAT,
    VERSION,
    ChainEntry,
    Head,
    age,
    list_entries,
    packed,
    prune,
    read_head,
    unpacked,
)

log = logging.getLogger("octavo.backup")

_SPOOL = 8 * 1024 * 1024
_LOG_BYTES = 16 * 1024 * 1024
"""Size in bytes at which the log is restarted. A restart blocks writers for a few milliseconds."""
_MOST_LOG_BYTES = 1024 * 1024 * 1024
"""Maximum size in bytes of the log while the backup location is unreachable. If the log grows larger, a new base is
written when the location is reachable again."""
_AGAIN = 5.0
"""Number of seconds after which a location that didn't respond is tried again."""
_BASE_AGAIN = 60_000
"""Time in milliseconds after which writing a base is retried if it failed."""
_ALIVE = 60_000
"""Time in milliseconds without changes after which the backup records that it is still running."""
_LATELY = 2_000_000_000
"""Time in nanoseconds after listing a folder during which another file with the same timestamp may still be added
to the folder."""
_HASH = re.compile(r"[0-9a-f]{64}")


class Terms(Struct, frozen=True):
    """Intervals and retention.

    ``every``: the number of seconds between backups of changes. ``base_hours``: the number of hours between bases.
    ``moments``: the number of past days within which any point in time can be restored. ``keep``: the number of
    days for which bases are kept.
    """

    every: float = 5.0
    base_hours: float = 24.0
    moments: float = 2.0
    keep: float = 14.0


def follow(context: Context, place: BackupPlace, terms: Terms, stop: threading.Event) -> None:
    """Back up changes, in a separate process, until ``stop`` is set.

    Raises BadRequest if the database isn't SQLite or another process is already backing up to the same
    location, and Unavailable if the last pages couldn't be stored.
    """
    if not isinstance(context.db, SqliteDatabase):
        raise BadRequest(
            "--follow: can only be used with SQLite. PostgreSQL archives its own log. See “Restore to a point in"
            " time” in the manual."
        )
    path = Path(context.settings.database.removeprefix("sqlite:///"))
    with _alone(path, place):
        sqlite_log = SqliteLog(path)
        try:
            _Follower(context, path, sqlite_log, place, terms, stop).run()
        finally:
            sqlite_log.close()


@contextmanager
def _alone(path: Path, place: BackupPlace) -> Iterator[None]:
    lock = os.open(_path_next_to(path, "follow", place), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise BadRequest(
            f"{place.address}: another process is already backing up this server to this location. Stop that"
            " process first."
        ) from None
    finally:
        os.close(lock)


def _path_next_to(path: Path, what: str, place: BackupPlace) -> Path:
    """Return a path next to the database, for the process that backs up to this location."""
    return path.with_name(f"{path.name}-{what}-{hashlib.sha256(place.address.encode()).hexdigest()[:8]}")


class _Segment(NamedTuple):
    """Pages that were read from the log."""

    head: Head
    spool: tempfile.SpooledTemporaryFile[bytes]


class _Follower:
    def __init__(
        self,
        context: Context,
        path: Path,
        sqlite_log: SqliteLog,
        place: BackupPlace,
        terms: Terms,
        stop: threading.Event,
    ) -> None:
        self._context, self._path, self._place = context, path, place
        self._terms, self._stop = terms, stop
        self._log = sqlite_log
        self._files = _Files(context.settings.files, place)
        self._generation, self._number = "", 0
        self._put_end: LogEnd | None = None
        """End of the last stored entry."""
        self._at: LogEnd | None = None
        """Position up to which the log has been read; None if a new chain must start."""
        self._is_new = True
        """Whether this process hasn't stored any data yet."""
        self._time = self._noted = 0
        self._base: threading.Thread | None = None
        self._base_due = 0
        self._has_base = False

    def run(self) -> None:
        is_last = False
        while True:
            try:
                if self._at is None:
                    self._begin()
                self._read_changes()
                if not is_last:
                    self._care()
            except LostTrack as error:
                log.warning("starting a new chain with a full backup: %s", error)
                self._at = None
            except (OctavoError, OSError) as error:
                if is_last:
                    raise
                log.error("backup paused: %s", error)
                if self._at is None:
                    # Nothing is read in the meantime, so nothing has to be kept in memory.
                    self._skip()
                self._stop.wait(_AGAIN)
            if is_last:
                return
            if self._stop.wait(self._terms.every):
                # Once more, for the last changes.
                self._end_base()
                is_last = True

    # --- the chain

    def _begin(self) -> None:
        """Continue the newest chain if the log still contains the end of that chain; otherwise, start a new chain."""
        self._end_base()
        if self._is_new and self._goes_on():
            return
        self._generation = f"{re.sub(r'[-:]|[.][0-9]+', '', iso(now()))}-{secrets.token_hex(3)}"
        self._number, self._put_end, self._has_base = 0, None, False
        self._start_base()
        self._is_new = False

    def _goes_on(self) -> bool:
        entries = [entry for entry in list_entries(self._place.list("log/")) if entry.kind != "files"]
        newest = max(entries, default=None, key=age)
        if newest is None:
            return False
        self._time = max(self._time, newest.time)
        try:
            with closing(unpacked(self._place.get(newest.name))) as pieces:
                head = read_head(pieces)
        except ValueError:
            return False
        end = self._log.open_next_read()
        try:
            # If no process has held the log since, it must be the same log. All empty logs look the same.
            if end.salt != head.end.salt or head.end.frame == 0:
                return False
            segment = self._read(head.end, end)
        except LostTrack:
            return False
        finally:
            self._log.end_previous_read()
        self._generation, self._number = newest.generation, newest.number
        self._at, self._put_end, self._is_new = end, head.end, False
        bases = [each for each in entries if each.kind == "base" and each.generation == newest.generation]
        self._has_base = bool(bases)
        self._base_due = max((base.time for base in bases), default=0) + round(self._terms.base_hours * HOUR)
        self._put(segment)
        log.info("continuing the backup", extra={"place": self._place.address})
        return True

    def _read_changes(self) -> None:
        """Read and store the changes that were committed since the last call."""
        segment = self._read_on()
        self._put(segment)
        if segment is None and now() - self._noted > _ALIVE:
            self._files.copy()
            moment = self._moment()
            self._place.put(f"log/{self._generation}/alive", [str(moment).encode()])
            self._noted = moment

    def _read_on(self) -> _Segment | None:
        assert self._at is not None
        end = self._log.open_next_read()
        try:
            segment = self._read(self._at, end)
            self._at = end
        finally:
            self._log.end_previous_read()
        return segment

    def _read(self, before: LogEnd, end: LogEnd) -> _Segment | None:
        pages = self._log.changed(before, end)
        if pages is None:
            return None
        head = Head(FORMAT, VERSION, 0, self._moment(), pages.page_size, pages.size, end)
        spool = tempfile.SpooledTemporaryFile[bytes](_SPOOL)
        try:
            for piece in self._log.read(pages):
                spool.write(piece)
        except BaseException:
            spool.close()
            raise
        return _Segment(head, spool)

    def _put(self, segment: _Segment | None) -> None:
        """Store pages, with retries.

        Raises LostTrack if this takes so long that the log grows too large, and Unavailable if the process must
        stop.
        """
        if segment is None:
            return
        head, spool = segment
        head.number, head.before = self._number + 1, self._put_end
        name = ChainEntry(head.time, self._generation, head.number, "pages").name
        with spool:
            while True:
                try:
                    self._files.copy()
                    spool.seek(0)
                    self._place.put(name, packed(head, _chunks(spool)))
                    break
                except (OctavoError, OSError) as error:
                    log.error("backup paused: %s", error)
                    if self._stop.is_set():
                        raise Unavailable(
                            f"{self._place.address}: the latest changes couldn't be stored ({error})"
                        ) from None
                    if self._log.length() > _MOST_LOG_BYTES:
                        raise LostTrack(
                            "the log grew too long while the backup location couldn't be reached"
                        ) from None
                    self._stop.wait(_AGAIN)
        self._number, self._put_end, self._noted = head.number, head.end, head.time

    def _moment(self) -> int:
        """Return the current time, which never decreases."""
        self._time = max(self._time + 1, now())
        return self._time

    # --- in parallel with the chain

    def _care(self) -> None:
        if self._base is not None and not self._base.is_alive():
            self._base = None
        if self._base is None and now() >= self._base_due:
            self._start_base()
        if self._base is None and self._log.length() > _LOG_BYTES:
            self._shorten()

    def _shorten(self) -> None:
        """Make SQLite restart the log. The next writer does so when the database contains all pages in the log and no
        process is reading the log."""
        self._log.move()
        with self._context.db.write():
            segment = self._read_on()
            self._log.move()
            self._skip()
        self._put(segment)

    def _skip(self) -> None:
        self._log.open_next_read()
        self._log.end_previous_read()

    def _start_base(self) -> None:
        """Start writing a base of the current database in a thread, while the chain continues."""
        there = self._files.list_hashes()
        with self._context.db.write():
            source = self._log.snapshot()
            try:
                segment = None if self._at is None else self._read_on()
                if self._at is None:
                    self._at = self._put_end = self._log.open_next_read()
                    self._log.end_previous_read()
            except BaseException:
                source.close()
                raise
        try:
            self._put(segment)
        except BaseException:
            source.close()
            raise
        assert self._put_end is not None
        entry = ChainEntry(self._moment(), self._generation, self._number, "base")
        self._base_due = now() + _BASE_AGAIN
        self._base = threading.Thread(
            target=self._write_base,
            args=(source, entry, self._put_end, there),
            name="octavo-base",
            daemon=True,
        )
        self._base.start()

    def _end_base(self) -> None:
        if self._base is not None:
            self._base.join()
            self._base = None

    def _write_base(
        self, source: sqlite3.Connection, entry: ChainEntry, end: LogEnd, there: set[str]
    ) -> None:
        whole = _path_next_to(self._path, "base", self._place)
        whole.unlink(missing_ok=True)  # Left by a process that was killed.
        try:
            with closing(source):
                self._copy(source, whole)
            self._files.copy()
            listed = "\n".join(sorted(there))
            self._place.put(entry._replace(kind="files").name, [zlib.compress(listed.encode())])
            page_size = _page_size(whole)
            head = Head(
                format=FORMAT,
                version=VERSION,
                number=entry.number,
                time=entry.time,
                page_size=page_size,
                size=whole.stat().st_size // page_size,
                end=end,
                url=self._context.settings.url,
                files=self._files.folder is not None,
            )
            with whole.open("rb") as read:
                self._place.put(entry.name, packed(head, _chunks(read)))
            self._has_base = True
            self._base_due = entry.time + round(self._terms.base_hours * HOUR)
            log.info("full backup written", extra={"place": self._place.address})
            moments, bases = (now() - round(days * DAY) for days in (self._terms.moments, self._terms.keep))
            prune(self._place, moments, bases, self._files.list_hashes())
        except _Stopped:
            pass
        except (OctavoError, OSError, sqlite3.Error) as error:
            log.error("full backup failed: %s", error)
        finally:
            whole.unlink(missing_ok=True)

    def _copy(self, source: sqlite3.Connection, target: Path) -> None:
        def go_on(status: int, left: int, total: int) -> None:
            # A chain is useless without its first base, so wait for that base.
            if self._stop.is_set() and self._has_base:
                raise _Stopped

        with closing(sqlite3.connect(target, isolation_level=None)) as into:
            for pragma in ("synchronous=OFF", "journal_mode=OFF"):
                into.execute(f"PRAGMA {pragma}")
            source.backup(into, pages=2000, progress=go_on)


class _Stopped(Exception):
    pass


class _Files:
    """Copier of files from the server's folder to a backup location. It skips files that are already there. Files in a
    bucket are backed up separately."""

    def __init__(self, url: str, place: BackupPlace) -> None:
        self.folder = Path(url.removeprefix("file://")) if url.startswith("file://") else None
        self._target = place.files
        self._lock = threading.Lock()
        self._copied: set[str] | None = None
        self._seen: dict[str, int] = {}

    def list_hashes(self) -> set[str]:
        """Return the hashes of all of the server's files."""
        if self.folder is None:
            return set()
        return {path.name for path in self.folder.glob("??/*") if _HASH.fullmatch(path.name)}

    def copy(self) -> None:
        if self.folder is None or not self.folder.is_dir():
            return
        with self._lock:
            if self._copied is None:
                self._copied = {hash for hash, _, _ in self._target.list_all()}
            until = time.time_ns() - _LATELY
            for part in os.scandir(self.folder):
                if part.is_dir():
                    changed = os.stat(part.path).st_mtime_ns
                    if changed != self._seen.get(part.name) or changed > until:
                        self._copy_from(part.path, self._copied)
                        self._seen[part.name] = changed

    def _copy_from(self, folder: str, copied: set[str]) -> None:
        for name in os.listdir(folder):
            if name not in copied and _HASH.fullmatch(name):
                try:
                    with open(os.path.join(folder, name), "rb") as source:
                        self._target.put(source)
                except FileNotFoundError:
                    continue  # Deleted in the meantime.
                copied.add(name)


def _page_size(path: Path) -> int:
    with path.open("rb") as read:
        found = int.from_bytes(read.read(18)[16:], "big")
    return 65536 if found == 1 else found


def _chunks(source: IO[bytes]) -> Iterator[bytes]:
    while chunk := source.read(CHUNK):
        yield chunk
