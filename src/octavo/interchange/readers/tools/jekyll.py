"""Reader for Jekyll."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Mapping
from typing import Any

from octavo.core.json_types import JsonObject
from octavo.core.problems import Problem
from octavo.core.yaml_text import YamlError, read_yaml

from ..brands import brand_of
from ..layout import Dialect, Entry, Layout
from ..source_files import Heads, address_of, folder_of, is_index
from ..trees import (
    MAX_LEVEL,
    grow,
    label_of,
    pages_below,
    position_of,
    redirects_of,
    walk_entries,
    without_empty,
)
from ..types import Reader
from ..values import listing, mapping, text_of
from .configurations import MAX_DATA, finder, read_yaml_file, unread_pages


def _jekyll(files: Heads, project: str) -> Layout:
    problems: list[Problem] = []
    config = read_yaml_file(files, f"{project}_config.yml", problems)
    collections = {f"_{name}/": mapping(facts) for name, facts in mapping(config.get("collections")).items()}
    left = ("_site/", "_includes/", "_layouts/", "_sass/", "_data/", "vendor/", "_plugins/", "_drafts/")
    paths = [
        path
        for path in pages_below(files, project, lambda path: path.startswith(left))
        if files.head(path) or path[len(project) :].startswith(tuple(collections)) or "_layout" not in path
    ]
    out = tuple(text_of(one).strip("/").casefold() for one in listing(config.get("exclude")))
    problems += unread_pages(files, project, (*left, "_posts/", *(one for one in out if one)))
    paths = [
        path
        for path in paths
        if not f"{path[len(project) :]}/".casefold().startswith(tuple(f"{one}/" for one in out if one))
    ]
    if any(path[len(project) :].startswith("_posts/") for path in paths):
        problems.append(
            Problem(
                f"{project}_posts",
                0,
                "blog_left_out",
                "The blog wasn't imported. Import the folder separately.",
            )
        )
        paths = [path for path in paths if not path[len(project) :].startswith("_posts/")]
    paths = [
        path
        for path in paths
        if posixpath.basename(path).lower()
        not in ("license.md", "contributing.md", "code_of_conduct.md", "changelog.md")
        or files.head(path)
    ]
    root = project
    addresses = {}
    for path in paths:
        head = files.head(path)
        inside = path[len(project) :]
        for folder in collections:
            if inside.startswith(folder):
                inside = folder[1:] + inside[len(folder) :]
        addresses[path] = re.sub(r"\.html$", "", text_of(head.get("permalink")) or address_of(inside)).strip(
            "/"
        )
    data = _jekyll_data(files, project)
    entries = _jekyll_nav(files, data, addresses) or _by_parents(files, paths, project)
    return Layout(
        brand=brand_of(files, project, "jekyll", config, problems),
        entries=entries,
        dialect=Dialect(liquid=True),
        root=root,
        addresses=addresses,
        redirects=redirects_of(files, paths),
        site=text_of(config.get("url")),
        base=text_of(config.get("baseurl")),
        title=text_of(config.get("title")),
        parts=(project.rstrip("/"), f"{project}_includes"),
        values={"variables": {"site": {**config, "data": data}}},
        problems=problems,
        language=text_of(config.get("lang") or config.get("locale")),
        description=text_of(config.get("description")),
    )


def _jekyll_data(files: Heads, project: str) -> JsonObject:
    """Return the contents of the data files, by folder and name."""
    made: JsonObject = {}
    for path in files.paths:
        inside = path.removeprefix(f"{project}_data/")
        if (
            inside == path
            or not inside.endswith((".yml", ".yaml", ".json"))
            or files.source.size(path) > MAX_DATA
        ):
            continue
        *folders, name = posixpath.splitext(inside)[0].split("/")
        place: Any = made
        for folder in folders:
            place = place.setdefault(folder, {}) if isinstance(place, dict) else None
        if not isinstance(place, dict):
            continue
        try:
            text = files.text(path) or ""
            place.setdefault(name, json.loads(text) if path.endswith("json") else read_yaml(text).value)
        except (ValueError, YamlError, RecursionError):
            continue  # A missing value is reported when a page uses it.
    return made


def _jekyll_nav(files: Heads, data: Mapping[str, object], addresses: dict[str, str]) -> list[Entry]:
    """Return the page tree from a data file that lists many of the pages. The name and the keys of the data file
    depend on the theme."""
    by_address = {address: page for page, address in addresses.items()}
    by_id: dict[str, str] = {}
    for page in addresses:
        for id in (text_of(files.head(page).get(key)) for key in ("docid", "pageid", "id")):
            if id:
                by_id.setdefault(id, page)

    def address(url: str) -> str | None:
        return by_address.get(re.sub(r"(?:^|/)index\.html$|\.html$", "", url).strip("/"))

    def items(given: object, depth: int) -> list[Entry]:
        made: list[Entry] = []
        if depth >= MAX_LEVEL:
            return made
        if isinstance(given, dict):
            for title, below in given.items():
                if isinstance(below, str):
                    made.append(Entry(title=str(title), path=address(below)))
                elif children := items(below, depth + 1):
                    made.append(Entry(title=str(title), children=children))
            return made
        for one in listing(given):
            if isinstance(one, str):
                one = {"url": one}
            if isinstance(one, dict):
                title = text_of(one.get("title") or one.get("text") or one.get("name"))
                url = text_of(one.get("url") or one.get("link") or one.get("href"))
                page = address(url) if url else by_id.get(text_of(one.get("id")))
                below = next(
                    (
                        one[key]
                        for key in (
                            "children",
                            "items",
                            "pages",
                            "docs",
                            "subitems",
                            "subfolderitems",
                            "section",
                            "sections",
                        )
                        if one.get(key)
                    ),
                    None,
                )
                children = items(below, depth + 1)
                if title or page or children:
                    made.append(
                        Entry(
                            title=title or None,
                            path=page,
                            children=children,
                            href=url if url and not page and not children else None,
                        )
                    )
        return made

    best: tuple[int, list[Entry]] = (0, [])
    for said in data.values():
        tries = (
            [said, *(value for value in said.values() if isinstance(value, (list, dict)))]
            if isinstance(said, dict)
            else [said]
        )
        for one in tries:
            entries = items(one, 0)
            found = {entry.path for entry in walk_entries(entries) if entry.path}
            if len(found) >= max(best[0], 1):
                best = (len(found), entries)
    if best[0] < max(2, len(addresses) // 4):
        return []
    made = without_empty(best[1])
    home = by_address.get("")
    if home is not None and all(entry.path != home for entry in walk_entries(made)):
        made.insert(0, Entry(title=label_of(files.head(home)), path=home))
    return made


def _by_parents(files: Heads, paths: list[str], project: str) -> list[Entry]:
    """Build the page tree from the parent titles that pages specify or, if no page specifies a parent, from the
    folders."""
    if not any("parent" in files.head(path) for path in paths):
        return grow(files, paths, project)
    entries = {path: Entry(title=label_of(files.head(path)), path=path) for path in paths}
    by_title: dict[str, list[str]] = {}
    for path in paths:
        by_title.setdefault(files.name(path), []).append(path)
    top: list[str] = []
    below: dict[str, list[str]] = {}
    for path in paths:
        head = files.head(path)
        above = [one for one in by_title.get(text_of(head.get("parent")), []) if one != path]
        if grand := text_of(head.get("grand_parent")):
            above = [one for one in above if text_of(files.head(one).get("parent")) == grand] or above
        (below.setdefault(above[0], []) if above else top).append(path)

    def key(path: str) -> tuple[float, str]:
        return (position_of(files.head(path)), files.name(path).casefold())

    seen: set[str] = set()

    def build(given: list[str]) -> list[Entry]:
        made = []
        for path in sorted(given, key=key):
            if path not in seen:
                seen.add(path)
                entries[path].children = build(below.get(path, []))
                made.append(entries[path])
        return made

    made = build(top)
    home = next(
        (entry for entry in made if is_index(entry.path or "") and folder_of(entry.path or "") == project),
        None,
    )
    if home is not None:
        made.remove(home)
        made.insert(0, home)
    return made + build([path for path in paths if path not in seen])


JEKYLL = Reader("jekyll", "Jekyll", finder("_config.yml"), _jekyll)
