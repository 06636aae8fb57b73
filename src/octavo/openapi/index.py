"""What of a description is found by words: operations, the fields they take, and models. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from ..core.document import slug
from .description import Description, Operation, list_of, object_of, tags_of, text_of
from .validating import METHODS

Kind = Literal["operation", "field", "model"]

_FIELDS = 60_000
"""Fields of one description that are found, and those of one operation."""
_OF_ONE = 200
_DEPTH = 4
_SCHEMAS = 1_000
"""Schemas of one operation that are looked into: each may lead to all others again."""
_WORD = re.compile(r"[a-z0-9]+")
_PLACES = ("path", "query", "header", "cookie", "body")


class Found(Struct, frozen=True):
    """``name``: of a field, with dots, or of a model. ``about``: what a field or model is. ``id``: of the field on the
    page of its operation, which ``operation`` is; None for a model."""

    kind: Kind
    name: str
    about: str
    operation: Operation | None = None
    id: str = ""


class _Entry(Struct, frozen=True):
    found: Found
    name: str
    """What it is called, in lower case."""
    text: str
    """All that is looked through, in lower case."""


class OperationIndex:
    """Small enough to be looked through."""

    def __init__(self, description: Description) -> None:
        self._operations = [
            _operation(each) for each in [*description.operations.values(), *description.webhooks.values()]
        ]
        self._fields: list[_Entry] = []
        for operation in description.operations.values():
            if len(self._fields) > _FIELDS:
                break
            self._fields += _fields(description, operation)
        self._models = [
            _Entry(
                Found(
                    "model", name, text_of(description.follow(each).get("description"))[:200], id=slug(name)
                ),
                name.lower(),
                name.lower(),
            )
            for name, each in description.schemas.items()
        ]

    def find(self, query: str) -> Iterator[Found]:
        """The best first, of each kind: what has all the words, if only as parts of others. A method at the beginning
        means operations of it; a path means those that are at it, with values or without."""
        whole = query.strip().lower()
        first, _, rest = whole.partition(" ")
        method = first if first in METHODS else ""
        wanted = rest.strip() if method and rest.strip() else "" if method else whole
        words = _WORD.findall(wanted)
        if not words and not method and wanted != "/":
            return
        if "/" in wanted and " " not in wanted:
            steps = wanted.partition("?")[0].strip("/").split("/")
            near = sorted(
                (distance, number)
                for number, entry in enumerate(self._operations)
                if _has_method(entry, method)
                and (distance := _distance(entry.found.operation, steps)) is not None
            )
            if near:
                yield from (self._operations[number].found for _, number in near)
                return
        yield from self._ranked([e for e in self._operations if _has_method(e, method)], words, wanted)
        if method:
            return
        dotted = wanted.partition(".")
        placed = dotted[0] in _PLACES and bool(dotted[2])
        field = dotted[2] if placed else wanted
        if words and len(wanted) > 1:
            fields = [e for e in self._fields if not placed or e.found.id.startswith(f"{dotted[0]}.")]
            yield from self._ranked(fields, _WORD.findall(field), field)
            yield from self._ranked(self._models, words, wanted)

    @staticmethod
    def _ranked(entries: list[_Entry], words: list[str], whole: str) -> Iterator[Found]:
        ranked = []
        for position, entry in enumerate(entries):
            if all(word in entry.text for word in words):
                named = sum(word in entry.name for word in words)
                ranked.append(
                    (entry.name != whole, not entry.name.startswith(whole), -named, len(entry.name), position)
                )
        for *_, position in sorted(ranked):
            yield entries[position].found


def _has_method(entry: _Entry, method: str) -> bool:
    operation = entry.found.operation
    return not method or (operation is not None and operation.method == method)


def _operation(operation: Operation) -> _Entry:
    id = text_of(operation.data.get("operationId"))
    found = Found("operation", operation.title, operation.path, operation)
    (tag,) = tags_of(operation)
    name = f"{operation.title} {id}".lower()
    return _Entry(found, id.lower() or name, f"{name} {operation.key} {tag}".lower())


def _distance(operation: Operation | None, steps: list[str]) -> int | None:
    """How far the path of an operation is from one that was asked for; None where it is another."""
    if operation is None or operation.webhook:
        return None
    own = operation.path.lower().strip("/").split("/")
    for start in range(len(own) - len(steps) + 1):
        part = own[start : start + len(steps)]
        last = len(steps) - 1
        fits = [
            mine == step
            or (mine.startswith("{") and (step != "" or n < last))
            or (n == last and mine.startswith(step))
            for n, (mine, step) in enumerate(zip(part, steps, strict=True))
        ]
        if all(fits):
            free = sum(mine != step for mine, step in zip(part, steps, strict=True))
            return (len(own) - len(steps)) * 10 + start * 3 + free
    return None


def _fields(description: Description, operation: Operation) -> list[_Entry]:
    made: list[_Entry] = []
    title = operation.title.lower()
    left = _SCHEMAS

    def add(place: str, name: str, schema: object, about: object) -> None:
        found = Found(
            "field",
            name.replace(".[]", "[]"),
            text_of(about)[:200],
            operation,
            f"{place}.{name.replace('.[]', '')}",
        )
        made.append(_Entry(found, found.name.lower(), f"{found.name} {title}".lower()))

    def walk(value: object, at: str, above: tuple[str, ...]) -> None:
        nonlocal left
        name = description.name_of(value)
        if not left or len(made) >= _OF_ONE or len(above) >= _DEPTH or (name and name in above):
            return
        left -= 1
        schema = description.merge(value)
        if isinstance(schema.get("items"), dict):
            walk(schema["items"], at, (*above, name))
        variants = [*list_of(schema.get("oneOf")), *list_of(schema.get("anyOf"))]
        for each in variants:
            walk(each, at, (*above, name))
        for key, inner in object_of(schema.get("properties")).items():
            if len(made) >= _OF_ONE:
                return
            path = f"{at}.{key}" if at else key
            add("body", path, inner, description.follow(inner).get("description"))
            walk(inner, path, (*above, name))

    for parameter in description.parameters(operation):
        add(text_of(parameter.get("in")), text_of(parameter["name"]), parameter, parameter.get("description"))
    content = object_of(description.follow(operation.data.get("requestBody")).get("content"))
    for media in list(content.values())[:1]:
        walk(object_of(media).get("schema"), "", ())
    return made
