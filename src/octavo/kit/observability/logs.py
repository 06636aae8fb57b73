"""Logging: one line per event on standard error, as text or JSON, including the events of libraries.

Errors have a short stack trace without the values of variables. Every line passes through ``redact``, so secrets
from the settings, credentials in headers and URLs, and Octavo's tokens never appear in a log.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Literal, TextIO
from urllib.parse import quote

from octavo.settings import Settings

from .slowness import THRESHOLDS

HIDDEN = "[hidden]"
_FRAMES = 12
"""Maximum number of frames in a stack trace. The innermost frames are kept."""
_SHORTEST_SECRET = 6
"""Minimum length of secrets to redact. Shorter values in settings are ordinary words, which would otherwise be
redacted everywhere."""

_CREDENTIALS = re.compile(
    r"""
      (?<=://)(?P<user>[^/\s:@"']*):[^/\s"']*@                       # user:password@ in a URL
    | \boc[a-z]_[\w-]{16,}                                           # tokens and sessions of ours
    | \b(?P<scheme>Bearer|Basic|Digest)\ +[^\s"',;]+
    | (?P<name>["']?\b(?:[\w-]*(?:password|passwd|secret|token|api[_-]?key|access[_-]?key|authorization
        |cookie)[\w-]*)["']?\s*[=:]\s*)(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s"',;&}\])]{6,})
    | (?P<parameter>[?&](?:[\w.-]*(?:token|secret|key|signature|code|password)[\w.-]*)=)[^&\s"'#]+
    | (?<=/~previewed/)[^/\s"']+                                     # who has it sees a site before it is published
    | \beyJ[\w-]{8,}\.[\w-]+\.[\w-]*                                 # JSON Web Tokens
    """,
    re.X | re.I,
)

_NAME = re.compile("password|passwd|secret|token|api[_-]?key|access[_-]?key|authorization|cookie", re.I)

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
"""Standard attributes of every record. All other attributes were passed as ``extra``."""
_PLAIN_VALUE = re.compile(r"[^\s\"'=]+")

_bound: ContextVar[Mapping[str, str]] = ContextVar("bound", default=MappingProxyType({}))


class Redactor:
    """Redactor that hides secrets in text: both the given secrets and any text that looks like a credential."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        known = {form for secret in secrets if len(secret) >= _SHORTEST_SECRET for form in _spellings(secret)}
        longest_first = sorted(known, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, longest_first))) if known else None

    def __call__(self, text: str) -> str:
        if self._known is not None:
            text = self._known.sub(HIDDEN, text)
        return _CREDENTIALS.sub(_hide, text)

    def values(self, value: object) -> object:
        """Return a value with every string redacted, including strings inside dictionaries and lists."""
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
    """Return a secret as it may appear in text: unchanged, encoded in a URL, and escaped inside quotes."""
    return {secret, quote(secret, safe=""), quote(secret), repr(secret)[1:-1]}


def _hide(match: re.Match[str]) -> str:
    if match["user"] is not None:
        return f"{match['user']}:{HIDDEN}@"
    if match["scheme"] is not None:
        return f"{match['scheme']} {HIDDEN}"
    return f"{match['name'] or match['parameter'] or ''}{HIDDEN}"


def _causes(error: BaseException) -> Iterator[tuple[BaseException, list[traceback.FrameSummary]]]:
    """Yield the error and its causes, each with its innermost frames."""
    # Errors that are stored and raised again can form a cycle.
    met: set[int] = set()
    here: BaseException | None = error
    while here is not None and id(here) not in met:
        met.add(id(here))
        yield here, list(traceback.extract_tb(here.__traceback__)[-_FRAMES:])
        here = here.__cause__ or (None if here.__suppress_context__ else here.__context__)


class _Formatter(logging.Formatter):
    """Formatter of log lines. A line consists of a time, a level, a message, and fields. The fields come from the
    request and from ``extra``."""

    def __init__(self, redact: Redactor) -> None:
        super().__init__()
        self._redact = redact

    def _parts(self, record: logging.LogRecord) -> tuple[str, str, dict[str, object], BaseException | None]:
        """Return the time, message, fields, and error of a record."""
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="microseconds")
        given = {name: value for name, value in vars(record).items() if name not in _STANDARD}
        error = record.exc_info[1] if record.exc_info else None
        return moment.replace("+00:00", "Z"), record.getMessage(), {**_bound.get(), **given}, error


class _JsonLines(_Formatter):
    def format(self, record: logging.LogRecord) -> str:
        timestamp, event, fields, error = self._parts(record)
        line = {**fields, "event": event, "level": record.levelname.lower(), "timestamp": timestamp}
        if error is not None:
            line["exception"] = [
                {
                    "exc_type": type(each).__name__,
                    "exc_value": str(each),
                    "frames": [
                        {"filename": frame.filename, "lineno": frame.lineno, "name": frame.name}
                        for frame in frames
                    ],
                }
                for each, frames in _causes(error)
            ]
        return json.dumps(self._redact.values(line), default=repr)


class _TextLines(_Formatter):
    def __init__(self, redact: Redactor, colors: bool) -> None:
        super().__init__(redact)
        self._colors = colors

    def format(self, record: logging.LogRecord) -> str:
        timestamp, event, fields, error = self._parts(record)
        # An event is one line, regardless of its text.
        event = event.replace("\r", "\\r").replace("\n", "\\n")
        level = f"{record.levelname.lower():8}"
        if self._colors:
            color = 31 if record.levelno >= logging.ERROR else 33 if record.levelno >= logging.WARNING else 32
            timestamp, level = f"\x1b[2m{timestamp}\x1b[0m", f"\x1b[{color}m{level}\x1b[0m"
        said = " ".join(f"{name}={_shown(value)}" for name, value in fields.items())
        lines = [f"{timestamp} [{level}] {event:30} {said}".rstrip()]
        for number, (each, frames) in enumerate(_causes(error) if error is not None else ()):
            kind = type(each)
            lines.append(f"{'caused by ' if number else ''}{kind.__module__}.{kind.__qualname__}: {each}")
            lines += [f"  {frame.filename}:{frame.lineno} in {frame.name}" for frame in frames]
        return self._redact("\n".join(lines))


def _shown(value: object) -> str:
    return value if isinstance(value, str) and _PLAIN_VALUE.fullmatch(value) else repr(value)


class _StandardError(logging.StreamHandler[TextIO]):
    """Handler that looks up standard error for each line, because the stream may have been replaced or closed, and
    because a service may run without standard error."""

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
    """Set up logging for the whole process. This can be called more than once.

    ``stream``: the stream; None for standard error. ``secrets``: the values that no line may contain.
    """
    redact = Redactor(secrets)
    handler = _StandardError() if stream is None else logging.StreamHandler(stream)
    colors = _has_colors(stream or sys.stderr)
    handler.setFormatter(_JsonLines(redact) if form == "json" else _TextLines(redact, colors))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    # These log every request they send, with its whole URL.
    for noisy in ("httpx", "httpcore"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    # The pool logs every attempt to connect to an unreachable server; Octavo logs the outage once.
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)


def configure_for(settings: Settings) -> None:
    """Set up logging for a server process."""
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    configure(settings.log_format, level=level, secrets=settings.secrets)
    logging.getLogger("octavo.access").setLevel(logging.INFO if settings.access_log else logging.WARNING)
    THRESHOLDS.request = settings.slow_request or None
    THRESHOLDS.statement = settings.slow_statement or None


def start_lines(form: Literal["text", "json"]) -> Callable[[str], None]:
    """Return a function that prints a startup message to standard output. The message is printed as JSON if that is
    the log format."""

    def say(line: str) -> None:
        moment = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        event = {"event": " ".join(line.split()), "level": "info", "timestamp": moment}
        print(json.dumps(event) if form == "json" else line, flush=True)

    return say


def _has_colors(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()


def bind(**fields: str) -> None:
    """Add these fields to every line that this task logs from now on, including lines from threads that work on
    behalf of the task."""
    _bound.set(fields)


@contextmanager
def bound(**fields: str) -> Iterator[None]:
    """Add these fields to every line that the ``with`` block logs, in addition to the current fields."""
    token = _bound.set({**_bound.get(), **fields})
    try:
        yield
    finally:
        _bound.reset(token)
