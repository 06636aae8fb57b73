"""Search index of a specification: operations, their fields, and models with their fields. This module does
no I/O."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from heapq import nsmallest
from typing import Literal

from msgspec import Struct

from octavo.core.document.anchors import slug

from .description import ApiDescription, DescribedOperation, list_of, object_of, tags_of, text_of
from .validating import METHODS

Kind = Literal["operation", "field", "model"]

_FIELDS = 60_000
"""Maximum number of fields to index per specification. ``_OF_ONE``: the maximum number per schema."""
_OF_ONE = 200
_DEPTH = 4
_SCHEMAS = 1_000
"""Maximum number of schemas to index per operation, because each schema can refer to all other schemas."""
_RANKED = 400
"""Maximum number of hits per kind, to leave room for hits of other kinds."""
_WORD = re.compile(r"[a-z0-9]+")
_PLACES = ("path", "query", "header", "cookie", "body")


class IndexHit(Struct, frozen=True):
    """Search hit. ``name``: the dotted name of a field, or the name of a model. ``about``: its description.
    ``id``: the anchor of the field on the page of its ``operation`` or ``model``, or of the model itself on a
    page with several models."""

    kind: Kind
    name: str
    about: str
    operation: DescribedOperation | None = None
    model: str = ""
    id: str = ""


class _Entry(Struct, frozen=True):
    found: IndexHit
    name: str
    """Name in lowercase."""
    text: str
    """Searched text in lowercase."""


class OperationIndex:
    """Index of operations, fields, and models. It is small enough for a search to scan all entries."""

    def __init__(self, description: ApiDescription) -> None:
        self._operations = [
            _operation(each) for each in [*description.operations.values(), *description.webhooks.values()]
        ]
        self._fields: list[_Entry] = []
        for operation in description.operations.values():
            if len(self._fields) > _FIELDS:
                break
            self._fields += _fields(description, operation)
        for name, schema in description.schemas.items():
            if len(self._fields) > _FIELDS:
                break
            self._fields += _fields_of_model(description, name, schema)
        self._models = [
            _Entry(
                IndexHit(
                    "model",
                    name,
                    text_of(description.follow(each).get("description"))[:200],
                    model=name,
                    id=slug(name),
                ),
                name.lower(),
                name.lower(),
            )
            for name, each in description.schemas.items()
        ]

    def find(self, query: str) -> Iterator[IndexHit]:
        """Yield the best hits of each kind. A hit contains all words of the query, possibly as parts of longer
        words. An HTTP method at the start of the query limits the search to operations with that method. A path
        finds the operations with that path, with or without parameter values in it."""
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
                and (distance := _measure_distance(entry.found.operation, steps)) is not None
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
    def _ranked(entries: list[_Entry], words: list[str], whole: str) -> Iterator[IndexHit]:
        ranked = []
        for position, entry in enumerate(entries):
            if all(word in entry.text for word in words):
                named = sum(word in entry.name for word in words)
                ranked.append(
                    (entry.name != whole, not entry.name.startswith(whole), -named, len(entry.name), position)
                )
        for *_, position in nsmallest(_RANKED, ranked):
            yield entries[position].found


def _has_method(entry: _Entry, method: str) -> bool:
    operation = entry.found.operation
    return not method or (operation is not None and operation.method == method)


def _operation(operation: DescribedOperation) -> _Entry:
    id = text_of(operation.data.get("operationId"))
    found = IndexHit("operation", operation.title, operation.path, operation)
    (tag,) = tags_of(operation)
    name = f"{operation.title} {id}".lower()
    return _Entry(found, id.lower() or name, f"{name} {operation.key} {tag}".lower())


def _measure_distance(operation: DescribedOperation | None, steps: list[str]) -> int | None:
    """Return the distance between an operation's path and the requested path; None if they don't match."""
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


def _field(
    place: str, name: str, about: object, operation: DescribedOperation | None, model: str = ""
) -> _Entry:
    """Return the entry of a field. ``place``: the prefix of its anchor."""
    said, of = text_of(about)[:200], operation.title if operation is not None else model
    found = IndexHit("field", name, said, operation, model, f"{place}.{name}" if place else "")
    return _Entry(found, name.lower(), f"{name} {of}".lower())


def _fields(description: ApiDescription, operation: DescribedOperation) -> Iterator[_Entry]:
    for parameter in description.parameters(operation):
        place, name = text_of(parameter.get("in")), text_of(parameter["name"])
        yield _field(place, name, parameter.get("description"), operation)
    content = object_of(description.follow(operation.data.get("requestBody")).get("content"))
    for media in list(content.values())[:1]:
        for path, inner in _list_fields(description, object_of(media).get("schema")):
            yield _field("body", path, description.follow(inner).get("description"), operation)


def _fields_of_model(description: ApiDescription, name: str, schema: object) -> Iterator[_Entry]:
    """Yield the fields of a model, except the fields of nested models, which have their own entries."""
    for path, inner in _list_fields(description, schema, apart=True):
        yield _field(slug(name), path, description.follow(inner).get("description"), None, name)


def _list_fields(
    description: ApiDescription, value: object, *, apart: bool = False
) -> Iterator[tuple[str, object]]:
    """Yield the fields in a schema with their paths, outer levels first. ``apart``: whether to omit the content of
    named schemas."""
    waiting: deque[tuple[object, str, tuple[str, ...]]] = deque([(value, "", ())])
    left = _OF_ONE
    for _ in range(_SCHEMAS):
        if not waiting:
            return
        value, at, above = waiting.popleft()
        name = description.name_of(value)
        if len(above) >= _DEPTH or (name and (name in above or (apart and above))):
            continue
        schema, within = description.merge(value), (*above, name)
        same = [*list_of(schema.get("oneOf")), *list_of(schema.get("anyOf")), schema.get("items")]
        waiting.extend((each, at, within) for each in same if isinstance(each, dict))
        for key, inner in object_of(schema.get("properties")).items():
            if not left:
                return
            left -= 1
            path = f"{at}.{key}" if at else key
            yield path, inner
            waiting.append((inner, path, within))
