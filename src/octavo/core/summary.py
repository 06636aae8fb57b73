"""Read, write, and infer SUMMARY.md, the table of contents of a space in Git.

Any text can be read: lines that can't be understood become a ``Problem``, never an exception.
"""

from __future__ import annotations

import html
import posixpath
import re
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, Literal
from urllib.parse import quote, unquote

from msgspec import Struct, field
from msgspec.structs import replace

from octavo.core.json_types import JsonObject

from .alignment import align
from .problems import Problem
from .yaml_text import YamlError, read_yaml, write_yaml

SUMMARY_PATH = "SUMMARY.md"
DEFAULT_TITLE = "Table of contents"
MAX_CHARACTERS = 4 * 1024 * 1024
MAX_LINE = 2000
MAX_LEVELS = 32
MAX_PROBLEMS = 1000


class SummaryEntry(Struct, kw_only=True):
    """Line of the navigation.

    ``group``: a heading, only at the top level; ``slug`` is its fixed slug. ``page``: a file listed for the first time
    (``href`` is its path under the root, and ``anchor`` the part after ``#``), or only text (``href`` is ``None``).
    ``link``: a URL, or a file that was already listed. ``computed``: a page generated from the YAML map in
    ``computed``. ``line``: its first line, from 1. ``end``: its last line.
    """

    kind: Literal["group", "page", "link", "computed"]
    title: str = ""
    link_title: str | None = None
    href: str | None = None
    anchor: str | None = None
    slug: str | None = None
    computed: dict[str, Any] | None = None
    children: list[SummaryEntry] = field(default_factory=list)
    line: int = 0
    end: int = 0


class Summary(Struct, kw_only=True):
    """Table of contents. ``inferred``: whether there is no SUMMARY.md, in which case titles are derived from file
    names."""

    title: str = ""
    entries: list[SummaryEntry] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    inferred: bool = False


def walk_entries(entries: Iterable[SummaryEntry]) -> Iterator[SummaryEntry]:
    """Yield every entry, each before its children, in reading order."""
    for entry in entries:
        yield entry
        yield from walk_entries(entry.children)


# Reading

INVISIBLE = re.compile("[\u200b\u2060\ufeff]")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x7f\ud800-\udfff]")
_RULE = re.compile(r"\s*([-*_])(?:[ \t]*\1){2,}[ \t]*$")
_HEADING = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_ITEM = re.compile(r"([ \t]*)([*+-]|\d{1,9}[.)])(?:([ \t]+)(.*))?$", re.DOTALL)
_FENCE = re.compile(r"(`{3,}|~{3,})[^`]*$")
_PIN = re.compile(r"(?<!\s)\s*<a\s+[^<>]*?(?:id|name)=\"([^\"<>]*)\"[^<>]*>\s*</a>", re.IGNORECASE)
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_LINK_TITLE = re.compile(
    r"(?<![ \t])[ \t]+(?:\"((?:\\.|[^\"\\])*)\"|'((?:\\.|[^'\\])*)'|\(((?:\\.|[^()\\])*)\))[ \t]*\)",
    re.DOTALL,
)
_POINTED = re.compile(r"<((?:\\.|[^\\<>])*)>")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_CJK = "\u1100-\u11ff\u2e80-\u303f\u3041-\u9fff\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff01-\uffee"
# A letter next to asterisks makes them text, unless its script has no spaces between words.
_OPENS = re.compile(
    rf"(?:(?<![\\\w*])|(?<=[{_CJK}]))\*{{1,3}}+(?=[^\s*])"
    r"|(?<![\\\w])_{1,2}+(?=[^\s_])|(?<!\\)~~(?=\S)|(?<![\\`])`++"
)
_CLOSES = {
    mark: re.compile(form % re.escape(mark))
    for form, marks in (
        (rf"(?<=[^\s*\\])%s(?:(?![\w*])|(?=[{_CJK}]))", ("*", "**", "***")),
        (r"(?<=[^\s_\\])%s(?!\w)", ("_", "__")),
        (r"(?<=[^\s\\])%s", ("~~",)),
    )
    for mark in marks
}
_CLOSED = re.compile(r"\s*\)")
_BACKTICKS = re.compile("`++")
_FRONT_MATTER_LINE = re.compile(r"\s*$|\s*#|[\w.-]+[ \t]*:(\s|$)|[ \t]+\S")


