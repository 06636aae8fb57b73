"""Turns that several processes take to write to one SQLite database.

With SQLite's own locks, a waiting process retries periodically, up to a tenth of a second later. By then, a process
that writes constantly has already started its next write, so other processes would wait for seconds. Therefore,
processes take turns by using two system locks. A writer first waits for an outer lock, and only its holder waits
for the inner lock, which is the turn to write. A process that has just written therefore has to wait if another
process holds the outer lock.
"""

from __future__ import annotations

import fcntl
import os
import threading


class ProcessTurns:
    """Write lock that several processes share. It is used by one thread of each process at a time. It
    consists of two file locks, which the operating system releases when a process ends."""

    def __init__(self, path: str) -> None:
        """Set up the locks. ``path``: the path of the database. The two lock files are in the same folder."""
        self._door, self._turn = (
            os.open(f"{path}-{name}", os.O_RDWR | os.O_CREAT, 0o600) for name in ("door", "turn")
        )
        self._changed = threading.Condition()
        self._asks = False
        """Whether a thread is waiting for a system lock, which can't be interrupted."""
        self._wanted = self._held = self._closed = False

    def take(self, seconds: float) -> bool:
        """Wait at most ``seconds`` for a turn to write, and return whether this process got it."""
        with self._changed:
            if not self._asks:
                if self._try():
                    self._held = True
                    return True
                self._asks = True
                threading.Thread(target=self._ask, name="octavo-turn", daemon=True).start()
            self._wanted = True
            self._changed.wait_for(lambda: self._held, seconds)
            self._wanted = False
            return self._held

    def release(self) -> None:
        with self._changed:
            self._held = False
            _lock(self._turn, fcntl.LOCK_UN)

    def close(self) -> None:
        with self._changed:
            self._closed = True
            if not self._asks:
                self._close_files()

    def _close_files(self) -> None:
        # Closing a file also releases its lock.
        for file in (self._door, self._turn):
            os.close(file)

    def _try(self) -> bool:
        if not _lock(self._door, fcntl.LOCK_EX | fcntl.LOCK_NB):
            return False
        try:
            return _lock(self._turn, fcntl.LOCK_EX | fcntl.LOCK_NB)
        finally:
            _lock(self._door, fcntl.LOCK_UN)

    def _ask(self) -> None:
        _lock(self._door, fcntl.LOCK_EX)
        _lock(self._turn, fcntl.LOCK_EX)
        _lock(self._door, fcntl.LOCK_UN)
        with self._changed:
            self._asks = False
            if self._closed:
                self._close_files()
            elif self._wanted:
                self._held = True
                self._changed.notify()
            else:
                # The requester waited for too long, and no one has requested it since.
                _lock(self._turn, fcntl.LOCK_UN)


def _lock(file: int, how: int) -> bool:
    """Lock a file; return False if another process holds the lock. On file systems without such locks, processes
    don't take turns, but SQLite's own locks still apply."""
    try:
        fcntl.flock(file, how)
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True
