"""Traces by themselves: whether there are any, where they go, and what a collector that does not take them costs."""

from __future__ import annotations

import pytest

from collector import Collector, values_of
from octavo.app import begin_traces
from octavo.errors import NotFound, Unavailable
from octavo.kit.db.databases import open_database
from octavo.kit.http.metrics import Metrics
from octavo.kit.observability import tracing
from octavo.operations.admin import diagnosis
from octavo.settings import Settings


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_TRACES_EXPORTER": "none"},
        {"OTEL_SERVICE_NAME": "handbook"},
    ],
)
def test_traces_are_only_sent_with_a_configured_collector(monkeypatch, environment):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    begin_traces(Metrics())
    assert not tracing.is_enabled()
    with tracing.part("a part") as span:
        assert span is None
    assert tracing.start("a request", "server") is None
    assert tracing.cause() is None and tracing.headers_of(None) == {}
    assert tracing.timed(len) is len


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318", "a URL such as http://collector:4318"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "http/protobuf"),
        ("OTEL_TRACES_EXPORTER", "zipkin", "otlp or none"),
        ("OTEL_TRACES_SAMPLER", "sometimes", "parentbased_traceidratio"),
        ("OTEL_TRACES_SAMPLER_ARG", "150", "between 0 and 1"),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "many", "OTEL_"),
    ],
)
def test_an_invalid_variable_ends_startup(collector: Collector, monkeypatch, name, value, says):
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "traceidratio")
    monkeypatch.setenv(name, value)
    with pytest.raises(Unavailable) as refused:
        begin_traces(collector)
    assert name[:5] in refused.value.message and says in refused.value.message
    assert not tracing.is_enabled()


def test_tracing_without_its_packages_ends_startup(collector: Collector, monkeypatch):
    monkeypatch.setattr(tracing, "find_spec", lambda name: None)
    with pytest.raises(Unavailable, match=r"octavo\[traces\]"):
        begin_traces(collector)


def test_standard_variables_configure_the_sender(collector: Collector, monkeypatch):
    monkeypatch.setenv("OTEL_SERVICE_NAME", "handbook")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Basic%20c2VjcmV0")
    begin_traces(collector)
    span = tracing.start("a request", "server", {"octavo.request.id": "r" * 2000})
    assert span is not None
    span.end()
    (sent,) = collector.flush()
    assert len(values_of(sent.attributes)["octavo.request.id"]) == 512
    assert collector.headers[0]["authorization"] == "Basic c2VjcmV0"
    assert collector.resource["service.name"] == "handbook"
    assert collector.resource["deployment.environment.name"] == "test"
    assert collector.counts == {"sent": 1}
    assert "Basic c2VjcmV0" in Settings().secrets


def test_the_default_service_name_is_octavo(collector: Collector):
    begin_traces(collector)
    span = tracing.start("a request")
    assert span is not None
    span.end()
    collector.flush()
    assert collector.resource["service.name"] == "octavo"


def test_spans_are_nested_and_report_failures(collector: Collector):
    begin_traces(collector)
    whole = tracing.start("job", "consumer")
    assert whole is not None
    with tracing.running(whole), tracing.part("outer"):
        with pytest.raises(NotFound), tracing.part("inner", "client"):
            raise NotFound("a secret")
        with pytest.raises(ZeroDivisionError), tracing.part("other"):
            raise ZeroDivisionError("a secret")
    assert tracing.current() is None
    collector.flush()
    job, outer, inner, other = map(collector.named, ("job", "outer", "inner", "other"))
    assert (outer.parent_span_id, inner.parent_span_id) == (job.span_id, outer.span_id)
    assert {span.trace_id for span in collector.spans} == {job.trace_id}
    assert values_of(inner.attributes)["error.type"] == "404"
    assert values_of(other.attributes)["error.type"] == "ZeroDivisionError"
    assert "a secret" not in str(collector.spans)


def test_number_and_duration_of_statements_are_recorded(collector: Collector, database_url):
    begin_traces(collector)
    database = open_database(database_url)
    try:
        span = tracing.start("a request", "server")
        assert span is not None
        with tracing.running(span):
            with database.write() as tx:
                tx.run("UPDATE jobs SET attempts = 0")
            with database.read() as tx:
                assert tx.value("SELECT count(*) FROM jobs") == 0
                assert tx.all("SELECT id FROM jobs") == []
            with database.read_cached() as tx:
                assert tx.one("SELECT id FROM jobs") is None
    finally:
        database.close()
    (sent,) = collector.flush()
    noted = values_of(sent.attributes)
    assert noted["octavo.database.statements"] == 4
    assert 0 < noted["octavo.database.seconds"] < 10


@pytest.mark.parametrize("answer", [None, 400])
def test_a_stuck_collector_loses_spans_but_takes_no_time(collector: Collector, monkeypatch, answer):
    """Neither the work nor the end of the process waits for it."""
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "20")
    monkeypatch.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "10")
    monkeypatch.setattr("octavo.kit.observability.trace_export._LAST_SECONDS", 0.1)
    collector.answer = answer
    begin_traces(collector)
    for _ in range(200):
        span = tracing.start("a request", "server")
        assert span is not None
        span.end()
    tracing.end()
    # It responds to no one before it is released.
    assert not collector.released.is_set()
    collector.wait_for(lambda: collector.counts.get("dropped", 0) > 0)
    assert collector.counts.get("sent", 0) == 0
    if answer is None:
        # Twenty wait, and up to ten more where some were on their way soon enough.
        assert list(collector.counts) == ["dropped"] and 170 <= collector.counts["dropped"] <= 180
    else:
        collector.wait_for(lambda: sum(collector.counts.values()) == 200)


def test_an_unavailable_collector_is_logged_once(collector: Collector, monkeypatch, caplog):
    collector.answer = 400
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "5")
    begin_traces(collector)
    for count in range(1, 4):
        span = tracing.start("a request", "server")
        assert span is not None
        span.end()
        collector.wait_for(lambda count=count: collector.counts.get("failed", 0) == count)
    collector.answer = 200
    span = tracing.start("a request", "server")
    assert span is not None
    span.end()
    collector.flush()
    said = [record.getMessage() for record in caplog.records]
    assert said == ["the collector doesn't accept traces, so they are lost", "traces are accepted again"]


def test_a_check_reports_whether_the_collector_responds(collector: Collector, monkeypatch):
    assert diagnosis._traces() == [("traces", True, f"sent to {collector.url.removeprefix('http://')}")]
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    assert diagnosis._traces() == [("traces", False, "the collector didn't respond: Connection refused")]
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    assert [works for _, works, _ in diagnosis._traces()] == [False]
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT")
    assert diagnosis._traces() == []
