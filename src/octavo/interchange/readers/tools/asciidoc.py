"""Reader for AsciiDoc: Antora components and folders of pages. The Asciidoctor library parses pages in a process
without permissions. This process requests each included file from Octavo, and returns the pages as HTML."""

from __future__ import annotations

import html
import posixpath
import re
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from octavo.core.problems import Problem
from octavo.core.summary import natural_key
from octavo.core.yaml_text import YamlError, read_yaml
from octavo.errors import Unavailable
from octavo.kit.runtime.process import HostRequest, HostResponse, ScriptEvent, ScriptFailed, ScriptProcess

from ..formats.html import anchors_of, parse_html
from ..formats.html_pages import html_page
from ..layout import Entry, Layout, Place, Variant
from ..markdown.lines import fenced
from ..source_files import Heads, address_of, folder_of
from ..trees import grow, walk_entries
from ..types import Reader
from ..values import text_of
from ..variants import MAX_VARIANTS, key_of
from .asciidoc_html import prepare

ENDINGS = (".adoc", ".asciidoc", ".asc")
SCRIPT = Path(__file__).parents[1] / "dist" / "asciidoc.js"
MAX_TEXT = 2_000_000
"""Maximum size in bytes of a page, or of an included file."""
SECONDS = 20.0
"""Maximum number of seconds for one page, including all files that it includes."""
_ROOT = "http://source.invalid/"
_KEPT = 40
"""Number of pages to cache as HTML. The anchors of cached pages are needed for links from other pages."""
_RESOURCE = re.compile(
    r"(?:(?P<version>[^@:$/]+)@)?(?:(?:(?P<component>[\w.-]+):)?(?P<module>[\w.-]*):)?(?:(?P<family>page|partial|example|image|attachment)\$)?(?P<path>[^:$]+)\Z"
)
_FAMILIES = {
    "page": "pages",
    "partial": "partials",
    "example": "examples",
    "image": "images",
    "attachment": "attachments",
}
_TITLE = re.compile(r"^=[ \t]+(?P<title>\S.*)$", re.MULTILINE)
_ATTRIBUTE = re.compile(r"^:(?P<name>[\w-]+):[ \t]*(?P<value>.*)$", re.MULTILINE)
_REFERENCE = re.compile(r"\{([\w-]+)\}")
_INCLUDE = re.compile(r"^include::(?P<path>[^\[\n]+)\[(?P<rest>[^\]\n]*)\][ \t]*$", re.MULTILINE)
_ITEM = re.compile(r"[ \t]*(?P<signs>\*+|-+|\.+)[ \t]+(?P<words>\S.*)$")
_MACRO = re.compile(r"(?:xref:|link:|(?=https?://))(?P<target>[^\[\s]+)\[(?P<words>.*?)(?:,[^\]]*)?\]\^?")
_FORMAT = re.compile(r"(?<!\w)[*_`#+^]+|[*_`#+^]+(?!\w)|\\(?=\W)")
_SETTINGS = {
    "icons": "font",
    "experimental": "",
    "relfilesuffix": ".adoc",
    "attribute-missing": "skip",
    "allow-uri-read": "",
    "source-highlighter!": "",
    "sectnums!": "",
    "sectanchors!": "",
    "figure-caption!": "",
    "table-caption!": "",
    "example-caption!": "",
    "listing-caption!": "",
    "toc!": "",
    "showtitle!": "",
    "linkcss": "",
    "env": "site",
    "site-gen": "octavo",
    "max-include-depth": "20",
}
_DIAGRAM = re.compile(
    r"^\[(mermaid|plantuml|graphviz|d2|ditaa|blockdiag)(?:,[^\]\n]*)?\][ \t]*$", re.MULTILINE
)
_LEFT = re.compile(r"Unresolved directive in [^\n<]{1,500} - include::[^\n<]{1,500}")
_DEEP = "maximum include depth of "
_UNFOLLOWED = re.compile(
    r"(<pre\b.*?</pre>)|(?:(?<=^<p>)|^)include::[^\n<]{1,500}?\](?=</p>$|$)", re.DOTALL | re.MULTILINE
)
_UNKNOWN = re.compile(r"(?:.*/)?\{[\w-]+\}/(.+)\Z")
_LISTING = re.compile(r"<(pre|code)\b[^>]*>.*?</\1>|<[^>]*>", re.DOTALL)
_HEADING = re.compile(r"^=+[ \t]+(?P<title>\S.*)$", re.MULTILINE)
MAX_BOOK = 1000
"""Maximum number of lines in a page that is split into chapters. A longer page is never split."""
_OWN = frozenset(
    ["leveloffset", "doctype", "toc", "title", "doctitle", "description", "page-aliases", "navtitle"]
)
"""Attributes that apply to only a single page."""
_ID = re.compile(r"^\[(?:\[([^\],]+)[^\]]*\]|#([^\],.%]+)[^\]]*)\][ \t]*$", re.MULTILINE)
_COMMENT = re.compile(r"/{4,}[ \t]*$")
_SEVERE = ("ERROR", "FATAL", "WARN")


