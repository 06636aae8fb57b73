"""Render pieces, and the parts that all kinds of nodes share: references, images, and notes.

Pieces are kept on one stack, so a deeply nested document requires no recursion.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar
from unicodedata import bidirectional

from markupsafe import Markup

from .containing import DEFECTS, Failures
from .html_context import Asset, HtmlContext, HtmlTarget, OutlineHeading
from .html_pieces import (
    Piece,
    Pieces,
    breakable,
    class_names,
    element,
    escape,
    html_length,
    marked,
    open_tag,
    ref_of,
)
from .nodes import Block, Data, Fragment, Inline, Text, is_plain, plain_text, walk
from .parts import emoji, shown_words, text_of
from .urls import safe_url

_MARGIN = 40
"""Width in pixels of the margins next to the text on a narrow screen."""
_NARROW = 767
"""Maximum width in pixels of a narrow screen."""
_STRONG = {"L": 1, "R": -1, "AL": -1}


def _lean(text: str) -> int:
    """Return the number of left-to-right letters of a string minus the number of right-to-left letters."""
    if text.isascii():
        return sum(map(str.isalpha, text))
    return sum(_STRONG.get(bidirectional(sign), 0) for sign in text)


class Renderer:
    """Renderer of pieces. Subclasses have a function for each type of block and inline node."""

    blocks: ClassVar[Mapping[str, Callable[[Any, Block], Pieces]]]
    inlines: ClassVar[Mapping[str, Callable[[Any, Inline], Pieces]]]

    def __init__(self, context: HtmlContext, ids: Iterable[str]) -> None:
        self.context = context
        self.labels = context.labels
        self.failures = Failures("html")
        self.out: list[str] = []
        self.outline: list[OutlineHeading] = []
        self.updates = False
        self.diagrams = False
        self.filtered = False
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
        write, blocks, inlines = self.out.append, self.blocks, self.inlines
        while stack:
            piece = stack.pop()
            if type(piece) is Markup:
                write(piece)
                continue
            if isinstance(piece, str):
                write(escape(piece))
                continue
            try:
                if isinstance(piece, Text):
                    for leaf in piece.leaves:
                        in_cell = self._in_cells and any(mark.type == "code" for mark in leaf.marks)
                        text = breakable(leaf.text) if in_cell else escape(leaf.text)
                        if leaf.marks:
                            text = marked(leaf.marks, text)
                        write(text.replace("\n", "<br>"))
                elif isinstance(piece, Block):
                    draw = blocks.get(piece.type)
                    if draw is not None:
                        stack += [*draw(self, piece)][::-1]
                elif isinstance(piece, Inline):
                    draw_inline = inlines.get(piece.type)
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
                    stack += reversed(element("p", [plain_text(piece)]))
                elif isinstance(piece, Inline):
                    stack.append(plain_text(piece))

    def _set_aside(self, pieces: Pieces) -> list[Piece]:
        """Return the pieces, wrapped so that their headings don't appear in the outline."""

        def enter() -> None:
            self._aside += 1

        def leave() -> None:
            self._aside -= 1

        return [enter, *pieces, leave]

    def _own_id(self, prefix: str) -> str:
        """Return an unused ID that starts with ``prefix`` for an element that isn't a link target."""
        self._count += 1
        while f"{prefix}-{self._count}" in self._ids:
            self._count += 1
        return f"{prefix}-{self._count}"

    # Small parts.

    def icon(self, name: object, **attributes: object) -> list[Piece]:
        svg = self.context.icon(name) if isinstance(name, str) and name else None
        return element("span", [svg], class_="icon", aria_hidden="true", **attributes) if svg else []

    def _anchor(self, target: HtmlTarget | None, fallback: str = "") -> dict[str, object] | None:
        """Return the attributes of a link to a target, or None if there is no target."""
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
        """Render an image, or one image for each theme. ``line``: the height in pixels if the image is in a line of
        text."""
        light, dark = self._asset(ref_of(data)), self._asset(ref_of(data, "refDark"))
        if light is None:
            return []
        width, height = html_length(data.get("width")), html_length(data.get("height"))
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
                open_tag(
                    "img",
                    class_=class_names(class_, theme),
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
        """Return the ``sizes`` attribute, so that the browser knows the width before layout. The width in the attribute
        is never less than the actual width."""
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

    def _dir(self, *nodes: Block | Fragment) -> str | None:
        """Return the text direction of the contents if it differs from the page's direction. It is the direction of
        most of the letters, because a paragraph can start with a name in another script."""
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

    def _words_of(self, pieces: Pieces) -> str:
        return " ".join(
            shown_words(p) if not isinstance(p, Text) else plain_text(p)
            for p in pieces
            if isinstance(p, (Block, Inline, Text, Fragment))
        ).strip()

    def _note_button(self, node: Inline, inside: Pieces) -> list[Piece]:
        body = next((f for f in node.fragments if f.nodes), None)
        if body is None:
            return list(inside)
        id = self._own_id("note")
        self._notes.append((id, body))
        words = list(inside)
        mark = words or element("sup", [str(self._count)], class_="note-number")
        button = element("button", mark, type="button", class_="noted", popovertarget=id)
        # A word joiner keeps the number on the same line as its word.
        return button if words else element("span", ["\u2060", *button], class_="note-mark")

    def _note(self, id: str, body: Fragment) -> list[Piece]:
        # A popover opens, closes, and handles Escape without a script; on paper these become endnotes.
        return element("aside", self._set_aside(body.nodes), id=id, class_="note", popover=True)

    def _reference(self, ref: Data, label: str | None) -> Pieces:
        target = self.context.link(ref) or HtmlTarget()
        words = target.title or label or target.href or ""
        link = self._anchor(target)
        if not words:
            return []
        if target.user:
            return element("span", ["@", words.lstrip("@")], class_="mention user")
        if link is None:
            return element("span", [words], class_="mention broken")
        sign = self.icon(target.icon)
        if not sign and emoji(target.emoji):
            sign = element("span", [emoji(target.emoji)], class_="icon", aria_hidden="true")
        return element("a", [*sign, words], class_="mention", **link)
