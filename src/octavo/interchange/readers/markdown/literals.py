"""Values in a JavaScript configuration file, read without running it: literals, the constants that they refer to,
those of imported files, and functions that return them. Anything else is `UNKNOWN`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from octavo.core.json_types import JsonObject

MAX_CHARACTERS = 1024 * 1024
MAX_DEPTH = 60
MAX_VALUES = 200_000
MAX_MODULES = 100
"""Maximum number of file requests by one file and its imports."""
MAX_MODULE_DEPTH = 8

UNKNOWN: Any = type("Unknown", (), {"__repr__": lambda self: "UNKNOWN", "__bool__": lambda self: False})()
"""A value that is known only by running the file."""

_SPACE = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)+", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_NUMBER = re.compile(r"-?(?:0x[0-9a-fA-F]+|\d[\d_]*(?:\.\d+)?(?:[eE][-+]?\d+)?)")
_RETURN = re.compile(r"(?<![\w$.])return\b(?!\s*[;}])")
_EXPORT = re.compile(r"^[ \t]*(?:export\s+default|module\.exports\s*=|exports\.default\s*=)", re.MULTILINE)
_IMPORTED = re.compile(
    r"^[ \t]*+(?:(?:import|export)\s++(?:type\s++)?(?:(?P<whole>[\w$]++)(?:\s*+,)?\s*+)?"
    r"(?:\{(?P<some>[^{}]*+)\}|\*\s*+as\s++(?P<all>[\w$]++))?\s*+from\s*+['\"](?P<path>\.[^'\"\n]*+)['\"]"
    r"|(?:const|let|var)\s*+\{(?P<taken>[^{}]*+)\}\s*+=\s*+require\(\s*+['\"](?P<required>\.[^'\"\n]*+)['\"])",
    re.MULTILINE,
)
_EXPORTED_AGAIN = re.compile(r"^[ \t]*export\s*\*\s*from\s*['\"](\.[^'\"\n]*)['\"]", re.MULTILINE)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": "\0"}
_WORDS = {"true": True, "false": False, "null": None, "undefined": None}
_TYPED = re.compile(r"\s*(?:as|satisfies)\s+(?:const\b|[\w$.]+(?:<[^<>\n]*>)?(?:\[\])?)")


class Module(Struct, frozen=True):
    """A code file. ``take`` returns the module at a path."""

    text: str
    take: Callable[[str], Module | None] = lambda path: None


def read_export(given: str | Module) -> Any:
    """Return the value that a module exports, or `UNKNOWN`."""
    module = given if isinstance(given, Module) else Module(given)
    return UNKNOWN if len(module.text) > MAX_CHARACTERS else _Reader(module).exported()


def read_constant(given: str | Module, name: str) -> Any:
    """Return the value of a constant, or the return value of a function with this name."""
    module = given if isinstance(given, Module) else Module(given)
    return UNKNOWN if len(module.text) > MAX_CHARACTERS else _Reader(module).named(name)


def read_literal(text: str) -> Any:
    """Return the value of a single expression, such as that of an attribute."""
    if len(text) > MAX_CHARACTERS:
        return UNKNOWN
    reader = _Reader(Module(text))
    value = reader.at(0)
    reader.space()
    return value if reader.place >= len(text) else UNKNOWN


class _Unread(Exception):
    """The code at this place isn't understood."""


class _Spent(Struct):
    """The amount read so far, for a file and all its imports."""

    values: int = 0
    modules: int = 0


