"""Conditions, inline expressions, and custom merge rules: a small, closed part of JavaScript.

Values are JSON values plus ``undefined``; they behave as in JavaScript (truthiness, ``==``, ``+``,
comparisons, UTF-16 lengths) with one difference: a member or method of ``undefined`` or ``null`` is
``undefined`` instead of an error, so a claim that a visitor lacks counts as false. Expressions can reach only
own keys of the given data and the methods listed here; there is no assignment, and time is bounded by steps.
Regular expressions are RE2's, whose time is linear in the text: they have no lookahead, lookbehind, or
backreferences.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple

MAX_LENGTH = 1024
MAX_DEPTH = 64
MAX_STEPS = 20_000
MAX_TEXT = 100_000

# All roots except ``visitor``: the same for every reader of a revision.
DETERMINISTIC_ROOTS = frozenset({"space", "page"})


class ExpressionError(ValueError):
    """Raised if an expression is invalid or failed. ``position``: the position in characters, from 0."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(f"{message} (at {position})")
        self.position = position


class Undefined:
    def __bool__(self) -> bool:
        return False


UNDEFINED = Undefined()

Scope = Mapping[str, Any]
Code = Callable[["_Run", Scope], Any]


class Expression:
    """Parsed expression. ``roots``: the names that it reads from its context."""

    def __init__(self, source: str, roots: frozenset[str], code: Code) -> None:
        self.source = source
        self.roots = roots
        self.code = code


def evaluate(expression: str | Expression, context: Mapping[str, object]) -> object:
    """Return the value as plain data (``undefined`` becomes ``None``, whole numbers ``int``). Raises
    ``ExpressionError`` for bad syntax, a name that ``context`` lacks, or an exceeded limit."""
    run, value = _run(expression, context)
    return run.outward(value)


def is_true(expression: str | Expression, context: Mapping[str, object]) -> bool:
    """Return whether the value is truthy. Raises the errors of ``evaluate``."""
    return _truthy(_run(expression, context)[1])


def text_of(expression: str | Expression, context: Mapping[str, object]) -> str:
    """Return the value as inline text; ``undefined`` and ``null`` are empty. Raises the errors of
    ``evaluate``."""
    run, value = _run(expression, context)
    return "" if value is None or value is UNDEFINED else str(run.outward(run.text(value)))


NOBODY: dict[str, Any] = {"claims": {"unsigned": {}}}
"""Visitor without any claims."""


class Shown:
    """Evaluation of the expressions in documents for one visitor: an expression that fails produces no text
    and counts as false. ``space`` and ``page``: their variables."""

    def __init__(
        self, space: Mapping[str, object], page: Mapping[str, object], visitor: Mapping[str, object] = NOBODY
    ) -> None:
        self._context = {"visitor": visitor, "space": {"vars": space}, "page": {"vars": page}}

    def text(self, expression: str) -> str:
        try:
            return text_of(expression, self._context)
        except ExpressionError:
            return ""

    def holds(self, expression: str) -> bool:
        try:
            return is_true(expression, self._context)
        except ExpressionError:
            return False

    def problem(self, expression: str) -> str | None:
        """Return the reason why an expression can't be evaluated; None if it can."""
        try:
            is_true(expression, self._context)
        except ExpressionError as error:
            return str(error)
        return None


def is_deterministic(expression: str | Expression, roots: Iterable[str] = DETERMINISTIC_ROOTS) -> bool:
    """Return whether the expression reads only ``roots``, and so has the same value for every visitor."""
    parsed = parse(expression) if isinstance(expression, str) else expression
    return parsed.roots <= frozenset(roots)


@lru_cache(maxsize=4096)
def parse(expression: str) -> Expression:
    """Parse an expression, with a cache. Raises ``ExpressionError``."""
    if len(expression) > MAX_LENGTH:
        raise ExpressionError(f"the expression is longer than {MAX_LENGTH} characters", MAX_LENGTH)
    parser = _Parser(expression)
    node = parser.expression()
    if parser.kind != "end":
        parser.fail(f"unexpected {parser.text!r}")
    return Expression(expression, frozenset(parser.roots), node.code)


