"""Atom feeds of sites, and RSS 2.0 feeds of pages with dated entries (the ``updates`` block).

This module is loaded on the first request for a feed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from email.utils import format_datetime
from heapq import nlargest
from html import escape
from urllib.parse import quote

from lxml import etree, html

from octavo.core.pages import Page
from octavo.core.tags import by_slug, tag_or_slug
from octavo.delivery.visits.authorization import SiteVisit, SpaceVisit
from octavo.kit.clock import iso

from .entries import DatedEntry, newest
from .sites import FEED_PATH
from .views import SitePageView, SiteView

_ATOM = "http://www.w3.org/2005/Atom"
MAX_PAGES = 50
"""Maximum number of pages in a site's feed."""
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML can't contain, even if they are escaped."""
# Interactive or decorative elements that need Octavo's style sheet and scripts.
_FRAME = etree.XPath(".//button | .//svg | .//*[@aria-hidden='true'] | .//*[@hidden]")


def feed_xml(site: SiteView, page: SitePageView, entries: Sequence[DatedEntry], address: str) -> bytes:
    """Return the feed of a page that has a canonical URL. ``address``: the URL of the feed."""
    assert page.canonical is not None
    rss = etree.Element("rss", version="2.0", nsmap={"atom": _ATOM})
    channel = etree.SubElement(rss, "channel")
    _add(channel, "title", f"{page.title} · {site.title}")
    _add(channel, "link", page.canonical)
    # Descriptions are HTML, but titles aren't.
    _add(channel, "description", escape(page.description or page.title, quote=False))
    _add(channel, "language", site.language)
    if page.updated:
        _add(channel, "lastBuildDate", _format_date(date.fromisoformat(page.updated)))
    _link(channel, "self", "application/rss+xml", address)
    for entry in newest(entries):
        item = etree.SubElement(channel, "item")
        link = f"{page.canonical}#{entry.anchor}"
        _add(item, "title", entry.title)
        _add(item, "link", link)
        _add(item, "guid", link)
        if entry.day:
            _add(item, "pubDate", _format_date(entry.day))
        for tag in entry.tags:
            _add(item, "category", tag)
        _add(item, "description", _make_standalone(entry.body, page.canonical))
    written: bytes = etree.tostring(rss, encoding="UTF-8", xml_declaration=True)
    return written


def site_feed_xml(visit: SiteVisit, pages: Iterable[tuple[SpaceVisit, Page]]) -> bytes:
    """Return the feed of the site's most recently updated pages, most recently updated first."""
    address = f"{visit.published}{FEED_PATH}"
    return pages_feed_xml(visit, pages, visit.site.title, address, visit.published)


def pages_feed_xml(
    visit: SiteVisit, pages: Iterable[tuple[SpaceVisit, Page]], title: str, address: str, about: str
) -> bytes:
    """Return the feed of the most recently updated of these pages, most recently updated first.
    ``address``: the URL of the feed. ``about``: the URL of the page that lists them."""
    entries = nlargest(MAX_PAGES, pages, key=lambda entry: entry[1].updated_at)
    feed = etree.Element(f"{{{_ATOM}}}feed", nsmap={None: _ATOM})
    _add_atom(feed, "id", about)
    _add_atom(feed, "title", title)
    _add_atom(feed, "updated", iso(entries[0][1].updated_at if entries else visit.site.updated_at))
    _link(feed, "alternate", "text/html", about)
    _link(feed, "self", "application/atom+xml", address)
    _add_atom(etree.SubElement(feed, f"{{{_ATOM}}}author"), "name", visit.site.title)
    for space, page in entries:
        address = visit.public(f"{space.base}{quote(space.view.tree.url_path(page))}")
        entry = etree.SubElement(feed, f"{{{_ATOM}}}entry")
        _add_atom(entry, "id", address)
        _add_atom(entry, "title", page.title)
        _add_atom(entry, "updated", iso(page.updated_at))
        _link(entry, "alternate", "text/html", address)
        for slug in by_slug(page.tags):
            tag = tag_or_slug(space.view.tags, slug)
            category = etree.SubElement(entry, f"{{{_ATOM}}}category")
            category.set("term", _strip_invalid(tag.tag))
            category.set("label", _strip_invalid(tag.label))
        if page.description:
            _add_atom(entry, "summary", page.description)
    written: bytes = etree.tostring(feed, encoding="UTF-8", xml_declaration=True)
    return written


def _add_atom(parent: etree._Element, name: str, text: str) -> None:
    _add(parent, f"{{{_ATOM}}}{name}", text)


def _link(parent: etree._Element, rel: str, media_type: str, address: str) -> None:
    etree.SubElement(parent, f"{{{_ATOM}}}link", rel=rel, type=media_type, href=_strip_invalid(address))


def _add(parent: etree._Element, name: str, text: str) -> None:
    etree.SubElement(parent, name).text = _strip_invalid(text)


def _strip_invalid(text: str) -> str:
    return _NO_XML.sub("", text)


def _format_date(day: date) -> str:
    return format_datetime(datetime(day.year, day.month, day.day, tzinfo=UTC), usegmt=True)


def _make_standalone(body: str, address: str) -> str:
    """Return the HTML of a page for use outside the site: with absolute URLs and without parts that need
    Octavo's scripts."""
    parser = html.HTMLParser(encoding="utf-8", huge_tree=True)
    tree = html.document_fromstring(f"<div>{body}</div>".encode(), parser=parser)
    for element in _FRAME(tree):
        if element.getparent() is not None:
            element.drop_tree()
    tree.make_links_absolute(address, resolve_base_href=False, handle_failures="ignore")
    written: str = html.tostring(tree.find("body/div"), encoding="unicode", with_tail=False)
    return written.removeprefix("<div>").removesuffix("</div>").strip()
