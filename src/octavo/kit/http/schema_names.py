"""Names of types in the API description that are different from the class names.

Class names are unique in the code, and must be clear without the name of the package. The API has its own names,
which clients use.
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
