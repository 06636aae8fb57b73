"""An application behind the real server, on a real port."""

from __future__ import annotations

import asyncio
import resource
import socket
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import brotli
import pytest

from octavo.kit.http.compression import Compressor
from octavo.kit.http.edge import Action, Answer, Content, Edge, Route, etag_of, text_error
from octavo.kit.http.metrics import Metrics
from octavo.kit.http.serving import PortLimits, PortListener, allow_connections, require_free, run_served
from octavo.kit.scheduling.shares import request_threads
from serving import free_ports

BOUNDS: dict[str, int] = {"connections": 100, "backlog": 100, "header_seconds": 60, "header_limit": 8192}
AGAIN = Answer(200, b"words " * 1000, "text/plain", {"vary": "Cookie"}, etag_of(b"words"), again=True)


class Served:
    def __init__(self, port: int) -> None:
        self.port = port
        self.finish = asyncio.Event()
        self.begun = asyncio.Event()
        self.stopped = threading.Event()
        self.bodies: list[int] = []
        self.edge: Edge
        self.listener: PortListener
        self._kept: list[asyncio.StreamWriter] = []

    async def connect(self, *sent: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        self._kept.append(writer)  # A connection without an owner is closed.
        for each in sent:
            writer.write(each)
            await writer.drain()
        return reader, writer


@asynccontextmanager
async def serving(patience: float = 5.0, **bounds: int) -> AsyncIterator[Served]:
    (port,) = free_ports(1)
    served = Served(port)

    async def slow(request: Any) -> Answer:
        served.begun.set()
        await served.finish.wait()
        return Answer(200, b"slow", "text/plain")

    async def take(request: Any) -> Answer:
        served.bodies.append(len(await request.read(1_000_000)))
        return Answer(200, b"taken", "text/plain")

    def endless() -> Any:
        try:
            while True:
                yield b"more " * 10_000
        finally:
            served.stopped.set()

    def get(name: str, answer: Any) -> Route:
        return Route(f"/{name}", {"GET": Action(name, answer)})

    edge = served.edge = Edge(
        [
            get("a", lambda request: Answer(200, b"here", "text/plain")),
            get("slow", slow),
            Route("/take", {"POST": Action("take", take)}),
            get("again", lambda request: AGAIN),
            get("pieces", lambda request: Answer(stream=lambda: iter([b"one ", b"two"]))),
            get("short", lambda request: Answer(content=Content(10, lambda start, end: iter([b"few"])))),
            get("endless", lambda request: Answer(stream=endless)),
            get("split", lambda request: Answer(headers={"x-a": "b\r\nx-c: d"})),
        ],
        pool=request_threads("x", 2, "octavo-test", 100),
        metrics=Metrics(),
        compressor=Compressor(),
        refuse=text_error,
        headers={},
        query_limit=1000,
    )
    served.listener = PortListener(edge.application, "127.0.0.1", port, PortLimits(**{**BOUNDS, **bounds}))
    await served.listener.open()
    try:
        yield served
    finally:
        await served.listener.close(patience)
        edge.close()


def run(test: Any) -> None:
    run_served(asyncio.wait_for(test(), 60))


def asking(path: str, *headers: str, method: str = "GET", version: str = "1.1") -> bytes:
    return "\r\n".join([f"{method} {path} HTTP/{version}", "host: a", *headers, "", ""]).encode()


GET = asking("/a")


async def answer(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    return head.split(b"\r\n")[0] + b" " + await reader.readexactly(length)


async def rest(reader: asyncio.StreamReader) -> bytes:
    """Return what arrives until the other side closes."""
    found = b""
    with suppress(ConnectionError):
        while part := await reader.read(65536):
            found += part
    return found


def test_requests_on_one_connection_are_answered_in_order() -> None:
    async def test() -> None:
        async with serving() as served:
            served.finish.set()
            reader, _ = await served.connect(asking("/slow") + asking("/again") + GET)
            for body in (b"slow", AGAIN.body, b"here"):
                assert await answer(reader) == b"HTTP/1.1 200 OK " + body

    run(test)


@pytest.mark.parametrize(
    ("asked", "body", "coding"),
    [
        (asking("/again"), AGAIN.body, None),
        (asking("/again", "accept-encoding: br"), brotli.compress(AGAIN.body, quality=5), "br"),
        (asking("/again", "accept-encoding: gzip"), None, "gzip"),
        (asking("/again", method="HEAD"), b"", None),
    ],
)
def test_a_cached_response_is_the_same_each_time(
    asked: bytes, body: bytes | None, coding: str | None
) -> None:
    async def test() -> None:
        async with serving() as served:
            AGAIN.heads.clear()
            reader, writer = await served.connect()
            found = []
            for _ in range(3):
                writer.write(asked)
                head = await reader.readuntil(b"\r\n\r\n")
                fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:-2])
                length = 0 if asked.startswith(b"HEAD") else int(fields["content-length"])
                fields.pop("date")
                found.append((fields, await reader.readexactly(length)))
            assert len({fields.pop("x-request-id") for fields, _ in found}) == 3
            assert all(one == found[0] for one in found) and list(AGAIN.heads) == [(served.edge, coding)]
            fields, sent = found[0]
            assert body is None or sent == body
            assert fields.get("content-encoding") == coding and fields["vary"] == "Cookie, Accept-Encoding"
            assert fields["etag"] == (f'W/"{AGAIN.etag}"' if coding else f'"{AGAIN.etag}"')

    run(test)


