"""Helpers for lines and fragments of Markdown, used for all dialects."""

from __future__ import annotations

import re
from html import escape
from typing import NamedTuple

from octavo.core.document.anchors import slug
from octavo.core.document.page import front_of

Line = tuple[str, int]
"""Line of text, and its line number in the source, starting at 1."""
MAX_LINES = 50_000
"""Maximum number of lines on a page, including all files that it includes."""
MAX_INCLUDE = 2000
"""Maximum number of characters in a line that includes another file."""
FENCE = re.compile(
    r"(?P<lead>[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+|>[ \t]?)*)(?P<fence>`{3,}(?!.*`)|~{3,})(?P<info>.*)$"
)
LIST_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
SECTION = re.compile(r"--8<--[ \t]*\[[ \t]*(start|end)[ \t]*:[ \t]*([\w-]+)[ \t]*\]")
_BLOCK_NAME = re.compile(r"(?:^|[ \t]+)\^[A-Za-z0-9-]+[ \t]*$")
_MAGIC = re.compile(
    r"[ \t]*(?://|#|--|/\*|<!--"
    r"|\{/\*)[ \t]*(?:highlight-(?:next-line|start|end)"
    r"|prettier-ignore(?:-start|-end)?)[ \t]*(?:\*/\}?"
    r"|-->)?[ \t]*$"
)
_MARKED = re.compile(
    r"(?P<before>.*?)[ \t]*(?://|#|--|/\*|<!--|\{/\*|;"
    r"|%)[ \t]*\[!code[ \t]+(?:highlight|hl|focus|error|warning"
    r"|info|\+\+|--|word:[^\]\n]+)(?::\d+)?\][ \t]*(?:\*/\}?"
    r"|-->)?[ \t]*$"
)
_ATTRIBUTE = re.compile(
    r"([A-Za-z_:@][\w:.-]*)[ \t]*=[ \t]*(?:\"([^\"]*)\"|'([^']*)'|([^\s{}\"',]+))|([A-Za-z_][\w:.-]*)"
)
_FRONT = re.compile(
    r"\ufeff?(---|\+\+\+)[ \t]*\r?\n(?P<head>.*?)^(?:\1|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE
)
_LEAD = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+")


def split_front(text: str) -> tuple[str, int]:
    """Return the body of a file after its front matter, which can be in any format, and the number of the
    body's first line."""
    found = _front(text)
    if found is None:
        return text, 1
    return text[found.end() :], text.count("\n", 0, found.end()) + 1


def _front(text: str) -> re.Match[str] | None:
    found = _FRONT.match(text)
    return found if found is not None and (found[1] == "+++" or front_of(text)) else None


def front_text(text: str) -> tuple[str, str]:
    """Return the text of the front matter and its delimiter, or two empty strings if there is none."""
    found = _front(text)
    return (found["head"], found[1]) if found else ("", "")


def attributes_of(written: str) -> dict[str, str]:
    """Parse attributes such as ``title="x" open`` into a map. An attribute without a value has its name as the
    value."""
    return {
        found[1] or found[5]: next(
            (value for value in found.group(2, 3, 4) if value is not None), found[1] or found[5]
        )
        for found in _ATTRIBUTE.finditer(written)
    }


def quoted(text: str) -> str:
    """Quote a value for use as a tag attribute."""
    text = " ".join(text.replace("%}", "%").split())
    return f"'{text}'" if '"' in text and "'" not in text else '"{}"'.format(text.replace('"', "”"))


def words(text: str) -> str:
    """Return one line of Markdown as plain text, for example for tab titles."""
    text = re.sub(r"!?\[([^\[\]]*)\]\([^()]*\)", r"\1", text)
    text = re.sub(r":(?:material|fontawesome|octicons|simple)-[\w-]+:(?:\{[^{}]*\})?", "", text)
    text = re.sub(r"<[^<>]*>", "", text)
    return " ".join(re.sub(r"(?<!\\)[`*]+|\\(?=[!-/:-@\[-`{-~])", "", text).split())


def indented(lines: list[Line], by: str) -> list[Line]:
    return [(by + text if text.strip() else text, number) for text, number in lines] if by else lines


