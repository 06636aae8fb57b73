"""Slow requests and statements are logged, without values."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from octavo.kit.observability import logs
from octavo.kit.observability.slowness import THRESHOLDS
from octavo.settings import Settings
from world import World


@pytest.fixture(autouse=True)
def thresholds() -> Iterator[None]:
    yield
    THRESHOLDS.request = THRESHOLDS.statement = None


def test_slow_statements_are_logged_with_their_plan(world: World, caplog: pytest.LogCaptureFixture) -> None:
    THRESHOLDS.statement = 1e-9

    def read() -> None:
        with world.context.db.read() as tx:
            assert tx.all("SELECT id FROM users WHERE email = :email", email="secret@example.com") == []
            assert tx.value("SELECT count(*) FROM users") > 0, "the plan leaves the transaction as it was"

    # A thread keeps its connection, which was opened before there was a threshold.
    with caplog.at_level(logging.WARNING), ThreadPoolExecutor(1) as fresh:
        fresh.submit(read).result()
    found = [record for record in caplog.records if record.getMessage() == "slow statement"]
    told = next(record for record in found if "FROM users" in record.statement)  # type: ignore[attr-defined]
    assert any("users" in line for line in told.plan)  # type: ignore[attr-defined]
    assert told.seconds >= 0  # type: ignore[attr-defined]
    assert "secret@example.com" not in f"{told.statement}"  # type: ignore[attr-defined]


def test_a_write_is_explained_without_executing_it_again(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    THRESHOLDS.statement = 1e-9
    with caplog.at_level(logging.WARNING), world.context.db.write() as tx:
        assert tx.run("INSERT INTO rebuilds (part, total, started_at) VALUES ('any', 1, 1)") == 1
        assert tx.value("SELECT total FROM rebuilds WHERE part = 'any'") == 1
        assert tx.run("DELETE FROM rebuilds WHERE part = 'any'") == 1
    found = [record for record in caplog.records if record.getMessage() == "slow statement"]
    assert {record.statement.split()[0] for record in found} >= {"INSERT", "SELECT", "DELETE"}  # type: ignore[attr-defined]


def test_slow_requests_are_logged(world: World, caplog: pytest.LogCaptureFixture) -> None:
    THRESHOLDS.request = 60.0
    with caplog.at_level(logging.WARNING):
        world.get("admin", "/user")
        assert [record for record in caplog.records if record.getMessage() == "slow request"] == []
        THRESHOLDS.request = 0.0
        world.get("admin", "/user")
    told = next(record for record in caplog.records if record.getMessage() == "slow request")
    assert (told.operation, told.method, told.status) == ("getAuthenticatedUser", "GET", 200)  # type: ignore[attr-defined]


def test_lines_at_startup_are_json_only_if_configured(capsys: pytest.CaptureFixture[str]) -> None:
    logs.start_lines("text")("Open   http://127.0.0.1:8000")
    logs.start_lines("json")("Open   http://127.0.0.1:8000")
    plain, told = capsys.readouterr().out.splitlines()
    assert plain == "Open   http://127.0.0.1:8000"
    assert json.loads(told)["event"] == "Open http://127.0.0.1:8000"


@pytest.mark.parametrize("level", ["debug", "info", "warning", "error"])
def test_the_log_level_is_a_setting(level: str) -> None:
    root, access = logging.getLogger(), logging.getLogger("octavo.access")
    before = (root.level, root.handlers[:], access.level)
    try:
        logs.configure_for(Settings(log_level=level))  # type: ignore[arg-type]
        assert logging.getLevelName(root.level).lower() == level
    finally:
        root.setLevel(before[0])
        root.handlers[:] = before[1]
        access.setLevel(before[2])
