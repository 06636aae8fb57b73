"""Benchmark how writers waiting on PostgreSQL affect readers, and how many connections processes use.

    python bench/bench_growth_postgresql.py [waiting|connections]

``waiting``: a read while 40 writers wait for one row. ``connections``: those of 1 and of 4 processes.
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import growth
import psycopg
from bench_growth import Bench
from bench_processes import serving
from bench_serving import PORT, Client
from growth import Row

from octavo.kit.context import Context

WAITING = 40


def waiting(context: Context, folder: Path, pages: int) -> Iterator[Row]:
    """Measure the wall time of a read with no writers waiting, and with 40 writers that wait for a row."""
    bench = Bench(context)
    path = f"/v1/orgs/{bench.org}"

    async def read() -> float:
        took = []
        for _ in range(growth.ROUNDS):
            began = time.monotonic()
            await bench.api.ask("GET", "/v1/orgs")
            took.append((time.monotonic() - began) * 1000)
        return statistics.median(took)

    async def read_beside_writers() -> float:
        with psycopg.connect(context.settings.database) as connection:
            connection.execute("SELECT id FROM organizations WHERE id = %s FOR UPDATE", (bench.org,))
            writing = [
                asyncio.ensure_future(bench.api.ask("PATCH", path, {"title": f"Title {n}"}))
                for n in range(WAITING)
            ]
            await asyncio.sleep(1)
            found = await read()
            connection.rollback()
        await asyncio.gather(*writing)
        return found

    for _ in range(growth.WARM):
        bench.api.run(read())
    alone = bench.api.run(read())
    what = f"list organizations of a person while {WAITING} writers wait, compared with none"
    yield Row(what, [alone, bench.api.run(read_beside_writers())])


def connections(context: Context, folder: Path, pages: int) -> Iterator[Row]:
    """Measure the maximum number of connections of 1 and of 4 processes under requests over many connections, and
    compare it with what ``octavo check`` reports."""
    found, data = [], folder / "connections"
    database = urlsplit(context.settings.database)._replace(path="/connections").geturl()
    with psycopg.connect(context.settings.database, autocommit=True) as connection:
        connection.execute("CREATE DATABASE connections")

        def count() -> int:
            row = connection.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = 'connections'"
            ).fetchone()
            assert row is not None
            return int(row[0])

        for workers in (1, 4):
            most = 0
            with serving(data, database, workers):
                token = (data / "admin-token").read_text().strip()
                clients = [Client(PORT) for _ in range(40)]
                for n in range(50):
                    for client in clients:
                        client.send("GET", "/v1/orgs" if n % 2 else "/v1/user", token=token)
                    most = max(most, count())
                    for client in clients:
                        client.receive()
            found.append(most)
            octavo = str(Path(sys.executable).with_name("octavo"))
            environ = {
                "OCTAVO_DATA": str(data),
                "OCTAVO_DATABASE_URL": database,
                "OCTAVO_WORKERS": str(workers),
            }
            checked = subprocess.run(
                [octavo, "check"], env=environ, capture_output=True, text=True, check=False
            )
            said = " ".join(line for line in checked.stdout.splitlines() if "connections" in line)
            print(f"octavo check, of {workers}: {said}", flush=True)
    yield Row("maximum connections of 4 processes, compared with one process", found, "in total")


if __name__ == "__main__":
    growth.main({"waiting": waiting, "connections": connections}, engines=["PostgreSQL"])
