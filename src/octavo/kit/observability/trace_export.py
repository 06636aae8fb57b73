"""Export OpenTelemetry spans to a collector, in a separate thread.

This module is loaded only if traces are sent. All settings are OpenTelemetry's environment variables, which
its packages read: URL, headers, certificates, timeout, and compression (``OTEL_EXPORTER_OTLP_…``), the name
of the service (``OTEL_SERVICE_NAME``, ``OTEL_RESOURCE_ATTRIBUTES``), the traces to keep
(``OTEL_TRACES_SAMPLER``), and the size of the queue (``OTEL_BSP_…``).
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import requests
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.environment_variables import (
    OTEL_BSP_MAX_QUEUE_SIZE,
    OTEL_EXPORTER_OTLP_CERTIFICATE,
    OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE,
)
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import Link, Span, SpanKind, get_current_span, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from requests.adapters import HTTPAdapter

from octavo.kit.ids import new_id
from octavo.kit.tls import trust_outgoing

from .tracing import Kind, Value

log = logging.getLogger("octavo.traces")

_QUEUE = 2048
"""Default maximum number of queued spans, which is OpenTelemetry's default."""
_LONGEST_VALUE = 512
_LAST_SECONDS = 2.0
"""Number of seconds that a process waits for the collector when the process ends."""
_QUIET_SECONDS = 300.0
"""Minimum number of seconds between two identical log lines."""
_KINDS = {kind.name.lower(): kind for kind in SpanKind}
_CONTEXT = TraceContextTextMapPropagator()


class _Room:
    """Counter of queued spans, which determines whether another span fits in the queue."""

    def __init__(self, size: int) -> None:
        self._left = size
        self._lock = threading.Lock()

    def take(self) -> bool:
        with self._lock:
            if not self._left:
                return False
            self._left -= 1
            return True

    def release(self, count: int) -> None:
        with self._lock:
            self._left += count


class _Processor(BatchSpanProcessor):
    """Processor that drops and counts spans that end while the queue is full. Otherwise, the queue would silently
    drop the oldest spans."""

    def __init__(self, exporter: SpanExporter, room: _Room, count: Callable[[str, int], None]) -> None:
        super().__init__(exporter)
        self._room = room
        self._count = count

    def on_end(self, span: ReadableSpan) -> None:
        if span.context is None or not span.context.trace_flags.sampled:
            return
        if self._room.take():
            super().on_end(span)
        else:
            self._count("dropped", 1)


class _Exporter(SpanExporter):
    """Exporter that counts exported and failed spans, and periodically logs if the collector doesn't accept spans."""

    def __init__(self, exporter: SpanExporter, room: _Room, count: Callable[[str, int], None]) -> None:
        self._exporter = exporter
        self._room = room
        self._count = count
        self._said_at: float | None = None

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self._room.release(len(spans))
        result = self._exporter.export(spans)
        if result is SpanExportResult.SUCCESS:
            self._count("sent", len(spans))
            if self._said_at is not None:
                log.warning("traces are accepted again")
                self._said_at = None
        else:
            self._count("failed", len(spans))
            moment = time.monotonic()
            if self._said_at is None or moment - self._said_at > _QUIET_SECONDS:
                log.warning("the collector doesn't accept traces, so they are lost")
                self._said_at = moment
        return result

    def shutdown(self) -> None:
        self._exporter.shutdown()


class _TrustingAdapter(HTTPAdapter):
    """Adapter that trusts the same certificate authorities as all other outgoing connections."""

    def init_poolmanager(self, *arguments: Any, **options: Any) -> None:
        super().init_poolmanager(*arguments, **options, ssl_context=trust_outgoing())


def _session() -> requests.Session:
    session = requests.Session()
    own = (OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE, OTEL_EXPORTER_OTLP_CERTIFICATE)
    if not any(os.environ.get(name) for name in own):
        session.mount("https://", _TrustingAdapter())
    return session


class Exporting:
    """Tracer that creates and exports spans. Each process has one."""

    def __init__(self, count: Callable[[str, int], None]) -> None:
        """Set up the export of spans. Raises ValueError or OSError if environment variables have invalid values."""
        for noisy in ("opentelemetry", "urllib3"):
            # They log the same message for each batch that a collector rejects.
            logging.getLogger(noisy).setLevel(logging.CRITICAL)
        size = int(os.environ.get(OTEL_BSP_MAX_QUEUE_SIZE) or _QUEUE)
        room = _Room(size)
        own = {
            "service.name": "octavo",
            "service.version": version("octavo"),
            "service.instance.id": new_id(),
        }
        resource = Resource.create().merge(Resource(own)).merge(OTELResourceDetector().detect())
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        exporter = _Exporter(OTLPSpanExporter(session=_session()), room, count)
        self._provider.add_span_processor(_Processor(exporter, room, count))
        self._tracer = self._provider.get_tracer("octavo", version("octavo"))

    def start(
        self,
        name: str,
        kind: Kind,
        attributes: Mapping[str, Value],
        parent: Span | Mapping[str, str] | None,
        causes: Sequence[Mapping[str, str]],
        began: int | None,
    ) -> Span:
        if parent is None:
            context = Context()
        elif isinstance(parent, Span):
            context = set_span_in_context(parent)
        else:
            context = _CONTEXT.extract(parent)
        found = (get_current_span(_CONTEXT.extract(cause)).get_span_context() for cause in causes)
        links = [Link(each) for each in found if each.is_valid]
        return self._tracer.start_span(
            name, context, _KINDS[kind], dict(map(_bounded, attributes.items())), links, start_time=began
        )

    def headers(self, span: Span) -> dict[str, str]:
        found: dict[str, str] = {}
        _CONTEXT.inject(found, set_span_in_context(span))
        return {"traceparent": found["traceparent"]} if "traceparent" in found else {}

    def close(self) -> None:
        """Send queued spans within a short time limit, so that an unresponsive collector doesn't delay the
        shutdown."""
        closing = threading.Thread(target=self._provider.shutdown, name="octavo-traces", daemon=True)
        closing.start()
        closing.join(_LAST_SECONDS)


def _bounded(attribute: tuple[str, Value]) -> tuple[str, Value]:
    name, value = attribute
    return name, value[:_LONGEST_VALUE] if isinstance(value, str) else value
