"""Benchmark how fast several people who type in one page see each other's keys, and the server cost of a key.

.venv/bin/python bench/bench_together.py --people 20
.venv/bin/python bench/bench_together.py --pages 200 --people 3 --pause 2
.venv/bin/python bench/bench_together.py --tabs 500
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
from bench_streams import Streams
from figures import figure

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from octavo.core.editor.schema import VERSION
from serving import Administrator, Served, octavo, serving


def cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def memory(pid: int) -> float:
    """Return the resident memory in MB."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096 / 1e6


def create_token(served: Served, organization: str, email: str) -> str:
    made = octavo(
        *("token", "create", "--data", str(served.data), "--email", email, "--org", organization),
        *("--role", "edit"),
    )
    return str(made.stdout.strip())


def wait_until_idle(pid: int) -> None:
    """Wait until a process does nothing: a new server has jobs."""
    while True:
        before = cpu(pid)
        time.sleep(2)
        if cpu(pid) - before < 0.1:
            return


def received(client: httpx.Client, change: str, page: str, began: threading.Event) -> Iterator[bytes]:
    """Yield the lines with steps of a stream of the page. Ends a second after the last one."""
    path = f"/user/events?live={change}/{page}"
    with client.stream("GET", path, timeout=httpx.Timeout(10, read=3)) as stream:
        began.set()
        try:
            for line in stream.iter_lines():
                if line.startswith("data:") and '"kind":"steps"' in line:
                    yield line.encode()
        except httpx.ReadTimeout:
            return


def start_of(document: Any, number: int) -> int:
    """Return the position at the start of a paragraph."""
    texts = [sum(len(part["text"]) for part in block["content"]) for block in document["content"][:number]]
    return 1 + sum(2 + length for length in texts)


