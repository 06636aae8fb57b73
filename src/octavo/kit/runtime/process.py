"""Process that runs one script, and the lines of JSON that the process exchanges with Octavo.

The process has no permissions: it can't access files, the environment, the network, or other processes. A script's
requests to other hosts are passed to Octavo as messages, and Octavo makes or rejects them. The output of the
process is untrusted: lines are limited and validated, and invalid output ends the process.
"""

from __future__ import annotations

import base64
import binascii
import logging
import os
import select
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from octavo.errors import Unavailable, format_size
from octavo.kit.http.json_bounds import has_more_values
from octavo.kit.processes.children import start_child

log = logging.getLogger(__name__)

RUNNER = Path(__file__).with_name("runner.mjs")
HEAP = 64
"""Maximum size of a script's JavaScript objects in megabytes."""
DATA = 768 * 1024 * 1024
"""Maximum memory in bytes of a process, including buffers. Deno alone uses more than 512 MB of this."""
LINE = 24 * 1024 * 1024
"""Maximum size of a message in bytes."""
VALUES = 20_000
"""Maximum number of values in a message. Each header counts as two values."""
LOG_LINES = 200
LOG_BYTES = 64 * 1024
"""Maximum size in bytes of the log of one event. Lines beyond that are only counted."""
FETCHES = 100
"""Maximum number of requests to other hosts during one event."""
CPU = 120
"""CPU time limit for one event, in seconds. The deadline usually ends the process long before that. This limit ends
processes that are still running although the service itself has ended."""
START = 30.0
"""Number of seconds within which a process must start. Starting takes a fraction of a second, unless all
processors are busy."""
NO_FOLDER = f"{os.devnull}/none"
"""Path for Deno's cache folder. The folder can't be created, so Deno caches only in memory, within the limits above. A
real folder would slow down each start and store every module that a script creates, which could fill the disk."""
_READ = 256 * 1024

Level = Literal["debug", "info", "warn", "error"]


class Log(Struct, frozen=True):
    """Log line. ``at``: the time in milliseconds since the event started, measured with the monotonic clock."""

    level: Level
    message: str
    at: int


class ScriptAnswer(Struct, frozen=True):
    """A script's response to an event."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes


class HostRequest(Struct, frozen=True):
    """Request from a script to another host. ``redirect``: the redirect mode, as in the Fetch standard: ``follow``,
    ``error``, or ``manual``."""

    url: str
    method: str
    headers: list[tuple[str, str]]
    body: bytes | None
    redirect: str


class HostResponse(Struct, frozen=True):
    url: str
    status: int
    headers: list[tuple[str, str]]
    body: bytes


class FetchRefused(Exception):
    """Raised if a script's request to another host is rejected. In the script, the fetch fails."""


Fetch = Callable[[HostRequest], HostResponse]


class ScriptFailed(Exception):
    """Raised if a script ended, hung, or sent an invalid response. The message tells the author of the script the
    reason."""


class _Log(Struct, tag="log"):
    level: Level
    message: str


class _Fetch(Struct, tag="fetch"):
    number: int
    url: Annotated[str, Meta(max_length=16_384)]
    method: Annotated[str, Meta(max_length=20)]
    headers: list[tuple[str, str]]
    redirect: str
    body: str | None


class _Response(Struct, tag="response"):
    id: int
    status: Annotated[int, Meta(ge=200, le=599)] = 500
    headers: list[tuple[str, str]] = []
    body: str = ""
    error: str | None = None


class _Done(Struct, tag="done"):
    id: int


class _Ready(Struct, tag="ready"):
    """First message of a process. It means that the process is running but hasn't received a script yet."""


_Message = _Log | _Fetch | _Response | _Done | _Ready
_decoder = msgspec.json.Decoder(_Message)


def find_deno() -> str:
    """Return the path of Deno. Raises Unavailable if it isn't installed."""
    try:
        from deno import find_deno_bin

        return str(find_deno_bin())
    except (ImportError, FileNotFoundError):
        raise Unavailable(
            "Deno isn't installed on this server. Install it to run integration scripts."
        ) from None


