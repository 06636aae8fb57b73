"""Result of a reader: the pages with their order, names, and original locations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct, field

from octavo.core.problems import Problem
from octavo.core.sources import Brand

Head = dict[str, Any]
"""Keys and values of a page's front matter."""


class Dialect(Struct, frozen=True, kw_only=True):
    """Differences between the Markdown in a kind of source and Octavo Markdown. Syntax that doesn't conflict
    (alerts, fenced containers, definition lists, attribute lists) is recognized in all kinds of sources.

    Each field enables one kind of syntax. ``jsx``: components and expressions, in files with these extensions.
    ``vue``: Vue scripts and templates. ``tags``: Octavo tags in ``{% %}``, as in a folder in Octavo's own format.
    ``indented``: ``!!!`` and ``===`` with an indented body. ``shortcodes``: ``{{< >}}``. ``liquid``: ``{% %}`` and
    ``{{ }}``. ``roles``: directives and roles in braces. ``wiki``: links in the format ``[[Page]]``. ``vault``:
    comments between ``%%``, and block names at the ends of blocks, as in Obsidian. ``dollars``: formulas in the
    format ``$x$``. ``icons``: icon names between colons. ``marks``: highlighted text, ``==x==``. ``lowered`` and
    ``raised``: subscript and superscript, ``~x~`` and ``^x^``. ``tabsets``: headings as tabs, and drawings in code
    fences, as in Wiki.js. ``magic``: blocks of JSON in ``[block:x]``, callouts that start with an emoji, adjacent
    code blocks as tabs, and ``<<value>>``, as in ReadMe."""

    jsx: tuple[str, ...] = ()
    vue: bool = False
    tags: bool = False
    indented: bool = False
    shortcodes: bool = False
    liquid: bool = False
    roles: bool = False
    wiki: bool = False
    vault: bool = False
    dollars: bool = False
    icons: bool = False
    marks: bool = False
    lowered: bool = False
    raised: bool = False
    tabsets: bool = False
    magic: bool = False

    @property
    def attributes(self) -> bool:
        """Return whether attribute lists can follow text and blocks."""
        return self.indented or self.liquid or self.roles or self.tabsets


class Entry(Struct, kw_only=True):
    """Entry in the page tree: a page from a file in the source (``path``), a link (``href``), or a group of pages.

    ``title``: the title in the navigation; None to use the page's own title.
    """

    title: str | None = None
    path: str | None = None
    href: str | None = None
    children: list[Entry] = field(default_factory=list)


class Place(Protocol):
    """Location of a page, and its access to the rest of the source."""

    path: str

    def link(self, href: str, line: int, *, shown: bool = False) -> str:
        """Return the reference to use for ``href`` on the converted page. ``shown``: whether ``href`` is an image or
        another file rather than a page."""

    def in_language(self, path: str, language: str, line: int) -> str:
        """Return the reference to a page in another language, relative to the folder of this page or to the
        root."""

    def keep(self, source: str) -> str | None:
        """Store an image embedded as a ``data:`` URL, and return its path; return None if it can't be
        stored."""

    def wiki(self, name: str, line: int, *, may_be_missing: bool = False) -> tuple[str, str]:
        """Return the href and the link text for a page name in double brackets. The href of a missing page starts
        with a null character. ``may_be_missing``: whether to skip reporting a missing page."""

    def include(self, path: str, line: int) -> tuple[str, str] | None:
        """Return the path and the text of an included file; None if it can't be included."""

    def embedded(self, text: str, line: int) -> str | None:
        """Return the Markdown for a fragment in another markup language, which starts below a line; None if that
        language isn't supported."""

    def below(self) -> list[tuple[str, str]]:
        """Return the href and the title of each subpage."""

    def value(self, name: str) -> str | None:
        """Return the value of one of the source's variables."""

    def problem(self, line: int, code: str, message: str) -> None: ...

    def within(self, path: str) -> Place:
        """Return the same page, with links relative to the file ``path``."""


class Variant(Struct, frozen=True, kw_only=True):
    """Version or language of a source. ``path``: the prefix of its URLs. ``language``: the source's name for
    the language. ``default``: whether readers see this variant first."""

    key: str
    title: str
    lay_out: Callable[[], Layout]
    path: str | None = None
    language: str | None = None
    default: bool = False


class Layout(Struct, frozen=True, kw_only=True):
    """Result of a reader, before the text of pages is read.

    ``root``: the folder to which pages and root-relative links are relative; either empty or with a trailing slash.
    ``statics``: the folders whose files were served from the root of the site. ``addresses``: the URL paths of the
    source's files, without slashes at either end. ``redirects``: additional URL paths, each with the URL path or
    file to which it redirected. ``parts``: the folders with text that other files include."""

    entries: Sequence[Entry]
    dialect: Dialect = Dialect()
    root: str = ""
    statics: tuple[str, ...] = ()
    addresses: Mapping[str, str] = {}
    redirects: Mapping[str, str] = {}
    parts: tuple[str, ...] = ()
    site: str = ""
    base: str = ""
    begins: str = ""
    """Prefix that the tool adds to links that start with a slash. The prefix is usually the page's language."""
    title: str = ""
    language: str = ""
    """Language of these pages, spelled as in the configuration."""
    description: str = ""
    """Site description from the configuration. It is used for a home page without a description."""
    brand: Brand = Brand()
    """Branding in the configuration, with unmodified references to images."""
    titles: Mapping[str, str] = {}
    """Titles, by path, of pages without a title in their front matter."""
    titled: bool = False
    """Whether the tool shows the title from a page's front matter above the text, even if the text starts
    with a heading."""
    names: Mapping[str, str] = {}
    """Paths of files in the result that differ from the paths in the source."""
    same: Mapping[str, str] = {}
    """Files that are replaced by another file in the source."""
    convert: Callable[[str, Place], str | None] | None = None
    """Function that converts a file that isn't Markdown to a complete page. It returns None if the file is
    Markdown."""
    embedded: Callable[[str, Place], str | None] | None = None
    """Function that converts a fragment in another markup language within a Markdown page."""
    letters: bool = False
    """Whether ``convert`` accepts text in any encoding; otherwise, it accepts only UTF-8."""
    anchors: Callable[[str], dict[str, str]] | None = None
    """Function that returns, for each ID in a converted file, the anchor of the heading above it."""
    close: Callable[[], None] | None = None
    """Function that releases the resources used for reading the pages."""
    skipped: tuple[str, ...] = ()
    """Extensions of files that are imported only if they become pages."""
    schemes: Mapping[str, str] = {}
    """URLs for the prefixes of links that consist of a word and a colon."""
    overlays: tuple[tuple[str, str], ...] = ()
    """Pairs of folders in which the first folder overlays the second: a file that doesn't exist in the first folder
    is looked up in the second folder."""
    variants: Sequence[Variant] = ()
    """All variants, including this one. Empty if there is only one variant."""
    left: Sequence[Problem] = ()
    """Problems to report because variants were skipped."""
    values: Mapping[str, Any] = {}
    problems: Sequence[Problem] = ()
    rest: bool = False
    """Whether files outside ``root`` and ``statics`` are imported even if no page shows them."""
