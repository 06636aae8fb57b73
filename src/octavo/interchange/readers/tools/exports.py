"""Readers for Notion and Confluence exports, which contain databases, macros, page names with IDs, and pages that
describe the page tree."""

from __future__ import annotations

import csv
import io
import posixpath
import re
from functools import cache, partial
from typing import Any
from urllib.parse import unquote

from lxml import etree
from msgspec.structs import replace

from ..formats.html import anchors_of, parse_html
from ..formats.html_content import drop
from ..formats.html_pages import html_page
from ..layout import Dialect, Entry, Layout, Place
from ..markdown.components import callout_kind
from ..markdown.translating import translate
from ..source_files import Heads, folder_of
from ..types import Reader
from .wiki_exports import plain_text

EMOTICONS = {
    "tick": "✅",
    "cross": "❌",
    "warning": "⚠️",
    "information": "ℹ️",
    "question": "❓",
    "light-on": "💡",
    "light-off": "💡",
    "plus": "➕",
    "minus": "➖",
    "thumbs-up": "👍",
    "thumbs-down": "👎",
    "smile": "🙂",
    "sad": "🙁",
    "laugh": "😀",
    "wink": "😉",
    "heart": "❤️",
    "yellow-star": "⭐",
    "blue-star": "⭐",
    "red-star": "⭐",
    "green-star": "⭐",
}
"""Emoji for Confluence's emoticon images, by name."""

MAX_ROWS = 5_000
MAX_COLUMNS = 60

# --- Notion --------------------------------------------------------------------------------------------

_ID = re.compile(r"[ _-]?(?P<id>[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?P<all>_all)?$")
_ID_IN = re.compile(r"[0-9a-f]{32}(?=(?:_all)?\.\w+$)")
_NAMED = re.compile(r"(?:^|/)[^/]*\b[0-9a-f]{32}(?:_all)?\.(?:md|html|csv)$")


def _without_id(name: str) -> str:
    return _ID.sub("", name).strip() or name


def _find_notion(files: Heads) -> str | None:
    return (
        ""
        if sum(1 for path in files.paths if _NAMED.search(path)) * 2
        >= sum(1 for path in files.paths if path.endswith((".md", ".html", ".csv")))
        > 0
        else None
    )


def _notion(files: Heads, project: str) -> Layout:
    keys: dict[tuple[str, ...], str] = {}
    whole = {re.sub(r"_all$", "", path[:-4]) for path in files.paths if path.endswith("_all.csv")}
    for path in files.paths:
        stem, ending = posixpath.splitext(path)
        if ending not in (".md", ".html", ".csv") or (
            ending == ".csv" and not stem.endswith("_all") and stem in whole
        ):
            continue
        if posixpath.basename(path) == "index.html" and any(_NAMED.search(other) for other in files.paths):
            continue
        key = tuple(
            _without_id(part)
            for part in [*posixpath.dirname(path).split("/"), posixpath.basename(stem)]
            if part
        )
        number = 2
        wanted = key
        while wanted in keys and not (ending == ".csv" or keys[wanted].endswith(".csv")):
            wanted = (*key[:-1], f"{key[-1]} {number}")
            number += 1
        if wanted in keys and ending == ".csv":
            continue  # A text page has more information than the row that it belongs to.
        keys[wanted] = path
    shared = len(posixpath.commonprefix([list(key[:-1]) for key in keys])) if keys else 0
    keys = {key[shared:]: path for key, path in keys.items()}
    entries, of_key = _tree_of_paths(keys)
    _in_order_of_links(files, entries)
    titles = {path: _notion_title(files, path) or key[-1] for key, path in keys.items()}
    names = {path: "/".join(key) + ".md" for key, path in keys.items()}
    for path in files.paths:
        if path not in names:
            parts = [_without_id(part) for part in posixpath.dirname(path).split("/") if part][shared:]
            names[path] = "/".join([*parts, posixpath.basename(path)])
    layout = Layout(
        entries=entries,
        dialect=Dialect(dollars=True),
        same={f"{stem}.csv": f"{stem}_all.csv" for stem in whole},
        titles=titles,
        names=names,
        addresses={path: "/".join(key) for key, path in keys.items()},
        rest=True,
    )
    return replace(layout, convert=_Notion(files, layout, keys).convert)


