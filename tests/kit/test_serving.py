"""Connections on real sockets: how many there are, how slow they may be, what they may send."""

from __future__ import annotations

import asyncio
import gc
import re
import socket
import threading
import time
from contextlib import asynccontextmanager, suppress

import brotli
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from circles import circles_left
from octavo.kit.compression import Compressor
from octavo.kit.connection import Bounds, Connections
from octavo.kit.edge import Action, Answer, Content, Edge, Route, etag_of, text_error
from octavo.kit.metrics import Metrics
from octavo.kit.serving import Listener, bind, run_served
from octavo.kit.shares import request_threads

BOUNDS = Bounds(
    connections=10,
    backlog=100,
    keep_alive_seconds=60,
    header_seconds=10,
    header_limit=4096,
    least_rate=1000,
)
BIG = b"x" * 20_000_000
AGAIN = Answer(200, b"words " * 1000, "text/plain", {"vary": "Cookie"}, etag_of(b"words"), again=True)
GET = b"GET /a HTTP/1.1\r\nhost: a\r\n\r\n"


class Served:
    def __init__(self, connections: Connections, port: int, ended: list[str]) -> None:
        self.connections = connections
        self.port = port
        self.ended = ended
        self.finish = asyncio.Event()
        self.begun = asyncio.Event()
        self.stopped = threading.Event()
        self.go_on = threading.Event()
        self.bodies: list[int | str] = []
        self._kept: list[asyncio.StreamWriter] = []

    async def connect(
        self, *sent: bytes, address: str = "127.0.0.1"
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, local_addr=(address, 0))
        self._kept.append(writer)  # one that nobody holds is closed
        for part in sent:
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(0.02)
        return reader, writer

    def later(self, seconds: float) -> None:
        """What happens to the connections when so much time passes."""
        self.connections.sweep(time.monotonic() + seconds)


@asynccontextmanager
async def serving(**bounds):
    ended: list[str] = []
    connections = Connections(
        Bounds(**{**{f: getattr(BOUNDS, f) for f in BOUNDS.__struct_fields__}, **bounds}), ended.append
    )
    bound = bind("127.0.0.1", 0)
    served = Served(connections, bound.getsockname()[1], ended)

    async def slow(request):
        served.begun.set()
        await served.finish.wait()
        return Answer(200, b"slow", "text/plain")

    async def take(request):
        try:
            served.bodies.append(len(await request.read(10_000_000)))
        except Exception as error:
            served.bodies.append(str(error))
            raise
        return Answer(200, b"taken", "text/plain")

    def short(start, end):
        yield b"few"

    def endless():
        try:
            while True:
                yield b"more " * 10_000
        finally:
            served.stopped.set()

    def halting():
        yield b"one "
        served.go_on.wait(10)
        yield b"two"

    edge = Edge(
        [
            Route("/halting", {"GET": Action("halting", lambda request: Answer(stream=halting))}),
            Route("/a", {"GET": Action("a", lambda request: Answer(200, b"here", "text/plain"))}),
            Route("/big", {"GET": Action("big", lambda request: Answer(200, BIG, "image/png"))}),
            Route("/slow", {"GET": Action("slow", slow)}),
            Route("/take", {"POST": Action("take", take)}),
            Route("/again", {"GET": Action("again", lambda request: AGAIN)}),
            Route(
                "/pieces",
                {"GET": Action("pieces", lambda request: Answer(stream=lambda: iter([b"one ", b"two"])))},
            ),
            Route("/short", {"GET": Action("short", lambda request: Answer(content=Content(10, short)))}),
            Route("/endless", {"GET": Action("endless", lambda request: Answer(stream=endless))}),
            Route("/split", {"GET": Action("split", lambda request: Answer(headers={"x-a": "b\r\nx-c: d"}))}),
        ],
        pool=request_threads("x", 2, "octavo-test", 100),
        metrics=Metrics(),
        compressor=Compressor(),
        refuse=text_error,
        headers={},
        query_limit=1000,
    )
    listener = Listener(edge, bound, connections)
    await listener.open()
    try:
        served.edge, served.listener = edge, listener
        yield served
    finally:
        await listener.close(0.2)
        bound.close()


