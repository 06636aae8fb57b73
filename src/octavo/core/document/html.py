"""Render document nodes as HTML.

Markup is built from pieces: a ``Markup`` is written as it is, a ``str`` is escaped, a node is rendered later.
So text can reach the page only escaped, attributes only through ``_tag`` (quoted, escaped), and URLs only
through ``safe_url``. Pieces are on one stack, so the depth of a document costs no recursion.

The classes written here are all that ``delivery/reader/static/octavo.css`` defines; there are no inline styles
or scripts, and everything is readable without JavaScript.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from unicodedata import bidirectional
from urllib.parse import quote, unquote

from markupsafe import Markup
from msgspec import Struct

from ..free_names import free_name
from ..highlighting import Token, Tokens, highlight, language_name, token_rows
from ..url_parts import host_of, path_of
from .anchors import mark_places, slug
from .containing import DEFECTS, Failures
from .formulas import mathml
from .nodes import Block, Data, Document, Fragment, Inline, Leaf, Mark, Text, is_plain, plain_text, walk
from .parts import (
    COLORS,
    block_text,
    chosen_options,
    date_text,
    emoji,
    inert_text,
    line_text,
    merged_cells,
    number_of,
    object_of,
    one_of,
    only_paragraph,
    shown_words,
    size_text,
    table_parts,
    text_of,
    title_and_body,
)
from .urls import player, safe_url


def _has_words(node: Inline) -> bool:
    """Return whether an inline node contains words, including alternative text, or is not an image at all."""
    pictures = [one for one in walk(node) if isinstance(one, Inline) and one.type == "inline-image"]
    return not pictures or bool(plain_text(node).strip()) or any(text_of(one.data, "alt") for one in pictures)


class HtmlTarget(Struct, frozen=True, kw_only=True):
    """Target of a reference. ``href`` is None when there is no target (broken, or not visible to this reader):
    the reference is then shown as text. ``user`` marks a person rather than a place."""

    href: str | None = None
    title: str | None = None
    description: str | None = None
    icon: str | None = None
    emoji: str | None = None
    external: bool = False
    user: bool = False


ALL_FIELDS = "fields=all"
"""Query of a page that lists all fields of its API content; without it, the page has the first fields and links
to this one."""
COLUMN = 736
"""Pixels: width of a text column on a page."""
_MARGIN = 40
"""Pixels beside the text on a narrow screen."""
_NARROW = 767
"""Pixels: maximum width of a narrow screen."""
_LINE, _ROW = 24, 96
"""Pixels: height of an image in a line of text and in a cell."""


class ImageSource(Struct, frozen=True):
    """One size of an image; ``width`` in pixels."""

    url: str
    width: int


class Asset(Struct, frozen=True, kw_only=True):
    """A file to show or download. ``width`` and ``height`` in pixels, ``size`` in bytes, if known. ``sources``:
    the available widths of an image, including itself if it is the widest; empty if there is only one."""

    url: str
    name: str = ""
    width: int | None = None
    height: int | None = None
    size: int | None = None
    sources: tuple[ImageSource, ...] = ()

    @property
    def srcset(self) -> str | None:
        """Value of the ``srcset`` attribute; URLs contain neither spaces nor commas."""
        return ", ".join(f"{source.url} {source.width}w" for source in self.sources) or None


class BlockLabels(Struct, frozen=True, kw_only=True):
    """Texts on a page that its author did not write, in the page's language."""

    copy: str = "Copy"
    copied: str = "Copied"
    show_more: str = "Show more"
    show_less: str = "Show less"
    download: str = "Download"
    link_to: str = "Link to this section"
    play: str = "Load content from {provider}"
    prompt: str = "Prompt"
    open_in: str = "Open in {provider}"
    info: str = "Note"
    success: str = "Success"
    warning: str = "Warning"
    danger: str = "Danger"
    larger: str = "View larger"
    table: str = "Table"
    tabs: str = "Tabs"
    done: str = "Done"
    try_it: str = "Try it"
    open: str = "To do"
    close: str = "Close"
    api_path: str = "Path"
    api_query: str = "Query"
    api_header: str = "Headers"
    api_cookie: str = "Cookies"
    api_body: str = "Body"
    api_authentication: str = "Authentication"
    api_responses: str = "Responses"
    api_required: str = "required"
    api_read_only: str = "read only"
    api_write_only: str = "write only"
    api_deprecated: str = "deprecated"
    api_inside: str = "Details of {name}"
    api_one_of: str = "One of:"
    api_any_of: str = "Any of:"
    api_values: str = "Possible values:"
    api_default: str = "Default"
    api_const: str = "Always"
    api_minimum: str = "At least"
    api_maximum: str = "At most"
    api_exclusive_minimum: str = "Greater than"
    api_exclusive_maximum: str = "Less than"
    api_multiple_of: str = "Multiple of"
    api_min_length: str = "Minimum length"
    api_max_length: str = "Maximum length"
    api_min_items: str = "Minimum items"
    api_max_items: str = "Maximum items"
    api_pattern: str = "Pattern"
    api_example: str = "Example"
    api_other_key: str = "any other key"
    api_going: str = "This operation is deprecated."
    api_gone: str = "It will be removed on {name}."
    api_no_authentication: str = "none"
    api_stability: str = "Stability: {name}. It may change."
    api_same: str = "The same as {name} above."
    api_fields: str = "{name} fields"
    api_optional_fields: str = "{name} optional fields"
    api_and_more: str = "{name} more"
    api_left_out: str = "See the specification for its contents."
    api_left_fields: str = "See the specification for its {name} fields."
    api_beyond: str = "{name} more in the specification."
    api_cut: str = "{name} more characters in the specification."
    api_always: str = "always"
    api_more: str = "More"
    api_callbacks: str = "Callbacks"
    api_next: str = "Next steps"
    api_shapes: str = "{name} shapes"
    api_told_apart: str = "distinguished by"
    api_nothing_more: str = "No further details."


def _link(ref: Data) -> HtmlTarget | None:
    url = ref.get("url") if ref.get("kind") == "url" else None
    if not isinstance(url, str):
        return None
    return HtmlTarget(href=url, external=url.startswith(("http:", "https:", "//")))


def _file(ref: Data) -> Asset | None:
    url = ref.get("url") if ref.get("kind") == "url" else None
    return (
        Asset(url=url, name=unquote(url.rsplit("/", 1)[-1].split("?")[0])) if isinstance(url, str) else None
    )


class CodeBlock(Struct, frozen=True):
    """The integration block that renders listings in a language; ``prop``: the name of the prop for their
    text."""

    integration: str
    block: str
    prop: str

    def data(self, listing: Block) -> Data:
        """Return the data of the block that renders a listing."""
        lines = [line_text(line) for line in listing.nodes if isinstance(line, Block)]
        return {"integration": self.integration, "block": self.block, "props": {self.prop: "\n".join(lines)}}


class HtmlContext(Struct, frozen=True, kw_only=True):
    """Everything that rendering needs to know: pure callables over data that was fetched before.

    ``link(ref)`` and ``file(ref)`` resolve a ContentRef; ``icon(name)`` returns an inline SVG from our own
    sets; ``openapi(type, data)`` the HTML of an API block; ``try_it(data)`` the URL for trying an operation;
    ``authentication(spec)`` the URL of the page on how to authenticate with an API (None: no such page);
    ``integration(data)`` the URL of the content that an integration shows in its block; ``code_block(syntax)``
    the block that renders listings in that language; ``highlight(code, syntax)`` the colored tokens of a
    listing; ``search(query)`` and ``ask(query)`` the pages behind buttons (None: no such page). ``new_tab``
    opens other hosts in a new tab; without ``anchors``, headings have no link to themselves. ``direction``:
    that of the page, ``ltr`` or ``rtl``; text in the other direction is marked. ``column``: width of the text
    on a wide screen, in pixels.
    """

    link: Callable[[Data], HtmlTarget | None] = _link
    file: Callable[[Data], Asset | None] = _file
    icon: Callable[[str], Markup | None] = lambda name: None
    openapi: Callable[[str, Data], Markup | None] = lambda type, data: None
    try_it: Callable[[Data], str | None] = lambda data: None
    authentication: Callable[[str], str | None] = lambda spec: None
    integration: Callable[[Data], str | None] = lambda data: None
    code_block: Callable[[str], CodeBlock | None] = lambda syntax: None
    highlight: Callable[[str, str], list[Token] | None] = highlight
    search: Callable[[str], str | None] = lambda query: None
    ask: Callable[[str], str | None] = lambda query: None
    labels: BlockLabels = BlockLabels()
    new_tab: bool = False
    anchors: bool = True
    direction: str | None = None
    column: int = COLUMN


class OutlineHeading(Struct, frozen=True):
    """One line of "On this page"; ``level`` is 2 to 6, ``id`` the anchor."""

    id: str
    title: str
    level: int


class Html(Struct, frozen=True):
    """A rendered document. ``updates``: it has dated entries, so the page offers a feed; ``diagrams``: some
    listings are diagrams, which a script can draw; ``operations``: it shows operations of an API; ``together``:
    some of them are expandable lines; ``changes``: it lists changes of some; ``listing``: it lists models or
    tags of an API as rows; ``heads``: it shows some operations in full."""

    body: Markup
    outline: tuple[OutlineHeading, ...]
    updates: bool = False
    diagrams: bool = False
    operations: bool = False
    together: bool = False
    changes: bool = False
    listing: bool = False
    heads: bool = False


Piece = str | Block | Inline | Text | Fragment | Callable[[], None]
Pieces = Iterable[Piece]


