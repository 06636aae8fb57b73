"""Write nodes as Markdown in the canonical style of new blocks (``writing.py`` handles the others).

Canonical: ``*`` bullets, ``_x_`` (``*x*`` next to letters) and ``**x**``, ``\\`` for a hard break, ``***``
dividers, padded pipe tables, HTML where Markdown has no equivalent. A paragraph is read back and compared; if
the plain form would read differently (delimiters next to letters, text that looks like markup), it is written
with all punctuation escaped.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any

from markdown_it.token import Token

from . import markup
from .inline import HEADING_ID, emoji_code, inlines, plain
from .markdown import label_of, parse_blocks, parse_inline
from .nodes import MAX_NODES, Block, Data, Document, Fragment, Inline, Leaf, Mark, Text, walk
from .parts import emoji, merged_cells
from .reader import API_NAMES, default_label, read_blocks
from .schema import BLOCKS

_HTML_MARKS = {
    "bold": "strong",
    "italic": "em",
    "code": "code",
    "strikethrough": "del",
    "keyboard": "kbd",
    "superscript": "sup",
    "subscript": "sub",
}
_DELIMITERS = {"strikethrough": "~~", "italic": "_", "bold": "**"}
_BESIDE_LETTERS = _DELIMITERS | {"italic": "*"}
"""``_`` has no meaning between two letters, which is where emphasis usually is in CJK text."""
_ORDER = ("color", "keyboard", "superscript", "subscript", "strikethrough", "italic", "bold", "code")
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_ESCAPE = re.compile(
    r"[\\`*\[<~]|(?<![^\W_])_|_(?![^\W_])|\$(?=\$)|(?<=\$)\$|&(?=#?\w+;)|(?<=http):(?=//)|"
    r"(?<=https):(?=//)|(?<=www)\.|(?<=[A-Za-z0-9._+-])@(?=[A-Za-z0-9_-]+\.)"
)
_SHORT = re.compile(r":(?=([a-z0-9_+-]+):)")
_LINE_START = re.compile(r"(?m)^(?:(\d{1,9})([.)])(?=\s|$)|([#>+=|-]|\{%|:(?=-)))")


def marker_of(block: Block, text: str) -> str:
    """Return the marker of a list's items; another list right after it must use a different one."""
    if not block.type.startswith("list-"):
        return ""
    match = re.match(r"\s*\d*(\S)", text)
    return match[1] if match else ""


class Notes:
    """Footnotes that written annotations need. A definition in a gap is kept while an untouched block refers
    to it; changed definitions to which only edited blocks refer are rewritten at the end of the page."""

    is_styled = is_draft = is_strict = is_loose = False
    bullet, behind, point = "*", " ", "."

    def __init__(self, document: Document | None = None, texts: Sequence[str | None] = ()) -> None:
        self.fresh: dict[str, str] = {}
        self.taken: set[str] = set()
        self.known: dict[str, str] = {}
        self.moved: set[str] = set()
        self.kept: Mapping[int, str] = {}
        if document is None or all(text is not None for text in texts):
            return
        for gap in document.gaps:
            for note in _definitions(gap):
                self.known.setdefault(note.info, note.content)
        for block, text in zip(document.nodes, texts, strict=True):
            if text is not None:
                if "[^" in text or "#user-content-fn-" in text:
                    self.taken |= labels_in(text)
                continue
            for node in walk(block):
                if isinstance(node, Inline) and node.type == "annotation" and node.fragments:
                    body = node.fragments[0]
                    label = label_of(body.fragment)
                    if not self._defines(label, write_blocks(body.nodes, Notes())):
                        self.moved.add(label)
        self.moved -= self.taken
        self.taken.update(self.known.keys() - self.moved)

    def _defines(self, name: str, body: str) -> bool:
        """Return whether a footnote with this text has this name."""
        return name in self.known and write_blocks(read_blocks(self.known[name]), Notes()) == body

    def label(self, fragment: Fragment) -> str:
        """Keep the fragment's blocks as a footnote, and return the label for references to it."""
        body = write_blocks(fragment.nodes, self)
        name = label_of(re.sub(r"[\]\s\[^\\<>`*_&\"]", "", fragment.fragment)) or "1"
        if name in self.taken and self._defines(name, body):
            return name
        number = 1
        while name in self.taken or self.fresh.get(name, body) != body:
            name, number = str(number), number + 1
        self.fresh[name] = body
        return name

    def without(self, gap: str) -> str:
        """Return the gap without the definitions that moved."""
        if not self.moved or "[^" not in gap:
            return gap
        lines = _LINES.findall(gap)
        for note in reversed(_definitions(gap)):
            if note.info in self.moved and note.map is not None:
                start, end = note.map
                while end < len(lines) and not lines[end].strip():
                    end += 1
                del lines[start:end]
        return "".join(lines)

    def text(self) -> str:
        """Return the definitions to put at the end of the page."""
        return "\n\n".join(
            f"[^{name}]: " + re.sub(r"\n(?=[^\n])", "\n    ", body) for name, body in self.fresh.items()
        )


class Styled(Notes):
    """Writer of blocks in the style of a source, with footnotes by their existing labels. ``source``: the
    source with the style. ``kept``: the texts of nodes by ``id``, which are written unchanged. ``is_draft``:
    whether to only find the changes of an edit, without table padding and without reading text back.
    ``is_strict``: whether to escape all punctuation."""

    def __init__(
        self, source: str, kept: Mapping[int, str], *, is_draft: bool = False, is_strict: bool = False
    ) -> None:
        super().__init__()
        self.is_styled = True
        self.kept, self.is_draft, self.is_strict = kept, is_draft, is_strict
        if bullet := _BULLET.search(source):
            self.bullet, self.behind = bullet[1], bullet[2]
        if point := _POINT.search(source):
            self.point = point[1]
        self.is_loose = _is_loose(source)

    def label(self, fragment: Fragment) -> str:
        return fragment.fragment


_BULLET = re.compile(r"(?m)^[ \t>]*([-*+])( {1,4})(?=\S)")
_POINT = re.compile(r"(?m)^[ \t>]*\d{1,9}([.)])[ \t]")
_ITEM = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]")