def run(test):
    run_served(asyncio.wait_for(test(), 60))


async def until(condition) -> None:
    while not condition():
        await asyncio.sleep(0.01)


async def answer(reader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    return head.split(b"\r\n")[0] + b" " + await reader.readexactly(length)


async def rest(reader) -> bytes:
    """What arrives until the other side closes."""
    found = b""
    with suppress(ConnectionError):
        while part := await reader.read(65536):
            found += part
    return found


@pytest.mark.parametrize("sent", [b"", b"GET /a HTTP/1.1\r\nho", b"GET /a HTTP/1.1\r\nhost: a\r\nx: y\r\n"])
def test_a_head_has_to_arrive_in_time(sent):
    async def test():
        async with serving() as served:
            reader, writer = await served.connect(*([sent] if sent else []))
            await until(lambda: served.connections.open)
            served.later(9)
            writer.write(b"s" if sent else b"G")  # one byte more does not give it more time
            await asyncio.sleep(0.05)
            assert len(served.connections.open) == 1
            served.later(11)
            assert await rest(reader) == b""
            assert served.ended == ["slow"]

    run(test)


def test_a_connection_is_used_again_and_its_next_head_is_timed_too():
    async def test():
        async with serving() as served:
            reader, writer = await served.connect(GET)
            assert await answer(reader) == b"HTTP/1.1 200 OK here"
            served.later(50)
            writer.write(GET)
            assert await answer(reader) == b"HTTP/1.1 200 OK here"
            writer.write(b"GET /a HT")
            await asyncio.sleep(0.05)
            served.later(11)
            assert await rest(reader) == b""

    run(test)


def test_connections_without_a_request_give_way_to_new_ones_the_longest_first():
    async def test():
        async with serving() as served:
            busy, _ = await served.connect(b"GET /slow HTTP/1.1\r\nhost: a\r\n\r\n")
            await served.begun.wait()
            silent = [await served.connect() for _ in range(9)]
            await until(lambda: len(served.connections.open) == 10)
            for number in range(12):
                reader, _ = await served.connect(GET)
                assert await answer(reader) == b"HTTP/1.1 200 OK here", number
            assert all([await rest(reader) == b"" for reader, _ in silent])
            assert len(served.connections.open) == 10 and set(served.ended) == {"dropped"}
            served.finish.set()
            assert await answer(busy) == b"HTTP/1.1 200 OK slow"

    run(test)


def test_when_all_are_busy_a_new_connection_is_refused():
    async def test():
        async with serving() as served:
            readers = [(await served.connect(b"GET /slow HTTP/1.1\r\nhost: a\r\n\r\n"))[0] for _ in range(10)]
            await until(lambda: not served.connections._waiting)
            refused, _ = await served.connect()
            answered = await rest(refused)
            assert answered.startswith(b"HTTP/1.1 503 ") and b"\r\nretry-after: 5\r\n" in answered
            assert served.ended == ["refused"]
            served.finish.set()
            assert all([await answer(reader) == b"HTTP/1.1 200 OK slow" for reader in readers])
            again, _ = await served.connect(GET)
            assert await answer(again) == b"HTTP/1.1 200 OK here"

    run(test)


@pytest.mark.parametrize(
    "head",
    [
        b"GET /a HTTP/1.1\r\nhost: a\r\nx: " + b"y" * 5000 + b"\r\n\r\n",
        b"GET /a HTTP/1.1\r\nhost: a\r\nx: " + b"y" * 5000,
        b"GET /a?" + b"y" * 5000 + b" HTTP/1.1\r\nhost: a\r\n\r\n",
        b"GET /" + b"y" * 9000,
        b"GET /a HTTP/1.1\r\nhost: a\r\n" + b"x: y\r\n" * 1000 + b"\r\n",
    ],
)
def test_heads_are_bounded(head):
    async def test():
        async with serving() as served:
            reader, _ = await served.connect(head)
            assert (await rest(reader)).startswith(b"HTTP/1.1 431 ")
            assert served.ended == ["too_large"]
            whole, _ = await served.connect(
                b"GET /a HTTP/1.1\r\nhost: a\r\nx: " + b"y" * 3900 + b"\r\n\r\n" + GET
            )
            assert await answer(whole) == await answer(whole) == b"HTTP/1.1 200 OK here"

    run(test)


@pytest.mark.parametrize(
    "sent",
    [b"nonsense\r\n\r\n", b"GET /a\r\n\r\n", b"GET /a HTTP/0.9\r\nhost: a\r\n\r\n", b"GET /a HTTP/1.1\r\n\r\n",
     b"GET /a HTTP/2.0\r\nhost: a\r\n\r\n", b"GET /a HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n", b"\x16\x03\x01\x02\x00\x01",
     b"POST /take HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab",
     b"POST /take HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"],
)  # fmt: skip
def test_what_is_no_request_is_refused(sent):
    async def test():
        async with serving() as served:
            reader, _ = await served.connect(sent)
            assert (await rest(reader)).startswith(b"HTTP/1.1 400 ")
            assert served.bodies == []

    run(test)


def test_a_body_that_stops_or_drips_is_given_up():
    async def test():
        async with serving() as served:
            post = b"POST /take HTTP/1.1\r\nhost: a\r\ncontent-length: 100000\r\n\r\n"
            stopped, gone = await served.connect(post + b"ab")
            steady, writer = await served.connect(post)
            moment = 0.0
            for _ in range(8):
                # A second's worth of bytes, then a second.
                writer.write(b"x" * 1200)
                await asyncio.sleep(0.02)
                moment += 1.0
                served.later(moment)
            assert len(served.connections.open) == 2
            served.later(moment + 3)
            assert (await rest(stopped)).startswith(b"HTTP/1.1 408 ")
            gone.close()
            await asyncio.sleep(0.02)
            assert len(served.connections.open) == 1
            writer.write(b"x" * (100_000 - 8 * 1200))
            assert await answer(steady) == b"HTTP/1.1 200 OK taken"
            assert 100_000 in served.bodies and len(served.bodies) == 2

    run(test)


def test_who_does_not_take_an_answer_loses_the_connection():
    async def test():
        async with serving() as served:
            greedy = socket.create_connection(("127.0.0.1", served.port))
            greedy.setblocking(False)
            greedy.sendall(b"GET /big HTTP/1.1\r\nhost: a\r\n\r\n")
            await until(lambda: any(c._transport.get_write_buffer_size() for c in served.connections.open))
            served.later(0)
            served.later(29)
            assert len(served.connections.open) == 1
            served.later(31)
            await until(lambda: not served.connections.open)
            assert served.ended == ["slow"]
            greedy.close()

    run(test)


def test_who_takes_an_answer_slowly_but_surely_gets_all_of_it():
    async def test():
        async with serving() as served:
            reader, _ = await served.connect(b"GET /big HTTP/1.1\r\nhost: a\r\n\r\n")
            moment, taken = 0.0, 0
            while taken < len(BIG):
                part = await reader.read(2**20)
                assert part
                taken += len(part)
                moment += 1.0
                served.later(moment)
            assert served.ended == []

    run(test)


def test_closing_lets_requests_end_and_closes_the_rest():
    async def test():
        ended = []
        connections = Connections(BOUNDS, ended.append)
        async with serving() as served:
            idle, _ = await served.connect(GET)
            await answer(idle)
            busy, _ = await served.connect(b"GET /slow HTTP/1.1\r\nhost: a\r\n\r\n")
            await served.begun.wait()
            asyncio.get_running_loop().call_later(0.05, served.finish.set)
            closing = asyncio.ensure_future(rest(idle))
        assert await closing == b""
        assert (await rest(busy)).endswith(b"slow")
        assert not connections.open

    run(test)


@pytest.mark.parametrize(("before", "sent"), [(b"", b""), (b"", GET[:20]), (GET, GET[:20])])
def test_who_is_about_to_ask_when_it_closes_is_answered(before, sent):
    async def test():
        async with serving() as served:
            reader, writer = await served.connect(before)
            if before:
                await answer(reader)
            writer.write(sent)
            await asyncio.sleep(0.02)
            closing = asyncio.ensure_future(served.listener.close(30))
            await asyncio.sleep(0.05)
            writer.write(GET[len(sent) :])
            assert (await rest(reader)).endswith(b"here")
            await asyncio.wait_for(closing, 5)

    run(test)


def test_a_connection_that_comes_while_it_closes_is_not_served_for_long(monkeypatch):
    """Clients come back when another process lets them go; what had been taken up by then is made only afterwards."""
    monkeypatch.setattr("octavo.kit.connection._ABOUT_TO_ASK", 0.1)

    async def test():
        async with serving() as served:
            busy, _ = await served.connect(b"GET /slow HTTP/1.1\r\nhost: a\r\n\r\n")
            await served.begun.wait()
            loop = asyncio.get_running_loop()
            own, other = socket.socketpair()
            closing = loop.create_task(served.listener.close(30))
            await asyncio.sleep(0.05)
            await loop.connect_accepted_socket(served.listener.port.take_up, own)
            other.settimeout(5)
            assert await loop.run_in_executor(None, other.recv, 100) == b""
            served.finish.set()
            await asyncio.wait_for(closing, 5)
            assert (await rest(busy)).endswith(b"slow")

    run(test)


def test_a_port_that_is_taken_is_an_error():
    with bind("127.0.0.1", 0) as bound:
        bound.listen()
        with pytest.raises(OSError, match="in use"):
            bind("127.0.0.1", bound.getsockname()[1])


# --- whole answers ------------------------------------------------------------------------------------------


def asking(path: str, *headers: str, method: str = "GET", version: str = "1.1") -> bytes:
    return "\r\n".join([f"{method} {path} HTTP/{version}", "host: a", *headers, "", ""]).encode()


@pytest.mark.parametrize(
    ("asked", "body", "coding"),
    [
        (asking("/again"), AGAIN.body, None),
        (asking("/again", "accept-encoding: br"), brotli.compress(AGAIN.body, quality=5), "br"),
        (asking("/again", "accept-encoding: gzip"), None, "gzip"),
        (asking("/again", method="HEAD"), b"", None),
    ],
)
def test_an_answer_that_is_sent_again_is_the_same(asked, body, coding):
    async def test():
        async with serving() as served:
            AGAIN.heads.clear()
            reader, writer = await served.connect()
            found = []
            for _ in range(3):
                writer.write(asked)
                head = await reader.readuntil(b"\r\n\r\n")
                fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:-2])
                length = 0 if asked.startswith(b"HEAD") else int(fields["content-length"])
                found.append((fields, await reader.readexactly(length)))
            assert len({fields.pop("x-request-id") for fields, _ in found}) == 3
            assert all(one == found[0] for one in found) and list(AGAIN.heads) == [(served.edge, coding)]
            fields, sent = found[0]
            assert body is None or sent == body
            assert fields.get("content-encoding") == coding and fields["vary"] == "Cookie, Accept-Encoding"
            assert fields["etag"] == (f'W/"{AGAIN.etag}"' if coding else f'"{AGAIN.etag}"')
            writer.write(asking("/again", f'if-none-match: "{AGAIN.etag}"'))
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 304")

    run(test)


