"""Page trees for sources without a navigation. These trees consist of folders, sorted as the pages' front matter
specifies."""

from __future__ import annotations

import math
import posixpath
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from octavo.core.summary import natural_key, title_of_name

from .layout import Entry, Head
from .source_files import Heads, is_index, is_page, stem_of
from .tools.configurations import MAX_DEPTH, MAX_ENTRIES
from .values import listing

MAX_LEVELS = 30
_POSITIONS = ("sidebar_position", "order", "nav_order", "weight", "position", "rank")
_NUMBERED = re.compile(r"^\d+(?:[-_. ]+)(?=\D)")


def position_of(head: Head) -> float:
    """Return the position of a page among its siblings. Pages without a position come last."""
    sidebar = head.get("sidebar")
    for value in (
        *(head.get(key) for key in _POSITIONS),
        sidebar.get("order") if isinstance(sidebar, dict) else None,
    ):
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return float(value)
        if isinstance(value, str) and re.fullmatch(r"-?\d+(?:\.\d+)?", value):
            return float(value)
    return math.inf


def label_of(head: Head) -> str | None:
    """Return the title of a page in the navigation."""
    sidebar = head.get("sidebar")
    for value in (
        head.get("sidebar_label"),
        head.get("sidebarTitle"),
        head.get("nav_title"),
        head.get("linkTitle"),
        head.get("linktitle"),
        sidebar.get("label") if isinstance(sidebar, dict) else None,
    ):
        if isinstance(value, str) and value.strip():
            return value.strip()
    return None


class FolderFacts:
    """Settings of a folder: its title, its position, and the file that contains the folder's page, unless that is
    the index file. ``order``: the names of the folder's contents in order, each with its title if specified.
    Contents that aren't listed are placed at ``...``, or at the end."""

    def __init__(
        self,
        title: str | None = None,
        position: float = math.inf,
        page: str | None = None,
        order: dict[str, str | None] | None = None,
    ) -> None:
        self.title = title
        self.position = position
        self.page = page
        self.order = order or {}


def grow(
    files: Heads,
    paths: Iterable[str],
    root: str,
    facts: Callable[[str], FolderFacts] = lambda folder: FolderFacts(),
    zero_is_last: bool = False,
    same_name: bool = False,
) -> list[Entry]:
    """Return the page tree for these pages under ``root``. ``zero_is_last``: whether a position of 0 means that the
    page comes last. ``same_name``: whether a page with the same name as its folder is the folder's page."""
    tree: dict[str, Any] = {}
    for path in paths:
        at = tree
        parts = path[len(root) :].split("/")
        for part in parts[:-1][:MAX_LEVELS]:
            at = at.setdefault(part + "/", {})
        at["/".join(parts[min(len(parts) - 1, MAX_LEVELS) :])] = path

    def position(value: float) -> float:
        return math.inf if zero_is_last and value == 0 else value

    def build(folder: Mapping[str, object], where: str, top: bool) -> tuple[str | None, list[Entry]]:
        index: str | None = None
        rows: list[tuple[tuple[Any, ...], Entry]] = []
        own = facts(where)
        ranks = {name: rank for rank, name in enumerate(own.order)}
        others = ranks.get("...", len(ranks))
        beside: dict[str, str] = {}
        for inside in folder.values():
            if isinstance(inside, str):
                if inside == own.page or (own.page is None and index is None and is_index(inside)):
                    index = inside
                beside[stem_of(inside)] = inside
        for name, inside in folder.items():
            if isinstance(inside, dict):
                below = f"{where}{name}"
                page, children = build(inside, below, False)
                said = facts(below)
                if page is None and same_name:
                    page = next(
                        (
                            path
                            for path in (f"{below}{name[:-1]}{end}" for end in (".md", ".mdx"))
                            if path in files.known
                        ),
                        None,
                    )
                    children = [child for child in children if child.path != page]
                if page is None and name[:-1] in beside:
                    # A page next to a folder with the same name is the folder's page.
                    page = beside[name[:-1]]
                    rows = [row for row in rows if row[1].path != page]
                    folder = {key: value for key, value in folder.items() if value != page}
                head = files.head(page) if page else {}
                place = min(position(said.position), position(position_of(head)))
                number = _number(name)
                title = own.order.get(name[:-1]) or said.title or label_of(head)
                if title is None and page is None:
                    title = title_of_name(_NUMBERED.sub("", name[:-1]))
                rows.append(
                    (
                        (ranks.get(name[:-1], others), place, number, natural_key(name[:-1])),
                        Entry(title=title, path=page, children=children),
                    )
                )
        held = {row[1].path for row in rows}
        for name, inside in folder.items():
            if isinstance(inside, str) and inside != index and inside not in held:
                head = files.head(inside)
                key = (
                    ranks.get(name, others),
                    position(position_of(head)),
                    _number(name),
                    natural_key(stem_of(inside)),
                )
                rows.append((key, Entry(title=own.order.get(name) or label_of(head), path=inside)))
        rows.sort(key=lambda row: row[0])
        entries = [entry for _, entry in rows]
        if top and index is not None:
            entries.insert(0, Entry(title=label_of(files.head(index)), path=index))
        return index, entries

    return build(tree, root, True)[1]


