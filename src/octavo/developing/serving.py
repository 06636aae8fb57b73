"""Development mode: an integration that runs on its author's machine, and is told what its installations are told.

The server sends events to a tunnel in place of the published script. What is behind the tunnel is here: a small web
server that hands them to the script as it is in the folder now, in the runtime that published scripts have.
"""

from __future__ import annotations

import os
import secrets
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import msgspec

from ..errors import BadRequest, OctavoError
from ..integrations import fetch_for
from ..runtime import Host, Log, ScriptAnswer, ScriptEvent, ScriptFailed
from .api import Api, RefusedCall, integration_path
from .bundling import bundle, install_packages
from .manifest import find_manifest, read_manifest

_LARGEST = 32 * 1024 * 1024
"""Bytes of an event with its environment and body."""
_LOOK = 0.3
"""Seconds between two looks at the files."""
_DROPPED = frozenset({"content-encoding", "content-length", "transfer-encoding", "connection"})

Say = Callable[[str], None]


class _Environment(msgspec.Struct, rename="camel"):
    api_endpoint: str


class Development:
    """The script of a folder, run for each event with what the files hold then. Safe to share between threads."""

    def __init__(self, script: str, allowed: str, say: Say) -> None:
        """``allowed``: the setting ``allow_private_fetch`` for requests that the script makes."""
        self._current = (1, script)
        self._allowed, self._say = allowed, say
        self._host = Host(2)

    def replace(self, script: str) -> None:
        """Events that come from now on are for this script."""
        self._current = (self._current[0] + 1, script)

    def answer(self, event: ScriptEvent) -> ScriptAnswer:
        """What the script answers; everything about it is printed."""
        (version, script), began = self._current, time.monotonic()
        kind = msgspec.json.decode(event.event, type=dict[str, Any]).get("type", "?")
        api = msgspec.json.decode(event.environment, type=_Environment).api_endpoint
        self._say(f"{time.strftime('%H:%M:%S')}  {kind}")
        try:
            answer = self._host.run(
                str(version), lambda: script, event, fetch_for(api, self._allowed), self._finished
            )
        except ScriptFailed as error:
            return ScriptAnswer(500, [], f"the script failed: {error}".encode())
        taken = (time.monotonic() - began) * 1000
        note = ", which means that it has no handler for this" if answer.status == 406 else ""
        self._say(f"          answered {answer.status} after {taken:.0f} ms{note}")
        return answer

    def _finished(self, logs: list[Log], problem: str | None) -> None:
        for line in logs:
            self._say(f"          {line.level}: {line.message}")
        if problem is not None:
            self._say(f"          failed: {problem}")

    def close(self) -> None:
        self._host.close()


def develop(
    api: Api,
    place: Path,
    say: Say,
    *,
    environment: str | None = None,
    port: int,
    tunnel: str | None = None,
    everybody: bool = False,
    allowed: str = "",
) -> None:
    """Runs until Ctrl-C or SIGTERM; development mode ends with it. ``tunnel``: a public address that leads to
    ``port`` here; without, the server is to reach that port itself.

    Raises BadRequest, BundleFailed, RefusedCall, Unavailable, before it runs.
    """
    manifest = find_manifest(place)
    read = read_manifest(manifest, environment)
    for sentence in read.unknown:
        say(sentence)
    install_packages(manifest.parent, say)
    development = Development(bundle(read.entry, development=True), allowed, say)
    path = integration_path(read.manifest.name) + "/dev"
    # Whoever else reaches the port does not know this path.
    secret = f"/{secrets.token_urlsafe(16)}"
    base = (tunnel or f"http://127.0.0.1:{port}").rstrip("/")

    def announce() -> None:
        api.call("PUT", path, {"tunnelUrl": base + secret, "all": everybody})

    with _served(development, port, secret), _interrupted_by_termination():
        try:
            announce()
        except RefusedCall as error:
            raise _explained(error, read.manifest.name, place, port, tunnel) from None
        say(
            f"{read.manifest.name} runs here now. Change its files, and the next event is for the new script."
        )
        seen = _state(manifest.parent)
        try:
            while True:
                time.sleep(_LOOK)
                now = _state(manifest.parent)
                if now == seen:
                    continue
                if now.get(manifest) != seen.get(manifest):
                    say("The manifest changed: the server knows that once you publish it.")
                seen = now
                _reload(development, manifest, environment, announce, say)
        except KeyboardInterrupt:
            pass
        finally:
            api.call("DELETE", path)
            say("Development mode has ended: the published script is told again.")


