"""Check that a published site works for people and AI agents: its links, images, and machine-readable files.

A site on this server is requested within the process, as in an export; a site at a URL is fetched. In both cases, the
check acts as an anonymous visitor. It requests each URL once, and adds the URLs that the response links to, until no
URLs are left or a limit is reached. Links are evaluated only after that, because a link's target may be requested long
after the link is found.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from html import unescape
from itertools import islice
from typing import Any
from urllib.parse import unquote

import httpx
from lxml import etree, html
from msgspec import Struct
from msgspec.structs import replace

from octavo.assistants.findings.kinds import Severity
from octavo.assistants.findings.scanning import SiteFault, scan_now
from octavo.core.url_parts import join_address, read_address
from octavo.delivery.reader.app import reader_edge
from octavo.errors import BadRequest
from octavo.kit.context import Context
from octavo.kit.net.fetch import ByteAllowance, Fetcher, FetchError, Limits
from octavo.organization.orgs.store import get_organization
from octavo.sites.site.published import published_url
from octavo.sites.site.store import get_site
from octavo.sites.site.wire import proxied_path

from .static_export import LOCATION, Progress, SiteAddresses, known_addresses, require_public

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MAX_REDIRECTS = 5
_MAX_LINKS = 5_000
"""Maximum number of links on one page."""
_AT_ONCE = 4
_ANSWER_SECONDS = 20.0
_CRAWLED = frozenset({"broken-link", "broken-anchor", "missing-image", "alt-text"})
"""Kinds of findings that the crawl also detects, as visitors would see them."""
_MARKDOWN = "text/markdown"
_MARKDOWN_LINK = re.compile(r"\]\(<?([^()\s<>]+)>?\)")
_NOT_FOR_PROGRAMS = frozenset({401, 403, 405, 429, 999})
"""Status codes that other sites return to clients other than browsers, even for pages that people can read."""


class CheckLimits(Struct, frozen=True, kw_only=True):
    """Limits for a site check. ``addresses``: the maximum number of URLs of the site. ``size``: the maximum total
    size in bytes of all responses. ``external``: the maximum number of URLs of other sites."""

    addresses: int = 5_000
    size: int = 500_000_000
    seconds: float = 900
    external: int = 0


class SiteProblem(Struct, frozen=True):
    """Problem found on a site. ``rule``: ``link``, ``anchor``, ``image``, ``alternative-text``, ``external``,
    ``markdown``, ``accept``, ``llms``, ``sitemap``, or ``bound``; or the kind of a finding."""

    rule: str
    text: str
    severity: Severity = "medium"


class PageReport(Struct, frozen=True):
    page: str
    problems: list[SiteProblem]


class Report(Struct, frozen=True, rename="camel"):
    """Result of a check. ``external``: the number of checked URLs of other sites. ``external_left``: the number of
    URLs of other sites that weren't checked. ``found``: the site's own URL, followed by the pages with problems,
    sorted by URL."""

    site: str
    pages: int
    external: int
    external_left: int
    problems: int
    found: list[PageReport]


class _Ask(Struct, frozen=True):
    """Request: a URL without its fragment, and the accepted media type."""

    url: str
    accept: str = "*/*"


class _Answer(Struct, frozen=True):
    """Response to a request that the check made. ``status``: the status; 0 if there was no response. ``reason``:
    the reason there was no response."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    reason: str = ""


class _Seen(Struct, frozen=True):
    """Summary of a response. ``anchors``: the anchors of a page. ``leads``: the target of a redirect."""

    status: int
    reason: str
    kind: str
    vary: str
    leads: str | None = None
    anchors: frozenset[str] | None = None


class _Use(Struct, frozen=True):
    """Use of a URL. ``page``: the page that uses the URL. ``rule``: the rule that is violated if the URL doesn't
    work."""

    page: str
    rule: str
    ask: _Ask
    fragment: str = ""


_AskAll = Callable[[list[_Ask]], list[_Answer]]


