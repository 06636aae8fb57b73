"""Directives and roles in braces, as in MyST, converted to Octavo blocks and text."""

from __future__ import annotations

import re
from html import escape

from octavo.core.icons import icon, is_free

from ..names import OUTSIDE, code_name
from .blocks import Writer
from .components import button, card_table, paragraphs_of
from .containers import HINT_NAMES
from .lines import IncludedPart, Line, dedented, fenced, trimmed, words
from .readme_blocks import as_html

_OPTION = re.compile(r"[ \t]*:([\w-]+):[ \t]*(.*)$")
_QUOTED = re.compile(r"""(["'])(.*)\1""")
_TITLED = frozenset(["admonition", "topic", "deprecated", "versionadded", "versionchanged", "versionremoved"])
_SAID = {
    "versionadded": "Added in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
    "versionremoved": "Removed in version",
}


def directive_block(
    writer: Writer, name: str, argument: str, inside: list[Line], number: int
) -> list[Line] | None:
    """Return the lines for a directive; None if the directive is unknown."""
    options: dict[str, str] = {}
    at = 0
    if inside and inside[0][0].strip() == "---":
        end = next((n for n in range(1, len(inside)) if inside[n][0].strip() == "---"), 0)
        options = {
            key.strip(): _scalar(value)
            for key, _, value in (text.partition(":") for text, _ in inside[1:end])
        }
        at = end + 1 if end else 0
    while at < len(inside) and (found := _OPTION.match(inside[at][0])):
        options[found[1]] = _scalar(found[2])
        at += 1
    body = trimmed(inside[at:])
    argument = argument.strip()
    name = name.lower()
    if name in (
        "code-block",
        "code",
        "sourcecode",
        "code-cell",
        "parsed-literal",
        "doctest",
        "prompt",
        "highlight",
    ):
        language = argument if argument != "none" else ""
        title = options.get("caption", options.get("filename", ""))
        return fenced(body, language, number, words(title), "linenos" in options)
    if name == "literalinclude":
        title = options.get("caption", "")
        return writer.listing(
            argument,
            number,
            f"[{words(title)}]" if title else "",
            options.get("language", ""),
            lambda rows: part_of(rows, options),
        )
    if name in ("include", "mdinclude"):
        if "literal" in options:
            return writer.listing(argument, number)
        return writer.included(argument, number, part=lambda rows: part_of(rows, options))
    if name in ("image", "figure"):
        source = writer.place.link(argument, number, shown=True)
        alt = options.get("alt", "")
        width = options.get("width", "").removesuffix("px")
        size = f' width="{width}"' if re.fullmatch(r"\d+%?", width) else ""
        shown = f'<img src="{source}" alt="{escape(words(alt))}"{size}>'
        if name == "figure":
            caption = " ".join(text.strip() for text, _ in body)
            shown = f"<figure>{shown}<figcaption><p>{escape(words(caption))}</p></figcaption></figure>"
        anchor = [(f'<a id="{options["name"]}"></a>', number), ("", number)] if options.get("name") else []
        return [*anchor, (shown, number)]
    if name in ("tab-set", "tabs"):
        return writer.container_tabs(body, number) or writer.blocks(body)
    if name in ("dropdown", "toggle", "collapse"):
        return writer.details(argument or "Details", writer.blocks(body), number, "open" in options)
    if name == "math":
        return [("$$", number), *([(argument, number)] if argument else []), *body, ("$$", number)]
    if name == "mermaid":
        return fenced(body, "mermaid", number)
    if name == "seealso" or name in HINT_NAMES:
        title = argument if name in _TITLED else ""
        if name in _SAID:
            version, _, more = argument.partition(" ")
            title = f"{_SAID[name]} {version}"
            body = [(more, number), *body] if more else body
        elif argument and not title:
            body = [(argument, number), ("", number), *body]
        kind = next(
            (one for one in options.get("class", "").split() if one in HINT_NAMES),
            "info" if name in _TITLED else name,
        )
        return writer.hint(kind, writer.inline(title, number), writer.blocks(body), number)
    if name in ("list-table", "csv-table", "table"):
        return _table(writer, name, argument, options, body, number)
    if name in ("grid", "card-carousel") and (cards := _cards(writer, body)):
        return [(card_table(cards), number)]
    if name in ("card", "grid-item-card") and options.get("link"):
        return [(card_table([_card(writer, argument, options, body, number)]), number)]
    if name in ("button-ref", "button-link"):
        shown = " ".join(text.strip() for text, _ in body) or argument
        return [
            (button(writer.place, words(shown), _target_of(writer, argument, options, number), True), number)
        ]
    if name == "glossary":
        return _terms(writer, body)
    if name in ("epigraph", "pull-quote", "highlights"):
        return [(f"> {text}".rstrip(), line) for text, line in writer.blocks(body)]
    if name in (
        "grid",
        "grid-item",
        "card",
        "card-carousel",
        "grid-item-card",
        "div",
        "rubric",
        "centered",
        "only",
        "container",
        "margin",
        "sidebar",
    ):
        heading = (
            [(f"**{argument}**", number), ("", number)]
            if argument and name in ("card", "grid-item-card", "rubric", "centered", "sidebar")
            else []
        )
        return [*heading, *writer.blocks(body)]
    if name in (
        "toctree",
        "contents",
        "tableofcontents",
        "index",
        "currentmodule",
        "meta",
        "eval-rst",
        "raw",
        "module",
        "program",
    ):
        if name == "eval-rst":
            made = writer.place.embedded("\n".join(text for text, _ in body), number)
            if made is not None:
                return [(row, number) for row in made.split("\n") if made]
        if name in ("eval-rst", "raw") and body:
            writer.report(
                number, "unknown_directive", f"{{{name}}} isn't supported in Markdown; it was skipped", name
            )
        return []
    writer.report(number, "unknown_directive", f"{{{name}}} isn't supported; its contents were kept", name)
    return writer.blocks(body) if body and not name.startswith("auto") else []


