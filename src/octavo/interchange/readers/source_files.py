"""Files of a source, as readers use them: text, and the front matter of pages. Each file is read only once."""

from __future__ import annotations

import posixpath
import re
import tomllib
from typing import Any

from octavo.core.import_plan import leading_title
from octavo.core.sources import Source, SourceError
from octavo.core.summary import title_of_name
from octavo.core.yaml_text import YamlError, read_yaml

from .layout import Head
from .markdown.lines import front_text, split_front, words
from .markdown.literals import UNKNOWN, read_constant

MAX_TEXT = 10 * 1024 * 1024
"""Maximum size in bytes of a file to read as text."""
MARKDOWN = (".md", ".mdx", ".markdown")
INDEXES = ("index", "readme", "_index")
"""Names of a folder's index page, in lowercase and without extensions."""
_ANY_TITLE = re.compile(r"^#[ \t]+(.+?)[ \t]*#*$", re.MULTILINE)
_FENCED = re.compile(r"^([`~]{3,}).*?^\1", re.MULTILINE | re.DOTALL)


class Heads:
    """Source with the front matter of its pages. ``paths``: all files in order. ``known``: the same paths as a set."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.paths = sorted(source.paths())
        self.known = set(self.paths)
        self._heads: dict[str, tuple[Head, str]] = {}

    def below(self, folder: str) -> list[str]:
        """Return the files in a folder and its subfolders. ``folder``: empty, or a path with a trailing slash."""
        return [path for path in self.paths if path.startswith(folder)]

    def text(self, path: str) -> str | None:
        """Return the text of a file; None if it doesn't exist, isn't UTF-8, or is too large."""
        if path not in self.known or self.source.size(path) > MAX_TEXT:
            return None
        try:
            return self.source.read(path).decode("utf-8")
        except (UnicodeDecodeError, SourceError):
            return None

    def head(self, path: str) -> Head:
        return self._read(path)[0]

    def title(self, path: str) -> str:
        """Return a page's own title; empty if it has none."""
        return self._read(path)[1]

    def name(self, path: str) -> str:
        """Return a title for a page: its own title, or a title derived from its file name."""
        if title := self.title(path):
            return title
        stem = posixpath.splitext(posixpath.basename(path))[0]
        if stem.lower() in INDEXES:
            stem = posixpath.basename(posixpath.dirname(path)) or stem
        return title_of_name(re.sub(r"^\d+[-_. ]+(?=\D)", "", stem)) or "Untitled"

    def _read(self, path: str) -> tuple[Head, str]:
        found = self._heads.get(path)
        if found is None:
            text = self.text(path) or ""
            head = read_head(text)
            if path.endswith(".mdx") and "export const metadata" in text:
                metadata = read_constant(text, "metadata")
                if isinstance(metadata, dict):
                    head = {key: value for key, value in metadata.items() if value is not UNKNOWN} | head
            given = head.get("title")
            title = str(given) if isinstance(given, (str, int, float)) and str(given).strip() else ""
            found = self._heads[path] = (head, " ".join(title.split()) or _stated_title(text))
        return found


def _stated_title(text: str) -> str:
    body, _ = split_front(text)
    if title := leading_title(body):
        return words(re.sub(r"\{[^{}]*\}\s*$|<[^<>]*>", "", title))
    found = _ANY_TITLE.search(_FENCED.sub("", body[:20_000]))
    return words(re.sub(r"\{[^{}]*\}\s*$", "", found[1])) if found else ""


def read_head(text: str) -> Head:
    """Return the keys and values of YAML or TOML front matter; empty if it can't be parsed."""
    try:
        return _read_front(text)
    except (YamlError, tomllib.TOMLDecodeError, RecursionError):
        return {}


def unread_head(text: str) -> tuple[int, str] | None:
    """Return the line and the reason if front matter can't be parsed; otherwise, return None."""
    try:
        _read_front(text)
    except YamlError as error:
        return error.line + 1, str(error)
    except tomllib.TOMLDecodeError as error:
        return 1, str(error)
    except RecursionError:
        return 1, "the file is nested too deeply"
    return None


def _read_front(text: str) -> Head:
    written, sign = front_text(text)
    value: Any = tomllib.loads(written) if sign == "+++" else read_yaml(written).value if written else None
    return {str(key): entry for key, entry in value.items()} if isinstance(value, dict) else {}


def stem_of(path: str) -> str:
    return posixpath.splitext(posixpath.basename(path))[0]


def is_index(path: str) -> bool:
    return stem_of(path).lower() in INDEXES


def is_page(path: str) -> bool:
    return path.lower().endswith(MARKDOWN)


def folder_of(path: str) -> str:
    """Return the folder of a file: either an empty string, or a path with a trailing slash."""
    folder = posixpath.dirname(path)
    return f"{folder}/" if folder else ""


def address_of(path: str) -> str:
    """Return the URL path that most tools use for a page: the file's path without the extension or, for an index
    page, the folder's path."""
    return posixpath.dirname(path) if is_index(path) else posixpath.splitext(path)[0]


def named_as_index(path: str) -> str:
    return re.sub(r"(?:^|(?<=/))(?:index|readme)\.md$", "README.md", path, flags=re.IGNORECASE)
