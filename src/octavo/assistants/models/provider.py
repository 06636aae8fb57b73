"""Client for a language model provider, using OpenAI's HTTP API for chat completions and embeddings.

Every failure (an error, a timeout, unusable output, an error with status 200, or a truncated answer) raises
ModelFailed. Transient failures are retried until part of an answer has arrived."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Literal

import msgspec
from msgspec import Struct

from octavo.core.json_types import JsonObject
from octavo.core.masking import mask_secrets
from octavo.errors import Unavailable
from octavo.kit.net.fetch import Fetcher, FetchError, Limits, Streamed
from octavo.kit.scheduling import deadlines
from octavo.settings import Settings

ATTEMPTS = 3
PAUSE = 0.5
"""Seconds to wait before the second attempt. The wait before the third attempt is twice as long."""
_SIZE = 4 * 1024 * 1024
_LINE = 1024 * 1024
"""Maximum number of bytes in an answer, and in one line of a stream."""
_VECTORS = 16 * 1024 * 1024
"""Maximum number of bytes in a response with vectors."""
MAX_DIMENSIONS = 4096
"""Maximum number of dimensions of a vector."""


class ModelFailed(Unavailable):
    """Raised if the model returned no usable answer. The message contains the reason, but no secrets."""

    reason = "model_failed"

    def __init__(self, message: str, *, may_pass: bool = False) -> None:
        super().__init__(f"The language model failed: {message}")
        self.may_pass = may_pass


class ModelMessage(Struct, frozen=True):
    role: Literal["system", "user", "assistant"]
    content: str


class TokenUsage(Struct):
    """Numbers of tokens that the provider counted; 0 if the provider doesn't report them."""

    input_tokens: int = 0
    output_tokens: int = 0


