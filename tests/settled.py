"""Waiting for conditions, and for a database to have received the notices of all commits."""

from __future__ import annotations

import time
from collections.abc import Callable

import psycopg

from octavo.kit.db.database import Database
from octavo.kit.db.postgres import PostgresDatabase

PATIENCE = 240.0
"""Seconds that a test waits for what has to come, so that it does not depend on the speed of the machine: only a broken
program makes anybody wait for so long."""


def until(asked: Callable[[], object]) -> None:
    """Wait for it, for as long as tests are patient."""
    deadline = time.monotonic() + PATIENCE
    while not asked():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.005)


def settle(database: Database, url: str) -> None:
    """Wait until no notices are pending, including the database's own. None arrive until the next commit."""
    until(lambda: database.generation() is not None)
    if not isinstance(database, PostgresDatabase):
        return
    before = database.generation()
    with psycopg.connect(url) as connection:
        connection.execute("NOTIFY octavo_changed, 'a test'")  # Notices arrive in the order of commits.
    until(lambda: database.generation() != before and not database._has_news())
    # Nor does an answer to the thread that listens: it has no reason to ask for a while.
    database._heard_until = time.monotonic() + 60
    until(lambda: not database._has_news())
