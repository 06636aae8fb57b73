"""Render document nodes as Typst code that calls the functions of ``sites/printing/octavo.typ``.

No part of a document is ever Typst markup: text, URLs, and names are in string literals, which have only
two special characters, and all other code comes from this module. This way, content can't run code, read
files, or import packages. Pieces are kept on one stack, so a deeply nested document requires no recursion;
nodes nested more deeply than Typst can lay out are written without their containers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from urllib.parse import quote

from msgspec import Struct

from ..highlighting import Token, Tokens, highlight, token_rows
from ..url_parts import escape_address, host_of, read_address
from .anchors import mark_places
from .containing import DEFECTS, Failures
from .formulas import formula
from .nodes import Block, Data, Document, Fragment, Inline, Leaf, Mark, Text, plain_text, walk
from .parts import (
    COLORS,
    block_text,
    chosen_options,
    date_text,
    emoji,
    inert_text,
    line_text,
    number_of,
    object_of,
    one_of,
    only_paragraph,
    shown_words,
    size_text,
    table_parts,
    text_of,
    title_and_body,
    value_text,
)
from .urls import safe_url


class TypstTarget(Struct, frozen=True, kw_only=True):
    """Target of a reference: a ``page`` in the same PDF, optionally with an ``anchor``, or the URL ``url``. If ``page``
    is None, ``anchor`` is on the same page. Without a target, the reference is shown as text."""

    page: str | None = None
    anchor: str | None = None
    url: str | None = None
    title: str | None = None
    description: str | None = None
    emoji: str | None = None
    user: bool = False


class Picture(Struct, frozen=True, kw_only=True):
    """File to show or link to. ``path``: its path for the compiler; None if it isn't a printable image. ``width`` and
    ``height``: its dimensions in pixels, if known. ``size``: its size in bytes, if known."""

    path: str | None = None
    name: str = ""
    width: int | None = None
    height: int | None = None
    size: int | None = None


class PrintLabels(Struct, frozen=True, kw_only=True):
    """Labels that Octavo adds to a PDF."""

    info: str = "Note"
    success: str = "Success"
    warning: str = "Warning"
    danger: str = "Danger"
    prompt: str = "Prompt"


class Printing(Struct, frozen=True, kw_only=True):
    """Functions and options for printing one page. The functions are pure, and use only data that has already been
    fetched.

    ``page``: the ID of the page. ``link`` and ``file``: resolve a ContentRef. ``icon``: returns the path of an icon's
    image. ``highlight``: returns the colored tokens of a listing. ``shown``: replaces characters that no font has.
    """

    page: str = ""
    level: int = 1
    link: Callable[[Data], TypstTarget | None] = lambda ref: None
    file: Callable[[Data], Picture | None] = lambda ref: None
    icon: Callable[[str], str | None] = lambda name: None
    highlight: Callable[[str, str], list[Token] | None] = highlight
    shown: Callable[[str], str] = lambda text: text
    labels: PrintLabels = PrintLabels()


class Printed(Struct, frozen=True):
    """Typst code of a document. ``anchors``: a map from the names of link targets on the page (``place_of``)
    to the labels that exist."""

    code: str
    anchors: dict[str, str]


class Code(str):
    """Typst code, which is written unchanged. A plain ``str`` is text and becomes a literal."""

    __slots__ = ()


Piece = str | Block | Inline | Text | Fragment | Callable[[], None]
Pieces = Iterable[Piece]

_SPECIAL = re.compile(
    r'[\\"\x00-\x1f\x7f\ud800-\udfff\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff]'
)
_LONG = re.compile(r"\S{25,}")
_BREAKS = re.compile(r"(?<=[/_.\-:=&?,;@+|\\)\]}>])(?=[\w(])|(?<=[a-z])(?=[A-Z])")
_EVERY = re.compile(r"([^\s\u200b]{24})(?=[^\s\u200b])")
_SPACES = re.compile(r"[ \t\r\f\v]+")
_DEEPEST = 9
_HEADINGS = {"heading-1": 1, "heading-2": 2, "heading-3": 3}
_HINTS = ("info", "success", "warning", "danger")
_ALIGNED = {"center": "center", "end": "end", "right": "end"}
_MARKS = {
    "bold": "strong",
    "italic": "emph",
    "strikethrough": "strike",
    "superscript": "super",
    "subscript": "sub",
    "keyboard": "kbd",
}
# Functions of octavo.typ, by the classes of the highlighter.
_HUES = {
    "k": "hl-word",
    "s": "hl-text",
    "c": "hl-note",
    "m": "hl-number",
    "nf": "hl-name",
    "nc": "hl-name",
    "nt": "hl-word",
    "gi": "hl-text",
    "gd": "hl-gone",
    "cp": "hl-name",
}


def literal(text: str) -> Code:
    """Return a Typst string literal for this text. Control characters are omitted, because fonts can't draw them.

    >>> literal('a "b" #c')
    '"a \\\\"b\\\\" #c"'
    """
    return Code(f'"{_SPECIAL.sub(_escape, text)}"')


def _escape(match: re.Match[str]) -> str:
    found = match[0]
    return {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"}.get(found, "")


def _open_up(text: str) -> str:
    """Return the text with optional line breaks inside words that are too long for a line."""
    if not _LONG.search(text):
        return text

    def loosen(match: re.Match[str]) -> str:
        return _EVERY.sub("\\1\u200b", _BREAKS.sub("\u200b", match[0]))

    return _LONG.sub(loosen, text)


def _loosened(text: str) -> str:
    """Return the text of a listing with optional line breaks anywhere in words that are too long for a
    line."""
    return _LONG.sub(lambda match: _EVERY.sub("\\1\u200b", match[0]), text).replace("\t", "    ")


def _call(name: str, *arguments: str, **named: str | None) -> list[Piece]:
    """Return a Typst call whose arguments are all code."""
    given = [*arguments, *(f"{key}: {value}" for key, value in named.items() if value is not None)]
    return [Code(f"{name}({', '.join(given)});\n")]


def _with(name: str, inside: Pieces, *arguments: str) -> list[Piece]:
    """Return a Typst call that takes content as its last argument."""
    before = "".join(f"{argument}, " for argument in arguments)
    return [Code(f"{name}({before}{{[];"), *inside, Code("});\n")]


def _bool(value: object) -> Code:
    return Code("true" if value else "false")


def _array(items: Iterable[str]) -> Code:
    inside = "".join(f"{item}, " for item in items)
    return Code(f"({inside})") if inside else Code("()")


def to_typst(document: Document, printing: Printing | None = None) -> Printed:
    """Convert the visible body of a page to Typst code for a file that imports ``octavo.typ``."""
    mark_places(document)
    printer = _Printer(printing or Printing())
    printer.run(document.nodes)
    printer.failures.report()
    # Everything outside literals is ASCII, and the output of `shown` contains no quote or backslash.
    return Printed(printer.printing.shown("".join(printer.out)), printer.anchors)


def plain_typst(text: str) -> str:
    """Return plain text as Typst code, one paragraph per line: the fallback for a page that can't be
    typeset."""
    lines = (line.strip() for line in text.splitlines())
    return "".join(f"p({{[];{literal(_open_up(line))}}});\n" for line in lines if line)


class _Printer:
    def __init__(self, printing: Printing) -> None:
        self.printing = printing
        self.failures = Failures("typst")
        self.labels = printing.labels
        self.out: list[str] = []
        self.anchors: dict[str, str] = {}
        self._depth = 0
        self._headings = 0
        self._in_note = False
        self._in_cell = False

    # The stack machine.

    def run(self, nodes: Pieces) -> None:
        stack: list[Piece] = list(nodes)
        stack.reverse()
        write = self.out.append
        while stack:
            piece = stack.pop()
            if isinstance(piece, Code):
                write(piece)
                continue
            if isinstance(piece, str):
                write(f"{literal(_open_up(piece))};")
                continue
            try:
                if isinstance(piece, Text):
                    for leaf in piece.leaves:
                        write(_leaf(leaf))
                elif isinstance(piece, Block):
                    draw = _BLOCKS.get(piece.type)
                    if draw is not None:
                        stack.extend(reversed(list(draw(self, piece))))
                elif isinstance(piece, Inline):
                    draw_inline = _INLINES.get(piece.type)
                    if draw_inline is not None:
                        stack.extend(reversed(list(draw_inline(self, piece))))
                elif isinstance(piece, Fragment):
                    stack.extend(reversed(piece.nodes))
                else:
                    piece()
            except DEFECTS as error:
                # Fall back to the text of a node that can't be printed.
                self.failures.add(error)
                if isinstance(piece, Block):
                    stack += reversed(_with("p", [plain_text(piece)]))
                elif isinstance(piece, Inline):
                    stack.append(plain_text(piece))

    def _nest(self, open_: str, inside: Pieces, close: str = "});\n") -> list[Piece]:
        """Return a container. Beyond the depth that Typst can lay out, return only its content."""
        if self._depth >= _DEEPEST:
            return list(inside)

        def enter() -> None:
            self._depth += 1

        def leave() -> None:
            self._depth -= 1

        return [Code(open_), enter, *inside, leave, Code(close)]

    # References.

    def _target(self, ref: object) -> TypstTarget:
        return (self.printing.link(ref) if isinstance(ref, dict) else None) or TypstTarget()

    def _linked(self, target: TypstTarget, inside: Pieces) -> list[Piece]:
        if target.page is not None or target.anchor is not None:
            place = place_of(target.page or self.printing.page, target.anchor)
            page = place_of(target.page or self.printing.page)
            return _with("go", inside, literal(place), literal(page))
        url = safe_url(target.url)
        # Only links that work on paper: a relative URL has no target in a PDF.
        if url and _scheme(url) in ("http", "https", "mailto", "tel"):
            return _with("away", inside, literal(escape_address(url)))
        return list(inside)

    def _picture(self, data: Data, *, inline: bool = False) -> list[Piece]:
        ref = data.get("ref")
        found = self.printing.file(ref) if isinstance(ref, dict) else None
        alt = text_of(data, "alt") or ""
        url = safe_url(ref.get("url")) if isinstance(ref, dict) else None
        if found is None or found.path is None:
            name = alt or (found.name if found else "") or (url or "").rsplit("/", 1)[-1]
            box: list[Piece] = _call("missing", literal(_open_up(name)), _bool(inline))
            return self._linked(TypstTarget(url=url), box) if url else box
        width, height = data.get("width"), data.get("height")
        own = (found.width, found.height)
        if inline and data.get("size") == "line":
            return _call("small", literal(found.path), literal(alt))
        wide = _length(width) or (f"{own[0]}" if own[0] and height is None else None)
        high = _length(height) or (f"{own[1]}" if own[1] and width is None and height is None else None)
        return _call("pic", literal(found.path), literal(alt), width=wide, height=high, inline=_bool(inline))

    # Blocks of text.

    def paragraph(self, block: Block) -> Pieces:
        align = _ALIGNED.get(text_of(block.data, "align") or "")
        if align:
            return _with("al", _with("p", block.nodes), literal(align))
        return _with("p", block.nodes)

    def heading(self, block: Block) -> Pieces:
        if self._in_cell:
            # Cells can be links as a whole, and a link that contains its own target has no position.
            return _with("p", _with("strong", block.nodes))
        level = _HEADINGS[block.type]
        given = block.data.get("level")
        if isinstance(given, int) and not isinstance(given, bool):
            level = min(max(given - 1, 1), 5)
        self._headings += 1
        label = f"{self.printing.page}.{self._headings}"
        self.anchors[place_of(self.printing.page, text_of(block.data, "id"))] = label
        align = _ALIGNED.get(text_of(block.data, "align") or "")
        # Text only, because headings also appear in the file's bookmarks.
        inside = [n for n in block.nodes if not (isinstance(n, Inline) and n.type == "annotation")]
        made = _with("hd", inside, str(level), str(self.printing.level + level), literal(label))
        return _with("al", made, literal(align)) if align else made

    def _items(self, block: Block) -> list[Piece]:
        out: list[Piece] = []
        for item in block.nodes:
            if isinstance(item, Block):
                out += [Code("{[];"), *only_paragraph(item.nodes), Code("},\n")]
        return out

    def list_ordered(self, block: Block) -> Pieces:
        start = block.data.get("start")
        first = int(start) if isinstance(start, (int, float)) and 0 <= start < 1e9 else 1
        if self._depth >= _DEEPEST:
            return block.nodes
        return self._nest(f"ol({first}, ", self._items(block), ");\n")

    def list_unordered(self, block: Block) -> Pieces:
        if self._depth >= _DEEPEST:
            return block.nodes
        return self._nest("ul(", self._items(block), ");\n")

    def list_tasks(self, block: Block) -> Pieces:
        if self._depth >= _DEEPEST:
            return block.nodes
        out: list[Piece] = []
        for item in block.nodes:
            if isinstance(item, Block):
                done = _bool(item.data.get("checked") is True)
                out += [Code(f"({done}, {{[];"), *only_paragraph(item.nodes), Code("}),\n")]
        return self._nest("tasks(", out, ");\n")

    def list_item(self, block: Block) -> Pieces:
        return block.nodes

    def divider(self, block: Block) -> Pieces:
        return _call("hr")

    def quote(self, block: Block) -> Pieces:
        return self._nest("quoted({[];", block.nodes)

    def hint(self, block: Block) -> Pieces:
        style = one_of(block.data.get("style"), _HINTS, "info") or "info"
        word = literal(getattr(self.labels, style))
        return self._nest(f"hint({literal(style)}, {word}, {{[];", block.nodes)

    def math(self, block: Block) -> Pieces:
        written = text_of(block.data, "formula") or ""
        found = _math(written, block=True)
        return self._plain_listing("", written) if found is None else [found]

    # Code.

    def code(self, block: Block) -> Pieces:
        data = block.data
        lines = [n for n in block.nodes if isinstance(n, Block)]
        texts = [line_text(line) for line in lines]
        tokens = self.printing.highlight("\n".join(texts), text_of(data, "syntax") or "")
        rows = token_rows(tokens, texts) if tokens is not None else [[("", text)] for text in texts]
        lit = (str(n) for n, line in enumerate(lines, 1) if line.data.get("highlighted") is True)
        title, numbered = literal(text_of(data, "title") or ""), _bool(data.get("lineNumbers") is True)
        out: list[Piece] = [Code(f"listing({title}, {_array(lit)}, {numbered}, ")]
        for line, row in zip(lines, rows, strict=True):
            out += [Code("{[];"), *self._line(line, row), Code("},\n")]
        return [*out, Code(");\n")]

    def _line(self, line: Block, row: list[Token]) -> list[Piece]:
        """Render one line. The highlighter's tokens and the text nodes are merged; each is split where the other
        ends."""
        tokens = Tokens(row)
        out: list[Piece] = []

        def text(node: Text) -> None:
            for leaf in node.leaves:
                marks = [m for m in leaf.marks if m.type not in ("code", "keyboard")]
                for kind, part in tokens.take(len(leaf.text)):
                    written = literal(_loosened(part))
                    hue = _HUES.get(kind)
                    out.append(Code(_marked(marks, f"{hue}({written});" if hue else f"{written};")))

        for node in line.nodes:
            if isinstance(node, Text):
                text(node)
            elif isinstance(node, Inline) and node.type == "annotation":
                for inner in node.nodes:
                    if isinstance(inner, Text):
                        text(inner)
                out += self._note(node)
            elif isinstance(node, Inline):
                out.append(node)
        return out

    def _plain_listing(self, title: str, text: str) -> list[Piece]:
        rows = "".join(f"{literal(_loosened(line))}, " for line in text.split("\n"))
        return [Code(f"listing({literal(title)}, (), false, {rows});\n")]

    # Media and references.

    def images(self, block: Block) -> Pieces:
        shown = [n for n in block.nodes if isinstance(n, Block) and n.type == "image"]
        align = one_of(block.data.get("align"), ("left", "right", "center"), "left")
        inside: list[Piece] = []
        for image in shown:
            inside += [Code("{[];"), image, Code("},")]
        framed = _bool(block.data.get("withFrame") is True)
        return [Code(f"images({literal(align or 'left')}, {framed}, "), *inside, Code(");\n")]

    def image(self, block: Block) -> Pieces:
        return self._figure(self._picture(block.data), block)

    def drawing(self, block: Block) -> Pieces:
        return self._picture(block.data)

    def _caption(self, block: Block) -> list[Piece]:
        nodes = [n for f in block.fragments if f.fragment == "caption" for n in f.nodes]
        return only_paragraph(nodes) if any(shown_words(n) for n in nodes) else []

    def _figure(self, inside: Pieces, block: Block) -> list[Piece]:
        caption = self._caption(block)
        return [*inside, *(_with("caption", caption) if caption else ())]

    def file(self, block: Block) -> Pieces:
        ref = block.data.get("ref")
        found = self.printing.file(ref) if isinstance(ref, dict) else None
        url = safe_url(ref.get("url")) if isinstance(ref, dict) else None
        name = (found.name if found else "") or (url or "").rsplit("/", 1)[-1]
        facts = size_text(found.size) if found and found.size else ""
        return self._figure(self._card(TypstTarget(url=url), name, facts), block)

    def embed(self, block: Block) -> Pieces:
        url = safe_url(block.data.get("url"))
        if url is None:
            return []
        return self._figure(self._card(TypstTarget(url=url), _host(url), url), block)

    def _card(self, target: TypstTarget, title: str, line: str) -> list[Piece]:
        sign = emoji(target.emoji) if target.emoji else ""
        inside = _call("card", literal(_open_up(f"{sign} {title}".strip())), literal(_open_up(line)))
        return self._linked(target, inside)

    def content_ref(self, block: Block) -> Pieces:
        target = self._target(block.data.get("ref"))
        label = text_of(block.data, "label")
        url = text_of(object_of(block.data, "ref"), "url")
        return self._card(target, target.title or label or url or "", target.description or "")

    def reusable_content(self, block: Block) -> Pieces:
        """Render included content, which is stored in the node that includes it."""
        return block.nodes

    # Blocks that contain blocks.

    def expandable(self, block: Block) -> Pieces:
        title, body = title_and_body(block)
        return self._titled([*only_paragraph(title)], body)

    def _titled(self, title: Pieces, body: Pieces) -> list[Piece]:
        return (
            self._nest("titled({[];", [*title, Code("}, {[];"), *body])
            if self._depth < _DEEPEST
            else [*_with("p", title), *body]
        )

    def tabs(self, block: Block) -> Pieces:
        out: list[Piece] = []
        for number, item in enumerate((n for n in block.nodes if isinstance(n, Block)), 1):
            title = text_of(item.data, "title") or str(number)
            out += self._titled([*self._icon(item.data.get("icon")), title], item.nodes)
        return out

    def stepper(self, block: Block) -> Pieces:
        out: list[Piece] = []
        for number, step in enumerate((n for n in block.nodes if isinstance(n, Block)), 1):
            out += self._nest(f"step({number}, {{[];", step.nodes)
        return out

    def columns(self, block: Block) -> Pieces:
        parts = [n for n in block.nodes if isinstance(n, Block)]
        if not parts or self._depth >= _DEEPEST or len(parts) > 8:
            return block.nodes
        given = [_share(part.data.get("width")) for part in parts]
        rest = max(100 - sum(filter(None, given)), 0) // max(given.count(None), 1)
        widths = (f"{max(share or rest, 8)}fr" for share in given)
        inside: list[Piece] = []
        for part in parts:
            inside += [Code("{[];"), *part.nodes, Code("},\n")]
        return self._nest(f"cols({_array(widths)}, ", inside, ");\n")

    def column(self, block: Block) -> Pieces:
        return block.nodes

    def updates(self, block: Block) -> Pieces:
        return block.nodes

    def update(self, block: Block) -> Pieces:
        given = block.data.get("tags")
        tags = [
            literal(t.strip())
            for t in (given if isinstance(given, list) else ())
            if isinstance(t, str) and t.strip()
        ]
        day = literal(date_text(text_of(block.data, "date") or ""))
        return self._nest(f"update({day}, {_array(tags)}, {{[];", block.nodes)

    def prompt(self, block: Block) -> Pieces:
        text = "\n\n".join(block_text(n) for n in block.nodes if isinstance(n, Block)).strip()
        return self._plain_listing(text_of(block.data, "description") or self.labels.prompt, text)

    def openapi(self, block: Block) -> Pieces:
        path, method = text_of(block.data, "path"), text_of(block.data, "method")
        names = block.data.get("schemas")
        if not path:
            named = [text_of(block.data, "name") or "", *(names if isinstance(names, list) else ())]
            path = ", ".join(n for n in named if isinstance(n, str) and n)
        return _call("endpoint", literal((method or "").upper()), literal(_open_up(path))) if path else []

    def integration(self, block: Block) -> Pieces:
        props = object_of(block.data, "props")
        url = safe_url(block.data.get("url")) or safe_url(props.get("url"))
        if url:
            return self.embed(Block("embed", {"url": url}))
        content = next((v for k in ("content", "body", "code") if isinstance(v := props.get(k), str)), None)
        if content is None:
            return []
        return self._plain_listing(text_of(block.data, "block") or "", content)

    def api_method(self, block: Block) -> Pieces:
        data = block.data
        method, path = text_of(data, "method"), text_of(data, "path")
        summary = text_of(data, "summary")
        head = _with("p", _with("strong", [summary])) if summary else []
        if method or path:
            where = (text_of(data, "host") or "") + (path or "")
            head += _call("endpoint", literal((method or "").upper()), literal(_open_up(where)))
        return [*head, *block.nodes]

    def api_part(self, block: Block) -> Pieces:
        data = block.data
        title = text_of(data, "name") or text_of(data, "status")
        facts = " · ".join(v for k in ("in", "type", "description") if (v := text_of(data, k)))
        head: list[Piece] = []
        if title:
            head = _with("p", [*_call("code", literal(_open_up(title))), " ", facts])
        return [*head, *block.nodes]

    def unknown(self, block: Block) -> Pieces:
        text = inert_text(block)
        return [*(self._plain_listing("", text) if text else []), *block.nodes]

    # Tables.

    def table(self, block: Block) -> Pieces:
        view = object_of(block.data, "view")
        shown, records, cells = table_parts(block)
        if not shown:
            return []
        if view.get("type") == "cards":
            return self._cards(view, shown, records, cells)
        if self._depth >= _DEEPEST - 2:
            return [
                p
                for r in records
                for n, c in shown
                for p in self._cell(c, object_of(r, "values").get(n), cells)
            ]
        given = object_of(view, "columnWidths")
        widths = [number_of(given.get(name), 4000) for name, _ in shown]
        # Widths on screen become shares of the line on paper; columns without a width fit their text.
        shares = [f"{w}fr" if w else "auto" for w in widths] if all(widths) else ["auto"] * len(shown)
        aligns = [
            literal(
                "end"
                if c.get("type") == "number"
                else _ALIGNED.get(text_of(c, "textAlignment") or "", "start")
            )
            for _, c in shown
        ]
        head = "none"
        if view.get("hideHeader") is not True and any(text_of(c, "title") for _, c in shown):
            head = _array(literal(_open_up(text_of(c, "title") or "")) for _, c in shown)
        inside: list[Piece] = []
        for record in records:
            values = object_of(record, "values")
            for name, column in shown:
                inside += [Code("{[];"), *self._cell(column, values.get(name), cells), Code("},")]
            inside.append(Code("\n"))
        return self._nest(f"tbl({_array(shares)}, {_array(aligns)}, {head}, ", inside, ");\n")

    def _cell(self, column: Data, value: object, cells: dict[str, Fragment]) -> list[Piece]:
        inside = self._cell_content(column, value, cells)

        def enter() -> None:
            self._in_cell = True

        def leave() -> None:
            self._in_cell = False

        return [enter, *inside, leave] if inside else []

    def _cell_content(self, column: Data, value: object, cells: dict[str, Fragment]) -> list[Piece]:
        kind = column.get("type")
        if value is None:
            return []
        if isinstance(value, str) and value in cells:
            return only_paragraph(cells[value].nodes)
        if kind == "checkbox":
            return _call("box-mark", _bool(value is True))
        if kind == "rating":
            most = number_of(column.get("max"), 20) or 5
            stars = min(number_of(value, 1000) or 0, most)
            return ["★" * stars + "☆" * (most - stars)]
        if kind == "select":
            return self._options(column, value)
        if kind in ("files", "image"):
            return self._cell_files(value, kind == "image")
        if kind == "users":
            out: list[Piece] = []
            for one in value if isinstance(value, list) else [value]:
                ref = one if isinstance(one, dict) else {"kind": "user", "user": one}
                name = self._target(ref).title or (one if isinstance(one, str) else "")
                out += _call("tag", literal(name), "none") if name else []
            return out
        if kind == "content-ref" and isinstance(value, dict):
            return self._reference(value, None)
        if isinstance(value, (bool, str, int, float)):
            return [value_text(value)]
        return []

    def _options(self, column: Data, value: object) -> list[Piece]:
        out: list[Piece] = []
        for label, color in chosen_options(column, value):
            out += _call("tag", literal(label), literal(color) if color else Code("none"))
        return out

    def _cell_files(self, value: object, picture: bool) -> list[Piece]:
        out: list[Piece] = []
        for one in value if isinstance(value, list) else [value]:
            file: Data = one if isinstance(one, dict) else {"kind": "url", "url": one}
            ref: Data = file["ref"] if isinstance(file.get("ref"), dict) else file
            if picture:
                out += self._picture({"ref": ref, "alt": file.get("alt")})
            else:
                found = self.printing.file(ref)
                name = (found.name if found else "") or (text_of(ref, "url") or "").rsplit("/", 1)[-1]
                out += [*self._linked(TypstTarget(url=text_of(ref, "url")), [name]), " "]
        return out

    def _cards(
        self, view: Data, shown: list[tuple[str, Data]], records: list[Data], cells: dict[str, Fragment]
    ) -> list[Piece]:
        names = [text_of(view, f) for f in ("targetDefinition", "coverDefinition", "coverDefinitionDark")]
        target_column, cover, _ = names
        out: list[Piece] = []
        for record in records:
            values = object_of(record, "values")
            lines: list[Piece] = []
            for name, column in shown:
                if name in names:
                    continue
                inside = self._cell(column, values.get(name), cells)
                title = text_of(column, "title")
                if (
                    inside
                    and title
                    and column.get("type") != "text"
                    and view.get("hideColumnTitle") is not True
                ):
                    inside = [f"{title}: ", *inside]
                lines += _with("row", inside) if inside else []
            leads = values.get(target_column) if target_column else None
            target = self._target(leads) if isinstance(leads, dict) else TypstTarget()
            if not lines and target.title:
                lines = _with("row", [target.title])
            picture = values.get(cover) if cover else None
            cover_file = picture[0] if isinstance(picture, list) and picture else picture
            cover_file = {"kind": "url", "url": cover_file} if isinstance(cover_file, str) else cover_file
            image: list[Piece] = []
            if isinstance(cover_file, dict):
                ref = cover_file["ref"] if isinstance(cover_file.get("ref"), dict) else cover_file
                image = self._picture({"ref": ref, "alt": cover_file.get("alt")})
            # Links can't be nested: the whole card is a link if its lines contain none.
            holds_link = any(
                isinstance(n, Inline) and n.type in ("link", "mention", "button")
                for p in lines
                if isinstance(p, (Block, Inline))
                for n in walk(p)
            )
            body: list[Piece] = [*image, *lines]
            out += [Code("{[];"), *(body if holds_link else self._linked(target, body)), Code("},\n")]
        count = 2 if view.get("cardSize") == "large" else 3
        return self._nest(f"cards({count}, ", out, ");\n") if self._depth < _DEEPEST else []

    # Inlines.

    def link(self, node: Inline) -> Pieces:
        return self._linked(self._target(node.data.get("ref")), node.nodes)

    def emoji(self, node: Inline) -> Pieces:
        characters = emoji(node.data.get("code"))
        return [characters] if characters else []

    def _icon(self, name: object) -> list[Piece]:
        path = self.printing.icon(name) if isinstance(name, str) and name else None
        return _call("icon", literal(path)) if path else []

    def icon(self, node: Inline) -> Pieces:
        return self._icon(node.data.get("icon"))

    def inline_math(self, node: Inline) -> Pieces:
        written = text_of(node.data, "formula") or ""
        found = _math(written, block=False)
        return _call("code", literal(_open_up(written))) if found is None else [found]

    def inline_image(self, node: Inline) -> Pieces:
        return self._picture(node.data, inline=True)

    def annotation(self, node: Inline) -> Pieces:
        return [*node.nodes, *self._note(node)]

    def _note(self, node: Inline) -> list[Piece]:
        body = next((f for f in node.fragments if f.nodes), None)
        # Notes can't be nested on paper.
        return _with("note", self._note_body(body)) if body is not None and not self._in_note else []

    def _note_body(self, body: Fragment) -> list[Piece]:
        def enter() -> None:
            self._in_note = True

        def leave() -> None:
            self._in_note = False

        return [enter, *only_paragraph(body.nodes), leave]

    def mention(self, node: Inline) -> Pieces:
        ref = node.data.get("ref")
        return self._reference(ref, text_of(node.data, "label")) if isinstance(ref, dict) else []

    def _reference(self, ref: Data, label: str | None) -> list[Piece]:
        target = self._target(ref)
        words = target.title or label or target.url or text_of(ref, "url") or ""
        if target.user:
            words = f"@{words.lstrip('@')}"
        return self._linked(target, [words]) if words else []

    def button(self, node: Inline) -> Pieces:
        data = node.data
        label = text_of(data, "label") or text_of(data, "query") or ""
        made = _call("btn", literal(label), _bool(data.get("kind") != "secondary")) if label else []
        return self._linked(self._target(data.get("ref")), made)


def place_of(page: str, anchor: str | None = None) -> str:
    """Return the label, in a PDF, of a page or of a position on it."""
    return f"{page}#{quote(anchor, errors='replace')}" if anchor else page


def _scheme(url: str) -> str:
    address = read_address(url)
    return address.scheme if address is not None else ""


def _host(url: str) -> str:
    return (host_of(url) or url).removeprefix("www.")


def _share(width: object) -> int | None:
    """Return the width of a column, in percent."""
    if not isinstance(width, dict) or width.get("unit") != "%" or "value" not in width:
        return None
    return number_of(width["value"], 100) or None


def _length(value: object) -> str | None:
    """Return a length for Typst: a number for pixels, or a ratio for a percentage."""
    if isinstance(value, dict):
        number = number_of(value.get("value"))
        if not number:
            return None
        return f"{min(number, 100)}%" if value.get("unit") == "%" else str(number)
    found = number_of(value)
    return str(found) if found else None


def _leaf(leaf: Leaf) -> str:
    """Return text wrapped in its marks, with the first mark outermost. Line breaks in the text are
    preserved."""
    in_code = any(mark.type == "code" for mark in leaf.marks)
    lines = _SPACES.sub(" ", leaf.text).split("\n")
    inside = "linebreak();".join(
        f"code({literal(_open_up(line))});" if in_code else f"{literal(_open_up(line))};"
        for line in lines
        if line or len(lines) > 1
    )
    return _marked(leaf.marks, inside)


def _marked(marks: Sequence[Mark], inside: str) -> str:
    for mark in reversed(marks):
        name = _MARKS.get(mark.type)
        if name is not None:
            inside = f"{name}({{[];{inside}}});"
        elif mark.type == "color":
            inside = _colored(mark, inside)
    return inside


def _colored(mark: Mark, inside: str) -> str:
    data = mark.data if isinstance(mark.data, dict) else {}
    for field, name in (("text", "ink"), ("background", "wash")):
        color = data.get(field)
        known = COLORS.get(color) if isinstance(color, str) else None
        if known:
            inside = f"{name}({literal(known)}, {{[];{inside}}});"
    return inside


# Formulas: MathML, as on site pages, converted to Typst math.

_LAID = {
    "msub": ("b",),
    "msup": ("t",),
    "msubsup": ("b", "t"),
    "munder": ("b",),
    "mover": ("t",),
    "munderover": ("b", "t"),
}


def _math(written: str, block: bool) -> Code | None:
    root = formula(written, block)
    if root is None:
        return None
    return Code(f"eq({_bool(block)}, {_math_code(root)});\n")


def _math_code(element: Any) -> str:
    name = element.tag
    inside = [_math_code(child) for child in element]
    text = "".join((element.text or "").split())
    if name in ("mi", "mn", "mo"):
        if len(text) != 1 or not text.isprintable():
            return f"math.upright({literal(text)})"
        if name == "mo" and text in _LIMITS:
            return f"math.limits(symbol({literal(text)}))"
        upright = name == "mi" and element.get("mathvariant") == "normal"
        return f"math.upright({literal(text)})" if upright else f"symbol({literal(text)})"
    if name in ("mtext", "ms"):
        return literal(element.text or "")
    if name == "mspace":
        return "math.thin"
    if name == "mfrac" and len(inside) == 2:
        return f"math.frac({inside[0]}, {inside[1]})"
    if name == "mroot" and len(inside) == 2:
        return f"math.root({inside[1]}, {inside[0]})"
    if name == "msqrt":
        return f"math.sqrt({_row(inside)})"
    if name in _LAID and len(inside) == len(_LAID[name]) + 1:
        over = "limits" if name in ("munder", "mover", "munderover") else "scripts"
        big = "".join((element[0].text or "").split()) in _LIMITS
        parts = ", ".join(f"{at}: {code}" for at, code in zip(_LAID[name], inside[1:], strict=True))
        return f"math.attach({inside[0] if big else f'math.{over}({inside[0]})'}, {parts})"
    if name == "mtable":
        rows = [_array(_row([_math_code(cell)]) for cell in row) for row in element]
        return f"math.mat(delim: none, {', '.join(rows)})" if rows else "[]"
    if name == "mphantom":
        return f"hide({_row(inside)})"
    if len(inside) > 1 and _fence(element[0], _OPEN) and _fence(element[-1], _CLOSE):
        return f"math.lr({_row(inside)})"
    for n in range(len(inside) - 2):
        # A matrix is enclosed in its delimiters.
        if element[n + 1].tag == "mtable" and _fence(element[n], _OPEN) and _fence(element[n + 2], _CLOSE):
            inside[n], inside[n + 2] = f"math.lr({_row(inside[n : n + 3])})", "[]"
            inside[n + 1] = "[]"
    return _row(inside)


_OPEN, _CLOSE = "([{|⟨⌈⌊‖", ")]}|⟩⌉⌋‖"


def _fence(element: Any, fences: str) -> bool:
    text = (element.text or "").strip()
    return element.tag == "mo" and len(text) == 1 and text in fences


_LIMITS = frozenset("∑∏∐⋃⋂⋁⋀⨁⨂")


def _row(inside: Sequence[str]) -> str:
    return f"{{[];{';'.join(inside)};}}" if inside else "[]"


_Draw = Callable[[_Printer, Block], Pieces]
_BLOCKS: dict[str, _Draw] = {
    "paragraph": _Printer.paragraph,
    "heading-1": _Printer.heading,
    "heading-2": _Printer.heading,
    "heading-3": _Printer.heading,
    "list-ordered": _Printer.list_ordered,
    "list-unordered": _Printer.list_unordered,
    "list-tasks": _Printer.list_tasks,
    "list-item": _Printer.list_item,
    "divider": _Printer.divider,
    "blockquote": _Printer.quote,
    "hint": _Printer.hint,
    "code": _Printer.code,
    "math": _Printer.math,
    "images": _Printer.images,
    "image": _Printer.image,
    "file": _Printer.file,
    "drawing": _Printer.drawing,
    "embed": _Printer.embed,
    "content-ref": _Printer.content_ref,
    "reusable-content": _Printer.reusable_content,
    "expandable": _Printer.expandable,
    "tabs": _Printer.tabs,
    "stepper": _Printer.stepper,
    "columns": _Printer.columns,
    "column": _Printer.column,
    "table": _Printer.table,
    "swagger": _Printer.openapi,
    "openapi-operation": _Printer.openapi,
    "openapi-schemas": _Printer.openapi,
    "openapi-webhook": _Printer.openapi,
    "integration": _Printer.integration,
    "updates": _Printer.updates,
    "update": _Printer.update,
    "prompt": _Printer.prompt,
    "api-method": _Printer.api_method,
    "api-part": _Printer.api_part,
    "unknown": _Printer.unknown,
}
_INLINES: dict[str, Callable[[_Printer, Inline], Pieces]] = {
    "link": _Printer.link,
    "emoji": _Printer.emoji,
    "icon": _Printer.icon,
    "inline-math": _Printer.inline_math,
    "inline-image": _Printer.inline_image,
    "annotation": _Printer.annotation,
    "mention": _Printer.mention,
    "button": _Printer.button,
}