class _Message(Struct):
    severity: str
    text: str
    path: str
    line: int


class _Read(Struct):
    title: str
    html: str
    said: dict[str, str]
    messages: list[_Message]


class Asciidoctor:
    """The Asciidoctor library, in one process for all pages of a source. ``find``: a function that returns the
    source file for a path or resource ID on a page. The second argument is the path of that page."""

    def __init__(self, files: Heads, find: Callable[[str, str], str | None]) -> None:
        self._files = files
        self._find = find
        self._process: ScriptProcess | None = None

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process = None

    def read(self, path: str, text: str | None, attributes: dict[str, str]) -> _Read:
        """Return a page. Raises ScriptFailed with the reason if the page can't be parsed, and Unavailable
        if the library isn't available."""
        if text is None:
            raise ScriptFailed("the file isn't valid UTF-8")
        if len(text) > MAX_TEXT:
            raise ScriptFailed(f"the file has more than {MAX_TEXT:,} characters")
        text = _DIAGRAM.sub(r"[source,\1]", text)
        given = {"path": path, "text": text, "attributes": {**attributes, **_SETTINGS}}
        if self._process is None:
            self._process = _start()
        try:
            deadline = time.monotonic() + SECONDS
            event = ScriptEvent(msgspec.json.encode(given).decode(), "{}")
            run = self._process.begin(event, deadline)
            answer = run.wait(deadline, lambda asked: self._included(path, asked))
            run.finish(deadline, lambda asked: self._included(path, asked))
            return msgspec.json.decode(answer.body, type=_Read)
        except (ScriptFailed, msgspec.DecodeError) as error:
            # Start over with a new process for the next page.
            self.close()
            raise ScriptFailed(str(error)) from None

    def _included(self, page: str, asked: HostRequest) -> HostResponse:
        wanted = unquote(asked.url.partition("?file=")[2])
        inside = wanted.startswith(_ROOT)
        found = self._find(("/" if inside else "") + unquote(wanted.removeprefix(_ROOT)), page)
        text = self._files.text(found) if found is not None else None
        if text is None or len(text) > MAX_TEXT:
            return HostResponse(asked.url, 404, [], b"")
        return HostResponse(asked.url, 200, [], text.encode())


def _start() -> ScriptProcess:
    try:
        script = SCRIPT.read_text()
    except OSError:
        raise Unavailable(
            "The AsciiDoc reader is missing from this build. Run web/build.py, or install a released package."
        ) from None
    process = ScriptProcess()
    process.load(script)
    return process


class _Component(Struct):
    """Antora component. ``folder``: the folder that contains its modules; either empty or with a trailing slash."""

    folder: str
    name: str
    title: str
    version: str
    nav: list[str]
    start: str
    attributes: dict[str, str]

    def place(self, path: str) -> tuple[str, str, str] | None:
        """Split the path of a file in this component into the module, the family folder, and the rest; return None
        for any other file."""
        found = re.match(
            r"modules/([^/]+)/(pages|partials|examples|images|attachments)/(.+)", path[len(self.folder) :]
        )
        return (found[1], found[2], found[3]) if path.startswith(self.folder) and found else None


