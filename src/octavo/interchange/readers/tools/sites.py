"""Reader for folders of HTML that a site generator or a person created. The page tree is based on the navigation on
the pages. Generator-specific markup is rewritten as semantic HTML."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from typing import Any
from urllib.parse import unquote

from lxml import etree

from octavo.core.problems import Problem
from octavo.core.sources import SourceError

from ..formats.html import anchors_of, language_of, parse_html, title_of
from ..formats.html_content import drop
from ..formats.html_pages import html_of_tree
from ..layout import Entry, Layout, Place
from ..markdown.literals import read_constant
from ..source_files import MAX_TEXT, Heads, address_of, folder_of, is_page
from ..trees import grow, walk_entries
from ..types import Reader
from .asciidoc_html import prepare as prepare_asciidoc

ENDINGS = (".html", ".htm", ".xhtml", ".aspx")
MAX_ITEMS = 20_000
"""Maximum number of entries in a navigation."""
_MAX_LEVEL = 20
_MAX_REDIRECT = 1_000
"""Maximum number of characters in a page that consists only of a redirect."""
_NAV = re.compile(
    r"(?:side-?(?:bar|nav)\w*|nav(?:igation|-tree|-container|-menu)?|menu|toc|toctree-wrapper|table-?of-?contents|contents|summary|chapter)",
    re.IGNORECASE,
)
_NO_PAGES = re.compile(
    r"(?:404|search|genindex(?:-[\w]+)?|py-modindex|search-results|print|print_page|toc|allclasses.*|overview-frame|package-frame)\.x?html?$",
    re.IGNORECASE,
)
"""Pattern for files that site generators create for browsers. Octavo creates its own versions."""
_BUILT = frozenset(["_static", "_sources", "_modules", "node_modules", "__macosx", "pagefind"])
_LEFT = (
    *ENDINGS,
    ".css",
    ".js",
    ".mjs",
    ".map",
    ".woff",
    ".woff2",
    ".ttf",
    ".otf",
    ".eot",
    ".inv",
    ".buildinfo",
    ".htaccess",
    ".xsl",
    ".wasm",
)
_REFRESH = re.compile(r"^\s*\d+\s*;\s*url\s*=\s*['\"]?([^'\"]+)", re.IGNORECASE)
_KINDS = frozenset("attention caution danger error hint important note tip warning info seealso".split())


def is_html(path: str) -> bool:
    return path.lower().endswith(ENDINGS)


def _is_page(path: str) -> bool:
    parts = path.lower().split("/")
    return (
        is_html(path)
        and not any(part in _BUILT or part.startswith((".", "._")) for part in parts)
        and not _NO_PAGES.match(parts[-1])
    )


def _find(files: Heads) -> str | None:
    pages = sum(map(_is_page, files.paths))
    if pages <= sum(map(is_page, files.paths)):
        return None
    # Office documents alongside pages are converted to HTML in another module.
    office = (".docx", ".odt", ".fodt")
    return None if any(path.lower().endswith(office) for path in files.paths) else _common(files)


def _common(files: Heads) -> str | None:
    folders = [posixpath.dirname(path) for path in files.paths if _is_page(path)]
    common = posixpath.commonpath(folders) if folders else ""
    return (f"{common}/" if common else "") if folders else None


class _Page:
    """Properties of a page other than its text. ``anchors``: the anchors for IDs that don't belong to headings.
    ``nav``: the page's navigation. ``contents``: the subpages that the page lists in Sphinx's format."""

    __slots__ = ("anchors", "contents", "nav", "refresh", "title")

    def __init__(self) -> None:
        self.title = ""
        self.refresh = ""
        self.anchors: dict[str, str] = {}
        self.nav: list[Entry] = []
        self.contents: list[Entry] = []


def _lay_out(files: Heads, project: str) -> Layout:
    return _Site(files, project).layout()


class _Site:
    def __init__(self, files: Heads, project: str) -> None:
        self.files = files
        self.project = project
        self.pages: dict[str, _Page] = {}
        self.problems: list[Problem] = []
        self.redirects: dict[str, str] = {}
        self.languages: Counter[str] = Counter()

    def layout(self) -> Layout:
        names = [path for path in self.files.paths if path.startswith(self.project) and _is_page(path)]
        self.known = set(names)
        for path in names:
            self._read(path)
        for path, page in list(self.pages.items()):
            target = self._find(path, page.refresh) if page.refresh else None
            if target and target != path:
                del self.pages[path]
                self.redirects[address_of(path[len(self.project) :])] = target
        markdown = [path for path in self.files.paths if path.startswith(self.project) and is_page(path)]
        addresses = {path: address_of(path[len(self.project) :]) for path in [*self.pages, *markdown]}
        return Layout(
            entries=self._entries([*self.pages, *markdown]),
            root=self.project,
            titles={path: page.title for path, page in self.pages.items()},
            addresses=addresses,
            redirects=self.redirects,
            convert=self._page,
            letters=True,
            problems=self.problems,
            anchors=lambda path: self.pages[path].anchors if path in self.pages else {},
            rest=True,
            skipped=_LEFT,
            title=self._name(),
            language=next((language for language, _ in self.languages.most_common(1)), ""),
        )

    def _tree(self, path: str) -> Any | None:
        if self.files.source.size(path) > MAX_TEXT:
            self.problems.append(
                Problem(
                    path,
                    0,
                    "too_large",
                    f"skipped: the text of the page is larger than {MAX_TEXT // 1024**2} MB",
                )
            )
            return None
        try:
            return parse_html(self.files.source.read(path))
        except SourceError as error:
            self.problems.append(Problem(path, 0, "not_converted", str(error)[:200]))
            return None

    def _read(self, path: str) -> None:
        tree = self._tree(path)
        if tree is None:
            return
        page = self.pages[path] = _Page()
        if language := language_of(tree):
            self.languages[language] += 1
        for meta in tree.iter("meta") if len("".join(tree.itertext())) < _MAX_REDIRECT else ():
            if (meta.get("http-equiv") or "").lower() == "refresh" and (
                found := _REFRESH.match(meta.get("content") or "")
            ):
                page.refresh = found[1]
        page.nav = self._nav(path, tree)
        page.contents = self._contents(path, tree)
        page.title = _doxygen_title(tree) or title_of(tree) or posixpath.splitext(posixpath.basename(path))[0]
        # A site appends its own name to the title of each page.
        page.anchors = {name: at for name, at in anchors_of(tree).items() if name != at}

    def _name(self) -> str:
        home = self._home()
        return self.pages[home].title if home else ""

    def _home(self) -> str:
        for name in ("index.html", "index.htm", "README.html", "readme.html", "home.html"):
            if self.project + name in self.pages:
                return self.project + name
        return ""

    def _find(self, path: str, href: str) -> str | None:
        """Return the page in the source that a reference on a page leads to."""
        name = unquote(re.split(r"[?#]", href, maxsplit=1)[0])
        if not name or re.match(r"[A-Za-z][A-Za-z0-9+.-]*:|//", name):
            return None
        start = self.project if name.startswith("/") else folder_of(path)
        wanted = posixpath.normpath(start + name.lstrip("/")) if name.strip("./") or start else ""
        wanted = "" if wanted == "." else wanted
        for ending in ("", ".html", "/index.html", "/index.htm", ".htm"):
            if (found := (wanted + ending).lstrip("/")) in self.known:
                return found
        return None

    # Tree

    def _nav(self, path: str, tree: Any) -> list[Entry]:
        """Return the largest list of links to pages in a navigation element."""
        best: list[Entry] = []
        count = 1
        for element in tree.iter("nav", "aside", "div", "ul", "ol", "section"):
            names = f"{element.get('class') or ''} {element.get('id') or ''}".split()
            if (
                element.tag not in ("nav", "aside")
                and element.get("role") not in ("navigation", "tree")
                and not any(map(_NAV.fullmatch, names))
            ):
                continue
            lists = _lists_in(element)
            made = [entry for one in lists[:50] for entry in self._items(path, one, 0)]
            links = len({entry.path for entry in walk_entries(made)[:MAX_ITEMS] if entry.path})
            if links > count:
                best, count = made, links
        return best

    def _contents(self, path: str, tree: Any) -> list[Entry]:
        made: list[Entry] = []
        for element in tree.iter("div"):
            if "toctree-wrapper" not in (element.get("class") or "").split():
                continue
            items = [entry for one in _lists_in(element) for entry in self._items(path, one, 0)]
            caption = next(
                (one for one in element.iter("p") if "caption" in (one.get("class") or "").split()), None
            )
            if caption is not None and items:
                made.append(Entry(title=_words(caption, []) or None, children=items))
            else:
                made += items
        return made

    def _items(self, path: str, element: Any, level: int) -> list[Entry]:
        made: list[Entry] = []
        if level > _MAX_LEVEL:
            return made
        for item in element:
            if item.tag != "li":
                if item.tag in ("ul", "ol") and made:
                    made[-1].children += self._items(path, item, level + 1)
                continue
            below = _lists_in(item)
            children = [entry for one in below for entry in self._items(path, one, level + 1)]
            inside = {one for whole in below for one in whole.iter()}
            link = next((one for one in item.iter("a") if one.get("href") and one not in inside), None)
            if link is not None and {"next", "prev"} & set((link.get("rel") or "").split()):
                continue
            if link is None and item.text and not below and next(item.iter("a"), None) is None:
                continue
            if (
                link is not None
                and link.get("href", "").startswith("#")
                and self.project + "index" not in path
            ):
                # A link to the current page that has no target isn't part of the tree, unless it is the
                # generator's link to the page itself.
                target = path if link.get("href") == "#" else None
            else:
                target = self._find(path, link.get("href")) if link is not None else None
            words = _words(link if link is not None else item, below)
            if target is None and not children:
                continue
            if link is not None and "#" in (link.get("href") or "")[1:] and not children:
                continue
            made.append(Entry(title=words or None, path=target, children=children))
        return made

    def _doxygen(self) -> list[Entry]:
        """Return the page tree from the script of Doxygen's navigation, which contains nested lists, some of them
        in separate files."""
        count = 0

        def entries(given: object, level: int) -> list[Entry]:
            nonlocal count
            made: list[Entry] = []
            for one in given if isinstance(given, list) and level < _MAX_LEVEL else []:
                count += 1
                if not isinstance(one, list) or len(one) < 3 or count > MAX_ITEMS:
                    continue
                title, href, below = one[0], one[1], one[2]
                path = (
                    self._find(f"{self.project}x", href)
                    if isinstance(href, str) and "#" not in href
                    else None
                )
                if isinstance(below, str):
                    name = re.sub(r"\W", "_", below)
                    below = read_constant(self.files.text(f"{self.project}{below}.js") or "", name)
                children = entries(below, level + 1)
                if path is not None or children:
                    made.append(
                        Entry(
                            title=str(title) if isinstance(title, str) else None, path=path, children=children
                        )
                    )
            return made

        made = entries(read_constant(self.files.text(f"{self.project}navtreedata.js") or "", "NAVTREE"), 0)
        if len(made) == 1 and made[0].children:
            first = made[0]
            made = (
                [Entry(title=first.title, path=first.path), *first.children] if first.path else first.children
            )
        return _without_duplicates(made, set())

    def _entries(self, paths: list[str]) -> list[Entry]:
        home = self._home()
        if f"{self.project}navtreedata.js" in self.files.known and (made := self._doxygen()):
            # Pages that it doesn't list, such as source files, can be reached only through links.
            return made
        if home and self.pages[home].contents and (made := self._sphinx(home)):
            listed = {entry.path for entry in walk_entries(made)}
            others = [path for path in paths if path not in listed]
            return [*made, *grow(self.files, others, self.project)]
        merged = self.pages[home].nav if home else []
        if not merged:
            merged = max(
                (page.nav for page in self.pages.values()), key=lambda nav: len(walk_entries(nav)), default=[]
            )
        merged = _without_duplicates(merged, set())
        at = {entry.path for entry in walk_entries(merged) if entry.path}
        # Many sites expand only the part of the navigation that contains the current page.
        for page in self.pages.values():
            if any(entry.path and entry.path not in at for entry in walk_entries(page.nav)):
                _merge(merged, page.nav, at)
        rest = [path for path in paths if path not in at]
        if not at:
            return grow(self.files, paths, self.project)
        if home and home not in at:
            merged.insert(0, Entry(path=home))
            rest.remove(home)
        elif home and merged and merged[0].path != home:
            first = next((entry for entry in merged if entry.path == home), None)
            if first is not None and not first.children:
                merged.remove(first)
                merged.insert(0, first)
        # If the navigation contains most pages, the other pages can be reached only through links.
        return merged if len(rest) * 3 < len(paths) else [*merged, *grow(self.files, rest, self.project)]

    def _sphinx(self, home: str) -> list[Entry]:
        """Return the page tree, starting at the home page, from the subpages that each page lists."""
        taken = {home}

        def below(path: str, level: int) -> list[Entry]:
            return with_more(self.pages[path].contents, level) if level < _MAX_LEVEL else []

        def with_more(given: list[Entry], level: int) -> list[Entry]:
            made: list[Entry] = []
            for entry in given:
                if entry.path in taken:
                    continue
                if entry.path is not None:
                    taken.add(entry.path)
                children = with_more(entry.children, level + 1)
                if entry.path in self.pages:
                    children += below(entry.path, level + 1)
                if entry.path or children:
                    made.append(Entry(title=entry.title, path=entry.path, children=children))
            return made

        return [Entry(path=home), *below(home, 0)]

    # Pages

    def _page(self, path: str, place: Place) -> str | None:
        page = self.pages.get(path)
        tree = self._tree(path) if page is not None else None
        if page is None or tree is None:
            return None
        prepare(tree)
        return html_of_tree(tree, place, page.title)


_CHROME = frozenset(
    ["nav-path", "top", "side-nav", "MSearchSelectWindow", "MSearchResultsWindow", "splitbar"]
)
"""Parts that Doxygen adds around its pages."""


def _lists_in(element: Any) -> list[Any]:
    """Return the lists in an element, except nested lists."""
    found: list[Any] = []
    waiting = [element] if element.tag in ("ul", "ol") else list(element)[::-1]
    while waiting:
        one = waiting.pop()
        if one.tag in ("ul", "ol"):
            found.append(one)
        else:
            waiting += list(one)[::-1]
    return found


def _merge(into: list[Entry], more: list[Entry], known: set[str]) -> None:
    """Add the entries that occur only in another page's navigation to the page tree, at the corresponding
    positions. ``known``: the pages in the entire tree."""
    place = 0
    for entry in more:
        at = next(
            (
                number
                for number, one in enumerate(into)
                if (entry.path and one.path == entry.path)
                or (not entry.path and not one.path and one.title == entry.title)
            ),
            None,
        )
        if at is not None:
            _merge(into[at].children, entry.children, known)
            place = at + 1
        elif not entry.path or entry.path not in known:
            for new in _without_duplicates([entry], known):
                into.insert(place, new)
                place += 1


def _words(element: Any, without: list[Any]) -> str:
    left = {one for whole in without for one in whole.iter()}
    parts = []
    for event, node in etree.iterwalk(element, events=("start", "end")):
        inside = node in left or node.tag in ("svg", "button", "input")
        if event == "start" and not inside and isinstance(node.tag, str):
            parts.append(node.text or "")
        elif event == "end" and node is not element and (node in without or node not in left):
            parts.append(node.tail or "")
    return " ".join("".join(parts).split())[:200].rstrip(" ¶#")


def _without_duplicates(entries: list[Entry], taken: set[str]) -> list[Entry]:
    """Return the page tree without repeated pages. Each page stays only at its first position."""
    made = []
    for entry in entries:
        if entry.path is not None and entry.path in taken:
            made += _without_duplicates(entry.children, taken)
            continue
        if entry.path is not None:
            taken.add(entry.path)
        children = _without_duplicates(entry.children, taken)
        if entry.path is not None or children:
            made.append(Entry(title=entry.title, path=entry.path, children=children))
    return made


# --- markup of generators ------------------------------------------------------------------------------


def prepare(tree: Any) -> None:
    """Rewrite the output of Asciidoctor, Sphinx, Material, Doxygen, and other tools as semantic HTML."""
    for element in list(tree.iter("div")):
        if _is_doxygen_title(element):
            # Keep the page title without the groups that Doxygen adds to it.
            for child in element.findall("div"):
                drop(child)
            element.tag = "h1"
        elif "dynheader" in (element.get("class") or "").split():
            for image in list(element.iter("img")):
                drop(image)
    prepare_asciidoc(tree)
    for footer in list(tree.iter("address", "hr")):
        if "footer" in (footer.get("class") or "").split():
            drop(footer)
    for element in list(tree.iter("div", "p", "table", "td", "span", "a", "details")):
        if element.getparent() is None:
            continue
        classes = (element.get("class") or "").split()
        if element.tag == "p" and "admonition-title" in classes:
            if " ".join("".join(element.itertext()).split()).lower().rstrip("!") in _KINDS:
                drop(element)
            else:
                _strong(element)
        elif (
            element.tag == "div" and "fragment" in classes and element.find("div[@class='line']") is not None
        ):
            _fragment(element)
        elif element.tag == "table" and any(
            name.startswith(("highlight", "rouge-table", "hljs")) for name in classes
        ):
            _without_line_numbers(element)
        elif element.tag in ("td", "span") and {"linenos", "lineno", "line-numbers", "lnt", "ln"} & set(
            classes
        ):
            drop(element)
        elif element.tag == "table" and "memberdecls" in classes:
            _members(element)
        elif element.tag == "div" and "tabbed-set" in classes:
            _tabbed(element)
        elif (
            element.get("id") in _CHROME
            or element.tag == "div"
            and "summary" in classes
            and element.getparent().get("class") == "header"
        ):
            drop(element)
        elif element.tag == "span" and "filename" in classes and element.getnext() is not None:
            _code_with_file_name(element)
        elif element.tag == "a" and (element.get("title") or "").lower() in (
            "permalink",
            "permanent link",
            "link to this heading",
            "permalink to this headline",
            "permalink to this heading",
            "link to this definition",
            "permalink to this definition",
        ):
            drop(element)


def _strong(element: Any) -> None:
    inner = etree.Element("strong")
    inner.text, element.text = element.text, None
    inner.extend(list(element))
    element.append(inner)


def _fragment(element: Any) -> None:
    """Rewrite a Doxygen code block that consists of one element per line."""
    for line in element.findall("div"):
        for number in [one for one in line.iter("span") if "lineno" in (one.get("class") or "").split()]:
            drop(number)
    rows = ["".join(line.itertext()) for line in element.findall("div")]
    for child in list(element):
        element.remove(child)
    element.tag = "pre"
    element.attrib.clear()
    element.text = "\n".join(rows)


def _is_doxygen_title(element: Any) -> bool:
    above = element.getparent()
    return (
        "title" in (element.get("class") or "").split()
        and above is not None
        and "headertitle" in (above.get("class") or "").split()
    )


def _doxygen_title(tree: Any) -> str:
    element = next(filter(_is_doxygen_title, tree.iter("div")), None)
    return _words(element, element.findall("div")) if element is not None else ""


def _members(table: Any) -> None:
    """Rewrite a list of class members. Move the list's heading above the list, and drop rows that only add space."""
    for row in list(table.iter("tr")):
        kinds = row.get("class") or ""
        heading = next(row.iter("h2"), None)
        if kinds.startswith("separator"):
            drop(row)
        elif heading is not None:
            heading.tail = None
            table.addprevious(heading)
            drop(row)
        elif kinds.startswith("inherit_header"):
            for image in list(row.iter("img")):
                drop(image)


