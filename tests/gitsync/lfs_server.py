"""A server of Git LFS on this machine, as the specification of its batch API has it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def pointer(data: bytes) -> bytes:
    """Return the Git LFS pointer of these bytes."""
    oid = hashlib.sha256(data).hexdigest()
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {len(data)}\n".encode()


class LfsServer:
    """Git LFS server. ``objects`` by name. ``status``: the status of responses to batches. ``lies``: bytes to
    send instead of the requested ones. ``asked``: method, path, and headers of each request."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.status: int | None = None
        self.lies: bytes | None = None
        self.asked: list[tuple[str, str, dict[str, str]]] = []
        self.url = ""

    def add(self, data: bytes) -> bytes:
        self.objects[hashlib.sha256(data).hexdigest()] = data
        return pointer(data)

    def batch(self, asked: Any) -> Any:
        found = []
        for one in asked["objects"]:
            oid, there = one["oid"], one["oid"] in self.objects
            href = f"{self.url}/objects/{oid}"
            made: dict[str, Any] = dict(one)
            if asked["operation"] == "download" and not there:
                made["error"] = {"code": 404, "message": "no such object"}
            elif asked["operation"] == "download":
                made["actions"] = {"download": {"href": href, "header": {"X-Grant": "g"}}}
            elif not there:
                made["actions"] = {"upload": {"href": href}, "verify": {"href": f"{self.url}/verify"}}
            found.append(made)
        return {"transfer": "basic", "objects": found}


@contextlib.contextmanager
def lfs_server() -> Iterator[LfsServer]:
    server = LfsServer()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *arguments: Any) -> None:
            pass

        def answer(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            server.asked.append((self.command, self.path, headers))
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            status, said = 200, b"{}"
            if self.path.endswith("/info/lfs/objects/batch"):
                status = server.status or 200
                said = json.dumps(server.batch(json.loads(body))).encode()
            elif self.command == "PUT":
                server.objects[hashlib.sha256(body).hexdigest()] = body
            elif self.command == "GET":
                data = server.objects.get(self.path.rpartition("/")[2])
                status, said = (404, b"") if data is None else (200, server.lies or data)
            self.send_response(status)
            self.send_header("content-length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        do_GET = do_POST = do_PUT = answer

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.daemon_threads = True
    server.url = f"http://127.0.0.1:{httpd.server_address[1]}"
    threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield server
    finally:
        httpd.shutdown()
        httpd.server_close()
