"""API requests by agents. The values have the names used in an OpenAPI specification. This module does no I/O.

A person fills in a form on a page; an agent passes JSON values. Both result in the same filled-in form, so that one
function decides which requests are allowed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Annotated, Any
from urllib.parse import urlencode

from msgspec import UNSET, Meta, Struct

from octavo.errors import BadRequest

from .description import ApiDescription, DescribedOperation
from .styles import Style, serialize
from .trying import FilledForm, Form, FormField, Place, make_form

_NAMED = 10
"""Maximum number of servers or media types to list if an unknown server or media type is requested."""

ByName = dict[str, Any]


class CallValues(Struct, kw_only=True):
    """Values of a request. Parameters are strings, numbers, booleans, or lists and objects of these."""

    server: Annotated[
        str,
        Meta(
            max_length=4096,
            description=(
                "One of the servers in the specification, with the URL given there; by default, the first one"
            ),
        ),
    ] = ""
    variables: Annotated[
        dict[str, str], Meta(description="Values of variables in the server URL, by name")
    ] = {}
    path: Annotated[ByName, Meta(description="Values of path parameters, by name")] = {}
    query: Annotated[
        ByName, Meta(description="Values of query parameters, by name, including API keys sent there")
    ] = {}
    headers: Annotated[
        ByName, Meta(description="Values of the operation's headers, by name, and Authorization")
    ] = {}
    cookies: Annotated[ByName, Meta(description="Values of the operation's cookies, by name")] = {}
    content_type: Annotated[
        str,
        Meta(max_length=512, description="The media type of the body, if the operation accepts several"),
    ] = ""
    body: Annotated[
        Any,
        Meta(description="The body: raw text, or a value for JSON and for form fields"),
    ] = UNSET


def fill_form(description: ApiDescription, operation: DescribedOperation, values: CallValues) -> FilledForm:
    """Return the form, filled in with these values. ``prepare_request`` later checks that the operation accepts
    them. Raises BadRequest if a value is invalid."""
    form = make_form(description, operation)
    kind, body = _body(form, values)
    return FilledForm(
        server=_server(form, values.server),
        variables=values.variables,
        path=dict(_pairs(form, "path", values.path)),
        query=_pairs(form, "query", values.query),
        headers=_pairs(form, "header", values.headers),
        cookies=_pairs(form, "cookie", values.cookies),
        content_type=kind,
        body=body,
    )


def _server(form: Form, wanted: str) -> int:
    if not wanted:
        return 0
    for number, server in enumerate(form.servers):
        filled = server.url
        for variable in server.variables:
            filled = filled.replace("{" + variable.name + "}", variable.value)
        if wanted.rstrip("/") in (server.url.rstrip("/"), filled.rstrip("/")):
            return number
    named = ", ".join(server.url[:200] for server in form.servers[:_NAMED])
    raise BadRequest(f"server: must be one of the servers in the specification ({named})")


def _pairs(form: Form, place: Place, values: ByName) -> list[tuple[str, str]]:
    # Header names are case-insensitive.
    fold: Callable[[str], str] = str.lower if place == "header" else str
    fields = {fold(field.name): field for field in form.fields if field.place == place}
    found: list[tuple[str, str]] = []
    for name, value in values.items():
        field = fields.get(fold(name)) or FormField(name, place=place)
        if value is not None:
            found += _serialize(field, name, value)
    return found


def _text(value: object) -> str:
    return value if isinstance(value, str) else _json(value)


def _json(value: object) -> str:
    try:
        # msgspec can't write integers of more than 64 bits.
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        raise BadRequest("values: are nested too deeply") from None


def _serialize(field: FormField, name: str, value: object) -> Iterable[tuple[str, str]]:
    how = Style(field.style, field.explode, field.place, is_joined=field.type in ("list", "object"))
    return serialize(how, name, value, _text)


def _body(form: Form, values: CallValues) -> tuple[str, bytes]:
    """Return the media type and bytes of the body; both are empty if there is no body."""
    kinds = [body.media_type for body in form.bodies]
    given = values.body
    if given is UNSET:
        return values.content_type, b""
    if not kinds:
        raise BadRequest("body: must be omitted, because this operation has no body")
    kind = values.content_type or next((kind for kind in kinds if "json" in kind), kinds[0])
    if isinstance(given, str):
        return kind, given.encode()
    plain = kind.partition(";")[0].strip().lower()
    if "json" in plain:
        return kind, _json(given).encode()
    if plain == "application/x-www-form-urlencoded" and isinstance(given, dict):
        fields = [
            (name, _text(each))
            for name, value in given.items()
            for each in (value if isinstance(value, list) else [value])
        ]
        return kind, urlencode(fields).encode()
    raise BadRequest(f"body: must be a string for the media type {plain[:100]}")
