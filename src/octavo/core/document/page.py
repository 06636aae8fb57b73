"""Read the head of a page file (front matter and ``# Title``), and change it without changing any other bytes."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from datetime import date
from typing import Any

from msgspec import Struct

from octavo.core.json_types import JsonObject

from ..expression_syntax import parse
from ..expression_values import ExpressionError
from ..page_fields import COVER_COLORS, FRONT_FIELDS, Cover, Field, LayoutOptions, PageFields
from ..redirects import MAX_PATHS, read_paths
from ..tags import MAX_SLUG, read_page_tags
from ..yaml_text import YamlError, read_yaml, write_yaml
from .guards import NEVER, find_unread, has_guard_key, is_like_if, may_hold_guards
from .inline import plain
from .inline_writer import write_inlines
from .nodes import Inline, Leaf, Text
from .reader import read, read_blocks
from .writer import Notes

MAX_FRONT_MATTER = 64 * 1024
"""Maximum number of characters in front matter. Longer front matter is reported as a problem and ignored."""

_FRONT = re.compile(
    r"\ufeff?---[ \t]*(?:\r\n|\r|\n)(?P<yaml>(?:(?!(?:---|\.\.\.)[ \t]*(?:\r|\n|\Z))[^\r\n]*(?:\r\n|\r|\n))*?)"
    r"(?:---|\.\.\.)[ \t]*(?:\r\n|\r|\n|\Z)"
)
H1 = (
    r"(?P<open><h1(?:[ \t][^<>\r\n]{0,500})?>)(?P<html>(?:[^<>\r\n]|</?(?:a|b|strong|i|em|code|span"
    r"|sub|sup)(?:[ \t][^<>\r\n]*)?>)"
    r"{1,500})(?P<close></h1>)[ \t]*"
)
"""Regular expression for a title in the form of an HTML heading that contains only text. Images are excluded, because
they would be lost."""
_TITLE = re.compile(
    r"\ufeff?(?:[ \t]*(?:\r\n|\r|\n))*"
    r"(?: {0,3}#(?:[ \t]+(?P<atx>[^\r\n]*)|(?=[\r\n]|\Z))|(?P<under>[^\s#>*+`~<{"
    r"|\-][^\r\n]*)(?:\r\n|\r|\n) {0,3}=+[ \t]*(?=[\r\n]|\Z)"
    rf"| {{0,3}}{H1}(?=[\r\n]|\Z))"
    r"(?:\r\n|\r|\n|\Z)"
)
_KEY = re.compile(
    r"""(?:(?P<plain>[A-Za-z_][\w.-]*)|"(?P<double>[^"\\]+)"|'(?P<single>[^']+)')[ \t]*:(?=\s|\Z)"""
)
_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")


class HeadProblem(Struct, frozen=True):
    """Unusable part of a page's head. ``line``: its line in the file, from 1."""

    line: int
    reason: str
    key: str | None = None


class PageHead(PageFields, kw_only=True, frozen=True, omit_defaults=True):
    """Page fields from a page file. ``extra``: the unknown front-matter keys. If the YAML as a whole is
    invalid, only the title is known."""

    title: str | None = None
    extra: JsonObject = {}
    problems: list[HeadProblem] = []


_SEEMING = re.compile(
    r"[\ufeff\s]*---[ \t]*(?:\r\n|\r|\n)(?P<lines>(?:[ \t]*[^\s:][^\r\n]*(?:\r\n|\r|\n|\Z))*)"
)


def _seeming_front(source: str) -> str:
    """Return text that looks like front matter but isn't at the start of the file or has no end. The text extends to
    the first blank line."""
    match = _SEEMING.match(source[: 2 * MAX_FRONT_MATTER])
    return match["lines"] if match else ""


def front_of(source: str) -> str:
    """Return the front matter of a page file with its ``---`` lines. A file that merely starts with a divider has no
    front matter: the text up to the next divider isn't a map of keys and values."""
    front = _FRONT.match(source)
    return front[0] if front is not None and _holds_keys(front) else ""


def _holds_keys(front: re.Match[str]) -> bool:
    written = front["yaml"]
    first = next((line for line in written.splitlines() if line.strip() and not line.startswith("#")), "")
    if _KEY.match(first) or not written.strip() or len(written) > MAX_FRONT_MATTER or has_guard_key(front[0]):
        return True
    try:
        values = read_yaml(written.replace("\r\n", "\n").replace("\r", "\n")).value
    except YamlError:
        return True
    return isinstance(values, dict) or (
        not isinstance(values, (str, int, float)) and written[0] not in "\r\n"
    )


