"""Write the content of paragraphs, as Markdown and as HTML."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import islice
from typing import Any, Protocol

from .attributes import destination, html_text, image_attributes, picture, quoted, write_attributes, write_url
from .inline import emoji_code, inlines, plain
from .markdown import label_of, parse_inline
from .nodes import MAX_NODES, Block, Data, Fragment, Inline, Leaf, Mark, Text
from .parts import emoji

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
"""Delimiters for marks next to letters. Between two letters, ``_`` has no meaning, but emphasis in CJK text is usually
between letters."""
_ORDER = ("color", "keyboard", "superscript", "subscript", "strikethrough", "italic", "bold", "code")
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_ESCAPE = re.compile(
    r"[\\`*\[<~]|(?<![^\W_])_|_(?![^\W_])|\$(?=\$)|(?<=\$)\$|&(?=#?\w+;)|(?<=http):(?=//)|"
    r"(?<=https):(?=//)|(?<=www)\.|(?<=[A-Za-z0-9._+-])@(?=[A-Za-z0-9_-]+\.)"
)
_SHORT = re.compile(r":(?=([a-z0-9_+-]+):)")
_LINE_START = re.compile(r"(?m)^(?:(\d{1,9})([.)])(?=\s|$)|([#>+=|-]|\{%|:(?=-)))")
LABEL = re.compile(r"\[\^([^][\s]+)\]|(?<=#user-content-fn-)([^\"')\s]+)")


class WritingContext(Protocol):
    """Style and footnotes of the page that is being written."""

    @property
    def is_draft(self) -> bool: ...

    @property
    def is_strict(self) -> bool: ...

    def label(self, fragment: Fragment) -> str:
        """Store a fragment's blocks as a footnote, and return the label for references to it."""

    def write(self, block: Block) -> str:
        """Write a block as Markdown."""


def write_inlines(nodes: Sequence[object], notes: WritingContext, table: bool = False) -> str:
    """Write the content of a paragraph. ``table``: whether it is in a cell of a pipe table."""
    if notes.is_draft:
        return InlineMarkdown(notes, strict=notes.is_strict, table=table).write(nodes)
    for delimiters in (_DELIMITERS, _BESIDE_LETTERS):
        text = InlineMarkdown(notes, strict=False, table=table, delimiters=delimiters).write(nodes)
        if _reads_as(text, nodes, table):
            return text
    return InlineMarkdown(notes, strict=True, table=table).write(nodes)


def _reads_as(text: str, nodes: Sequence[object], table: bool) -> bool:
    signs = _ODD.finditer(text)
    if next(signs, None) is None and not table:
        return True
    if next(islice(signs, MAX_NODES, None), None) is not None:
        # A text with so much punctuation is shown unchanged.
        return False
    if table:
        text = re.sub(r"\\\|", "|", text)
    env = {"footnotes": {label_of(first) for first, _ in LABEL.findall(text)}}
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