def _is_loose(source: str) -> bool:
    """Return whether there are blank lines between the items of a list in a source."""
    in_list = is_behind_blank = False
    for line in source.splitlines():
        if not line.strip(" \t>"):
            is_behind_blank = True
            continue
        if _ITEM.match(line):
            if in_list and is_behind_blank:
                return True
            in_list = True
        elif is_behind_blank and not line.startswith((" ", "\t")):
            in_list = False
        is_behind_blank = False
    return False


_LABEL = re.compile(r"\[\^([^][\s]+)\]|(?<=#user-content-fn-)([^\"')\s]+)")
_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")


def _definitions(gap: str) -> list[Token]:
    """Return the footnotes that are defined between two blocks, as they are read."""
    if "[^" not in gap:
        return []
    text = gap.replace("\r\n", "\n").replace("\r", "\n")
    return [token for token in parse_blocks(text, {}) if token.type == "footnote"]


def labels_in(source: str) -> set[str]:
    """Return the labels of the footnotes to which a source refers."""
    return {label_of(first or second) for first, second in _LABEL.findall(source)}


def with_definition(gap: str, label: str, change: Callable[[str], str | None]) -> str:
    """Return the gap between two blocks with a changed definition of a footnote. ``change``: the function
    from its current text to the new one, or None to keep it."""
    note = next((note for note in _definitions(gap) if note.info == label and note.map is not None), None)
    said = change(note.content) if note is not None else None
    if note is None or said is None or note.map is None:
        return gap
    lines, (start, end) = _LINES.findall(gap), note.map
    olds, news = note.content.split("\n"), said.split("\n")
    if len(olds) == end - start == len(news) and all(
        old in line for old, line in zip(olds, lines[start:end], strict=True)
    ):
        for at, (old, new) in enumerate(zip(olds, news, strict=True), start):
            begin = lines[at].rindex(old)
            lines[at] = lines[at][:begin] + new + lines[at][begin + len(old) :]
    else:
        rest = lines[end - 1][len(lines[end - 1].rstrip("\r\n")) :]
        ending = rest or "\n"
        lines[start:end] = [f"[^{label}]: " + re.sub(r"\n(?=[^\n])", ending + "    ", said) + rest]
    return "".join(lines)


def write_blocks(nodes: Sequence[object], notes: Notes | None = None) -> str:
    """Write blocks in canonical style, separated by blank lines."""
    return "\n\n".join(_written(nodes, notes or Notes()))


def _written(nodes: Sequence[Any], notes: Notes) -> list[str]:
    parts: list[str] = []
    for index, block in enumerate(nodes):
        parts.append(write_block(block, notes, marker_of(nodes[index - 1], parts[-1]) if index else ""))
    return parts


def write_block(block: Block, notes: Notes | None = None, avoid: str = "") -> str:
    """Write one block in canonical style, without line breaks around it. ``avoid``: the item marker of the list
    right before it."""
    notes = notes or Notes()
    if (kept := notes.kept.get(id(block))) is not None:
        return kept
    if block.type.startswith("list-") and block.type != "list-item":
        return _list(block, notes, avoid)
    return _WRITERS[block.type](block, notes)


# --- inline -----------------------------------------------------------------------------------------------


def write_inlines(nodes: Sequence[object], notes: Notes | None = None, table: bool = False) -> str:
    """Write the content of a paragraph. ``table``: whether it is in a cell of a pipe table."""
    notes = notes or Notes()
    if notes.is_draft:
        return _Inline(notes, strict=notes.is_strict, table=table).write(nodes)
    for delimiters in (_DELIMITERS, _BESIDE_LETTERS):
        text = _Inline(notes, strict=False, table=table, delimiters=delimiters).write(nodes)
        if _reads_as(text, nodes, table):
            return text
    return _Inline(notes, strict=True, table=table).write(nodes)


def _reads_as(text: str, nodes: Sequence[object], table: bool) -> bool:
    signs = _ODD.finditer(text)
    if next(signs, None) is None and not table:
        return True
    if next(islice(signs, MAX_NODES, None), None) is not None:
        # A text with so much punctuation is shown unchanged.
        return False
    if table:
        text = re.sub(r"\\\|", "|", text)
    env = {"footnotes": {label_of(first) for first, _ in _LABEL.findall(text)}}
    return bool(comparable(inlines(parse_inline(text.strip(" \t\n"), env))) == comparable(nodes))


_ODD = re.compile(r"[^\w\s.,;()'\"/-]|_|://|www\.")


def comparable(nodes: Sequence[Any]) -> object:
    """Return the nodes as plain values without keys, with marks in a fixed order."""
    found: list[Any] = []
    for node in nodes:
        if isinstance(node, Text):
            for leaf in node.leaves:
                if not leaf.text:
                    continue
                marks = sorted(
                    ((mark.type, str(mark.data or "")) for mark in leaf.marks), key=lambda pair: pair[0]
                )
                if found and found[-1][0] == "text" and found[-1][1] == marks:
                    found[-1][2] += leaf.text
                else:
                    found.append(["text", marks, leaf.text])
        else:
            found.append([node.type, node.data, comparable(node.nodes)])
    return found