def _tree_of_paths(keys: dict[tuple[str, ...], str]) -> tuple[list[Entry], dict[tuple[str, ...], Entry]]:
    """Return the top-level entries of a page tree, and all entries by path. ``keys``: the page for each path from
    the top down."""
    made: list[Entry] = []
    entries: dict[tuple[str, ...], Entry] = {}

    def at(key: tuple[str, ...]) -> Entry:
        if key not in entries:
            entries[key] = Entry(title=None if key in keys else key[-1], path=keys.get(key))
            (at(key[:-1]).children if len(key) > 1 else made).append(entries[key])
        return entries[key]

    for key in sorted(keys):
        at(key)
    return made, entries


def _in_order_of_links(files: Heads, entries: list[Entry]) -> None:
    """Sort children in the order in which their parent links to them."""
    waiting = list(entries)
    while waiting:
        entry = waiting.pop()
        waiting += entry.children
        if entry.path is not None and entry.children:
            text = unquote(files.text(entry.path) or "")
            places = {id(child): _place_in(text, child) for child in entry.children}
            entry.children.sort(key=lambda child: (places[id(child)] < 0, places[id(child)]))


def _place_in(text: str, entry: Entry) -> int:
    """Return the position at which a text first mentions a page; -1 if it doesn't."""
    found = _ID_IN.search(entry.path or "")
    return text.find(found[0]) if found else -1


def _notion_title(files: Heads, path: str) -> str:
    if path.endswith(".csv"):
        return ""
    if path.endswith(".html"):
        found = re.search(
            r'<h1 class="page-title"[^>]*>(.*?)</h1>', (files.text(path) or "")[:20_000], re.DOTALL
        )
        return plain_text(found[1]) if found else ""
    return files.title(path)


class _Notion:
    """Converter for the parts of a Notion export that aren't plain Markdown."""

    def __init__(self, files: Heads, layout: Layout, keys: dict[tuple[str, ...], str]) -> None:
        self.files = files
        self.layout = layout
        self.keys = keys
        self.key_of = {path: key for key, path in keys.items()}

    def convert(self, path: str, place: Place) -> str | None:
        if path.endswith(".csv"):
            return self.table(path, place)
        if path.endswith(".html"):
            return html_page(self.files.text(path), place, self.layout.titles[path], _prepare_notion)
        return self.markdown(path, place)

    def table(self, path: str, place: Place) -> str:
        text = (self.files.text(path) or "").removeprefix("\ufeff")
        rows: list[list[str]] = []
        try:
            for row in csv.reader(io.StringIO(text)):
                if len(rows) > MAX_ROWS:
                    place.problem(
                        0, "too_large", f"this table has more than {MAX_ROWS:,} rows; the rest was skipped"
                    )
                    break
                rows.append(row[:MAX_COLUMNS])
        except csv.Error as error:
            place.problem(len(rows) + 1, "unreadable_table", f"{error}; the rest was skipped")
        below: dict[str, str] = {}
        for key, page in self.keys.items():
            if key[:-1] == self.key_of[path]:
                below.setdefault(self.layout.titles.get(page, key[-1]), page)
        head, body = (rows[0], rows[1:]) if rows else ([], [])
        made = [_row(head), "|" + " --- |" * len(head)] if head else []
        for row in body:
            row = [*row, *[""] * (len(head) - len(row))][: len(head)]
            named = below.get(row[0].strip()) if row else None
            cells = [_cell(cell) for cell in row]
            if named is not None:
                cells[0] = f"[{cells[0]}]({place.link('/' + named, 0)})"
            made.append("| " + " | ".join(cells) + " |")
        return f"# {self.layout.titles[path]}\n\n" + "\n".join(made) + "\n"

    def markdown(self, path: str, place: Place) -> str:
        text = self.files.text(path) or ""
        key = self.key_of[path]
        in_table = self.keys.get(key[:-1], "").endswith(".csv")
        made = translate(text, place, self.layout.dialect).text
        lines = made.lstrip("\n").split("\n")
        if in_table and lines and lines[0].startswith("# "):
            at = 2
            while at < len(lines) and re.match(r"[^\s:#|>*`-][^:\n]{0,80}: ", lines[at]):
                lines[at] = re.sub(r"^([^:]+): ", r"* **\1**: ", lines[at])
                at += 1
        body = "\n".join(lines).rstrip("\n") + "\n"
        return body if body.startswith("# ") else f"# {self.layout.titles[path]}\n\n{body}"


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(map(_cell, cells)) + " |"


