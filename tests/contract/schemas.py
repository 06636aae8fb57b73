"""The public API description's OpenAPI 3.0 schemas as JSON Schema."""

from __future__ import annotations

from typing import Any

import jsonschema_rs

_KEPT_OUT = {"nullable", "discriminator", "example", "xml", "externalDocs", "format"}


def json_schema(schema: Any, base: str = "") -> Any:
    """Return the JSON Schema (2020-12) of an OpenAPI 3.0 schema: ``nullable`` becomes a type, ``oneOf``
    becomes ``anyOf``.

    Variants overlap in the description, so a valid response can match several. Formats aren't checked, and
    additional properties are always allowed, because the description forbids them even inside ``allOf``.
    ``base``: the document that references point into, if it is another one.
    """
    if isinstance(schema, list):
        return [json_schema(item, base) for item in schema]
    if not isinstance(schema, dict):
        return schema
    converted: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "properties":
            converted[key] = {name: json_schema(one, base) for name, one in value.items()}
        elif key in ("enum", "required", "default", "const"):
            converted[key] = value
        elif key == "$ref":
            converted[key] = base + value
        elif key not in _KEPT_OUT and not (key == "additionalProperties" and value is False):
            converted["anyOf" if key == "oneOf" else key] = json_schema(value, base)
    if schema.get("nullable"):
        return {"anyOf": [converted, {"type": "null"}]}
    return converted


class Schemas:
    """Validators for the answers of a description's operations."""

    def __init__(self, description: dict[str, Any]) -> None:
        self._components = json_schema(description["components"]["schemas"])
        self._responses = description["components"].get("responses", {})
        self._registry = jsonschema_rs.Registry(
            [("urn:description", {"components": {"schemas": self._components}})]
        )
        self._operations = {
            operation["operationId"]: operation
            for item in description["paths"].values()
            for operation in item.values()
            if isinstance(operation, dict) and "operationId" in operation
        }

    def success_codes(self, operation_id: str) -> set[int]:
        return {int(code) for code in self._operations[operation_id]["responses"] if code.startswith("2")}

    def has(self, operation_id: str, status: int) -> bool:
        """Return whether an operation with such a response exists."""
        return str(status) in self._operations.get(operation_id, {}).get("responses", {})

    def errors(self, operation_id: str, status: int, answer: Any) -> list[str]:
        """Validate a response (None: empty) and return its errors as ``place: message``."""
        response = self._operations[operation_id]["responses"][str(status)]
        if "$ref" in response:
            response = self._responses[response["$ref"].rpartition("/")[2]]
        content = response.get("content", {})
        media = content.get("application/json") or content.get("text/event-stream")
        if media is None:
            return [] if answer is None else ["expected an empty answer"]
        validator = jsonschema_rs.Draft202012Validator(
            json_schema(media["schema"], "urn:description"), registry=self._registry
        )
        return [_complaint(error) for error in validator.iter_errors(answer)]


def _complaint(error: jsonschema_rs.ValidationError) -> str:
    """``place: message``, of the variant that fits best where there are several."""
    while isinstance(error.kind, jsonschema_rs.ValidationErrorKind.AnyOf):
        error = max(
            (min(branch, key=_depth) for branch in error.kind.context if branch),
            key=_depth,
        )
    return f"{'.'.join(map(str, error.instance_path)) or 'answer'}: {error.message[:300]}"


def _depth(error: jsonschema_rs.ValidationError) -> tuple[int, bool]:
    """Return how well a variant fits that fails with this error: deep inside is better, another ``type`` or
    ``object`` is worse."""
    path = error.instance_path
    tells_apart = bool(path) and path[-1] in ("type", "object", "kind")
    return (0, False) if tells_apart else (len(path) + 1, True)