def check_site(
    context: Context, site_id: str, bounds: CheckLimits, progress: Progress = lambda done, total: None
) -> Report:
    """Check a public site of this server. Raises NotFound if the site doesn't exist, and BadRequest if it
    isn't public."""
    with context.db.read() as tx:
        site = get_site(tx, site_id)
        require_public(site)
        start = published_url(context.settings.sites_url, get_organization(tx, site.organization_id), site)
    addresses = SiteAddresses(start, "/", f"{proxied_path(site)}/" if site.proxy else None)
    wanted, _ = known_addresses(context, site, addresses)
    known = [f"{addresses.origin}{addresses.base}{path}" for path in wanted if path.rpartition("/")[2] != "~"]
    with _reader(context, addresses) as ask_all:
        check = _Check(ask_all, addresses, bounds, Fetcher(context.settings.allow_private_fetch), progress)
        return _with_findings(check.run(known), scan_now(context, site_id), start)


def _with_findings(report: Report, findings: Sequence[SiteFault], start: str) -> Report:
    """Return a report that also contains the findings of a scan, except for those that the crawl itself reports."""
    pages = {page.page: list(page.problems) for page in report.found}
    for finding in findings:
        if finding.kind not in _CRAWLED and finding.severity != "low":
            problem = SiteProblem(finding.kind, _printable(finding.text), finding.severity)
            pages.setdefault(f"{start}{finding.path}", []).append(problem)
    order = sorted(pages, key=lambda page: (page != report.site, page))
    found = [PageReport(page, pages[page]) for page in order]
    return replace(report, found=found, problems=sum(len(page.problems) for page in found))


def check_url(
    url: str, bounds: CheckLimits, allowed: str, progress: Progress = lambda done, total: None
) -> Report:
    """Check the site that starts at a URL.

    ``allowed``: private hosts that connections are allowed to, in addition to the URL's own host. Raises
    BadRequest if the URL is invalid, and FetchError if it doesn't respond.
    """
    given = read_address(url)
    if given is None or not given.is_web or given.username or given.query or given.fragment:
        raise BadRequest(f"{_printable(url)}: must be a URL such as https://docs.example.org/manual/")
    port = given.port or (443 if given.scheme == "https" else 80)
    # The user of the command chose the host. Hosts named by pages and redirects are checked like any other.
    fetcher = Fetcher(f"{allowed},{given.host}:{port}")
    size = ByteAllowance(bounds.size)
    first = fetcher.fetch(url, limits=Limits(seconds=_ANSWER_SECONDS, together=size))
    reached = httpx.URL(first.url)
    # The URL may redirect to https or another host. The path of the site is the one that the user provided.
    path = httpx.URL(url).raw_path.decode()
    path = f"{path.rpartition('/')[0] if path.endswith('.html') else path.rstrip('/')}/"
    origin = f"{reached.scheme}://{reached.netloc.decode()}"
    addresses = SiteAddresses(f"{origin}{path}", "/", None)
    with _network(fetcher, size, time.monotonic() + bounds.seconds) as ask_all:
        return _Check(ask_all, addresses, bounds, fetcher, progress).run([])


@contextmanager
def _reader(context: Context, addresses: SiteAddresses) -> Iterator[_AskAll]:
    edge = reader_edge(context)
    transport = httpx.ASGITransport(edge.application)
    client = httpx.AsyncClient(transport=transport, base_url=addresses.origin)

    async def ask(asked: _Ask) -> _Answer:
        below, parts = addresses.below(asked.url), read_address(asked.url)
        assert below is not None and parts is not None  # Otherwise it would not have been requested.
        query = f"?{parts.query}" if parts.query else ""
        try:
            answer = await client.get(f"{addresses.ask(below)}{query}", headers={"Accept": asked.accept})
        except (httpx.InvalidURL, UnicodeError) as error:
            return _Answer(0, {}, b"", str(error))
        return _Answer(answer.status_code, answer.headers, answer.content)

    async def ask_each(asked: list[_Ask]) -> list[_Answer]:
        return [await ask(one) for one in asked]

    with asyncio.Runner() as runner:
        try:
            yield lambda asked: runner.run(ask_each(asked))
        finally:
            runner.run(client.aclose())
            edge.close()


