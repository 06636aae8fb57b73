"""Benchmark the server CPU time of requests, compared with an empty ASGI application that returns the same bytes.

Servers run as separate processes; their CPU time is that counted by the operating system. Rounds are interleaved, and
the medians of the ratios are printed: for one client that sends one request after the other, and for sixteen
simultaneous clients.
"""

from __future__ import annotations

import itertools
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from figures import figure

ROUNDS = 7
TOGETHER = (1, 16)
REQUESTS = 1500
PORT, READER_PORT, EMPTY_PORT = 18410, 18411, 18412

EMPTY = """
import asyncio, pathlib, sys
import uvloop
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.server.embed import Server
bodies = {one.name: one.read_bytes() for one in pathlib.Path(sys.argv[1]).iterdir() if one.is_file()}
types = {name: b"text/html" if body[:1] == b"<" else b"application/json" for name, body in bodies.items()}
async def app(scope, receive, send):
    name = scope["path"].rpartition("/")[2]
    headers = [(b"content-type", types[name]), (b"content-length", str(len(bodies[name])).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": bodies[name]})
server = Server(app, port=int(sys.argv[2]), interface=Interfaces.ASGINL, http=HTTPModes.http1, websockets=False,
                log_enabled=False, http1_settings=HTTP1Settings(header_read_timeout=3_600_000))
with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
    runner.run(server.serve())
"""
"""An ASGI application on the server that Octavo runs on, with the same bodies and nothing else."""


class Client:
    """Client with one kept-alive connection."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._file = self._socket.makefile("rb")

    def get(self, path: str, token: str = "", cookie: str = "") -> bytes:
        return self.ask("GET", path, token=token, cookie=cookie)

    def ask(self, method: str, path: str, body: bytes = b"", token: str = "", cookie: str = "") -> bytes:
        """Return the body of the response. Raises RuntimeError for any status but 200, 201, and 202."""
        self.send(method, path, body, token, cookie)
        return self.receive()

    def send(self, method: str, path: str, body: bytes = b"", token: str = "", cookie: str = "") -> None:
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        head += f"Authorization: Bearer {token}\r\n" if token else ""
        head += f"Cookie: {cookie}\r\n" if cookie else ""
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if body else ""
        self._socket.sendall(f"{head}\r\n".encode() + body)

    def receive(self) -> bytes:
        """Return the body of the next response. Raises RuntimeError for any status but 200, 201, and 202."""
        status = self._file.readline()
        length = 0
        while (line := self._file.readline()) != b"\r\n":
            if not line:
                raise RuntimeError("the server closed the connection")
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        answer = self._file.read(length)
        if status.split()[1] not in (b"200", b"201", b"202"):
            raise RuntimeError(f"{status!r} {answer[:200]!r}")
        return answer


def cpu(pid: int) -> float:
    """Return the CPU seconds of a process and its threads so far."""
    used = 0
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # it has just exited
            used += int((thread / "schedstat").read_text().split()[0])
    return used / 1e9


def worker_of(pid: int) -> int:
    """Return the serving process of a command with one worker."""
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])


def memory(pid: int) -> float:
    """Return the memory of a process and its descendants in MB; shared memory counts once."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    own = next(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))
    return own / 1024 + sum(memory(int(child)) for child in children)


def wait_for(port: int) -> None:
    for _ in range(1200):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError(f"nothing listens on {port}")


