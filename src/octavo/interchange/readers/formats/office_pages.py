"""Rewrite HTML pages from Google Docs and SharePoint, so that styles that have a meaning become elements."""

from __future__ import annotations

import html
import re
from itertools import islice
from typing import Any
from urllib.parse import unquote_plus

MAX_STYLES = 5000
"""Maximum number of rules to read from a style sheet."""
MAX_LEVEL = 20
MAX_BESIDE = 2000
"""Maximum number of elements next to a link that are searched for the link's text."""
_RULE = re.compile(r"\.(c\d{1,6})\{([^{}]*)\}")
_LIST = re.compile(r"(lst-kix_\w{1,60})-(\d{1,2})")
_TITLED = re.compile(r"<title>(?P<title>[^<>]{0,1000})</title>|<mso:Title\b[^<>]*>(?P<said>[^<>]{0,1000})<")
_SITE_PAGE = re.compile(
    r"(?:https?://[^/?#]+)?/(?:[^?#]*/)?SitePages/(?P<name>[^?#]+\.aspx)(?P<rest>#.*)?(?:\?.*)?\Z"
)
_ITEM = re.compile(r"(?P<of>.*?)\.?(?:url|linkUrl|link)\Z")


def canvas_of(text: str) -> str:
    """Return the page in a SharePoint file as HTML. Any other text is returned unchanged."""
    for name in ("CanvasContent1", "WikiField"):
        start = text.find(">", text.find(f"<mso:{name}")) + 1 if f"<mso:{name}" in text else 0
        end = text.find(f"</mso:{name}>", start) if start else -1
        if end > 0:
            break
    else:
        return text
    # Escaped for XML, and once more for the property that contains it.
    inside = html.unescape(text[start:end])
    inside = html.unescape(inside) if "&lt;" in inside and "<" not in inside else inside
    match = _TITLED.search(text)
    title = html.unescape((match["title"] or match["said"] or "").strip()) if match else ""
    shown = html.escape(title)
    return (
        f"<html><head><title>{shown}</title></head><body><main><h1>{shown}</h1>{inside}</main></body></html>"
    )


def normalize_markup(tree: object, text: str) -> None:
    """Rewrite the tree of a page from Google Docs or SharePoint. Other pages stay unchanged."""
    if "data-sp-" in text:
        _sharepoint(tree)
    if "doc-content" in text or "lst-kix_" in text:
        _google(tree)


# --- SharePoint ---------------------------------------------------------------------------------------


def _sharepoint(tree: Any) -> None:
    for element in list(tree.iter()):
        if not isinstance(element.tag, str) or element.getparent() is None:
            continue
        if element.get("data-sp-componentid") is not None or '"controlType":0' in (
            element.get("data-sp-controldata") or ""
        ):
            _drop(element)
        elif element.tag == "a":
            _name_link(element)
            if found := _SITE_PAGE.match(element.get("href") or ""):
                element.set("href", f"{found['name']}{found['rest'] or ''}")


def _name_link(link: Any) -> None:
    """Use the text next to a web part's link as the text of the link."""
    name = link.get("data-sp-prop-name") or ""
    found = _ITEM.match(name)
    if found is None or "".join(link.itertext()).strip():
        return
    wanted = {f"{found['of']}.title", f"{found['of'].removesuffix('.sourceItem')}.title"}
    for beside in link.getparent() if len(link.getparent()) <= MAX_BESIDE else ():
        words = "".join(beside.itertext()).strip() if beside.get("data-sp-prop-name") in wanted else ""
        if words:
            link.text = words
            _drop(beside)
            return
    link.text = link.get("href") or ""


# --- Google Docs --------------------------------------------------------------------------------------


def _google(tree: Any) -> None:
    looks = {}
    for style in tree.iter("style"):
        for found in islice(_RULE.finditer(style.text or ""), MAX_STYLES):
            looks[found[1]] = _tags(found[2])
    for element in list(tree.iter()):
        if not isinstance(element.tag, str) or element.getparent() is None:
            continue
        classes = (element.get("class") or "").split()
        if element.tag == "a":
            _replace_tracking_link(element)
        elif element.tag == "p" and "title" in classes:
            element.tag = "h1"
        elif element.tag == "span":
            for tag in [tag for name in classes for tag in looks.get(name, ())]:
                _wrap(element, tag)
    for bold in list(tree.iter("b")):
        # Headings are bold anyway.
        if _closest_ancestor(bold, ("h1", "h2", "h3", "h4", "h5", "h6")) is not None:
            bold.tag = "span"
    for link in list(tree.iter("a")):
        if (link.get("id") or "").startswith("cmnt") and (
            held := _closest_ancestor(link, ("sup", "div"))
        ) is not None:
            _drop(held)  # A comment, or the marker that links to it.
    _nest(tree)


def _closest_ancestor(element: Any, tags: tuple[str, ...]) -> Any | None:
    """Return the nearest ancestor with one of these tags, within a limited number of levels."""
    for _ in range(6):
        element = element.getparent()
        if element is None or element.tag in tags:
            return element
    return None


def _tags(style: str) -> list[str]:
    """Return the elements that a style represents."""
    given = {
        key.strip(): value.strip().lower()
        for key, _, value in (one.partition(":") for one in style.split(";"))
    }
    font = given.get("font-family", "")
    tests = (
        (
            "code",
            any(name in font for name in ("courier", "consolas", "monospace", "roboto mono", "source code")),
        ),
        ("b", given.get("font-weight") in ("700", "800", "bold")),
        ("i", given.get("font-style") == "italic"),
        ("s", "line-through" in given.get("text-decoration", "")),
        ("sub", given.get("vertical-align") == "sub"),
        ("sup", given.get("vertical-align") == "super"),
    )
    return [tag for tag, holds in tests if holds]


def _wrap(element: Any, tag: str) -> None:
    inner = element.makeelement(tag)
    inner.text, element.text = element.text, None
    for child in list(element):
        inner.append(child)
    element.append(inner)


def _replace_tracking_link(link: Any) -> None:
    href = link.get("href") or ""
    if href.startswith(("https://www.google.com/url?", "http://www.google.com/url?")):
        if found := re.search(r"[?&]q=([^&#]+)", href):
            link.set("href", unquote_plus(found[1]))


def _nest(tree: Any) -> None:
    """Nest flat lists. In the source, each level is a separate list whose class name contains the level."""
    stack: list[Any] = []
    """The last list at each level, for lists that continue."""
    for one in list(tree.iter("ul", "ol")):
        found = _LIST.search(one.get("class") or "")
        if found is None:
            continue
        level = min(int(found[2]), MAX_LEVEL)
        before = one.getprevious()
        goes_on = bool(stack) and before is stack[0] and not (stack[0].tail or "").strip()
        if not goes_on:
            stack = [one]
            continue
        stack = stack[: level + 1]
        if len(stack) > level and stack[level].tag == one.tag:
            for item in list(one):
                stack[level].append(item)
            _drop(one)
        elif len(stack) <= level and len(stack[-1]):
            tail, one.tail = one.tail, None
            stack[0].tail = tail
            stack[-1][-1].append(one)
            stack.append(one)
        else:
            stack = [one]


def _drop(element: Any) -> None:
    parent = element.getparent()
    if parent is None:
        return
    before = element.getprevious()
    if element.tail:
        if before is not None:
            before.tail = (before.tail or "") + element.tail
        else:
            parent.text = (parent.text or "") + element.tail
    parent.remove(element)
