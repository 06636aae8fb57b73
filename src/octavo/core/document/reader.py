"""Read Markdown into nodes. ``read`` accepts any text, never fails, and preserves every byte (see
``Document``)."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable
from typing import Any

from markdown_it.token import Token
from msgspec import Struct

from . import markup
from .containing import DEFECTS, Failures, inert_block, report_failure
from .inline import (
    FIXED_ID,
    HEADING_ID,
    Footnote,
    Inlines,
    attributes,
    inlines,
    plain,
    plain_inlines,
)
from .markdown import TEXT_ENDS, pair, parse_blocks, parse_inline
from .nodes import MAX_NODES, Block, Data, Document, Fragment, Inline, Leaf, Node, Text, walk
from .source_lines import Lines, lines_of
from .tag_reader import ANY_TAG, PAIRED, TAGS, VOID_TAGS, read_integration

MAX_TAGS = 16
"""Maximum nesting of tags and elements (within one list or quote) that are paired."""
_FOOTNOTES_MIN, _FOOTNOTES_SHARE = 10_000, 8
"""Limits on the total number of characters in footnotes: a minimum, plus a multiple of the page length. A footnote is
parsed again at every reference; references beyond the limit are empty."""
_SIGNS = "\\`~*_[!<&$"
"""Characters that can start or end inline syntax in a paragraph."""
_MAX_PARTS = 6
"""Maximum depth at which Markdown is parsed when Markdown and HTML are nested in each other. Deeper content is parsed
only as HTML."""
_READ = Token("", "", 0)
_ALERT = re.compile(r"\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\][ \t]*(?:\n|\Z)", re.IGNORECASE)
"""First line of a quote that is a GitHub alert."""
_ALERTS = {"NOTE": "info", "TIP": "success", "IMPORTANT": "info", "WARNING": "warning", "CAUTION": "danger"}


class _Frame(Struct):
    """Block being filled: its closing tag and its children. ``alert``: the marker at the start of a quote."""

    kind: str
    line: int
    token: Token
    index: int
    children: list[Block]
    alert: str = ""


class _Nested(Struct):
    """Nested block, with the lines that it was parsed from and the lists and quotes around it."""

    block: Block
    start: int
    end: int
    around: list[_Frame]


class _TooMany(Exception):
    """Raised internally if the text has more nodes than a document can have."""


def _size(node: Node) -> int:
    """Return the number of nodes that a node counts as when a client sends it back. Text leaves and their marks also
    count."""
    return 1 + sum(1 + len(leaf.marks) for leaf in node.leaves) if isinstance(node, Text) else 1


class _Reader:
    """Builder of one page's nodes from its block tokens. ``whole``: whether ``run`` returned the entire
    page."""

    def __init__(self, lines: Lines, outer: _Reader | None = None) -> None:
        """Create a reader of lines. ``outer``: the reader of the page whose HTML contains the lines."""
        self.whole = True
        self.outer = outer
        self.depth: int = outer.depth + 1 if outer else 0
        self.left: int = outer.left if outer else MAX_NODES
        self.lines = lines
        self.failures: Failures = outer.failures if outer else Failures("read")
        self.failed_lines: list[int] = []
        self.env: dict[str, Any] = {"references": outer.env.setdefault("references", {})} if outer else {}
        self.tokens = parse_blocks(lines.text, self.env)
        self.notes: dict[str, str] = {}
        for token in self.tokens:
            if token.type == "footnote":
                self.notes.setdefault(token.info, token.content)
        self.budget = _FOOTNOTES_MIN + _FOOTNOTES_SHARE * len(lines.text)
        self.env["footnotes"] = self.notes if outer is None else {**outer.env["footnotes"], **self.notes}
        self.pairs = pair(self.tokens)
        self.stack = [_Frame("root", 0, _READ, -1, [])]
        # The first line of each block of the page, and the line after its last one.
        self.starts, self.ends = array("Q"), array("Q")
        self.tags = 0
        self.nested: list[_Nested] | None = None

    def footnote(self, label: str) -> list[Block] | None:
        """Return the blocks that define a footnote; None if it is undefined. Footnote markers inside these blocks stay
        text."""
        content = self.notes.get(label)
        if content is None:
            return self.outer.footnote(label) if self.outer is not None else None
        self.budget -= len(content) + 1
        if self.budget < 0:
            return []
        blocks = read_blocks(content)
        self.take(sum(_size(node) for block in blocks for node in walk(block)))
        return blocks

    def part(self, markdown: str) -> list[Block]:
        """Return the blocks of Markdown inside the page's HTML. Raises _TooMany if the document would have too many
        nodes."""
        inner = _Reader(lines_of(markdown), self)
        blocks = inner.run()
        self.left = inner.left
        if not inner.whole:
            raise _TooMany
        return blocks

    def take(self, count: int) -> None:
        """Count nodes and leaves before they are created. Raises _TooMany if the document would have too
        many."""
        self.left -= count
        if self.left < 0:
            raise _TooMany

    def inlines(self, text: str) -> Inlines:
        if TEXT_ENDS.search(text) is None:
            made = plain_inlines(text)
        else:
            made = inlines(self.parsed(text), self.footnote)
        # URLs and emoji are nodes without any markup.
        self.take(2 * len(made))
        return made

    def parsed(self, text: str) -> list[Token]:
        # Markup that turns out to be text costs as much as markup that does not.
        signs = sum(map(text.count, _SIGNS)) // 2
        if signs > self.left:
            raise _TooMany
        tokens = parse_inline(text, self.env)
        self.take(max(signs, len(tokens)))
        return tokens

    def cell(self, text: str) -> list[Block]:
        self.take(2)
        if "<" not in text:
            return [Block("paragraph", {}, list(self.inlines(text)))]
        return markup.cell_blocks(self.parsed(text), self.footnote)

    def add(self, block: Block, start: int, end: int) -> None:
        self.take(1)
        if len(self.stack) == 1:
            self.starts.append(start)
            self.ends.append(end)
        elif self.nested is not None:
            around = [frame for frame in self.stack if frame.kind in _INDENTING]
            self.nested.append(_Nested(block, start, end, around))
        self.stack[-1].children.append(block)

    def run(self) -> list[Block]:
        tokens, index, line = self.tokens, 0, 0
        try:
            while index < len(tokens):
                token, tokens[index] = (
                    tokens[index],
                    _READ,
                )  # Tokens are larger than the nodes made from them.
                line = (token.map or (line, 0))[0]
                try:
                    index = _TOKENS[token.type](self, token, index) or index
                except DEFECTS as error:
                    index = self.failed(token, index, error)
                index += 1
        except _TooMany:
            self.end_at(self.stack[1].line if len(self.stack) > 1 else line)
        return self.stack[0].children

    def end_at(self, line: int) -> None:
        """End the document with the unparsed source from this line on. The line must start a block of the page: if only
        part of a block were parsed, the end of a condition could be missing."""
        del self.stack[1:]
        self.whole = False
        self.left = 1
        source = self.lines.text.split("\n", line)[line] if line else self.lines.text
        last = len(self.lines.begins)
        self.add(Block("unknown", {"source": source.strip("\n"), "kind": "text"}), line, last)

    def too_many(self, token: Token, index: int) -> None:
        raise _TooMany

    def failed(self, token: Token, index: int, error: Exception) -> int:
        """Add the source of an unparsable block as text, and return the last index used."""
        start, end = token.map or (0, 0)
        self.failures.add(error)
        self.failed_lines.append(start)
        source = token.content.strip("\n") or "\n".join(self.lines.text.split("\n")[start:end])
        self.add(inert_block(source), start, end)
        is_open = token.type == "heading_open" and not token.content
        return index + 2 if is_open else index

    # Each method below takes the token and its index, and returns the last index used if it used more.

    def paragraph(self, token: Token, index: int) -> None:
        start, end = token.map or (0, 0)
        content = token.content
        frame = self.stack[-1]
        if frame.kind == "blockquote_open" and not frame.children and (alert := _ALERT.match(content)):
            frame.alert = alert[1].upper()
            content = content[alert.end() :].lstrip(" \t")
            if not content:
                return
            start += 1
        self.add(markup.paragraph(self.inlines(content)), start, end)

    def heading(self, token: Token, index: int) -> int | None:
        start, end = token.map or (0, 0)
        last = None
        content = token.content
        if not content and index + 2 < len(self.tokens) and self.tokens[index + 1].type == "inline":
            content, last = self.tokens[index + 1].content, index + 2
        level = int(token.tag[1])
        data: Data = {} if level in (2, 3, 4) else {"level": level}
        if content.endswith("}") and (named := HEADING_ID.search(content)):
            data["id"] = named["id"]
            content = content[: named.start()].rstrip(" \t")
        nodes = _fixed_anchor(self.inlines(content), data)
        self.add(Block(f"heading-{min(3, max(1, level - 1))}", data, list(nodes)), start, end)
        return last

    def rule(self, token: Token, index: int) -> None:
        start, end = token.map or (0, 0)
        self.add(Block("divider"), start, end)

    def code(self, token: Token, index: int) -> None:
        start, end = token.map or (0, 0)
        data: Data = {}
        info = token.info.strip()
        if info:
            syntax, _, rest = info.partition(" ")
            data["syntax"] = syntax
            if rest.strip():
                data["info"] = rest.strip()
        self.take(1 + 3 * token.content.count("\n"))
        self.add(Block("code", data, code_lines(token.content)), start, end)

    def math(self, token: Token, index: int) -> None:
        start, end = token.map or (0, 0)
        self.add(Block("math", {"formula": token.content}), start, end)

    def source(self, token: Token, index: int) -> None:
        start, end = token.map or (0, 0)
        if self.stack[-1].kind == "root" and token.type != "too_deep":
            return  # definitions between top-level blocks are in the gaps
        if token.type == "footnote":
            data = {"source": token.markup, "kind": "definition"}
        else:
            data = {
                "source": token.content.strip("\n"),
                "kind": "text" if token.type == "too_deep" else "definition",
            }
        self.add(Block("unknown", data), start, end)

    def html(self, token: Token, index: int) -> None:
        start, end = token.map or (0, 0)
        self.take(2 * (token.content.count("<") + token.content.count("\n")))
        self.add(
            _html(token.content, self.footnote, self.part if self.depth < _MAX_PARTS else None), start, end
        )

    def table(self, token: Token, index: int) -> None:
        start, end = token.map or (0, 0)
        if 4 * len(token.meta["head"]) * len(token.meta["rows"]) > self.left:
            raise _TooMany
        columns: list[Data] = [
            {
                "id": f"c{number}",
                "title": plain(self.inlines(name)),
                "type": "text",
                "textAlignment": side or "left",
            }
            for number, (name, side) in enumerate(
                zip(token.meta["head"], token.meta["sides"], strict=True), 1
            )
        ]
        names = [column["id"] for column in columns]
        records: Data = {}
        cells: list[Fragment] = []
        data: Data = {
            "view": {"type": "grid", "columns": names, "hideHeader": False},
            "records": records,
            "definition": dict(zip(names, columns, strict=True)),
        }
        for number, row in enumerate(token.meta["rows"], 1):
            values = {
                name: markup.text_cell(cells, name, number, self.cell(text))
                for name, text in zip(names, row, strict=True)
            }
            records[f"r{number}"] = {"orderIndex": markup.order_index(number), "values": values}
        self.add(Block("table", data, [], cells), start, end)

    def push(self, token: Token, index: int) -> None:
        self.stack.append(_Frame(token.type, (token.map or (0, 0))[0], token, index, []))

    def item(self, token: Token, index: int) -> None:
        frame = self.stack.pop()
        block = Block("list-item", {}, list(frame.children) or [Block("paragraph")])
        if "checked" in frame.token.meta:
            block.data["checked"] = frame.token.meta["checked"]
        self.add(block, *(frame.token.map or (0, 0)))

    def end_list(self, token: Token, index: int) -> None:
        frame = self.stack.pop()
        items = frame.children
        data: Data = {}
        if any("checked" in item.data for item in items):
            kind = "list-tasks"
        elif frame.token.tag == "ol":
            kind = "list-ordered"
            if "start" in frame.token.attrs:
                data["start"] = frame.token.attrs["start"]
        else:
            kind = "list-unordered"
        self.add(Block(kind, data, list(items)), *(frame.token.map or (0, 0)))

    def quote(self, token: Token, index: int) -> None:
        frame = self.stack.pop()
        where = frame.token.map or (0, 0)
        if frame.alert:
            inside = frame.children or [Block("paragraph")]
            self.add(Block("hint", {"style": _ALERTS[frame.alert]}, list(inside)), *where)
        else:
            self.add(Block("blockquote", {}, list(frame.children)), *where)

    def tag(self, token: Token, index: int) -> None:
        """Process a tag or element line, which opens a frame, closes a frame, or is a block by itself."""
        start, end = token.map or (0, 0)
        other = self.pairs.get(index)
        closing = token.tag.startswith("end") if token.type == "tag" else bool(token.markup)
        if closing:
            if other is not None and self.stack[-1].index == other:
                frame = self.stack.pop()
                self.tags -= 1
                self.add(self.finish(frame, token), frame.line, end)
            else:
                self.add(_unknown(token), start, end)
        elif other is not None and self.tags < MAX_TAGS:
            self.push(token, index)
            self.tags += 1
        else:
            self.add(self.void(token), start, end)

    def summary(self, token: Token, index: int) -> None:
        start, end = token.map or (0, 0)
        frame = self.stack[-1]
        if frame.kind == "element" and frame.token.tag == "details" and not frame.children:
            self.add(Block("summary", {"source": token.content}), start, end)
        else:
            self.add(Block("unknown", {"source": token.content, "kind": "html"}), start, end)

    def void(self, token: Token) -> Block:
        if token.type == "tag":
            make = VOID_TAGS.get(token.tag) or (read_integration if token.tag.startswith("@") else None)
            block = make(token, [], "") if make else None
            if block is not None:
                return block
        return _unknown(token)

    def finish(self, frame: _Frame, end: Token) -> Block:
        """Return the block of a tag or element whose end was found."""
        inner = frame.children
        try:
            block = self.make_block(frame.token, inner, end.markup)
        except DEFECTS as error:
            self.failures.add(error)
            self.failed_lines.append(frame.line)
            block = None
        if block is not None:
            return block
        for at, child in enumerate(inner):
            if child.type == "summary":
                inner[at] = Block("unknown", {"source": child.data["source"], "kind": "html"})
        data = {"source": frame.token.content, "end": end.content, "kind": _kind(frame.token)}
        return Block("unknown", data, list(inner))

    def make_block(self, token: Token, inner: list[Block], body: str) -> Block | None:
        """Return the block of a tag or element around ``inner``; None if the tag has no meaning in documents."""
        name = token.tag
        if token.type == "element":
            if name == "details":
                return self.expandable(token, inner)
            made = markup.unwrap(name, attributes(token.info), inner)
            return _together(made) if made else None
        make = TAGS.get(name) or VOID_TAGS.get(name) or (read_integration if name.startswith("@") else None)
        return make(token, inner, body) if make is not None else None

    def expandable(self, token: Token, inner: list[Block]) -> Block:
        title: Inlines = []
        if inner and inner[0].type == "summary":
            source = re.sub(
                r"^<summary[^>]*>\s*|\s*</summary>$", "", inner[0].data["source"], flags=re.IGNORECASE
            )
            title = self.inlines(re.sub(r"[ \t]*\n[ \t]*", " ", source).strip(" \t"))
            inner = inner[1:]
        attrs = attributes(token.info)
        data: Data = {"open": True} if "open" in attrs else {}
        if rest := {k: v for k, v in attrs.items() if k != "open"}:
            data["attributes"] = rest
        return Block(
            "expandable",
            data,
            [],
            [
                Fragment("expandable-title", [Block("paragraph", {}, list(title))], "expandable-title"),
                Fragment("expandable-body", inner or [Block("paragraph")], "expandable-body"),
            ],
        )


def read(markdown: str) -> Document:
    """Return the document of a page's body (see ``page.split_page``). This accepts any text; ``writing.write`` converts
    the document back to exactly the same text."""
    try:
        return _read(markdown)
    except DEFECTS as error:
        report_failure("read", error)
        return Document([inert_block(markdown)], ["", ""], [0])


def _read(markdown: str) -> Document:
    lines = lines_of(markdown)
    nodes: list[Block] = []
    gaps: list[str] = []
    known: dict[str, str] = {}  # Most gaps are one blank line, stored only once.
    at = 0
    reader = _Reader(lines)
    for block, start, end in zip(reader.run(), reader.starts, reader.ends, strict=True):
        begin = lines.begins[start]
        end = min(end, len(lines.begins))
        while end > start + 1 and lines.begins[end - 1] == lines.ends[end - 1]:
            end -= 1
        gap = markdown[at:begin]
        gaps.append(known.setdefault(gap, gap))
        at = lines.ends[end - 1]
        block.source = markdown[begin:at]
        nodes.append(block)
    gaps.append(markdown[at:])
    reader.failures.report()
    failed = [markdown.count("\n", 0, lines.begins[start]) for start in reader.failed_lines]
    return Document(nodes, gaps, failed, reader.whole)


def unpaired_tags(markdown: str) -> list[tuple[int, str]]:
    """Return unclosed start tags and unmatched end tags, each as its zero-based line number and its name. Names
    of end tags start with a slash."""
    counts: dict[str, int] = {}
    for end, slash, name in ANY_TAG.findall(markdown):
        if name in PAIRED:
            counts[name] = counts.get(name, 0) + (-1 if end or slash else 1)
    if not any(counts.values()):
        return []
    try:
        lines = lines_of(markdown)
        tokens = parse_blocks(lines.text, {})
        pairs = pair(tokens)
    except DEFECTS as error:
        report_failure("read", error)
        return []
    found: list[tuple[int, str]] = []
    line, counted = 0, 0
    for index, token in enumerate(tokens):
        if index in pairs or token.type not in ("tag", "element"):
            continue
        closes = token.tag.startswith("end") if token.type == "tag" else bool(token.markup)
        name = token.tag.removeprefix("end") if token.type == "tag" else token.tag
        if name in PAIRED:
            begin = lines.begins[(token.map or (0, 0))[0]]
            line, counted = line + markdown.count("\n", counted, begin), begin
            found.append((line, f"/{name}" if closes else name))
    return found


def may_be_cut(markdown: str) -> bool:
    """Return whether a source is so long that ``read`` might not convert all of it to nodes."""
    return 3 * len(markdown) > MAX_NODES


def open_ends(markdown: str) -> tuple[set[str], set[str]]:
    """Return the names of tags and elements that a piece of Markdown opens but doesn't close, and of tags and elements
    that it closes but doesn't open."""
    opened: set[str] = set()
    closed: set[str] = set()
    if "{%" in markdown or "<" in markdown:
        tokens = parse_blocks(lines_of(markdown).text, {})
        pairs = pair(tokens)
        for index, token in enumerate(tokens):
            if index in pairs or token.type not in ("tag", "element"):
                continue
            closes = token.tag.startswith("end") if token.type == "tag" else bool(token.markup)
            (closed if closes else opened).add(token.tag.removeprefix("end"))
    return opened, closed


