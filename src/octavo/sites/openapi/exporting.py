"""Export a complete specification as YAML or JSON, as a Postman collection, or as a file of HTTP requests.
This module does no I/O."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args
from urllib.parse import quote, unquote

import msgspec
import yaml
from msgspec import Struct

from octavo.core.json_types import JsonObject
from octavo.errors import BadRequest

from .code_samples import Basic, Part, SampleCall, example_call
from .description import UNTAGGED, ApiDescription, DescribedOperation, text_of
from .reading import plain_value

Form = Literal["yaml", "json", "postman", "http"]
_LARGE = 2 * 1024 * 1024
"""Size in bytes above which a specification is exported as JSON even if YAML is requested, because JSON is valid
YAML."""


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """Dumper that quotes strings that YAML 1.2 interprets as numbers. The library supports only the number formats of
    YAML 1.1."""


def _represent_text(dumper: Any, text: str) -> object:
    style = "'" if isinstance(plain_value(text), (int, float)) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)


class Export(Struct, frozen=True):
    name: str
    media_type: str
    content: bytes


def export(description: ApiDescription, form: str) -> Export:
    """Export a specification. Raises BadRequest if the format is unknown."""
    write = _WRITERS.get(form)
    if write is None:
        raise BadRequest(f"as: must be one of {', '.join(get_args(Form))}")
    return write(description)


def _json(description: ApiDescription) -> Export:
    content = msgspec.json.format(msgspec.json.encode(description.data), indent=2)
    return Export("openapi.json", "application/json", content)


def _yaml(description: ApiDescription) -> Export:
    content = msgspec.json.encode(description.data)
    if len(content) <= _LARGE:
        dumped = yaml.dump(
            msgspec.json.decode(content), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120
        )
        content = dumped.encode()
    return Export("openapi.yaml", "application/yaml", content)


def _in_query(part: Part) -> Part:
    return quote(part, safe=",/:@!$'()*~;") if isinstance(part, str) else part


def _variables(parts: Sequence[Part]) -> str:
    """Return secrets as variables for Postman and HTTP files, which use the same syntax. A username and a password are
    written separately, because clients encode them."""

    def written(part: Part) -> str:
        if isinstance(part, Basic):
            return "{{" + part.user + "}} {{" + part.password + "}}"
        return part if isinstance(part, str) else "{{" + part.env + "}}"

    return "".join(map(written, parts))


def _secrets(call: SampleCall) -> list[str]:
    parts = [part for _, given in (*call.query, *call.headers) for part in given if not isinstance(part, str)]
    return [name for part in parts for name in msgspec.structs.astuple(part)]


def _postman(description: ApiDescription) -> Export:
    folders: list[dict[str, Any]] = []
    names: dict[str, None] = {}
    for tag in description.tags():
        items = []
        for operation in description.with_tag(tag.name):
            call = example_call(description, operation)
            names.update(dict.fromkeys(_secrets(call)))
            items.append(_request(operation, call))
        if items and tag.name == UNTAGGED:
            folders += items
        elif items:
            folders.append({"name": tag.title, "description": tag.description, "item": items})
    collection = {
        "info": {
            "name": description.title,
            "description": text_of(description.info.get("description")),
            "version": text_of(description.info.get("version")),
            "schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json",
        },
        "item": folders,
        "variable": [
            {"key": "baseUrl", "value": description.server_url()},
            *({"key": name, "value": ""} for name in names),
        ],
    }
    return Export("postman.json", "application/json", _dump(collection))


def _dump(value: object) -> bytes:
    return json.dumps(value, indent=2, ensure_ascii=False, default=str).encode("utf-8", "replace")


def _request(operation: DescribedOperation, call: SampleCall) -> JsonObject:
    path = operation.path.partition("?")[0].replace("{", ":").replace("}", "")
    auth = [part for _, given in call.headers for part in given if isinstance(part, Basic)]
    headers = [
        {"key": name, "value": _variables(given)}
        for name, given in call.headers
        if not any(isinstance(part, Basic) for part in given)
    ]
    query = [{"key": name, "value": _variables(given)} for name, given in call.query]
    asked = "&".join(f"{each['key']}={each['value']}" for each in query)
    request: JsonObject = {
        "method": call.method,
        "description": text_of(operation.data.get("description")),
        "header": headers,
        "url": {
            "raw": "{{baseUrl}}" + path + (f"?{asked}" if asked else ""),
            "host": ["{{baseUrl}}"],
            "path": path.strip("/").split("/"),
            "query": query,
            "variable": [
                *({"key": name, "value": value} for name, value in call.params.items()),
                *({"key": name, "value": unquote(value)} for name, value in call.encoded.items()),
            ],
        },
    }
    if auth:
        user, password = msgspec.structs.astuple(auth[0])
        request["auth"] = {
            "type": "basic",
            "basic": [
                {"key": "username", "value": "{{" + user + "}}", "type": "string"},
                {"key": "password", "value": "{{" + password + "}}", "type": "string"},
            ],
        }
    body = call.body
    if body is not None and body.kind in ("json", "text"):
        language = "json" if body.kind == "json" else "text"
        request["body"] = {"mode": "raw", "raw": body.text, "options": {"raw": {"language": language}}}
    elif body is not None and body.kind in ("form", "multipart"):
        mode = "urlencoded" if body.kind == "form" else "formdata"
        fields = [
            {"key": each.name, "type": "file", "src": each.path}
            if each.path is not None
            else {"key": each.name, "type": "text", "value": each.value or ""}
            for each in body.fields
        ]
        request["body"] = {"mode": mode, mode: fields}
    elif body is not None:
        request["body"] = {"mode": "file", "file": {"src": body.path}}
    return {"name": operation.title, "request": request}


def _http(description: ApiDescription) -> Export:
    """Return a file in the format of the HTTP clients for JetBrains IDEs and Visual Studio Code."""
    written, names = list[str](), dict[str, None]()
    for operation in description.operations.values():
        call = example_call(description, operation)
        names.update(dict.fromkeys(_secrets(call)))
        path = call.path
        for name, value in call.params.items():
            path = path.replace("{" + name + "}", value or "{{" + name + "}}")
        for name, value in call.encoded.items():
            path = path.replace("{" + name + "}", value)
        asked = "&".join(
            f"{_in_query(name)}={_variables([_in_query(part) for part in given])}"
            for name, given in call.query
        )
        lines = [
            f"### {operation.title}",
            f"{call.method} {{{{baseUrl}}}}{path}{f'?{asked}' if asked else ''}",
        ]
        lines += [f"{name}: {_variables(given)}" for name, given in call.headers]
        lines += _http_body(call)
        written.append("\n".join(" ".join(line.split("\r")) for line in lines))
    head = [f"@baseUrl = {description.server_url()}", *(f"@{name} = " for name in names)]
    text = "\n".join(head) + "\n\n" + "\n\n".join(written) + "\n"
    return Export("requests.http", "text/plain; charset=utf-8", text.encode("utf-8", "replace"))


def _http_body(call: SampleCall) -> list[str]:
    body = call.body
    if body is None:
        return []
    if body.kind in ("json", "text"):
        # Three number signs at the start of a line would start the next request.
        return ["", body.text.replace("\n###", "\n ###")]
    if body.kind == "file":
        return ["", f"< ./{body.path}"]
    if body.kind == "form":
        pairs = "&".join(f"{each.name}={each.value or ''}" for each in body.fields)
        return [f"Content-Type: {body.media_type}", "", pairs]
    lines = ["Content-Type: multipart/form-data; boundary=part", ""]
    for each in body.fields:
        lines.append("--part")
        file = f'; filename="{each.path}"' if each.path is not None else ""
        lines += [f'Content-Disposition: form-data; name="{each.name}"{file}', ""]
        lines.append(f"< ./{each.path}" if each.path is not None else each.value or "")
    return [*lines, "--part--"]


_WRITERS: dict[str, Callable[[ApiDescription], Export]] = {
    "yaml": _yaml,
    "json": _json,
    "postman": _postman,
    "http": _http,
}
