"""Turns of several processes to write one SQLite database.

SQLite has a process that waits look again now and then, up to a tenth of a second later: one that writes all the time has
begun its next write by then, and the others wait for seconds. So processes take turns by two locks of the system. Who
wants to write waits at the door, and only whoever is through the door waits for the turn itself: a process that has just
written finds somebody in the door, and is behind them.
"""

from __future__ import annotations

import fcntl
import os
import threading


class ProcessTurns:
    """Asked by one thread of a process at a time. The system gives both locks back when a process dies."""

    def __init__(self, path: str) -> None:
        """``path``: of the database, beside which the two files that are locked are."""
        self._door, self._turn = (
            os.open(f"{path}-{name}", os.O_RDWR | os.O_CREAT, 0o600) for name in ("door", "turn")
        )
        self._changed = threading.Condition()
        self._asks = False
        """Whether a thread waits for the system, which nothing can stop."""
        self._wanted = self._held = self._closed = False

    def take(self, seconds: float) -> bool:
        """Waits for the turn for so long; whether it came."""
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

    def give_back(self) -> None:
        with self._changed:
            self._held = False
            _lock(self._turn, fcntl.LOCK_UN)

    def close(self) -> None:
        with self._changed:
            self._closed = True
            if not self._asks:
                self._close_files()

    def _close_files(self) -> None:
        # Also gives back what is held.
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
                # Who asked waited for too long, and nobody has asked since.
                _lock(self._turn, fcntl.LOCK_UN)


def _lock(file: int, how: int) -> bool:
    """False where somebody else has it. A file system without such locks has no turns, and SQLite's own still hold."""
    try:
        fcntl.flock(file, how)
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True