@pytest.mark.parametrize(
    ("version", "sent"), [("1.1", b"4\r\none \r\n3\r\ntwo\r\n0\r\n\r\n"), ("1.0", b"one two")]
)
def test_streams_are_framed_for_the_protocol_of_the_client(version: str, sent: bytes) -> None:
    async def test() -> None:
        async with serving() as served:
            reader, _ = await served.connect(asking("/pieces", "connection: close", version=version))
            found = await rest(reader)
            assert (b"transfer-encoding: chunked" in found) == (version == "1.1")
            body = found.partition(b"\r\n\r\n")[2]
            assert body == sent or (version == "1.1" and b"one " in body and body.endswith(b"0\r\n\r\n"))

    run(test)


def test_a_response_shorter_than_announced_ends_the_connection() -> None:
    async def test() -> None:
        async with serving() as served:
            reader, _ = await served.connect(asking("/short") + GET)
            found = await rest(reader)
            assert b"content-length: 10\r\n" in found and found.endswith(b"\r\n\r\nfew")

    run(test)


def test_no_header_is_split() -> None:
    async def test() -> None:
        async with serving() as served:
            reader, _ = await served.connect(asking("/split", "connection: close"))
            sent = await rest(reader)
            assert b"x-c" not in sent and sent.startswith(b"HTTP/1.1 500")

    run(test)


def test_a_disconnected_client_ends_its_stream() -> None:
    async def test() -> None:
        async with serving() as served:
            reader, writer = await served.connect(asking("/endless") + GET)
            await reader.readexactly(100_000)
            writer.transport.abort()
            while not served.stopped.is_set():
                await asyncio.sleep(0.01)

    run(test)


def test_a_client_that_expects_100_continue_gets_it() -> None:
    async def test() -> None:
        async with serving() as served:
            reader, writer = await served.connect(
                asking("/take", "expect: 100-continue", "content-length: 3", method="POST")
            )
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 100 ")
            writer.write(b"abc")
            assert await answer(reader) == b"HTTP/1.1 200 OK taken"
            assert served.bodies == [3]

    run(test)


def test_a_client_that_sends_too_much_gets_the_reason() -> None:
    async def test() -> None:
        async with serving() as served:
            reader, writer = await served.connect(asking("/take", "content-length: 30000000", method="POST"))
            for _ in range(30):
                writer.write(b"x" * 1_000_000)
                with suppress(ConnectionError):
                    await writer.drain()
            assert (await rest(reader)).startswith(b"HTTP/1.1 413 ")

    run(test)