def test_requests_that_come_together_are_answered_in_their_order():
    async def test():
        async with serving() as served:
            served.finish.set()
            reader, _ = await served.connect(asking("/slow") + asking("/again") + asking("/a"))
            bodies = [b"slow", AGAIN.body, b"here"]
            assert [await answer(reader) for _ in bodies] == [b"HTTP/1.1 200 OK " + body for body in bodies]

    run(test)


@pytest.mark.parametrize("last", [asking("/a", "connection: close"), asking("/a", version="1.0")])
def test_the_connection_of_a_last_answer_ends(last):
    async def test():
        async with serving() as served:
            reader, _ = await served.connect(last)
            assert b"connection: close" in (await reader.read()).lower()

    run(test)


def test_no_header_becomes_two():
    async def test():
        async with serving() as served:
            reader, _ = await served.connect(asking("/split", "connection: close"))
            sent = await reader.read()
            assert b"x-c" not in sent and sent.startswith(b"HTTP/1.1 500")

    run(test)


def test_who_opens_many_connections_drops_their_own():
    async def test():
        async with serving() as served:
            quiet, kept = await served.connect(GET, address="127.0.0.2")
            await answer(quiet)
            other, _ = await served.connect(address="127.0.0.3")
            for _ in range(30):
                await served.connect(address="127.0.0.4")
            await until(lambda: len(served.ended) == 22)
            kept.write(GET)
            assert await answer(quiet) == b"HTTP/1.1 200 OK here"
            assert len(served.connections.open) == 10
            assert sorted(each.peer for each in served.connections.open)[:3] == [
                "127.0.0.2",
                "127.0.0.3",
                "127.0.0.4",
            ]

    run(test)


