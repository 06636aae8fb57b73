"""``octavo check`` counts the connections of all processes to a server of PostgreSQL."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import psycopg

from octavo.kit.db.databases import open_database
from octavo.kit.db.postgres_connections import Clients, count_clients
from octavo.operations.admin.diagnosis import _connections
from octavo.settings import Settings
from settled import until


def test_running_processes_are_counted_however_they_started(postgres_databases: Any) -> None:
    url = postgres_databases.create("counted")
    settings = Settings(database_url=url, workers=2, database_connections=5)
    with ExitStack() as stack:
        asking = open_database(url, 5)
        stack.callback(asking.close)

        def ask() -> tuple[bool, str]:
            with asking.read() as tx:
                part, works, said = _connections(tx, settings)
            assert part == "connections"
            return works, said

        # Other tests of the same run can be connected to the same server.
        works, said = ask()
        assert "2 x 5 of " in said or "processes can use " in said
        with psycopg.connect(url) as server:
            (given,) = server.execute(
                "SELECT current_setting('max_connections')::int - "
                "current_setting('superuser_reserved_connections')::int"
            ).fetchone() or (0,)
        most = given // 2
        for _ in range(3):
            process = open_database(url, most)
            stack.callback(process.close)
            until(lambda process=process: process.generation() is not None)
        works, said = ask()
        assert not works
        assert f" of {given}" in said and "processes can use" in said
        assert said.endswith("lower OCTAVO_DATABASE_CONNECTIONS, or raise PostgreSQL's max_connections")


def test_connection_names_state_their_purpose() -> None:
    names = {"octavo": 9, "octavo process, at most 8": 2, "octavo process, at most 1": 1, "psql": 3, "": 1}
    assert count_clients(names, "octavo") == Clients([8, 8, 1], 4)
    assert count_clients({"docs": 4, "octavo process, at most 8": 1}, "docs") == Clients([8], 0)