class ModelProvider(Struct, frozen=True):
    """Model provider. ``url``: the URL that ``/chat/completions`` and ``/embeddings`` are appended to.
    ``seconds``: the timeout for a complete answer."""

    url: str
    key: str
    model: str
    seconds: float
    allowed: str = ""

    @classmethod
    def from_settings(cls, settings: Settings, model: str) -> ModelProvider:
        """Return the provider that is configured on the server, with this model."""
        return cls(
            settings.llm_url, settings.llm_key, model, settings.llm_seconds, settings.allow_private_fetch
        )

    def stream(
        self,
        messages: Sequence[ModelMessage],
        usage: TokenUsage,
        *,
        schema: Mapping[str, object] | None = None,
        max_tokens: int,
    ) -> Iterator[str]:
        """Yield the answer in chunks, and complete ``usage`` at the end. ``schema``: the schema of the requested
        JSON. Providers that don't support schemas receive it as text. Raises ModelFailed if there is no usable answer,
        and DeadlineExceeded if there is no time left."""
        body: JsonObject = {
            "model": self.model,
            "messages": [msgspec.to_builtins(message) for message in messages],
            "max_tokens": max_tokens,
            "temperature": 0,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if schema is not None:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "answer", "strict": True, "schema": schema},
            }
        encoded = msgspec.json.encode(body)
        until = time.monotonic() + self.seconds
        for attempt in range(1, ATTEMPTS + 1):
            begun = False
            try:
                for piece in self._attempt(encoded, usage, until - time.monotonic()):
                    begun = True
                    yield piece
                return
            except ModelFailed as error:
                if begun:
                    raise
                _wait_after(error, attempt, until)

    def embed(self, texts: Sequence[str], usage: TokenUsage) -> list[list[float]]:
        """Return a vector of length 1 for each passage, all with the same number of dimensions, and set ``usage``.
        Raises ModelFailed if there are no usable vectors, and DeadlineExceeded if there is no time left."""
        body = msgspec.json.encode({"model": self.model, "input": list(texts), "encoding_format": "float"})
        until = time.monotonic() + self.seconds
        attempt = 0
        while True:
            attempt += 1
            try:
                with self._post("embeddings", body, _VECTORS, until - time.monotonic()) as answer:
                    return self._read_vectors(b"".join(answer.chunks), len(texts), usage)
            except ModelFailed as error:
                _wait_after(error, attempt, until)

    def _attempt(self, body: bytes, usage: TokenUsage, seconds: float) -> Iterator[str]:
        with self._post("chat/completions", body, _SIZE, seconds) as answer:
            if answer.headers.get("content-type", "").startswith("text/event-stream"):
                yield from self._events(answer.chunks, usage)
            else:
                yield from self._whole(b"".join(answer.chunks), usage)

    @contextmanager
    def _post(self, path: str, body: bytes, size: int, seconds: float) -> Iterator[Streamed]:
        """Send a request, and yield the response if its status is 200. Raises ModelFailed otherwise, or if the
        response can't be read."""
        headers = {"Content-Type": "application/json", "Accept": "text/event-stream, application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        limits = Limits(size=size, seconds=seconds, redirects=0)
        url = f"{self.url.rstrip('/')}/{path}"
        try:
            with Fetcher(self.allowed, tells_trace=True).stream(url, "POST", headers, body, limits) as answer:
                if answer.status != 200:
                    may_pass = answer.status in (408, 409, 429) or answer.status >= 500
                    explanation = self._clean(_explain(b"".join(answer.chunks)))
                    raise ModelFailed(
                        f"the provider responded with status {answer.status}: {explanation}",
                        may_pass=may_pass,
                    )
                yield answer
        except FetchError as error:
            raise ModelFailed(self._clean(error.message), may_pass=True) from None

    def _events(self, chunks: Iterator[bytes], usage: TokenUsage) -> Iterator[str]:
        """Yield the text in an event stream, event by event. Raises ModelFailed if the stream ends without a finish
        reason."""
        ended = False
        has_text = False
        for line in _split_lines(chunks):
            if not line.startswith(b"data:"):
                continue
            data = line[5:].strip()
            if data == b"[DONE]":
                break
            piece, reason = self._read(data, usage, "delta")
            if piece:
                has_text = True
                yield piece
            ended = ended or reason is not None
            _require_complete(reason)
        if not ended or not has_text:
            raise ModelFailed("the response ended before it was complete", may_pass=not has_text)

    def _whole(self, body: bytes, usage: TokenUsage) -> Iterator[str]:
        """Yield the answer of a provider that doesn't support streams, as a single chunk."""
        piece, reason = self._read(body, usage, "message")
        _require_complete(reason)
        if not piece:
            raise ModelFailed("the response was empty", may_pass=True)
        yield piece

    def _read(self, data: bytes, usage: TokenUsage, field: str) -> tuple[str, str | None]:
        """Return the text in a response or in an event of a stream, and the finish reason if this is the end of the
        answer."""
        found = self._decode(data, usage)
        choices = found.get("choices")
        if choices is None or not isinstance(choices, list):
            raise ModelFailed("the response doesn't contain any choices", may_pass=True)
        if not choices:
            return "", None
        choice = choices[0] if isinstance(choices[0], dict) else {}
        message, reason = choice.get(field), choice.get("finish_reason")
        content = message.get("content") if isinstance(message, dict) else None
        return content if isinstance(content, str) else "", reason if isinstance(reason, str) else None

    def _read_vectors(self, data: bytes, count: int, usage: TokenUsage) -> list[list[float]]:
        given = self._decode(data, usage).get("data")
        items = [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []
        at = {each["index"]: each.get("embedding") for each in items if type(each.get("index")) is int}
        if len(items) != count or sorted(at) != list(range(count)):
            raise ModelFailed(f"the response contains {len(at)} embeddings instead of {count}", may_pass=True)
        vectors = [_normalize_vector(at[number]) for number in range(count)]
        if len({len(vector) for vector in vectors}) != 1:
            raise ModelFailed("the embeddings have different lengths", may_pass=True)
        return vectors

    def _decode(self, data: bytes, usage: TokenUsage) -> JsonObject:
        """Decode a response and update ``usage``. Raises ModelFailed if the provider reports an error or
        the JSON is invalid."""
        try:
            found = msgspec.json.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise ModelFailed("the response isn't JSON", may_pass=True) from None
        if not isinstance(found, dict):
            raise ModelFailed("the response isn't a JSON object", may_pass=True)
        if found.get("error"):
            raise ModelFailed(f"the provider returned an error: {self._clean(_explain(data))}", may_pass=True)
        counted = found.get("usage")
        if isinstance(counted, dict):
            usage.input_tokens = _read_count(counted.get("prompt_tokens"))
            usage.output_tokens = _read_count(counted.get("completion_tokens"))
        return found

    def _clean(self, text: str) -> str:
        """Return a provider's message without secrets. Some providers quote the rejected key."""
        if self.key:
            text = text.replace(self.key, "[secret]")
        return " ".join(mask_secrets(text)[:300].split())


def _explain(body: bytes) -> str:
    """Return the message in an error in OpenAI's format; for any other format, return the whole body."""
    try:
        error = msgspec.json.decode(body)["error"]
        found = error if isinstance(error, str) else error["message"]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, LookupError, TypeError):
        found = None
    return found[:2000] if found and isinstance(found, str) else body[:2000].decode("utf-8", "replace")


def _wait_after(error: ModelFailed, attempt: int, until: float) -> None:
    """Wait before the next attempt. Raises the error if there are no attempts left."""
    wait = PAUSE * 2 ** (attempt - 1)
    if not error.may_pass or attempt >= ATTEMPTS or time.monotonic() + wait > until:
        raise error
    time.sleep(deadlines.remaining(wait))


def _normalize_vector(given: object) -> list[float]:
    """Scale a provider's vector to length 1. Raises ModelFailed if that isn't possible."""
    if not isinstance(given, list) or not 0 < len(given) <= MAX_DIMENSIONS:
        raise ModelFailed(f"each embedding must have 1 to {MAX_DIMENSIONS:,} numbers", may_pass=True)
    try:
        numbers = [float(each) if type(each) in (int, float) else math.nan for each in given]
    except OverflowError:
        numbers = [math.inf]
    length = math.hypot(*numbers)
    if not 0 < length < math.inf:
        raise ModelFailed("an embedding contains only zeros, or numbers that aren't finite", may_pass=True)
    return [number / length for number in numbers]


def _require_complete(reason: str | None) -> None:
    if reason not in (None, "stop"):
        raise ModelFailed(f"the response was truncated ({reason[:40]})")


def _read_count(value: object) -> int:
    return min(value, 10**9) if isinstance(value, int) and value > 0 else 0


def _split_lines(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the lines of a stream. Raises ModelFailed if a line is too long."""
    left = b""
    for chunk in chunks:
        *lines, left = (left + chunk).split(b"\n")
        yield from lines
        if len(left) > _LINE:
            raise ModelFailed("the response contains a line that is too long")
    if left:
        yield left