def _cell(text: str) -> str:
    text = re.sub(r"([\\`*_\[\]<|])", r"\\\1", " ".join(text.split()))
    return re.sub(r"\{%", r"\\{%", text)


def _prepare_notion(tree: Any) -> None:
    """Rewrite Notion's markup as semantic HTML."""
    for element in list(tree.iter()):
        if not isinstance(element.tag, str):
            continue
        classes = (element.get("class") or "").split()
        if element.tag == "figure" and "callout" in classes:
            icon = next(
                (child for child in element.iter("span") if "icon" in (child.get("class") or "").split()),
                None,
            )
            sign = "".join(icon.itertext()) if icon is not None else ""
            if icon is not None:
                drop(icon)
            element.tag = "div"
            element.set("class", f"admonition {callout_kind(sign)}")
        elif element.tag == "div" and "checkbox" in classes:
            element.tag = "input"
            element.set("type", "checkbox")
            if "checkbox-on" in classes:
                element.set("checked", "")
        elif (
            element.tag in ("header",)
            and element.getparent() is not None
            and element.getparent().tag == "article"
        ):
            element.tag = "div"
            for child in list(element):
                if child.tag not in ("h1", "table") and "page-title" not in (child.get("class") or ""):
                    drop(child)
        elif element.tag == "figure" and "equation" in classes:
            formula = next((one for one in element.iter("annotation")), None)
            if formula is not None:
                text = formula.text or ""
                for child in list(element):
                    element.remove(child)
                element.tag, element.text = "pre", text
                element.set("class", "math")
        elif element.tag == "a" and "bookmark" in classes:
            title = next(
                (one for one in element.iter("div") if "bookmark-title" in (one.get("class") or "").split()),
                None,
            )
            words = " ".join("".join(title.itertext()).split()) if title is not None else ""
            for child in list(element):
                element.remove(child)
            element.text = words or element.get("href")
        elif element.tag == "p" and "page-description" in classes and not "".join(element.itertext()).strip():
            drop(element)


# --- Confluence ----------------------------------------------------------------------------------------

_PAGE_TITLE = re.compile(r'<span id="title-text">\s*(.*?)\s*</span>', re.DOTALL)
_CRUMB = re.compile(r'<ol id="breadcrumbs">(.*?)</ol>', re.DOTALL)
_HREF = re.compile(r'<a\s[^>]*href="([^"]+)"')


def _find_confluence(files: Heads) -> str | None:
    for path in files.paths:
        if posixpath.basename(path) == "index.html" and path.count("/") <= 3:
            text = files.text(path) or ""
            if "Available Pages" in text or "Space Details" in text or 'class="pageSection' in text:
                return folder_of(path)
    sample = [path for path in files.paths if path.endswith(".html")][:3]
    if sample and all(
        'id="main-content"' in (files.text(path) or "") and 'class="wiki-content' in (files.text(path) or "")
        for path in sample
    ):
        return folder_of(sample[0])
    return None