def render(document: Document, context: HtmlContext | None = None) -> Html:
    """Render a document as HTML for its reader; conditions, expressions, and includes that are still in it
    produce nothing. Every link target gets its id, written into the document (``mark_places``)."""
    renderer = _Renderer(context or HtmlContext(), mark_places(document))
    renderer.draw(document.nodes)
    renderer.failures.tell()
    body = Markup("".join(renderer.out))  # noqa: S704
    return Html(
        body,
        tuple(renderer.outline),
        renderer.updates,
        renderer.diagrams,
        renderer.operations,
        renderer.together,
        renderer.changes,
        renderer.listing,
        renderer.heads,
    )


def _escape(text: str) -> str:
    """Escape like ``markupsafe.escape``, whose objects would cost more than the rest of a page with many
    listings."""
    if not _SPECIAL.search(text):
        return text
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace("'", "&#39;").replace('"', "&#34;")


_STRONG = {"L": 1, "R": -1, "AL": -1}


def _lean(text: str) -> int:
    """Return how many more of the letters of a text run from left to right than from right to left."""
    if text.isascii():
        return sum(map(str.isalpha, text))
    return sum(_STRONG.get(bidirectional(sign), 0) for sign in text)


_LONG = 16
_JOINTS = re.compile(r"(?<=[^\W\d][/._:,=?&-])(?=\w)|(?<=[:/(<\s])(?=\w)")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def _breakable(code: str) -> str:
    """Escape the code of a cell and let long names break at joints, so that other columns keep some room."""
    if len(code) < _LONG:
        return _escape(code)
    parts = (
        part for word in _JOINTS.split(code) for part in (_CAMEL.split(word) if len(word) > _LONG else [word])
    )
    return "<wbr>".join(map(_escape, parts))


def _html(text: str) -> Markup:
    """Return text that is already HTML. (``Markup(text)`` first checks the text for an ``__html__`` method.)"""
    return str.__new__(Markup, text)


@lru_cache(maxsize=256)
def _bare(name: str) -> Markup:
    return Markup(f"<{name}>")  # noqa: S704


@lru_cache(maxsize=1024)
def _classed(name: str, class_: str) -> Markup:
    return Markup(f'<{name} class="{_escape(class_)}">')  # noqa: S704


