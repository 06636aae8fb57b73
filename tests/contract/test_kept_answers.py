"""Responses from cached rows, on the event loop or in a thread, equal uncached responses."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import httpx
import psycopg
import pytest

from octavo.kit.db.databases import open_database
from octavo.kit.http.dispatcher import Dispatcher
from octavo.kit.http.operation import PUBLIC, TABLE, LeavesLoop, Operation
from octavo.operations.installation import load_packages
from settled import settle, until
from world import World

from .samples import TOLD_ELSEWHERE, sample_of, send

load_packages()

READS = [
    o for o in TABLE.values() if o.method == "GET" and o.needs is not PUBLIC and o.id not in TOLD_ELSEWHERE
]
QUICK = [o for o in TABLE.values() if o.quick and (o.method == "GET" or o.needs is PUBLIC)]
"""Those that write are answered later, by another thread."""
SPACE = TABLE["getSpaceById"]


def _settle(world: World) -> None:
    settle(world.context.db, world.context.settings.database)


def _shown(answer: httpx.Response) -> Any:
    """Return a response without parts that depend on the time: links that are signed until a certain time,
    when a stream started, when a person signed in, and the size of the disk and of the database, which grows with
    the events of callers."""
    part = r"(\"(?:free|bytes)\":|~pdf/|token=|signature=|\"kind\":\"ready\",\"timestamp\":\"|\"lastSeenAt\":\")[^\"&]+"
    return answer.status_code, re.sub(part, "", answer.text)


@pytest.fixture
def places(monkeypatch) -> list[bool]:
    """Return for each attempt of an operation whether it ran on the event loop."""
    tried: list[bool] = []
    run = Dispatcher.run

    def noted(self: Dispatcher, call: Any, *given: Any) -> Any:
        tried.append(call.on_loop)
        return run(self, call, *given)

    monkeypatch.setattr(Dispatcher, "run", noted)
    return tried


def test_cached_responses_equal_fresh_ones(world: World) -> None:
    """Each operation that reads is requested three times."""
    for operation in READS:
        sample = sample_of(operation)
        if sample.before is not None:
            sample.before(world, world.home)
    _settle(world)
    for operation in READS:
        for who in ("admin", "reader"):
            answers = [_shown(send(world, who, operation, world.home)) for _ in range(3)]
            assert answers[1:] == answers[:1] * 2, operation.id


@pytest.mark.parametrize("operation", QUICK, ids=lambda operation: operation.id)
def test_quick_operations_return_the_same_in_a_thread(
    world: World, operation: Operation, places: list[bool], monkeypatch
) -> None:
    sample = sample_of(operation)
    if sample.before is not None:
        sample.before(world, world.home)
    _settle(world)
    for _ in range(3):
        places.clear()
        on_loop = _shown(send(world, "admin", operation, world.home))
    if operation.needs is not PUBLIC:
        assert places == [True], "it is answered on the event loop once all of it is kept"

    def leave(*_: object, **__: object) -> Any:
        raise LeavesLoop

    read = world.context.db.read
    monkeypatch.setattr(world.context.db, "read_cached", lambda begins=True: read() if begins else leave())
    places.clear()
    assert _shown(send(world, "admin", operation, world.home)) == on_loop
    assert places == [True, False]


def test_a_call_is_counted_once_regardless_of_retries(world: World, places: list[bool]) -> None:
    """On PostgreSQL, on the event loop and then in a thread."""
    _settle(world)
    left = []
    for _ in range(4):
        with world.context.db.write() as tx:
            tx.run("UPDATE organizations SET title = title")
        _settle(world)
        # So that some rows are cached, and the call leaves the loop for the others.
        send(world, "admin", TABLE["getAuthenticatedUser"], world.home)
        places.clear()
        answer = send(world, "reader", SPACE, world.home)
        left.append((int(answer.headers["x-ratelimit-reset"]), int(answer.headers["x-ratelimit-remaining"])))
        assert places == ([True, False] if world.context.db.engine == "postgresql" else [True])
    for (window, before), (next_window, after) in pairwise(left):
        assert window != next_window or after == before - 1


def test_a_restarted_call_reads_one_snapshot_and_is_counted_once(world: World) -> None:
    """Another person commits between two reads of the call, and the notice arrives later."""
    _settle(world)
    url = world.context.settings.database
    if not url.startswith("postgresql"):
        return
    members = f"/orgs/{world.home['organizationId']}/members"
    first = world.call("admin", "GET", members, params={"limit": 2})
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE users SET display_name = 'Unheard'")
    world.commits += 1  # the next test has a world as new
    names = {each["user"]["displayName"] for each in first.json()["items"]}
    kept = world.call("admin", "GET", members, params={"limit": 2})
    assert {each["user"]["displayName"] for each in kept.json()["items"]} == names, "all of it as it was"
    # How many there are is kept, who they are is not.
    answer = world.call("admin", "GET", members, params={"limit": 3})
    assert {each["user"]["displayName"] for each in answer.json()["items"]} == {"Unheard"}
    if answer.headers["x-ratelimit-reset"] == first.headers["x-ratelimit-reset"]:
        left = [int(each.headers["x-ratelimit-remaining"]) for each in (first, kept, answer)]
        assert left == [left[0], left[0] - 1, left[0] - 2]
    again = world.call("admin", "GET", members, params={"limit": 2})
    assert {each["user"]["displayName"] for each in again.json()["items"]} == {"Unheard"}, "never back"


def test_revoking_access_in_another_process_invalidates_cached_responses(world: World) -> None:
    """On SQLite at once, on PostgreSQL once the notice is here."""
    _settle(world)
    for _ in range(3):
        assert send(world, "reader", SPACE, world.home).status_code == 200
    before = world.context.db.generation()
    other = open_database(world.context.settings.database, 3)
    try:
        with other.write() as tx:
            tx.run("UPDATE members SET disabled = 1 WHERE user_id = :user", user=world.users["reader"])
        world.commits += 1  # the next test has a world as new
        until(lambda: world.context.db.generation() != before)
        assert send(world, "reader", SPACE, world.home).status_code == 404
    finally:
        other.close()