# --- pieces, waiting, other protocols -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "sent"), [("1.1", b"4\r\none \r\n3\r\ntwo\r\n0\r\n\r\n"), ("1.0", b"one two")]
)
def test_pieces_are_sent_as_the_client_knows_them(version, sent):
    async def test():
        async with serving() as served:
            reader, writer = await served.connect(asking("/pieces", version=version))
            head = await reader.readuntil(b"\r\n\r\n")
            assert (b"transfer-encoding: chunked" in head) == (version == "1.1")
            assert await reader.readexactly(len(sent)) == sent
            if version == "1.1":
                writer.write(GET)
                assert await answer(reader) == b"HTTP/1.1 200 OK here"
            else:
                assert await reader.read() == b""

    run(test)


def test_an_answer_that_is_shorter_than_it_said_ends_the_connection():
    async def test():
        async with serving() as served:
            reader, _ = await served.connect(asking("/short"))
            found = await rest(reader)
            assert b"content-length: 10\r\n" in found and found.endswith(b"\r\n\r\nfew")
            assert not served.connections.open

    run(test)


def test_a_client_that_goes_away_ends_its_stream_also_behind_others():
    async def test():
        async with serving() as served:
            reader, writer = await served.connect(asking("/endless") + GET + GET)
            await reader.readexactly(100_000)
            writer.transport.abort()
            await until(served.stopped.is_set)
            await until(lambda: not served.connections.open and not served.listener.port.tasks)

    run(test)


