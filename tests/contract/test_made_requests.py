"""Requests that are made from the description, good ones and bad ones: all answers are what the description says."""

from __future__ import annotations

import re
import signal
import typing
from collections.abc import Iterator
from typing import Any

import httpx
import msgspec
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from octavo.kit.http.operation import TABLE, Operation, RawBody
from octavo.operations.installation import load_packages
from octavo.operations.meanings import describe_operations
from world import URL, World

from .samples import credentials, sample_of

load_packages()

pytestmark = pytest.mark.slow

REQUESTS = 10
"""Number of requests of each kind for an operation."""
SECONDS = 300
"""Time after which a test fails, because one of its requests has no end."""

CHECKS = [
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


@pytest.fixture(autouse=True)
def _bounded() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TimeoutError(f"a request had no response within {SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def schema() -> Any:
    """Return the description as a source of requests. It excludes tokens, and parameters that an operation
    doesn't have, because they are ignored."""
    description = describe_operations(f"{URL}/v1", "0")
    config = SchemathesisConfig.from_dict(
        {
            "generation": {"with-security-parameters": False, "allow-extra-parameters": False},
            "checks": {"negative_data_rejection": {"expected-statuses": ["4xx", "503"]}},
        }
    )
    return schemathesis.openapi.from_dict(description, config=config)


def _request(case: Any, headers: dict[str, str]) -> dict[str, Any]:
    """Build the httpx request of a case."""
    made = case.as_transport_kwargs(base_url=f"{URL}/v1")
    prepared = httpx.Request(made["method"], made["url"], params=made.get("params"))
    sent: dict[str, Any] = {name: made[name] for name in ("json", "files") if made.get(name) is not None}
    if made.get("data") is not None:
        sent["content" if isinstance(made["data"], (str, bytes)) else "data"] = made["data"]
    media = {"content-type": case.media_type} if case.media_type and "content" in sent else {}
    return {**sent, "path": str(prepared.url), "headers": {**case.headers, **media, **headers}}


def _opens_stream(operation: Operation, url: httpx.URL) -> bool:
    """Return whether the request is for a stream with a duration, which is valid or absent."""
    if operation.query is None or "seconds" not in operation.query.__struct_fields__:
        return False
    given = [value for value in url.params.get_list("seconds") if value]
    duration = typing.get_type_hints(operation.query, include_extras=True)["seconds"]
    try:
        msgspec.convert(given[-1] if given else "0", duration, strict=False)
    except msgspec.ValidationError:
        return False
    return True


CASES = [
    pytest.param(operation, mode, id=f"{operation.id}-{mode.value}")
    for operation in TABLE.values()
    for mode in GenerationMode
    if mode is GenerationMode.POSITIVE or operation.query is not None or operation.body not in (None, RawBody)
]
"""Cases without requests that contain only ids, because nothing can be wrong with those."""


@pytest.mark.parametrize(("operation", "mode"), CASES)
def test_generated_requests_get_the_described_responses(
    sqlite_world: World, schema: Any, operation: Operation, mode: GenerationMode
) -> None:
    world, sample = sqlite_world, sample_of(operation)
    if sample.before is not None:
        sample.before(world, world.home)
    headers = {**credentials(world, "admin", operation), "accept-encoding": "identity"}
    names = re.findall(r"\{(\w+)\}", operation.path)
    ids = {name: world.home[sample.path.get(name, name)] for name in names}
    described = schema[operation.path][operation.method]
    checks = list(CHECKS)
    if operation.media_type == "text/event-stream":
        # OpenAPI 3.1 can't describe streams: the schema describes the data of one event.
        checks.remove(response_schema_conformance)
    bad = mode is GenerationMode.NEGATIVE
    if bad:
        checks.append(negative_data_rejection)

    @seed(1)
    @settings(
        max_examples=REQUESTS,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(described.as_strategy(mode, path_parameters=ids))
    def answers(case: Any) -> None:
        request = _request(case, headers)
        url = httpx.URL(request["path"])
        if _opens_stream(operation, url):
            # A long stream has no response to check.
            request["path"] = str(url.copy_set_param("seconds", "0"))
        answer = world.call("admin", operation.method, request.pop("path"), **request)
        assert answer.status_code != 500, answer.text
        # A parameter without a value counts as absent, so it is not wrong.
        empty = any(value == "" for value in answer.request.url.params.values())
        case.validate_response(answer, checks=checks[:-1] if bad and empty else checks)

    try:
        answers()
    except Unsatisfiable:
        # If every parameter accepts any text, no request is invalid.
        assert bad and operation.body is None
