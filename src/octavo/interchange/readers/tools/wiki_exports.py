"""Helpers shared by the readers for wiki exports."""

from __future__ import annotations

import json
import posixpath
import re
from typing import Any

from octavo.core.summary import title_of_name

from ..layout import Entry
from ..source_files import Heads, stem_of
from ..values import text_of

MAX_LEVELS = 30
MAX_PAGES = 50_000
UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


def one_line(value: object) -> str:
    return " ".join(text_of(value).split())


def read_json(files: Heads, path: str) -> Any:
    text = files.text(path)
    try:
        return json.loads(text) if text is not None else None
    except (ValueError, RecursionError):
        return None


class FreeNames:
    """Allocator of unique paths for pages that aren't files."""

    def __init__(self) -> None:
        self.taken: set[str] = set()

    def free(self, wanted: str) -> str:
        made, number = wanted, 2
        while made.casefold() in self.taken:
            made = f"{wanted} {number}"
            number += 1
        self.taken.add(made.casefold())
        return made


def file_name(title: str) -> str:
    return re.sub(r"[/\\]+", "-", title)[:150].strip(" .") or "Untitled"


def by_folders(pages: list[str], project: str) -> tuple[list[Entry], str]:
    """Return the page tree for files and folders in the order of the archive. The subpages of a page are in a
    folder with the same name next to it."""
    made: list[Entry] = []
    known: dict[str, Entry] = {}

    def at(key: str) -> list[Entry]:
        if not key:
            return made
        if key not in known:
            above, _, name = key.rpartition("/")
            known[key] = Entry(title=name)
            at(above).append(known[key])
        return known[key].children

    for path in pages:
        key = posixpath.splitext(path[len(project) :])[0]
        if key in known and known[key].path is None:
            known[key].path, known[key].title = path, None
            continue
        above = key.rpartition("/")[0]
        entry = Entry(path=path)
        at("/".join(above.split("/")[:MAX_LEVELS])).append(entry)
        known.setdefault(key, entry)
    if len(made) == 1 and made[0].path is None:
        return made[0].children, made[0].title or ""
    return made, ""


def escaped(title: str) -> str:
    return re.sub(r"([\\`*<\[\]])", r"\\\1", title)


def plain_text(markup: str) -> str:
    import html

    return " ".join(html.unescape(re.sub(r"<[^<>]*>", "", markup)).split())


def plain_title(files: Heads, path: str) -> str:
    found = re.search(r"<h1[^>]*>(.*?)</h1>|<title>(.*?)</title>", files.text(path) or "", re.DOTALL)
    return (plain_text(found[1] or found[2] or "") if found else "") or title_of_name(stem_of(path))
