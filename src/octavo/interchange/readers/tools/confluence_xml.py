"""Reader for Confluence spaces exported as XML: a single file that describes all pages, bodies, attachments, and
labels, alongside the attached files themselves."""

from __future__ import annotations

import html
import posixpath
import re
from collections.abc import Iterator
from functools import cache
from typing import Any
from urllib.parse import quote, quote_plus, unquote_plus

from lxml import etree
from msgspec import Struct, field

from octavo.core.document.anchors import slug
from octavo.core.document.page import with_head
from octavo.core.problems import Problem
from octavo.core.sources import SourceError
from octavo.core.summary import natural_key

from ..formats.html import parse_html
from ..formats.html_content import drop
from ..formats.html_pages import html_of_tree
from ..layout import Dialect, Entry, Layout, Place
from ..markdown.translating import translate
from ..source_files import Heads, folder_of
from ..types import Reader
from .exports import CODE_LANGUAGES, EMOTICONS

MAX_BODY = 10 * 1024 * 1024
"""Maximum number of characters per page."""
MAX_BODIES = 512 * 1024 * 1024
"""Maximum total number of characters on all pages, which are kept in memory until they are written."""
MAX_OBJECTS = 2_000_000
_CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_EMPTY = re.compile(r"<((?:ac|ri):[\w-]+)((?:\s[^<>]*?)?)/>")
_HINTS = {"info": "info", "note": "warning", "tip": "success", "warning": "danger", "panel": "info"}
_TABS = {
    "ui-tabs": ("ui-tab",),
    "deck": ("card",),
    "tabs-group": ("tab-pane",),
    "auitabs": ("auitabspage",),
    "localtabgroup": ("localtab",),
    "tabs-macro": ("tab-macro",),
}
"""Macros that contain tabs, each with the macro that represents a single tab."""
_PANES = frozenset(pane for panes in _TABS.values() for pane in panes)
_ALIKE = {"ui-expand": "expand", "aui-message": "panel", "auimessage": "panel", "note-box": "note"}
_MESSAGES = {
    "success": "success",
    "tip": "success",
    "hint": "success",
    "warning": "warning",
    "error": "danger",
    "problem": "danger",
}
"""Hint kinds for messages and panels that specify their kind as a parameter."""
_DRAWN = re.compile(r"(mermaid|plantuml|graphviz)")
_FULL = re.compile(
    r"https?://[^/?#]+(?:/[\w-]+)?/(?:(?P<address>spaces/[^/?#]+/pages/\d+)|display/(?P<key>[^/?#]+)/(?P<title>[^/?#]+)"
    r"|pages/viewpage\.action\?(?:[^#]*&)?pageId=(?P<id>\d+))[^#]*(?P<rest>#.*)?\Z"
)
_LEFT = re.compile(r"^([ \t]*)\ufdd0(\d+)\ufdd0$", re.MULTILINE)
"""Pattern for placeholders that stand for Markdown on a page. Placeholders contain characters that don't occur on
any page."""
_SILENT = frozenset(
    """detailssummary easy-heading-free easy-heading-macro index listlabels navmap favpages spaces-list page-index style
    calendar team-calendar roadmap pageproperties-report scroll-pagebreak scroll-pagetitle scroll-title scroll-bookmark
    network recently-updated-dashboard toc toc-zone pagetree recently-updated livesearch contentbylabel
    content-by-user contributors
    contributors-summary create-from-template blog-posts gallery attachments change-history popular-labels
    related-labels space-details profile tasks-report-macro""".split()
)
"""Macros whose content only Confluence can generate."""
_WRAPPERS = frozenset(
    [
        "excerpt",
        "section",
        "column",
        "div",
        "span",
        "details",
        "numberedheadings",
        "table-filter",
        "scroll-ignore",
        "scroll-only",
        "table-joiner",
        "footnotes",
    ]
)


class _Content(Struct):
    """Page. ``children``: the IDs of its subpages. ``body``: the text in the storage format."""

    id: str
    title: str
    parent: str
    space: str
    position: int
    body: str = ""
    path: str = ""
    labels: list[str] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    children: list[str] = field(default_factory=list)


