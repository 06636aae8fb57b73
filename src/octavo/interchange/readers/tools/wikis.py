"""Readers for wiki exports: BookStack, Wiki.js, Outline, and Docmost."""

from __future__ import annotations

import json
import posixpath
import re
from functools import partial
from html import escape
from typing import Any
from urllib.parse import quote, unquote

from lxml import etree

from octavo.core.document.anchors import slug
from octavo.core.document.page import with_head
from octavo.core.pages import slugify
from octavo.core.problems import Problem
from octavo.core.summary import natural_key, title_of_name

from ..formats.html import drop, parse_html
from ..formats.html_pages import html_of_tree, html_page
from ..formats.prosemirror import write_html
from ..layout import Dialect, Entry, Layout, Place, Variant
from ..markdown.lines import words as plain_words
from ..markdown.translating import translate
from ..source_files import Heads, folder_of, is_page, stem_of
from ..trees import grow, pages_below, walk_entries
from ..types import Reader
from ..variants import MAX_VARIANTS, key_of, language_name, left_out

MAX_LEVELS = 30
MAX_PAGES = 50_000
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _objects(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _text(value: Any) -> str:
    return str(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else ""


def _words(value: Any) -> str:
    return " ".join(_text(value).split())


def _read_json(files: Heads, path: str) -> Any:
    text = files.text(path)
    try:
        return json.loads(text) if text is not None else None
    except (ValueError, RecursionError):
        return None


class _Names:
    """Unique paths for pages that aren't files."""

    def __init__(self) -> None:
        self.taken: set[str] = set()

    def free(self, wanted: str) -> str:
        made, number = wanted, 2
        while made.casefold() in self.taken:
            made = f"{wanted} {number}"
            number += 1
        self.taken.add(made.casefold())
        return made


def _name(title: str) -> str:
    return re.sub(r"[/\\]+", "-", title)[:150].strip(" .") or "Untitled"


# --- BookStack -----------------------------------------------------------------------------------------

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
                data = _object(_read_json(files, path))
                if any(_object(data.get(kind)).get("name") for kind in _KINDS):
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
    """Return an HTML callout in Markdown."""
    kind = {"success": "TIP", "danger": "CAUTION"}.get(found["kind"], found["kind"].upper())
    return "\n".join(
        [f"> [!{kind}]", *(f"> {row.strip()}" for row in found["words"].strip().split("\n")), ""]
    )


class _BookStackPage:
    def __init__(self, path: str, data: dict[str, Any], folder: str) -> None:
        self.path = path
        self.data = data
        self.folder = folder
        self.title = _words(data.get("name")) or "Untitled"


class _BookStack:
    """Portable archives of books, chapters, or pages, and books as a single HTML page."""

    def __init__(self, files: Heads) -> None:
        self.files = files
        self.names = _Names()
        self.pages: dict[str, _BookStackPage] = {}
        self.places: dict[tuple[str, str, str], str] = {}
        """The path of each page by kind and id, in each folder."""
        self.assets: dict[tuple[str, str, str], str] = {}
        self.layout = Layout(
            entries=[], problems=[], convert=self.convert, skipped=(".json",), anchors=self.anchors
        )

    def lay_out(self) -> Layout:
        made: list[tuple[str, list[Entry]]] = []
        for path in self.files.paths:
            if posixpath.basename(path) == "data.json" and path.count("/") <= 2:
                data = _object(_read_json(self.files, path))
                for kind in _KINDS:
                    if given := _object(data.get(kind)):
                        made.append(self._archive(kind, given, folder_of(path)))
                if not any(_object(data.get(kind)) for kind in _KINDS):
                    self._tell(path, "not_converted", "it contains no book, chapter, or page")
            elif path.lower().endswith((".html", ".htm")):
                if book := self._book(path):
                    made.append(book)
            elif is_page(path):
                made.append(("", [Entry(path=path)]))
                self.layout.addresses[path] = posixpath.splitext(path)[0]
        if len(made) == 1:
            self.layout.title, self.layout.entries = made[0]
        else:
            self.layout.entries = [
                one
                for title, entries in made
                for one in (
                    [Entry(title=title, children=entries)] if title and len(entries) != 1 else entries
                )
            ]
        self.layout.site = self._site()
        return self.layout

    def _site(self) -> str:
        """Return the URL of the wiki, based on a link to one of these pages by its full URL."""
        known = set(self.layout.addresses.values())
        for page in self.pages.values():
            for found in _FULL.finditer(
                f"{_text(page.data.get('html'))}\n{_text(page.data.get('markdown'))}"
            ):
                if found["address"] in known:
                    return found["site"]
        return ""

    def anchors(self, path: str) -> dict[str, str]:
        """Return the anchors of the headings of a page written in Markdown. The wiki creates them from the text of
        the headings."""
        page = self.pages.get(path)
        written = _text(page.data.get("markdown")) if page else ""
        titles = [
            plain_words(found[1])
            for found in re.finditer(r"^#{1,6}[ \t]+(\S.{0,500}?)[ \t#]*$", written, re.MULTILINE)
        ]
        return {
            f"bkmrk-{quote('-'.join(title.lower().split())[:20], safe='')}": slug(title)
            for title in reversed(titles)
        }

    def _tell(self, path: str, code: str, message: str) -> None:
        self.layout.problems.append(Problem(path, 0, code, message))

    def _archive(self, kind: str, data: dict[str, Any], folder: str) -> tuple[str, list[Entry]]:
        if kind == "page":
            return "", [self._page(data, folder, "", "pages")]
        name = _words(data.get("name")) or "Untitled"
        if kind == "chapter":
            return "", [self._chapter(data, folder, "", "pages")]
        self.places[(folder, "book", _text(data.get("id")))] = f"books/{slugify(name)}"
        children = [(one, self._chapter) for one in _objects(data.get("chapters"))]
        children += [(one, self._page) for one in _objects(data.get("pages"))]
        children.sort(key=lambda row: _priority(row[0]))
        entries = [make(one, folder, _name(name), f"books/{slugify(name)}") for one, make in children]
        about = {"name": name, "html": data.get("description_html"), "tags": data.get("tags")}
        if _text(about["html"]).strip() or data.get("cover"):
            cover = _text(data.get("cover"))
            if cover and f"{folder}files/{cover}" in self.files.known:
                about["html"] = (
                    f'<p><img src="/{quote(f"{folder}files/{cover}")}" alt=""></p>{_text(about["html"])}'
                )
            entries.insert(
                0,
                self._keep(
                    "book", {**about, "id": data.get("id")}, folder, _name(name), f"books/{slugify(name)}"
                ),
            )
        return name, entries

    def _chapter(self, data: dict[str, Any], folder: str, above: str, address: str) -> Entry:
        name = _words(data.get("name")) or "Untitled"
        where = f"{above}/{_name(name)}" if above else _name(name)
        pages = sorted(_objects(data.get("pages")), key=_priority)
        chapter = f"{address}/chapter/{slugify(name)}"
        children = [self._page(one, folder, where, address) for one in pages]
        html = data.get("description_html")
        if not _text(html).strip() and not data.get("tags"):
            if children and children[0].path:
                # A link to the chapter leads to its first page.
                self.layout.redirects[chapter] = children[0].path
                self.places[(folder, "chapter", _text(data.get("id")))] = self.layout.addresses[
                    children[0].path
                ]
            return Entry(title=name, children=children)
        entry = self._keep("chapter", {**data, "html": html, "markdown": ""}, folder, where, chapter)
        entry.children = children
        return entry

    def _page(self, data: dict[str, Any], folder: str, above: str, address: str) -> Entry:
        name = _words(data.get("name")) or "Untitled"
        where = f"{above}/{_name(name)}" if above else _name(name)
        return self._keep("page", data, folder, where, f"{address}/page/{slugify(name)}")

    def _keep(self, kind: str, data: dict[str, Any], folder: str, where: str, address: str) -> Entry:
        path = self.names.free(f"{folder}{where}")
        page = self.pages[path] = _BookStackPage(path, data, folder)
        self.layout.titles[path] = page.title
        book, _, rest = where.rpartition("/")
        self.layout.names[path] = (
            posixpath.join(*(slugify(part) for part in book.split("/")[1:]), f"{slugify(rest or where)}.md")
            if "/" in where
            else f"{slugify(where)}.md"
        )
        self.layout.addresses[path] = address
        if id := _text(data.get("id")):
            self.places[(folder, kind, id)] = address
            if kind == "page":
                self.layout.redirects[f"link/{id}"] = path
        for one in _objects(data.get("images")):
            self._asset("image", one, folder)
        for one in _objects(data.get("attachments")):
            self._asset("attachment", one, folder)
        return Entry(path=path)

    def _asset(self, kind: str, data: dict[str, Any], folder: str) -> None:
        file = _text(data.get("file"))
        path = f"{folder}files/{file}"
        if file and path in self.files.known:
            name = re.sub(r"[/\\]", "-", _words(data.get("name"))) or file
            ending = posixpath.splitext(file)[1]
            self.layout.names.setdefault(
                path, f"files/{name}" if name.lower().endswith(ending.lower()) else f"files/{name}{ending}"
            )
            for key in (_text(data.get("id")), file):
                if key:
                    self.assets[(folder, kind, key)] = path

    # Pages

    def convert(self, path: str, place: Place) -> str | None:
        page = self.pages.get(path)
        if page is None:
            return None
        data = page.data
        markdown = _text(data.get("markdown"))
        if markdown.strip():
            markdown = _CALLOUT.sub(_as_alert, self._resolve_references(page, markdown, place))
            made = translate(markdown, place, Dialect()).text
            text = f"# {_escaped(page.title)}\n\n{made.strip()}\n"
        else:
            inside = self._resolve_references(page, _text(data.get("html")), place)
            tree = parse_html(f"<html><body><main><h1>{escape(page.title)}</h1>{inside}</main></body></html>")
            if tree is not None:
                _prepare_bookstack(tree)
            text = html_of_tree(tree, place, page.title)
        for one in sorted(_objects(data.get("attachments")), key=lambda one: _number(one.get("order"))):
            text += self._attached(page, one, place)
        tags = [
            f"{_words(tag.get('name'))}: {_words(tag.get('value'))}".removesuffix(": ")
            for tag in _objects(data.get("tags"))
        ]
        return with_head(text, {"tags": tags}) if tags else text

    def _resolve_references(self, page: _BookStackPage, text: str, place: Place) -> str:
        """Return the text with the archive's own references replaced with URLs."""

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
                    0, "missing_include", f"{{{{@{included}}}}} shows another page; it stays as written"
                )
        return _REFERENCE.sub(address, text)

    def _attached(self, page: _BookStackPage, data: dict[str, Any], place: Place) -> str:
        name, link, file = _words(data.get("name")), _text(data.get("link")), _text(data.get("file"))
        if file:
            path = f"{page.folder}files/{file}"
            if path not in self.files.known:
                place.problem(0, "missing_file", f"the attachment {name[:200]} is missing from the archive")
                return ""
            return f'\n{{% file src="{place.link("/" + quote(path), 0, shown=True)}" %}}\n'
        return f"\n[{_escaped(name or link)}]({quote(link, safe=_SAFE)})\n" if link else ""

    # Books as one page

    def _book(self, path: str) -> tuple[str, list[Entry]] | None:
        text = self.files.text(path) or ""
        parts = list(_PART.finditer(text))
        if not parts:
            # A page that was exported separately.
            self.layout.addresses[path] = posixpath.splitext(path)[0]
            title = re.search(r"<h1[^>]*>(.*?)</h1>", text, re.DOTALL)
            self.pages[path] = _BookStackPage(
                path, {"name": _plain(title[1]) if title else stem_of(path), "html": _body(text)}, ""
            )
            return "", [Entry(path=path)]
        title = re.search(r"<title>(.*?)</title>", text, re.DOTALL)
        name = _plain(title[1]) if title else stem_of(path)
        # The front of the book contributes its description, without the table of contents.
        front = re.sub(
            r"<ul class=\"contents\">.*", "", _body(text[: parts[0].start()] + "</body>"), flags=re.DOTALL
        )
        front = re.sub(r"<h1[^>]*>.*?</h1>", "", front, count=1, flags=re.DOTALL)
        front = re.sub(r'<div class="page-break"></div>', "", front)
        entries: list[Entry] = []
        into = entries
        if _plain(front):
            entries.append(
                self._keep("book", {"name": name, "html": front}, "", _name(name), f"books/{slugify(name)}")
            )
        for at, part in enumerate(parts[:MAX_PAGES]):
            end = parts[at + 1].start() if at + 1 < len(parts) else len(text)
            inside = re.sub(
                r'<div class="(?:page-break"></div>|chapter-hint">[^<>]*</div>)',
                "",
                _body(text[part.end() : end]),
            )
            data = {"id": part["id"], "name": _plain(part["title"]), "html": inside}
            if part["kind"] == "chapter":
                if _plain(inside):
                    chapter = self._keep(
                        "chapter",
                        data,
                        "",
                        f"{_name(name)}/{_name(data['name'])}",
                        f"books/{slugify(name)}/chapter/{slugify(data['name'])}",
                    )
                else:
                    chapter = Entry(title=data["name"])
                entries.append(chapter)
                into = chapter.children
            else:
                if 'class="chapter-hint"' not in text[parts[at - 1].end() if at else 0 : part.start()]:
                    into = entries
                into.append(self._page(data, "", _name(name), f"books/{slugify(name)}"))
        return name, entries


_SAFE = "/:?#[]@!$&'()*+,;=~%-._"


def _priority(data: dict[str, Any]) -> float:
    return _number(data.get("priority"))


def _number(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else 1e9


def _escaped(title: str) -> str:
    return re.sub(r"([\\`*<\[\]])", r"\\\1", title)


def _plain(markup: str) -> str:
    import html

    return " ".join(html.unescape(re.sub(r"<[^<>]*>", "", markup)).split())


def _body(markup: str) -> str:
    """Return the contents between the body tags, as far as these exist."""
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


# --- Wiki.js -------------------------------------------------------------------------------------------

_LOCALE = re.compile(r"[a-z]{2}(?:-[a-z]{2})?", re.IGNORECASE)
_COMMENT = re.compile(r"\s*<!--\n(?P<head>(?:[a-zA-Z]+:[^\n]*\n)+)-->\s*")


def _wikijs_head(files: Heads, path: str) -> dict[str, Any]:
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
    """Return the layout. ``locale`` is the folder of the chosen language, or empty for the default one."""
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
            problems.append(Problem(path, 0, "format_left_out", "skipped: a page in an unsupported format"))
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
    titles = {path: _words(_wikijs_head(files, path).get("title")) for path in pages}
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
        said: dict[str, Any] = {"description": head["description"]} if head.get("description") else {}
        if head.get("published") in ("false", "0"):
            said["hidden"] = True
        return with_head(made, said) if said else made

    layout.convert = convert
    if others:
        taken: set[str] = set()
        own = first[len(project) :].strip("/") or layout.base
        layout.left.append(left_out(project.rstrip("/") or others[0], "translations", others))
        layout.variants = [
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
    return layout


def _prepare_wikijs(tree: Any) -> None:
    """Rewrite Wiki.js's colored quotes as hints."""
    for element in list(tree.iter("blockquote")):
        kind = next((one[3:] for one in (element.get("class") or "").split() if one.startswith("is-")), "")
        if kind:
            element.tag = "div"
            element.set("class", f"callout {kind}")


def _wikijs_locale(files: Heads, paths: list[str], told: str) -> str:
    """Return the language prefix of URL paths: that of the folder, else the one in links."""
    if told:
        return told
    found: dict[str, int] = {}
    for path in paths[:200]:
        for locale, _ in re.findall(r"\]\(/([a-z]{2}(?:-[a-z]{2})?)/([\w-])", files.text(path) or ""):
            found[locale] = found.get(locale, 0) + 1
    return max(found, key=lambda locale: found[locale]) if found else "en"


def _wikijs_navigation(
    files: Heads, project: str, addresses: dict[str, str], entries: list[Entry]
) -> list[Entry]:
    """Return the tree of folders. If an export has a navigation, its headings and pages come first."""
    data = _read_json(files, f"{project.removesuffix('pages/')}navigation.json")
    waiting: list[Any] = [data]
    items: list[dict[str, Any]] = []
    while waiting and not items:
        one = waiting.pop()
        if isinstance(one, dict):
            items = (
                _objects(one.get("items")) if any("kind" in row for row in _objects(one.get("items"))) else []
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
        kind, label, target = (_words(item.get(key)) for key in ("kind", "label", "target"))
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
    """Return the part of a tree that isn't listed yet."""
    made = []
    for entry in entries:
        children = _unlisted_entries(entry.children, taken)
        if entry.path in taken:
            made += children
        elif entry.path or children:
            made.append(Entry(title=entry.title, path=entry.path, href=entry.href, children=children))
    return made


# --- Outline -------------------------------------------------------------------------------------------

_UPLOADED = re.compile(rf"(?:^|/)(?:uploads|attachments|public)/{_UUID}/{_UUID}/[^/]+$")
_REDIRECT = re.compile(rf"/api/attachments\.redirect\?id=({_UUID})")
_MENTION = re.compile(r"@\[(?P<label>[^\[\]\n]*)\]\(mention://[^()\s]*\)")
_FILE_SIGN = "\ufdd0"
"""Prefix of the name of an attached file. No text contains it."""
_FILE_LINK = re.compile(rf"^[ \t]*\[{_FILE_SIGN}[^\[\]\n]*\]\(<?([^()\n<>]*)>?\)[ \t]*$", re.MULTILINE)
_ATTACHED = re.compile(r"[ \t]*\[(?P<name>[^\[\]\n]+?) \d+\]\((?P<href>[^()\s]+)\)[ \t]*$")


def _find_outline(files: Heads) -> str | None:
    for path in files.paths:
        if posixpath.basename(path) == "metadata.json" and path.count("/") <= 1:
            data = _object(_read_json(files, path))
            if "exportVersion" in data:
                return folder_of(path)
    uploaded = any(_UPLOADED.search(path) for path in files.paths)
    return "" if uploaded and any(path.count("/") and is_page(path) for path in files.paths) else None


def _outline(files: Heads, project: str) -> Layout:
    if _object(_read_json(files, f"{project}metadata.json")).get("exportVersion") is not None:
        return _OutlineJson(files, project).layout()
    # The tree has the order of the archive.
    pages = [
        path
        for path in files.source.paths()
        if path.startswith(project) and path.endswith((".md", ".html")) and not _UPLOADED.search(path)
    ]
    entries, title = _by_folders(pages, project)
    layout = Layout(
        entries=entries,
        dialect=Dialect(dollars=True, marks=True),
        root=project,
        title=title,
        rest=True,
        addresses={path: posixpath.splitext(path[len(project) :])[0] for path in pages},
    )
    layout.titles = {path: _plain_title(files, path) for path in pages if path.endswith(".html")}
    # An image may still be referenced by its id in the wiki, which is the folder of its file.
    uploaded = {path.split("/")[-2]: "/" + quote(path) for path in files.paths if _UPLOADED.search(path)}

    def convert(path: str, place: Place) -> str:
        if path.endswith(".html"):
            return html_page(files.text(path), place, layout.titles[path], _prepare_outline)
        text = _REDIRECT.sub(lambda found: uploaded.get(found[1], found[0]), files.text(path) or "")
        made = translate(_outline_markdown(text), place, layout.dialect).text.lstrip("\n")
        made = _FILE_LINK.sub(r'{% file src="\1" %}', made)
        return made if re.match(r"#[ \t]", made) else f"# {_escaped(files.name(path))}\n\n{made}"

    layout.convert = convert
    return layout


def _plain_title(files: Heads, path: str) -> str:
    found = re.search(r"<h1[^>]*>(.*?)</h1>|<title>(.*?)</title>", files.text(path) or "", re.DOTALL)
    return (_plain(found[1] or found[2] or "") if found else "") or title_of_name(stem_of(path))


def _by_folders(pages: list[str], project: str) -> tuple[list[Entry], str]:
    """Return the tree of files next to folders with their names, in archive order. The folder of a page has its
    name."""
    made: list[Entry] = []
    known: dict[str, Entry] = {}

    def at(key: str) -> list[Entry]:
        if not key:
            return made
        if key not in known:
            above, _, name = key.rpartition("/")
            known[key] = Entry(title=name)
            at(above).append(known[key])
        return known[key].children

    for path in pages:
        key = posixpath.splitext(path[len(project) :])[0]
        if key in known and known[key].path is None:
            known[key].path, known[key].title = path, None
            continue
        above = key.rpartition("/")[0]
        entry = Entry(path=path)
        at("/".join(above.split("/")[:MAX_LEVELS])).append(entry)
        known.setdefault(key, entry)
    if len(made) == 1 and made[0].path is None:
        return made[0].children, made[0].title or ""
    return made, ""


def _outline_markdown(text: str) -> str:
    """Rewrite Outline's syntax as common Markdown, on the same lines."""
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
    """An Outline JSON export: a file for each collection, with documents as its editor stores them."""

    def __init__(self, files: Heads, project: str) -> None:
        self.files = files
        self.project = project
        self.names = _Names()
        self.documents: dict[str, dict[str, Any]] = {}
        self.pages: dict[str, str] = {}
        """The path of each document by its id, and by the id in its URL."""
        self.of_path: dict[str, dict[str, Any]] = {}
        self.attachments: dict[str, str] = {}
        self.made = Layout(entries=[], root=project, convert=self.convert, skipped=(".json",), problems=[])

    def layout(self) -> Layout:
        groups: list[tuple[str, list[Entry]]] = []
        for path in self.files.paths:
            if not path.startswith(self.project) or not path.endswith(".json") or stem_of(path) == "metadata":
                continue
            data = _object(_read_json(self.files, path))
            collection = _object(data.get("collection"))
            if not collection:
                self.made.problems.append(
                    Problem(path, 0, "not_converted", "it contains no readable collection")
                )
                continue
            for id, one in _object(data.get("documents")).items():
                self.documents.setdefault(str(id), _object(one))
            for id, one in _object(data.get("attachments")).items():
                key = _text(_object(one).get("key"))
                if f"{self.project}{key}" in self.files.known:
                    self.attachments[str(id)] = f"{self.project}{key}"
                    name = re.sub(r"[/\\]", "-", _words(_object(one).get("name")))
                    self.made.names[f"{self.project}{key}"] = f"uploads/{name or posixpath.basename(key)}"
            title = _words(collection.get("name")) or stem_of(path)
            entries = self._entries(_objects(collection.get("documentStructure")), _name(title), 0)
            if _object(collection.get("data")).get("content"):
                about = {"title": title, "data": collection["data"], "id": _text(collection.get("id"))}
                entries.insert(0, Entry(path=self._keep(about, _name(title), f"collection/{slugify(title)}")))
            groups.append((title, entries))
        if len(groups) == 1:
            self.made.title, self.made.entries = groups[0]
        else:
            self.made.entries = [Entry(title=title, children=entries) for title, entries in groups]
        return self.made

    def _entries(self, nodes: list[dict[str, Any]], above: str, level: int) -> list[Entry]:
        made = []
        for node in nodes if level < MAX_LEVELS else []:
            document = self.documents.get(_text(node.get("id")))
            title = _words(node.get("title")) or "Untitled"
            path = None
            if document is not None and document.get("template") is not True:
                url = _text(node.get("url")) or f"doc/{slugify(title)}-{_text(document.get('urlId'))}"
                path = self._keep({"title": title, **document}, f"{above}/{_name(title)}", url.strip("/"))
            children = self._entries(_objects(node.get("children")), f"{above}/{_name(title)}", level + 1)
            made.append(Entry(title=title if path is None else None, path=path, children=children))
        return made

    def _keep(self, document: dict[str, Any], where: str, address: str) -> str:
        path = self.names.free(where)
        title = _words(document.get("title")) or "Untitled"
        self.made.titles[path] = title
        self.made.addresses[path] = address
        self.made.names[path] = "/".join(slugify(part) for part in where.split("/")[1:] or [where]) + ".md"
        self.of_path[path] = document
        for key in (_text(document.get("id")), _text(document.get("urlId"))):
            if key:
                self.pages.setdefault(key, path)
        return path

    def convert(self, path: str, place: Place) -> str | None:
        document = self.of_path.get(path)
        if document is None:
            return None
        title = self.made.titles[path]
        told: set[str] = set()

        def tell(code: str, message: str) -> None:
            if message not in told:
                told.add(message)
                place.problem(0, code, message)

        inside = write_html(document.get("data"), self._refer, tell)
        tree = parse_html(f"<html><body><main><h1>{escape(title)}</h1>{inside}</main></body></html>")
        return html_of_tree(tree, place, title)

    def _refer(self, href: str) -> str:
        if href.startswith("mention:"):
            known = self.pages.get(href.removeprefix("mention:"))
            return "/" + self.made.addresses[known] if known else "/" + href
        if found := re.search(rf"/api/attachments\.redirect\?id=({_UUID})", href):
            path = self.attachments.get(found[1])
            return "/" + quote(path) if path else "/" + href.lstrip("/")
        if found := re.search(r"/doc/(?:[\w~-]*-)?([A-Za-z0-9]{10,15})(?P<rest>[#?].*)?$", href):
            known = self.pages.get(found[1])
            return "/" + self.made.addresses[known] + (found["rest"] or "") if known else href
        return href


# --- Docmost -------------------------------------------------------------------------------------------

_DOCMOST = "docmost-metadata.json"
_KEPT = re.compile(rf"(?:^|/)files/{_UUID}/[^/]+$")


def _find_docmost(files: Heads) -> str | None:
    for path in files.paths:
        if posixpath.basename(path) == _DOCMOST and path.count("/") <= 1:
            return folder_of(path)
    pages = any(path.endswith((".md", ".html")) for path in files.paths)
    return "" if pages and any(_KEPT.search(path) for path in files.paths) else None


def _docmost(files: Heads, project: str) -> Layout:
    said = _object(_object(_read_json(files, f"{project}{_DOCMOST}")).get("pages"))
    positions = {
        project + unquote(str(path)): _text(_object(one).get("position")) for path, one in said.items()
    }
    pages = [
        path
        for path in files.source.paths()
        if path.startswith(project) and path.endswith((".md", ".html")) and not _KEPT.search(path)
    ]
    if positions:
        # Positions of siblings are texts in alphabetical order.
        pages.sort(key=lambda path: (positions.get(path, "\uffff"), natural_key(path)))
    entries, _ = _by_folders(pages, project)
    titles = {path: _plain_title(files, path) for path in pages if path.endswith(".html")}
    layout = Layout(
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
            if (slug := _text(_object(one).get("slugId")))
        },
    )

    def convert(path: str, place: Place) -> str | None:
        return html_page(files.text(path), place, titles[path], _prepare_docmost) if path in titles else None

    layout.convert = convert
    return layout


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


WIKIS = (
    Reader("bookstack", "BookStack", _find_bookstack, lambda files, project: _BookStack(files).lay_out()),
    Reader("wikijs", "Wiki.js", _find_wikijs, _wikijs),
    Reader("docmost", "Docmost", _find_docmost, _docmost),
    Reader("outline", "Outline", _find_outline, _outline, lambda files: _find_outline(files) or ""),
)
