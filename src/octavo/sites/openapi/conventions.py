"""Conventions shared by an API's operations, as documented in the specification: error responses, rate
limits, and pagination. This module does no I/O."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from msgspec import Struct

from .description import ApiDescription, Data, DescribedOperation, object_of, text_of

_SHARED = 2
"""Minimum number of operations that must share an element for it to be a convention."""
_LIMIT = re.compile(r"(?i)(?:x-)?(?:app-)?rate-?limit\b.*|retry-after|.*\bquota\b.*")
_PAGING = re.compile(
    r"(?i)\$?(?:page|per_?page|page_?size|page_?number|page_?token|next_?token|cursor|offset|limit|skip|top|marker"
    r"|continue|max_?results|starting_after|ending_before)"
)
_MAYBE_PAGING = re.compile(r"(?i)\$?(?:after|before|first|last|start|count|from|size|next|iterator)")
_SAYS_PAGING = re.compile(r"(?i)\bpag(?:e|es|ing|inat\w+)\b|\bcursor")

Users = dict[str, DescribedOperation]
"""Operations that an element applies to, by key."""


class SharedElement(Struct):
    """Parameter or header shared by several operations, with the most common description."""

    data: Data
    users: Users


class ErrorBody(Struct):
    """Error body: a schema, its media type, and the statuses that use it."""

    kind: str
    schema: Any
    users: Users
    codes: dict[str, None]


class Conventions(Struct):
    """Conventions of an API. ``errors``: the errors by status and description. ``bodies``: the error bodies.
    ``limits``: the response headers about rate limits. ``paging``: the query parameters for pagination.
    Elements that several operations share are sorted, most common first."""

    errors: dict[str, dict[str, Users]]
    bodies: list[ErrorBody]
    limits: list[SharedElement]
    paging: list[SharedElement]

    def __bool__(self) -> bool:
        several = any(len(set().union(*said.values())) >= _SHARED for said in self.errors.values())
        return several or bool(self.limits or self.paging)


def is_error(code: str) -> bool:
    return code == "default" or code[:1] in ("4", "5")


def find_conventions(description: ApiDescription) -> Conventions:
    """Return the conventions of all operations. Each response and parameter is visited only once."""
    errors: dict[str, dict[str, Users]] = {}
    bodies: dict[str, ErrorBody] = {}
    limits: dict[str, list[tuple[Data, DescribedOperation]]] = {}
    paging: dict[str, list[tuple[Data, DescribedOperation]]] = {}
    for operation in description.operations.values():
        for code, value in object_of(operation.data.get("responses")).items():
            response = description.follow(value)
            for name, header in object_of(response.get("headers")).items():
                if _LIMIT.fullmatch(name):
                    found = {**description.follow(header), "name": name}
                    limits.setdefault(name.lower(), []).append((found, operation))
            if not is_error(code):
                continue
            said = text_of(response.get("description")).strip()
            errors.setdefault(code, {}).setdefault(said, {})[operation.key] = operation
            for kind, media in object_of(response.get("content")).items():
                schema = object_of(media).get("schema")
                if isinstance(schema, dict):
                    key = text_of(schema.get("$ref")) or repr(schema)
                    body = bodies.setdefault(key, ErrorBody(kind, schema, {}, {}))
                    body.users[operation.key] = operation
                    body.codes[code] = None
        for parameter in description.parameters(operation):
            name = text_of(parameter.get("name"))
            says = text_of(parameter.get("description"))
            if parameter.get("in") == "query" and (
                _PAGING.fullmatch(name) or (_MAYBE_PAGING.fullmatch(name) and _SAYS_PAGING.search(says))
            ):
                paging.setdefault(name, []).append((parameter, operation))
    return Conventions(
        dict(sorted(errors.items(), key=lambda item: (item[0] == "default", item[0]))),
        sorted((b for b in bodies.values() if len(b.users) >= _SHARED), key=lambda b: -len(b.users)),
        _shared(limits),
        _shared(paging),
    )


def _shared(found: dict[str, list[tuple[Data, DescribedOperation]]]) -> list[SharedElement]:
    said = []
    for given in found.values():
        users = {operation.key: operation for _, operation in given}
        if len(users) < _SHARED:
            continue
        usual = Counter(text_of(data.get("description")) for data, _ in given).most_common(1)[0][0]
        data = next(data for data, _ in given if text_of(data.get("description")) == usual)
        said.append(SharedElement({**data, "required": False}, users))
    return sorted(said, key=lambda each: -len(each.users))
