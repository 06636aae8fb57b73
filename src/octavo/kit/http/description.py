"""OpenAPI 3.1 description of the table of operations."""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from octavo.core.json_types import JsonObject
from octavo.kit.texts import say_name

from .operation import PUBLIC, Deletion, Operation, RawBody
from .schema_names import SCHEMA_NAMES

_REF = "#/components/schemas/{name}"
_TEXTS = {
    200: "The request succeeded.",
    201: "Created. If the new object has its own URL, the `Location` header contains it.",
    202: "Accepted. The work is completed in the background.",
    204: "The request succeeded and there is no content. For a deletion: there was nothing to delete.",
    205: "Deleted.",
    303: "Redirect to the URL in the `Location` header.",
    304: "Not modified since the response whose `ETag` was sent as `If-None-Match`.",
    400: "The request is invalid. The message starts with the name of the invalid field or parameter.",
    401: "The token is missing, unknown, expired, or revoked.",
    403: "You can see this object, but don't have permission for this operation.",
    404: "The object doesn't exist, or you don't have access to it.",
    409: "The request would change nothing, or conflicts with another change.",
    410: "The version on which the request is based is no longer available. Start again from the current state.",
    412: "This isn't possible in the current state.",
    413: "The body is larger than this operation accepts.",
    414: "The query is longer than the server accepts.",
    422: "The request is well formed, but can't be applied to its object.",
    431: "The head of the request is larger than the server accepts.",
    429: "Too many requests. The `Retry-After` header specifies when to try again.",
    500: (
        "Something went wrong on the server. The message contains a reference for the server administrator."
    ),
    502: "Another server that this operation depends on didn't respond as expected.",
    503: "A service that this operation needs isn't configured or can't be reached.",
}
_ALWAYS = (429, 431, 500)
_BYTES = {"type": "string", "format": "binary"}
"""Schema of a response that isn't JSON. Client generators rely on ``format``."""


_DEFAULT = "x-octavo-default"


class AreaMeaning(Struct, frozen=True):
    title: str
    about: str


class Meanings(Struct, frozen=True):
    """Descriptions of properties and parameters by name, and of schemas by name. Entries for ``Type.name`` and
    ``operationId.name`` take precedence over entries for the name alone. Docstrings of types aren't used, because
    they are for readers of the code.

    ``introduction``: the introduction in Markdown, with ``{server}`` as a placeholder for the URL that paths start
    with. ``areas``: descriptions of the areas by name.
    """

    introduction: str = ""
    areas: Mapping[str, AreaMeaning] = {}
    properties: Mapping[str, str] = {}
    parameters: Mapping[str, str] = {}
    schemas: Mapping[str, str] = {}

    def of_property(self, place: str, name: str) -> str | None:
        return self.properties.get(f"{place}.{name}") or self.properties.get(name)

    def of_parameter(self, operation_id: str, name: str) -> str | None:
        return self.parameters.get(f"{operation_id}.{name}") or self.parameters.get(name)


class Example(Struct, frozen=True, omit_defaults=True):
    """Example of a real call to an operation: the request and the successful response."""

    request: Any = None
    answer: Any = None


_NO_MEANINGS = Meanings()


def _types(operation: Operation) -> list[object]:
    found = [operation.body] if operation.body not in (None, RawBody) else []
    if operation.returns not in (None, Deletion):
        found += _options(operation.returns)
    if operation.error_type is not None:
        found.append(operation.error_type)
    return found


def _options(returns: object) -> list[object]:
    """Return the types of a response as a list. The types are described separately, because a union would require tags
    on its members. The server never decodes responses, so it doesn't need these tags."""
    return list(typing.get_args(returns)) if isinstance(returns, types.UnionType) else [returns]


def _parameters(operation: Operation, meanings: Meanings) -> list[JsonObject]:
    found: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in re.findall(r"\{(\w+)\}", operation.path)
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
                    "schema": _without_null(value),
                }
            )
    if operation.minimal:
        # RFC 7240: servers ignore preferences that they don't know.
        found.append({"name": "prefer", "in": "header", "required": False, "schema": {"type": "string"}})
    _complete(found)
    for parameter in found:
        if text := meanings.of_parameter(operation.id, parameter["name"]):
            parameter["description"] = text
    return found


def _without_null(schema: JsonObject) -> JsonObject:
    """Return the schema of a parameter without null, because missing parameters are omitted, and URLs can't
    contain null."""
    options = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]
    if len(options) == len(schema.get("anyOf", ())):
        return schema
    rest = {name: value for name, value in schema.items() if name not in ("anyOf", "default")}
    if schema.get("default") is not None:
        rest["default"] = schema["default"]
    return {**(options[0] if len(options) == 1 else {"anyOf": options}), **rest}


