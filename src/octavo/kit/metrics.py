"""Metrics of this process in the Prometheus text format."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, generate_latest

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)


class Metrics:
    """One for a process; safe to share between threads."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._requests = Counter(
            "octavo_requests", "Requests answered", ("operation", "status"), registry=self._registry
        )
        self._seconds = Histogram(
            "octavo_request_seconds",
            "Time to an answer",
            ("operation",),
            buckets=_BUCKETS,
            registry=self._registry,
        )

    def meter(self, operation: str) -> RequestMeter:
        """What counts the requests of one operation."""
        return RequestMeter(self._requests, self._seconds, operation)

    def text(self) -> bytes:
        """The body of ``/metrics``."""
        return generate_latest(self._registry)


class RequestMeter:
    def __init__(self, requests: Counter, seconds: Histogram, operation: str) -> None:
        self._requests = requests
        self._histogram = seconds
        self._operation = operation
        # Looking a child up by its labels costs more than counting with it; making it, more than a start should
        # wait for operations that nobody may call.
        self._by_status: dict[int, Counter] = {}
        self._seconds: Histogram | None = None

    def count(self, status: int, seconds: float) -> None:
        """One answer with its HTTP status and the time it took."""
        counter = self._by_status.get(status)
        if counter is None:
            counter = self._by_status[status] = self._requests.labels(self._operation, str(status))
        counter.inc()
        if self._seconds is None:
            self._seconds = self._histogram.labels(self._operation)
        self._seconds.observe(seconds)
