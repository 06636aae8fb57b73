"""Convert Hugo shortcodes and Liquid tags to Octavo blocks and text. Unknown shortcodes and tags are reported and
skipped."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from html import escape, unescape
from urllib.parse import quote_plus

from ..formats.html import parse_html
from ..formats.html_pages import html_of_tree
from .blocks import MAX_NESTING, Writer
from .components import component_block, version_badge
from .containers import HINT_NAMES
from .hugo_templates import fill
from .inline import MAX_SEARCHED_LINES
from .lines import MAX_LINES, Line, attributes_of, dedented, fenced, quoted, trimmed, words
from .readme_blocks import as_html

_SHORT = re.compile(
    (
        r"\{\{(?P<kind>[<%])\s*(?P<close>/)?\s*(?P<name>\w[\w./-]*)(?P<rest>(?:[^\"`]|\"(?:[^\"\\]"
        r"|\\.)*\"|`[^`]*`)*?)(?P<empty>/)?\s*[>%]\}\}"
    ),
    re.DOTALL,
)
_IN_CODE = re.compile(r"\{\{[<%](?:(?!\{\{[<%]).)*?[>%]\}\}")
_TABS = frozenset(["tabs", "tabpane", "tabbed", "codetabs", "tab-group"])
_TAB = frozenset(["tab", "codetab", "tabitem"])
_DETAILS = frozenset(["details", "expand", "collapse", "accordion", "spoiler", "expandable"])
_PLAIN = frozenset(
    ["steps", "cards", "columns", "column", "raw", "rawhtml", "blocks/section", "div", "param", "center"]
)
_HINTS = HINT_NAMES | frozenset(["alert", "callout", "notice", "hint", "pageinfo", "box", "block"])

_BUILT_IN = (
    _TABS
    | _TAB
    | _DETAILS
    | _PLAIN
    | _HINTS
    | frozenset(
        "highlight mermaid comment ref relref figure img image imgproc youtube vimeo gist include "
        "readfile site-param children section "
        "section-list toc br icon anchor clear button card".split()
    )
)
_TAG = re.compile(r"<[a-zA-Z]")
_VERBATIM = re.compile(r"<(?:pre|textarea|script|style)\b", re.IGNORECASE)
_SIGN = re.compile("\ue0f0(\\d+)\ue0f1")
"""Pattern for the placeholders that stand for pieces of Markdown in HTML."""
_LAST = re.compile(
    r"(?P<lead>(?:[ \t]*(?:>|[*+-](?=[ ])|\d+[.)](?=[ ])))*[ \t]*)(?P<before>.*)\ue0f0(?P<sign>\d+)\ue0f1[ \t]*"
)
_BLOCK = re.compile(
    r"[ \t]*(?:[*+-][ ]|\d+[.)][ ]|`{3}|~{3}|[|>#]|\{%|<(?!/?(?:a|b|code|em|i|kbd|strong|img|br)\b))"
)
"""Pattern for the beginnings of lines that aren't paragraphs in Octavo Markdown."""


def _is_built_in(name: str) -> bool:
    return name.lower() in _BUILT_IN or "code" in name.lower() or version_badge(name, "x") is not None


_PARAMETER = re.compile(
    r"(?:(?P<name>[\w-]+)\s*=\s*)?(?:\"(?P<text>(?:[^\"\\]|\\.)*)\"|`(?P<raw>[^`]*)`|(?P<word>[^\s\"`]+))"
)


def _given(rest: str) -> tuple[dict[str, str], list[str]]:
    """Return the named parameters and the positional parameters of a shortcode."""
    named: dict[str, str] = {}
    placed: list[str] = []
    for found in _PARAMETER.finditer(rest):
        value = found["raw"] if found["raw"] is not None else found["word"]
        if found["text"] is not None:
            value = re.sub(r"\\([\"\\])", r"\1", found["text"])
        if found["name"]:
            named[found["name"]] = value
        else:
            placed.append(value)
    return named, placed


