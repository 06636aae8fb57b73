"""Benchmark how long readers wait next to a scan, and next to people who search, edit, and comment, all as fast as they
get responses.

    python bench/bench_mix.py [SECONDS] [NAME=VALUE...]

One process serves the API and sites. First, read-only connections request a page over the API and a page of a site;
then they do so while a site of ten copies of the manual is scanned, and then the same number of connections reads,
searches, edits, and comments. Prints for each kind: responses per second,
the median and 99th percentile in milliseconds, and after them the ratio to readers alone. ``NAME=VALUE`` are settings
of the server (``OCTAVO_THREADS=2``). The clients run on the same machine, so only figures measured side by side are
comparable.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from bench_serving import PORT, READER_PORT, Client, wait_for
from figures import figure

CONNECTIONS = 200
COPIES = 10
INDEXING = 12
"""Number of seconds after which the copies are indexed."""
MIX = ("read", "view", "read", "view", "read", "view", "search", "read", "edit", "comment")
"""Requests that the connections send, in turn."""


class Asked(NamedTuple):
    port: int
    method: str
    path: str
    body: str = ""


class Mix:
    def __init__(self, token: str) -> None:
        self.token, self._numbers = token, itertools.count()
        client = Client(PORT)

        def call(method: str, path: str, body: object = None) -> dict[str, object]:
            given = json.dumps(body).encode() if body is not None else b""
            found: dict[str, object] = json.loads(client.ask(method, f"/v1{path}", given, token))
            return found

        self.call = call
        self.org = org = json.loads(client.get("/v1/orgs", token))["items"][0]["id"]
        self.manual = manual = json.loads(client.get(f"/v1/orgs/{org}/spaces", token))["items"][0]["id"]
        page = call("GET", f"/spaces/{manual}/content/path/quickstart")["id"]
        self.own = f"/v1/spaces/{call('POST', f'/orgs/{org}/spaces', {'title': 'Edited'})['id']}"
        text = "## Part\n\nWords of this page, with `code` and **more**.\n\n" * 40
        made = {"operation": "insert_page", "title": "Edited", "document": {"markdown": text}}
        client.ask("POST", f"{self.own}/content", json.dumps({"changes": [made]}).encode(), token)
        self.edited = json.loads(client.get(f"{self.own}/content/pages", token))["pages"][0]["id"]
        self.read = Asked(PORT, "GET", f"/v1/spaces/{manual}/content/page/{page}?format=markdown")
        self.view = Asked(READER_PORT, "GET", "/octavo/octavo-manual/quickstart")
        self.search = f"/v1/spaces/{manual}/search?query="

    def create_site(self) -> None:
        """Create the site to scan, and wait until its spaces are indexed."""
        spaces = [self.call("POST", f"/spaces/{self.manual}/duplicate")["id"] for _ in range(COPIES)]
        made = self.call("POST", f"/orgs/{self.org}/sites", {"title": "Scanned"})
        self.site = f"/orgs/{self.org}/sites/{made['id']}"
        for space in spaces:
            self.call("POST", f"{self.site}/site-spaces", {"spaceId": space})
        time.sleep(INDEXING)

    def start_scan(self) -> Callable[[], str]:
        """Start to scan the site. Return a function that returns the status of the scan."""
        scan = self.call("POST", f"{self.site}/scans", {})["id"]
        return lambda: str(self.call("GET", f"{self.site}/scans/{scan}")["status"])

    def next(self, kind: str) -> Asked:
        number = next(self._numbers)
        if kind == "read":
            return self.read
        if kind == "view":
            return self.view
        if kind == "search":
            return Asked(PORT, "GET", f"{self.search}page%20{number % 97}")
        if kind == "edit":
            edit = {"operation": "update_page", "page": self.edited, "description": f"Said {number}"}
            return Asked(PORT, "POST", f"{self.own}/content", json.dumps({"changes": [edit]}))
        comment = {"body": {"markdown": f"Comment {number}"}}
        return Asked(PORT, "POST", f"{self.own}/comments", json.dumps(comment))


async def ask(mix: Mix, kind: str, until: float, took: list[float]) -> None:
    """Send requests over one connection as fast as they are answered. Raises RuntimeError for a refusal other than
    503."""
    reader, writer = await asyncio.open_connection("127.0.0.1", mix.next(kind).port)
    while (began := time.monotonic()) < until:
        asked = mix.next(kind)
        head = f"{asked.method} {asked.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {mix.token}\r\n"
        if asked.port == READER_PORT:
            head = f"{asked.method} {asked.path} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        head += (
            f"Content-Type: application/json\r\nContent-Length: {len(asked.body)}\r\n" if asked.body else ""
        )
        writer.write(f"{head}\r\n{asked.body}".encode())
        lines = (await reader.readuntil(b"\r\n\r\n")).lower().split(b"\r\n")
        length = next(int(line.split(b":")[1]) for line in lines if line.startswith(b"content-length:"))
        answer = await reader.readexactly(length)
        if not lines[0].split()[1].startswith(b"2") and b" 503 " not in lines[0]:
            raise RuntimeError(f"{asked.method} {asked.path}: {lines[0]!r} {answer[:200]!r}")
        took.append(time.monotonic() - began)
    writer.close()


async def run(mix: Mix, kinds: list[str], seconds: float) -> dict[str, list[float]]:
    took: dict[str, list[float]] = defaultdict(list)
    until = time.monotonic() + seconds
    await asyncio.gather(*(ask(mix, kind, until, took[kind]) for kind in kinds))
    return took


def tell(
    found: dict[str, list[float]], beside: dict[str, list[float]], seconds: float, during: str = ""
) -> None:
    for kind, took in found.items():
        figures = [statistics.median(took) * 1e3, statistics.quantiles(took, n=100)[98] * 1e3]
        line = f"  {kind:8} {len(took) / seconds:7.0f} per second, median {figures[0]:7.1f}, p99 {figures[1]:8.1f}"
        if kind in beside:
            alone = [
                statistics.median(beside[kind]) * 1e3,
                statistics.quantiles(beside[kind], n=100)[98] * 1e3,
            ]
            figure(
                f"{kind} during {during}, median, compared with readers alone",
                figures[0],
                "ms",
                beside=alone[0],
                most=5,
            )
            figure(
                f"{kind} during {during}, p99, compared with readers alone",
                figures[1],
                "ms",
                beside=alone[1],
                most=20,
            )
        print(line, flush=True)


def main(arguments: list[str]) -> None:
    seconds = next((float(one) for one in arguments if "=" not in one), 10.0)
    given = dict(one.split("=", 1) for one in arguments if "=" in one)
    with tempfile.TemporaryDirectory() as folder:
        environ = {
            **os.environ,
            "OCTAVO_DATA": folder,
            "OCTAVO_DATABASE_URL": "",
            "OCTAVO_HEADER_SECONDS": "600",
            **given,
        }
        octavo = str(Path(sys.executable).with_name("octavo"))
        command = [octavo, "serve", "--port", str(PORT), "--reader-port", str(READER_PORT)]
        server = subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL)
        try:
            wait_for(PORT)
            wait_for(READER_PORT)
            mix = Mix((Path(folder) / "admin-token").read_text().strip())
            mix.create_site()
            asyncio.run(run(mix, ["read", "view"] * 4, 1))
            alone = asyncio.run(run(mix, ["read", "view"] * (CONNECTIONS // 2), seconds))
            print("readers alone")
            tell(alone, {}, seconds)
            status = mix.start_scan()
            scanned = asyncio.run(run(mix, ["read", "view"] * (CONNECTIONS // 2), seconds))
            print(f"next to a scan (now {status()})")
            tell(scanned, alone, seconds, "a scan")
            kinds = [kind for kind, _ in zip(itertools.cycle(MIX), range(CONNECTIONS), strict=False)]
            mixed = asyncio.run(run(mix, kinds, seconds))
            print("next to searches, edits, and comments")
            tell(mixed, alone, seconds, "searches, edits, and comments")
            figure(
                "all responses during searches, edits, and comments",
                sum(map(len, mixed.values())) / seconds,
                "per second",
            )
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(timeout=60)


if __name__ == "__main__":
    main(sys.argv[1:])
