"""Five hundred connections of mixed traffic on one server, and a noisy organization beside a quiet one.

    python bench/bench_load.py [--seconds 60] [--workers 1] [--connections 500] [--postgresql URL]

Both organizations have the same space and site. The quiet one's connections read, view, search, edit, comment, publish
and follow events, each about once a second. First they are alone; then as many of the noisy one do the same as fast as
they are answered. For each kind of the quiet one: answers in a second, the median, the 99th percentile and the longest
in milliseconds, beside those when it was alone. Then what was refused, and memory. It ends with 1 when anything was
answered with 500 or another error of the server, with 503 or 429 without Retry-After, or not at all.

The clients run on the same machine and take a good part of it: figures of one run are to be compared with each other.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

from bench_serving import PORT, READER_PORT, Client, wait_for

MIX = (
    "read",
    "view",
    "read",
    "view",
    "stream",
    "view",
    "search",
    "read",
    "edit",
    "comment",
    "view",
    "publish",
)
"""What the connections do, in turn."""
TEXT = "## Part\n\nWords of this page, with `code` and **more**.\n\n" * 40


class Asked(NamedTuple):
    port: int
    method: str
    path: str
    body: str = ""


class Place:
    """An organization with a space of a page, published as a site."""

    def __init__(self, token: str, title: str) -> None:
        self.token, self._numbers = token, itertools.count()
        client = Client(PORT)

        def call(path: str, body: object) -> dict[str, str]:
            found: dict[str, str] = json.loads(
                client.ask("POST", f"/v1{path}", json.dumps(body).encode(), token) or b"{}"
            )
            return found

        org = call("/orgs", {"title": title})["id"]
        space = call(f"/orgs/{org}/spaces", {"title": title})["id"]
        self.space = f"/v1/spaces/{space}"
        made = {"operation": "insert_page", "title": "Page", "slug": "page", "document": {"markdown": TEXT}}
        call(f"/spaces/{space}/content", {"changes": [made]})
        self.page = json.loads(client.get(f"{self.space}/content/pages", token))["pages"][0]["id"]
        site = f"/orgs/{org}/sites/{call(f'/orgs/{org}/sites', {'title': title})['id']}"
        call(f"{site}/site-spaces", {"spaceId": space})
        published = json.loads(client.ask("POST", f"/v1{site}/publish", b"{}", token))["urls"]["published"]
        self.site, self.view = f"/v1{site}", f"/{published.split('/', 3)[3].rstrip('/')}/page"

    def next(self, kind: str) -> Asked:
        number = next(self._numbers)
        if kind == "read":
            return Asked(PORT, "GET", f"{self.space}/content/page/{self.page}?format=markdown")
        if kind == "view":
            return Asked(READER_PORT, "GET", self.view)
        if kind == "search":
            return Asked(PORT, "GET", f"{self.space}/search?query=words%20{number % 97}")
        if kind == "publish":
            return Asked(PORT, "POST", f"{self.site}/publish", "{}")
        if kind == "stream":
            return Asked(PORT, "GET", f"{self.space}/events?seconds=5")
        if kind == "edit":
            edit = {"operation": "update_page", "page": self.page, "description": f"Said {number}"}
            return Asked(PORT, "POST", f"{self.space}/content", json.dumps({"changes": [edit]}))
        comment = {"body": {"markdown": f"Comment {number}"}}
        return Asked(PORT, "POST", f"{self.space}/comments", json.dumps(comment))


class Found:
    """What a phase found: seconds by kind, and how often what was answered."""

    def __init__(self) -> None:
        self.took: dict[str, list[float]] = defaultdict(list)
        self.statuses: Counter[str] = Counter()
        self.wrong: Counter[str] = Counter()


async def _ask_once(
    asked: Asked, token: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> tuple[int, bool, bool]:
    """The status, whether it says when to come back, and whether the connection goes on."""
    head = f"{asked.method} {asked.path} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    head += f"Authorization: Bearer {token}\r\n" if asked.port == PORT else ""
    head += f"Content-Type: application/json\r\nContent-Length: {len(asked.body)}\r\n" if asked.body else ""
    writer.write(f"{head}\r\n{asked.body}".encode())
    lines = (await reader.readuntil(b"\r\n\r\n")).lower().split(b"\r\n")
    length = next((int(line[15:]) for line in lines if line.startswith(b"content-length:")), None)
    if length is not None:
        await reader.readexactly(length)
    elif b"transfer-encoding: chunked" in lines:
        while size := int(await reader.readline(), 16):
            await reader.readexactly(size + 2)
        await reader.readexactly(2)
    says_when = any(line.startswith(b"retry-after:") for line in lines)
    return int(lines[0].split()[1]), says_when, b"connection: close" not in lines


async def ask(place: Place, kind: str, until: float, pause: float, found: Found) -> None:
    """One connection, which rests for ``pause`` seconds on average, and opens again where it was closed."""
    port = place.next(kind).port
    await asyncio.sleep(random.random() * pause)
    writer = None
    while time.monotonic() < until:
        try:
            if writer is None:
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
            began = time.monotonic()
            status, says_when, goes_on = await _ask_once(place.next(kind), place.token, reader, writer)
        except (OSError, asyncio.IncompleteReadError) as error:
            found.wrong[f"{kind}: {type(error).__name__}"] += 1
            goes_on = False
        else:
            found.statuses[f"{kind} {status}"] += 1
            if status in (429, 503) and says_when:
                await asyncio.sleep(0.2)
            elif status >= 400:
                found.wrong[f"{kind}: {status}"] += 1
            elif kind != "stream":  # which lasts as long as it was asked to
                found.took[kind].append(time.monotonic() - began)
        if not goes_on and writer is not None:
            writer.close()
            writer = None
        await asyncio.sleep(pause * (0.5 + random.random()))
    if writer is not None:
        writer.close()


async def run(asking: list[tuple[Place, int, float, Found]], seconds: float) -> None:
    until = time.monotonic() + seconds
    await asyncio.gather(
        *(
            ask(place, kind, until, pause, found)
            for place, count, pause, found in asking
            for kind in itertools.islice(itertools.cycle(MIX), count)
        )
    )


def memory(pid: int) -> float:
    """MB that a process and those below it have for themselves, shared ones in equal parts."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    own = next(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))
    return own / 1024 + sum(memory(int(child)) for child in children)