def read_summary(text: str, path: str = SUMMARY_PATH) -> Summary:
    """Read a table of contents from any text. ``path``: the file name used in problems."""
    return _Reader(text, path).read()


class _Reader:
    def __init__(self, text: str, path: str) -> None:
        self.path = path
        self.summary = Summary()
        if len(text) > MAX_CHARACTERS:
            self.problem(0, "too_large", f"only the first {MAX_CHARACTERS:,} characters are read")
            text = text[:MAX_CHARACTERS]
        self.lines = [INVISIBLE.sub("", line) for line in re.split(r"\r\n|\r|\n", text)]
        self.at = 0
        self.titled = False
        # Offsets at which the search for the end of a comment or block failed, so that it is not repeated.
        self.unclosed: dict[str, int] = {}
        self.listed: dict[str, int] = {}
        self.group: SummaryEntry | None = None
        # Path from the top of the list to the last item: the column of each item and the item.
        self.open: list[tuple[int, SummaryEntry]] = []

    def problem(self, line: int, code: str, message: str) -> None:
        if len(self.summary.problems) < MAX_PROBLEMS:
            self.summary.problems.append(Problem(self.path, line, code, message))

    def read(self) -> Summary:
        self.skip_front_matter()
        while self.at < len(self.lines):
            line = self.lines[self.at]
            self.at += 1
            stripped = line.strip()
            if not stripped:
                continue
            if stripped.startswith("<!--"):
                self.skip_comment(stripped)
            elif _RULE.match(line):
                self.open, self.group = [], None
            elif len(line) > MAX_LINE:
                self.problem(
                    self.at, "long_line", f"this line is longer than {MAX_LINE:,} characters and was skipped"
                )
            elif heading := _HEADING.match(line):
                self.heading(len(heading[1]), _without_closing_hashes(line[heading.end() :]), self.at)
            elif item := _ITEM.match(line):
                self.item(item)
            elif fence := _FENCE.match(stripped):
                number = self.at
                self.fenced(fence[1], -1)
                self.problem(number, "unread_block", "code blocks outside list items are ignored")
            elif self.at < len(self.lines) and (under := _UNDERLINE.match(self.lines[self.at])):
                self.at += 1
                self.heading(1 if under[1][0] == "=" else 2, stripped, self.at - 1)
            else:
                self.problem(
                    self.at, "unread_line", "this line is neither a heading nor a list item and was skipped"
                )
        return self.summary

    def skip_front_matter(self) -> None:
        if not self.lines or self.lines[0].strip() != "---":
            return
        for number, line in enumerate(self.lines[1:], 1):
            if line.strip() in ("---", "..."):
                self.at = number + 1 if number > 1 else 0
                return
            # Two dividers around a list are not front matter.
            if not _FRONT_MATTER_LINE.match(line) or _ITEM.match(line) and "[" in line:
                return

    def skip_comment(self, stripped: str) -> None:
        start, rest = self.at, stripped
        while "-->" not in rest:
            if self.at >= len(self.lines) or "<!--" in self.unclosed:
                self.problem(
                    start,
                    "unclosed_comment",
                    "this comment isn't closed, so its lines are read as entries; close it with -->",
                )
                self.unclosed["<!--"] = self.at = start
                return
            rest = self.lines[self.at]
            self.at += 1

    def heading(self, level: int, text: str, line: int) -> None:
        """Add the heading that ends at the current line."""
        self.open = []
        pin = _PIN.search(text)
        if pin:
            text = text[: pin.start()] + text[pin.end() :]
        title = plain_title(text)
        if level == 1 and not self.titled and not self.summary.entries:
            self.summary.title, self.titled = title, True
            return
        if level != 2:
            self.problem(
                line,
                "heading_level",
                "group headings must be level 2; this heading was read as a group",
            )
        slug = pin[1] or None if pin else None
        self.group = SummaryEntry(kind="group", title=title, slug=slug, line=line, end=self.at)
        if not title:
            self.problem(line, "empty_title", "this group has no title")
        self.summary.entries.append(self.group)

    def item(self, item: re.Match[str]) -> None:
        line = self.at
        column = _width(item[1])
        content = (item[4] or "").strip()
        if not content:
            self.problem(line, "empty_item", "this list item is empty and was skipped")
            return
        if fence := _FENCE.match(content):
            entry = self.computed(fence[1], column, line)
        elif content.startswith("["):
            entry = self.link(content, line)
        else:
            entry = SummaryEntry(kind="page", title=plain_title(content), line=line)
        if entry is None:
            return
        if not entry.title and entry.kind != "computed":
            self.problem(line, "empty_title", "this entry has no title")
            if entry.href is None:
                return
        self.place(entry, column)

    def place(self, entry: SummaryEntry, column: int) -> None:
        entry.end = self.at
        # One extra or missing space is a typo; two start a new level.
        while self.open and column < self.open[-1][0] + 2:
            column = min(column, self.open.pop()[0])
        if len(self.open) >= MAX_LEVELS:
            self.problem(
                entry.line,
                "too_deep",
                f"entries can be nested at most {MAX_LEVELS} levels deep; this one was moved up",
            )
            del self.open[MAX_LEVELS - 1 :]
        if self.open:
            self.open[-1][1].children.append(entry)
        else:
            (self.group.children if self.group else self.summary.entries).append(entry)
        self.open.append((column, entry))

    def link(self, content: str, line: int) -> SummaryEntry | None:
        parsed = _parse_link(content)
        if parsed is None:
            title = plain_title(content)
            self.problem(line, "broken_link", "this isn't a valid [title](target) link; it was kept as text")
            return SummaryEntry(kind="page", title=title, line=line)
        label, target, link_title, rest = parsed
        if rest.strip():
            self.problem(line, "unread_text", "the text after the link was skipped")
        entry = SummaryEntry(
            kind="page", title=plain_title(label), link_title=_clean(link_title) or None, line=line
        )
        if _URL.match(target):
            entry.kind, entry.href = "link", target
            return entry
        if not target:
            self.problem(line, "empty_target", f"{entry.title!r} has no target; it was kept as text")
            return entry
        name, _, anchor = target.partition("#")
        if not name:
            self.problem(line, "anchor_only", f"{target!r} isn't a file name; the link was kept as text")
            return entry
        href = entry_path(unquote(name))
        if href is None:
            self.problem(
                line, "bad_target", f"{target!r} isn't a path within the space; the link was kept as text"
            )
            return entry
        entry.href, entry.anchor = href, _tidy(unquote(anchor)) or None
        if href in self.listed:
            entry.kind = "link"
            message = (
                f"{href} is already listed on line {self.listed[href]}; this entry was kept as a link to it"
            )
            self.problem(line, "listed_twice", message)
        else:
            self.listed[href] = line
        return entry

    def fenced(self, fence: str, column: int) -> list[str] | None:
        """Return the lines up to the closing fence. If there is none, return ``None`` without consuming any lines."""
        start = at = self.at
        if start < self.unclosed.get(fence, 0):
            return None
        for at in range(start, len(self.lines)):
            row = self.lines[at]
            stripped = row.strip()
            if stripped.startswith(fence) and not stripped.strip(fence[0]):
                self.at = at + 1
                return self.lines[start:at]
            if len(row) - len(row.lstrip()) <= column and (_HEADING.match(row) or _ITEM.match(row)):
                break
        self.unclosed[fence] = at
        return None

    def computed(self, fence: str, column: int, line: int) -> SummaryEntry | None:
        block = self.fenced(fence, column)
        if block is None:
            self.problem(line, "unclosed_block", "this code block is never closed and was skipped")
            return None
        rows = [(_width(row[: len(row) - len(row.lstrip())]), row.lstrip()) for row in block]
        margin = min((width for width, row in rows if row), default=0)
        try:
            found = read_yaml("\n".join(" " * (width - margin) + row for width, row in rows))
        except YamlError as error:
            at = line + error.line if error.line else line
            self.problem(at, "invalid_yaml", f"this computed page was skipped: {error}")
            return None
        if not isinstance(found.value, dict) or not isinstance(found.value.get("type"), str):
            self.problem(
                line, "invalid_computed", "a computed page must be a map with a `type`; this one was skipped"
            )
            return None
        title = found.value.get("title")
        return SummaryEntry(
            kind="computed",
            title=_clean(title) if isinstance(title, str) else "",
            computed=found.value,
            line=line,
        )


