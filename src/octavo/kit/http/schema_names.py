"""Names of types in the API description that differ from the names in the code.

Class names are unique in the code, where a name has to be clear without its package. The API has its own
names, which clients use.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

_T = TypeVar("_T")

SCHEMA_NAMES: dict[str, str] = {}
"""Schema names by class name."""


def schema_name(name: str) -> Callable[[type[_T]], type[_T]]:
    """Declare the name of the decorated class in the API description."""

    def declare(of: type[_T]) -> type[_T]:
        SCHEMA_NAMES[of.__name__] = name
        return of

    return declare
