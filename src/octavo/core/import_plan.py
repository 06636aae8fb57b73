"""Plan the conversion of each file of a repository: to a page, reusable content, variables, tags, or a
plain file.

Planning reads only the configuration and SUMMARY.md. ``read_pages`` then reads one file at a time, so memory use
depends only on the largest file. No content is lost, because all other files are kept as plain files.
"""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from html import unescape
from typing import Any, Protocol
from urllib.parse import quote

from msgspec import Struct, field

from octavo.core.json_types import JsonObject
from octavo.errors import format_size

from .document.guards import find_unread, may_hold_guards
from .document.inline import HEADING_ID
from .document.nodes import MAX_NODES, PARTS, Block, Text, walk
from .document.page import H1, PageHead, front_of, read_head, split_page
from .document.reader import may_be_cut, read, unpaired_tags
from .document.references import references, shows_file
from .free_names import free_name
from .links import include_paths, resolve
from .page_fields import FRONT_FIELDS, Cover, PageKind
from .pages import Page, ranks, slugify
from .paths import spellings
from .problems import Problem
from .space_config import (
    CONFIG_PATH,
    INCLUDES_FOLDER,
    TAGS_PATH,
    VARIABLES_PATH,
    Config,
    read_config,
    read_variables,
)
from .summary import (
    Summary,
    SummaryEntry,
    infer_summary,
    is_markdown,
    plain_title,
    read_summary,
    title_of_name,
)
from .tags import Tag, read_tags


class Files(Protocol):
    """Files of a source. Paths are relative, use ``/``, and have already been checked."""

    def paths(self) -> Iterable[str]: ...

    def read(self, path: str) -> bytes: ...


class PlannedPage(Struct, kw_only=True):
    """Planned page. ``parent``: the index of its parent in ``ImportPlan.pages``, which is always lower.
    ``path``: the slugs from the top level down to the page. A link points to ``url``, to the page at index
    ``to_page`` (and ``anchor``), or to the file ``to_file``. A document has no body if it has no
    ``file_path`` or its file is ``missing``. ``titled``: whether SUMMARY.md specifies the title."""

    parent: int | None
    rank: str = ""
    slug: str = ""
    path: str = ""
    kind: PageKind = "document"
    title: str = ""
    link_title: str | None = None
    file_path: str | None = None
    missing: bool = False
    titled: bool = False
    url: str | None = None
    to_page: int | None = None
    to_file: str | None = None
    anchor: str | None = None
    computed: dict[str, Any] | None = None
    line: int = 0


class ImportPlan(Struct, kw_only=True):
    """Result of planning. ``files``: the files to keep unchanged, including Markdown files that can't be read
    as pages. ``summary_text``: the text of SUMMARY.md; ``None`` if the tree was inferred. ``pages``: the
    pages in reading order, parents first; the first document is the home page."""

    config: Config
    summary: Summary
    summary_path: str
    summary_text: str | None
    pages: list[PlannedPage]
    includes: list[str]
    variables: dict[str, str | int | float | bool]
    tags: list[Tag]
    files: list[str]
    problems: list[Problem] = field(default_factory=list)


class PageText(Struct, kw_only=True):
    """Planned page with the text of its file. ``text``: the whole file; ``None`` if there is no file. ``title``: the
    title from SUMMARY.md, from the heading at the start of the text, or from the file name, in this order."""

    planned: PlannedPage
    place: int
    title: str
    link_title: str | None = None
    text: str | None = None


Unread = Callable[[str], Problem | None]
"""Function that returns the reason a Markdown file at this path can't be a page or an include; None if it can."""


def plan_import(files: Files, unread: Unread = lambda path: None) -> ImportPlan:
    """Plan the conversion of each file. A Markdown file that is ``unread`` is kept as a file, and the page
    in its place becomes a link to it, so that no one overwrites the file."""
    paths = sorted(set(files.paths()))
    return _Planner(files, paths, unread).plan()


def unread_in(files: Files, page_size: int) -> Unread:
    """Return a check that reads each file to find out whether it can be a page."""
    return lambda path: unread_text(path, files.read(path), page_size)


