"""Convert OpenDocument text documents (``.odt``, ``.fodt``) to HTML for the shared HTML reader."""

from __future__ import annotations

import base64
import binascii
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from html import escape
from typing import Any
from urllib.parse import unquote

from lxml import etree

from octavo.core.document.anchors import slug
from octavo.core.sources import SourceError

from .inline_images import name_image

_SPACES = {
    name: f"{{urn:oasis:names:tc:opendocument:xmlns:{urn}:1.0}}"
    for name, urn in {
        "office": "office",
        "style": "style",
        "text": "text",
        "table": "table",
        "draw": "drawing",
        "fo": "xsl-fo-compatible",
        "svg": "svg-compatible",
    }.items()
} | {
    "xlink": "{http://www.w3.org/1999/xlink}",
    "dc": "{http://purl.org/dc/elements/1.1/}",
    "math": "{http://www.w3.org/1998/Math/MathML}",
    "xml": "{http://www.w3.org/XML/1998/namespace}",
}


@lru_cache(200)
def _q(name: str) -> str:
    """Return a name, such as ``text:p``, in lxml's notation."""
    space, _, local = name.partition(":")
    return _SPACES[space] + local


def _all(space: str, names: str) -> frozenset[str]:
    return frozenset(_q(f"{space}:{name}") for name in names.split())


_H, _P, _LIST, _NOTE = _q("text:h"), _q("text:p"), _q("text:list"), _q("text:note")
_FRAME, _TABLE, _NAME, _HREF = _q("draw:frame"), _q("table:table"), _q("text:name"), _q("xlink:href")
_STYLE = _q("text:style-name")
_MARKS = _all("text", "bookmark bookmark-start reference-mark reference-mark-start")
_REFERENCES = _all("text", "bookmark-ref reference-ref")
_SILENT = (
    _MARKS
    | _all(
        "text",
        (
            "bookmark-end reference-mark-end soft-page-break number change change-start change-end label section-source"
            " sequence-decls variable-decls user-field-decls dde-connection-decls alphabetical-index-mark toc-mark"
            " alphabetical-index-mark-start alphabetical-index-mark-end toc-mark-start toc-mark-end user-index-mark"
            " page-sequence table-of-content-source bibliography-source"
        ),
    )
    | _all("office", "forms annotation-end")
)
_GENERATED = _all(
    "text", "table-of-content illustration-index table-index object-index user-index alphabetical-index"
)
"""Parts of a document that Octavo generates itself, such as a table of contents."""
_HOLDERS = _all("text", "section index-body index-title bibliography numbered-paragraph")
_ITEMS, _ROWS = _all("text", "list-item list-header"), _all("table", "table-rows table-row-group")
_DELETED, _INSERTED = _q("text:deletion"), _q("text:insertion")

_MAX_DEPTH = 100
_MAX_CHAIN = 20
_MAX_BLANKS = 200
_MAX_COLUMNS = 60
_MAX_ROWS = 1000
_ELEMENT = 4
"""Cost of visiting an element, in characters. Visiting an element costs less than writing it."""

_TAGS = (
    ("code", "code"),
    ("keyboard", "kbd"),
    ("bold", "b"),
    ("italic", "i"),
    ("struck", "s"),
    ("above", "sup"),
    ("below", "sub"),
)
_NAMED = {
    "strong emphasis": "bold",
    "strong": "bold",
    "emphasis": "italic",
    "source text": "code",
    "teletype": "code",
    "user entry": "keyboard",
}
"""Character styles that have a meaning even if the document doesn't define their appearance."""
_ROLES = {
    "title": "title",
    "subtitle": "subtitle",
    "quotations": "quote",
    "quote": "quote",
    "intense quote": "quote",
    "preformatted text": "pre",
    "html preformatted": "pre",
    "source code": "pre",
    "code": "pre",
    "caption": "caption",
    "horizontal line": "rule",
}
_HEADING = re.compile(r"heading ?(\d{1,2})\Z")
_FIXED = re.compile(r"mono(?!type)|courier|consolas|menlo|typewriter", re.IGNORECASE)
_PLAIN_STYLES = ("standard", "text body", "default paragraph style")

Look = dict[str, bool]


