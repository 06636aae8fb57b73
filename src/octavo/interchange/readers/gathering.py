"""Convert a reader's layout to one source of Octavo Markdown: the pages, their tree, their files, and their
original locations."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property, partial
from typing import Any
from urllib.parse import quote, unquote

from msgspec import Struct

from octavo.core.app_urls import AppAddresses
from octavo.core.document.anchors import slug
from octavo.core.document.guards import NEVER, has_guard_key
from octavo.core.document.page import front_of, with_head
from octavo.core.free_names import free_name
from octavo.core.import_plan import plan_import
from octavo.core.links import APP_HOST, relative_href
from octavo.core.pages import slugify
from octavo.core.paths import composed, numbered_path, unsafe_path
from octavo.core.problems import Problem
from octavo.core.sources import LOOK_LEFT_OUT, Brand, Source, SourceFiles
from octavo.core.space_config import ASSETS, CONFIG_PATH, TAGS_PATH
from octavo.core.summary import SUMMARY_PATH, Summary, SummaryEntry, write_summary
from octavo.core.yaml_text import write_yaml

from .formats.inline_images import name_image, read_data_url
from .kept_head import keep_head
from .layout import Entry, Head, Layout, Variant
from .markdown.heroes import hero_text
from .markdown.lines import front_text, words
from .markdown.literals import read_literal
from .markdown.translating import Translated, translate
from .names import OUTSIDE, outside_link
from .page_tags import DEFINED_IN, PageTags
from .source_files import MAX_TEXT, Heads, is_index, is_page, unread_head
from .types import Add, Tick

_SPACES = AppAddresses(f"https://{APP_HOST}")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_ENDINGS = (
    "",
    ".md",
    ".mdx",
    ".markdown",
    "/index.md",
    "/index.mdx",
    "/README.md",
    "/_index.md",
    "/readme.md",
    "/index.markdown",
    ".rst",
    "/index.rst",
    ".adoc",
)
_ALIAS = re.compile(r"/?(?:@|~)(?P<alias>[\w-]*|@)/")
_JUNK = frozenset([".ds_store", "thumbs.db", "desktop.ini"])
MAX_LEVELS = 30
MAX_REDIRECTS = 3000
"""Maximum number of old URL paths in an Octavo configuration file. The size of this file is limited, too."""
_BEFORE_HEADING = re.compile(r"(?:\s|&nbsp;|<!--(?:(?!-->).)*-->)+(?=^#[ \t])", re.MULTILINE | re.DOTALL)
"""Pattern for invisible content before the first heading of a page."""
MAX_PICTURE = 5 * 1024 * 1024
"""Maximum size in bytes of a logo or an icon."""


def gather(files: Heads, layout: Layout, project: str, add: Add, tick: Tick) -> Source:
    """Convert a layout. ``project``: the folder of the source; either empty or with a trailing slash."""

    @cache
    def others() -> list[_Other]:
        """Return the layouts of the other variants. They are created only if a link doesn't lead to any of the
        imported pages."""
        return [
            _Other(one, _Gathering(files, one.lay_out(), project, add, tick), False)
            for one in layout.variants
        ]

    # If nothing is skipped, all variants are part of this layout.
    return _Gathering(files, layout, project, add, tick, others if layout.left else None).run()


def gather_parts(
    files: Heads, variants: Sequence[Variant], project: str, add: Add, tick: Tick
) -> dict[str, Source]:
    """Convert each variant to a separate source, and return the sources by key. Links to a page in another variant
    use the key to refer to that variant's space."""
    made: list[_Other] = []
    for variant in variants:
        layout = variant.lay_out()
        made.append(_Other(variant, _Gathering(files, layout, project, add, tick, lambda: made), True))
    parts: dict[str, Source] = {}
    for one in made:
        try:
            parts[one.variant.key] = one.gathering.run()
        finally:
            if one.gathering.layout.close is not None:
                one.gathering.layout.close()
    return parts


class _Other(Struct, frozen=True):
    """Variant to which links can lead. ``comes``: whether the variant is also imported, into its own space."""

    variant: Variant
    gathering: _Gathering
    comes: bool


class _Names:
    """Source with the names of pages but without their text. The names are enough to plan the paths of the pages."""

    def __init__(self, pages: Iterator[str], summary: bytes) -> None:
        self._pages, self._summary = list(pages), summary

    def paths(self) -> list[str]:
        return [SUMMARY_PATH, *self._pages]

    def read(self, path: str) -> bytes:
        return self._summary if path == SUMMARY_PATH else b""


