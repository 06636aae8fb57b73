"""Reader for Docmost exports."""

from __future__ import annotations

import posixpath
import re
from typing import Any
from urllib.parse import unquote

from octavo.core.summary import natural_key

from ..formats.html_pages import html_page
from ..layout import Dialect, Layout, Place
from ..source_files import Heads, folder_of
from ..types import Reader
from ..values import mapping, text_of
from .wiki_exports import UUID, by_folders, plain_title, read_json

_DOCMOST = "docmost-metadata.json"
_KEPT = re.compile(rf"(?:^|/)files/{UUID}/[^/]+$")


def _find_docmost(files: Heads) -> str | None:
    for path in files.paths:
        if posixpath.basename(path) == _DOCMOST and path.count("/") <= 1:
            return folder_of(path)
    pages = any(path.endswith((".md", ".html")) for path in files.paths)
    return "" if pages and any(_KEPT.search(path) for path in files.paths) else None


def _docmost(files: Heads, project: str) -> Layout:
    said = mapping(mapping(read_json(files, f"{project}{_DOCMOST}")).get("pages"))
    positions = {
        project + unquote(str(path)): text_of(mapping(one).get("position")) for path, one in said.items()
    }
    pages = [
        path
        for path in files.source.paths()
        if path.startswith(project) and path.endswith((".md", ".html")) and not _KEPT.search(path)
    ]
    if positions:
        # Positions of siblings are strings in alphabetical order.
        pages.sort(key=lambda path: (positions.get(path, "\uffff"), natural_key(path)))
    entries, _ = by_folders(pages, project)
    titles = {path: plain_title(files, path) for path in pages if path.endswith(".html")}

    def convert(path: str, place: Place) -> str | None:
        return html_page(files.text(path), place, titles[path], _prepare_docmost) if path in titles else None

    return Layout(
        entries=entries,
        dialect=Dialect(dollars=True),
        root=project,
        titles=titles,
        rest=True,
        skipped=(_DOCMOST,),
        addresses={path: posixpath.splitext(path[len(project) :])[0] for path in pages},
        redirects={
            f"p/{slug}": project + unquote(str(path))
            for path, one in said.items()
            if (slug := text_of(mapping(one).get("slugId")))
        },
        convert=convert,
    )


def _prepare_docmost(tree: Any) -> None:
    """Rewrite Docmost's markup as semantic HTML."""
    for element in reversed(list(tree.iter())):
        kind = element.get("data-type") if isinstance(element.tag, str) else None
        if kind is None or element.getparent() is None:
            continue
        if kind == "callout":
            element.set("class", f"admonition {element.get('data-callout-type') or 'info'}")
        elif kind == "taskItem":
            box = next((one for one in element.iter("input")), None)
            if box is not None:
                box.set("type", "checkbox")
                if element.get("data-checked") == "true":
                    box.set("checked", "")
        elif kind in ("mathInline", "mathBlock"):
            words = "".join(element.itertext())
            for child in list(element):
                element.remove(child)
            element.tag, element.text = ("code" if kind == "mathInline" else "pre"), words
            element.set("class", "math")
        elif kind in ("attachment", "video", "audio", "pdf") and next(element.iter("a"), None) is None:
            href = element.get("data-attachment-url") or element.get("src") or element.get("data-src")
            if href:
                for child in list(element):
                    element.remove(child)
                element.tag, element.text = (
                    "a",
                    element.get("data-attachment-name") or posixpath.basename(unquote(href)),
                )
                element.set("href", href)
        elif kind in ("excalidraw", "drawio") and next(element.iter("img"), None) is None:
            element.tag = "img"
            element.set("src", element.get("data-src") or "")
        elif kind in ("embed", "youtube") and next(element.iter("iframe"), None) is None:
            element.tag = "iframe"
            element.set("src", element.get("data-src") or element.get("src") or "")


DOCMOST = Reader("docmost", "Docmost", _find_docmost, _docmost)
