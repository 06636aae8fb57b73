"""A name server for tests, and a world that asks it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import dns.message
import dns.rrset
import msgspec
import pytest

from world import World


class NameServer:
    """A name server of one machine: answers questions for TXT records with ``texts``, by name."""

    def __init__(self) -> None:
        self.texts: dict[str, list[str]] = {}
        self.asked: list[str] = []
        self.silent = False
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._answer)

    def _answer(self) -> None:
        while True:
            data, sender = self._socket.recvfrom(4096)
            if not data:
                return
            question = dns.message.from_wire(data)
            name = question.question[0].name
            self.asked.append(name.to_text(omit_final_dot=True))
            if self.silent:
                continue
            answer = dns.message.make_response(question)
            texts = self.texts.get(self.asked[-1])
            if texts:
                answer.answer.append(
                    dns.rrset.from_text_list(name, 60, "IN", "TXT", [f'"{t}"' for t in texts])
                )
            else:
                answer.set_rcode(dns.rcode.NXDOMAIN)
            self._socket.sendto(answer.to_wire(), sender)

    @contextmanager
    def running(self) -> Iterator[NameServer]:
        self._thread.start()
        try:
            yield self
        finally:
            host, port = self._socket.getsockname()
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ending:
                ending.sendto(b"", (host, port))
            self._thread.join()
            self._socket.close()


@pytest.fixture
def names(world: World) -> Iterator[NameServer]:
    with NameServer().running() as server:
        before = world.context.settings
        world.context.settings = msgspec.structs.replace(before, dns_servers=server.address)
        yield server
        world.context.settings = before
