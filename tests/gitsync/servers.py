"""Real Git servers on this machine: smart http by ``git http-backend`` behind a password, and ssh with a key."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Protocol

import paramiko
import pytest

USER, SECRET = "x-access-token", "s3cret-token"

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="the program git is not installed")


class Server:
    """``asked``: the requests so far. ``refuse_pushes``: as a protected branch does. ``cut``: the connection ends after
    so many more requests."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.asked: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.cut: int | None = None
        self.redirect: str | None = None


class Provider(Protocol):
    """API of a Git provider next to its repositories, and the credentials that it accepts for them."""

    def respond(self, method: str, path: str, headers: dict[str, str], body: bytes) -> tuple[int, Any] | None:
        """Return the status and the JSON of the API; None for a path of Git."""

    def accepts(self, user: str, password: str, path: str) -> bool:
        """Return whether a credential gives access to a repository."""


@contextlib.contextmanager
def http_server(
    folder: Path, secret: str | None = SECRET, provider: Provider | None = None
) -> Iterator[Server]:
    def is_welcome(authorization: str, path: str) -> bool:
        kind, _, pair = authorization.partition(" ")
        user, _, password = (
            base64.b64decode(pair).decode().partition(":") if kind == "Basic" else ("", "", "")
        )
        if provider is not None:
            return provider.accepts(user, password, path)
        return secret is None or (user, password) == (USER, secret)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *arguments: Any) -> None:
            pass

        def answer(self) -> None:
            server.asked.append(f"{self.command} {self.path}")
            server.headers.append(dict(self.headers))
            if server.cut is not None:
                server.cut -= 1
                if server.cut < 0:
                    self.connection.shutdown(socket.SHUT_RDWR)
                    self.close_connection = True
                    return
            if server.redirect is not None:
                self.send_response(302)
                self.send_header("location", server.redirect + self.path)
                self.send_header("content-length", "0")
                self.end_headers()
                return
            path, _, query = self.path.partition("?")
            body = self.body()
            sent = {name.lower(): value for name, value in self.headers.items()}
            found = provider.respond(self.command, self.path, sent, body) if provider else None
            if found is not None:
                data = json.dumps(found[1]).encode()
                self.send_response(found[0])
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
                return
            if not is_welcome(sent.get("authorization", ""), path):
                self.send_response(401)
                self.send_header("www-authenticate", 'Basic realm="git"')
                self.send_header("content-length", "0")
                self.end_headers()
                return
            environ = {
                **os.environ,
                "GIT_PROJECT_ROOT": str(folder),
                "GIT_HTTP_EXPORT_ALL": "1",
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "REQUEST_METHOD": self.command,
                "CONTENT_TYPE": self.headers.get("content-type", ""),
                "CONTENT_LENGTH": str(len(body)),
                "HTTP_CONTENT_ENCODING": self.headers.get("content-encoding", ""),
                "GIT_PROTOCOL": self.headers.get("git-protocol", ""),
                "REMOTE_USER": USER,
            }
            done = subprocess.run(
                ["git", "http-backend"], input=body, env=environ, capture_output=True, check=False
            )
            head, _, data = done.stdout.partition(b"\r\n\r\n")
            lines = [line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line]
            status = next((value for name, value in lines if name == "Status"), "200 OK")
            self.send_response(int(status[:3]))
            for name, value in lines:
                if name != "Status":
                    self.send_header(name, value)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def body(self) -> bytes:
            if self.headers.get("transfer-encoding") == "chunked":
                found = b""
                while size := int(self.rfile.readline().strip() or b"0", 16):
                    found += self.rfile.read(size)
                    self.rfile.readline()
                self.rfile.readline()
                return found
            return self.rfile.read(int(self.headers.get("content-length") or 0))

        do_GET = do_POST = answer

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.daemon_threads = True
    server = Server(f"http://127.0.0.1:{httpd.server_address[1]}")
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        httpd.shutdown()
        httpd.server_close()


class SshServer:
    """SSH server. ``keys``: the accepted public keys. ``said``: output of programs other than Git, by
    command."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.keys: set[str] = set()
        self.host_key: paramiko.PKey = paramiko.ECDSAKey.generate()
        self.commands: list[str] = []
        self.said: dict[str, bytes] = {}
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        outer = self

        class Interface(paramiko.ServerInterface):
            command = b""
            ready = threading.Event()

            def get_allowed_auths(self, username: str) -> str:
                return "publickey"

            def check_auth_publickey(self, username: str, key: paramiko.PKey) -> int:
                known = f"{key.get_name()} {key.get_base64()}" in outer.keys
                return paramiko.AUTH_SUCCESSFUL if known else paramiko.AUTH_FAILED

            def check_channel_request(self, kind: str, chanid: int) -> int:
                return paramiko.OPEN_SUCCEEDED

            def check_channel_exec_request(self, channel: paramiko.Channel, command: bytes) -> bool:
                outer.commands.append(command.decode())
                threading.Thread(target=outer._git, args=(channel, command.decode()), daemon=True).start()
                return True

        transport = paramiko.Transport(connection)
        transport.add_server_key(self.host_key)
        with contextlib.suppress(paramiko.SSHException, EOFError, OSError):
            transport.start_server(server=Interface())

    def _git(self, channel: paramiko.Channel, command: str) -> None:
        program, _, path = command.partition(" ")
        if command in self.said:
            channel.recv(1)  # until there is no more output
            channel.sendall(self.said[command])
            channel.send_exit_status(0)
            channel.close()
            return
        where = self.folder / path.strip("'").lstrip("/")
        process = subprocess.Popen(
            ["git", program.removeprefix("git-"), str(where)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert process.stdin and process.stdout

        def feed() -> None:
            with contextlib.suppress(OSError, ValueError):
                while data := channel.recv(65536):
                    process.stdin.write(data)
                    process.stdin.flush()
                process.stdin.close()

        threading.Thread(target=feed, daemon=True).start()
        with contextlib.suppress(OSError, EOFError):
            while data := os.read(process.stdout.fileno(), 65536):
                channel.sendall(data)
            channel.send_exit_status(process.wait())
            channel.close()

    def close(self) -> None:
        self.socket.close()