def test_a_connection_that_nobody_uses_is_closed_after_a_while():
    async def test():
        async with serving() as served:
            reader, _ = await served.connect(GET)
            await answer(reader)
            served.later(59)
            await asyncio.sleep(0.01)
            assert len(served.connections.open) == 1
            served.later(61)
            assert await rest(reader) == b"" and served.ended == []

    run(test)


def test_who_waits_for_a_word_before_the_body_hears_it():
    async def test():
        async with serving() as served:
            reader, writer = await served.connect(
                b"POST /take HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 3\r\n\r\n"
            )
            assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
            writer.write(b"abc")
            assert await answer(reader) == b"HTTP/1.1 200 OK taken"
            assert served.bodies == [3]

    run(test)


def test_who_sends_too_much_reads_why():
    """Not that the connection was reset, although what they send is not taken."""

    async def test():
        async with serving() as served:
            reader, writer = await served.connect(
                b"POST /take HTTP/1.1\r\nhost: a\r\ncontent-length: 30000000\r\n\r\n"
            )
            for _ in range(30):
                writer.write(b"x" * 1_000_000)
                with suppress(ConnectionError):
                    await writer.drain()
            assert (await asyncio.wait_for(reader.read(), 10)).startswith(b"HTTP/1.1 413 ")
            assert len(served.connections.open) == 1
            served.later(6)
            await until(lambda: not served.connections.open)

    run(test)