def _find(files: Heads) -> str | None:
    for path in files.paths:
        if posixpath.basename(path) == "entities.xml" and path.count("/") <= 2:
            with files.source.opening(path)() as file:
                if b"<hibernate-generic" in file.read(4096):
                    return folder_of(path)
    return None


def _objects(files: Heads, path: str) -> Iterator[tuple[str, str, dict[str, str], dict[str, str]]]:
    """Yield each object in the file: its class, its ID, its properties, and the IDs to which its properties refer.
    Raises SourceError if the file can't be read."""
    count = 0
    with files.source.opening(path)() as file:
        if b"<!DOCTYPE" in file.read(65_536):
            raise SourceError(f"{path}: must not contain a document type declaration")
    with files.source.opening(path)() as file:
        try:
            for _, element in etree.iterparse(
                file,
                events=("end",),
                tag="object",
                resolve_entities=False,
                no_network=True,
                load_dtd=False,
                huge_tree=False,
                recover=False,
            ):
                count += 1
                if count > MAX_OBJECTS:
                    raise SourceError(f"{path}: must contain at most {MAX_OBJECTS:,} objects")
                said: dict[str, str] = {}
                named: dict[str, str] = {}
                for child in element.iter("property"):
                    name = child.get("name") or ""
                    inner = child.find("id")
                    if inner is not None:
                        named[name] = (inner.text or "").strip()
                    else:
                        said[name] = child.text or ""
                own = element.find("id")
                yield (
                    element.get("class") or "",
                    (own.text or "").strip() if own is not None else "",
                    said,
                    named,
                )
                element.clear()
                while element.getprevious() is not None:
                    del element.getparent()[0]
        except etree.XMLSyntaxError as error:
            raise SourceError(f"{path}: {error}") from None


def _lay_out(files: Heads, project: str) -> Layout:
    return _Export(files, project).layout()


