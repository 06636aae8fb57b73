"""Visitor schemas, and the visitor claims that match a schema.

Conditions and expressions ignore claims that the schema doesn't define or that have a different type."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from octavo.core.json_types import JsonObject
from octavo.kit.texts import pattern

UNSIGNED = "unsigned"
"""Claim that contains all unsigned claims."""
_UNSIGNED_DESCRIPTION = "Unsigned claims of the site visitor."
MAX_DEPTH = 8
MAX_CONDITIONS = 500
_TEXT = 4096
_LONE = re.compile("[\ud800-\udfff]")
"""Pattern for a lone surrogate, which UTF-8 text can't contain."""

Name = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=100,
        pattern=pattern(
            r"^[A-Za-z_$][\w$]*\Z", "start with a letter, _, or $, and consist of letters, digits, _, and $"
        ),
    ),
]
Description = Annotated[str, Meta(max_length=1024)]


class BooleanClaim(Struct, tag_field="type", tag="boolean", forbid_unknown_fields=True):
    description: Description


class StringClaim(Struct, tag_field="type", tag="string", forbid_unknown_fields=True):
    description: Description
    enum: Annotated[list[Annotated[str, Meta(max_length=256)]], Meta(max_length=200)] | UnsetType = UNSET


class NumberClaim(Struct, tag_field="type", tag="number", forbid_unknown_fields=True):
    description: Description


Primitive = BooleanClaim | StringClaim | NumberClaim


class ArrayClaim(Struct, tag_field="type", tag="array", forbid_unknown_fields=True):
    description: Description
    items: Primitive


class ObjectClaim(Struct, tag_field="type", tag="object", rename="camel", forbid_unknown_fields=True):
    description: Description
    properties: Annotated[dict[Name, Claim], Meta(max_length=200)]
    additional_properties: bool

    def __post_init__(self) -> None:
        _require_closed(self.additional_properties)


Claim = BooleanClaim | StringClaim | NumberClaim | ArrayClaim | ObjectClaim


class VisitorSchema(Struct, rename="camel", forbid_unknown_fields=True):
    """Subset of JSON Schema that describes visitors."""

    type: Literal["object"]
    properties: Annotated[dict[Name, Claim], Meta(max_length=200)]
    additional_properties: bool
    schema: Literal["http://json-schema.org/draft-07/schema#"] | UnsetType = field(
        name="$schema", default=UNSET
    )

    def __post_init__(self) -> None:
        _require_closed(self.additional_properties)
        unsigned = self.properties.get(UNSIGNED)
        if unsigned is not None and not isinstance(unsigned, ObjectClaim):
            raise ValueError("jsonSchema.properties.unsigned: must be an object of claims")
        if isinstance(unsigned, ObjectClaim) and unsigned.description != _UNSIGNED_DESCRIPTION:
            raise ValueError(f"jsonSchema.properties.unsigned.description: must be `{_UNSIGNED_DESCRIPTION}`")
        if any(_depth(claim) > MAX_DEPTH for claim in self.properties.values()):
            raise ValueError(f"jsonSchema.properties: claims can be nested at most {MAX_DEPTH} levels deep")


class Condition(Struct):
    """Suggested condition for a schema."""

    description: str
    condition: str


def _require_closed(additional: bool) -> None:
    if additional:
        raise ValueError("additionalProperties: must be false")


def _depth(claim: Claim) -> int:
    if not isinstance(claim, ObjectClaim):
        return 1
    return 1 + max((_depth(below) for below in claim.properties.values()), default=0)


def list_conditions(schema: VisitorSchema) -> list[Condition]:
    """Return a condition for each boolean and for each allowed value of a string."""
    found = []
    for condition in _conditions(schema.properties, "visitor.claims"):
        found.append(condition)
        if len(found) == MAX_CONDITIONS:
            break
    return found


def _conditions(claims: Mapping[str, Claim], above: str) -> Iterator[Condition]:
    for name, claim in claims.items():
        place = f"{above}.{name}"
        match claim:
            case BooleanClaim():
                yield Condition(claim.description, f"{place} == true")
            case StringClaim() if claim.enum is not UNSET:
                for word in claim.enum:
                    quoted = word.replace("\\", "\\\\").replace('"', '\\"')
                    yield Condition(f"{claim.description} ({word})", f'{place} == "{quoted}"')
            case ObjectClaim():
                yield from _conditions(claim.properties, place)


EMPTY = VisitorSchema(type="object", properties={}, additional_properties=False)


# --- claims of a visitor --------------------------------------------------------------------------------


def admit(schema: VisitorSchema, signed: Mapping[str, object], unsigned: Mapping[str, object]) -> JsonObject:
    """Return the ``visitor`` value for conditions and expressions: the signed and unsigned claims that match
    the schema."""
    claims = {name: claim for name, claim in schema.properties.items() if name != UNSIGNED}
    below = schema.properties.get(UNSIGNED)
    known = _admitted_claims(below.properties, unsigned) if isinstance(below, ObjectClaim) else {}
    return {"claims": {**_admitted_claims(claims, signed), UNSIGNED: known}}


def _admitted_claims(claims: Mapping[str, Claim], given: Mapping[str, object]) -> JsonObject:
    found = {}
    for name, claim in claims.items():
        if name in given and (value := _value(claim, given[name])) is not None:
            found[name] = value
    return found


def _is_number(value: object) -> bool:
    """Return whether a value is a number that JSON and its parsers can represent."""
    if isinstance(value, float):
        return isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 63


def _value(claim: Claim, value: object) -> object:
    """Return the value of a claim, or None if it has a different type."""
    match claim:
        case BooleanClaim():
            return value if isinstance(value, bool) else None
        case NumberClaim():
            return value if _is_number(value) else None
        case StringClaim():
            if not isinstance(value, str) or len(value) > _TEXT or _LONE.search(value):
                return None
            return value if claim.enum is UNSET or value in claim.enum else None
        case ArrayClaim():
            if not isinstance(value, list) or len(value) > _TEXT:
                return None
            found = [_value(claim.items, item) for item in value]
            return None if None in found else found
        case ObjectClaim():
            return _admitted_claims(claim.properties, value) if isinstance(value, Mapping) else None
