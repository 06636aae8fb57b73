"""Development mode, which runs an integration on its author's machine with events from its real installations.

The server sends events to a tunnel instead of the published script. Behind the tunnel, a small web server passes
the events to the current script in the folder, which runs in the same runtime as published scripts.
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

from octavo.errors import BadRequest, OctavoError
from octavo.extensions.integrations.invoking import fetch_for
from octavo.kit.runtime.host import Host
from octavo.kit.runtime.process import Log, ScriptAnswer, ScriptEvent, ScriptFailed

from .api import ApiClient, RefusedCall, integration_path
from .bundling import bundle, install_packages
from .manifest import find_manifest, read_manifest

_MAX_EVENT_BYTES = 32 * 1024 * 1024
"""Maximum size in bytes of an event, including its environment and body."""
_POLL_SECONDS = 0.3
"""Number of seconds between checks for changed files."""
_DROPPED = frozenset({"content-encoding", "content-length", "transfer-encoding", "connection"})

Say = Callable[[str], None]


class _Environment(msgspec.Struct, rename="camel"):
    api_endpoint: str


class Development:
    """Script in a folder. Each event runs the script from the current files. This class is thread-safe."""

    def __init__(self, script: str, allowed: str, say: Say) -> None:
        """Set up development mode. ``allowed``: the value of the setting ``allow_private_fetch`` for requests that
        the script makes."""
        self._current = (1, script)
        self._allowed_values, self._say = allowed, say
        self._host = Host(2)

    def replace(self, script: str) -> None:
        """Use this script for all subsequent events."""
        self._current = (self._current[0] + 1, script)

    def answer(self, event: ScriptEvent) -> ScriptAnswer:
        """Run the script for an event, print its progress, and return its response."""
        (version, script), began = self._current, time.monotonic()
        kind = msgspec.json.decode(event.event, type=dict[str, Any]).get("type", "?")
        api = msgspec.json.decode(event.environment, type=_Environment).api_endpoint
        self._say(f"{time.strftime('%H:%M:%S')}  {kind}")
        try:
            answer = self._host.run(
                str(version), lambda: script, event, fetch_for(api, self._allowed_values), self._finished
            )
        except ScriptFailed as error:
            return ScriptAnswer(500, [], f"The script failed: {error}".encode())
        taken = (time.monotonic() - began) * 1000
        note = " (no handler for this event)" if answer.status == 406 else ""
        self._say(f"          returned {answer.status} after {taken:.0f} ms{note}")
        return answer

    def _finished(self, logs: list[Log], problem: str | None) -> None:
        for line in logs:
            self._say(f"          {line.level}: {line.message}")
        if problem is not None:
            self._say(f"          failed: {problem}")

    def close(self) -> None:
        self._host.close()


def develop(
    api: ApiClient,
    place: Path,
    say: Say,
    *,
    environment: str | None = None,
    port: int,
    tunnel: str | None = None,
    all_installations: bool = False,
    allowed: str = "",
) -> None:
    """Run development mode until Ctrl-C or SIGTERM. ``tunnel``: a public URL that forwards to ``port`` on this
    machine. Without a tunnel, the server must be able to reach that port directly.

    Raises BadRequest, BundleFailed, RefusedCall, or Unavailable if development mode can't start.
    """
    manifest = find_manifest(place)
    read = read_manifest(manifest, environment)
    for sentence in read.unknown:
        say(sentence)
    install_packages(manifest.parent, say)
    development = Development(bundle(read.entry, development=True), allowed, say)
    path = integration_path(read.manifest.name) + "/dev"
    # Others who can reach the port do not know this path.
    secret = f"/{secrets.token_urlsafe(16)}"
    base = (tunnel or f"http://127.0.0.1:{port}").rstrip("/")

    def announce() -> None:
        api.call("PUT", path, {"tunnelUrl": base + secret, "all": all_installations})

    with _serve(development, port, secret), _interrupted_by_termination():
        try:
            announce()
        except RefusedCall as error:
            raise _explain_refusal(error, read.manifest.name, place, port, tunnel) from None
        say(
            f"{read.manifest.name} is running. Edit its files; the next event uses the new script."
            " Press Ctrl-C to stop."
        )
        seen = _file_state(manifest.parent)
        try:
            while True:
                time.sleep(_POLL_SECONDS)
                now = _file_state(manifest.parent)
                if now == seen:
                    continue
                if now.get(manifest) != seen.get(manifest):
                    say("The manifest changed. Publish the integration to apply the change.")
                seen = now
                _reload(development, manifest, environment, announce, say)
        except KeyboardInterrupt:
            pass
        finally:
            api.call("DELETE", path)
            say("Development mode ended. Events go to the published script again.")


def _reload(
    development: Development, manifest: Path, environment: str | None, announce: Callable[[], None], say: Say
) -> None:
    """Reload the files. If there are problems, print them and keep using the previous script."""
    try:
        read = read_manifest(manifest, environment)
        install_packages(manifest.parent, say)
        development.replace(bundle(read.entry, development=True))
        # Makes the server discard cached responses.
        announce()
    except OctavoError as error:
        say(f"{time.strftime('%H:%M:%S')}  not reloaded: {error.message}")
    else:
        say(f"{time.strftime('%H:%M:%S')}  reloaded")


def _file_state(folder: Path) -> dict[Path, tuple[int, int]]:
    """Return the modification times and sizes of the files in a folder, excluding packages and hidden files."""
    found = {}
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "node_modules" and not name.startswith(".")]
        for name in names:
            path = Path(place, name)
            try:
                state = path.stat()
            except OSError:  # The file was deleted in the meantime.
                continue
            if not name.startswith(".") and name != "deno.lock":
                found[path] = (state.st_mtime_ns, state.st_size)
    return found


def _explain_refusal(
    error: RefusedCall, name: str, place: Path, port: int, tunnel: str | None
) -> OctavoError:
    said = error.message.rstrip(".")
    if error.code == 404:
        return BadRequest(f"{said}. Publish {name} first: `octavo integrations publish {place}`.")
    if error.code == 400 and tunnel is None:
        return BadRequest(
            f"{said}. Start the server with OCTAVO_ALLOW_PRIVATE_FETCH=127.0.0.1:{port}, or pass a public URL"
            " that forwards here with --tunnel."
        )
    return error


# --- the web server -------------------------------------------------------------------------------------


@contextmanager
def _serve(development: Development, port: int, path: str) -> Iterator[None]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = self.headers.get("content-length", "")
            if not length.isascii() or not length.isdigit() or int(length) > _MAX_EVENT_BYTES:
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

        def log_message(self, format: str, *arguments: object) -> None:
            """Do nothing. Only events are printed, not the requests that deliver them."""

    try:
        server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    except OSError as error:
        raise BadRequest(f"port {port}: {error.strerror}. Choose another port with --port.") from None
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
    """Parse the event in form data. Raises BadRequest if the event is invalid."""
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
        raise BadRequest("body: must be form-encoded, with `event` and `environment`") from None


@contextmanager
def _interrupted_by_termination() -> Iterator[None]:
    """Treat SIGTERM like Ctrl-C."""

    def interrupt(number: int, frame: FrameType | None) -> NoReturn:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
