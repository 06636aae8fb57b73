"""Titles that bodies give are refused alike where they are blank, or where nothing but spaces makes them long
enough."""

from __future__ import annotations

from typing import Annotated

import msgspec
import pytest

from octavo.kit.http.operation import TABLE
from octavo.operations.installation import load_packages

load_packages()

NAMED = ("title", "displayName", "label")


def _titles() -> list[tuple[str, str, msgspec.inspect.StrType]]:
    """Yield the texts in bodies that are titles or names and can't be empty."""
    found = []
    for operation in TABLE.values():
        for model in [operation.body] if getattr(operation, "body", None) is not None else []:
            try:
                shape = msgspec.inspect.type_info(model)
            except TypeError:
                continue
            kinds = shape.types if isinstance(shape, msgspec.inspect.UnionType) else (shape,)
            for kind in kinds:
                for field in getattr(kind, "fields", ()):
                    inner = field.type
                    parts = inner.types if isinstance(inner, msgspec.inspect.UnionType) else (inner,)
                    found += [
                        (operation.id, field.encode_name, part)
                        for part in parts
                        if isinstance(part, msgspec.inspect.StrType)
                        and field.encode_name in NAMED
                        and part.min_length
                    ]
    return found


TITLES = _titles()


def _accepts(kind: msgspec.inspect.StrType, text: str) -> bool:
    meta = msgspec.Meta(min_length=kind.min_length, max_length=kind.max_length, pattern=kind.pattern)
    try:
        msgspec.convert(text, Annotated[str, meta])
    except msgspec.ValidationError:
        return False
    return True


def test_there_are_operations_with_titles() -> None:
    assert len(TITLES) > 8


@pytest.mark.parametrize(
    ("operation", "name", "kind"), TITLES, ids=lambda value: value if isinstance(value, str) else ""
)
def test_titles_of_only_spaces_are_refused(operation: str, name: str, kind: msgspec.inspect.StrType) -> None:
    least = kind.min_length or 0
    assert not _accepts(kind, " " * max(least, 3))
    assert _accepts(kind, "ab")
    assert _accepts(kind, " a ") == (least <= 1)
