"""Tests of the suite itself: it detects a server that executes requests in bodies, and says how to reproduce
it."""

from __future__ import annotations

import re
import socketserver
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from .cases import BODIES, FRAMINGS, Words, make_case
from .client import run
from .judging import read_replies, see
from .subjects import Subject

WORDS = Words("a", "/read/{}", "/body/{}", "/write", '{{"title":"{}"}}', "/read/stream")


class _Careless(socketserver.StreamRequestHandler):
    """Serve requests, and forget the body of each that asks for another protocol."""

    written: set[str]

    def handle(self) -> None:
        while first := self.rfile.readline():
            head = first
            while (line := self.rfile.readline()) not in (b"\r\n", b""):
                head += line
            length = re.search(rb"(?i)\ncontent-length: *(\d{1,6})\r", head)
            body = b""
            if length and b"\r\nUpgrade:" not in head:
                body = self.rfile.read(int(length[1]))
            if first.startswith(b"POST /write ") and (title := re.search(rb'"title":"(\w+)"', body)):
                self.written.add(title[1].decode())
            said = first.split(b" ")[1] if first.count(b" ") > 1 else b""
            answer = b"HTTP/1.1 404 Not Found\r\nContent-Length: %d\r\n\r\n%b" % (len(said), said)
            try:
                self.wfile.write(answer)
            except OSError:
                return
            if b"\r\nConnection: close\r" in head:
                return


@pytest.fixture
def careless() -> Iterator[Subject]:
    written: set[str] = set()
    handler = type("Handler", (_Careless,), {"written": written})
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield Subject("127.0.0.1", server.socket.getsockname()[1], WORDS, lambda: written, 0, Path())
        server.shutdown()
        thread.join()


def test_a_server_that_executes_requests_in_bodies_is_detected(careless: Subject) -> None:
    framings = list(FRAMINGS)
    numbers = [n for n in range(2 * len(framings)) if framings[n % len(framings)].startswith("upgrade")]
    problems = run(careless, 1, numbers)
    run_inside = [problem for problem in problems if "a request inside a body was run" in problem]
    assert run_inside and any("one too many" in problem for problem in problems)
    # What a problem says is enough to send the same again.
    seed, number = (int(part) for part in run_inside[0].split(" ")[0].split(":"))
    assert [problem for problem in run(careless, seed, [number]) if problem in run_inside]


def test_a_seed_reproduces_the_same_cases() -> None:
    assert [make_case(7, n, WORDS) for n in range(300)] == [make_case(7, n, WORDS) for n in range(300)]
    assert make_case(7, 1, WORDS) != make_case(8, 1, WORDS)


def test_the_first_cases_cover_all_framings_with_all_bodies() -> None:
    names = {make_case(1, n, WORDS).name.rpartition(" / ")[0].rpartition(" / ")[0] for n in range(2000)}
    assert {f"{framing} / {body}" for framing in FRAMINGS for body in BODIES} <= names


@pytest.mark.parametrize(
    ("sent", "targets"),
    [
        (b"GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n", ["/1", "/2"]),
        (b"GET /1 HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n\r\nGET /2 HTTP/1.1\r\n\r\n", ["/1", "/2"]),
        (b"POST /1 HTTP/1.1\r\nUpgrade: x\r\nContent-Length: 18\r\n\r\nGET /2 HTTP/1.1\r\n\r\n", ["/1"]),
        (b"POST /1 HTTP/1.1\r\nContent-Length: 1\r\n\r\nxGET /2 HTTP/1.1\r\n\r\n", ["/1", "/2"]),
        (
            (
                b"POST /1 HTTP/1.1\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
                b"\r\nGET /2 HTTP/1.1\r\n\r\n"
            ),
            ["/1", "/2"],
        ),
        (b"POST /1 HTTP/1.1\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\nGET /2 HTTP/1.1\r\n\r\n", []),
        (b"GET /1 HTTP/1.1\r\nConnection: close\r\n\r\nGET /2 HTTP/1.1\r\n\r\n", ["/1"]),
        (b"GET /1 HTTP/1.0\r\n\r\nGET /2 HTTP/1.1\r\n\r\n", ["/1"]),
        (b"GET /1 HTTP/1.1\r\nX\x00: a\r\n\r\nGET /2 HTTP/1.1\r\n\r\n", []),
    ],
)
def test_requests_are_recognized_at_their_start(sent: bytes, targets: list[str]) -> None:
    assert [head.target for head in see(sent).heads] == targets


def test_a_response_inside_another_response_does_not_count() -> None:
    inside = (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\nHTTP/1.1 400 Bad Request\r\n\r\n"
    )
    with pytest.raises(AssertionError, match="no answer"):
        read_replies(inside, ["GET"], ended=True)
