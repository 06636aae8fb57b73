"""Convert Swagger 2.0 to OpenAPI 3.0, limited to the parts that an API reference shows. The specification must be valid
and bundled. This module does no I/O."""

from __future__ import annotations

from typing import Any

from .bundling import resolve, walk_references
from .problems import Way
from .validating import EARLY_WEBHOOKS

_MOVED = {
    "#/definitions/": "#/components/schemas/",
    "#/responses/": "#/components/responses/",
    "#/parameters/": "#/components/parameters/",
}
_SCHEMA_KEYS = (
    "type",
    "format",
    "items",
    "default",
    "maximum",
    "exclusiveMaximum",
    "minimum",
    "exclusiveMinimum",
    "maxLength",
    "minLength",
    "pattern",
    "maxItems",
    "minItems",
    "uniqueItems",
    "enum",
    "multipleOf",
    "x-enumDescriptions",
)
_STYLES = {
    "csv": ("form", False),
    "multi": ("form", True),
    "ssv": ("spaceDelimited", False),
    "pipes": ("pipeDelimited", False),
}
_FLOWS = {"application": "clientCredentials", "accessCode": "authorizationCode"}
_FORMS = ("multipart/form-data", "application/x-www-form-urlencoded")
_METHODS = ("get", "put", "post", "delete", "options", "head", "patch")

Data = dict[str, Any]


def from_swagger(old: Data) -> Data:
    """Convert a specification to OpenAPI 3.0."""
    made = _Converter(old).run()

    def move(reference: str, way: Way) -> str | None:
        return next(
            (new + reference[len(was) :] for was, new in _MOVED.items() if reference.startswith(was)), None
        )

    moved: Data = walk_references(made, move)
    return moved


class _Converter:
    def __init__(self, old: Data) -> None:
        self._old = old
        self._consumes = old.get("consumes") or ["application/json"]
        self._produces = old.get("produces") or ["application/json"]

    def run(self) -> Data:
        old = self._old
        made: Data = {"openapi": "3.0.4"}
        made |= {key: old[key] for key in ("info", "tags", "externalDocs", "security") if key in old}
        # Webhooks in Swagger specifications would have a different format.
        made |= {key: value for key, value in old.items() if key.startswith("x-") and key != EARLY_WEBHOOKS}
        made["servers"] = self._servers(old.get("schemes"))
        made["paths"] = {
            path: self._item(item) if not path.startswith("x-") else item
            for path, item in old["paths"].items()
        }
        parameters = {
            name: self._parameter(each)
            for name, each in (old.get("parameters") or {}).items()
            if each.get("in") not in ("body", "formData")
        }
        made["components"] = {
            "schemas": old.get("definitions") or {},
            "parameters": parameters,
            "responses": {
                n: self._response(r, self._produces) for n, r in (old.get("responses") or {}).items()
            },
            "securitySchemes": {n: _security(s) for n, s in (old.get("securityDefinitions") or {}).items()},
        }
        return made

    def _servers(self, schemes: Any) -> list[Data]:
        host, base = self._old.get("host"), self._old.get("basePath") or "/"
        if not host:
            return [{"url": base}]
        return [{"url": f"{scheme}://{host}{base.rstrip('/')}"} for scheme in schemes or ["https"]]

    def _found(self, value: Data) -> Data:
        found = resolve(self._old, value["$ref"]) if "$ref" in value else value
        return found if isinstance(found, dict) else {}

    def _item(self, item: Data) -> Data:
        made = {key: value for key, value in item.items() if key not in (*_METHODS, "parameters")}
        shared = [self._found(each) for each in item.get("parameters") or []]
        made |= {method: self._operation(item[method], shared) for method in _METHODS if method in item}
        return made

    def _operation(self, old: Data, shared: list[Data]) -> Data:
        dropped = ("parameters", "consumes", "produces", "schemes", "responses")
        made = {key: value for key, value in old.items() if key not in dropped}
        own = [self._found(each) for each in old.get("parameters") or []]
        named = {(each.get("in"), each.get("name")) for each in own}
        given = [each for each in shared if (each.get("in"), each.get("name")) not in named] + own
        simple = [self._parameter(each) for each in given if each.get("in") not in ("body", "formData")]
        if simple:
            made["parameters"] = simple
        body = self._body(given, old.get("consumes") or self._consumes)
        if body:
            made["requestBody"] = body
        if old.get("schemes") and self._old.get("host"):
            made["servers"] = self._servers(old["schemes"])
        produces = old.get("produces") or self._produces
        made["responses"] = {
            code: response
            if code.startswith("x-") or "$ref" in response
            else self._response(response, produces)
            for code, response in old["responses"].items()
        }
        return made

    def _parameter(self, old: Data) -> Data:
        if "$ref" in old:
            return old
        schema = {key: old[key] for key in _SCHEMA_KEYS if key in old}
        made = {
            key: value for key, value in old.items() if key not in (*_SCHEMA_KEYS, "collectionFormat", "type")
        }
        if old.get("type") == "array" and old.get("in") in ("query", "path", "header"):
            style, explode = _STYLES.get(old.get("collectionFormat", "csv"), ("form", False))
            if old["in"] == "query":
                made |= {"style": style, "explode": explode}
        return {**made, "schema": schema}

    def _body(self, given: list[Data], consumes: list[str]) -> Data | None:
        body = next((each for each in given if each.get("in") == "body"), None)
        if body is not None:
            made: Data = {key: body[key] for key in ("description", "required") if key in body}
            made["content"] = {media: {"schema": body.get("schema") or {}} for media in consumes}
            return made
        fields = [each for each in given if each.get("in") == "formData"]
        if not fields:
            return None
        has_file = any(each.get("type") == "file" for each in fields)
        properties = {}
        for each in fields:
            schema = {key: each[key] for key in (*_SCHEMA_KEYS, "description") if key in each}
            if each.get("type") == "file":
                schema |= {"type": "string", "format": "binary"}
            properties[str(each.get("name"))] = schema
        schema = {"type": "object", "properties": properties}
        required = [each["name"] for each in fields if each.get("required")]
        if required:
            schema["required"] = required
        forms = [media for media in consumes if media in _FORMS] or [_FORMS[0] if has_file else _FORMS[1]]
        return {"content": {media: {"schema": schema} for media in forms}, "required": bool(required)}

    def _response(self, old: Data, produces: list[str]) -> Data:
        made = {key: value for key, value in old.items() if key not in ("schema", "examples", "headers")}
        examples: Data = old.get("examples") or {}
        if "schema" in old or examples:
            content: Data = {}
            for media in dict.fromkeys([*(produces if "schema" in old else ()), *examples]):
                content[media] = {"schema": old["schema"]} if "schema" in old else {}
                if media in examples:
                    content[media]["example"] = examples[media]
            made["content"] = content
        if isinstance(old.get("headers"), dict):
            made["headers"] = {name: self._parameter(header) for name, header in old["headers"].items()}
        return made


def _security(old: Data) -> Data:
    made = {key: value for key, value in old.items() if key.startswith("x-") or key == "description"}
    if old.get("type") == "basic":
        return {**made, "type": "http", "scheme": "basic"}
    if old.get("type") == "apiKey":
        return {**made, "type": "apiKey", "name": old.get("name"), "in": old.get("in")}
    flow: Data = {key: old[key] for key in ("authorizationUrl", "tokenUrl") if key in old}
    flow["scopes"] = old.get("scopes") or {}
    name = str(old.get("flow"))
    return {**made, "type": "oauth2", "flows": {_FLOWS.get(name, name): flow}}