class _Export:
    def __init__(self, files: Heads, project: str) -> None:
        self.files = files
        self.project = project
        self.pages: dict[str, _Content] = {}
        self.spaces: dict[str, tuple[str, str, str]] = {}
        """Name, key, and home page ID of each space, by space ID."""
        self.site = ""
        """URL of the space, if it was read through the API."""
        self.folders: set[str] = set()
        """IDs of folders, which contain pages but aren't pages."""
        self.problems: list[Problem] = []

    def layout(self) -> Layout:
        self._read()
        by_path: dict[str, _Content] = {}
        for page in self.pages.values():
            if page.id in self.folders:
                continue
            key = self.spaces.get(page.space, ("", "", ""))[1]
            stem = wanted = f"{key or 'pages'}/{page.title.replace('/', '-')[:150]}"
            number = 2
            while wanted in by_path:
                wanted = f"{stem} {number}"
                number += 1
            page.path = wanted
            by_path[wanted] = page
        self.by_path = by_path
        self.by_title = {(page.space, page.title.casefold()): page for page in by_path.values()}
        self.by_address = {self.address(page): page for page in by_path.values()}
        names: dict[str, str] = {}
        for page in by_path.values():
            name = re.sub(r"[^\w.-]+", "-", page.title).strip("-")[:100].lower() or "page"
            names[page.path] = f"{name}.md"
            for name, path in page.files.items():
                names[path] = "attachments/" + re.sub(r"[/\\]", "-", name)
        return Layout(
            entries=self._entries(),
            titles={path: page.title for path, page in by_path.items()},
            names=names,
            title=next((name for name, _, _ in self.spaces.values()), ""),
            problems=self.problems,
            convert=self._page,
            site=self.site,
            addresses={path: self.address(page) for path, page in by_path.items()},
            anchors=cache(self._anchors),
            redirects={
                old: path
                for path, page in by_path.items()
                for old in (
                    f"{self.address(page)}/{quote_plus(page.title)}",
                    f"display/{self._key(page)}/{quote_plus(page.title)}",
                )
            },
        )

    def address(self, page: _Content) -> str:
        return f"spaces/{self._key(page)}/pages/{page.id}"

    def _key(self, page: _Content) -> str:
        return self.spaces.get(page.space, ("", "", ""))[1]

    def _read(self) -> None:
        where = f"{self.project}entities.xml"
        left: dict[str, int] = {}
        labels: dict[str, str] = {}
        labelled: list[tuple[str, str]] = []
        attached: list[tuple[str, str, str, str]] = []
        for kind, id, said, named in _objects(self.files, where):
            is_current = said.get("contentStatus", "current") == "current" and not named.get(
                "originalVersion"
            )
            if kind in ("Page", "Folder") and is_current and id:
                if kind == "Folder":
                    self.folders.add(id)
                position = said.get("position", "").strip()
                self.pages[id] = _Content(
                    id,
                    " ".join(said.get("title", "").split()) or "Untitled",
                    named.get("parent", ""),
                    named.get("space", ""),
                    int(position) if re.fullmatch(r"\d{1,9}", position) else 10**9,
                )
            elif kind == "Space":
                key = said.get("key", "")
                self.spaces[id] = (said.get("name", "") or key, key, named.get("homePage", ""))
                self.site = said.get("baseUrl", "")
            elif kind == "Attachment" and is_current:
                name = said.get("title") or said.get("fileName") or ""
                version = said.get("version") or said.get("hibernateVersion") or "1"
                attached.append(
                    (named.get("containerContent") or named.get("content", ""), id, version.strip(), name)
                )
            elif kind == "Label":
                labels[id] = said.get("name", "")
            elif kind == "Labelling":
                labelled.append(
                    (named.get("content") or named.get("contentEntityObject", ""), named.get("label", ""))
                )
            elif kind in ("BlogPost", "Comment") and is_current:
                left[kind] = left.get(kind, 0) + 1
        self._take_files(attached)
        for content, label in labelled:
            if content in self.pages and labels.get(label):
                self.pages[content].labels.append(labels[label])
        for kind, count in left.items():
            code, what = (
                ("blog_left_out", "blog posts") if kind == "BlogPost" else ("comments_left_out", "comments")
            )
            text = f"{what} were skipped ({count:,})"
            self.problems.append(Problem(where, 0, code, text))
        total = 0
        for kind, _, said, named in _objects(self.files, where):
            page = self.pages.get(named.get("content", "")) if kind == "BodyContent" else None
            if page is not None:
                body = said.get("body", "")
                total += len(body)
                if total > MAX_BODIES:
                    raise SourceError(f"{where}: must contain at most {MAX_BODIES // 1024**2} MB of text")
                if len(body) > MAX_BODY:
                    self.problems.append(
                        Problem(
                            page.title,
                            0,
                            "too_large",
                            f"skipped: the text of the page is larger than {MAX_BODY // 1024**2} MB",
                        )
                    )
                    body = ""
                if said.get("bodyType", "").strip() == "0" and body.strip():
                    self.problems.append(
                        Problem(
                            page.title,
                            0,
                            "format_left_out",
                            "this page uses wiki markup from before Confluence 4; its source was kept as text",
                        )
                    )
                    body = f"<pre>{html.escape(body)}</pre>"
                # The end of nested CDATA is escaped, so that it doesn't end the outer CDATA.
                page.body = body.replace("]] >", "]]>")

    def _take_files(self, attached: list[tuple[str, str, str, str]]) -> None:
        for content, id, version, name in attached:
            page = self.pages.get(content)
            if page is None or not name:
                continue
            folder = f"{self.project}attachments/{content}/{id}"
            found = next(
                (path for path in (f"{folder}/{version}", f"{folder}/1", folder) if path in self.files.known),
                None,
            )
            if found is not None:
                page.files[name] = found
            else:
                self.problems.append(
                    Problem(
                        page.title,
                        0,
                        "missing_file",
                        f"the attachment {name[:200]} is missing from the export",
                    )
                )

    def _entries(self) -> list[Entry]:
        top: dict[str, list[_Content]] = {}
        for page in self.pages.values():
            seen, at = {page.id}, page
            while at.parent in self.pages and at.parent not in seen:
                seen.add(at.parent)
                at = self.pages[at.parent]
            # A page that is its own ancestor becomes a top-level page.
            if page.parent in self.pages and at.parent not in self.pages:
                self.pages[page.parent].children.append(page.id)
            else:
                top.setdefault(page.space, []).append(page)

        def order(page: _Content) -> tuple[Any, ...]:
            return (page.position, natural_key(page.title))

        for page in self.pages.values():
            page.children.sort(key=lambda id: order(self.pages[id]))

        def build(pages: list[_Content], level: int) -> list[Entry]:
            return [
                Entry(
                    path=page.path or None,
                    title=None if page.path else page.title,
                    children=build([self.pages[id] for id in page.children], level + 1) if level < 60 else [],
                )
                for page in sorted(pages, key=order)
            ]

        made: list[Entry] = []
        for space, pages in top.items():
            name, _, home = self.spaces.get(space, ("", "", ""))
            first = [page for page in pages if page.id == home]
            entries = build(first, 0) + build([page for page in pages if page.id != home], 0)
            if first:
                # The home page of the space comes first, with its subpages next to it.
                entries[1:1], entries[0].children = entries[0].children, []
            made += [Entry(title=name or "Space", children=entries)] if len(top) > 1 else entries
        return made

    # Pages

    def _anchors(self, path: str) -> dict[str, str]:
        """Return the anchors of a page's headings, keyed by each format in which links refer to them."""
        made: dict[str, str] = {}
        page = self.by_path.get(path)
        for part in re.split(r"<h[1-6](?=[\s>])", page.body)[1:] if page is not None else []:
            head = re.split(r"</h[1-6]>", part, maxsplit=1)[0].partition(">")[2]
            words = " ".join(html.unescape(re.sub(r"<[^<>]*>", "", head[:2000])).split())
            if not words or 'ac:name="anchor"' in head:
                continue
            for name in (words, words.replace(" ", ""), words.replace(" ", "-")):
                made.setdefault(name, slug(words))
        return made

    def _page(self, path: str, place: Place) -> str | None:
        page = self.by_path.get(path)
        if page is None:
            return None
        body = _CDATA.sub(lambda found: html.escape(found[1]), page.body)
        body = _EMPTY.sub(r"<\1\2></\1>", body)
        title = html.escape(page.title)
        tree = parse_html(f"<html><body><main><h1>{title}</h1>{body}</main></body></html>")
        storage = _Storage(self, page, place)
        if tree is not None:
            storage.prepare(tree)
        text = html_of_tree(tree, place, page.title)
        if storage.markdown:
            text = _LEFT.sub(lambda found: storage.written(int(found[2]), found[1]), text)
        return with_head(text, {"tags": sorted(set(page.labels))}) if page.labels else text