class _Inline:
    def __init__(
        self, notes: Notes, strict: bool, table: bool, delimiters: dict[str, str] = _DELIMITERS
    ) -> None:
        self.notes, self.strict, self.table, self.delimiters = notes, strict, table, delimiters

    def write(self, nodes: Sequence[object]) -> str:
        text = self.join(nodes)
        if not text:
            return text
        edge = text[0]
        if edge.isspace() and edge != "\n":
            text = f"&#x{ord(edge):x};" + text[1:]
        edge = text[-1:]
        if edge.isspace():
            end = "<br>" if edge == "\n" else f"&#x{ord(edge):x};"
            text = text[:-1].removesuffix("\\" if edge == "\n" else "") + end
        # A formula at the start of a line could be read as a block.
        return text if self.table else _LINE_START.sub(_escape_start, text.replace("\\\n$$", "<br>$$"))

    def join(self, nodes: Sequence[Any]) -> str:
        out: list[str] = []
        for node in nodes:
            if isinstance(node, Text):
                self.leaves(node.leaves, out)
            else:
                out.append(self.inline(node))
        return "".join(out)

    def leaves(self, leaves: Sequence[Leaf], out: list[str]) -> None:
        """Open and close marks so that a mark shared by two adjacent leaves is written once."""
        opened: list[tuple[Mark, int]] = []
        for leaf in leaves:
            if not leaf.text:
                continue
            marks = sorted(leaf.marks, key=lambda mark: _ORDER.index(mark.type))
            shared = 0
            while shared < min(len(opened), len(marks)) and opened[shared][0] == marks[shared]:
                shared += 1
            if any(mark.type == "code" for mark, _ in opened[:shared]):
                shared = next(n for n, pair in enumerate(opened) if pair[0].type == "code")
            while len(opened) > shared:
                self.close(*opened.pop(), out)
            code = bool(marks) and marks[-1].type == "code"
            for mark in marks[shared : len(marks) - code]:
                opened.append((mark, len(out)))
                out.append("")
            out.append(self.code(leaf.text) if code else self.text(leaf.text))
        while opened:
            self.close(*opened.pop(), out)

    def close(self, mark: Mark, start: int, out: list[str]) -> None:
        content = "".join(out[start:])
        del out[start:]
        out.append(self.marked(mark, content))

    def marked(self, mark: Mark, content: str) -> str:
        if mark.type == "color":
            data = mark.data or {}
            style = ""
            if data.get("text", "default") != "default":
                style += f"color:{data['text']};"
            if data.get("background", "default") != "default":
                style += f"background-color:{data['background']};"
            return f'<mark style="{style}">{content}</mark>' if style else f"<mark>{content}</mark>"
        delimiter = self.delimiters.get(mark.type)
        if delimiter and not self.strict and not content[0].isspace() and not content[-1].isspace():
            return delimiter + content + delimiter
        name = _HTML_MARKS[mark.type]
        return f"<{name}>{content}</{name}>"

    def code(self, text: str) -> str:
        if "\n" in text or text != text.strip() or (self.table and ("|" in text or "\\" in text)) or not text:
            return f"<code>{self.text(text)}</code>"
        fence = "`"
        while fence in text:
            fence += "`"
        pad = " " if text[0] == "`" or text[-1] == "`" else ""
        return f"{fence}{pad}{text}{pad}{fence}"

    def text(self, text: str) -> str:
        if self.strict:
            text = _PUNCTUATION.sub(r"\\\1", text)
            text = re.sub(r"[^\S\n ]|(?<=\n) | (?=\n)|(?<= ) ", lambda m: f"&#x{ord(m[0]):x};", text)
        else:
            text = _ESCAPE.sub(lambda match: "\\" + match[0], text)
            if text.count(":") > 1:
                text = _SHORT.sub(lambda match: "\\:" if emoji_code(match[1]) else ":", text)
            if self.table:
                text = text.replace("|", "\\|")
            text = re.sub(r"(?<=\n)[ \t]|[ \t](?=\n)|\t", lambda match: f"&#x{ord(match[0]):x};", text)
        return text.replace("\n", "<br>" if self.table else "\\\n")

    def inline(self, node: Inline) -> str:
        return _INLINE_WRITERS[node.type](self, node)

    def link(self, node: Inline) -> str:
        url = _url(node.data["ref"])
        rest = node.data.get("attributes") or {}
        content = self.join(node.nodes)
        if rest or not node.nodes or "](" in content:
            title = {"title": node.data["title"]} if "title" in node.data else {}
            return f"<a{_attrs({'href': url} | title | rest)}>{content}</a>"
        marks = [leaf.marks for part in node.nodes if isinstance(part, Text) for leaf in part.leaves]
        bare = "title" not in node.data and not any(marks) and plain(node.nodes) == url
        if bare and re.fullmatch(r"[a-z]+://[^\s<>]+", url):
            return f"<{url}>"
        return f"[{content}]({_destination(url, node.data.get('title'))})"

    def emoji(self, node: Inline) -> str:
        code = str(node.data["code"])
        name = _emoji_names().get(code)
        if name:
            return f":{name}:"
        return (
            f'<span data-gb-custom-inline data-tag="emoji" data-code="{_quoted(code)}">{emoji(code)}</span>'
        )

    def icon(self, node: Inline) -> str:
        name, color = str(node.data["icon"]), node.data.get("color")
        style = f' style="color:{color};"' if color else ""
        return f'<i class="fa-{_quoted(name)}"{style}>:{html.escape(name)}:</i>'

    def expression(self, node: Inline) -> str:
        return f'<code class="expression">{self.escaped(str(node.data["expression"]))}</code>'

    def escaped(self, text: str) -> str:
        """Return text inside an HTML element within Markdown."""
        text = _PUNCTUATION.sub(r"\\\1", text)
        return re.sub(r"[\t\n\r]|^ | $|(?<= ) ", lambda m: f"&#x{ord(m[0]):x};", text)

    def math(self, node: Inline) -> str:
        return f"$${node.data['formula']}$$"

    def image(self, node: Inline) -> str:
        attrs = image_attributes(node.data)
        if "caption" in node.data:
            attrs["title"] = node.data["caption"]
        if "size" in node.data:
            attrs["data-size"] = node.data["size"]
        return picture(node.data, attrs)

    def annotation(self, node: Inline) -> str:
        if not node.fragments:
            return self.join(node.nodes)
        label = self.notes.label(node.fragments[0])
        if not node.nodes:
            return f"[^{label}]"
        return f"[{self.join(node.nodes)}](#user-content-fn-{label})[^{label}]"

    def mention(self, node: Inline) -> str:
        url = _url(node.data["ref"])
        label = self.text(str(node.data.get("label", url)))
        return f"[{label}]({_destination(url, 'mention')})"

    def button(self, node: Inline) -> str:
        data = node.data
        attrs: Data = {}
        name = "a"
        if "action" in data or "query" in data:
            name, attrs = "button", {"type": "button"}
        elif "ref" in data:
            attrs["href"] = _url(data["ref"])
        attrs["class"] = f"button {data['kind']}"
        for key, attr in (("action", "data-action"), ("query", "data-query"), ("icon", "data-icon")):
            if data.get(key):
                attrs[attr] = data[key]
        return f"<{name}{_attrs(attrs)}>{self.escaped(str(data['label']))}</{name}>"

    def unknown(self, node: Inline) -> str:
        return str(node.data["source"])


