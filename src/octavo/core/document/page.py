"""A page file's head: its front matter and its title. What follows is the page's document.

Reading never fails: what cannot be understood is a ``HeadProblem`` and stays in the file. Writing rewrites the
keys that changed and leaves every other byte alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from msgspec import Struct, field

from ..pages import Cover, Layout
from ..yaml_text import YamlError, read_yaml, write_yaml

_FRONT = re.compile(r"\ufeff?---[ \t]*\r?\n(?P<yaml>(?:.*?\r?\n)??)(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_BLANK = re.compile(r"\ufeff?(?:[ \t]*(?:\r\n|\r|\n))*")
_ATX = re.compile(r" {0,3}#(?:[ \t]+(?P<text>[^\r\n]*))?(?:\r\n|\r|\n|\Z)")
_SETEXT = re.compile(
    r" {0,3}(?P<text>[^\s#>`~|<{*+\-=][^\r\n]*)(?:\r\n|\r|\n) {0,3}=+[ \t]*(?:\r\n|\r|\n|\Z)"
)
_ANCHOR = re.compile(r"\s*<a\s[^<>]*>\s*</a>")
_CLOSING = re.compile(r"(?:^|[ \t]+)#+[ \t]*$")
_TOP_KEY = re.compile(r"^(?P<key>[^\s#:'\"\[\]{},&*!|>%@`-][^:\r\n]*|'[^'\r\n]*'|\"[^\"\r\n]*\")[ \t]*:(?=[ \t\r\n]|$)", re.M)

_WIDTHS = ("default", "wide", "landing")
_COVER_SIZES = ("full", "hero", "background")
_LAYOUT_PARTS = {
    "title": "title",
    "description": "description",
    "tableOfContents": "table_of_contents",
    "outline": "outline",
    "pagination": "pagination",
    "metadata": "metadata",
    "tags": "tags",
    "actions": "actions",
}


class PageParts(NamedTuple):
    """A page file cut in three; joined they are the file. ``front`` holds its fences, ``heading`` the blank
    lines before it."""

    front: str
    heading: str
    body: str


class HeadProblem(Struct, frozen=True):
    """``line`` counts from 1 in the file."""

    line: int
    code: str
    message: str


class PageHead(Struct, kw_only=True):
    """What front matter and title say of a page. ``title`` is the heading's words, None without one."""

    title: str | None = None
    description: str | None = None
    icon: str | None = None
    emoji: str | None = None
    hidden: bool = False
    no_index: bool = False
    no_robots_index: bool = False
    condition: str | None = None
    layout: Layout = Layout()
    cover: Cover | None = None
    tags: tuple[Any, ...] = ()
    variables: dict[str, Any] = field(default_factory=dict)
    problems: list[HeadProblem] = field(default_factory=list)

    def fields(self) -> dict[str, Any]:
        """The fields of a ``Page`` that its head decides (all but the title)."""
        return {
            name: getattr(self, name)
            for name in self.__struct_fields__
            if name not in ("title", "problems")
        }


def split_page(source: str) -> PageParts:
    """Front matter, leading heading of the first level, and the rest; joined they are ``source``."""
    front = _FRONT.match(source)
    start = front.end() if front else 0
    blank = _BLANK.match(source, start)
    at = blank.end() if blank else start
    heading = _ATX.match(source, at) or _SETEXT.match(source, at)
    end = heading.end() if heading else start
    return PageParts(source[:start], source[start:end], source[end:])


def heading_text(heading: str) -> str | None:
    """The words of the heading part of ``split_page``, inline marks resolved; None when it is empty."""
    from ..summary import plain_title

    start = _BLANK.match(heading)
    found = _ATX.match(heading, start.end() if start else 0) or _SETEXT.match(heading, start.end() if start else 0)
    if not found or not found["text"]:
        return None
    words = _CLOSING.sub("", _ANCHOR.sub("", found["text"].strip()))
    return plain_title(words) or None


def read_page_head(source: str) -> PageHead:
    """What the head of a page file says."""
    parts = split_page(source)
    head = PageHead(title=heading_text(parts.heading))
    front = _FRONT.match(parts.front)
    if front is None:
        return head
    try:
        found = read_yaml(front["yaml"])
    except YamlError as error:
        head.problems.append(HeadProblem(error.line + 1, "invalid_yaml", f"front matter: {error}"))
        return head
    if found.value is None:
        return head
    if not isinstance(found.value, dict):
        head.problems.append(HeadProblem(2, "invalid_front_matter", "front matter: expected `key: value` lines"))
        return head
    _HeadReader(head, found.value, lambda *way: found.line(*way) + 1).read()
    return head