class _Storage:
    """Converter of a page's storage format to semantic HTML."""

    def __init__(self, export: _Export, page: _Content, place: Place) -> None:
        self.export = export
        self.page = page
        self.place = place
        self.reported: set[str] = set()
        self.markdown: list[str] = []

    def written(self, number: int, indent: str) -> str:
        """Convert a placeholder to its Markdown, with the placeholder's indentation."""
        if number >= len(self.markdown):
            return ""
        made = translate(self.markdown[number], self.place, Dialect()).text.strip("\n")
        return "\n".join(f"{indent}{row}" if row else row for row in made.split("\n"))

    def report(self, code: str, message: str) -> None:
        if message not in self.reported:
            self.reported.add(message)
            self.place.problem(0, code, message[:300])

    def prepare(self, tree: Any) -> None:
        # Innermost first, because outer macros are built from inner ones.
        for element in reversed(list(tree.iter())):
            if not isinstance(element.tag, str) or element.getparent() is None:
                continue
            name = element.tag.partition(":")[2] if ":" in element.tag else ""
            if name in ("structured-macro", "macro"):
                self.macro(element, (element.get("ac:name") or "").lower())
            elif name == "link":
                self.link(element)
            elif name == "image":
                self.image(element)
            elif name == "emoticon":
                element.tag, element.text = "span", _emoticon(element)
            elif name == "task-list":
                element.tag = "ul"
            elif name == "task":
                self.task(element)
            elif name == "placeholder":
                drop(element)
            elif element.tag == "a" and element.get("data-card-appearance"):
                self.card(element)
            elif element.tag == "a" and (found := _FULL.match(element.get("href") or "")):
                self.full(element, found)
            elif element.tag == "time":
                element.text = element.text or element.get("datetime")
            elif name == "adf-extension":
                self.extension(element)
            elif name in ("layout", "layout-section", "layout-cell", "adf-fallback"):
                element.tag = "div"

    def target(self, element: Any) -> tuple[str, str]:
        """Return the target of a link or image, and the text of the target element."""
        for child in element.iter():
            name = (
                child.tag.partition(":")[2]
                if isinstance(child.tag, str) and child.tag.startswith("ri:")
                else ""
            )
            if name == "url":
                return child.get("ri:value") or "", ""
            if name in ("page", "content-entity"):
                title = child.get("ri:content-title") or ""
                key = child.get("ri:space-key")
                space = next(
                    (id for id, (_, own, _) in self.export.spaces.items() if own == key),
                    self.page.space if not key else "",
                )
                page = self.export.by_title.get((space, title.casefold()))
                if page is None and self.export.site and not space:
                    # Links to other spaces keep their URLs.
                    return f"{self.export.site}/display/{quote(key)}/{quote_plus(title)}", title
                if page is None:
                    self.report("broken_link", f"{title[:200]} doesn't exist in the export")
                    return "", title
                return "/" + self.export.address(page), title
            if name == "attachment":
                filename = child.get("ri:filename") or ""
                owner = self.page
                for inner in child.iter("ri:page"):
                    owner = self.export.by_title.get(
                        (self.page.space, (inner.get("ri:content-title") or "").casefold()), owner
                    )
                path = owner.files.get(filename)
                if path is None:
                    self.report("broken_link", f"the attachment {filename[:200]} is missing from the export")
                return ("/" + quote(path) if path else ""), filename
            if name == "user":
                return "", "@" + (child.get("ri:username") or "someone")
        return "", ""

    def link(self, element: Any) -> None:
        href, words = self.target(element)
        anchor = element.get("ac:anchor")
        body = next(
            (
                one
                for one in element
                if isinstance(one.tag, str) and one.tag in ("ac:plain-text-link-body", "ac:link-body")
            ),
            None,
        )
        for child in list(element):
            if child is not body:
                element.remove(child)
        element.text = None
        if body is not None:
            body.tag, body.tail = "span", None
        else:
            element.text = words or anchor or ""
        element.tag = "a" if href or anchor else "span"
        if element.tag == "a":
            element.set("href", href + (f"#{anchor}" if anchor else ""))

    def card(self, element: Any) -> None:
        """Replace the text of a card link, which is only the link's URL, with the title of the target page if the
        export contains that page."""
        href = element.get("href") or ""
        site = self.export.site
        inside = (
            href[len(site) :].partition("#")[0].partition("?")[0]
            if site and href.startswith(f"{site}/")
            else ""
        )
        found = re.match(r"/spaces/[^/]+/pages/\d+", inside)
        page = self.export.by_address.get(found[0].strip("/")) if found else None
        if page is not None and re.match(r"https?:|\Z", (element.text or "").strip()):
            element.text = page.title

    def full(self, element: Any, found: re.Match[str]) -> None:
        """Rewrite a link that uses the full URL of a page in the export."""
        page = (
            self.export.by_address.get(found["address"])
            if found["address"]
            else self.export.pages.get(found["id"] or "")
        )
        if found["key"]:
            space = next((id for id, (_, own, _) in self.export.spaces.items() if own == found["key"]), "")
            page = self.export.by_title.get((space, unquote_plus(found["title"]).casefold()))
        if page is not None and page.path:
            element.set("href", f"/{self.export.address(page)}{found['rest'] or ''}")

    def extension(self, element: Any) -> None:
        """Convert content that only the new editor supports. Panels in custom colors are converted, and all other
        extensions are replaced with their fallback content."""
        node = next(iter(element.iter("ac:adf-node")), None)
        content = next(iter(element.iter("ac:adf-content")), None)
        element.tag = "div"
        if node is not None and node.get("type") == "panel" and content is not None:
            said = {one.get("key"): (one.text or "").strip() for one in node.iter("ac:adf-attribute")}
            for child in list(element):
                element.remove(child)
            element.set("class", f"admonition {_MESSAGES.get(said.get('panel-type', ''), 'info')}")
            content.tag, content.tail = "div", None
            element.append(content)
            return
        for child in list(element):
            if child.tag != "div":
                element.remove(child)

    def tabs(self, element: Any, panes: list[tuple[str, Any]]) -> None:
        if len(panes) == 1:
            etree.SubElement(element, "h4").text = panes[0][0]
            element.append(panes[0][1])
            return
        row = etree.SubElement(element, "ul", role="tablist")
        for title, _ in panes:
            etree.SubElement(row, "li", role="tab").text = title
        for number, (_, pane) in enumerate(panes):
            pane.tag, pane.tail = "div", None
            pane.set("role", "tabpanel")
            row[number].set("id", f"tab-{id(element)}-{number}")
            pane.set("aria-labelledby", f"tab-{id(element)}-{number}")
            element.append(pane)

    def image(self, element: Any) -> None:
        source, words = self.target(element)
        if not source:
            element.tag, element.text = "span", words
            for child in list(element):
                element.remove(child)
            return
        caption = next((one for one in element if isinstance(one.tag, str) and one.tag == "ac:caption"), None)
        for child in list(element):
            element.remove(child)
        shown = etree.SubElement(
            element, "img", src=source, alt=element.get("ac:alt") or posixpath.splitext(words)[0]
        )
        if width := element.get("ac:width"):
            shown.set("width", width)
        element.tag = "figure" if caption is not None else "span"
        if caption is not None:
            caption.tag, caption.tail = "figcaption", None
            element.append(caption)

    def task(self, element: Any) -> None:
        done = "".join(one.text or "" for one in element.iter("ac:task-status")).strip() == "complete"
        body = next(iter(element.iter("ac:task-body")), None)
        for child in list(element):
            if child is not body:
                element.remove(child)
        element.tag, element.text = "li", None
        box = etree.Element("input", type="checkbox")
        if done:
            box.set("checked", "")
        element.insert(0, box)
        if body is not None:
            body.tag = "span"

    def macro(self, element: Any, name: str) -> None:
        given = {
            one.get("ac:name") or "": "".join(one.itertext()).strip()
            for one in element
            if one.tag == "ac:parameter"
        }
        rich = next((one for one in element if one.tag == "ac:rich-text-body"), None)
        plain = next((one for one in element if one.tag == "ac:plain-text-body"), None)
        name = _ALIKE.get(name, name)
        target = (
            self.target(element)
            if name
            in (
                "view-file",
                "include",
                "excerpt-include",
                "viewpdf",
                "viewdoc",
                "viewxls",
                "multimedia",
                "widget",
                "iframe",
            )
            else ("", "")
        )
        if "include" in name and not target[0] and (link := next(element.iter("a"), None)) is not None:
            target = (link.get("href") or "", "".join(link.itertext()))
        panes = [
            (one.get("data-title") or f"Tab {at + 1}", one)
            for at, one in enumerate(
                one for one in element.iter("div") if one.get("data-pane") in _TABS.get(name, ())
            )
        ]
        for child in list(element):
            element.remove(child)
        element.text = None
        attributes = dict(element.attrib)
        element.attrib.clear()
        if rich is not None:
            rich.tag, rich.tail = "div", None
        if panes:
            element.tag = "div"
            self.tabs(element, panes)
        elif name in _PANES and rich is not None:
            element.tag = "div"
            element.set("data-pane", name)
            element.set("data-title", given.get("title") or given.get("label") or given.get("name") or "")
            element.append(rich)
        elif name in ("widget", "iframe") and (url := target[0] or given.get("url") or given.get("src")):
            element.tag = "iframe"
            element.set("src", url)
        elif name in ("mathinline", "eazy-math-inline", "mathblock", "easy-math-block", "latex") and (
            formula := (plain.text if plain is not None else "")
            or given.get("body")
            or given.get("LatexMath")
            or ""
        ):
            element.tag = "code" if "inline" in name else "pre"
            element.set("class", "math")
            element.text = formula.strip()
        elif name == "markdown" and plain is not None:
            self.markdown.append(plain.text or "")
            element.tag, element.text = "p", f"\ufdd0{len(self.markdown) - 1}\ufdd0"
        elif name == "footnote" and rich is not None:
            element.tag, element.text, rich.tag, rich.tail = "span", " (", "span", ")"
            element.append(rich)
        elif name == "excerpt" and given.get("hidden") == "true":
            element.tag = "span"
        elif name in ("code", "noformat") or (plain is not None and (_DRAWN.match(name) or name == "html")):
            kind_drawn = _DRAWN.match(name)
            language = (
                kind_drawn[1]
                if kind_drawn
                else "html"
                if name == "html"
                else given.get("language", "").lower()
            )
            pre = etree.Element("pre")
            pre.set(
                "class",
                f"language-{CODE_LANGUAGES.get(language, language)}"
                if CODE_LANGUAGES.get(language, language)
                else "",
            )
            pre.text = plain.text if plain is not None else ""
            element.tag = "figure" if given.get("title") else "div"
            if given.get("title"):
                etree.SubElement(element, "figcaption").text = given["title"]
            element.append(pre)
        elif name in _HINTS:
            element.tag = "div"
            kind = _MESSAGES.get(given.get("type", "").lower()) if name == "panel" else None
            element.set("class", f"admonition {kind or _HINTS[name]}")
            if given.get("title"):
                etree.SubElement(element, "h4").text = given["title"]
            if rich is not None:
                element.append(rich)
        elif name == "expand":
            element.tag = "details"
            etree.SubElement(element, "summary").text = given.get("title") or given.get("") or "Details"
            if rich is not None:
                element.append(rich)
        elif name == "status":
            element.tag, element.text = "code", given.get("title") or given.get("colour") or ""
        elif name == "anchor":
            element.tag = "a"
            element.set("id", given.get("") or next(iter(given.values()), ""))
        elif name == "children":
            element.tag = "ul"
            for id in self.page.children:
                child = self.export.pages[id]
                if not child.path:
                    continue
                link = etree.SubElement(
                    etree.SubElement(element, "li"), "a", href="/" + self.export.address(child)
                )
                link.text = child.title
        elif name == "jira":
            element.tag, element.text = "code", given.get("key") or given.get("jqlQuery") or "Jira"
        elif target[0]:
            within = element.getparent().tag in ("p", "span", "li", "td", "th")
            element.tag = "span" if within else "p"
            etree.SubElement(element, "a", href=target[0]).text = target[1]
            if "include" in name:
                self.report(
                    "unknown_component",
                    f"the macro {name} shows {target[1][:100]}; it was replaced with a link",
                )
        elif name in ("drawio", "gliffy", "inc-drawio") and (drawn := self.drawing(given)):
            element.tag = "span"
            etree.SubElement(
                element,
                "img",
                src="/" + quote(drawn),
                alt=given.get("diagramName") or given.get("name") or "",
            )
        else:
            # Within text, the macro must not end the paragraph.
            element.tag = "div" if rich is not None or plain is not None else "span"
            if rich is not None:
                element.append(rich)
            elif plain is not None and name not in _SILENT:
                etree.SubElement(element, "pre").text = plain.text
            if name not in _SILENT and name not in _WRAPPERS:
                said = attributes.get("ac:name") or name
                self.report(
                    "unknown_component", f"the macro {said[:100]} isn't supported; its contents were kept"
                )

    def drawing(self, given: dict[str, str]) -> str | None:
        name = given.get("diagramName") or given.get("name") or ""
        return next(
            (self.page.files[one] for one in (f"{name}.png", f"{name}.svg", name) if one in self.page.files),
            None,
        )


def _emoticon(element: Any) -> str:
    """Return the emoji for an emoticon image."""
    written = element.get("ac:emoji-id") or ""
    if re.fullmatch(r"[0-9a-f]{2,6}(?:-[0-9a-f]{2,6}){0,8}", written):
        signs = [int(part, 16) for part in written.split("-")]
        if all(sign < 0x110000 and not 0xD800 <= sign < 0xE000 for sign in signs):
            return "".join(map(chr, signs))
    name = element.get("ac:name") or ""
    return EMOTICONS.get(name) or element.get("ac:emoji-fallback") or f":{name}:"


CONFLUENCE_XML = Reader("confluence-xml", "Confluence XML", _find, _lay_out)
