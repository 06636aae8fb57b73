"""The one form that every reader gives: which pages there are, in what order, by what names, and where they were."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from msgspec import Struct, field

from octavo.core.problems import Problem

from ..sources import Brand

Head = dict[str, Any]
"""The keys of a page's front matter."""


class Dialect(Struct, frozen=True, kw_only=True):
    """How the Markdown of a kind differs from ours. What no kind means otherwise (alerts, fenced containers,
    definition lists, attribute lists) is read in all of them.

    ``jsx``: components and expressions, in files of these endings. ``vue``: script and template of Vue.
    ``tags``: ``{% %}`` are tags of ours, as in a folder of our own format.
    ``indented``: ``!!!`` and ``===`` with an indented body. ``shortcodes``: ``{{< >}}``. ``liquid``: ``{% %}`` and
    ``{{ }}``. ``roles``: directives and roles in braces. ``wiki``: ``[[Page]]``. ``vault``: comments between ``%%``, and
    names of blocks at their ends, as in Obsidian. ``dollars``: ``$x$`` is a formula.
    ``icons``: names between colons are icons. ``marks``: ``==x==``. ``lowered`` and ``raised``: ``~x~`` and ``^x^``. ``tabsets``: headings of tabs, and
    drawings in fences, as in Wiki.js. ``magic``: blocks of JSON in ``[block:x]``, callouts that begin with a sign,
    listings side by side, ``<<value>>``, as in ReadMe."""

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
        """Whether lists of attributes stand behind words and blocks."""
        return self.indented or self.liquid or self.roles or self.tabsets


class Entry(Struct, kw_only=True):
    """One place of the tree: a page of a file of the source (``path``), a link (``href``), or words that hold pages.

    ``title`` is what the navigation says; None: what the page says itself."""

    title: str | None = None
    path: str | None = None
    href: str | None = None
    children: list[Entry] = field(default_factory=list)


class Place(Protocol):
    """Where a page is, and what it may ask of the source that it is in."""

    path: str

    def link(self, href: str, line: int, *, shown: bool = False) -> str:
        """How the page that is made refers to what ``href`` means; ``shown``: as an image or a file."""

    def in_language(self, path: str, language: str, line: int) -> str:
        """The same for the page that a path means in another language, from the folder of this page or from the top."""

    def keep(self, source: str) -> str | None:
        """How the page refers to an image that is written into it as a ``data:`` URL; None where it cannot be kept."""

    def wiki(self, name: str, line: int, *, quiet: bool = False) -> tuple[str, str]:
        """The href and the words for a page that is named in double brackets. ``quiet``: no problem where it is not
        there; the href of such a one begins with a null character."""

    def include(self, path: str, line: int) -> tuple[str, str] | None:
        """The path and the text of a file that this one includes."""

    def embedded(self, text: str, line: int) -> str | None:
        """The Markdown of a piece in another markup that stands below a line; None for one that is not read."""

    def below(self) -> list[tuple[str, str]]:
        """The href and title of each page below this one."""

    def value(self, name: str) -> str | None:
        """What a variable of the source says."""

    def problem(self, line: int, code: str, message: str) -> None: ...

    def within(self, path: str) -> Place:
        """The same page, with links that are written in the file ``path``."""


class Variant(Struct, frozen=True, kw_only=True):
    """A version of a source, or the source in a language. ``path``: what its addresses begin with; ``language``: as the
    source calls it. Readers begin with the one that is ``default``."""

    key: str
    title: str
    lay_out: Callable[[], Layout]
    path: str | None = None
    language: str | None = None
    default: bool = False


class Layout(Struct, kw_only=True):
    """What a reader found out about a source before its pages are read.

    ``root``: the folder that pages and root-absolute links count from, empty or ending in a slash. ``statics``: folders
    whose files readers found at the root of the site. ``addresses``: where readers had each file of the source, without
    slashes at its ends. ``redirects``: further addresses, and the address or file that each led to. ``parts``: folders
    where texts that others include are looked for."""

    entries: list[Entry]
    dialect: Dialect = Dialect()
    root: str = ""
    statics: tuple[str, ...] = ()
    addresses: dict[str, str] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)
    parts: tuple[str, ...] = ()
    site: str = ""
    base: str = ""
    begins: str = ""
    """What the tool itself puts before links that begin with a slash: mostly the language of the page."""
    title: str = ""
    language: str = ""
    """The language that the configuration states for these pages, as it spells it."""
    description: str = ""
    """What the configuration says the whole site is about; the home page gets it where it has no description."""
    brand: Brand = field(default_factory=Brand)
    """What the configuration states of the look; pictures as it writes them."""
    titles: dict[str, str] = field(default_factory=dict)
    """What pages are called that do not say it in a head of their own."""
    titled: bool = False
    """Whether the title in a page's head is what readers saw above it, whatever heading the text begins with."""
    names: dict[str, str] = field(default_factory=dict)
    """Paths that files get here, where they are better than those of the source."""
    same: dict[str, str] = field(default_factory=dict)
    """Files that another one stands for."""
    convert: Callable[[str, Place], str | None] | None = None
    """Makes the whole page of a file that is no Markdown; None: it is Markdown."""
    embedded: Callable[[str, Place], str | None] | None = None
    """Makes Markdown of a piece in another markup within a page of Markdown."""
    letters: bool = False
    """Whether it makes pages of text in any letters; otherwise text is UTF-8."""
    anchors: Callable[[str], dict[str, str]] | None = None
    """Of a file that is converted: the heading that each id in it stands below, by its anchor; headings keep theirs."""
    close: Callable[[], None] | None = None
    """Ends what reading the pages needed."""
    skipped: tuple[str, ...] = ()
    """Endings of files that come as pages or not at all."""
    schemes: dict[str, str] = field(default_factory=dict)
    """Of links that name a page by a word and a colon: the addresses that these stand for."""
    overlays: tuple[tuple[str, str], ...] = ()
    """Folders that lie over others: what is not in the first is looked for in the second."""
    variants: list[Variant] = field(default_factory=list)
    """Where there are several: all of them, this one among them."""
    left: list[Problem] = field(default_factory=list)
    """What is left out where the variants are not brought as such."""
    values: dict[str, Any] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    rest: bool = False
    """Whether files outside of ``root`` and ``statics`` come along that no page shows."""
