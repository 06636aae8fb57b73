"""Values as an API would send or take them, made from schemas. Pure."""

from __future__ import annotations

from typing import Any, Literal

from .description import Data, Description, list_of, object_of

Direction = Literal["request", "response"]

_DEPTH = 8
_VALUES = 300
"""Values of one example; what is beyond is left out."""
_FORMATS = {
    "date": "2026-01-31", "date-time": "2026-01-31T12:00:00Z", "time": "12:00:00Z", "duration": "PT1H",
    "email": "name@example.com", "uuid": "123e4567-e89b-12d3-a456-426614174000", "uri": "https://example.com",
    "url": "https://example.com", "hostname": "example.com", "ipv4": "192.0.2.1", "ipv6": "2001:db8::1",
    "byte": "dGV4dA==", "binary": "binary", "password": "secret",
}  # fmt: skip


def media_example(description: Description, media: Data, direction: Direction) -> Any:
    """The example that a media type has, else one made from its schema; None where there is neither."""
    if "example" in media:
        return media["example"]
    for value in object_of(media.get("examples")).values():
        found = description.follow(value)
        if "value" in found:
            return found["value"]
    return _Maker(description, direction).make(media.get("schema"), 0) if "schema" in media else None


def parameter_example(description: Description, parameter: Data) -> Any:
    found = media_example(description, parameter, "request")
    if found is None:
        content = list(object_of(parameter.get("content")).values())
        found = media_example(description, object_of(content[0]), "request") if content else None
    return found


class _Maker:
    def __init__(self, description: Description, direction: Direction) -> None:
        self._description = description
        self._hidden = "readOnly" if direction == "request" else "writeOnly"
        self._left = _VALUES
        self._within: list[str] = []

    def make(self, value: Any, depth: int) -> Any:
        """None where nothing can be said, also for a schema inside of itself."""
        name = self._description.name_of(value)
        if name in self._within:
            return None
        self._within += [name] if name else []
        made = self._made(value, depth)
        if name:
            self._within.pop()
        return made

    def _made(self, value: Any, depth: int) -> Any:
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
            return self._all(schema, depth)
        for key in ("oneOf", "anyOf"):
            variants = list_of(schema.get(key))
            if variants:
                chosen = next(
                    (v for v in variants if self._description.follow(v).get("type") != "null"), variants[0]
                )
                made = self.make(chosen, depth + 1)
                own = self._object(schema, depth) if "properties" in schema else {}
                return {**own, **made} if isinstance(made, dict) else made
        return self._plain(schema, depth)

    def _all(self, schema: Data, depth: int) -> Any:
        whole: Data = self._object(schema, depth) if "properties" in schema else {}
        other = None
        for part in schema["allOf"]:
            made = self.make(part, depth + 1)
            if isinstance(made, dict):
                whole |= made
            elif made is not None:
                other = made
        return whole or other

    def _plain(self, schema: Data, depth: int) -> Any:
        types = schema.get("type")
        kind = next((t for t in types if t != "null"), "null") if isinstance(types, list) else types
        if kind == "object" or (
            kind is None and ("properties" in schema or "additionalProperties" in schema)
        ):
            return self._object(schema, depth)
        if kind == "array" or (kind is None and "items" in schema):
            made = self.make(schema.get("items", {}), depth + 1)
            return [] if made is None else [made]
        if kind in ("integer", "number"):
            least = schema.get("minimum")
            return least if isinstance(least, (int, float)) and least > 0 else 1
        if kind == "boolean":
            return True
        return _FORMATS.get(str(schema.get("format")), "text") if kind == "string" else None

    def _object(self, schema: Data, depth: int) -> Data:
        made: Data = {}
        for name, value in object_of(schema.get("properties")).items():
            if self._left <= 0:
                break
            if self._description.follow(value).get(self._hidden) is not True:
                made[name] = self.make(value, depth + 1)
        extra = schema.get("additionalProperties")
        if not made and isinstance(extra, dict) and extra:
            made["key"] = self.make(extra, depth + 1)
        return {name: value for name, value in made.items() if value is not None}
