"""Reader for Wiki.js storage."""

from __future__ import annotations

import posixpath
import re
from functools import partial
from html import escape
from typing import Any
from urllib.parse import unquote

from msgspec.structs import replace

from octavo.core.document.page import with_head
from octavo.core.json_types import JsonObject
from octavo.core.problems import Problem
from octavo.core.summary import title_of_name

from ..formats.html_pages import html_page
from ..layout import Dialect, Entry, Layout, Place, Variant
from ..source_files import Heads, folder_of, is_page
from ..trees import grow, pages_below, walk_entries
from ..types import Reader
from ..values import mappings
from ..variants import MAX_VARIANTS, key_of, language_name, left_out
from .wiki_exports import one_line, read_json

_LOCALE = re.compile(r"[a-z]{2}(?:-[a-z]{2})?", re.IGNORECASE)
_COMMENT = re.compile(r"\s*<!--\n(?P<head>(?:[a-zA-Z]+:[^\n]*\n)+)-->\s*")


def _wikijs_head(files: Heads, path: str) -> JsonObject:
    if path.endswith(".html"):
        found = _COMMENT.match(files.text(path) or "")
        rows = [row.partition(":") for row in found["head"].splitlines()] if found else []
        return {key.strip(): value.strip() for key, _, value in rows}
    return files.head(path)


def _find_wikijs(files: Heads) -> str | None:
    for path in sorted(files.paths, key=lambda path: (path.count("/"), path)):
        if path.count("/") <= 3 and posixpath.basename(path) in ("home.md", "home.html"):
            head = _wikijs_head(files, path)
            if "published" in head and ("editor" in head or "dateCreated" in head or "date" in head):
                folder = folder_of(path)
                above = folder.rstrip("/").rpartition("/")
                # A wiki with several languages has a folder for each.
                return (
                    f"{above[0]}/"
                    if folder and _LOCALE.fullmatch(above[2]) and above[0]
                    else ("" if _LOCALE.fullmatch(above[2]) else folder)
                )
    return None


def _wikijs(files: Heads, project: str, locale: str = "") -> Layout:
    """Return the layout. ``locale``: the folder of the chosen language, or empty for the default language."""
    problems: list[Problem] = []
    inside = [path for path in files.paths if path.startswith(project)]
    locales = sorted(
        {
            path[len(project) :].partition("/")[0]
            for path in inside
            if _LOCALE.fullmatch(path[len(project) :].partition("/")[0])
            and "/" in path[len(project) :]
            and (is_page(path) or path.endswith(".html"))
        }
    )
    has_own = any(f"{project}home{end}" in files.known for end in (".md", ".html"))
    root = first = project if has_own or not locales else f"{project}{locales[0]}/"
    if locale:
        root = f"{project}{locale}/"
    others = [one for one in locales if f"{project}{one}/" != first]
    for path in inside:
        if path.endswith((".adoc", ".txt")) and path.startswith(root):
            problems.append(Problem(path, 0, "format_left_out", "skipped: the page format isn't supported"))
    beside = others if root == project else []
    paths = pages_below(files, root, lambda path: path.partition("/")[0] in beside)
    pages = [
        path
        for path in inside
        if path.startswith(root)
        and path.endswith(".html")
        and path[len(root) :].partition("/")[0] not in beside
        and _wikijs_head(files, path)
    ]
    titles = {path: one_line(_wikijs_head(files, path).get("title")) for path in pages}
    addresses = {path: posixpath.splitext(path[len(root) :])[0] for path in [*paths, *pages]}
    home = next((path for path, address in addresses.items() if address == "home"), None)
    entries = grow(files, [*paths, *pages], root)
    for entry in walk_entries(entries):
        if entry.path is None and entry.title and not entry.title[:1].isupper():
            entry.title = title_of_name(entry.title)
    if home is not None:
        entries = [entry for entry in entries if entry.path != home or entry.children]
        entries.insert(0, Entry(path=home))
    layout = Layout(
        entries=entries if locale else _wikijs_navigation(files, project, addresses, entries),
        dialect=Dialect(dollars=True, marks=True, lowered=True, raised=True, tabsets=True),
        root=root,
        addresses=addresses,
        redirects={"": home} if home else {},
        base=_wikijs_locale(files, paths, root[len(project) :].strip("/")),
        titles={path: title for path, title in titles.items() if title},
        problems=problems,
        titled=True,
        statics=(f"{project.removesuffix('pages/')}assets/",),
        skipped=(".json", ".gz", ".adoc"),
        language=root[len(project) :].strip("/"),
    )

    def convert(path: str, place: Place) -> str | None:
        if not path.endswith(".html"):
            return None
        head = _wikijs_head(files, path)
        body = _COMMENT.sub("", files.text(path) or "", count=1)
        made = html_page(
            f"<html><body><main><h1>{escape(titles.get(path) or files.name(path))}</h1>{body}</main></body></html>",
            place,
            titles.get(path) or files.name(path),
            _prepare_wikijs,
        )
        said: JsonObject = {"description": head["description"]} if head.get("description") else {}
        if head.get("published") in ("false", "0"):
            said["hidden"] = True
        return with_head(made, said) if said else made

    layout = replace(layout, convert=convert)
    if others:
        taken: set[str] = set()
        own = first[len(project) :].strip("/") or layout.base
        variants = [
            Variant(
                key=key_of(taken, name or own),
                title=language_name(name or own),
                language=name or own,
                path=name or None,
                default=not name,
                lay_out=partial(_wikijs, files, project, name),
            )
            for name in ["", *others][:MAX_VARIANTS]
        ]
        left = left_out(project.rstrip("/") or others[0], "translations", others)
        layout = replace(layout, variants=variants, left=[left])
    return layout