def split_page(source: str) -> tuple[str, str, str]:
    """Split a page file into front matter with its ``---`` lines, the title heading with the blank lines before it, and
    the body. Each part can be empty. Together, the parts make up the source."""
    at = len(front_of(source))
    title = _TITLE.match(source, at)
    if title and at and source.startswith("\ufeff", at):
        title = None
    end = title.end() if title else at
    return source[:at], source[at:end], source[end:]


def below_title(heading: str, body: str, before: str) -> str:
    """Return the body with the line breaks that separate it from the title heading: a blank line, unless
    the previous body, ``before``, starts directly after the title."""
    if not heading or not body.strip() or body.startswith(("\n", "\r")):
        return body
    ending = _break(heading)
    if not heading.endswith(("\n", "\r")):
        return 2 * ending + body
    follows_directly = before.strip() and not before.startswith(("\n", "\r"))
    return body if follows_directly else ending + body


def read_head(source: str) -> PageHead:
    """Return the head of a page file. This never raises an error: unreadable parts are listed in
    ``problems``."""
    front, heading, _ = split_page(source)
    values, problems = front_matter(front)
    unread = front if problems else _seeming_front(source) if not front else ""
    head = _Head(values, problems, front)
    title, fields = head.take("title", str), {name: head.read(field) for name, field in FRONT_FIELDS.items()}
    if unread and has_guard_key(unread):
        fields["condition"] = NEVER
        problems.append(
            HeadProblem(
                1, "if: the front matter can't be read, so no one can see the page; fix its YAML", "if"
            )
        )
    heading_title = _title(heading)
    return PageHead(
        title=title if heading_title is None else heading_title, extra=values, problems=problems, **fields
    )


def unread_conditions(source: str) -> list[HeadProblem]:
    """Return the misspelled or misplaced conditions of a page file, which hide their content from everyone."""
    front, heading, body = split_page(source)
    found = [one for one in read_head(source).problems if one.key is not None and _is_condition(one.key)]
    if may_hold_guards(body):
        before = (front + heading).count("\n")
        found += [
            HeadProblem(before + line, f"{guard} isn't a valid condition, so no one can see this content")
            for line, guard in find_unread(read(body))
        ]
    return found


def _is_condition(key: str) -> bool:
    return key == "if" or is_like_if(key)


def front_matter(front: str) -> tuple[JsonObject, list[HeadProblem]]:
    """Parse front matter, including its ``---`` lines. Return its keys, and the reason if it can't be parsed."""
    match = _FRONT.match(front)
    if match is None or not match["yaml"].strip():
        return {}, []
    text = match["yaml"].replace("\r\n", "\n").replace("\r", "\n")
    if len(text) > MAX_FRONT_MATTER:
        return {}, [HeadProblem(1, f"the front matter must have at most {MAX_FRONT_MATTER:,} characters")]
    try:
        values = read_yaml(text).value
    except YamlError as error:
        return {}, [HeadProblem(error.line + 1, str(error))]
    if values is None:
        return {}, []
    if not isinstance(values, dict):
        return {}, [HeadProblem(2, "the front matter must be a YAML mapping")]
    return values, []


def _title(heading: str) -> str | None:
    """Return the text of the title heading, without its markup and fixed anchor."""
    if not heading:
        return None
    blocks = read_blocks(heading)
    if not blocks:
        return None
    nodes = [node for node in blocks[0].nodes if isinstance(node, (Text, Inline))]
    return " ".join(plain(nodes).split())


_LAYOUT = {
    "title": "title",
    "description": "description",
    "tableOfContents": "table_of_contents",
    "outline": "outline",
    "pagination": "pagination",
    "metadata": "metadata",
    "tags": "tags",
    "actions": "actions",
    "anchors": "anchors",
}


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_expression(text: str) -> bool:
    try:
        parse(text)
    except ExpressionError:
        return False
    return True