def _reload(
    development: Development, manifest: Path, environment: str | None, announce: Callable[[], None], say: Say
) -> None:
    """Takes the files as they are now; what is wrong with them is said, and the script stays as it was."""
    try:
        read = read_manifest(manifest, environment)
        install_packages(manifest.parent, say)
        development.replace(bundle(read.entry, development=True))
        # The server forgets what it kept of answers.
        announce()
    except OctavoError as error:
        say(f"{time.strftime('%H:%M:%S')}  not reloaded: {error.message}")
    else:
        say(f"{time.strftime('%H:%M:%S')}  reloaded")


def _state(folder: Path) -> dict[Path, tuple[int, int]]:
    """Time and size of the files in a folder, packages and hidden ones left out."""
    found = {}
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "node_modules" and not name.startswith(".")]
        for name in names:
            path = Path(place, name)
            try:
                state = path.stat()
            except OSError:  # it went meanwhile
                continue
            if not name.startswith(".") and name != "deno.lock":
                found[path] = (state.st_mtime_ns, state.st_size)
    return found


def _explained(error: RefusedCall, name: str, place: Path, port: int, tunnel: str | None) -> OctavoError:
    said = error.message.rstrip(".")
    if error.code == 404:
        return BadRequest(f"{said}. `octavo integrations publish {place}` makes {name} known to the server.")
    if error.code == 400 and tunnel is None:
        return BadRequest(
            f"{said}. Start the server with OCTAVO_ALLOW_PRIVATE_FETCH=127.0.0.1:{port}, or name with --tunnel a"
            " public address that leads here."
        )
    return error


# --- the web server -------------------------------------------------------------------------------------


@contextmanager
def _served(development: Development, port: int, path: str) -> Iterator[None]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = self.headers.get("content-length", "")
            if not length.isascii() or not length.isdigit() or int(length) > _LARGEST:
                self.close_connection = True
                self._send(ScriptAnswer(413, [], b"expected an event"))
                return
            body = self.rfile.read(int(length))
            if self.path != path:
                self._send(ScriptAnswer(404, [], b"there is nothing at this path"))
                return
            try:
                answer = development.answer(_event(self.headers.get("content-type", ""), body))
            except OctavoError as error:
                answer = ScriptAnswer(error.status, [], error.message.encode())
            self._send(answer)

        def _send(self, answer: ScriptAnswer) -> None:
            self.send_response(answer.status)
            for name, value in answer.headers:
                if name.lower() not in _DROPPED:
                    self.send_header(name, value)
            self.send_header("content-length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, format: str, *arguments: Any) -> None:
            """Events are printed, requests are not."""

    try:
        server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    except OSError as error:
        raise BadRequest(f"port {port}: {error.strerror}. --port names another one.") from None
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        development.close()


def _event(content_type: str, body: bytes) -> ScriptEvent:
    """The event in a form. Raises BadRequest."""
    boundary = content_type.partition("boundary=")[2].partition(";")[0].strip().strip('"').encode()
    parts: dict[str, bytes] = {}
    for part in body.split(b"--" + boundary)[1:-1] if boundary else ():
        head, _, value = part.partition(b"\r\n\r\n")
        name = head.partition(b'name="')[2].partition(b'"')[0].decode("latin-1")
        parts[name] = value.removesuffix(b"\r\n")
    try:
        event, environment = parts["event"].decode(), parts["environment"].decode()
        return ScriptEvent(event, environment, parts.get("fetch-body"))
    except (KeyError, UnicodeDecodeError):
        raise BadRequest("expected a form with event and environment") from None


@contextmanager
def _interrupted_by_termination() -> Iterator[None]:
    """SIGTERM is as Ctrl-C."""

    def interrupt(number: int, frame: FrameType | None) -> NoReturn:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