class _Gathering:
    def __init__(
        self,
        files: Heads,
        layout: Layout,
        project: str,
        add: Add,
        tick: Tick,
        others: Callable[[], Sequence[_Other]] | None = None,
    ) -> None:
        self.files = files
        self.layout = layout
        self.project = project
        self.add = add
        self.tick = tick
        self.made = SourceFiles(layout.title or files.source.name)
        self.made.problems += [*files.source.problems, *layout.problems]
        self.origins: dict[str, str] = {}
        self.lines: dict[str, list[int]] = {}
        self.page_titles: dict[str, str] = {}
        self.pages: dict[str, str] = {}
        self.entries: dict[str, Entry] = {}
        self.hidden: set[str] = set()
        self.taken: set[str] = {SUMMARY_PATH.casefold(), ".gitbook.yaml"}
        self.placed: dict[str, str] = {}
        self.by_address = {address.strip("/"): path for path, address in layout.addresses.items()}
        self.folded = {address.casefold(): path for address, path in self.by_address.items()}
        self.folded_paths: dict[str, str] = {}
        for path in files.paths:
            self.folded_paths.setdefault(path.casefold(), path)
        self.names: dict[str, list[str]] | None = None
        self.old: dict[str, str] | None = None
        self.others = others
        defined = next((path for name in DEFINED_IN if (path := layout.root + name) in files.known), None)
        self.tags = PageTags(layout.dialect.tags, files.text(defined) if defined is not None else None)
        self._name_pages(layout.entries)
        self._add_unlisted()

    def run(self) -> Source:
        for path, made in self.pages.items():
            self.tick()
            self._page(path, made)
        self._add_rest()
        if tags := self.tags.definitions():
            self.add(self.made, TAGS_PATH, tags.encode())
        brand = self._brand()
        self.add(self.made, SUMMARY_PATH, self._summary(self._from_root).encode())
        addresses = {
            address: self.pages[path] for path, address in self.layout.addresses.items() if path in self.pages
        }
        addresses |= self._redirects()
        self._redirect_old_urls(addresses)
        return Source(
            name=self.made.name,
            files=self.made,
            problems=tuple(self.made.problems),
            commit=self.files.source.commit,
            brand=brand,
            language=self.layout.language,
            origins=self.origins,
            lines=self.lines,
            addresses=addresses,
        )

    def _brand(self) -> Brand:
        """Return the branding from the configuration, with its image files."""
        stated, folders = self.layout.brand, ("", "static/", "public/", "_static/", "assets/")
        pictures: dict[str, Callable[[], bytes]] = {}

        def find(name: str, href: str) -> str:
            if not href or href.startswith(("https://", "http://")):
                return href
            starts = (self.layout.root, *self.layout.statics, *(self.project + folder for folder in folders))
            inside = unquote(href).lstrip("/")
            where = (posixpath.normpath(start + inside) for start in starts)
            if (path := next((one for one in where if one in self.files.known), None)) is None:
                message = f"the {name} {href[:100]} doesn't exist"
                self.made.problems.append(Problem(self.project, 0, LOOK_LEFT_OUT, message))
                return ""
            if self.files.source.size(path) > MAX_PICTURE:
                message = f"the {name} is larger than {MAX_PICTURE // 1024**2} MB"
                self.made.problems.append(Problem(path, 0, LOOK_LEFT_OUT, message))
                return ""
            pictures[path] = partial(self.files.source.read, path)
            return path

        return Brand(
            color=stated.color,
            dark_color=stated.dark_color,
            logo=find("logo", stated.logo),
            dark_logo=find("dark logo", stated.dark_logo),
            favicon=find("favicon", stated.favicon),
            pictures=pictures,
        )

    def _redirect_old_urls(self, addresses: dict[str, str]) -> None:
        """Redirect old URL paths to the pages that had these paths."""
        if self.layout.rest and not self.layout.redirects and not self.layout.convert:
            return  # A folder of files never had URLs.
        paths = {page.file_path: page.path for page in plan_import(self.made).pages if page.file_path}
        base = self.layout.base.strip("/")
        wanted: dict[str, str] = {}
        for address, made in addresses.items():
            now = paths.get(made, "").casefold()
            for old in dict.fromkeys((address, f"{base}/{address}".strip("/") if base else address)):
                if old and old.casefold() != now and len(wanted) < MAX_REDIRECTS:
                    wanted[old] = made
        if wanted:
            self.add(self.made, CONFIG_PATH, write_yaml({"redirects": wanted}).encode("utf-8", "replace"))

    # Names

    def name(self, path: str) -> str:
        unnamed = is_index(path) and not self.files.title(path) and path not in self.layout.titles
        if (
            unnamed
            and self.layout.title
            and self.layout.convert is None
            and self.pages.get(path) == "README.md"
        ):
            return self.layout.title  # The home page of a site often has no title.
        return self.layout.titles.get(path) or self.filled(self.files.name(path))

    def filled(self, text: str) -> str:
        """Return text from front matter or navigation. If pages can use variables, fill in their values."""
        known = self.layout.values.get("variables") if self.layout.dialect.jsx else None
        if not isinstance(known, dict) or "{{" not in text:
            return text
        return re.sub(
            r"\{\{\s*([\w.-]{1,100})\s*\}\}", lambda found: str(known.get(found[1], found[0])), text
        )

    def _name_pages(self, entries: Sequence[Entry]) -> None:
        waiting = list(reversed(entries))
        first = True
        while waiting:
            entry = waiting.pop()
            if entry.path is not None and entry.path not in self.pages:
                self.entries[entry.path] = entry
                # The first page is the home page and has its file name.
                at_top = posixpath.dirname(entry.path) == self.layout.root.rstrip("/")
                self.pages[entry.path] = self._free(
                    "README.md" if first and (at_top or is_index(entry.path)) else self._wanted(entry.path)
                )
                first = False
            waiting += reversed(entry.children)

    def _wanted(self, path: str) -> str:
        if path in self.layout.names:
            return self.layout.names[path]
        root = self.layout.root
        inside = path[len(root) :] if path.startswith(root) else path.removeprefix(self.project)
        folder, name = posixpath.split(inside)
        stem = posixpath.splitext(name)[0]
        return posixpath.join(
            folder, "README.md" if stem.lower() in ("index", "readme", "_index") else f"{stem}.md"
        )

    def _free(self, path: str) -> str:
        if unsafe_path(path):
            path = f"{slugify(posixpath.splitext(posixpath.basename(path))[0])}.md"
        path = free_name(
            path, lambda name: name.casefold() in self.taken, lambda number: numbered_path(path, number)
        )
        self.taken.add(path.casefold())
        return path

    def _add_unlisted(self) -> None:
        """Add pages that aren't in any navigation and can be reached only through links."""
        for path in self.layout.addresses:
            if path not in self.pages and path in self.files.known:
                self.hidden.add(path)
                self.pages[path] = self._free(self._wanted(path))
                self.entries[path] = Entry(path=path)

    def _summary(self, target_of: Callable[[str], str]) -> str:
        entries = list(self._summary_entries(self.layout.entries, 0, target_of))
        return write_summary(Summary(title=self.layout.title, entries=entries))

    @cached_property
    def paths(self) -> dict[str, str]:
        """Return the URL path of each page, by the path of its file in the result."""
        # Links aren't resolved for this, because they can point to pages in a part that links back to this
        # one.
        names = _Names(iter(self.pages.values()), self._summary(lambda href: "https:").encode())
        return {page.file_path: page.path for page in plan_import(names).pages if page.file_path}

    def _summary_entries(
        self, entries: Sequence[Entry], level: int, target_of: Callable[[str], str]
    ) -> Iterator[SummaryEntry]:
        """Yield the entries for a navigation in SUMMARY.md. ``target_of``: a function that returns the target of an
        entry's link."""
        for entry in entries:
            children = (
                list(self._summary_entries(entry.children, level + 1, target_of))
                if level < MAX_LEVELS
                else []
            )
            if entry.href is not None:
                yield SummaryEntry(kind="link", title=entry.title or entry.href, href=target_of(entry.href))
                yield from children
            elif entry.path is not None:
                own = self.name(entry.path)
                said = entry.path in self.layout.titles or self.files.title(entry.path)
                shown = self.filled(entry.title) if entry.title else None
                title = self.page_titles.get(entry.path) or (shown if shown and not said else own)
                nav = shown if shown and shown != title else None
                yield SummaryEntry(
                    kind="page", title=title, link_title=nav, href=self.pages[entry.path], children=children
                )
            elif children or entry.title:
                if children:
                    yield SummaryEntry(
                        kind="page" if level else "group",
                        title=self.filled(entry.title or "Pages"),
                        children=children,
                    )
        if level == 0:
            for path in self.pages:
                if path in self.hidden:
                    yield SummaryEntry(kind="page", title=self.name(path), href=self.pages[path])

    def _from_root(self, href: str) -> str:
        if _SCHEME.match(href):
            return href
        name, _, fragment = href.partition("#")
        found = self.find(href if href.startswith("/") else f"/{href}", "")
        if (variant_page := self.elsewhere(f"/{name.lstrip('/')}", "", found)) is not None:
            return self.url_of_other_variant(variant_page, unquote(fragment)) or href
        if found is not None and (place := self.place_of(found)):
            return place
        return self.layout.site.rstrip("/") + "/" + href.lstrip("/") if self.layout.site else href

    # Pages

    def _page(self, path: str, made: str) -> None:
        page = _Page(self, path)
        if (whole := self._converted(path, page)) is not None:
            self.origins[made] = path
            self.lines[made] = []
            if path in self.hidden:
                whole = with_head(whole, {"hidden": True})
            self.add(self.made, made, whole.encode("utf-8", "replace"))
            return
        text = self.files.text(path)
        if text is None:
            # The file keeps its own name, which helps people find the problem.
            self.made.add(made, self.files.source.size(path), self.files.source.opening(path))
            return
        head = self.files.head(path)
        if not head and (wrong := unread_head(text)):
            page.problem(wrong[0], "front_matter", f"the front matter was skipped: {wrong[1]}")
        done = self.translated(text, page, head)
        body = done.text
        lines = list(done.lines)
        description = self.layout.description if made == "README.md" else ""
        kept = keep_head(
            head, description, self.filled, self.tags, self.layout.dialect.tags, is_hidden=path in self.hidden
        )
        front, title = f"---\n{write_yaml(kept)}---\n\n" if kept else "", head.get("title")
        if not head and has_guard_key(front_text(text)[0]):
            # The intended audience is unknown, so no one sees the page.
            front = f"---\n{write_yaml({'if': NEVER})}---\n\n"
        if found := _BEFORE_HEADING.match(body):
            body, lines = body[found.end() :], lines[found[0].count("\n") :]
        while body.startswith("\n"):
            body, lines = body[1:], lines[1:]
        above = front
        said = self.filled(" ".join(str(title).split())) if isinstance(title, (str, int, float)) else ""
        first = re.match(r"#[ \t]+(.+)", body)
        if said and (first is None or (self.layout.titled and _plain_title(first[1]) != said)):
            above += f"# {_escaped(said)}\n\n"
            first = None
        if hero := hero_text(head, page, said or self.name(path)):
            if first is not None:
                title_line, _, body = body.partition("\n")
                above += f"{title_line}\n\n"
                lines = lines[1:]
            above += f"{hero}\n\n"
        if not above and front_of(body):
            above = "\n"  # A horizontal rule after a blank line doesn't start front matter.
        self.origins[made] = path
        self.lines[made] = [1] * above.count("\n") + lines
        whole = (above + body).rstrip("\n") + "\n"
        self.add(self.made, made, whole.encode("utf-8", "replace"))
        if first is not None:
            self.page_titles[path] = _plain_title(first[1]) or self.name(path)

    def _converted(self, path: str, page: _Page) -> str | None:
        """Convert a file that isn't Markdown to a page; return None for Markdown."""
        convert, files = self.layout.convert, self.files
        if convert is None:
            return None
        if self.layout.letters or path not in files.known or files.text(path) is not None:
            return convert(path, page)
        if is_page(path):
            return None
        if files.source.size(path) > MAX_TEXT:
            page.problem(
                0,
                "too_large",
                f"the text of the page is larger than {MAX_TEXT // 1024**2} MB and was skipped",
            )
        else:
            page.problem(0, "invalid_utf8", "the file isn't valid UTF-8, so its text was skipped")
        return f"# {_escaped(self.name(path))}\n"

    def translated(self, text: str, page: _Page, head: Head) -> Translated:
        return translate(text, page, self.layout.dialect)

    # Files

    def _add_rest(self) -> None:
        """Add the other files in the folders of pages, and the files from other folders that pages show."""
        root, statics = self.layout.root, self.layout.statics
        for path in self.files.paths:
            name = posixpath.basename(path).lower()
            if self.layout.dialect.tags and path.startswith(f"{root}.gitbook/"):
                self.place_of(path)
                continue
            if (
                path in self.placed
                or path in self.pages
                or name in _JUNK
                or any(part.startswith((".", "_")) for part in path.split("/"))
            ):
                continue
            inside = path.startswith(root) and (root or self.layout.rest)
            if (
                (inside or path.startswith(statics or ("\0",)))
                and not is_page(path)
                and not name.endswith(
                    (
                        *(".jsx", ".tsx", ".vue"),
                        *((".html", ".csv") if self.layout.convert else ()),
                        *self.layout.skipped,
                    )
                )
            ):
                self.place_of(path)
        for path, made in self.placed.items():
            self.made.add(made, self.files.source.size(path), self.files.source.opening(path))

    def place_of(self, path: str) -> str | None:
        """Return the path of a source file in the result. A path is assigned the first time it is requested."""
        path = self.layout.same.get(path, path)
        if path in self.pages:
            return self.pages[path]
        if path not in self.placed:
            if is_page(path) and not self.layout.rest and path.startswith(self.layout.root):
                return None
            static = next((folder for folder in self.layout.statics if path.startswith(folder)), None)
            root = self.layout.root
            if path in self.layout.names:
                wanted = self.layout.names[path]
            elif static is not None:
                wanted = path[len(static) :]
            elif path.startswith(root):
                wanted = path[len(root) :]
            else:
                wanted = f"{ASSETS}/{posixpath.basename(path)}"
            wanted = free_name(
                wanted,
                lambda name: name.casefold() in self.taken,
                lambda number: numbered_path(wanted, number),
            )
            self.taken.add(wanted.casefold())
            self.placed[path] = wanted
        return self.placed[path]

    # Links

    def anchor(self, path: str, fragment: str) -> str:
        """Return the anchor of the heading above a location in a file; empty if the location is above the first
        heading."""
        places = self.layout.anchors(path) if fragment and self.layout.anchors is not None else {}
        return places.get(fragment, fragment)

    def find(self, name: str, source: str) -> str | None:
        """Return the source file to which a path in the file ``source`` refers."""
        layout, name = self.layout, composed(name)
        if (alias := _ALIAS.match(name)) and (
            found := self.mapped(name) or self.named_by_alias(alias["alias"], name[alias.end() :])
        ):
            return found
        if name.startswith("/"):
            keys = self._keys(name)
            if (found := self._page_at(keys)) is not None:
                return found
            for each in keys:
                for folder in (*layout.statics, layout.root, self.project, ""):
                    if each and (found := self._exact(folder + each)):
                        return found
            # Links may start at the top of the repository that contains the imported folder.
            above, _, rest = name.strip("/").partition("/")
            beside = self._exact(rest) if rest and above == self.files.source.name else None
            return beside or next((found for each in keys if (found := self._redirect_target(each))), None)
        folder = posixpath.dirname(source)
        if found := self._exact(_joined(folder, name)) or self.mapped(name):
            return found
        for over, under in layout.overlays:
            if source.startswith(over):
                below = posixpath.dirname(under + source[len(over) :])
                if found := self._exact(_joined(below, name)):
                    return found
        address = layout.addresses.get(source)
        if address is not None:
            clean = re.sub(r"(?:^|(?<=/))index\.html?$|\.html?$", "", name)
            for start in (address, posixpath.dirname(address)):
                inside = _joined(start, clean)
                where = inside.strip("/.") if inside is not None else "\0"
                if (found := self.by_address.get(where) or self.folded.get(where.casefold())) is not None:
                    return found
            # An image path may be relative to the URL of the page.
            seen = _joined(address, name) if name.startswith("../") else None
            for start in (*layout.statics, layout.root, self.project):
                if seen and (found := self._exact(start + seen)):
                    return found
        for start in (layout.root, self.project, *layout.statics):
            if found := self._exact(_joined(start, name.removeprefix("./"))):
                return found
        return None

    def _keys(self, name: str, literal: bool = False) -> list[str]:
        """Return the possible URL paths for a path that is relative to the root of the site. ``literal``: whether
        the tool doesn't add a prefix."""
        key, base = name.strip("/"), self.layout.base.strip("/")
        keys = [key, key[len(base) :].strip("/")] if base and f"{key}/".startswith(f"{base}/") else [key]
        if self.layout.begins and not literal:
            keys = [f"{self.layout.begins}/{each}".strip("/") for each in keys] + keys
        return keys

    def _page_at(self, keys: Sequence[str]) -> str | None:
        for each in keys:
            each = re.sub(r"(?:^|/)index\.html?$|\.html?$", "", each)
            if (found := self.by_address.get(each) or self.folded.get(each.casefold())) is not None:
                return found
        return None

    def elsewhere(
        self, name: str, source: str, found: str | None, literal: bool = False
    ) -> tuple[_Other, str] | None:
        """Return the page in another variant that a path in the file ``source`` refers to; None if the path leads to
        a page in this variant or to no page. ``found``: the path's target in this variant. ``literal``: whether
        the path is used as written, without a prefix."""
        if self.others is None:
            return None
        is_own = found is not None and self.layout.same.get(found, found) in self.pages
        variant_page = None
        if name.startswith("/"):
            if self._page_at(self._keys(name, literal)) is not None:
                return None
            # A page with exactly this URL path takes precedence over a partial match here.
            variant_page = self._other_at(name, found is None)
        elif self._exact(_joined(posixpath.dirname(source), name)) is not None:
            if is_own and not self._leaves_language(name, source, found or ""):
                return None
            is_own = False
        elif (address := self.layout.addresses.get(source)) is not None:
            inside = [_joined(start, name) for start in (address, posixpath.dirname(address))]
            keys = [each.strip("/.") for each in inside if each is not None]
            if self._page_at(keys) is not None:
                return None
            variant_page = next(filter(None, (self._other_at(f"/{key}", False) for key in keys)), None)
        if variant_page is None and found is not None and not is_own:
            variant_page = next(
                ((other, found) for other in self._others() if found in other.gathering.pages), None
            )
        return variant_page

    def _others(self) -> Sequence[_Other]:
        return self.others() if self.others is not None else ()

    def named_languages(self, language: str) -> list[_Other]:
        return [other for other in self._others() if other.variant.language == language]

    def _other_at(self, name: str, old: bool) -> tuple[_Other, str] | None:
        """Return the page at a path in another variant. ``old``: whether to include former URL paths."""
        for other in self._others():
            place = other.gathering
            base = place.layout.base.strip("/")
            if base != self.layout.base.strip("/") and not f"{name}/".startswith(f"/{base}/"):
                continue  # Each variant has its own path, which specifies the language.
            keys = place._keys(name, literal=True)
            found = place._page_at(keys)
            if found is None and old:
                found = next(filter(None, map(place._redirect_target, keys)), None)
            if found is not None:
                return other, found
        return None

    def _leaves_language(self, name: str, source: str, found: str) -> bool:
        """Return whether a relative path is in a language's folder but refers to a page in the default language,
        because that page isn't translated."""
        return any(
            source.startswith(over)
            and not found.startswith(over)
            and self._exact(_joined(posixpath.dirname(source), name)) == found
            for over, _ in self.layout.overlays
        )

    def url_of_other_variant(self, variant_page: tuple[_Other, str], fragment: str) -> str | None:
        """Return the URL of a page in another variant; None if the variant isn't imported and the page's old URL is
        unknown."""
        (other, path), layout = variant_page, self.layout
        place = other.gathering
        anchor = place.anchor(path, fragment)
        behind = f"#{quote(anchor)}" if anchor else ""
        if other.comes:
            return _SPACES.page(other.variant.key, quote(place.paths[place.pages[path]])) + behind
        if not layout.site:
            return None
        address = "/".join(
            part for part in (layout.base.strip("/"), place.layout.addresses.get(path, "")) if part
        )
        return f"{layout.site.rstrip('/')}/{address}{behind}"

    def named_by_alias(self, alias: str, rest: str) -> str | None:
        """Return the file for a path that starts with an alias for a project folder, such as `~/`, `@site/`, or
        `@assets/`. Each tool defines aliases in its configuration, but nearly all tools use the same aliases."""
        folders = [f"{alias}/", f"src/{alias}/"] if alias and alias not in ("site", "@") else ["", "src/"]
        places = [*(self.project + each for each in folders), self.layout.root]
        return next((found for each in places if (found := self._exact(each + rest))), None)

    @cached_property
    def _mappings(self) -> list[tuple[str, str, str]]:
        """Return the ``paths`` in the project's ``tsconfig.json`` as triples of a base folder, a pattern, and its
        replacement. ``*`` in a pattern matches any text."""
        for name in ("tsconfig.json", "jsconfig.json"):
            given = read_literal(self.files.text(self.project + name) or "")
            options = given.get("compilerOptions") if isinstance(given, dict) else None
            if not isinstance(options, dict) or not isinstance(paths := options.get("paths"), dict):
                continue
            base = options.get("baseUrl", ".")
            folder = _joined(self.project, base) if isinstance(base, str) else None
            if folder is not None:
                return [(folder, pattern, one) for pattern, ones in paths.items() for one in _texts(ones)]
        return []

    def mapped(self, name: str) -> str | None:
        """Return the file for a path according to the ``paths`` in the project's ``tsconfig.json``."""
        if name.startswith((".", "/")):
            return None
        for folder, pattern, target in self._mappings:
            before, star, behind = pattern.partition("*")
            if not (
                len(name) >= len(before + behind) and name.startswith(before) and name.endswith(behind)
                if star
                else name == pattern
            ):
                continue
            middle = name[len(before) : len(name) - len(behind)]
            if found := self._exact(_joined(folder, target.replace("*", middle, 1))):
                return found
        return None

    def _redirect_target(self, address: str) -> str | None:
        """Return the page that was at an old URL path."""
        if self.old is None:
            self.old = {
                address.strip("/").casefold(): target for address, target in self.layout.redirects.items()
            }
        target = self.old.pop(address.casefold(), None)
        if target is None or _SCHEME.match(target):
            return None
        # Removed during the lookup, so that two redirects that point to each other don't loop.
        found = (
            target if target in self.files.known else self.find("/" + target.partition("#")[0].strip("/"), "")
        )
        self.old[address.casefold()] = target
        return found

    def _exact(self, path: str | None) -> str | None:
        if path is None or path.startswith("../"):
            return None
        path = path.rstrip("/")
        stem = path[: -len(".html")] if path.lower().endswith(".html") else None
        for start in (path, stem) if stem else (path,):
            for ending in _ENDINGS:
                candidate = (start + ending).lstrip("/")
                if candidate in self.files.known:
                    return candidate
                if candidate in self.layout.same:
                    return self.layout.same[candidate]
        return self.folded_paths.get(path.casefold()) or self.folded_paths.get(f"{path}.md".casefold())

    def _redirects(self) -> dict[str, str]:
        made: dict[str, str] = {}
        for old, target in self.layout.redirects.items():
            path = target if target in self.pages else None
            if path is None and not _SCHEME.match(target):
                found = self.find("/" + target.partition("#")[0].strip("/"), "")
                path = found if found in self.pages else None
            if path is not None:
                made[old.strip("/")] = self.pages[path]
            elif target:
                self.made.problem(
                    old,
                    "redirect_left_out",
                    f"skipped: the redirect's target {target[:200]} isn't an imported page",
                )
        return made

    def named(self, name: str) -> str | None:
        """Return the file with this name, regardless of its folder."""
        if self.names is None:
            self.names = {}
            for path in self.files.paths:
                base = posixpath.basename(path).casefold()
                for key in {base, posixpath.splitext(base)[0] if is_page(path) else base}:
                    self.names.setdefault(key, []).append(path)
                if is_page(path):
                    for alias in _texts(self.files.head(path).get("aliases")):
                        self.names.setdefault(alias.casefold(), []).append(path)
        found = self.names.get(name.casefold()) or self.names.get(name.casefold().replace(" ", "-"))
        return found[0] if found else None


