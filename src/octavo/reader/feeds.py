"""Feeds of pages that have dated entries (the block ``updates``), as RSS 2.0.

Loaded with the first feed that is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime
from email.utils import format_datetime
from html import escape

from lxml import etree, html

from .entries import DatedEntry, newest
from .views import PageView, SiteView

_ATOM = "http://www.w3.org/2005/Atom"
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML cannot have, not even escaped."""
# What only acts, or only decorates, where our style sheet and scripts are.
_FRAME = etree.XPath(".//button | .//svg | .//*[@aria-hidden='true'] | .//*[@hidden]")


def feed_xml(site: SiteView, page: PageView, entries: Sequence[DatedEntry], address: str) -> bytes:
    """The feed at ``address`` of a page that has a canonical one."""
    assert page.canonical is not None
    rss = etree.Element("rss", version="2.0", nsmap={"atom": _ATOM})
    channel = etree.SubElement(rss, "channel")
    _add(channel, "title", f"{page.title} · {site.title}")
    _add(channel, "link", page.canonical)
    # Descriptions are HTML, titles are not.
    _add(channel, "description", escape(page.description or page.title, quote=False))
    _add(channel, "language", site.language)
    if page.updated:
        _add(channel, "lastBuildDate", _moment(date.fromisoformat(page.updated)))
    etree.SubElement(
        channel, f"{{{_ATOM}}}link", href=_plain(address), rel="self", type="application/rss+xml"
    )
    for entry in newest(entries):
        item = etree.SubElement(channel, "item")
        link = f"{page.canonical}#{entry.anchor}"
        _add(item, "title", entry.title)
        _add(item, "link", link)
        _add(item, "guid", link)
        if entry.day:
            _add(item, "pubDate", _moment(entry.day))
        for tag in entry.tags:
            _add(item, "category", tag)
        _add(item, "description", _alone(entry.body, page.canonical))
    written: bytes = etree.tostring(rss, encoding="UTF-8", xml_declaration=True)
    return written


def _add(parent: etree._Element, name: str, text: str) -> None:
    etree.SubElement(parent, name).text = _plain(text)


def _plain(text: str) -> str:
    return _NO_XML.sub("", text)


def _moment(day: date) -> str:
    return format_datetime(datetime(day.year, day.month, day.day, tzinfo=UTC), usegmt=True)


def _alone(body: str, address: str) -> str:
    """HTML of a page as it is read elsewhere: with whole addresses, and without what needs our scripts."""
    parser = html.HTMLParser(encoding="utf-8", huge_tree=True)
    tree = html.document_fromstring(f"<div>{body}</div>".encode(), parser=parser)
    for element in _FRAME(tree):
        if element.getparent() is not None:
            element.drop_tree()
    tree.make_links_absolute(address, resolve_base_href=False, handle_failures="ignore")
    written: str = html.tostring(tree.find("body/div"), encoding="unicode", with_tail=False)
    return written.removeprefix("<div>").removesuffix("</div>").strip()
