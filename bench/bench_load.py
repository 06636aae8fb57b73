"""Benchmark how five hundred connections of a noisy organization affect a quiet one on the same server.

    python bench/bench_load.py [--seconds 60] [--workers 1] [--connections 500] [--postgresql URL]

Both organizations have the same space and site. The quiet one has two connections for each kind of request, in a
separate process, each with about four requests per second: it reads, views, searches, edits, comments, publishes, and
follows events. First it is alone; then the connections of the noisy organization, in another process, do the same as
fast as they get responses. Prints for each kind of request of the quiet one: responses per second, and the median,
99th percentile, and maximum in milliseconds, next to those when it was alone. ``bare`` is a server that does nothing,
requested by the same process at the same rate, which shows the effect of the machine itself. Also prints how many
requests of the noisy organization were answered while a quiet one waited, which doesn't depend on other load, then
refusals by organization, and memory. Exits with 1 if any response was a server error, a 503 or 429 without Retry-
After, or missing, or if any request of the quiet organization was refused.

The clients use a good part of the same machine, so only figures of one run are comparable.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import multiprocessing
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from bench_serving import EMPTY, EMPTY_PORT, PORT, READER_PORT, Client, memory, wait_for
from figures import figure

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
"""Requests that the connections of the noisy organization send, in turn."""
QUIET = ("read", "view", "search", "edit", "comment", "publish", "stream", "bare") * 2
QUIET_PAUSE = 0.25
TEXT = "## Part\n\nWords of this page, with `code` and **more**.\n\n" * 40
_numbers = itertools.count()


class Asked(NamedTuple):
    port: int
    method: str
    path: str
    body: str = ""


class Place(NamedTuple):
    """Organization with a space of one page, published as a site."""

    token: str
    space: str
    page: str
    site: str
    view: str

    def next(self, kind: str) -> Asked:
        number = next(_numbers)
        if kind == "bare":
            return Asked(EMPTY_PORT, "GET", "/empty/page")
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


def make_place(token: str, title: str) -> Place:
    client = Client(PORT)

    def call(path: str, body: object) -> dict[str, str]:
        found: dict[str, str] = json.loads(
            client.ask("POST", f"/v1{path}", json.dumps(body).encode(), token) or b"{}"
        )
        return found

    org = call("/orgs", {"title": title})["id"]
    space = call(f"/orgs/{org}/spaces", {"title": title})["id"]
    made = {"operation": "insert_page", "title": "Page", "slug": "page", "document": {"markdown": TEXT}}
    call(f"/spaces/{space}/content", {"changes": [made]})
    page = json.loads(client.get(f"/v1/spaces/{space}/content/pages", token))["pages"][0]["id"]
    site = f"/orgs/{org}/sites/{call(f'/orgs/{org}/sites', {'title': title})['id']}"
    call(f"{site}/site-spaces", {"spaceId": space})
    published = json.loads(client.ask("POST", f"/v1{site}/publish", b"{}", token))["urls"]["published"]
    view = f"/{published.split('/', 3)[3].rstrip('/')}/page"
    return Place(token, f"/v1/spaces/{space}", page, f"/v1{site}", view)


class Found:
    """Results of a phase: seconds by kind, and how often each response occurred. ``ended``: when the phase ended, by
    the monotonic clock, which all processes share."""

    def __init__(self) -> None:
        self.took: defaultdict[str, list[float]] = defaultdict(list)
        self.ended: defaultdict[str, list[float]] = defaultdict(list)
        self.statuses: Counter[str] = Counter()
        self.wrong: Counter[str] = Counter()


async def _ask_once(
    asked: Asked, token: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> tuple[int, bool, bool]:
    """Return the status, whether the response says when to retry, and whether the connection stays open."""
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
    """Send requests over one connection, pausing for ``pause`` seconds on average, and reopen it if it was closed."""
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
            elif kind != "stream":  # whose duration was requested
                ended = time.monotonic()
                found.took[kind].append(ended - began)
                found.ended[kind].append(ended)
        if not goes_on and writer is not None:
            writer.close()
            writer = None
        await asyncio.sleep(pause * (0.5 + random.random()))
    if writer is not None:
        writer.close()


async def run(place: Place, kinds: list[str], pause: float, seconds: float) -> Found:
    found, until = Found(), time.monotonic() + seconds
    await asyncio.gather(*(ask(place, kind, until, pause, found) for kind in kinds))
    return found


def _run_apart(told: Connection, *arguments: Any) -> None:
    told.send(asyncio.run(run(*arguments)))


def begin(place: Place, kinds: Iterable[str], pause: float, seconds: float) -> Callable[[], Found]:
    """Start a separate process that sends requests for this long. Return a function that waits for its end and
    returns the results."""
    spawn = multiprocessing.get_context("spawn")
    ours, theirs = spawn.Pipe()
    process = spawn.Process(target=_run_apart, args=(theirs, place, list(kinds), pause, seconds))
    process.start()

    def end() -> Found:
        found: Found = ours.recv()
        process.join()
        return found

    return end


def _figures(took: list[float]) -> tuple[float, float, float]:
    return (
        statistics.median(took) * 1e3,
        statistics.quantiles(took, n=100, method="inclusive")[98] * 1e3,
        max(took) * 1e3,
    )


def _answers_meanwhile(found: Found, noise: Found, kind: str) -> float:
    """Return the median number of requests of the noisy organization answered while one of this kind waited."""
    all_ended = sorted(itertools.chain(*noise.ended.values()))
    waits = zip(found.ended[kind], found.took[kind], strict=True)
    counts = [bisect(all_ended, ended) - bisect(all_ended, ended - took) for ended, took in waits]
    return statistics.median(counts)


def tell(found: Found, seconds: float, alone: Found | None = None, noise: Found | None = None) -> None:
    for kind, took in found.took.items():
        if len(took) < 2:
            continue
        figures = _figures(took)
        line = (
            f"  {kind:8}{len(took) / seconds:7.0f} per second, median {figures[0]:7.1f}, p99 "
            f"{figures[1]:8.1f}, longest {figures[2]:8.0f}"
        )
        if alone is not None and len(alone.took[kind]) > 1:
            before = _figures(alone.took[kind])
            line += (
                f": {figures[0] / before[0]:.1f}, {figures[1] / before[1]:.1f} and "
                f"{figures[2] / before[2]:.1f} times"
            )
            if kind != "bare":
                figure(
                    f"{kind} in a quiet organization while another one is busy, median",
                    figures[0],
                    "ms",
                    beside=before[0],
                    most=2,
                )
                figure(
                    f"{kind} in a quiet organization while another one is busy, p99",
                    figures[1],
                    "ms",
                    beside=before[1],
                    most=5,
                )
        if noise is not None:
            line += (
                f", {_answers_meanwhile(found, noise, kind):.0f} of the noisy one answered in the meantime"
            )
        print(line, flush=True)
    refused = {what: count for what, count in sorted(found.statuses.items()) if what[-3] in "45"}
    print(
        f"  {found.statuses.total()} responses, refused: {refused or 'none'}, wrong: {dict(found.wrong) or 'none'}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="of both phases together")
    parser.add_argument("--workers", default="1")
    parser.add_argument("--connections", type=int, default=500)
    parser.add_argument("--postgresql", default="", metavar="URL", help="an empty database")
    options = parser.parse_args()
    phase = options.seconds / 2
    noise = [kind for kind, _ in zip(itertools.cycle(MIX), range(options.connections), strict=False)]
    with tempfile.TemporaryDirectory() as folder:
        environ = {
            **os.environ,
            "OCTAVO_DATA": f"{folder}/data",
            "OCTAVO_DATABASE_URL": options.postgresql,
        }
        octavo = str(Path(sys.executable).with_name("octavo"))
        command = [
            octavo,
            "serve",
            "--workers",
            options.workers,
            "--port",
            str(PORT),
            "--reader-port",
            str(READER_PORT),
        ]
        server = subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL)
        Path(folder, "page").write_text(TEXT)
        empty = subprocess.Popen([sys.executable, "-c", EMPTY, folder, str(EMPTY_PORT)])
        try:
            for port in (PORT, READER_PORT, EMPTY_PORT):
                wait_for(port)
            token = Path(folder, "data", "admin-token").read_text().strip()
            another = [octavo, "token", "create", "--email", "admin@octavo.local"]
            other = subprocess.run(another, env=environ, check=True, capture_output=True, text=True).stdout
            quiet, noisy = make_place(token, "Quiet"), make_place(other.split()[0], "Noisy")
            load = os.getloadavg()[0]
            print(f"{os.cpu_count()} cores, load {load:.1f} at the start")
            begin(quiet, QUIET, 0.1, 3)()
            sizes = [memory(server.pid)]
            alone = begin(quiet, QUIET, QUIET_PAUSE, phase)()
            sizes.append(memory(server.pid))
            print(f"quiet organization alone, {len(QUIET)} connections")
            tell(alone, phase)
            end_noise = begin(noisy, noise, 0.0, phase + 4)
            time.sleep(2)  # until all of them are connected
            beside = begin(quiet, QUIET, QUIET_PAUSE, phase)()
            sizes.append(memory(server.pid))
            found = end_noise()
            print(f"quiet organization next to {options.connections} connections of a noisy one")
            tell(beside, phase, alone, found)
            print("the noisy one")
            tell(found, phase + 4)
            figure("memory at the end, compared with the start", sizes[-1], "MB", beside=sizes[0])
            wrong = sum(sum(each.wrong.values()) for each in (alone, beside, found))
            figure("responses with a server error", wrong, most=0)
        finally:
            empty.kill()
            server.send_signal(signal.SIGTERM)
            server.wait(timeout=60)
    refused = any(what[-3] in "45" for what in (*alone.statuses, *beside.statuses))
    return 1 if alone.wrong or beside.wrong or found.wrong or refused else 0


if __name__ == "__main__":
    sys.exit(main())