class _Head:
    """Reader that removes each known key from the front matter and checks the type of its value."""

    def __init__(self, values: JsonObject, problems: list[HeadProblem], front: str) -> None:
        self.values, self.problems, self.front = values, problems, front

    def read(self, field: Field) -> Any:
        """Return a field's value, and remove the field's keys from the front matter."""
        key = field.keys[0]
        match field.type:
            case "text" | "long text":
                return self.text(key, field)
            case "emoji" | "icon":
                return self.take(key, str)
            case "flag":
                return self.flag(key)
            case "condition":
                return self.condition()
            case "mapping":
                return self.take(key, dict) or {}
            case "links":
                return self.meta_links(key)
            case "tags":
                return self.tags(key)
            case "paths":
                return self.paths(key)
            case "cover":
                return self.cover()
            case "layout":
                return self.layout()

    def text(self, key: str, field: Field) -> str | None:
        text: str | None = self.take(key, str)
        if text is not None and field.form is not None and not re.fullmatch(field.form[0], text):
            self.problem(key, f"{key}: must {field.form[1]}; the value is ignored")
            return None
        if text is None or field.max_length is None or len(text) <= field.max_length:
            return text
        self.problem(key, f"{key}: must have at most {field.max_length} characters; the rest is ignored")
        return text[: field.max_length]

    def condition(self) -> str | None:
        """Return the condition. An invalid condition hides the page from everyone."""
        for key in [key for key in self.values if is_like_if(str(key))]:
            self.values.pop(key)
            self.problem(key, f"{key}: must be named `if`; no one can see the page until you rename it")
            self.values["if"] = NEVER
        if "if" not in self.values:
            return None
        given = self.values.pop("if")
        if isinstance(given, bool):
            return str(given).lower()
        text = str(given) if isinstance(given, (str, int, float)) else ""
        if sum(name == "if" for name, _, _ in _entries(self.front)) > 1:
            self.problem("if", "if: must be a single condition; no one can see the page until you fix it")
            return NEVER
        if not text.strip() or not _is_expression(text):
            self.problem("if", "if: must be a valid expression; no one can see the page until you fix it")
        return text if isinstance(given, str) and text.strip() else NEVER

    def flag(self, key: str) -> bool:
        """Return the value of a flag that hides a page. Any unclear value counts as true."""
        before = len(self.problems)
        return bool(self.take(key, bool)) or len(self.problems) > before

    def take(self, key: str, kind: type) -> Any:
        value = self.values.pop(key, None)
        if value is None or isinstance(value, kind):
            return value
        if kind is str and isinstance(value, (int, float, date)) and not isinstance(value, bool):
            return str(value)
        names = {str: "text", bool: "true or false", dict: "keys and values", list: "a list"}
        self.problem(key, f"{key}: must be {names[kind]}")
        return None

    def problem(self, key: str, reason: str) -> None:
        line = next((n for name, n, _ in _entries(self.front) if name == key), 1)
        self.problems.append(HeadProblem(line, reason, key))

    def cover(self) -> Cover | None:
        value = self.values.pop("cover", None)
        y, height = self.values.pop("coverY", 0), self.values.pop("coverHeight", None)
        color, dark_color = self.cover_color("coverTextColor"), self.cover_color("coverTextColorDark")
        if isinstance(value, dict):
            light, dark = value.get("light"), value.get("dark")
        else:
            light, dark = value, None
        light = light or dark
        if light is None:
            return None
        if not isinstance(light, str) or not isinstance(dark, (str, type(None))):
            self.problem("cover", "cover: must be a path, or an object with light and dark paths")
            return None
        if isinstance(y, bool) or not isinstance(y, (int, float)):
            self.problem("coverY", "coverY: must be a number")
            y = 0
        if isinstance(height, bool) or not isinstance(height, (int, type(None))):
            self.problem("coverHeight", "coverHeight: must be a whole number")
            height = None
        return Cover(light=light, dark=dark, y=y, height=height, text_color=color, text_color_dark=dark_color)

    def cover_color(self, key: str) -> str | None:
        color: str | None = self.take(key, str)
        if color is None or color in COVER_COLORS:
            return color
        self.problem(key, f"{key}: must be black or white")
        return None

    def tags(self, key: str) -> tuple[str | JsonObject, ...]:
        tags, complete = read_page_tags(self.take(key, list) or ())
        if not complete:
            self.problem(
                key,
                f"{key}: each tag must be a slug with at most {MAX_SLUG} characters; invalid tags are ignored",
            )
        return tags

    def paths(self, key: str) -> tuple[str, ...]:
        paths, complete = read_paths(self.take(key, list) or ())
        if not complete:
            self.problem(
                key,
                f"{key}: must be a list of at most {MAX_PATHS} paths, such as /guides/install; other values"
                " are ignored",
            )
        return paths

    def meta_links(self, key: str) -> JsonObject:
        value = self.take(key, dict) or {}
        canonical, alternates = value.get("canonical"), value.get("alternates", [])
        fits = isinstance(canonical, (str, type(None))) and isinstance(alternates, list)
        if not fits or value.keys() - {"canonical", "alternates"} or not all(map(_is_text, alternates)):
            self.problem(
                key,
                f"{key}: can contain only `canonical` (a URL or path) and `alternates` (a list of URLs and"
                " paths)",
            )
            return {}
        return value

    def layout(self) -> LayoutOptions:
        value = self.take("layout", dict) or {}
        fields: JsonObject = {}
        if isinstance(value.get("width"), str):
            fields["width"] = value["width"]
        for key, name in _LAYOUT.items():
            part = value.get(key)
            if isinstance(part, dict) and isinstance(part.get("visible"), bool):
                fields[name] = part["visible"]
            elif part is not None:
                self.problem("layout", f"layout.{key}.visible: must be true or false")
        cover = value.get("cover")
        if isinstance(cover, dict):
            if isinstance(cover.get("visible"), bool):
                fields["cover"] = cover["visible"]
            if isinstance(cover.get("size"), str):
                fields["cover_size"] = cover["size"]
            if isinstance(cover.get("mask"), str):
                fields["cover_mask"] = cover["mask"]
        return LayoutOptions(**fields)


