"""Export a public site as a folder of files that any web server can serve.

Every file is a response of the reader's own application to a visitor without cookies, so an export contains only
content that anonymous visitors can see. URLs on pages are changed to URLs in the export, and all features that
require a server (search, questions, ratings, API testing, and the MCP server) are removed.

A page is stored as ``path/index.html``, which every web server, object store, and static host serves without
configuration. New files are first written to a staging folder and then moved into place one by one, so that an
interrupted export leaves the previous export unchanged.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable
from html import escape, unescape
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import httpx
import msgspec
from lxml import html
from msgspec import Struct

from octavo.content.images.making import make_variants
from octavo.core.document.html_context import ALL_FIELDS
from octavo.core.url_parts import UrlParts, join_address, own_address, read_address
from octavo.delivery.reader.app import reader_edge
from octavo.delivery.visits.admission import VisitorRequest
from octavo.delivery.visits.authorization import enter_site, list_spaces
from octavo.errors import BadRequest
from octavo.kit.context import Context
from octavo.kit.db.pagination import MAX_LIMIT
from octavo.organization.orgs.store import get_organization
from octavo.sites.site.published import published_url
from octavo.sites.site.redirects.resolving import list_space_redirects
from octavo.sites.site.redirects.store import list_redirects
from octavo.sites.site.store import SiteRow, get_site
from octavo.sites.site.structure.store import list_former_paths
from octavo.sites.site.wire import proxied_path

MANIFEST = ".octavo-export.json"
_STAGING = ".octavo-export.new"
_KEPT = ("~assets", "~feed.xml", "~files", "~fonts", "~image", "~llms")
"""Paths that start with a tilde and lead to files. All other paths that start with a tilde require a server."""
_TEXTS = ("~feed.xml", "~llms/")
"""Paths of text files that contain page URLs."""
_NOT_PAGES = (".md", ".txt", ".xml")
_SITE_FILES = ("robots.txt", "llms.txt", "llms-full.txt", "sitemap.md", "skill.md")
_FACTS = "application/ld+json"
_LINKS = ("href", "src", "poster", "data-copy-from", "data-frame")
_CSS_URL = re.compile(r'url\("([^"]+)"\)')
_SERVED = frozenset({"data-try", "data-scripts", "data-consent"})
_SERVED_ASSETS = ("~assets/try.", "~assets/consent.", "~assets/ask.")
"""Scripts that require the server: for API testing, integrations, and questions."""
LOCATION = re.compile(r"<loc>([^<]*)</loc>")
_ASKS_SERVER = re.compile(r"MCP server: |\d+\. Or search by the MCP server ")
"""Pattern for lines in llms.txt and skill.md that mention services of the server."""
_FRAME_ANCESTORS = re.compile(r";? *frame-ancestors [^;]*")
_BELOW = "/*"

Progress = Callable[[int, int], None]


class SiteExport(Struct, frozen=True, rename="camel"):
    """Result of an export.

    ``written``, ``unchanged``, and ``removed``: the numbers of files. ``left_out``: redirects for all URLs under a
    path, which static files can't implement. ``broken``: the URLs that pages link to but that don't exist.
    """

    pages: int
    written: int
    unchanged: int
    removed: int
    left_out: list[str]
    broken: list[str]


class _Manifest(Struct):
    site: str
    files: list[str]


def export_site(
    context: Context,
    site_id: str,
    folder: Path,
    *,
    base: str = "/",
    progress: Progress = lambda done, total: None,
) -> SiteExport:
    """Export a public site to ``folder``.

    ``base``: the location at which the export will be served: a URL, or a path on any host. Unchanged files from an
    earlier export of the same site are kept, and obsolete files are deleted. Other files in the folder are never
    changed.

    Raises NotFound if the site doesn't exist, and BadRequest if the site isn't public, ``base`` is invalid, or the
    folder contains conflicting files.
    """
    with context.db.read() as tx:
        site = get_site(tx, site_id)
        require_public(site)
        start = published_url(context.settings.sites_url, get_organization(tx, site.organization_id), site)
    addresses = SiteAddresses(start, base, f"{proxied_path(site)}/" if site.proxy else None)
    for space_id in _list_space_ids(context, site, addresses):
        # Exported files can't create them on demand.
        make_variants(context, space_id, sys.maxsize)
    wanted, left_out = known_addresses(context, site, addresses)
    place = _Folder(folder, site.id)
    try:
        crawl = _Crawl(context, addresses, place, progress)
        asyncio.run(crawl.run(wanted))
        written, removed = place.take_over()
    finally:
        place.clear()
    unchanged = len(place.names) - written
    return SiteExport(crawl.pages, written, unchanged, removed, left_out, crawl.broken)


def require_public(site: SiteRow) -> None:
    if not site.published:
        raise BadRequest(
            f"{site.title} isn't published. Publish it first, because only public sites can be exported or"
            " checked."
        )
    if site.visibility != "public":
        raise BadRequest(
            f"{site.title} isn't public (its visibility is {site.visibility}). Only public sites can be"
            " exported or checked, because static files can't authenticate visitors."
        )


# --- addresses ------------------------------------------------------------------------------------------


def _may_be_base(given: UrlParts) -> bool:
    """Return whether an export can be served under a URL. The URL must have a host, or consist only of a path."""
    if given.query or given.fragment or not re.fullmatch(r"/[\w.~%/-]*|", given.path, re.ASCII):
        return False
    return given.is_web or (given.path != "" and not given.scheme and not given.authority)


class SiteAddresses:
    """URLs of a site in the reader and in the export. ``asked``: the path to request from the reader, if it isn't the
    path of the site's public URL."""

    def __init__(self, start: str, base: str, asked: str | None) -> None:
        parts, given = own_address(start), read_address(base)
        if given is None or not _may_be_base(given):
            raise BadRequest(
                "base: must be a URL such as https://docs.example.org/manual/, or a path such as /manual/"
            )
        self.origin, self.base = parts.origin, parts.path
        self.asked = asked or parts.path
        self.host = parts.authority
        self.new_origin = given.origin if given.authority else ""
        self.new_base = f"{given.path.rstrip('/')}/"
        self.pages: set[str] = set()
        """Pages by their decoded paths under the site."""

    def below(self, url: str) -> str | None:
        """Return the part of a URL's path that is below the site, still encoded; None if the URL is outside the
        site."""
        parts = read_address(url)
        if parts is None or ((parts.scheme or parts.authority) and parts.origin != self.origin):
            return None
        path = parts.path
        if path.startswith("/~assets/"):
            return path[1:]  # Assets are at the root of the host, outside of any site.
        if f"{path}/" == self.base:
            return ""
        return path[len(self.base) :] if path.startswith(self.base) else None

    def ask(self, below: str) -> str:
        """Return the path to request from the reader."""
        return f"/{below}" if below.startswith("~assets/") else f"{self.asked}{below}"

    def is_page(self, below: str) -> bool:
        path = unquote(below).rstrip("/")
        return path in self.pages or not (
            path.endswith(_NOT_PAGES) or any(part.startswith("~") for part in path.split("/"))
        )

    def needs_server(self, below: str) -> bool:
        return any(part.startswith("~") and part not in _KEPT for part in unquote(below).split("/"))

    def name(self, below: str) -> str:
        """Return the exported file for a path, relative to the export."""
        path = unquote(below).strip("/")
        return f"{path}/index.html".lstrip("/") if self.is_page(below) else path

    def new(self, url: str, below: str) -> str:
        """Return the URL in the export that corresponds to ``url``. Page URLs end with a slash, so that servers
        don't have to redirect."""
        parts = read_address(url)
        assert parts is not None  # Otherwise it would have no path under the site.
        path = below.strip("/")
        path = f"{path}/" if path and self.is_page(below) else path
        query = f"?{parts.query}" if parts.query else ""
        fragment = f"#{parts.fragment}" if parts.fragment else ""
        origin = self.new_origin if parts.authority else ""
        return f"{origin}{self.new_base}{path}{query}{fragment}"


