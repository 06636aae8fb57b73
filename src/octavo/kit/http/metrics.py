"""Metrics in the Prometheus text format, of one process or of several workers together."""

from __future__ import annotations

import logging
import os
import re
import resource
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from threading import Lock
from weakref import WeakSet

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

from octavo.core.document.containing import on_failure
from octavo.kit.clock import now
from octavo.kit.db.cache import MEMORY
from octavo.kit.db.database import Database
from octavo.kit.work import jobs, outbox
from octavo.kit.work.backup_runs import last_successful_backup
from octavo.kit.work.maintenance import find_maintenance
from octavo.kit.work.rebuilds import list_rebuilds

log = logging.getLogger(__name__)

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""Environment variable with the folder in which workers store their counts, so that each worker can report the counts
of all workers. The client library reads the variable once, when it is loaded."""

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)
_PAGE = resource.getpagesize()


_every: WeakSet[Metrics] = WeakSet()
"""All instances in the process, which count events that happen outside any application."""


def report_failed_blocks(stage: str, error: Exception, count: int) -> None:
    """Count document blocks that are shown as plain text because of an error in Octavo's code."""
    log.error("blocks_failed", extra={"stage": stage, "blocks": count}, exc_info=error)
    for metrics in _every:
        metrics.count_failed_blocks(stage, count)


on_failure(report_failed_blocks)


class Metrics:
    """Metrics of a process. It is thread-safe."""

    def __init__(self) -> None:
        self._queues: _Queues | None = None
        registry = self._registry = CollectorRegistry()
        counter = partial(Counter, registry=registry)
        gauge = partial(Gauge, registry=registry, multiprocess_mode="livesum")
        self._requests = counter("octavo_requests", "Requests answered", ("operation", "status"))
        self._seconds = Histogram(
            "octavo_request_seconds",
            "Duration of requests",
            ("operation",),
            buckets=_BUCKETS,
            registry=registry,
        )
        self._cpu = gauge("octavo_process_cpu_seconds", "CPU time of a process", multiprocess_mode="liveall")
        self._memory = gauge(
            "octavo_process_memory_bytes",
            "Memory used by a process alone, without mapped files",
            multiprocess_mode="liveall",
        )
        self._files = gauge(
            "octavo_process_open_files", "Open files of a process", multiprocess_mode="liveall"
        )
        self._open = gauge(
            "octavo_open_requests", "Requests that are being answered, including event streams"
        )
        self._connections = gauge(
            "octavo_connections_limit", "Requests that can be answered at once, excluding event streams"
        )
        self._streams = gauge("octavo_event_streams", "Open event streams")
        self._dropped_events = counter(
            "octavo_visitor_events_dropped", "Views, searches, and clicks by visitors that were not counted"
        )
        self._spans = counter(
            "octavo_spans",
            "Trace spans: sent, dropped (too many pending), or failed (rejected by the collector)",
            ("outcome",),
        )
        self._blocks = counter(
            "octavo_blocks_failed",
            "Blocks of pages shown as plain text because of an internal error",
            ("stage",),
        )
        self._replica_reads = counter(
            "octavo_replica_reads",
            "Reads by outcome: answered by the replica, replica behind, or replica unreachable",
            ("outcome",),
        )
        labels = ("cache",)
        self._cache_bytes = gauge("octavo_cache_bytes", "Size of caches in bytes", labels)
        self._cache_entries = gauge("octavo_cache_entries", "Number of cached values", labels)
        self._cache_hits = counter("octavo_cache_hits", "Cache hits", labels)
        self._cache_misses = counter("octavo_cache_misses", "Cache misses", labels)
        self._looked_up: dict[str, tuple[int, int]] = {}
        """Hits and misses of each cache that have already been counted."""
        self._at_replica: dict[str, int] = {}
        """Reads on the replica that have already been counted."""
        self._database: Database | None = None
        self._counting = Lock()
        _every.add(self)
        self._restarts = gauge(
            "octavo_worker_restarts", "Restarts of workers that died", ("worker",), multiprocess_mode="max"
        )

    def meter(self, operation: str) -> RequestMeter:
        """Return the meter for requests to one operation."""
        return RequestMeter(self._requests, self._seconds, operation)

    def watch(self, database: Database) -> None:
        """Report the numbers of jobs and events in the database. They are read when metrics are requested."""
        if self._database is not None:
            return
        self._database = database
        self._queues = _Queues(database)
        self._registry.register(self._queues)

    def count_dropped_events(self, count: int) -> None:
        self._dropped_events.inc(count)

    def count_spans(self, outcome: str, count: int) -> None:
        self._spans.labels(outcome).inc(count)

    def count_failed_blocks(self, stage: str, count: int) -> None:
        self._blocks.labels(stage).inc(count)

    def note_restarts(self, worker: int, restarts: int) -> None:
        self._restarts.labels(str(worker)).set(restarts)

    def observe_process(self, requests: int, streams: int, connections: int) -> None:
        """Record the resources that this process currently uses, and remove processes that have ended.
        ``connections``: the maximum number of simultaneous requests."""
        if folder := os.environ.get(SHARED_FOLDER):
            for pid in {int(path.stem.rpartition("_")[2]) for path in Path(folder).glob("gauge_live*_*.db")}:
                if not _is_running(pid):
                    mark_process_dead(pid)  # type: ignore[no-untyped-call]
        used = resource.getrusage(resource.RUSAGE_SELF)
        self._cpu.set(used.ru_utime + used.ru_stime)
        self._open.set(requests)
        self._streams.set(streams)
        self._connections.set(connections)
        self.observe_caches()
        self._observe_replica()
        try:
            # Each connection to SQLite maps the database, which counts as resident each time and belongs to
            # the system's cache.
            _, resident, shared, *_ = map(int, Path("/proc/self/statm").read_text().split())
            self._memory.set((resident - shared) * _PAGE)
            self._files.set(len(os.listdir("/proc/self/fd")))
        except OSError:  # Not on Linux: use the maximum so far, in kilobytes.
            self._memory.set(used.ru_maxrss * 1024)

    def observe_caches(self) -> None:
        """Record the memory that the caches of this process currently use."""
        with self._counting:
            for name, use in MEMORY.use().items():
                label = _label(name)
                self._cache_bytes.labels(label).set(use.bytes)
                self._cache_entries.labels(label).set(use.entries)
                hits, misses = self._looked_up.get(name, (0, 0))
                self._cache_hits.labels(label).inc(use.hits - hits)
                self._cache_misses.labels(label).inc(use.misses - misses)
                self._looked_up[name] = (use.hits, use.misses)

    def _observe_replica(self) -> None:
        """Record the reads on the replica so far, if there is a replica."""
        if self._database is None:
            return
        with self._counting:
            for outcome, count in self._database.replica_reads.items():
                self._replica_reads.labels(outcome).inc(count - self._at_replica.get(outcome, 0))
                self._at_replica[outcome] = count

    def text(self) -> bytes:
        """Return the body of ``/metrics``. If there is more than one worker, it covers all workers, because each of
        them records its values periodically."""
        self.observe_caches()
        self._observe_replica()
        registry = self._registry
        if SHARED_FOLDER in os.environ:
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
            if self._queues is not None:
                registry.register(self._queues)
        return generate_latest(registry)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