@contextmanager
def _network(fetcher: Fetcher, size: ByteAllowance, until: float) -> Iterator[_AskAll]:
    def ask(asked: _Ask) -> _Answer:
        seconds = min(_ANSWER_SECONDS, max(until - time.monotonic(), 0.1))
        limits = Limits(seconds=seconds, follow=False, together=size)
        try:
            answer = fetcher.fetch(asked.url, headers={"Accept": asked.accept}, limits=limits)
        except FetchError as error:
            return _Answer(0, {}, b"", str(error))
        return _Answer(answer.status, answer.headers, answer.body)

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        yield lambda asked: list(pool.map(ask, asked))


class _Check:
    """Crawl of a site that requests each URL once and reports problems."""

    def __init__(
        self,
        ask_all: _AskAll,
        addresses: SiteAddresses,
        bounds: CheckLimits,
        fetcher: Fetcher,
        progress: Progress,
    ) -> None:
        self._ask_all, self._addresses, self._bounds = ask_all, addresses, bounds
        self._fetcher, self._progress = fetcher, progress
        self._start = f"{addresses.origin}{addresses.base}"
        self._until = time.monotonic() + bounds.seconds
        self._size = 0
        self._pages = 0
        self._waiting: dict[_Ask, None] = {}
        self._known: set[_Ask] = set()
        """Pending and completed requests."""
        self._seen: dict[_Ask, _Seen] = {}
        self._uses: dict[_Use, None] = {}
        self._outer: dict[str, dict[str, None]] = {}
        """URLs of other sites, with the pages that link to each."""
        self._found: dict[str, dict[SiteProblem, None]] = {}

    def run(self, known: Iterable[str]) -> Report:
        for url in known:
            self._want(_Ask(url))
        for rule, path in (("link", ""), ("llms", "llms.txt"), ("sitemap", "sitemap.xml")):
            self._use(self._start, rule, f"{self._start}{path}")
        while self._waiting and not self._is_bounded():
            batch = list(islice(self._waiting, _AT_ONCE))
            for asked, answer in zip(batch, self._ask_all(batch), strict=True):
                del self._waiting[asked]
                self._size += len(answer.body)
                self._seen[asked] = self._take(asked, answer)
            self._progress(len(self._seen), len(self._seen) + len(self._waiting))
        for use in self._uses:
            self._judge(use)
        external = list(self._outer)[: self._bounds.external]
        self._check_outer(external)
        order = sorted(self._found, key=lambda page: (page != self._start, page))
        found = [PageReport(_printable(page), list(self._found[page])) for page in order]
        return Report(
            site=self._start,
            pages=self._pages,
            external=len(external),
            external_left=len(self._outer) - len(external),
            problems=sum(len(page.problems) for page in found),
            found=found,
        )

    def _is_bounded(self) -> bool:
        bounds = self._bounds
        reached = (
            f"{bounds.addresses} URLs"
            if len(self._seen) >= bounds.addresses
            else f"{bounds.size} bytes"
            if self._size >= bounds.size
            else f"{bounds.seconds:g} seconds"
            if time.monotonic() >= self._until
            else ""
        )
        if reached:
            left = len(self._waiting)
            self._report(
                self._start, "bound", f"stopped after {reached}; at least {left} more URLs weren't checked"
            )
        return reached != ""

    def _report(self, page: str, rule: str, text: str) -> None:
        self._found.setdefault(page, {})[SiteProblem(rule, _printable(text))] = None

    # --- requests --------------------------------------------------------------------------------------

    def _use(self, page: str, rule: str, url: str, accept: str = "*/*") -> None:
        """Record that a page uses a URL. The URL is requested if it belongs to this site."""
        parts = read_address(url)
        if parts is None:
            self._report(page, rule, f"{url} isn't a valid URL")
            return
        if not parts.is_web:
            return
        below = self._addresses.below(url)
        bare, _, fragment = url.partition("#")
        if below is None:
            if self._start in unquote(bare):
                return  # The page's own URL, passed to an assistant or a social network.
            self._outer.setdefault(bare, {})[page] = None
        elif not self._addresses.needs_server(below):
            asked = _Ask(bare, accept)
            self._uses[_Use(page, rule, asked, unquote(fragment))] = None
            self._want(asked)

    def _want(self, asked: _Ask) -> None:
        if asked not in self._known:
            self._known.add(asked)
            self._waiting[asked] = None

    def _take(self, asked: _Ask, answer: _Answer) -> _Seen:
        kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
        vary = answer.headers.get("vary", "").lower()
        leads, anchors = None, None
        if answer.status in _REDIRECTS:
            leads = join_address(asked.url, answer.headers.get("location", ""))
            if leads is not None and self._addresses.below(leads) is not None:
                self._want(_Ask(leads.partition("#")[0], asked.accept))
        elif answer.status == 200 and asked.accept == "*/*":
            name = asked.url.removeprefix(self._start)
            if kind in ("text/html", "application/xhtml+xml"):
                anchors = self._record_page(asked.url, answer.body)
            elif name == "llms.txt" or name.startswith("~llms/"):
                for match in _MARKDOWN_LINK.finditer(answer.body.decode(errors="replace")):
                    self._use(asked.url, "llms", join_address(asked.url, match[1]) or match[1])
            elif name.startswith("sitemap") and name.endswith(".xml"):
                for match in LOCATION.finditer(answer.body.decode(errors="replace")):
                    location = unescape(match[1]).strip()
                    self._use(asked.url, "sitemap", join_address(asked.url, location) or location)
        return _Seen(answer.status, answer.reason, kind, vary, leads, anchors)

    def _record_page(self, url: str, body: bytes) -> frozenset[str]:
        """Record the URLs that a page uses, and return its anchors."""
        try:
            document = html.document_fromstring(body, parser=html.HTMLParser(encoding="utf-8"))
        except (etree.ParserError, etree.XMLSyntaxError, ValueError):
            self._report(url, "link", "the page has no readable HTML")
            return frozenset()
        anchors = {str(found) for found in document.xpath("//@id | //a/@name")}
        if "?" in url or self._is_file(url):
            # The same page in another state: it exists, and its links are recorded for the URL without the
            # query.
            return frozenset(anchors)
        self._pages += 1
        bases = document.xpath("//base/@href")
        base = (join_address(url, bases[0]) if bases else None) or url
        named: dict[tuple[str, str], None] = {}
        for element in document.iter("a", "area"):
            if (href := (element.get("href") or "").strip()) and not element.get("download"):
                named["link", href] = None
        self._take_images(url, document, named)
        if len(named) > _MAX_LINKS:
            self._report(
                url, "bound", f"{len(named):,} links and images: only the first {_MAX_LINKS:,} were checked"
            )
        for rule, href in list(named)[:_MAX_LINKS]:
            self._use(url, rule, join_address(base, href) or href)
        kinds = document.xpath("//link[@rel='alternate' and @type='text/markdown']/@href")
        markdown = join_address(base, kinds[0]) if kinds else _markdown_of(url)
        self._use(url, "markdown", markdown or str(kinds[0]))
        self._use(url, "accept", url, _MARKDOWN)
        return frozenset(anchors)

    def _is_file(self, url: str) -> bool:
        below = self._addresses.below(url)
        return below is None or not self._addresses.is_page(below)

    def _take_images(self, url: str, document: Any, named: dict[tuple[str, str], None]) -> None:
        worded: dict[Any, bool] = {}  # Checked once per paragraph, which may contain thousands of images.
        for element in islice(document.iter("img"), _MAX_LINKS):
            source, alt = (element.get("src") or "").strip(), element.get("alt")
            if source:
                named["image", source] = None
            around = list(element.iterancestors())
            hidden = any(one.get("aria-hidden") == "true" for one in (element, *around))
            if hidden or element.get("role") in ("presentation", "none") or (alt or "").strip():
                continue
            # Empty alternative text is right for a decorative image, but not for an image that is alone in a figure or
            # paragraph of the content.
            alone = False
            if any(one.tag == "main" for one in around):
                for one in around:
                    if one.tag in ("figure", "p"):
                        if one not in worded:
                            worded[one] = bool(one.xpath("boolean(normalize-space())"))
                        alone = alone or not worded[one]
            if alt is None or alone:
                shown = source if not source.startswith("data:") else "an image embedded in the page"
                self._report(url, "alternative-text", f"{shown} has no alternative text")

    # --- evaluation -------------------------------------------------------------------------------------

    def _judge(self, use: _Use) -> None:
        asked, fragment = use.ask, use.fragment
        way = {asked}
        seen = self._seen.get(asked)
        while seen is not None and seen.leads is not None:
            if self._addresses.below(seen.leads) is None:
                return  # The redirect leaves the site.
            asked = _Ask(seen.leads.partition("#")[0], asked.accept)
            if asked in way or len(way) > _MAX_REDIRECTS:
                self._report(use.page, use.rule, f"{use.ask.url} causes a redirect loop")
                return
            way.add(asked)
            seen = self._seen.get(asked)
        if seen is None:
            return  # A limit was reached, which is reported separately.
        if seen.status != 200:
            said = f"responded with status {seen.status}" if seen.status else f"didn't respond: {seen.reason}"
            self._report(use.page, use.rule, f"{use.ask.url} {said}")
        elif use.rule == "link" and fragment and seen.anchors is not None:
            if fragment != "top" and not fragment.startswith(":~:") and fragment not in seen.anchors:
                self._report(
                    use.page, "anchor", f"{use.ask.url}#{fragment}: there is no such anchor on the page"
                )
        elif use.rule == "image" and seen.kind.startswith("text/"):
            self._report(
                use.page, "image", f"{use.ask.url} has the content type {seen.kind}, so it isn't an image"
            )
        elif use.rule == "markdown" and seen.kind not in (_MARKDOWN, "text/plain"):
            self._report(
                use.page,
                "markdown",
                f"{use.ask.url} has {seen.kind or 'no content type'} instead of Markdown",
            )
        elif use.rule == "accept" and seen.kind != _MARKDOWN:
            self._report(
                use.page, "accept", f"`Accept: {_MARKDOWN}` returns {seen.kind or 'no content type'}"
            )
        elif use.rule == "accept" and not {"accept", "*"} & {name.strip() for name in seen.vary.split(",")}:
            self._report(
                use.page,
                "accept",
                "Markdown is served without `Vary: Accept`, so caches may return the wrong format",
            )

    def _check_outer(self, urls: list[str]) -> None:
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for done, (url, wrong) in enumerate(zip(urls, pool.map(self._check_external, urls), strict=True)):
                for page in self._outer[url] if wrong else ():
                    self._report(page, "external", f"{url} {wrong}")
                self._progress(done + 1, len(urls))

    def _check_external(self, url: str) -> str:
        """Check a URL on another site, and return the problem; empty if there is none. The body of the response
        isn't read."""
        for _ in range(_MAX_REDIRECTS + 1):
            left = self._until - time.monotonic()
            if left <= 0:
                return "wasn't checked, because the time limit was reached"
            try:
                with self._fetcher.stream(url, limits=Limits(seconds=min(10.0, left))) as answer:
                    status, location = answer.status, answer.headers.get("location")
            except FetchError as error:
                return f"didn't respond: {error}"
            if status not in _REDIRECTS or location is None:
                return (
                    f"responded with status {status}"
                    if status >= 400 and status not in _NOT_FOR_PROGRAMS
                    else ""
                )
            url = join_address(url, location) or location
        return "causes a redirect loop"


def _markdown_of(url: str) -> str:
    """Return the URL that a page's Markdown usually has. It is used for pages that don't link to their Markdown."""
    return f"{url}index.md" if url.endswith("/") else f"{url.removesuffix('.html')}.md"


def _printable(text: str) -> str:
    """Return text from a site without characters that control a terminal."""
    shown = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text[:500])
    return f"{shown}…" if len(text) > 500 else shown