def _figures(took: list[float]) -> tuple[float, float, float]:
    return (
        statistics.median(took) * 1e3,
        statistics.quantiles(took, n=100, method="inclusive")[98] * 1e3,
        max(took) * 1e3,
    )


def tell(found: Found, alone: Found | None, seconds: float) -> None:
    for kind, took in found.took.items():
        if len(took) < 2:
            continue
        figures = _figures(took)
        line = f"  {kind:8}{len(took) / seconds:7.0f} a second, median {figures[0]:7.1f}, p99 {figures[1]:8.1f}, longest {figures[2]:8.0f}"
        if alone is not None and len(alone.took[kind]) > 1:
            before = _figures(alone.took[kind])
            line += f": {figures[0] / before[0]:.1f}, {figures[1] / before[1]:.1f} and {figures[2] / before[2]:.1f} times"
        print(line, flush=True)
    refused = {what: count for what, count in sorted(found.statuses.items()) if what[-3] in "45"}
    print(
        f"  {found.statuses.total()} answers, refused: {refused or 'none'}, wrong: {dict(found.wrong) or 'none'}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="of both phases together")
    parser.add_argument("--workers", default="1")
    parser.add_argument("--connections", type=int, default=500)
    parser.add_argument("--postgresql", default="", metavar="URL", help="an empty database")
    options = parser.parse_args()
    phase, each = options.seconds / 2, options.connections // 2
    with tempfile.TemporaryDirectory() as folder:
        environ = {**os.environ, "OCTAVO_DATA": folder, "OCTAVO_DATABASE_URL": options.postgresql}
        command = [str(Path(sys.executable).with_name("octavo")), "serve", "--workers", options.workers]
        command += ["--port", str(PORT), "--reader-port", str(READER_PORT)]
        server = subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL)
        try:
            wait_for(PORT)
            wait_for(READER_PORT)
            token = (Path(folder) / "admin-token").read_text().strip()
            quiet, noisy = Place(token, "Quiet"), Place(token, "Noisy")
            load = os.getloadavg()[0]
            print(f"{os.cpu_count()} cores, which others had given {load:.1f} processes to do at the start")
            asyncio.run(run([(quiet, 12, 0.1, Found())], 2))
            sizes = [memory(server.pid)]
            alone, beside, noise = Found(), Found(), Found()
            asyncio.run(run([(quiet, each, 1.0, alone)], phase))
            sizes.append(memory(server.pid))
            print(f"quiet organization alone, {each} connections")
            tell(alone, None, phase)
            asyncio.run(run([(quiet, each, 1.0, beside), (noisy, each, 0.0, noise)], phase))
            sizes.append(memory(server.pid))
            print(f"quiet organization beside {each} connections of a noisy one")
            tell(beside, alone, phase)
            print("the noisy one")
            tell(noise, None, phase)
            print("memory at the start, after each phase: " + ", ".join(f"{size:.0f} MB" for size in sizes))
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(timeout=60)
    return 1 if alone.wrong or beside.wrong or noise.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