def _opening(lines: list[Line], at: int) -> tuple[re.Match[str], int, str] | None:
    """Return the shortcode that a line starts with, the last line of its tag, and the text after the tag on that
    line."""
    joined = lines[at][0]
    start = len(joined) - len(joined.lstrip())
    end_of_tag = at
    while (
        (found := _SHORT.match(joined, start)) is None
        and end_of_tag - at < 20
        and end_of_tag + 1 < len(lines)
        and joined.startswith("{{", start)
        and "}}" not in joined
    ):
        end_of_tag += 1
        joined += "\n" + lines[end_of_tag][0]
    return (found, end_of_tag, joined[found.end() :]) if found is not None else None


def shortcode_block(writer: Writer, lines: list[Line], at: int) -> tuple[int, list[Line]]:
    text, number = lines[at]
    opening = _opening(lines, at)
    if opening is None:
        return at, []
    found, end_of_tag, rest = opening
    start = len(text) - len(text.lstrip())
    name = found["name"]
    if found["close"]:
        return end_of_tag + 1, [(rest, number)] if rest.strip() else []
    lead = " " * start
    close = None if found["empty"] else _closing(writer, lines, end_of_tag, name, rest)
    if close is None:
        if rest.strip():
            return at, []
        return end_of_tag + 1, [
            (lead + row if row else row, number) for row in _alone(writer, found, number).split("\n")
        ]
    line, _, behind = close
    inside = _between(lines, end_of_tag, rest, close)
    tail = (rest if line == end_of_tag else lines[line][0])[behind:]
    if tail.strip() and line == at and not _is_built_in(name):
        return at, []  # The shortcode is inside a line of text.
    made = _paired(writer, found, dedented(inside), number)
    made = [(lead + row if row.strip() else row, n) for row, n in made]
    if made and at and lines[at - 1][0].strip():
        made.insert(0, ("", number))
    if made:
        made.append(("", made[-1][1]))
    if tail.strip() and line == at:
        made += writer.blocks([(tail.strip(), number)])
    elif tail.strip():
        lines[line] = (tail, lines[line][1])
        return line, made
    return line + 1, made


def _between(lines: list[Line], first: int, rest: str, close: tuple[int, int, int]) -> list[Line]:
    """Return the lines between the tags of a shortcode. ``rest``: the text after the opening tag on the same line."""
    line, begin, _ = close
    if line == first:
        return [(rest[:begin], lines[line][1])] if rest[:begin].strip() else []
    above = [(rest, lines[first][1])] if rest.strip() else []
    last = lines[line][0][:begin]
    return [*above, *lines[first + 1 : line], *([(last, lines[line][1])] if last.strip() else [])]


def _closing(
    writer: Writer, lines: list[Line], first: int, name: str, rest: str
) -> tuple[int, int, int] | None:
    depth = 1
    pattern = re.compile(
        r"\{\{[<%]\s*(/?)\s*" + re.escape(name) + r"(?=[\s>%/])(?:[^{}]|\{(?!\{))*?(/?)\s*[>%]\}\}"
    )
    for line in range(first, len(lines) if writer.looked.take(0) else first):
        text = rest if line == first else lines[line][0]
        for found in pattern.finditer(text):
            if found[1]:
                depth -= 1
                if depth == 0:
                    return line, found.start(), found.end()
            elif not found[2]:
                depth += 1
    writer.looked.take(len(lines) - first)
    return None


def _paired(writer: Writer, found: re.Match[str], inside: list[Line], number: int) -> list[Line]:
    name, (named, given) = found["name"], _given(found["rest"])
    kind = name.lower()
    if kind in ("highlight", "code"):
        return fenced(
            writer.code(inside), given[0] if given else named.get("lang", ""), number, named.get("title", "")
        )
    if kind == "mermaid":
        return fenced(writer.code(inside), "mermaid", number)
    if kind in _TABS:
        return _tab_list(writer, named, given, inside, number)
    if kind in _DETAILS:
        return writer.details(
            named.get("title", named.get("summary", given[0] if given else "Details")),
            writer.blocks(inside),
            number,
        )
    if kind in _HINTS:
        style = named.get(
            "type",
            named.get(
                "color",
                named.get(
                    "context", given[0] if given and kind in ("hint", "notice", "callout", "alert") else kind
                ),
            ),
        )
        title = named.get("title", given[1] if len(given) > 1 and kind == "notice" else "")
        return writer.hint(
            {"primary": "info", "orange": "warning", "red": "danger", "green": "success"}.get(style, style),
            writer.inline(title, number),
            writer.blocks(inside),
            number,
        )
    if kind in _PLAIN:
        if kind == "steps":
            return component_block(writer, "Steps", {}, inside, number) or []
        return writer.blocks(inside)
    if kind in ("comment",):
        return []
    if (since := version_badge(name, given[0] if given else named.get("version", ""))) is not None:
        return writer.hint("warning", since.strip("*"), writer.blocks(inside), number)
    if "code" in kind:
        # A custom shortcode of the site, which shows its contents.
        ending = named.get("file", "").partition(".")[2]
        language = named.get("lang", named.get("language", ending))
        inside = writer.code(inside)
        return fenced(inside, language or _data_language(inside), number, named.get("title", ""))
    made = _of_template(writer, found, inside, number)
    if made is not None:
        return made
    writer.report(
        number, "unknown_shortcode", f"the shortcode {name} isn't supported; its contents were kept", name
    )
    return writer.blocks(inside)


