"""Benchmark requests of agents to a site: Markdown, a tool that reads, and all pages in one text.

    python bench/bench_programs.py [PAGES]

Measures CPU time of the reader's process for Markdown by ``Accept`` and for ``read_page`` of the MCP server, compared
with an empty route of our own edge that returns the same bytes; and for ``llms-full.txt`` of 5,000 pages, CPU seconds
in total and until the first byte, and how much the process grows, at first and on a repeated request. ``BENCH_PORT``
is the first of six ports.
"""

from __future__ import annotations

import http.client
import json
import os
import sys
import tempfile
import time
from contextlib import ExitStack
from functools import partial
from itertools import count
from pathlib import Path

import bench_sites
from bench_serving import Client, cpu, worker_of
from bench_sites import API, EDGE, EMPTY_EDGE, READER, TOKEN, compare, start

PAGES = int(sys.argv[1]) if len(sys.argv) > 1 else 5000


class MarkdownClient(Client):
    """Client that accepts Markdown, as agents do."""

    def markdown(self, path: str) -> bytes:
        self._socket.sendall(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/markdown, text/html;q=0.9\r\n\r\n".encode()
        )
        return self.receive()


def memory(pid: int, name: str = "VmHWM") -> float:
    """Return the peak memory of a process so far, in megabytes."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split(f"{name}:")[1].split()[0]) / 1024


def whole(pid: int, path: str) -> str:
    """Read all pages in one text, piece by piece."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")  # reset the peak
    before, had, started = cpu(pid), memory(pid, "VmRSS"), time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", READER, timeout=600)
    connection.request("GET", path)
    answer = connection.getresponse()
    size = len(answer.read(1))
    first = time.perf_counter() - started
    while piece := answer.read(65536):
        size += len(piece)
    return (
        f"{size / 1e6:5.1f} MB, {cpu(pid) - before:6.2f} s of CPU, {time.perf_counter() - started:6.2f} s, "
        f"first byte after {first:5.2f} s, {memory(pid) - had:5.1f} MB more"
    )


def main() -> None:
    bench_sites.PAGES = PAGES
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
        start(stack, [octavo, "api", "--port", str(API)], environ, API)
        site = bench_sites.Installation(folder, environ).open["path"]
        pid = worker_of(start(stack, [octavo, "reader", "--reader-port", str(READER)], environ, READER).pid)
        reader = MarkdownClient(READER)
        message: dict[str, object] = {
            "jsonrpc": "2.0",
            "method": "tools/call",
            "params": {
                "name": "read_page",
                "arguments": {"address": f"http://127.0.0.1:{READER}{site}page-1"},
            },
        }
        ids = count()

        def markdown() -> bytes:
            return reader.markdown(f"{site}page-1")

        def tool() -> bytes:
            # Each message has another id, as those of clients have.
            return reader.ask("POST", f"{site}~mcp", json.dumps({**message, "id": next(ids)}).encode())

        bodies = folder / "bodies"
        bodies.mkdir()
        for name, run in (("markdown", markdown), ("tool", tool)):
            body = run()
            assert b"page 1" in body
            (bodies / name).write_bytes(body)
        edge = start(stack, [sys.executable, EMPTY_EDGE, str(bodies), str(EDGE)], environ, EDGE)
        own = Client(EDGE)
        against = "compared with an empty route of Octavo's HTTP layer"
        for what, run, path, most in (
            ("repeated view of a page as Markdown, by Accept header", markdown, "/markdown", 1.3),
            ("MCP tool read_page", tool, "/tool", 3),
        ):
            compare(f"{what}, {against}", run, pid, partial(own.get, path), edge.pid, most=most)
        for when in ("first", "again", "again"):
            print(f"llms-full.txt of {PAGES} pages, {when}: {whole(pid, f'{site}llms-full.txt')}", flush=True)


if __name__ == "__main__":
    main()