def _confluence(files: Heads, project: str) -> Layout:
    paths = [
        path
        for path in files.paths
        if path.startswith(project) and path.endswith(".html") and posixpath.basename(path) != "index.html"
    ]
    titles: dict[str, str] = {}
    above: dict[str, str] = {}
    names: dict[str, str] = {}
    space = ""
    for path in paths:
        text = files.text(path) or ""
        found = _PAGE_TITLE.search(text[:200_000])
        whole = plain_text(found[1]) if found else posixpath.splitext(posixpath.basename(path))[0]
        # The name of the space precedes the title of each page.
        space_name, colon, title = whole.partition(" : ")
        space = space or (space_name if colon else "")
        titles[path] = (title if colon else whole).strip() or "Untitled"
        crumbs = _CRUMB.search(text[:200_000])
        over = [unquote(href) for href in _HREF.findall(crumbs[1])] if crumbs else []
        parents = [
            folder_of(path) + href
            for href in over
            if folder_of(path) + href in files.known and not href.endswith("index.html")
        ]
        if parents and parents[-1] != path:
            above[path] = parents[-1]
        for shown in re.finditer(r'href="(attachments/[^"?]+)[^"]*"[^>]*>\s*([^<>]+?)\s*</a>', text):
            file = folder_of(path) + unquote(shown[1])
            if file in files.known and file not in names and "/" not in shown[2] and "." in shown[2]:
                names[file] = f"attachments/{plain_text(shown[2])}"
        for shown in re.finditer(r"<img\s[^>]*>", text):
            source = re.search(r'(?:\s)src="(attachments/[^"?]+)', shown[0])
            alias = re.search(r'data-linked-resource-default-alias="([^"]+)"', shown[0])
            if source and alias and (where := folder_of(path) + unquote(source[1])) in files.known:
                names.setdefault(where, f"attachments/{plain_text(alias[1])}")
    order = _index_order(files, project)
    entries = {path: Entry(path=path) for path in paths}
    top: list[Entry] = []
    for path in sorted(paths, key=lambda path: (order.get(path, len(order)), titles[path].casefold())):
        seen, at = {path}, path
        while at in above and above[at] not in seen:
            at = above[at]
            seen.add(at)
        # A page that is its own ancestor becomes a top-level page.
        (entries[above[path]].children if path in above and at not in above else top).append(entries[path])
    if len(top) == 1 and titles[top[0].path or ""].endswith(("Home", space)) and top[0].children:
        # The home page of the space comes first, with its subpages next to it.
        children, top[0].children = top[0].children, []
        top += children
    taken: set[str] = set()
    for path in paths:
        made = re.sub(r"[^\w.-]+", "-", titles[path]).strip("-")[:100].lower() or "page"
        number = 1
        while made in taken:
            number += 1
            made = f"{re.sub(r'-[0-9]+$', '', made)}-{number}"
        taken.add(made)
        names[path] = f"{made}.md"
    return Layout(
        entries=top,
        root=project,
        titles=titles,
        names=names,
        title=space,
        addresses={path: path[len(project) :] for path in paths},
        rest=False,
        convert=lambda path, place: html_page(
            files.text(path),
            place,
            titles[path],
            _prepare_confluence,
            partial(_confluence_content, titles[path]),
        ),
        anchors=cache(lambda path: _confluence_anchors(files.text(path), titles.get(path, ""))),
    )


def _confluence_anchors(text: str | None, title: str) -> dict[str, str]:
    tree = parse_html(text) if text is not None else None
    return anchors_of(_confluence_content(title, tree)) if tree is not None else {}


def _index_order(files: Heads, project: str) -> dict[str, int]:
    text = files.text(f"{project}index.html") or ""
    order: dict[str, int] = {}
    for href in _HREF.findall(text):
        order.setdefault(project + unquote(href), len(order))
    return order


_KINDS = (("note", "warning"), ("tip", "success"), ("warning", "danger"), ("information", "info"))
_LEFT_OUT = (
    "toc-macro",
    "page-metadata",
    "pageSection",
    "breadcrumb-section",
    "expand-control-icon",
    "aui-icon",
    "rdtoc-macro",
    "icon",
)


def _confluence_content(title: str, tree: Any) -> Any:
    """Return the content of a page without its title."""
    main = next((one for one in tree.iter("div") if one.get("id") == "main-content"), None)
    if main is None:
        return tree
    body = etree.Element("body")
    etree.SubElement(body, "h1").text = title
    body.append(main)
    return body