def read_blocks(markdown: str) -> list[Block]:
    """Return the blocks of a piece of Markdown, without sources. This accepts any text."""
    try:
        reader = _Reader(lines_of(markdown))
        blocks = reader.run()
    except DEFECTS as error:
        report_failure("read", error)
        return [inert_block(markdown)]
    reader.failures.report()
    return blocks


def read_nested(markdown: str) -> list[tuple[Block, str]]:
    """Return the blocks inside lists, quotes, tags, and elements of a source. Each has the lines from which it was
    parsed, as they would be at the top level of a page."""
    try:
        lines = lines_of(markdown)
        reader = _Reader(lines)
        reader.nested = []
        reader.run()
    except DEFECTS as error:
        report_failure("read", error)
        return []
    texts = lines.text.split("\n")
    return [(one.block, _alone(texts, one)) for one in reader.nested if one.block.type != "list-item"]


_INDENTING = ("list_item_open", "blockquote_open")
_QUOTE_SIGN = re.compile(r" {0,3}> ?")
_ITEM_SIGN = re.compile(r" *(?:[-*+]|\d{1,9}[.)])(?: {1,4}(?! )| |$)")
_BOX = re.compile(r"\[[ xX]\][ \t]+")


def _alone(texts: list[str], nested: _Nested) -> str:
    """Return the lines of a block without its containers' markers and indentation."""
    signs: list[tuple[int, int]] = []
    """For each list and quote around the block: the line where it starts, and the indentation of its items
    (0 for a quote)."""

    def without(number: int) -> str:
        line = texts[number]
        for first, width in signs:
            if not width:
                line = _QUOTE_SIGN.sub("", line, count=1)
            elif number == first:
                line = line[width:]
            else:
                line = line[min(width, len(line) - len(line.lstrip(" "))) :]
        return line

    for frame in nested.around:
        sign = _ITEM_SIGN.match(without(frame.line)) if frame.kind == "list_item_open" else None
        signs.append((frame.line, sign.end() if sign else 0))
    found = [without(number) for number in range(nested.start, min(nested.end, len(texts)))]
    if nested.around and nested.around[-1].line == nested.start and "checked" in nested.around[-1].token.meta:
        found[0] = _BOX.sub("", found[0], count=1)
    return "\n".join(found).rstrip()