def front_keys(page: PageFields, name: str) -> JsonObject:
    """Return the front-matter keys for a field of a page, with None for keys to remove."""
    field, value = FRONT_FIELDS[name], getattr(page, name)
    if field.type == "cover":
        return dict.fromkeys(field.keys) if value is None else _cover_keys(value)
    if field.type == "layout":
        value = _layout_value(value)
    return {field.keys[0]: (list(value) if field.is_list else value) or None}


def _cover_keys(cover: Cover) -> JsonObject:
    light: Any = {"light": cover.light, "dark": cover.dark} if cover.dark else cover.light
    return {
        "cover": light,
        "coverY": cover.y or None,
        "coverHeight": cover.height,
        "coverTextColor": cover.text_color,
        "coverTextColorDark": cover.text_color_dark,
    }


def _layout_value(layout: LayoutOptions) -> JsonObject:
    plain = LayoutOptions()
    shown: JsonObject = {} if layout.width == plain.width else {"width": layout.width}
    for key, name in _LAYOUT.items():
        if getattr(layout, name) != getattr(plain, name):
            shown[key] = {"visible": getattr(layout, name)}
    cover: JsonObject = {} if layout.cover == plain.cover else {"visible": layout.cover}
    if layout.cover_size != plain.cover_size:
        cover["size"] = layout.cover_size
    if layout.cover_mask != plain.cover_mask:
        cover["mask"] = layout.cover_mask
    if cover:
        shown["cover"] = cover
    return shown


def _entries(front: str) -> list[tuple[str, int, tuple[int, int]]]:
    """Return the top-level keys of front matter: name, line (from 1), and the offsets of the entry."""
    match = _FRONT.match(front)
    if match is None:
        return []
    found: list[tuple[str, int, tuple[int, int]]] = []
    start, end = match.span("yaml")
    for number, line in enumerate(_LINES.finditer(front, start, end), 2):
        key = _KEY.match(front, line.start(), line.end())
        if key:
            name = key["plain"] or key["double"] or key["single"]
            found.append((name, number, (line.start(), line.end())))
        elif found and line[0].strip() and not line[0].startswith("#"):
            name, first, (begin, _) = found[-1]
            found[-1] = (name, first, (begin, line.end()))
    return found


def with_head(source: str, changes: Mapping[str, Any]) -> str:
    """Return the page file with these front-matter keys set. Keys with the value None are removed. The key ``title``
    sets the heading. All other bytes are unchanged."""
    front, heading, body = split_page(source)
    rest = dict(changes)
    if "title" in rest:
        in_front = not heading and any(name == "title" for name, _, _ in _entries(front))
        if not in_front:
            heading, body = _set_title(rest.pop("title"), heading, body, front)
    if rest:
        front = _set_keys(front, rest, _break(source))
        if front and not source.startswith(("---", "\ufeff---")) and heading.startswith("\ufeff"):
            front, heading = "\ufeff" + front, heading[1:]
        elif front and not source.startswith(("---", "\ufeff---")) and body.startswith("\ufeff"):
            front, body = "\ufeff" + front, body[1:]
    return front + heading + body


