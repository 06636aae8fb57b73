"""Language model provider for tests: a real HTTP server that speaks the protocol and sends the given responses.

with model_server() as server, world_with_model(world, server):
    server.answer = lambda request: "Hello"
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

import msgspec
import pytest

from local_server import local_server
from octavo.assistants.models import provider
from octavo.core.sentences import stems
from world import World

DIMENSIONS = 64
KEY = "sk-the-key-of-the-provider-0123"


class ModelServer:
    """Language model server. ``requests``: received bodies. ``answer``: the response to a request; raw bytes
    are sent unchanged. ``embed``: the vector of a text. ``failures``: (status, body) of the next responses.
    ``hang``: seconds before any response."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.answer: Callable[[dict[str, Any]], str | bytes] = lambda request: "Yes."
        self.embed: Callable[[str], list[float]] = embed_words
        self.failures: list[tuple[int, str]] = []
        self.hang = 0.0
        self.streams = True
        self.url = ""
        self.address = ""

    @property
    def embedded(self) -> list[str]:
        """Return all texts whose vectors were requested."""
        return [text for request in self.requests for text in request.get("input", [])]

    @property
    def said(self) -> str:
        """All that was ever sent to it."""
        return json.dumps(self.requests, ensure_ascii=False)


def embed_words(text: str) -> list[float]:
    """Return the sum of a random vector for each meaningful word: texts are as similar as the words they
    share."""
    found = [0.0] * DIMENSIONS
    for word in set(stems(text)):
        dice = random.Random(word)
        found = [number + dice.gauss(0, 1) for number in found]
    return found if any(found) else [1.0] * DIMENSIONS


def _embeddings(server: ModelServer, request: dict[str, Any]) -> bytes:
    given = [{"index": at, "embedding": server.embed(text)} for at, text in enumerate(request["input"])]
    usage = {"prompt_tokens": 10 * len(given)}
    # In an order of its own.
    return json.dumps({"data": given[::-1], "usage": usage}).encode()


def _handler(server: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            server.requests.append({"path": self.path, **request})
            server.keys.append(self.headers.get("authorization"))
            time.sleep(server.hang)
            if server.failures:
                status, body = server.failures.pop(0)
                self._send(status, "application/json", body.encode())
                return
            said = server.answer(request) if "messages" in request else _embeddings(server, request)
            if isinstance(said, bytes):
                self._send(
                    200, "text/event-stream" if said.startswith(b"data:") else "application/json", said
                )
                return
            usage = {"prompt_tokens": 100, "completion_tokens": 7}
            if not server.streams:
                choice = {"message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
                self._send(
                    200, "application/json", json.dumps({"choices": [choice], "usage": usage}).encode()
                )
                return
            events = [
                {"choices": [{"delta": {"content": said[at : at + 9]}}]} for at in range(0, len(said), 9)
            ]
            events += [{"choices": [{"delta": {}, "finish_reason": "stop"}]}, {"choices": [], "usage": usage}]
            body = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
            self._send(200, "text/event-stream", body.encode())

        def _send(self, status: int, content_type: str, body: bytes) -> None:
            try:
                self.send_response(status)
                self.send_header("content-type", content_type)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except OSError:
                # The client has disconnected.
                pass

    return Handler


@contextmanager
def model_server() -> Iterator[ModelServer]:
    server = ModelServer()
    with local_server(_handler(server)) as http:
        server.address = http.host
        server.url = f"{http.url}/v1"
        yield server


@contextmanager
def world_with_model(world: World, server: ModelServer, **settings: Any) -> Iterator[None]:
    """Run a world whose settings name this provider."""
    kept = world.context.settings
    given: dict[str, Any] = {
        "llm_url": server.url,
        "llm_key": KEY,
        "llm_model": "test-model",
        "llm_seconds": 5,
        "allow_private_fetch": server.address,
        **settings,
    }
    world.context.settings = msgspec.structs.replace(kept, **given)
    try:
        yield
    finally:
        world.context.settings = kept


@pytest.fixture(name="server")
def quick_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """Return a provider that is retried without a pause. A module sets its responses in a fixture that uses
    this one."""
    monkeypatch.setattr(provider, "PAUSE", 0.001)
    with model_server() as found:
        yield found