class _Reader:
    def __init__(self, module: Module, spent: _Spent | None = None, level: int = 0) -> None:
        self.module = module
        self.text = module.text
        self.place = 0
        self.depth = 0
        self.spent = spent or _Spent()
        self.level = level
        self.asked: set[str] = set()
        self._imports: dict[str, tuple[str, str]] | None = None

    def exported(self) -> Any:
        found = list(_EXPORT.finditer(self.text))
        return self.at(found[-1].end()) if found else UNKNOWN

    def imports(self) -> dict[str, tuple[str, str]]:
        """Return the names imported from files, with the path and the original name of each. The original name is
        empty for the default export and ``*`` for the whole module."""
        if self._imports is None:
            made: dict[str, tuple[str, str]] = {}
            for found in _IMPORTED.finditer(self.text):
                path = found["path"] or found["required"]
                for part in (found["some"] or found["taken"] or "").split(","):
                    name, _, own = re.sub(r"\s+as\s+|\s*:\s*", "\0", part.strip()).partition("\0")
                    name = name.removeprefix("type ").strip()
                    made[(own or name).strip()] = (path, "" if name == "default" else name)
                if found["whole"]:
                    made[found["whole"]] = (path, "")
                if found["all"]:
                    made[found["all"]] = (path, "*")
            self._imports = made
        return self._imports

    def imported(self, path: str, name: str) -> Any:
        """Return the value of a name in another file."""
        self.spent.modules += 1
        if self.spent.modules > MAX_MODULES or self.level >= MAX_MODULE_DEPTH:
            return UNKNOWN
        module = self.module.take(path)
        if module is None or len(module.text) > MAX_CHARACTERS:
            return UNKNOWN
        reader = _Reader(module, self.spent, self.level + 1)
        if name == "*":
            names = re.findall(
                r"^[ \t]*export\s+(?:const|let|var|function)\s+([\w$]+)", module.text, re.MULTILINE
            )
            return {each: reader.named(each) for each in names[:MAX_MODULES]}
        value = reader.named(name) if name else reader.exported()
        if value is UNKNOWN and name:
            whole = reader.exported()
            value = whole.get(name, UNKNOWN) if isinstance(whole, dict) else UNKNOWN
        if value is UNKNOWN and name:
            for found in _EXPORTED_AGAIN.finditer(module.text):
                value = reader.imported(found[1], name)
                if value is not UNKNOWN:
                    break
        return value

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
        """Return the value assigned to a name in this file."""
        if name in self.asked:
            return UNKNOWN
        given = re.search(
            rf"^[ \t]*(?:export\s+)?(?:const|let|var)\s+{re.escape(name)}\b[^=\n]*=(?!=|>)",
            self.text,
            re.MULTILINE,
        )
        declared = given or re.search(
            rf"^[ \t]*(?:export\s+)?(?:default\s+)?(?:async\s+)?function\s+{re.escape(name)}\s*\([^)]*\)[^{{;]*(?=\{{)",
            self.text,
            re.MULTILINE,
        )
        if declared is None:
            path, inside = self.imports().get(name, ("", ""))
            return self.imported(path, inside) if path else UNKNOWN
        before = self.place
        self.asked.add(name)
        value = self.at(declared.end(), self.value if given else self.body)
        self.asked.discard(name)
        self.place = before
        return value

    def value(self) -> Any:
        self.spent.values += 1
        self.depth += 1
        if self.depth > MAX_DEPTH or self.spent.values > MAX_VALUES:
            raise _Unread
        value = self.primary()
        # Concatenated strings, and syntax for type checkers.
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
        """Parse a value in brackets, or an anonymous function."""
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
            # The return value is read only if nothing but the end of the function follows.
            if (returned := self.last_return(start + 1, after - 1)) is not None:
                self.place = returned
                value = self.value()
                self.take(";")
                if self.peek() != "}" or self.place != after - 1:
                    value = UNKNOWN
            self.place = after
            return value
        return self.value()

    def last_return(self, start: int, end: int) -> int | None:
        """Return the end of the last ``return`` of a function, ignoring nested functions and blocks."""
        self.place, last = start, None
        while (sign := self.peek()) and self.place < end:
            if sign in "({[":
                self.skip()
            elif sign in "'\"`":
                self.string()
            elif found := _RETURN.match(self.text, self.place):
                self.place = last = found.end()
            elif found := _NAME.match(self.text, self.place):
                self.place = found.end()
            else:
                self.place += 1
        return last

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
                # Configuration helpers return their argument unchanged.
                given = self.arguments()
                if name == "require" and isinstance(given, str) and given.startswith("."):
                    value = self.imported(given, "")
                elif value is UNKNOWN or isinstance(value, str):
                    # A string is the name of a package, whose function this calls.
                    value = given
                elif isinstance(value, dict) and isinstance(given, dict):
                    # The result of a plug-in with its own settings, which is called with the rest of them.
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
        """Return the first argument of a call that is a map or a list, else the first argument."""
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

    def object(self) -> JsonObject:
        self.take("{")
        made: JsonObject = {}
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
            # Part of an expression that is more than a literal.
            self.to_end_of_value()
            return UNKNOWN
        return value

    def to_end_of_value(self) -> None:
        """Skip to the comma or bracket after a value that isn't understood."""
        while (sign := self.peek()) and sign not in ",)]}":
            if sign in "({[":
                self.skip()
            elif sign in "'\"`":
                self.string()
            else:
                self.place += 1

    def skip(self) -> None:
        """Skip a bracket and its contents."""
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
                if after in "ux" and (
                    code := re.compile(r"u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})").match(
                        self.text, self.place - 1
                    )
                ):
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
