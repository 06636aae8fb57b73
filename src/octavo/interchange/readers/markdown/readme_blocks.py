"""Convert syntax that is specific to ReadMe: JSON blocks between ``[block:x]`` and ``[/block]``, callouts that
start with an emoji, and adjacent code blocks as tabs."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from html import escape

from .blocks import Writer
from .lines import Line, fenced, quoted, trimmed, words

MAX_CELLS = 100_000
_BEGIN = re.compile(r"[ \t]*\[block:(?P<kind>[\w-]+)\][ \t]*(?P<rest>.*)$")
_END = "[/block]"
_SIGNS = {
    "📘": "info",
    "ℹ": "info",
    "👍": "success",
    "✅": "success",
    "🚧": "warning",
    "⚠": "warning",
    "❗": "danger",
    "🛑": "danger",
}
_EMBEDDED = re.compile(r"[ \t]*\[[^\[\]]*\]\(\s*<?(?P<url>https?:[^\s<>]+?)>?\s+[\"']@\w+[\"']\s*\)[ \t]*$")


def magic_block(writer: Writer, lines: list[Line], at: int) -> tuple[int, list[Line]] | None:
    """Convert the JSON block or the embed link that starts at a line; return None if there is neither."""
    text, number = lines[at]
    if found := _EMBEDDED.match(text):
        return at + 1, [(f"{{% embed url={quoted(found['url'])} %}}", number)]
    found = _BEGIN.match(text)
    if found is None or not writer.looked.take(0):
        return None
    end = at
    while end < len(lines) and _END not in lines[end][0]:
        end += 1
    if end >= len(lines):
        writer.looked.take(end - at)
        return None
    rows = [found["rest"], *(row for row, _ in lines[at + 1 : end + 1])] if end > at else [found["rest"]]
    written, _, rest = "\n".join(rows).partition(_END)
    try:
        # Manual edits may have added unnecessary escapes.
        data = json.loads(
            re.sub(r"\\(.)", lambda pair: pair[0] if pair[1] in '"\\/bfnrtu' else pair[1], written)
        )
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        writer.report(
            number, "unclear_markup", f"[block:{found['kind']}] can't be read; its source was kept as text"
        )
        made = fenced([(row, number) for row in written.strip("\n").split("\n")], "json", number)
    else:
        made = _made(writer, found["kind"], data, number)
    if made:
        made = [*made, ("", number)]
    if rest.strip():
        made += [(rest.strip(), lines[end][1])]
    return end + 1, made


def _lines(value: object, number: int) -> list[Line]:
    text = value if isinstance(value, str) else ""
    return (
        [(row, number) for row in text.replace("\r\n", "\n").strip("\n").split("\n")] if text.strip() else []
    )


def _said(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


def _made(writer: Writer, kind: str, data: Mapping[str, object], number: int) -> list[Line]:
    if kind == "code":
        return _codes(writer, data.get("codes"), number)
    if kind == "api-header":
        level = data.get("level")
        signs = "#" * (level if isinstance(level, int) and 1 <= level <= 6 else 2)
        title = writer.inline(_said(data.get("title")), number)
        return [(f"{signs} {title}", number)] if title else []
    if kind == "image":
        images = data.get("images")
        return [
            line
            for one in (images if isinstance(images, list) else [])
            for line in _image(writer, one, number)
        ]
    if kind == "callout":
        title = writer.inline(_said(data.get("title")), number)
        return writer.hint(
            _said(data.get("type")) or "info", title, writer.blocks(_lines(data.get("body"), number)), number
        )
    if kind == "parameters":
        return _parameters(writer, data, number)
    if kind == "embed" and (url := _said(data.get("url"))):
        return [(f"{{% embed url={quoted(url)} %}}", number)]
    if kind == "html":
        return html_lines(writer, data.get("html"), number)
    kept = _lines(data.get("text") or data.get("html") or data.get("body"), number)
    writer.report(
        number,
        "unknown_component",
        f"[block:{kind}] isn't supported; {'its contents were kept' if kept else 'it was skipped'}",
        kind,
    )
    return writer.blocks(kept)


def html_lines(writer: Writer, given: object, number: int) -> list[Line]:
    """Return HTML for pages to show unchanged, without its scripts and styles."""
    text = given if isinstance(given, str) else ""
    made, count = _RUNS.subn("", text)
    if count:
        writer.report(number, "script_left_out", "skipped: scripts aren't imported", "script")
    return writer.blocks(_lines(made, number))


_RUNS = re.compile(r"<(script|style)\b.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)


def _codes(writer: Writer, given: object, number: int) -> list[Line]:
    codes = [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []
    listings = [
        (_said(one.get("name")), _said(one.get("language")), _lines(one.get("code"), number)) for one in codes
    ]
    listings = [
        (name, "" if language == "text" else language, body) for name, language, body in listings if body
    ]
    if len(listings) == 1:
        name, language, body = listings[0]
        return fenced(body, language.partition("|")[0], number, name)
    return writer.tab_list(
        [
            (
                name or language.rpartition("|")[2] or f"Code {at + 1}",
                fenced(body, language.partition("|")[0], number),
                number,
            )
            for at, (name, language, body) in enumerate(listings)
        ],
        number,
    )


def _image(writer: Writer, given: object, number: int) -> list[Line]:
    one = given if isinstance(given, dict) else {}
    image = one.get("image")
    parts = image if isinstance(image, list) else [image]
    source = _said(parts[0]) if parts else ""
    if not source:
        return []
    caption = one.get("caption")
    alt = _said(one.get("alt")) or _said(parts[2] if len(parts) > 2 else "") or words(_said(caption))
    width = _said(one.get("sizing")).removesuffix("%").removesuffix("px")
    return [
        (
            figure(
                writer,
                source,
                alt,
                _said(caption),
                f"{width}%" if re.fullmatch(r"[1-9]\d?", width) else "",
                number,
            ),
            number,
        )
    ]


def as_html(text: str) -> str:
    """Return Markdown text as HTML for a table cell."""
    text = re.sub(r"<(?!/?(?:code|strong|em|a|br|i|kbd)\b)", "&lt;", text.replace("{%", "&#123;%"))
    text = re.sub(r"`([^`]+)`", lambda found: f"<code>{found[1]}</code>", text)
    text = re.sub(r"!\[([^\]]*)\]\([^()\s]*\)", r"\1", text)
    text = re.sub(r"\[([^\[\]]*)\]\(<?([^()\s<>]*)>?[^()]*\)", r'<a href="\2">\1</a>', text)
    text = re.sub(
        r"\*\*([^*]+)\*\*|(?<!\w)__([^_]+)__(?!\w)",
        lambda found: f"<strong>{found[1] or found[2]}</strong>",
        text,
    )
    return re.sub(r"(?<![\w*])[*_]([^*_]+)[*_](?![\w*])", r"<em>\1</em>", text)


def figure(writer: Writer, source: str, alt: str, caption: str, width: str, number: int) -> str:
    """Return an image with its caption, on one line."""
    shown = writer.place.link(source, number, shown=True)
    size = f' width="{width}"' if re.fullmatch(r"\d{1,5}%?", width) else ""
    made = f'<img src="{escape(shown)}" alt="{escape(alt)}"{size}>'
    if not caption:
        return made
    said = as_html(writer.inline(caption, number))
    return f"<figure>{made}<figcaption><p>{said}</p></figcaption></figure>"


def _parameters(writer: Writer, data: Mapping[str, object], number: int) -> list[Line]:
    cells = data.get("data")
    columns, rows = data.get("cols"), data.get("rows")
    if not (isinstance(cells, dict) and isinstance(columns, int) and isinstance(rows, int)):
        return []
    if columns < 1 or rows < 0 or columns * (rows + 1) > MAX_CELLS:
        return []
    table = [[cells.get(f"{row}-{column}") for column in range(columns)] for row in ("h", *range(rows))]
    return table_of(writer, [[one if isinstance(one, str) else "" for one in row] for row in table], number)


def table_of(writer: Writer, rows: list[list[str]], number: int) -> list[Line]:
    """Return a table whose cells contain Markdown. The first row is the header."""
    columns = max(map(len, rows), default=0)
    if not columns:
        return []
    made = []
    for row in rows:
        cells = [_cell(writer, text, number) for text in row] + [""] * (columns - len(row))
        made.append((f"| {' | '.join(cells)} |", number))
    return [made[0], ("|" + " --- |" * columns, number), *made[1:]]


def _cell(writer: Writer, text: str, number: int) -> str:
    rows = [row.strip() for row in text.replace("\r\n", "\n").strip().split("\n")]
    said = "<br>".join(writer.inline(row, number) for row in rows if row)
    return re.sub(r"(?<!\\)\|", r"\\|", said)


def sign_of(text: str) -> tuple[str, str] | None:
    """Return the kind and the title of a callout if this is the first line of one; None for an ordinary quote."""
    text = text.strip()
    if (
        not text
        or unicodedata.category(text[0]) not in ("So", "Po")
        or text[0].isascii()
        or ord(text[0]) < 0x2100
    ):
        return None
    rest = re.sub(r"^.[\ufe0e\ufe0f]?(?:\u200d.[\ufe0f]?)*[\U0001f3fb-\U0001f3ff]?[ \t]*", "", text)
    kind = _SIGNS.get(text[0])
    return (kind, rest) if kind else ("info", text if rest else "")


def side_by_side(writer: Writer, lines: list[Line], at: int) -> tuple[int, list[Line]] | None:
    """Return adjacent code blocks as tabs; None if there is only one code block."""
    opening = re.compile(r"(?P<fence>`{3,}|~{3,})(?P<info>[^`]*)$")
    end, count = at, 0
    while end < len(lines) and (found := opening.match(lines[end][0])):
        closing = re.compile(rf"{re.escape(found['fence'])}+[ \t]*$")
        close = end + 1
        while close < len(lines) and not closing.match(lines[close][0]):
            close += 1
        if close >= len(lines):
            break
        end, count = close + 1, count + 1
    return (end, writer.code_group(trimmed(lines[at:end]), lines[at][1])) if count > 1 else None
