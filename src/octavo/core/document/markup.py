"""Blocks written as HTML: figures, tables, rich code, aligned paragraphs, headings, lists.

A small tolerant parser, iterative and depth-capped; it never executes, fetches or fails. HTML it has no node for
makes ``blocks`` answer None and the caller keeps the source.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

from markdown_it.token import Token
from msgspec import Struct

from .inline import ELEMENTS, Footnote, attributes, inline_image, inlines, length, plain, url_ref
from .nodes import Block, Data, Fragment, Inline, Leaf, Text

MAX_DEPTH = 24

_PIECE = re.compile(
    r"<!--.*?-->|<(?P<close>/?)(?P<name>[A-Za-z][\w:-]*+)"
    r"""(?P<attrs>(?:\s++[^\s"'<>/=]++(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s"'=<>`]++))?+)*+)\s*+(?P<void>/?)>""",
    re.DOTALL,
)
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
            "div",
            "blockquote",
            "figure",
            "hr",
            "td",
            "th",
            "li",
            "tr",
        ]
    ),
    "li": frozenset(["li"]),
    "td": frozenset(["td", "th", "tr", "tbody"]),
    "th": frozenset(["td", "th", "tr", "tbody"]),
    "tr": frozenset(["tr", "tbody", "tfoot"]),
    "option": frozenset(["option"]),
}
_BARRIERS = {"li": frozenset(["ul", "ol"]), "tr": frozenset(["table"])}
_SIDES = {"left": "start", "center": "center", "right": "end", "start": "start", "end": "end"}
_INLINE = frozenset(
    [
        "a",
        "b",
        "strong",
        "em",
        "i",
        "code",
        "br",
        "button",
        "sub",
        "sup",
        "kbd",
        "mark",
        "del",
        "s",
        "strike",
        "img",
        "picture",
        "span",
        "u",
        "small",
        "font",
        "big",
        "abbr",
        "cite",
        "q",
        "ins",
        "samp",
        "var",
        "tt",
        "wbr",
        "nobr",
        "label",
        "time",
    ]
)
_LEVELS = {"h1": 1, "h2": 1, "h3": 2, "h4": 3, "h5": 3, "h6": 3}


_MATH = re.compile(r"\$\$([^$]+)\$\$")


class Element(Struct):
    """``start`` and ``end`` are its place in the parsed text, tags included; ``opening`` the first tag."""

    name: str
    attrs: dict[str, str]
    opening: str
    kids: list[Element | str]
    start: int = 0
    end: int = 0


def parse(text: str) -> list[Element | str]:
    """The elements and texts (still escaped) of a piece of HTML; comments stay text."""
    root = Element("", {}, "", [])
    stack = [root]
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
            while stack[-1].name in _ENDED_BY and name in _ENDED_BY[stack[-1].name]:
                stack.pop().end = match.start()
            child = Element(name, attributes(match["attrs"]), match[0], [], match.start(), match.end())
            stack[-1].kids.append(child)
            if name not in _VOID and not match["void"] and len(stack) < MAX_DEPTH:
                stack.append(child)
    if at < len(text):
        stack[-1].kids.append(text[at:])
    for left in stack:
        left.end = len(text)
    return root.kids


def _close(stack: list[Element], name: str, end: int) -> None:
    for at in range(len(stack) - 1, 0, -1):
        if stack[at].name == name:
            for closed in stack[at:]:
                closed.end = end
            del stack[at:]
            return


def blocks(text: str, footnote: Footnote | None) -> list[Block] | None:
    """The blocks of a piece of HTML, or None when something in it has no node."""
    if text.startswith("<pre"):
        return _rich_code(text)
    found = _blocks(parse(text), footnote)
    return found


def inline_html(kids: list[Element | str], footnote: Footnote | None) -> list[Text | Inline]:
    """The inline nodes of HTML content: entities resolved, runs of white space one space."""
    tokens: list[Token] = []
    stack: list[Element | str] = list(reversed(kids))
    while stack:
        kid = stack.pop()
        if isinstance(kid, str):
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
    if tokens and tokens[0].type == "text_special":
        tokens[0].content = tokens[0].content.lstrip(" ")
    if tokens and tokens[-1].type == "text_special":
        tokens[-1].content = tokens[-1].content.rstrip(" ")
    for token in tokens:
        if token.type != "html_inline":  # only now: an escaped space at an edge counts
            token.content = html.unescape(token.content)
    return inlines(tokens, footnote)


def _token(kind: str, content: str) -> Token:
    token = Token(kind, "", 0)
    token.content = content
    return token


