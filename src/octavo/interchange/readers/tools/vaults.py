"""Readers for collections of notes that link to each other by name, such as GitHub wikis and Obsidian vaults."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from urllib.parse import unquote

from ..layout import Dialect, Entry, Layout
from ..source_files import Heads, folder_of, is_page, stem_of
from ..trees import grow, list_nav, pages_below, redirects_of, walk_entries
from ..types import Reader


def _find_wiki(files: Heads) -> str | None:
    homes = [path for path in files.paths if posixpath.basename(path).lower() in ("home.md", "home.markdown")]
    for path in sorted(homes, key=lambda path: path.count("/")):
        folder = folder_of(path)
        if any(f"{folder}{name}" in files.known for name in ("_Sidebar.md", "_Footer.md", "_Header.md")):
            return folder
    return None


_OF_WIKI = re.compile(
    r"(?P<site>https://github\.com/[\w.-]{1,100}/[\w.-]{1,100}/wiki)/(?P<name>[^\s()\[\]\"'#<>?]{1,200})"
)
MAX_ASKED = 500
"""Maximum number of pages to check in order to detect the kind of wiki."""


def _wiki(files: Heads, project: str) -> Layout:
    paths = pages_below(files, project, lambda path: posixpath.basename(path).startswith("_"))
    addresses = {path: stem_of(path) for path in paths}
    by_name = {stem_of(path).casefold(): path for path in paths}
    home = next((path for path in paths if stem_of(path).lower() == "home"), None)
    # No file identifies the kind of wiki, so use the links between its pages.
    counts: Counter[str] = Counter()
    for path in [*paths, f"{project}_Sidebar.md"][-MAX_ASKED:]:
        for found in _OF_WIKI.finditer(files.text(path) or ""):
            if unquote(found["name"]).replace(" ", "-").casefold() in by_name:
                counts[found["site"]] += 1
    site = max(counts, key=lambda one: counts[one]) if counts else ""

    def find(name: str) -> str | None:
        if site and name.rstrip("/") == site:
            return home
        name = re.sub(r"^https?://[^\s]*/wiki/?", "", name).rpartition("/")[2].partition("#")[0]
        return by_name.get(name.strip().replace(" ", "-").casefold())

    sidebar = files.text(f"{project}_Sidebar.md")
    entries = list_nav(files, sidebar, project, find) if sidebar else []
    listed = {entry.path for entry in walk_entries(entries)}
    if home and home not in listed:
        entries.insert(0, Entry(path=home))
    entries += [Entry(path=path) for path in paths if path not in listed and path != home]
    raw = site.replace("/wiki", "").replace("https://github.com/", "https://raw.githubusercontent.com/wiki/")
    return Layout(
        entries=entries,
        dialect=Dialect(wiki=True),
        root=project,
        addresses=addresses,
        rest=True,
        site=site,
        redirects={"": home} if home else {},
        schemes={f"{raw}/": "/", f"{site}/": "/"} if site else {},
    )


def _find_obsidian(files: Heads) -> str | None:
    found = next((path for path in files.paths if re.search(r"(?:^|/)\.obsidian/", path)), None)
    if found is not None:
        return found[: found.index(".obsidian/")]
    return "" if _is_vault(files) else None


def _is_vault(files: Heads) -> bool:
    """Return whether pages link to each other like notes in a vault, although there are no Obsidian settings."""
    pages = [path for path in files.paths if is_page(path)]
    names = {stem_of(path).casefold() for path in pages}
    for path in pages[:_MOST_LOOKED]:
        text = files.text(path) or ""
        if "[[" in text and any(
            found[1].strip().rpartition("/")[2].casefold() in names
            for found in _NOTE_LINK.finditer(re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL))
        ):
            return True
    return False


_MOST_LOOKED = 500
_NOTE_LINK = re.compile(r"\[\[([^\[\]|#\n]{1,200})(?:#[^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]")


def _obsidian(files: Heads, project: str) -> Layout:
    paths = pages_below(files, project)
    addresses = {path: posixpath.splitext(path[len(project) :])[0] for path in paths}
    return Layout(
        entries=grow(files, paths, project, same_name=True),
        dialect=Dialect(wiki=True, vault=True, marks=True, dollars=True, tags=True),
        root=project,
        addresses=addresses,
        redirects=redirects_of(files, paths),
        rest=True,
    )


GITHUB_WIKI = Reader("github-wiki", "GitHub wiki", _find_wiki, _wiki)
OBSIDIAN = Reader("obsidian", "Obsidian", _find_obsidian, _obsidian)