def read_opendocument(
    read: Callable[[str], bytes | None],
    keep: Callable[[bytes], str | None],
    problem: Callable[[str, str], None],
    most: int,
    flat: bytes | None = None,
) -> str:
    """Return a text document as HTML of at most ``most`` characters.

    ``read``: a function that returns the bytes of a part of the document by name, or None if the part doesn't exist.
    ``flat``: the complete document if it is a single file. ``keep``: a function that stores the bytes of an image
    and returns its path. ``problem``: a function that is called with a code and a message for any content that
    isn't imported. Raises SourceError if the document can't be read."""
    if b"encryption-data" in (read("META-INF/manifest.xml") or b""):
        raise SourceError(
            "the document is password-protected. Remove the password, and import the document again."
        )
    content = flat if flat is not None else read("content.xml")
    if content is None:
        raise SourceError("the document doesn't contain a content.xml file")
    root = _parse(content)
    body = root.find(f"{_q('office:body')}/{_q('office:text')}")
    if body is None:
        raise SourceError("the file isn't a text document")
    shared, meta = (
        (root, root) if flat is not None else map(_parse_part, (read("styles.xml"), read("meta.xml")))
    )
    title = next(meta.iter(_q("dc:title")), None)
    shown = escape("".join(title.itertext())) if title is not None else ""
    made = _Document(_Styles(root, shared), read, keep, most)
    made.convert(body)
    for (code, what, place), times in made.problem_counts.items():
        often = f" ({times} times)" if times > 1 else ""
        problem(code, f"{what}{often}{f', under “{place}”' if place else ''}")
    return f'<html><head><meta property="og:title" content="{shown}"></head><body>{"".join(made.parts)}</body></html>'


def _parse_part(data: bytes | None) -> Any:
    return _parse(data) if data is not None else etree.Element("none")


def _parse(data: bytes) -> Any:
    if b"<!DOCTYPE" in data:
        raise SourceError("the document's XML has a document type declaration, which isn't allowed")
    # Re-encode it in a single encoding, so that no document type declaration can be hidden in another one.
    parser = etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        return etree.fromstring(data, parser)
    except etree.LxmlError as error:
        raise SourceError(f"the document's XML can't be read: {str(error)[:150]}") from None


def _number(element: Any, name: str, most: int, default: int = 1) -> int:
    written = element.get(_q(name)) or ""
    if not re.fullmatch(r"[0-9]+", written):
        return default
    return min(int(written), most) if len(written) < 10 else most


def _words(element: Any) -> str:
    """Return the text of a paragraph, without notes, frames, and nested paragraphs."""
    found = [element.text or ""]
    for child in element:
        if child.tag in (_q("text:s"), _q("text:tab"), _q("text:line-break")):
            found.append(" ")
        elif child.tag not in (_NOTE, _FRAME, _P, _H) and child.tag not in _SILENT:
            found.append(_words(child))
        found.append(child.tail or "")
    return re.sub(r"\s+", " ", "".join(found))


