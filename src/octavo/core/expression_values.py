"""Values of expressions. They are converted and compared as in JavaScript, within time and memory limits."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

MAX_STEPS = 20_000
MAX_TEXT = 100_000


class ExpressionError(ValueError):
    """Raised if an expression is invalid or fails. ``position``: the position in characters, from 0."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(f"{message} (at {position})")
        self.position = position


class Undefined:
    def __bool__(self) -> bool:
        return False


UNDEFINED = Undefined()
Scope = Mapping[str, Any]
Code = Callable[["Evaluation", Scope], Any]
# Regular expressions
_PATTERN_MEMORY = 256 * 1024
"""Maximum size in bytes of a compiled regular expression, which limits large repetitions."""


class RegularExpression:
    """Regular expression literal such as ``/^v[0-9]+$/i``. It is stateless: the flag ``g`` only makes ``match`` return
    all matches.

    Raises ValueError if RE2 doesn't support the pattern.
    """

    def __init__(self, source: str, flags: str) -> None:
        import re2

        self.source = f"/{source}/{flags}"
        self.all = "g" in flags
        options = re2.Options()
        options.log_errors = False
        options.max_mem = _PATTERN_MEMORY
        options.case_sensitive = "i" not in flags
        shown = "".join(flag for flag in "ms" if flag in flags)
        # RE2 writes JavaScript's \uXXXX and \u{X} as \x{X}.
        plain = re.sub(r"(\\\\)|\\u\{?([0-9a-fA-F]{4,6})\}?", lambda m: m[1] or rf"\x{{{m[2]}}}", source)
        try:
            self._compiled = re2.compile(f"(?{shown}){plain}" if shown else plain, options)
        except re2.error as error:
            raise ValueError(str(error.args[0], "utf-8", "replace")) from None

    def matches(self, run: Evaluation, text: str) -> list[Any]:
        """Return the first match, or all matches with the flag ``g``, as RE2 match objects. The number of evaluation
        steps depends on the length of the text."""
        run.step(1 + (len(text) >> 3))
        if self.all:
            found = list(self._compiled.finditer(joined(text, "replace")))
            run.step(len(found))
            return found
        match = self._compiled.search(joined(text, "replace"))
        return [match] if match else []


# Values. Internally, numbers are floats, and strings are sequences of UTF-16 units, as JavaScript counts them.
def inward(value: object) -> Any:
    if isinstance(value, str):
        if value.isascii() or max(value) <= "\uffff":
            return value
        units = value.encode("utf-16-le", "surrogatepass")
        return "".join(chr(units[i] | units[i + 1] << 8) for i in range(0, len(units), 2))
    if isinstance(value, int) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    return list(value) if isinstance(value, tuple) else value


def joined(units: str, lone: str = "surrogatepass") -> str:
    """Convert UTF-16 units to an ordinary string. ``lone``: the error handler for unpaired surrogates."""
    return units if units.isascii() else units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", lone)


def truthy(value: object) -> bool:
    if isinstance(value, float):
        return value != 0 and not math.isnan(value)
    if isinstance(value, (bool, str)):
        return bool(value)
    return value is not None and value is not UNDEFINED


_NUMBER = re.compile(r"[+-]?(?:Infinity|[0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?)\Z")
_BASED = re.compile(r"0(?:[xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+)\Z")
BLANKS = "\t\n\v\f\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    map(chr, range(0x2000, 0x200B))
)


def _number_of_text(text: str) -> float:
    text = text.strip(BLANKS)
    if not text:
        return 0.0
    if _NUMBER.match(text):
        return float(text)
    if _BASED.match(text):
        return float(inward(int(text, 0)))
    return math.nan


def _text_of_number(number: float) -> str:
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    if number == 0:
        return "0"
    sign, digit_list, exponent = Decimal(repr(number)).normalize().as_tuple()
    digits = "".join(map(str, digit_list))
    point = len(digits) + int(exponent)
    if len(digits) <= point <= 21:
        found = digits + "0" * (point - len(digits))
    elif 0 < point <= 21:
        found = f"{digits[:point]}.{digits[point:]}"
    elif -6 < point <= 0:
        found = "0." + "0" * -point + digits
    else:
        fraction = f".{digits[1:]}" if len(digits) > 1 else ""
        found = f"{digits[0]}{fraction}e{point - 1:+d}"
    return "-" + found if sign else found


def strictly_equal(one: object, two: object) -> bool:
    if isinstance(one, bool) or isinstance(two, bool):
        return one is two
    if isinstance(one, (float, str)):
        return type(one) is type(two) and one == two
    return one is two


def same_value_zero(one: object, two: object) -> bool:
    return strictly_equal(one, two) or all(
        isinstance(value, float) and math.isnan(value) for value in (one, two)
    )


class Evaluation:
    """Single evaluation that counts its steps."""

    def __init__(self) -> None:
        self.steps = 0

    def step(self, count: int = 1, position: int = 0) -> None:
        self.steps += count
        if self.steps > MAX_STEPS:
            raise ExpressionError("the expression requires too many steps; simplify it", position)

    def bounded(self, text: str, position: int = 0) -> str:
        if len(text) > MAX_TEXT:
            raise ExpressionError(f"the result is longer than {MAX_TEXT:,} characters", position)
        # Building long strings costs steps in proportion to the time it takes.
        self.step(len(text) >> 7, position)
        return text

    def text(self, value: object, separator: str = ",") -> str:
        if isinstance(value, str):
            return value
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, float):
            return _text_of_number(value)
        if value is None:
            return "null"
        if isinstance(value, list):
            return self.join(value, separator)
        if isinstance(value, RegularExpression):
            return inward(value.source)  # type: ignore[no-any-return]
        return "undefined" if value is UNDEFINED else "[object Object]"

    def join(self, items: Sequence[object], separator: str) -> str:
        self.step(1 + len(items))
        parts: list[str] = []
        length = 0
        for item in items:
            part = "" if item is None or item is UNDEFINED else self.text(inward(item))
            length += len(part) + len(separator)
            if length > MAX_TEXT:
                raise ExpressionError(f"the result is longer than {MAX_TEXT:,} characters", 0)
            parts.append(part)
        return self.bounded(separator.join(parts))

    def number(self, value: object) -> float:
        if isinstance(value, bool):
            return 1.0 if value else 0.0
        if isinstance(value, float):
            return value
        if value is None:
            return 0.0
        return math.nan if value is UNDEFINED else _number_of_text(self.text(value))

    def primitive(self, value: object) -> object:
        return self.text(value) if isinstance(value, (list, Mapping)) else value

    def loosely_equal(self, one: object, two: object) -> bool:
        nothing = (one is None or one is UNDEFINED, two is None or two is UNDEFINED)
        if any(nothing):
            return all(nothing)
        if isinstance(one, (list, Mapping)) and isinstance(two, (list, Mapping)):
            return one is two
        one, two = self.primitive(one), self.primitive(two)
        if isinstance(one, str) and isinstance(two, str):
            return one == two
        return self.number(one) == self.number(two)

    def outward(self, value: object) -> object:
        self.step()
        if isinstance(value, str):
            return joined(value, "replace")
        if isinstance(value, float):
            return int(value) if value.is_integer() and abs(value) <= 2**53 else value
        if isinstance(value, list):
            return [self.outward(inward(item)) for item in value]
        if isinstance(value, RegularExpression):
            return value.source
        return None if value is UNDEFINED else value
