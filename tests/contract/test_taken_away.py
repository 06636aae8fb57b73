"""An object can be deleted between authorization and the write of an operation: the response reports that."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any

import httpx
import msgspec
import pytest

from asgi_client import CutOff
from light_client import LightClient
from octavo.app import api_app
from octavo.kit.http.edge import Edge
from octavo.kit.http.operation import TABLE
from octavo.operations.installation import load_packages
from world import URL, World

from .samples import TOLD_ELSEWHERE, sample_of

load_packages()

TAKEN = {
    "siteId": "DELETE FROM sites WHERE id = :id",
    "spaceId": "DELETE FROM spaces WHERE id = :id",
    "changeRequestId": "DELETE FROM change_requests WHERE id = :id",
    "commentId": "DELETE FROM comments WHERE id = :id",
    "teamId": "DELETE FROM teams WHERE id = :id",
    "installationId": "DELETE FROM integration_installations WHERE id = :id",
    "integrationName": "DELETE FROM integrations WHERE name = :id",
}


Request = tuple[str, str, Any]
"""Method, path below /v1, JSON body."""


async def ask_all(app: Edge, token: str, requests: list[Request]) -> list[httpx.Response]:
    client = LightClient(app, URL)
    headers = {"authorization": f"Bearer {token}"}

    async def ask(method: str, path: str, body: Any) -> httpx.Response:
        try:
            return await client.request(method, f"/v1{path}", headers=headers, json=body)
        except CutOff:
            return httpx.Response(200)

    return await asyncio.gather(*(ask(*request) for request in requests))


def _wait_until_quiet(began: list[float]) -> None:
    """Wait until requests have started to write and no further one did for a while, at most one second."""
    until = time.monotonic() + 1
    while time.monotonic() < min(until, began[-1] + 0.15 if began else until):
        time.sleep(0.01)


@pytest.mark.parametrize("parameter", TAKEN)
def test_writes_return_404_when_their_target_is_deleted_while_they_wait(
    world: World, parameter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = world.home
    operations = [
        o
        for o in TABLE.values()
        if f"{{{parameter}}}" in o.path and o.method != "GET" and o.id not in TOLD_ELSEWHERE
    ]
    # Other samples need a space that is not in the trash, and a site with content.
    operations.sort(key=lambda o: o.id in ("restoreSpace", "purgeSpace", "applyTemplateToSite"))
    requests: list[Request] = []
    for operation in operations:
        sample = sample_of(operation)
        if sample.before is not None:
            sample.before(world, place)
        requests.append((operation.method, sample.ids(place, operation.path), sample.body_for(place)))
    began: list[float] = []
    write = world.context.db.write

    @contextmanager
    def counted(*, live: bool = False) -> Iterator[Any]:
        began.append(time.monotonic())
        with write(live=live) as tx:
            yield tx

    # Many threads, so that all of them have entered when it goes.
    many = msgspec.structs.replace(world.context.settings, threads=128)
    app = api_app(replace(world.context, settings=many))
    with closing(app), ThreadPoolExecutor(1) as thread:
        with write() as tx:
            tx.run(TAKEN[parameter], id=place[parameter])
            monkeypatch.setattr(world.context.db, "write", counted)
            asked = thread.submit(asyncio.run, ask_all(app, world.token(place.admin), requests))
            _wait_until_quiet(began)
        answers = asked.result()
    failed = {
        operation.id: answer.text
        for operation, answer in zip(operations, answers, strict=True)
        if answer.status_code >= 500 and answer.status_code != 503
    }
    assert failed == {}
