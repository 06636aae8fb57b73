"""Fixtures that serve Octavo as a process, with a receiver of messages and an OpenID provider for integrations."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from octavo.errors import Unavailable
from octavo.operations.developing.bundling import bundle, install_packages
from octavo.operations.developing.examples import start_integration
from serving import Administrator, Served, free_ports, octavo_here, serving_new
from tools import absent


@pytest.fixture(scope="session")
def npm(tmp_path_factory: pytest.TempPathFactory) -> None:
    """npm packages can be installed, and scripts bundled."""
    folder = tmp_path_factory.mktemp("npm") / "first"
    start_integration(folder)
    try:
        install_packages(folder, print)
        bundle(folder / "src" / "index.tsx")
    except Unavailable as error:
        absent(f"npm packages: {error.message}")


class Receiver:
    """Receiver of requests. ``status``: its response."""

    def __init__(self) -> None:
        self.got: list[Any] = []
        self.status = 200
        self.arrived = threading.Condition()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                with receiver.arrived:
                    receiver.got.append(json.loads(body))
                    receiver.arrived.notify_all()
                self.send_response(receiver.status)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *arguments: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        self.url = f"http://127.0.0.1:{self.port}/hook"
        threading.Thread(target=self.server.serve_forever, args=(0.1,), daemon=True).start()

    def wait_for(self, count: int) -> list[Any]:
        """Return the messages once there are this many."""
        with self.arrived:
            assert self.arrived.wait_for(lambda: len(self.got) >= count, timeout=60), self.got
            return list(self.got)

    def clear(self) -> None:
        with self.arrived:
            self.got.clear()
            self.status = 200


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    found = Receiver()
    yield found
    found.server.shutdown()
    found.server.server_close()


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    import oidc_provider_mock  # takes a second

    with oidc_provider_mock.run_server_in_thread() as server:
        base = f"http://localhost:{server.server_port}"
        ada = {"email": "ada@example.org", "name": "Ada Lovelace", "groups": ["staff"]}
        httpx.put(f"{base}/users/ada", json=ada).raise_for_status()
        yield base


class Installed(Administrator):
    """Octavo server with its API as the administrator, and its commands."""

    def __init__(self, served: Served, data: Path, port: int) -> None:
        super().__init__(served)
        self.served, self.data, self.port = served, data, port

    def octavo(self, *arguments: str) -> Any:
        return octavo_here(*arguments, OCTAVO_DATA=str(self.data))

    def write(self, space: str, title: str) -> None:
        page = {"operation": "insert_page", "title": title, "document": {"markdown": "Text.\n"}}
        self.call("POST", f"/spaces/{space}/content", {"changes": [page]})


@pytest.fixture(scope="module")
def installed(
    tmp_path_factory: pytest.TempPathFactory, receiver: Receiver, issuer: str, npm: None
) -> Iterator[Installed]:
    data = tmp_path_factory.mktemp("installed") / "data"
    (port,) = free_ports(1)
    allowed = f"127.0.0.1:{receiver.port},{issuer.removeprefix('http://')},127.0.0.1:{port}"
    with serving_new(data, OCTAVO_ALLOW_PRIVATE_FETCH=allowed) as served:
        yield Installed(served, data, port)