def _tag(name: str, **attributes: object) -> Markup:
    """Return an opening tag. ``class_`` is class, ``_`` in other names is ``-``; None and False omit an
    attribute."""
    if not attributes:
        return _bare(name)
    if len(attributes) == 1 and type(only := attributes.get("class_")) is str:
        return _classed(name, only)
    out = [name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        key = key.rstrip("_").replace("_", "-")
        if value is not True:
            key = f'{key}="{value if type(value) is Markup else _escape(str(value))}"'
        out.append(key)
    return _html(f"<{' '.join(out)}>")


@lru_cache(maxsize=256)
def _end(name: str) -> Markup:
    return Markup(f"</{name}>")  # noqa: S704


def _wrap(name: str, inside: Pieces, **attributes: object) -> list[Piece]:
    return [_tag(name, **attributes), *inside, _end(name)]


def _classes(*names: str | None | bool) -> str | None:
    return " ".join(n for n in names if isinstance(n, str) and n) or None


def _ref(data: Data, field: str = "ref") -> Data | None:
    value = data.get(field)
    return value if isinstance(value, dict) else None


def _length(value: object) -> str | None:
    """Return a length for HTML attributes: ``300`` or ``50%``."""
    if isinstance(value, dict):
        number = number_of(value.get("value"))
        if number is None:
            return None
        return f"{min(number, 100)}%" if value.get("unit") == "%" else str(number)
    found = number_of(value)
    return None if found is None else str(found)


_SPECIAL = re.compile("""[&<>'"]""")
_MARKS = {
    "bold": "strong",
    "italic": "em",
    "code": "code",
    "keyboard": "kbd",
    "strikethrough": "s",
    "superscript": "sup",
    "subscript": "sub",
}
_ALIGNED = {"center": "center", "end": "end", "right": "end"}
_HEADINGS = {"heading-1": 2, "heading-2": 3, "heading-3": 4}
_LISTS = frozenset(["list-ordered", "list-unordered", "list-tasks"])
_HINTS = ("info", "success", "warning", "danger")
_METHODS = ("get", "post", "put", "patch", "delete", "event")
_STATUSES = {"1": "info", "2": "success", "3": "info", "4": "warning", "5": "danger"}
"""Class of a status code by its first digit."""
_SERVER = re.compile(r"[a-z][a-z0-9+.-]*://[^/{]*")
_CALL = re.compile(r"((?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|TRACE)(?= /\S*$)|EVENT) (.+)")
_PARAMETER = re.compile(r"(\{[^{}]*\})")
_MODELS = ["model", "about", "fields", "users"]
"""Columns of a list of models."""
_TAG = "openapi-tag"
"""First column of a list of an API's tags."""
_FIELD_TAGS = ("read_only", "write_only", "deprecated")
"""Properties of a field that are rendered as tags."""
_FIELD_SIGN = Markup('<span class="i i-link" aria-hidden="true"></span>')
_FEW_VALUES = 4
"""Number of a field's possible values that are shown initially."""
_FEW_LANGUAGES = 4
_FEW_LINES = 10
_MEDIA = (".mp4", ".webm", ".mov", ".m4v")
_ASSISTANTS = {
    "chatgpt": ("ChatGPT", "https://chatgpt.com/?q={}"),
    "claude": ("Claude", "https://claude.ai/new?q={}"),
}
_PROMPT_URL_MAX = 6000


def _marked(marks: Sequence[Mark], inside: str) -> str:
    """Return HTML wrapped in the marks of a text, the first one outermost."""
    if not marks:
        return inside
    if len(marks) == 1 and (name := _MARKS.get(marks[0].type)) is not None:
        return f"<{name}>{inside}</{name}>"
    opening: list[str] = []
    closing: list[str] = []
    for mark in marks:
        name = _MARKS.get(mark.type)
        if name is not None:
            opening.append(_tag(name))
            closing.append(_end(name))
        elif mark.type == "color":
            data = mark.data if isinstance(mark.data, dict) else {}
            text, back = (data.get(k) for k in ("text", "background"))
            text = COLORS.get(text) if isinstance(text, str) else None
            back = COLORS.get(back) if isinstance(back, str) else None
            if text or back:
                opening.append(
                    _tag(
                        "mark" if back else "span",
                        class_=_classes(text and f"c-{text}", back and f"b-{back}"),
                    )
                )
                closing.append(_end("mark" if back else "span"))
    return "".join([*opening, inside, *reversed(closing)])


@lru_cache(maxsize=256)
def _token(kind: str) -> str:
    return f'<span class="{_escape(kind)}">'


def _tokens(row: Iterable[Token]) -> str:
    return "".join(f"{_token(kind)}{_escape(text)}</span>" if kind else _escape(text) for kind, text in row)


_BREAK = '\n</span><span class="line">'


def _all_lines(source: str, tokens: list[Token] | None) -> str:
    """Return all lines of a listing in one pass over its tokens; these are not split into lines first, because
    few contain a line break."""
    made: dict[Token, str] = {}
    out = ['<span class="line">']
    for token in tokens if tokens is not None else [("", source)]:
        html = made.get(token)
        if html is None:
            kind, text = token
            parts = [_escape(part) for part in text.split("\n")]
            if kind:
                parts = [f"{_token(kind)}{part}</span>" if part else "" for part in parts]
            html = made[token] = _BREAK.join(parts)
        out.append(html)
    return "".join([*out, "</span>"])


def _is_plain(line: Block) -> bool:
    """Return whether a line of a listing is only text, as nearly all are."""
    return not line.data and all(
        isinstance(node, Text) and not any(leaf.marks for leaf in node.leaves) for node in line.nodes
    )


class _Renderer:
    def __init__(self, context: HtmlContext, ids: Iterable[str]) -> None:
        self.context = context
        self.labels = context.labels
        self.failures = Failures("html")
        self.out: list[str] = []
        self.outline: list[OutlineHeading] = []
        self.updates = False
        self.diagrams = False
        self.operations = False
        self.together = False
        self.heads = False
        self.changes = False
        self.listing = False
        self._ids = set(ids)
        self._notes: list[tuple[str, Fragment]] = []
        self._aside = 0  # nesting depth of content whose headings are not in the outline
        self._in_cells = 0
        self._section = ""  # the title of the last rendered heading
        self._tables: Counter[str] = Counter()
        self._count = 0
        self._images = 0

    # The stack machine.

    def draw(self, nodes: Pieces) -> None:
        self._run(nodes)
        while self._notes:
            # Notes can contain more notes; each round renders those that the previous one found.
            notes, self._notes = self._notes, []
            self._run(p for id, body in notes for p in self._note(id, body))

    def _run(self, nodes: Pieces) -> None:
        stack: list[Piece] = list(nodes)
        stack.reverse()
        write = self.out.append
        while stack:
            piece = stack.pop()
            if type(piece) is Markup:
                write(piece)
                continue
            if isinstance(piece, str):
                write(_escape(piece))
                continue
            try:
                if isinstance(piece, Text):
                    for leaf in piece.leaves:
                        in_cell = self._in_cells and any(mark.type == "code" for mark in leaf.marks)
                        text = _breakable(leaf.text) if in_cell else _escape(leaf.text)
                        if leaf.marks:
                            text = _marked(leaf.marks, text)
                        write(text.replace("\n", "<br>"))
                elif isinstance(piece, Block):
                    draw = _BLOCKS.get(piece.type)
                    if draw is not None:
                        stack += [*draw(self, piece)][::-1]
                elif isinstance(piece, Inline):
                    draw_inline = _INLINES.get(piece.type)
                    if draw_inline is not None:
                        stack += [*draw_inline(self, piece)][::-1]
                elif isinstance(piece, Fragment):
                    stack.extend(reversed(piece.nodes))
                else:
                    piece()
            except DEFECTS as error:
                # Fall back to the text of a node that can't be rendered.
                self.failures.add(error)
                if isinstance(piece, Block):
                    stack += reversed(_wrap("p", [plain_text(piece)]))
                elif isinstance(piece, Inline):
                    stack.append(plain_text(piece))

    def _set_aside(self, pieces: Pieces) -> list[Piece]:
        """Return the pieces with their headings left out of the outline."""

        def enter() -> None:
            self._aside += 1

        def leave() -> None:
            self._aside -= 1

        return [enter, *pieces, leave]

    def _own_id(self, prefix: str) -> str:
        """Return an id for an element that no link refers to."""
        self._count += 1
        while f"{prefix}-{self._count}" in self._ids:
            self._count += 1
        return f"{prefix}-{self._count}"

    # Small parts.

    def icon(self, name: object, **attributes: object) -> list[Piece]:
        svg = self.context.icon(name) if isinstance(name, str) and name else None
        return _wrap("span", [svg], class_="icon", aria_hidden="true", **attributes) if svg else []

    def _anchor(self, target: HtmlTarget | None, fallback: str = "") -> dict[str, object] | None:
        """Return the attributes of a link to a target, or None if there is none."""
        href = safe_url(target.href) if target else None
        if target is None or href is None:
            return None
        away = target.external and self.context.new_tab
        return {
            "href": href,
            "target": "_blank" if away else None,
            "rel": "noopener" if target.external else None,
        }

    def _target(self, ref: Data | None) -> HtmlTarget | None:
        return self.context.link(ref) if ref is not None else None

    def _asset(self, ref: Data | None) -> Asset | None:
        asset = self.context.file(ref) if ref is not None else None
        return asset if asset is not None and safe_url(asset.url) is not None else None

    def _picture(
        self, data: Data, *, lazy: bool, class_: str | None = None, line: int | None = None
    ) -> list[Piece]:
        """Render one image, or one for each theme. ``line``: its height in pixels, whatever its size."""
        light, dark = self._asset(_ref(data)), self._asset(_ref(data, "refDark"))
        if light is None:
            return []
        width, height = _length(data.get("width")), _length(data.get("height"))
        out: list[Piece] = []
        for asset, theme in ((light, "only-light" if dark else None), (dark, "only-dark")):
            if asset is None:
                continue
            own_width, own_height = width, height
            if width is None and height is None and asset.width and asset.height:
                own_width, own_height = str(asset.width), str(asset.height)
            elif height is None and width and width.isdigit() and asset.width and asset.height:
                own_height = str(round(int(width) * asset.height / asset.width))
            out.append(
                _tag(
                    "img",
                    class_=_classes(class_, theme),
                    src=safe_url(asset.url),
                    srcset=asset.srcset,
                    sizes=self._sizes(asset, width, line) if asset.sources else None,
                    alt=text_of(data, "alt") or "",
                    width=own_width,
                    height=own_height,
                    loading="lazy" if lazy or theme else None,
                    decoding="async",
                )
            )
        return out

    def _sizes(self, asset: Asset, width: str | None, line: int | None) -> str:
        """Return the ``sizes`` attribute, so that the browser knows the width before layout: never less than
        the actual width."""
        most = self.context.column
        if line is not None and asset.width and asset.height:
            shown = -(-line * asset.width // asset.height)
        elif width is not None and width.endswith("%"):
            shown = math.ceil(most * float(width[:-1]) / 100)
        else:
            shown = int(float(width or asset.width or most))
        shown = min(shown, most)
        narrow = min(shown + _MARGIN, _NARROW)
        return f"(max-width: {narrow}px) calc(100vw - {_MARGIN}px), {shown}px"

    # Blocks of text.

    def _dir(self, *nodes: Block | Fragment) -> str | None:
        """Return the direction of the contents if it differs from the page's: that of most letters, because a
        paragraph can start with a name in another script."""
        own = self.context.direction
        if own is None:
            return None
        lean = 0
        for node in nodes:
            # Most paragraphs consist of one text.
            for here in node.nodes if type(node) is Block and is_plain(node) else walk(node):
                for leaf in here.leaves if type(here) is Text else ():
                    if leaf.marks and any(mark.type == "code" for mark in leaf.marks):
                        continue
                    lean += _lean(leaf.text)
        found = "ltr" if lean > 0 else "rtl" if lean < 0 else own
        return found if found != own else None

    def paragraph(self, block: Block) -> Pieces:
        align = _ALIGNED.get(text_of(block.data, "align") or "")
        return _wrap("p", block.nodes, class_=align and f"align-{align}", dir=self._dir(block))

    def heading(self, block: Block) -> Pieces:
        level = _HEADINGS[block.type]
        given = block.data.get("level")
        if isinstance(given, int) and not isinstance(given, bool):
            level = min(max(given, 2), 6)
        title = shown_words(block)
        id = text_of(block.data, "id") or ""
        self._section = title
        if not self._aside and title:
            self.outline.append(OutlineHeading(id, title, level))
        align = _ALIGNED.get(text_of(block.data, "align") or "")
        link: list[Piece] = []
        if self.context.anchors:
            link = _wrap("a", [], class_="anchor", href=f"#{quote(id)}", aria_label=self.labels.link_to)
        return _wrap(
            f"h{level}",
            [*block.nodes, *link],
            id=id,
            class_=align and f"align-{align}",
            dir=self._dir(block),
        )

    def list_ordered(self, block: Block) -> Pieces:
        start = block.data.get("start")
        first = int(start) if isinstance(start, (int, float)) and start != 1 and abs(start) < 1e9 else None
        return _wrap("ol", block.nodes, start=first, dir=self._dir(block))

    def list_unordered(self, block: Block) -> Pieces:
        calls = [_call_of(item) for item in block.nodes]
        listed = [call for call in calls if call is not None]
        if listed and len(listed) == len(calls):
            return self._rows([(method, path, [link], None) for method, path, link in listed])
        return _wrap("ul", block.nodes, dir=self._dir(block))

    def list_tasks(self, block: Block) -> Pieces:
        return _wrap("ul", block.nodes, class_="tasks", dir=self._dir(block))

    def list_item(self, block: Block) -> Pieces:
        # Text before anything but a list keeps the spacing of paragraphs.
        others = [node for node in block.nodes[1:] if not (isinstance(node, Block) and node.type in _LISTS)]
        inside = list(block.nodes) if others else only_paragraph(block.nodes)
        checked = block.data.get("checked")
        if not isinstance(checked, bool):
            return _wrap("li", inside)
        box = _tag(
            "input",
            type="checkbox",
            disabled=True,
            checked=checked,
            aria_label=self.labels.done if checked else self.labels.open,
        )
        return _wrap("li", [box, *_wrap("div", inside)], class_="task")

    def divider(self, block: Block) -> Pieces:
        return [_tag("hr")]

    def quote(self, block: Block) -> Pieces:
        return _wrap("blockquote", block.nodes, dir=self._dir(block))

    def hint(self, block: Block) -> Pieces:
        style = one_of(block.data.get("style"), _HINTS, "info")
        icon = self.icon(block.data.get("icon")) or [Markup('<span class="icon"></span>')]
        body = self._set_aside(_wrap("div", block.nodes, class_="hint-body"))
        return _wrap(
            "div",
            [*icon, *body],
            class_=f"hint {style}",
            role="note",
            aria_label=getattr(self.labels, style or "info"),
        )

    def math(self, block: Block) -> Pieces:
        formula = text_of(block.data, "formula") or ""
        found = mathml(formula, block=True)
        if found is None:
            return [*_wrap("pre", _wrap("code", [formula]), class_="formula", tabindex="0")]
        return _wrap("div", [found], class_="math", tabindex="0")

    # Code.

    def code(self, block: Block) -> Pieces:
        lines = [n for n in block.nodes if isinstance(n, Block)]
        return self._listing(block, len(lines), lambda syntax, shown: self._lines(lines, syntax, shown))

    def openapi_listing(self, block: Block) -> Pieces:
        """Render a listing with many lines of plain text, which are not nodes."""
        source = text_of(block.data, "source") or ""

        def body(syntax: str, shown: int) -> list[Piece]:
            return [_html(_all_lines(source, self.context.highlight(source, syntax)))]

        return self._listing(block, source.count("\n") + 1, body)

    def _listing(self, block: Block, count: int, body_of: Callable[[str, int], list[Piece]]) -> Pieces:
        """Render a listing; ``body_of(syntax, shown)`` returns its lines, ``count`` in all."""
        data = block.data
        syntax, title = text_of(data, "syntax") or "", text_of(data, "title")
        few = number_of(data.get("collapsedLineCount")) or _FEW_LINES
        folds = data.get("expandable") is True and count > few
        numbered = data.get("lineNumbers") is True
        language = language_name(syntax)
        name = title or language
        copy = _wrap(
            "button",
            [_tag("span", class_="i i-copy", aria_hidden="true"), _end("span")],
            type="button",
            class_="copy",
            data_copy=True,
            data_done=self.labels.copied,
            aria_label=self.labels.copy,
            title=self.labels.copy,
        )
        bar: list[Piece] = []
        if title:
            bar = [*_wrap("span", [title], class_="code-title")]
            if language:
                bar += _wrap("span", [language], class_="code-language")
        elif language:
            bar = [*_wrap("span", [language], class_="code-language")]
        body = body_of(syntax, few if folds else count)
        more: list[Piece] = []
        if folds:
            more = _wrap(
                "button",
                [self.labels.show_more],
                type="button",
                class_="code-more",
                data_more=self.labels.show_more,
                data_less=self.labels.show_less,
                aria_expanded="false",
            )
        listing = [
            _tag(
                "figure",
                class_=_classes(
                    "code",
                    bool(title) and "titled",
                    data.get("overflow") == "wrap" and "wrap",
                    numbered and "numbered",
                    numbered and count > 999 and "digits-4",
                    folds and "folds",
                    data.get("fullWidth") is True and "wide",
                ),
            ),
            *(_wrap("figcaption", bar) if bar else ()),
            *copy,
            *_wrap("pre", _wrap("code", body), tabindex="0", aria_label=name or None),
            *more,
            _end("figure"),
        ]
        drawn_by = self.context.code_block(syntax) if syntax else None
        address = self.context.integration(drawn_by.data(block)) if drawn_by is not None else None
        if address is not None:
            return _wrap("div", listing, class_="integration", data_block=address)
        if syntax.lower() != "mermaid":
            return listing
        self.diagrams = True
        return _wrap("div", listing, class_="diagram")

    def _rows_of(self, texts: list[str], syntax: str) -> list[list[Token]]:
        tokens = self.context.highlight("\n".join(texts), syntax)
        return token_rows(tokens, texts) if tokens is not None else [[("", text)] for text in texts]

    def _lines(self, lines: list[Block], syntax: str, shown: int) -> list[Piece]:
        rows = self._rows_of([line_text(line) for line in lines], syntax)
        out: list[Piece] = []
        last = len(lines) - 1
        for number, (line, row) in enumerate(zip(lines, rows, strict=True)):
            if number < min(shown, last) and _is_plain(line):
                out.append(_html(f'<span class="line">{_tokens(row)}\n</span>'))
                continue
            lit = line.data.get("highlighted") is True
            out.append(_tag("span", class_=_classes("line", lit and "lit", number >= shown and "more")))
            out.extend(self._line(line, row))
            # The line break is inside the line's element, so that a copied selection includes it and hidden
            # lines remove it.
            out.append(Markup("\n</span>") if number < last else Markup("</span>"))
        return out

    def _line(self, line: Block, row: list[Token]) -> list[Piece]:
        """Render one line: the highlighter's tokens merged with the text nodes, cut where either ends."""
        tokens = Tokens(row)
        out: list[Piece] = []

        def text(node: Text) -> None:
            for leaf in node.leaves:
                for kind, part in tokens.take(len(leaf.text)):
                    # GitBook marks important code with bold; other marks keep their meaning.
                    marks = [m for m in leaf.marks if m.type not in ("code", "keyboard")]
                    out.append(_html(_marked(marks, _tokens([(kind, part)]))))

        for node in line.nodes:
            if isinstance(node, Text):
                text(node)
            elif isinstance(node, Inline) and node.type == "annotation":
                start = len(out)
                for inner in node.nodes:
                    if isinstance(inner, Text):
                        text(inner)
                inside, out[start:] = out[start:], []
                out.extend(self._note_button(node, inside))
            elif isinstance(node, Inline):
                out.append(node)
        return out

    # Media and references.

    def images(self, block: Block) -> Pieces:
        shown = [n for n in block.nodes if isinstance(n, Block)]
        align = one_of(block.data.get("align"), ("left", "right", "center"))
        return _wrap(
            "div",
            shown,
            class_=_classes(
                "images",
                len(shown) > 1 and "gallery",
                align and f"at-{align}",
                block.data.get("withFrame") is True and "framed",
                block.data.get("fullWidth") is True and "wide",
            ),
        )

    def image(self, block: Block) -> Pieces:
        self._images += 1
        # The first image of a page is usually visible when the page opens.
        picture = self._picture(block.data, lazy=self._images > 1)
        if not picture:
            return []
        asset = self._asset(_ref(block.data))
        if asset is not None:
            picture = _wrap(
                "a",
                picture,
                class_="zoom",
                href=safe_url(asset.url),
                aria_label=text_of(block.data, "alt") or self.labels.larger,
                data_zoom=self.labels.close,
            )
        caption = self._caption(block)
        return _wrap("figure", [*picture, *caption], class_="image")

    def _caption(self, block: Block) -> list[Piece]:
        nodes = [n for f in block.fragments if f.fragment == "caption" for n in f.nodes]
        if not any(plain_text(n).strip() or shown_words(n) for n in nodes):
            return []
        return _wrap("figcaption", only_paragraph(nodes))

    def drawing(self, block: Block) -> Pieces:
        picture = self._picture(block.data, lazy=True)
        return (
            _wrap("div", _wrap("figure", picture, class_="image drawing"), class_="images") if picture else []
        )

    def file(self, block: Block) -> Pieces:
        asset = self._asset(_ref(block.data))
        if asset is None:
            return []
        caption = self._caption(block)
        name = asset.name or unquote(path_of(asset.url).rsplit("/", 1)[-1])
        kind = name.rsplit(".", 1)[-1].upper()[:6] if "." in name else ""
        facts = " · ".join(part for part in (kind, size_text(asset.size) if asset.size else "") if part)
        inside = [
            Markup('<span class="i i-page" aria-hidden="true"></span>'),
            *_wrap(
                "span",
                [*_wrap("span", [name], class_="file-name"), *_wrap("small", [facts])],
                class_="file-text",
            ),
            Markup('<span class="i i-download" aria-hidden="true"></span>'),
        ]
        link = _wrap("a", inside, class_="file", href=safe_url(asset.url), download=name)
        return _wrap("figure", [*link, *caption], class_="attached")

    def embed(self, block: Block) -> Pieces:
        url = safe_url(block.data.get("url"))
        if url is None:
            return []
        caption = self._caption(block)
        wide = block.data.get("fullWidth") is True and "wide"
        found = player(url)
        host = (host_of(url) or url).removeprefix("www.")
        if found is not None:
            text = self.labels.play.replace("{provider}", found.provider)
            inside = [
                Markup('<span class="play" aria-hidden="true"></span>'),
                *_wrap("span", [text], class_="embed-text"),
                *_wrap("small", [host]),
            ]
            link = _wrap(
                "a",
                inside,
                class_=f"player {found.ratio}",
                href=url,
                rel="noopener",
                data_frame=found.src,
                data_title=self._words_of(caption) or found.provider,
            )
            return _wrap("figure", [*link, *caption], class_=_classes("embed", wide))
        if path_of(url).lower().endswith(_MEDIA):
            video = _wrap("video", _wrap("a", [url], href=url), src=url, controls=True, preload="none")
            return _wrap("figure", [*video, *caption], class_=_classes("embed", wide))
        target = self.context.link({"kind": "url", "url": url}) or HtmlTarget(href=url, external=True)
        return self._card(target, caption and self._words_of(caption) or target.title or url, host)

    def _words_of(self, pieces: Pieces) -> str:
        return " ".join(
            shown_words(p) if not isinstance(p, Text) else plain_text(p)
            for p in pieces
            if isinstance(p, (Block, Inline, Text, Fragment))
        ).strip()

    def _card(self, target: HtmlTarget, title: str, line: str | None) -> list[Piece]:
        """Render a reference as a full-width card; without a target it is text in the same place."""
        link = self._anchor(target)
        sign: list[Piece] = self.icon(target.icon)
        if not sign:
            character = emoji(target.emoji)
            if character:
                sign = _wrap("span", [character], class_="icon", aria_hidden="true")
            else:
                name = "i-link" if target.external else "i-page"
                sign = [_tag("span", class_=f"i {name}", aria_hidden="true"), _end("span")]
        text = [*_wrap("span", [title], class_="ref-title")]
        if line:
            text += _wrap("span", [line], class_="ref-line")
        inside = [*sign, *_wrap("span", text, class_="ref-text")]
        if link is None:
            return _wrap("div", inside, class_="ref broken")
        inside.append(Markup('<span class="i i-forward" aria-hidden="true"></span>'))
        return _wrap("a", inside, class_="ref", **link)

    def content_ref(self, block: Block) -> Pieces:
        target = self._target(_ref(block.data)) or HtmlTarget()
        label = text_of(block.data, "label")
        url = text_of(object_of(block.data, "ref"), "url")
        return self._card(target, target.title or label or url or "", target.description)

    def reusable_content(self, block: Block) -> Pieces:
        """Render included content, which is in the node that includes it."""
        return block.nodes

    # Blocks of blocks.

    def expandable(self, block: Block) -> Pieces:
        title, body = title_and_body(block)
        words = only_paragraph(title)
        call = _call_at_end(words)
        summary = _wrap(
            "summary",
            [
                Markup('<span class="i i-chevron" aria-hidden="true"></span>'),
                *(self._called(*call) if call else _wrap("span", words)),
            ],
        )
        inside = self._set_aside(_wrap("div", body, class_="expandable-body"))
        return _wrap(
            "details",
            [*summary, *inside],
            class_=_classes("expandable", call and "openapi-change"),
            id=text_of(block.data, "id"),
            open=block.data.get("open") is True,
        )

    def _called(self, method: str, path: str, words: Text) -> list[Piece]:
        """Render the method and path of an operation around its description."""
        self.operations = self.changes = True
        return [
            *_wrap("b", [method], class_=_classes("method", one_of(method.lower(), _METHODS, None))),
            *_wrap("span", [words]),
            *_wrap("code", self._path(path)),
        ]

    def tabs(self, block: Block) -> Pieces:
        items = [n for n in block.nodes if isinstance(n, Block)]
        if not items:
            return []
        base = self._own_id("tabs")
        buttons: list[Piece] = []
        panels: list[Piece] = []
        for number, item in enumerate(items):
            title = text_of(item.data, "title") or str(number + 1)
            tab, panel = f"{base}-tab-{number + 1}", f"{base}-panel-{number + 1}"
            first = number == 0
            code = text_of(item.data, "status")
            hue = _classes("dot", _STATUSES.get(code[:1])) if code else None
            dot = _wrap("span", [], class_=hue, aria_hidden="true") if hue else []
            label = [*dot, *self.icon(item.data.get("icon")), title]
            buttons += _wrap(
                "button",
                label,
                type="button",
                role="tab",
                id=tab,
                aria_controls=panel,
                aria_selected="true" if first else "false",
                tabindex="0" if first else "-1",
            )
            # Without JavaScript the tab bar is hidden and every panel is shown under its own title.
            content = [*_wrap("p", label, class_="tab-title"), *item.nodes]
            panels += _wrap(
                "div",
                content,
                role="tabpanel",
                id=panel,
                aria_labelledby=tab,
                tabindex="0" if first else "-1",
                hidden=None if first else "until-found",
            )
        strip = _wrap("div", buttons, role="tablist", aria_label=self.labels.tabs)
        wide = block.data.get("fullWidth") is True and "wide"
        shapes = block.data.get("shapes") is True and "shapes"
        return _wrap("div", [*strip, *self._set_aside(panels)], class_=_classes("tabs", wide, shapes))

    def stepper(self, block: Block) -> Pieces:
        return _wrap("ol", block.nodes, class_="stepper")

    def stepper_step(self, block: Block) -> Pieces:
        mark = _wrap("span", self.icon(block.data.get("icon")), class_="step-mark", aria_hidden="true")
        return _wrap("li", [*mark, *_wrap("div", block.nodes, class_="step-body")], class_="step")

    def columns(self, block: Block) -> Pieces:
        wide = block.data.get("fullWidth") is True and "wide"
        return _wrap("div", block.nodes, class_=_classes("columns", wide))

    def column(self, block: Block) -> Pieces:
        width = block.data.get("width")
        part = None
        if isinstance(width, dict) and width.get("unit") == "%":
            number = number_of(width.get("value"), 100)
            # Inline styles are not allowed, so widths are classes, in steps of a twelfth.
            part = f"of-{min(max(round(number * 12 / 100), 1), 12)}" if number else None
        vertical = one_of(block.data.get("verticalAlignment"), ("middle", "bottom"))
        return _wrap("div", block.nodes, class_=_classes("column", part, vertical and f"at-{vertical}"))

    def updates_list(self, block: Block) -> Pieces:
        return _wrap("div", block.nodes, class_="updates")

    def update(self, block: Block) -> Pieces:
        self.updates = True
        day = text_of(block.data, "date") or ""
        id = text_of(block.data, "id") or ""
        when = _wrap(
            "a", _wrap("time", [date_text(day)], datetime=day), href=f"#{quote(id)}", class_="update-date"
        )
        tags = block.data.get("tags")
        labels: list[Piece] = []
        for tag in tags if isinstance(tags, list) else ():
            if isinstance(tag, str) and tag.strip():
                labels += _wrap("span", [tag.strip()], class_="tag")
        side = _wrap("header", [*when, *(_wrap("div", labels, class_="tags") if labels else ())])
        return _wrap(
            "section", [*side, *_wrap("div", block.nodes, class_="update-body")], class_="update", id=id
        )

    def prompt(self, block: Block) -> Pieces:
        data = block.data
        text = "\n\n".join(block_text(n) for n in block.nodes if isinstance(n, Block)).strip()
        id = self._own_id("prompt")
        sign = self.icon(data.get("icon")) or [Markup('<span class="i i-spark" aria-hidden="true"></span>')]
        head = [
            *sign,
            *_wrap("span", [text_of(data, "description") or self.labels.prompt], class_="prompt-title"),
        ]
        actions: list[Piece] = _wrap(
            "button",
            [self.labels.copy],
            type="button",
            class_="button secondary small",
            data_copy=f"#{id}",
            data_done=self.labels.copied,
        )
        wanted = (text_of(data, "openInAIProviders") or "").lower()
        for key, (name, address) in _ASSISTANTS.items():
            if (key in wanted or wanted in ("true", "all")) and len(quote(text)) < _PROMPT_URL_MAX:
                actions += _wrap(
                    "a",
                    [self.labels.open_in.replace("{provider}", name)],
                    class_="button secondary small",
                    href=address.replace("{}", quote(text, safe="")),
                    target="_blank",
                    rel="noopener",
                )
        body = _wrap("pre", [text], id=id, class_="prompt-text", tabindex="0")
        shown = text_of(data, "defaultExpanded")
        if shown is None:
            more = Markup('<span class="i i-chevron" aria-hidden="true"></span>')
            body = _wrap("details", [*_wrap("summary", [more, self.labels.show_more]), *body])
        return _wrap(
            "section",
            [
                *_wrap("header", [*head, *_wrap("span", actions, class_="prompt-actions")]),
                *body,
            ],
            class_=_classes("prompt", shown == "partial" and "partial"),
        )

    def openapi(self, block: Block) -> Pieces:
        found = self.context.openapi(block.type, block.data)
        if found is not None:
            return self._set_aside(_wrap("div", [found], class_="openapi"))
        schemas = block.data.get("schemas")
        if isinstance(schemas, list):
            names = [_wrap("code", [name]) for name in schemas if isinstance(name, str) and name]
            return _wrap("p", [p for name in names for p in (*name, " ")], class_="endpoint") if names else []
        path = text_of(block.data, "path") or text_of(block.data, "name")
        return self._endpoint(text_of(block.data, "method"), path) if path else []

    def openapi_try(self, block: Block) -> Pieces:
        """Render a button that only scripts show, because they build what it opens."""
        address = self.context.try_it(block.data)
        if address is None:
            return []
        return _wrap(
            "button",
            [Markup('<span class="i i-play" aria-hidden="true"></span>'), self.context.labels.try_it],
            type="button",
            class_="button primary small try-it scripted",
            aria_expanded="false",
            data_try=address,
        )

    def openapi_head(self, block: Block) -> Pieces:
        """Render the method and URL of an operation, with its actions beside them."""
        self.operations = self.heads = True
        url = text_of(block.data, "url") or ""
        endpoint = self._endpoint(text_of(block.data, "method"), url)
        icon = [_tag("span", class_="i i-copy", aria_hidden="true"), _end("span")]
        copy = _wrap(
            "button",
            icon,
            type="button",
            class_="copy",
            data_copy_text=url,
            data_done=self.labels.copied,
            aria_label=self.labels.copy,
            title=self.labels.copy,
        )
        how = text_of(block.data, "by")
        by = _wrap("span", [how.upper()], class_="openapi-by") if how else []
        return _wrap("div", [*endpoint, *by, *copy, *block.nodes], class_="openapi-head")

    def openapi_block(self, block: Block) -> Pieces:
        """Render an operation listed after others: a line with its method, URL, and title, which expands."""
        self.operations = self.together = True
        title, body = title_and_body(block)
        words, id = shown_words(block.fragments[0]), text_of(block.data, "id")
        if not self._aside and words and id:
            self.outline.append(OutlineHeading(id, words, 2))
        method = text_of(block.data, "method") or ""
        known = one_of(method.lower(), _METHODS, None)
        summary = _wrap(
            "summary",
            [
                Markup('<span class="i i-chevron" aria-hidden="true"></span>'),
                *_wrap("b", [method.upper()], class_=_classes("method", known)),
                *_wrap("code", self._path(text_of(block.data, "url") or "")),
                *_wrap("h2", only_paragraph(title)),
            ],
        )
        inside = self._set_aside(_wrap("div", body, class_="openapi-block-body"))
        return _wrap("details", [*summary, *inside], class_="openapi-block", id=id)

    def openapi_facts(self, block: Block) -> Pieces:
        """Render the properties of an operation besides its URL: authentication and stability."""
        return _wrap("div", block.nodes, class_="openapi-facts")

    def openapi_values(self, block: Block) -> Pieces:
        """Render the possible values of a field: the first few, and the others collapsed."""
        default = block.data.get("default")
        said = [" ", *_wrap("small", [self.labels.api_default.lower()])]
        chips = [
            _wrap("li", _wrap("code", [text, *(said if text == default else [])]))
            for text in self._texts(block.data.get("values"))
        ]
        few = len(chips) if len(chips) <= _FEW_VALUES + 1 else _FEW_VALUES
        shown = _wrap("ul", [piece for chip in chips[:few] for piece in chip], class_="openapi-values")
        if few == len(chips):
            return shown
        more = self.labels.api_and_more.replace("{name}", str(len(chips) - few))
        rest = _wrap("ul", [piece for chip in chips[few:] for piece in chip], class_="openapi-values")
        return [*shown, *_wrap("details", [*_wrap("summary", [more]), *rest], class_="openapi-more")]

    @staticmethod
    def _texts(values: object) -> list[str]:
        return [each for each in values if isinstance(each, str)] if isinstance(values, list) else []

    def openapi_answer(self, block: Block) -> Pieces:
        """Render a response of an operation: a row with its status, which expands if there are details."""
        title, body = title_and_body(block)
        words = _wrap("span", only_paragraph(title))
        of = [n for f in block.fragments if f.fragment == "openapi-of" for n in f.nodes]
        if of:
            words += _wrap("small", only_paragraph(of))
        code = text_of(block.data, "status") or ""
        said = shown_words(block.fragments[0])
        id = self._mark_part(block, f"{code} {said}".strip())
        status = self._status(code)
        if not body:
            return _wrap("div", [*status, *words], class_="openapi-answer", id=id)
        chevron = Markup('<span class="i i-chevron" aria-hidden="true"></span>')
        summary = _wrap("summary", [chevron, *status, *words])
        inside = self._set_aside(_wrap("div", body, class_="openapi-answer-body"))
        is_open = block.data.get("open") is True
        return _wrap("details", [*summary, *inside], class_="openapi-answer", id=id, open=is_open)

    def _status(self, code: str) -> list[Piece]:
        return _wrap("b", [code], class_=_classes("status", _STATUSES.get(code[:1])))

    def openapi_rows(self, block: Block) -> Pieces:
        """Render operations as a list of links, each with its method and path."""
        rows = []
        for data in block.data.get("rows") or ():
            link = _wrap("a", [text_of(data, "title") or ""], href=text_of(data, "href"), class_="row")
            method, path = text_of(data, "method") or "", text_of(data, "path") or ""
            rows.append((method, path, link, text_of(data, "id")))
        return self._rows(rows)

    def _rows(self, rows: Sequence[tuple[str, str, Sequence[Piece], str | None]]) -> Pieces:
        """Render rows of method, path, link, and id. A prefix shared by most paths is shown once, above. An
        operation named only by its path shows it once."""
        self.operations = True
        above = _shared([path for _, path, _, _ in rows])
        made: list[Piece] = []
        for method, path, link, id in rows:
            known = one_of(method.lower(), _METHODS, None)
            is_below = bool(above) and path.startswith(f"{above}/")
            row = [
                *_wrap("b", [method.upper()], class_=_classes("method", known)),
                *_wrap("span", link),
                *_wrap(
                    "code", ["…" if is_below else "", *self._path(path[len(above) :] if is_below else path)]
                ),
            ]
            only = [Text([Leaf(path)])]
            is_bare = len(link) == 1 and isinstance(link[0], Inline) and link[0].nodes == only
            made += _wrap("li", row, id=id, class_="bare" if is_bare else None)
        said = (
            _wrap("p", ["… = ", *_wrap("code", self._path(above))], class_="openapi-above") if above else []
        )
        return [*said, *_wrap("ul", made, class_="openapi-rows")]

    def openapi_columns(self, block: Block) -> Pieces:
        """Render the description of an operation, with requests and responses beside it."""
        return _wrap("div", block.nodes, class_="openapi-columns")

    def openapi_sample(self, block: Block) -> Pieces:
        """Render a request as code: the first sample, and the languages and libraries for which a script shows
        it."""
        data = block.data
        own = [each[0] for each in data.get("own") or ()]
        libraries: dict[str, list[str]] = {}
        for language, library in data.get("libraries") or ():
            libraries.setdefault(language, []).append(library)

        def button(language: str, library: str, *words: Piece) -> list[Piece]:
            return _wrap("button", words, type="button", data_language=language, data_library=library)

        named = [
            *((label, "", label) for label in own),
            *((each, found[0], each) for each, found in libraries.items()),
        ]
        strip = [
            piece
            for language, library, label in named[:_FEW_LANGUAGES]
            for piece in button(language, library, label)
        ]
        listed: list[Piece] = []
        for language, library, label in named[_FEW_LANGUAGES:]:
            listed += _wrap(
                "li", button(language, library, *_wrap("span", [label]), *_wrap("small", [library]))
            )
        chevron = Markup('<span class="i i-chevron"></span>')
        more = _wrap("summary", [self.labels.api_more, chevron])
        menu = _wrap("details", [*more, *_wrap("ul", listed)], class_="picker end") if listed else []
        others = json.dumps([[each, *found] for each, found in libraries.items() if len(found) > 1])
        bar = _wrap(
            "div", [*strip, *menu], class_="sample-bar scripted", role="group", aria_label=self.labels.tabs
        )
        return _wrap(
            "div",
            [*bar, *block.nodes],
            class_="openapi-sample",
            data_call=text_of(data, "call"),
            data_own=json.dumps(data.get("own")) if own else None,
            data_libraries=others,
            data_examples=json.dumps(data.get("examples")) if data.get("examples") else None,
        )

    def openapi_examples(self, block: Block) -> Pieces:
        """Render several examples of one thing, one after the other; a script shows only the selected one."""
        names = json.dumps(self._texts(block.data.get("names")))
        return _wrap("div", block.nodes, class_="openapi-examples", data_names=names)

    def openapi_part(self, block: Block) -> Pieces:
        """Render the heading of a part of an operation, such as its query."""
        part = text_of(block.data, "part")
        id = self._mark_part(block, getattr(self.labels, f"api_{part}", "")) if part else None
        return _wrap("p", block.nodes, class_="openapi-part", id=id, data_part=part)

    def _mark_part(self, block: Block, title: str) -> str | None:
        """Return the id of a part of an operation and add the part to the outline; None inside collapsed
        content."""
        id, level = text_of(block.data, "id"), block.data.get("level")
        if self._aside or not id or not isinstance(level, int):
            return None
        id = free_name(id, self._ids.__contains__)
        self._ids.add(id)
        self.outline.append(OutlineHeading(id, title, level))
        return id

    def openapi_limits(self, block: Block) -> Pieces:
        """Render the constraints of a value besides its type."""
        return _wrap("p", block.nodes, class_="openapi-limits")

    def openapi_fold(self, block: Block) -> Pieces:
        """Render the fields inside a field, collapsed behind their number."""
        title, body = title_and_body(block)
        chevron = Markup('<span class="i i-chevron" aria-hidden="true"></span>')
        of = self._fold_context(block)
        summary = _wrap("summary", [chevron, *of, *_wrap("span", only_paragraph(title))])
        inside = self._set_aside(_wrap("div", body, class_="openapi-inside"))
        return _wrap(
            "details",
            [*summary, *inside],
            class_="openapi-fold",
            id=text_of(block.data, "id"),
            open=block.data.get("open") is True,
        )

    @staticmethod
    def _fold_context(block: Block) -> Pieces:
        """Render what a collapsed section belongs to, for screen readers that read only its title."""
        of = text_of(block.data, "of")
        return _wrap("span", [f"{of}: "], class_="hidden-text") if of else []

    def openapi_later(self, block: Block) -> Pieces:
        """Render a link to the fields inside a field, if only the page with all fields has them."""
        title = [n for f in block.fragments if f.fragment == "expandable-title" for n in f.nodes]
        chevron = Markup('<span class="i i-chevron" aria-hidden="true"></span>')
        id = text_of(block.data, "id") or ""
        link = [chevron, *self._fold_context(block), *_wrap("span", only_paragraph(title))]
        href = f"?{ALL_FIELDS}#{quote(id)}"
        return _wrap("a", link, class_="openapi-later", id=id, href=href, rel="nofollow")

    def openapi_scheme(self, node: Inline) -> Pieces:
        """Render an authentication method as a link to its description."""
        page = self.context.authentication(text_of(node.data, "spec") or "")
        if page is None:
            return node.nodes
        return _wrap("a", node.nodes, href=f"{page}#{quote(text_of(node.data, 'anchor') or '')}")

    def openapi_word(self, node: Inline) -> Pieces:
        """Render a predefined word in the page's language."""
        label = getattr(self.labels, f"api_{text_of(node.data, 'word')}", None)
        if not isinstance(label, str):
            return node.nodes
        words = label.replace("{name}", text_of(node.data, "name") or "")
        if text_of(node.data, "word") == "always":
            return _wrap("span", [words], class_="openapi-always")
        tag = one_of(text_of(node.data, "word") or "", _FIELD_TAGS, None)
        if tag:
            return _wrap("span", [words], class_=_classes("openapi-tag", tag))
        return [
            Text([Leaf(words, each.leaves[0].marks)])
            for each in node.nodes
            if isinstance(each, Text) and each.leaves
        ]

    def openapi_fields(self, block: Block) -> Pieces:
        """Render a list of parameters or properties."""
        self.operations = True
        return _wrap("ul", block.nodes, class_="openapi-fields")

    def openapi_field(self, block: Block) -> Pieces:
        """Render one field; its first paragraph is the name and type."""
        head, *about = block.nodes
        if not isinstance(head, Block):
            return _wrap("li", [head, *about])
        id = text_of(head.data, "id")
        link: Pieces = []
        if id:
            link = _wrap(
                "a", [_FIELD_SIGN], href=f"#{quote(id)}", class_="field", aria_label=self.labels.link_to
            )
        return _wrap("li", [*_wrap("p", [*head.nodes, *link], class_="openapi-name"), *about], id=id)

    def _endpoint(self, method: str | None, path: str | None) -> list[Piece]:
        known = one_of((method or "").lower(), _METHODS, None)
        sign = _wrap("span", [method.upper()], class_=_classes("method", known)) if method else []
        return _wrap("p", [*sign, " ", *_wrap("code", self._path(path or ""))], class_="endpoint")

    def _path(self, address: str) -> list[Piece]:
        """Render a URL with its server muted and its parameters marked."""
        server = _SERVER.match(address)
        pieces: list[Piece] = _wrap("span", [server[0]], class_="server") if server else []
        for part in _PARAMETER.split(address[server.end() if server else 0 :]):
            pieces += (
                _wrap("span", [part], class_="parameter") if part.startswith("{") else [part] if part else []
            )
        return pieces

    def integration(self, block: Block) -> Pieces:
        """Render the fallback content of an integration's block, which scripts replace with that of the
        integration."""
        shown = self._without_integration(block)
        address = self.context.integration(block.data)
        if address is None:
            return shown
        if not shown:
            name = text_of(block.data, "integration") or ""
            link = _wrap("a", [self.labels.play.replace("{provider}", name)], href=address, rel="nofollow")
            shown = _wrap("p", link)
        return _wrap("div", shown, class_="integration", data_block=address)

    def _without_integration(self, block: Block) -> Pieces:
        url = safe_url(block.data.get("url"))
        props = object_of(block.data, "props")
        if url is None:
            url = safe_url(props.get("url")) if isinstance(props.get("url"), str) else None
        if url:
            return self.embed(Block("embed", {"url": url}))
        content = next((v for k in ("content", "body", "code") if isinstance(v := props.get(k), str)), None)
        if content is None:
            return []
        lines = [Block("code-line", {}, [Text([Leaf(t)])]) for t in content.split("\n")]
        if text_of(block.data, "integration") == "mermaid":
            return [Block("code", {"syntax": "mermaid"}, list(lines))]
        return [Block("code", {"title": text_of(block.data, "block") or ""}, list(lines))]

    def api_method(self, block: Block) -> Pieces:
        data = block.data
        method, path = text_of(data, "method"), text_of(data, "path")
        summary = text_of(data, "summary")
        head = _wrap("p", _wrap("strong", [summary])) if summary else []
        if method or path:
            head += self._endpoint(method, (text_of(data, "host") or "") + (path or ""))
        return _wrap("section", [*head, *self._set_aside(block.nodes)], class_="api-method")

    def api_part(self, block: Block) -> Pieces:
        data = block.data
        title = next((v for k in ("name", "status") if (v := text_of(data, k))), None)
        facts = " · ".join(v for k in ("in", "type", "description") if (v := text_of(data, k)))
        head: list[Piece] = []
        if title:
            head = _wrap("p", [*_wrap("code", [title]), " ", *_wrap("small", [facts])], class_="api-part")
        return [*head, *block.nodes]

    def unknown(self, block: Block) -> Pieces:
        text = inert_text(block)
        shown = _wrap("pre", [text], class_="raw", tabindex="0") if text else []
        inside = [*shown, *block.nodes]
        id = text_of(block.data, "id")
        return _wrap("div", inside, id=id) if id else inside

    # Tables.

    def table(self, block: Block) -> Pieces:
        view = object_of(block.data, "view")
        shown, records, cells = table_parts(block)
        if view.get("type") == "cards":
            return self._cards(view, shown, records, cells, block.data.get("fullWidth") is True)
        widths = object_of(view, "columnWidths")
        # A list of an API's models has these columns; a link to the anchor of one leads to its row.
        is_models = [name for name, _ in shown] == _MODELS
        is_tags = bool(shown) and shown[0][0] == _TAG
        self.operations = self.operations or is_models
        self.listing = self.listing or is_models or is_tags
        ids: set[str] = set()
        out: list[Piece] = []
        if widths:
            out.append(_tag("colgroup"))
            out += [_tag("col", width=_length(widths.get(name)) or None) for name, _ in shown]
            out.append(_end("colgroup"))
        merged, covered = merged_cells(block, [name for name, _ in shown], records)

        def spans(y: int, x: int) -> dict[str, int | None]:
            across, down = merged.get((y, x), (1, 1))
            return {"colspan": across if across > 1 else None, "rowspan": down if down > 1 else None}

        # An empty header row is omitted, and an empty header cell labels no column.
        titles = [(text_of(column, "title") or "").strip() for _, column in shown]
        if view.get("hideHeader") is not True and any(titles):
            heads = [
                p
                for x, (title, (_, column)) in enumerate(zip(titles, shown, strict=True))
                if (-1, x) not in covered
                for p in _wrap(
                    "th" if title else "td",
                    [title],
                    scope="col" if title else None,
                    class_=self._cell_class(column),
                    **spans(-1, x),
                )
            ]
            out += _wrap("thead", _wrap("tr", heads))
        out.append(_tag("tbody"))
        for y, record in enumerate(records):
            values = object_of(record, "values")
            id = (
                slug(plain_text(cells[values["model"]])) if is_models and values.get("model") in cells else ""
            )
            out.append(_tag("tr", id=id if id not in ids and id else None))
            ids.add(id)
            for x, (name, column) in enumerate(shown):
                if (y, x) in covered:
                    continue
                value = values.get(name)
                said = cells.get(value) if isinstance(value, str) else None
                out += _wrap(
                    "td",
                    self._cell(column, value, cells),
                    class_=self._cell_class(column),
                    dir=self._dir(said) if said is not None else None,
                    **spans(y, x),
                )
            out.append(_end("tr"))
        out.append(_end("tbody"))
        wide = block.data.get("fullWidth") is True and "wide"

        def enter() -> None:
            self._in_cells += 1

        def leave() -> None:
            self._in_cells -= 1

        return _wrap(
            "div",
            [enter, *_wrap("table", out, class_="sized" if widths else None), leave],
            class_=_classes(
                "table",
                len(shown) <= 2 and "pair",
                is_models and "openapi-models",
                is_tags and "openapi-tags",
                wide,
            ),
            role="region",
            tabindex="0",
            aria_label=self._name_of_table(),
        )

    def _name_of_table(self) -> str:
        """Return the accessible name of a table: the heading above it, numbered from the second table on."""
        name = self._section or self.labels.table
        self._tables[name] += 1
        return name if self._tables[name] == 1 else f"{name} {self._tables[name]}"

    def _cell_class(self, column: Data) -> str | None:
        align = _ALIGNED.get(text_of(column, "textAlignment") or "")
        if column.get("type") == "number":
            align = "end"
        vertical = one_of(column.get("verticalAlignment"), ("middle", "bottom"))
        return _classes(
            align and f"align-{align}",
            vertical and f"at-{vertical}",
            column.get("type") == "number" and "number",
        )

    def _cell(self, column: Data, value: object, cells: dict[str, Fragment]) -> list[Piece]:
        kind = column.get("type")
        if value is None:
            return []
        if isinstance(value, str) and value in cells:
            return list(only_paragraph(cells[value].nodes))
        if kind == "checkbox":
            state = self.labels.done if value is True else self.labels.open
            return [_tag("input", type="checkbox", disabled=True, checked=value is True, aria_label=state)]
        if kind == "rating":
            most = number_of(column.get("max"), 20) or 5
            stars = min(number_of(value, 1000) or 0, most)
            return _wrap(
                "span",
                ["★" * stars, *_wrap("span", ["★" * (most - stars)], class_="off")],
                class_="rating",
                role="img",
                aria_label=f"{stars}/{most}",
            )
        if kind == "select":
            return self._options(column, value)
        if kind in ("files", "image"):
            return self._cell_files(value, kind == "image")
        if kind == "users":
            return self._people(value)
        if kind == "content-ref" and isinstance(value, dict):
            return list(self._reference(value, None))
        if isinstance(value, (bool, str, int, float)):
            return [str(value)]
        return []

    def _options(self, column: Data, value: object) -> list[Piece]:
        out: list[Piece] = []
        for label, color in chosen_options(column, value):
            out += _wrap("span", [label], class_=_classes("tag", color and f"b-{color} c-{color}"))
        return out

    def _cell_files(self, value: object, picture: bool) -> list[Piece]:
        out: list[Piece] = []
        for one in value if isinstance(value, list) else [value]:
            told = one if isinstance(one, dict) else {"kind": "url", "url": one}
            ref = _ref(told) or told
            if picture:
                shown = {"ref": ref, "alt": told.get("alt")}
                out += self._picture(shown, lazy=True, class_="cell-image", line=_ROW)
            else:
                asset = self._asset(ref)
                if asset is not None:
                    out += _wrap("a", [asset.name or asset.url], href=safe_url(asset.url), class_="cell-file")
        return out

    def _people(self, value: object) -> list[Piece]:
        out: list[Piece] = []
        for one in value if isinstance(value, list) else [value]:
            name: str | None = None
            if isinstance(one, dict):
                target = self.context.link(one)
                name = target.title if target else None
            elif isinstance(one, str):
                target = self.context.link({"kind": "user", "user": one})
                name = (target.title if target else None) or one
            if name:
                out += _wrap("span", [name], class_="tag")
        return out

    def _cards(
        self,
        view: Data,
        shown: list[tuple[str, Data]],
        records: list[Data],
        cells: dict[str, Fragment],
        wide: bool,
    ) -> list[Piece]:
        target_column, cover, cover_dark = (
            text_of(view, f) for f in ("targetDefinition", "coverDefinition", "coverDefinitionDark")
        )
        special = {target_column, cover, cover_dark}
        out: list[Piece] = []
        for record in records:
            values = object_of(record, "values")
            text = [(n, c) for n, c in shown if n not in special]
            lines: list[Piece] = []
            words: list[str] = []
            for name, column in text:
                inside = self._cell(column, values.get(name), cells)
                if not inside:
                    continue
                words.append(self._words_of(inside))
                title = text_of(column, "title")
                if title and column.get("type") != "text" and view.get("hideColumnTitle") is not True:
                    inside = [*_wrap("span", [title], class_="card-label"), *inside]
                lines += _wrap("div", inside, class_="card-line")
            picture = self._cover(values, cover, cover_dark)
            link: list[Piece] = []
            leads = values.get(target_column) if target_column else None
            if isinstance(leads, dict):
                target = self.context.link(leads)
                attributes = self._anchor(target)
                if attributes is not None and target is not None:
                    label = next((w for w in words if w), None) or target.title or target.href
                    link = _wrap("a", [], class_="card-link", aria_label=label, **attributes)
            out += _wrap(
                "div",
                [*link, *picture, *(_wrap("div", lines, class_="card-text") if lines else ())],
                class_=_classes("card", bool(link) and "links"),
                role="listitem",
            )
        size = "large" if view.get("cardSize") == "large" else None
        return _wrap("div", out, class_=_classes("cards", size, wide and "wide"), role="list")

    def _cover(self, values: Data, light: str | None, dark: str | None) -> list[Piece]:
        def told(name: str | None) -> Data | None:
            value = values.get(name) if name else None
            if isinstance(value, list):
                value = value[0] if value else None
            if isinstance(value, str):
                return {"ref": {"kind": "url", "url": value}}
            if not isinstance(value, dict):
                return None
            return value if "ref" in value else {"ref": value}

        first, second = told(light), told(dark)
        if first is None:
            return []
        fit = one_of(first.get("objectFit"), ("contain", "fill"))
        data = {**first, "refDark": second.get("ref") if second else None}
        picture = self._picture(data, lazy=True, class_="contain" if fit == "contain" else None)
        return _wrap("div", picture, class_="card-cover") if picture else []

    # Inlines.

    def link(self, node: Inline) -> Pieces:
        target = self._target(_ref(node.data))
        link = self._anchor(target)
        if link is None:
            return _wrap("span", node.nodes, class_="broken")
        id = text_of(node.data, "id")
        title = text_of(node.data, "title")
        # An image without alternative text would leave the link without a name.
        name = None if title or _has_words(node) else target and (target.title or target.href)
        return _wrap("a", node.nodes, title=title, id=id, aria_label=name, **link)

    def emoji(self, node: Inline) -> Pieces:
        character = emoji(node.data.get("code"))
        return _wrap("span", [character], class_="emoji") if character else []

    def icon_inline(self, node: Inline) -> Pieces:
        color = COLORS.get(text_of(node.data, "color") or "")
        svg = self.icon(node.data.get("icon"))
        return _wrap("span", svg, class_=f"c-{color}") if svg and color else svg

    def place(self, node: Inline) -> Pieces:
        """Render an HTML element without a meaning here: its id is kept if links point to it."""
        id = text_of(node.data, "id")
        return _wrap("span", [], id=id) if id else []

    def inline_math(self, node: Inline) -> Pieces:
        formula = text_of(node.data, "formula") or ""
        return [mathml(formula)] if mathml(formula) is not None else _wrap("code", [formula])  # type: ignore[list-item]

    def inline_image(self, node: Inline) -> Pieces:
        size = "line" if node.data.get("size") == "line" else "original"
        line = _LINE if size == "line" else None
        return self._picture(node.data, lazy=True, class_=f"image-{size}", line=line)

    def annotation(self, node: Inline) -> Pieces:
        return self._note_button(node, node.nodes)

    def _note_button(self, node: Inline, inside: Pieces) -> list[Piece]:
        body = next((f for f in node.fragments if f.nodes), None)
        if body is None:
            return list(inside)
        id = self._own_id("note")
        self._notes.append((id, body))
        words = list(inside)
        mark = words or _wrap("sup", [str(self._count)], class_="note-number")
        button = _wrap("button", mark, type="button", class_="noted", popovertarget=id)
        # A word joiner keeps the number on the same line as its word.
        return button if words else _wrap("span", ["\u2060", *button], class_="note-mark")

    def _note(self, id: str, body: Fragment) -> list[Piece]:
        # A popover opens, closes, and handles Escape without a script; on paper these become endnotes.
        return _wrap("aside", self._set_aside(body.nodes), id=id, class_="note", popover=True)

    def mention(self, node: Inline) -> Pieces:
        ref = _ref(node.data)
        return self._reference(ref, text_of(node.data, "label")) if ref is not None else []

    def _reference(self, ref: Data, label: str | None) -> Pieces:
        target = self.context.link(ref) or HtmlTarget()
        words = target.title or label or target.href or ""
        link = self._anchor(target)
        if not words:
            return []
        if target.user:
            return _wrap("span", ["@", words.lstrip("@")], class_="mention user")
        if link is None:
            return _wrap("span", [words], class_="mention broken")
        sign = self.icon(target.icon)
        if not sign and emoji(target.emoji):
            sign = _wrap("span", [emoji(target.emoji)], class_="icon", aria_hidden="true")
        return _wrap("a", [*sign, words], class_="mention", **link)

    def button(self, node: Inline) -> Pieces:
        data = node.data
        kind = one_of(data.get("kind"), ("primary", "secondary"), "primary")
        inside = [*self.icon(data.get("icon")), *_wrap("span", [text_of(data, "label") or ""])]
        action = one_of(data.get("action"), ("ask", "search"))
        if action is not None:
            query = text_of(data, "query") or ""
            # Where no assistant is available, search for the words instead.
            address = self.context.ask(query) if action == "ask" else None
            if address is None:
                action, address = "search", self.context.search(query)
            href = safe_url(address)
            if href is not None:
                return _wrap(
                    "a", inside, class_=f"button {kind}", href=href, data_action=action, data_query=query
                )
        link = self._anchor(self._target(_ref(data)))
        if link is None:
            return _wrap("span", inside, class_=f"button {kind} off", aria_disabled="true")
        return _wrap("a", inside, class_=f"button {kind}", **link)


_Draw = Callable[[_Renderer, Block], Pieces]
_BLOCKS: dict[str, _Draw] = {
    "paragraph": _Renderer.paragraph,
    "heading-1": _Renderer.heading,
    "heading-2": _Renderer.heading,
    "heading-3": _Renderer.heading,
    "list-ordered": _Renderer.list_ordered,
    "list-unordered": _Renderer.list_unordered,
    "list-tasks": _Renderer.list_tasks,
    "list-item": _Renderer.list_item,
    "divider": _Renderer.divider,
    "blockquote": _Renderer.quote,
    "hint": _Renderer.hint,
    "code": _Renderer.code,
    "math": _Renderer.math,
    "images": _Renderer.images,
    "image": _Renderer.image,
    "file": _Renderer.file,
    "drawing": _Renderer.drawing,
    "embed": _Renderer.embed,
    "content-ref": _Renderer.content_ref,
    "reusable-content": _Renderer.reusable_content,
    "expandable": _Renderer.expandable,
    "tabs": _Renderer.tabs,
    "stepper": _Renderer.stepper,
    "stepper-step": _Renderer.stepper_step,
    "columns": _Renderer.columns,
    "column": _Renderer.column,
    "table": _Renderer.table,
    "swagger": _Renderer.openapi,
    "openapi-operation": _Renderer.openapi,
    "openapi-schemas": _Renderer.openapi,
    "openapi-webhook": _Renderer.openapi,
    "openapi-try": _Renderer.openapi_try,
    "openapi-head": _Renderer.openapi_head,
    "openapi-block": _Renderer.openapi_block,
    "openapi-facts": _Renderer.openapi_facts,
    "openapi-columns": _Renderer.openapi_columns,
    "openapi-sample": _Renderer.openapi_sample,
    "openapi-examples": _Renderer.openapi_examples,
    "openapi-part": _Renderer.openapi_part,
    "openapi-limits": _Renderer.openapi_limits,
    "openapi-fold": _Renderer.openapi_fold,
    "openapi-listing": _Renderer.openapi_listing,
    "openapi-later": _Renderer.openapi_later,
    "openapi-values": _Renderer.openapi_values,
    "openapi-answer": _Renderer.openapi_answer,
    "openapi-rows": _Renderer.openapi_rows,
    "openapi-fields": _Renderer.openapi_fields,
    "openapi-field": _Renderer.openapi_field,
    "integration": _Renderer.integration,
    "updates": _Renderer.updates_list,
    "update": _Renderer.update,
    "prompt": _Renderer.prompt,
    "api-method": _Renderer.api_method,
    "api-part": _Renderer.api_part,
    "unknown": _Renderer.unknown,
}
_INLINES: dict[str, Callable[[_Renderer, Inline], Pieces]] = {
    "link": _Renderer.link,
    "emoji": _Renderer.emoji,
    "icon": _Renderer.icon_inline,
    "unknown": _Renderer.place,
    "inline-math": _Renderer.inline_math,
    "inline-image": _Renderer.inline_image,
    "annotation": _Renderer.annotation,
    "openapi-word": _Renderer.openapi_word,
    "openapi-scheme": _Renderer.openapi_scheme,
    "mention": _Renderer.mention,
    "button": _Renderer.button,
}


def _call_of(item: Block | Inline | Text) -> tuple[str, str, Inline] | None:
    """Return the method, path, and link of the operation that a list item links to: a link and, after or
    inside it, the call. None for any other item."""
    inside = only_paragraph(item.nodes) if isinstance(item, Block) and "checked" not in item.data else []
    nodes = [node for node in inside if not (isinstance(node, Text) and not plain_text(node).strip())]
    if len(nodes) not in (1, 2) or not isinstance(nodes[0], Inline) or nodes[0].type != "link":
        return None
    if isinstance(nodes[-1], Block):
        return None
    call = _CALL.fullmatch(plain_text(nodes[-1]).strip())
    if call is None:
        return None
    method, path, link = call[1], call[2], nodes[0]
    if plain_text(link).strip() in (path, f"{method} {path}"):
        link = Inline("link", link.data, [Text([Leaf(path)])])
    return method, path, link


def _call_at_end(words: Sequence[Block | Inline | Text]) -> tuple[str, str, Text] | None:
    """Return the method and path of the operation that a line is about, and the words before them: the line
    starts with a bold name and ends with the call. None for any other line."""
    leaves = [leaf for node in words if isinstance(node, Text) for leaf in node.leaves]
    if len(leaves) < 3 or not all(isinstance(node, Text) for node in words):
        return None
    marks = [{mark.type for mark in leaves[n].marks} for n in (0, -1)]
    call = _CALL.fullmatch(leaves[-1].text.strip()) if marks == [{"bold"}, {"code"}] else None
    return (call[1], call[2], Text(leaves[:-1])) if call is not None else None


def _shared(paths: Sequence[str]) -> str:
    """Return the prefix, of two or more segments, shared by the most paths and at least half of them; the
    longest of several. Empty if there is none."""
    counts = Counter(
        "/".join(parts[:length])
        for parts in (path.split("/") for path in paths)
        for length in range(3, min(len(parts), 10))
    )
    often = [path for path, count in counts.items() if 2 * count >= len(paths) > 3]
    return max(often, key=lambda path: (counts[path], len(path)), default="")