def _list_space_ids(context: Context, site: SiteRow, addresses: SiteAddresses) -> list[str]:
    """Return the spaces of the site that anonymous visitors can see."""
    with context.db.read() as tx:
        host = addresses.host.partition(":")[0]
        visit = enter_site(tx, context, host, unquote(addresses.asked), VisitorRequest([], {}, False))
        return list({space.view.state.space_id: None for space in list_spaces(tx, visit)})


def known_addresses(context: Context, site: SiteRow, addresses: SiteAddresses) -> tuple[list[str], list[str]]:
    """Return the paths at which an export starts, and the redirects that it omits.

    The paths are those of redirects and of all pages, including hidden pages, which might have no links to them.
    """
    wanted: dict[str, None] = {"": None}
    left_out = []
    with context.db.read() as tx:
        host = addresses.host.partition(":")[0]
        visit = enter_site(tx, context, host, unquote(addresses.asked), VisitorRequest([], {}, False))
        spaces = {space.site_space.id: space for space in list_spaces(tx, visit)}
        for space in spaces.values():
            base = unquote(space.base[len(visit.base) :])
            tree = space.view.tree
            for page in tree.documents():
                addresses.pages.add(f"{base}{tree.url_path(page)}".rstrip("/"))
                wanted[quote(f"{base}{tree.url_path(page)}")] = None
                wanted[quote(f"{base}{tree.path(page)}.md")] = None
            for source in list_space_redirects(tx, space.view):
                if source.endswith(_BELOW):
                    left_out.append(f"{base}{source}")
                else:
                    wanted[quote(f"{base}{source}")] = None
        for path, site_space_id in list_former_paths(tx, site.id):
            if site_space_id in spaces:
                tree = spaces[site_space_id].view.tree
                for page in tree.documents():
                    wanted[quote(f"{path}/{tree.url_path(page)}".strip("/"))] = None
        token = None
        while True:
            found = list_redirects(tx, site.id, MAX_LIMIT, token, None)
            for row in found.rows:
                if row.is_wildcard:
                    left_out.append(row.source)
                else:
                    wanted[quote(unquote(row.source).strip("/"))] = None
            token = found.next_token
            if token is None:
                break
        files = [*_SITE_FILES, *(("sitemap.xml", "sitemap-pages.xml") if addresses.new_origin else ())]
        wanted |= dict.fromkeys(files)
        if spaces:
            first = next(iter(spaces.values()))
            wanted[f"{first.base[len(visit.base) :]}~"] = None
    return list(wanted), left_out