@pytest.mark.parametrize(
    "upgrade", ["connection: upgrade\r\nupgrade: websocket", "connection: upgrade\r\nupgrade: h2c"]
)
@pytest.mark.parametrize("body", [GET, b""])
def test_the_body_of_an_upgrade_is_not_a_request(upgrade: str, body: bytes) -> None:
    async def test() -> None:
        async with serving() as served:
            length = f"content-length: {len(body)}"
            head = asking("/take", upgrade, length, method="POST")
            reader, writer = await served.connect(head + body + asking("/a", "connection: close"))
            assert await answer(reader) == b"HTTP/1.1 200 OK taken"
            assert served.bodies == [len(body)]
            assert (await rest(reader)).count(b"HTTP/1.1 ") == 1

    run(test)


@pytest.mark.parametrize("head", [b"GET /a HTTP/1.1\r\nhost: a\r\nx: " + b"y" * 9000, b"GET /" + b"y" * 9000])
def test_request_heads_are_limited(head: bytes) -> None:
    async def test() -> None:
        async with serving() as served:
            reader, _ = await served.connect(head)
            assert (await rest(reader)).startswith(b"HTTP/1.1 431 ")

    run(test)


@pytest.mark.parametrize("sent", [b"", b"GET /a HTTP/1.1\r\nho", GET])
def test_silent_connections_are_closed(sent: bytes) -> None:
    async def test() -> None:
        async with serving(header_seconds=1) as served:
            reader, _ = await served.connect(sent)
            found = await rest(reader)
            assert found.endswith(b"here" if sent == GET else b"")

    run(test)


def test_requests_finish_during_shutdown_and_no_new_ones_start() -> None:
    async def test() -> None:
        async with serving() as served:
            idle, _ = await served.connect(GET)
            await answer(idle)
            busy, _ = await served.connect(asking("/slow"))
            await served.begun.wait()
            closing = asyncio.ensure_future(served.listener.close(30))
            assert await rest(idle) == b""
            with pytest.raises(ConnectionRefusedError):
                await served.connect()
            served.finish.set()
            assert (await rest(busy)).endswith(b"slow")
            await closing

    run(test)


def test_unfinished_requests_are_canceled_during_shutdown() -> None:
    async def test() -> None:
        async with serving(patience=0.1) as served:
            reader, _ = await served.connect(asking("/slow"))
            await served.begun.wait()
        assert not served.edge.application.open
        await rest(reader)

    run(test)


def test_connections_close_after_their_response_during_a_handover() -> None:
    async def test() -> None:
        async with serving() as served:
            reader, writer = await served.connect(GET)
            await answer(reader)
            served.listener.leave()
            writer.write(GET)
            found = await rest(reader)
            assert b"connection: close\r\n" in found and found.endswith(b"here")

    run(test)


def test_a_used_port_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("octavo.kit.http.serving._GIVEN_UP", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as bound:
        port = bound.getsockname()[1]
        with pytest.raises(OSError, match="in use"):
            require_free("localhost", port)
    require_free("127.0.0.1", port)


@pytest.mark.parametrize(
    ("limits", "allowed", "set_to"),
    [
        ((1024, 4096), 100, 456),
        ((256, 300), 75, 300),
        ((128, 128), 32, 128),
        ((4096, 4096), 100, None),
        ((256, resource.RLIM_INFINITY), 100, 456),
    ],
)
def test_connections_leave_file_descriptors_for_the_database(
    monkeypatch: pytest.MonkeyPatch, limits: tuple[int, int], allowed: int, set_to: int | None
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(resource, "getrlimit", lambda kind: limits)
    monkeypatch.setattr(resource, "setrlimit", lambda kind, wanted: asked.append(wanted[0]))
    assert allow_connections(100, ports=2) == allowed
    assert asked == ([set_to] if set_to and limits[0] < 456 else [])
