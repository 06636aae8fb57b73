"""Conversion of HTML to pages. The content of a page becomes nodes; nothing in them can run.

The nodes are made here and written by the shared writer, so everything in a text (Markdown, custom tags, HTML) stays
text. Elements without a node of their own are transparent; elements that only control the browser are dropped.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any
from urllib.parse import unquote

from lxml import etree
from msgspec import Struct

from octavo.core.document.anchors import slug
from octavo.core.document.json import DocumentError, from_json
from octavo.core.document.nodes import MAX_NODES
from octavo.core.document.page import with_head
from octavo.core.document.writing import write
from octavo.core.json_types import JsonObject
from octavo.core.url_parts import read_address

from .office_pages import canvas_of, normalize_markup

MAX_DEPTH = 60
_SAFE_DEPTH = 16
MAX_TITLE = 200
_MAX_COLUMNS = 60
_PARTS = ("p", "li", "dt", "dd", "td", "th", "pre", "img", "h1", "h2", "h3", "h4", "h5", "h6")
"""Elements that become at least two nodes."""

Node = dict[str, Any]
Rewrite = Callable[[str], str | None]
"""Callback that returns the new form of a reference on the page, or None to drop it."""

_DROPPED = frozenset(
    """script style template noscript svg canvas object embed applet map area head meta link base title param
    button input select option optgroup textarea datalist dialog portal slot frame frameset noframes track source
    """.split()
)
_BLOCKS = frozenset(
    """address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption figure footer
    form h1 h2 h3 h4 h5 h6 header hgroup hr html iframe legend li main menu nav ol p pre section summary table tbody td
    tfoot th thead tr ul video audio""".split()
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
_HINT = re.compile(
    r"(?:admonition|alert|callout|notice|hint|theme-admonition|starlight-aside|markdown-alert|custom-block)"
    r"(?!.*[-_](?:body|content|heading|icon|title)$)"
)
_HINT_KINDS = (
    ("danger", ("danger", "error", "failure", "bug")),
    ("warning", ("warning", "caution", "attention")),
    ("success", ("success", "tip", "check", "done")),
    ("info", ("",)),
)
_LANGUAGE = re.compile(r"(?:language|lang|highlight-source|highlight|brush:?)[-: ]?([A-Za-z0-9+#_.-]{1,30})$")
_NO_LANGUAGE = frozenset(
    ["default", "none", "text", "plain", "plaintext", "notranslate", "source", "highlight"]
)
_MARKS = {
    "b": "bold",
    "strong": "bold",
    "i": "italic",
    "em": "italic",
    "cite": "italic",
    "dfn": "italic",
    "var": "italic",
    "code": "code",
    "tt": "code",
    "samp": "code",
    "kbd": "keyboard",
    "s": "strikethrough",
    "del": "strikethrough",
    "strike": "strikethrough",
    "sup": "superscript",
    "sub": "subscript",
}
_SPACES = re.compile(r"[ \t\n\r\f]+")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:")
_HARMLESS = frozenset(["http", "https", "mailto", "tel"])


class Converted(Struct, frozen=True):
    """A converted page. ``text``: the whole Markdown file; ``links``: the hrefs of the source, including
    navigation, in order."""

    title: str
    text: str
    links: list[str]


def parse_html(data: bytes | str, encoding: str | None = None) -> Any | None:
    """Return the tree of a page, or None if it is empty. ``encoding``: the encoding from the response. Never
    fetches anything and never fails."""
    text = canvas_of(data if isinstance(data, str) else decode_html(data, encoding))
    parser = etree.HTMLParser(
        encoding="utf-8",
        no_network=True,
        remove_comments=True,
        remove_pis=True,
        # Otherwise lxml silently drops everything deeply nested. The caller limits the size.
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
    """Return the language that the root element of a page states, empty if it states none."""
    return next((str(root.get("lang")) for root in tree.iter("html") if root.get("lang")), "")


_MARKED = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_CHARSET = re.compile(rb"""<meta[^>]{0,500}?charset\s*=\s*["']?\s*([\w.:-]{1,40})""", re.IGNORECASE)
_SNIFFED = 1024 * 4
# Pages that state these encodings use a superset, and browsers read them that way.
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


