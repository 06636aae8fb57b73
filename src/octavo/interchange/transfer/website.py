"""Import a website as a Markdown source by crawling the pages of one origin under one URL.

Pages are fetched one at a time through ``kit.net.fetch`` if ``robots.txt`` allows it. The number of pages, the
number of bytes, and the time are limited. Reaching a limit is reported as a problem, but isn't an error."""

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
from msgspec.structs import replace
from protego import Protego

from octavo.core.document.json import DocumentError
from octavo.core.file_types import IMAGE_ENDINGS, detect_type
from octavo.core.links import relative_href
from octavo.core.sources import Source, SourceError, SourceFiles, source_of
from octavo.core.space_config import ASSETS
from octavo.core.summary import Summary, SummaryEntry, title_of_name, write_summary
from octavo.core.url_parts import join_address, path_of, read_address
from octavo.errors import format_size
from octavo.interchange.readers.converting import MAX_PAGE
from octavo.interchange.readers.formats.html import convert, language_of, parse_html
from octavo.interchange.readers.scratch import TemporaryFiles
from octavo.interchange.readers.types import Tick
from octavo.kit.net.fetch import Fetched, Fetcher, FetchError, Limits

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
    """Limits of a crawl. ``bytes``: the maximum total number of bytes of all pages and images. ``seconds``:
    the time limit for the entire crawl."""

    pages: int = 5000
    images: int = 10_000
    bytes: int = 1024**3
    seconds: float = 3600


class _Page(Struct):
    """Fetched page. ``place``: the number of the temporary file with its HTML."""

    url: str
    place: Any
    encoding: str | None
    segments: tuple[str, ...]
    file: str = ""
    title: str = ""


class Crawled(Struct, frozen=True):
    """Crawled website. ``urls``: the URLs of the pages, by path in the source."""

    source: Source
    urls: dict[str, str]


def crawl(
    start: str, fetcher: Fetcher, folder: TemporaryFiles, tick: Tick, limits: CrawlLimits | None = None
) -> Crawled:
    """Crawl a website. Raises SourceError if its URL can't be read."""
    return _Crawl(start, fetcher, folder, tick, limits or CrawlLimits()).run()