# --- templates of the site -----------------------------------------------------------------------------


def _of_template(
    writer: Writer, found: re.Match[str], inside: list[Line] | None, number: int
) -> list[Line] | None:
    """Return the output of the site's own template for a shortcode with these lines between its tags; None if no
    template can be filled in."""
    template = _template(writer, found, number)
    given = _given(found["rest"])
    plain = fill(template, *given) if template is not None else None
    if template is None or plain is None:
        return None
    if found["kind"] == "%" and not _TAG.search(template):
        # It is Markdown, like the text between the tags.
        whole = fill(template, *given, "\n".join(text for text, _ in inside or []))
        return writer.blocks([(row, number) for row in (whole or "").strip("\n").split("\n")])
    pieces = _Pieces(writer)
    within = pieces.html_of(inside or [])
    if inside and not pieces.has_templates and not _is_visible(plain):
        # The shortcode only styles its content.
        return writer.blocks(inside)
    if inside and _VERBATIM.search(template):
        within = escape("\n".join(text for text, _ in inside or []))
    whole = fill(template, *given, within, partial(pieces.rendered, number=number))
    if whole is None or pieces.count(whole) > MAX_LINES:
        # A page that grows too large isn't retried.
        writer.looked.take(MAX_SEARCHED_LINES)
        return None
    return pieces.blocks_of(whole, number)


def _template(writer: Writer, found: re.Match[str], number: int) -> str | None:
    if not re.fullmatch(r"[\w-]+", found["name"]):
        return None
    there = writer.place.include(f"/layouts/shortcodes/{found['name']}.html", number)
    return there[1] if there is not None else None


