"""Convert HTML to pages. The content is first converted to nodes, which can't contain executable code.

This module creates the nodes, and the shared writer writes them, so syntax that occurs in text (Markdown, custom
tags, HTML) remains text. Elements without a corresponding node are replaced with their content; elements that only
control the browser are dropped."""

from __future__ import annotations

import codecs
import re
from itertools import islice
from typing import Any

from lxml import etree
from msgspec import Struct

from octavo.core.document.anchors import slug
from octavo.core.document.json import DocumentError, from_json
from octavo.core.document.nodes import MAX_NODES
from octavo.core.document.page import with_head
from octavo.core.document.writing import write

from .html_building import NodeBuilder, Rewrite, explicit_id
from .html_content import drop_lead, find_description, find_main_content, find_title, is_shown, take_notes
from .html_nodes import Node, lift_title, plain_text, squeezed, without_empty
from .office_pages import canvas_of, normalize_markup

MAX_DEPTH = 60
_SAFE_DEPTH = 16
MAX_TITLE = 200
_PARTS = ("p", "li", "dt", "dd", "td", "th", "pre", "img", "h1", "h2", "h3", "h4", "h5", "h6")
"""Elements that become at least two nodes each."""


class Converted(Struct, frozen=True):
    """Converted page. ``text``: the complete Markdown file. ``links``: the hrefs in the source in order, including
    those in the navigation."""

    title: str
    text: str
    links: list[str]


def parse_html(data: bytes | str, encoding: str | None = None) -> Any | None:
    """Return the tree of a page, or None if it is empty. ``encoding``: the encoding that the HTTP response
    specified. This function never sends requests and never raises an exception."""
    text = canvas_of(data if isinstance(data, str) else decode_html(data, encoding))
    parser = etree.HTMLParser(
        encoding="utf-8",
        no_network=True,
        remove_comments=True,
        remove_pis=True,
        # Otherwise, lxml silently drops everything that is deeply nested. The caller limits the size.
        huge_tree=True,
    )
    try:
        tree = etree.fromstring(text.encode("utf-8", "replace"), parser)
    except (etree.LxmlError, ValueError):
        return None
    if tree is not None:
        normalize_markup(tree, text)
    return tree


def language_of(tree: Any) -> str:
    """Return the language declared by the root element of a page; empty if there is none."""
    return next((str(root.get("lang")) for root in tree.iter("html") if root.get("lang")), "")


_MARKED = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_CHARSET = re.compile(rb"""<meta[^>]{0,500}?charset\s*=\s*["']?\s*([\w.:-]{1,40})""", re.IGNORECASE)
_SNIFFED = 1024 * 4
# Pages that declare these encodings use a superset, and browsers read them that way.
_MEANT = {
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "iso8859-9": "cp1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
    "utf-16": "utf-8",
    "utf-16-le": "utf-8",
    "utf-16-be": "utf-8",
}


def decode_html(data: bytes, declared: str | None = None) -> str:
    """Decode the text of a page as browsers do, according to its byte order mark, the encoding in its response
    (``declared``), or its ``<meta>`` element. If there is none, decode it as UTF-8 or, if it isn't valid UTF-8, as
    Windows-1252."""
    for mark, name in _MARKED:
        if data.startswith(mark):
            return data.decode(name, "replace")
    said = _CHARSET.search(data[:_SNIFFED])
    for given in (declared, said[1].decode() if said else None):
        try:
            codec = codecs.lookup(given or "").name
        except (LookupError, ValueError):
            continue
        # Some Python codecs don't produce text.
        if not getattr(codecs.lookup(codec), "_is_text_encoding", True):
            continue
        try:
            return data.decode(_MEANT.get(codec, codec), "replace")
        except UnicodeError:
            # Other codecs fail on bytes that they can't decode, or skip them.
            continue
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def convert(tree: Any, *, link: Rewrite, image: Rewrite, fallback_title: str = "") -> Converted:
    """Convert the main content of a tree from ``parse_html`` to a page, without navigation and other surrounding
    parts.

    Raises DocumentError if the tree can't be represented as a page.
    """
    links = [a.get("href") for a in tree.iter("a", "area") if a.get("href")]
    found_title = find_title(tree)
    description = find_description(tree)
    main = find_main_content(tree)
    drop_lead(main, description)
    notes = take_notes(main)
    # Don't build something that would be rejected at the end.
    for elements, most in ((main.iter(*_PARTS), MAX_NODES // 2), (main.iter(), MAX_NODES * 4)):
        if next(islice(elements, most, None), None) is not None:
            raise DocumentError(f"the page has more than {MAX_NODES:,} elements")
    try:
        title, body = _written(NodeBuilder(link, image, MAX_DEPTH, notes).flow(main))
    except DocumentError as error:
        if "nested" not in str(error):
            raise
        title, body = _written(NodeBuilder(link, image, _SAFE_DEPTH, notes).flow(main))
    title = (title or found_title or fallback_title or "Untitled")[:MAX_TITLE]
    head = {"title": title, **without_empty(description=description)}
    return Converted(title, with_head("", head) + ("\n" + body if body else ""), links)


def _written(nodes: list[Node]) -> tuple[str, str]:
    """Return the title of these nodes, and the rest of the nodes as Markdown."""
    title, rest = lift_title(nodes)
    return title, write(from_json({"object": "document", "data": {"schemaVersion": 1}, "nodes": rest}))


def title_of(tree: object) -> str:
    """Return the title of a page: its first heading or, by default, its ``<title>`` without the site name."""
    for heading in find_main_content(tree).iter("h1"):
        if words := squeezed(
            plain_text({"nodes": NodeBuilder(str, str, MAX_DEPTH)._inlines_in(heading, ())})
        ):
            return words[:MAX_TITLE]
    return find_title(tree)[:MAX_TITLE]


def anchors_of(tree: object) -> dict[str, str]:
    """Return the anchor to use for each ID on a page: the anchor of the heading that has the ID, or of the nearest
    heading above the element that has the ID. The anchor is empty for IDs above the first heading, which lead to
    the top of the page."""
    anchors: dict[str, str] = {}
    at, titled = "", False
    for element in find_main_content(tree).iter(etree.Element):
        if re.fullmatch(r"h[1-6]", element.tag) and is_shown(element):
            words = squeezed("".join(element.itertext()))
            titles = element.tag == "h1" and not titled and not at
            titled = titled or titles
            at = "" if titles else explicit_id(element) or slug(words)
            anchors |= {own: at for own in (element.get("id"), element.getparent().get("id")) if own}
        for own in (element.get("id"), element.get("name") if element.tag == "a" else None):
            if own:
                anchors.setdefault(own, at)
    return anchors
