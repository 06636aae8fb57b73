"""A server that answers like the API of a service, from recorded responses."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

from local_server import QuietHandler, local_server

Answer = Callable[[str, dict[str, str], Any], Any]


class Service:
    """``answer``: the function that returns the response to a path, its query, and its body (JSON or a form).
    ``status`` and ``headers``: those of all responses. ``hangs``: whether responses never end."""

    def __init__(self) -> None:
        self.answer: Answer = lambda path, query, body: {}
        self.status, self.headers, self.hangs = 200, {}, threading.Event()
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.authorization: set[str | None] = set()
        self.url = self.host = ""


@contextmanager
def serving() -> Iterator[Service]:
    service = Service()

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            length = int(self.headers.get("content-length") or 0)
            content = self.rfile.read(length)
            if self.headers.get("content-type") == "application/x-www-form-urlencoded":
                body: Any = {name: values[0] for name, values in parse_qs(content.decode()).items()}
            else:
                body = json.loads(content) if length else None
            service.asked.append((parts.path, query))
            service.authorization.add(self.headers.get("authorization"))
            found = service.answer(parts.path, query, body)
            data = found if isinstance(found, bytes) else json.dumps(found).encode()
            self.send_response(service.status)
            for name, value in service.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(data) + service.hangs.is_set()))
            self.end_headers()
            self.wfile.write(data)
            while service.hangs.is_set():
                service.hangs.wait(0.02)

        do_POST = do_GET

    with local_server(Handler) as server:
        service.host, service.url = server.host, server.url
        try:
            yield service
        finally:
            service.hangs.clear()