def test_what_stands_behind_a_body_is_no_header():
    async def test():
        async with serving() as served:
            post = b"POST /take HTTP/1.1\r\nhost: a\r\n%btransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n%b\r\n"
            reader, writer = await served.connect(post % (b"x-request-id: mine\r\n", b""))
            assert b"x-request-id: mine\r\n" in await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(5)
            writer.write(post % (b"", b"x-request-id: mine\r\n"))
            assert b"mine" not in await reader.readuntil(b"\r\n\r\n")

    run(test)


def test_requests_that_wait_behind_others_are_bounded():
    """Of what a client sends on and on, nothing more is taken before all that was taken is answered."""

    async def test():
        async with serving() as served:
            reader, writer = await served.connect(asking("/slow") + GET * 50)
            await served.begun.wait()
            (connection,) = served.connections.open
            writer.write(GET * 100_000)
            most = 0
            served.finish.set()
            for _ in range(200):
                assert (await answer(reader)).startswith(b"HTTP/1.1 200")
                most = max(most, len(connection._open))
            assert most < 10_000
            writer.transport.abort()
            await until(lambda: not served.connections.open and not served.listener.port.tasks)

    run(test)


def test_a_body_that_was_not_asked_for_ends_the_connection():
    """Whether it follows the answer nobody knows."""

    async def test():
        async with serving() as served:
            reader, _ = await served.connect(
                b"GET /a HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 3\r\n\r\n"
            )
            found = await asyncio.wait_for(reader.read(), 5)
            assert found.startswith(b"HTTP/1.1 200") and b"connection: close" in found

    run(test)


def test_another_protocol_is_not_switched_to():
    async def test():
        async with serving() as served:
            reader, writer = await served.connect(
                asking("/a", "connection: upgrade", "upgrade: websocket") + GET
            )
            for _ in range(2):
                assert await answer(reader) == b"HTTP/1.1 200 OK here"
            writer.write(GET)
            assert await answer(reader) == b"HTTP/1.1 200 OK here"

    run(test)


@pytest.mark.parametrize(
    ("target", "found"), [("http://elsewhere.example/a?x#y", 200), ("/a#y", 200), ("/a?#", 200), ("//a", 404), ("*", 404),
    ("a", 400), ("elsewhere:80", 400), ("/\xff", 400)],
)  # fmt: skip
def test_what_a_request_is_for(target, found):
    async def test():
        async with serving() as served:
            reader, _ = await served.connect(f"GET {target} HTTP/1.1\r\nhost: a\r\n\r\n".encode("latin-1"))
            assert (await reader.readline()).startswith(b"HTTP/1.1 %d " % found)

    run(test)


SENT = st.lists(
    st.sampled_from(
        [GET, asking("/again"), asking("/pieces"), asking("/a", method="HEAD"), asking("/nowhere"),
         b"POST /take HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\nabc",
         b"POST /take HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
         asking("/a", "upgrade: x", "connection: upgrade")]
    ), max_size=6,
)  # fmt: skip


def test_who_was_not_told_that_a_connection_ends_may_ask_once_more_when_all_are_to_leave():
    async def test():
        async with serving() as served:
            reader, writer = await served.connect(asking("/halting"))
            head = await reader.readuntil(b"\r\n\r\n")
            assert b"connection: close" not in head.lower()
            served.connections.leave()
            served.go_on.set()
            await reader.readuntil(b"\r\n0\r\n\r\n")
            writer.write(GET)
            found = await rest(reader)
            assert b"connection: close" in found and found.endswith(b"here")

    run(test)


