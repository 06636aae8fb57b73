"""Build the nodes of a page from its HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from lxml import etree

from octavo.core.document.anchors import slug
from octavo.core.json_types import JsonObject
from octavo.core.url_parts import read_address

from .html_content import DROPPED, HINT, NOTE_MARKER, classes_of, is_chrome
from .html_nodes import (
    Node,
    as_inline_code,
    make_block,
    make_fragment,
    make_inline,
    make_text,
    make_text_between_tags,
    plain_text,
    squeezed,
    trimmed_nodes,
    url_reference,
    without_empty,
    wrap_in_paragraphs,
)

_MAX_COLUMNS = 60
Rewrite = Callable[[str], str | None]
"""Callback that returns the rewritten version of a reference on the page, or None to drop the reference."""
_BLOCKS = frozenset(
    """address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption figure footer
    form h1 h2 h3 h4 h5 h6 header hgroup hr html iframe legend li main menu nav ol p pre section summary table tbody td
    tfoot th thead tr ul video audio""".split()
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
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:")
_HARMLESS = frozenset(["http", "https", "mailto", "tel"])


class NodeBuilder:
    """Builder of an element's nodes. Recursion stops at depth ``deepest``, and deeper content becomes plain text."""

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
            text = squeezed("".join(element.itertext()))
            return [make_block("paragraph", [make_text(text)])] if text else []
        self.depth += 1
        try:
            return self._flow(element)
        finally:
            self.depth -= 1

    def _flow(self, element: Any) -> list[Node]:
        found: list[Node] = []
        run: list[Node] = []

        def end_run() -> None:
            found.extend(wrap_in_paragraphs(run))
            run.clear()

        if element.text:
            run.append(make_text_between_tags(element.text))
        for child in element:
            if isinstance(child.tag, str) and not is_chrome(child):
                if child.tag in _BLOCKS or _holds_blocks(child):
                    end_run()
                    if child.tag != "figcaption" or not self._caption(child, found):
                        found += self.block(child)
                else:
                    run += self.inlines(child, ())
            if child.tail:
                run.append(make_text_between_tags(child.tail))
        end_run()
        return found

    def _caption(self, element: Any, before: list[Node]) -> bool:
        """Convert an element to the caption of the image before it, and return whether the element needs no further
        conversion. The caption of a code block isn't converted here; it becomes the block's title."""
        words = trimmed_nodes(self._inlines_in(element, ()))
        if words and before and before[-1]["type"] == "images" and not before[-1]["nodes"][-1]["fragments"]:
            words = [node for node in words if node.get("type") != "inline-image"]
            before[-1]["nodes"][-1]["fragments"] = [
                make_fragment("caption", "caption", [make_block("paragraph", words)])
            ]
            return True
        return element.getparent().tag == "figure" and next(element.itersiblings("pre"), None) is not None

    def _tabs(self, element: Any, panels: list[Any]) -> list[Node]:
        titles = {
            tab.get("id"): squeezed("".join(tab.itertext()))
            for tab in element.iter("button", "a", "li")
            if tab.get("role") == "tab"
        }
        items = []
        for number, panel in enumerate(panels):
            title = (
                titles.get(panel.get("aria-labelledby")) or [*titles.values(), *[""] * len(panels)][number]
            )
            inside = self.flow(panel)
            if inside and inside[0]["type"] == "paragraph" and squeezed(plain_text(inside[0])) == title:
                # Repeats content for browsers without scripts.
                del inside[0]
            items.append(
                make_block("tabs-item", inside or [make_block("paragraph", [make_text("")])], title=title)
            )
        return [make_block("tabs", items)]

    def block(self, element: Any) -> list[Node]:
        tag = element.tag
        panels = [child for child in element if child.get("role") == "tabpanel"] if tag == "div" else []
        if len(panels) > 1 and any(child.get("role") == "tablist" for child in element):
            return self._tabs(element, panels)
        if re.fullmatch(r"h[1-6]", tag):
            return self._heading(element)
        if any(HINT.match(name) for name in classes_of(element)) and tag in (
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
            return [make_text("\n")]
        if (note := element.get(NOTE_MARKER)) in self.notes:
            return self._note(note)
        if tag == "wbr":
            return []
        if tag == "img":
            return self._inline_image(element)
        if self.depth >= self.deepest:
            return [make_text("".join(element.itertext()), marks)]
        if tag in ("code", "tt") and "math" in classes_of(element):
            return [make_inline("inline-math", formula=squeezed("".join(element.itertext())))]
        if tag == "span" and "katex" in classes_of(element):
            written = next(
                (
                    one.text
                    for one in element.iter("annotation")
                    if one.get("encoding") == "application/x-tex"
                ),
                None,
            )
            if written:
                return [make_inline("inline-math", formula=squeezed(written))]
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
        return [make_text(f"“{plain_text({'nodes': inside})}”", marks)] if tag == "q" else inside

    def _inlines_in(self, element: Any, marks: tuple[str, ...]) -> list[Node]:
        found = [make_text_between_tags(element.text, marks)] if element.text else []
        for child in element:
            if isinstance(child.tag, str) and not is_chrome(child):
                if child.tag in _BLOCKS:
                    found.append(make_text(" "))
                found += self.inlines(child, marks)
            if child.tail:
                found.append(make_text_between_tags(child.tail, marks))
        return found

    def _note(self, name: str) -> list[Node]:
        """Return a footnote with its text. The text is empty if the footnote is nested too deeply, for example
        because it refers to itself."""
        inside = self.flow(self.notes[name]) if self.depth < self.deepest // 2 else []
        label = str(list(self.notes).index(name) + 1)
        body = make_fragment(label, "annotation-body", inside or [make_block("paragraph", [make_text("")])])
        return [{**make_inline("annotation", []), "fragments": [body]}]

    def _link(self, element: Any, inside: list[Node]) -> list[Node]:
        href = _safe_href(element.get("href"))
        href = self.link(href) if href else None
        if not href or not inside:
            return inside
        kept = [node for node in inside if node.get("type") != "link"]
        if not squeezed(plain_text({"nodes": kept})) and not any(
            n.get("type") == "inline-image" for n in kept
        ):
            return inside
        return [make_inline("link", kept, ref=url_reference(href))]

    def _source_of(self, element: Any) -> str | None:
        written = element.get("src") or ""
        if not written or written.startswith("data:image/gif;base64,R0lGOD"):
            # A placeholder until a script inserts the image.
            written = element.get("data-src") or element.get("data-original") or written
        if not written and element.get("srcset"):
            written = element.get("srcset").split(",")[0].split()[0]
        return self.image(written.strip()) if written.strip() else None

    def _inline_image(self, element: Any) -> list[Node]:
        source, alt = self._source_of(element), squeezed(element.get("alt") or "")
        if source is None:
            return [make_text(alt)] if alt else []
        return [
            make_inline(
                "inline-image", ref=url_reference(source), **without_empty(alt=alt, width=_width_of(element))
            )
        ]

    # Blocks

    def _heading(self, element: Any) -> list[Node]:
        level = int(element.tag[1])
        nodes = trimmed_nodes(self._inlines_in(element, ()))
        text = squeezed(plain_text({"nodes": nodes}))
        if not text:
            return []
        pinned = explicit_id(element)
        data = {"id": pinned} if pinned and pinned != slug(text) else {}
        # The page title isn't determined here. Level 0 marks a heading that may be the title.
        nodes = [node for node in nodes if node.get("type") != "inline-image"] if level == 1 else nodes
        return [make_block(f"heading-{min(level - 1, 3)}", nodes, **data)]

    def _paragraph(self, element: object) -> list[Node]:
        return self.flow(element)

    def _quote(self, element: object) -> list[Node]:
        inside = self.flow(element)
        return [make_block("blockquote", inside)] if inside else []

    def _hint(self, element: object) -> list[Node]:
        words = " ".join(classes_of(element))
        style = next(style for style, names in _HINT_KINDS if any(name in words for name in names))
        inside = self.flow(element)
        return [make_block("hint", inside, style=style)] if inside else []

    def _divider(self, element: object) -> list[Node]:
        return [make_block("divider")]

    def _code(self, element: Any) -> list[Node]:
        parts: list[str] = []
        for event, node in etree.iterwalk(element, events=("start", "end")):
            if event == "start":
                if node.tag == "br":
                    parts.append("\n")
                if isinstance(node.tag, str) and node.tag not in DROPPED and node.text:
                    parts.append(node.text)
            elif node is not element and node.tail:
                parts.append(node.tail)
        lines = "".join(parts).replace("\r\n", "\n").strip("\n").split("\n")
        if lines == [""]:
            return []
        if "math" in classes_of(element):
            return [make_block("math", formula="\n".join(lines))]
        syntax = _language_of(element)
        nodes = [make_block("code-line", [make_text(line)]) for line in lines]
        above = element.getparent()
        named = next(above.iterchildren("figcaption"), None) if above is not None else None
        title = None
        if named is not None and above.tag == "figure":
            title = squeezed(plain_text({"nodes": self._inlines_in(named, ())}))
        return [make_block("code", nodes, **without_empty(syntax=syntax, title=title))]

    def _list(self, element: Any) -> list[Node]:
        items: list[Node] = []
        checked: list[bool | None] = []

        def add_text(words: str | None) -> None:
            if words and words.strip():
                items.append(make_block("list-item", [make_block("paragraph", [make_text(squeezed(words))])]))
                checked.append(None)

        add_text(element.text)
        for child in element:
            if child.getprevious() is not None:
                add_text(child.getprevious().tail)
            if not isinstance(child.tag, str) or is_chrome(child):
                continue
            if child.tag in ("ul", "ol") and items:
                # A list placed directly in a list belongs to the preceding item.
                items[-1]["nodes"] += self.block(child)
                continue
            box = next((i for i in child.iter("input") if i.get("type") == "checkbox"), None)
            inside = self.flow(child) or [make_block("paragraph", [make_text("")])]
            items.append(make_block("list-item", inside))
            checked.append(None if box is None else box.get("checked") is not None)
        add_text(element[-1].tail if len(element) else None)
        if not items:
            return []
        if all(state is not None for state in checked):
            for item, state in zip(items, checked, strict=True):
                item["data"]["checked"] = state
            return [make_block("list-tasks", items)]
        if element.tag == "ol":
            start = element.get("start") or ""
            return [
                make_block(
                    "list-ordered",
                    items,
                    **({"start": int(start)} if re.fullmatch(r"\d{1,9}", start) else {}),
                )
            ]
        return [make_block("list-unordered", items)]

    def _terms(self, element: Any) -> list[Node]:
        found: list[Node] = []
        for child in element.iter("dt", "dd"):
            if child.tag == "dt":
                nodes = trimmed_nodes(self._inlines_in(child, ("bold",)))
                if nodes:
                    found.append(make_block("paragraph", nodes))
            else:
                found += self.flow(child)
        return found

    def _figure(self, element: Any) -> list[Node]:
        caption = next(element.iter("figcaption"), None)
        words = trimmed_nodes(self._inlines_in(caption, ())) if caption is not None else []
        images = (
            [] if any(True for _ in element.iter("pre", "table", "iframe")) else list(element.iter("img"))
        )
        made: list[Node] = []
        for each in images:
            shown = self._image_block(each)
            if made and shown and "only-dark" in (each.get("class") or "").split():
                # The dark variant, which Octavo publishes next to the light one.
                made[-1]["data"]["refDark"] = shown[0]["data"]["ref"]
            else:
                made += shown
        if not made:
            return self.flow(element)
        if words:
            words = [node for node in words if node.get("type") != "inline-image"]
            made[-1]["fragments"] = [make_fragment("caption", "caption", [make_block("paragraph", words)])]
        return [make_block("images", made)]

    def _image_block(self, element: Any) -> list[Node]:
        source, alt = self._source_of(element), squeezed(element.get("alt") or "")
        if source is None:
            return []
        data = without_empty(alt=alt, width=_width_of(element))
        return [{**make_block("image", ref=url_reference(source), **data), "fragments": []}]

    def _details(self, element: Any) -> list[Node]:
        summary = next((child for child in element if child.tag == "summary"), None)
        title = trimmed_nodes(self._inlines_in(summary, ())) if summary is not None else []
        inside = [node for node in self.flow(element)]
        fragments = [
            make_fragment(
                "expandable-title",
                "expandable-title",
                [make_block("paragraph", title or [make_text("Details")])],
            ),
            make_fragment(
                "expandable-body", "expandable-body", inside or [make_block("paragraph", [make_text("")])]
            ),
        ]
        return [{**make_block("expandable"), "fragments": fragments}]

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
        return [make_block("embed", url=source)]

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
        above = wrap_in_paragraphs(self._inlines_in(caption, ())) if caption is not None else []
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
                inside = [as_inline_code(node) for node in self.flow(cell)] if cell is not None else []
                fragments.append(
                    make_fragment(name, "cell", inside or [make_block("paragraph", [make_text("")])])
                )
            records[f"r{number}"] = {"orderIndex": f"{number:06d}", "values": values}
        view = {"type": "grid", "columns": columns, "hideHeader": not headed}
        table = make_block("table", view=view, records=records, definition=definition)
        return [*above, {**table, "fragments": fragments}]

    def _words(self, cell: Any) -> str:
        return "" if cell is None else squeezed("".join(cell.itertext()))


_BUILDERS: dict[str, Callable[[NodeBuilder, Any], list[Node]]] = {
    "p": NodeBuilder._paragraph,
    "blockquote": NodeBuilder._quote,
    "hr": NodeBuilder._divider,
    "pre": NodeBuilder._code,
    "ul": NodeBuilder._list,
    "ol": NodeBuilder._list,
    "menu": NodeBuilder._list,
    "dl": NodeBuilder._terms,
    "figure": NodeBuilder._figure,
    "details": NodeBuilder._details,
    "summary": NodeBuilder._nothing,
    "iframe": NodeBuilder._player,
    "video": NodeBuilder._player,
    "audio": NodeBuilder._player,
    "table": NodeBuilder._table,
}


def _holds_blocks(element: Any) -> bool:
    """Return whether an inline element contains blocks, as in old HTML. The result is False for links and marks,
    because these are kept."""
    return element.tag in ("span", "font", "ins", "a", "label") and any(
        child.tag in ("p", "div", "pre", "table", "ul", "ol", "h1", "h2", "h3", "blockquote", "figure")
        for child in element.iter(etree.Element)
        if child is not element
    )


def _safe_href(href: str | None) -> str | None:
    """Return a link unchanged if it is safe to open; otherwise, return None. A link is unsafe if opening it runs
    code. Browsers ignore control characters and spaces in schemes."""
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
    """Return the display width of an image, in pixels or as a percentage of the text width."""
    styled = _STYLED_WIDTH.search(image.get("style") or "")
    for written in (styled[1] if styled else None, image.get("width")):
        found = _WIDTH.match(written or "")
        if found and int(found[1]):
            return {"value": int(found[1]), "unit": "%"} if found[2] == "%" else int(found[1])
    return None


def explicit_id(heading: Any) -> str:
    """Return the explicit ID of a heading, or an empty string if the heading doesn't have an ID that is a valid
    anchor."""
    pinned = heading.get("id") or next((a.get("id") or a.get("name") for a in heading.iter("a")), None)
    parent = heading.getparent()
    if not pinned and parent is not None and parent.tag in ("section", "div") and parent.get("id"):
        pinned = parent.get("id") if parent[0] is heading else None
    return pinned if pinned and re.fullmatch(r"[\w.:-]{1,100}", pinned) else ""


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
    """Return rows of equal length. A cell that spans several positions is placed only in the first of them."""
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
