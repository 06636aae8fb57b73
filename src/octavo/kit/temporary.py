"""Temporary folders that are always removed, even if the process that created them is killed."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
import weakref
from contextlib import suppress
from pathlib import Path

_PREFIX = "octavo-"
_YOUNGEST = 60
"""Minimum age in seconds of folders to remove. A newer folder may not be locked yet."""


class TemporaryFolder(tempfile.TemporaryDirectory[str]):
    """Folder in the system's temporary folder, which this process locks as long as the folder exists. ``what``: the
    purpose of the folder."""

    def __init__(self, what: str) -> None:
        super().__init__(prefix=f"{_PREFIX}{what}-")
        weakref.finalize(self, os.close, _hold(self.name))


def _hold(path: str) -> int:
    held = os.open(path, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    return held


def remove_left_folders() -> int:
    """Remove temporary folders of processes that were killed, and return the number of folders."""
    removed = 0
    for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if path.is_symlink() or not path.is_dir() or path.stat().st_uid != os.getuid():
                continue
            if time.time() - path.stat().st_mtime < _YOUNGEST:
                continue
            held = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path)
                removed += 1
            finally:
                os.close(held)
    return removed
