"""Limits and checks between the server and the application."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from octavo.errors import BadRequest, RequestTimeout
from octavo.kit.http import asgi
from octavo.kit.http.asgi import Application, Disconnected, Exchange

HOST = (b"host", b"docs.example")


class Wire:
    """Server side of a request: the messages that it delivers, and those that it was sent."""

    def __init__(self, *messages: dict[str, Any]) -> None:
        self.messages = list(messages)
        self.sent: list[dict[str, Any]] = []

    async def receive(self) -> dict[str, Any]:
        if not self.messages:
            await asyncio.Event().wait()
        return self.messages.pop(0)

    async def send(self, message: Any) -> None:
        self.sent.append(dict(message))

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent)


def part(body: bytes, more: bool = True) -> dict[str, Any]:
    return {"type": "http.request", "body": body, "more_body": more}


GONE = {"type": "http.disconnect"}


def scope(*headers: tuple[bytes, bytes], path: bytes = b"/a", version: str = "1.1") -> dict[str, Any]:
    return {
        "type": "http",
        "method": "POST",
        "raw_path": path,
        "query_string": b"",
        "headers": list(headers),
        "http_version": version,
        "client": ("203.0.113.9", 1),
    }


def exchange_of(wire: Wire, least_rate: int = 1000) -> Exchange:
    async def nothing(exchange: Exchange) -> None:
        pass

    return Exchange(Application(nothing, least_rate=least_rate), scope(HOST), wire.receive, wire.send)


def checked(*headers: tuple[bytes, bytes], **more: Any) -> None:
    wire = Wire()
    Exchange(exchange_of(wire)._application, scope(*headers, **more), wire.receive, wire.send).check()


# --- what a proxy may understand differently ------------------------------------------------------------


@pytest.mark.parametrize(
    "host", [b"a", b"docs.example:8000", b"127.0.0.1", b"[::1]:80", b"a_b.example", b"xn--bcher-kva.example:"]
)
def test_valid_hosts_are_accepted(host: bytes) -> None:
    checked((b"host", host))


@pytest.mark.parametrize(
    "hosts",
    [
        [],
        [b""],
        [b"a", b"b"],
        [b"a", b"a"],
        [b"a b"],
        [b"a/b"],
        [b"a@b"],
        [b"a,b"],
        [b"\xff"],
        [b"a:b"],
        [b"[::1"],
        [b"a?"],
        [b"a#"],
        [b"a\\b"],
        [b"a:123456"],
    ],
)
def test_invalid_hosts_are_refused(hosts: list[bytes]) -> None:
    with pytest.raises(BadRequest, match="^Host: "):
        checked(*((b"host", host) for host in hosts))


def test_http_1_0_requires_no_host() -> None:
    for version in ("1", "1.0"):
        checked(version=version)
        checked((b"host", b""), version=version)
        with pytest.raises(BadRequest):
            checked((b"host", b"a b"), version=version)


@pytest.mark.parametrize(
    "framing",
    [
        [(b"transfer-encoding", b"gzip, chunked")],
        [(b"transfer-encoding", b"chunked"), (b"transfer-encoding", b"chunked")],
        [(b"transfer-encoding", b"chunked"), (b"content-length", b"1")],
        [(b"content-length", b"1"), (b"content-length", b"1")],
        [(b"transfer-encoding", b"identity")],
        [(b"transfer-encoding", b"")],
    ],
)
def test_bodies_with_two_framings_are_refused(framing: list[tuple[bytes, bytes]]) -> None:
    with pytest.raises(BadRequest, match="Content-Length"):
        checked(HOST, *framing)
    checked(HOST, (b"transfer-encoding", b"Chunked"))
    checked(HOST, (b"content-length", b"1"))


@pytest.mark.parametrize("path", [b"", b"*", b"a", b"a:80", b"/\xff"])
def test_targets_that_are_not_a_path_are_refused(path: bytes) -> None:
    with pytest.raises(BadRequest, match="target"):
        checked(HOST, path=path)


# --- bodies -----------------------------------------------------------------------------------------------


async def read_all(wire: Wire, least_rate: int = 1000) -> bytes:
    exchange, found = exchange_of(wire, least_rate), b""
    while True:
        body, more = await exchange.read()
        found += body
        if not more:
            return found


def test_a_body_arrives_in_parts() -> None:
    assert asyncio.run(read_all(Wire(part(b"ab"), part(b"cd"), part(b"", more=False)))) == b"abcd"
    assert asyncio.run(read_all(Wire({"type": "http.request"}))) == b""


def test_a_stalled_body_is_aborted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asgi, "_BODY_GRACE", 0.05)
    for before in ([], [part(b"x" * 10)]):
        with pytest.raises(RequestTimeout):
            asyncio.run(read_all(Wire(*before)))


def test_earlier_bytes_do_not_allow_a_longer_stall(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asgi, "_BODY_GRACE", 0.05)
    with pytest.raises(RequestTimeout):
        asyncio.run(asyncio.wait_for(read_all(Wire(part(b"x" * 10_000_000)), least_rate=1), 30))


def test_a_truncated_body_is_detected() -> None:
    with pytest.raises(Disconnected):
        asyncio.run(read_all(Wire(part(b"ab"), GONE)))


def test_small_chunks_are_limited() -> None:
    few, many = 4096, 4200
    assert asyncio.run(read_all(Wire(*[part(b"x")] * few, part(b"", more=False)))) == b"x" * few
    with pytest.raises(BadRequest, match="small chunks"):
        asyncio.run(read_all(Wire(*[part(b"x")] * many, part(b"", more=False))))
    # Larger ones are as many as the body needs.
    assert asyncio.run(read_all(Wire(*[part(b"x" * 64)] * many, part(b"", more=False)))) == b"x" * 64 * many


# --- responses --------------------------------------------------------------------------------------------


def answered(handle: Any, wire: Wire, leaving: bool = False) -> Wire:
    application = Application(handle)
    application.leaving = leaving
    asyncio.run(asyncio.wait_for(application(scope(HOST), wire.receive, wire.send), 30))
    assert not application.open
    return wire


def test_a_whole_response_is_two_messages() -> None:
    async def handle(exchange: Exchange) -> None:
        await exchange.send(200, [(b"a", b"b")], b"body")

    start, body = answered(handle, Wire()).sent
    assert start == {"type": "http.response.start", "status": 200, "headers": [(b"a", b"b")]}
    assert (body["body"], body.get("more_body", False)) == (b"body", False)
    start, _ = answered(handle, Wire(), leaving=True).sent
    assert (b"connection", b"close") in start["headers"]


def test_the_rest_of_a_body_is_discarded_after_an_early_response() -> None:
    """A connection that is closed with unread bytes is reset, and the response with it."""

    async def handle(exchange: Exchange) -> None:
        await exchange.read()
        await exchange.send(413, [], b"too large", close=True)

    wire = answered(handle, Wire(part(b"a"), part(b"b"), part(b"c"), GONE))
    assert wire.body == b"too large" and wire.messages == []
    assert (b"connection", b"close") in wire.sent[0]["headers"]


@pytest.mark.parametrize("pieces", [[b"abc"], [b"ab", b"c"]])
def test_a_response_has_the_announced_length(pieces: list[bytes]) -> None:
    def handle_of(size: int) -> Any:
        async def handle(exchange: Exchange) -> None:
            await exchange.begin(200, [], size)
            for piece in pieces:
                await exchange.write(piece)
            await exchange.end()

        return handle

    def is_complete(wire: Wire) -> bool:
        return wire.sent[-1]["type"] == "http.response.body" and not wire.sent[-1].get("more_body", False)

    assert is_complete(answered(handle_of(3), Wire()))
    # Without the last message, the server closes the connection, so no one takes the next bytes for the rest.
    for wrong in (2, 4):
        assert not is_complete(answered(handle_of(wrong), Wire()))


def test_a_client_that_does_not_read_is_disconnected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asgi, "_RESPONSE_GRACE", 0.05)

    async def handle(exchange: Exchange) -> None:
        await exchange.begin(200, [], None)
        await exchange.write(b"x")
        raise AssertionError("it was sent")

    wire = Wire()

    async def stuck(message: Any) -> None:
        if message["type"] == "http.response.body":
            await asyncio.Event().wait()

    application = Application(handle)
    asyncio.run(asyncio.wait_for(application(scope(HOST), wire.receive, stuck), 30))


def test_an_unexpected_error_is_a_500_or_an_unfinished_response(caplog: pytest.LogCaptureFixture) -> None:
    async def fail(exchange: Exchange) -> None:
        raise ValueError("a secret")

    async def fail_later(exchange: Exchange) -> None:
        await exchange.begin(200, [], None)
        await exchange.write(b"some")
        raise ValueError

    wire = answered(fail, Wire(part(b"", more=False), GONE))
    assert wire.sent[0]["status"] == 500 and b"secret" not in wire.body
    assert answered(fail_later, Wire()).sent[-1]["more_body"]
    assert caplog.text.count("request failed") == 2


# --- the other protocols ------------------------------------------------------------------------------------


def test_lifespan_starts_and_stops_once() -> None:
    happened: list[str] = []

    async def never(exchange: Exchange) -> None: ...

    async def start() -> None:
        happened.append("start")

    async def stop() -> None:
        happened.append("stop")

    def live(application: Application) -> list[str]:
        wire = Wire({"type": "lifespan.startup"}, {"type": "lifespan.shutdown"})
        asyncio.run(application({"type": "lifespan"}, wire.receive, wire.send))
        return [message["type"] for message in wire.sent]

    assert live(Application(never, start=start, stop=stop)) == [
        "lifespan.startup.complete",
        "lifespan.shutdown.complete",
    ]
    assert happened == ["start", "stop"]

    async def fail() -> None:
        raise OSError("no database")

    assert live(Application(never, start=fail, stop=stop)) == ["lifespan.startup.failed"]


def test_web_sockets_are_refused() -> None:
    async def never(exchange: Exchange) -> None: ...

    wire = Wire()
    asyncio.run(Application(never)({"type": "websocket"}, wire.receive, wire.send))
    assert wire.sent == [{"type": "websocket.close"}]