class _Pieces:
    """HTML of templates, with placeholders for pieces of Markdown. The pieces are converted separately, and replace
    their placeholders after the HTML has been converted to Markdown. ``has_templates``: whether part of the HTML
    comes from templates."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.made: list[list[Line]] = []
        self.has_templates = False

    def put(self, lines: list[Line]) -> str:
        self.made.append(trimmed(lines))
        return f"\ue0f0{len(self.made) - 1}\ue0f1"

    def count(self, html: str) -> int:
        """Return the number of lines of Markdown that the placeholders in the HTML represent."""
        return sum(len(self.made[int(found[1])]) for found in _SIGN.finditer(html))

    def rendered(self, markdown: str, number: int) -> str:
        """Return the HTML of a template's Markdown."""
        if _SIGN.search(markdown) or not markdown.strip():
            return markdown
        return self.put(self.writer.blocks([(row, number) for row in unescape(markdown).split("\n")]))

    def html_of(self, lines: list[Line]) -> str:
        """Return the content between the tags of a shortcode as HTML. The site's own shortcodes are filled in, and
        all other content is represented by placeholders."""
        if self.writer.depth >= MAX_NESTING:
            return self.put(lines)
        self.writer.depth += 1
        try:
            return self._html_of(lines)
        finally:
            self.writer.depth -= 1

    def _html_of(self, lines: list[Line]) -> str:
        made: list[str] = []
        waiting: list[Line] = []
        at = 0
        lines = list(lines)

        def take() -> None:
            if any(text.strip() for text, _ in waiting):
                made.append(self.put(self.writer.blocks(dedented(waiting))))
            waiting.clear()

        while at < len(lines):
            opening = _opening(lines, at)
            if opening is None or opening[0]["close"]:
                waiting.append(lines[at])
                at += 1
                continue
            found, end_of_tag, rest = opening
            close = None
            if not found["empty"]:
                close = _closing(self.writer, lines, end_of_tag, found["name"], rest)
            last = end_of_tag if close is None else close[0]
            template = self._html_template(found, lines[at][1])
            if template is None:
                waiting += lines[at : last + 1]
                at = last + 1
                continue
            take()
            number, inner, behind = lines[at][1], "", rest
            if close is not None:
                behind = (rest if last == end_of_tag else lines[last][0])[close[2] :]
                inner = self.html_of(_between(lines, end_of_tag, rest, close))
            filled = fill(template, *_given(found["rest"]), inner, partial(self.rendered, number=number))
            self.has_templates = True
            made.append(inner if filled is None else filled)
            if behind.strip():
                lines[last] = (behind, lines[last][1])
            at = last if behind.strip() else last + 1
        take()
        return "\n".join(made)

    def _html_template(self, found: re.Match[str], number: int) -> str | None:
        """Return the output of the site's own template for a shortcode; None if the template can't be filled in or
        its output isn't HTML."""
        if _is_built_in(found["name"]):
            return None
        template = _template(self.writer, found, number)
        if template is None or (found["kind"] == "%" and not _TAG.search(template)):
            return None
        return template if fill(template, *_given(found["rest"])) is not None else None

    def blocks_of(self, html: str, number: int) -> list[Line]:
        """Convert HTML with placeholders to lines of Octavo Markdown."""
        if re.search(r"<script\b", html, re.IGNORECASE):
            self.writer.report(number, "script_left_out", "skipped: scripts aren't imported", "script")
        if not _is_visible(html):
            return []
        page = parse_html(f"<html><body><main><h1>-</h1>{html}</main></body></html>")
        rows = html_of_tree(page, self.writer.place, "-").partition("\n")[2].strip("\n").split("\n")
        return [line for row in rows for line in self._filled(row, number)]

    def _filled(self, row: str, number: int) -> list[Line]:
        found = _SIGN.search(row)
        if found is None:
            return [(row, number)]
        is_html, is_row = row.lstrip().startswith("<"), row.lstrip().startswith("|")

        def words_of(sign: re.Match[str]) -> str:
            said = [text.strip() for text, _ in self.made[int(sign[1])] if text.strip()]
            if re.search(r"=\"[^\"<>]*$", row[: sign.start()]) and is_html:
                return escape(words(" ".join(said)))
            if is_row:
                return re.sub(r"(?<!\\)\|", r"\\|", "<br>".join(said))
            return as_html(" ".join(said)) if is_html else " ".join(said)

        if (lead := _LAST.fullmatch(row)) and not lead["before"].startswith(("#", "|", "<")):
            return self._lines_after(
                lead["lead"], _SIGN.sub(words_of, lead["before"]), self.made[int(lead["sign"])], number
            )
        return [(_SIGN.sub(words_of, row), number)]

    def _lines_after(self, lead: str, before: str, lines: list[Line], number: int) -> list[Line]:
        """Return lines of Octavo Markdown that follow the start of a line. ``lead``: the markers of the surrounding
        quotes and lists."""
        below = re.sub(r"[*+-](?=[ ])|\d+[.)](?=[ ])", lambda sign: " " * len(sign[0]), lead)
        if before and lines and _BLOCK.match(lines[0][0]):
            lines = [(before.rstrip(), number), ("", number), *lines]
        elif lines:
            lines = [(before + lines[0][0], lines[0][1]), *lines[1:]]
        else:
            lines = [(before, number)]
        return [
            (((lead if at == 0 else below) + text).rstrip() if text or ">" in below else "", line)
            for at, (text, line) in enumerate(lines)
        ]


def _is_visible(html: str) -> bool:
    """Return whether HTML is visible, or changes the meaning of its contents."""
    return bool(re.sub(r"<[^<>]*>|\s", "", html)) or bool(
        re.search(r"<(?:img|video|audio|iframe|ul|ol|li|table|tr|td|pre|details|blockquote|a|button)\b", html)
    )


