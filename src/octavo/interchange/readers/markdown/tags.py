"""Component tags, which can span several lines."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from .lines import FENCE, Line, indent_of

MAX_TAG = 500
"""Maximum number of lines in an Octavo tag."""
_ATTRIBUTE_NAME = re.compile(r"[\s/]*([A-Za-z_:@#.][\w:@.-]*)")
MAX_TAG_LINES = 200
MAX_TAG = 20_000


class Opening(Struct, frozen=True):
    """Opening tag: its end, and its unmodified attributes. Expressions keep their braces. Strings that start with a
    brace are prefixed with a null character, to distinguish them from expressions."""

    line: int
    column: int
    attributes: dict[str, str]
    empty: bool


class EndlessTag(Exception):
    """Raised if a tag has no end. ``size``: the number of characters that were searched."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size


def read_opening(lines: list[Line], at: int, column: int) -> Opening | None:
    """Return the opening tag at a position; None if there is no tag. Raises EndlessTag if the tag doesn't have an
    end."""
    text = lines[at][0][column : column + MAX_TAG]
    starts = [0]
    last = at
    found: dict[str, str] = {}
    place = 1
    name = re.match(r"[A-Za-z][\w.-]*", text[1:])
    if name is None:
        return None
    place += name.end()

    def more() -> bool:
        nonlocal text, last
        if last + 1 >= len(lines) or last - at > MAX_TAG_LINES or len(text) >= MAX_TAG:
            return False
        last += 1
        starts.append(len(text) + 1)
        text += "\n" + lines[last][0]
        return True

    while True:
        while place < len(text) and text[place] in " \t\n":
            place += 1
        if place >= len(text):
            if not more():
                raise EndlessTag(len(text))
            continue
        if text[place] == ">" or text.startswith("/>", place):
            empty = text[place] == "/"
            place += 2 if empty else 1
            row = max(n for n, start in enumerate(starts) if start <= place - 1)
            return Opening(at + row, place - starts[row] + (column if row == 0 else 0), found, empty)
        if text[place] in "{":
            # Spread attributes.
            end = _end_of_braces(text, place)
            while end is None and more():
                end = _end_of_braces(text, place)
            if end is None:
                raise EndlessTag(len(text) * (1 + last - at))
            place = end
            continue
        key = _ATTRIBUTE_NAME.match(text, place)
        if key is None:
            return None
        place = key.end()
        while place < len(text) and text[place] in " \t":
            place += 1
        if not text.startswith("=", place):
            found[key[1]] = "{true}"
            continue
        place += 1
        while place >= len(text) or text[place] in " \t\n":
            if place >= len(text) and not more():
                raise EndlessTag(len(text))
            place += 1
        sign = text[place]
        if sign in "\"'":
            end = text.find(sign, place + 1)
            while end < 0 and more():
                end = text.find(sign, place + 1)
            if end < 0:
                raise EndlessTag(len(text))
            value = text[place + 1 : end]
            found[key[1]] = f"\0{value}" if value.startswith("{") else value
            place = end + 1
        elif sign == "{":
            end = _end_of_braces(text, place)
            while end is None and more():
                end = _end_of_braces(text, place)
            if end is None:
                raise EndlessTag(len(text) * (1 + last - at))
            found[key[1]] = text[place:end]
            place = end
        else:
            bare = re.compile(r"[^\s>\"'=<`]+").match(text, place)
            if bare is None:
                return None
            found[key[1]] = (
                bare[0].removesuffix("/")
                if bare[0].endswith("/") and text[bare.end() : bare.end() + 1] == ">"
                else bare[0]
            )
            place = place + len(found[key[1]])


def _end_of_braces(text: str, at: int) -> int | None:
    depth = 0
    while at < len(text):
        sign = text[at]
        if sign in "\"'`":
            end = at + 1
            while end < len(text) and text[end] != sign and (sign == "`" or text[end] != "\n"):
                end += 2 if text[end] == "\\" else 1
            if end < len(text) and text[end] == sign:
                at = end
            elif end >= len(text) and sign == "`":
                return None
        elif sign == "{":
            depth += 1
        elif sign == "}":
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    return None


def find_closing(
    lines: list[Line], opened: Opening, name: str, opening: Callable[[list[Line], int, int], Opening | None]
) -> tuple[int, int, int] | None:
    """Return the line and the columns of the tag that closes an element. Tags in code blocks are ignored."""
    pattern = re.compile(rf"<(?P<close>/?){re.escape(name)}(?=[\s/>]|$)|(?P<code>`+)")
    depth, fence = 1, ""
    at, column = opened.line, opened.column
    while at < len(lines):
        text = lines[at][0]
        mark = FENCE.match(text) if column == 0 else None
        if mark and (not fence or (mark["fence"].startswith(fence) and not mark["info"].strip())):
            fence = "" if fence else mark["fence"]
        elif not fence:
            while found := pattern.search(text, column):
                column = found.end()
                if found["code"]:
                    end = re.compile(rf"(?<!`){found['code']}(?!`)").search(text, column)
                    column = end.end() if end else column
                elif found["close"]:
                    depth -= 1
                    if depth == 0:
                        end_of_tag = text.find(">", column)
                        return at, found.start(), end_of_tag + 1 if end_of_tag >= 0 else len(text)
                else:
                    again = opening(lines, at, found.start())
                    if again is not None and not again.empty:
                        depth += 1
                    if again is not None and again.line == at:
                        column = again.column
        at, column = at + 1, 0
    return None


def inside_of(lines: list[Line], opened: Opening, closed: tuple[int, int, int]) -> list[Line]:
    """Return the contents between the tags of an element."""
    line, start, _ = closed
    if line == opened.line:
        inside = lines[line][0][opened.column : start]
        return [(inside.strip(), lines[line][1])] if inside.strip() else []
    first = lines[opened.line][0][opened.column :]
    last = lines[line][0][:start]
    between = lines[opened.line + 1 : line]
    # Content on the same line as a tag has no indentation.
    by = " " * min((indent_of(text) for text, _ in between if text.strip()), default=0)
    made = [(by + first.strip(), lines[opened.line][1])] if first.strip() else []
    made += between
    return [*made, (by + last.strip() if between else last.strip(), lines[line][1])] if last.strip() else made