def _components(files: Heads) -> list[_Component]:
    made = []
    for path in files.paths:
        if posixpath.basename(path) not in ("antora.yml", "antora.yaml"):
            continue
        try:
            said: Any = read_yaml(files.text(path) or "").value
        except YamlError:
            continue
        said = said if isinstance(said, dict) else {}
        given = said.get("asciidoc")
        attributes = given.get("attributes") if isinstance(given, dict) else None
        nav = said.get("nav")
        folder = folder_of(path)
        if any(other.startswith(f"{folder}modules/") for other in files.paths):
            made.append(
                _Component(
                    folder,
                    text_of(said.get("name")),
                    text_of(said.get("title")) or text_of(said.get("name")),
                    text_of(said.get("version")),
                    [text_of(one) for one in nav] if isinstance(nav, list) else [],
                    text_of(said.get("start_page")),
                    {
                        str(name): _value(value)
                        for name, value in attributes.items()
                        if value is not False and value is not None
                    }
                    if isinstance(attributes, dict)
                    else {},
                )
            )
    return made


def _value(value: object) -> str:
    return "" if value is True else text_of(value).removesuffix("@")


def _is_source(path: str) -> bool:
    return path.lower().endswith(ENDINGS)


def _is_hidden(path: str) -> bool:
    return any(part.startswith((".", "_")) or part == "node_modules" for part in path.split("/"))


# --- layout --------------------------------------------------------------------------------------------


def _find_antora(files: Heads) -> str | None:
    found = _components(files)
    return found[0].folder if len(found) == 1 else "" if found else None


def _antora(files: Heads, project: str) -> Layout:
    components = _components(files)
    if len(components) < 2 or len({one.name for one in components}) > 1:
        return _antora_of(files, components)
    # These are versions of one component. The newest is the default.
    components.sort(key=lambda one: natural_key(one.version), reverse=True)
    layout = _antora_of(files, components)
    taken: set[str] = set()
    variants = [
        Variant(
            key=key_of(taken, one.version or f"version-{at}"),
            title=one.version or "Current",
            path=None if at == 0 else one.version or "current",
            default=at == 0,
            lay_out=partial(_antora_of, files, [one], components),
        )
        for at, one in enumerate(components[:MAX_VARIANTS])
    ]
    return replace(layout, variants=variants)


def _antora_of(files: Heads, components: list[_Component], known: list[_Component] | None = None) -> Layout:
    """Return the layout of Antora components. ``known``: all components, if some of them are imported into other
    spaces."""
    pages: dict[str, _Component] = {}
    names, addresses = {}, {}
    for component in components:
        for path in files.paths:
            place = component.place(path)
            if place is not None and place[1] in ("images", "attachments"):
                names[path] = ("" if place[0] == "ROOT" else f"{place[0]}/") + f"{place[1]}/{place[2]}"
            if place is None or place[1] != "pages" or not _is_source(path) or _is_hidden(place[2]):
                continue
            pages[path] = component
            module = "" if place[0] == "ROOT" else f"{place[0]}/"
            folder = f"{component.name or 'docs'}/" if len(components) > 1 else ""
            folder += f"{component.version}/" if _several_versions(components, component) else ""
            inside = f"{folder}{module}{place[2]}"
            stem = posixpath.splitext(inside)[0]
            names[path] = re.sub(r"(?:^|(?<=/))index$", "README", stem) + ".md"
            version = component.version if component.version not in ("", "~", "null", "None") else ""
            start = "" if component.name == "ROOT" else component.name
            addresses[path] = "/".join(
                part for part in (start, version, module.strip("/"), address_of(place[2])) if part
            )
    reading = _Reading(files, pages, known or components)
    entries: list[Entry] = []
    for component in components:
        below = reading.nav(component)
        if len(components) > 1:
            title = component.title + (
                f" {component.version}" if _several_versions(components, component) else ""
            )
            below = [Entry(title=title or "Pages", children=below)]
        entries += below
    # Files that no page uses aren't imported: partials, examples, and theme files.
    return reading.layout(entries, "", names, addresses, components[0].title)