def _width(indent: str) -> int:
    return len(indent.expandtabs(4))


def _clean(text: str) -> str:
    return " ".join(_CONTROL.sub("", INVISIBLE.sub("", text)).split())


def _tidy(target: str) -> str:
    return re.sub(r"[\t\n\v\f\r]", "", _CONTROL.sub("", INVISIBLE.sub("", target)))


def _without_closing_hashes(text: str) -> str:
    text = text.strip()
    bare = text.rstrip("#")
    return bare.rstrip() if not bare or bare[-1] in " \t" else text


def plain_title(markdown: str) -> str:
    """Return the plain text of a title, with emphasis, code marks, escapes, and entities resolved, and whitespace
    collapsed."""
    return _clean(_plain(_clean(markdown[:MAX_LINE])))


def _plain(text: str, depth: int = 0) -> str:
    out, at, start = [], 0, 0
    unclosed: set[str] = set()  # No closing mark after one position means none after any later one.
    while depth < 8 and (opening := _OPENS.search(text, start)):
        mark, start = opening[0], opening.end()
        if mark in unclosed:
            continue
        closing = _closing(text, mark, start + 1)
        if closing is None:
            unclosed.add(mark)
            continue
        inside = text[start : closing.start()]
        out.append(_unescape(text[at : opening.start()]))
        out.append(inside.strip() if mark[0] == "`" else _plain(inside, depth + 1))
        at = start = closing.end()
    out.append(_unescape(text[at:]))
    return "".join(out)


