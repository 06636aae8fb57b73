"""A provider of language models, spoken to over HTTP as OpenAI's chat completions are.

Whatever it does wrong (an error, silence, text that is no answer, an error with status 200, an answer cut short) is
ModelFailed; what may pass is tried again as long as nothing of an answer has come.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct

from ..core.masking import mask_secrets
from ..errors import Unavailable
from ..kit import deadlines
from ..kit.fetch import Fetcher, FetchError, Limits

ATTEMPTS = 3
PAUSE = 0.5
"""Seconds before the second attempt; twice as long before the third."""
_SIZE = 4 * 1024 * 1024
_LINE = 1024 * 1024
"""Bytes of an answer, and of one line of a stream."""


class ModelFailed(Unavailable):
    """The model gave no answer that can be used; the message says why, without any secret."""

    def __init__(self, message: str, *, may_pass: bool = False) -> None:
        super().__init__(f"The language model: {message}")
        self.may_pass = may_pass


class Message(Struct, frozen=True):
    role: Literal["system", "user", "assistant"]
    content: str


class Usage(Struct):
    """As the provider counts; 0 where it does not say."""

    input_tokens: int = 0
    output_tokens: int = 0


class Provider(Struct, frozen=True):
    """``url``: the base that ``/chat/completions`` comes behind. ``seconds``: for a whole answer."""

    url: str
    key: str
    model: str
    seconds: float
    allowed: str = ""

    def stream(
        self,
        messages: Sequence[Message],
        usage: Usage,
        *,
        schema: dict[str, Any] | None = None,
        max_tokens: int,
    ) -> Iterator[str]:
        """The answer in pieces; ``usage`` is filled in by the end. ``schema``: of the JSON that is wanted; providers
        that know no schemas are told the same in words. Raises ModelFailed, OutOfTime."""
        body: dict[str, Any] = {
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
                wait = PAUSE * 2 ** (attempt - 1)
                late = time.monotonic() + wait > until
                if begun or late or not error.may_pass or attempt == ATTEMPTS:
                    raise
                time.sleep(deadlines.remaining(wait))

    def _attempt(self, body: bytes, usage: Usage, seconds: float) -> Iterator[str]:
        headers = {"Content-Type": "application/json", "Accept": "text/event-stream, application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        limits = Limits(size=_SIZE, seconds=seconds, redirects=0)
        try:
            with Fetcher(self.allowed).stream(
                f"{self.url.rstrip('/')}/chat/completions", "POST", headers, body, limits
            ) as answer:
                if answer.status != 200:
                    said = b"".join(answer.chunks)[:2000].decode("utf-8", "replace")
                    may_pass = answer.status in (408, 409, 429) or answer.status >= 500
                    raise ModelFailed(f"status {answer.status}: {self._clean(said)}", may_pass=may_pass)
                if answer.headers.get("content-type", "").startswith("text/event-stream"):
                    yield from self._events(answer.chunks, usage)
                else:
                    yield from self._whole(b"".join(answer.chunks), usage)
        except FetchError as error:
            raise ModelFailed(self._clean(error.message), may_pass=True) from None

    def _events(self, chunks: Iterator[bytes], usage: Usage) -> Iterator[str]:
        """The pieces of a stream of events. It has to end by itself, and to say why."""
        ended = False
        said = False
        for line in _lines(chunks):
            if not line.startswith(b"data:"):
                continue
            data = line[5:].strip()
            if data == b"[DONE]":
                break
            piece, reason = self._read(data, usage, "delta")
            if piece:
                said = True
                yield piece
            ended = ended or reason is not None
            _require_whole(reason)
        if not ended or not said:
            raise ModelFailed("the answer ended before it was complete", may_pass=not said)

    def _whole(self, body: bytes, usage: Usage) -> Iterator[str]:
        """The answer of a provider that does not stream."""
        piece, reason = self._read(body, usage, "message")
        _require_whole(reason)
        if not piece:
            raise ModelFailed("the answer was empty", may_pass=True)
        yield piece

    def _read(self, data: bytes, usage: Usage, field: str) -> tuple[str, str | None]:
        """The text of an answer or of a piece, and why it ends, if it does."""
        try:
            found = msgspec.json.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise ModelFailed("the answer is no JSON", may_pass=True) from None
        if not isinstance(found, dict):
            raise ModelFailed("the answer is no JSON object", may_pass=True)
        if found.get("error"):
            raise ModelFailed(self._clean(str(found["error"])), may_pass=True)
        counted = found.get("usage")
        if isinstance(counted, dict):
            usage.input_tokens = _count(counted.get("prompt_tokens"))
            usage.output_tokens = _count(counted.get("completion_tokens"))
        choices = found.get("choices")
        if choices is None or not isinstance(choices, list):
            raise ModelFailed("the answer has no choices", may_pass=True)
        if not choices:
            return "", None
        choice = choices[0] if isinstance(choices[0], dict) else {}
        message, reason = choice.get(field), choice.get("finish_reason")
        content = message.get("content") if isinstance(message, dict) else None
        return content if isinstance(content, str) else "", reason if isinstance(reason, str) else None

    def _clean(self, text: str) -> str:
        """What a provider said, without secrets: some repeat the key that they refuse."""
        if self.key:
            text = text.replace(self.key, "[secret]")
        return " ".join(mask_secrets(text)[:300].split())


def _require_whole(reason: str | None) -> None:
    if reason not in (None, "stop"):
        raise ModelFailed(f"the answer was cut short ({reason[:40]})")


def _count(value: Any) -> int:
    return min(value, 10**9) if isinstance(value, int) and value > 0 else 0


def _lines(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Raises ModelFailed for a line without an end."""
    left = b""
    for chunk in chunks:
        *lines, left = (left + chunk).split(b"\n")
        yield from lines
        if len(left) > _LINE:
            raise ModelFailed("the answer has a line without an end")
    if left:
        yield left
