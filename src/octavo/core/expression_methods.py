"""Members, methods, and operators of expression values."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .expression_values import (
    BLANKS,
    UNDEFINED,
    Code,
    Evaluation,
    ExpressionError,
    RegularExpression,
    Scope,
    inward,
    joined,
    same_value_zero,
    strictly_equal,
    truthy,
)


def _test(run: Evaluation, pattern: RegularExpression, text: object) -> bool:
    return bool(pattern.matches(run, run.text(text)))


def _required_pattern(value: object) -> RegularExpression:
    if not isinstance(value, RegularExpression):
        raise ExpressionError("expected a regular expression", 0)
    return value


def _match(run: Evaluation, target: str, pattern: object) -> object:
    """Return all matches with the flag ``g``; without it, return the first match with its groups, or null."""
    pattern = _required_pattern(pattern)
    found = pattern.matches(run, target)
    if not found:
        return None
    if pattern.all:
        return [inward(match[0]) for match in found]
    groups = found[0].groups()
    run.step(len(groups))
    return [UNDEFINED if text is None else inward(text) for text in (found[0][0], *groups)]


def _search(run: Evaluation, target: str, pattern: object) -> float:
    found = _required_pattern(pattern).matches(run, target)
    return float(len(inward(joined(target, "replace")[: found[0].start()]))) if found else -1.0


# Members and methods
_FORBIDDEN = frozenset({"constructor", "prototype"})
_INDEX = re.compile(r"(?:0|[1-9][0-9]{0,9})\Z")


def member(run: Evaluation, target: object, key: object) -> object:
    name = run.text(key)
    if name.startswith("__") or name in _FORBIDDEN:
        return UNDEFINED
    if isinstance(target, (str, list)):
        if name == "length":
            return float(len(target))
        if _INDEX.match(name) and int(name) < len(target):
            return inward(target[int(name)])
        return UNDEFINED
    if isinstance(target, Mapping):
        # Context keys are ordinary strings instead of UTF-16 units.
        found = target.get(run.outward(name), UNDEFINED)
        return inward(found)
    return UNDEFINED


def _has(run: Evaluation, key: object, target: object, position: int) -> bool:
    if isinstance(target, list):
        name = run.text(key)
        return name == "length" or bool(_INDEX.match(name)) and int(name) < len(target)
    if isinstance(target, Mapping):
        name = str(run.outward(run.text(key)))
        return name in target and not name.startswith("__") and name not in _FORBIDDEN
    raise ExpressionError("the right side of `in` must be an object", position)


def _whole(run: Evaluation, value: object, default: float) -> float:
    number = default if value is UNDEFINED else run.number(value)
    if math.isnan(number):
        return 0
    return number if math.isinf(number) else math.trunc(number)


def _span(run: Evaluation, length: int, start: object, end: object) -> tuple[int, int]:
    """Return the bounds of ``slice``. Negative arguments count from the end."""
    bounds = (_whole(run, start, 0), _whole(run, end, length))
    low, high = (int(max(0, length + n) if n < 0 else min(n, length)) for n in bounds)
    return low, max(low, high)


def _clamped(run: Evaluation, length: int, value: object, default: float) -> int:
    return int(min(max(_whole(run, value, default), 0), length))


def _at(run: Evaluation, target: Any, index: Any) -> object:
    n = _whole(run, index, 0)
    n = n + len(target) if n < 0 else n
    return inward(target[int(n)]) if 0 <= n < len(target) else UNDEFINED


def _char_at(run: Evaluation, target: str, index: object) -> str:
    n = _whole(run, index, 0)
    return target[int(n)] if 0 <= n < len(target) else ""


def _substring(run: Evaluation, target: str, start: object, end: object) -> str:
    low, high = sorted((_clamped(run, len(target), start, 0), _clamped(run, len(target), end, len(target))))
    return target[low:high]


def _starts_with(run: Evaluation, target: str, other: object, start: object) -> bool:
    return target.startswith(run.text(other), _clamped(run, len(target), start, 0))


def _ends_with(run: Evaluation, target: str, other: object, end: object) -> bool:
    return target[: _clamped(run, len(target), end, len(target))].endswith(run.text(other))


def _split(run: Evaluation, target: str, separator: object, limit: object) -> list[Any]:
    by = "" if separator is UNDEFINED else run.text(separator)
    parts = [target] if separator is UNDEFINED else target.split(by) if by else list(target)
    if limit is not UNDEFINED:
        count = _whole(run, limit, 0)
        # As an unsigned 32-bit number: -1 means no limit.
        parts = parts[: 0 if math.isinf(count) else int(count) % 2**32]
    run.step(len(parts))
    return parts


def _index_of(run: Evaluation, target: Any, wanted: Any, start: Any) -> float:
    if isinstance(target, str):
        return float(target.find(run.text(wanted), _clamped(run, len(target), start, 0)))
    low, _ = _span(run, len(target), start, UNDEFINED)
    run.step(len(target))
    return float(next((i for i in range(low, len(target)) if strictly_equal(inward(target[i]), wanted)), -1))


def _includes(run: Evaluation, target: Any, wanted: Any, start: Any) -> bool:
    if isinstance(target, str):
        return run.text(wanted) in target[_clamped(run, len(target), start, 0) :]
    run.step(len(target))
    low, _ = _span(run, len(target), start, UNDEFINED)
    return any(same_value_zero(inward(item), wanted) for item in target[low:])


def _slice(run: Evaluation, target: Any, start: Any, end: Any) -> object:
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
    "toUpperCase": (lambda run, target: inward(joined(target).upper()), 0),
    "toLowerCase": (lambda run, target: inward(joined(target).lower()), 0),
    "trim": (lambda run, target: target.strip(BLANKS), 0),
}
_PATTERN_METHODS: dict[str, tuple[Callable[..., Any], int]] = {"test": (_test, 1)}
_LIST_METHODS: dict[str, tuple[Callable[..., Any], int]] = {
    "includes": (_includes, 2),
    "indexOf": (_index_of, 2),
    "at": (_at, 1),
    "slice": (_slice, 2),
    "join": (lambda run, target, by: run.join(target, "," if by is UNDEFINED else run.text(by)), 1),
}
METHODS = ((str, _TEXT_METHODS), (list, _LIST_METHODS), (RegularExpression, _PATTERN_METHODS))


def _some(items: Sequence[object], test: Callable[[object, int], object]) -> bool:
    return any(truthy(test(item, i)) for i, item in enumerate(items))


def _every(items: Sequence[object], test: Callable[[object, int], object]) -> bool:
    return all(truthy(test(item, i)) for i, item in enumerate(items))


def _filter(items: Sequence[object], test: Callable[[object, int], object]) -> list[object]:
    return [item for i, item in enumerate(items) if truthy(test(item, i))]


def _map(items: Sequence[object], change: Callable[[object, int], object]) -> list[object]:
    return [change(item, i) for i, item in enumerate(items)]


def _find(items: Sequence[object], test: Callable[[object, int], object]) -> object:
    return next((item for i, item in enumerate(items) if truthy(test(item, i))), UNDEFINED)


def _find_index(items: Sequence[object], test: Callable[[object, int], object]) -> float:
    return next((float(i) for i, item in enumerate(items) if truthy(test(item, i))), -1.0)


ARROW_METHODS: dict[str, Callable[[list[Any], Callable[[Any, int], Any]], Any]] = {
    "some": _some,
    "every": _every,
    "filter": _filter,
    "map": _map,
    "find": _find,
    "findIndex": _find_index,
}


class ArrowFunction:
    """Arrow function such as ``(a, b) => body``, which is allowed only as the argument of a method."""

    def __init__(self, parameters: list[str], body: Code) -> None:
        self.parameters = parameters
        self.body = body

    def bind(self, run: Evaluation, scope: Scope) -> Callable[[object, int], object]:
        def call(item: object, index: int) -> object:
            run.step()
            inner = dict(scope)
            inner.update(zip(self.parameters, (item, float(index)), strict=False))
            return self.body(run, inner)

        return call


def call(name: str, target: Code, values: list[Code], arrow: ArrowFunction | None, position: int) -> Code:
    def code(run: Evaluation, scope: Scope) -> object:
        run.step(1, position)
        value = target(run, scope)
        if value is None or value is UNDEFINED:
            return UNDEFINED
        if isinstance(value, (str, list)):
            run.step(len(value) >> 7, position)
        if arrow is not None and isinstance(value, list) and name in ARROW_METHODS:
            return ARROW_METHODS[name]([inward(item) for item in value], arrow.bind(run, scope))
        methods = next((found for kind, found in METHODS if isinstance(value, kind)), {})
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


def binary(run: Evaluation, operator: str, one: object, two: object, position: int) -> object:
    if operator == "===":
        return strictly_equal(one, two)
    if operator == "!==":
        return not strictly_equal(one, two)
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


UNARY: dict[str, Callable[[Evaluation, Any], Any]] = {
    "!": lambda run, value: not truthy(value),
    "-": lambda run, value: -run.number(value),
    "+": lambda run, value: run.number(value),
    "typeof": lambda run, value: _type_of(value),
}