def _data_language(lines: list[Line]) -> str:
    """Return the language of a code block if it is a data format; otherwise, return an empty string."""
    first = next((text.strip() for text, _ in lines if text.strip()), "")
    if first.startswith("{"):
        return "json"
    if re.match(r"\[[\w.\[\]-]+\]$|[\w.-]+[ ]*=", first):
        return "toml"
    return "yaml" if re.match(r"[\w.-]+:(?:[ ]|$)|- |---$", first) else ""


def _tab_list(
    writer: Writer, named: dict[str, str], given: list[str], inside: list[Line], number: int
) -> list[Line]:
    titles = [title.strip() for title in named.get("items", "").split(",")] if named.get("items") else []
    items: list[tuple[str, list[Line], int]] = []
    at = 0
    inside = list(inside)
    while at < len(inside):
        found = _SHORT.match(inside[at][0].strip())
        if found and found["name"].lower() in _TAB and not found["close"]:
            rest = inside[at][0].strip()[found.end() :]
            close = _closing(writer, inside, at, found["name"], rest)
            more, other = _given(found["rest"])
            title = more.get("header", more.get("name", more.get("title", other[0] if other else "")))
            title = title or (titles[len(items)] if len(items) < len(titles) else f"Tab {len(items) + 1}")
            if close is not None:
                line, _, behind = close
                body = _between(inside, at, rest, close)
                tail = (rest if line == at else inside[line][0])[behind:]
                if (language := more.get("lang")) and not any("```" in text for text, _ in body):
                    items.append(
                        (
                            title or language,
                            fenced(writer.code(dedented(body)), language, inside[at][1]),
                            inside[at][1],
                        )
                    )
                else:
                    items.append((title, writer.blocks(dedented(body)), inside[at][1]))
                at = line
                if tail.strip():
                    # Another shortcode starts on the same line.
                    inside[at] = (tail, inside[at][1])
                    continue
        at += 1
    return writer.tab_list(items, number) or writer.blocks(inside)


def _alone(writer: Writer, found: re.Match[str], number: int) -> str:
    name, (named, given) = found["name"], _given(found["rest"])
    kind = name.lower()
    first = given[0] if given else ""
    if kind in ("ref", "relref"):
        wanted = named.get("path", first)
        tongue = named.get("lang", "")
        return (
            writer.place.in_language(wanted, tongue, number) if tongue else writer.place.link(wanted, number)
        )
    if kind in ("figure", "img", "image", "imgproc"):
        source = named.get("src", first)
        caption = named.get("caption", named.get("title", ""))
        width = f' width="{named["width"]}"' if named.get("width", "").isdecimal() else ""
        shown = (
            f'<img src="{writer.place.link(source, number, shown=True)}" alt="{named.get("alt", "")}"{width}>'
        )
        return f"<figure>{shown}<figcaption><p>{caption}</p></figcaption></figure>" if caption else shown
    if kind in ("youtube", "vimeo"):
        code = named.get("id", first)
        site = "https://www.youtube.com/watch?v=" if kind == "youtube" else "https://vimeo.com/"
        return f"{{% embed url={quoted(f'{site}{code}')} %}}"
    if kind == "gist" and len(given) > 1:
        return f"{{% embed url={quoted(f'https://gist.github.com/{given[0]}/{given[1]}')} %}}"
    if kind in ("include", "readfile"):
        return "\n".join(text for text, _ in writer.included(named.get("file", first), number))
    if kind in ("param", "site-param"):
        if (value := writer.place.value(first)) is not None:
            return value
    elif kind in ("children", "section", "section-list"):
        return "\n".join(f"* [{title}]({href})" for href, title in writer.place.below())
    elif kind in ("toc", "br", "icon", "anchor", "clear"):
        return f'<a id="{first}"></a>' if kind == "anchor" else ""
    elif kind in ("button", "card"):
        href, title = (
            named.get("href", named.get("link", first)),
            named.get("title", named.get("text", first)),
        )
        return f"[{title}]({writer.place.link(href, number)})"
    if (since := version_badge(name, first or named.get("version", ""))) is not None:
        return since
    own = _of_template(writer, found, None, number)
    if own is not None:
        return "\n".join(text for text, _ in own)
    writer.report(number, "unknown_shortcode", f"the shortcode {name} isn't supported; it was skipped", name)
    return ""


