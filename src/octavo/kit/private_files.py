"""Folders and files that nobody but their owner may read, and that are still there when the power was cut.

The command sets the umask, so all it makes is private. Here is what was made by others, or before.
"""

from __future__ import annotations

import logging
import os
import stat
from pathlib import Path

log = logging.getLogger(__name__)

_FOLDER = 0o700
_FILE = 0o600


def make_private_folder(folder: Path) -> None:
    """The folder, made when absent, and closed to others. Raises OSError when it cannot be made."""
    folder.mkdir(parents=True, exist_ok=True, mode=_FOLDER)
    _close(folder, _FOLDER)


def make_private_tree(folder: Path) -> None:
    """As ``make_private_folder``, for one that holds nothing but ours: when it was open, all in it is closed too."""
    was_open = folder.exists() and _is_open(folder)
    make_private_folder(folder)
    if was_open:
        for path, folders, names in os.walk(folder):
            for name in folders:
                _close(Path(path, name), _FOLDER)
            for name in names:
                _close(Path(path, name), _FILE)


def close_file(path: Path) -> None:
    """Closes a file to others, if it is there."""
    _close(path, _FILE)


def write_durably(path: Path, data: bytes) -> None:
    """Puts a private file into place whole: it is there with all of its bytes when this returns, whatever happens to the
    machine then, and before that as it was. Raises OSError."""
    written = path.with_suffix(".new")
    with os.fdopen(os.open(written, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _FILE), "wb") as out:
        out.write(data)
        out.flush()
        os.fsync(out.fileno())
    written.replace(path)
    synchronise(path.parent)


def synchronise(path: Path) -> None:
    """Returns when a file's bytes, or the names in a folder, are on the disk. Raises OSError."""
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
        # Somebody else's folder: the operator must see to it.
        log.warning("others may be able to read this", extra={"path": str(path)})