def dedented(lines: list[Line], by: int | None = None) -> list[Line]:
    """Return the lines without their common indentation. ``by``: the maximum number of columns to remove."""
    if by is None:
        by = min((indent_of(text) for text, _ in lines if text.strip()), default=0)
    return [(text[_columns(text, by) :], number) for text, number in lines]


def indent_of(text: str) -> int:
    return len(text.expandtabs(4)) - len(text.expandtabs(4).lstrip(" "))


def outdent(lines: list[Line], at: int, fence: str, by: int) -> None:
    """Remove up to ``by`` columns of indentation from the fenced code block that starts at a line."""
    begins = at
    while at < len(lines):
        text, number = lines[at]
        lines[at] = text[_columns(text, by) :], number
        if at > begins and re.match(rf"\s*{re.escape(fence)}[`~]*\s*$", text):
            return
        at += 1


def _columns(text: str, by: int) -> int:
    """Return the number of indentation characters that correspond to this many columns."""
    column = at = 0
    while at < len(text) and column < by and text[at] in " \t":
        column += 4 - column % 4 if text[at] == "\t" else 1
        at += 1
    return at


def trimmed(lines: list[Line]) -> list[Line]:
    start, end = 0, len(lines)
    while start < end and not lines[start][0].strip():
        start += 1
    while end > start and not lines[end - 1][0].strip():
        end -= 1
    return lines[start:end]