def _run(expression: str | Expression, context: Mapping[str, object]) -> tuple[_Run, object]:
    parsed = parse(expression) if isinstance(expression, str) else expression
    run = _Run()
    return run, parsed.code(run, context)


# Regular expressions

_PATTERN_MEMORY = 256 * 1024
"""Maximum size in bytes of a compiled regular expression, which limits large repetitions."""


class _Pattern:
    """Regular expression literal such as ``/^v[0-9]+$/i``. It has no state: ``g`` only makes ``match`` return
    all matches.

    Raises ValueError for patterns that RE2 does not support.
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

    def matches(self, run: _Run, text: str) -> list[Any]:
        """Return the first match, or all with ``g``, as RE2 match objects. The number of steps depends on the
        length of the text."""
        run.step(1 + (len(text) >> 3))
        if self.all:
            found = list(self._compiled.finditer(_joined(text, "replace")))
            run.step(len(found))
            return found
        match = self._compiled.search(_joined(text, "replace"))
        return [match] if match else []


def _test(run: _Run, pattern: _Pattern, text: object) -> bool:
    return bool(pattern.matches(run, run.text(text)))


def _required_pattern(value: object) -> _Pattern:
    if not isinstance(value, _Pattern):
        raise ExpressionError("expected a regular expression", 0)
    return value


def _match(run: _Run, target: str, pattern: object) -> object:
    """Return all matches with ``g``; otherwise the first match with its groups, or null."""
    pattern = _required_pattern(pattern)
    found = pattern.matches(run, target)
    if not found:
        return None
    if pattern.all:
        return [_inward(match[0]) for match in found]
    groups = found[0].groups()
    run.step(len(groups))
    return [UNDEFINED if text is None else _inward(text) for text in (found[0][0], *groups)]


def _search(run: _Run, target: str, pattern: object) -> float:
    found = _required_pattern(pattern).matches(run, target)
    return float(len(_inward(_joined(target, "replace")[: found[0].start()]))) if found else -1.0


# Values. Internally, numbers are floats and texts are sequences of UTF-16 units, as JavaScript counts them.


def _inward(value: object) -> Any:
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


def _joined(units: str, lone: str = "surrogatepass") -> str:
    """Return UTF-16 units as an ordinary text. ``lone``: the error handler for unpaired surrogates."""
    return units if units.isascii() else units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", lone)


def _truthy(value: object) -> bool:
    if isinstance(value, float):
        return value != 0 and not math.isnan(value)
    if isinstance(value, (bool, str)):
        return bool(value)
    return value is not None and value is not UNDEFINED


_NUMBER = re.compile(r"[+-]?(?:Infinity|[0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?)\Z")
_BASED = re.compile(r"0(?:[xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+)\Z")
_BLANKS = "\t\n\v\f\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    map(chr, range(0x2000, 0x200B))
)


def _number_of_text(text: str) -> float:
    text = text.strip(_BLANKS)
    if not text:
        return 0.0
    if _NUMBER.match(text):
        return float(text)
    if _BASED.match(text):
        return float(_inward(int(text, 0)))
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


def _strictly_equal(one: object, two: object) -> bool:
    if isinstance(one, bool) or isinstance(two, bool):
        return one is two
    if isinstance(one, (float, str)):
        return type(one) is type(two) and one == two
    return one is two


def _same_value_zero(one: object, two: object) -> bool:
    return _strictly_equal(one, two) or all(
        isinstance(value, float) and math.isnan(value) for value in (one, two)
    )


class _Run:
    """Single evaluation that counts its steps."""

    def __init__(self) -> None:
        self.steps = 0

    def step(self, count: int = 1, position: int = 0) -> None:
        self.steps += count
        if self.steps > MAX_STEPS:
            raise ExpressionError("the expression takes too many steps; simplify it", position)

    def bounded(self, text: str, position: int = 0) -> str:
        if len(text) > MAX_TEXT:
            raise ExpressionError(f"the result is a text longer than {MAX_TEXT} characters", position)
        # Building long texts costs steps in proportion to the time it takes.
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
        if isinstance(value, _Pattern):
            return _inward(value.source)  # type: ignore[no-any-return]
        return "undefined" if value is UNDEFINED else "[object Object]"

    def join(self, items: Sequence[object], separator: str) -> str:
        self.step(1 + len(items))
        parts: list[str] = []
        length = 0
        for item in items:
            part = "" if item is None or item is UNDEFINED else self.text(_inward(item))
            length += len(part) + len(separator)
            if length > MAX_TEXT:
                raise ExpressionError(f"the result is a text longer than {MAX_TEXT} characters", 0)
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
            return _joined(value, "replace")
        if isinstance(value, float):
            return int(value) if value.is_integer() and abs(value) <= 2**53 else value
        if isinstance(value, list):
            return [self.outward(_inward(item)) for item in value]
        if isinstance(value, _Pattern):
            return value.source
        return None if value is UNDEFINED else value


# Members and methods

_FORBIDDEN = frozenset({"constructor", "prototype"})
_INDEX = re.compile(r"(?:0|[1-9][0-9]{0,9})\Z")


def _member(run: _Run, target: object, key: object) -> object:
    name = run.text(key)
    if name.startswith("__") or name in _FORBIDDEN:
        return UNDEFINED
    if isinstance(target, (str, list)):
        if name == "length":
            return float(len(target))
        if _INDEX.match(name) and int(name) < len(target):
            return _inward(target[int(name)])
        return UNDEFINED
    if isinstance(target, Mapping):
        # Keys of the context are ordinary texts instead of UTF-16 units.
        found = target.get(run.outward(name), UNDEFINED)
        return _inward(found)
    return UNDEFINED


def _has(run: _Run, key: object, target: object, position: int) -> bool:
    if isinstance(target, list):
        name = run.text(key)
        return name == "length" or bool(_INDEX.match(name)) and int(name) < len(target)
    if isinstance(target, Mapping):
        name = str(run.outward(run.text(key)))
        return name in target and not name.startswith("__") and name not in _FORBIDDEN
    raise ExpressionError("the right side of `in` is not an object", position)


def _whole(run: _Run, value: object, default: float) -> float:
    number = default if value is UNDEFINED else run.number(value)
    if math.isnan(number):
        return 0
    return number if math.isinf(number) else math.trunc(number)


def _span(run: _Run, length: int, start: object, end: object) -> tuple[int, int]:
    """Return the bounds of ``slice``; negative ones count from the end."""
    bounds = (_whole(run, start, 0), _whole(run, end, length))
    low, high = (int(max(0, length + n) if n < 0 else min(n, length)) for n in bounds)
    return low, max(low, high)


def _clamped(run: _Run, length: int, value: object, default: float) -> int:
    return int(min(max(_whole(run, value, default), 0), length))


def _at(run: _Run, target: Any, index: Any) -> object:
    n = _whole(run, index, 0)
    n = n + len(target) if n < 0 else n
    return _inward(target[int(n)]) if 0 <= n < len(target) else UNDEFINED


def _char_at(run: _Run, target: str, index: object) -> str:
    n = _whole(run, index, 0)
    return target[int(n)] if 0 <= n < len(target) else ""


def _substring(run: _Run, target: str, start: object, end: object) -> str:
    low, high = sorted((_clamped(run, len(target), start, 0), _clamped(run, len(target), end, len(target))))
    return target[low:high]


def _starts_with(run: _Run, target: str, other: object, start: object) -> bool:
    return target.startswith(run.text(other), _clamped(run, len(target), start, 0))


def _ends_with(run: _Run, target: str, other: object, end: object) -> bool:
    return target[: _clamped(run, len(target), end, len(target))].endswith(run.text(other))


def _split(run: _Run, target: str, separator: object, limit: object) -> list[Any]:
    by = "" if separator is UNDEFINED else run.text(separator)
    parts = [target] if separator is UNDEFINED else target.split(by) if by else list(target)
    if limit is not UNDEFINED:
        count = _whole(run, limit, 0)
        # As an unsigned 32-bit number: -1 means no limit.
        parts = parts[: 0 if math.isinf(count) else int(count) % 2**32]
    run.step(len(parts))
    return parts


def _index_of(run: _Run, target: Any, wanted: Any, start: Any) -> float:
    if isinstance(target, str):
        return float(target.find(run.text(wanted), _clamped(run, len(target), start, 0)))
    low, _ = _span(run, len(target), start, UNDEFINED)
    run.step(len(target))
    return float(
        next((i for i in range(low, len(target)) if _strictly_equal(_inward(target[i]), wanted)), -1)
    )


def _includes(run: _Run, target: Any, wanted: Any, start: Any) -> bool:
    if isinstance(target, str):
        return run.text(wanted) in target[_clamped(run, len(target), start, 0) :]
    run.step(len(target))
    low, _ = _span(run, len(target), start, UNDEFINED)
    return any(_same_value_zero(_inward(item), wanted) for item in target[low:])


def _slice(run: _Run, target: Any, start: Any, end: Any) -> object:
    low, high = _span(run, len(target), start, end)
    run.step(high - low if isinstance(target, list) else 1)
    return target[low:high]


# Name -> (the method, the number of its arguments); a missing argument is undefined.
_TEXT_METHODS: dict[str, tuple[Callable[..., Any], int]] = {
    "includes": (_includes, 2),
    "startsWith": (_starts_with, 2),
    "endsWith": (_ends_with, 2),
    "indexOf": (_index_of, 2),
    "at": (_at, 1),
    "charAt": (_char_at, 1),
    "slice": (_slice, 2),
    "substring": (_substring, 2),
    "split": (_split, 2),
    "match": (_match, 1),
    "search": (_search, 1),
    "toUpperCase": (lambda run, target: _inward(_joined(target).upper()), 0),
    "toLowerCase": (lambda run, target: _inward(_joined(target).lower()), 0),
    "trim": (lambda run, target: target.strip(_BLANKS), 0),
}
_PATTERN_METHODS: dict[str, tuple[Callable[..., Any], int]] = {"test": (_test, 1)}
_LIST_METHODS: dict[str, tuple[Callable[..., Any], int]] = {
    "includes": (_includes, 2),
    "indexOf": (_index_of, 2),
    "at": (_at, 1),
    "slice": (_slice, 2),
    "join": (lambda run, target, by: run.join(target, "," if by is UNDEFINED else run.text(by)), 1),
}


_METHODS = ((str, _TEXT_METHODS), (list, _LIST_METHODS), (_Pattern, _PATTERN_METHODS))


def _some(items: Sequence[object], test: Callable[[object, int], object]) -> bool:
    return any(_truthy(test(item, i)) for i, item in enumerate(items))


def _every(items: Sequence[object], test: Callable[[object, int], object]) -> bool:
    return all(_truthy(test(item, i)) for i, item in enumerate(items))


def _filter(items: Sequence[object], test: Callable[[object, int], object]) -> list[object]:
    return [item for i, item in enumerate(items) if _truthy(test(item, i))]


def _map(items: Sequence[object], change: Callable[[object, int], object]) -> list[object]:
    return [change(item, i) for i, item in enumerate(items)]


def _find(items: Sequence[object], test: Callable[[object, int], object]) -> object:
    return next((item for i, item in enumerate(items) if _truthy(test(item, i))), UNDEFINED)


def _find_index(items: Sequence[object], test: Callable[[object, int], object]) -> float:
    return next((float(i) for i, item in enumerate(items) if _truthy(test(item, i))), -1.0)


_ARROW_METHODS: dict[str, Callable[[list[Any], Callable[[Any, int], Any]], Any]] = {
    "some": _some,
    "every": _every,
    "filter": _filter,
    "map": _map,
    "find": _find,
    "findIndex": _find_index,
}


class _Arrow:
    """``(a, b) => body``, allowed only as the argument of a method."""

    def __init__(self, parameters: list[str], body: Code) -> None:
        self.parameters = parameters
        self.body = body

    def bind(self, run: _Run, scope: Scope) -> Callable[[object, int], object]:
        def call(item: object, index: int) -> object:
            run.step()
            inner = dict(scope)
            inner.update(zip(self.parameters, (item, float(index)), strict=False))
            return self.body(run, inner)

        return call


def _call(name: str, target: Code, values: list[Code], arrow: _Arrow | None, position: int) -> Code:
    def code(run: _Run, scope: Scope) -> object:
        run.step(1, position)
        value = target(run, scope)
        if value is None or value is UNDEFINED:
            return UNDEFINED
        if isinstance(value, (str, list)):
            run.step(len(value) >> 7, position)
        if arrow is not None and isinstance(value, list) and name in _ARROW_METHODS:
            return _ARROW_METHODS[name]([_inward(item) for item in value], arrow.bind(run, scope))
        methods = next((found for kind, found in _METHODS if isinstance(value, kind)), {})
        if name == "toString" and not values:
            return run.text(value)
        if name not in methods or arrow is not None:
            raise ExpressionError(f"this value has no method {name!r}", position)
        method, count = methods[name]
        given = [argument(run, scope) for argument in values][:count]
        return method(run, value, *given, *[UNDEFINED] * (count - len(given)))

    return code


# Operators


def _remainder(one: float, two: float) -> float:
    if two == 0 or math.isinf(one) or math.isnan(one) or math.isnan(two):
        return math.nan
    return math.fmod(one, two)


def _quotient(one: float, two: float) -> float:
    if two:
        return one / two
    if not one or math.isnan(one) or math.isnan(two):
        return math.nan
    return math.copysign(math.inf, math.copysign(1, one) * math.copysign(1, two))


_ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "-": lambda one, two: one - two,
    "*": lambda one, two: one * two,
    "/": _quotient,
    "%": _remainder,
}
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda one, two: one < two,
    "<=": lambda one, two: one <= two,
    ">": lambda one, two: one > two,
    ">=": lambda one, two: one >= two,
}


def _binary(run: _Run, operator: str, one: object, two: object, position: int) -> object:
    if operator == "===":
        return _strictly_equal(one, two)
    if operator == "!==":
        return not _strictly_equal(one, two)
    if operator == "==":
        return run.loosely_equal(one, two)
    if operator == "!=":
        return not run.loosely_equal(one, two)
    if operator == "in":
        return _has(run, one, two, position)
    one, two = run.primitive(one), run.primitive(two)
    if operator == "+":
        if isinstance(one, str) or isinstance(two, str):
            return run.bounded(run.text(one) + run.text(two), position)
        return run.number(one) + run.number(two)
    if operator in _ARITHMETIC:
        return _ARITHMETIC[operator](run.number(one), run.number(two))
    if not (isinstance(one, str) and isinstance(two, str)):
        one, two = run.number(one), run.number(two)
    return _COMPARE[operator](one, two)


def _type_of(value: object) -> str:
    if value is UNDEFINED:
        return "undefined"
    for kind, name in ((bool, "boolean"), (float, "number"), (str, "string")):
        if isinstance(value, kind):
            return name
    return "object"


_UNARY: dict[str, Callable[[_Run, Any], Any]] = {
    "!": lambda run, value: not _truthy(value),
    "-": lambda run, value: -run.number(value),
    "+": lambda run, value: run.number(value),
    "typeof": lambda run, value: _type_of(value),
}

_POWER = {
    "?": 1,
    "??": 2,
    "||": 3,
    "&&": 4,
    **dict.fromkeys(("==", "!=", "===", "!=="), 5),
    **dict.fromkeys(("<", "<=", ">", ">=", "in"), 6),
    **dict.fromkeys("+-", 7),
    **dict.fromkeys("*/%", 8),
}
_UNARY_POWER = 9
_CONSTANTS: dict[str, Any] = {
    "true": True,
    "false": False,
    "null": None,
    "undefined": UNDEFINED,
    "NaN": math.nan,
    "Infinity": math.inf,
}
_RESERVED = re.compile(
    r"(?:await|break|case|catch|class|const|continue|debugger|default|delete|do|else|enum|export|extends|finally|for"
    r"|function|if|import|in|instanceof|let|new|return|static|super|switch|this|throw|try|typeof|var|void|while|with"
    r"|yield)\Z"
)

_TOKEN = re.compile(
    r"(?P<number>0[xX][0-9a-fA-F]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[^\W\d][\w$]*|\$[\w$]*)"
    r"|(?P<string>\"(?:\\.|[^\"\\\n\r])*\"|'(?:\\.|[^'\\\n\r])*')"
    r"|(?P<operator>=>|===|!==|==|!=|<=|>=|&&|\|\||\?\?|\?\.(?![0-9])|[-+*/%!<>?:.,()\[\]`}])",
    re.DOTALL,
)
_ARROW = re.compile(r"(?:\(\s*([A-Za-z_$][\w$]*\s*(?:,\s*[A-Za-z_$][\w$]*\s*)*)\)|([A-Za-z_$][\w$]*))\s*=>")
_PATTERN = re.compile(
    r"/((?:[^/\\\[\n\r*]|\\[^\n\r]|\[(?:[^\]\\\n\r]|\\[^\n\r])*\])(?:[^/\\\[\n\r]|\\[^\n\r]|"
    r"\[(?:[^\]\\\n\r]|\\[^\n\r])*\])*)"
    r"/([A-Za-z]*)"
)
_TEMPLATE_TEXT = re.compile(r"(?:\\.|\$(?!\{)|[^\\`$])*", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}
_ESCAPED = re.compile(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)


class _Node(NamedTuple):
    code: Code
    height: int


def _constant(value: object) -> Code:
    return lambda run, scope: value


def _name(name: str, position: int) -> Code:
    def code(run: _Run, scope: Scope) -> object:
        run.step(1, position)
        if name not in scope:
            raise ExpressionError(f"{name!r} is not defined", position)
        return _inward(scope[name])

    return code


def _read(target: Code, key: Code) -> Code:
    def code(run: _Run, scope: Scope) -> object:
        run.step()
        value = target(run, scope)
        if value is None or value is UNDEFINED:
            return UNDEFINED
        return _member(run, value, key(run, scope))

    return code


def _infix(operator: str, left: Code, right: Code, position: int) -> Code:
    def code(run: _Run, scope: Scope) -> object:
        run.step(1, position)
        return _binary(run, operator, left(run, scope), right(run, scope), position)

    return code


def _logic(continues: Callable[[object], bool], parts: list[Code]) -> Code:
    """Return a chain of one logical operator: the first value that ends it, or otherwise the last."""

    def code(run: _Run, scope: Scope) -> object:
        value: Any = UNDEFINED
        for part in parts:
            run.step()
            value = part(run, scope)
            if not continues(value):
                break
        return value

    return code


_LOGIC: dict[str, Callable[[Any], bool]] = {
    "&&": _truthy,
    "||": lambda value: not _truthy(value),
    "??": lambda value: value is None or value is UNDEFINED,
}


class _Parser:
    """Compiler from tokens to closures, by binding power. ``kind``, ``text``, and ``start``: properties of
    the current token."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.end = 0
        self.depth = 0
        self.roots: set[str] = set()
        self.parameters: list[str] = []
        self.advance()

    def fail(self, message: str, position: int | None = None) -> object:
        raise ExpressionError(message, self.start if position is None else position)

    def advance(self) -> None:
        source, at = self.source, self.end
        while at < len(source) and source[at] in _BLANKS:
            at += 1
        self.start = at
        match = _TOKEN.match(source, at)
        if match:
            self.kind, self.text, self.end = str(match.lastgroup), match[0], match.end()
            follows = source[self.end : self.end + 1]
            if self.kind == "number" and (follows.isalnum() or follows in ("_", "$")) and follows:
                self.fail("not a number")
        elif at == len(source):
            self.kind, self.text, self.end = "end", "end of the expression", at
        else:
            self.fail(f"unexpected {source[at]!r}")

    def take(self, text: str) -> bool:
        if self.kind == "operator" and self.text == text:
            self.advance()
            return True
        return False

    def expect(self, text: str) -> None:
        if not self.take(text):
            self.fail(f"expected {text!r}, found {self.text!r}")

    def node(self, code: Code, *parts: _Node) -> _Node:
        height = 1 + max((part.height for part in parts), default=0)
        if height > MAX_DEPTH:
            self.fail(f"nested deeper than {MAX_DEPTH} levels")
        return _Node(code, height)

    def expression(self, power: int = 0) -> _Node:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail(f"nested deeper than {MAX_DEPTH} levels")
        left = self.unary()
        logic = ""
        while self.kind in ("operator", "name"):
            operator, position = self.text, self.start
            binds = _POWER.get(operator, 0)
            if binds <= power:
                break
            if operator == "?":
                left = self.ternary(left)
            elif operator in _LOGIC:
                if logic and "??" in (logic, operator) and logic != operator:
                    self.fail("mixing `??` with `||` or `&&` requires parentheses")
                logic = operator
                parts = [left]
                while self.take(operator):
                    parts.append(self.expression(4 if operator == "??" else binds))
                left = self.node(_logic(_LOGIC[operator], [part.code for part in parts]), *parts)
            else:
                self.advance()
                right = self.expression(binds)
                left = self.node(_infix(operator, left.code, right.code, position), left, right)
        self.depth -= 1
        return left

    def ternary(self, test: _Node) -> _Node:
        self.expect("?")
        yes = self.expression()
        self.expect(":")
        no = self.expression()
        test_code, yes_code, no_code = test.code, yes.code, no.code

        def code(run: _Run, scope: Scope) -> object:
            run.step()
            return yes_code(run, scope) if _truthy(test_code(run, scope)) else no_code(run, scope)

        return self.node(code, test, yes, no)

    def unary(self) -> _Node:
        if self.text not in _UNARY or self.kind not in ("operator", "name"):
            return self.postfix(self.primary())
        operate = _UNARY[self.text]
        self.advance()
        operand = self.expression(_UNARY_POWER)
        inner = operand.code

        def code(run: _Run, scope: Scope) -> object:
            run.step()
            return operate(run, inner(run, scope))

        return self.node(code, operand)

    def postfix(self, left: _Node) -> _Node:
        while True:
            position = self.start
            if self.take("["):
                left = self.index(left)
            elif self.take("?."):
                left = self.index(left) if self.take("[") else self.name_or_call(left, position)
            elif self.take("."):
                left = self.name_or_call(left, position)
            else:
                return left

    def index(self, left: _Node) -> _Node:
        key = self.expression()
        self.expect("]")
        return self.node(_read(left.code, key.code), left, key)

    def name_or_call(self, left: _Node, position: int) -> _Node:
        if self.kind != "name":
            self.fail(f"expected a name, found {self.text!r}")
        name = self.text
        self.advance()
        if not (self.kind == "operator" and self.text == "("):
            return self.node(_read(left.code, _constant(name)), left)
        self.advance()
        values: list[_Node] = []
        arrow: _Arrow | None = None
        while not self.take(")"):
            if values or arrow:
                self.expect(",")
                if self.take(")"):
                    break
            start = self.start
            if parameters := self.arrow_parameters():
                if values or arrow or name not in _ARROW_METHODS:
                    self.fail(f"{name!r} does not take a function", start)
                self.parameters += parameters
                body = self.expression()
                del self.parameters[-len(parameters) :]
                arrow = _Arrow(parameters, body.code)
                # The height counts; the value is that of the arrow function.
                left = self.node(left.code, left, body)
            else:
                values.append(self.expression())
        if arrow and values:
            self.fail(f"{name!r} takes exactly one function", position)
        code = _call(name, left.code, [value.code for value in values], arrow, position)
        return self.node(code, left, *values)

    def arrow_parameters(self) -> list[str]:
        """Consume and return the names before ``=>``; consume nothing and return no names if no arrow
        follows."""
        match = _ARROW.match(self.source, self.start)
        if not match:
            return []
        names = [name.strip() for name in (match[1] or match[2]).split(",")]
        for name in names:
            if _RESERVED.match(name) or name in _CONSTANTS or names.count(name) > 1:
                self.fail(f"{name!r} cannot be a parameter")
        self.end = match.end()
        self.advance()
        return names

    def primary(self) -> _Node:
        kind, text, position = self.kind, self.text, self.start
        if kind == "operator":
            if self.take("("):
                inner = self.expression()
                self.expect(")")
                return inner
            if self.take("["):
                return self.list_literal()
            if text == "`":
                return self.template()
            if text == "/":
                return self.pattern()
        if kind in ("operator", "end"):
            self.fail(f"unexpected {text!r}" if kind == "operator" else "the expression ends too early")
        self.advance()
        if kind == "number":
            return self.node(_constant(float(int(text, 16)) if text[:2] in ("0x", "0X") else float(text)))
        if kind == "string":
            return self.node(_constant(_inward(self.unescape(text[1:-1], position))))
        if text in _CONSTANTS:
            return self.node(_constant(_CONSTANTS[text]))
        if _RESERVED.match(text):
            self.fail(f"unexpected {text!r}", position)
        if text not in self.parameters:
            self.roots.add(text)
        return self.node(_name(text, position))

    def list_literal(self) -> _Node:
        items: list[_Node] = []
        while not self.take("]"):
            if items:
                self.expect(",")
                if self.take("]"):
                    break
            items.append(self.expression())
        codes = [item.code for item in items]

        def code(run: _Run, scope: Scope) -> object:
            run.step()
            return [item(run, scope) for item in codes]

        return self.node(code, *items)

    def pattern(self) -> _Node:
        """Parse a regular expression; the current token is its first slash."""
        match = _PATTERN.match(self.source, self.start)
        if not match:
            raise ExpressionError("unterminated regular expression", self.start)
        if set(match[2]) - set("gimsu") or len(set(match[2])) < len(match[2]):
            self.fail("regular expressions support only the flags g, i, m, s, and u")
        try:
            found = _Pattern(match[1], match[2])
        except ValueError as error:
            self.fail(f"not a valid RE2 regular expression: {error}")
        self.end = match.end()
        self.advance()
        return self.node(_constant(found))

    def template(self) -> _Node:
        """Parse a template literal; the current token is its first backtick. ``end``: the position just after
        it."""
        parts: list[_Node] = []
        opening = self.start
        while True:
            match = _TEMPLATE_TEXT.match(self.source, self.end)
            text = match[0] if match else ""
            raw = re.sub(r"\r\n?", "\n", text)
            parts.append(self.node(_constant(_inward(self.unescape(raw, self.end)))))
            self.end += len(text)
            if self.source.startswith("`", self.end):
                self.end += 1
                self.advance()
                break
            if not self.source.startswith("${", self.end):
                self.fail("unterminated template literal", opening)
            self.end += 2
            self.advance()
            parts.append(self.expression())
            if not (self.kind == "operator" and self.text == "}"):
                self.fail(f"expected '}}', found {self.text!r}")
        codes = [part.code for part in parts]

        def code(run: _Run, scope: Scope) -> object:
            found = ""
            for part in codes:
                run.step()
                found = run.bounded(found + run.text(part(run, scope)), opening)
            return found

        return self.node(code, *parts)

    def unescape(self, text: str, position: int) -> str:
        def plain(match: re.Match[str]) -> str:
            digits = match[1] or match[2] or match[3]
            if digits is None:
                if match[4] in ("u", "x") or match[4] in "123456789":
                    self.fail("unknown escape sequence", position)
                return _ESCAPES.get(match[4], match[4])
            if int(digits, 16) > sys.maxunicode:
                self.fail("this character does not exist", position)
            return chr(int(digits, 16))

        return _ESCAPED.sub(plain, text)
