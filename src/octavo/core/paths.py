"""Paths of files in a space: what may be one, so that every file system can hold what is exported.

What comes with a path, from a repository or an archive, keeps it or is left out (``unsafe_path``); what gets its path
from a title or a name here gets one that holds everywhere (``made_path``). Letters are composed (NFC) as people type
them, although macOS writes them decomposed; only a repository that is synced keeps its own, so whoever looks for a path
tries both (``spellings``).
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Callable

from .free_names import free_name

MAX_NAME = 255
"""Bytes of one name in a path."""
MAX_PATH = 1000
"""Bytes of a path."""
MAX_FOLDERS = 64
"""Names in a path."""
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|\Z)", re.IGNORECASE)
_UNWELCOME = re.compile(r'[<>:"|?*\\/\x00-\x1f\x7f\ud800-\udfff]+')


def unsafe_path(path: str) -> str | None:
    """What is wrong with the path of a file; ``None`` if nothing is."""
    if not path or path.startswith("/") or re.match(r"[A-Za-z]:", path):
        return "the path is not relative"
    if "\\" in path:
        return "a backslash in the path"
    if re.search(r"[\x00-\x1f\x7f\ud800-\udfff]", path):
        return "characters in the path that no file name should hold"
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts):
        return "the path has empty parts, or leads elsewhere"
    if len(parts) > MAX_FOLDERS:
        return f"the path leads through more than {MAX_FOLDERS} folders"
    if len(path.encode()) > MAX_PATH:
        return f"the path is longer than {MAX_PATH} bytes"
    if any(len(part.encode()) > MAX_NAME for part in parts):
        return f"a name in the path is longer than {MAX_NAME} bytes"
    return None


def composed(path: str) -> str:
    """The path with its letters as people type them."""
    return path if path.isascii() else unicodedata.normalize("NFC", path)


def spellings(path: str) -> tuple[str, ...]:
    """The path, and the same letters composed and decomposed otherwise."""
    if path.isascii():
        return (path,)
    return tuple(dict.fromkeys((path, *(unicodedata.normalize(form, path) for form in ("NFC", "NFD")))))


def numbered_path(path: str, number: int) -> str:
    """The path with a number behind the stem of its name, which is shortened where it would become too long.

    >>> numbered_path("a/b.md", 2)
    'a/b-2.md'
    """
    return _with_tail(path, f"-{number}")


def made_path(folder: str, name: str, is_taken: Callable[[str], bool], top: str = "") -> str:
    """A free path for something called ``name`` in a folder (empty, or ending in a slash); in the folder ``top``
    where the path would be too long. Signs and names that some file systems do not know are not in it."""
    name = _UNWELCOME.sub("-", composed(name)).rstrip(". ") or "-"
    if _RESERVED.match(name):
        name = f"-{name}"
    path = _with_tail(folder + name, "")
    if unsafe_path(path) or unsafe_path(_with_tail(path, "-999999")):
        path = _with_tail(top + name, "")
    return free_name(path, is_taken, lambda number: numbered_path(path, number))


def folders_of(path: str) -> list[str]:
    """The folders that a path leads through, from the top.

    >>> folders_of("a/b/c.md")
    ['a', 'a/b']
    """
    parts = path.split("/")
    return ["/".join(parts[:n]) for n in range(1, len(parts))]


def shortened(text: str, most: int) -> str:
    """As much of the beginning as has at most so many bytes in UTF-8."""
    data = text.encode("utf-8", "replace")
    return text if len(data) <= most else data[:most].decode("utf-8", "ignore")


def _with_tail(path: str, tail: str) -> str:
    folder, name = posixpath.split(path)
    stem, ending = posixpath.splitext(name)
    ending = shortened(ending, 50)
    fitting = shortened(stem, MAX_NAME - len((tail + ending).encode()))
    return posixpath.join(folder, f"{fitting}{tail}{ending}")
