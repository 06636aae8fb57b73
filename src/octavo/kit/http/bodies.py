"""Helpers for request bodies."""

from typing import Any, TypeVar

from msgspec import UNSET, Struct, UnsetType

T = TypeVar("T")


def given(body: Struct) -> dict[str, Any]:
    """Return the fields that were sent in a body, keyed by their Python names."""
    fields = ((name, getattr(body, name)) for name in body.__struct_fields__)
    return {name: value for name, value in fields if value is not UNSET}


def or_none(field: T | UnsetType) -> T | None:
    """Return the value of a field, or None if it wasn't sent."""
    return None if field is UNSET else field
