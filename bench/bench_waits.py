"""Benchmark how long others wait while someone processes the heaviest pages that a server accepts.

    python bench/bench_waits.py [PATTERN...]

One process serves the API and sites. For each PATTERN of ``tests/growing.py`` (by default those of ``HEAVY``;
all with ``all``), a client adds a page of nearly a megabyte, or the largest accepted one, to a change
request, edits and merges it, and reads it over the API and on a site. Meanwhile, another process reads an
object over the API and a page of another site, and makes small writes. Prints for each step: seconds of the
server's CPU time, and the longest of each of these requests in milliseconds. ``bare`` is the longest response
of a process that does nothing else, which shows the effect of the machine itself."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from bench_serving import EMPTY, EMPTY_PORT, PORT, READER_PORT, Client, cpu, wait_for, worker_of
from figures import figure

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from growing import PAGES, Pattern, numbered, repeated

SIZES = (980_000, 490_000, 240_000, 120_000, 60_000, 30_000)
"""Bytes of a page. If a page would have too many parts, the largest accepted one is used; a refusal is
measured, too."""
SLOWEST = 0.25
"""Maximum seconds of a read by others."""
PAUSE = 0.005

FORMS: dict[str, Pattern] = {
    **PAGES,
    "short headings": numbered("# #\n"),
    "equal short headings": repeated("# a\n"),
    "short table rows": repeated("|a\n", before="|a|\n|-|\n"),
    "table that contains tables": repeated(
        "<tr><td><table><tr><td>a</td></tr></table></td></tr>", before="<table>", after="</table>"
    ),
    "links to anchors": numbered("[a](#a-#) "),
    "links to pages": numbered("[a](p#.md) "),
}
HEAVY = [
    "short headings",
    "equal short headings",
    "headings",
    "equal headings",
    "short table rows",
    "table with rows",
    "table that contains tables",
    "table of html with rows",
    "links to anchors",
    "links to pages",
    "footnotes",
    "tabs",
    "hints",
    "expressions",
    "different words",
    "lists",
    "paragraphs",
    "dollar pairs",
    "code tags",
    "wide characters",
]


class Waits(NamedTuple):
    """Longest response times in seconds."""

    read: float = 0.0
    view: float = 0.0
    write: float = 0.0
    bare: float = 0.0


def probe(token: str, read: str, view: str, write: str, told: Connection) -> None:
    """Send requests until the parent process ends this one. On each ``next``, report the longest response
    times since the last one."""
    longest = dict.fromkeys(Waits._fields, 0.0)
    lock = threading.Lock()
    stop = threading.Event()
    begun: dict[str, float] = {}

    def keep(name: str, port: int, ask: Callable[[Client], Any]) -> None:
        client = Client(port)
        while not stop.wait(PAUSE):
            began = begun[name] = time.monotonic()
            try:
                ask(client)
            except RuntimeError:
                client = Client(port)
            with lock:
                longest[name] = max(longest[name], time.monotonic() - began)
                begun.pop(name)

    asked: list[tuple[str, int, Callable[[Client], Any]]] = [
        ("read", PORT, lambda client: client.get(read, token)),
        ("view", READER_PORT, lambda client: client.get(view)),
        (
            "write",
            PORT,
            lambda client: client.ask("PATCH", write, b'{"title":"T%d"}' % (time.time() * 1000), token),
        ),
        ("bare", EMPTY_PORT, lambda client: client.get("/empty/page")),
    ]
    threads = [threading.Thread(target=keep, args=each) for each in asked]
    for thread in threads:
        thread.start()
    while told.recv() == "next":
        with lock:
            now = time.monotonic()
            told.send(Waits(*(max(longest[name], now - begun.get(name, now)) for name in Waits._fields)))
            longest.update(dict.fromkeys(longest, 0.0))
    stop.set()
    for thread in threads:
        thread.join()


class Waiting:
    def __init__(self, folder: Path, server: int) -> None:
        self.token = (folder / "data" / "admin-token").read_text().strip()
        self.server = server
        self.longest = 0.0
        self.client = Client(PORT)
        self.reader = Client(READER_PORT)
        self.org = self.call("GET", "/orgs")["items"][0]["id"]
        spaces = self.call("GET", f"/orgs/{self.org}/spaces")["items"]
        manual = self.call("GET", f"/spaces/{spaces[0]['id']}/content/path/quickstart")
        read = f"/v1/spaces/{spaces[0]['id']}/content/page/{manual['id']}?format=markdown"
        self.told, theirs = multiprocessing.Pipe()
        arguments = (self.token, read, "/octavo/octavo-manual/quickstart", f"/v1/orgs/{self.org}", theirs)
        self.probe = multiprocessing.get_context("spawn").Process(target=probe, args=arguments)
        self.probe.start()
        time.sleep(1)

    def call(self, method: str, path: str, body: Any = None) -> Any:
        given = b"" if body is None else json.dumps(body).encode()
        return json.loads(self.client.ask(method, f"/v1{path}", given, self.token) or b"null")

    def end(self) -> None:
        self.told.send("end")
        self.probe.join()

    def waits(self) -> Waits:
        self.told.send("next")
        found: Waits = self.told.recv()
        return found

    def step(self, name: str, work: Callable[[], Any]) -> Any:
        self.waits()
        before, began = cpu(self.server), time.monotonic()
        refused, found = "", None
        try:
            found = work()
        except RuntimeError as error:
            refused = str(error)[:100]
            self.client, self.reader = Client(PORT), Client(READER_PORT)
        waits, took = self.waits(), time.monotonic() - began
        self.longest = max(self.longest, waits.read, waits.view)
        late = " <-- late" if max(waits.read, waits.view) > SLOWEST else ""
        figures = "".join(f"{wait * 1000:8.0f}" for wait in waits)
        size = f"{len(found):11,}" if isinstance(found, bytes) else " " * 11
        print(
            f"  {name:12}{cpu(self.server) - before:8.2f}{took:8.2f}{size}{figures}{late} {refused}",
            flush=True,
        )
        return found

    def measure(self, name: str, pattern: Pattern) -> None:
        print(name, flush=True)
        space = self.call("POST", f"/orgs/{self.org}/spaces", {"title": name})["id"]
        site = self.call("POST", f"/orgs/{self.org}/sites", {"title": name})["id"]
        self.call("POST", f"/orgs/{self.org}/sites/{site}/site-spaces", {"spaceId": space})
        published = self.call("POST", f"/orgs/{self.org}/sites/{site}/publish")["urls"]["published"]
        base = f"/spaces/{space}"
        change = (
            f"{base}/change-requests/{self.call('POST', f'{base}/change-requests', {'subject': 'a'})['id']}"
        )
        home = {"operation": "insert_page", "title": "Home", "document": {"markdown": "a"}}
        for size in SIZES:
            text = pattern(size).encode()[:size].decode(errors="ignore")
            page = {"operation": "insert_page", "title": "Page", "document": {"markdown": text}}
            given = {"changes": [home, page]}
            if self.step(f"of {size:,}", partial(self.call, "POST", f"{change}/content", given)) is not None:
                break
        else:
            return
        id = self.call("GET", f"{change}/content/pages")["pages"][1]["id"]

        def update(**fields: Any) -> Any:
            edit = {"operation": "update_page", "page": id, **fields}
            return self.call("POST", f"{change}/content", {"changes": [edit]})

        lines = text.splitlines(keepends=True)
        lines.insert(len(lines) // 2, "new\n")
        self.step("edit", lambda: update(document={"markdown": "".join(lines)}))
        self.step("description", lambda: update(description="Another"))
        self.step("differences", lambda: self.client.get(f"/v1{change}/changes", self.token))
        self.step("merge", lambda: self.call("POST", f"{change}/merge"))
        self.step("nodes", lambda: self.client.get(f"/v1{base}/content/page/{id}", self.token))
        self.step(
            "markdown", lambda: self.client.get(f"/v1{base}/content/page/{id}?format=markdown", self.token)
        )
        self.step("references", lambda: self.client.get(f"/v1{base}/content/page/{id}/links", self.token))
        self.step("view", lambda: self.reader.get(urlsplit(published).path.rstrip("/") + "/page"))
        self.step("search", lambda: self.client.get(f"/v1{base}/search?query=new", self.token))
        time.sleep(1)  # jobs that it caused
        figure(
            f"longest read or view by others while a large page is processed: {name}",
            self.longest * 1000,
            "ms",
            most=SLOWEST * 1000,
        )
        self.longest = 0.0


def main(arguments: list[str]) -> None:
    names = [*FORMS] if arguments == ["all"] else arguments or HEAVY
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "page").write_bytes(b"<p>a</p>")
        environ = {
            **os.environ,
            "OCTAVO_DATA": f"{temporary}/data",
            "OCTAVO_DATABASE_URL": os.environ.get("OCTAVO_DATABASE_URL", ""),
            "OCTAVO_HEADER_SECONDS": "600",
        }
        octavo = str(Path(sys.executable).with_name("octavo"))
        command = [octavo, "serve", "--port", str(PORT), "--reader-port", str(READER_PORT)]
        server = subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL)
        empty = subprocess.Popen([sys.executable, "-c", EMPTY, temporary, str(EMPTY_PORT)])
        try:
            for port in (EMPTY_PORT, PORT, READER_PORT):
                wait_for(port)
            waiting = Waiting(folder, worker_of(server.pid))
            print(f"{'':14}{'CPU':>8}{'clock':>8}{'bytes':>11}{'read':>8}{'view':>8}{'write':>8}{'bare':>8}")
            try:
                for name in names:
                    waiting.measure(name, FORMS[name])
            finally:
                waiting.end()
        finally:
            empty.kill()
            server.send_signal(signal.SIGTERM)
            server.wait(timeout=60)


if __name__ == "__main__":
    main(sys.argv[1:])
