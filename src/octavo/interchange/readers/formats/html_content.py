"""Separate the content of an HTML page from its navigation and other surrounding parts."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

from lxml import etree

from octavo.core.json_types import JsonObject

from .html_nodes import squeezed

DROPPED = frozenset(
    """script style template noscript svg canvas object embed applet map area head meta link base title param
    button input select option optgroup textarea datalist dialog portal slot frame frameset noframes track source
    """.split()
)
_CHROME_ROLES = frozenset(
    ["navigation", "banner", "contentinfo", "search", "complementary", "menu", "menubar"]
)
_CHROME = re.compile(
    r"(?:breadcrumbs?|toc|table-of-contents|tableofcontents|sidebar|sidenav|side-nav|pagination|pager|prev-next"
    r"|skip-link|skip-to-content|skip-nav|sr-only|visually-hidden|edit-this-page|edit-link|headerlink|hash-link"
    r"|anchorjs-link|header-anchor|copybtn|copy-button|cookie-banner|cookie-consent|theme-doc-footer|navbar"
    r"|site-header|site-footer|sphinxsidebar|wy-nav-side|rst-footer-buttons|md-header|md-footer|md-sidebar"
    # Elements that aren't printed, then the parts that Octavo adds around and inside a page.
    r"|print:hidden|d-print-none|no-?print|page-facts|outline-fold|page-foot|anchor|code-language|step-mark|only-dark)"
)
HINT = re.compile(
    r"(?:admonition|alert|callout|notice|hint|theme-admonition|starlight-aside|markdown-alert|custom-block)"
    r"(?!.*[-_](?:body|content|heading|icon|title)$)"
)


def find_title(tree: Any) -> str:
    for meta in tree.iter("meta"):
        if meta.get("property") == "og:title" and meta.get("content"):
            return squeezed(meta.get("content"))
    title = next(tree.iter("title"), None)
    text = squeezed("".join(title.itertext())) if title is not None else ""
    # Sites append their own name to the title of a page.
    return re.split(r" [|–—·»] ", text)[0].strip()


def find_description(tree: Any) -> str:
    for meta in tree.iter("meta"):
        # For a page without a description, Octavo writes its first sentence here.
        if meta.get("data-from-text") is not None:
            continue
        if (meta.get("name") or "").lower() == "description" and meta.get("content"):
            return squeezed(meta.get("content"))[:500]
    return ""


def find_main_content(tree: Any) -> Any:
    body = next(tree.iter("body"), tree)
    for found in (
        [e for e in body.iter("main") if is_shown(e)],
        [e for e in body.iter(etree.Element) if e.get("role") == "main"],
        [e for e in body.iter("article") if is_shown(e)],
    ):
        if found:
            main = max(found[:20], key=weight_of)
            articles = list(main.iter("article"))
            return (
                articles[0] if len(articles) == 1 and weight_of(articles[0]) * 2 > weight_of(main) else main
            )
    return body


def drop_lead(main: Any, description: str) -> None:
    """Drop the description below the title if it repeats the description in the page's front matter."""
    for paragraph in main.iter("p"):
        before = paragraph.getprevious()
        if description and before is not None and before.tag == "h1":
            if squeezed("".join(paragraph.itertext()))[:500] == description:
                paragraph.getparent().remove(paragraph)
            return


NOTE_MARKER = "data-octavo-note"
_REFERS = re.compile(r"footnote|endnote|noteref|citation|biblioref", re.IGNORECASE)


def take_notes(main: Any) -> JsonObject:
    """Remove the footnotes from a page, mark the references to them, and return the footnotes by ID. A footnote is
    an element that a number links to and that links back to the number."""
    by_id = {element.get("id"): element for element in main.iter(etree.Element) if element.get("id")}
    notes: JsonObject = {}
    for link in list(main.iter("a")):
        name = unquote((link.get("href") or "")[1:])
        note = by_id.get(name) if (link.get("href") or "").startswith("#") else None
        sup = next((one for one in (link, link.getparent()) if one is not None and one.tag == "sup"), None)
        said = f"{link.get('class')} {link.get('role')} {'footnote' if sup is not None else ''}"
        if note is None or not _REFERS.search(said) or any(one is note for one in link.iterancestors()):
            continue
        around = [link, *link.iterancestors(), *link.iterdescendants()]
        back = {f"#{one.get('id')}" for one in around[:4] if isinstance(one.tag, str) and one.get("id")}
        returning = [
            one
            for one in note.iter("a", "span")
            if one.get("href") in back or one.get("role") == "doc-backlink"
        ]
        if name not in notes and not returning:
            continue
        for one in returning:
            label = next(
                (up for up in one.iterancestors("span") if "label" in (up.get("class") or "").split()), one
            )
            if label.getparent() is not None:
                label.tail = (label.tail or "").lstrip(" .")
                _drop_with_parent(label)
        notes[name] = note
        refers = sup if sup is not None else link
        tail = refers.tail
        refers.clear()
        refers.tag, refers.tail = "a", tail
        refers.set(NOTE_MARKER, name)
    for note in notes.values():
        _drop_with_parent(note)
    return notes


def drop(element: Any) -> None:
    """Remove an element from its tree, but keep the text after it."""
    parent = element.getparent()
    if parent is None:
        return
    if element.tail:
        before = element.getprevious()
        if before is not None:
            before.tail = (before.tail or "") + element.tail
        else:
            parent.text = (parent.text or "") + element.tail
    parent.remove(element)


def _drop_with_parent(element: Any) -> None:
    """Remove an element, but keep the text after it. If the element's parent is then empty, also remove the parent."""
    parent = element.getparent()
    drop(element)
    if parent is None:
        return
    is_empty = all(child.tag == "hr" for child in parent) and not "".join(parent.itertext()).strip()
    if is_empty and parent.tag in ("ol", "ul", "div", "section", "aside", "dl"):
        _drop_with_parent(parent)


def weight_of(element: Any) -> int:
    return sum(len(text) for text in element.itertext())


def classes_of(element: Any) -> list[str]:
    return f"{element.get('class') or ''} {element.get('id') or ''}".lower().split()


def is_shown(element: Any) -> bool:
    if element.get("hidden") is not None and element.get("role") != "tabpanel":
        return False
    if element.get("aria-hidden") == "true":
        return False
    return re.search(r"display\s*:\s*none", element.get("style") or "") is None


def is_chrome(element: Any) -> bool:
    """Return whether an element isn't content, such as navigation, footers, buttons, and permalinks."""
    tag = element.tag
    if tag in DROPPED or not is_shown(element):
        return True
    classes = classes_of(element)
    if tag in ("aside", "div", "section") and any(HINT.match(name) for name in classes):
        return False
    if tag == "footer" and next(element.iterancestors("blockquote"), None) is not None:
        # The author of a quote.
        return False
    if tag in ("nav", "footer", "aside") or element.get("role") in _CHROME_ROLES:
        return True
    if tag == "header":
        # The header of a section introduces the section.
        return next(element.iter("h1"), None) is None and element.getparent().tag != "section"
    if tag in ("body", "html", "main", "article"):
        return False
    return any(_CHROME.fullmatch(name) for name in classes)
