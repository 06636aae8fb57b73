"""Traces: the steps of a request or job, and how long each one takes.

Tracing is off unless OpenTelemetry's environment variables specify a collector. Without a collector, OpenTelemetry
isn't loaded, and a span costs only one variable lookup. ``trace_export`` sends the spans.

A span contains no content and no user input: only routes (because paths may contain secrets), IDs, sizes, statuses,
and the types of errors without their messages.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from octavo.core.url_parts import UrlParts, read_address
from octavo.errors import OctavoError, Unavailable

if TYPE_CHECKING:
    from opentelemetry.trace import Span as OtherSpan


T = TypeVar("T")

Kind = Literal["server", "client", "producer", "consumer", "internal"]
Value = str | int | float | bool

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_PROTOCOL = "http/protobuf"
_HERE = "http://localhost:4318"
"""Default URL of the collector."""
_SAMPLERS = ("always_on", "always_off", "traceidratio")
_PACKAGES = "octavo[traces]"


class Tracer(Protocol):
    """Tracer that creates and exports spans."""

    def start(
        self,
        name: str,
        kind: Kind,
        attributes: Mapping[str, Value],
        parent: OtherSpan | Mapping[str, str] | None,
        causes: Sequence[Mapping[str, str]],
        began: int | None,
    ) -> OtherSpan: ...

    def headers(self, span: OtherSpan) -> dict[str, str]: ...

    def close(self) -> None: ...


class TracedCursor(Protocol):
    """Common interface of both engines' cursors."""

    @property
    def rowcount(self) -> int: ...
    def fetchone(self) -> tuple[object, ...] | None: ...
    def fetchall(self) -> list[tuple[object, ...]]: ...


class Span:
    """Span for work in progress. When the work ends, the total duration of its statements is recorded."""

    __slots__ = ("_before", "_span", "database_seconds", "statements", "trace_id", "waited_seconds")

    def __init__(self, span: OtherSpan) -> None:
        self._span = span
        self.trace_id = f"{span.get_span_context().trace_id:032x}"
        self.statements = 0
        self.database_seconds = 0.0
        self.waited_seconds = 0.0
        self._before: Span | None = None

    @property
    def is_recorded(self) -> bool:
        """Return whether the span will be exported to the collector."""
        return self._span.is_recording()

    def note(self, name: str, value: Value) -> None:
        self._span.set_attribute(name, value)

    def rename(self, name: str) -> None:
        self._span.update_name(name)

    def fail(self, error: str) -> None:
        """Mark the span as failed. ``error``: the error's type or a status, never a message."""
        from opentelemetry.trace import StatusCode

        self._span.set_attribute("error.type", error)
        self._span.set_status(StatusCode.ERROR)

    def in_turn(self, function: Callable[..., T]) -> Callable[..., T]:
        """Wrap a function so that the time until it starts is recorded as time spent waiting for a turn."""
        asked = time.perf_counter()

        def begin(*arguments: object) -> T:
            self.waited_seconds += time.perf_counter() - asked
            return function(*arguments)

        return begin

    def enter(self) -> None:
        """Attribute all of this task's further work to the span."""
        self._before = _current.get()
        _current.set(self)

    def leave(self) -> None:
        # A stream may end in a different thread than the one in which it started.
        if _current.get() is self:
            _current.set(self._before)

    def end(self) -> None:
        if self.is_recorded:
            if self.statements:
                self.note("octavo.database.statements", self.statements)
                self.note("octavo.database.seconds", round(self.database_seconds, 6))
            if self.waited_seconds:
                self.note("octavo.waited.seconds", round(self.waited_seconds, 6))
        self._span.end()


_tracer: Tracer | None = None
_current: ContextVar[Span | None] = ContextVar("octavo_span", default=None)
_cause: ContextVar[str | None] = ContextVar("octavo_cause", default=None)
_OFF: AbstractContextManager[Span | None] = nullcontext()


# --- whether there are traces ---------------------------------------------------------------------------