def code_lines(content: str) -> list[Block | Inline | Text]:
    """Return the code-line blocks of a code block's text. A line break at the end doesn't add a line."""
    content = content.removesuffix("\n")
    return [Block("code-line", {}, [Text([Leaf(line)])] if line else []) for line in content.split("\n")]


def _fixed_anchor(nodes: Inlines, data: Data) -> Inlines:
    """Move ``<a href="#id" id="id"></a>`` from the end of a heading into ``data``."""
    if len(nodes) < 2 or not all(isinstance(n, Inline) and n.type == "unknown" for n in nodes[-2:]):
        return nodes
    opening = nodes[-2].data["source"]  # type: ignore[union-attr]
    attrs = attributes(opening[2:])
    anchor = attrs.get("id", "")
    if (
        not opening.startswith("<a ")
        or attrs.get("href") != "#" + anchor
        or FIXED_ID.fullmatch(anchor) is None
    ):
        return nodes
    data["id"] = anchor
    nodes = nodes[:-2]
    if nodes and isinstance(last := nodes[-1], Text):
        last.leaves[-1].text = last.leaves[-1].text.removesuffix(" ")
        if not last.leaves[-1].text:
            nodes = nodes[:-1] if len(last.leaves) == 1 else nodes
            last.leaves.pop()
    return nodes


