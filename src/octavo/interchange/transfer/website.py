"""A website as a source of Markdown: a crawl within one origin and below one address.

Pages are fetched one after the other through ``kit.fetch``, as far as ``robots.txt`` allows and within limits
of number, bytes and time. What is beyond a limit is a problem that is told, not an error.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
import time
from collections import Counter, deque
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from lxml import etree
from msgspec import Struct
from protego import Protego

from octavo.core.document.json import DocumentError
from octavo.core.links import relative_href
from octavo.core.summary import Summary, SummaryEntry, title_of_name, write_summary
from octavo.core.url_parts import join_address, path_of, read_address
from octavo.kit.files import detect_type
from octavo.kit.net.fetch import Fetched, Fetcher, FetchError, Limits

from .converting import ASSETS, MAX_PAGE, Folder, Tick
from .html import convert, language_of, parse_html
from .inline_images import RASTER
from .sources import Source, SourceError

AGENT = "Octavo"
_MAX_SITEMAPS = 50
_MAX_SEGMENTS = 12
_ENDINGS = (".html", ".htm", ".xhtml", ".php", ".asp", ".aspx", ".jsp")
_NO_PAGES = re.compile(
    r"\.(?:png|jpe?g|gif|svg|webp|avif|ico|css|js|mjs|json|xml|txt|pdf|zip|gz|tar|tgz|mp[34]|webm|woff2?|ttf|exe|dmg)$",
    re.IGNORECASE,
)
_LONGEST_DELAY = 5.0


class CrawlLimits(Struct, frozen=True, kw_only=True):
    """``bytes`` of pages and images together; ``seconds`` for all of it."""

    pages: int = 5000
    images: int = 10_000
    bytes: int = 1024**3
    seconds: float = 3600


class _Page(Struct):
    """A fetched page; ``place`` is where its HTML waits."""

    url: str
    place: Any
    encoding: str | None
    segments: tuple[str, ...]
    file: str = ""
    title: str = ""


class Crawled(Struct, frozen=True):
    """``urls`` says by path where each page came from."""

    source: Source
    urls: dict[str, str]


def crawl(
    start: str, fetcher: Fetcher, folder: Folder, tick: Tick, limits: CrawlLimits | None = None
) -> Crawled:
    """Raises SourceError when the address cannot be read at all."""
    return _Crawl(start, fetcher, folder, tick, limits or CrawlLimits()).run()


class _Crawl:
    def __init__(self, start: str, fetcher: Fetcher, folder: Folder, tick: Tick, limits: CrawlLimits) -> None:
        self.start = start
        self.fetcher = fetcher
        self.folder = folder
        self.tick = tick
        self.limits = limits
        self.deadline = time.monotonic() + limits.seconds
        address = read_address(start)
        if address is None:
            raise SourceError("this is no address")
        self.source = Source(address.host or "website")
        self.bytes = 0
        self.origin = ""
        self.scope = ""
        self.robots: Any = None
        self.delay = 0.0
        self.pages: dict[str, _Page] = {}
        self.aliases: dict[str, str] = {}
        self.images: dict[str, str | None] = {}
        self.assets: set[str] = set()
        self.told: set[str] = set()
        self.languages: Counter[str] = Counter()

    def run(self) -> Crawled:
        try:
            first = self.fetcher.fetch(self.start, headers={"User-Agent": AGENT})
        except FetchError as error:
            raise SourceError(error.message) from None
        if first.status != 200:
            raise SourceError(f"the address answered {first.status}")
        self._settle(first.url)
        self._read_robots()
        if not self._allowed(first.url):
            raise SourceError("the site's robots.txt does not allow to read this address")
        if not _is_html(first):
            raise SourceError("the address is no HTML page")
        self._walk(first)
        self._name_files()
        for page in self.pages.values():
            self.tick()
            self._convert(page)
        self.source.language = next((language for language, _ in self.languages.most_common(1)), "")
        self._write_summary()
        return Crawled(self.source, {page.file: page.url for page in self.pages.values()})

    # --- fetching -------------------------------------------------------------------------------------

    def _settle(self, url: str) -> None:
        """The origin is where the first address led to; the scope is its folder, or what lies below it."""
        parts = read_address(url)
        if parts is None:
            raise SourceError("this is no address")
        self.origin, path = parts.origin, parts.path
        if posixpath.splitext(path)[1]:
            path = posixpath.dirname(path)
        self.scope = path.rstrip("/")

    def _read_robots(self) -> None:
        try:
            answer = self.fetcher.fetch(
                f"{self.origin}/robots.txt", headers={"User-Agent": AGENT}, limits=_SMALL
            )
        except FetchError as error:
            raise SourceError(f"robots.txt: {error.message}") from None
        if answer.status >= 500:
            # As RFC 9309 says: unreachable rules forbid everything.
            raise SourceError(f"robots.txt: answered {answer.status}")
        text = answer.body.decode("utf-8", "replace") if answer.status == 200 else ""
        self.robots = Protego.parse(text)
        self.delay = min(float(self.robots.crawl_delay(AGENT) or 0), _LONGEST_DELAY)

    def _allowed(self, url: str) -> bool:
        return bool(self.robots.can_fetch(url, AGENT))

    def _tell_once(self, path: str, code: str, message: str) -> None:
        if code not in self.told:
            self.told.add(code)
            self.source.problem(path, code, message)

    def _get(self, url: str, limits: Limits) -> Fetched | None:
        """An answer of status 200; else None and a problem."""
        until = time.monotonic() + self.delay
        while (left := until - time.monotonic()) > 0:
            time.sleep(min(left, 0.5))
            self.tick()
        left = self.deadline - time.monotonic()
        limits = Limits(size=limits.size, seconds=max(min(limits.seconds, left), 0.01))
        try:
            answer = self.fetcher.fetch(url, headers={"User-Agent": AGENT}, limits=limits)
        except FetchError as error:
            self.source.problem(url, "not_fetched", error.message)
            return None
        self.bytes += len(answer.body)
        if answer.status != 200:
            self.source.problem(url, "not_fetched", f"answered {answer.status}")
            return None
        return answer

    def _exhausted(self) -> str | None:
        if self.bytes > self.limits.bytes:
            return f"more than {self.limits.bytes} bytes were read; the rest is left out"
        if time.monotonic() > self.deadline:
            return f"{self.limits.seconds:g} seconds are over; the rest is left out"
        return None

    # --- finding the pages ----------------------------------------------------------------------------

    def _key(self, url: str) -> str | None:
        """A page's address without query and fragment; None for what is no page within the scope."""
        parts = read_address(url)
        if parts is None:
            return None
        path = parts.path or "/"
        if parts.origin != self.origin or _NO_PAGES.search(path):
            return None
        if path != self.scope and not path.startswith(f"{self.scope}/"):
            return None
        return f"{parts.origin}{path}"

    def _walk(self, first: Fetched) -> None:
        start = self._key(first.url) or first.url
        waiting = deque(self._take(start, first))
        seen = {start}
        listed = False
        while True:
            if not waiting and not listed:
                # The site's own links come first: they tell the order in which it wants to be read.
                waiting.extend(self._sitemap())
                listed = True
            if not waiting:
                return
            url = waiting.popleft()
            self.tick()
            if url in seen:
                continue
            seen.add(url)
            if len(self.pages) >= self.limits.pages:
                message = f"more than {self.limits.pages} pages; the rest is left out"
                self._tell_once(self.start, "page_limit", message)
                return
            if over := self._exhausted():
                self._tell_once(self.start, "limit", over)
                return
            if not self._allowed(url):
                self.source.problem(url, "robots", "left out: robots.txt does not allow to read it")
                continue
            answer = self._get(url, _PAGE)
            if answer is None or not _is_html(answer):
                continue
            final = self._key(answer.url)
            if final is None:
                self.source.problem(url, "redirected", f"left out: it leads to {answer.url[:300]}")
                continue
            self.aliases[url] = final
            if final in self.pages or not self._allowed(final):
                continue
            seen.add(final)
            waiting.extend(self._take(final, answer))

    def _take(self, key: str, answer: Fetched) -> Iterator[str]:
        """Keeps a page; the addresses it links to."""
        place = self.folder.new(".html")
        place.write_bytes(answer.body)
        encoding = re.search(r"charset=[\"']?([\w-]+)", answer.headers.get("content-type", ""), re.IGNORECASE)
        self.pages[key] = _Page(key, place, encoding[1] if encoding else None, self._segments(key))
        tree = parse_html(answer.body, encoding[1] if encoding else None)
        if tree is None:
            return
        base = next((b.get("href") for b in tree.iter("base") if b.get("href")), None)
        base = _joined(key, base) if base else key
        for element in tree.iter("a"):
            href = element.get("href")
            if href and (found := self._key(_joined(base, href))):
                yield found

    def _sitemap(self) -> list[str]:
        found: list[str] = []
        waiting = deque([*self.robots.sitemaps, f"{self.origin}/sitemap.xml"])
        read: set[str] = set()
        while waiting and len(read) < _MAX_SITEMAPS and len(found) < self.limits.pages * 2:
            self.tick()
            url = waiting.popleft()
            if url in read or not self._is_here(url) or self._exhausted():
                continue
            read.add(url)
            try:
                answer = self.fetcher.fetch(url, headers={"User-Agent": AGENT}, limits=_PAGE)
            except FetchError:
                continue
            if answer.status != 200:
                continue
            self.bytes += len(answer.body)
            for kind, address in _locations(answer.body):
                if kind == "sitemap":
                    waiting.append(address)
                elif key := self._key(address):
                    found.append(key)
        return found

    def _is_here(self, url: str) -> bool:
        there, here = read_address(url), read_address(self.origin)
        return there is not None and here is not None and there.authority == here.authority

    # --- naming and converting ------------------------------------------------------------------------

    def _segments(self, url: str) -> tuple[str, ...]:
        path = path_of(url)[len(self.scope) :]
        parts = [unquote(part) for part in path.split("/") if part]
        if parts:
            stem, ending = posixpath.splitext(parts[-1])
            if ending.lower() in _ENDINGS:
                parts[-1] = stem
            if parts[-1].lower() in ("index", "default"):
                parts.pop()
        named = [_safe_name(part) for part in parts]
        if len(named) > _MAX_SEGMENTS:
            named = [*named[: _MAX_SEGMENTS - 1], "-".join(named[_MAX_SEGMENTS - 1 :])[:100]]
        return tuple(named)

    def _name_files(self) -> None:
        folders = {page.segments[:n] for page in self.pages.values() for n in range(len(page.segments))}
        taken: set[str] = set()
        for page in self.pages.values():
            wanted = page.segments
            number = 0
            while True:
                tail = f"-{number}" if number else ""
                name = (*wanted[:-1], wanted[-1] + tail) if wanted else (("page" + tail,) if tail else ())
                file = (
                    "/".join((*name, "README.md")) if name in folders or not name else "/".join(name) + ".md"
                )
                if file.casefold() not in taken:
                    break
                number += 1
            taken.add(file.casefold())
            page.segments, page.file = name, file

    def _convert(self, page: _Page) -> None:
        tree = parse_html(page.place.read_bytes(), page.encoding)
        base = page.url
        if tree is not None:
            told = next((b.get("href") for b in tree.iter("base") if b.get("href")), None)
            base = _joined(page.url, told) if told else base
            if language := language_of(tree):
                self.languages[language] += 1
        name = title_of_name(page.segments[-1]) if page.segments else self.source.name
        try:
            if tree is None:
                raise DocumentError("there is nothing in it")
            made = convert(
                tree,
                link=lambda href: self._link(page, base, href),
                image=lambda source: self._image(page, _joined(base, source)),
                fallback_title=name,
            )
        except DocumentError as error:
            self.source.problem(page.url, "not_converted", str(error)[:200])
            page.title = name
            page.file = ""
            return
        page.title = made.title
        self.folder.add(self.source, page.file, made.text.encode())

    def _link(self, page: _Page, base: str, href: str) -> str | None:
        if href.startswith("#"):
            return href
        target = _joined(base, href)
        key = self._key(target)
        key = self.aliases.get(key, key) if key else None
        found = self.pages.get(key) if key else None
        if found is None or not found.file:
            return target or None
        anchor = unquote(target.partition("#")[2]) or None
        if found is page and anchor:
            return f"#{anchor}"
        return relative_href(found.file, page.file, anchor)

    def _image(self, page: _Page, url: str) -> str | None:
        """The file that an image of whatever host becomes; its address where it cannot be had."""
        address = read_address(url)
        if address is None or not address.is_web:
            return None
        if url not in self.images:
            self.tick()
            self.images[url] = self._fetch_image(url)
        asset = self.images[url]
        return relative_href(asset, page.file) if asset else url

    def _fetch_image(self, url: str) -> str | None:
        if len(self.images) >= self.limits.images or self._exhausted():
            self._tell_once(
                self.start, "image_limit", "a limit is reached; further images stay where they are"
            )
            return None
        if url.startswith(f"{self.origin}/") and not self._allowed(url):
            return None
        answer = self._get(url, _IMAGE)
        if answer is None:
            return None
        ending = RASTER.get(detect_type(answer.body[:64], ""))
        if ending is None and answer.headers.get("content-type", "").startswith("image/svg+xml"):
            ending = ".svg"
        if ending is None:
            self.source.problem(url, "not_fetched", "no image of a known format")
            return None
        stem = _safe_name(posixpath.splitext(posixpath.basename(unquote(path_of(url))))[0])
        asset = f"{ASSETS}/{stem}-{hashlib.sha256(answer.body).hexdigest()[:8]}{ending}"
        if asset not in self.assets:
            self.assets.add(asset)
            self.folder.add(self.source, asset, answer.body)
        return asset

    def _write_summary(self) -> None:
        """Pages in the order in which the site led to them, each below the one whose address it continues."""
        top: list[SummaryEntry] = []
        entries: dict[tuple[str, ...], SummaryEntry] = {}

        def entry_at(segments: tuple[str, ...]) -> SummaryEntry:
            if segments not in entries:
                entry = SummaryEntry(kind="page", title=title_of_name(segments[-1]) if segments else "Home")
                entries[segments] = entry
                siblings = entry_at(segments[:-1]).children if len(segments) > 1 else top
                siblings.append(entry)
            return entries[segments]

        for page in self.pages.values():
            if page.file:
                entry = entry_at(page.segments)
                entry.title, entry.href = page.title, page.file
        self.folder.add(self.source, "SUMMARY.md", write_summary(Summary(entries=top)).encode())


_SMALL = Limits(size=512 * 1024, seconds=20)
_PAGE = Limits(size=MAX_PAGE, seconds=30)
_IMAGE = Limits(size=20 * 1024 * 1024, seconds=30)


def _joined(base: str, href: str) -> str:
    return join_address(base, re.sub(r"[\t\r\n]", "", href).strip()) or ""


def _is_html(answer: Fetched) -> bool:
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind in ("text/html", "application/xhtml+xml")


def _locations(body: bytes) -> Iterator[tuple[str, str]]:
    """``sitemap`` or ``url`` and the address, of a sitemap's XML. Entities are not resolved."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True, huge_tree=False)
    try:
        tree = etree.fromstring(body, parser)
    except (etree.LxmlError, ValueError):
        return
    for element in tree.iter("{*}loc") if tree is not None else ():
        parent = element.getparent()
        if parent is not None and element.text:
            yield etree.QName(parent).localname, element.text.strip()


def _safe_name(name: str) -> str:
    """A name that is harmless as a part of a path, and no hidden file."""
    safe = re.sub(r"[^\w.\- ]+", "-", name).strip(". -")[:100]
    return safe or "page"