def is_wanted() -> bool:
    """Return whether the environment specifies a collector for traces. Raises the errors of
    ``find_collector``."""
    return find_collector() is not None


def find_collector() -> tuple[str, int] | None:
    """Return the host and port of the collector, if the environment specifies one. Raises Unavailable with the name
    of the variable if its value is invalid."""
    given = os.environ
    exporter = given.get("OTEL_TRACES_EXPORTER", "").strip().lower()
    if given.get("OTEL_SDK_DISABLED", "").strip().lower() == "true" or exporter == "none":
        return None
    endpoint = next(((name, given[name]) for name in _ENDPOINTS if given.get(name)), None)
    if endpoint is None and not exporter:
        return None
    if exporter not in ("", "otlp"):
        raise Unavailable(f"OTEL_TRACES_EXPORTER: must be otlp or none, not {exporter!r}")
    address = _read_address(*(endpoint or ("", _HERE)))
    for name in _PROTOCOLS:
        if (asked := given.get(name, _PROTOCOL)) not in ("", _PROTOCOL):
            raise Unavailable(f"{name}: must be {_PROTOCOL}, usually on port 4318, not {asked!r}")
    _check_sampler(given.get("OTEL_TRACES_SAMPLER", ""), given.get("OTEL_TRACES_SAMPLER_ARG", ""))
    if not _is_installed():
        raise Unavailable(
            f"{endpoint[0] if endpoint else 'OTEL_TRACES_EXPORTER'}: sending traces requires packages that"
            f" aren't installed. Install {_PACKAGES}, or set OTEL_SDK_DISABLED=true."
        )
    return address.host, address.port or {"http": 80, "https": 443}[address.scheme]


def _is_installed() -> bool:
    try:
        return find_spec("opentelemetry.exporter.otlp.proto.http") is not None
    except ModuleNotFoundError:
        return False


def _read_address(name: str, address: str) -> UrlParts:
    found = read_address(address)
    if found is None or not found.is_web:
        # Without the URL, because it may contain a password.
        raise Unavailable(f"{name}: must be a URL such as http://collector:4318")
    return found


def _check_sampler(sampler: str, argument: str) -> None:
    name = sampler.strip().lower()
    kind = name.removeprefix("parentbased_")
    if name and kind not in _SAMPLERS:
        names = ", ".join((*_SAMPLERS, *(f"parentbased_{each}" for each in _SAMPLERS)))
        raise Unavailable(f"OTEL_TRACES_SAMPLER: must be one of {names}, not {sampler!r}")
    if kind == "traceidratio" and argument:
        try:
            found = float(argument)
        except ValueError:
            found = -1
        if not 0 <= found <= 1:
            raise Unavailable(f"OTEL_TRACES_SAMPLER_ARG: must be between 0 and 1, not {argument!r}")


def begin(make: Callable[[], Tracer]) -> None:
    """Start creating spans with the tracer that ``make`` returns. Raises Unavailable if ``make`` raises ValueError
    or OSError."""
    global _tracer  # noqa: PLW0603 - spans are created by any code in the process
    try:
        _tracer = make()
    except (ValueError, OSError) as error:
        raise Unavailable(f"Traces can't be sent with the current OTEL_… variables: {error}") from None


def end() -> None:
    """Export the remaining spans within a short time limit, and stop tracing."""
    global _tracer  # noqa: PLW0603
    tracer, _tracer = _tracer, None
    if tracer is not None:
        tracer.close()


def is_enabled() -> bool:
    return _tracer is not None


def current() -> Span | None:
    """Return the span of the current work, if any."""
    return _current.get() if _tracer is not None else None


# --- spans ----------------------------------------------------------------------------------------------