def _prepare_wikijs(tree: Any) -> None:
    """Rewrite Wiki.js's colored quotes as hints."""
    for element in list(tree.iter("blockquote")):
        kind = next((one[3:] for one in (element.get("class") or "").split() if one.startswith("is-")), "")
        if kind:
            element.tag = "div"
            element.set("class", f"callout {kind}")


def _wikijs_locale(files: Heads, paths: list[str], specified: str) -> str:
    """Return the language prefix of URL paths: the name of the folder or, if there is none, the prefix in links."""
    if specified:
        return specified
    found: dict[str, int] = {}
    for path in paths[:200]:
        for locale, _ in re.findall(r"\]\(/([a-z]{2}(?:-[a-z]{2})?)/([\w-])", files.text(path) or ""):
            found[locale] = found.get(locale, 0) + 1
    return max(found, key=lambda locale: found[locale]) if found else "en"


def _wikijs_navigation(
    files: Heads, project: str, addresses: dict[str, str], entries: list[Entry]
) -> list[Entry]:
    """Return the page tree. If the export includes the navigation, the headings and pages of the navigation come
    before the folders."""
    data = read_json(files, f"{project.removesuffix('pages/')}navigation.json")
    waiting: list[Any] = [data]
    items: list[dict[str, Any]] = []
    while waiting and not items:
        one = waiting.pop()
        if isinstance(one, dict):
            items = (
                mappings(one.get("items")) if any("kind" in row for row in mappings(one.get("items"))) else []
            )
            waiting += list(one.values())[:100]
        elif isinstance(one, list):
            waiting += one[::-1][:100]
    by_address = {address: path for path, address in addresses.items()}
    known = {entry.path: entry for entry in walk_entries(entries) if entry.path}
    made: list[Entry] = []
    into = made
    taken: set[str] = set()
    for item in items:
        kind, label, target = (one_line(item.get(key)) for key in ("kind", "label", "target"))
        if kind == "header":
            made.append(Entry(title=label))
            into = made[-1].children
        elif kind == "divider":
            into = made
        elif kind == "link":
            address = "home" if item.get("targetType") == "home" else unquote(target).strip("/")
            address = (
                address
                if address in by_address
                else address.partition("/")[2]
                if _LOCALE.fullmatch(address.partition("/")[0])
                else address
            )
            path = by_address.get(address)
            if path is not None and path not in taken:
                taken.add(path)
                into.append(Entry(title=label or None, path=path, children=known[path].children))
            elif path is None and re.match(r"https?:", target):
                into.append(Entry(title=label or target, href=target))
    made = [entry for entry in made if entry.path or entry.href or entry.children]
    if not taken:
        return entries
    below = {entry.path for entry in walk_entries(made) if entry.path}
    home = entries[0].path if entries and entries[0].path else None
    first = [entries[0]] if home is not None and home not in below else []
    return [*first, *made, *_unlisted_entries(entries[len(first) :], below)]


def _unlisted_entries(entries: list[Entry], taken: set[str]) -> list[Entry]:
    """Return the entries of a tree that haven't been listed yet."""
    made = []
    for entry in entries:
        children = _unlisted_entries(entry.children, taken)
        if entry.path in taken:
            made += children
        elif entry.path or children:
            made.append(Entry(title=entry.title, path=entry.path, href=entry.href, children=children))
    return made


WIKIJS = Reader("wikijs", "Wiki.js", _find_wikijs, _wikijs)