def _several_versions(components: list[_Component], one: _Component) -> bool:
    return sum(other.name == one.name for other in components) > 1


def _find_folder(files: Heads) -> str | None:
    pages = sum(_is_source(path) and not _is_hidden(path) for path in files.paths)
    others = sum(
        path.lower().endswith((".md", ".mdx", ".markdown", ".rst", ".html", ".htm")) and not _is_hidden(path)
        for path in files.paths
    )
    return _common_folder(files) if pages and pages >= others else None


def _common_folder(files: Heads) -> str | None:
    """Return the folder that contains all pages."""
    folders = [posixpath.dirname(path) for path in files.paths if _is_source(path) and not _is_hidden(path)]
    common = posixpath.commonpath(folders) if folders else ""
    return (f"{common}/" if common else "") if folders else None


def _folder(files: Heads, project: str) -> Layout:
    paths = [path for path in files.paths if path.startswith(project) and _is_source(path)]
    reading = _Reading(files, {path: None for path in paths}, [])
    included: dict[str, list[str]] = {}
    for path in paths:
        header = reading.header(path)
        for found in _INCLUDE.finditer(files.text(path) or ""):
            target = reading.find(_filled(found["path"], header), path)
            if target is not None and target != path:
                included.setdefault(target, []).append(path)
    # A file that other files include, or that looks like a partial, isn't a page.
    kept = [path for path in paths if path not in included and not _is_hidden(path[len(project) :])]
    entries = grow(files, kept or paths, project)
    reading.pages = {path: None for path in kept or paths}
    for entry in walk_entries(entries):
        if entry.path is not None:
            entry.children[:0] = reading.chapters(entry.path)
    addresses = {path: address_of(path[len(project) :]) for path in reading.pages}
    return reading.layout(entries, project, {}, addresses, "")