class InlineMarkdown:
    def __init__(
        self, notes: WritingContext, strict: bool, table: bool, delimiters: dict[str, str] = _DELIMITERS
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
        """Open and close marks so that a mark shared by adjacent leaves is written only once."""
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
        url = write_url(node.data["ref"])
        rest = node.data.get("attributes") or {}
        content = self.join(node.nodes)
        if rest or not node.nodes or "](" in content:
            title = {"title": node.data["title"]} if "title" in node.data else {}
            return f"<a{write_attributes({'href': url} | title | rest)}>{content}</a>"
        marks = [leaf.marks for part in node.nodes if isinstance(part, Text) for leaf in part.leaves]
        bare = "title" not in node.data and not any(marks) and plain(node.nodes) == url
        if bare and re.fullmatch(r"[a-z]+://[^\s<>]+", url):
            return f"<{url}>"
        return f"[{content}]({destination(url, node.data.get('title'))})"

    def emoji(self, node: Inline) -> str:
        code = str(node.data["code"])
        name = _emoji_names().get(code)
        if name:
            return f":{name}:"
        return f'<span data-gb-custom-inline data-tag="emoji" data-code="{quoted(code)}">{emoji(code)}</span>'

    def icon(self, node: Inline) -> str:
        name, color = str(node.data["icon"]), node.data.get("color")
        style = f' style="color:{color};"' if color else ""
        return f'<i class="fa-{quoted(name)}"{style}>:{html.escape(name)}:</i>'

    def expression(self, node: Inline) -> str:
        return f'<code class="expression">{self.escaped(str(node.data["expression"]))}</code>'

    def escaped(self, text: str) -> str:
        """Return the text, escaped for an HTML element within Markdown."""
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
        url = write_url(node.data["ref"])
        label = self.text(str(node.data.get("label", url)))
        return f"[{label}]({destination(url, 'mention')})"

    def button(self, node: Inline) -> str:
        data = node.data
        attrs: Data = {}
        name = "a"
        if "action" in data or "query" in data:
            name, attrs = "button", {"type": "button"}
        elif "ref" in data:
            attrs["href"] = write_url(data["ref"])
        attrs["class"] = f"button {data['kind']}"
        for key in ("size", "action", "query", "slug", "icon"):
            if data.get(key):
                attrs[f"data-{key}"] = data[key]
        return f"<{name}{write_attributes(attrs)}>{self.escaped(str(data['label']))}</{name}>"

    def unknown(self, node: Inline) -> str:
        return str(node.data["source"])


_INLINE_WRITERS: dict[str, Callable[[InlineMarkdown, Inline], str]] = {
    "link": InlineMarkdown.link,
    "emoji": InlineMarkdown.emoji,
    "icon": InlineMarkdown.icon,
    "expression": InlineMarkdown.expression,
    "inline-math": InlineMarkdown.math,
    "inline-image": InlineMarkdown.image,
    "annotation": InlineMarkdown.annotation,
    "mention": InlineMarkdown.mention,
    "button": InlineMarkdown.button,
    "unknown": InlineMarkdown.unknown,
}


def _escape_start(match: re.Match[str]) -> str:
    if match[1]:
        return f"{match[1]}\\{match[2]}"
    return "\\" + match[0]


@cache
def _emoji_names() -> dict[str, str]:
    """Return the short names of emoji by code points."""
    from rich._emoji_codes import EMOJI

    names: dict[str, str] = {}
    for name in sorted(EMOJI, key=len):
        if re.fullmatch(r"[a-z0-9_+-]+", name) and (code := emoji_code(name)):
            names.setdefault(code, name)
    return names


def write_html(nodes: Sequence[Any], notes: WritingContext, code: bool = False) -> str:
    """Write inline nodes as HTML on one line, where Markdown isn't parsed. ``code``: whether whitespace is
    significant."""
    out: list[str] = []
    for node in nodes:
        if isinstance(node, Text):
            for leaf in node.leaves:
                text = html.escape(leaf.text, quote=False)
                text = text if code else html_text(leaf.text).replace("\n", "<br>")
                for mark in sorted(leaf.marks, key=lambda mark: -_ORDER.index(mark.type)):
                    text = InlineMarkdown(notes, strict=True, table=False).marked(mark, text)
                out.append(text)
        elif node.type == "link":
            rest = ({"title": node.data["title"]} if "title" in node.data else {}) | (
                node.data.get("attributes") or {}
            )
            href = {"href": write_url(node.data["ref"])}
            out.append(f"<a{write_attributes(href | rest)}>{write_html(node.nodes, notes, code)}</a>")
        elif node.type == "annotation" and node.fragments:
            label = quoted(notes.label(node.fragments[0]))
            out.append(
                f'<a data-footnote-ref href="#user-content-fn-{label}">{write_html(node.nodes, notes, code)}</a>'
            )
        elif node.type == "mention":
            url = write_url(node.data["ref"])
            out.append(
                f'<a data-mention href="{quoted(url)}">{html_text(str(node.data.get("label", url)))}</a>'
            )
        else:
            out.append(_html_inline(node, notes))
    return "".join(out)


def _html_inline(node: Inline, notes: WritingContext) -> str:
    if node.type == "emoji":
        code = str(node.data["code"])
        return f'<span data-gb-custom-inline data-tag="emoji" data-code="{quoted(code)}">{emoji(code)}</span>'
    if node.type == "inline-math":
        return html.escape(f"$${node.data['formula']}$$", quote=False)
    if node.type == "expression":
        text = html_text(str(node.data["expression"]))
        return f'<code class="expression">{text}</code>'
    if node.type == "button":
        bare = Inline("button", node.data | {"label": ""})
        tag = InlineMarkdown(notes, strict=True, table=False).inline(bare)
        at = tag.rindex("</")
        return tag[:at] + html_text(str(node.data["label"])) + tag[at:]
    return InlineMarkdown(notes, strict=True, table=False).inline(node)