def start(
    name: str,
    kind: Kind = "internal",
    attributes: Mapping[str, Value] | None = None,
    *,
    parent: Span | Mapping[str, str] | None = None,
    causes: Sequence[str | None] = (),
    began: float | None = None,
) -> Span | None:
    """Start a span that the caller must end. Return None if tracing is off.

    ``parent``: the span that this span is part of, or the headers of the caller. ``causes``: the results of ``cause``
    from the work that caused this work. ``began``: the start time according to ``time.perf_counter``.
    """
    if _tracer is None:
        return None
    since = None if began is None else time.time_ns() - int((time.perf_counter() - began) * 1e9)
    of = parent._span if isinstance(parent, Span) else parent
    linked = [{"traceparent": each} for each in causes if each]
    return Span(_tracer.start(name, kind, attributes or {}, of, linked, since))


def part(
    name: str,
    kind: Kind = "internal",
    attributes: Mapping[str, Value] | None = None,
    *,
    causes: Sequence[str | None] = (),
) -> AbstractContextManager[Span | None]:
    """Trace a block as part of the current work, and record any error that the block raises. The yielded span is
    None if there is no current work or tracing is off."""
    made = _begin_part(name, kind, attributes, causes)
    return _OFF if made is None else running(made)


def _begin_part(
    name: str, kind: Kind, attributes: Mapping[str, Value] | None, causes: Sequence[str | None]
) -> Span | None:
    of = current()
    return None if of is None else start(name, kind, attributes, parent=of, causes=causes)


@contextmanager
def running(made: Span) -> Iterator[Span]:
    """Run a block in a span. The span ends with the block, and is marked as failed if the block raises an
    exception."""
    made.enter()
    try:
        yield made
    except Exception as error:
        made.fail(str(error.status) if isinstance(error, OctavoError) else type(error).__name__)
        raise
    finally:
        made.leave()
        made.end()


# --- causes and effects ---------------------------------------------------------------------------------


def cause() -> str | None:
    """Return the ``traceparent`` of the current work, to store with the jobs and events that it creates; None if
    the trace isn't exported."""
    if _tracer is None:
        return None
    made, found = _current.get(), _cause.get()
    if found is None and made is not None and made.is_recorded:
        found = _tracer.headers(made._span).get("traceparent")
    return found


@contextmanager
def caused_by(cause: str | None) -> Iterator[None]:
    """Attribute the effects of the block to this cause instead of the current work."""
    token = _cause.set(cause)
    try:
        yield
    finally:
        _cause.reset(token)


def headers_of(made: Span | None) -> dict[str, str]:
    """Return the headers that identify the trace in a request to another server. They never contain baggage."""
    return {} if made is None or _tracer is None else _tracer.headers(made._span)


# --- the database ---------------------------------------------------------------------------------------


def timed(execute: Callable[[str, Any], TracedCursor]) -> Callable[[str, Any], TracedCursor]:
    """Wrap a function that executes statements, so that their duration is added to the current work. If tracing is
    off, return the function itself."""
    if _tracer is None:
        return execute

    def measure(sql: str, parameters: object) -> TracedCursor:
        made = _current.get()
        if made is None:
            return execute(sql, parameters)
        began = time.perf_counter()
        try:
            return _TimedCursor(execute(sql, parameters), made)
        finally:
            made.statements += 1
            made.database_seconds += time.perf_counter() - began

    return measure


class _TimedCursor:
    """Cursor that also measures the time for fetching rows, because engines do some of their work while rows are
    fetched."""

    __slots__ = ("_cursor", "_span")

    def __init__(self, cursor: TracedCursor, made: Span) -> None:
        self._cursor = cursor
        self._span = made

    @property
    def rowcount(self) -> int:
        return self._cursor.rowcount

    def _timed(self, fetch: Callable[[], T]) -> T:
        began = time.perf_counter()
        try:
            return fetch()
        finally:
            self._span.database_seconds += time.perf_counter() - began

    def fetchone(self) -> tuple[object, ...] | None:
        return self._timed(self._cursor.fetchone)

    def fetchall(self) -> list[tuple[object, ...]]:
        return self._timed(self._cursor.fetchall)
