"""Server CPU of requests, each beside the bare server that answers the same bytes.

Servers run as processes of their own; their CPU is what the operating system counted for them. Rounds are
interleaved, and the medians of the ratios are printed.

What is wanted is said of an empty route of a framework, Litestar on granian, which no file of the project installs. It
costs about twice the bare server (108 us beside 48), so a ratio here is about twice the one that is meant.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from figures import figure

ROUNDS = 7
REQUESTS = 1500
PORT, READER_PORT, EMPTY_PORT = 18410, 18411, 18412

EMPTY = """
import asyncio, pathlib, sys
import uvicorn
bodies = {one.name: one.read_bytes() for one in pathlib.Path(sys.argv[1]).iterdir() if one.is_file()}
types = {name: b"text/html" if body[:1] == b"<" else b"application/json" for name, body in bodies.items()}
async def app(scope, receive, send):
    name = scope["path"].rpartition("/")[2]
    headers = [(b"content-type", types[name]), (b"content-length", str(len(bodies[name])).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": bodies[name]})
uvicorn.run(app, port=int(sys.argv[2]), loop="asyncio", http="httptools", lifespan="off", log_level="error",
            timeout_keep_alive=3600)
"""


class Client:
    """One kept-alive connection."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._file = self._socket.makefile("rb")

    def get(self, path: str, token: str = "", cookie: str = "") -> bytes:
        return self.ask("GET", path, token=token, cookie=cookie)

    def ask(self, method: str, path: str, body: bytes = b"", token: str = "", cookie: str = "") -> bytes:
        """The body of the answer. Raises RuntimeError for any status but 200 and 201."""
        self.send(method, path, body, token, cookie)
        return self.receive()

    def send(self, method: str, path: str, body: bytes = b"", token: str = "", cookie: str = "") -> None:
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        head += f"Authorization: Bearer {token}\r\n" if token else ""
        head += f"Cookie: {cookie}\r\n" if cookie else ""
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if body else ""
        self._socket.sendall(f"{head}\r\n".encode() + body)

    def receive(self) -> bytes:
        """The body of the next answer. Raises RuntimeError for any status but 200 and 201."""
        status = self._file.readline()
        length = 0
        while (line := self._file.readline()) != b"\r\n":
            if not line:
                raise RuntimeError("the server closed the connection")
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        answer = self._file.read(length)
        if b" 200 " not in status and b" 201 " not in status:
            raise RuntimeError(f"{status!r} {answer[:200]!r}")
        return answer


def cpu(pid: int) -> float:
    """Seconds of CPU of a process and its threads so far."""
    threads = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9


def wait_for(port: int) -> None:
    for _ in range(1200):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError(f"nothing listens on {port}")


def cost(client: Client, pid: int, path: str, token: str = "") -> float:
    """Microseconds of server CPU per request."""
    before = cpu(pid)
    for _ in range(REQUESTS):
        client.get(path, token)
    return (cpu(pid) - before) / REQUESTS * 1e6


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        environ = {
            **os.environ,
            "OCTAVO_DATA": f"{folder}/data",
            "OCTAVO_DATABASE_URL": "",
            "OCTAVO_KEEP_ALIVE_SECONDS": "3600",
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
        figure("first start, with the manual", time.perf_counter() - started, "s")
        token = Path(f"{folder}/data/admin-token").read_text().strip()
        org = re.search(r"Organization (\w+)", told)
        assert org is not None
        api, reader = Client(PORT), Client(READER_PORT)
        spaces = api.get(f"/v1/orgs/{org[1]}/spaces", token).decode()
        space = re.search(r'"items":\[\{"id":"(\w+)"', spaces)
        assert space is not None
        pages = api.get(f"/v1/spaces/{space[1]}/content/path/quickstart", token).decode()
        page = re.search(r'"id":"(\w+)"', pages)
        assert page is not None
        paths = {
            "space": (api, f"/v1/spaces/{space[1]}", token),
            "markdown": (api, f"/v1/spaces/{space[1]}/content/page/{page[1]}?format=markdown", token),
            "page": (reader, "/octavo/octavo-manual/quickstart", ""),
        }
        for name, (client, path, auth) in paths.items():
            Path(folder, name).write_bytes(client.get(path, auth))
        empty = subprocess.Popen([sys.executable, "-c", EMPTY, folder, str(EMPTY_PORT)])
        try:
            wait_for(EMPTY_PORT)
            beside = Client(EMPTY_PORT)
            for name, (client, path, auth) in paths.items():
                ratios, ours = [], []
                cost(client, server.pid, path, auth)
                cost(beside, empty.pid, f"/empty/{name}")
                for _ in range(ROUNDS):
                    mine = cost(client, server.pid, path, auth)
                    base = cost(beside, empty.pid, f"/empty/{name}")
                    ratios.append(mine / base)
                    ours.append(mine)
                ours_now = statistics.median(ours)
                figure(
                    f"{name}, beside the bare server",
                    ours_now,
                    "us of CPU",
                    beside=ours_now / statistics.median(ratios),
                    most=1.0 if name == "page" else 1.35,
                )
            memory = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{server.pid}/status").read_text())
            assert memory is not None
            figure("memory after that", int(memory[1]) / 1024, "MB")
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
        figure("start on existing data", time.perf_counter() - started, "s", most=3)
        time.sleep(2)
        memory = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{again.pid}/status").read_text())
        assert memory is not None
        figure("idle memory", int(memory[1]) / 1024, "MB", most=100)
        again.send_signal(signal.SIGTERM)
        again.wait(timeout=30)


if __name__ == "__main__":
    main()
