"""What people and scripts configure an installation with, checked against what the integration declares."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from octavo.errors import BadRequest

from .manifest import (
    BooleanProperty,
    ButtonProperty,
    Configuration,
    Manifest,
    NumberProperty,
    Property,
    Status,
    StringProperty,
)

LARGEST = 64 * 1024
"""Bytes of a configuration as JSON."""
_FIELDS = {"installation": "account", "space": "space", "site": "site"}


def declared(manifest: Manifest, kind: str) -> Configuration | UnsetType:
    """What an integration declares for an ``installation``, or for one at a ``space`` or ``site``."""
    if manifest.configurations is UNSET:
        return UNSET
    found: Configuration | UnsetType = getattr(manifest.configurations, _FIELDS[kind])
    return found


def check(schema: Configuration | UnsetType, given: dict[str, Any]) -> None:
    """Raises BadRequest naming the property. Others than those declared are the script's own, and are kept."""
    if len(msgspec.json.encode(given)) > LARGEST:
        raise BadRequest(f"configuration: expected at most {LARGEST} bytes")
    if schema is UNSET or schema.properties is UNSET:
        return
    for name, wanted in schema.properties.items():
        value = given.get(name)
        if value is not None and (problem := _problem(wanted, value)) is not None:
            raise BadRequest(f"configuration.{name}: {problem}")


def _problem(wanted: Property, value: Any) -> str | None:
    if isinstance(wanted, ButtonProperty):
        return None
    if isinstance(wanted, StringProperty):
        if not isinstance(value, str):
            return "expected a string"
        if wanted.enum is not UNSET and value not in wanted.enum:
            return f"expected one of {', '.join(wanted.enum)}"
    elif isinstance(wanted, BooleanProperty) and not isinstance(value, bool):
        return "expected true or false"
    elif isinstance(wanted, NumberProperty) and (
        isinstance(value, bool) or not isinstance(value, int | float)
    ):
        return "expected a number"
    return None


def status_of(schema: Configuration | UnsetType, given: dict[str, Any], *, saved: bool) -> Status:
    """``pending`` until what is required is there, or until a form of the script's own was ``saved``."""
    if schema is UNSET:
        return "active"
    if schema.properties is UNSET:
        return "active" if saved else "pending"
    for name in () if schema.required is UNSET else schema.required:
        wanted = schema.properties.get(name)
        has_default = wanted is not None and getattr(wanted, "default", UNSET) is not UNSET
        if given.get(name) is None and not has_default:
            return "pending"
    return "active"


def shown(schema: Configuration | UnsetType, given: dict[str, Any]) -> dict[str, Any]:
    """What those see of a configuration who may not change it: scripts keep their credentials beside what is
    declared."""
    if schema is UNSET or schema.properties is UNSET:
        return {}
    return {name: value for name, value in given.items() if name in schema.properties}
