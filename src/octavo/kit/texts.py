"""What texts in bodies must have, what a body gives, and how numbers of things are said."""

from typing import Any

from msgspec import UNSET, Struct

TWO_SIGNS = r"^\s*\S[\s\S]*\S\s*\Z"
"""The pattern of a text that has two characters at least, spaces around them left out."""


def given(body: Struct) -> dict[str, Any]:
    """The fields of a body that says what to change, by their names here, without those that it leaves out."""
    fields = ((name, getattr(body, name)) for name in body.__struct_fields__)
    return {name: value for name, value in fields if value is not UNSET}


def counted(count: int, thing: str) -> str:
    """``1 file``, ``2 files``."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"