class _Styles:
    """Styles of a document: the appearance of text, the role of paragraphs, and the markers of lists."""

    def __init__(self, content: Any, shared: Any) -> None:
        self._styles: dict[tuple[str, str], Any] = {}
        self._lists: dict[str, Any] = {}
        # The automatic styles next to the shared ones belong to headers and footers.
        for holder in (shared.find(_q("office:styles")), content.find(_q("office:automatic-styles"))):
            for style in holder if holder is not None else ():
                name = style.get(_q("style:name")) or ""
                if style.tag == _q("style:style"):
                    self._styles[style.get(_q("style:family")) or "", name] = style
                elif style.tag == _q("text:list-style"):
                    self._lists[name] = style
        self._looks: dict[tuple[str, str], Look] = {}
        self._own: dict[Any, Look] = {}
        self._numbers: dict[tuple[str, int], int | None] = {}
        self._roles: dict[str, str] = {}

    def _chain(self, family: str, name: str) -> Iterator[tuple[str, Any]]:
        """Yield a style and its parents, each with its display name."""
        for _ in range(_MAX_CHAIN):
            style = self._styles.get((family, name))
            written = style.get(_q("style:display-name")) if style is not None else None
            yield (
                (written or re.sub(r"_([0-9a-f]{1,4})_", lambda code: chr(int(code[1], 16)), name)).lower(),
                style,
            )
            if style is None or not (name := style.get(_q("style:parent-style-name")) or ""):
                return

    def look(self, name: str, family: str = "text") -> Look:
        """Return the appearance of a style, including the properties that it inherits from its parents. For a
        paragraph, only automatic styles are considered, because shared styles determine its role."""
        if (family, name) not in self._looks:
            look: Look = {}
            for shown, style in self._chain(family, name):
                if family == "paragraph" and (style is None or style.getparent().tag == _q("office:styles")):
                    break
                look = {**self._own_look(style), **({_NAMED[shown]: True} if shown in _NAMED else {}), **look}
            self._looks[family, name] = look
        return self._looks[family, name]

    def role(self, name: str) -> str:
        """Return the role of a paragraph: the level of a heading as a number, a member of ``_ROLES``, or an empty
        string."""
        if name not in self._roles:
            self._roles[name] = self._find_role(name)
        return self._roles[name]

    def _find_role(self, name: str) -> str:
        fixed = False
        for shown, style in self._chain("paragraph", name):
            if shown in _ROLES:
                return _ROLES[shown]
            if level := _HEADING.match(shown):
                return str(max(int(level[1]), 1))
            fixed = fixed or (shown not in _PLAIN_STYLES and self._own_look(style).get("code", False))
        return "pre" if fixed else ""

    def is_table_heading(self, name: str) -> bool:
        return any(shown == "table heading" for shown, _ in self._chain("paragraph", name))

    def numbering(self, name: str, level: int) -> int | None:
        """Return the start number of a list, or None for a bulleted list."""
        if (name, level) not in self._numbers:
            found = (each for each in self._lists.get(name, ()) if _number(each, "text:level", 99) == level)
            sign: Any = next(found, etree.Element("none"))
            shown = sign.tag == _q("text:list-level-style-number") and sign.get(_q("style:num-format"))
            self._numbers[name, level] = _number(sign, "text:start-value", 999_999_999) if shown else None
        return self._numbers[name, level]

    def _own_look(self, style: object) -> Look:
        if style not in self._own:
            self._own[style] = _look_of(style)
        return self._own[style]


def _look_of(style: Any) -> Look:
    properties = style.find(_q("style:text-properties")) if style is not None else None
    if properties is None:
        return {}
    look: Look = {}

    def said(mark: str, name: str, test: Callable[[str], Any]) -> None:
        if (value := properties.get(_q(name))) is not None:
            look[mark] = bool(test(value))

    said("bold", "fo:font-weight", lambda value: value == "bold" or value in ("600", "700", "800", "900"))
    said("italic", "fo:font-style", lambda value: value in ("italic", "oblique"))
    said("struck", "style:text-line-through-type", lambda value: value != "none")
    said("struck", "style:text-line-through-style", lambda value: value != "none")
    said("code", "fo:font-family", _FIXED.search)
    said("code", "style:font-name", _FIXED.search)
    said("above", "style:text-position", lambda value: re.match(r"super|0*[1-9]", value))
    said("below", "style:text-position", lambda value: re.match(r"sub|-", value))
    said("hidden", "text:display", lambda value: value == "none")
    return look


