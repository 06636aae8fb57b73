"""What the body of a request gives."""

from typing import Any, TypeVar

from msgspec import UNSET, Struct, UnsetType

T = TypeVar("T")


def given(body: Struct) -> dict[str, Any]:
    """The fields of a body that says what to change, by their names here, without those that it leaves out."""
    fields = ((name, getattr(body, name)) for name in body.__struct_fields__)
    return {name: value for name, value in fields if value is not UNSET}


def or_none(field: T | UnsetType) -> T | None:
    """None for a field that was left out."""
    return None if field is UNSET else field