def command() -> list[str]:
    """Return the command that starts a process. Raises Unavailable if Deno isn't installed."""
    return [
        find_deno(),
        "run",
        "--quiet",
        "--no-prompt",
        "--no-remote",
        "--no-npm",
        "--no-config",
        "--no-lock",
        "--cached-only",
        "--no-code-cache",
        "--deny-read",
        "--deny-write",
        "--deny-net",
        "--deny-env",
        "--deny-run",
        "--deny-ffi",
        "--deny-sys",
        "--deny-import",
        f"--v8-flags=--max-old-space-size={HEAP}",
        str(RUNNER),
    ]


class ScriptEvent(Struct, frozen=True):
    """Event for an integration's script. ``event`` and ``environment``: JSON. ``body``: the body of the
    request in a `fetch` event."""

    event: str
    environment: str
    body: bytes | None = None


class ScriptProcess:
    """Process that runs one script and handles one event at a time. It has no script until ``load`` is called."""

    def __init__(self) -> None:
        """Start the process, and wait until it is running. Raises Unavailable if it doesn't start in time. This isn't
        ScriptFailed, because a slow start on a busy machine isn't the script's fault."""
        try:
            self._process = start_child(
                command(),
                environment={"DENO_DIR": NO_FOLDER, "NO_COLOR": "1"},
                folder=Path("/"),
                quiet=True,
                buffered=False,
                own_session=True,
            )
        except OSError as error:
            log.error("a script process couldn't be started", extra={"error": str(error)})
            raise Unavailable(
                "The process for the integration script couldn't be started. Try again in a moment."
            ) from None
        _limit(self._process.pid)
        assert self._process.stdin is not None and self._process.stdout is not None
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)
        self._buffer = bytearray()
        self._sending = threading.Lock()
        self._events = 0
        self._script = ""
        try:
            self._receive(time.monotonic() + START)
        except ScriptFailed:
            self.kill()
            raise Unavailable(
                "The process for the integration script didn't start in time. Try again in a moment."
            ) from None

    def load(self, script: str) -> None:
        """Load the only script that this process will ever run. The script is sent to the process with the first
        event."""
        assert not self._script, "a process never has two scripts"
        self._script = script

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def begin(self, event: ScriptEvent, deadline: float) -> ScriptRun:
        """Send an event to the script. ``deadline``: the deadline according to the monotonic clock. Raises
        ScriptFailed if the script has ended."""
        if self._events == 0:
            self._send({"script": self._script}, deadline)
        self._events += 1
        _allow_cpu(self._process.pid)
        body = None if event.body is None else base64.b64encode(event.body).decode()
        message = {"id": self._events, "event": event.event, "environment": event.environment, "body": body}
        self._send(message, deadline)
        return ScriptRun(self, self._events)

    def _send(self, message: dict[str, object], deadline: float) -> None:
        data = memoryview(msgspec.json.encode(message) + b"\n")
        with self._sending:
            while data:
                if not select.select([], [self._in], [], max(0, deadline - time.monotonic()))[1]:
                    raise ScriptFailed("the script didn't read its input")
                try:
                    data = data[os.write(self._in, data[:65536]) :]
                except BlockingIOError:
                    continue
                except OSError:
                    raise ScriptFailed("the script ended") from None

    def has_said(self, seconds: float) -> bool:
        """Wait at most this many seconds, and return whether the script has sent a message or ended."""
        return b"\n" in self._buffer or bool(select.select([self._out], [], [], seconds)[0])

    def _receive(self, deadline: float) -> _Message:
        while (end := self._buffer.find(b"\n")) < 0:
            if len(self._buffer) > LINE:
                raise ScriptFailed(f"the script wrote more than {format_size(LINE)} at once")
            left = deadline - time.monotonic()
            try:
                if left <= 0 or not select.select([self._out], [], [], left)[0]:
                    raise ScriptFailed("the script didn't respond in time")
                data = os.read(self._out, _READ)
            except BlockingIOError:
                continue
            except OSError:  # It was ended from another thread.
                data = b""
            if not data:
                raise ScriptFailed("the script ended without a response or used too much memory")
            self._buffer += data
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        if has_more_values(line, VALUES):
            raise ScriptFailed(f"the script wrote a message with more than {VALUES} values")
        try:
            found: _Message = _decoder.decode(line)
            return found
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            raise ScriptFailed("the script wrote to standard output, which is reserved") from None