def _closing(text: str, mark: str, at: int) -> re.Match[str] | None:
    """Find the mark that closes ``mark``, starting at ``at``."""
    if mark[0] != "`":
        return _CLOSES[mark].search(text, at)
    return next((run for run in _BACKTICKS.finditer(text, at) if run[0] == mark), None)


def _unescape(text: str) -> str:
    parts, at = [], 0
    for match in _ESCAPE.finditer(text):
        parts += [html.unescape(text[at : match.start()]), match[1]]
        at = match.end()
    return "".join([*parts, html.unescape(text[at:])])


def _parse_link(content: str) -> tuple[str, str, str, str] | None:
    """Split ``[label](target "title")rest`` into the label (still Markdown), the target (unescaped), the
    title, and the rest."""
    at, depth = 0, 0
    while at < len(content):
        char = content[at]
        if char == "\\":
            at += 1
        elif char == "[":
            depth += 1
        elif char == "]":
            depth -= 1
            if depth == 0:
                break
        at += 1
    if at >= len(content) or content[at + 1 : at + 2] != "(":
        return None
    label = content[1:at]
    at += 2
    while at < len(content) and content[at].isspace():
        at += 1
    start = at
    if content[at : at + 1] == "<":
        pointed = _POINTED.match(content, at)
        if pointed is None:
            return None
        at = pointed.end()
        if title := _LINK_TITLE.match(content, at):
            return label, _tidy(_unescape(pointed[1])), _title_of(title), content[title.end() :]
        end = _CLOSED.match(content, at)
        return (label, _tidy(_unescape(pointed[1])), "", content[end.end() :]) if end else None
    depth = 0
    while at < len(content):
        char = content[at]
        if char == "\\":
            at += 1
        elif char == "(":
            depth += 1
        elif char == ")":
            if depth == 0:
                return label, _tidy(_unescape(content[start:at].strip())), "", content[at + 1 :]
            depth -= 1
        elif char in " \t" and (title := _LINK_TITLE.match(content, at)):
            return (
                label,
                _tidy(_unescape(content[start:at].strip())),
                _title_of(title),
                content[title.end() :],
            )
        at += 1
    return None


def _title_of(match: re.Match[str]) -> str:
    return _unescape(match[1] or match[2] or match[3] or "")


