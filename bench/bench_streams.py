"""Benchmark open event streams: their cost for a process and for other requests in memory, idle CPU time, and the
time until all streams are notified.

    .venv/bin/python bench/bench_streams.py --streams 2000
"""

from __future__ import annotations

import argparse
import selectors
import socket
import statistics
import sys
import tempfile
import time
from pathlib import Path

import httpx
from figures import figure

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from octavo.kit.work.hub import EACH
from serving import Administrator, Served, octavo, serving


def memory(pid: int) -> float:
    """Return the resident memory in MB."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096 / 1e6


def cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


class Streams:
    """Open streams of one path, opened in batches, because more simultaneous requests of one organization would be
    refused."""

    def __init__(self, served: Served, path: str, count: int, tokens: list[str]) -> None:
        host, port = served.url.removeprefix("http://").split(":")
        heads = [
            f"GET /v1{path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
            for token in tokens
        ]
        self.selector = selectors.DefaultSelector()
        self.open: dict[int, tuple[socket.socket, bytearray]] = {}
        self.count = count
        begun: set[int] = set()
        for number in range(count):
            one = socket.create_connection((host, int(port)))
            one.sendall(heads[number % len(heads)])
            one.setblocking(False)
            self.selector.register(one, selectors.EVENT_READ)
            self.open[one.fileno()] = one, bytearray()
            begun.add(one.fileno())
            if len(begun) == 100 or number == count - 1:
                self.wait_for(b"event: ready", begun)
                begun = set()

    def wait_for(self, word: bytes, those: set[int] | None = None, seconds: float = 120) -> list[float]:
        """Return when each stream, or each of ``those``, received this, in seconds from now."""
        started, delays = time.monotonic(), []
        waiting = set(self.open if those is None else those)
        while waiting and time.monotonic() - started < seconds:
            for key, _ in self.selector.select(1):
                one, got = self.open[key.fd]
                piece = one.recv(65536)
                assert piece, "a stream has ended"
                got.extend(piece)
                if key.fd in waiting and word in got:
                    waiting.discard(key.fd)
                    delays.append(time.monotonic() - started)
                    got.clear()
        assert not waiting, f"{len(waiting)} of {self.count} weren't notified"
        return delays

    def read(self, seconds: float) -> None:
        """Read what the streams receive."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            for key, _ in self.selector.select(0.1):
                assert self.open[key.fd][0].recv(1 << 20), "a stream has ended"


def ask(client: httpx.Client, path: str, pid: int, times: int) -> tuple[float, float, float]:
    """Return the median and 99th percentile of a request in milliseconds, and its CPU time in the server."""
    before, taken = cpu(pid), []
    for _ in range(times):
        started = time.perf_counter()
        assert client.get(path).status_code == 200
        taken.append((time.perf_counter() - started) * 1000)
    taken.sort()
    return statistics.median(taken), taken[int(times * 0.99)], (cpu(pid) - before) / times * 1000


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--streams", type=int, default=2000)
    options.add_argument("--requests", type=int, default=3000)
    count = options.parse_args().streams
    requests = options.parse_args().requests
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder) / "data") as served:
        admin, (pid,) = Administrator(served), served.workers()
        space = admin.create_space("Watched")
        tokens = [
            octavo(
                "token",
                "create",
                "--data",
                str(served.data),
                "--email",
                f"p{number}@example.com",
                "--org",
                admin.organization,
                "--role",
                "read",
            ).stdout.strip()
            for number in range(-(-count // EACH))
        ]
        listing = f"/orgs/{admin.organization}/spaces"
        ask(admin.client, listing, pid, 500)
        quiet = ask(admin.client, listing, pid, requests)
        before = memory(pid)
        started = time.monotonic()
        streams = Streams(served, f"/spaces/{space}/events", count, tokens)
        print(f"{count} streams open after {time.monotonic() - started:.1f} s")
        time.sleep(2)
        figure(f"memory of {count:,} open streams", memory(pid) - before, "MB", most=60 * count / 2000)
        with_streams = ask(admin.client, listing, pid, requests)
        for (name, unit), alone, beside in zip(
            (("median", "ms"), ("p99", "ms"), ("CPU", "ms of CPU")), quiet, with_streams, strict=True
        ):
            what = f"list spaces with open streams, compared with none open: {name}"
            figure(what, beside, unit, beside=alone)
        idle = cpu(pid)
        time.sleep(15)
        figure("CPU with idle streams", (cpu(pid) - idle) / 15 * 100, "percent of a core")
        began_cpu = cpu(pid)
        admin.call("POST", f"/spaces/{space}/comments", {"body": {"markdown": "Hello"}})
        delays = streams.wait_for(b"event: comment")
        figure("time until all subscribers are notified about a comment", max(delays) * 1000, "ms")
        figure(
            "CPU cost of notifying all subscribers about a comment",
            (cpu(pid) - began_cpu) * 1000,
            "ms of CPU",
        )
        time.sleep(5)
        print(f"memory {memory(pid):.0f} MB afterward")


if __name__ == "__main__":
    main()
