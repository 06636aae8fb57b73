"""Measurement for the growth benches: CPU time of a small and a large case in turn, on warm connections."""

from __future__ import annotations

import asyncio
import itertools
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import in_process
import psycopg
from bench_search import applications
from bench_serving import cpu
from figures import figure

from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.http.edge import Edge
from octavo.kit.work.worker import Worker
from octavo.operations.installation import load_packages
from octavo.organization.access.accounts import insert_user

T = TypeVar("T")

WARM = 12
"""Calls before any is measured: a statement is prepared on its fifth, and PostgreSQL may replan it on its tenth."""
ROUNDS = 15


_people = itertools.count()


def add_person(tx: Transaction) -> str:
    """Add a person and return their id."""
    number = next(_people)
    return insert_user(tx, f"n{number}@example.com", f"Person {number}", verified=True).id


class Row(NamedTuple):
    """Cost of one operation on a small server and on a large one."""

    what: str
    took: Sequence[float]
    unit: str = "ms"


class Work(NamedTuple):
    """Work to measure: ``run``, each time after ``before``, which isn't measured."""

    run: Callable[[], object]
    before: Callable[[], object] = lambda: None


Part = Callable[[Context, Path, int], Iterator[Row]]


class Application:
    """Application in this process, requested without a network as the owner of a token."""

    def __init__(self, app: Edge, token: str = "") -> None:
        self._app = app
        self._headers = [(b"host", b"sites.test"), (b"authorization", f"Bearer {token}".encode())]
        if not token:
            del self._headers[1]
        # An asyncio runner would record each response, which costs more than some of the responses.
        self._loop = asyncio.new_event_loop()

    def run(self, asking: Coroutine[Any, Any, T]) -> T:
        return self._loop.run_until_complete(asking)

    def getting(self, path: str) -> Work:
        return Work(lambda: self.run(self.ask("GET", path)))

    async def ask(self, method: str, path: str, body: Any = None) -> bytes:
        """Return the body of the response. Raises RuntimeError if the request is refused."""
        sent = json.dumps(body).encode() if body is not None else b""
        headers = [*self._headers, (b"content-length", str(len(sent)).encode())]
        status, answer = await in_process.ask(self._app, method, path, headers, sent)
        if not 200 <= status < 300:
            raise RuntimeError(f"{method} {path}: {status} {answer[:300]!r}")
        return answer


def settle(context: Context) -> None:
    """Run the consequences of many writes: the jobs they caused, and PostgreSQL's autovacuum."""
    Worker(context.db, context).run_pending()
    if context.db.engine == "postgresql":
        with psycopg.connect(context.settings.database, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")


def servers(context: Context) -> list[int]:
    """Return the PostgreSQL processes that serve connections."""
    if context.db.engine == "sqlite":
        return []
    with psycopg.connect(context.settings.database) as connection:
        rows = connection.execute(
            "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        ).fetchall()
    return [row[0] for row in rows]


def spent(pids: Sequence[int]) -> float:
    """Return the CPU seconds of this process and of these."""
    return time.process_time() + sum(map(cpu, pids))


def compare(context: Context, *works: Work) -> list[float]:
    """Return the median milliseconds of CPU time of each of these, run in turn."""
    for _ in range(WARM):
        for work in works:
            work.before()
            work.run()
    pids = servers(context)
    took: list[list[float]] = [[] for _ in works]
    for _ in range(ROUNDS):
        for each, work in zip(took, works, strict=True):
            work.before()
            began = spent(pids)
            work.run()
            each.append(spent(pids) - began)
    return [statistics.median(each) * 1000 for each in took]


def main(parts: dict[str, Part], engines: Sequence[str] = ("SQLite", "PostgreSQL")) -> None:
    """Run the named parts, or all, on the named engines, or on both."""
    arguments = sys.argv[1:]
    pages = next((int(one) for one in arguments if one.isdigit()), 20_000)
    engines = [one for one in engines if one in arguments] or engines
    chosen = [one for one in arguments if one in parts] or list(parts)
    load_packages()
    with tempfile.TemporaryDirectory() as folder, applications(Path(folder)) as opened:
        for name, context in opened.items():
            if name not in engines:
                continue
            for part in chosen:
                for what, (small, large), unit in parts[part](context, Path(folder), pages):
                    figure(f"{name}, {what}", large, unit, beside=small or None)