class _Crawl:
    def __init__(
        self, start: str, fetcher: Fetcher, folder: TemporaryFiles, tick: Tick, limits: CrawlLimits
    ) -> None:
        self.start = start
        self.fetcher = fetcher
        self.folder = folder
        self.tick = tick
        self.limits = limits
        self.deadline = time.monotonic() + limits.seconds
        address = read_address(start)
        if address is None:
            raise SourceError("the URL isn't valid. Enter an http or https URL.")
        self.source = SourceFiles(address.host or "website")
        self.bytes = 0
        self.origin = ""
        self.scope = ""
        self.robots: Any = None
        self.delay = 0.0
        self.pages: dict[str, _Page] = {}
        self.aliases: dict[str, str] = {}
        self.images: dict[str, str | None] = {}
        self.assets: set[str] = set()
        self.reported: set[str] = set()
        self.languages: Counter[str] = Counter()

    def run(self) -> Crawled:
        try:
            first = self.fetcher.fetch(self.start, headers={"User-Agent": AGENT})
        except FetchError as error:
            raise SourceError(error.message) from None
        if first.status != 200:
            raise SourceError(
                f"the server responded with status {first.status} instead of 200. Check that the page is"
                " public."
            )
        self._set_scope(first.url)
        self._read_robots()
        if not self._allowed(first.url):
            raise SourceError(
                "the site's robots.txt disallows this URL. Allow the URL in robots.txt, and try again."
            )
        if not _is_html(first):
            raise SourceError(
                "the URL must return an HTML page. Enter the URL of one of the website's pages."
            )
        self._walk(first)
        self._name_files()
        for page in self.pages.values():
            self.tick()
            self._convert(page)
        self._write_summary()
        language = next((language for language, _ in self.languages.most_common(1)), "")
        source = replace(source_of(self.source), language=language)
        return Crawled(source, {page.file: page.url for page in self.pages.values()})

    # --- fetching ------------------------------------------------------------------------------------------

    def _set_scope(self, url: str) -> None:
        """Set the origin and the scope of the crawl to the origin and the folder of the URL that the first page was
        redirected to."""
        parts = read_address(url)
        if parts is None:
            raise SourceError("the URL isn't valid. Enter an http or https URL.")
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
            # RFC 9309 requires this: if rules can't be fetched, everything is disallowed.
            raise SourceError(
                "the site's robots.txt can't be read, so no pages can be imported: the server responded with"
                f" status {answer.status}. Try again when {self.origin}/robots.txt can be read."
            )
        text = answer.body.decode("utf-8", "replace") if answer.status == 200 else ""
        self.robots = Protego.parse(text)
        self.delay = min(float(self.robots.crawl_delay(AGENT) or 0), _LONGEST_DELAY)

    def _allowed(self, url: str) -> bool:
        return bool(self.robots.can_fetch(url, AGENT))

    def _tell_once(self, path: str, code: str, message: str) -> None:
        if code not in self.reported:
            self.reported.add(code)
            self.source.problem(path, code, message)

    def _get(self, url: str, limits: Limits) -> Fetched | None:
        """Return a response with status 200, or None after reporting a problem."""
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
            self.source.problem(url, "not_fetched", f"the server responded with status {answer.status}")
            return None
        return answer

    def _exhausted(self) -> str | None:
        if self.bytes > self.limits.bytes:
            return f"the limit of {format_size(self.limits.bytes)} was reached; the rest was skipped"
        if time.monotonic() > self.deadline:
            return f"the limit of {self.limits.seconds:g} seconds was reached; the rest was skipped"
        return None

    # --- finding the pages ----------------------------------------------------------------------------

    def _key(self, url: str) -> str | None:
        """Return the URL of a page without its query and fragment; None if the URL isn't a page within the scope."""
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
        waiting = deque(self._keep_page(start, first))
        seen = {start}
        listed = False
        while True:
            if not waiting and not listed:
                # The navigation of the site comes first, because it shows the intended order.
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
                message = f"the limit of {self.limits.pages} pages was reached; the rest was skipped"
                self._tell_once(self.start, "page_limit", message)
                return
            if over := self._exhausted():
                self._tell_once(self.start, "limit", over)
                return
            if not self._allowed(url):
                self.source.problem(url, "robots", "skipped: the site's robots.txt disallows this page")
                continue
            answer = self._get(url, _PAGE)
            if answer is None or not _is_html(answer):
                continue
            final = self._key(answer.url)
            if final is None:
                self.source.problem(url, "redirected", f"skipped: this page redirects to {answer.url[:300]}")
                continue
            self.aliases[url] = final
            if final in self.pages or not self._allowed(final):
                continue
            seen.add(final)
            waiting.extend(self._keep_page(final, answer))

    def _keep_page(self, key: str, answer: Fetched) -> Iterator[str]:
        """Keep a page, and yield the URLs that it links to."""
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
            if url in read or not self._is_in_scope(url) or self._exhausted():
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

    def _is_in_scope(self, url: str) -> bool:
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
            base_href = next((b.get("href") for b in tree.iter("base") if b.get("href")), None)
            base = _joined(page.url, base_href) if base_href else base
            if language := language_of(tree):
                self.languages[language] += 1
        name = title_of_name(page.segments[-1]) if page.segments else self.source.name
        try:
            if tree is None:
                raise DocumentError("the page is empty")
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
        """Return the file that an image is downloaded to, or the image's URL if it can't be downloaded. The image
        can be on any host."""
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
                self.start, "image_limit", "a limit was reached, so the remaining images keep their URLs"
            )
            return None
        if url.startswith(f"{self.origin}/") and not self._allowed(url):
            return None
        answer = self._get(url, _IMAGE)
        if answer is None:
            return None
        ending = IMAGE_ENDINGS.get(detect_type(answer.body[:64], ""))
        if ending is None and answer.headers.get("content-type", "").startswith("image/svg+xml"):
            ending = ".svg"
        if ending is None:
            self.source.problem(url, "not_fetched", "the file isn't an image in a known format")
            return None
        stem = _safe_name(posixpath.splitext(posixpath.basename(unquote(path_of(url))))[0])
        asset = f"{ASSETS}/{stem}-{hashlib.sha256(answer.body).hexdigest()[:8]}{ending}"
        if asset not in self.assets:
            self.assets.add(asset)
            self.folder.add(self.source, asset, answer.body)
        return asset

    def _write_summary(self) -> None:
        """Write the pages in the order in which the site links to them. If the URL of a page continues the URL of
        another page, the page becomes a subpage of that page."""
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
    """Yield the type (``sitemap`` or ``url``) and the URL of each entry of a sitemap. Entities aren't resolved."""
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
    """Return a name that is safe to use as a path segment and isn't hidden."""
    safe = re.sub(r"[^\w.\- ]+", "-", name).strip(". -")[:100]
    return safe or "page"