def unread_text(path: str, data: bytes, page_size: int) -> Problem | None:
    """Return the reason these bytes can't be a page: they aren't UTF-8, or there are more than ``page_size`` of
    them."""
    if len(data) > page_size:
        limit = format_size(page_size)
        message = (
            f"the file is larger than {limit}, the maximum size of a page; it was kept as a file, with a link"
            " in its place"
        )
        return Problem(path, 0, "page_too_large", message)
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        message = (
            f"the file isn't valid UTF-8 (byte {error.start}); it was kept as a file, with a link in its"
            " place"
        )
        return Problem(path, 0, "invalid_utf8", message)
    return None


def unread_head(data: bytes) -> PageHead:
    """Read the page fields of a file that can't be a page, so that the link in its place is hidden whenever the
    page would be."""
    return read_head(data[:_MOST_HEAD].decode("utf-8", "replace"))


def read_pages(plan: ImportPlan, files: Files) -> Iterator[PageText]:
    """Yield every page in order. Each file is read only when its page is yielded."""
    for place, planned in enumerate(plan.pages):
        page = PageText(planned=planned, place=place, title=planned.title, link_title=planned.link_title)
        if planned.file_path is not None and not planned.missing:
            page.text = files.read(planned.file_path).decode("utf-8")
            if page.text and not planned.titled:
                page.title = leading_title(page.text) or planned.title
        yield page


_MOST_HEAD = 256 * 1024
"""Maximum number of bytes to search for front matter."""
_INCLUDE = re.compile(r"""\{%-?\s*include\s+["']([^"'\n]+)["']""")
SPACE_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""Space names that can appear in URLs."""
SPACE_LINK = re.compile(
    rf"https?://([^/\s:]+)(?::\d+)?/(?:o/[^/\s]+/)?s/({SPACE_NAME.pattern})(?:/([^\s()<>\[\]\"'#?{{}}]*))?"
)
"""URL of a space, with its host, its ID, and the path of a page in it."""
_SHOWN_FILE = re.compile(
    r"""!\[[^\]\n]*\]\(\s*(?:<([^<>\n]*)>|((?:[^\s()]|\([^\s()]*\))+))"""
    r"""|\bsrc(?:set)?\s*=\s*(?:"([^"\n]*)"|'([^'\n]*)')"""
)
"""Positions where text shows a file, usually an image: between brackets or in an attribute."""
_FILE_COLUMN = 'data-type="files"'
_CELL_FILE = re.compile(r"""<a\s[^<>]*?\bhref\s*=\s*(?:"([^"\n]*)"|'([^'\n]*)')""")
_BACKSLASH = re.compile(r"\\([!-/:-@\[-`{-~])")


class _SourceLookup:
    """Lookup of the files, usually images, that text in a source displays (``links.Lookup``). It never resolves
    references to pages."""

    def __init__(self, files: Iterable[str]) -> None:
        self._files = frozenset(files)

    def find_file(self, path: str) -> str | None:
        return path if path in self._files else None

    def _find_nothing(self, _: str) -> None:
        return None

    find_page = find_page_by_path = find_page_by_id = find_file_by_id = find_reusable = _find_nothing


_LINE_END = re.compile("\n")
_TOO_MANY_PARTS = f"a page can have at most {MAX_NODES:,} {PARTS}; the rest is shown as source text"