class _Reading:
    """Pages of a source and the data needed to convert them. ``pages``: the component of each page, if any."""

    def __init__(
        self, files: Heads, pages: Mapping[str, _Component | None], components: list[_Component]
    ) -> None:
        self.files = files
        self.pages: dict[str, Any] = dict(pages)
        self.components = components
        self.library = Asciidoctor(files, self.find)
        self.problems: list[Problem] = []
        self.titles: dict[str, str] = {}
        self.done: OrderedDict[str, _Read] = OrderedDict()
        self.places: dict[str, dict[str, str]] = {}
        self.words: dict[str, dict[str, str]] = {}
        """Text of each heading, by page and anchor."""
        self.missing = ""
        self.texts: dict[str, str] = {}
        """Text of each book, by path. The chapters of a book are separate pages."""
        self.given: dict[str, dict[str, str]] = {}
        """Attributes that chapters inherit from their books, by path."""
        self.books: dict[str, list[str]] = {}
        """For each page of a book, all pages of the book."""

    def layout(
        self, entries: list[Entry], root: str, names: dict[str, str], addresses: dict[str, str], title: str
    ) -> Layout:
        self.titles |= {path: self.title(path) for path in self.pages}
        if not any(entry.path for entry in walk_entries(entries)):
            entries = grow(self.files, self.pages, root)
        languages = Counter(language for path in self.pages if (language := self.header(path).get("lang")))
        return Layout(
            entries=entries,
            root=root,
            title=title,
            language=next((name for name, _ in languages.most_common(1)), ""),
            titles=self.titles,
            names=names,
            addresses=addresses,
            problems=self.problems,
            convert=self.page,
            anchors=self.anchors,
            close=self.library.close,
            rest=not self.components,
            skipped=ENDINGS,
        )

    # Names

    def header(self, path: str) -> dict[str, str]:
        """Return the attributes of a page, including the attributes that its header sets."""
        component = self.component(path)
        head = (self.files.text(path) or "")[:20_000].partition("\n\n")[0]
        own = _attributes_in(head)
        return {**(component.attributes if component else {}), **self.given.get(path, {}), **own}

    def component(self, path: str) -> _Component | None:
        return next((one for one in self.components if one.place(path)), None)

    def title(self, path: str) -> str:
        found = (_HEADING if path in self.given else _TITLE).search((self.files.text(path) or "")[:20_000])
        return _plain(_filled(found["title"], self.header(path))) if found else self.files.name(path)

    def find(self, target: str, page: str) -> str | None:
        """Return the file for a path or a resource ID on a page. A path that starts with a slash is relative to the
        root folder."""
        component = self.component(page)
        if (unknown := _UNKNOWN.match(target)) and component is None:
            # Only the site's build knows the folder, so use the only file whose path ends this way.
            named = [
                path for path in self.files.paths if path.endswith("/" + unknown[1]) or path == unknown[1]
            ]
            return named[0] if len(named) == 1 else None
        plain = posixpath.normpath(
            target.lstrip("/") if target.startswith("/") else posixpath.join(posixpath.dirname(page), target)
        )
        if plain in self.files.known:
            return plain
        if component is None:
            return None
        if target.startswith("/"):
            # An include can be relative to the folder of the including file, with the id at its end.
            found = re.search(
                r"(?:^|/)((?:[\w.@-]*:){0,2}(?:page|partial|example|image|attachment)\$.*)", target
            )
            target = found[1] if found else posixpath.relpath(plain, posixpath.dirname(page))
        return self.resource(target, page, component)

    def resource(self, target: str, page: str, own: _Component, family: str = "page") -> str | None:
        parts = _RESOURCE.match(target)
        here = own.place(page)
        if parts is None:
            return None
        meant = own
        if parts["component"]:
            named = [one for one in self.components if one.name == parts["component"]]
            if not named:
                return None
            meant = next((one for one in named if one.version == (parts["version"] or own.version)), named[0])
        elif parts["version"]:
            of_version = [
                one for one in self.components if one.name == own.name and one.version == parts["version"]
            ]
            if not of_version:
                return None
            meant = of_version[0]
        module = parts["module"] or (here[0] if here and meant is own and not parts["component"] else "ROOT")
        wanted = parts["family"] or family
        path = parts["path"]
        if wanted == "page" and not posixpath.splitext(path)[1]:
            path += ".adoc"
        folder = f"{meant.folder}modules/{module}/{_FAMILIES[wanted]}/"
        if path.startswith(("./", "../")) and here is not None:
            path = posixpath.join(posixpath.dirname(here[2]), path)
        found = posixpath.normpath(folder + path)
        return found if found in self.files.known else None

    # Books

    def chapters(self, book: str) -> list[Entry]:
        """Return the chapters of a page that consists of includes, with the headings between the includes. Return an
        empty result for any other page, which isn't split."""
        rows = (self.files.text(book) or "").replace("\r\n", "\n").split("\n")
        if len(rows) > MAX_BOOK:
            return []
        made: list[Entry] = []
        known = self.header(book)
        found: list[str] = []
        group: Entry | None = None
        left: list[str] = []
        pending: tuple[int, str] | None = None
        commented = False
        for number, row in enumerate(rows):
            left.append(row)
            commented ^= _COMMENT.match(row) is not None
            if commented:
                continue
            known |= _attributes_in(row)
            if heading := re.match(r"={2,4}[ \t]+(\S.*)$", row):
                pending = (number, heading[1])
            include = _INCLUDE.match(row)
            path = self.find(_filled(include["path"], known), book) if include else None
            text = self.files.text(path) if path else None
            if path is None or text is None or path in found or not _is_source(path):
                if (
                    row.strip()
                    and not heading
                    and not row.startswith((":", "[", "//", "ifdef", "endif", "ifndef"))
                ):
                    pending = None
                continue
            opening = _opening(text)
            if opening is None:
                known |= _attributes_in(text[:20_000])
                continue
            if pending is not None:
                left[pending[0]], heading_words, pending = "", pending[1], None
                group = Entry(title=_plain(_filled(heading_words, known)))
                made.append(group)
            left[-1] = ""
            found.append(path)
            given = {name: _filled(value, known) for name, value in known.items() if name not in _OWN}
            self.given[path] = {**given, **({"leveloffset": str(1 - opening)} if opening > 1 else {})}
            entry = Entry(path=path)
            (group.children if group else made).append(entry)
        if len(found) < 3 and not (len(found) == 2 and known.get("doctype") == "book"):
            for path in found:
                del self.given[path]
            return []
        self.texts[book] = "\n".join(left)
        pages = [book, *found]
        for path in pages:
            self.pages[path] = None
            self.books[path] = pages
        return made

    # Navigation

    def nav(self, component: _Component) -> list[Entry]:
        made: list[Entry] = []
        for name in component.nav:
            path = component.folder + name
            text = self.files.text(path)
            if text is None:
                self.problems.append(
                    Problem(path, 0, "missing_file", "this file is listed as navigation but doesn't exist")
                )
                continue
            made += self._nav_file(path, text, component)
        start = self.resource(
            component.start or "ROOT:index.adoc", component.folder + "modules/ROOT/pages/x", component
        )
        if start in self.pages and all(entry.path != start for entry in walk_entries(made)):
            made.insert(0, Entry(path=start))
        if not made:
            mine = [path for path, one in self.pages.items() if one is component]
            made = grow(self.files, mine, component.folder + "modules/ROOT/pages/") if mine else []
        return made

    def _nav_file(self, path: str, text: str, component: _Component) -> list[Entry]:
        made: list[Entry] = []
        open_: list[tuple[str, Entry]] = []
        group: Entry | None = None
        # Links in a navigation file are relative to its module.
        module = re.match(r"modules/([^/]+)/", path[len(component.folder) :])
        page = f"{component.folder}modules/{module[1] if module else 'ROOT'}/pages/nav"
        for number, row in enumerate(self._nav_rows(page, text, component, 0), 1):
            if found := re.match(r"\.(?![. ])(\S.*)$", row):
                entry = self._nav_entry(found[1], page, component, path, number)
                group = entry
                made.append(entry)
                open_ = []
            elif found := _ITEM.match(row):
                entry = self._nav_entry(found["words"], page, component, path, number)
                signs = found["signs"]
                while open_ and (len(open_[-1][0]) >= len(signs)):
                    open_.pop()
                (open_[-1][1].children if open_ else group.children if group else made).append(entry)
                open_.append((signs, entry))
        return made

    def _nav_rows(self, page: str, text: str, component: _Component, depth: int) -> Iterator[str]:
        for row in text.replace("\r\n", "\n").split("\n"):
            found = _INCLUDE.match(row)
            if found is None:
                yield row
                continue
            inner = self.resource(found["path"], page, component) or self.find(f"../{found['path']}", page)
            if inner is not None and depth < 5:
                yield from self._nav_rows(page, self.files.text(inner) or "", component, depth + 1)

    def _nav_entry(self, words: str, page: str, component: _Component, nav: str, line: int) -> Entry:
        words = _filled(words, component.attributes)
        found = _MACRO.search(words)
        if found is None:
            return Entry(title=_plain(words))
        target, title = found["target"], _plain(found["words"])
        if target.startswith(("http://", "https://")):
            return Entry(title=title or target, href=target)
        path = self.resource(target.partition("#")[0], page, component)
        if path is not None and path not in self.pages and any(one.place(path) for one in self.components):
            # The link points to a page in another version.
            return Entry(title=title or self.title(path), href=f"/{path}")
        if path is None or path not in self.pages:
            self.problems.append(
                Problem(nav, line, "broken_link", f"{target[:200]} in the navigation doesn't match a page")
            )
            return Entry(title=title or target)
        return Entry(title=title or None, path=path)

    # Pages

    def read(self, path: str) -> _Read:
        found = self.done.pop(path, None)
        if found is None:
            text = self.texts.get(path) or self.files.text(path)
            found = self.library.read(path, text, self._attributes(path))
        self.done[path] = found
        while len(self.done) > _KEPT:
            self.done.popitem(last=False)
        return found

    def _attributes(self, path: str) -> dict[str, str]:
        component = self.component(path)
        if component is None:
            return self.given.get(path, {})
        place = component.place(path) or ("ROOT", "", "")
        return {
            "idprefix": "",
            "idseparator": "-",
            **component.attributes,
            "imagesdir": "",
            "partialsdir": "partial$",
            "examplesdir": "example$",
            "attachmentsdir": "_attachments",
            "page-component-name": component.name,
            "page-component-version": component.version,
            "page-component-title": component.title,
            "page-version": component.version,
            "page-module": place[0],
        }

    def anchors(self, path: str) -> dict[str, str]:
        if path not in self.pages:
            return {}
        if path not in self.places:
            try:
                tree = parse_html(self.read(path).html)
            except (ScriptFailed, Unavailable):
                tree = None
            self.places[path] = anchors_of(tree) if tree is not None else {}
            self.words[path] = {
                heading.get("id"): " ".join("".join(heading.itertext()).split())
                for heading in (tree.iter("h2", "h3", "h4", "h5", "h6") if tree is not None else ())
                if heading.get("id")
            }
            if path in self.given:
                # The first heading of a chapter becomes the title of its page, so its ids are lost.
                above = _HEADING.split((self.files.text(path) or "")[:20_000], maxsplit=1)[0]
                ids = [found[1] or found[2] for found in _ID.finditer(above)]
                title = self.titles.get(path, "")
                self.places[path] |= dict.fromkeys(
                    [*ids, "_" + re.sub(r"\W+", "_", title.lower()).strip("_")], ""
                )
        return self.places[path]

    def page(self, path: str, place: Place) -> str | None:
        """Convert a complete page. If it can't be parsed, return its source."""
        if path not in self.pages:
            return None
        text = self.files.text(path) or ""
        try:
            if self.missing:
                raise ScriptFailed(self.missing)
            read = self.read(path)
        except (ScriptFailed, Unavailable) as error:
            if isinstance(error, Unavailable):
                self.missing = str(error)
            place.problem(0, "not_converted", f"{error}; its source was kept as text")
            shown = fenced([(row, 0) for row in text.split("\n")], "asciidoc", 0)
            return "\n".join([f"# {self.titles[path]}", "", *(row for row, _ in shown)]) + "\n"
        self._tell(read, path, place)
        if read.title:
            self.titles[path] = " ".join(html.unescape(re.sub(r"<[^<>]*>", "", read.title)).split())
        if any(message.text.startswith(_DEEP) for message in read.messages):
            read.html = _UNFOLLOWED.sub(lambda found: found[1] or "", read.html)
        description = html.escape(read.said.get("description", ""), quote=True)
        whole = (
            f'<html><head><meta name="description" content="{description}"></head><body><main>'
            f"<h1>{html.escape(self.titles[path])}</h1>{_LEFT.sub('', read.html)}</main></body></html>"
        )
        rows = text.split("\n")
        for name in dict.fromkeys(_REFERENCE.findall(_LISTING.sub("", read.html))):
            if row := _row_of(text, f"{{{name}}}"):
                place.problem(
                    row,
                    "variable",
                    f"{{{name[:80]}}} is computed when the site is built, so it wasn't imported",
                )

        def ready(tree: Any) -> None:
            prepare(tree)
            for element in tree.iter("a", "img"):
                self._rewrite_reference(element, path)

        return html_page(whole, _Lined(place, rows), self.titles[path], ready)

    def _tell(self, read: _Read, path: str, place: Place) -> None:
        reported: set[tuple[str, str]] = set()
        for message in read.messages:
            if message.severity not in _SEVERE or (message.path, message.text) in reported:
                continue
            reported.add((message.path, message.text))
            where = (
                posixpath.normpath(posixpath.join(posixpath.dirname(path), message.path))
                if message.path
                else path
            )
            written = place if where == path or where not in self.files.known else place.within(where)
            said = message.text
            if found := re.match(r"include (?:URI|file) not \w+: (\S+)", said):
                name = unquote(found[1].removeprefix(_ROOT))
                written.problem(
                    message.line, "missing_include", f"{name[:200]} doesn't exist; it was skipped"
                )
            elif said.startswith(_DEEP):
                written.problem(
                    message.line,
                    "circular_include",
                    "a file includes itself, or includes are nested too deeply; the rest was skipped",
                )
            else:
                written.problem(message.line, "unclear_markup", said[:300])

    def _rewrite_reference(self, element: Any, path: str) -> None:
        """Rewrite a reference as a path relative to the root of the source."""
        name = "href" if element.tag == "a" else "src"
        written = element.get(name) or ""
        target, sign, fragment = written.partition("#")
        target = unquote(target)
        if not target and path in self.books and fragment not in self.anchors(path):
            for other in self.books[path]:
                if fragment in self.anchors(other):
                    element.set(name, f"/{quote(other)}#{fragment}")
                    if "".join(element.itertext()) == f"[{fragment}]" and not len(element):
                        element.text = self.words[other].get(fragment) or self.titles[other]
                    return
        if not target or re.match(r"(?:https?|mailto|irc|ftp|tel|data|ssh|git|file):", target):
            return
        component = self.component(path)
        found = None
        if component is not None:
            family = "page" if element.tag == "a" else "image"
            if target.startswith("_attachments/"):
                family, target = "attachment", target.removeprefix("_attachments/")
            found = self.resource(target.removeprefix("/"), path, component, family)
        found = found or self.find(target, path)
        if found is None and element.tag == "img":
            # The image folder is often set only by the site's build.
            named = [one for one in self.files.paths if one.endswith("/" + target.lstrip("./"))]
            found = named[0] if len(named) == 1 else None
        if found is None:
            return
        element.set(name, "/" + quote(found) + sign + fragment)
        words = "".join(element.itertext()).strip()
        if (
            element.tag == "a"
            and found.lower().endswith(ENDINGS)
            and not len(element)
            and words in (target, written, target + ".adoc")
        ):
            element.text = self.titles.get(found) or self.title(found)