class Typing:
    """People who each type in a paragraph of a page, and one who only reads."""

    def __init__(
        self, served: Served, admin: Administrator, tokens: list[str], blocks: int, pause: float
    ) -> None:
        self.served, self.admin, (self.pid,), self.pause = served, admin, served.workers(), pause
        self.tokens = tokens
        space = admin.create_space("Together")
        changes = f"/spaces/{space}/change-requests"
        self.change = admin.call("POST", changes, {"subject": "A page"})["id"]
        text = "\n\n".join(f"Paragraph {number} with some words." for number in range(blocks))
        page = {"operation": "insert_page", "title": "Page", "document": {"markdown": text}}
        made = admin.call("POST", f"{changes}/{self.change}/content?compat=false", {"changes": [page]})
        self.page = made["changes"][0]["page"]["id"]
        self.base = f"{changes}/{self.change}/pages/{self.page}/live"
        self.sent: dict[tuple[str, int], float] = {}
        self.delays: list[float] = []
        self.bytes = 0

    def listen(self, began: threading.Event) -> None:
        with httpx.Client(base_url=self.admin.client.base_url, headers=self.admin.client.headers) as client:
            for line in received(client, self.change, self.page, began):
                moment = time.perf_counter()
                self.bytes += len(line)
                for batch in msgspec.json.decode(line.removeprefix(b"data:"))["batches"]:
                    sent = self.sent.get((batch["client"], batch["batch"]))
                    if sent is not None:
                        self.delays.append((moment - sent) * 1000)

    def type(self, number: int, until: float) -> None:
        headers = {"authorization": f"Bearer {self.tokens[number]}"}
        with httpx.Client(base_url=self.admin.client.base_url, headers=headers) as client:
            found = client.get(self.base, timeout=60).raise_for_status().json()
            name, version = f"person-{number}-{time.monotonic_ns()}", found["version"]
            place = start_of(found["document"], number)
            time.sleep(number * self.pause / 10)
            for batch in itertools.count(1):
                if time.monotonic() > until:
                    return
                body: dict[str, Any] = {
                    "epoch": found["epoch"],
                    "schema": VERSION,
                    "client": name,
                    "batch": batch,
                    "attempt": 1,
                    "version": version,
                    "steps": [
                        {
                            "stepType": "replace",
                            "from": place,
                            "to": place,
                            "slice": {"content": [{"type": "text", "text": "x"}]},
                        }
                    ],
                }
                self.sent[name, batch] = time.perf_counter()
                answer = client.post(f"{self.base}/steps", json=body).raise_for_status().json()
                version = answer["version"]
                for step in (step for added in answer["batches"] for step in added["steps"]):
                    place += step["from"] < place
                time.sleep(self.pause)

    def run(self, people: int, seconds: float) -> float:
        """Return the CPU time of the server, in seconds."""
        began = threading.Event()
        reader = threading.Thread(target=self.listen, args=(began,))
        reader.start()
        began.wait()
        before, until = cpu(self.pid), time.monotonic() + seconds
        writers = [threading.Thread(target=self.type, args=(number, until)) for number in range(people)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        spent = cpu(self.pid) - before
        reader.join()
        return spent


def read_for(admin: Administrator, path: str, seconds: float) -> float:
    """Return the median milliseconds of a kept read that is repeated."""
    taken, until = [], time.monotonic() + seconds
    while time.monotonic() < until:
        began = time.perf_counter()
        admin.client.get(path).raise_for_status()
        taken.append((time.perf_counter() - began) * 1000)
        time.sleep(0.05)
    return statistics.median(taken)


def create_tokens(served: Served, admin: Administrator, count: int) -> list[str]:
    return [create_token(served, admin.organization, f"p{n}@example.com") for n in range(count)]


def open_tabs(typing: Typing, count: int) -> Streams:
    """Open streams of the page, with as many people as the limit for one person requires."""
    space, change, page = typing.base.split("/")[2], typing.change, typing.page
    path = f"/user/events?space={space}&live={change}/{page}"
    return Streams(typing.served, path, count, typing.tokens)


def type_beside_tabs(served: Served, given: argparse.Namespace) -> None:
    """Measure one person who types on a page that is open in many idle tabs."""
    admin = Administrator(served)
    tokens = create_tokens(served, admin, given.people)
    typing = Typing(served, admin, tokens, 100, given.pause)
    wait_until_idle(typing.pid)
    alone = typing.run(1, given.seconds) / given.seconds
    delays, typing.delays = sorted(typing.delays), []
    before = memory(typing.pid)
    tabs = open_tabs(typing, given.tabs)
    wait_until_idle(typing.pid)
    what = f"{given.tabs:,} tabs"
    figure(f"{what}: memory", memory(typing.pid) - before, "MB")
    idle, began = cpu(typing.pid), time.monotonic()
    time.sleep(20)
    figure(
        f"{what}: idle CPU", (cpu(typing.pid) - idle) / (time.monotonic() - began) * 100, "percent of a core"
    )
    reader = threading.Thread(target=tabs.read, args=(given.seconds + 1,))
    reader.start()
    spent = typing.run(1, given.seconds) / given.seconds
    reader.join()
    late = sorted(typing.delays)
    for name, share in (("p50", 0.5), ("p95", 0.95)):
        own, other = late[int(len(late) * share)], delays[int(len(delays) * share)]
        figure(f"{what}: time until a keystroke is shown to another person, {name}", own, "ms", beside=other)
    figure(f"{what}: CPU while one person types", spent * 100, "percent of a core", beside=alone * 100)


def type_on_pages(served: Served, given: argparse.Namespace) -> None:
    """Measure many pages with a few people each, and others who read meanwhile."""
    admin = Administrator(served)
    tokens = create_tokens(served, admin, given.people)
    all_typing = [Typing(served, admin, tokens, 100, given.pause) for _ in range(given.pages)]
    wait_until_idle(all_typing[0].pid)
    alone = read_for(admin, "/user", 3)
    threads = [
        threading.Thread(target=typing.run, args=(given.people, given.seconds)) for typing in all_typing
    ]
    for thread in threads:
        thread.start()
    time.sleep(3)
    beside = read_for(admin, "/user", given.seconds)
    for thread in threads:
        thread.join()
    delays = sorted(delay for typing in all_typing for delay in typing.delays)
    what = f"{given.pages} pages with {given.people} people each"
    sent = sum(len(typing.sent) for typing in all_typing)
    figure(
        f"{what}: time until a keystroke is shown to another person, p95",
        delays[int(len(delays) * 0.95)],
        "ms",
        most=500,
    )
    figure(f"{what}: keystrokes received, compared with those sent", len(delays), beside=sent, least=1)
    figure(f"{what}: cached reads by others", beside, "ms", beside=alone, most=1.2)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--people", type=int, default=20)
    options.add_argument("--seconds", type=float, default=6)
    options.add_argument("--pause", type=float, default=0.2, help="seconds between two keys of a person")
    options.add_argument("--pages", type=int, default=1)
    options.add_argument("--tabs", type=int, default=0)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder) / "data") as served:
        if given.pages > 1:
            return type_on_pages(served, given)
        if given.tabs:
            return type_beside_tabs(served, given)
        admin = Administrator(served)
        tokens = create_tokens(served, admin, given.people)
        for blocks in (100, 1_500):
            typing = Typing(served, admin, tokens, blocks, given.pause)
            wait_until_idle(typing.pid)
            spent = typing.run(given.people, given.seconds)
            typing.delays.sort()
            what = f"{given.people} people, {blocks:,} blocks"
            figure(
                f"{what}: time until a keystroke is shown to another person, p50",
                statistics.median(typing.delays),
                "ms",
                most=100,
            )
            late = typing.delays[int(len(typing.delays) * 0.95)]
            figure(f"{what}: time until a keystroke is shown to another person, p95", late, "ms", most=200)
            figure(
                f"{what}: server CPU per keystroke, including saves",
                spent / len(typing.sent) * 1000,
                "ms of CPU",
            )
            figure(
                f"{what}: data sent to each participant",
                typing.bytes / len(typing.sent),
                "bytes per keystroke",
                most=250,
            )
            figure(
                f"{what}: keystrokes received, compared with those sent",
                len(typing.delays),
                beside=len(typing.sent),
                least=1,
            )


if __name__ == "__main__":
    main()