def _blocks(kids: list[Element | str], footnote: Footnote | None) -> list[Block] | None:
    out: list[Block] = []
    run: list[Element | str] = []

    def flush() -> None:
        said = any(not isinstance(kid, str) or kid.strip() for kid in run)
        if said and (nodes := inline_html(run, footnote)):
            out.append(Block("paragraph", {}, list(nodes)))
        run.clear()

    for kid in kids:
        if isinstance(kid, str):
            run.append(kid)
        elif kid.name in _INLINE:
            if kid.name == "img" and "gitbook-drawing" in kid.attrs.get("class", "").split():
                flush()
                out.append(Block("drawing", {"ref": url_ref(kid.attrs.get("src", ""))}))
            else:
                run.append(kid)
        else:
            flush()
            made = _block(kid, footnote)
            if made is None:
                return None
            out.extend(made)
    flush()
    return out


def _block(el: Element, footnote: Footnote | None) -> list[Block] | None:
    make = _MAKERS.get(el.name)
    return make(el, footnote) if make else None


def _align(el: Element) -> tuple[Data, Data]:
    """The alignment of an element, and its other attributes."""
    rest = dict(el.attrs)
    side = _SIDES.get(rest.get("align", ""))
    if side:
        del rest["align"]
    return ({"align": side} if side else {}), rest


def _paragraph(el: Element, footnote: Footnote | None) -> list[Block] | None:
    data, rest = _align(el)
    if rest:
        data["attributes"] = rest
    if any(not isinstance(k, str) and k.name not in _INLINE for k in el.kids):
        return _blocks(el.kids, footnote)
    if len(el.kids) == 1 and not isinstance(only := el.kids[0], str) and only.name in ("img", "picture"):
        side = el.attrs.get("align")
        images = Block("images", {"align": side} if side in ("left", "center", "right") else {})
        image = _image([only])
        if image is not None:
            images.nodes.append(image)
            return [images]
    return [Block("paragraph", data, list(inline_html(el.kids, footnote)))]


def _heading(el: Element, footnote: Footnote | None) -> list[Block] | None:
    data, rest = _align(el)
    number = int(el.name[1])
    if re.fullmatch(r"[-a-z0-9.+_]+", rest.get("id", "")):
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
        if isinstance(kid, str):
            if kid.strip():
                return None
            continue
        if kid.name != "li":
            return None
        kids, item = kid.kids, Block("list-item")
        if kids and not isinstance(box := kids[0], str) and box.name == "input":
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


def _image(kids: list[Element | str]) -> Block | None:
    """The image block of ``<img>`` or ``<picture>``, wrapped in a link or not at all."""
    dark = img = None
    stack = list(reversed(kids))
    while stack:
        kid = stack.pop()
        if isinstance(kid, str):
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
    content: list[Element | str] = []
    caption: Element | None = None
    for kid in el.kids:
        if not isinstance(kid, str) and kid.name == "figcaption":
            caption = kid
        else:
            content.append(kid)
    image = _image(content)
    if image is None or any(
        (k.strip() if isinstance(k, str) else k.name not in ("img", "picture")) for k in content
    ):
        return None
    if "gitbook-drawing" in image.data.get("attributes", {}).get("class", "").split():
        return [Block("drawing", {"ref": image.data["ref"]})]
    if caption is not None:
        said = _blocks(caption.kids, footnote)
        if said is None or len(said) > 1 or any(block.type != "paragraph" for block in said):
            return None
        if said:
            image.fragments.append(Fragment("caption", list(said), "caption"))
    images = Block("images", {}, [image])
    _images_data(images, el.attrs)
    return [images]


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


def gallery(attrs: dict[str, str], inner: list[Block]) -> Block | None:
    """The images block of a ``<div>`` around ``inner``, or None if that holds anything else."""
    if not inner or any(block.type != "images" or block.data for block in inner):
        return None
    images = Block("images", {}, [image for block in inner for image in block.nodes])
    _images_data(images, attrs)
    return images


def _div(el: Element, footnote: Footnote | None) -> list[Block] | None:
    inner = _blocks(el.kids, footnote)
    if inner is None:
        return None
    images = gallery(el.attrs, inner)
    if images is not None:
        return [images]
    if not el.attrs and el.name == "div":
        return inner
    return [Block("unknown", {"source": el.opening, "end": f"</{el.name}>", "kind": "html"}, list(inner))]


def _rich_code(text: str) -> list[Block] | None:
    """``<pre><code>`` with ``<strong>`` for highlighted lines; white space counts."""
    found = re.match(r"<pre([^>]*)>\s*(?:<code([^>]*)>)?", text, re.IGNORECASE)
    end = re.search(r"(?:</code>)?\s*</pre>\s*\Z", text, re.IGNORECASE)
    if found is None or end is None or not found[2]:
        return None
    pre, code = attributes(found[1]), attributes(found[2] or "")
    body = text[found.end() : end.start()]
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
    return [Block("code", data, list(_code_lines(body)))]


