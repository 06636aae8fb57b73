"""Walks over the fields of a body, and bodies with something else in one of their places."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import inspect

Where = tuple[str | int, ...]
"""The keys and positions down to a place in a body."""


def kinds(type: inspect.Type) -> Iterator[inspect.Type]:
    """Return the types a field accepts: the members of a union, without annotations."""
    if isinstance(type, inspect.UnionType):
        for member in type.types:
            yield from kinds(member)
    elif isinstance(type, inspect.Metadata):
        yield from kinds(type.type)
    else:
        yield type


def with_value(given: Any, at: Where, value: Any) -> Any:
    """Return a copy of a body with ``value`` at a place."""
    if not at:
        return value
    if isinstance(given, list):
        return [with_value(item, at[1:], value) if n == at[0] else item for n, item in enumerate(given)]
    return {**(given or {}), at[0]: with_value((given or {}).get(at[0]), at[1:], value)}
