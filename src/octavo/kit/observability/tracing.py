"""Traces: what was done for a request or a job and how long each part of it took, for whoever collects them.

They are off unless the environment names a collector, by the variables that OpenTelemetry has for it. Nothing of
OpenTelemetry is loaded then, and a span costs a look at one variable. ``trace_export`` is the other side.

A span holds no content and nothing that somebody brought: routes instead of paths that may hold a secret, ids, sizes,
statuses, and the types of errors without their messages.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from octavo.core.url_parts import Address, read_address
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
"""Where they go when it is only said that they do."""
_SAMPLERS = ("always_on", "always_off", "traceidratio")
_PACKAGES = "octavo[traces]"


class Tracer(Protocol):
    """What makes spans and has them sent."""

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


class Cursor(Protocol):
    """What is used of the cursors of both engines."""

    @property
    def rowcount(self) -> int: ...
    def fetchone(self) -> tuple[Any, ...] | None: ...
    def fetchall(self) -> list[tuple[Any, ...]]: ...


class Span:
    """Something that is being done. What its statements took is added up, and noted at its end."""

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
        """Whether it will be sent."""
        return self._span.is_recording()

    def note(self, name: str, value: Value) -> None:
        self._span.set_attribute(name, value)

    def rename(self, name: str) -> None:
        self._span.update_name(name)

    def fail(self, error: str) -> None:
        """It did not do what it was to: ``error`` is a type or a status, never a message."""
        from opentelemetry.trace import StatusCode

        self._span.set_attribute("error.type", error)
        self._span.set_status(StatusCode.ERROR)

    def in_turn(self, function: Callable[..., T]) -> Callable[..., T]:
        """The same function; the time until it begins is waiting for a turn."""
        asked = time.perf_counter()

        def begin(*arguments: Any) -> T:
            self.waited_seconds += time.perf_counter() - asked
            return function(*arguments)

        return begin

    def enter(self) -> None:
        """From now on what this task does is done for it."""
        self._before = _current.get()
        _current.set(self)

    def leave(self) -> None:
        # What is read as it comes may end in another thread than it began in.
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


# --- whether there are any ------------------------------------------------------------------------------


def is_wanted() -> bool:
    """Whether the environment names somebody who collects traces. Raises as ``find_collector``."""
    return find_collector() is not None


def find_collector() -> tuple[str, int] | None:
    """Host and port of whoever collects traces, if the environment names one. Raises Unavailable, naming the variable,
    where that cannot work."""
    given = os.environ
    exporter = given.get("OTEL_TRACES_EXPORTER", "").strip().lower()
    if given.get("OTEL_SDK_DISABLED", "").strip().lower() == "true" or exporter == "none":
        return None
    endpoint = next(((name, given[name]) for name in _ENDPOINTS if given.get(name)), None)
    if endpoint is None and not exporter:
        return None
    if exporter not in ("", "otlp"):
        raise Unavailable(f"OTEL_TRACES_EXPORTER: expected otlp or none, got {exporter!r}")
    address = _read_address(*(endpoint or ("", _HERE)))
    for name in _PROTOCOLS:
        if (asked := given.get(name, _PROTOCOL)) not in ("", _PROTOCOL):
            raise Unavailable(
                f"{name}: traces are sent as {_PROTOCOL}, to port 4318 as a rule; got {asked!r}"
            )
    _check_sampler(given.get("OTEL_TRACES_SAMPLER", ""), given.get("OTEL_TRACES_SAMPLER_ARG", ""))
    if not _is_installed():
        raise Unavailable(
            f"{endpoint[0] if endpoint else 'OTEL_TRACES_EXPORTER'}: traces need packages that are not installed:"
            f" install {_PACKAGES}, or set OTEL_SDK_DISABLED=true."
        )
    return address.host, address.port or {"http": 80, "https": 443}[address.scheme]


def _is_installed() -> bool:
    try:
        return find_spec("opentelemetry.exporter.otlp.proto.http") is not None
    except ModuleNotFoundError:
        return False


def _read_address(name: str, address: str) -> Address:
    found = read_address(address)
    if found is None or not found.is_web:
        # Without the address: it may hold a password.
        raise Unavailable(f"{name}: expected an address such as http://collector:4318")
    return found


def _check_sampler(sampler: str, argument: str) -> None:
    name = sampler.strip().lower()
    kind = name.removeprefix("parentbased_")
    if name and kind not in _SAMPLERS:
        names = ", ".join((*_SAMPLERS, *(f"parentbased_{each}" for each in _SAMPLERS)))
        raise Unavailable(f"OTEL_TRACES_SAMPLER: expected one of {names}; got {sampler!r}")
    if kind == "traceidratio" and argument:
        try:
            found = float(argument)
        except ValueError:
            found = -1
        if not 0 <= found <= 1:
            raise Unavailable(
                f"OTEL_TRACES_SAMPLER_ARG: expected a part of all between 0 and 1, got {argument!r}"
            )


def begin(make: Callable[[], Tracer]) -> None:
    """Has spans made from now on, by what ``make`` makes. Raises Unavailable where that raises ValueError or OSError."""
    global _tracer  # noqa: PLW0603 - spans are made by whatever runs in the process
    try:
        _tracer = make()
    except (ValueError, OSError) as error:
        raise Unavailable(f"Traces cannot be sent with these variables OTEL_…: {error}") from None


def end() -> None:
    """Sends what is left, for a moment, and nothing from now on."""
    global _tracer  # noqa: PLW0603
    tracer, _tracer = _tracer, None
    if tracer is not None:
        tracer.close()


def are_on() -> bool:
    return _tracer is not None


def current() -> Span | None:
    """What is being done just now."""
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
    """A span that whoever starts it ends; None where there are no traces.

    ``parent``: what it is a part of, or the headers of whoever asks for it. ``causes``: what led to it, as ``cause``
    gives it. ``began``: of ``time.perf_counter``.
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
    """A part of what is being done, as a block; an error that leaves the block is its. None where nothing is being
    done, or there are no traces."""
    made = _begin_part(name, kind, attributes, causes)
    return _OFF if made is None else running(made)