def _html(content: str, footnote: Footnote, part: markup.Part | None) -> Block:
    source = content.strip("\n")
    if source.startswith("<!--"):
        return Block("unknown", {"source": source, "kind": "comment"})
    made = markup.blocks(source.strip(), footnote, part)
    return _together(made) if made else Block("unknown", {"source": source, "kind": "html"})


def _together(made: list[Block]) -> Block:
    """Combine several blocks that come from one piece of source into a single block."""
    return made[0] if len(made) == 1 else Block("unknown", {"source": "", "kind": "html"}, list(made))


def _kind(token: Token) -> str:
    return "tag" if token.type == "tag" else "html"


def _unknown(token: Token) -> Block:
    return Block("unknown", {"source": token.content, "kind": _kind(token)})


_TOKENS: dict[str, Callable[[_Reader, Token, int], int | None]] = {
    "paragraph_open": _Reader.paragraph,
    "heading_open": _Reader.heading,
    "hr": _Reader.rule,
    "fence": _Reader.code,
    "code_block": _Reader.code,
    "math_block": _Reader.math,
    "definition": _Reader.source,
    "footnote": _Reader.source,
    "too_deep": _Reader.source,
    "too_many": _Reader.too_many,
    "html_block": _Reader.html,
    "table": _Reader.table,
    "bullet_list_open": _Reader.push,
    "ordered_list_open": _Reader.push,
    "list_item_open": _Reader.push,
    "blockquote_open": _Reader.push,
    "list_item_close": _Reader.item,
    "bullet_list_close": _Reader.end_list,
    "ordered_list_close": _Reader.end_list,
    "blockquote_close": _Reader.quote,
    "tag": _Reader.tag,
    "element": _Reader.tag,
    "summary": _Reader.summary,
}
