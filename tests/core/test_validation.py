"""Messages about invalid values say in words what a field must be."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
import pytest
from msgspec import Meta, Struct

from octavo.core.validation import describe_problem

SLUG = r"^[a-z'\x00]+\Z"


class Add(Struct, tag="add", tag_field="operation", rename="camel"):
    new_slug: Annotated[str, Meta(pattern=SLUG)] = "a"


class Move(Struct, tag="move", tag_field="operation"):
    to: int


class Part(Struct):
    sizes: list[int] = []

    def __post_init__(self) -> None:
        if len(self.sizes) > 2:
            raise ValueError("sizes: at most two of them fit")


class Body(Struct):
    title: Annotated[str, Meta(min_length=1, max_length=8)] = "Title"
    count: Annotated[int, Meta(ge=1, le=5)] = 1
    ratio: Annotated[float, Meta(gt=1)] = 2
    names: Annotated[list[str], Meta(max_length=1)] = []
    status: Literal["open", "closed"] | None = None
    changes: list[Add | Move] = []
    by_name: dict[str, Literal["read", "edit"]] = {}
    by_slug: dict[Annotated[str, Meta(pattern=SLUG)], int] = {}
    part: Part | None = None
    other: str = ""

    def __post_init__(self) -> None:
        if self.other:
            raise ValueError("other: only with `part`")


@pytest.mark.parametrize(
    ("given", "field", "text"),
    [
        ({"title": 7}, "title", "must be a string, not an integer"),
        ({"title": ""}, "title", "must not be empty"),
        ({"title": "123456789"}, "title", "must be at most 8 characters long"),
        ({"count": 0}, "count", "must be at least 1"),
        ({"count": 1.5}, "count", "must be an integer, not a number"),
        ({"ratio": 1}, "ratio", "must be greater than 1"),
        ({"names": ["a", "b"]}, "names", "must have at most 1 item"),
        ({"status": "done"}, "status", "'done' isn't an allowed value. Use one of closed, open"),
        ({"status": "x" * 200}, "status", "this isn't an allowed value. Use one of closed, open"),
        ({"status": 3}, "status", "must be a string or null, not an integer"),
        ({"changes": [{"operation": "add", "newSlug": "A"}]}, "changes[0].newSlug", "must be lower case"),
        (
            {"changes": [{"operation": "drop"}]},
            "changes[0].operation",
            "'drop' isn't an allowed value. Use one of add, move",
        ),
        ({"changes": [{"operation": "move"}]}, "changes[0].to", "this field is required"),
        ({"by_name": {"a": "own"}}, "by_name[...]", "'own' isn't an allowed value. Use one of edit, read"),
        ({"by_slug": {"A": 1}}, "by_slug", "each name must be lower case"),
        ({"part": {"sizes": [1, 2, 3]}}, "part.sizes", "at most two of them fit"),
        ({"other": "x"}, "other", "only with `part`"),
        ([], "", "must be an object, not an array"),
    ],
)
def test_the_message_states_the_requirement_of_the_field(given: Any, field: str, text: str) -> None:
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert(given, Body)
    problem = describe_problem(caught.value, Body, {SLUG: "be lower case"})
    assert (problem.field, problem.text) == (field, text)
    assert problem.is_missing == (text == "this field is required")
