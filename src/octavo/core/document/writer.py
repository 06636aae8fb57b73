"""Write nodes as Markdown in the canonical style, which is used for new blocks. ``writing.py`` handles all other
blocks.

Canonical: ``*`` bullets, ``_x_`` (``*x*`` next to letters) and ``**x**``, ``\\`` for a hard break, ``***`` dividers,
padded pipe tables, HTML where Markdown has no equivalent. A paragraph is parsed again and compared. If the plain form
gives a different result (delimiters next to letters, text that looks like markup), the paragraph is written with all
punctuation escaped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from markdown_it.token import Token

from .attributes import (
    SIDES,
    destination,
    image_attributes,
    picture,
    quoted,
    write_attribute,
    write_attributes,
    write_tag,
    write_url,
)
from .inline import HEADING_ID, plain
from .inline_writer import LABEL, InlineMarkdown, write_html, write_inlines
from .markdown import label_of, parse_blocks
from .nodes import Block, Data, Document, Fragment, Inline, Leaf, Text, walk
from .reader import read_blocks
from .schema import BLOCKS
from .table_writer import html_heading, level_of, write_rich_code, write_table
from .tag_reader import API_NAMES, default_label


def marker_of(block: Block, text: str) -> str:
    """Return the marker of a list's items. An adjacent list must use a different marker."""
    if not block.type.startswith("list-"):
        return ""
    match = re.match(r"\s*\d*(\S)", text)
    return match[1] if match else ""


class Notes:
    """Footnotes for annotations in the text that is being written. A definition in a gap is kept as long as an unedited
    block refers to it. Changed definitions that only edited blocks refer to are rewritten at the end of the page."""

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
        """Return whether the footnote ``name`` already has this text."""
        return name in self.known and write_blocks(read_blocks(self.known[name]), Notes()) == body

    def label(self, fragment: Fragment) -> str:
        """Store the fragment's blocks as a footnote, and return the label for references to it."""
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
        """Return the gap without the definitions that were moved."""
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

    def write(self, block: Block) -> str:
        return write_block(block, self)

    def text(self) -> str:
        """Return the definitions to put at the end of the page."""
        return "\n\n".join(
            f"[^{name}]: " + re.sub(r"\n(?=[^\n])", "\n    ", body) for name, body in self.fresh.items()
        )


