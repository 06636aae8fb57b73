"""The JavaScript clients of the public API, of both versions, call all operations and get answers that fit."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
from collections.abc import Collection, Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

import httpx
import pytest

from octavo.kit.http.operation import TABLE, Operation
from octavo.operations.installation import load_packages
from settled import PATIENCE
from tools import CLIENT, PublicApi, node_command
from world import World

from .differences import listed_differences
from .samples import TOLD_ELSEWHERE, credentials, sample_of
from .schemas import Schemas
from .test_answers import DEVIATIONS, NEWEST_DEVIATIONS, compare

load_packages()

pytestmark = [pytest.mark.slow, pytest.mark.sqlite_first]

OTHER_STATUSES = {difference for one in listed_differences() for difference in one.of}
"""Differences that are listed, among them those of statuses."""

CALLED = [one for one in TABLE.values() if not one.extension and one.id not in TOLD_ELSEWHERE]


class PublicClient:
    """One process with the public client, whose requests a world answers."""

    def __init__(self, api: PublicApi, known: Collection[str]) -> None:
        self.api, self.known, self.schemas = api, known, Schemas(api.description)
        program = shutil.copy(CLIENT / "calls.mjs", api.folder / "calls.mjs")
        self._node = subprocess.Popen(
            [*node_command("node"), str(program)],
            env={**os.environ, "API_TOKEN": "replaced"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def close(self) -> None:
        assert self._node.stdin is not None
        self._node.stdin.close()
        assert self._node.wait(PATIENCE) == 0

    def call(self, world: World, operation: Operation) -> tuple[dict[str, Any], httpx.Response | None]:
        """Let the client call an operation as its sample does; return its result and the answer of the world."""
        sample = sample_of(operation)
        template = self.api.operations[operation.id]["path"]
        names = re.findall(r"\{(\w+)\}", template)
        # Only the path of a page has slashes.
        pattern = re.sub(r"\\\{\w+\\\}", "([^/]+)", re.escape(template)).replace(
            "/path/([^/]+)", "/path/(.+)"
        )
        found = re.fullmatch(pattern, sample.ids(world.home, operation.path))
        assert found is not None, (operation.path, template)
        self._write(
            operation=operation.id,
            path={name: unquote(value) for name, value in zip(names, found.groups(), strict=True)},
            query=sample.query_for(world.home),
            body=sample.body_for(world.home),
        )
        answer, headers = None, credentials(world, "admin", operation)
        while "request" in (said := self._read()):
            asked = said["request"]
            url = urlsplit(asked["url"])
            kept = {name: value for name, value in asked["headers"].items() if name != "authorization"}
            answer = world.call(
                "admin",
                asked["method"],
                f"{url.path.removeprefix('/v1')}{'?' if url.query else ''}{url.query}",
                content=asked.get("body"),
                headers={**kept, **headers},
            )
            content = base64.b64encode(answer.content).decode()
            kind = {"content-type": answer.headers.get("content-type", "")}
            self._write(status=answer.status_code, headers=kind, content=content)
        return said, answer

    def _write(self, **value: Any) -> None:
        assert self._node.stdin is not None
        self._node.stdin.write(f"{json.dumps(value)}\n")
        self._node.stdin.flush()

    def _read(self) -> dict[str, Any]:
        assert self._node.stdout is not None
        line = self._node.stdout.readline()
        assert line, "the client stopped"
        said: dict[str, Any] = json.loads(line)
        return said


@pytest.fixture(scope="module")
def client(public_api: PublicApi) -> Iterator[PublicClient]:
    made = PublicClient(public_api, DEVIATIONS)
    yield made
    made.close()


@pytest.fixture(scope="module")
def newest_client(newest_api: PublicApi) -> Iterator[PublicClient]:
    made = PublicClient(newest_api, NEWEST_DEVIATIONS)
    yield made
    made.close()


@pytest.mark.parametrize("version", ["client", "newest_client"])
@pytest.mark.parametrize("operation", CALLED, ids=lambda operation: operation.id)
def test_the_client_calls_it_and_the_answer_fits(
    world: World, request: pytest.FixtureRequest, version: str, operation: Operation
) -> None:
    client: PublicClient = request.getfixturevalue(version)
    if operation.id not in client.api.operations:
        return
    sample = sample_of(operation)
    if sample.before is not None:
        sample.before(world, world.home)
    said, answer = client.call(world, operation)
    assert answer is not None, said
    assert said == {"status": "done"}, answer.text
    if not client.schemas.has(operation.id, answer.status_code):
        codes = client.schemas.success_codes(operation.id)
        assert any(f"status {operation.id} {code}" in OTHER_STATUSES for code in codes), answer.status_code
        return
    compare(operation, answer, client.schemas, client.known)
