"""Find unknown keys in a JSON body: keys at any depth that the body's type doesn't have. Some of these keys are
rejected, because newer servers use them to restrict access."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec
import msgspec.inspect as models
from msgspec import Struct

MOST_NAMED = 20
"""Maximum number of unknown keys listed in one response. A body may have millions of them."""


class Shape(Struct):
    """Shape of the known part of a JSON value. An empty shape represents a value that is entirely known.

    ``fields``: the shapes of an object's fields, by key. ``tagged``: the shapes of a union's objects, by the value of
    the key ``tag``. ``values``: the shape of all values of an object with arbitrary keys. ``items``: the shape of
    the elements of an array.
    """

    fields: dict[str, Shape] | None = None
    tag: str | None = None
    tagged: dict[Any, Shape] | None = None
    values: Shape | None = None
    items: Shape | None = None


NOTHING = Shape(fields={})
"""Shape for operations that don't take a body."""


@cache
def shape_of(type: object) -> Shape:
    """Return the shape of a body type. Shapes are computed on first use, because few of them are needed, and each
    takes some time to compute."""
    return _shape(models.type_info(type), {})


def _shape(kind: models.Type, known: dict[object, Shape]) -> Shape:
    made = Shape()
    objects: list[models.StructType] = []
    for variant in _variants(kind):
        if isinstance(variant, models.StructType) and not variant.array_like:
            objects.append(variant)
        elif isinstance(variant, models.DictType):
            made.values = _shape(variant.value_type, known)
        elif isinstance(variant, models.ListType):
            made.items = _shape(variant.item_type, known)
        elif isinstance(variant, (models.AnyType, models.RawType)):
            return Shape()
    if len(objects) == 1:
        found = _object(objects[0], known)
        made.fields, made.tag = found.fields, found.tag
    elif objects:
        made.tag = objects[0].tag_field
        made.tagged = {one.tag: _object(one, known) for one in objects}
    return made


def _variants(kind: models.Type) -> list[models.Type]:
    if isinstance(kind, models.Metadata):
        return _variants(kind.type)
    if isinstance(kind, models.UnionType):
        return [found for one in kind.types for found in _variants(one)]
    return [kind]


def _object(kind: models.StructType, known: dict[object, Shape]) -> Shape:
    made = known.get(kind.cls)
    if made is None:
        made = known[kind.cls] = Shape(fields={}, tag=kind.tag_field)
        assert made.fields is not None
        for field in kind.fields:
            made.fields[field.encode_name] = _shape(field.type, known)
    return made


def unread_keys(shape: Shape, value: object) -> Iterator[tuple[str, object]]:
    """Yield the paths of unknown keys in a decoded value, such as ``changes[2].color``, with the values of these
    keys."""
    return _find(shape, value, "")


def _find(shape: Shape, value: object, path: str) -> Iterator[tuple[str, object]]:
    if isinstance(value, list):
        if shape.items is not None:
            for number, item in enumerate(value):
                yield from _find(shape.items, item, f"{path}[{number}]")
        return
    if not isinstance(value, dict):
        return
    below = f"{path}." if path else ""
    if shape.tagged is not None:
        tag = value.get(shape.tag or "")
        shape = shape.tagged.get(tag, Shape()) if isinstance(tag, str) else Shape()
    if shape.fields is not None:
        for key, item in value.items():
            read = shape.fields.get(key)
            if read is not None:
                yield from _find(read, item, f"{below}{key}")
            elif key != shape.tag:
                yield f"{below}{key}", item
    elif shape.values is not None:
        for key, item in value.items():
            yield from _find(shape.values, item, f"{below}{key}")


class NewerFields(Struct, frozen=True, forbid_unknown_fields=True):
    """Fields of one operation that are in the newest public API description but that Octavo doesn't support. ``query``
    and ``body``: the fields that are rejected. ``ignored``: the fields that have no effect."""

    query: frozenset[str] = frozenset()
    body: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()


NEWER = msgspec.convert(
    tomllib.loads((files(__package__) / "newer_fields.toml").read_text()), dict[str, NewerFields]
)
"""Newer fields by the ID of the operation."""

UNRESTRICTED: dict[str, tuple[object, ...]] = {
    "condition": (None, ""),
    "defaultLevel": ("inherit",),
    "draft": (None, False),
    "hidden": (None, False),
}
"""Names of fields that hide content or limit access to it, each with the values that don't restrict anything. An
operation that doesn't support one of these fields rejects all of its other values."""


def restricts(path: str, value: object) -> bool:
    """Return whether a field is meant to hide content or limit access to it.

    >>> restricts("changes[0].hidden", True), restricts("hidden", False), restricts("color", True)
    (True, False, False)
    """
    unrestricted = UNRESTRICTED.get(path.rpartition(".")[2])
    return unrestricted is not None and value not in unrestricted


_NUMBER = re.compile(r"\[\d+\]")


def without_numbers(path: str) -> str:
    """Return the path of a key in the format of ``NEWER``: ``links[].title`` for ``links[3].title``."""
    return _NUMBER.sub("[]", path)