class _Page:
    """Page while it is being converted (``layout.Place``). ``written``: the file that contains the page's links."""

    def __init__(self, gathering: _Gathering, path: str, written: str | None = None, above: int = 0) -> None:
        """Create a page. ``above``: the number of lines in the file that precede line 1 of the text."""
        self.gathering = gathering
        self.path = path
        self.written = written or path
        self.above = above

    def within(self, path: str) -> _Page:
        return _Page(self.gathering, self.path, path)

    @property
    def made(self) -> str:
        return self.gathering.pages[self.path]

    def problem(self, line: int, code: str, message: str) -> None:
        self.gathering.made.problems.append(Problem(self.path, self.above + line, code, message[:400]))

    def link(self, href: str, line: int, *, shown: bool = False) -> str:
        gathering = self.gathering
        href = href.strip()
        written, literal = href, False
        site = gathering.layout.site.rstrip("/")
        if site and not shown and (href == site or href.startswith((site + "/", site + "#"))):
            there = "/" + href[len(site) :].partition("#")[0].partition("?")[0].strip("/")
            inside = gathering.find(there, "")
            if inside in gathering.pages or gathering.elsewhere(there, "", inside, True):
                href, literal = "/" + href[len(site) :].lstrip("/"), True
        for scheme, start in gathering.layout.schemes.items():
            if href.startswith(scheme):
                href = start + href[len(scheme) :]
        if href.startswith("pathname://"):
            href, literal = "/" + href[len("pathname://") :].lstrip("/"), True
        name, _, fragment = href.partition("#")
        if gathering.layout.dialect.magic and fragment.startswith("section-"):
            # The source's own heading anchors.
            fragment = fragment.removeprefix("section-").strip("-")
            href = f"{name}#{fragment}"
        labels: dict[str, tuple[str, str, str]] = gathering.layout.values.get("labels", {})
        if (
            labels
            and not shown
            and (known := labels.get((name or fragment).casefold()))
            and known[0] in gathering.pages
        ):
            return relative_href(gathering.pages[known[0]], self.made, known[1] or None)
        if href.startswith("#") and (anchor := gathering.anchor(self.path, fragment)) != fragment:
            return f"#{anchor}" if anchor else relative_href(self.made, self.made)
        if href == "#":
            return relative_href(self.made, self.made)  # The top of the page.
        if not href or href.startswith(("#", "{", "mailto:")) or _SCHEME.match(href):
            return href
        plain = unquote(name.partition("?")[0])
        found = gathering.find(plain, self.written) or (
            gathering.find(plain, self.path) if self.written != self.path else None
        )
        if found is None and gathering.layout.dialect.wiki:
            found = gathering.named(posixpath.basename(plain.rstrip("/")))
        variant_page = gathering.elsewhere(plain, self.written, found, literal) if not shown else None
        if (
            variant_page is not None
            and not variant_page[0].comes
            and gathering.layout.same.get(variant_page[1], variant_page[1]) in gathering.pages
        ):
            found, variant_page = variant_page[1], None
        if variant_page is not None:
            if not variant_page[0].comes:
                self._report_variant(href, variant_page[0], line)
            return gathering.url_of_other_variant(variant_page, unquote(fragment)) or written
        place = gathering.place_of(found) if found is not None else None
        if fragment and (known := labels.get(unquote(fragment).casefold())) and known[0] == found:
            fragment = known[1]
        if place is None:
            if not shown:
                self.problem(line, "broken_link", f"{href[:200]} doesn't exist in the source")
            if re.match(r"https?:", written):
                return written
            return quote(unquote(href), safe="/-._~!$&'()*+,;=:@#?%") if " " in href else href
        return relative_href(place, self.made, gathering.anchor(found or "", unquote(fragment)) or None)

    def in_language(self, path: str, language: str, line: int) -> str:
        gathering, begins = self.gathering, self.gathering.layout.begins
        name, sign, fragment = path.partition("#")
        name = name.removesuffix(".md")
        here = posixpath.dirname(gathering.layout.addresses.get(self.written, ""))
        if begins and f"{here}/".startswith(f"{begins}/"):
            here = here[len(begins) + 1 :]
        keys = [_joined(start, name.lstrip("/")) for start in ([""] if name.startswith("/") else [here, ""])]
        for other in gathering.named_languages(language):
            for key in filter(None, keys):
                found = other.gathering.find(f"/{key}", "")
                if found is None or found not in other.gathering.pages:
                    continue
                if found in gathering.pages:
                    return self.link(f"/{gathering.layout.addresses.get(found, key)}{sign}{fragment}", line)
                if not other.comes:
                    self._report_variant(path, other, line)
                return gathering.url_of_other_variant((other, found), unquote(fragment)) or path
        return self.link(f"/{language}/{path.strip('/').removesuffix('.md')}", line)

    def _report_variant(self, href: str, other: _Other, line: int) -> None:
        self.problem(
            line, "other_variant", f"{href[:200]} points to {other.variant.title}, which wasn't imported"
        )

    def keep(self, source: str) -> str | None:
        data = read_data_url(source)
        name = name_image(data) if data else None
        if data is None or name is None:
            message = "an embedded image is too large or has an unknown format"
            self.problem(0, "image_left_out", message)
            return None
        gathering, path = self.gathering, f"{ASSETS}/{name}"
        if path.casefold() not in gathering.taken:
            gathering.taken.add(path.casefold())
            gathering.add(gathering.made, path, data)
        return relative_href(path, self.made)

    def wiki(self, name: str, line: int, *, may_be_missing: bool = False) -> tuple[str, str]:
        gathering = self.gathering
        if name.startswith("\0"):
            _, kind, target = name.split("\0", 2)
            return self._role(kind, target, line, may_be_missing)
        page, _, heading = name.partition("#")
        heading = heading.rpartition("#")[2]
        if heading.startswith("^"):
            heading = ""  # A block has no URL here, so the link goes to its page.
            if not page.strip():
                return relative_href(self.made, self.made), gathering.name(self.path)
        if not page.strip():
            return f"#{slugify(heading)}", heading
        wanted = page.strip().strip("/")
        found = (
            gathering.find(wanted, self.path)
            or gathering.named(posixpath.basename(wanted))
            or gathering.named(wanted)
        )
        if found is None and (found := gathering.find(f"/{wanted}", self.path)) is None:
            if not may_be_missing:
                self.problem(line, "broken_link", f"[[{name[:200]}]] doesn't exist in the source")
            return "\0" + quote(wanted), name
        place = gathering.place_of(found) or ""
        title = gathering.name(found) if is_page(found) and "/" not in wanted else posixpath.basename(wanted)
        return relative_href(place, self.made, slug(heading) if heading else None), (
            f"{page} › {heading}" if heading else posixpath.basename(wanted) or title
        )

    def _role(self, kind: str, target: str, line: int, may_be_missing: bool) -> tuple[str, str]:
        gathering = self.gathering
        if kind.startswith(OUTSIDE):
            form = gathering.layout.values.get("outside", {}).get(kind.removeprefix(OUTSIDE))
            return outside_link(form, target) if form is not None else ("", target)
        if kind == "doc":
            found = gathering.find(target, self.path)
            if found in gathering.pages:
                return relative_href(gathering.pages[found], self.made), gathering.name(found)
        labels: dict[str, tuple[str, str, str]] = gathering.layout.values.get("labels", {})
        named = labels.get(target.casefold())
        if named is not None and named[0] in gathering.pages:
            return relative_href(gathering.pages[named[0]], self.made, named[1] or None), named[2]
        found = gathering.find(target, self.path) if kind == "any" else None
        if found in gathering.pages:
            return relative_href(gathering.pages[found], self.made), gathering.name(found)
        if not may_be_missing and ":" not in target:
            self.problem(line, "broken_link", f"{target[:200]} doesn't exist in the source")
        return "", target

    def include(self, path: str, line: int) -> tuple[str, str] | None:
        gathering = self.gathering
        folders = [
            posixpath.dirname(self.written),
            *gathering.layout.parts,
            gathering.layout.root,
            gathering.project,
        ]
        found = gathering.mapped(path)
        if found is None and (alias := _ALIAS.match(path)):
            found = gathering.named_by_alias(alias["alias"], path[alias.end() :])
        for folder in folders:
            where = _joined(folder, path.lstrip("/"))
            if found is None and where is not None and where in gathering.files.known:
                found = where
        if found is None and path.startswith("."):
            found = gathering._exact(_joined(posixpath.dirname(self.written), path))
        text = gathering.files.text(found) if found is not None else None
        return (found, text) if found is not None and text is not None else None

    def embedded(self, text: str, line: int) -> str | None:
        convert = self.gathering.layout.embedded
        return convert(text, _Page(self.gathering, self.path, self.written, line)) if convert else None

    def below(self) -> list[tuple[str, str]]:
        entry = self.gathering.entries.get(self.path)
        return [
            (
                relative_href(self.gathering.pages[child.path], self.made),
                child.title or self.gathering.name(child.path),
            )
            for child in (entry.children if entry else [])
            if child.path in self.gathering.pages
        ]

    def value(self, name: str) -> str | None:
        value: Any = self.gathering.layout.values.get("variables")
        name = name.strip()
        if name.startswith("page.") and self.gathering.layout.dialect.liquid:
            value = {"page": self.gathering.files.head(self.path)}
        if name.startswith("$frontmatter."):
            value, name = self.gathering.files.head(self.path), name.removeprefix("$frontmatter.")
        for part in name.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        return str(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else None


def _joined(folder: str, name: str) -> str | None:
    path = posixpath.normpath(posixpath.join(folder, name))
    return None if path.startswith("..") else path.lstrip("/")


def _plain_title(heading: str) -> str:
    return words(re.sub(r"\{[^{}]*\}\s*$|<[^<>]*>", "", heading.rstrip("# ")))


def _escaped(title: str) -> str:
    return re.sub(r"([\\`*<\[\]])", r"\\\1", title)


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