def fenced(
    lines: list[Line], language: str, number: int, title: str = "", numbers: bool = False
) -> list[Line]:
    """Return these lines as a fenced code block."""
    longest = max((len(found[0]) for text, _ in lines for found in re.finditer("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    made = [(fence + language, number), *lines, (fence, lines[-1][1] if lines else number)]
    if title or numbers:
        said = (f" title={quoted(title)}" if title else "") + (' lineNumbers="true"' if numbers else "")
        made = [(f"{{% code{said} %}}", number), *made, ("{% endcode %}", made[-1][1])]
    return made


def anchor(id: str) -> str:
    """Return the HTML of an anchor with this ID, which links can refer to."""
    return f'<a id="{escape(id)}"></a>'


def keep_text_column(row: str, text: str) -> str:
    """Return a line of a list with the original indentation of its text. Otherwise, removing a marker at the start
    of the text would leave the text indented so far that it becomes a code block."""
    lead = _LEAD.match(text)
    if lead is None or not row.startswith(lead[0]) or row == text:
        return row
    return lead[0] + row[lead.end() :].lstrip(" \t")


def label_id(name: str) -> str:
    """Return the ID for the location that has this label."""
    return re.sub(r"[^\w.+%~:-]+", "-", name.strip())[:200]


def pointed(href: str) -> str:
    return f"<{href}>" if " " in href or href.count("(") != href.count(")") else href


def key_name(name: str) -> str:
    name = name.strip("\"'")
    named = {"ctrl": "Ctrl", "cmd": "Cmd", "esc": "Esc", "del": "Del", "ins": "Ins"}
    return named.get(name, name.upper() if len(name) == 1 else " ".join(name.split("-")).capitalize())


def without_marks(lines: list[Line]) -> list[Line]:
    """Return the lines of a code block without the comments that highlight lines."""
    made: list[Line] = []
    for text, number in lines:
        if _MAGIC.match(text):
            continue
        if "[!code" in text and len(text) <= MAX_INCLUDE and (found := _MARKED.match(text)):
            if not found["before"].strip():
                continue  # The comment applied to the lines below it.
            text = found["before"]
        made.append((text.replace("[!!code", "[!code"), number))
    return made


def without_comments(lines: list[Line]) -> list[Line]:
    """Return lines without ``%%`` comments and without block IDs at the ends of lines, but leave code blocks
    unchanged."""
    made: list[Line] = []
    fence, began = "", -1
    for at, (text, number) in enumerate(lines):
        found = FENCE.match(text) if began < 0 else None
        if found and (not fence or (text.strip().startswith(fence) and not text.strip().strip(fence[0]))):
            fence = "" if fence else found["fence"]
        if fence:
            made.append((text, number))
            continue
        kept, rest = "", text
        while (sign := rest.find("%%")) >= 0:
            if began >= 0:
                began = -1
            elif (kept + rest[:sign]).count("`") % 2:
                kept += rest[: sign + 2]
            else:
                kept, began = kept + rest[:sign], at
            rest = rest[sign + 2 :]
        if began < 0:
            kept += rest
        made.append((_BLOCK_NAME.sub("", kept.rstrip() if kept != text else kept), number))
    # Without an end, it isn't a comment.
    return made if began < 0 else made[:began] + lines[began:]


MISSING_PART = '{path} doesn\'t contain "{part}"; the whole file is shown'


class IncludedPart(NamedTuple):
    """Rows of a file that an include selects. ``missing``: the text or name that the file doesn't contain, in which
    case all rows are included; otherwise, empty."""

    rows: list[str]
    missing: str = ""


def cut_section(rows: list[str], section: str) -> IncludedPart:
    """Return the rows that ``section`` selects: a named section or region, the content below the heading with this
    ID, or a range of lines."""
    if not section:
        return IncludedPart(rows)
    if found := re.fullmatch(r"(\d*)(?::(\d*))?", section):
        return IncludedPart(rows[max(int(found[1] or 1) - 1, 0) : int(found[2]) if found[2] else len(rows)])
    marks = {(match[1], match[2]): at for at, row in enumerate(rows) for match in SECTION.finditer(row)}
    start = marks.get(("start", section))
    if start is not None:
        return IncludedPart(rows[start + 1 : marks.get(("end", section), len(rows))])
    region = cut_region(rows, section)
    return _below_heading(rows, section) if region.missing else region


def cut_region(rows: list[str], name: str) -> IncludedPart:
    """Return the rows between the comments that mark a region."""
    marks = [
        at
        for at, row in enumerate(rows)
        if "region" in row and re.search(rf"#(?:end)?region\b.*\b{re.escape(name)}\b", row)
    ]
    return IncludedPart(rows[marks[0] + 1 : marks[1]]) if len(marks) > 1 else IncludedPart(rows, name)


def _below_heading(rows: list[str], name: str) -> IncludedPart:
    level = 0
    start = len(rows)
    for at, row in enumerate(rows):
        found = re.match(r"(#{1,6})[ \t]+(.+?)[ \t]*$", row)
        if found and level and len(found[1]) <= level:
            return IncludedPart(rows[start:at])
        if found and not level and (row.endswith(f"{{#{name}}}") or slug(words(found[2])) == name):
            level, start = len(found[1]), at
    return IncludedPart(rows[start:]) if level else IncludedPart(rows, name)


def read_info(info: str, bare: bool = False) -> tuple[str, str, bool]:
    """Parse the text after a code fence into the language, a title, and whether lines are numbered. ``bare``:
    whether other words after the language are the title."""
    if not info:
        return "", "", False
    if info.startswith("{"):
        found = re.search(r"\.([\w+#-]+)", info)
        given = attributes_of(re.sub(r"\.[\w+#-]+", "", info.strip("{}")))
        return (
            (found[1] if found else ""),
            given.get("title", given.get("filename", "")),
            "linenums" in given or ".numberLines" in info,
        )
    found = re.match(r"[^\s{\[:,]+(?::(?!line-numbers)[^\s{\[]+)?", info)
    language = found[0] if found else ""
    rest = info[len(language) :]
    if rest.startswith(":line-numbers") or rest.startswith(","):
        return language, next(iter(re.findall(r"\[([^\]]+)\]", rest)), ""), "line-numbers" in rest
    numbers = bool(re.search(r"\b(?:showLineNumbers|lineNumbers|linenums|lines)\b", rest))
    named = re.search(
        r"\b(?:title|filename|name|label|file)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s}]+))", rest
    )
    title = next((value for value in named.groups() if value), "") if named else ""
    if not title and (boxed := re.search(r"\[([^\]]+)\]", rest)):
        title = boxed[1]
    if not title and bare:
        title = " ".join(
            re.sub(
                (
                    r"\{[^{}]*\}|\b[\w-]+=(?:\"[^\"]*\"|\S+)|\b(?:theme|wrap"
                    r"|lines|expandable|icon|showLineNumbers|live|twoslash)\b"
                ),
                "",
                rest,
            ).split()
        )
    return language, title, numbers