class _Lined:
    """Wrapper around a page's ``Place``. It looks up the lines of links in the page's source if they are unknown."""

    def __init__(self, place: Place, rows: list[str]) -> None:
        self._place = place
        self._rows = rows

    def __getattr__(self, name: str) -> Any:
        return getattr(self._place, name)

    def link(self, href: str, line: int, *, shown: bool = False) -> str:
        wanted = posixpath.basename(unquote(href.partition("#")[0])) or href
        line = line or next((number for number, row in enumerate(self._rows, 1) if wanted in row), 0)
        return self._place.link(href, line, shown=shown)


def _attributes_in(text: str) -> dict[str, str]:
    return {
        found["name"]: found["value"].strip()
        for found in _ATTRIBUTE.finditer(re.sub(r"^ifndef::[\w-]+\[(.*)\]$", r"\1", text, flags=re.MULTILINE))
    }


def _opening(text: str) -> int | None:
    """Return the level of the heading that a file starts with; None if it doesn't start with a heading."""
    commented = False
    for row in text[:20_000].replace("\r\n", "\n").split("\n"):
        commented ^= _COMMENT.match(row) is not None
        if commented:
            continue
        if found := re.match(r"(=+)[ \t]+\S", row):
            return len(found[1])
        if row.strip() and not row.startswith((":", "[", "//", "ifdef", "endif", "ifndef", "include::")):
            return None
    return None


def _row_of(text: str, words: str) -> int:
    at = text.find(words)
    return text.count("\n", 0, at) + 1 if at >= 0 else 0


def _filled(words: str, attributes: dict[str, str]) -> str:
    for _ in range(3):
        filled = _REFERENCE.sub(lambda found: attributes.get(found[1], found[0]), words)[:2000]
        if filled == words:
            break
        words = filled
    return words


def _plain(title: str) -> str:
    title = re.sub(r"(?:xref:|link:)?[^\s\[\]]*\[([^\[\]]*)\]", r"\1", title) if "[" in title else title
    return " ".join(html.unescape(_FORMAT.sub("", title)).split())


ANTORA = Reader("antora", "Antora", _find_antora, _antora)
ASCIIDOC = Reader("asciidoc", "AsciiDoc", _find_folder, _folder, _common_folder)