_INLINE_WRITERS: dict[str, Callable[[_Inline, Inline], str]] = {
    "link": _Inline.link,
    "emoji": _Inline.emoji,
    "icon": _Inline.icon,
    "expression": _Inline.expression,
    "inline-math": _Inline.math,
    "inline-image": _Inline.image,
    "annotation": _Inline.annotation,
    "mention": _Inline.mention,
    "button": _Inline.button,
    "unknown": _Inline.unknown,
}


def _escape_start(match: re.Match[str]) -> str:
    if match[1]:
        return f"{match[1]}\\{match[2]}"
    return "\\" + match[0]


def _url(ref: Data) -> str:
    """Return the written form of a reference: a URL unchanged, and any other reference as ``kind:id``
    (resolve it first)."""
    if ref.get("kind") == "url":
        return str(ref["url"])
    return f"{ref['kind']}:{next(str(value) for key, value in ref.items() if key != 'kind')}"


def _destination(url: str, title: str | None = None) -> str:
    plain_url = re.fullmatch(r"[^\s<>()\\&\x00-\x1f\"*_`~\[\]$!]+", url)
    simple = re.fullmatch(r"[^\s<>()\\&\x00-\x1f]+", url)
    if not (plain_url or simple):
        safe = re.sub(r"([\\<>&])", r"\\\1", url).replace("\n", "&#xa;")
        url = f"<{safe}>"
    if title is None:
        return url
    safe = re.sub(r"([\\\"&<`\[\]*_~$])", r"\\\1", title).replace("\n", "&#xa;")
    return f'{url} "{safe}"'


def _quoted(value: str) -> str:
    return html.escape(value, quote=True).replace("\n", "&#xa;")


def _attrs(attrs: Data) -> str:
    """Return the attributes of an HTML tag, one space before each."""
    return "".join(f' {name}="{_quoted(str(value))}"' for name, value in attrs.items())


@cache
def _emoji_names() -> dict[str, str]:
    """Return the short names of emoji by code points."""
    from rich._emoji_codes import EMOJI

    names: dict[str, str] = {}
    for name in sorted(EMOJI, key=len):
        if re.fullmatch(r"[a-z0-9_+-]+", name) and (code := emoji_code(name)):
            names.setdefault(code, name)
    return names


def image_attributes(data: Data) -> Data:
    """Return the attributes of an ``<img>`` for an image's data."""
    attrs: Data = {"src": _url(data["ref"]), "alt": data.get("alt", "")}
    for side in ("width", "height"):
        if side in data:
            attrs[side] = write_length(data[side])
    return attrs | (data.get("attributes") or {})


def write_length(value: Any) -> str:
    if isinstance(value, dict):
        return f"{_number(value['value'])}{value['unit']}"
    return _number(value)


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def picture(data: Data, attrs: Data) -> str:
    """Return ``<img>``, with a ``<picture>`` around it if there is a dark variant."""
    img = f"<img{_attrs(attrs)}>"
    if "refDark" not in data:
        return img
    dark = _quoted(_url(data["refDark"]))
    return f'<picture><source srcset="{dark}" media="(prefers-color-scheme: dark)">{img}</picture>'


# --- blocks -----------------------------------------------------------------------------------------------


def _tag(name: str, data: Data, /, **names: str) -> str:
    """Return an opening ``{% tag %}``: the fields of ``data`` that ``names`` lists (attribute=field), then
    attributes."""
    parts = [name]
    for attr, field in names.items():
        if field in data:
            parts.append(f'{attr}="{_attribute(data[field])}"')
    for attr, value in (data.get("attributes") or {}).items():
        parts.append(f'{attr}="{_attribute(value)}"')
    return "{% " + " ".join(parts) + " %}"


