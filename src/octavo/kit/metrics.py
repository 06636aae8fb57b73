"""Metrics of this process in the Prometheus text format."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily

from . import jobs, outbox
from .clock import now
from .db import Database

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

    def watch(self, database: Database) -> None:
        """Reports the jobs and events of the installation, as the database has them when it is asked."""
        self._registry.register(_Queues(database))

    def text(self) -> bytes:
        """The body of ``/metrics``. Reads the database."""
        return generate_latest(self._registry)


class _Queues:
    """What waits, runs and is parked: the same in whichever process it is asked for."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def collect(self) -> Iterator[GaugeMetricFamily]:
        with self._database.read() as tx:
            counts = {(found.kind, found.state): found for found in jobs.count_jobs(tx)}
            waiting = outbox.count_waiting(tx)
        moment = now()
        number = GaugeMetricFamily("octavo_jobs", "Jobs that are due", labels=("kind", "state"))
        age = GaugeMetricFamily(
            "octavo_jobs_oldest_seconds", "For how long the oldest job has been due", labels=("kind", "state")
        )
        for kind in sorted({*jobs.kinds, *(kind for kind, _ in counts)}):
            for state in jobs.STATES:
                found = counts.get((kind, state))
                number.add_metric((kind, state), found.count if found else 0)
                age.add_metric((kind, state), max(0, moment - found.oldest) / 1000 if found else 0)
        yield number
        yield age
        events = GaugeMetricFamily(
            "octavo_events_waiting", "Events a consumer has not passed yet", labels=("consumer",)
        )
        for consumer, count in sorted(waiting.items()):
            events.add_metric((consumer,), count)
        yield events


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
