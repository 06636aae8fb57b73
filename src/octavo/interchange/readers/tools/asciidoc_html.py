"""Rewrite Asciidoctor's HTML as semantic HTML, for pages that Octavo converts as well as for sites that were built
with Asciidoctor."""

from __future__ import annotations

import re
from typing import Any

from lxml import etree

from ..formats.html_content import drop

_ADMONITIONS = ("note", "tip", "important", "warning", "caution")
_LATEX = re.compile(r"\\\((.+?)\\\)|\\\[(.+?)\\\]", re.DOTALL)
_ASCIIMATH = re.compile(r"\\\$(.+?)\\\$", re.DOTALL)


def prepare(tree: Any) -> None:
    for element in list(
        tree.iter("div", "td", "i", "b", "span", "p", "sup", "h1", "h2", "h3", "h4", "h5", "h6")
    ):
        classes = (element.get("class") or "").split()
        if not classes and element.tag != "p":
            continue
        if "admonitionblock" in classes:
            _admonition(element, classes)
        elif "colist" in classes:
            _callouts(element)
        elif "listingblock" in classes or "literalblock" in classes:
            _listing(element)
        elif "tabset" in classes or "tabs" in classes and element.tag == "div":
            _tabs(element)
        elif "imageblock" in classes:
            _image(element)
        elif "sidebarblock" in classes:
            element.set("class", "admonition")
        elif "verseblock" in classes:
            _verse(element)
        elif "attribution" in classes:
            element.attrib.pop("class", None)
        elif "stemblock" in classes:
            _formula(element)
        elif element.tag == "i":
            _sign(element, classes)
    for title in list(tree.iter("div")):
        if (title.get("class") or "") == "title" and (title.getparent().get("class") or "") != "sidebar":
            title.tag = "p"
            title.attrib.pop("class", None)
            _wrap(title, "strong")
    for cell in list(tree.iter("p", "td", "li", "dd", "dt", "th")):
        _formulas(cell)


def _has(element: Any, name: str) -> bool:
    return name in (element.get("class") or "").split()


def _child(element: Any, name: str) -> Any:
    return next((child for child in element if isinstance(child.tag, str) and _has(child, name)), None)


def _wrap(element: Any, tag: str) -> None:
    """Move the contents of an element into a new element of another kind inside it."""
    inner = etree.Element(tag)
    inner.text, element.text = element.text, None
    inner.extend(list(element))
    element.append(inner)


def _admonition(element: Any, classes: list[str]) -> None:
    content = next((cell for cell in element.iter("td") if _has(cell, "content")), None)
    if content is None:
        return
    kind = next((name for name in classes if name in _ADMONITIONS), "note")
    tail = element.tail
    for child in list(element):
        element.remove(child)
    content.tag = "div"
    content.attrib.clear()
    content.tail = None
    element.append(content)
    element.tail = tail
    element.set("class", f"admonition {'info' if kind == 'important' else kind}")


def _callouts(element: Any) -> None:
    """Rewrite the explanations of the numbers in a code block. If the numbers are icons, the explanations are in a
    table."""
    rows = [list(row.iter("td")) for row in element.iter("tr")]
    if not rows:
        return
    made = etree.Element("ol")
    for cells in rows:
        if len(cells) > 1:
            item = cells[-1]
            item.tag = "li"
            item.attrib.clear()
            made.append(item)
    for child in list(element):
        element.remove(child)
    element.append(made)


def _listing(element: Any) -> None:
    title = _child(element, "title")
    pre = next(element.iter("pre"), None)
    if pre is None:
        return
    for sign in list(pre.iter("i")):
        if _has(sign, "conum"):
            drop(sign)
    if title is None or _has(element, "literalblock"):
        return
    for child in list(element):
        element.remove(child)
    element.tag = "figure"
    element.attrib.pop("class", None)
    title.tag = "figcaption"
    title.attrib.pop("class", None)
    pre.tail = None
    element.extend([title, pre])


def _tabs(element: Any) -> None:
    terms = next(element.iter("dl"), None)
    if terms is None:
        return
    bar = etree.Element("div", role="tablist")
    panels = []
    for child in list(terms):
        if child.tag == "dt":
            number = len(bar) + 1
            tab = etree.SubElement(bar, "button", role="tab", id=f"adoc-tab-{number}")
            tab.text = " ".join("".join(child.itertext()).split())
        elif child.tag == "dd" and len(bar):
            child.tag = "div"
            child.set("role", "tabpanel")
            child.set("aria-labelledby", f"adoc-tab-{len(bar)}")
            panels.append(child)
    if len(panels) != len(bar):
        return
    for child in list(element):
        element.remove(child)
    element.attrib.pop("class", None)
    element.extend([bar, *panels])


def _image(element: Any) -> None:
    title, content = _child(element, "title"), _child(element, "content")
    if title is None or content is None:
        return
    element.tag = "figure"
    element.attrib.pop("class", None)
    title.tag = "figcaption"
    title.attrib.pop("class", None)


def _verse(element: Any) -> None:
    pre = next(element.iter("pre"), None)
    if pre is None:
        return
    rows = "".join(pre.itertext()).split("\n")
    pre.tag = "p"
    for child in list(pre):
        pre.remove(child)
    pre.text = rows[0]
    for row in rows[1:]:
        etree.SubElement(pre, "br").tail = row
    element.tag = "blockquote"
    element.attrib.pop("class", None)


def _formula(element: object) -> None:
    content = _child(element, "content")
    found = _LATEX.search("".join(content.itertext())) if content is not None else None
    if content is None or found is None:
        return
    for child in list(content):
        content.remove(child)
    content.tag = "pre"
    content.set("class", "math")
    content.text = (found[1] or found[2]).strip()


def _formulas(element: Any) -> None:
    """Rewrite formulas in the text of an element."""
    for holder in [element, *element.iter("em", "strong", "span", "p")]:
        _formulas_in(holder, "text")
    for child in list(element):
        _formulas_in(child, "tail")


def _formulas_in(holder: Any, where: str) -> None:
    text = getattr(holder, where) or ""
    found = _LATEX.search(text) or _ASCIIMATH.search(text)
    if found is None:
        return
    made = etree.Element("code")
    if found.re is _LATEX:
        made.set("class", "math")
        made.text = (found[1] or found[2]).strip()
    else:
        made.text = found[1].strip()
    made.tail = text[found.end() :]
    setattr(holder, where, text[: found.start()])
    above = holder if where == "text" else holder.getparent()
    above.insert(0 if where == "text" else above.index(holder) + 1, made)
    _formulas_in(made, "tail")


def _sign(element: Any, classes: list[str]) -> None:
    if "fa-check-square-o" in classes or "fa-square-o" in classes:
        element.tag = "input"
        element.attrib.clear()
        element.set("type", "checkbox")
        if "fa-check-square-o" in classes:
            element.set("checked", "")
    elif "caret" in classes:
        element.tag = "span"
        element.text = "›"
