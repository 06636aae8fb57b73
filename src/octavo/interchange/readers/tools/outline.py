"""Reader for Outline exports."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any
from urllib.parse import quote

from octavo.core.json_types import JsonObject
from octavo.core.pages import slugify
from octavo.core.problems import Problem

from ..formats.html import parse_html
from ..formats.html_content import drop
from ..formats.html_pages import html_of_tree, html_page
from ..formats.prosemirror import write_html
from ..layout import Dialect, Entry, Layout, Place
from ..markdown.translating import translate
from ..source_files import Heads, folder_of, is_page, stem_of
from ..types import Reader
from ..values import mapping, mappings, text_of
from .wiki_exports import (
    MAX_LEVELS,
    UUID,
    FreeNames,
    by_folders,
    escaped,
    file_name,
    one_line,
    plain_title,
    read_json,
)

_UPLOADED = re.compile(rf"(?:^|/)(?:uploads|attachments|public)/{UUID}/{UUID}/[^/]+$")
_REDIRECT = re.compile(rf"/api/attachments\.redirect\?id=({UUID})")
_MENTION = re.compile(r"@\[(?P<label>[^\[\]\n]*)\]\(mention://[^()\s]*\)")
_FILE_SIGN = "\ufdd0"
"""Prefix for the name of an attached file. It doesn't occur in any text."""
_FILE_LINK = re.compile(rf"^[ \t]*\[{_FILE_SIGN}[^\[\]\n]*\]\(<?([^()\n<>]*)>?\)[ \t]*$", re.MULTILINE)
_ATTACHED = re.compile(r"[ \t]*\[(?P<name>[^\[\]\n]+?) \d+\]\((?P<href>[^()\s]+)\)[ \t]*$")


def _find_outline(files: Heads) -> str | None:
    for path in files.paths:
        if posixpath.basename(path) == "metadata.json" and path.count("/") <= 1:
            data = mapping(read_json(files, path))
            if "exportVersion" in data:
                return folder_of(path)
    uploaded = any(_UPLOADED.search(path) for path in files.paths)
    return "" if uploaded and any(path.count("/") and is_page(path) for path in files.paths) else None


def _outline(files: Heads, project: str) -> Layout:
    if mapping(read_json(files, f"{project}metadata.json")).get("exportVersion") is not None:
        return _OutlineJson(files, project).layout()
    # Pages keep the order they have in the archive.
    pages = [
        path
        for path in files.source.paths()
        if path.startswith(project) and path.endswith((".md", ".html")) and not _UPLOADED.search(path)
    ]
    entries, title = by_folders(pages, project)
    dialect = Dialect(dollars=True, marks=True)
    titles = {path: plain_title(files, path) for path in pages if path.endswith(".html")}
    # An image can still be referenced by its id in the wiki, which is the name of its file's folder.
    uploaded = {path.split("/")[-2]: "/" + quote(path) for path in files.paths if _UPLOADED.search(path)}

    def convert(path: str, place: Place) -> str:
        if path.endswith(".html"):
            return html_page(files.text(path), place, titles[path], _prepare_outline)
        text = _REDIRECT.sub(lambda found: uploaded.get(found[1], found[0]), files.text(path) or "")
        made = translate(_outline_markdown(text), place, dialect).text.lstrip("\n")
        made = _FILE_LINK.sub(r'{% file src="\1" %}', made)
        return made if re.match(r"#[ \t]", made) else f"# {escaped(files.name(path))}\n\n{made}"

    return Layout(
        entries=entries,
        dialect=dialect,
        root=project,
        title=title,
        rest=True,
        addresses={path: posixpath.splitext(path[len(project) :])[0] for path in pages},
        titles=titles,
        convert=convert,
    )


def _outline_markdown(text: str) -> str:
    """Rewrite Outline's syntax as common Markdown without changing line numbers."""
    made: list[str] = []
    fence = ""
    toggles: list[str] = []
    rows = text.replace("\r\n", "\n").split("\n")
    at = 0
    while at < len(rows):
        row = rows[at]
        if mark := re.match(r"[ \t]*(`{3,}|~{3,})", row):
            row = re.sub(r"mermaidjs[ \t]*$", "mermaid", row) if not fence else row
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
        elif not fence:
            if row.strip() == "\\":
                row = ""
            elif row.startswith("|"):
                row = re.sub(r"(?<!\\)\\n", "<br>", row)
            elif re.fullmatch(r"\+{3,}", row.strip()):
                if toggles and toggles[-1] == row.strip():
                    toggles.pop()
                    row = "</details>"
                elif row.strip() in rows[at + 1 :] and at + 1 < len(rows):
                    toggles.append(row.strip())
                    title = re.sub(r"^[#\s]+", "", rows[at + 1])
                    made += ["<details>", f"<summary>{title}</summary>"]
                    at += 2
                    continue
            elif found := _ATTACHED.match(row):
                row = f"[{_FILE_SIGN}{found['name']}]({found['href']})"
            row = _MENTION.sub(lambda found: "@" + found["label"], row)
        made.append(row)
        at += 1
    return "\n".join(made)