def _begin_part(
    name: str, kind: Kind, attributes: Mapping[str, Value] | None, causes: Sequence[str | None]
) -> Span | None:
    of = current()
    return None if of is None else start(name, kind, attributes, parent=of, causes=causes)


@contextmanager
def running(made: Span) -> Iterator[Span]:
    """The block is what a span is about: it ends with it, as failed where an error leaves it."""
    made.enter()
    try:
        yield made
    except Exception as error:
        made.fail(str(error.status) if isinstance(error, OctavoError) else type(error).__name__)
        raise
    finally:
        made.leave()
        made.end()


# --- what follows from what -----------------------------------------------------------------------------


def cause() -> str | None:
    """What is being done just now, to be kept with what follows from it: a ``traceparent``. None for what is not
    sent."""
    if _tracer is None:
        return None
    made, found = _current.get(), _cause.get()
    if found is None and made is not None and made.is_recorded:
        found = _tracer.headers(made._span).get("traceparent")
    return found


@contextmanager
def caused_by(cause: str | None) -> Iterator[None]:
    """What the block causes was caused by this instead."""
    token = _cause.set(cause)
    try:
        yield
    finally:
        _cause.reset(token)


def headers_of(made: Span | None) -> dict[str, str]:
    """What tells another program which trace a request to it is part of. Never baggage."""
    return {} if made is None or _tracer is None else _tracer.headers(made._span)


# --- the database ---------------------------------------------------------------------------------------


def timed(execute: Callable[[str, Any], Cursor]) -> Callable[[str, Any], Cursor]:
    """The same, and what it takes is added to what is being done; itself where there are no traces."""
    if _tracer is None:
        return execute

    def measure(sql: str, parameters: Any) -> Cursor:
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
    """Engines also work while rows are fetched."""

    __slots__ = ("_cursor", "_span")

    def __init__(self, cursor: Cursor, made: Span) -> None:
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

    def fetchone(self) -> tuple[Any, ...] | None:
        return self._timed(self._cursor.fetchone)

    def fetchall(self) -> list[tuple[Any, ...]]:
        return self._timed(self._cursor.fetchall)