class _LineNumbers:
    """Converter from offsets in a source to line numbers, which start at 1."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _ends(self) -> list[int]:
        return [match.start() for match in _LINE_END.finditer(self._text)]

    def at(self, place: int) -> int:
        return bisect_left(self._ends, place) + 1


_OPEN_BOLD = re.compile(r"(?<![*\\\w])\*\*(?=[^\s*])[^*\n`]{1,200}[ \t]\*\*(?=\w)")
"""Bold text with a space before its closing asterisks, as GitBook exported it for years. No Markdown parser treats this
as bold, because ``**a and **b`` can be two names in code."""


def _unread_bold(body: str) -> list[re.Match[str]]:
    found = list(_OPEN_BOLD.finditer(body))
    if not found:
        return []
    nodes = list(walk(read(body)))
    code = {
        id(text)
        for node in nodes
        if isinstance(node, Block) and node.type == "code-line"
        for text in node.nodes
    }
    texts = [
        leaf.text
        for node in nodes
        if isinstance(node, Text) and id(node) not in code
        for leaf in node.leaves
        if not any(mark.type == "code" for mark in leaf.marks)
    ]
    return [match for match in found if any(match[0] in text for text in texts)]


class TextCheck:
    """Check that adds problems to a plan for mistakes in its files: unclosed tags, links to unknown spaces, and
    includes, images, and files that are missing from the source.

    ``is_space``: a function that returns whether a space with this ID can be linked to. ``hosts``: the hosts whose URLs
    refer to content.
    """

    def __init__(self, plan: ImportPlan, is_space: Callable[[str], bool], hosts: tuple[str, ...]) -> None:
        self._plan = plan
        self._is_space = cache(is_space)
        self._hosts = hosts
        self._includes = set(plan.includes)
        self._lookup = _SourceLookup(plan.files)

    def check(self, path: str, text: str) -> None:
        """Check the whole text of one Markdown file."""
        front, heading, body = split_page(text)
        before = (front + heading).count("\n") + 1
        for line, tag in unpaired_tags(body):
            message = (
                f"{tag[1:]} ends here but was never opened" if tag[0] == "/" else (f"{tag} is never closed")
            )
            self._add(path, before + line, "unclosed_tag", message)
        if may_hold_guards(body):
            for line, guard in find_unread(read(body)):
                message = f"{guard} isn't a valid condition, so no one can see this content"
                self._add(path, before + line - 1, "unread_condition", message)
        line_of = _LineNumbers(text)
        for match in _unread_bold(body):
            at = len(text) - len(body) + match.start()
            self._add(
                path,
                line_of.at(at),
                "unread_bold",
                f"{match[0]} is shown with its asterisks; to make it bold, put the blank space after the"
                " closing asterisks",
            )
        for match in SPACE_LINK.finditer(text):
            if match[1].lower() in self._hosts and not self._is_space(match[2]):
                message = f"the space {match[2]} doesn't exist on this server; the link keeps its URL"
                self._add(path, line_of.at(match.start()), "unknown_space", message)
        includes = [
            m for m in _INCLUDE.finditer(text) if self._includes.isdisjoint(include_paths(m[1], path))
        ]
        shown = list(_SHOWN_FILE.finditer(text)) + list(
            _CELL_FILE.finditer(text) if _FILE_COLUMN in text else ()
        )
        files = [m for m in shown if self._is_missing(m[m.lastindex or 0], path)]
        if not includes and not files and not may_be_cut(body):
            return
        # Parsing costs much more than scanning, so only texts that seem to miss something or are very long are parsed.
        # In a code block, a missing target is only an example.
        document = read(body)
        if not document.whole:
            at = len(text) - len(body) + sum(map(len, document.gaps[:-1]))
            at += sum(len(block.source or "") for block in document.nodes[:-1])
            self._add(path, line_of.at(at), "too_many_parts", _TOO_MANY_PARTS)
        meant = references(document)
        included = {found.ref.get("url") for found in meant if found.type == "reusable-content"}
        shown_files = {found.ref.get("url") for found in meant if shows_file(found)}
        for match in includes:
            if match[1] in included:
                self._missing(path, line_of.at(match.start()), "missing_include", match[1])
        for match in files:
            written = match[match.lastindex or 0]
            spellings = (written, unescape(written), _BACKSLASH.sub(r"\1", written))
            if any(each in shown_files and self._is_missing(each, path) for each in spellings):
                self._missing(path, line_of.at(match.start()), "missing_file", written)

    def check_cover(self, path: str, cover: Cover | None) -> None:
        """Check the cover of a page."""
        for written in dict.fromkeys((cover.light, cover.dark)) if cover is not None else ():
            if written and self._is_missing(written, path):
                self._missing(path, 0, "missing_file", written)

    def _missing(self, path: str, line: int, code: str, written: str) -> None:
        self._add(path, line, code, f"{written} doesn't exist; nothing is shown in its place")

    def _is_missing(self, written: str, path: str) -> bool:
        """Return whether the target of a reference in ``path`` is neither a file of the source nor a URL."""
        return resolve(written, self._lookup, path).kind not in ("file", "url")

    def _add(self, path: str, line: int, code: str, message: str) -> None:
        self._plan.problems.append(Problem(path, line, code, message))


def page_of(read: PageText, ids: Sequence[str], file_ids: Mapping[str, str]) -> Page:
    """Return the page without a body and without the fields from its front matter. ``ids``: the page IDs by index."""
    planned = read.planned
    target: dict[str, Any] | None = None
    if planned.url is not None:
        target = {"kind": "url", "url": planned.url}
    elif planned.to_page is not None and planned.anchor:
        target = {"kind": "anchor", "anchor": planned.anchor, "page": ids[planned.to_page]}
    elif planned.to_page is not None:
        target = {"kind": "page", "page": ids[planned.to_page]}
    elif planned.to_file is not None and (file := file_ids.get(planned.to_file)) is not None:
        target = {"kind": "file", "file": file}
    return Page(
        id=ids[read.place],
        parent=None if planned.parent is None else ids[planned.parent],
        rank=planned.rank,
        slug=planned.slug,
        kind=planned.kind,
        title=read.title,
        link_title=read.link_title,
        target=target,
        computed=planned.computed,
        file_path=planned.file_path,
    )


_ATX = re.compile(r"\s*?^ {0,3}#(?:[ \t]+([^\r\n]*))?(?:\r|\n|\Z)", re.MULTILINE)
_SETEXT = re.compile(r"\s*?^ {0,3}([^\s#>`~|<{*+\-=][^\r\n]*)\r?\n {0,3}=+[ \t]*(?:\r|\n|\Z)", re.MULTILINE)
_H1 = re.compile(rf"\s*?^ {{0,3}}{H1}(?:\r|\n|\Z)", re.MULTILINE)
_ANCHOR = re.compile(r"\s*<a\s[^<>]*>\s*</a>")


def leading_title(text: str) -> str | None:
    """Return the plain text of the level-1 heading that follows a page's front matter, if any."""
    text = text.removeprefix("\ufeff")
    start = len(front_of(text))
    while start < len(text) and text[start] in "\r\n \t":
        start += 1
    start = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1 if start else 0
    if (written := _H1.match(text, start)) is not None:
        return " ".join(unescape(re.sub(r"<[^<>]*>", "", written["html"])).split()) or None
    heading = _ATX.match(text, start) or _SETEXT.match(text, start)
    if not heading or not heading[1]:
        return None
    words = HEADING_ID.sub("", _ANCHOR.sub("", heading[1].strip())).rstrip()
    return plain_title(re.sub(r"(?:^|[ \t]+)#+$", "", words)) or None


