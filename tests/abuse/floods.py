"""Floods: a few connections that send without an end, while another client asks something plain."""

from __future__ import annotations

import selectors
import socket
import threading
from contextlib import suppress
from dataclasses import dataclass

from .cases import Words
from .subjects import Subject

_STALLED = 0.5
"""Seconds after which a server that accepts no more data is no longer sent any."""
_PATIENCE = 120


@dataclass(frozen=True)
class Flood:
    """Data that each connection sends: ``beginning``, then the same piece repeatedly, up to so many megabytes.
    ``reads``: whether the client reads responses."""

    name: str
    beginning: bytes
    piece: bytes
    connections: int = 1
    megabytes: float = 16
    reads: bool = False


def make_floods(words: Words) -> list[Flood]:
    """Return all floods, as requests that a server understands."""
    marker = "m0x0x1"
    get = words.request("GET", words.read.format(marker))
    post = words.request("POST", words.write_target, b"", "Content-Type: application/json")
    chunked = post[:-2] + b"Transfer-Encoding: chunked\r\n\r\n"
    long_body = post[:-2] + b"Content-Length: 2000000000\r\n\r\n"
    upgrade = get[:-2] + b"Connection: Upgrade\r\nUpgrade: foo\r\n\r\n"
    stream = words.request("GET", words.stream)
    line, short_lines = b"X-A: " + b"a" * 1000 + b"\r\n", b"X: y\r\n" * 200
    return [
        Flood("head", get[:-2], line),
        Flood("head of short lines", get[:-2], short_lines),
        Flood("head of one line", get[:-2] + b"X: ", b"a" * 4096),
        Flood("target", b"GET /", b"a" * 4096),
        Flood("empty lines", b"", b"\r\n" * 2048),
        Flood("head behind an open answer", stream + get[:-2], line, megabytes=128),
        Flood("requests behind an open answer", stream, get * 20, megabytes=64),
        Flood("requests behind open answers", stream, get * 20, connections=20, megabytes=4),
        Flood("trailer", chunked + b"0\r\n", line, megabytes=64),
        Flood("trailer of short lines", chunked + b"0\r\n", short_lines, megabytes=64),
        Flood("trailer of one line", chunked + b"0\r\nX: ", b"a" * 4096),
        Flood("chunk extension", chunked + b"5;", b"a" * 4096),
        Flood("chunk extensions", chunked, (b"1;" + b"a" * 1000 + b"\r\nz\r\n") * 4),
        Flood("chunk size", chunked, b"0" * 4096),
        Flood("one-byte chunks", chunked, b"1\r\nz\r\n" * 700, connections=60, megabytes=0.25),
        Flood("one-byte chunks that nobody reads", chunked.replace(b"POST", b"GET", 1), b"1\r\nz\r\n" * 700),
        Flood("body", long_body, b"z" * 65536, connections=4),
        Flood("body that nobody reads", long_body.replace(b"POST", b"GET", 1), b"z" * 65536, connections=4),
        Flood("requests", b"", get * 20, connections=20, megabytes=0.25),
        Flood("requests whose answers are read", b"", get * 20, connections=20, megabytes=0.25, reads=True),
        Flood("upgrades", b"", upgrade * 20, megabytes=0.5),
        Flood("heads without a body", post[:-2] + b"Content-Length: 5\r\n\r\n", b"", connections=200),
    ]


def _pour(subject: Subject, flood: Flood, held: list[socket.socket]) -> None:
    """Send on all connections in turn, until each has sent everything, was closed, or no longer accepts data."""
    selector = selectors.DefaultSelector()
    left = {}
    for _ in range(flood.connections):
        one = socket.create_connection((subject.host, subject.port), timeout=_PATIENCE)
        held.append(one)
        with suppress(OSError):
            one.sendall(flood.beginning)
        one.setblocking(False)
        if flood.piece:
            left[one] = int(flood.megabytes * 1e6)
            selector.register(one, selectors.EVENT_WRITE | (selectors.EVENT_READ if flood.reads else 0), one)
    while left and (ready := selector.select(_STALLED)):
        for key, events in ready:
            one = key.data
            try:
                if events & selectors.EVENT_READ and not one.recv(1 << 16):
                    left[one] = 0
                elif events & selectors.EVENT_WRITE:
                    left[one] -= one.send(flood.piece)
            except BlockingIOError:
                continue
            except OSError:
                left[one] = 0
            if left[one] <= 0:
                selector.unregister(one)
                del left[one]
    selector.close()


def _ask(subject: Subject) -> float:
    """Return how long the busiest thread of the server did other work while a plain request waited, in
    seconds of CPU time. Other load on the machine isn't included."""
    before = subject.busy_seconds()
    with socket.create_connection((subject.host, subject.port), timeout=_PATIENCE) as one:
        target = subject.words.read.format("m0x0x0")
        one.sendall(subject.words.request("GET", target, b"", "Connection: close"))
        answer = b""
        while piece := one.recv(1 << 16):
            answer += piece
    assert answer.startswith(b"HTTP/1.1 404 "), answer[:200]
    after = subject.busy_seconds()
    return max(seconds - before.get(thread, 0.0) for thread, seconds in after.items())


def wait_beside(subject: Subject, flood: Flood) -> float:
    """Return the longest time that another client waits for a response during a flood, in seconds of CPU
    time."""
    held: list[socket.socket] = []
    pouring = threading.Thread(target=_pour, args=(subject, flood, held))
    waits: list[float] = []
    pouring.start()
    try:
        while pouring.is_alive() or len(waits) < 5:
            waits.append(_ask(subject))
    finally:
        pouring.join()
        for one in held:
            one.close()
    return max(waits)
