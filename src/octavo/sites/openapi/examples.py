"""Example values for an API, generated from schemas. This module does no I/O."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any, Literal
from weakref import WeakKeyDictionary

from .description import ApiDescription, Data, list_of, object_of, text_of

Direction = Literal["request", "response"]

_DEPTH = 8
_LONGEST = 200
"""Maximum length in characters of a string that is extended to satisfy a specification."""
_SAID = ("example", "examples", "default", "const")
"""Schema keywords that contain a value."""
_NAMED = 20
"""Maximum number of examples per media type."""
_VALUES = 300
"""Maximum number of values per example. Additional values are omitted."""
_KEPT = 64
"""Maximum number of examples to cache for named schemas, such as error bodies, which are the same on all pages."""
_kept: WeakKeyDictionary[ApiDescription, dict[tuple[str, Direction], tuple[Any]]] = WeakKeyDictionary()
_NAMES = {
    "email": "name@example.com",
    "mail": "name@example.com",
    "url": "https://example.com",
    "uri": "https://example.com",
    "href": "https://example.com",
    "website": "https://example.com",
    "host": "example.com",
    "hostname": "example.com",
    "domain": "example.com",
    "ip": "192.0.2.1",
    "phone": "+15550100",
    "currency": "EUR",
    "country": "DE",
    "language": "en",
    "locale": "en",
    "timezone": "Europe/Berlin",
    "color": "#2563eb",
    "colour": "#2563eb",
    "date": "2026-01-31",
    "sha": "ce587453ced02b15",
}
"""Example strings, by the last word of a value's name. They are used if the specification has no example."""
_FORMATS = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
    "time": "12:00:00Z",
    "duration": "PT1H",
    "email": "name@example.com",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "uri": "https://example.com",
    "url": "https://example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "byte": "dGV4dA==",
    "binary": "binary",
    "password": "secret",
}


def media_example(description: ApiDescription, media: Data, direction: Direction, name: str = "") -> object:
    """Return the example of a media type, or an example generated from its schema; None if neither is possible.
    ``name``: the name of the value."""
    if "example" in media:
        return media["example"]
    for value in object_of(media.get("examples")).values():
        found = description.follow(value)
        if "value" in found:
            return found["value"]
    if "schema" not in media:
        return None
    ref = object_of(media["schema"]).get("$ref")
    if name or not isinstance(ref, str):
        return _Maker(description, direction).make(media["schema"], 0, name)
    kept = _kept.setdefault(description, {})
    known = kept.get((ref, direction))
    if known is None:
        while len(kept) >= _KEPT:
            kept.pop([*kept][0], None)
        known = kept[ref, direction] = (_Maker(description, direction).make(media["schema"], 0),)
    return known[0]


def named_examples(description: ApiDescription, media: Data) -> list[tuple[str, object]]:
    """Return the available examples by name; empty unless there is more than one."""
    if "example" in media:
        return []
    named = [
        (" ".join(text_of(found.get("summary")).split())[:80] or name, found["value"])
        for name, given in islice(object_of(media.get("examples")).items(), _NAMED)
        if "value" in (found := description.follow(given))
    ]
    return named if len(named) > 1 else []


def all_examples(description: ApiDescription, holder: Data) -> list[tuple[str, object]]:
    """Return the examples that a parameter, header, or media type defines outside its schema, each with its
    description."""
    if "example" in holder:
        return [("", holder["example"])]
    return [
        (" ".join(text_of(found.get("summary")).split())[:80], found["value"])
        for given in islice(object_of(holder.get("examples")).values(), _NAMED)
        if "value" in (found := description.follow(given))
    ]


def parameter_example(description: ApiDescription, parameter: Data, *, named: bool = True) -> object:
    """Return a value for a parameter: its example or, by default, a value generated from its schema. If there is
    neither, return the parameter's own name if ``named`` is set."""
    name = text_of(parameter.get("name")) if named else ""
    found = media_example(description, parameter, "request", name)
    if found is None:
        content = list(object_of(parameter.get("content")).values())
        found = media_example(description, object_of(content[0]), "request", name) if content else None
    return found


