"""HTTP servers of tests on this machine."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class QuietHandler(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def local_server(handler: Callable[..., BaseHTTPRequestHandler], port: int = 0) -> Iterator[Any]:
    """Serve HTTP in threads, by default on any free port. The server has a ``host`` with the port, and a ``url``."""
    server: Any = ThreadingHTTPServer(("127.0.0.1", port), handler)
    server.daemon_threads = True
    server.host = f"127.0.0.1:{server.server_port}"
    server.url = f"http://{server.host}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