def shortcode_inline(writer: Writer, text: str, start: int, end: int, line: int) -> tuple[str, int]:
    """Return the replacement for an inline shortcode between two positions in a paragraph, and the position
    where the paragraph continues."""
    written = text[start:end]
    found = _SHORT.fullmatch(written)
    if found is None:
        return _unescaped(written), end
    if found["close"]:
        return "", end
    if not found["empty"] and not _is_built_in(found["name"]) and _template(writer, found, line):
        rows = [(row, line) for row in text[end:].split("\n")]
        if (close := _closing(writer, rows, 0, found["name"], rows[0][0])) is not None:
            inside = _between(rows, 0, rows[0][0], close)
            made = _of_template(writer, found, inside, line)
            if made is not None:
                behind = end + sum(len(row) + 1 for row, _ in rows[: close[0]]) + close[2]
                return "\n".join(text for text, _ in made), behind
    return _alone(writer, found, line), end


def shortcodes_in_code(writer: Writer, text: str, line: int) -> str:
    """Fill in the shortcodes in a line of code, as Hugo does before it reads Markdown.

    A shortcode whose result isn't a single line of plain text is left unchanged and reported."""

    def filled(piece: re.Match[str]) -> str:
        found = _SHORT.fullmatch(piece[0])
        if found is None:
            return _unescaped(piece[0])
        value = _plain_text(writer, found, line)
        if value is None:
            message = f"the shortcode {found['name']} in code was kept as text"
            writer.report(line, "unknown_shortcode", message, f"{found['name']} in code")
        return piece[0] if value is None else value

    return _IN_CODE.sub(filled, text) if "{{" in text else text


def _unescaped(written: str) -> str:
    """Return the displayed text of an escaped shortcode, which has comment markers inside its brackets."""
    if len(written) < 10 or (written[3:5], written[-5:-3]) != ("/*", "*/"):
        return written
    return f"{written[:3]} {written[5:-5].strip()} {written[-3:]}"


def _plain_text(writer: Writer, found: re.Match[str], line: int) -> str | None:
    """Return the result of a shortcode if it is a single line of plain text; otherwise, return None."""
    named, given = _given(found["rest"])
    if found["close"]:
        return None
    if found["name"].lower() in ("param", "site-param"):
        value = writer.place.value(given[0] if given else "")
    elif _is_built_in(found["name"]) or (template := _template(writer, found, line)) is None:
        return None
    else:
        value = fill(template, named, given)
        value = None if value is None or _TAG.search(value) else unescape(value).strip()
    # A fence or a line break in the text would end the code.
    return None if value is None or re.search(r"[`\n]|~~~", value) else value


# --- Liquid --------------------------------------------------------------------------------------------

_LIQUID = re.compile(r"\s*\{%-?\s*(?P<name>[\w-]+)\s*(?P<rest>.*?)\s*-?%\}(?P<more>.*)$")
_PAIRS = frozenset(
    [
        "highlight",
        "raw",
        "capture",
        "comment",
        "if",
        "unless",
        "for",
        "tabs",
        "tab",
        "note",
        "details",
        "case",
    ]
)


def liquid_block(writer: Writer, lines: list[Line], at: int) -> tuple[int, list[Line]]:
    text, number = lines[at]
    found = _LIQUID.match(text)
    if found is None:
        return at, []
    name, rest, more = found["name"], found["rest"], found["more"]
    if name not in _PAIRS:
        if more.strip() or name in ("link", "post_url", "include", "include_cached"):
            if name not in ("include", "include_cached"):
                return at, []
        return at + 1, _tag(writer, name, rest, number, alone=True)
    closing = re.compile(rf"\{{%-?\s*(?:end{re.escape(name)}|(?P<again>{re.escape(name)}\b))")
    depth, end = 1, at
    if (inner := closing.search(more)) and not inner["again"]:
        inside = [(more[: inner.start()], number)]
    else:
        end = at + 1
        while end < len(lines):
            if inner := closing.search(lines[end][0]):
                depth += 1 if inner["again"] and name != "raw" else -1 if not inner["again"] else 0
                if depth == 0:
                    break
            end += 1
        inside = lines[at + 1 : end]
    end = min(end + 1, len(lines))
    if name == "highlight":
        return end, fenced(inside, rest.split()[0] if rest else "", number)
    if name == "raw":
        return end, [(f"\\{row}" if row.lstrip().startswith("{%") else row, n) for row, n in inside]
    if name in ("comment", "capture"):
        return end, []
    if name in ("note", "details"):
        body = writer.blocks(inside)
        return end, writer.hint("note", "", body, number) if name == "note" else writer.details(
            rest.strip("\"'"), body, number
        )
    writer.report(
        number,
        "variable",
        f"{{% {name} %}} is computed when the site is built; its contents were kept",
        name,
    )
    kept = [row for row in inside if not re.match(r"\s*\{%-?\s*(?:else|elsif|when)\b", row[0])]
    return end, writer.blocks(dedented(kept))


