"""A client that sends any bytes, in any manner, on many connections at once."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from contextlib import suppress

from .cases import Case, make_case
from .judging import judge, judge_order, see
from .subjects import Subject

MARKER = re.compile(rb"m[0-9a-f]+x[0-9a-f]+x\d")
_AT_ONCE = 100
_STALLED = 0.2
"""Seconds after which a server that accepts no more data is no longer sent any. A slower server is sent less,
which fails no test."""
_QUIET, _SLOW = 0.05, 0.25
"""Seconds without a response after which the client stops waiting. The second applies while fewer responses
arrived than h11 sees requests."""
_PATIENCE = 60
"""Seconds to wait for responses that must arrive."""
_KEPT = 1 << 22


class Talk:
    """A case on its connection."""

    def __init__(self, case: Case, number: int) -> None:
        self.case, self.number = case, number
        self.received, self.ended = b"", False
        self._reader: asyncio.StreamReader
        self._writer: asyncio.StreamWriter

    async def send(self, host: str, port: int) -> None:
        self._reader, self._writer = await asyncio.open_connection(host, port, limit=_KEPT)
        self._writer.transport.set_write_buffer_limits(0)
        case = self.case
        if not case.reads:
            self._writer.transport.pause_reading()  # type: ignore[attr-defined]
        with suppress(OSError, TimeoutError):
            for piece in case.pieces:
                self._writer.write(piece)
                await self._writer.drain()
                await asyncio.sleep(0.001)
            for _ in range(case.repeats):
                self._writer.write(case.endless)
                await asyncio.wait_for(self._writer.drain(), _STALLED)

    async def receive(self) -> None:
        """Read the response, then close."""
        seen = len(see(self.case.sent).heads)
        if not self.case.reads:
            self._writer.transport.resume_reading()  # type: ignore[attr-defined]
        with suppress(OSError, TimeoutError):
            while len(self.received) < _KEPT:
                answers = self.received.count(b"HTTP/1.")
                quiet = (
                    _PATIENCE if answers < (self.case.answers or 0) else _SLOW if answers < seen else _QUIET
                )
                piece = await asyncio.wait_for(self._reader.read(1 << 16), quiet)
                if not piece:
                    self.ended = True
                    break
                self.received += piece
        self._writer.transport.abort()


async def _ask(subject: Subject) -> None:
    """Send a plain request and wait for the response: everything sent before has been processed by then."""
    reader, writer = await asyncio.open_connection(subject.host, subject.port)
    target = subject.words.read.format("m0x0x0")
    writer.write(subject.words.request("GET", target, b"", "Connection: close"))
    assert (await reader.read()).startswith(b"HTTP/1.1 ")
    writer.close()


async def _run(subject: Subject, seed: int, numbers: Sequence[int]) -> list[str]:
    problems: list[str] = []
    hidden: dict[str, Talk] = {}
    for start in range(0, len(numbers), _AT_ONCE):
        talks = [Talk(make_case(seed, n, subject.words), n) for n in numbers[start : start + _AT_ONCE]]
        await asyncio.gather(*(talk.send(subject.host, subject.port) for talk in talks))
        await _ask(subject)
        await asyncio.gather(*(talk.receive() for talk in talks))
        for talk in talks:
            case = talk.case
            if subject.is_direct:
                wrong = judge(case.sent, case.endless, talk.received, talk.ended, marker=MARKER)
            else:
                wrong = judge_order(talk.received, f"m{case.hidden[1:]}x", marker=MARKER)
            answers = talk.received.count(b"HTTP/1.1 ")
            # A request that is refused before its body was read ends the connection.
            if answers < (case.answers or 0) and b"\r\nconnection: close\r\n" not in talk.received:
                wrong.append(f"not all of {case.answers} requests are answered")
            if all(head.target != subject.words.write_target for head in see(case.sent).heads):
                hidden[case.hidden] = talk
            problems += [f"{seed}:{talk.number} ({case.name}): {each}" for each in wrong]
    for marker in sorted(subject.written() & hidden.keys()) if subject.is_direct else ():
        talk = hidden[marker]
        problems.append(f"{seed}:{talk.number} ({talk.case.name}): a request inside a body was run")
    return problems


def run(subject: Subject, seed: int, numbers: Sequence[int]) -> list[str]:
    """Send the cases with these numbers; what the server did wrong, each line with how to send the case again."""
    return asyncio.run(_run(subject, seed, numbers))
