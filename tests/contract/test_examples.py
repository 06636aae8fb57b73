"""The examples in the description are real calls and match the description.

They are recorded with ``OCTAVO_TEST_RECORD=1 pytest -n 0 tests/contract/test_examples.py -k real_answer``.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jsonschema_rs
import pytest

import octavo
from octavo.kit.http.description import Example
from octavo.kit.http.operation import TABLE, Deletion, Operation
from octavo.operations.installation import load_packages
from octavo.operations.meanings import describe_operations, load_examples
from world import URL, World

from .samples import TOLD_ELSEWHERE, sample_of, send, succeeded

load_packages()

Place = tuple[str, ...]
"""The names that lead to something in the description."""

FILE = Path(octavo.__file__).parent / "operations" / "examples.json"
_ITEMS, _LETTERS = 2, 400
_SECRET = re.compile(
    (
        r"\b(?:oct|ocs)_[A-Za-z0-9_-]{8,}|\beyJ[A-Za-z0-9_-]+|[A-Za-z0-9]+\.eyJ[A-Za-z0-9_.-]+"
        r"|(?=[A-Za-z_]*[0-9])[A-Za-z0-9_-]{32,}(?:\.[A-Za-z0-9_-]{20,})*|-----BEGIN.*"
    ),
    re.S,
)

WITHOUT = set(TOLD_ELSEWHERE)
"""Operations whose sample request is rejected."""


def _answers_json(operation: Operation) -> bool:
    return operation.returns not in (None, Deletion) and operation.media_type == "application/json"


_PARTS = {"components", "paths", "definitions", "webhooks"}


def _refers(value: Any) -> bool:
    if isinstance(value, dict):
        return "$ref" in value or any(map(_refers, value.values()))
    return isinstance(value, list) and any(map(_refers, value))


def _shortened(value: Any, depth: int = 0) -> Any:
    """Shorten a response: the first items of each list, no long texts, no secrets, and no parts of API
    descriptions with references, which generated clients would follow."""
    if isinstance(value, list):
        return [_shortened(item, depth + 1) for item in value[:_ITEMS]]
    if isinstance(value, dict):
        return {
            name: _shortened(item, depth + 1)
            for name, item in value.items()
            if not (name in _PARTS and _refers(item))
        }
    if isinstance(value, str):
        return _SECRET.sub(lambda match: match[0][:4] + "…", value)[:_LETTERS].replace(
            URL, "https://docs.example.com"
        )
    return value


@pytest.fixture(scope="module")
def description() -> dict[str, Any]:
    return describe_operations(f"{URL}/v1", "0")


@pytest.fixture(scope="module")
def examples() -> dict[str, Example]:
    return load_examples()


@pytest.fixture(scope="module")
def registry(description: dict[str, Any]) -> jsonschema_rs.Registry:
    return jsonschema_rs.Registry([("urn:description", description)])


def _complaints(registry: jsonschema_rs.Registry, place: Place, value: Any) -> list[str]:
    """Validate a value against the schema at a place of the description and return the errors."""
    pointer = "/".join(quote(part.replace("~", "~0").replace("/", "~1")) for part in place)
    validator = jsonschema_rs.Draft202012Validator(
        {"$ref": f"urn:description#/{pointer}/schema"}, registry=registry
    )
    return [
        f"{'.'.join(map(str, error.instance_path))}: {error.message[:300]}"
        for error in validator.iter_errors(value)
    ]


def _place(operation: Operation) -> Place:
    return ("paths", operation.path, operation.method.lower())


def _answer_place(description: dict[str, Any], operation: Operation, status: int) -> Place:
    answer = description["paths"][operation.path][operation.method.lower()]["responses"][str(status)]
    return (*_place(operation), "responses", str(status), "content", next(iter(answer["content"])))


SHOWN = [operation for operation in TABLE.values() if operation.id not in WITHOUT]


@pytest.mark.slow
@pytest.mark.parametrize("operation", SHOWN, ids=lambda operation: operation.id)
def test_a_real_answer_matches_the_description(
    sqlite_world: World,
    description: dict[str, Any],
    registry: jsonschema_rs.Registry,
    operation: Operation,
) -> None:
    world, sample = sqlite_world, sample_of(operation)
    if sample.before is not None:
        sample.before(world, world.home)
    body = sample.body_for(world.home) if operation.takes_json else None
    answer = send(world, "admin", operation, world.home)
    assert succeeded(operation, answer), answer.text
    if answer.content:
        assert answer.headers["content-type"].partition(";")[0] == operation.media_type.partition(";")[0]
    content = answer.json() if answer.content and operation.media_type == "application/json" else None
    if content is not None:
        assert not _complaints(registry, _answer_place(description, operation, answer.status_code), content)
    if "OCTAVO_TEST_RECORD" in os.environ:
        _record(operation.id, {"request": _shortened(body), "answer": _shortened(content)})


def _record(operation_id: str, example: dict[str, Any]) -> None:
    kept = json.loads(FILE.read_text()) if FILE.exists() else {}
    kept[operation_id] = {name: value for name, value in example.items() if value is not None}
    known = {name: kept[name] for name in sorted(kept) if name in TABLE and kept[name]}
    FILE.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n")


def test_examples_match_the_description(
    description: dict[str, Any], registry: jsonschema_rs.Registry, examples: dict[str, Example]
) -> None:
    wrong: dict[str, list[str]] = {}
    for operation in SHOWN:
        example, found = examples.get(operation.id), wrong.setdefault(operation.id, [])
        if example is not None and _refers([example.request, example.answer]):
            found.append("it has references, which generated clients would follow")
        if _answers_json(operation):
            if example is None or example.answer is None:
                found.append("record it: see the head of this file")
            else:
                place = _answer_place(description, operation, operation.status)
                found += _complaints(registry, place, example.answer)
        if example is not None and example.request is not None:
            place = (*_place(operation), "requestBody", "content", "application/json")
            found += _complaints(registry, place, example.request)
    assert {operation_id: found for operation_id, found in wrong.items() if found} == {}


def test_examples_contain_no_secrets_and_are_short() -> None:
    text = FILE.read_text()
    assert not re.search(r"\boc[ts]_[A-Za-z0-9]{8}|eyJ[A-Za-z0-9_-]{8}|-----BEGIN|octavo\.test", text)
    assert len(text) < 1_000_000
