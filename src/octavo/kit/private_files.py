"""Folders and files that only their owner can read and that survive a power failure.

The ``octavo`` command sets the umask, so all files that it creates are private. This module handles files created by
other programs or earlier versions.
"""

from __future__ import annotations

import fcntl
import logging
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

log = logging.getLogger(__name__)

_FOLDER = 0o700
_FILE = 0o600


def make_private_folder(folder: Path) -> None:
    """Create a folder if it is missing, and remove other users' access. Raises OSError if it can't be created."""
    folder.mkdir(parents=True, exist_ok=True, mode=_FOLDER)
    _close(folder, _FOLDER)


def make_private_tree(folder: Path) -> None:
    """Create a folder, as ``make_private_folder`` does, for a folder that contains only Octavo's files. If other
    users had access, also remove their access to the contents."""
    was_open = folder.exists() and _is_open(folder)
    make_private_folder(folder)
    if was_open:
        for path, folders, names in os.walk(folder):
            for name in folders:
                _close(Path(path, name), _FOLDER)
            for name in names:
                _close(Path(path, name), _FILE)


def close_file(path: Path) -> None:
    """Remove other users' access to a file, if the file exists."""
    _close(path, _FILE)


def write_durably(path: Path, data: bytes) -> None:
    """Write a private file atomically. When this returns, the whole file is stored, even if the machine fails
    afterward. Until then, the previous file is unchanged. Raises OSError if it can't be written."""
    # Processes that write the same file at the same time don't share a temporary file.
    handle, name = tempfile.mkstemp(prefix=f"{path.name}.", suffix=".new", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    flush_to_disk(path.parent)


@contextmanager
def locked_folder(path: Path) -> Iterator[None]:
    """Hold a lock on a folder during the ``with`` block, so that only one process at a time can run the block. On
    file systems without locks, the lock has no effect."""
    held = os.open(path, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)


def flush_to_disk(path: Path) -> None:
    """Flush a file's bytes, or a folder's list of file names, to disk. Raises OSError if that fails."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _is_open(path: Path) -> bool:
    return bool(stat.S_IMODE(path.stat().st_mode) & 0o077)


def _close(path: Path, mode: int) -> None:
    try:
        if not path.is_symlink() and _is_open(path):
            path.chmod(mode)
    except FileNotFoundError:
        pass
    except PermissionError:
        # The folder belongs to another user: the administrator has to fix this.
        log.warning("other users may be able to read this folder", extra={"path": str(path)})