def _explain(schema: object, place: str, meanings: Meanings) -> None:
    """Add descriptions to all properties that don't have one."""
    if isinstance(schema, list):
        for part in schema:
            _explain(part, place, meanings)
    elif isinstance(schema, dict):
        properties = schema.get("properties", {})
        for name, value in properties.items():
            text = meanings.of_property(place, name)
            if text and "description" not in value:
                if _DEFAULT in value:
                    text += f" By default `{msgspec.json.encode(value[_DEFAULT]).decode()}`."
                value["description"] = text
            _explain(value, f"{place}.{name}", meanings)
        for key, part in schema.items():
            if key not in ("properties", "default", "enum", "const", "required"):
                _explain(part, place, meanings)


_DOTTED = re.compile(r"(?:\w+\.)+(\w+)")
_LISTING = re.compile(r"(?:Search)?Listing_(.+)_")
_CAPITALS = re.compile(r"[A-Z][a-z0-9]*")


def component_name(given: str) -> str:
    """Return the public name of a component, without the modules of its type: ``SpaceList`` for
    ``Listing_octavo.spaces.wire.Space_``. A list of several types is named after the last words that their names
    have in common."""
    if listing := _LISTING.fullmatch(given):
        kinds = [component_name(kind) for kind in re.split(r"___", listing[1])]
        words = [_CAPITALS.findall(kind) for kind in kinds]
        common = 0
        while all(len(w) > common and w[-1 - common] == words[0][-1 - common] for w in words):
            common += 1
        return "".join(words[0][len(words[0]) - common :]) + "List"
    name = _DOTTED.sub(r"\1", given)
    return SCHEMA_NAMES.get(name, name)


def _rename(value: object, names: dict[str, str]) -> Any:
    if isinstance(value, list):
        return [_rename(item, names) for item in value]
    if isinstance(value, dict):
        prefix = _REF.format(name="")
        return {
            key: prefix + names.get(name := item.removeprefix(prefix), name)
            if key == "$ref" and isinstance(item, str)
            else _rename(item, names)
            for key, item in value.items()
        }
    return value


def _named(schemas: Sequence[object], components: Mapping[str, object]) -> tuple[list[Any], JsonObject]:
    """Return schemas and components under their public names. Raises ValueError if two types have the same
    name, because names must be unique even without their modules."""
    names = {given: component_name(given) for given in components}
    if len(set(names.values())) < len(names):
        twice = sorted(given for given, name in names.items() if list(names.values()).count(name) > 1)
        raise ValueError(f"several types have the same name in the description: {', '.join(twice)}")
    renamed = {}
    for given, schema in components.items():
        schema = _rename(schema, names)
        schema["title"] = names[given]
        renamed[names[given]] = schema
    return _rename(schemas, names), renamed


def _complete(schema: object) -> None:
    """Complete schemas for client generators. Arrays of elements of any type get ``items``, and patterns use
    ECMAScript syntax, in which ``$`` matches only at the end."""
    if isinstance(schema, list):
        for part in schema:
            _complete(part)
    elif isinstance(schema, dict):
        if schema.get("type") == "array" and "items" not in schema and "prefixItems" not in schema:
            schema["items"] = {}
        if schema.get("enum") in ([True], [False]):
            schema |= {"type": "boolean", "const": schema.pop("enum")[0]}
        if "pattern" in schema:
            schema["pattern"] = schema["pattern"].replace(r"\Z", "$")
        for part in schema.values():
            _complete(part)


def _describe_defaults(
    operations: Iterable[Operation], shapes: Mapping[str, object], components: Mapping[str, object]
) -> None:
    """Describe the defaults of optional body fields in words, because client generators would treat properties with
    a ``default`` as required."""
    waiting: list[Any] = [
        shapes[repr(o.body)] for o in operations if o.body is not None and o.body is not RawBody
    ]
    seen: set[str] = set()
    while waiting:
        here = waiting.pop()
        if isinstance(here, list):
            waiting += here
        elif isinstance(here, dict):
            for value in here.get("properties", {}).values():
                if isinstance(value, dict) and "default" in value:
                    default = value.pop("default")
                    if default not in (None, [], {}, ""):
                        value[_DEFAULT] = default
            waiting += here.values()
            named = here.get("$ref")
            name = named.rpartition("/")[2] if isinstance(named, str) else ""
            if name in components and name not in seen:
                seen.add(name)
                waiting.append(components[name])


def _discriminate(schema: object, components: JsonObject) -> None:
    """Add the discriminator to every union of named objects that has one."""
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


def _only_value(schema: JsonObject) -> str | None:
    values = [schema["const"]] if "const" in schema else schema.get("enum", [])
    return values[0] if len(values) == 1 else None