class _Maker:
    """Generator of values from schemas. Responses contain all properties. Requests contain required properties and
    properties with a value in the specification, or all properties if there are no such properties."""

    def __init__(self, description: ApiDescription, direction: Direction) -> None:
        self._description = description
        self._asks = direction == "request"
        self._hidden = "readOnly" if direction == "request" else "writeOnly"
        self._left = _VALUES
        self._within: list[str] = []

    def make(self, value: object, depth: int, name: str = "") -> object:
        """Return a value; None if the schema doesn't determine a value or is nested in itself. ``name``: the name of
        the value."""
        schema_name = self._description.name_of(value)
        if schema_name in self._within:
            return None
        self._within += [schema_name] if schema_name else []
        made = self._made(value, depth, name)
        if schema_name:
            self._within.pop()
        return made

    def _made(self, value: object, depth: int, name: str) -> object:
        self._left -= 1
        schema = self._description.follow(value)
        if "example" in schema:
            return schema["example"]
        if list_of(schema.get("examples")):
            return schema["examples"][0]
        for key in ("const", "default"):
            if key in schema:
                return schema[key]
        if list_of(schema.get("enum")):
            return schema["enum"][0]
        if depth >= _DEPTH or self._left <= 0:
            return None
        if list_of(schema.get("allOf")):
            return self._all(schema, depth, name)
        for key in ("oneOf", "anyOf"):
            variants = list_of(schema.get(key))
            if variants:
                chosen = next(
                    (v for v in variants if self._description.follow(v).get("type") != "null"), variants[0]
                )
                made = self.make(chosen, depth + 1, name)
                own = self._object(schema, depth) if "properties" in schema else {}
                return {**own, **made} if isinstance(made, dict) else made
        return self._plain(schema, depth, name)

    def _all(self, schema: Data, depth: int, name: str) -> object:
        whole: Data = self._object(schema, depth) if "properties" in schema else {}
        other = None
        for part in schema["allOf"]:
            made = self.make(part, depth + 1, name)
            if isinstance(made, dict):
                whole |= made
            elif made is not None:
                other = made
        return whole or other

    def _plain(self, schema: Data, depth: int, name: str) -> object:
        types = schema.get("type")
        kind = next((t for t in types if t != "null"), "null") if isinstance(types, list) else types
        if kind == "object" or (
            kind is None and ("properties" in schema or "additionalProperties" in schema)
        ):
            return self._object(schema, depth)
        if kind == "array" or (kind is None and "items" in schema):
            made = self.make(schema.get("items", {}), depth + 1, name[:-1] if name.endswith("s") else name)
            return [] if made is None else [made]
        if kind in ("integer", "number"):
            least = schema.get("minimum")
            return least if isinstance(least, (int, float)) and least > 0 else 1
        if kind == "boolean":
            return True
        return _make_string(schema, name) if kind == "string" else None

    def _says(self, schema: Data) -> bool:
        """Return whether the specification contains a value for a schema, or for the items of a list."""
        items = self._description.follow(schema.get("items"))
        return any(key in each for each in (schema, items) for key in _SAID)

    def _object(self, schema: Data, depth: int) -> Data:
        made: Data = {}
        shown = [
            (name, value, found)
            for name, value in object_of(schema.get("properties")).items()
            if (found := self._description.follow(value)).get(self._hidden) is not True
        ]
        if self._asks:
            required = list_of(schema.get("required"))
            asked = [
                each
                for each in shown
                if each[0] in required or (each[2].get("deprecated") is not True and self._says(each[2]))
            ]
            shown = asked or shown
        for name, value, _ in shown:
            if self._left <= 0:
                break
            made[name] = self.make(value, depth + 1, name)
        extra = schema.get("additionalProperties")
        if not made and isinstance(extra, dict) and extra:
            made["key"] = self.make(extra, depth + 1)
        return {name: value for name, value in made.items() if value is not None}


def _make_string(schema: Data, name: str) -> str | None:
    """Return a string value that fits the format or the name. If neither determines a value, return the name
    itself, or None if there is no name."""
    found = _FORMATS.get(text_of(schema.get("format")))
    if found is None:
        words = (
            re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).replace("_", " ").replace("-", " ").lower().split()
        )
        found = _NAMES.get(words[-1] if words else "") or name
    if not found:
        return None
    most, least = schema.get("maxLength"), schema.get("minLength")
    if isinstance(least, int) and len(found) < min(least, _LONGEST):
        found = (found * _LONGEST)[: min(least, _LONGEST)]
    return found[:most] if isinstance(most, int) and most > 0 else found