def cost(clients: Sequence[Client], pid: int, path: str, token: str = "") -> float:
    """Return the microseconds of server CPU time per request of simultaneous clients."""
    before, rounds = cpu(pid), REQUESTS // len(clients)
    for _ in range(rounds):
        for client in clients:
            client.send("GET", path, b"", token, "")
        for client in clients:
            client.receive()
    return (cpu(pid) - before) / (rounds * len(clients)) * 1e6


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        environ = {
            **os.environ,
            "OCTAVO_DATA": f"{folder}/data",
            "OCTAVO_DATABASE_URL": "",
            "OCTAVO_HEADER_SECONDS": "600",
        }
        octavo = [str(Path(sys.executable).with_name("octavo"))]
        started = time.perf_counter()
        server = subprocess.Popen(
            [*octavo, "serve", "--port", str(PORT), "--reader-port", str(READER_PORT)],
            env=environ,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert server.stdout is not None
        told = ""
        while "Sites" not in told:
            told += server.stdout.readline()
        wait_for(READER_PORT)
        wait_for(PORT)
        figure("first start, including the import of the manual", time.perf_counter() - started, "s")
        token = Path(f"{folder}/data/admin-token").read_text().strip()
        org = re.search(r"Organization (\w+)", told)
        assert org is not None
        api = Client(PORT)
        spaces = api.get(f"/v1/orgs/{org[1]}/spaces", token).decode()
        space = re.search(r'"items":\[\{"id":"(\w+)"', spaces)
        assert space is not None
        pages = api.get(f"/v1/spaces/{space[1]}/content/path/quickstart", token).decode()
        page = re.search(r'"id":"(\w+)"', pages)
        assert page is not None
        paths = {
            "space": (PORT, f"/v1/spaces/{space[1]}", token),
            "markdown": (PORT, f"/v1/spaces/{space[1]}/content/page/{page[1]}?format=markdown", token),
            "page": (READER_PORT, "/octavo/octavo-manual/quickstart", ""),
            "list": (PORT, f"/v1/orgs/{org[1]}/spaces?limit=50", token),
        }
        labels = {
            "space": "read a space",
            "markdown": "read a page as Markdown",
            "page": "view a page of a site",
            "list": "list 50 spaces",
        }
        for number in range(50):
            api.ask("POST", f"/v1/orgs/{org[1]}/spaces", b'{"title": "Space %d"}' % number, token)
        for name, (port, path, auth) in paths.items():
            Path(folder, name).write_bytes(Client(port).get(path, auth))
        empty = subprocess.Popen([sys.executable, "-c", EMPTY, folder, str(EMPTY_PORT)])
        try:
            wait_for(EMPTY_PORT)
            for (name, (port, path, auth)), together in itertools.product(paths.items(), TOGETHER):
                clients = [Client(port) for _ in range(together)]
                beside = [Client(EMPTY_PORT) for _ in range(together)]
                ratios, ours = [], []
                serving = worker_of(server.pid)
                cost(clients, serving, path, auth)
                cost(beside, empty.pid, f"/empty/{name}")
                for _ in range(ROUNDS):
                    mine = cost(clients, serving, path, auth)
                    base = cost(beside, empty.pid, f"/empty/{name}")
                    ratios.append(mine / base)
                    ours.append(mine)
                ours_now = statistics.median(ours)
                label = f"{labels[name]}, {together} concurrent client{'s' if together > 1 else ''}"
                figure(
                    f"{label}, compared with an empty route",
                    ours_now,
                    "µs of CPU",
                    beside=ours_now / statistics.median(ratios),
                    most={"page": 2.0, "list": 4.0}.get(name, 2.5),
                )
            figure("memory after these requests", memory(server.pid), "MB")
        finally:
            empty.kill()
            server.send_signal(signal.SIGTERM)
            server.wait(timeout=30)
        started = time.perf_counter()
        again = subprocess.Popen(
            [*octavo, "serve", "--port", str(PORT), "--reader-port", str(READER_PORT)],
            env=environ,
            stdout=subprocess.DEVNULL,
        )
        wait_for(PORT)
        wait_for(READER_PORT)
        figure("start with existing data", time.perf_counter() - started, "s", most=1.2)
        time.sleep(2)
        figure("idle memory", memory(again.pid), "MB", most=110)
        again.send_signal(signal.SIGTERM)
        again.wait(timeout=30)


if __name__ == "__main__":
    main()
