"""Convert values in arbitrary JSON and YAML files to the types that readers need."""

from __future__ import annotations

from typing import Any

from octavo.core.json_types import JsonObject


def mapping(value: object) -> JsonObject:
    """Return a value if it is a mapping; otherwise, return an empty mapping."""
    return value if isinstance(value, dict) else {}


def listing(value: object) -> list[Any]:
    """Return a value if it is a list; otherwise, return an empty list."""
    return value if isinstance(value, list) else []


def text_of(value: object) -> str:
    """Return a string or a number as a string; for any other value, return an empty string."""
    return str(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else ""


def mappings(value: object) -> list[JsonObject]:
    """Return the mappings in a list; empty if the value isn't a list."""
    return [one for one in listing(value) if isinstance(one, dict)]