def describe(
    operations: Iterable[Operation],
    *,
    title: str,
    version: str,
    server: str,
    meanings: Meanings = _NO_MEANINGS,
    examples: Mapping[str, Example] = {},
    schemas: Mapping[str, Mapping[str, object]] = {},
) -> JsonObject:
    """Return the API description of these operations as a JSON object.

    ``examples``: the examples by operation ID. ``schemas``: components that types refer to by name, but that aren't
    generated from types, such as the nodes of documents.
    """
    operations = list(operations)
    wanted = {repr(t): t for operation in operations for t in _types(operation)}
    made, named = msgspec.json.schema_components(wanted.values(), ref_template=_REF)
    shapes, components = _named(list(made), named)
    if twice := sorted(components.keys() & schemas.keys()):
        raise ValueError(f"several schemas have the same name in the description: {', '.join(twice)}")
    components |= {name: {"title": name, **schema} for name, schema in schemas.items()}
    _complete(shapes)
    _complete(components)
    _describe_defaults(operations, dict(zip(wanted, shapes, strict=True)), components)
    by_type = dict(zip(wanted, shapes, strict=True)) | {
        repr(bytes): _BYTES,
        repr(RawBody): {"type": "object"},
    }
    components["Error"] = {
        "type": "object",
        "required": ["error"],
        "properties": {
            "error": {
                "type": "object",
                "required": ["code", "message"],
                "properties": {
                    "code": {"type": "integer"},
                    "message": {"type": "string"},
                    "reason": {"type": "string"},
                    "field": {"type": "string"},
                },
            }
        },
    }
    for name, component in components.items():
        _explain(component, name, meanings)
        component["description"] = meanings.schemas.get(name) or component.get("description", "")
    usual_error = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    _discriminate(components, components)
    _discriminate(shapes, components)
    paths: JsonObject = {}
    for operation in operations:
        example = examples.get(operation.id, Example())
        codes = {400, 404, *operation.errors, *_ALWAYS}
        if operation.needs is not PUBLIC:
            codes |= {401, 403}
        if operation.body is not None:
            codes.add(413)
        if operation.query is not None:
            codes.add(414)
        if operation.method != "GET":
            # Any write may conflict with another write, or reach a limit on the number of objects.
            codes.add(409)
        responses: JsonObject = {str(operation.status): {"description": _TEXTS[operation.status]}}
        if operation.minimal:
            responses["204"] = {"description": _TEXTS[204]}
        if operation.returns is Deletion:
            responses["204"] = {"description": _TEXTS[204]}
        elif operation.returns is not None:
            options = [by_type[repr(option)] for option in _options(operation.returns)]
            schema = options[0] if len(options) == 1 else {"anyOf": options}
            media = {"schema": schema} | ({"example": example.answer} if example.answer is not None else {})
            others = {other: {"schema": {"type": "string"}} for other in operation.other_media}
            responses[str(operation.status)]["content"] = {operation.media_type: media, **others}
            for status in operation.also:
                responses[str(status)] = {**responses[str(operation.status)], "description": _TEXTS[status]}
        if operation.method == "GET":
            responses["304"] = {"description": _TEXTS[304]}
        error = usual_error
        if operation.error_type is not None:
            error = {operation.media_type: {"schema": by_type[repr(operation.error_type)]}}
        for code in sorted(codes):
            responses[str(code)] = {"description": _TEXTS[code], "content": error}
        entry: JsonObject = {
            "operationId": operation.id,
            "tags": [operation.area],
            "summary": say_name(operation.id),
            "description": operation.documentation.strip(),
            "parameters": _parameters(operation, meanings),
            "responses": responses,
            "security": [] if operation.needs is PUBLIC else [{"token": []}],
        }
        if operation.body is not None:
            content = {operation.body_media: {"schema": by_type[repr(operation.body)]}}
            if example.request is not None:
                content = {media: {**said, "example": example.request} for media, said in content.items()}
            entry["requestBody"] = {"required": not operation.body_optional, "content": content}
        if operation.extension:
            entry["x-octavo-extension"] = True
        if operation.deprecated:
            entry["deprecated"] = True
        if operation.needs is not PUBLIC:
            entry["x-octavo-needs"] = operation.needs.value
            entry["x-octavo-scopes"] = list(operation.scopes)
        paths.setdefault(operation.path, {})[operation.method.lower()] = entry
    info = {"title": title, "version": version}
    if meanings.introduction:
        info["description"] = meanings.introduction.replace("{server}", server).strip()
    return {
        "openapi": "3.1.0",
        "info": info,
        "servers": [{"url": server}],
        "tags": [
            {"name": area}
            | (
                {"x-displayName": said.title, "description": said.about}
                if (said := meanings.areas.get(area))
                else {}
            )
            for area in dict.fromkeys(operation.area for operation in operations)
        ],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }
