"""Read blocks written as HTML: figures, tables, formatted code, aligned paragraphs, headings, and lists.

This uses a small tolerant parser, which is iterative and limited in depth. It never executes code, never sends
requests, and never fails. For HTML without a corresponding node, ``blocks`` returns None, and the caller keeps the
source.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence

from markdown_it.token import Token
from msgspec import Struct

from .inline import ELEMENTS, FIXED_ID, Footnote, attributes, inline_image, inlines, length, plain, url_ref
from .markdown import INLINE_ELEMENTS, MEDIA, pair, parse_blocks
from .nodes import Block, Data, Fragment, Inline, Leaf, Text, walk
from .schema import BLOCKS

MAX_DEPTH = 24

_PIECE = re.compile(
    r"<!--.*?-->|<(?P<close>/?)(?P<name>[A-Za-z][\w:-]*+)"
    r"""(?P<attrs>(?:\s++[^\s"'<>/=]++(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s"'=<>`]++))?+)*+)\s*+(?P<void>/?)>""",
    re.DOTALL,
)
WRAPPERS = frozenset(
    """div center section article aside header footer main nav address hgroup dl dt dd figcaption""".split()
)
"""Elements that only contain blocks. Their content is shown, but not their tags."""
_VOID = frozenset(
    ["area", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"]
)
_ENDED_BY = {
    "p": frozenset(
        [
            "p",
            "h1",
            "h2",
            "h3",
            "h4",
            "h5",
            "h6",
            "ul",
            "ol",
            "pre",
            "table",
            "blockquote",
            "figure",
            "hr",
            "td",
            "th",
            "li",
            "tr",
        ]
    )
    | WRAPPERS,
    "li": frozenset(["li"]),
    "dt": frozenset(["dt", "dd"]),
    "dd": frozenset(["dt", "dd"]),
    "td": frozenset(["td", "th", "tr", "tbody"]),
    "th": frozenset(["td", "th", "tr", "tbody"]),
    "tr": frozenset(["tr", "tbody", "tfoot"]),
    "option": frozenset(["option"]),
}
_SIDES = {"left": "start", "center": "center", "right": "end", "start": "start", "end": "end"}
_LEVELS = {"h1": 1, "h2": 1, "h3": 2, "h4": 3, "h5": 3, "h6": 3}


_MATH = re.compile(r"\$\$([^$]+)\$\$")


class Element(Struct):
    """HTML element. ``start`` and ``end``: its offsets in the parsed text, including its tags. ``opening``: the start
    tag. Text among its children is still escaped. In a cell of a pipe table, the children include Markdown tokens
    instead of text."""

    name: str
    attrs: dict[str, str]
    opening: str
    kids: list[Element | str | Token | Block]
    start: int = 0
    end: int = 0


Kids = list[Element | str | Token | Block]
Part = Callable[[str], list[Block]]
"""Function that reads Markdown inside HTML."""


def parse(text: str) -> Kids:
    """Return the elements and the text (still escaped) of a piece of HTML. Comments stay text."""
    root = Element("", {}, "", [])
    stack = [root]
    _feed(stack, text)
    for left in stack:
        left.end = len(text)
    return root.kids


def _feed(stack: list[Element], text: str) -> None:
    at = 0
    for match in _PIECE.finditer(text):
        if match.start() > at:
            stack[-1].kids.append(text[at : match.start()])
        at = match.end()
        name = (match["name"] or "").lower()
        if not name or name not in ELEMENTS:
            stack[-1].kids.append(match[0])
        elif match["close"]:
            _close(stack, name, match.end())
        else:
            child = Element(name, attributes(match["attrs"]), match[0], [], match.start(), match.end())
            _open(stack, child, bool(match["void"]))
    if at < len(text):
        stack[-1].kids.append(text[at:])


def _parse_with_markdown(text: str, part: Part) -> Kids:
    """Parse HTML that contains Markdown: a blank line ends the HTML, and a line of HTML ends the Markdown."""
    rows = text.split("\n")
    tokens = parse_blocks(text, {"in_html": True})
    pairs = pair(tokens)
    root = Element("", {}, "", [])
    stack = [root]
    begun, until = -1, -1

    def end_markdown(line: int) -> None:
        if begun >= 0:
            stack[-1].kids += part("\n".join(rows[begun:line]))

    for index, token in enumerate(tokens):
        if token.level or token.nesting < 0 or token.map is None or index < until:
            continue
        first, last = token.map
        is_html = token.type == "html_block" or (token.type == "element" if index not in pairs else False)
        # Deeply indented tags are indented HTML rather than a code block.
        if is_html or (token.type == "code_block" and token.content.lstrip().startswith("<")):
            end_markdown(first)
            _feed(stack, "\n".join(rows[first:last]) + "\n")
            begun = -1
        elif begun < 0:
            begun = first
        until = max(until, pairs.get(index, -1))
    end_markdown(len(rows))
    return root.kids


def _open(stack: list[Element], child: Element, void: bool) -> None:
    while stack[-1].name in _ENDED_BY and child.name in _ENDED_BY[stack[-1].name]:
        stack.pop().end = child.start
    stack[-1].kids.append(child)
    if child.name not in _VOID and not void and len(stack) < MAX_DEPTH:
        stack.append(child)


def _close(stack: list[Element], name: str, end: int) -> None:
    for at in range(len(stack) - 1, 0, -1):
        if stack[at].name == name:
            for closed in stack[at:]:
                closed.end = end
            del stack[at:]
            return


_BLANK_LINE = re.compile(r"\n[ \t]*\n")


def blocks(text: str, footnote: Footnote | None, part: Part | None) -> list[Block] | None:
    """Return the blocks of a piece of HTML, or None if part of it can't be represented as nodes. ``part``: a function
    that parses Markdown within the HTML."""
    if part is None or _BLANK_LINE.search(text) is None:
        return _blocks(parse(text), footnote)
    return _blocks(_parse_with_markdown(text, part), footnote)


def cell_blocks(tokens: Sequence[Token], footnote: Footnote | None) -> list[Block]:
    """Return the blocks of a pipe table's cell: Markdown in which only tags (``<p>``, ``<ul>``, ...) create
    blocks."""
    root = Element("", {}, "", [])
    stack = [root]
    marks: list[Token] = []
    for token in tokens:
        match = _PIECE.fullmatch(token.content) if token.type == "html_inline" else None
        name = (match["name"] or "").lower() if match else ""
        if token.nesting > 0:
            marks.append(token)
        elif token.nesting < 0:
            marks.pop()
        if match is None or name not in _CELL_BLOCKS or any(mark.tag == "a" for mark in marks):
            stack[-1].kids.append(token)
            continue
        # A mark that is open here continues in the next block.
        stack[-1].kids += [Token(mark.type, mark.tag, -1) for mark in reversed(marks)]
        if match["close"]:
            _close(stack, name, 0)
        else:
            _open(stack, Element(name, attributes(match["attrs"]), match[0], []), bool(match["void"]))
        stack[-1].kids += marks
    found = _blocks(root.kids, footnote) if any(isinstance(kid, Element) for kid in root.kids) else None
    return found or [Block("paragraph", {}, list(inlines(tokens, footnote)))]


def inline_html(kids: Kids, footnote: Footnote | None) -> list[Text | Inline]:
    """Return the inline nodes of HTML content, with entities resolved and whitespace collapsed."""
    tokens: list[Token] = []
    stack: Kids = list(reversed(kids))
    while stack:
        kid = stack.pop()
        if isinstance(kid, Token):
            tokens.append(kid)
        elif isinstance(kid, Block):
            tokens.append(_token("text_special", html.escape(words_of(kid))))
        elif isinstance(kid, str):
            if kid.startswith("\0"):
                tokens.append(_token("html_inline", kid[1:]))
            elif kid.startswith("<!--"):
                tokens.append(_token("html_inline", kid))
            else:
                for number, part in enumerate(_MATH.split(re.sub(r"[ \t\n\r]+", " ", kid))):
                    if part:
                        kind = "math_inline" if number % 2 else "text_special"
                        tokens.append(_token(kind, part))
        else:
            tokens.append(_token("html_inline", kid.opening))
            if kid.name not in _VOID:
                stack.append(f"\0</{kid.name}>")
                stack.extend(reversed(kid.kids))
    if tokens and tokens[0].type in _TEXTS:
        tokens[0].content = tokens[0].content.lstrip(" ")
    if tokens and tokens[-1].type in _TEXTS:
        tokens[-1].content = tokens[-1].content.rstrip(" ")
    for token in tokens:
        # Entities are resolved only now, because an escaped space at an edge is significant.
        if token.info == _ESCAPED:
            token.content = html.unescape(token.content)
    return inlines(tokens, footnote)


_TEXTS = ("text", "text_special")
_ESCAPED = "escaped"


def _token(kind: str, content: str) -> Token:
    token = Token(kind, "", 0)
    token.content, token.info = content, _ESCAPED if kind != "html_inline" else ""
    return token


def _blocks(kids: Kids, footnote: Footnote | None) -> list[Block] | None:
    out: list[Block] = []
    run: Kids = []

    def flush() -> None:
        if any(_says(kid) for kid in run) and (nodes := inline_html(run, footnote)):
            out.append(paragraph(nodes))
        run.clear()

    for kid in kids:
        if isinstance(kid, Block):
            flush()
            out.append(kid)
        elif isinstance(kid, (str, Token)) or kid.name in INLINE_ELEMENTS:
            run.append(kid)
        else:
            flush()
            made = _block(kid, footnote)
            if made is None:
                return None
            out.extend(made)
    flush()
    return out


def words_of(block: Block) -> str:
    """Return the text of a block on one line."""
    texts = (node for node in walk(block) if isinstance(node, Text))
    return " ".join(" ".join("".join(leaf.text for leaf in text.leaves) for text in texts).split())


def _says(kid: Element | str | Token | Block) -> bool:
    if isinstance(kid, Token):
        return bool(kid.content.strip()) if kid.type in _TEXTS else not kid.nesting
    return not isinstance(kid, str) or bool(kid.strip())


def _drawing(image: Data) -> Block | None:
    """Return the drawing that an image's class indicates, with all attributes of the element; None for any other
    image."""
    data = dict(image)
    rest = dict(data.pop("attributes", {}))
    classes = rest.pop("class", "").split()
    if "gitbook-drawing" not in classes or "refDark" in data:
        return None
    if others := [name for name in classes if name != "gitbook-drawing"]:
        rest["class"] = " ".join(others)
    if title := data.pop("caption", None):
        rest["title"] = title
    if rest:
        data["attributes"] = rest
    return Block("drawing", data)


def paragraph(nodes: Sequence[Text | Inline], **data: str) -> Block:
    """Return a paragraph. If it contains only images, return an images block, or a drawing if one of them is a
    drawing."""
    shown = [node for node in nodes if not isinstance(node, Text) or not _is_blank(node)]
    if not shown or not all(
        isinstance(node, Inline) and node.type == "inline-image" and "size" not in node.data for node in shown
    ):
        return Block("paragraph", dict(data), list(nodes))
    if len(shown) == 1 and (drawing := _drawing(shown[0].data)):  # type: ignore[union-attr]
        return drawing
    images = Block("images")
    for node in shown:
        image = Block("image", dict(node.data))  # type: ignore[union-attr]
        if caption := image.data.pop("caption", None):
            words = Block("paragraph", {}, [Text([Leaf(caption)])])
            image.fragments = [Fragment("caption", [words], "caption")]
        images.nodes.append(image)
    if side := _IMAGE_SIDES.get(data.get("align", "")):
        images.data["align"] = side
    return images


_IMAGE_SIDES = {"start": "left", "center": "center", "end": "right"}


def _is_blank(node: Text) -> bool:
    return not any(leaf.text.strip() for leaf in node.leaves)


def _block(el: Element, footnote: Footnote | None) -> list[Block] | None:
    make = _MAKERS.get(el.name)
    return make(el, footnote) if make else None


def _align(el: Element) -> tuple[Data, Data]:
    """Return the alignment of an element and its other attributes."""
    rest = dict(el.attrs)
    side = _SIDES.get(rest.get("align", ""))
    if side:
        del rest["align"]
    return ({"align": side} if side else {}), rest


def _paragraph(el: Element, footnote: Footnote | None) -> list[Block] | None:
    data, rest = _align(el)
    if any(
        isinstance(k, Block) or (isinstance(k, Element) and k.name not in INLINE_ELEMENTS) for k in el.kids
    ):
        inner = _blocks(el.kids, footnote)
        return unwrap("p", el.attrs, inner) or inner if inner else inner
    made = paragraph(inline_html(el.kids, footnote), **data)
    if rest:
        made.data["attributes"] = rest
    return [made]


def _heading(el: Element, footnote: Footnote | None) -> list[Block] | None:
    data, rest = _align(el)
    number = int(el.name[1])
    if FIXED_ID.fullmatch(rest.get("id", "")):
        data["id"] = rest.pop("id")
    if number not in (2, 3, 4):
        data["level"] = number
    if rest:
        data["attributes"] = rest
    return [Block(f"heading-{_LEVELS[el.name]}", data, list(inline_html(el.kids, footnote)))]


def _list(el: Element, footnote: Footnote | None) -> list[Block] | None:
    block = Block("list-ordered" if el.name == "ol" else "list-unordered")
    rest = dict(el.attrs)
    if el.name == "ol" and re.fullmatch(r"\d{1,9}", rest.get("start", "")):
        block.data["start"] = int(rest.pop("start"))
    if el.attrs.get("class") == "contains-task-list":
        block.type = "list-tasks"
        del rest["class"]
    if rest:
        block.data["attributes"] = rest
    for kid in el.kids:
        if not isinstance(kid, Element):
            if _says(kid):
                return None
            continue
        if kid.name != "li":
            return None
        kids, item = kid.kids, Block("list-item")
        if kids and isinstance(box := kids[0], Element) and box.name == "input":
            item.data["checked"] = "checked" in box.attrs
            kids = kids[1:]
        inner = _blocks(kids, footnote)
        if inner is None:
            return None
        item.nodes = list(inner) or [Block("paragraph")]
        block.nodes.append(item)
    return [block] if block.nodes else []


def _quote(el: Element, footnote: Footnote | None) -> list[Block] | None:
    inner = _blocks(el.kids, footnote)
    return None if inner is None else [Block("blockquote", {}, list(inner))]


def _rule(el: Element, footnote: Footnote | None) -> list[Block] | None:
    return [Block("divider")]


def _image(kids: Kids) -> Block | None:
    """Return the image block for an ``<img>`` or ``<picture>``, whether or not it is wrapped in a link."""
    dark = img = None
    stack = list(reversed(kids))
    while stack:
        kid = stack.pop()
        if not isinstance(kid, Element):
            continue
        if kid.name == "source" and "dark" in kid.attrs.get("media", ""):
            dark = kid.attrs.get("srcset")
        elif kid.name == "img" and "src" in kid.attrs and img is None:
            img = kid
        elif kid.name in ("picture",):
            stack.extend(reversed(kid.kids))
    if img is None:
        return None
    data: Data = inline_image(img.attrs).data
    if "caption" in data:
        data.setdefault("attributes", {})["title"] = data.pop("caption")
    if "size" in data:
        data.setdefault("attributes", {})["data-size"] = data.pop("size")
    if dark:
        data["refDark"] = url_ref(dark)
    return Block("image", data, [], [])


def _figure(el: Element, footnote: Footnote | None) -> list[Block] | None:
    content: Kids = []
    caption: Element | None = None
    for kid in el.kids:
        if isinstance(kid, Element) and kid.name == "figcaption":
            caption = kid
        elif _says(kid):
            content.append(kid)
    image = _image_of_markdown(content) or _image(content)
    if image is None or len(content) != 1:
        return _wrapper(el, footnote)
    says = caption is not None and any(_says(kid) for kid in caption.kids)
    # Drawings have no caption: one with a caption is an image with its class.
    if not says and (drawing := _drawing(image.data)):
        return [drawing]
    if caption is not None:
        captioned = _blocks(caption.kids, footnote)
        if captioned is None or len(captioned) > 1 or any(block.type != "paragraph" for block in captioned):
            return _wrapper(el, footnote)
        if captioned:
            image.fragments = [Fragment("caption", list(captioned), "caption")]
    images = Block("images", {}, [image])
    _images_data(images, el.attrs)
    return [images]


def _image_of_markdown(content: Kids) -> Block | None:
    """Return the image if the content is a single Markdown image."""
    images = content[0] if len(content) == 1 else None
    if not isinstance(images, Block) or images.type != "images" or images.data or len(images.nodes) != 1:
        return None
    image = images.nodes[0]
    return image if isinstance(image, Block) and not image.fragments else None


def _images_data(images: Block, attrs: dict[str, str]) -> None:
    rest = dict(attrs)
    side = rest.get("align") or rest.get("data-align")
    if side in ("left", "center", "right"):
        images.data["align"] = side
        rest.pop("align", None)
        rest.pop("data-align", None)
    for attr, name in (("data-full-width", "fullWidth"), ("data-with-frame", "withFrame")):
        if rest.get(attr) in ("true", "false"):
            images.data[name] = rest.pop(attr) == "true"
    if rest:
        images.data["attributes"] = rest


def unwrap(name: str, attrs: dict[str, str], inner: list[Block]) -> list[Block] | None:
    """Return the blocks in ``inner`` with the attributes of the ``<div>`` or ``<center>`` around them; None if the
    blocks can't have these attributes."""
    if name == "center":
        attrs = {"align": "center"} | attrs
    if inner and all(block.type == "images" and not block.data for block in inner):
        images = Block("images", {}, [image for block in inner for image in block.nodes])
        _images_data(images, attrs)
        return [images]
    if not attrs:
        return inner
    side, wide = _SIDES.get(attrs.get("align", "")), attrs.get("data-full-width")
    if side and len(attrs) == 1 and all(_can_align(block) for block in inner):
        for block in inner:
            block.data["align"] = _IMAGE_SIDES[side] if block.type == "images" else side
        return inner
    if wide in ("true", "false") and len(attrs) == 1 and len(inner) == 1:
        if "fullWidth" in BLOCKS[inner[0].type].data and "fullWidth" not in inner[0].data:
            inner[0].data["fullWidth"] = wide == "true"
            return inner
    return None


def _can_align(block: Block) -> bool:
    return block.type in _ALIGNED and not block.data.get("align")


_ALIGNED = ("paragraph", "heading-1", "heading-2", "heading-3", "images")


def _wrapper(el: Element, footnote: Footnote | None) -> list[Block] | None:
    inner = _blocks(el.kids, footnote)
    if inner is None:
        return None
    made = unwrap(el.name, el.attrs, inner) if el.name in UNWRAPPED else None
    if made is not None:
        return made
    return [Block("unknown", {"source": el.opening, "end": f"</{el.name}>", "kind": "html"}, list(inner))]


UNWRAPPED = ("div", "center")


def _preformatted(el: Element, footnote: Footnote | None) -> list[Block] | None:
    """Read ``<pre>`` with or without ``<code>``. ``<strong>`` marks highlighted lines. Whitespace is
    significant."""
    kids = [kid for kid in el.kids if _says(kid)]
    inside = kids[0] if len(kids) == 1 and isinstance(kids[0], Element) and kids[0].name == "code" else el
    pre, code = el.attrs, inside.attrs if inside is not el else {}
    data: Data = {}
    for cls in (*code.get("class", "").split(), *pre.get("class", "").split()):
        for prefix in ("lang-", "language-"):
            if cls.startswith(prefix) and len(cls) > len(prefix):
                data["syntax"] = cls[len(prefix) :]
    if pre.get("data-title"):
        data["title"] = pre["data-title"]
    if pre.get("data-overflow") in ("wrap", "scroll"):
        data["overflow"] = pre["data-overflow"]
    for attr, name in (
        ("data-line-numbers", "lineNumbers"),
        ("data-full-width", "fullWidth"),
        ("data-expandable", "expandable"),
    ):
        if attr in pre:
            data[name] = pre[attr] != "false"
    return [Block("code", data, list(_code_lines(inside)))]


def _code_lines(el: Element) -> list[Block]:
    tokens: list[Token] = []
    stack: Kids = list(reversed(el.kids))
    while stack:
        kid = stack.pop()
        if isinstance(kid, Token):
            tokens.append(kid)
        elif isinstance(kid, Block):
            tokens.append(_token("text_special", words_of(kid)))
        elif isinstance(kid, str):
            tag = kid.startswith("\0")
            tokens.append(
                _token("html_inline" if tag else "text_special", kid[1:] if tag else html.unescape(kid))
            )
        else:
            tokens.append(_token("html_inline", kid.opening))
            if kid.name not in _VOID:
                stack.append(f"\0</{kid.name}>")
                stack.extend(reversed(kid.kids))
    if tokens and tokens[0].type == "text_special":
        tokens[0].content = tokens[0].content.removeprefix("\n")
    nodes = inlines(tokens)
    lines: list[Block] = [Block("code-line")]
    for node in nodes:
        if isinstance(node, Inline):
            lines[-1].nodes.append(node)
            continue
        for leaf in node.leaves:
            for number, part in enumerate(leaf.text.split("\n")):
                if number:
                    lines.append(Block("code-line"))
                if part:
                    _add_leaf(lines[-1], Leaf(part, leaf.marks[:]))
    if len(lines) > 1 and not lines[-1].nodes:
        lines.pop()
    for line in lines:
        _highlight(line)
    return lines


def _add_leaf(line: Block, leaf: Leaf) -> None:
    if line.nodes and isinstance(last := line.nodes[-1], Text):
        last.leaves.append(leaf)
    else:
        line.nodes.append(Text([leaf]))


def _highlight(line: Block) -> None:
    """Convert an entirely bold line to a highlighted line."""
    leaves = [leaf for node in line.nodes if isinstance(node, Text) for leaf in node.leaves]
    if not leaves or not all(any(mark.type == "bold" for mark in leaf.marks) for leaf in leaves):
        return
    line.data["highlighted"] = True
    merged: list[Leaf] = []
    for leaf in leaves:
        leaf.marks = [mark for mark in leaf.marks if mark.type != "bold"]
        merged.append(leaf)
    for node in line.nodes:
        if isinstance(node, Text):
            node.leaves = _merge(node.leaves)


def _merge(leaves: list[Leaf]) -> list[Leaf]:
    out: list[Leaf] = []
    for leaf in leaves:
        if out and out[-1].marks == leaf.marks:
            out[-1] = Leaf(out[-1].text + leaf.text, leaf.marks)
        else:
            out.append(leaf)
    return out


# --- tables -----------------------------------------------------------------------------------------------

_TRUE = frozenset(["true", "1", "yes", "x", "✓", "✅"])


def _find(el: Element, *names: str) -> list[Element]:
    """Return rows, cells, and similar parts: the elements with these names, without searching inside
    cells."""
    found: list[Element] = []
    stack: Kids = list(reversed(el.kids))
    while stack:
        kid = stack.pop()
        if not isinstance(kid, Element):
            continue
        if kid.name in names:
            found.append(kid)
        elif kid.name in ("thead", "tbody", "tfoot", "tr"):
            stack.extend(reversed(kid.kids))
    return found


def _table(el: Element, footnote: Footnote | None) -> list[Block] | None:
    rows = [_find(row, "td", "th") for row in _find(el, "tr")]
    rows = [row for row in rows if row]
    if not rows:
        return None
    spans: dict[tuple[int, int], tuple[int, int]] = {}
    if any(_span(cell, span) > 1 for row in rows for cell in row for span in SPANS):
        spread = _spread(rows)
        if spread is None:
            return None
        rows, spans = spread
    header = rows[0] if any(cell.name == "th" for cell in rows[0]) else None
    body = rows[1:] if header else rows
    width = max(len(row) for row in rows)
    if width > _MOST_COLUMNS or width * len(body) > MOST_CELLS:
        return None
    columns = [_column(header[n] if header and n < len(header) else None, n) for n in range(width)]
    rest = dict(el.attrs)
    view: Data
    shown = [column["id"] for column, cell in _with_cells(columns, header) if "data-hidden" not in cell]
    if rest.pop("data-view", None) == "cards":
        size = rest.pop("data-card-size", "medium")
        view = {
            "type": "cards",
            "cardSize": size if size in ("medium", "large") else "medium",
            "columns": shown,
        }
        for column, cell in _with_cells(columns, header):
            for flag, name in CARD_FLAGS:
                if flag in cell:
                    view[name] = column["id"]
        if "data-column-title-hidden" in rest:
            del rest["data-column-title-hidden"]
            view["hideColumnTitle"] = True
    else:
        view = {
            "type": "grid",
            "columns": shown,
            "hideHeader": header is None or "data-header-hidden" in rest,
        }
        rest.pop("data-header-hidden", None)
        widths = {}
        for column, cell in _with_cells(columns, header):
            if isinstance(px := length(cell.get("width", "")), (int, float)):
                widths[column["id"]] = px
            elif isinstance(px, dict) and px["unit"] == "%":
                return _percent_table(el, footnote)
        if widths:
            view["columnWidths"] = widths
    data: Data = {"view": view, "records": {}, "definition": {column["id"]: column for column in columns}}
    if "data-full-width" in rest:
        data["fullWidth"] = rest.pop("data-full-width") != "false"
    if "data-search" in rest:
        data["search"] = rest.pop("data-search") != "false"
    cells: list[Fragment] = []
    block = Block("table", data, [], cells)
    for number, row in enumerate(body, 1):
        values: Data = {}
        for column, td in zip(columns, row, strict=False):
            value = _value(cells, column, td, number, footnote)
            if value is not None:
                values[column["id"]] = value
        for column in columns[len(row) :]:
            if column["type"] == "text":
                values[column["id"]] = text_cell(cells, column["id"], number, [Block("paragraph")])
        data["records"][f"r{number}"] = {"orderIndex": order_index(number), "values": values}
    # The content of merged cells is in the first of them.
    for (y, x), merged in spans.items():
        place = f"r{y + (header is None)}" if y or header is None else ""
        rest |= {f"{name}-{place}c{x + 1}": str(n) for name, n in zip(SPANS, merged, strict=True) if n > 1}
    if rest:
        data["attributes"] = rest
    return [block]


def _span(cell: Element, name: str) -> int:
    written = cell.attrs.get(name, "1")
    return max(1, int(written)) if re.fullmatch(r"\d{1,5}", written) else 1


Places = dict[tuple[int, int], tuple[int, int]]


def _spread(rows: list[list[Element]]) -> tuple[list[list[Element]], Places] | None:
    """Return the rows, with an empty cell at each covered position, and the spans of the cells; None if the spans are
    too large."""
    merged: Places = {}
    covered: set[tuple[int, int]] = set()
    placed: list[dict[int, Element]] = []
    for y, row in enumerate(rows):
        placed.append({})
        x = 0
        for cell in row:
            while (y, x) in covered:
                x += 1
            across, down = _span(cell, "colspan"), min(_span(cell, "rowspan"), len(rows) - y)
            if x + across > _MOST_COLUMNS or len(covered) + across * down > MOST_CELLS:
                return None
            placed[y][x] = cell
            if across > 1 or down > 1:
                merged[y, x] = across, down
                covered.update((y + dy, x + dx) for dy in range(down) for dx in range(across) if dy or dx)
            x += across
    for y, x in covered:
        placed[y].setdefault(x, Element("td", {}, "", []))
    return [[cells[x] for x in sorted(cells)] for cells in placed], merged


def _percent_table(el: Element, footnote: Footnote | None) -> list[Block] | None:
    """Return a table that keeps column widths in percent as attributes, because a grid doesn't support
    them."""
    widths = {}
    for n, cell in enumerate(_find(_find(el, "tr")[0], "td", "th"), 1):
        if cell.attrs.get("width", "").endswith("%"):
            widths[f"c{n}"] = cell.attrs.pop("width")
    made = _table(el, footnote)
    if made:
        made[0].data.setdefault("attributes", {}).update(
            {f"width-{id}": width for id, width in widths.items()}
        )
    return made


SPANS = ("colspan", "rowspan")
_MOST_COLUMNS = 512
MOST_CELLS = 100_000
CARD_FLAGS = (
    ("data-card-target", "targetDefinition"),
    ("data-card-cover", "coverDefinition"),
    ("data-card-cover-dark", "coverDefinitionDark"),
)


def _with_cells(columns: list[Data], header: list[Element] | None) -> list[tuple[Data, dict[str, str]]]:
    return [
        (column, header[n].attrs if header and n < len(header) else {}) for n, column in enumerate(columns)
    ]


def order_index(number: int) -> str:
    """Return a string that sorts like the number."""
    return f"{number:06d}"


def _column(cell: Element | None, number: int) -> Data:
    attrs = cell.attrs if cell is not None else {}
    kind = attrs.get("data-type", "text")
    kids = cell.kids if cell is not None else []
    select = next((k for k in kids if isinstance(k, Element) and k.name == "select"), None)
    title = plain(inline_html([k for k in kids if k is not select], None))
    column: Data = {"id": f"c{number + 1}", "title": title}
    if select is not None:
        options = [
            {
                "value": option.attrs.get("value", ""),
                "label": option.attrs.get("label")
                or html.unescape("".join(k for k in option.kids if isinstance(k, str))).strip(),
                "color": option.attrs.get("color") or option.attrs.get("data-color") or "",
            }
            for option in select.kids
            if isinstance(option, Element) and option.name == "option"
        ]
        return column | {"type": "select", "multiple": "multiple" in select.attrs, "options": options}
    if kind == "select":
        return column | {"type": "select", "multiple": "data-multiple" in attrs, "options": []}
    if kind == "users":
        return column | {"type": "users", "multiple": "data-multiple" in attrs}
    if kind == "rating":
        most = attrs.get("data-max", "5")
        return column | {"type": "rating", "max": int(most) if re.fullmatch(r"\d{1,3}", most) else 5}
    if kind in ("number", "checkbox", "files", "content-ref", "image"):
        return column | {"type": kind}
    align = attrs.get("align", "left")
    column |= {"type": "text", "textAlignment": align if align in ("left", "center", "right") else "left"}
    if attrs.get("valign") in ("top", "middle", "bottom"):
        column["verticalAlignment"] = attrs["valign"]
    return column


def _links(cell: Element) -> list[Element]:
    found: list[Element] = []
    stack: Kids = list(reversed(cell.kids))
    while stack:
        kid = stack.pop()
        if isinstance(kid, Element):
            if kid.name == "a" and kid.attrs.get("href"):
                found.append(kid)
            elif kid.name == "img" and kid.attrs.get("src"):
                found.append(
                    Element("a", {"href": kid.attrs["src"], "alt": kid.attrs.get("alt", "")}, "", [])
                )
            else:
                stack.extend(reversed(kid.kids))
    return found


def _value(
    cells: list[Fragment], column: Data, cell: Element, number: int, footnote: Footnote | None
) -> object:
    kind = column["type"]
    if kind == "text":
        inner = _blocks(cell.kids, footnote)
        if inner is None:
            inner = [Block("paragraph", {}, list(inline_html(cell.kids, footnote)))]
        return text_cell(cells, column["id"], number, list(inner) or [Block("paragraph")])
    text = plain(inline_html(cell.kids, None)).strip()
    if kind == "checkbox":
        return text.lower() in _TRUE
    if kind in ("number", "rating"):
        return _number(text)
    if kind == "select":
        picked = [
            kid.attrs["data-option"]
            for kid in cell.kids
            if isinstance(kid, Element) and "data-option" in kid.attrs
        ]
        return picked or ([part.strip() for part in text.split(",")] if text else [])
    links = _links(cell)
    if kind in ("files", "users"):
        return [link.attrs["href"] for link in links] or (
            [part.strip() for part in text.split(",")] if text else []
        )
    if not links:
        return url_ref(text) if text else None
    ref, extra = url_ref(links[0].attrs["href"]), {}
    if kind == "image":
        if fit := links[0].attrs.get("data-object-fit"):
            extra["objectFit"] = fit
        if alt := links[0].attrs.get("alt") or links[0].attrs.get("data-alt"):
            extra["alt"] = alt
    return {"ref": ref, **extra} if extra else ref


def _number(text: str) -> int | float | None:
    if not re.fullmatch(r"-?\d{1,30}(\.\d{1,30})?", text):
        return None
    return float(text) if "." in text else int(text)


def text_cell(cells: list[Fragment], column: str, number: int, nodes: list[Block]) -> str:
    """Put a cell's blocks into the fragments of a table, and return the cell's value: the name of the
    fragment."""
    name = f"r{number}{column}"
    cells.append(Fragment(name, nodes, "cell"))
    return name


def _media(el: Element, footnote: Footnote | None) -> list[Block] | None:
    """Read a video or audio file: as a block that plays the file if its URL is on the web; otherwise, as a file
    block."""
    source = media_source(el.attrs, el.kids)
    if source is None:
        return None
    rest = {name: value for name, value in el.attrs.items() if name != "src"}
    more = {"attributes": rest} if rest else {}
    if re.match(r"https?://", source, re.IGNORECASE):
        return [Block("embed", {"url": source} | more)]
    return [Block("file", {"ref": url_ref(source)} | more)]


def media_source(attrs: dict[str, str], kids: Kids) -> str | None:
    """Return the source of a ``<video>`` or ``<audio>``."""
    inside = (kid.attrs.get("src") for kid in kids if isinstance(kid, Element) and kid.name == "source")
    return attrs.get("src") or next((source for source in inside if source), None)


_MAKERS: dict[str, Callable[[Element, Footnote | None], list[Block] | None]] = {
    "p": _paragraph,
    **dict.fromkeys(_LEVELS, _heading),
    "ul": _list,
    "ol": _list,
    "blockquote": _quote,
    "hr": _rule,
    "figure": _figure,
    "pre": _preformatted,
    **dict.fromkeys(WRAPPERS, _wrapper),
    "table": _table,
    **dict.fromkeys(MEDIA, _media),
}
_CELL_BLOCKS = frozenset(_MAKERS) | {"li", "tr", "td", "th", "thead", "tbody", "tfoot"}