def _prepare_confluence(tree: Any) -> None:
    """Rewrite macros as semantic HTML."""
    for element in list(tree.iter()):
        if not isinstance(element.tag, str) or (element.getparent() is None and element is not tree):
            continue
        classes = (element.get("class") or "").split()
        if any(name in classes for name in _LEFT_OUT):
            drop(element)
        elif "confluence-information-macro" in classes:
            kind = next(
                (style for name, style in _KINDS if f"confluence-information-macro-{name}" in classes), "info"
            )
            element.set("class", f"admonition {kind}")
            _panel_title_to_heading(element)
        elif "code" in classes and "panel" in classes or "preformatted" in classes and "panel" in classes:
            _listing(element)
        elif "panel" in classes and element.tag == "div":
            element.set("class", "admonition info")
            _panel_title_to_heading(element)
        elif "expand-container" in classes:
            element.tag = "details"
            control = next(
                (one for one in element.iter() if "expand-control" in (one.get("class") or "").split()), None
            )
            if control is not None:
                for child in [
                    one for one in control.iter() if "expand-control-icon" in (one.get("class") or "").split()
                ]:
                    drop(child)
                words = " ".join("".join(control.itertext()).split())
                for child in list(control):
                    control.remove(child)
                control.tag, control.text = "summary", words
        elif "inline-task-list" in classes:
            for item in element.iter("li"):
                _box(item, "checked" in (item.get("class") or "").split())
        elif element.tag == "img" and "emoticon" in classes:
            names = (name.removeprefix("emoticon-") for name in classes)
            known = next((EMOTICONS[name] for name in names if name in EMOTICONS), "")
            sign = element.get("data-emoji-fallback") or known or element.get("alt") or ""
            element.tail = sign + (element.tail or "")
            drop(element)
        elif "status-macro" in classes:
            element.tag = "code"
        elif element.tag == "img" and element.get("src"):
            element.set("src", element.get("src").partition("?")[0])
            if not element.get("alt") and element.get("data-linked-resource-default-alias"):
                element.set("alt", posixpath.splitext(element.get("data-linked-resource-default-alias"))[0])


def _panel_title_to_heading(element: Any) -> None:
    """Turn the title of a panel into a heading at the start of its content."""
    for child in element.iter():
        names = (child.get("class") or "").split() if isinstance(child.tag, str) else []
        if "panelHeader" in names or (child.tag == "p" and "title" in names):
            words = " ".join("".join(child.itertext()).split())
            for inner in list(child):
                child.remove(inner)
            child.tag, child.text = "h4", words
            child.attrib.pop("class", None)
            return


CODE_LANGUAGES = {
    "py": "python",
    "js": "javascript",
    "jscript": "javascript",
    "c#": "csharp",
    "shell": "bash",
    "none": "",
    "text": "",
}
"""Languages of code blocks, by their names in Confluence."""


def _listing(element: Any) -> None:
    """Rewrite a code block, including its language and its title."""
    pre = next(element.iter("pre"), None)
    if pre is None:
        return
    match = re.search(
        r"brush:\s*([\w+#-]+)", pre.get("data-syntaxhighlighter-params") or pre.get("class") or ""
    )
    language = match[1].lower() if match else ""
    header = next(
        (one for one in element.iter("div") if "codeHeader" in (one.get("class") or "").split()), None
    )
    if header is not None:
        header.tag = "figcaption"
        title = " ".join("".join(header.itertext()).split())
        for child in list(header):
            header.remove(child)
        header.text = title
    pre.set(
        "class",
        f"language-{CODE_LANGUAGES.get(language, language)}"
        if CODE_LANGUAGES.get(language, language)
        else "",
    )
    element.tag = "figure"
    element.attrib.pop("class", None)
    parent = pre.getparent()
    if parent is not element and header is not None:
        # The listing is moved next to its title, so that the title is recognized.
        element.append(pre)
        drop(parent)


def _box(item: Any, checked: bool) -> None:
    box = etree.Element("input")
    box.set("type", "checkbox")
    if checked:
        box.set("checked", "")
    box.tail, item.text = item.text, None
    item.insert(0, box)


EXPORTS = (
    Reader("notion", "Notion", _find_notion, _notion),
    Reader("confluence", "Confluence", _find_confluence, _confluence),
)