def test_what_is_still_on_its_way_behind_rubbish_resets_no_connection():
    """Else the client would lose the answer that it was sent."""

    async def test():
        async with serving() as served:
            reader, writer = await served.connect(GET + b"\0")
            assert await answer(reader) == b"HTTP/1.1 200 OK here"
            for _ in range(3):
                writer.write(b"GET")
                await asyncio.sleep(0.02)
            assert await reader.read() == b"" and not writer.is_closing()

    run(test)


@settings(deadline=None, max_examples=15)
@given(SENT, st.binary(max_size=20), st.lists(st.integers(1, 400), max_size=8))
def test_requests_are_answered_alike_however_they_arrive(sent, rubbish, cuts):
    """Whole, and cut anywhere; what is no request behind them ends the connection, and nothing else."""

    async def ask_in(parts):
        async with serving() as served:
            reader, writer = await served.connect()
            for part in parts:
                writer.write(part)
                await asyncio.sleep(0)
            found = await asyncio.wait_for(rest(reader), 10)
            writer.close()
            await until(lambda: not served.connections.open and not served.listener.port.tasks)
        found = re.sub(rb"x-request-id: \w+|date: [^\r]+|connection: close\r\n", b"", found)
        # Said where nothing waits for its answer any more.
        return found.removesuffix(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")

    async def test():
        whole = b"".join(sent) + rubbish + asking("/a", "connection: close")
        edges = sorted({0, len(whole), *(cut for cut in cuts if cut < len(whole))})
        parts = [whole[a:b] for a, b in zip(edges, edges[1:], strict=False)]
        assert await ask_in([whole]) == await ask_in(parts)

    run(test)


def test_nothing_of_a_connection_that_has_ended_is_left_to_the_collector():
    """Whichever side ended it, and whatever it was answered."""
    closes = b"connection: close\r\n"

    async def ask(served, path: bytes, *, leaves: bool = False) -> None:
        reader, writer = await served.connect()
        writer.write(b"GET %b HTTP/1.1\r\nhost: a\r\n%b\r\n" % (path, b"" if leaves else closes))
        if leaves:
            await reader.read(100)
            writer.close()
        else:
            await rest(reader)

    async def test():
        async with serving() as served:
            await ask(served, b"/a")
            gc.collect()
            gc.disable()
            try:
                for path in (b"/a", b"/big", b"/again", b"/pieces", b"/short", b"/split", b"/nothing", b"*"):
                    await ask(served, path)
                await ask(served, b"/a", leaves=True)
                await ask(served, b"/endless", leaves=True)
                await until(lambda: served.stopped.is_set() and not served.connections.open)
                left = circles_left()
            finally:
                gc.enable()
            assert not left

    run(test)


def test_processes_that_share_a_port_share_the_connections_that_come_at_once():
    """Clients keep them: who took all of them up would answer alone."""

    async def test():
        ended: list[str] = []
        bound = bind("127.0.0.1", 0)
        edge = Edge(
            [Route("/a", {"GET": Action("a", lambda request: AGAIN)})],
            pool=request_threads("x", 2, "octavo-test", 100),
            metrics=Metrics(), compressor=Compressor(), refuse=text_error, headers={}, query_limit=1000,
        )  # fmt: skip
        bounds = Bounds(**{f: getattr(BOUNDS, f) for f in BOUNDS.__struct_fields__} | {"connections": 100})
        sockets = [bound, bound.dup()]
        listeners = [Listener(edge, each, Connections(bounds, ended.append), shared=True) for each in sockets]
        bound.listen(100)
        clients = [socket.create_connection(bound.getsockname()) for _ in range(60)]
        for listener in listeners:
            await listener.open()
            for _ in range(8):  # the other one is not there yet, or does something else
                await asyncio.sleep(0)
        await until(lambda: sum(len(listener.port.open) for listener in listeners) == 60)
        taken = [len(listener.port.open) for listener in listeners]
        for client in clients:
            client.close()
        for listener in listeners:
            await listener.close(1)
        for each in sockets:
            each.close()
        assert min(taken) >= 20, taken

    run(test)