def _limit(pid: int) -> None:
    import resource

    prlimit = getattr(resource, "prlimit", None)
    if prlimit is not None:  # Only Linux supports this.
        with suppress(ProcessLookupError):  # The process has already ended; waiting for it will report that.
            prlimit(pid, resource.RLIMIT_DATA, (DATA, DATA))
            prlimit(pid, resource.RLIMIT_CORE, (0, 0))


def _allow_cpu(pid: int) -> None:
    """Set a process's CPU limit to the CPU time that it has already used plus the time for its next event."""
    import resource

    prlimit = getattr(resource, "prlimit", None)
    if prlimit is not None:
        with suppress(OSError, ValueError):  # The process has already ended.
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            used = (int(fields[11]) + int(fields[12])) // os.sysconf("SC_CLK_TCK")
            hard = prlimit(pid, resource.RLIMIT_CPU)[1]
            prlimit(pid, resource.RLIMIT_CPU, (used + CPU, hard))


class ScriptRun:
    """Event that a script is currently handling."""

    def __init__(self, process: ScriptProcess, id: int) -> None:
        self._process = process
        self._id = id
        self._began = time.monotonic()
        self._fetches = 0
        self._bytes = 0
        self._left_out = 0
        self.logs: list[Log] = []

    def wait(self, deadline: float, fetch: Fetch) -> ScriptAnswer:
        """Wait for the script's response. Raises ScriptFailed if there is no response, or if the script throws an
        error."""
        while True:
            message = self._next(deadline, fetch)
            if isinstance(message, _Response) and message.id == self._id:
                if message.error is not None:
                    raise ScriptError(message.error)
                return ScriptAnswer(message.status, message.headers, _bytes(message.body))

    def finish(self, deadline: float, fetch: Fetch, patience: float | None = None) -> bool:
        """Wait for the end of the script's background work. Return False if the script isn't done and hasn't sent
        anything for ``patience`` seconds. Raises ScriptFailed if the script fails."""
        while True:
            if patience is not None and not self._process.has_said(patience):
                return False
            message = self._next(deadline, fetch)
            if isinstance(message, _Done) and message.id == self._id:
                if self._left_out:
                    self._note("warn", f"{self._left_out} more lines were omitted")
                return True

    def _next(self, deadline: float, fetch: Fetch) -> _Message:
        message = self._process._receive(deadline)
        if isinstance(message, _Log):
            self._log(message)
        elif isinstance(message, _Fetch):
            self._fetches += 1
            self._process._send(self._fetched(message, fetch), deadline)
        return message

    def _log(self, line: _Log) -> None:
        self._bytes += len(line.message)
        if len(self.logs) >= LOG_LINES or self._bytes > LOG_BYTES:
            self._left_out += 1
            if self._left_out > 100 * LOG_LINES or self._bytes > 20 * LOG_BYTES:
                raise ScriptFailed("the script wrote too many log lines")
        else:
            self._note(line.level, line.message)

    def _note(self, level: Level, message: str) -> None:
        at = int((time.monotonic() - self._began) * 1000)
        self.logs.append(Log(level, message.replace("\0", ""), at))

    def _fetched(self, message: _Fetch, fetch: Fetch) -> dict[str, object]:
        named: dict[str, object] = {"type": "answer", "number": message.number}
        try:
            if self._fetches > FETCHES:
                raise FetchRefused(f"the script sent more than {FETCHES} requests during one event")
            body = None if message.body is None else _bytes(message.body)
            wanted = HostRequest(message.url, message.method, message.headers, body, message.redirect)
            got = fetch(wanted)
        except FetchRefused as error:
            return {**named, "error": str(error)}
        return {
            **named,
            "url": got.url,
            "status": got.status,
            "headers": got.headers,
            "body": base64.b64encode(got.body).decode(),
        }


class ScriptError(ScriptFailed):
    """Raised if the script threw an error. The script's process continues."""


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise ScriptFailed("the script wrote to standard output, which is reserved") from None