def _scalar(text: str) -> str:
    """Return the value of an option, which MyST parses as YAML. Quotes around the value aren't part of it."""
    quoted = _QUOTED.fullmatch(text.strip())
    return quoted[2] if quoted else text.strip()


def part_of(rows: list[str], options: dict[str, str]) -> IncludedPart:
    """Return the rows of a file that the options of an include directive select."""
    if lines := options.get("lines"):
        made: list[str] = []
        for part in lines.split(",")[:1000]:
            if found := re.fullmatch(r"\s*(\d+)?\s*(-)?\s*(\d+)?\s*", part):
                first = int(found[1] or 1)
                made += rows[max(first - 1, 0) : int(found[3]) if found[3] else None if found[2] else first]
        rows = made
    all_rows = rows
    for option, behind in (("start-at", 0), ("start-after", 1), ("end-at", 1), ("end-before", 0)):
        if mark := options.get(option):
            at = next((n for n, row in enumerate(rows) if mark in row), None)
            if at is None:
                return IncludedPart(all_rows, mark)
            rows = rows[at + behind :] if option.startswith("start") else rows[: at + behind]
    return IncludedPart(rows)


def _target_of(writer: Writer, target: str, options: dict[str, str], number: int) -> str:
    kind = options.get("link-type", options.get("ref-type", "any"))
    if re.match(r"https?:|#", target):
        return target
    href, _ = writer.place.wiki(
        f"\0{'doc' if kind == 'doc' else 'any'}\0{target}", number, may_be_missing=True
    )
    return href if href and not href.startswith("\0") else writer.place.link(target, number)


def _card(
    writer: Writer, title: str, options: dict[str, str], body: list[Line], number: int
) -> tuple[str, str, str, str]:
    footer = next(
        (at for at, (text, _) in enumerate(body) if re.fullmatch(r"\+{3,}", text.strip())), len(body)
    )
    shown = [
        (writer.inline(text, line), line)
        for text, line in paragraphs_of([*body[:footer], ("", number), *body[footer + 1 :]])
    ]
    link = options.get("link", "")
    return (
        " ".join(re.sub(r"</?strong>", "", as_html(writer.inline(title, number))).split()),
        "<br>".join(as_html(text) for text, _ in shown),
        _target_of(writer, link, options, number) if link else "",
        writer.place.link(image, number, shown=True) if (image := options.get("img-top", "")) else "",
    )


def _cards(writer: Writer, body: list[Line]) -> list[tuple[str, str, str, str]]:
    """Return the cards of a grid; empty if the grid contains anything else."""
    made: list[tuple[str, str, str, str]] = []
    at = 0
    while at < len(body):
        text, number = body[at]
        if not text.strip():
            at += 1
            continue
        found = re.match(r"[ \t]*(?P<fence>:{3,}|`{3,})\{(?:grid-item-card|card)\}[ \t]*(?P<title>.*)$", text)
        if found is None:
            return []
        end = at + 1
        while end < len(body) and body[end][0].strip() != found["fence"]:
            end += 1
        inside, options = body[at + 1 : end], {}
        while inside and (said := _OPTION.match(inside[0][0])):
            options[said[1]] = _scalar(said[2])
            inside = inside[1:]
        if any(re.match(r"[ \t]*(?:`{3}|~{3}|:{3}|\||!\[)", row) for row, _ in inside):
            return []
        made.append(_card(writer, found["title"], options, trimmed(inside), number))
        at = end + 1
    return made