def entry_path(path: str, folder: str = "") -> str | None:
    """Convert a path in a file of ``folder`` to a path relative to the root of the space: ``./a//b.md`` -> ``a/b.md``.
    A leading slash means the root; a folder ends in a slash, and the root itself is ``/``. Return ``None`` if the path
    points outside the root or can't be a file path (backslash, control characters)."""
    if "\\" in path or re.search(r"[\x00-\x1f\x7f\ud800-\udfff]", path):
        return None
    joined = path if path.startswith("/") else f"/{folder}/{path}"
    parts: list[str] = []
    for part in joined.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts) + "/" * (path.rpartition("/")[2] in (".", "..", ""))


# Writing


def write_summary(summary: Summary) -> str:
    """Write a table of contents in its canonical form. ``read_summary`` parses the result as the same tree, except for
    groups that aren't at the top level. SUMMARY.md can't represent these, so they are written as text."""
    out = [f"# {_escape(summary.title or DEFAULT_TITLE)}", ""]
    in_list = in_group = False
    for entry in summary.entries:
        if entry.kind == "group":
            if in_list:
                out.append("")
            out += [f"## {_escape(entry.title)}{_pin(entry)}", ""]
            _write_items(entry.children, "", out)
            in_list, in_group = bool(entry.children), True
            continue
        if in_group:
            # A divider ends a group: entries after it are at the top level again.
            out += [""] * in_list + ["***", ""]
            in_group = False
        _write_items([entry], "", out)
        in_list = True
    while out and not out[-1]:
        out.pop()
    return "\n".join(out) + "\n"


def update_summary(
    original: str, wanted: list[SummaryEntry], understand: Callable[[str], list[SummaryEntry]]
) -> str:
    """Return ``original`` with changes only to lines whose entries differ from ``wanted``.

    ``understand``: a function that returns the entries in a file, each with its ``line``. Different spellings of the
    same target count as equal.
    """
    there = understand(original)
    if same_entries(there, wanted):
        return original
    changed = _Changed(original, there).into(wanted)
    if same_entries(understand(changed), wanted):
        return changed
    return write_summary(Summary(title=read_summary(original).title, entries=wanted))


class _Row(Struct, frozen=True):
    """Entry of a flattened tree. ``depth``: the number of lists around it; -1 for a group."""

    depth: int
    grouped: bool
    entry: SummaryEntry

    def key(self) -> Hashable:
        entry = self.entry
        computed = repr(entry.computed)
        return (
            self.depth,
            self.grouped,
            entry.kind,
            entry.title,
            entry.link_title,
            entry.href,
            entry.anchor,
            entry.slug,
            computed,
        )


def _rows(entries: list[SummaryEntry], depth: int = 0, grouped: bool = False) -> Iterator[_Row]:
    for entry in entries:
        group = entry.kind == "group" and depth == 0
        yield _Row(-1 if group else depth, grouped, entry)
        yield from _rows(entry.children, 0 if group else depth + 1, grouped or group)


