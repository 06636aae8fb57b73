"""Helpers that keep event streams of a world open while other requests are made."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from asgi_client import ask
from settled import PATIENCE
from world import World


class Heard(NamedTuple):
    """Event. ``id``: empty if it has none."""

    kind: str
    data: dict[str, Any]
    id: str


class Listening:
    """Open stream. ``comments``: number of keep-alive comments."""

    def __init__(self, world: World, who: str, path: str, headers: dict[str, str]) -> None:
        self._world = world
        self._text = ""
        self.takes = asyncio.Event()
        """Event that is cleared for a client that does not read."""
        self.takes.set()
        self.status = 0
        self.headers: dict[str, str] = {}
        self.comments = 0
        self.heard: list[Heard] = []
        self.last_id = ""
        sent = {"host": "octavo.test", **headers}
        if "authorization" not in sent:
            sent["authorization"] = f"Bearer {world.token(who)}"
        self._task = world._loop.create_task(
            self._listen(
                f"/v1{path}".encode(), [(name.encode(), value.encode()) for name, value in sent.items()]
            )
        )

    async def _listen(self, target: bytes, headers: list[tuple[bytes, bytes]]) -> None:
        received = await ask(self._world._app.application, "GET", target, headers, peer="203.0.113.9")
        try:
            self.status = received.status
            self.headers = {name.decode(): value.decode() for name, value in received.headers}
            async for piece in received:
                self._take(piece.decode())
                await self.takes.wait()
        finally:
            await received.close()

    def _take(self, text: str) -> None:
        self._text += text
        *whole, self._text = self._text.split("\n\n")
        for block in whole:
            fields = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line)
            if block == ":":
                self.comments += 1
            if "event" in fields:
                self.last_id = fields.get("id", self.last_id)
                found = Heard(fields["event"], json.loads(fields["data"]), fields.get("id", ""))
                assert found.data["kind"] == found.kind
                self.heard.append(found)

    @property
    def body(self) -> str:
        """Return sent data that isn't an event, such as an error."""
        return self._text

    @property
    def ended(self) -> bool:
        return self._task.done()

    def wait(self, until: Any) -> None:
        """Wait until a condition is true; fail if that does not happen."""

        async def waiting() -> None:
            end = asyncio.get_running_loop().time() + PATIENCE
            while not until(self):
                assert asyncio.get_running_loop().time() < end, f"not heard: {self.heard} {self._text}"
                await asyncio.sleep(0.01)

        self._world._loop.run_until_complete(waiting())

    def hear(self, kind: str, **data: Any) -> Heard:
        """Return the next event of a kind with these data, skipping others."""
        start = 0

        def find() -> Heard | None:
            for at in range(start, len(self.heard)):
                one = self.heard[at]
                if one.kind == kind and data.items() <= one.data.items():
                    del self.heard[: at + 1]
                    return one
            return None

        found: list[Heard] = []

        def came(_: Listening) -> bool:
            one = find()
            if one is not None:
                found.append(one)
            return bool(found)

        self.wait(came)
        return found[0]

    def kinds(self) -> list[str]:
        return [one.kind for one in self.heard]

    def leave(self) -> None:
        """Disconnect the client."""
        self._task.cancel()
        self._world._loop.run_until_complete(asyncio.wait([self._task]))
        if not self._task.cancelled():
            self._task.result()


@contextmanager
def listening(world: World, who: str, path: str, **headers: str) -> Iterator[Listening]:
    """Return a person's stream, ready to receive."""
    stream = Listening(world, who, path, {name.replace("_", "-"): value for name, value in headers.items()})
    try:
        stream.wait(lambda one: one.ended or "ready" in one.kinds())
        if stream.status == 200:
            stream.hear("ready")
        yield stream
    finally:
        stream.leave()