def _code_lines(body: str) -> list[Block]:
    tokens: list[Token] = []
    at = 0
    for match in _PIECE.finditer(body):
        if match.start() > at:
            tokens.append(_token("text_special", html.unescape(body[at : match.start()])))
        tokens.append(_token("html_inline", match[0]))
        at = match.end()
    if at < len(body):
        tokens.append(_token("text_special", html.unescape(body[at:])))
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
    """A line that is bold throughout is a highlighted line."""
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
    """Rows, cells and the like: the elements of those names, not looking into cells."""
    found: list[Element] = []
    stack: list[Element | str] = list(reversed(el.kids))
    while stack:
        kid = stack.pop()
        if isinstance(kid, str):
            continue
        if kid.name in names:
            found.append(kid)
        elif kid.name in ("thead", "tbody", "tfoot", "tr"):
            stack.extend(reversed(kid.kids))
    return found


def _table(el: Element, footnote: Footnote | None) -> list[Block] | None:
    rows = [_find(row, "td", "th") for row in _find(el, "tr")]
    rows = [row for row in rows if row]
    if not rows or any(cell.attrs.get(span, "1") != "1" for row in rows for cell in row for span in _SPANS):
        return None
    header = rows[0] if any(cell.name == "th" for cell in rows[0]) else None
    body = rows[1:] if header else rows
    width = max(len(row) for row in rows)
    if width > 512 or width * len(body) > 100_000:
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
    block = Block("table", data, [], [])
    for number, row in enumerate(body, 1):
        values: Data = {}
        for column, td in zip(columns, row, strict=False):
            value = _value(block, column, td, number, footnote)
            if value is not None:
                values[column["id"]] = value
        for column in columns[len(row) :]:
            if column["type"] == "text":
                values[column["id"]] = text_cell(block, column["id"], number, [Block("paragraph")])
        data["records"][f"r{number}"] = {"orderIndex": order_index(number), "values": values}
    if rest:
        data["attributes"] = rest
    return [block]


def _percent_table(el: Element, footnote: Footnote | None) -> list[Block] | None:
    """Widths in percent have no place in a grid: they stay attributes of the table."""
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


_SPANS = ("colspan", "rowspan")
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
    """A text that sorts like the number."""
    return f"{number:06d}"


def _column(cell: Element | None, number: int) -> Data:
    attrs = cell.attrs if cell is not None else {}
    kind = attrs.get("data-type", "text")
    kids = cell.kids if cell is not None else []
    select = next((k for k in kids if not isinstance(k, str) and k.name == "select"), None)
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
            if not isinstance(option, str) and option.name == "option"
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
    stack: list[Element | str] = list(reversed(cell.kids))
    while stack:
        kid = stack.pop()
        if not isinstance(kid, str):
            if kid.name == "a" and kid.attrs.get("href"):
                found.append(kid)
            elif kid.name == "img" and kid.attrs.get("src"):
                found.append(
                    Element("a", {"href": kid.attrs["src"], "alt": kid.attrs.get("alt", "")}, "", [])
                )
            else:
                stack.extend(reversed(kid.kids))
    return found


def _value(block: Block, column: Data, cell: Element, number: int, footnote: Footnote | None) -> Any:
    kind = column["type"]
    if kind == "text":
        inner = _blocks(cell.kids, footnote)
        if inner is None:
            inner = [Block("paragraph", {}, list(inline_html(cell.kids, footnote)))]
        return text_cell(block, column["id"], number, list(inner) or [Block("paragraph")])
    said = plain(inline_html(cell.kids, None)).strip()
    if kind == "checkbox":
        return said.lower() in _TRUE
    if kind in ("number", "rating"):
        return _number(said)
    if kind == "select":
        picked = [
            kid.attrs["data-option"]
            for kid in cell.kids
            if not isinstance(kid, str) and "data-option" in kid.attrs
        ]
        return picked or ([part.strip() for part in said.split(",")] if said else [])
    links = _links(cell)
    if kind in ("files", "users"):
        return [link.attrs["href"] for link in links] or (
            [part.strip() for part in said.split(",")] if said else []
        )
    if not links:
        return url_ref(said) if said else None
    ref, extra = url_ref(links[0].attrs["href"]), {}
    if kind == "image":
        if fit := links[0].attrs.get("data-object-fit"):
            extra["objectFit"] = fit
        if alt := links[0].attrs.get("alt") or links[0].attrs.get("data-alt"):
            extra["alt"] = alt
    return {"ref": ref, **extra} if extra else ref


def _number(said: str) -> int | float | None:
    if not re.fullmatch(r"-?\d{1,30}(\.\d{1,30})?", said):
        return None
    return float(said) if "." in said else int(said)


def text_cell(block: Block, column: str, number: int, nodes: list[Block]) -> str:
    """Put a cell's blocks into the table and answer the fragment's name, which is the cell's value."""
    name = f"r{number}{column}"
    block.fragments.append(Fragment(name, nodes, "cell"))
    return name


_MAKERS: dict[str, Callable[[Element, Footnote | None], list[Block] | None]] = {
    "p": _paragraph,
    **dict.fromkeys(_LEVELS, _heading),
    "ul": _list,
    "ol": _list,
    "blockquote": _quote,
    "hr": _rule,
    "figure": _figure,
    "div": _div,
    "center": _div,
    "table": _table,
}
