"""Counts of database work, independent of time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from world import World


def tidy(world: World) -> None:
    """Vacuum and analyze the tables of PostgreSQL after earlier tests."""
    if world.context.db.engine == "postgresql":
        with psycopg.connect(world.context.settings.database, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")


@contextmanager
def counting_pages(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Count the pages of tables and indexes that PostgreSQL reads in this block, including repeated reads."""
    looked = [0]
    execute: Any = psycopg.Connection.execute

    def count(connection: Any, query: Any, parameters: Any = None, **how: Any) -> Any:
        # Explaining runs the statement: what writes would do so twice.
        reads = isinstance(query, str) and query.lstrip().upper().startswith(("SELECT", "WITH"))
        if reads and parameters is not None:
            explained = execute(
                connection, f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {query}", parameters
            ).fetchone()
            plan = explained[0][0]["Plan"]
            looked[0] += plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
        return execute(connection, query, parameters, **how)

    with monkeypatch.context() as counting:
        counting.setattr(psycopg.Connection, "execute", count)
        yield looked