# --- requests to the reader -----------------------------------------------------------------------------


class _Crawl:
    """Crawl that requests each of the given URLs, and each URL that they lead to, only once."""

    def __init__(
        self, context: Context, addresses: SiteAddresses, place: _Folder, progress: Progress
    ) -> None:
        self._context, self._addresses, self._place, self._progress = context, addresses, place, progress
        self._known: set[str] = set()
        self._waiting: list[str] = []
        self._given = 0
        """Number of initial URLs. All other URLs come from links on pages."""
        self.pages = 0
        self.broken: list[str] = []

    async def run(self, wanted: Iterable[str]) -> None:
        self._want(wanted)
        self._given = len(self._waiting)
        edge = reader_edge(self._context)
        try:
            transport = httpx.ASGITransport(edge.application)
            async with httpx.AsyncClient(transport=transport, base_url=self._addresses.origin) as client:
                for done, below in enumerate(self._waiting):  # The list grows while it is processed.
                    # Static files can't load the rest of a page later.
                    query = f"?{ALL_FIELDS}" if self._addresses.is_page(below) else ""
                    answer = await client.get(f"{self._addresses.ask(below)}{query}")
                    await asyncio.to_thread(self._take, below, answer, done >= self._given)
                    self._progress(done + 1, len(self._waiting))
        finally:
            edge.close()

    def _want(self, wanted: Iterable[str]) -> None:
        for below in wanted:
            # Names are compared decoded, because the same file may be written with different escapes.
            name = self._addresses.name(below)
            if name not in self._known:
                self._known.add(name)
                self._waiting.append(below)

    def _take(self, below: str, answer: httpx.Response, linked: bool) -> None:
        addresses = self._addresses
        if below.rpartition("/")[2] == "~":
            # This path never exists: its response is the page for all missing pages.
            if answer.status_code == 404 and answer.headers["content-type"].startswith("text/html"):
                self._place.put("404.html", self._page(answer))
            return
        name = addresses.name(below)
        if answer.status_code in (301, 302, 307, 308):
            self._place.put(name, self._redirect(answer.headers["location"]))
        elif answer.status_code == 404:
            # A redirect may point to a page that anonymous visitors can't see.
            if linked:
                self.broken.append(unquote(below))
        elif answer.status_code != 200:
            raise BadRequest(
                f"{unquote(below)}: the site responded with status {answer.status_code}. Nothing was changed."
            )
        elif addresses.is_page(below):
            self.pages += 1
            self._place.put(name, self._page(answer))
        elif any(part.startswith("~") for part in name.split("/")) and not name.startswith(_TEXTS):
            self._place.put(name, answer.content)
            if name.endswith(".html"):
                # Octavo's own frames load files next to them.
                beside = (join_address(below, found) for found in re.findall(r'src="([^"?]+)', answer.text))
                self._want(found for found in beside if found is not None)
        else:
            self._place.put(name, self._text(name, answer.text).encode())

    # --- pages ------------------------------------------------------------------------------------------

    def _new(self, url: str) -> str:
        """Return the corresponding URL in the export, and add its target to the queue."""
        below = self._addresses.below(url)
        if below is None or self._addresses.needs_server(below):
            return url
        self._want([below])
        return self._addresses.new(url, below)

    def _redirect(self, location: str) -> bytes:
        where = escape(self._new(location))
        return (
            f'<!doctype html>\n<html>\n<head>\n<meta charset="utf-8">\n<title>{where}</title>\n'
            f'<meta name="robots" content="noindex">\n<meta http-equiv="refresh" content="0; url={where}">\n'
            f'</head>\n<body><p><a href="{where}">{where}</a></p></body>\n</html>\n'
        ).encode()

    def _page(self, answer: httpx.Response) -> bytes:
        parser = html.HTMLParser(encoding="utf-8", huge_tree=True)
        document = html.document_fromstring(answer.content, parser=parser)
        self._remove_server_parts(document)
        document.body.attrib.pop("data-seen", None)
        policy = answer.headers.get("content-security-policy", "")
        for element in document.iter("style"):
            before = element.text or ""
            element.text = _CSS_URL.sub(lambda match: f'url("{self._new(match[1])}")', before)
            policy = policy.replace(_digest(before), _digest(element.text))
        for element in document.iter(html.etree.Element):
            for name in _LINKS:
                if name in element.attrib:
                    element.set(name, self._new(element.get(name)))
            if "srcset" in element.attrib:
                candidates = [entry.split(" ") for entry in element.get("srcset").split(", ")]
                element.set(
                    "srcset", ", ".join(" ".join([self._new(url), *rest]) for url, *rest in candidates)
                )
            if element.tag == "meta" and element.get("property") in ("og:url", "og:image"):
                element.set("content", self._new(element.get("content")))
            if element.get("type") == _FACTS:
                facts = self._facts(json.loads(element.text or "null"))
                element.text = json.dumps(facts, ensure_ascii=False).replace("<", "\\u003c")
        if policy:
            # Static web servers don't send Octavo's headers. This directive has no effect in a page.
            meta = html.Element("meta")
            meta.set("http-equiv", "Content-Security-Policy")
            meta.set("content", _FRAME_ANCESTORS.sub("", policy))
            document.head.insert(1, meta)
        written: bytes = html.tostring(document, encoding="utf-8", doctype="<!doctype html>")
        return written + b"\n"

    def _facts(self, value: Any) -> Any:
        """Return structured data for search engines, with URLs replaced by URLs in the export."""
        if isinstance(value, dict):
            return {name: self._facts(item) for name, item in value.items()}
        if isinstance(value, list):
            return [self._facts(item) for item in value]
        is_live = isinstance(value, str) and value.startswith(
            f"{self._addresses.origin}{self._addresses.base}"
        )
        return self._new(value) if is_live else value

    def _remove_server_parts(self, document: Any) -> None:
        """Remove all parts that require a server, and URLs that aren't in the export."""
        addresses = self._addresses
        live = f"{addresses.origin}{addresses.base}"
        for element in list(document.iter(html.etree.Element)):
            values = [element.get(name, "") for name in ("href", "src", "data-copy-text")]
            below = next((found for url in values if url and (found := addresses.below(url)) is not None), "")
            named = quote(live) in element.get("href", "")
            if named and addresses.new_origin:
                # A link that asks an assistant to read the page, at its future URL.
                new = f"{addresses.new_origin}{addresses.new_base}"
                element.set("href", element.get("href").replace(quote(live), quote(new)))
                named = False
            canonical = (
                element.get("rel") in ("canonical", "alternate")
                or element.get("property") == "og:url"
                or (element.get("property") or "").startswith("og:image:")
                or element.get("content", "").startswith(f"{live}~image/")
                or element.get("type") == _FACTS
            )
            if (
                element.tag == "form"
                or (element.tag == "dialog" and "finder" in element.get("class", ""))
                or not _SERVED.isdisjoint(element.attrib)
                or below.startswith(_SERVED_ASSETS)
                or addresses.needs_server(below)
                or named
                or (canonical and not addresses.new_origin)
            ):
                _drop(element)

    def _text(self, name: str, text: str) -> str:
        """Return machine-readable text, with URLs replaced by URLs in the export."""
        addresses = self._addresses
        live, new = f"{addresses.origin}{addresses.base}", f"{addresses.new_origin}{addresses.new_base}"
        text = "".join(line for line in text.splitlines(True) if not _ASKS_SERVER.match(line))
        for target in re.findall(rf"{re.escape(live)}(~llms/\d+\.txt)", text):
            self._want([target])
        if name.startswith("sitemap") and name.endswith(".xml"):
            return LOCATION.sub(lambda match: f"<loc>{escape(self._new(unescape(match[1])))}</loc>", text)
        if name == "robots.txt" and not addresses.new_origin:
            return "".join(line for line in text.splitlines(True) if not line.startswith("Sitemap:"))
        for target in re.findall(rf'[("<]({re.escape(addresses.base)}[^)"<>\s]*)', text):
            self._new(target)
        # Links on a page start with the path of the site.
        text = text.replace(live, new)
        return re.sub(rf'(?<=[("<]){re.escape(addresses.base)}', lambda _: addresses.new_base, text)


