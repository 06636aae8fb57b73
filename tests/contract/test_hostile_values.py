"""Values that fit a type and nothing else: numbers beyond what a database holds, the last and first days, odd text,
in every path, query and body of every operation. Whatever comes of them, nothing fails."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import msgspec
import pytest
from msgspec import inspect

from octavo.kit.http.operation import TABLE, Operation
from octavo.operations.installation import load_packages
from world import World

from .bodies import Where, kinds, with_value
from .samples import Sample, credentials, sample_of, send

load_packages()

LISTS = [op for op in TABLE.values() if op.query is not None and "page" in op.query.__struct_fields__]
"""Operations that go on from a token, or name a page of a space."""

NUMBERS = [2**31, 2**63 - 1, 2**63, 2**64, -(2**31) - 1, -(2**63) - 1, 10**300, 1e308, -1e308, 0.1]
TIMES = [
    "0001-01-01T00:00:00+23:59",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59.999999-23:59",
    "9999-12-31T23:59:59.999999Z",
    "1969-12-31T23:59:59Z",
    "10000-01-01T00:00:00Z",
]
TEXTS = [
    "../../etc/passwd",
    "%2e%2e%2f",
    "a/b",
    "a\\b",
    "\u202e\u2066\ufeff",
    "\uffff",
    "\r\nset-cookie: a=b",
    "{{7*7}}",
    "'\"--",
    "%",
    "_",
    "*",
    "\U0010ffff" * 3,
    "__class__",
    "ﷺ" * 9,
    "İ",
    "ß" * 70,
    "null",
    "1e999",
    "-1",
    "²",
    "http://[",
    "http://a:99999999/",
    "https://[::1",
    "a@b@c",
    "a" * 5000,
]
OTHERS: list[Any] = [{}, [], [[]], {"": ""}, {"a": {"b": [None]}}, True, [None], "", "x"]


def token(*key: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(key).encode()).decode().rstrip("=")


_KEYS = [2**31, 2**63 - 1, 2**63, 2**64 - 1, -1, -(2**63), "", "\0", "a\0b", "\U0010ffff", "x" * 4000]
CURSORS = [
    *(
        token(*key)
        for one in _KEYS
        for key in ([one], [one, "x"], ["x", one], [1, one], [one, 1], ["x", "x", one])
    ),
    token(),
    token({}),
    token(True),
    token(1.5),
    token(None),
    "A" * 4001,
    "=",
    "e30",
    "\u00e9",
    "W10",
]


def _leaves(type: inspect.Type, given: Any, at: Where = ()) -> Iterator[Where]:
    """Yield the positions in a body without further fields, those in the sample and those that it omits."""
    for kind in kinds(type):
        if isinstance(kind, inspect.StructType):
            there = given if isinstance(given, dict) else {}
            if kind.tag is not None and there.get(kind.tag_field) != kind.tag:
                continue
            for field in kind.fields:
                if at and not isinstance(given, dict):
                    continue
                yield from _leaves(field.type, there.get(field.encode_name), (*at, field.encode_name))
        elif isinstance(kind, inspect.ListType | inspect.VarTupleType) and isinstance(given, list):
            for n, item in enumerate(given):
                yield from _leaves(kind.item_type, item, (*at, n))
        elif isinstance(kind, inspect.DictType) and isinstance(given, dict):
            for name, value in given.items():
                yield from _leaves(kind.value_type, value, (*at, name))
    if at:
        yield at


def _requests(world: World, operation: Operation, sample: Sample) -> Iterator[tuple[str, dict[str, Any]]]:
    home = world.home
    for name in re.findall(r"\{(\w+)\}", operation.path):
        own = sample.ids(home, operation.path.replace(f"{{{name}}}", "\x01"))
        for value in [*NUMBERS, *TEXTS, *TIMES]:
            yield f"{name}={value!r}", {"path": own.replace("\x01", quote(str(value), safe=""))}
    if operation.query is not None:
        for field in msgspec.structs.fields(operation.query):
            name = field.encode_name
            for value in [*NUMBERS, *TEXTS, *TIMES]:
                yield f"?{name}={value!r}", {"params": {**sample.query_for(home), name: str(value)}}
    if isinstance(operation.body, type) and issubclass(operation.body, msgspec.Struct):
        body = sample.body_for(home)
        for at in dict.fromkeys(_leaves(inspect.type_info(operation.body), body)):
            for value in [*NUMBERS, *TIMES, *TEXTS, *OTHERS]:
                yield f"{at}={value!r}", {"json": with_value(sample.body_for(home), at, value)}


@pytest.mark.slow
@pytest.mark.parametrize("operation", list(TABLE.values()), ids=lambda operation: operation.id)
def test_hostile_values_cause_no_server_error(world: World, operation: Operation) -> None:
    sample = sample_of(operation)
    if sample.before is not None:
        sample.before(world, world.home)
    headers = credentials(world, "admin", operation)
    twin = next((op for op in TABLE.values() if op.method == "GET" and op.path == operation.path), None)
    wrong, changed = [], world.commits
    for label, options in _requests(world, operation, sample):
        answer = send(world, "admin", operation, world.home, headers=headers, **options)
        if answer.status_code >= 500 and answer.status_code != 503:
            wrong.append(f"{label}: {answer.status_code} {answer.text[:100]}")
        # Accepted values are read again.
        if twin is not None and operation.method != "GET" and world.commits != changed:
            seen = send(world, "admin", twin, world.home)
            if seen.status_code >= 500:
                wrong.append(f"{label}: then {twin.id} {seen.status_code}")
        if world.commits != changed:
            world.renew()
            if sample.before is not None:
                sample.before(world, world.home)
            headers = credentials(world, "admin", operation)
            changed = world.commits
    assert not wrong, "\n".join([operation.source, *wrong[:30]])


@pytest.mark.sqlite_first
@pytest.mark.parametrize("operation", LISTS, ids=lambda operation: operation.id)
def test_invented_cursors_are_refused(world: World, operation: Operation) -> None:
    sample = sample_of(operation)
    if sample.before is not None:
        sample.before(world, world.home)
    headers = credentials(world, "admin", operation)
    wrong = []
    for cursor in CURSORS:
        params = {**sample.query_for(world.home), "page": cursor}
        answer = send(world, "admin", operation, world.home, headers=headers, params=params)
        if answer.status_code >= 500:
            wrong.append(f"{cursor!r}: {answer.status_code} {answer.text[:100]}")
    assert not wrong, "\n".join([operation.source, *wrong])