def _break(source: str) -> str:
    match = re.search(r"\r\n|\r|\n", source)
    return match[0] if match else "\n"


def _set_title(title: str | None, heading: str, body: str, front: str) -> tuple[str, str]:
    ending = _break(front + heading + body)
    if title is None:
        return "", body
    text = write_inlines([Text([Leaf(" ".join(str(title).split()))])], Notes()) if title else ""
    text = re.sub(r"(^|[ \t])(#+)$", r"\1\\\2", text)
    line = f"# {text}".rstrip()
    match = _TITLE.match(heading)
    if match is None:
        mark = "\ufeff" if body.startswith("\ufeff") else ""
        body = body.removeprefix("\ufeff")
        lead = ending if front and not front.endswith(("\n", "\r")) else ""
        return f"{mark}{lead}{line}{ending}" + ("" if body[:1] in ("\r", "\n", "") else ending), body
    anchor = re.search(r'(?<![ \t])[ \t]*<a href="#[^"]*" id="[^"]*"></a>', heading) or re.search(
        r"[ \t]\{:?[ \t]{0,4}#[^\s{}]{1,200}[ \t]{0,4}\}(?=[ \t#]*(?:\r|\n|\Z))", heading
    )
    tail = re.search(r"(?:\r\n|\r|\n)?\Z", heading)
    lead = heading[: next(match.start(name) for name in ("atx", "under", "open") if match[name] is not None)]
    lead = lead[: len(lead) - len(lead.lstrip("\ufeff \t\r\n"))]
    if match["open"]:
        return (
            f"{lead}{match['open']}{html.escape(' '.join(title.split()))}</h1>{tail[0] if tail else ''}",
            body,
        )
    return lead + line + (anchor[0] if anchor else "") + (tail[0] if tail else ""), body


def _set_keys(front: str, changes: JsonObject, ending: str) -> str:
    if not front:
        added = "".join(_entry(key, value, ending) for key, value in changes.items() if value is not None)
        return f"---{ending}{added}---{ending}{ending}" if added else ""
    match = _FRONT.match(front)
    # A misspelled `if` is replaced together with the condition.
    entries = [
        ("if" if "if" in changes and is_like_if(name) else name, line, span)
        for name, line, span in _entries(front)
    ]
    values, problems = front_matter(front)
    named = {("if" if "if" in changes and is_like_if(key) else key): value for key, value in values.items()}
    out: list[str] = []
    at = 0
    done: set[str] = set()
    for name, _, (begin, end) in entries:
        if name not in changes:
            continue
        out.append(front[at:begin])
        if changes[name] is not None and name not in done:
            out.append(_entry(name, changes[name], ending))
        done.add(name)
        at = end
    close = match.end("yaml") if match else at
    out.append(front[at:close])
    out.extend(
        _entry(key, value, ending) for key, value in changes.items() if key not in done and value is not None
    )
    out.append(front[close:])
    changed = "".join(out)
    expected = {
        key: value for key, value in (named | changes).items() if key not in changes or value is not None
    }
    there, _ = front_matter(changed)
    is_right = there.keys() == expected.keys() and all(
        there[key] == value for key, value in expected.items() if key not in changes
    )
    if match is None or problems or is_right:
        return changed
    # The lines of a changed key contained more than the key: an anchor that others repeat, or a key written in an
    # unusual way.
    written = "".join(_entry(key, value, ending) for key, value in expected.items())
    return front[: match.start("yaml")] + written + front[match.end("yaml") :]


def _entry(key: str, value: object, ending: str) -> str:
    """Return one key as YAML, with long text in the folded style that GitBook's files use."""
    if isinstance(value, str) and len(value) > 80 and re.fullmatch(r"[^\s#&*!|>'\"%@`](?: ?[^\s])*", value):
        text = f"{key}: >-\n" + "".join(f"  {line}\n" for line in _folded(value))
        try:
            if read_yaml(text).value == {key: value}:
                return text.replace("\n", ending)
        except YamlError:
            pass
    return write_yaml({key: value}).replace("\n", ending)


def _folded(text: str) -> list[str]:
    lines: list[str] = []
    for word in text.split(" "):
        if lines and len(lines[-1]) + len(word) < 78:
            lines[-1] += " " + word
        else:
            lines.append(word)
    return lines