def _terms(writer: Writer, body: list[Line]) -> list[Line]:
    """Return terms with their definitions, which are indented below the terms."""
    made: list[Line] = []
    inside: list[Line] = []
    for text, line in [*body, ("end", 0)]:
        if text.strip() and not text[0].isspace():
            made += [*writer.blocks(dedented(inside)), ("", line)] if inside else []
            inside = []
            made += [(f"**{words(text)}**", line), ("", line)] if line else []
        else:
            inside.append((text, line))
    return made


def _table(
    writer: Writer, name: str, argument: str, options: dict[str, str], body: list[Line], number: int
) -> list[Line]:
    caption = [(f"**{argument}**", number), ("", number)] if argument else []
    if name == "table":
        return [*caption, *writer.blocks(body)]
    rows: list[list[str]] = []
    if name == "csv-table":
        import csv

        rows = [row for row in csv.reader((text for text, _ in body), skipinitialspace=True) if row]
        if header := options.get("header"):
            rows.insert(0, next(csv.reader([header], skipinitialspace=True)))
    else:
        for text, line in body:
            if found := re.match(r"[ \t]*[*-][ \t]+[*-](?:[ \t]+(.*))?$", text):
                rows.append([writer.inline(found[1] or "", line)])
            elif rows and (found := re.match(r"[ \t]+[*-](?:[ \t]+(.*))?$", text)):
                rows[-1].append(writer.inline(found[1] or "", line))
            elif rows and text.strip():
                rows[-1][-1] += " " + writer.inline(text.strip(), line)
    if not rows:
        return caption
    widest = max(map(len, rows))
    if name == "list-table" and not options.get("header-rows"):
        rows.insert(0, [""] * widest)

    def table_row(row: list[str]) -> str:
        cells = [cell.replace("\n", " ").replace("|", "\\|").strip() for cell in row] + [""] * (
            widest - len(row)
        )
        return "| " + " | ".join(cells) + " |"

    return [
        *caption,
        (table_row(rows[0]), number),
        ("|" + " --- |" * widest, number),
        *((table_row(row), number) for row in rows[1:]),
    ]


def role_text(writer: Writer, name: str, text: str, line: int) -> str:
    """Return the text for a role: a link if the role refers to a location; otherwise, plain text."""
    found = re.fullmatch(r"(.*?)\s*<([^<>]*)>", text, re.DOTALL)
    shown, target = (found[1], found[2]) if found else ("", text)
    kind = name.rpartition(":")[2]
    if kind in ("doc", "ref", "numref", "any", "term", "download"):
        if kind == "term":
            return shown or text
        if kind == "download":
            return f"[{shown or target}]({writer.place.link(target, line)})"
        href, title = writer.place.wiki(f"\0{kind}\0{target}", line)
        return f"[{shown or title or target}]({href})" if href else shown or target
    href, title = writer.place.wiki(f"\0{OUTSIDE}{name.lower()}\0{target}", line, may_be_missing=True)
    if re.match(r"https?:|mailto:", href):
        return (
            f"[{shown or title}]({href})"
            if re.fullmatch(r"[^\s()<>]+", href)
            else f"[{shown or title}](<{href}>)"
        )
    if kind in ("kbd", "guilabel", "menuselection"):
        said = text.replace("-->", "→").replace("&&", "\0").replace("&", "").replace("\0", "&")
        return f"<kbd>{text}</kbd>" if kind == "kbd" else f"**{said}**"
    if kind in ("octicon",) or kind.startswith("material-"):
        return ""
    if kind in ("fas", "fab", "far", "fa"):
        name = text.partition(";")[0].strip().removeprefix("fa-")
        return f'<i class="fa-{name}">:{name}:</i>' if is_free(name) and icon(name) else ""
    if kind in ("sub", "subscript"):
        return f"<sub>{text}</sub>"
    if kind in ("sup", "superscript"):
        return f"<sup>{text}</sup>"
    if kind == "math":
        return f"$${text}$$"
    if kind in ("abbr", "index", "dfn", "emphasis"):
        return shown or text
    if kind in ("strong", "command"):
        return f"**{shown or text}**"
    if kind in ("pep", "rfc"):
        number = target.partition("#")[0].strip()
        base = "https://peps.python.org/pep-" if kind == "pep" else "https://www.rfc-editor.org/rfc/rfc"
        return (
            f"[{shown or f'{kind.upper()} {number}'}]({base}{number.zfill(4) if kind == 'pep' else number})"
        )
    return f"`{shown or code_name(kind, target)}`"