def _number(name: str) -> float:
    found = re.match(r"(\d{1,9})[-_. ]+\D", name)
    return float(found[1]) if found else math.inf


def pages_below(files: Heads, root: str, skipped: Callable[[str], bool] = lambda path: False) -> list[str]:
    """Return the Markdown files in a folder, excluding hidden files and files in installed packages."""
    return [
        path
        for path in files.paths
        if path.startswith(root)
        and is_page(path)
        and not any(
            part.startswith(".") or part in ("node_modules", "__MACOSX")
            for part in path[len(root) :].split("/")
        )
        and not skipped(path[len(root) :])
    ]


def walk_entries(entries: Sequence[Entry]) -> list[Entry]:
    found: list[Entry] = []
    waiting = list(reversed(entries))
    while waiting:
        entry = waiting.pop()
        found.append(entry)
        waiting += reversed(entry.children)
    return found


def redirects_of(files: Heads, paths: list[str]) -> dict[str, str]:
    """Return the former URL paths that pages specify, each with the file of the page."""
    made: dict[str, str] = {}
    for path in paths:
        head = files.head(path)
        for key in ("aliases", "redirect_from", "redirects"):
            value = head.get(key)
            for old in [value] if isinstance(value, str) else listing(value):
                if isinstance(old, str) and "/" in old:
                    made[old.strip("/")] = path
    return made


def without_empty(entries: list[Entry]) -> list[Entry]:
    """Return the entries, excluding those that have neither a target nor subpages."""
    for entry in entries:
        entry.children = without_empty(entry.children)
    return [entry for entry in entries if entry.path or entry.href or entry.children]


MAX_LEVEL = 20


_ITEM = re.compile(r"(?P<indent>[ \t]*)(?:[-*+]|\d+\.)[ \t]+(?P<words>.+)$")


_LINK = re.compile(r"!?\[(?P<title>[^\]]*)\]\((?P<href>[^()\s]+)[^()]*\)|\[\[(?P<named>[^\]]+)\]\]")


def list_nav(
    files: Heads, text: str, folder: str, find: Callable[[str], str | None] | None = None
) -> list[Entry]:
    """Return the page tree from a nested list of links."""
    made: list[Entry] = []
    stack: list[tuple[int, list[Entry]]] = [(-1, made)]
    for line in text.split("\n")[:MAX_ENTRIES]:
        heading = re.match(r"#{1,6}[ \t]+(.+?)[ \t#]*$", line)
        found = _ITEM.match(line)
        if heading and not _LINK.search(line):
            entry = Entry(title=heading[1].strip("* "))
            made.append(entry)
            stack = [(-1, entry.children)]
            continue
        link = _LINK.search(found["words"] if found else line)
        if link is None and found is None:
            continue
        indent = len(found["indent"].expandtabs(4)) if found else -1
        while len(stack) > 1 and stack[-1][0] >= max(indent, 0):
            stack.pop()
        if link is None:
            entry = Entry(title=re.sub(r"[*_`]", "", found["words"] if found else "").strip())
        elif link["named"]:
            shown, bar, name = link["named"].partition("|")
            path = find(name if bar else shown) if find else None
            entry = Entry(title=shown, path=path, href=None if path else name or shown)
        else:
            href = link["href"].partition("#")[0]
            path = posixpath.normpath(folder + href)
            path = path if path in files.known else (find(href) if find else None) or ""
            entry = Entry(
                title=re.sub(r"[*`]", "", link["title"]) or None,
                path=path or None,
                href=None if path else link["href"],
            )
        if len(stack) < MAX_DEPTH * 6:
            stack[-1][1].append(entry)
            stack.append((max(indent, 0), entry.children))
    return made