class _Planner:
    def __init__(self, files: Files, paths: list[str], unread: Unread) -> None:
        self.files = files
        self.unread = cache(unread)
        self.existing = set(paths)
        self.paths = paths
        self.folded: dict[str, str] = {}
        for path in paths:
            self.folded.setdefault(path.casefold(), path)
        self.pages: list[PlannedPage] = []
        self.page_of_file: dict[str, int] = {}
        self.problems: list[Problem] = []
        self.special: set[str] = set()
        self.config = Config()
        self.summary_path = ""
        self.inferred = False
        self.kept_unread: set[str] = set()

    def problem(self, path: str, line: int, code: str, message: str) -> None:
        self.problems.append(Problem(path, line, code, message))

    def plan(self) -> ImportPlan:
        if (text := self.special_text(CONFIG_PATH)) is not None:
            self.config = read_config(text)
            self.problems += self.config.problems
        root = self.config.root
        if root and not any(path.startswith(root) for path in self.paths):
            self.problem(
                CONFIG_PATH,
                0,
                "missing_root",
                f"the folder {root} doesn't exist, so the whole source was imported; correct `root` in"
                " .gitbook.yaml",
            )
            root = self.config.root = ""
        summary, summary_text = self.read_summary(root)
        self.problems += summary.problems
        self.inferred = summary.inferred

        variables: dict[str, str | int | float | bool] = {}
        if (text := self.special_text(root + VARIABLES_PATH)) is not None:
            variables, problems = read_variables(text, root + VARIABLES_PATH)
            self.problems += problems
        tags: list[Tag] = []
        if (text := self.special_text(root + TAGS_PATH)) is not None:
            tags, problems = read_tags(text, root + TAGS_PATH)
            self.problems += problems

        if root + self.config.readme not in self.existing:
            self.problem(
                root + self.config.readme,
                0,
                "no_readme",
                "this file doesn't exist, so there is no home page at this path",
            )
        self.place(summary.entries, None)
        # This includes nested folders, because files there use relative paths.
        includes = [
            path
            for path in self.paths
            if f"/{INCLUDES_FOLDER}" in f"/{path}" and is_markdown(path) and self.is_read(path)
        ]
        taken = self.special | self.page_of_file.keys() | set(includes)
        kept = [path for path in self.paths if path not in taken]
        for path in kept:
            if is_markdown(path) and path.startswith(root) and path not in self.kept_unread:
                self.problem(path, 0, "not_listed", "the file isn't in the navigation; it was kept as a file")
        return ImportPlan(
            config=self.config,
            summary=summary,
            summary_path=self.summary_path,
            summary_text=summary_text,
            pages=self.pages,
            includes=includes,
            variables=variables,
            tags=tags,
            files=kept,
            problems=self.problems,
        )

    def special_text(self, path: str) -> str | None:
        if path not in self.existing:
            return None
        self.special.add(path)
        content = self.files.read(path)
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError as error:
            # The text can't be converted back, so its bytes are kept too.
            self.special.discard(path)
            self.problem(
                path,
                0,
                "invalid_utf8",
                f"the file isn't valid UTF-8 (byte {error.start}), so invalid bytes were replaced; save it as"
                " UTF-8",
            )
            return content.decode("utf-8", "replace")

    def read_summary(self, root: str) -> tuple[Summary, str | None]:
        self.summary_path = root + self.config.summary
        self.summary_path = self.folded.get(self.summary_path.casefold(), self.summary_path)
        text = self.special_text(self.summary_path)
        if text is None:
            below = (path[len(root) :] for path in self.paths if path.startswith(root))
            return infer_summary(below, self.config.readme), None
        summary = read_summary(text, self.summary_path)
        if not summary.entries:
            self.problem(self.summary_path, 0, "empty_summary", "the file lists no pages")
        return summary, text

    def is_read(self, path: str) -> bool:
        """Return whether a Markdown file can be a page. If it can't, report the file, but only once."""
        problem = self.unread(path)
        if problem is not None and path not in self.kept_unread:
            self.kept_unread.add(path)
            self.problems.append(problem)
        return problem is None

    def place(
        self, entries: list[SummaryEntry], parent: int | None, first: PlannedPage | None = None
    ) -> None:
        """Add the pages of entries under a page. ``first``: a link that comes before these pages."""
        taken: set[str] = set()
        above = self.pages[parent].path if parent is not None else ""
        wanted: list[SummaryEntry | None] = [*([] if first is None else [None]), *entries]
        for entry, rank in zip(wanted, ranks(len(wanted)), strict=True):
            page = first if entry is None else self.page(entry, parent)
            assert page is not None
            link = None
            if page.kind == "link" and entry is not None and entry.children:
                # A link can't have subpages: a page without text can, with the link as its first child.
                message = "a link can't have subpages; it was imported as the first page of a group"
                self.problem(self.summary_path, entry.line, "link_with_children", message)
                link, page = page, self.page(SummaryEntry(kind="page", title=page.title), parent)
                page.line, page.titled, link.parent = link.line, link.titled, len(self.pages)
            page.rank = rank
            if page.kind != "link":
                page.slug = free_name(page.slug, taken.__contains__)
                taken.add(page.slug)
            page.path = f"{above}/{page.slug}".strip("/")
            place = len(self.pages)
            self.pages.append(page)
            if page.file_path is not None:
                self.page_of_file[page.file_path] = place
            self.place(entry.children if entry is not None else [], place, link)

    def page(self, entry: SummaryEntry, parent: int | None) -> PlannedPage:
        line = 0 if self.inferred else entry.line
        page = PlannedPage(parent=parent, title=entry.title, link_title=entry.link_title, line=line)
        if entry.kind == "group":
            page.kind = "group"
            page.slug = slugify(entry.slug or entry.title)
        elif entry.kind == "computed":
            page.kind, page.computed = "computed", entry.computed
            page.title = entry.title or _computed_title(entry.computed or {})
            page.slug = slugify(page.title)
        elif entry.href is None:
            page.slug = slugify(entry.title)
        elif entry.kind == "link" and re.match(r"[A-Za-z][A-Za-z0-9+.-]*:|//", entry.href):
            page.kind, page.url = "link", entry.href
        else:
            self.page_of_path(page, entry)
        page.titled = not self.inferred and bool(entry.title)
        if not page.title:
            page.title = title_of_name(page.slug) or "Untitled"
        return page

    def page_of_path(self, page: PlannedPage, entry: SummaryEntry) -> None:
        href = entry.href or ""
        path = self.find(href, entry.line)
        absent = self.config.root + _file_of(href)
        if path is None and absent in self.page_of_file:
            path = absent
        if path is None:
            self.problem(
                self.summary_path, entry.line, "missing_file", f"{href} doesn't exist; its page is empty"
            )
            page.slug = _slug_of_file(href, entry.title)
            # The page is placed where its file would be, so that the entry keeps its link.
            page.file_path, page.missing = absent, True
        elif (place := self.page_of_file.get(path)) is not None:
            page.kind, page.to_page, page.anchor = "link", place, entry.anchor
            if entry.kind == "page":
                message = f"{path} is already listed; this entry was kept as a link to it"
                self.problem(self.summary_path, entry.line, "listed_twice", message)
        elif is_markdown(path) and not self.is_read(path):
            page.kind, page.to_file, page.anchor = "link", path, entry.anchor
            page.title = entry.title or title_of_name(posixpath.splitext(posixpath.basename(path))[0])
        elif is_markdown(path):
            page.file_path = path
            page.slug = _slug_of_file(path[len(self.config.root) :], entry.title)
            page.title = entry.title or title_of_name(posixpath.splitext(posixpath.basename(path))[0])
        else:
            page.kind, page.to_file, page.anchor = "link", path, entry.anchor

    def find(self, href: str, line: int) -> str | None:
        """Return the file that an entry refers to. The entry can match the file's path as written,
        percent-encoded on disk, without the extension, or in a different letter case, or it can refer to a
        folder with a README."""
        full = (self.config.root + href.lstrip("/")).strip("/")
        names = [f"{full}/README.md".lstrip("/")]
        if not href.endswith("/"):
            names = [full, self.config.root + quote(href), f"{full}.md", *names]
        for path in (form for name in names for form in spellings(name)):
            if path in self.existing and path not in self.special:
                return path
        for name in names:
            found = self.folded.get(name.casefold())
            if found is not None and found not in self.special:
                message = f"on disk, {href} is spelled {found[len(self.config.root) :]}"
                self.problem(self.summary_path, line, "case_differs", message)
                return found
        return None


def _file_of(href: str) -> str:
    """Return the Markdown file that an entry with this target refers to."""
    if is_markdown(href):
        return href
    return f"{href}README.md".lstrip("/") if href.endswith("/") else f"{href}.md"


def _slug_of_file(path: str, title: str) -> str:
    stem = posixpath.splitext(posixpath.basename(path.rstrip("/")))[0]
    if stem.lower() == "readme":
        stem = posixpath.basename(posixpath.dirname(path)) or stem
    return slugify(stem or title)


def _computed_title(computed: Mapping[str, object]) -> str:
    """Return the title of an OpenAPI page: the name of its specification, until the specification is read."""
    found: Any = computed
    for key in ("dependencies", "spec", "ref", "spec"):
        found = found.get(key) if isinstance(found, Mapping) else None
    name = found if isinstance(found, str) else str(computed.get("type", "")).rpartition(":")[2]
    return title_of_name(name)


def head_fields(head: PageHead) -> JsonObject:
    """Return the page fields that the front matter sets."""
    return {name: getattr(head, name) for name in FRONT_FIELDS}