def decode_html(data: bytes, told: str | None = None) -> str:
    """Decode the text of a page like a browser: by its byte order mark, the encoding that its response ``told``,
    or its own ``<meta>``, else as UTF-8, and if it isn't UTF-8, as Windows-1252."""
    for mark, name in _MARKED:
        if data.startswith(mark):
            return data.decode(name, "replace")
    said = _CHARSET.search(data[:_SNIFFED])
    for given in (told, said[1].decode() if said else None):
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
            # Other codecs fail on, or skip, bytes that they can't decode.
            continue
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def convert(tree: Any, *, link: Rewrite, image: Rewrite, fallback_title: str = "") -> Converted:
    """Convert a tree from ``parse_html`` to a page: its main content, without the parts around it.

    Raises DocumentError for a tree that can't be represented as a page.
    """
    links = [a.get("href") for a in tree.iter("a", "area") if a.get("href")]
    told = _told_title(tree)
    description = _told_description(tree)
    main = _main_content(tree)
    _drop_lead(main, description)
    notes = _take_notes(main)
    # Don't build what would be rejected at the end.
    for elements, most in ((main.iter(*_PARTS), MAX_NODES // 2), (main.iter(), MAX_NODES * 4)):
        if next(islice(elements, most, None), None) is not None:
            raise DocumentError(f"the page has more than {MAX_NODES:,} elements")
    try:
        title, body = _written(_Maker(link, image, MAX_DEPTH, notes).flow(main))
    except DocumentError as error:
        if "nested" not in str(error):
            raise
        title, body = _written(_Maker(link, image, _SAFE_DEPTH, notes).flow(main))
    title = (title or told or fallback_title or "Untitled")[:MAX_TITLE]
    head = {"title": title, **_without_empty(description=description)}
    return Converted(title, with_head("", head) + ("\n" + body if body else ""), links)


def _written(nodes: list[Node]) -> tuple[str, str]:
    """Return the title, and the Markdown of the rest."""
    title, rest = _lift_title(nodes)
    return title, write(from_json({"object": "document", "data": {"schemaVersion": 1}, "nodes": rest}))


# --- find the content ---------------------------------------------------------------------------------


def _told_title(tree: Any) -> str:
    for meta in tree.iter("meta"):
        if meta.get("property") == "og:title" and meta.get("content"):
            return _squeezed(meta.get("content"))
    title = next(tree.iter("title"), None)
    text = _squeezed("".join(title.itertext())) if title is not None else ""
    # Sites append their own name to the title of a page.
    return re.split(r" [|–—·»] ", text)[0].strip()


def _told_description(tree: Any) -> str:
    for meta in tree.iter("meta"):
        # If a page has no description of its own, Octavo uses its first sentence.
        if meta.get("data-from-text") is not None:
            continue
        if (meta.get("name") or "").lower() == "description" and meta.get("content"):
            return _squeezed(meta.get("content"))[:500]
    return ""


def _main_content(tree: Any) -> Any:
    body = next(tree.iter("body"), tree)
    for found in (
        [e for e in body.iter("main") if _is_shown(e)],
        [e for e in body.iter(etree.Element) if e.get("role") == "main"],
        [e for e in body.iter("article") if _is_shown(e)],
    ):
        if found:
            main = max(found[:20], key=_weight)
            articles = list(main.iter("article"))
            return articles[0] if len(articles) == 1 and _weight(articles[0]) * 2 > _weight(main) else main
    return body


def _drop_lead(main: Any, description: str) -> None:
    """Drop a description shown below the title, because it is already in the head of the page."""
    for paragraph in main.iter("p"):
        before = paragraph.getprevious()
        if description and before is not None and before.tag == "h1":
            if _squeezed("".join(paragraph.itertext()))[:500] == description:
                paragraph.getparent().remove(paragraph)
            return


_NOTE = "data-octavo-note"
_REFERS = re.compile(r"footnote|endnote|noteref|citation|biblioref", re.IGNORECASE)


def _take_notes(main: Any) -> JsonObject:
    """Remove the footnotes from a page, by id, and mark the references to them. A footnote is the target of a
    number, and links back to that number."""
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
        refers.set(_NOTE, name)
    for note in notes.values():
        _drop_with_parent(note)
    return notes


def drop(element: Any) -> None:
    """Remove an element from its tree and keep the text after it."""
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
    """Remove an element but keep the text after it. Remove its parent too if that has nothing else."""
    parent = element.getparent()
    drop(element)
    if parent is None:
        return
    is_empty = all(child.tag == "hr" for child in parent) and not "".join(parent.itertext()).strip()
    if is_empty and parent.tag in ("ol", "ul", "div", "section", "aside", "dl"):
        _drop_with_parent(parent)


def _weight(element: Any) -> int:
    return sum(len(text) for text in element.itertext())


def _classes(element: Any) -> list[str]:
    return f"{element.get('class') or ''} {element.get('id') or ''}".lower().split()


def _is_shown(element: Any) -> bool:
    if element.get("hidden") is not None and element.get("role") != "tabpanel":
        return False
    if element.get("aria-hidden") == "true":
        return False
    return re.search(r"display\s*:\s*none", element.get("style") or "") is None


def _is_chrome(element: Any) -> bool:
    """Return whether an element isn't content: navigation, footers, buttons, permalinks."""
    tag = element.tag
    if tag in _DROPPED or not _is_shown(element):
        return True
    classes = _classes(element)
    if tag in ("aside", "div", "section") and any(_HINT.match(name) for name in classes):
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


def _lift_title(nodes: list[Node]) -> tuple[str, list[Node]]:
    """Return the title: the first heading of the first level, if little comes before it."""
    for at, node in enumerate(nodes[:4]):
        if node["type"] == "heading-0":
            return _squeezed(_plain(node)), _settled(nodes[:at] + nodes[at + 1 :])
    return "", _settled(nodes)


def _settled(nodes: list[Node]) -> list[Node]:
    for node in nodes:
        if node["type"] == "heading-0":
            node["type"] = "heading-1"
        for key in ("nodes", "fragments"):
            if isinstance(node.get(key), list):
                _settled([child for child in node[key] if "type" in child])
    return nodes


def _plain(node: Node) -> str:
    if node.get("object") == "leaf":
        return str(node["text"])
    return "".join(_plain(child) for child in [*node.get("nodes", ()), *node.get("leaves", ())])


def _squeezed(text: str) -> str:
    return _SPACES.sub(" ", text).strip()


# --- build the nodes ----------------------------------------------------------------------------------


def _block(type: str, nodes: list[Node] | None = None, **data: object) -> Node:
    node: Node = {"object": "block", "type": type, "isVoid": nodes is None, "data": data}
    if nodes is not None:
        node["nodes"] = nodes
    return node


def _without_empty(**data: object) -> JsonObject:
    """Return the members that aren't empty."""
    return {name: value for name, value in data.items() if value}


def _text(text: str, marks: Iterable[str] = ()) -> Node:
    leaf = {"object": "leaf", "text": text, "marks": [{"object": "mark", "type": mark} for mark in marks]}
    return {"object": "text", "leaves": [leaf]}


def _text_between_tags(text: str, marks: Iterable[str] = ()) -> Node:
    """Return text between tags, in which a line end is a space. A text that consists only of a line end breaks the
    line."""
    return _text(" " if text == "\n" else text, marks)


def _inline(type: str, nodes: list[Node] | None = None, **data: object) -> Node:
    node: Node = {"object": "inline", "type": type, "isVoid": nodes is None, "data": data}
    if nodes is not None:
        node["nodes"] = nodes
    return node


def _fragment(name: str, type: str, nodes: list[Node]) -> Node:
    return {"object": "fragment", "fragment": name, "type": type, "nodes": nodes}


def _as_inline_code(node: Node) -> Node:
    """Return a one-line listing as inline code, for use in a cell."""
    if node["type"] != "code" or len(node["nodes"]) != 1 or "title" in node["data"]:
        return node
    return _block("paragraph", [_text(_plain(node), ("code",))])


def _url(url: str) -> dict[str, str]:
    return {"kind": "url", "url": url}


class _Maker:
    """Builder of the nodes of an element. Recursion stops at ``deepest``; below that, there is only text."""

    def __init__(
        self, link: Rewrite, image: Rewrite, deepest: int, notes: Mapping[str, object] | None = None
    ) -> None:
        self.notes = notes or {}
        self.link = link
        self.image = image
        self.deepest = deepest
        self.depth = 0

    def flow(self, element: Any) -> list[Node]:
        """Return the content of an element as blocks. Text between blocks becomes paragraphs."""
        if self.depth >= self.deepest:
            text = _squeezed("".join(element.itertext()))
            return [_block("paragraph", [_text(text)])] if text else []
        self.depth += 1
        try:
            return self._flow(element)
        finally:
            self.depth -= 1

    def _flow(self, element: Any) -> list[Node]:
        found: list[Node] = []
        run: list[Node] = []

        def end_run() -> None:
            found.extend(_paragraphs(run))
            run.clear()

        if element.text:
            run.append(_text_between_tags(element.text))
        for child in element:
            if isinstance(child.tag, str) and not _is_chrome(child):
                if child.tag in _BLOCKS or _holds_blocks(child):
                    end_run()
                    if child.tag != "figcaption" or not self._caption(child, found):
                        found += self.block(child)
                else:
                    run += self.inlines(child, ())
            if child.tail:
                run.append(_text_between_tags(child.tail))
        end_run()
        return found

    def _caption(self, element: Any, before: list[Node]) -> bool:
        """Turn an element into the caption of the image, or the title of the listing, next to it."""
        words = _trimmed(self._inlines_in(element, ()))
        if words and before and before[-1]["type"] == "images" and not before[-1]["nodes"][-1]["fragments"]:
            words = [node for node in words if node.get("type") != "inline-image"]
            before[-1]["nodes"][-1]["fragments"] = [
                _fragment("caption", "caption", [_block("paragraph", words)])
            ]
            return True
        return element.getparent().tag == "figure" and next(element.itersiblings("pre"), None) is not None

    def _tabs(self, element: Any, panels: list[Any]) -> list[Node]:
        titles = {
            tab.get("id"): _squeezed("".join(tab.itertext()))
            for tab in element.iter("button", "a", "li")
            if tab.get("role") == "tab"
        }
        items = []
        for number, panel in enumerate(panels):
            title = (
                titles.get(panel.get("aria-labelledby")) or [*titles.values(), *[""] * len(panels)][number]
            )
            inside = self.flow(panel)
            if inside and inside[0]["type"] == "paragraph" and _squeezed(_plain(inside[0])) == title:
                # Repeats content for browsers without scripts.
                del inside[0]
            items.append(_block("tabs-item", inside or [_block("paragraph", [_text("")])], title=title))
        return [_block("tabs", items)]

    def block(self, element: Any) -> list[Node]:
        tag = element.tag
        panels = [child for child in element if child.get("role") == "tabpanel"] if tag == "div" else []
        if len(panels) > 1 and any(child.get("role") == "tablist" for child in element):
            return self._tabs(element, panels)
        if re.fullmatch(r"h[1-6]", tag):
            return self._heading(element)
        if any(_HINT.match(name) for name in _classes(element)) and tag in (
            "div",
            "aside",
            "section",
            "blockquote",
        ):
            return self._hint(element)
        made = _BUILDERS.get(tag)
        return made(self, element) if made else self.flow(element)

    # Inlines

    def inlines(self, element: Any, marks: tuple[str, ...]) -> list[Node]:
        """Return the nodes of an inline element and its content."""
        tag = element.tag
        if tag == "br":
            return [_text("\n")]
        if (note := element.get(_NOTE)) in self.notes:
            return self._note(note)
        if tag == "wbr":
            return []
        if tag == "img":
            return self._inline_image(element)
        if self.depth >= self.deepest:
            return [_text("".join(element.itertext()), marks)]
        if tag in ("code", "tt") and "math" in _classes(element):
            return [_inline("inline-math", formula=_squeezed("".join(element.itertext())))]
        if tag == "span" and "katex" in _classes(element):
            written = next(
                (
                    one.text
                    for one in element.iter("annotation")
                    if one.get("encoding") == "application/x-tex"
                ),
                None,
            )
            if written:
                return [_inline("inline-math", formula=_squeezed(written))]
        mark = _MARKS.get(tag)
        if mark and mark not in marks:
            marks = (*marks, mark)
        self.depth += 1
        try:
            inside = self._inlines_in(element, marks)
        finally:
            self.depth -= 1
        if tag == "a":
            return self._link(element, inside)
        return [_text(f"“{_plain({'nodes': inside})}”", marks)] if tag == "q" else inside

    def _inlines_in(self, element: Any, marks: tuple[str, ...]) -> list[Node]:
        found = [_text_between_tags(element.text, marks)] if element.text else []
        for child in element:
            if isinstance(child.tag, str) and not _is_chrome(child):
                if child.tag in _BLOCKS:
                    found.append(_text(" "))
                found += self.inlines(child, marks)
            if child.tail:
                found.append(_text_between_tags(child.tail, marks))
        return found

    def _note(self, name: str) -> list[Node]:
        """Return a footnote. One that refers to itself has no text there."""
        inside = self.flow(self.notes[name]) if self.depth < self.deepest // 2 else []
        label = str(list(self.notes).index(name) + 1)
        body = _fragment(label, "annotation-body", inside or [_block("paragraph", [_text("")])])
        return [{**_inline("annotation", []), "fragments": [body]}]

    def _link(self, element: Any, inside: list[Node]) -> list[Node]:
        href = _safe_href(element.get("href"))
        href = self.link(href) if href else None
        if not href or not inside:
            return inside
        kept = [node for node in inside if node.get("type") != "link"]
        if not _squeezed(_plain({"nodes": kept})) and not any(n.get("type") == "inline-image" for n in kept):
            return inside
        return [_inline("link", kept, ref=_url(href))]

    def _source_of(self, element: Any) -> str | None:
        written = element.get("src") or ""
        if not written or written.startswith("data:image/gif;base64,R0lGOD"):
            # A placeholder until a script inserts the image.
            written = element.get("data-src") or element.get("data-original") or written
        if not written and element.get("srcset"):
            written = element.get("srcset").split(",")[0].split()[0]
        return self.image(written.strip()) if written.strip() else None

    def _inline_image(self, element: Any) -> list[Node]:
        source, alt = self._source_of(element), _squeezed(element.get("alt") or "")
        if source is None:
            return [_text(alt)] if alt else []
        return [
            _inline("inline-image", ref=_url(source), **_without_empty(alt=alt, width=_width_of(element)))
        ]

    # Blocks

    def _heading(self, element: Any) -> list[Node]:
        level = int(element.tag[1])
        nodes = _trimmed(self._inlines_in(element, ()))
        text = _squeezed(_plain({"nodes": nodes}))
        if not text:
            return []
        pinned = _explicit_id(element)
        data = {"id": pinned} if pinned and pinned != slug(text) else {}
        # The page title comes from elsewhere. Level 0 marks a heading that may be the title.
        nodes = [node for node in nodes if node.get("type") != "inline-image"] if level == 1 else nodes
        return [_block(f"heading-{min(level - 1, 3)}", nodes, **data)]

    def _paragraph(self, element: object) -> list[Node]:
        return self.flow(element)

    def _quote(self, element: object) -> list[Node]:
        inside = self.flow(element)
        return [_block("blockquote", inside)] if inside else []

    def _hint(self, element: object) -> list[Node]:
        words = " ".join(_classes(element))
        style = next(style for style, names in _HINT_KINDS if any(name in words for name in names))
        inside = self.flow(element)
        return [_block("hint", inside, style=style)] if inside else []

    def _divider(self, element: object) -> list[Node]:
        return [_block("divider")]

    def _code(self, element: Any) -> list[Node]:
        parts: list[str] = []
        for event, node in etree.iterwalk(element, events=("start", "end")):
            if event == "start":
                if node.tag == "br":
                    parts.append("\n")
                if isinstance(node.tag, str) and node.tag not in _DROPPED and node.text:
                    parts.append(node.text)
            elif node is not element and node.tail:
                parts.append(node.tail)
        lines = "".join(parts).replace("\r\n", "\n").strip("\n").split("\n")
        if lines == [""]:
            return []
        if "math" in _classes(element):
            return [_block("math", formula="\n".join(lines))]
        syntax = _language_of(element)
        nodes = [_block("code-line", [_text(line)]) for line in lines]
        above = element.getparent()
        named = next(above.iterchildren("figcaption"), None) if above is not None else None
        title = None
        if named is not None and above.tag == "figure":
            title = _squeezed(_plain({"nodes": self._inlines_in(named, ())}))
        return [_block("code", nodes, **_without_empty(syntax=syntax, title=title))]

    def _list(self, element: Any) -> list[Node]:
        items: list[Node] = []
        checked: list[bool | None] = []

        def said(words: str | None) -> None:
            """Include text placed directly in the list, because browsers show it."""
            if words and words.strip():
                items.append(_block("list-item", [_block("paragraph", [_text(_squeezed(words))])]))
                checked.append(None)

        said(element.text)
        for child in element:
            if child.getprevious() is not None:
                said(child.getprevious().tail)
            if not isinstance(child.tag, str) or _is_chrome(child):
                continue
            if child.tag in ("ul", "ol") and items:
                # A list placed directly in a list belongs to the preceding item.
                items[-1]["nodes"] += self.block(child)
                continue
            box = next((i for i in child.iter("input") if i.get("type") == "checkbox"), None)
            inside = self.flow(child) or [_block("paragraph", [_text("")])]
            items.append(_block("list-item", inside))
            checked.append(None if box is None else box.get("checked") is not None)
        said(element[-1].tail if len(element) else None)
        if not items:
            return []
        if all(state is not None for state in checked):
            for item, state in zip(items, checked, strict=True):
                item["data"]["checked"] = state
            return [_block("list-tasks", items)]
        if element.tag == "ol":
            start = element.get("start") or ""
            return [
                _block(
                    "list-ordered",
                    items,
                    **({"start": int(start)} if re.fullmatch(r"\d{1,9}", start) else {}),
                )
            ]
        return [_block("list-unordered", items)]

    def _terms(self, element: Any) -> list[Node]:
        found: list[Node] = []
        for child in element.iter("dt", "dd"):
            if child.tag == "dt":
                nodes = _trimmed(self._inlines_in(child, ("bold",)))
                if nodes:
                    found.append(_block("paragraph", nodes))
            else:
                found += self.flow(child)
        return found

    def _figure(self, element: Any) -> list[Node]:
        caption = next(element.iter("figcaption"), None)
        words = _trimmed(self._inlines_in(caption, ())) if caption is not None else []
        images = (
            [] if any(True for _ in element.iter("pre", "table", "iframe")) else list(element.iter("img"))
        )
        made: list[Node] = []
        for each in images:
            shown = self._image_block(each)
            if made and shown and "only-dark" in (each.get("class") or "").split():
                # The dark variant that Octavo published next to the light one.
                made[-1]["data"]["refDark"] = shown[0]["data"]["ref"]
            else:
                made += shown
        if not made:
            return self.flow(element)
        if words:
            words = [node for node in words if node.get("type") != "inline-image"]
            made[-1]["fragments"] = [_fragment("caption", "caption", [_block("paragraph", words)])]
        return [_block("images", made)]

    def _image_block(self, element: Any) -> list[Node]:
        source, alt = self._source_of(element), _squeezed(element.get("alt") or "")
        if source is None:
            return []
        data = _without_empty(alt=alt, width=_width_of(element))
        return [{**_block("image", ref=_url(source), **data), "fragments": []}]

    def _details(self, element: Any) -> list[Node]:
        summary = next((child for child in element if child.tag == "summary"), None)
        title = _trimmed(self._inlines_in(summary, ())) if summary is not None else []
        inside = [node for node in self.flow(element)]
        fragments = [
            _fragment(
                "expandable-title", "expandable-title", [_block("paragraph", title or [_text("Details")])]
            ),
            _fragment("expandable-body", "expandable-body", inside or [_block("paragraph", [_text("")])]),
        ]
        return [{**_block("expandable"), "fragments": fragments}]

    def _nothing(self, element: object) -> list[Node]:
        return []

    def _player(self, element: Any) -> list[Node]:
        source = element.get("src") or next(
            (s.get("src") for s in element.iter("source") if s.get("src")), None
        )
        source = _safe_href(source)
        if source and source.startswith("//"):
            source = f"https:{source}"
        if not source or not source.lower().startswith(("http://", "https://")):
            return []
        return [_block("embed", url=source)]

    # Tables

    def _table(self, element: Any) -> list[Node]:
        rows = [row for row in element.iter("tr") if _table_of(row) is element]
        cells = [[c for c in row if c.tag in ("td", "th")] for row in rows]
        cells = [row for row in cells if row]
        if not cells:
            return self.flow(element)
        widest = max(map(len, cells))
        nested = any(True for _ in element.iter("table") if _ is not element)
        titled = len(cells) > 1 and any(cell.tag == "th" for row in cells for cell in row)
        if (widest == 1 and not titled) or nested or element.get("role") == "presentation":
            return [block for row in cells for cell in row for block in self.flow(cell)]
        caption = next((child for child in element if child.tag == "caption"), None)
        above = _paragraphs(self._inlines_in(caption, ())) if caption is not None else []
        grid = _grid(cells)
        headed = (
            all(cell is None or cell.tag == "th" for cell in grid[0]) or rows[0].getparent().tag == "thead"
        )
        columns = [f"c{number + 1}" for number in range(len(grid[0]))]
        titles = [self._words(cell) for cell in grid[0]] if headed else [""] * len(columns)
        definition = {
            column: {"id": column, "title": title, "type": "text", "textAlignment": "left"}
            for column, title in zip(columns, titles, strict=True)
        }
        records: JsonObject = {}
        fragments: list[Node] = []
        for number, row in enumerate(grid[1:] if headed else grid, 1):
            values = {}
            for column, cell in zip(columns, row, strict=True):
                name = values[column] = f"r{number}{column}"
                inside = [_as_inline_code(node) for node in self.flow(cell)] if cell is not None else []
                fragments.append(_fragment(name, "cell", inside or [_block("paragraph", [_text("")])]))
            records[f"r{number}"] = {"orderIndex": f"{number:06d}", "values": values}
        view = {"type": "grid", "columns": columns, "hideHeader": not headed}
        table = _block("table", view=view, records=records, definition=definition)
        return [*above, {**table, "fragments": fragments}]

    def _words(self, cell: Any) -> str:
        return "" if cell is None else _squeezed("".join(cell.itertext()))


_BUILDERS: dict[str, Callable[[_Maker, Any], list[Node]]] = {
    "p": _Maker._paragraph,
    "blockquote": _Maker._quote,
    "hr": _Maker._divider,
    "pre": _Maker._code,
    "ul": _Maker._list,
    "ol": _Maker._list,
    "menu": _Maker._list,
    "dl": _Maker._terms,
    "figure": _Maker._figure,
    "details": _Maker._details,
    "summary": _Maker._nothing,
    "iframe": _Maker._player,
    "video": _Maker._player,
    "audio": _Maker._player,
    "table": _Maker._table,
}


def _holds_blocks(element: Any) -> bool:
    """Return whether an inline element contains blocks, as in old HTML. Links and marks are kept."""
    return element.tag in ("span", "font", "ins", "a", "label") and any(
        child.tag in ("p", "div", "pre", "table", "ul", "ol", "h1", "h2", "h3", "blockquote", "figure")
        for child in element.iter(etree.Element)
        if child is not element
    )


def _safe_href(href: str | None) -> str | None:
    """Return a link as written if following it runs nothing. Browsers ignore control characters and spaces in
    schemes."""
    if not href:
        return None
    compact = re.sub(r"[\x00-\x20\x7f-\xa0]", "", href).lower()
    scheme = _SCHEME.match(compact)
    if scheme and scheme[0][:-1] not in _HARMLESS:
        return None
    if read_address(href) is None:
        return None
    return re.sub(r"[\x00-\x1f\x7f]", "", href).strip()


_WIDTH = re.compile(r"\s*(\d{1,5})(?:\.\d*)?\s*(px|%)?\s*\Z")
_STYLED_WIDTH = re.compile(r"(?:^|;)\s*width\s*:\s*([^;]*)", re.IGNORECASE)


def _width_of(image: Any) -> int | JsonObject | None:
    """Return the width at which an image is shown: pixels, or percent of the text width."""
    styled = _STYLED_WIDTH.search(image.get("style") or "")
    for written in (styled[1] if styled else None, image.get("width")):
        found = _WIDTH.match(written or "")
        if found and int(found[1]):
            return {"value": int(found[1]), "unit": "%"} if found[2] == "%" else int(found[1])
    return None


def title_of(tree: object) -> str:
    """Return the title of a page: its first heading, else its title without the name of the site."""
    for heading in _main_content(tree).iter("h1"):
        if words := _squeezed(_plain({"nodes": _Maker(str, str, MAX_DEPTH)._inlines_in(heading, ())})):
            return words[:MAX_TITLE]
    return _told_title(tree)[:MAX_TITLE]


def _explicit_id(heading: Any) -> str:
    """Return the explicit id of a heading, or an empty string if it has none that is valid as an anchor."""
    pinned = heading.get("id") or next((a.get("id") or a.get("name") for a in heading.iter("a")), None)
    parent = heading.getparent()
    if not pinned and parent is not None and parent.tag in ("section", "div") and parent.get("id"):
        pinned = parent.get("id") if parent[0] is heading else None
    return pinned if pinned and re.fullmatch(r"[\w.:-]{1,100}", pinned) else ""


def anchors_of(tree: object) -> dict[str, str]:
    """Return the anchor for each id in a page: that of its own heading, or of the heading above it. Empty for
    ids above the first heading, which point to the top of the page."""
    anchors: dict[str, str] = {}
    at, titled = "", False
    for element in _main_content(tree).iter(etree.Element):
        if re.fullmatch(r"h[1-6]", element.tag) and _is_shown(element):
            words = _squeezed("".join(element.itertext()))
            titles = element.tag == "h1" and not titled and not at
            titled = titled or titles
            at = "" if titles else _explicit_id(element) or slug(words)
            anchors |= {own: at for own in (element.get("id"), element.getparent().get("id")) if own}
        for own in (element.get("id"), element.get("name") if element.tag == "a" else None):
            if own:
                anchors.setdefault(own, at)
    return anchors


def _language_of(pre: Any) -> str | None:
    around = [pre, *pre.iter("code")]
    parent = pre.getparent()
    for _ in range(2):
        if parent is not None:
            around.append(parent)
            parent = parent.getparent()
    for element in around:
        for name in (element.get("data-lang"), element.get("data-language")):
            if name and re.fullmatch(r"[A-Za-z0-9+#_.-]{1,30}", name):
                return str(name.lower())
        for name in (element.get("class") or "").split():
            found = _LANGUAGE.match(name)
            if found and found[1].lower() not in _NO_LANGUAGE:
                return str(found[1].lower())
    return None


def _table_of(row: Any) -> Any:
    return next(row.iterancestors("table"), None)


def _grid(cells: list[list[Any]]) -> list[list[Any]]:
    """Return rows of equal length. A cell that spans several places appears in the first."""
    rows: list[dict[int, Any]] = []
    reserved: dict[tuple[int, int], None] = {}
    for y, row in enumerate(cells):
        placed: dict[int, Any] = {}
        x = 0
        for cell in row:
            while (y, x) in reserved:
                x += 1
            if x >= _MAX_COLUMNS:
                break
            placed[x] = cell
            across, down = _span(cell, "colspan"), _span(cell, "rowspan")
            for dy in range(min(down, len(cells) - y)):
                for dx in range(across):
                    reserved[y + dy, x + dx] = None
            x += across
        rows.append(placed)
    width = min(max((x for _, x in reserved), default=0) + 1, _MAX_COLUMNS)
    return [[placed.get(x) for x in range(width)] for placed in rows]


def _span(cell: Any, name: str) -> int:
    written = cell.get(name) or ""
    return min(max(int(written), 1), _MAX_COLUMNS) if re.fullmatch(r"\d{1,4}", written) else 1


# --- inlines as written ---------------------------------------------------------------------------------


def _paragraphs(run: list[Node]) -> list[Node]:
    """Return a run of inlines as paragraphs. An image on its own becomes a block."""
    nodes = _trimmed(run)
    if not nodes:
        return []
    shown = [node for node in nodes if node["object"] == "inline" or _squeezed(_plain(node))]
    if not shown:
        return []  # Spaces that only separate lines.
    if all(node.get("type") == "inline-image" for node in shown):
        images = [{**_block("image", **node["data"]), "fragments": []} for node in shown]
        return [_block("images", [image]) for image in images]
    return [_block("paragraph", nodes)]


def _trimmed(run: Iterable[Node]) -> list[Node]:
    """Collapse white space like a browser: one space between words, none at the ends. Line breaks stay as written."""
    found = list(_collapsed(run))
    while found and found[0]["object"] == "text" and not found[0]["leaves"][0]["text"].lstrip(" \n"):
        del found[0]
    if found and found[0]["object"] == "text":
        found[0]["leaves"][0]["text"] = found[0]["leaves"][0]["text"].lstrip(" \n")
    while found and found[-1]["object"] == "text" and not found[-1]["leaves"][0]["text"].rstrip(" \n"):
        found.pop()
    if found and found[-1]["object"] == "text":
        found[-1]["leaves"][0]["text"] = found[-1]["leaves"][0]["text"].rstrip(" \n")
    return found


def _collapsed(run: Iterable[Node]) -> Iterator[Node]:
    spaced = True
    held: Node | None = None
    for node in run:
        if node["object"] == "inline":
            if held is not None:
                yield held
                held = None
            if node.get("nodes") is not None:
                node = {**node, "nodes": list(_collapsed(node["nodes"])) or [_text("")]}
            spaced = False
            yield node
            continue
        leaf = node["leaves"][0]
        text, marks = leaf["text"], [mark["type"] for mark in leaf["marks"]]
        is_break = text == "\n" and not marks
        if not is_break:
            text = _SPACES.sub(" ", text)
            if spaced:
                text = text.lstrip(" ")
        if not text:
            continue
        spaced = text[-1] in " \n"
        # Pages with colored text have an element for each word. Neighbors with the same marks are merged.
        if (
            held is not None
            and not is_break
            and held["leaves"][0]["text"] != "\n"
            and _marks_of(held) == marks
        ):
            held["leaves"][0]["text"] += text
            continue
        if held is not None:
            yield held
        held = _text(text, marks)
    if held is not None:
        yield held


def _marks_of(node: Node) -> list[str]:
    return [mark["type"] for mark in node["leaves"][0]["marks"]]
