"""Bodies just below and just above the limit of each operation, from each person of the cast. Large limits
are reduced for the test, but stay above the number of bytes that is read before authentication."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
import pytest

from octavo.kit.http.dispatcher import SMALL_BODY
from octavo.kit.http.operation import PUBLIC, TABLE, Operation
from octavo.operations.installation import load_packages
from world import CAST, NOBODY, World

from .samples import credentials, sample_of

load_packages()

WITH_BODY = [operation for operation in TABLE.values() if operation.body is not None]


@contextmanager
def limited(operation: Operation, limit: int) -> Iterator[None]:
    before = operation.body_limit
    object.__setattr__(operation, "body_limit", limit)
    try:
        yield
    finally:
        object.__setattr__(operation, "body_limit", before)


@pytest.mark.parametrize("operation", WITH_BODY, ids=lambda operation: operation.id)
def test_bodies_are_accepted_up_to_the_limit(sqlite_world: World, operation: Operation) -> None:
    world, sample = sqlite_world, sample_of(operation)
    if sample.before is not None:
        sample.before(world, world.home)
    body = msgspec.json.encode(sample.body_for(world.home)) if operation.takes_json else b"a=b&"
    limit = max(min(operation.body_limit, SMALL_BODY + 4096), len(body) + 1)
    path = sample.ids(world.home, operation.path)
    kind = "application/json" if operation.takes_json else "application/x-www-form-urlencoded"
    wrong = []
    with limited(operation, limit):
        for who in CAST:
            for size in (limit, limit + 1):
                answer = world.call(
                    who,
                    operation.method,
                    path,
                    content=body.ljust(size),
                    params=sample.query_for(world.home),
                    headers={"content-type": kind, **credentials(world, who, operation)},
                )
                if not is_expected(operation, who, size <= limit, answer.status_code, answer.text):
                    wrong.append(f"{who}, {size} bytes: {answer.status_code} {answer.text[:200]}")
    assert not wrong, "\n".join([operation.source, *wrong])


def is_expected(operation: Operation, who: str, fits: bool, status: int, text: str) -> bool:
    if who == NOBODY and operation.needs is not PUBLIC:
        # A small body is read before the token is checked.
        return status == 401 or (status == 413 and not fits)
    if not fits:
        return status == 413 and "body: is too large" in text
    is_refused = "accepted without a token" in text or "this operation requires a token" in text
    return status not in (413, 500) and not is_refused and (status != 401 or operation.needs is PUBLIC)
