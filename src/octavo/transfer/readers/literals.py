"""What a configuration file in JavaScript says, read and never run: its literals, the constants that they name, and the
functions that give one. What depends on anything else is `UNKNOWN`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

MAX_CHARACTERS = 1024 * 1024
MAX_DEPTH = 60
MAX_VALUES = 200_000

UNKNOWN: Any = type("Unknown", (), {"__repr__": lambda self: "UNKNOWN", "__bool__": lambda self: False})()
"""What only running the file would tell."""

_SPACE = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)+", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_NUMBER = re.compile(r"-?(?:0x[0-9a-fA-F]+|\d[\d_]*(?:\.\d+)?(?:[eE][-+]?\d+)?)")
_RETURN = re.compile(r"(?<![\w$.])return\b(?!\s*[;}])")
_EXPORT = re.compile(r"^[ \t]*(?:export\s+default|module\.exports\s*=|exports\.default\s*=)", re.MULTILINE)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": "\0"}
_WORDS = {"true": True, "false": False, "null": None, "undefined": None}
_TYPED = re.compile(r"\s*(?:as|satisfies)\s+(?:const\b|[\w$.]+(?:<[^<>\n]*>)?(?:\[\])?)")


def read_export(text: str) -> Any:
    """The value that a module exports; `UNKNOWN` where that cannot be told."""
    if len(text) > MAX_CHARACTERS:
        return UNKNOWN
    found = list(_EXPORT.finditer(text))
    return _Reader(text).at(found[-1].end()) if found else UNKNOWN


def read_constant(text: str, name: str) -> Any:
    """The value of a constant, or of what a function of this name gives."""
    return UNKNOWN if len(text) > MAX_CHARACTERS else _Reader(text).named(name)


def read_literal(text: str) -> Any:
    """The value of one expression, such as that of an attribute."""
    if len(text) > MAX_CHARACTERS:
        return UNKNOWN
    reader = _Reader(text)
    value = reader.at(0)
    reader.space()
    return value if reader.place >= len(text) else UNKNOWN


class _Unread(Exception):
    """Nothing that is understood is here."""


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0
        self.depth = 0
        self.values = 0
        self.asked: set[str] = set()

    def at(self, place: int, read: Callable[[], Any] | None = None) -> Any:
        self.place = place
        try:
            return (read or self.value)()
        except (_Unread, RecursionError):
            return UNKNOWN

    def space(self) -> None:
        if found := _SPACE.match(self.text, self.place):
            self.place = found.end()

    def peek(self) -> str:
        self.space()
        return self.text[self.place : self.place + 1]

    def take(self, sign: str) -> bool:
        self.space()
        if self.text.startswith(sign, self.place):
            self.place += len(sign)
            return True
        return False

    def named(self, name: str) -> Any:
        """What a name was given in this file."""
        if name in self.asked:
            return UNKNOWN
        given = re.search(
            rf"^[ \t]*(?:export\s+)?(?:const|let|var)\s+{re.escape(name)}\b[^=\n]*=(?!=|>)", self.text, re.MULTILINE
        )  # fmt: skip
        declared = given or re.search(
            rf"^[ \t]*(?:export\s+)?(?:default\s+)?(?:async\s+)?function\s+{re.escape(name)}\s*\([^)]*\)[^{{;]*(?=\{{)",
            self.text, re.MULTILINE,
        )  # fmt: skip
        if declared is None:
            return UNKNOWN
        before = self.place
        self.asked.add(name)
        value = self.at(declared.end(), self.value if given else self.body)
        self.asked.discard(name)
        self.place = before
        return value

    def value(self) -> Any:
        self.values += 1
        self.depth += 1
        if self.depth > MAX_DEPTH or self.values > MAX_VALUES:
            raise _Unread
        value = self.primary()
        # Text that is put together, and what only a type checker reads.
        while True:
            if found := _TYPED.match(self.text, self.place):
                self.place = found.end()
            elif isinstance(value, str) and self.peek() == "+" and self.text[self.place + 1] not in "+=":
                self.place += 1
                more = self.primary()
                value = value + str(more) if isinstance(more, (str, int, float)) else UNKNOWN
            else:
                break
        self.depth -= 1
        return value

    def primary(self) -> Any:
        sign = self.peek()
        if sign == "{":
            return self.object()
        if sign == "[":
            return self.array()
        if sign in "'\"`" and sign:
            return self.string()
        if sign == "(":
            return self.bracket()
        if found := _NUMBER.match(self.text, self.place):
            self.place = found.end()
            written = found[0].replace("_", "")
            return (
                int(written, 0)
                if re.fullmatch(r"-?(0x[0-9a-fA-F]+|[1-9]\d{0,17}|0)", written)
                else float(written)
            )
        if found := _NAME.match(self.text, self.place):
            self.place = found.end()
            return self.word(found[0])
        raise _Unread

    def bracket(self) -> Any:
        """A value in brackets, or a function without a name."""
        before = self.place
        self.skip()
        if self.take("=>"):
            return self.body()
        self.place = before + 1
        value = self.value()
        if not self.take(")"):
            raise _Unread
        return value

    def body(self) -> Any:
        if self.peek() == "{":
            start = self.place
            self.skip()
            after, value = self.place, UNKNOWN
            # What it gives is read where nothing but the end of the function is behind it.
            if returns := list(_RETURN.finditer(self.text, start, after)):
                self.place = returns[-1].end()
                value = self.value()
                self.take(";")
                if self.peek() != "}" or self.place != after - 1:
                    value = UNKNOWN
            self.place = after
            return value
        return self.value()

    def word(self, name: str) -> Any:
        if name in _WORDS:
            return _WORDS[name]
        if name in ("async", "await", "new"):
            return self.primary()
        if name == "function":
            self.space()
            if found := _NAME.match(self.text, self.place):
                self.place = found.end()
            self.peek()
            self.skip()
            return self.body()
        value = self.named(name)
        while True:
            if self.take("=>"):
                return self.body()
            if self.take("."):
                self.space()
                if not (found := _NAME.match(self.text, self.place)):
                    raise _Unread
                self.place = found.end()
                value = value.get(found[0], UNKNOWN) if isinstance(value, dict) else UNKNOWN
            elif self.peek() == "(":
                # What helps to write a configuration gives it back as it got it.
                given = self.arguments()
                if value is UNKNOWN or isinstance(value, str):
                    # A text is the name of a package, whose function this calls.
                    value = given
                elif isinstance(value, dict) and isinstance(given, dict):
                    # What a plug-in with settings of its own made, which is called with the rest of them.
                    value = {**value, **given}
            elif self.peek() == "<" and (
                found := re.compile(r"<[^<>\n]*>(?=\()").match(self.text, self.place)
            ):
                self.place = found.end()
            elif self.peek() == "[":
                self.skip()
                value = UNKNOWN
            else:
                return value

    def arguments(self) -> Any:
        """The first argument of a call that is a map or a list, else the first."""
        self.take("(")
        given: list[Any] = []
        while not self.take(")"):
            before = self.place
            try:
                given.append(self.value())
            except _Unread:
                self.place = before
                self.to_end_of_value()
            if not self.take(",") and self.peek() != ")":
                self.to_end_of_value()
                self.take(",")
            if self.place >= len(self.text):
                raise _Unread
        return next(
            (value for value in given if isinstance(value, (dict, list))), given[0] if given else UNKNOWN
        )

    def object(self) -> dict[str, Any]:
        self.take("{")
        made: dict[str, Any] = {}
        while not self.take("}"):
            if self.place >= len(self.text):
                raise _Unread
            if self.take("..."):
                more = self.tried()
                if isinstance(more, dict):
                    made.update(more)
            elif (key := self.key()) is None or (
                key == "async" and re.match(r"[\w$]", self.peek()) and (key := self.key()) is None
            ):
                self.to_end_of_value()
            elif self.take(":"):
                made[key] = self.tried()
            elif self.peek() == "(":
                self.skip()
                made[key] = self.body() if self.peek() == "{" else UNKNOWN
            else:
                made[key] = self.named(key)
            if not self.take(",") and self.peek() != "}":
                self.to_end_of_value()
                self.take(",")
        return made

    def key(self) -> str | None:
        sign = self.peek()
        if sign in "'\"`" and sign:
            return str(self.string())
        if found := re.compile(r"[\w$]+").match(self.text, self.place):
            self.place = found.end()
            return found[0]
        return None

    def array(self) -> list[Any]:
        self.take("[")
        made: list[Any] = []
        while not self.take("]"):
            if self.place >= len(self.text):
                raise _Unread
            if self.take("..."):
                more = self.tried()
                made += more if isinstance(more, list) else [UNKNOWN]
            else:
                made.append(self.tried())
            if not self.take(",") and self.peek() != "]":
                self.to_end_of_value()
                self.take(",")
        return made

    def tried(self) -> Any:
        before, depth = self.place, self.depth
        try:
            value = self.value()
        except _Unread:
            self.place, self.depth = before, depth
            self.to_end_of_value()
            return UNKNOWN
        if self.peek() not in (",", "}", "]", ""):
            # A part of an expression that is more than a literal.
            self.to_end_of_value()
            return UNKNOWN
        return value

    def to_end_of_value(self) -> None:
        """To the comma or bracket behind what is not understood."""
        while (sign := self.peek()) and sign not in ",)]}":
            if sign in "({[":
                self.skip()
            elif sign in "'\"`":
                self.string()
            else:
                self.place += 1

    def skip(self) -> None:
        """Past a bracket and all that is in it."""
        waiting: list[str] = []
        while sign := self.peek():
            if sign in "'\"`":
                self.string()
                continue
            self.place += 1
            if sign in "({[":
                waiting.append(sign)
            elif sign in ")}]":
                if waiting:
                    waiting.pop()
                if not waiting:
                    return
        raise _Unread

    def string(self) -> Any:
        quote = self.text[self.place]
        self.place += 1
        found: list[str] = []
        known = True
        while self.place < len(self.text):
            sign = self.text[self.place]
            self.place += 1
            if sign == quote:
                return "".join(found) if known else UNKNOWN
            if sign == "\\":
                after = self.text[self.place : self.place + 1]
                self.place += 1
                if after in "ux" and (code := re.compile(r"u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})").match(self.text, self.place - 1)):  # fmt: skip
                    number = int(code[1] or code[2] or code[3], 16)
                    found.append(chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else "")
                    self.place = code.end()
                else:
                    found.append(_ESCAPES.get(after, "" if after == "\n" else after))
            elif quote == "`" and sign == "$" and self.text.startswith("{", self.place):
                inside = self.at_bracket()
                if isinstance(inside, (str, int, float)):
                    found.append(str(inside))
                else:
                    known = False
            else:
                found.append(sign)
        raise _Unread

    def at_bracket(self) -> Any:
        start = self.place
        self.skip()
        after = self.place
        self.place = start + 1
        try:
            value = self.value()
            whole = self.peek() == "}"
        except _Unread:
            value, whole = UNKNOWN, False
        self.place = after
        return value if whole else UNKNOWN