class Styled(Notes):
    """Writer of blocks in the style of a source, with the existing labels of footnotes. ``source``: the source whose
    style to use. ``kept``: the sources of nodes by ``id``, which are written unchanged. ``is_draft``: whether the
    output is only compared with another draft, so that tables aren't padded and the text isn't parsed again.
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


_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")


def _definitions(gap: str) -> list[Token]:
    """Return the footnotes that are defined between two blocks, as parsed."""
    if "[^" not in gap:
        return []
    text = gap.replace("\r\n", "\n").replace("\r", "\n")
    return [token for token in parse_blocks(text, {}) if token.type == "footnote"]


def labels_in(source: str) -> set[str]:
    """Return the labels of the footnotes that a source refers to."""
    return {label_of(first or second) for first, second in LABEL.findall(source)}


def with_definition(gap: str, label: str, change: Callable[[str], str | None]) -> str:
    """Return the gap between two blocks with a footnote definition changed. ``change``: a function that takes the
    current text and returns the new text, or None to keep it."""
    note = next((note for note in _definitions(gap) if note.info == label and note.map is not None), None)
    changed = change(note.content) if note is not None else None
    if note is None or changed is None or note.map is None:
        return gap
    lines, (start, end) = _LINES.findall(gap), note.map
    olds, news = note.content.split("\n"), changed.split("\n")
    if len(olds) == end - start == len(news) and all(
        old in line for old, line in zip(olds, lines[start:end], strict=True)
    ):
        for at, (old, new) in enumerate(zip(olds, news, strict=True), start):
            begin = lines[at].rindex(old)
            lines[at] = lines[at][:begin] + new + lines[at][begin + len(old) :]
    else:
        rest = lines[end - 1][len(lines[end - 1].rstrip("\r\n")) :]
        ending = rest or "\n"
        lines[start:end] = [f"[^{label}]: " + re.sub(r"\n(?=[^\n])", ending + "    ", changed) + rest]
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
    """Write one block in canonical style, without line breaks around it. ``avoid``: the item marker of the list right
    before the block."""
    notes = notes or Notes()
    if (kept := notes.kept.get(id(block))) is not None:
        return kept
    if block.type.startswith("list-") and block.type != "list-item":
        return _list(block, notes, avoid)
    return _WRITERS[block.type](block, notes)


# --- blocks -----------------------------------------------------------------------------------------------


def _paragraph(block: Block, notes: Notes) -> str:
    align, rest = block.data.get("align"), block.data.get("attributes")
    if align or rest:
        attrs = ({"align": SIDES[align]} if align else {}) | (rest or {})
        return f"<p{write_attributes(attrs)}>{write_html(block.nodes, notes)}</p>"
    return write_inlines(block.nodes, notes)


def _heading(block: Block, notes: Notes) -> str:
    if block.data.get("align") or block.data.get("attributes"):
        return html_heading(block, notes)
    level, anchor = level_of(block), block.data.get("id")
    text = write_inlines(block.nodes, notes).replace("\\\n", "<br>").replace("\n", " ")
    text = re.sub(r"(^|[ \t])(#+)$", r"\1\\\2", text)
    if text.endswith("}") and (named := HEADING_ID.search(text)):
        # Text that looks like an id is part of the heading.
        text = f"{text[: named.start()]}\\{text[named.start() :]}"
    if anchor:
        text += f' <a href="#{quoted(anchor)}" id="{quoted(anchor)}"></a>'
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
            # A task's checkbox counts only if a space follows it.
            marker = marker.rstrip()
        lines.append(marker + _indent(body, indent))
        # In the style of a source, only the items that need blank lines have them.
        ends.append("\n\n" if loose and (notes.is_loose or not notes.is_styled or _loose(item)) else "\n")
    return "".join(line + end for line, end in zip(lines, ends, strict=True)).rstrip("\n")


def _loose(item: Any) -> bool:
    """Return whether an item requires blank lines, because its content isn't simply a paragraph followed by nested
    lists."""
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
    """Return a writer that puts ``{% name %}`` around blocks."""

    def write_wrapped(block: Block, notes: Notes) -> str:
        body = write_blocks(block.nodes, notes)
        return f"{write_tag(name, block.data, **names)}\n{body}\n{{% end{name} %}}"

    return write_wrapped


def _parts(name: str, part: str, fields: dict[str, str], **names: str) -> Callable[[Block, Notes], str]:
    """Return a writer for a tag that contains only tags of one kind."""
    write_part = _wrap(part, **fields)

    def write_wrapped(block: Block, notes: Notes) -> str:
        body = "\n\n".join(write_part(child, notes) for child in block.nodes)  # type: ignore[arg-type]
        return f"{write_tag(name, block.data, **names)}\n{body}\n{{% end{name} %}}"

    return write_wrapped


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
        return write_rich_code(block, notes)
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
    return f"{write_tag('code', data, **_CODE_FIELDS)}\n{body}\n{{% endcode %}}"


_CODE_FIELDS = {
    name: name
    for name in ("title", "overflow", "lineNumbers", "fullWidth", "expandable", "collapsedLineCount")
}


def _math(block: Block, notes: Notes) -> str:
    return f"$$\n{block.data['formula']}\n$$"


def _images(block: Block, notes: Notes) -> str:
    attrs: Data = {}
    if "align" in block.data:
        attrs["align"] = block.data["align"]
    for name, attr in (("fullWidth", "data-full-width"), ("withFrame", "data-with-frame")):
        if name in block.data:
            attrs[attr] = write_attribute(block.data[name])
    attrs |= block.data.get("attributes") or {}
    figures = [_figure(image, notes) for image in block.nodes]  # type: ignore[arg-type]
    if len(figures) == 1 and not attrs:
        return figures[0]
    return f"<div{write_attributes(attrs)}>" + " ".join(figures) + "</div>"


def _figure(image: Block, notes: Notes) -> str:
    paragraphs = [block.nodes for block in image.fragments[0].nodes] if image.fragments else []
    caption: list[Any] = []
    for inlines in filter(None, paragraphs):
        # A caption in HTML is one paragraph.
        caption += [*([Text([Leaf("\n")])] if caption else []), *inlines]
    captioned = f"<p>{write_html(caption, notes)}</p>" if caption else ""
    return f"<figure>{picture(image.data, image_attributes(image.data))}<figcaption>{captioned}</figcaption></figure>"


def _drawing(block: Block, notes: Notes) -> str:
    attrs = image_attributes(block.data) if "ref" in block.data else {"src": "", "alt": ""}
    attrs["class"] = " ".join(filter(None, ["gitbook-drawing", attrs.pop("class", "")]))
    return f"<img{write_attributes(attrs)}>"


def _captioned(name: str, attr: str) -> Callable[[Block, Notes], str]:
    def write_wrapped(block: Block, notes: Notes) -> str:
        data = dict(block.data)
        if "ref" in data:
            data["url"] = write_url(data["ref"])
        tag = write_tag(name, data, **{attr: "url", "fullWidth": "fullWidth"})
        if not block.fragments:
            return tag
        return f"{tag}\n{write_blocks(block.fragments[0].nodes, notes)}\n{{% end{name} %}}"

    return write_wrapped


def _content_ref(block: Block, notes: Notes) -> str:
    url = write_url(block.data["ref"])
    label = str(block.data.get("label") or default_label(url))
    text = InlineMarkdown(notes, strict=True, table=False).text(label)
    tag = write_tag("content-ref", {"url": url, **block.data}, url="url")
    return f"{tag}\n[{text}]({destination(url)})\n{{% endcontent-ref %}}"


def _include(block: Block, notes: Notes) -> str:
    return f'{{% include "{write_url(block.data["ref"])}" %}}'


def _expandable(block: Block, notes: Notes) -> str:
    attrs = write_attributes(block.data.get("attributes") or {}) + (" open" if block.data.get("open") else "")
    parts = {fragment.fragment: fragment for fragment in block.fragments}
    title, body = parts.get("expandable-title"), parts.get("expandable-body")
    summary = write_inlines(title.nodes[0].nodes, notes) if title and title.nodes else ""
    summary = summary.replace("\\\n", "<br>").replace("\n", " ")
    inner = write_blocks(body.nodes, notes) if body else ""
    return f"<details{attrs}>\n\n<summary>{summary}</summary>\n\n{inner}\n\n</details>"


def _openapi(tag: str, **names: str) -> Callable[[Block, Notes], str]:
    def write_wrapped(block: Block, notes: Notes) -> str:
        ref = block.data["ref"]
        data = block.data | {"at": ref["spec"] if ref.get("kind") == "openapi" else write_url(ref)}
        opening = write_tag(tag, data, **names)
        body = str(block.data.get("body") or f"[OpenAPI {data['at']}]({destination(data['at'])})")
        return f"{opening}\n{body}\n{{% end{tag} %}}"

    return write_wrapped


def _integration(block: Block, notes: Notes) -> str:
    data = block.data
    tag = f"@{data['integration']}/{data['block']}"
    return write_tag(tag, {"attributes": data["props"]})


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
    "tabs": _parts("tabs", "tab", {"title": "title", "icon": "icon", "slug": "slug"}, fullWidth="fullWidth"),
    "stepper": _parts("stepper", "step", {"icon": "icon"}),
    "columns": _parts(
        "columns",
        "column",
        {"width": "width", "verticalAlignment": "verticalAlignment"},
        fullWidth="fullWidth",
    ),
    "updates": _parts("updates", "update", {"date": "date", "tags": "tags"}, format="format"),
    "table": write_table,
    "if": _if,
    "swagger": _openapi(
        "openapi", src="at", path="path", method="method", expanded="expanded", fullWidth="fullWidth"
    ),
    "openapi-operation": _openapi(
        "openapi-operation", spec="at", path="path", method="method", headless="headless"
    ),
    "openapi-schemas": _openapi("openapi-schemas", spec="at", schemas="schemas", grouped="grouped"),
    "openapi-webhook": _openapi(
        "openapi-webhook", spec="at", name="name", method="method", headless="headless"
    ),
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
