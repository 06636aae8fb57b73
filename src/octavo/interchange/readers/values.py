"""Values of JSON and YAML files of any shape, as the types that readers need."""

from __future__ import annotations

from typing import Any

from octavo.core.json_types import JsonObject


def mapping(value: object) -> JsonObject:
    """Return a value if it is a mapping, and an empty mapping otherwise."""
    return value if isinstance(value, dict) else {}


def listing(value: object) -> list[Any]:
    """Return a value if it is a list, and an empty list otherwise."""
    return value if isinstance(value, list) else []


def text_of(value: object) -> str:
    """Return a text or a number as text, and an empty text for anything else."""
    return str(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else ""


def mappings(value: object) -> list[JsonObject]:
    """Return the mappings in a list; empty if the value isn't a list."""
    return [one for one in listing(value) if isinstance(one, dict)]
