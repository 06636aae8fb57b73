"""Benchmark published sites: CPU time per response, the time until a merge is visible, and the size of the first load.

The CPU time is that of the reader's process, compared with servers that return the same bytes. The API and the
readers are separate processes, so a merge costs the reader only the lookups that it causes. `BENCH_NGINX` names an
nginx to compare with, if it isn't in the path; `BENCH_PORT` is the first of six ports.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bench_serving import EMPTY, Client, cpu, wait_for, worker_of
from figures import figure
from joserfc import jwt
from joserfc.jwk import OctKey

ROUNDS = 5
REQUESTS = int(os.environ.get("BENCH_REQUESTS", "1000"))
PAGES = 200
MERGES = 10
FIRST_PORT = int(os.environ.get("BENCH_PORT", "18420"))
API, READER, SECOND, BARE, EDGE, NGINX = range(FIRST_PORT, FIRST_PORT + 6)
TOKEN = "a-token-of-the-bench-that-is-long-enough"  # noqa: S105
EMPTY_EDGE = str(Path(__file__).with_name("empty_edge.py"))
CLAIM = {"type": "boolean", "description": "x"}
PAGE = """# Page {number}

A page about **things** that [page {other}](page-{other}.md) says more about, with `code` and *emphasis*.

{{% hint style="info" %}}
Something to know before going on with page {number}.
{{% endhint %}}

## Overview

| Name | Meaning |
| --- | --- |
| one | the first thing of page {number} |
| two | the second thing |

* a list of things
* and another one

{{% if visitor.claims.beta %}}
A section of page {number} for a few visitors.
{{% endif %}}

## Next

More text, so that the page is about as long as pages are, and a [link](https://example.com/) to somewhere else.
"""
CONDITION = "---\nif: visitor.claims.beta\n---\n\n# For few\n\nWords.\n"


def write_source(folder: Path) -> None:
    folder.mkdir()
    (folder / "README.md").write_text("# Home\n\nWords.\n")
    for number in range(PAGES):
        (folder / f"page-{number}.md").write_text(PAGE.format(number=number, other=(number + 1) % PAGES))
    (folder / "few.md").write_text(CONDITION)


class Installation:
    """API with a public site, a site for authenticated visitors with the same pages, and a space on neither site."""

    def __init__(self, folder: Path, environ: dict[str, str]) -> None:
        self._client = Client(API)
        self._environ = environ
        self.organization = self.call("GET", "/orgs")["items"][0]["id"]
        write_source(folder / "source")
        self.open = self._bring(folder / "source")
        self.closed = self._bring(folder / "source")
        self.other = self.call("POST", f"/orgs/{self.organization}/spaces", {"title": "Other"})["id"]
        self.cookie = self._close()

    def call(self, method: str, path: str, body: Any = None) -> Any:
        sent = json.dumps(body).encode() if body is not None else b""
        return json.loads(self._client.ask(method, f"/v1{path}", sent, TOKEN))

    def _bring(self, source: Path) -> dict[str, str]:
        octavo = str(Path(sys.executable).with_name("octavo"))
        command = [
            octavo,
            "import",
            str(source),
            "--org",
            self.organization,
            "--publish",
            "--json",
            "--quiet",
        ]
        done = subprocess.run(command, env=self._environ, check=True, capture_output=True, text=True)
        found: dict[str, str] = json.loads(done.stdout)
        sites = self.call("GET", f"/orgs/{self.organization}/sites?limit=100")["items"]
        site = next(site for site in sites if site["urls"].get("published") == found["site"])
        path = urlsplit(found["site"]).path
        return {"space": found["space"], "site": site["id"], "url": found["site"], "path": path}

    def _close(self) -> str:
        """Restrict the second site to authenticated visitors. Return the cookie of one."""
        site = f"/orgs/{self.organization}/sites/{self.closed['site']}"
        schema = {"type": "object", "properties": {"beta": CLAIM}, "additionalProperties": False}
        self.call("PUT", f"{site}/adaptive-schema", {"jsonSchema": schema})
        self.call("PATCH", site, {"visibility": "visitor-auth", "adaptiveContent": {"enabled": True}})
        key = self.call("GET", f"{site}/publishing/auth")["privateKey"]
        claims = {"beta": True, "exp": int(time.time()) + 36_000}
        return f"octavo-visitor={jwt.encode({'alg': 'HS256'}, claims, OctKey.import_key(key))}"

    def merge(self, space: str, change: dict[str, Any]) -> None:
        """Merge one change. Return once the response arrives."""
        request = self.call("POST", f"/spaces/{space}/change-requests", {"subject": "Bench"})["id"]
        path = f"/spaces/{space}/change-requests/{request}"
        self.call("POST", f"{path}/content", {"changes": [change]})
        self.call("POST", f"{path}/merge")


@contextmanager
def merging(installation: Installation) -> Iterator[None]:
    """Merge into another space once a second."""
    done = threading.Event()

    def merge() -> None:
        change = {"operation": "insert_page", "document": {"markdown": "# More\n\nWords.\n"}}
        while not done.wait(1):
            installation.merge(installation.other, change)

    thread = threading.Thread(target=merge)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def cost(run: Callable[[], object], pid: int, times: int = REQUESTS) -> float:
    """Return the microseconds of a process's CPU time per call."""
    before = cpu(pid)
    for _ in range(times):
        run()
    return (cpu(pid) - before) / times * 1e6


def compare(
    name: str,
    run: Callable[[], object],
    pid: int,
    beside: Callable[[], object],
    its_pid: int,
    most: float | None = None,
) -> None:
    ratios, ours = [], []
    run(), beside()
    for _ in range(ROUNDS):
        mine, base = cost(run, pid), cost(beside, its_pid)
        ratios.append(mine / base)
        ours.append(mine)
    mine = statistics.median(ours)
    figure(name, mine, "µs of CPU", beside=mine / statistics.median(ratios), most=most)


def start(
    stack: ExitStack, command: list[str], environ: dict[str, str], port: int
) -> subprocess.Popen[bytes]:
    started = subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL)
    stack.callback(started.wait, 30)
    stack.callback(started.terminate)
    wait_for(port)
    return started