def _prepare_outline(tree: Any) -> None:
    for element in list(tree.iter()):
        classes = (element.get("class") or "").split() if isinstance(element.tag, str) else []
        if "notice-block" in classes or "notice" in classes:
            kind = next((one for one in ("warning", "tip", "success") if one in classes), "info")
            element.set("class", f"admonition {kind}")
        elif "heading-actions" in classes or "heading-anchor" in classes:
            drop(element)


class _OutlineJson:
    """JSON export from Outline, which contains a file for each collection, with documents in the editor's format."""

    def __init__(self, files: Heads, project: str) -> None:
        self.files = files
        self.project = project
        self.names = FreeNames()
        self.documents: dict[str, dict[str, Any]] = {}
        self.pages: dict[str, str] = {}
        """Path of each document, by its ID and by the ID in its URL."""
        self.of_path: dict[str, dict[str, Any]] = {}
        self.attachments: dict[str, str] = {}
        self.addresses: dict[str, str] = {}
        self.titles: dict[str, str] = {}
        self.file_names: dict[str, str] = {}
        self.problems: list[Problem] = []

    def layout(self) -> Layout:
        groups: list[tuple[str, list[Entry]]] = []
        for path in self.files.paths:
            if not path.startswith(self.project) or not path.endswith(".json") or stem_of(path) == "metadata":
                continue
            data = mapping(read_json(self.files, path))
            collection = mapping(data.get("collection"))
            if not collection:
                self.problems.append(
                    Problem(path, 0, "not_converted", "the export doesn't contain any readable collections")
                )
                continue
            for id, one in mapping(data.get("documents")).items():
                self.documents.setdefault(str(id), mapping(one))
            for id, one in mapping(data.get("attachments")).items():
                key = text_of(mapping(one).get("key"))
                if f"{self.project}{key}" in self.files.known:
                    self.attachments[str(id)] = f"{self.project}{key}"
                    name = re.sub(r"[/\\]", "-", one_line(mapping(one).get("name")))
                    self.file_names[f"{self.project}{key}"] = f"uploads/{name or posixpath.basename(key)}"
            title = one_line(collection.get("name")) or stem_of(path)
            entries = self._entries(mappings(collection.get("documentStructure")), file_name(title), 0)
            if mapping(collection.get("data")).get("content"):
                about = {"title": title, "data": collection["data"], "id": text_of(collection.get("id"))}
                entries.insert(
                    0, Entry(path=self._keep(about, file_name(title), f"collection/{slugify(title)}"))
                )
            groups.append((title, entries))
        top, tree = ("", [Entry(title=title, children=entries) for title, entries in groups])
        if len(groups) == 1:
            top, tree = groups[0]
        return Layout(
            entries=tree,
            title=top,
            root=self.project,
            addresses=self.addresses,
            titles=self.titles,
            names=self.file_names,
            problems=self.problems,
            convert=self.convert,
            skipped=(".json",),
        )

    def _entries(self, nodes: Sequence[Mapping[str, object]], above: str, level: int) -> list[Entry]:
        made = []
        for node in nodes if level < MAX_LEVELS else []:
            document = self.documents.get(text_of(node.get("id")))
            title = one_line(node.get("title")) or "Untitled"
            path = None
            if document is not None and document.get("template") is not True:
                url = text_of(node.get("url")) or f"doc/{slugify(title)}-{text_of(document.get('urlId'))}"
                path = self._keep({"title": title, **document}, f"{above}/{file_name(title)}", url.strip("/"))
            children = self._entries(mappings(node.get("children")), f"{above}/{file_name(title)}", level + 1)
            made.append(Entry(title=title if path is None else None, path=path, children=children))
        return made

    def _keep(self, document: JsonObject, where: str, address: str) -> str:
        path = self.names.free(where)
        title = one_line(document.get("title")) or "Untitled"
        self.titles[path] = title
        self.addresses[path] = address
        self.file_names[path] = "/".join(slugify(part) for part in where.split("/")[1:] or [where]) + ".md"
        self.of_path[path] = document
        for key in (text_of(document.get("id")), text_of(document.get("urlId"))):
            if key:
                self.pages.setdefault(key, path)
        return path

    def convert(self, path: str, place: Place) -> str | None:
        document = self.of_path.get(path)
        if document is None:
            return None
        title = self.titles[path]
        reported: set[str] = set()

        def report(code: str, message: str) -> None:
            if message not in reported:
                reported.add(message)
                place.problem(0, code, message)

        inside = write_html(document.get("data"), self._refer, report)
        tree = parse_html(f"<html><body><main><h1>{escape(title)}</h1>{inside}</main></body></html>")
        return html_of_tree(tree, place, title)

    def _refer(self, href: str) -> str:
        if href.startswith("mention:"):
            known = self.pages.get(href.removeprefix("mention:"))
            return "/" + self.addresses[known] if known else "/" + href
        if found := re.search(rf"/api/attachments\.redirect\?id=({UUID})", href):
            path = self.attachments.get(found[1])
            return "/" + quote(path) if path else "/" + href.lstrip("/")
        if found := re.search(r"/doc/(?:[\w~-]*-)?([A-Za-z0-9]{10,15})(?P<rest>[#?].*)?$", href):
            known = self.pages.get(found[1])
            return "/" + self.addresses[known] + (found["rest"] or "") if known else href
        return href


OUTLINE = Reader("outline", "Outline", _find_outline, _outline, lambda files: _find_outline(files) or "")