def _without_line_numbers(element: Any) -> None:
    """Rewrite a code block whose line numbers are in a separate column."""
    listings = [
        pre
        for pre in element.iter("pre")
        if not any("line" in (up.get("class") or "") and up.tag == "td" for up in pre.iterancestors("td"))
    ]
    if len(listings) != 1:
        return
    tail, listing = element.tail, listings[0]
    above = listing.getparent()
    # The language is often specified by an outer element.
    listing = above if above.tag in ("div", "figure") else listing
    listing.tail = None
    for child in list(element):
        element.remove(child)
    element.attrib.clear()
    element.tag, element.text, element.tail = "div", None, tail
    element.append(listing)


def _tabbed(element: Any) -> None:
    """Rewrite Material tabs, which consist of radio buttons, their labels, and a block for each."""
    names = [" ".join("".join(one.itertext()).split()) for one in element.iter("label")]
    panels = [one for one in element.iter("div") if "tabbed-block" in (one.get("class") or "").split()]
    if not panels:
        panels = [one for one in element if "tabbed-content" in (one.get("class") or "").split()]
    if len(names) != len(panels) or not names:
        return
    bar = etree.Element("div", role="tablist")
    for number, name in enumerate(names, 1):
        etree.SubElement(bar, "button", role="tab", id=f"tabbed-{number}").text = name
    for number, panel in enumerate(panels, 1):
        panel.attrib.clear()
        panel.set("role", "tabpanel")
        panel.set("aria-labelledby", f"tabbed-{number}")
    for child in list(element):
        element.remove(child)
    element.attrib.clear()
    element.extend([bar, *panels])


def _code_with_file_name(element: Any) -> None:
    """Rewrite the file name above a code block."""
    listing = element.getnext()
    above = element.getparent()
    if listing.tag != "pre" or above is None or above.tag not in ("div", "td"):
        return
    element.tag = "figcaption"
    element.attrib.clear()
    above.tag = "figure"


SITE = Reader("html", "HTML", _find, _lay_out, _common)
