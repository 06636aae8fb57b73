"""Events for many receivers, one of which never responds, with workers that are killed: nothing is lost, and
everything arrives in order."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec

from octavo.kit.context import Context
from octavo.kit.work.outbox import emit
from serving import OCTAVO

NEVER_ANSWERED = "/0"
"""The path of the receiver that does not answer."""


class Receiver:
    """Takes posted events, at a path for each receiver. ``got``: by path, the space and revision of each event, in
    order."""

    def __init__(self) -> None:
        self.got: dict[str, list[tuple[str, int]]] = defaultdict(list)
        self._released = threading.Event()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: Any) -> None:
                pass

            def do_POST(self) -> None:
                event = msgspec.json.decode(self.rfile.read(int(self.headers["content-length"])))["data"]
                if self.path == NEVER_ANSWERED:
                    receiver._released.wait(600)
                    return
                receiver.got[self.path].append((event["spaceId"], event["revisionId"]))
                self.send_response(204)
                self.end_headers()

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.address = f"127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def count(self) -> int:
        """Return the number of different events that arrived."""
        return sum(len(set(got)) for got in list(self.got.values()))

    def close(self) -> None:
        self._released.set()
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def receiving() -> Iterator[Receiver]:
    made = Receiver()
    try:
        yield made
    finally:
        made.close()


def emit_revisions(context: Context, organization_id: str, spaces: list[str], count: int) -> None:
    """Emit this number of events for the spaces in turn, each with the next number as its revision."""
    for number in range(count):
        with context.db.write() as tx:
            emit(
                tx,
                "space_content_updated",
                organization_id=organization_id,
                space_id=spaces[number % len(spaces)],
                revision=number,
            )


def deliver(settings: dict[str, str], receiver: Receiver, *, count: int, kills: int) -> None:
    """Run workers until so many different events arrived; each but the last is killed after its share."""
    for worker_number in range(1, kills + 2):
        worker = subprocess.Popen(
            [OCTAVO, "worker"], env={**os.environ, **settings}, stderr=subprocess.DEVNULL
        )
        try:
            _wait_for(receiver, count * worker_number // (kills + 1), worker)
        finally:
            os.kill(worker.pid, signal.SIGKILL)
            worker.wait()


def _wait_for(receiver: Receiver, count: int, worker: subprocess.Popen[bytes], seconds: float = 900) -> None:
    until = time.monotonic() + seconds
    while receiver.count() < count:
        assert worker.poll() is None, "the worker ended by itself"
        assert time.monotonic() < until, f"{receiver.count()} of {count}"
        time.sleep(0.2)


def check_deliveries(
    receiver: Receiver, spaces: list[str], *, receivers: int, events: int, kills: int
) -> None:
    """Require that each receiver except the unresponsive one got all revisions of each space in order, and
    repeats only what was in transit during a kill."""
    assert len(receiver.got) == receivers - 1
    for got in receiver.got.values():
        once = list(dict.fromkeys(got))
        for number, space in enumerate(spaces):
            revisions = [revision for space_id, revision in once if space_id == space]
            assert revisions == list(range(number, events, len(spaces)))
        assert max(Counter(got).values()) <= kills + 1
