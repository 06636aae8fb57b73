"""A collector of traces in this process: what programs send over OTLP/HTTP, as the protocol has it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from local_server import QuietHandler, local_server
from octavo.kit.http.metrics import Metrics
from octavo.kit.observability import tracing
from settled import PATIENCE

if TYPE_CHECKING:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
    from opentelemetry.proto.trace.v1.trace_pb2 import Span


class Collector(Metrics):
    """Collector. ``answer``: the status of its responses; None to never respond. Requests to other paths than
    ``/v1/traces`` are in ``others``, as path and headers. It counts the outcomes of spans."""

    def __init__(self) -> None:
        super().__init__()
        self.answer: int | None = 200
        self.requests: list[ExportTraceServiceRequest] = []
        self.headers: list[dict[str, str]] = []
        self.others: list[tuple[str, dict[str, str]]] = []
        self.counts: dict[str, int] = {}
        self.released = threading.Event()
        self.url = ""

    def count_spans(self, outcome: str, count: int) -> None:
        self.counts[outcome] = self.counts.get(outcome, 0) + count

    @property
    def resource(self) -> dict[str, Any]:
        return values_of(self.requests[-1].resource_spans[0].resource.attributes)

    @property
    def spans(self) -> list[Span]:
        return [
            span
            for request in self.requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def named(self, name: str) -> Span:
        """Return the only span with a name."""
        (found,) = [span for span in self.spans if span.name == name]
        return found

    def flush(self) -> list[Span]:
        """End tracing, and return all spans that arrived."""
        tracing.end()
        return self.spans

    def wait_for(self, condition: Callable[[], bool]) -> None:
        until = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < until, "it never came"
            time.sleep(0.01)


def values_of(attributes: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in attributes}


@contextmanager
def collecting() -> Iterator[Collector]:
    """Yield a listening collector. Tracing that the test starts ends with it."""
    # Not needed by most runs of tests.
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    found = Collector()

    class Handler(QuietHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            if self.path != "/v1/traces":
                found.others.append((self.path, headers))
            elif found.answer is None:
                found.released.wait(PATIENCE)
                return
            elif found.answer == 200:
                found.headers.append(headers)
                found.requests.append(ExportTraceServiceRequest.FromString(body))
            self.send_response(found.answer or 200)
            self.send_header("content-length", "0")
            self.end_headers()

    with local_server(Handler) as server:
        found.url = server.url
        try:
            yield found
        finally:
            found.released.set()
            tracing.end()


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    """Run a collector and name it in the environment. Tests start tracing themselves."""
    with collecting() as found:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", found.url)
        yield found
