"""Problems with a specification and their locations."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

Way = tuple[str | int, ...]
"""Path to a value: keys and indexes."""

MOST = 50
"""Maximum number of problems to report for a specification."""


ASYNCAPI = (
    "This is an AsyncAPI specification, which isn't supported. Use an OpenAPI or Swagger specification."
)


class Complaint(Struct, frozen=True, omit_defaults=True):
    """Problem with an API specification. ``pointer``: a JSON pointer, such as ``#/paths/~1pets/get``.
    ``line``: the line number, from 1; 0 if unknown. ``file``: the path of the file; empty for the main
    file."""

    message: str
    code: str
    pointer: str = "#"
    line: int = 0
    file: str = ""


class SpecError(Exception):
    """Raised if a specification is unusable. ``complaints``: the first problems found. ``count``: the total number of
    problems."""

    def __init__(self, complaints: Iterable[Complaint], count: int | None = None) -> None:
        found = list(complaints)
        self.complaints = found[:MOST]
        self.count = len(found) if count is None else count
        super().__init__("; ".join(each.message for each in self.complaints[:3]))


def pointer(way: Iterable[str | int]) -> str:
    """Return a JSON pointer as a URL fragment.

    >>> pointer(("paths", "/pets", "get"))
    '#/paths/~1pets/get'"""
    return "".join(["#", *(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in way)])