def _tag(writer: Writer, name: str, rest: str, number: int, alone: bool = False) -> list[Line]:
    """Return the replacement for a Liquid tag. ``alone``: whether the tag is the only content on its line."""
    if name in ("include", "include_relative", "include_cached"):
        path = rest.split(maxsplit=1)[0] if rest else ""
        given = attributes_of(rest[len(path) :])
        if re.search(r"(?:alert|callout|note|warning|tip|important)\.html$", path) and (
            given.get("content") or given.get("text")
        ):
            kind = given.get("type", re.sub(r".*?(\w+)\.html$", r"\1", path))
            return writer.hint(
                kind, "", [(writer.inline(given.get("content") or given["text"], number), number)], number
            )
        if re.search(r"(?:image|figure|img)\.html$", path) and (
            source := given.get("file", given.get("src", given.get("url")))
        ):
            return [
                (
                    f"![{given.get('alt', given.get('caption', ''))}]({writer.place.link(source, number, shown=True)})",
                    number,
                )
            ]
        if path.endswith((".md", ".markdown")):
            return writer.included(path if name == "include_relative" else f"/_includes/{path}", number)
        if (text := _filled(writer, path, given, number)) is not None:
            return [(row, number) for row in text.split("\n")]
        if alone:
            return writer.included(path if name == "include_relative" else f"/_includes/{path}", number)
        writer.report(
            number, "unknown_shortcode", f"{{% include {path} %}} isn't supported; it was skipped", path
        )
        return []
    if name == "assign" and (said := re.match(r"([\w-]+)\s*=\s*(.+)$", rest)):
        value = _value(writer, said[2].strip())
        if value is not None:
            writer.assigned[said[1]] = value
        return []
    if name in ("assign", "else", "elsif", "when", "seo", "feed_meta", "toc", "endraw"):
        return []
    writer.report(number, "unknown_shortcode", f"{{% {name} %}} isn't supported; it was skipped", name)
    return []


_CONDITION = re.compile(
    r"\{%-?\s*(?P<what>if|unless)\s+include\.(?P<name>[\w-]+)\s*-?%\}(?P<then>(?:(?!\{%).)*)"
    r"(?:\{%-?\s*else\s*-?%\}(?P<other>(?:(?!\{%).)*))?\{%-?\s*end(?:if|unless)\s*-?%\}",
    re.DOTALL,
)
MAX_TEMPLATE = 5000
"""Maximum number of characters in an included template that is filled in. Longer templates usually compute values."""


def _filled(writer: Writer, path: str, given: dict[str, str], number: int) -> str | None:
    """Return the output of an included template if it only outputs its parameters; None for any other template."""
    found = writer.place.include(path, number)
    if found is None or len(found[1]) > MAX_TEMPLATE:
        return None
    text = re.sub(
        r"\{%-?\s*comment\s*-?%\}.*?\{%-?\s*endcomment\s*-?%\}", "", found[1], flags=re.DOTALL
    ).strip()

    def chosen(one: re.Match[str]) -> str:
        return (one["then"] if (one["name"] in given) == (one["what"] == "if") else one["other"]) or ""

    for _ in range(5):
        text = _CONDITION.sub(chosen, text)
    unknown = False

    def filled(one: re.Match[str]) -> str:
        nonlocal unknown
        name = one[1].partition("|")[0].strip()
        value = (
            given.get(name.removeprefix("include."), "")
            if name.startswith("include.")
            else _value(writer, one[1])
        )
        unknown = unknown or value is None
        return value or ""

    text = re.sub(r"\{\{-?\s*([^{}]*?)\s*-?\}\}", filled, text)
    return None if unknown or "{%" in text or "<script" in text else text


