"""Logs: one line an event on standard error, as text or JSON, those of libraries included.

An error carries a short trace without the values of variables. Whatever is written passes ``redact``: secrets
of the settings, credentials in headers and URLs, and tokens of ours never reach a log.
"""

from __future__ import annotations

import logging
import re
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Literal, TextIO
from urllib.parse import quote

import structlog

HIDDEN = "[hidden]"
_FRAMES = 12
"""Frames of a trace that are shown: the innermost ones."""
_SHORTEST_SECRET = 6
"""Shorter values of settings are words rather than secrets, and would be hidden everywhere."""

_CREDENTIALS = re.compile(
    r"""
      (?<=://)(?P<user>[^/\s:@"']*):[^/\s"']*@                       # user:password@ in a URL
    | \boc[a-z]_[\w-]{16,}                                           # tokens and sessions of ours
    | \b(?P<scheme>Bearer|Basic|Digest)\ +[^\s"',;]+
    | (?P<name>["']?\b(?:[\w-]*(?:password|passwd|secret|token|api[_-]?key|access[_-]?key|authorization
        |cookie)[\w-]*)["']?\s*[=:]\s*)(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s"',;&}\])]{6,})
    | (?P<parameter>[?&](?:[\w.-]*(?:token|secret|key|signature|code|password)[\w.-]*)=)[^&\s"'#]+
    | \beyJ[\w-]{8,}\.[\w-]+\.[\w-]*                                 # JSON Web Tokens
    """,
    re.X | re.I,
)

_NAME = re.compile("password|passwd|secret|token|api[_-]?key|access[_-]?key|authorization|cookie", re.I)

_SHARED: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]


class Redactor:
    """Hides secrets in text: the given ones, and whatever looks like a credential."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        known = {form for secret in secrets if len(secret) >= _SHORTEST_SECRET for form in _spellings(secret)}
        longest_first = sorted(known, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, longest_first))) if known else None

    def __call__(self, text: str) -> str:
        if self._known is not None:
            text = self._known.sub(HIDDEN, text)
        return _CREDENTIALS.sub(_hide, text)

    def values(self, value: Any) -> Any:
        """The same with every string inside a value made of dictionaries and lists."""
        if isinstance(value, str):
            return self(value)
        if isinstance(value, dict):
            return {
                key: HIDDEN if isinstance(given, str) and _NAME.search(str(key)) else self.values(given)
                for key, given in value.items()
            }
        if isinstance(value, list | tuple):
            return [self.values(item) for item in value]
        return value


def _spellings(secret: str) -> set[str]:
    """How a secret may be written: as it is, in a URL, and inside quotes."""
    return {secret, quote(secret, safe=""), quote(secret), repr(secret)[1:-1]}


def _hide(match: re.Match[str]) -> str:
    if match["user"] is not None:
        return f"{match['user']}:{HIDDEN}@"
    if match["scheme"] is not None:
        return f"{match['scheme']} {HIDDEN}"
    return f"{match['name'] or match['parameter'] or ''}{HIDDEN}"


def _write_trace(out: TextIO, exc_info: Any) -> None:
    """The innermost frames and the error, then what it was caused by."""
    error: BaseException | None = exc_info[1]
    heading = ""
    # Errors that are kept and raised again can lead back to themselves.
    written: set[int] = set()
    while error is not None and id(error) not in written:
        written.add(id(error))
        out.write(f"{heading}{type(error).__module__}.{type(error).__qualname__}: {error}\n")
        for frame in traceback.extract_tb(error.__traceback__)[-_FRAMES:]:
            out.write(f"  {frame.filename}:{frame.lineno} in {frame.name}\n")
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        heading = "caused by "


def _write_trace_below(out: TextIO, exc_info: Any) -> None:
    out.write("\n")
    _write_trace(out, exc_info)


class _StandardError(logging.StreamHandler[TextIO]):
    """Writes to standard error as it is at each line: it may be another one or closed by then, and a service may be
    started without any."""

    def emit(self, record: logging.LogRecord) -> None:
        if sys.stderr is not None and not sys.stderr.closed:
            self.stream = sys.stderr
            super().emit(record)


def configure(
    form: Literal["text", "json"],
    stream: TextIO | None = None,
    level: int = logging.INFO,
    secrets: Iterable[str] = (),
) -> None:
    """Sets up structlog and the standard library's logging for the whole process; may be called again.

    ``stream``: None for standard error. ``secrets``: values that no line may contain.
    """
    redact = Redactor(secrets)
    if form == "json":
        transform = structlog.tracebacks.ExceptionDictTransformer(show_locals=False, max_frames=_FRAMES)
        last: list[Any] = [
            structlog.processors.ExceptionRenderer(transform),
            lambda logger, name, event: redact.values(event),
            structlog.processors.JSONRenderer(),
        ]
    else:
        render = structlog.dev.ConsoleRenderer(
            colors=_has_colours(stream or sys.stderr), exception_formatter=_write_trace_below
        )
        last = [lambda logger, name, event: redact(render(logger, name, event))]
    structlog.configure(
        processors=[*_SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    handler = _StandardError() if stream is None else logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*_SHARED, structlog.stdlib.ExtraAdder()],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    # These log every request they make, with its whole URL.
    for noisy in ("httpx", "httpcore"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    # Whoever sends what is no HTTP would fill the log.
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)


def _has_colours(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()


@contextmanager
def bound_request(request_id: str, **fields: str) -> Iterator[None]:
    """Every log line of the block, in this thread or task, carries ``request_id`` and ``fields``."""
    with structlog.contextvars.bound_contextvars(request_id=request_id, **fields):
        yield