class _Document:
    """Builder of a document's HTML. ``parts``: the HTML. ``problem_counts``: the number of problems by code,
    subject, and heading."""

    def __init__(
        self,
        styles: _Styles,
        read: Callable[[str], bytes | None],
        keep: Callable[[bytes], str | None],
        most: int,
    ) -> None:
        self.styles = styles
        self.read = read
        self.keep = keep
        self.parts: list[str] = []
        self.left = most
        self.problem_counts: Counter[tuple[str, str, str]] = Counter()
        self.place = ""
        self.depth = 0
        self.below = 0
        """Number of levels to move headings down: 1 if the document has a title; otherwise, 0."""
        self.run = ""
        """Tag that is left open because it continues in the next paragraph."""
        self.later: list[Callable[[], None]] = []
        """Blocks anchored in the current paragraph."""
        self.with_frames = True
        self.notes: list[Any] = []
        self.counts: dict[tuple[str, int], int] = {}
        self.lists: dict[str, tuple[str, int]] = {}
        self.chapters: set[Any] = set()
        """Lists that contain headings."""
        self.kept: dict[Any, str | None] = {}
        self.formulas: dict[Any, str] = {}
        self.ids: dict[Any, str] = {}
        self.anchors: dict[str, str] = {}

    def convert(self, body: object) -> None:
        self._clean(body)
        self._find_anchors(body)
        self.blocks(body)
        self.place = ""
        if self.notes:
            self.put("<ol>")
            # A note can contain another note.
            for number, note in enumerate(self.notes, 1):
                self.put(f'<li id="note-{number}">')
                self.blocks(note)
                self.put(f'<a href="#noted-{number}"></a></li>')
            self.put("</ol>")

    def report(self, code: str, what: str) -> None:
        self.problem_counts[code, what, self.place] += 1

    def _clean(self, body: Any) -> None:
        inserted, deleted = (sum(1 for _ in body.iter(tag)) for tag in (_INSERTED, _DELETED))
        if inserted or deleted:
            self.report(
                "tracked_changes",
                f"insertions were accepted ({inserted}), deletions were skipped ({deleted})",
            )
        if comments := sum(1 for _ in body.iter(_q("office:annotation"))):
            self.report("comments_left_out", f"comments were skipped ({comments})")
        gone = (_q("text:tracked-changes"), _q("office:annotation"), *_GENERATED)
        etree.strip_elements(body, *gone, with_tail=False)

    def _find_anchors(self, body: Any) -> None:
        """Find the targets of links within the document. Each target is replaced by the heading above it."""
        links: list[str] = []
        taken: Counter[str] = Counter()
        at = ""
        for element in body.iter(_H, _P, *_MARKS, _TABLE, _FRAME, _q("text:a"), *_REFERENCES):
            if element.tag == _H:
                for around in element.iterancestors(_LIST):
                    if around in self.chapters:
                        break
                    self.chapters.add(around)
            if element.tag in (_H, _P):
                role = self._role(element)
                words = _words(element).strip() if role.isdecimal() or role == "title" else ""
                if not words:
                    continue
                self.below = max(self.below, int(role == "title"))
                id = slug(words) or "section"
                taken[id] += 1
                # The first one is the title of the page.
                at = "" if not self.ids and role in ("title", "1") else id + f"-{taken[id]}" * (taken[id] > 1)
                self.ids[element] = at
                self.anchors.setdefault(f"{words}|outline", at)
            elif element.tag in _MARKS:
                self.anchors.setdefault(element.get(_NAME) or "", at)
            elif element.tag == _TABLE:
                self.anchors.setdefault(f"{element.get(_q('table:name'))}|table", at)
            elif element.tag == _FRAME:
                for kind in ("frame", "graphic", "ole"):
                    self.anchors.setdefault(f"{element.get(_q('draw:name'))}|{kind}", at)
            else:
                links.append(element.get(_HREF) or f"#{element.get(_q('text:ref-name'))}")
        linked = {self._anchor(href) for href in links}
        self.ids = {element: id for element, id in self.ids.items() if id and id in linked}

    def _anchor(self, href: str) -> str | None:
        """Return the ID of the heading to which a link within the document leads; None if the link doesn't have a
        target."""
        if not href.startswith("#"):
            return None
        name = unquote(href[1:])
        # Links to headings can start with the chapter number.
        return self.anchors.get(name, self.anchors.get(re.sub(r"\A(?:[0-9]+\.)+ ?", "", name)))

    def _role(self, element: Any) -> str:
        role = self.styles.role(element.get(_STYLE) or "")
        if element.tag == _H and role != "title":
            return str(max(_number(element, "text:outline-level", 10), 1))
        return role

    # Output

    def spend(self, much: int) -> None:
        """Count output and visited elements, so that documents with nested repetitions reach a limit."""
        self.left -= much
        if self.left < 0:
            raise SourceError("the document has too much content")

    def put(self, html: str) -> None:
        self.spend(len(html))
        self.parts.append(html)

    def all_words(self, element: Any) -> str:
        self.spend(sum(1 for _ in element.iter()))
        return "".join(element.itertext())

    def say(self, text: str | None, look: Look) -> None:
        """Write text from the document. Each run of whitespace becomes a single space, as in OpenDocument's XML."""
        self._write(re.sub(r"[ \t\r\n]+", " ", text or ""), look)

    def _write(self, text: str, look: Look) -> None:
        if not text:
            return
        if look.get("hidden"):
            if text.strip():
                self.report("left_out", "hidden text")
            return
        tags = [tag for mark, tag in _TAGS if look.get(mark)] if text.strip() and self.run != "pre" else ()
        if not tags:
            self.put(escape(text))
            return
        # Spaces next to marked words often carry the same marks.
        words = text.strip()
        before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
        opening, closing = "".join(f"<{tag}>" for tag in tags), "".join(f"</{tag}>" for tag in reversed(tags))
        self.put(f"{before}{opening}{escape(words)}{closing}{after}")

    def within(self, tag: str) -> None:
        if tag != self.run:
            self.put((f"</{self.run}>" if self.run else "") + (f"<{tag}>" if tag else ""))
            self.run = tag

    # Blocks

    def blocks(self, element: Any) -> None:
        for child in element:
            self.block(child)
        self.within("")

    def block(self, element: Any) -> None:
        self.spend(_ELEMENT)
        tag = element.tag
        if tag in _SILENT:
            return
        if tag in (_H, _P):
            self.paragraph(element)
            return
        self.within("")
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            self.put(f"<p>{escape(self.all_words(element))}</p>")
        elif tag == _LIST:
            self.items(element)
        elif tag == _TABLE:
            self.put("<table>")
            self.rows(element)
            self.put("</table>")
        elif element.get(_q("text:display")) == "none" or _is_hidden(element):
            self.report("left_out", "a hidden section")
        elif tag in _HOLDERS:
            self.blocks(element)
        else:
            self._anchored(partial(self.inline, element, {}))
        self.depth -= 1

    def _anchored(self, make: Callable[[], None], tag: str = "p", attributes: str = "") -> None:
        """Write a paragraph, followed by the blocks anchored in it."""
        outer, self.later = self.later, []
        if self.run == "pre":
            make()
            self.put("\n")
        else:
            self.put(f"<{tag}{attributes}>")
            make()
            self.put(f"</{tag}>")
        inner, self.later = self.later, outer
        for block in inner:
            self.within("")
            block()
        if inner:
            self.within("")

    def paragraph(self, element: Any) -> None:
        role = self._role(element)
        self.within({"pre": "pre", "quote": "blockquote"}.get(role, ""))
        if role == "rule":
            self.put("<hr>")
        look = self.styles.look(element.get(_STYLE) or "", "paragraph")
        tag, attributes = "p", ""
        if role.isdecimal() or role == "title":
            self.place = _words(element).strip()[:80]
            tag = "h1" if role == "title" else f"h{min(int(role) + self.below, 6)}"
            attributes = f' id="{escape(self.ids[element])}"' if element in self.ids else ""
            # Headings are bold anyway.
            look = {}
        elif role == "subtitle":
            look = {"italic": True}
        elif role == "caption":
            # The subject of the caption may be in the same paragraph.
            for frame in element.iter(_FRAME):
                if next(frame.iterancestors(_FRAME, _P)) is element:
                    self._anchored(partial(self._frame, frame))
            tag = "figcaption"
        outer, self.with_frames = self.with_frames, role != "caption"
        self._anchored(partial(self.runs, element, look), tag, attributes)
        self.with_frames = outer

    def items(self, element: Any, style: str = "", level: int = 1, goes_on: bool = False) -> None:
        self.spend(len(element))
        if element in self.chapters:
            # Numbered chapters are headings in lists.
            for item in element:
                self.blocks(item)
            return
        style = element.get(_STYLE) or style
        start = self.styles.numbering(style, level)
        tag = "ul" if start is None else "ol"
        number = start or 1
        earlier = self.lists.get(element.get(_q("text:continue-list")) or "")
        if earlier or goes_on or element.get(_q("text:continue-numbering")) == "true":
            goes_on = True
            number = self.counts.get(earlier or (style, level), number - 1) + 1
        items = [item for item in element if item.tag in _ITEMS]
        if not items:
            return
        if not items[0].get(_q("text:start-value")) and goes_on and self.parts[-1:] == [f"</{tag}>"]:
            # This is a single list that the document splits into several.
            self.parts.pop()
        else:
            number = _number(items[0], "text:start-value", 999_999_999, number)
            self._begin(tag, number)
        for item in items:
            if item is not items[0] and item.get(_q("text:start-value")) and tag == "ol":
                number = _number(item, "text:start-value", 999_999_999)
                self.put("</ol>")
                self._begin(tag, number)
            self.spend(1 + len(item))
            inner = [child for child in item if child.tag not in _SILENT]
            alone = bool(inner) and all(child.tag == _LIST for child in inner)
            if alone and self.parts[-1] == "</li>":
                # Deeper levels belong to the preceding item.
                self.parts.pop()
            else:
                self.put("<li>")
                self.counts.pop((style, level + 1), None)
                if not alone:
                    self.counts[style, level] = number
                    number += 1
            for child in inner:
                if child.tag == _LIST and self.depth < _MAX_DEPTH:
                    self.within("")
                    self.depth += 1
                    self.items(child, style, level + 1, alone and goes_on)
                    self.depth -= 1
                else:
                    self.block(child)
            self.within("")
            self.put("</li>")
        self.put(f"</{tag}>")
        if id := element.get(_q("xml:id")):
            self.lists[id] = (style, level)

    def _begin(self, tag: str, number: int) -> None:
        self.put(f'<ol start="{number}">' if tag == "ol" and number != 1 else f"<{tag}>")

    def rows(self, element: Any, head: bool = False) -> None:
        self.spend(len(element))
        for child in element:
            if child.tag == _q("table:table-header-rows"):
                self.put("<thead>")
                self.rows(child, True)
                self.put("</thead>")
            elif child.tag in _ROWS:
                self.rows(child, head)
            elif child.tag == _q("table:table-row"):
                times = self._times(child, "table:number-rows-repeated", _MAX_ROWS, "a row")
                for _ in range(times):
                    self.put("<tr>")
                    self._cells(child, head)
                    self.put("</tr>")

    def _cells(self, row: Any, head: bool) -> None:
        self.spend(len(row))
        for cell in row.iterchildren(_q("table:table-cell")):
            first = cell.find(_P)
            tag = "td"
            if head or first is not None and self.styles.is_table_heading(first.get(_STYLE) or ""):
                tag = "th"
            across = _number(cell, "table:number-columns-spanned", _MAX_COLUMNS)
            down = _number(cell, "table:number-rows-spanned", _MAX_ROWS)
            spans = f' colspan="{across}"' * (across > 1) + f' rowspan="{down}"' * (down > 1)
            for _ in range(self._times(cell, "table:number-columns-repeated", _MAX_COLUMNS, "a cell")):
                self.put(f"<{tag}{spans}>")
                self.blocks(cell)
                self.put(f"</{tag}>")

    def _times(self, element: object, name: str, most: int, what: str) -> int:
        times = _number(element, name, most + 1)
        if times > most:
            self.report("left_out", f"repetitions of {what} in a table after the first {most}")
        return min(times, most)

    # Text

    def runs(self, element: Any, look: Look) -> None:
        self.say(element.text, look)
        for child in element:
            self.inline(child, look)
            self.say(child.tail, look)

    def inline(self, element: Any, look: Look) -> None:
        self.spend(_ELEMENT)
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            self.say(self.all_words(element), look)
        elif element.tag not in _SILENT:
            self._inline(element, look)
        self.depth -= 1

    def _inline(self, element: Any, look: Look) -> None:
        tag = element.tag
        if tag == _q("text:s"):
            self._write(" " * _number(element, "text:c", _MAX_BLANKS), look)
        elif tag == _q("text:tab"):
            self._write("\t", look)
        elif tag == _q("text:line-break"):
            self.put("\n" if self.run == "pre" else "<br>")
        elif tag == _q("text:span"):
            self.runs(element, {**look, **self.styles.look(element.get(_STYLE) or "")})
        elif tag in (_q("text:a"), _q("draw:a")):
            self._link(element, element.get(_HREF) or "", look)
        elif tag in _REFERENCES:
            self._link(element, f"#{element.get(_q('text:ref-name'))}", look)
        elif tag == _NOTE:
            self._note(element)
        elif tag == _q("text:ruby-text"):
            self._write(" (", look)
            self.runs(element, look)
            self._write(")", look)
        elif tag == _FRAME:
            if self.with_frames:
                self._frame(element)
        elif _is_hidden(element):
            self.report("left_out", "hidden text")
        elif tag == _q("text:script"):
            self.report("left_out", "a script")
        elif tag in (_P, _H, _LIST, _TABLE):
            self.later.append(partial(self.block, element))
        elif tag.startswith(_SPACES["draw"]):
            self.report(
                "left_out",
                "a form field" if tag == _q("draw:control") else "a drawing; its text was kept",
            )
            self.later.append(partial(self.blocks, element))
        elif not tag.startswith(_SPACES["svg"]):
            # Fields keep the last value that they showed.
            self.runs(element, look)

    def _link(self, element: object, href: str, look: Look) -> None:
        if href.startswith("#"):
            anchor = self._anchor(href)
            if anchor is None:
                self.report("broken_link", f"{href[:200]} doesn't exist in the document")
            href = f"#{anchor}" if anchor is not None else ""
        else:
            href = _resolve_relative(href)
        if self.run == "pre" or not href:
            self.runs(element, look)
            return
        self.put(f'<a href="{escape(href)}">')
        self.runs(element, look)
        self.put("</a>")

    def _note(self, element: Any) -> None:
        self.spend(len(element))
        body = element.find(_q("text:note-body"))
        if body is not None:
            self.notes.append(body)
            number = len(self.notes)
            refers = f'<sup><a href="#note-{number}" id="noted-{number}">{number}</a></sup>'
            self.put(f"[{number}]" if self.run == "pre" else refers)

    def _frame(self, element: Any) -> None:
        if self.run == "pre":
            self.later.append(partial(self._anchored, partial(self._frame, element)))
            return
        self.spend(len(element))
        alt = ""
        for name in ("svg:title", "svg:desc"):
            said = element.find(_q(name))
            alt = alt or (_words(said).strip() if said is not None else "")
        box = element.find(_q("draw:text-box"))
        embedded = next(element.iterchildren(_q("draw:object"), _q("draw:object-ole")), None)
        images = list(element.iterchildren(_q("draw:image")))
        if box is not None:
            self.later.append(partial(self.blocks, box))
        elif embedded is not None and (formula := self._formula(embedded)):
            self.put(f"<code>{escape(formula)}</code>")
            self.report("left_out", "a formula, imported as source text")
        elif embedded is not None:
            known = [image for image in images if self._keep(image)]
            self._image(known, alt)
            self.report("left_out", "an embedded object" + (", imported as an image" if known else ""))
        elif images:
            self._image(images, alt)
        elif len(element):
            self.report("left_out", "an unsupported frame")

    def _formula(self, embedded: Any) -> str:
        """Return the source of a formula or, if there is none, its symbols; empty if the object isn't a formula."""
        key = embedded.get(_HREF) or embedded
        if key not in self.formulas:
            root = embedded.find(_q("math:math"))
            if root is None:
                try:
                    root = _parse_part(
                        self.read(f"{(embedded.get(_HREF) or '').removeprefix('./')}/content.xml")
                    )
                except SourceError:
                    return ""
            typed = next(root.iter(_q("math:annotation")), root)
            words = "".join(typed.itertext()) if root.tag == _q("math:math") else ""
            self.formulas[key] = re.sub(r"\s+", " ", words).strip()
        return self.formulas[key]

    def _keep(self, image: Any) -> str | None:
        """Store an image of the document and return its path; empty if the image is too large or in an unknown
        format, and None if the image isn't part of the document."""
        held = image.find(_q("office:binary-data"))
        key = image if held is not None else image.get(_HREF)
        if key not in self.kept:
            data = self.read((key or "").removeprefix("./")) if held is None else _decoded(held.text or "")
            self.kept[key] = data if data is None else self.keep(data) or "" if name_image(data) else ""
        return self.kept[key]

    def _image(self, images: list[Any], alt: str) -> None:
        """Write an image, using the first of its versions that is in a supported format."""
        kept = [self._keep(image) for image in images]
        source = next(filter(None, kept), None)
        if source is None and "" in kept:
            self.report("image_left_out", "an image is damaged, too large, or has an unknown format")
        elif source is None and images:
            source = _resolve_relative(images[0].get(_HREF) or "")
            if re.match(r"(?!https?:)[A-Za-z][A-Za-z0-9+.-]*:", source):
                self.report("missing_image", f"{source[:200]} doesn't exist in the document")
                source = None
        if source:
            self.put(f'<img src="{escape(source)}" alt="{escape(alt)}">')
        else:
            self._write(alt, {})


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text)
    except (binascii.Error, ValueError):
        return b""


def _is_hidden(element: Any) -> bool:
    return bool(element.get(_q("text:is-hidden")) == "true")


def _resolve_relative(href: str) -> str:
    """Return a relative URL as a path relative to the file. OpenDocument treats the document itself as a folder to
    which URLs are relative."""
    return href.removeprefix("../")