class _HeadReader:
    def __init__(self, head: PageHead, values: dict[str, Any], line: Any) -> None:
        self._head = head
        self._values = values
        self._line = line

    def _wrong(self, key: str, expected: str) -> None:
        self._head.problems.append(
            HeadProblem(self._line(key), "bad_value", f"front matter: {key}: expected {expected}")
        )

    def _text(self, key: str) -> str | None:
        value = self._values.get(key)
        if value is None or isinstance(value, str):
            return value or None
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return str(value)
        self._wrong(key, "text")
        return None

    def _flag(self, *keys: str) -> bool:
        for key in keys:
            value = self._values.get(key)
            if isinstance(value, bool):
                return value
            if value is not None:
                self._wrong(key, "true or false")
        return False

    def read(self) -> None:
        head = self._head
        head.description = self._text("description")
        head.icon = self._text("icon")
        head.emoji = self._text("emoji")
        head.hidden = self._flag("hidden")
        head.no_index = self._flag("noIndex")
        head.no_robots_index = self._flag("noRobotsIndex")
        condition = self._values.get("if")
        if isinstance(condition, bool):
            head.condition = "true" if condition else "false"
        else:
            head.condition = self._text("if")
        self._variables()
        self._tags()
        self._layout()

    def _variables(self) -> None:
        value = self._values.get("vars")
        if value is None:
            return
        if not isinstance(value, dict):
            self._wrong("vars", "`name: value` lines")
            return
        for name, item in value.items():
            if isinstance(item, (str, int, float, bool)):
                self._head.variables[name] = item
            else:
                self._wrong("vars", f"text, a number or true/false for {name!r}")

    def _tags(self) -> None:
        value = self._values.get("tags")
        if value is None:
            return
        if not isinstance(value, list):
            self._wrong("tags", "a list")
            return
        self._head.tags = tuple(
            item for item in value if isinstance(item, str) or (isinstance(item, dict) and "tag" in item)
        )
        if len(self._head.tags) != len(value):
            self._wrong("tags", "a list of names, or of maps with `tag`")

    def _layout(self) -> None:
        layout = self._values.get("layout")
        values: dict[str, Any] = {}
        if isinstance(layout, dict):
            width = layout.get("width")
            if width in _WIDTHS:
                values["width"] = width
            elif width is not None:
                self._wrong("layout", f"width to be one of {', '.join(_WIDTHS)}")
            for name, part in _LAYOUT_PARTS.items():
                shown = layout.get(name)
                if isinstance(shown, dict) and isinstance(shown.get("visible"), bool):
                    values[part] = shown["visible"]
            cover = layout.get("cover")
            if isinstance(cover, dict):
                if isinstance(cover.get("visible"), bool):
                    values["cover"] = cover["visible"]
                if cover.get("size") in _COVER_SIZES:
                    values["cover_size"] = cover["size"]
        elif layout is not None:
            self._wrong("layout", "a map such as `width: wide`")
        self._head.layout = Layout(**values)
        self._cover()

    def _cover(self) -> None:
        cover = self._values.get("cover")
        light, dark = (cover.get("light"), cover.get("dark")) if isinstance(cover, dict) else (cover, None)
        if light is None and dark is None:
            return
        if not all(value is None or isinstance(value, str) for value in (light, dark)):
            self._wrong("cover", "a path, a URL, or a map of `light` and `dark`")
            return
        y, height = self._values.get("coverY"), self._values.get("coverHeight")
        self._head.cover = Cover(
            light or dark,
            dark if light else None,
            float(y) if isinstance(y, (int, float)) and not isinstance(y, bool) else 0,
            int(height) if isinstance(height, (int, float)) and not isinstance(height, bool) else None,
        )


# --- writing ------------------------------------------------------------------------------------------


def with_title(source: str, title: str) -> str:
    """The page file under another title; the same file when its heading says so already."""
    parts = split_page(source)
    if heading_text(parts.heading) == title:
        return source
    end = "\r\n" if "\r\n" in source[:2000] else "\n"
    escaped = re.sub(r"([\\`*_\[\]<>])", r"\\\1", " ".join(title.split()))
    if parts.heading.strip():
        start = _BLANK.match(parts.heading)
        lead = parts.heading[: start.end()] if start else ""
        anchor = _ANCHOR.search(parts.heading)
        return f"{parts.front}{lead}# {escaped}{anchor[0] if anchor else ''}{end}{parts.body}"
    gap = end if parts.front and not parts.body.startswith(("\n", "\r")) else ""
    tail = "" if not parts.body or parts.body.startswith(("\n", "\r")) else end
    lead = end if parts.front else ""
    body = parts.body.lstrip("\r\n") if parts.front else parts.body
    return f"{parts.front}{lead or gap}# {escaped}{end}{tail or (end if body else '')}{body}"


def with_front_matter(source: str, changes: Mapping[str, Any]) -> str:
    """The page file with these front-matter keys set (None: taken out). All other bytes stay.

    Front matter that is not valid YAML is left as it is, behind new one that holds the changes.
    """
    parts = split_page(source)
    rest = parts.heading + parts.body
    front = _FRONT.match(parts.front)
    end = "\r\n" if "\r\n" in source[:2000] else "\n"
    if front is None or not _is_map(front["yaml"]):
        wanted = {key: value for key, value in changes.items() if value is not None}
        if not wanted:
            return source
        gap = end if front is None and rest and not rest.startswith(("\n", "\r")) else ""
        return f"---{end}{_lines(wanted, end)}---{end}{gap}{parts.front}{rest}"
    text = front["yaml"]
    for key, value in changes.items():
        span = _span(text, key)
        new = "" if value is None else _lines({key: value}, end)
        if span is not None:
            text = text[: span[0]] + new + text[span[1] :]
        else:
            if text and not text.endswith(("\n", "\r")):
                text += end
            text += new
    if not text.strip():
        return rest.lstrip("\r\n")
    return parts.front[: front.start("yaml")] + text + parts.front[front.end("yaml") :] + rest


def _is_map(text: str) -> bool:
    try:
        value = read_yaml(text).value
    except YamlError:
        return False
    return value is None or (isinstance(value, dict) and all(_span(text, key) for key in value))


def _span(text: str, key: str) -> tuple[int, int] | None:
    """Where a top-level key stands with its value: from its line to the next key's, comments between kept."""
    keys = list(_TOP_KEY.finditer(text))
    for n, match in enumerate(keys):
        if match["key"].strip().strip("'\"") == key:
            end = keys[n + 1].start() if n + 1 < len(keys) else len(text)
            comment = re.search(r"(?m)^#", text[match.end() : end])
            return match.start(), match.end() + comment.start() if comment else end
    return None


def _lines(values: dict[str, Any], end: str) -> str:
    return write_yaml(values).replace("\n", end)
