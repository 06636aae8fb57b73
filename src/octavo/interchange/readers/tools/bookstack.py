"""Reader for BookStack exports."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from html import escape
from typing import Any
from urllib.parse import quote

from lxml import etree

from octavo.core.document.anchors import slug
from octavo.core.document.page import with_head
from octavo.core.pages import slugify
from octavo.core.problems import Problem

from ..formats.html import parse_html
from ..formats.html_pages import html_of_tree
from ..layout import Dialect, Entry, Layout, Place
from ..markdown.lines import words as plain_words
from ..markdown.translating import translate
from ..source_files import Heads, folder_of, is_page, stem_of
from ..types import Reader
from ..values import mapping, mappings, text_of
from .wiki_exports import MAX_PAGES, FreeNames, escaped, file_name, one_line, plain_text, read_json

_KINDS = ("book", "chapter", "page")
_REFERENCE = re.compile(
    r"\[\[bsexport:(?P<kind>book|chapter|page|image|attachment):(?P<id>[^\[\]:\n]{1,200})\]\]"
)
_PART = re.compile(r'<h1[^>]*\sid="(?P<kind>page|chapter)-(?P<id>\d+)"[^>]*>(?P<title>.*?)</h1>', re.DOTALL)


def _find_bookstack(files: Heads) -> str | None:
    for path in files.paths:
        if posixpath.basename(path) == "data.json" and path.count("/") <= 2:
            with files.source.opening(path)() as file:
                start = file.read(4096)
            if b'"id_ciphertext"' in start or b'"exported_at"' in start or b'{"page"' in start:
                data = mapping(read_json(files, path))
                if any(mapping(data.get(kind)).get("name") for kind in _KINDS):
                    return ""
    for path in [path for path in files.paths if path.endswith(".html")][:3]:
        if 'class="page-break"' in (text := files.text(path) or "") and _PART.search(text):
            return ""
    return None


_CALLOUT = re.compile(
    r'^<p class="callout (?P<kind>\w+)"[^<>]*>(?P<words>(?:[^<]|<(?!/?p\b))*)</p>[ \t]*$', re.MULTILINE
)
_FULL = re.compile(
    r"(?P<site>https?://[^\s\"'<>()]{1,200}?)/(?P<address>books/[\w-]+(?:/(?:page|chapter)/[\w-]+)?)"
)


def _as_alert(found: re.Match[str]) -> str:
    """Return an HTML callout as a Markdown alert."""
    kind = {"success": "TIP", "danger": "CAUTION"}.get(found["kind"], found["kind"].upper())
    return "\n".join(
        [f"> [!{kind}]", *(f"> {row.strip()}" for row in found["words"].strip().split("\n")), ""]
    )


class _BookStackPage:
    def __init__(self, path: str, data: Mapping[str, object], folder: str) -> None:
        self.path = path
        self.data = data
        self.folder = folder
        self.title = one_line(data.get("name")) or "Untitled"


class _BookStack:
    """Reader for portable archives of books, chapters, or pages, and for books that were exported as a single HTML
    page."""

    def __init__(self, files: Heads) -> None:
        self.files = files
        self.names = FreeNames()
        self.pages: dict[str, _BookStackPage] = {}
        self.places: dict[tuple[str, str, str], str] = {}
        """Page paths by folder, kind, and ID."""
        self.assets: dict[tuple[str, str, str], str] = {}
        self.addresses: dict[str, str] = {}
        self.redirects: dict[str, str] = {}
        self.titles: dict[str, str] = {}
        self.file_names: dict[str, str] = {}
        self.problems: list[Problem] = []

    def lay_out(self) -> Layout:
        made: list[tuple[str, list[Entry]]] = []
        for path in self.files.paths:
            if posixpath.basename(path) == "data.json" and path.count("/") <= 2:
                data = mapping(read_json(self.files, path))
                for kind in _KINDS:
                    if given := mapping(data.get(kind)):
                        made.append(self._archive(kind, given, folder_of(path)))
                if not any(mapping(data.get(kind)) for kind in _KINDS):
                    self._tell(
                        path, "not_converted", "the export doesn't contain any books, chapters, or pages"
                    )
            elif path.lower().endswith((".html", ".htm")):
                if book := self._book(path):
                    made.append(book)
            elif is_page(path):
                made.append(("", [Entry(path=path)]))
                self.addresses[path] = posixpath.splitext(path)[0]
        title, entries = made[0] if len(made) == 1 else ("", [])
        if len(made) != 1:
            for name, below in made:
                entries += [Entry(title=name, children=below)] if name and len(below) != 1 else below
        return Layout(
            entries=entries,
            title=title,
            site=self._site(),
            addresses=self.addresses,
            redirects=self.redirects,
            titles=self.titles,
            names=self.file_names,
            problems=self.problems,
            convert=self.convert,
            anchors=self.anchors,
            skipped=(".json",),
        )

    def _site(self) -> str:
        """Return the URL of the wiki, derived from a link that contains the full URL of one of these pages."""
        known = set(self.addresses.values())
        for page in self.pages.values():
            for found in _FULL.finditer(
                f"{text_of(page.data.get('html'))}\n{text_of(page.data.get('markdown'))}"
            ):
                if found["address"] in known:
                    return found["site"]
        return ""

    def anchors(self, path: str) -> dict[str, str]:
        """Return the heading anchors of a page that was written in Markdown. BookStack derives these anchors from
        the text of the headings."""
        page = self.pages.get(path)
        written = text_of(page.data.get("markdown")) if page else ""
        titles = [
            plain_words(found[1])
            for found in re.finditer(r"^#{1,6}[ \t]+(\S.{0,500}?)[ \t#]*$", written, re.MULTILINE)
        ]
        return {
            f"bkmrk-{quote('-'.join(title.lower().split())[:20], safe='')}": slug(title)
            for title in reversed(titles)
        }

    def _tell(self, path: str, code: str, message: str) -> None:
        self.problems.append(Problem(path, 0, code, message))

    def _archive(self, kind: str, data: Mapping[str, object], folder: str) -> tuple[str, list[Entry]]:
        if kind == "page":
            return "", [self._page(data, folder, "", "pages")]
        name = one_line(data.get("name")) or "Untitled"
        if kind == "chapter":
            return "", [self._chapter(data, folder, "", "pages")]
        self.places[(folder, "book", text_of(data.get("id")))] = f"books/{slugify(name)}"
        children = [(one, self._chapter) for one in mappings(data.get("chapters"))]
        children += [(one, self._page) for one in mappings(data.get("pages"))]
        children.sort(key=lambda row: _priority(row[0]))
        entries = [make(one, folder, file_name(name), f"books/{slugify(name)}") for one, make in children]
        about = {"name": name, "html": data.get("description_html"), "tags": data.get("tags")}
        if text_of(about["html"]).strip() or data.get("cover"):
            cover = text_of(data.get("cover"))
            if cover and f"{folder}files/{cover}" in self.files.known:
                about["html"] = (
                    f'<p><img src="/{quote(f"{folder}files/{cover}")}" alt=""></p>{text_of(about["html"])}'
                )
            entries.insert(
                0,
                self._keep(
                    "book", {**about, "id": data.get("id")}, folder, file_name(name), f"books/{slugify(name)}"
                ),
            )
        return name, entries

    def _chapter(self, data: Mapping[str, object], folder: str, above: str, address: str) -> Entry:
        name = one_line(data.get("name")) or "Untitled"
        where = f"{above}/{file_name(name)}" if above else file_name(name)
        pages = sorted(mappings(data.get("pages")), key=_priority)
        chapter = f"{address}/chapter/{slugify(name)}"
        children = [self._page(one, folder, where, address) for one in pages]
        html = data.get("description_html")
        if not text_of(html).strip() and not data.get("tags"):
            if children and children[0].path:
                # A link to the chapter goes to its first page.
                self.redirects[chapter] = children[0].path
                self.places[(folder, "chapter", text_of(data.get("id")))] = self.addresses[children[0].path]
            return Entry(title=name, children=children)
        entry = self._keep("chapter", {**data, "html": html, "markdown": ""}, folder, where, chapter)
        entry.children = children
        return entry

    def _page(self, data: Mapping[str, object], folder: str, above: str, address: str) -> Entry:
        name = one_line(data.get("name")) or "Untitled"
        where = f"{above}/{file_name(name)}" if above else file_name(name)
        return self._keep("page", data, folder, where, f"{address}/page/{slugify(name)}")

    def _keep(self, kind: str, data: Mapping[str, object], folder: str, where: str, address: str) -> Entry:
        path = self.names.free(f"{folder}{where}")
        page = self.pages[path] = _BookStackPage(path, data, folder)
        self.titles[path] = page.title
        book, _, rest = where.rpartition("/")
        self.file_names[path] = (
            posixpath.join(*(slugify(part) for part in book.split("/")[1:]), f"{slugify(rest or where)}.md")
            if "/" in where
            else f"{slugify(where)}.md"
        )
        self.addresses[path] = address
        if id := text_of(data.get("id")):
            self.places[(folder, kind, id)] = address
            if kind == "page":
                self.redirects[f"link/{id}"] = path
        for one in mappings(data.get("images")):
            self._asset("image", one, folder)
        for one in mappings(data.get("attachments")):
            self._asset("attachment", one, folder)
        return Entry(path=path)

    def _asset(self, kind: str, data: Mapping[str, object], folder: str) -> None:
        file = text_of(data.get("file"))
        path = f"{folder}files/{file}"
        if file and path in self.files.known:
            name = re.sub(r"[/\\]", "-", one_line(data.get("name"))) or file
            ending = posixpath.splitext(file)[1]
            self.file_names.setdefault(
                path, f"files/{name}" if name.lower().endswith(ending.lower()) else f"files/{name}{ending}"
            )
            for key in (text_of(data.get("id")), file):
                if key:
                    self.assets[(folder, kind, key)] = path

    # Pages

    def convert(self, path: str, place: Place) -> str | None:
        page = self.pages.get(path)
        if page is None:
            return None
        data = page.data
        markdown = text_of(data.get("markdown"))
        if markdown.strip():
            markdown = _CALLOUT.sub(_as_alert, self._resolve_references(page, markdown, place))
            made = translate(markdown, place, Dialect()).text
            text = f"# {escaped(page.title)}\n\n{made.strip()}\n"
        else:
            inside = self._resolve_references(page, text_of(data.get("html")), place)
            tree = parse_html(f"<html><body><main><h1>{escape(page.title)}</h1>{inside}</main></body></html>")
            if tree is not None:
                _prepare_bookstack(tree)
            text = html_of_tree(tree, place, page.title)
        for one in sorted(mappings(data.get("attachments")), key=lambda one: _number(one.get("order"))):
            text += self._attached(page, one, place)
        tags = [
            f"{one_line(tag.get('name'))}: {one_line(tag.get('value'))}".removesuffix(": ")
            for tag in mappings(data.get("tags"))
        ]
        return with_head(text, {"tags": tags}) if tags else text

    def _resolve_references(self, page: _BookStackPage, text: str, place: Place) -> str:
        """Replace the archive's own references in the text with URLs."""

        def address(found: re.Match[str]) -> str:
            key = (page.folder, found["kind"], found["id"])
            if (file := self.assets.get(key)) is not None:
                return "/" + quote(file)
            if (known := self.places.get(key)) is not None:
                return "/" + known
            # A missing target is reported when the link is created.
            return f"/{found['kind']}-{quote(found['id'])}-is-not-in-the-archive"

        if "{{@" in text:
            for included in dict.fromkeys(re.findall(r"\{\{@\s*(\d+)", text)):
                place.problem(
                    0,
                    "missing_include",
                    f"{{{{@{included}}}}} includes another page, which can't be imported; the text was kept",
                )
        return _REFERENCE.sub(address, text)

    def _attached(self, page: _BookStackPage, data: Mapping[str, object], place: Place) -> str:
        name, link, file = one_line(data.get("name")), text_of(data.get("link")), text_of(data.get("file"))
        if file:
            path = f"{page.folder}files/{file}"
            if path not in self.files.known:
                place.problem(0, "missing_file", f"the attachment {name[:200]} is missing from the archive")
                return ""
            return f'\n{{% file src="{place.link("/" + quote(path), 0, shown=True)}" %}}\n'
        return f"\n[{escaped(name or link)}]({quote(link, safe=_SAFE)})\n" if link else ""

    # Books as one page

    def _book(self, path: str) -> tuple[str, list[Entry]] | None:
        text = self.files.text(path) or ""
        parts = list(_PART.finditer(text))
        if not parts:
            # The page was exported separately.
            self.addresses[path] = posixpath.splitext(path)[0]
            title = re.search(r"<h1[^>]*>(.*?)</h1>", text, re.DOTALL)
            self.pages[path] = _BookStackPage(
                path, {"name": plain_text(title[1]) if title else stem_of(path), "html": _body(text)}, ""
            )
            return "", [Entry(path=path)]
        title = re.search(r"<title>(.*?)</title>", text, re.DOTALL)
        name = plain_text(title[1]) if title else stem_of(path)
        # The description comes from the book's front matter, without the table of contents.
        front = re.sub(
            r"<ul class=\"contents\">.*", "", _body(text[: parts[0].start()] + "</body>"), flags=re.DOTALL
        )
        front = re.sub(r"<h1[^>]*>.*?</h1>", "", front, count=1, flags=re.DOTALL)
        front = re.sub(r'<div class="page-break"></div>', "", front)
        entries: list[Entry] = []
        into = entries
        if plain_text(front):
            entries.append(
                self._keep(
                    "book", {"name": name, "html": front}, "", file_name(name), f"books/{slugify(name)}"
                )
            )
        for at, part in enumerate(parts[:MAX_PAGES]):
            end = parts[at + 1].start() if at + 1 < len(parts) else len(text)
            inside = re.sub(
                r'<div class="(?:page-break"></div>|chapter-hint">[^<>]*</div>)',
                "",
                _body(text[part.end() : end]),
            )
            data = {"id": part["id"], "name": plain_text(part["title"]), "html": inside}
            if part["kind"] == "chapter":
                if plain_text(inside):
                    chapter = self._keep(
                        "chapter",
                        data,
                        "",
                        f"{file_name(name)}/{file_name(data['name'])}",
                        f"books/{slugify(name)}/chapter/{slugify(data['name'])}",
                    )
                else:
                    chapter = Entry(title=data["name"])
                entries.append(chapter)
                into = chapter.children
            else:
                if 'class="chapter-hint"' not in text[parts[at - 1].end() if at else 0 : part.start()]:
                    into = entries
                into.append(self._page(data, "", file_name(name), f"books/{slugify(name)}"))
        return name, entries


_SAFE = "/:?#[]@!$&'()*+,;=~%-._"


def _priority(data: Mapping[str, object]) -> float:
    return _number(data.get("priority"))


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else 1e9


def _body(markup: str) -> str:
    """Return the contents of the body element, if there is one; otherwise, return the markup unchanged."""
    inside = re.split(r"<body[^>]*>", markup, maxsplit=1)[-1]
    return re.split(r"</body>", inside, maxsplit=1)[0]


def _prepare_bookstack(tree: Any) -> None:
    """Rewrite BookStack's markup as semantic HTML."""
    for element in list(tree.iter()):
        if not isinstance(element.tag, str) or element.getparent() is None:
            continue
        classes = (element.get("class") or "").split()
        if element.tag == "p" and "callout" in classes:
            words = etree.Element("p")
            words.text, element.text = element.text, None
            for child in list(element):
                words.append(child)
            element.tag = "div"
            element.append(words)
        elif element.get("drawio-diagram") is not None:
            element.attrib.pop("drawio-diagram")
            element.tag = "figure"


BOOKSTACK = Reader(
    "bookstack", "BookStack", _find_bookstack, lambda files, project: _BookStack(files).lay_out()
)
