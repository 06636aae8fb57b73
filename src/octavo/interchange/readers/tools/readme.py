"""Reader for ReadMe exports and synced repositories, which have ordered categories, JSON blocks in the text,
callouts, and adjacent code blocks as tabs."""

from __future__ import annotations

import json
import posixpath
import re
from functools import partial

from msgspec.structs import replace

from octavo.core.json_types import JsonObject
from octavo.core.problems import Problem
from octavo.core.summary import natural_key, title_of_name
from octavo.core.yaml_text import YamlError, read_yaml

from ..layout import Dialect, Entry, Layout, Variant
from ..source_files import Heads, folder_of, is_index, is_page, stem_of
from ..trees import pages_below, walk_entries
from ..types import Reader
from ..variants import MAX_VARIANTS, addressed, key_of, left_out

MAX_LEVELS = 20
_ORDERS = ("_order.yaml", "_order.yml")
_PARTS = ("docs/", "guides/", "reference/", "references/", "recipes/", "custom_pages/", "changelogs/")
_VERSION = re.compile(r"v\d+(?:\.\d+)*(?:[-\w]*)?")
_BLOCK = re.compile(r"^\[block:[\w-]+\]\s*$", re.MULTILINE)


def _find(files: Heads) -> str | None:
    for path in sorted(files.paths, key=lambda path: (path.count("/"), path)):
        if posixpath.basename(path) in _ORDERS:
            found = re.match(r"((?:.*?/)?)(?:docs|guides|reference|custom_pages|recipes)/", path)
            project = found[1] if found else folder_of(path)
            above, _, name = project.rstrip("/").rpartition("/")
            # An export with several versions has a folder for each.
            return (f"{above}/" if above else "") if _VERSION.fullmatch(name) else project
    sample = [path for path in files.paths if is_page(path)][:40]
    if any(_BLOCK.search(files.text(path) or "") for path in sample):
        return ""
    return None


def _order(files: Heads, folder: str, problems: list[Problem]) -> list[str]:
    for name in _ORDERS:
        text = files.text(folder + name)
        if text is None:
            continue
        try:
            said = read_yaml(text).value
        except YamlError as error:
            problems.append(
                Problem(folder + name, error.line, "invalid_yaml", f"{error}; the default order was used")
            )
            continue
        return (
            [str(one) for one in said if isinstance(one, (str, int, float))] if isinstance(said, list) else []
        )
    return []


def _lay_out(files: Heads, project: str) -> Layout:
    versions = _versions(files, project)
    layout = _of_version(files, project, versions[0] if versions else "", True)
    if len(versions) > 1:
        taken: set[str] = set()
        variants = [
            Variant(
                key=key_of(taken, name),
                title=name,
                path=None if at == 0 else name,
                default=at == 0,
                lay_out=partial(_of_version, files, project, name, at == 0),
            )
            for at, name in enumerate(versions[:MAX_VARIANTS])
        ]
        left = left_out(project.rstrip("/") or versions[-1], "versions", versions[1:])
        layout = replace(layout, variants=variants, left=[left])
    return layout


def _of_version(files: Heads, project: str, version: str, is_first: bool) -> Layout:
    layout = _Project(files, f"{project}{version}/" if version else project).layout()
    return addressed(layout, version, is_first) if version else layout


def _versions(files: Heads, project: str) -> list[str]:
    """Return the folder of each version, newest first, if an export contains several versions."""
    tops = {
        path[len(project) :].partition("/")[0]
        for path in files.paths
        if path.startswith(project) and "/" in path[len(project) :]
    }
    return sorted((top for top in tops if _VERSION.fullmatch(top)), key=natural_key, reverse=True)


