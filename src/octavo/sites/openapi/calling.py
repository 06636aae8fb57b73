"""Requests that programs describe by values, as a description of an API names them. Pure.

A page has a form and a browser that writes what was entered; a program gives values of JSON. Both become the same
filled form, so that what may be sent is decided in one place.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Annotated, Any
from urllib.parse import urlencode

from msgspec import UNSET, Meta, Struct

from octavo.errors import BadRequest

from .description import Description, Operation
from .styles import Style, written
from .trying import Field, FilledForm, Form, Place, make_form

_NAMED = 10
"""Servers or media types that are named where another one is asked for."""

ByName = dict[str, Any]


class Values(Struct, kw_only=True):
    """What a request says. Values of parameters are texts, numbers, booleans, or lists and objects of these."""

    server: Annotated[
        str,
        Meta(
            max_length=4096,
            description="One of the servers of the specification, as it has its address; without it, the first one",
        ),
    ] = ""
    variables: Annotated[
        dict[str, str], Meta(description="Values of variables in the address of the server, by name")
    ] = {}
    path: Annotated[ByName, Meta(description="Values of parameters in the path, by name")] = {}
    query: Annotated[
        ByName, Meta(description="Values of parameters in the query, by name, and of keys that go there")
    ] = {}
    headers: Annotated[
        ByName, Meta(description="Values of headers that the operation takes, by name, and Authorization")
    ] = {}
    cookies: Annotated[ByName, Meta(description="Values of cookies that the operation takes, by name")] = {}
    content_type: Annotated[
        str,
        Meta(
            max_length=512, description="The media type of the body, where the operation takes more than one"
        ),
    ] = ""
    body: Annotated[
        Any,
        Meta(description="The body: a text as it is sent, or a value for JSON and for the fields of a form"),
    ] = UNSET


def fill(description: Description, operation: Operation, values: Values) -> FilledForm:
    """The form that these values fill. What the operation takes of it is for ``prepare`` to say. Raises BadRequest."""
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
    raise BadRequest(f"server: expected one that the specification names: {named}")


def _pairs(form: Form, place: Place, values: ByName) -> list[tuple[str, str]]:
    # Names of headers are the same in capitals and without.
    fold: Callable[[str], str] = str.lower if place == "header" else str
    fields = {fold(field.name): field for field in form.fields if field.place == place}
    found: list[tuple[str, str]] = []
    for name, value in values.items():
        field = fields.get(fold(name)) or Field(name, place=place)
        if value is not None:
            found += _written(field, name, value)
    return found


def _text(value: Any) -> str:
    return value if isinstance(value, str) else _json(value)


def _json(value: Any) -> str:
    try:
        # msgspec writes no integers of more than 64 bits.
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        raise BadRequest("expected values that are nested less deep") from None


def _written(field: Field, name: str, value: Any) -> Iterable[tuple[str, str]]:
    how = Style(field.style, field.explode, field.place, is_joined=field.type in ("list", "object"))
    return written(how, name, value, _text)


def _body(form: Form, values: Values) -> tuple[str, bytes]:
    """The media type of the body and its bytes; none of both where there is no body."""
    kinds = [body.media_type for body in form.bodies]
    given = values.body
    if given is UNSET:
        return values.content_type, b""
    if not kinds:
        raise BadRequest("body: this operation takes none")
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
    raise BadRequest(f"body: expected a text, as it is sent as {plain[:100]}")
