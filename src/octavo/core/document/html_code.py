"""Code listings as HTML."""

from __future__ import annotations

from collections.abc import Callable

from markupsafe import Markup

from ..highlighting import Token, Tokens, language_name, token_rows
from .html_pieces import (
    Piece,
    Pieces,
    as_markup,
    class_names,
    close_tag,
    element,
    escape,
    marked,
    open_tag,
    token_tag,
    write_tokens,
)
from .html_renderer import Renderer
from .nodes import Block, Inline, Text
from .parts import line_text, number_of, text_of

_FEW_LINES = 10
_BREAK = '\n</span><span class="line">'


def _all_lines(source: str, tokens: list[Token] | None) -> str:
    """Return all lines of a listing in one pass over its tokens. The tokens aren't split into lines first, because few
    of them contain a line break."""
    made: dict[Token, str] = {}
    out = ['<span class="line">']
    for token in tokens if tokens is not None else [("", source)]:
        html = made.get(token)
        if html is None:
            kind, text = token
            parts = [escape(part) for part in text.split("\n")]
            if kind:
                parts = [f"{token_tag(kind)}{part}</span>" if part else "" for part in parts]
            html = made[token] = _BREAK.join(parts)
        out.append(html)
    return "".join([*out, "</span>"])


def _is_plain(line: Block) -> bool:
    """Return whether a line of a listing is only text, as nearly all lines are."""
    return not line.data and all(
        isinstance(node, Text) and not any(leaf.marks for leaf in node.leaves) for node in line.nodes
    )


class CodeRenderer(Renderer):
    """Renderer of code listings."""

    def code(self, block: Block) -> Pieces:
        lines = [n for n in block.nodes if isinstance(n, Block)]
        return self._listing(block, len(lines), lambda syntax, shown: self._lines(lines, syntax, shown))

    def openapi_listing(self, block: Block) -> Pieces:
        """Render a listing with many lines, given as plain text instead of nodes."""
        source = text_of(block.data, "source") or ""

        def body(syntax: str, shown: int) -> list[Piece]:
            return [as_markup(_all_lines(source, self.context.highlight(source, syntax)))]

        return self._listing(block, source.count("\n") + 1, body)

    def _listing(self, block: Block, count: int, body_of: Callable[[str, int], list[Piece]]) -> Pieces:
        """Render a listing. ``body_of(syntax, shown)``: returns its lines. ``count``: the total number of
        lines."""
        data = block.data
        syntax, title = text_of(data, "syntax") or "", text_of(data, "title")
        few = number_of(data.get("collapsedLineCount")) or _FEW_LINES
        folds = data.get("expandable") is True and count > few
        numbered = data.get("lineNumbers") is True
        language = language_name(syntax)
        name = title or language
        copy = element(
            "button",
            [open_tag("span", class_="i i-copy", aria_hidden="true"), close_tag("span")],
            type="button",
            class_="copy",
            data_copy=True,
            data_done=self.labels.copied,
            aria_label=self.labels.copy,
            title=self.labels.copy,
        )
        bar: list[Piece] = []
        if title:
            bar = [*element("span", [title], class_="code-title")]
            if language:
                bar += element("span", [language], class_="code-language")
        elif language:
            bar = [*element("span", [language], class_="code-language")]
        body = body_of(syntax, few if folds else count)
        more: list[Piece] = []
        if folds:
            more = element(
                "button",
                [self.labels.show_more],
                type="button",
                class_="code-more",
                data_more=self.labels.show_more,
                data_less=self.labels.show_less,
                aria_expanded="false",
            )
        listing = [
            open_tag(
                "figure",
                class_=class_names(
                    "code",
                    bool(title) and "titled",
                    data.get("overflow") == "wrap" and "wrap",
                    numbered and "numbered",
                    numbered and count > 999 and "digits-4",
                    folds and "folds",
                    data.get("fullWidth") is True and "wide",
                ),
            ),
            *(element("figcaption", bar) if bar else ()),
            *copy,
            *element("pre", element("code", body), tabindex="0", aria_label=name or None),
            *more,
            close_tag("figure"),
        ]
        drawn_by = self.context.code_block(syntax) if syntax else None
        address = self.context.integration(drawn_by.data(block)) if drawn_by is not None else None
        if address is not None:
            return element("div", listing, class_="integration", data_block=address)
        if syntax.lower() != "mermaid":
            return listing
        self.diagrams = True
        return element("div", listing, class_="diagram")

    def _rows_of(self, texts: list[str], syntax: str) -> list[list[Token]]:
        tokens = self.context.highlight("\n".join(texts), syntax)
        return token_rows(tokens, texts) if tokens is not None else [[("", text)] for text in texts]

    def _lines(self, lines: list[Block], syntax: str, shown: int) -> list[Piece]:
        rows = self._rows_of([line_text(line) for line in lines], syntax)
        out: list[Piece] = []
        last = len(lines) - 1
        for number, (line, row) in enumerate(zip(lines, rows, strict=True)):
            if number < min(shown, last) and _is_plain(line):
                out.append(as_markup(f'<span class="line">{write_tokens(row)}\n</span>'))
                continue
            lit = line.data.get("highlighted") is True
            out.append(
                open_tag("span", class_=class_names("line", lit and "lit", number >= shown and "more"))
            )
            out.extend(self._line(line, row))
            # The line break is inside the line's element, so that a copied selection includes it and hidden
            # lines remove it.
            out.append(Markup("\n</span>") if number < last else Markup("</span>"))
        return out

    def _line(self, line: Block, row: list[Token]) -> list[Piece]:
        """Render one line. The highlighter's tokens and the text nodes are merged; each is split where the other
        ends."""
        tokens = Tokens(row)
        out: list[Piece] = []

        def text(node: Text) -> None:
            for leaf in node.leaves:
                for kind, part in tokens.take(len(leaf.text)):
                    # GitBook uses bold to mark important code; other marks keep their meaning.
                    marks = [m for m in leaf.marks if m.type not in ("code", "keyboard")]
                    out.append(as_markup(marked(marks, write_tokens([(kind, part)]))))

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