class _Changed:
    """Text in which entries are inserted, removed, and replaced, and all other lines are kept."""

    def __init__(self, original: str, there: list[SummaryEntry]) -> None:
        self.lines = re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z", original)
        ending = re.search(r"\r\n|\r|\n", original)
        self.ending = ending[0] if ending else "\n"
        ends = {entry.line: entry.end for entry in walk_entries(read_summary(original).entries)}
        self.rows = list(_rows(there))
        self.begins: list[int] = []
        self.ends: list[int] = []
        for row in self.rows:
            begin = row.entry.line - 1
            if self.ends and begin < self.ends[-1]:
                # Of two entries on one line, the first one owns it.
                begin = end = self.ends[-1]
            else:
                end = ends.get(begin + 1, begin + 1)
            self.begins.append(begin)
            self.ends.append(end)
        self.begins.append(len(self.lines))
        self.out: list[str] = []
        self.kept = self.lines[: self.begins[0]]
        """Lines between entries, kept until the entry before them is written."""
        self.indents: dict[int, str] = {}
        self.bullet = "*"
        self.last: _Row | None = None

    def into(self, wanted: list[SummaryEntry]) -> str:
        rows = list(_rows(wanted))
        first = start = 0
        for behind, stop in [
            *align([row.key() for row in self.rows], [row.key() for row in rows]),
            (len(self.rows), len(rows)),
        ]:
            for n in range(first, behind):
                self.note(n)
            for row in rows[start:stop]:
                self.put(row)
            for n in range(first, behind):
                self.leave_out(n)
            if behind < len(self.rows):
                self.keep(behind)
            first, start = behind + 1, stop + 1
        return "".join([*self.out, *self.kept])

    def keep(self, n: int) -> None:
        own = self.lines[self.begins[n] : self.ends[n]]
        self.out += self.kept
        self.out += own
        self.indents = {depth: indent for depth, indent in self.indents.items() if depth < self.rows[n].depth}
        self.note(n)
        self.kept = self.lines[self.ends[n] : self.begins[n + 1]]
        self.last = self.rows[n]

    def note(self, n: int) -> None:
        """Remember the indentation and bullet of an item for new items next to it."""
        own = self.lines[self.begins[n] : self.ends[n]]
        if self.rows[n].depth >= 0 and own and (item := _ITEM.match(own[0].rstrip("\r\n"))):
            self.indents.setdefault(self.rows[n].depth, item[1])
            self.bullet = item[2]

    def leave_out(self, n: int) -> None:
        behind = self.lines[self.ends[n] : self.begins[n + 1]]
        if self.kept and not self.kept[-1].strip():
            filled = next((n for n, line in enumerate(behind) if line.strip()), len(behind))
            behind = behind[filled:]
        self.kept += behind

    def put(self, row: _Row) -> None:
        if self.last is None:
            self.out += self.kept
            self.kept = []
        if self.out and not self.out[-1].endswith(("\r", "\n")):
            self.out[-1] += self.ending
        rows: list[str] = []
        if row.depth < 0:
            rows = ["", f"## {_escape(row.entry.title)}" + _pin(row.entry)]
        else:
            if self.last is not None and self.last.grouped is not row.grouped and not row.grouped:
                rows = ["", "***", ""]
            elif self.last is not None and self.last.depth < 0:
                rows = [""]
            above = self.indents.get(row.depth - 1)
            indent = self.indents.get(row.depth, "" if above is None else above + "  ")
            written: list[str] = []
            _write_items([replace(row.entry, children=[])], indent, written)
            if self.bullet in "-+":
                written[0] = written[0].replace("* ", f"{self.bullet} ", 1)
            rows += written
            self.indents[row.depth] = indent
        self.indents = {depth: indent for depth, indent in self.indents.items() if depth <= row.depth}
        self.out += [line + self.ending for line in rows]
        self.last = row


def _pin(entry: SummaryEntry) -> str:
    return f' <a href="#{entry.slug}" id="{entry.slug}"></a>' if entry.slug else ""


def same_entries(one: list[SummaryEntry], two: list[SummaryEntry]) -> bool:
    """Return whether two trees have the same content, regardless of their lines."""
    return len(one) == len(two) and all(
        replace(a, line=0, end=0, children=[]) == replace(b, line=0, end=0, children=[])
        and same_entries(a.children, b.children)
        for a, b in zip(one, two, strict=True)
    )


def _write_items(entries: list[SummaryEntry], indent: str, out: list[str]) -> None:
    for entry in entries:
        if entry.kind == "computed":
            written = write_yaml(entry.computed).rstrip("\n")
            fence = "`" * max(3, 1 + max(map(len, re.findall("`+", written)), default=0))
            rows = [f"{fence}yaml", *written.split("\n"), fence]
            out += [f"{indent}* {rows[0]}", *(f"{indent}  {row}" if row else "" for row in rows[1:])]
        elif entry.href is None:
            # Escape characters that a list item would not read as text.
            title = re.sub(
                r"^(#+(?= |$)|[-+*>~](?=\s|$)|\d+(?=[.)]( |$)))", _escape_first, _escape(entry.title)
            )
            out.append(f"{indent}* {title}")
        else:
            title = f' "{_escape_quoted(entry.link_title)}"' if entry.link_title else ""
            out.append(f"{indent}* [{_escape(entry.title)}]({_target(entry)}{title})")
        _write_items(entry.children, indent + "  ", out)


def _escape_first(match: re.Match[str]) -> str:
    found = match[0]
    return f"{found}\\" if found[0].isdigit() else f"\\{found}"