def start_nginx(stack: ExitStack, folder: Path) -> int | None:
    """Start an nginx that serves a folder and return its worker; None if nginx isn't available."""
    found = os.environ.get("BENCH_NGINX") or shutil.which("nginx")
    if found is None:
        return None
    settings = (
        f"daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/nginx.log; events {{}} "
        f"http {{ access_log off; keepalive_requests 1000000; keepalive_timeout 3600; default_type text/html; "
        + "".join(
            f"{kind}_temp_path {folder}/{kind}; "
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        + f"server {{ listen 127.0.0.1:{NGINX}; root {folder}/bodies; }} }}"
    )
    (folder / "nginx.conf").write_text(f"user root; {settings}" if os.getuid() == 0 else settings)
    process = start(stack, [found, "-c", str(folder / "nginx.conf")], dict(os.environ), NGINX)
    return worker_of(process.pid)


def first_load(page: str, reader: Client) -> int:
    """Return the bytes of all JavaScript and CSS that a page loads, each file compressed."""
    paths = set(re.findall(r'(?:src|href)="([^"]*~assets/[^"]*\.(?:js|css)[^"]*)"', page))
    inline = "".join(re.findall(r"<(?:style|script)\b[^>]*>(.*?)</(?:style|script)>", page, re.DOTALL))
    return len(gzip.compress(inline.encode())) + sum(
        len(gzip.compress(reader.get(path.replace("&amp;", "&")))) for path in paths
    )


def see_merges(installation: Installation, page: str, readers: list[Client], path: str) -> list[float]:
    """Return the milliseconds until every reader shows the merged change."""
    took = []
    for number in range(MERGES):
        text = f"Words of merge {number}"
        change = {"operation": "update_page", "page": page, "document": {"markdown": f"# Home\n\n{text}.\n"}}
        installation.merge(installation.open["space"], change)
        merged = time.perf_counter()
        for reader in readers:
            while text.encode() not in reader.get(path):
                pass
        took.append((time.perf_counter() - merged) * 1e3)
    return took


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary, ExitStack() as stack:
        folder = Path(temporary)
        environ = {
            **os.environ,
            "OCTAVO_DATA": str(folder / "data"),
            "OCTAVO_DATABASE_URL": "",
            "OCTAVO_ADMIN_TOKEN": TOKEN,
            "OCTAVO_URL": f"http://127.0.0.1:{API}",
            "OCTAVO_SITES_URL": f"http://127.0.0.1:{READER}",
            "OCTAVO_HEADER_SECONDS": "600",
        }
        octavo = str(Path(sys.executable).with_name("octavo"))
        serving = worker_of(start(stack, [octavo, "api", "--port", str(API)], environ, API).pid)
        installation = Installation(folder, environ)
        ports = (READER, SECOND)
        processes = [
            start(stack, [octavo, "reader", "--reader-port", str(port)], environ, port) for port in ports
        ]
        reader = Client(READER)
        pid = worker_of(processes[0].pid)
        plain, closed = installation.open["path"], installation.closed["path"]

        def open_page() -> bytes:
            return reader.get(f"{plain}page-1")

        def closed_page() -> bytes:
            return reader.get(f"{closed}page-1", cookie=installation.cookie)

        wanted = json.dumps({"url": f"{installation.open['url']}page-1"}).encode()

        def resolve() -> bytes:
            return resolving.ask("POST", "/v1/urls/published", wanted, TOKEN)

        reader.get(plain)
        cold = iter(range(2, PAGES))
        each = cost(lambda: reader.get(f"{plain}page-{next(cold)}"), pid, PAGES - 2)
        figure("first view of a page without code blocks", each, "µs of CPU")
        # Opened on first use, because a server closes connections without requests.
        resolving = Client(API)
        bodies = folder / "bodies"
        bodies.mkdir()
        for name, run in (("resolved", resolve), ("page", open_page), ("personal", closed_page)):
            (bodies / name).write_bytes(run())
        bare = start(stack, [sys.executable, "-c", EMPTY, str(bodies), str(BARE)], environ, BARE)
        beside = Client(BARE)

        def compare_pages(when: str) -> None:
            against = f"{when}, compared with an empty ASGI application"
            compare(
                f"repeated view of a page{against}", open_page, pid, lambda: beside.get("/page"), bare.pid
            )
            compare(
                f"repeated view of a page by an authenticated visitor{against}",
                closed_page,
                pid,
                lambda: beside.get("/personal"),
                bare.pid,
            )

        edge = start(stack, [sys.executable, EMPTY_EDGE, str(bodies), str(EDGE)], environ, EDGE)
        own = Client(EDGE)
        compare_pages("")
        compare(
            "repeated view of a page, compared with an empty route of Octavo's HTTP layer",
            open_page,
            pid,
            lambda: own.get("/page"),
            edge.pid,
        )
        compare(
            "POST /urls/published, compared with an empty ASGI application",
            resolve,
            serving,
            lambda: beside.get("/resolved"),
            bare.pid,
        )
        compare(
            "POST /urls/published, compared with an empty route of Octavo's HTTP layer",
            resolve,
            serving,
            lambda: own.get("/resolved"),
            edge.pid,
        )
        worker = start_nginx(stack, folder)
        if worker is not None:
            static = Client(NGINX)
            compare(
                "repeated view of a page, compared with nginx",
                open_page,
                pid,
                lambda: static.get("/page"),
                worker,
            )
        with merging(installation):
            compare_pages(" with concurrent merges")
        figure(
            "JavaScript and CSS of the first page load",
            first_load(open_page().decode(), reader) / 1000,
            "KB compressed",
        )
        pages = installation.call("GET", f"/spaces/{installation.open['space']}/content/pages")["pages"]
        second = Client(SECOND)
        second.get(plain)  # the first page of a process loads modules, which isn't part of the cost of merges
        took = see_merges(installation, pages[0]["id"], [reader, second], plain)
        figure("time until two processes show a merge, median", statistics.median(took), "ms")
        figure("time until two processes show a merge, longest", max(took), "ms")


if __name__ == "__main__":
    main()