def _drop(element: Any) -> None:
    """Remove an element, along with list items and menus that would then be empty."""
    while True:
        parent = element.getparent()
        if parent is None:
            return
        element.drop_tree()
        if len(parent) and not (parent.tag == "details" and [child.tag for child in parent] == ["summary"]):
            return
        if parent.tag not in ("li", "ul", "details") or (parent.text or "").strip():
            return
        element = parent


def _digest(text: str) -> str:
    """Return the hash of an inline style sheet or script, for a Content-Security-Policy header."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


# --- the folder -----------------------------------------------------------------------------------------


class _Folder:
    """Folder of an export, with the files of earlier runs and the files that this run will write."""

    def __init__(self, folder: Path, site_id: str) -> None:
        self._root = folder.resolve()
        self._site = site_id
        self.names: set[str] = set()
        self._staged: list[str] = []
        _make_folder(self._root)
        try:
            manifest = msgspec.json.decode((self._root / MANIFEST).read_bytes(), type=_Manifest)
        except FileNotFoundError:
            manifest = _Manifest(site_id, [])
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise BadRequest(f"{folder / MANIFEST}: {error}") from None
        if manifest.site != site_id:
            raise BadRequest(
                f"{folder} contains the export of another site, {manifest.site}. Choose another folder."
            )
        self._former = set(manifest.files)
        self.clear()

    def _path(self, name: str) -> Path:
        path = self._root / name
        if name in ("", MANIFEST) or not path.resolve().is_relative_to(self._root):
            raise BadRequest(f"{name}: must not point outside of {self._root}")
        return path

    def put(self, name: str, content: bytes) -> None:
        """Stage a file, unless the same file already exists. Raises BadRequest if a file that isn't part of an export
        already has this path."""
        path = self._path(name)
        self.names.add(name)
        if path.is_file():
            if name not in self._former:
                raise BadRequest(
                    f"{path} wasn't written by an earlier export. Nothing was changed. Move it to another"
                    " folder, or export to another folder."
                )
            if path.stat().st_size == len(content) and path.read_bytes() == content:
                return
        staged = self._root / _STAGING / name
        staged.parent.mkdir(parents=True, exist_ok=True)
        staged.write_bytes(content)
        staged.chmod(0o644)
        self._staged.append(name)

    def take_over(self) -> tuple[int, int]:
        """Move staged files into place, and delete obsolete files. Return the number of moved files and the number
        of deleted files."""
        gone = self._former - self.names
        # If this is interrupted, every exported file is still listed.
        self._write_manifest(self._former | self.names)
        # A page comes after the files it needs.
        for name in sorted(self._staged, key=lambda name: (name.endswith(".html"), name)):
            path = self._path(name)
            _make_folder(path.parent)
            os.replace(self._root / _STAGING / name, path)
        removed = 0
        for name in gone:
            path = self._path(name)
            if path.is_file():
                path.unlink()
                removed += 1
            for parent in path.parents:
                if parent == self._root or not parent.is_dir() or any(parent.iterdir()):
                    break
                parent.rmdir()
        self._write_manifest(self.names)
        return len(self._staged), removed

    def _write_manifest(self, names: set[str]) -> None:
        content = msgspec.json.format(msgspec.json.encode(_Manifest(self._site, sorted(names))))
        temporary = self._root / f"{MANIFEST}.new"
        temporary.write_bytes(content)
        os.replace(temporary, self._root / MANIFEST)

    def clear(self) -> None:
        """Delete files that were staged but not moved into place, including those from an interrupted run."""
        shutil.rmtree(self._root / _STAGING, ignore_errors=True)


def _make_folder(path: Path) -> None:
    """Create a folder that web servers, which run as other users, can read."""
    if not path.is_dir():
        _make_folder(path.parent)
        path.mkdir(exist_ok=True)
        path.chmod(0o755)