class _Queues:
    """Numbers of pending, running, and failed jobs, and of pending events. All processes report the same numbers."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def collect(self) -> Iterator[GaugeMetricFamily]:
        with self._database.read() as tx:
            counts = {(found.kind, found.state): found for found in jobs.count_jobs(tx)}
            waiting = outbox.count_waiting(tx)
            unfinished = list_rebuilds(tx)
            maintenance = find_maintenance(tx)
            backup = last_successful_backup(tx)
        moment = now()
        number = GaugeMetricFamily("octavo_jobs", "Jobs that are due", labels=("kind", "state"))
        age = GaugeMetricFamily(
            "octavo_jobs_oldest_seconds", "Time since the oldest job became due", labels=("kind", "state")
        )
        for kind in sorted({*jobs.kinds, *(kind for kind, _ in counts)}):
            for state in jobs.STATES:
                found = counts.get((kind, state))
                number.add_metric((kind, state), found.count if found else 0)
                age.add_metric((kind, state), max(0, moment - found.oldest) / 1000 if found else 0)
        yield number
        yield age
        events = GaugeMetricFamily(
            "octavo_events_waiting", "Events that a consumer has not processed yet", labels=("consumer",)
        )
        for consumer, count in sorted(waiting.items()):
            events.add_metric((consumer,), count)
        yield events
        rebuilding = GaugeMetricFamily(
            "octavo_rebuild_remaining",
            "Rows that the rebuild after an upgrade has not finished",
            labels=("part", "state"),
        )
        for rebuild in unfinished:
            rebuilding.add_metric((_label(rebuild.part), "waiting"), rebuild.waiting)
            rebuilding.add_metric((_label(rebuild.part), "failed"), rebuild.failed)
        yield rebuilding
        yield GaugeMetricFamily(
            "octavo_maintenance", "Whether maintenance mode is on", value=float(maintenance is not None)
        )
        age = GaugeMetricFamily("octavo_backup_age_seconds", "Time since the last successful backup")
        if backup is not None:
            age.add_metric((), max(0, moment - backup.ended_at) / 1000)
        yield age


def _label(name: str) -> str:
    """Return a name as an identifier.

    >>> _label("API descriptions")
    'api_descriptions'
    """
    return re.sub(r"\W+", "_", name.lower())


class RequestMeter:
    def __init__(self, requests: Counter, seconds: Histogram, operation: str) -> None:
        self._requests = requests
        self._histogram = seconds
        self._operation = operation
        # Looking up a child by its labels takes longer than counting with it. Creating all of them would slow
        # down the start for operations that may never be called.
        self._by_status: dict[int, Counter] = {}
        self._seconds: Histogram | None = None

    def count(self, status: int, seconds: float) -> None:
        """Count one response with its HTTP status and duration."""
        counter = self._by_status.get(status)
        if counter is None:
            counter = self._by_status[status] = self._requests.labels(self._operation, str(status))
        counter.inc()
        if self._seconds is None:
            self._seconds = self._histogram.labels(self._operation)
        self._seconds.observe(seconds)