def _attribute(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return _attribute(",".join(map(str, value)))
    if isinstance(value, (int, float)):
        return _number(value)
    if isinstance(value, dict):
        return write_length(value)
    return _quoted(str(value)).replace("&#x27;", "'").replace("&lt;", "<").replace("&gt;", ">")


def _paragraph(block: Block, notes: Notes) -> str:
    align, rest = block.data.get("align"), block.data.get("attributes")
    if align or rest:
        attrs = ({"align": _SIDE[align]} if align else {}) | (rest or {})
        return f"<p{_attrs(attrs)}>{write_html(block.nodes, notes)}</p>"
    return write_inlines(block.nodes, notes)


_SIDE = {"start": "left", "center": "center", "end": "right"}


def _heading(block: Block, notes: Notes) -> str:
    level = block.data.get("level", int(block.type[-1]) + 1)
    align, rest, anchor = (block.data.get(name) for name in ("align", "attributes", "id"))
    if align or rest:
        attrs = ({"id": anchor} if anchor else {}) | ({"align": _SIDE[align]} if align else {}) | (rest or {})
        return f"<h{level}{_attrs(attrs)}>{write_html(block.nodes, notes)}</h{level}>"
    text = write_inlines(block.nodes, notes).replace("\\\n", "<br>").replace("\n", " ")
    text = re.sub(r"(^|[ \t])(#+)$", r"\1\\\2", text)
    if text.endswith("}") and (named := HEADING_ID.search(text)):
        # Text that looks like an id is part of the heading.
        text = f"{text[: named.start()]}\\{text[named.start() :]}"
    if anchor:
        text += f' <a href="#{_quoted(anchor)}" id="{_quoted(anchor)}"></a>'
    return f"{'#' * level} {text}".rstrip(" ")


def _list(block: Block, notes: Notes, avoid: str = "") -> str:
    bullet, point = notes.bullet, notes.point
    if avoid == bullet:
        bullet = "-" if bullet == "*" else "*"
    if avoid == point:
        point = ")" if point == "." else "."
    number = block.data.get("start", 1)
    lines: list[str] = []
    loose = notes.is_loose or any(_loose(item) for item in block.nodes)
    ends: list[str] = []
    for item in block.nodes:
        if block.type == "list-ordered":
            marker = f"{int(number)}{point} "
            number += 1
        else:
            marker = f"{bullet}{notes.behind}"
        indent = " " * len(marker)
        if "checked" in item.data:  # type: ignore[union-attr]
            marker += "[x] " if item.data["checked"] else "[ ] "  # type: ignore[union-attr]
        body = _item(item, notes, loose)
        if not body and "checked" not in item.data:  # type: ignore[union-attr]
            # A task's box counts only with a space after it.
            marker = marker.rstrip()
        lines.append(marker + _indent(body, indent))
        # In the style of a source, only the items that need blank lines have them.
        ends.append("\n\n" if loose and (notes.is_loose or not notes.is_styled or _loose(item)) else "\n")
    return "".join(line + end for line, end in zip(lines, ends, strict=True)).rstrip("\n")


def _loose(item: Any) -> bool:
    """Return whether the item needs blank lines because it is more than a paragraph with nested lists."""
    return any(
        child.type not in ("list-ordered", "list-unordered", "list-tasks") or not index
        for index, child in enumerate(item.nodes)
        if index or child.type != "paragraph"
    )


def _item(item: Any, notes: Notes, loose: bool) -> str:
    if loose or len(item.nodes) < 2:
        return write_blocks(item.nodes, notes)
    return "\n".join(_written(item.nodes, notes))


def _indent(text: str, indent: str) -> str:
    return re.sub(r"\n(?=[^\n])", "\n" + indent, text)


def _divider(block: Block, notes: Notes) -> str:
    return "***"


def _quote(block: Block, notes: Notes) -> str:
    body = write_blocks(block.nodes, notes)
    return "\n".join(f"> {line}" if line else ">" for line in body.split("\n")) if body else ">"


def _wrap(name: str, /, **names: str) -> Callable[[Block, Notes], str]:
    """Return a writer for ``{% name %}`` around blocks."""

    def write_tag(block: Block, notes: Notes) -> str:
        body = write_blocks(block.nodes, notes)
        return f"{_tag(name, block.data, **names)}\n{body}\n{{% end{name} %}}"

    return write_tag


def _parts(name: str, part: str, fields: dict[str, str], **names: str) -> Callable[[Block, Notes], str]:
    """Return a writer for a tag whose content is tags of one kind."""
    write_part = _wrap(part, **fields)

    def write_tag(block: Block, notes: Notes) -> str:
        body = "\n\n".join(write_part(child, notes) for child in block.nodes)  # type: ignore[arg-type]
        return f"{_tag(name, block.data, **names)}\n{body}\n{{% end{name} %}}"

    return write_tag


def _if(block: Block, notes: Notes) -> str:
    expression = " ".join(str(block.data["expression"]).split())
    return f"{{% if {expression} %}}\n{write_blocks(block.nodes, notes)}\n{{% endif %}}"


def _code(block: Block, notes: Notes) -> str:
    data = block.data
    rich = any(
        line.data
        or any(not isinstance(node, Text) or any(leaf.marks for leaf in node.leaves) for node in line.nodes)
        for line in block.nodes
        if isinstance(line, Block)
    )
    if rich:
        return _rich_code(block, notes)
    text = "\n".join(plain(line.nodes) for line in block.nodes)  # type: ignore[union-attr, arg-type]
    fence = "```"
    while fence in text:
        fence += "`"
    info = " ".join(part for part in (data.get("syntax", ""), data.get("info", "")) if part)
    if "`" in info:
        fence = "~~~"
        while fence in text:
            fence += "~"
    body = f"{fence}{info}\n{text}\n{fence}"
    if not any(name in data for name in (*_CODE_FIELDS, "attributes")):
        return body
    return f"{_tag('code', data, **_CODE_FIELDS)}\n{body}\n{{% endcode %}}"


_CODE_FIELDS = {
    name: name
    for name in ("title", "overflow", "lineNumbers", "fullWidth", "expandable", "collapsedLineCount")
}


def _rich_code(block: Block, notes: Notes) -> str:
    data = block.data
    attrs: Data = {}
    if "syntax" in data:
        attrs["class"] = f"language-{data['syntax']}"
    for name, attr in (
        ("title", "data-title"),
        ("overflow", "data-overflow"),
        ("lineNumbers", "data-line-numbers"),
        ("fullWidth", "data-full-width"),
        ("expandable", "data-expandable"),
        ("collapsedLineCount", "data-collapsed-line-count"),
        ("info", "data-info"),
    ):
        if name in data:
            attrs[attr] = _attribute(data[name])
    code = {"class": f"lang-{data['syntax']}"} if "syntax" in data else {}
    lines = []
    for line in block.nodes:
        text = write_html(line.nodes, notes, code=True)  # type: ignore[union-attr]
        lines.append(f"<strong>{text}</strong>" if line.data.get("highlighted") else text)  # type: ignore[union-attr]
    return f"<pre{_attrs(attrs)}><code{_attrs(code)}>" + "\n".join(lines) + "\n</code></pre>"


def _math(block: Block, notes: Notes) -> str:
    return f"$$\n{block.data['formula']}\n$$"


def _images(block: Block, notes: Notes) -> str:
    attrs: Data = {}
    if "align" in block.data:
        attrs["align"] = block.data["align"]
    for name, attr in (("fullWidth", "data-full-width"), ("withFrame", "data-with-frame")):
        if name in block.data:
            attrs[attr] = _attribute(block.data[name])
    attrs |= block.data.get("attributes") or {}
    figures = [_figure(image, notes) for image in block.nodes]  # type: ignore[arg-type]
    if len(figures) == 1 and not attrs:
        return figures[0]
    return f"<div{_attrs(attrs)}>" + " ".join(figures) + "</div>"


def _figure(image: Block, notes: Notes) -> str:
    caption = image.fragments[0].nodes[0].nodes if image.fragments and image.fragments[0].nodes else []
    said = f"<p>{write_html(caption, notes)}</p>" if caption else ""
    return (
        f"<figure>{picture(image.data, image_attributes(image.data))}<figcaption>{said}</figcaption></figure>"
    )


def _drawing(block: Block, notes: Notes) -> str:
    attrs = image_attributes(block.data) if "ref" in block.data else {"src": "", "alt": ""}
    attrs["class"] = " ".join(filter(None, ["gitbook-drawing", attrs.pop("class", "")]))
    return f"<img{_attrs(attrs)}>"


def _captioned(name: str, attr: str) -> Callable[[Block, Notes], str]:
    def write_tag(block: Block, notes: Notes) -> str:
        data = dict(block.data)
        if "ref" in data:
            data["url"] = _url(data["ref"])
        tag = _tag(name, data, **{attr: "url", "fullWidth": "fullWidth"})
        if not block.fragments:
            return tag
        return f"{tag}\n{write_blocks(block.fragments[0].nodes, notes)}\n{{% end{name} %}}"

    return write_tag


def _content_ref(block: Block, notes: Notes) -> str:
    url = _url(block.data["ref"])
    label = str(block.data.get("label") or default_label(url))
    text = _Inline(notes, strict=True, table=False).text(label)
    tag = _tag("content-ref", {"url": url, **block.data}, url="url")
    return f"{tag}\n[{text}]({_destination(url)})\n{{% endcontent-ref %}}"


def _include(block: Block, notes: Notes) -> str:
    return f'{{% include "{_url(block.data["ref"])}" %}}'


def _expandable(block: Block, notes: Notes) -> str:
    attrs = _attrs(block.data.get("attributes") or {}) + (" open" if block.data.get("open") else "")
    parts = {fragment.fragment: fragment for fragment in block.fragments}
    title, body = parts.get("expandable-title"), parts.get("expandable-body")
    said = write_inlines(title.nodes[0].nodes, notes) if title and title.nodes else ""
    said = said.replace("\\\n", "<br>").replace("\n", " ")
    inner = write_blocks(body.nodes, notes) if body else ""
    return f"<details{attrs}>\n\n<summary>{said}</summary>\n\n{inner}\n\n</details>"


def _openapi(tag: str, **names: str) -> Callable[[Block, Notes], str]:
    def write_tag(block: Block, notes: Notes) -> str:
        ref = block.data["ref"]
        data = block.data | {"at": ref["spec"] if ref.get("kind") == "openapi" else _url(ref)}
        opening = _tag(tag, data, **names)
        body = str(block.data.get("body") or f"[OpenAPI {data['at']}]({_destination(data['at'])})")
        return f"{opening}\n{body}\n{{% end{tag} %}}"

    return write_tag


def _integration(block: Block, notes: Notes) -> str:
    data = block.data
    tag = f"@{data['integration']}/{data['block']}"
    return _tag(tag, {"attributes": data["props"]})


def _api(block: Block, notes: Notes) -> str:
    tag = str(block.data["tag"])
    older = {new: old for old, new in API_NAMES.items() if tag.startswith("swagger") == (old == "baseUrl")}
    names = {
        older.get(field, field): field
        for field in BLOCKS[block.type].data
        if field not in ("tag", "attributes")
    }
    return _wrap(tag, **names)(block, notes)


def _unknown(block: Block, notes: Notes) -> str:
    source, end = str(block.data["source"]), block.data.get("end")
    parts = [source] if source else []
    if block.nodes:
        parts.append(write_blocks(block.nodes, notes))
    if end:
        parts.append(str(end))
    glue = "\n\n" if block.data.get("kind") == "html" else "\n"
    return glue.join(parts)


# --- HTML and tables --------------------------------------------------------------------------------------


def write_html(nodes: Sequence[Any], notes: Notes, code: bool = False) -> str:
    """Write inline nodes as HTML on one line, where Markdown is not read. ``code``: whether whitespace is
    significant."""
    out: list[str] = []
    for node in nodes:
        if isinstance(node, Text):
            for leaf in node.leaves:
                text = html.escape(leaf.text, quote=False)
                text = text if code else _html_text(leaf.text).replace("\n", "<br>")
                for mark in sorted(leaf.marks, key=lambda mark: -_ORDER.index(mark.type)):
                    text = _Inline(notes, strict=True, table=False).marked(mark, text)
                out.append(text)
        elif node.type == "link":
            rest = ({"title": node.data["title"]} if "title" in node.data else {}) | (
                node.data.get("attributes") or {}
            )
            href = {"href": _url(node.data["ref"])}
            out.append(f"<a{_attrs(href | rest)}>{write_html(node.nodes, notes, code)}</a>")
        elif node.type == "annotation" and node.fragments:
            label = _quoted(notes.label(node.fragments[0]))
            out.append(
                f'<a data-footnote-ref href="#user-content-fn-{label}">{write_html(node.nodes, notes, code)}</a>'
            )
        elif node.type == "mention":
            url = _url(node.data["ref"])
            out.append(
                f'<a data-mention href="{_quoted(url)}">{_html_text(str(node.data.get("label", url)))}</a>'
            )
        else:
            out.append(_html_inline(node, notes))
    return "".join(out)


def _html_text(text: str) -> str:
    """Return text for HTML in which all spaces are significant."""
    text = html.escape(text, quote=False).replace("$$", "&#x24;&#x24;")
    return re.sub(r"[\t\r]|^ | $|(?<= ) |(?<=\n) | (?=\n)", lambda m: f"&#x{ord(m[0]):x};", text)


def _html_inline(node: Inline, notes: Notes) -> str:
    if node.type == "emoji":
        code = str(node.data["code"])
        return (
            f'<span data-gb-custom-inline data-tag="emoji" data-code="{_quoted(code)}">{emoji(code)}</span>'
        )
    if node.type == "inline-math":
        return html.escape(f"$${node.data['formula']}$$", quote=False)
    if node.type == "expression":
        said = _html_text(str(node.data["expression"]))
        return f'<code class="expression">{said}</code>'
    if node.type == "button":
        bare = Inline("button", node.data | {"label": ""})
        tag = _Inline(notes, strict=True, table=False).inline(bare)
        at = tag.rindex("</")
        return tag[:at] + _html_text(str(node.data["label"])) + tag[at:]
    return _Inline(notes, strict=True, table=False).inline(node)


def _table(block: Block, notes: Notes) -> str:
    data = block.data
    cells = {fragment.fragment: fragment for fragment in block.fragments}
    definition, view = data["definition"], data["view"]
    columns = [definition[name] for name in view["columns"] if name in definition]
    columns += [column for name, column in definition.items() if name not in view["columns"]]
    records = sorted(data["records"].values(), key=lambda record: record["orderIndex"])
    if _is_simple(block, columns, records, cells):
        return _pipe_table(columns, records, cells, notes)
    return _html_table(block, columns, records, cells, notes)


def _is_simple(block: Block, columns: list[Data], records: list[Data], cells: dict[str, Fragment]) -> bool:
    view = block.data["view"]
    if (
        view["type"] != "grid"
        or view.get("columnWidths")
        or view.get("hideHeader")
        or view.get("useNewSizing")
    ):
        return False
    if block.data.get("fullWidth") or block.data.get("attributes") or not columns:
        return False
    if len(view["columns"]) != len(columns) or not all(
        column["type"] == "text" and not column.get("verticalAlignment") for column in columns
    ):
        return False
    for record in records:
        for column in columns:
            fragment = cells.get(str(record["values"].get(column["id"])))
            if fragment is None or len(fragment.nodes) != 1 or fragment.nodes[0].type != "paragraph":
                return False
            if fragment.nodes[0].data or _has(fragment.nodes[0], "inline-math", "unknown"):
                return False
    return True


def _has(block: Block, *types: str) -> bool:
    return any(isinstance(node, Inline) and node.type in types for node in block.nodes)


def _pipe_table(columns: list[Data], records: list[Data], cells: dict[str, Fragment], notes: Notes) -> str:
    rows = [[_plain_title(column["title"], notes) for column in columns]]
    for record in records:
        rows.append(
            [
                write_inlines(cells[record["values"][column["id"]]].nodes[0].nodes, notes, table=True)
                for column in columns
            ]
        )
    widths = [max(3, *(0 if notes.is_draft else len(row[n]) for row in rows)) for n in range(len(columns))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    rule = []
    for column, width in zip(columns, widths, strict=True):
        align = column.get("textAlignment", "left")
        dashes = "-" * width
        if align == "center":
            dashes = ":" + dashes[2:] + ":"
        elif align == "right":
            dashes = dashes[1:] + ":"
        rule.append(dashes)
    lines.insert(1, "| " + " | ".join(rule) + " |")
    return "\n".join(lines)


def _plain_title(title: str, notes: Notes) -> str:
    return write_inlines([Text([Leaf(title)])], notes, table=True) if title else ""


def _html_table(
    block: Block, columns: list[Data], records: list[Data], cells: dict[str, Fragment], notes: Notes
) -> str:
    data, view = block.data, block.data["view"]
    attrs: Data = dict(data.get("attributes") or {})
    percent = {
        name.removeprefix("width-"): attrs.pop(name) for name in list(attrs) if name.startswith("width-")
    }
    flags = ""
    if view["type"] == "cards":
        if view.get("cardSize", "medium") != "medium":
            attrs = {"data-card-size": view["cardSize"]} | attrs
        if view.get("hideColumnTitle"):
            flags += " data-column-title-hidden"
        attrs = {"data-view": "cards"} | attrs
    elif view.get("hideHeader"):
        flags += " data-header-hidden"
    if "fullWidth" in data:
        attrs["data-full-width"] = _attribute(data["fullWidth"])
    merged, covered = merged_cells(block, [column["id"] for column in columns], records)
    attrs = {
        name: value for name, value in attrs.items() if not re.match(r"(?:col|row)span-(?:r\d+)?c\d+\Z", name)
    }

    def spans(y: int, x: int) -> str:
        return _attrs(
            {name: n for name, n in zip(markup.SPANS, merged.get((y, x), ()), strict=False) if n > 1}
        )

    head = "".join(
        _header_cell(column, view, percent, spans(-1, x))
        for x, column in enumerate(columns)
        if (-1, x) not in covered
    )
    body = ""
    for y, record in enumerate(records):
        row = "".join(
            _cell(column, record["values"].get(column["id"]), cells, notes, spans(y, x))
            for x, column in enumerate(columns)
            if (y, x) not in covered
        )
        body += f"<tr>{row}</tr>"
    table = f"<table{flags}{_attrs(attrs)}><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return table.replace("\n", "&#xa;").replace(_MARKDOWN_LINE, "\n")


def _header_cell(column: Data, view: Data, percent: Data, spans: str) -> str:
    attrs: Data = {}
    flags = ""
    kind = column["type"]
    if width := percent.get(column["id"]) or (view.get("columnWidths") or {}).get(column["id"]):
        attrs["width"] = width if isinstance(width, str) else _number(width)
    if kind not in ("text", "select"):
        attrs["data-type"] = kind
    elif kind == "select":
        attrs["data-type"] = "select"
    if kind == "text":
        if column.get("textAlignment", "left") != "left":
            attrs["align"] = column["textAlignment"]
        if column.get("verticalAlignment"):
            attrs["valign"] = column["verticalAlignment"]
    if kind == "rating":
        attrs["data-max"] = _number(column.get("max", 5))
    if kind == "users" and column.get("multiple"):
        flags += " data-multiple"
    if column["id"] not in view["columns"]:
        flags += " data-hidden"
    for flag, name in markup.CARD_FLAGS:
        if view.get(name) == column["id"]:
            flags += f" {flag}"
    content = _html_text(column["title"])
    if kind == "select":
        options = "".join(
            f"<option{_attrs({'value': o['value'], 'label': o['label'], 'color': o['color']})}></option>"
            for o in column.get("options", [])
        )
        content += f"<select{' multiple' if column.get('multiple') else ''}>{options}</select>"
    return f"<th{flags}{_attrs(attrs)}{spans}>{content}</th>"


def _cell(column: Data, value: Any, cells: dict[str, Fragment], notes: Notes, spans: str) -> str:
    kind = column["type"]
    content = ""
    if kind == "text":
        fragment = cells.get(str(value))
        content = _cell_blocks(fragment.nodes, notes) if fragment else ""
    elif value is None:
        pass
    elif kind == "checkbox":
        content = "true" if value else "false"
    elif kind in ("number", "rating"):
        content = _number(value)
    elif kind == "select":
        labels = {option["value"]: option["label"] for option in column.get("options", [])}
        for option in value if isinstance(value, list) else [value]:
            label = html.escape(str(labels.get(option, option)), quote=False)
            content += f'<span data-option="{_quoted(str(option))}">{label}</span>'
    elif kind in ("files", "users"):
        urls = [item if isinstance(item, str) else _url(item) for item in value]
        content = ", ".join(
            f"<a{_attrs({'href': url})}>{html.escape(default_label(url))}</a>" for url in urls
        )
    else:
        ref = value.get("ref", value)
        attrs = {"href": _url(ref)}
        if "objectFit" in value:
            attrs["data-object-fit"] = value["objectFit"]
        if "alt" in value:
            attrs["data-alt"] = value["alt"]
        content = f"<a{_attrs(attrs)}>{html.escape(default_label(attrs['href']))}</a>"
    return f"<td{spans}>{content}</td>"


def _cell_blocks(nodes: Sequence[Any], notes: Notes) -> str:
    if len(nodes) == 1 and nodes[0].type == "paragraph" and not nodes[0].data:
        return write_html(nodes[0].nodes, notes)
    return "".join(html_block(node, notes) for node in nodes)


def html_block(block: Block, notes: Notes) -> str:
    """Write a block as HTML on one line, for table cells."""
    data = block.data
    if block.type == "paragraph":
        attrs = {"align": _SIDE[data["align"]]} if "align" in data else {}
        return f"<p{_attrs(attrs | (data.get('attributes') or {}))}>{write_html(block.nodes, notes)}</p>"
    if block.type.startswith("heading"):
        return _heading(
            Block(block.type, data | {"attributes": data.get("attributes") or {"": ""}}, block.nodes), notes
        ).replace(' =""', "")
    if block.type.startswith("list-") and block.type != "list-item":
        name = "ol" if block.type == "list-ordered" else "ul"
        attrs = {"start": _number(data["start"])} if "start" in data else {}
        if block.type == "list-tasks":
            attrs["class"] = "contains-task-list"
        items = ""
        for item in block.nodes:
            box = ""
            if "checked" in item.data:  # type: ignore[union-attr]
                box = f'<input type="checkbox"{" checked" if item.data["checked"] else ""}>'  # type: ignore[union-attr]
            items += f"<li>{box}{_cell_blocks(item.nodes, notes)}</li>"  # type: ignore[union-attr]
        return f"<{name}{_attrs(attrs)}>{items}</{name}>"
    if block.type == "blockquote":
        inner = [html_block(child, notes) for child in block.nodes]  # type: ignore[arg-type]
        return f"<blockquote>{''.join(inner)}</blockquote>"
    if block.type == "divider":
        return "<hr>"
    if block.type == "code":
        return _rich_code(block, notes)
    if block.type in ("embed", "file"):
        source = data["url"] if block.type == "embed" else _url(data["ref"])
        return f"<video{_attrs({'src': source} | (data.get('attributes') or {}))}></video>"
    if block.type == "hint":
        body = write_blocks([Block("blockquote", {}, block.nodes)], notes)
        written = f"> [!{_ALERT_OF.get(data['style'], 'NOTE')}]\n{body}"
    else:
        written = write_block(block, notes)
    # Blank lines end the HTML.
    return f"\n\n{written}\n\n".replace("\n", _MARKDOWN_LINE)


_ALERT_OF = {"success": "TIP", "warning": "WARNING", "danger": "CAUTION"}
_MARKDOWN_LINE = "\0"
"""The end of a line of Markdown within HTML; line breaks of the HTML itself are character references."""


_WRITERS: dict[str, Callable[[Block, Notes], str]] = {
    "paragraph": _paragraph,
    **{f"heading-{n}": _heading for n in (1, 2, 3)},
    **dict.fromkeys(("list-ordered", "list-unordered", "list-tasks"), _list),
    "divider": _divider,
    "blockquote": _quote,
    "hint": _wrap("hint", style="style", icon="icon"),
    "code": _code,
    "math": _math,
    "images": _images,
    "image": _figure,
    "file": _captioned("file", "src"),
    "drawing": _drawing,
    "embed": _captioned("embed", "url"),
    "content-ref": _content_ref,
    "reusable-content": _include,
    "expandable": _expandable,
    "tabs": _parts("tabs", "tab", {"title": "title", "icon": "icon"}, fullWidth="fullWidth"),
    "stepper": _parts("stepper", "step", {"icon": "icon"}),
    "columns": _parts(
        "columns",
        "column",
        {"width": "width", "verticalAlignment": "verticalAlignment"},
        fullWidth="fullWidth",
    ),
    "updates": _parts("updates", "update", {"date": "date", "tags": "tags"}, format="format"),
    "table": _table,
    "if": _if,
    "swagger": _openapi(
        "openapi", src="at", path="path", method="method", expanded="expanded", fullWidth="fullWidth"
    ),
    "openapi-operation": _openapi("openapi-operation", spec="at", path="path", method="method"),
    "openapi-schemas": _openapi("openapi-schemas", spec="at", schemas="schemas", grouped="grouped"),
    "openapi-webhook": _openapi("openapi-webhook", spec="at", name="name", method="method"),
    "integration": _integration,
    "prompt": _wrap(
        "prompt",
        description="description",
        icon="icon",
        openInAIProviders="openInAIProviders",
        defaultExpanded="defaultExpanded",
    ),
    "api-method": _api,
    "api-part": _api,
    "unknown": _unknown,
}
