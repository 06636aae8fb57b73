"""Directives and roles in braces, as MyST has them, as blocks and words of ours."""

from __future__ import annotations

import re
from html import escape

from .markdown import HINT_NAMES, Line, Writer, fenced, trimmed, words

_OPTION = re.compile(r"[ \t]*:([\w-]+):[ \t]*(.*)$")
_TITLED = frozenset(["admonition", "topic", "deprecated", "versionadded", "versionchanged", "versionremoved"])
_SAID = {
    "versionadded": "Added in version", "versionchanged": "Changed in version", "deprecated": "Deprecated since version",
    "versionremoved": "Removed in version",
}  # fmt: skip


def directive_block(
    writer: Writer, name: str, argument: str, inside: list[Line], number: int
) -> list[Line] | None:
    """The lines of a directive; None for one that is no directive of ours at all."""
    options: dict[str, str] = {}
    at = 0
    if inside and inside[0][0].strip() == "---":
        end = next((n for n in range(1, len(inside)) if inside[n][0].strip() == "---"), 0)
        options = {
            key.strip(): value.strip() for key, _, value in (text.partition(":") for text, _ in inside[1:end])
        }
        at = end + 1 if end else 0
    while at < len(inside) and (found := _OPTION.match(inside[at][0])):
        options[found[1]] = found[2].strip()
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
        return writer.listing(argument, number, "", options.get("language", ""))
    if name in ("include", "mdinclude"):
        return writer.listing(argument, number) if "literal" in options else writer.included(argument, number)
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
        body = [(re.sub(r"(:{3,})\{(tab-item)\}", r"\1\2", text), n) for text, n in body]
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
    if name in (
        "grid",
        "grid-item",
        "card",
        "grid-item-card",
        "div",
        "rubric",
        "centered",
        "epigraph",
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
        if name in ("eval-rst", "raw"):
            writer.tell(number, "unknown_directive", f"{{{name}}} is not read in Markdown; left out", name)
        return []
    writer.tell(number, "unknown_directive", f"{{{name}}} means nothing here; what is in it is kept", name)
    return writer.blocks(body) if body and not name.startswith("auto") else []


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

    def told(row: list[str]) -> str:
        cells = [cell.replace("\n", " ").replace("|", "\\|").strip() for cell in row] + [""] * (
            widest - len(row)
        )
        return "| " + " | ".join(cells) + " |"

    return [
        *caption,
        (told(rows[0]), number),
        ("|" + " --- |" * widest, number),
        *((told(row), number) for row in rows[1:]),
    ]


def role_text(writer: Writer, name: str, text: str, line: int) -> str:
    """What a role says: a link where it names a place, else its words."""
    found = re.fullmatch(r"(.*?)\s*<([^<>]*)>", text, re.DOTALL)
    shown, target = (found[1], found[2]) if found else ("", text)
    kind = name.rpartition(":")[2]
    if kind in ("doc", "ref", "numref", "any", "term", "download"):
        if kind == "term":
            return shown or text
        href, title = writer.place.wiki(f"\0{kind}\0{target}", line)
        if kind == "download":
            href = writer.place.link(target, line, shown=True)
        return f"[{shown or title or target}]({href})" if href else shown or target
    if kind in ("kbd", "guilabel", "menuselection"):
        return f"<kbd>{text}</kbd>" if kind == "kbd" else f"**{text}**"
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
    # Names of code, of whatever language.
    target = target.lstrip("~!").rpartition(".")[2] if target.startswith("~") else target.lstrip("!")
    return f"`{shown or target}`"
