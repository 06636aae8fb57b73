"""Configuration of installations, validated against the properties that the integration declares."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import UNSET, UnsetType

from octavo.core.json_types import JsonObject
from octavo.errors import BadRequest, format_size

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
"""Maximum size of a configuration as JSON, in bytes."""
_FIELDS = {"installation": "account", "space": "space", "site": "site"}


def declared(manifest: Manifest, kind: str) -> Configuration | UnsetType:
    """Return the properties that an integration declares for the configuration of an ``installation``, or of an
    installation on a ``space`` or ``site``."""
    if manifest.configurations is UNSET:
        return UNSET
    found: Configuration | UnsetType = getattr(manifest.configurations, _FIELDS[kind])
    return found


def check(schema: Configuration | UnsetType, given: Mapping[str, object]) -> None:
    """Validate a configuration. Properties that aren't declared belong to the script, and are accepted. Raises
    BadRequest, which names the invalid property, if the configuration is invalid."""
    if len(msgspec.json.encode(given)) > LARGEST:
        raise BadRequest(f"configuration: must be at most {format_size(LARGEST)}")
    if schema is UNSET or schema.properties is UNSET:
        return
    for name, wanted in schema.properties.items():
        value = given.get(name)
        if value is not None and (problem := _problem(wanted, value)) is not None:
            raise BadRequest(f"configuration.{name}: {problem}")


def _problem(wanted: Property, value: object) -> str | None:
    if isinstance(wanted, ButtonProperty):
        return None
    if isinstance(wanted, StringProperty):
        if not isinstance(value, str):
            return "must be a string"
        if wanted.enum is not UNSET and value not in wanted.enum:
            return f"must be one of {', '.join(wanted.enum)}"
    elif isinstance(wanted, BooleanProperty) and not isinstance(value, bool):
        return "must be true or false"
    elif isinstance(wanted, NumberProperty) and (
        isinstance(value, bool) or not isinstance(value, int | float)
    ):
        return "must be a number"
    return None


def status_of(schema: Configuration | UnsetType, given: Mapping[str, object], *, saved: bool) -> Status:
    """Return the status, which is ``pending`` until all required properties are set or the script's own form has
    been ``saved``."""
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


def shown(schema: Configuration | UnsetType, given: Mapping[str, object]) -> JsonObject:
    """Return the part of a configuration that is visible to people who can't change it. Properties that aren't
    declared are hidden, because scripts store credentials in them."""
    if schema is UNSET or schema.properties is UNSET:
        return {}
    return {name: value for name, value in given.items() if name in schema.properties}
