"""Check and build file paths in a space, so that every file system can store an export.

A path from a repository or an archive is either kept or skipped (``unsafe_path``). A path derived from a title or name
is valid on every file system (``made_path``). Letters are composed (NFC), as people type them, although macOS writes
them decomposed. Synced repositories keep their own form, so lookups try both forms (``spellings``).
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Callable

from .free_names import free_name

MAX_NAME = 255
"""Maximum number of bytes in one name of a path."""
MAX_PATH = 1000
"""Maximum number of bytes in a path."""
MAX_FILE = 100 * 1024 * 1024
"""Maximum size of a file, in bytes."""
MAX_FOLDERS = 64
"""Maximum number of names in a path."""
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|\Z)", re.IGNORECASE)
_UNWELCOME = re.compile(r'[<>:"|?*\\/\x00-\x1f\x7f\ud800-\udfff]+')


def is_git_path(path: str) -> bool:
    return any(part.lower() == ".git" for part in path.split("/"))


def unsafe_path(path: str) -> str | None:
    """Return the problem with the path of a file; ``None`` if it is valid."""
    if not path or path.startswith("/") or re.match(r"[A-Za-z]:", path):
        return "the path isn't relative"
    if "\\" in path:
        return "the path contains a backslash"
    if re.search(r"[\x00-\x1f\x7f\ud800-\udfff]", path):
        return "the path contains control or other unsafe characters"
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts):
        return "the path contains an empty part, `.`, or `..`"
    if len(parts) > MAX_FOLDERS:
        return f"the path has more than {MAX_FOLDERS} folders"
    if len(path.encode()) > MAX_PATH:
        return f"the path is longer than {MAX_PATH:,} bytes"
    if any(len(part.encode()) > MAX_NAME for part in parts):
        return f"a name in the path is longer than {MAX_NAME} bytes"
    return None


def composed(path: str) -> str:
    """Return the path with composed letters (NFC)."""
    return path if path.isascii() else unicodedata.normalize("NFC", path)


def spellings(path: str) -> tuple[str, ...]:
    """Return the path as given, with its letters composed, and with its letters decomposed."""
    if path.isascii():
        return (path,)
    return tuple(dict.fromkeys((path, *(unicodedata.normalize(form, path) for form in ("NFC", "NFD")))))


def numbered_path(path: str, number: int) -> str:
    """Return the path with a number after the stem of its name. If the name would become too long, the stem is
    shortened.

    >>> numbered_path("a/b.md", 2)
    'a/b-2.md'
    """
    return _with_tail(path, f"-{number}")


def made_path(folder: str, name: str, is_taken: Callable[[str], bool], top: str = "") -> str:
    """Return an unused path for an object named ``name`` in a folder (empty, or ending in a slash), or in
    the folder ``top`` if the path would be too long. Characters and names that some file systems don't
    support are dropped."""
    name = _UNWELCOME.sub("-", composed(name)).rstrip(". ") or "-"
    if _RESERVED.match(name):
        name = f"-{name}"
    path = _with_tail(folder + name, "")
    if unsafe_path(path) or unsafe_path(_with_tail(path, "-999999")):
        path = _with_tail(top + name, "")
    return free_name(path, is_taken, lambda number: numbered_path(path, number))


def folders_of(path: str) -> list[str]:
    """Return the folders of a path, from the top.

    >>> folders_of("a/b/c.md")
    ['a', 'a/b']
    """
    parts = path.split("/")
    return ["/".join(parts[:n]) for n in range(1, len(parts))]


def shortened(text: str, most: int) -> str:
    """Return the longest prefix that has at most this many bytes in UTF-8."""
    data = text.encode("utf-8", "replace")
    return text if len(data) <= most else data[:most].decode("utf-8", "ignore")


def _with_tail(path: str, tail: str) -> str:
    folder, name = posixpath.split(path)
    stem, ending = posixpath.splitext(name)
    ending = shortened(ending, 50)
    fitting = shortened(stem, MAX_NAME - len((tail + ending).encode()))
    return posixpath.join(folder, f"{fitting}{tail}{ending}")