class _Project:
    def __init__(self, files: Heads, project: str) -> None:
        self.files = files
        self.project = project
        self.problems: list[Problem] = []
        self.addresses: dict[str, str] = {}
        self.operations = 0
        self.below = self._gather()
        self.has_order = any(posixpath.basename(path) in _ORDERS for path in files.paths)

    def layout(self) -> Layout:
        root = self.project
        parts = [part for part in _PARTS if any(path.startswith(root + part) for path in self.files.paths)]
        entries: list[Entry] = []
        if parts:
            docs = next((part for part in parts if part in ("docs/", "guides/")), None)
            if docs:
                entries += self._folder(root + docs, "docs", 0)
            for part, name in (
                ("reference/", "Reference"),
                ("references/", "Reference"),
                ("recipes/", "Recipes"),
            ):
                if part in parts:
                    address = "reference" if name == "Reference" else "recipes"
                    if children := self._folder(root + part, address, 0):
                        entries.append(Entry(title=name, children=children))
            if "custom_pages/" in parts:
                # Readers can reach these pages only through links.
                for path in pages_below(self.files, f"{root}custom_pages/"):
                    self.addresses[path] = f"page/{self._slug(path)}"
                for path in self.files.paths:
                    if path.startswith(f"{root}custom_pages/") and path.endswith(".html"):
                        self._tell(path, "pages_left_out", "Custom HTML pages weren't imported.")
            if "changelogs/" in parts:
                self._tell(
                    f"{root}changelogs",
                    "blog_left_out",
                    "The changelog wasn't imported. Import its folder separately.",
                )
        else:
            entries = self._folder(root, "docs", 0)
        if self.operations:
            self._tell(
                root.rstrip("/"),
                "api_left_out",
                f"{self.operations} pages of an OpenAPI specification weren't imported; add the "
                "specification to Octavo instead",
            )
        return Layout(
            entries=entries,
            dialect=Dialect(jsx=(".md", ".mdx", ".markdown") if self.has_order else (), magic=True),
            root=root,
            addresses=self.addresses,
            problems=self.problems,
            parts=(root.rstrip("/"),),
            statics=(f"{root}assets/", f"{root}images/"),
            redirects={"docs": first} if (first := self._first(entries)) else {},
            schemes={
                "doc:": "/docs/",
                "ref:": "/reference/",
                "page:": "/page/",
                "recipe:": "/recipes/",
                "changelog:": "/changelog/",
                "blog:": "/blog/",
            },
            values={"variables": self._variables(root)},
            titled=True,
            skipped=(".yaml", ".yml", "variables.json", "glossary.json"),
        )

    def _tell(self, path: str, code: str, message: str) -> None:
        self.problems.append(Problem(path, 0, code, message))

    def _first(self, entries: list[Entry]) -> str | None:
        return next((entry.path for entry in walk_entries(entries) if entry.path), None)

    def _variables(self, root: str) -> JsonObject:
        try:
            said = json.loads(self.files.text(f"{root}variables.json") or "{}")
        except (ValueError, RecursionError):
            return {}
        if isinstance(said, list):
            said = {
                str(one.get("name")): one.get("default", one.get("value"))
                for one in said
                if isinstance(one, dict)
            }
        return said if isinstance(said, dict) else {}

    def _slug(self, path: str) -> str:
        slug = self.files.head(path).get("slug")
        stem = posixpath.basename(posixpath.dirname(path)) if is_index(path) else stem_of(path)
        return str(slug) if isinstance(slug, str) and slug.strip("/") else stem

    def _gather(self) -> dict[str, tuple[dict[str, str], dict[str, None]]]:
        """Return, for each folder, its pages by name and its subfolders that contain pages."""
        made: dict[str, tuple[dict[str, str], dict[str, None]]] = {}
        for path in pages_below(self.files, self.project):
            folder, name = folder_of(path), stem_of(path)
            made.setdefault(folder, ({}, {}))[0][name] = path
            while folder and folder != self.project:
                above = folder_of(folder[:-1])
                made.setdefault(above, ({}, {}))[1].setdefault(folder[len(above) : -1])
                folder = above
        return made

    def _folder(self, folder: str, address: str, level: int) -> list[Entry]:
        """Return the entries of a folder: first those that its order file lists, and then all others."""
        pages, folders = self.below.get(folder, ({}, {}))
        order = _order(self.files, folder, self.problems)
        names = sorted({*pages, *folders}, key=natural_key)
        for name in order:
            if name not in pages and name not in folders:
                self._tell(
                    folder + _ORDERS[0], "missing_file", f"{name[:200]} in the page order doesn't exist"
                )
        made: list[Entry] = []
        for name in [
            *(one for one in dict.fromkeys(order) if one in pages or one in folders),
            *(one for one in names if one not in order),
        ]:
            if name == "index" and level:
                continue
            below = f"{folder}{name}/"
            children = (
                self._folder(below, address, level + 1) if name in folders and level < MAX_LEVELS else []
            )
            own = pages.get(name) or next(
                (f"{below}index{end}" for end in (".md", ".mdx") if f"{below}index{end}" in self.files.known),
                None,
            )
            if own is None:
                if children:
                    made.append(
                        Entry(
                            title=name if not re.fullmatch(r"[a-z0-9-]+", name) else title_of_name(name),
                            children=children,
                        )
                    )
                continue
            made += self._entry(own, children, address)
        return made

    def _entry(self, path: str, children: list[Entry], address: str) -> list[Entry]:
        head = self.files.head(path)
        link = head.get("link")
        if isinstance(link, dict) and isinstance(link.get("url"), str) and link["url"]:
            title = head.get("title")
            return [Entry(title=str(title) if title else link["url"], href=link["url"]), *children]
        if isinstance(head.get("api"), dict):
            self.operations += 1
            return children
        self.addresses[path] = f"{address}/{self._slug(path)}"
        return [Entry(path=path, children=children)]


README = Reader("readme", "ReadMe", _find, _lay_out)