def _escape(text: str) -> str:
    text = re.sub(r"([\\`*\[\]<~])", r"\\\1", _clean(text))
    text = re.sub(r"(?<![^\W_])_|_(?![^\W_])", r"\\_", text)
    text = re.sub(r"&(?=#?\w)", r"\\&", text)
    return re.sub(r"(?:(?<= )|^)#(?=#*$)", r"\\#", text)


def _escape_quoted(text: str) -> str:
    return re.sub(r"&(?=#?\w)", r"\\&", re.sub(r"([\\\"])", r"\\\1", _clean(text)))


def _target(entry: SummaryEntry) -> str:
    href = entry.href or ""
    if not _URL.match(href):
        # Encode characters that a decoder would change; otherwise write the path unchanged.
        href = _encode(href).replace("#", "%23") + (f"#{_encode(entry.anchor)}" if entry.anchor else "")
    escaped = re.sub(r"([\\<>])|&(?=#?\w)", lambda match: "\\" + match[0], href)
    return f"<{escaped}>" if re.search(r"[\s()<>]", href) else escaped


def _encode(path: str) -> str:
    return re.sub("[%\u200b\u2060\ufeff]", lambda match: quote(match[0]), path)


# Inferring


def infer_summary(paths: Iterable[str], readme: str = "README.md") -> Summary:
    """Return the folder tree as navigation. In each folder, the README comes first, followed by the other files in
    natural order. A folder becomes the page of its README, or an entry without a page. Hidden folders and files other
    than Markdown are omitted."""
    tree: JsonObject = {}
    for path in paths:
        parts = path.split("/")
        if (
            not is_markdown(path)
            or parts[-1].lower() == "summary.md"
            or any(p.startswith(".") for p in parts)
        ):
            continue
        at = tree
        folders = parts[:-1][: MAX_LEVELS - 1]
        for part in folders:
            at = at.setdefault(part + "/", {})
        at["/".join(parts[len(folders) :])] = path
    summary = Summary(title=DEFAULT_TITLE, entries=_infer(tree, readme), inferred=True)
    home = next((entry for entry in summary.entries if entry.href == readme), None)
    if home is None and "/" in readme:
        home = _take(summary.entries, readme)
        if home:
            summary.entries.insert(0, home)
    return summary


def _take(entries: list[SummaryEntry], href: str) -> SummaryEntry | None:
    for entry in entries:
        if entry.href == href:
            entries.remove(entry)
            return entry
        if found := _take(entry.children, href):
            return found
    return None


def is_markdown(path: str) -> bool:
    return path.lower().endswith((".md", ".markdown"))


def natural_key(text: str) -> list[tuple[int, int, str]]:
    """Return a sort key that puts ``step-2`` before ``step-10``."""
    return [
        (0, int(part), "") if part.isdecimal() else (1, 0, part.casefold())
        for part in re.split(r"(\d{1,18})", text)
        if part
    ]


def title_of_name(name: str) -> str:
    """Return the title for a file or folder name, such as ``Getting started`` for ``getting-started``."""
    words = " ".join(re.sub(r"[-_]+", " ", name).split())
    return words[:1].upper() + words[1:] if words else name


def _infer(tree: JsonObject, readme: str) -> list[SummaryEntry]:
    found: list[SummaryEntry] = []
    name_of_readme = posixpath.basename(readme).lower()

    def order(name: str) -> tuple[bool, list[tuple[int, int, str]], str]:
        return (name.lower() != name_of_readme, natural_key(posixpath.splitext(name.rstrip("/"))[0]), name)

    for name in sorted(tree, key=order):
        if name.endswith("/"):
            inside = _infer(tree[name], readme)
            own = inside[0] if inside and inside[0].href else None
            if own and posixpath.basename(own.href or "").lower() == name_of_readme:
                own.children = inside[1:]
            else:
                own = SummaryEntry(kind="page", title=title_of_name(name[:-1]), children=inside)
            found.append(own)
        else:
            path = tree[name]
            stem = posixpath.splitext(name)[0]
            if name.lower() == name_of_readme:
                stem = posixpath.basename(posixpath.dirname(path)) or stem
            found.append(SummaryEntry(kind="page", title=title_of_name(stem), href=path))
    return found