_HOSTS = frozenset(["site.baseurl", "site.url", "base_path", "site.github.url"])
"""Template values that are used as prefixes of URLs. In Octavo, these URLs are relative to the root of the space."""
_PARTS_OF = re.compile(r"(?:[^|\"']|\"[^\"]*\"|'[^']*')+")
_FILTERS: dict[str, Callable[[str, list[str]], str]] = {
    "upcase": lambda value, given: value.upper(),
    "downcase": lambda value, given: value.lower(),
    "capitalize": lambda value, given: value[:1].upper() + value[1:].lower(),
    "strip": lambda value, given: value.strip(),
    "lstrip": lambda value, given: value.lstrip(),
    "rstrip": lambda value, given: value.rstrip(),
    "append": lambda value, given: value + given[0],
    "prepend": lambda value, given: given[0] + value,
    "remove": lambda value, given: value.replace(given[0], ""),
    "replace": lambda value, given: value.replace(given[0], given[1]),
    "replace_first": lambda value, given: value.replace(given[0], given[1], 1),
    "remove_first": lambda value, given: value.replace(given[0], "", 1),
    "slugify": lambda value, given: re.sub(r"[^a-z0-9]+", "-", value.lower()).strip("-"),
    "strip_html": lambda value, given: re.sub(r"<[^<>]*>", "", value),
    "strip_newlines": lambda value, given: value.replace("\n", ""),
    "url_encode": lambda value, given: quote_plus(value),
    "default": lambda value, given: value or given[0],
    **dict.fromkeys(
        (
            "relative_url",
            "absolute_url",
            "escape",
            "escape_once",
            "xml_escape",
            "markdownify",
            "smartify",
            "normalize_whitespace",
            "cgi_escape",
            "uri_escape",
        ),
        lambda value, given: value,
    ),
}
MAX_VALUE = 10_000
"""Maximum number of characters in a filter's output. The maximum for its input is a tenth of this number."""


def _value(writer: Writer, said: str) -> str | None:
    """Return the value of a Liquid expression; None if the source doesn't determine it."""
    first, *filters = [part.strip() for part in _PARTS_OF.findall(said)] or [""]
    value = _named(writer, first)
    for one in filters:
        name, _, written = one.partition(":")
        given = [_named(writer, each.strip()) for each in _ARGUMENT.findall(written)]
        use = _FILTERS.get(name.strip())
        if value is None and name.strip() == "default" and given:
            value = given[0]
        if (
            value is None
            or use is None
            or len(value) > MAX_VALUE
            or any(each is None or len(each) > MAX_VALUE // 10 for each in given)
        ):
            return None
        try:
            value = use(value, [each for each in given if each is not None])
        except IndexError:
            return None
    return value


_ARGUMENT = re.compile(r"\"[^\"]*\"|'[^']*'|[\w.-]+")


def _named(writer: Writer, name: str) -> str | None:
    if inner := re.fullmatch(r"\"([^\"]*)\"|'([^']*)'", name):
        return inner[1] if inner[1] is not None else inner[2]
    if name in _HOSTS:
        return ""
    return writer.assigned[name] if name in writer.assigned else writer.place.value(name)


def liquid_inline(writer: Writer, found: re.Match[str], line: int) -> str:
    if (tag := found["liquid_tag"]) is not None:
        name, _, rest = tag.partition(" ")
        if name in ("link", "post_url"):
            return writer.place.link(("/" if name == "link" else "/_posts/") + rest.strip(), line)
        if name in ("raw", "endraw"):
            return ""
        made = _tag(writer, name, rest, line)
        # Within a line, a template contributes only its text.
        return re.sub(r"</?(?:span|small|div|p)\b[^<>]*>", "", " ".join(text for text, _ in made))
    value = found["value"]
    if (known := _value(writer, value)) is not None:
        return known
    writer.report(
        line,
        "variable",
        f"{found[0][:80]} is computed when the site is built, so it wasn't imported",
        value[:60],
    )
    return found[0]
