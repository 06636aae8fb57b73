"""Reword msgspec's validation messages for API callers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec
import msgspec.inspect as models

_TYPES = {
    "str": "a string",
    "int": "an integer",
    "float": "a number",
    "bool": "true or false",
    "array": "an array",
    "object": "an object",
    "null": "null",
}
_COUNTED = {"str": "characters", "array": "items", "object": "fields"}
_LIMITS = {">=": "at least", "<=": "at most", ">": "greater than", "<": "less than", "": "exactly"}
_SHOWN = 80
"""Maximum number of characters to show of an invalid value."""
_LISTED = 30
"""Maximum number of allowed values to list."""
_WHERE = re.compile(r"^(.*?)(?: - at (?:`(key)` in )?`\$(.*?)`)?$", re.S)
_STEP = re.compile(r"\.?([^.\[\]]+)|\[(?:\d+|\.\.\.)\]")
_MISSING = re.compile(r"Object missing required field `(.*)`")
_LENGTH = re.compile(r"Expected `(str|array|object)` of length (>=|<=|)\s?(\d+)")
_BOUND = re.compile(r"Expected `(?:int|float)` (>=|<=|>|<) (\S+)")
_MATCHING = re.compile(r"Expected `str` matching regex (.*)", re.S)
_KINDS = re.compile(r"Expected `([\w |]+)`(?:, got `(\w+)`)?")
_VALUE = re.compile(r"Invalid (?:enum )?value (.*)", re.S)
_NAMED = re.compile(r"([a-z]\w*(?:\.\w+)*): (.+)", re.S)
"""Pattern of a problem that a type's own check reports, starting with the field that has the problem."""


class FieldProblem(NamedTuple):
    """Validation problem. ``field``: the path of the field, such as ``changes[2].title``; empty for the whole value.
    ``text``: the requirement that the field doesn't meet. ``is_missing``: whether it is required but missing."""

    field: str
    text: str
    is_missing: bool = False


def describe_problem(
    error: msgspec.ValidationError, type: object, expected: Mapping[str, str]
) -> FieldProblem:
    """Return the validation problem that a msgspec exception reports.

    ``type``: the type of the whole value, which determines the allowed values. ``expected``: the requirements for
    strings, by the regular expressions that the strings must match.
    """
    match = _WHERE.match(str(error))
    assert match is not None
    what, field = match[1], (match[3] or "").lstrip(".")
    if missing := _MISSING.match(what):
        return FieldProblem(f"{field}.{missing[1]}".lstrip("."), "this field is required", is_missing=True)
    if (named := _NAMED.fullmatch(what)) and not match[2]:
        return FieldProblem(f"{field}.{named[1]}".lstrip("."), named[2])
    text = _say(what, field, type, expected)
    return FieldProblem(field, f"each name {text}" if match[2] else text)


def _say(what: str, field: str, type: object, expected: Mapping[str, str]) -> str:
    if found := _MATCHING.fullmatch(what):
        words = next((words for pattern, words in expected.items() if repr(pattern) == found[1]), "be valid")
        return f"must {words}"
    if found := _LENGTH.fullmatch(what):
        if (found[2], found[3]) == (">=", "1"):
            return "must not be empty"
        verb = "be" if found[1] == "str" else "have"
        noun = _COUNTED[found[1]].removesuffix("s") if found[3] == "1" else _COUNTED[found[1]]
        end = " long" if found[1] == "str" else ""
        return f"must {verb} {_LIMITS[found[2]]} {found[3]} {noun}{end}"
    if found := _BOUND.fullmatch(what):
        return f"must be {_LIMITS[found[1]]} {found[2].removesuffix('.0')}"
    if found := _KINDS.fullmatch(what):
        kinds = [_TYPES.get(kind, kind) for kind in found[1].split(" | ")]
        return f"must be {' or '.join(kinds)}" + (
            f", not {_TYPES.get(found[2], found[2])}" if found[2] else ""
        )
    if found := _VALUE.fullmatch(what):
        allowed = sorted(_allowed(models.type_info(type), [step[1] for step in _STEP.finditer(field)]))
        problem = f"{found[1] if len(found[1]) <= _SHOWN else 'this'} isn't an allowed value"
        return f"{problem}. Use one of {', '.join(allowed)}" if 0 < len(allowed) <= _LISTED else problem
    return what[0].lower() + what[1:]


def _allowed(kind: models.Type, steps: list[str | None]) -> set[str]:
    """Return the values, as JSON, that the field at a path can have. The path consists of names of fields; None
    represents an item of an array, or a value in an object with arbitrary keys."""
    if isinstance(kind, models.Metadata):
        return _allowed(kind.type, steps)
    if isinstance(kind, models.UnionType):
        return _all_allowed(kind.types, steps)
    if not steps:
        return {str(value) for value in kind.values} if isinstance(kind, models.LiteralType) else set()
    step, rest = steps[0], steps[1:]
    if isinstance(kind, models.StructType):
        if step == kind.tag_field:
            return {str(kind.tag)}
        return _all_allowed((field.type for field in kind.fields if field.encode_name == step), rest)
    if isinstance(kind, models.ListType):
        return _allowed(kind.item_type, rest)
    return _allowed(kind.value_type, rest) if isinstance(kind, models.DictType) else set()


def _all_allowed(kinds: Iterable[models.Type], steps: list[str | None]) -> set[str]:
    return set().union(*(_allowed(kind, steps) for kind in kinds))
