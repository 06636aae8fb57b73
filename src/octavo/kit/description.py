"""The OpenAPI 3.1 description of the table."""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Iterable
from typing import Any

import msgspec

from .operation import PUBLIC, Deletion, Operation, RawBody

_REF = "#/components/schemas/{name}"
_TEXTS = {
    200: "Done",
    201: "Made; `Location` says where",
    204: "Done, or (for a deletion) it was not there",
    205: "Deleted",
    303: "Go on at `Location`",
    304: "Not changed since the ETag that was sent",
    400: "The request is wrong; the message names the field",
    401: "No token, or one that is unknown, expired or revoked",
    403: "Seen, but not allowed",
    404: "Not there, or not for you to see",
    409: "Nothing would change, or somebody was faster",
    412: "Not possible in this state",
    413: "Larger than this operation takes",
    429: "Too many requests",
    500: "Our fault; the message holds a reference",
    502: "Another server this needs did not answer as it should",
    503: "A part this needs is not configured or not reachable",
}
_ALWAYS = (429, 500)


def _types(operation: Operation) -> list[Any]:
    found = [operation.body] if operation.body not in (None, RawBody) else []
    if operation.returns not in (None, Deletion):
        found += _options(operation.returns)
    return found


def _options(returns: Any) -> list[Any]:
    """Answers of several shapes one by one: together they need no tag, since nobody reads them here."""
    return list(typing.get_args(returns)) if isinstance(returns, types.UnionType) else [returns]


def _parameters(operation: Operation, path_names: Iterable[str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in path_names
    ]
    if operation.query is not None:
        (schema,), components = msgspec.json.schema_components([operation.query], ref_template=_REF)
        del schema
        fields = next(iter(components.values()))
        for name, value in fields.get("properties", {}).items():
            found.append(
                {
                    "name": name,
                    "in": "query",
                    "required": name in fields.get("required", ()),
                    "schema": value,
                }
            )
    return found


def _discriminate(schema: Any, components: dict[str, Any]) -> None:
    """Adds to every union of named objects the property that tells them apart, where one does."""
    if isinstance(schema, list):
        for part in schema:
            _discriminate(part, components)
        return
    if not isinstance(schema, dict):
        return
    for part in schema.values():
        _discriminate(part, components)
    options = schema.get("anyOf", [])
    names = [option.get("$ref", "").rpartition("/")[2] for option in options]
    if len(names) < 2 or not all(name in components for name in names) or "discriminator" in schema:
        return
    properties = [components[name].get("properties", {}) for name in names]
    for tag in ("type", "object", "kind", "status"):
        values = [_only_value(entry.get(tag, {})) for entry in properties]
        if None not in values and len(set(values)) == len(names):
            mapping = {str(v): _REF.format(name=name) for v, name in zip(values, names, strict=True)}
            schema["discriminator"] = {"propertyName": tag, "mapping": mapping}
            return


def _only_value(schema: dict[str, Any]) -> str | None:
    values = [schema["const"]] if "const" in schema else schema.get("enum", [])
    return values[0] if len(values) == 1 else None


def describe(operations: Iterable[Operation], *, title: str, version: str, server: str) -> dict[str, Any]:
    """The description of these operations as a JSON object."""
    operations = list(operations)
    wanted = {repr(t): t for operation in operations for t in _types(operation)}
    schemas, components = msgspec.json.schema_components(wanted.values(), ref_template=_REF)
    by_type = dict(zip(wanted, schemas, strict=True))
    components["Error"] = {
        "type": "object",
        "required": ["error"],
        "properties": {
            "error": {
                "type": "object",
                "required": ["code", "message"],
                "properties": {"code": {"type": "integer"}, "message": {"type": "string"}},
            }
        },
    }
    error = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    _discriminate(components, components)
    _discriminate(schemas, components)
    paths: dict[str, Any] = {}
    for operation in operations:
        codes = {400, 404, *operation.errors, *_ALWAYS}
        if operation.needs is not PUBLIC:
            codes |= {401, 403}
        if operation.body is not None:
            codes.add(413)
        responses: dict[str, Any] = {str(operation.status): {"description": _TEXTS[operation.status]}}
        if operation.returns is Deletion:
            responses["204"] = {"description": _TEXTS[204]}
        elif operation.returns is not None:
            options = [by_type[repr(option)] for option in _options(operation.returns)]
            schema = options[0] if len(options) == 1 else {"anyOf": options}
            responses[str(operation.status)]["content"] = {"application/json": {"schema": schema}}
        if operation.method == "GET":
            responses["304"] = {"description": _TEXTS[304]}
        for code in sorted(codes):
            responses[str(code)] = {"description": _TEXTS[code], "content": error}
        summary, _, rest = operation.documentation.partition("\n")
        entry: dict[str, Any] = {
            "operationId": operation.id,
            "tags": [operation.area],
            "summary": summary,
            "parameters": _parameters(operation, re.findall(r"\{(\w+)\}", operation.path)),
            "responses": responses,
            "security": [] if operation.needs is PUBLIC else [{"token": []}],
        }
        if rest.strip():
            entry["description"] = rest.strip()
        if operation.body is not None:
            content = (
                {"*/*": {}}
                if operation.body is RawBody
                else {"application/json": {"schema": by_type[repr(operation.body)]}}
            )
            entry["requestBody"] = {"required": not operation.body_optional, "content": content}
        if operation.extension:
            entry["x-octavo-extension"] = True
        if operation.deprecated:
            entry["deprecated"] = True
        if operation.needs is not PUBLIC:
            entry["x-octavo-needs"] = operation.needs.value
        paths.setdefault(operation.path, {})[operation.method.lower()] = entry
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "version": version},
        "servers": [{"url": server}],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }
