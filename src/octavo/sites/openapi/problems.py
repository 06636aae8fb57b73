"""What is wrong with a description, and where."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

Way = tuple[str | int, ...]
"""The keys and indexes that lead to a value."""

MOST = 50
"""Complaints that one description is told."""


ASYNCAPI = "This is an AsyncAPI description, which Octavo can't show. Use an OpenAPI or Swagger description."


class Complaint(Struct, frozen=True, omit_defaults=True):
    """``pointer``: a JSON pointer, such as ``#/paths/~1pets/get``. ``line`` counts from 1; 0 where it is not known.
    ``file``: which of several files, empty for the first."""

    message: str
    code: str
    pointer: str = "#"
    line: int = 0
    file: str = ""


class SpecError(Exception):
    """A description that cannot be used; says everything that was found wrong with it."""

    def __init__(self, complaints: Iterable[Complaint]) -> None:
        self.complaints = list(complaints)[:MOST]
        super().__init__("; ".join(each.message for each in self.complaints[:3]))


def pointer(way: Iterable[str | int]) -> str:
    """The JSON pointer of a way, as a fragment.

    >>> pointer(("paths", "/pets", "get"))
    '#/paths/~1pets/get'
    """
    return "".join(["#", *(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in way)])
