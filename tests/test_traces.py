"""End-to-end traces: spans of requests, jobs, deliveries, and outgoing calls, and data that is never exported."""

from __future__ import annotations

import json
import logging
from contextlib import contextmanager
from io import StringIO

import httpx
import pytest
from msgspec.structs import replace

from collector import Collector, values_of
from octavo.app import begin_traces
from octavo.kit.http.metrics import Metrics
from octavo.kit.observability import logs
from octavo.kit.work.worker import Worker
from octavo.operations.admin.import_export import import_space
from serving import serving_new
from visiting import ADDRESS, Visitor

STRANGE_TRACE = "0af7651916cd43dd8448eb211c80319c"
STRANGE = {
    "traceparent": f"00-{STRANGE_TRACE}-b7ad6b7169203331-01",
    "tracestate": "vendor=value",
    "baggage": "secret=zq-baggage",
}


@pytest.fixture
def traced(collector: Collector):
    begin_traces(collector)
    return collector


@contextmanager
def access_log():
    """Return the access log entries, parsed from JSON."""
    written = StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(logs._JsonLines(logs.Redactor()))
    logger = logging.getLogger("octavo.access")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield written
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


def work(world):
    Worker(world.context.db, world.context).run_pending()


def test_a_request_to_the_api_is_a_span_without_anything_secret(world, traced):
    space = world.home.path("/spaces/{spaceId}")
    headers = {"x-request-id": "zq-request", "user-agent": "zq-agent", "cookie": "a=zq-cookie"}
    with access_log() as lines:
        answer = world.call("reader", "GET", f"{space}?token=zq-query", headers=headers)
    assert answer.status_code == 200
    world.call("nobody", "GET", space)
    world.call("reader", "GET", "/there-is-nothing")
    for name in ("healthz", "readyz"):
        world.call("nobody", "GET", f"http://octavo.test/{name}")
    spans = traced.flush()
    assert [span.name for span in spans] == ["GET /v1/spaces/{spaceId}"] * 2
    noted, refused = (values_of(span.attributes) for span in spans)
    assert noted.pop("octavo.waited.seconds", 0) >= 0
    assert noted.pop("octavo.database.statements", 0) >= 0 and noted.pop("octavo.database.seconds", 0) >= 0
    assert noted == {
        "http.request.method": "GET",
        "http.route": "/v1/spaces/{spaceId}",
        "url.scheme": "http",
        "http.response.status_code": 200,
        "octavo.operation": "getSpaceById",
        "octavo.request.id": "zq-request",
        "octavo.organization.id": world.home["organizationId"],
        "octavo.space.id": world.home["spaceId"],
    }
    assert refused["http.response.status_code"] == 401
    assert [span.status.code for span in spans] == [0, 0], "the fault of who asks is none of ours"
    (line,) = map(json.loads, lines.getvalue().splitlines())
    assert (line["trace_id"], line["request_id"]) == (spans[0].trace_id.hex(), "zq-request")
    told = str(traced.requests)
    assert not [word for word in ("zq-query", "zq-agent", "zq-cookie", "oct_test") if word in told]


@pytest.mark.sqlite_first
def test_a_server_error_is_only_recorded_with_its_status(world, traced, monkeypatch):
    def fail(*arguments):
        raise RuntimeError("zq-secret")

    monkeypatch.setattr("octavo.organization.spaces.routes.present_space", fail)
    assert world.call("reader", "GET", world.home.path("/spaces/{spaceId}")).status_code == 500
    (span,) = traced.flush()
    assert span.status.code == 2 and values_of(span.attributes)["error.type"] == "500"
    assert "zq-secret" not in str(traced.requests)


@pytest.mark.sqlite_first
def test_untrusted_clients_cannot_control_traces(world, collector, monkeypatch):
    space = world.home.path("/spaces/{spaceId}")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "parentbased_always_off")
    begin_traces(collector)
    world.call("reader", "GET", space, headers=STRANGE)
    assert collector.flush() == [], "nor that one is kept"
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "parentbased_always_on")
    begin_traces(collector)
    world.call("reader", "GET", space, headers={**STRANGE, "traceparent": STRANGE["traceparent"][:-2] + "00"})
    world.call("reader", "GET", space, headers={**STRANGE, "traceparent": "zq" * 40})
    found, broken = collector.flush()
    assert found.trace_id.hex() != STRANGE_TRACE and not found.parent_span_id
    assert [link.trace_id.hex() for link in found.links] == [STRANGE_TRACE], "but it can be found by theirs"
    assert not broken.links
    assert "zqzq" not in str(collector.requests) and "zq-" not in str(collector.requests)


@pytest.mark.sqlite_first
def test_traces_started_by_proxies_are_continued(world, traced):
    world.context.settings = replace(world.context.settings, trace_proxies=f"{ADDRESS}/32")
    Visitor(world.context).get("/", **STRANGE)
    (span,) = traced.flush()
    assert span.trace_id.hex() == STRANGE_TRACE and span.parent_span_id.hex() == "b7ad6b7169203331"


@pytest.mark.sqlite_first
def test_a_visit_is_a_span_without_secret_paths(world, tmp_path, traced):
    (tmp_path / "README.md").write_text("# Home\n\nHello.\n")
    organization = world.home["organizationId"]
    site_url = import_space(
        world.context, str(tmp_path), organization_id=organization, title="Handbook", publish=True
    ).site_url
    base = site_url.removeprefix(world.context.settings.sites_url)
    visitor = Visitor(world.context)
    with access_log() as lines:
        for _ in range(2):  # drawn, then kept
            assert visitor.get(base, {"q": "zq-query"}).status_code == 200
            assert visitor.get(base).status_code == 200
    assert lines.getvalue().count(f'"path": "{base.rstrip("/")}') == 4
    basename = base.split("/")[2]
    with world.context.db.read() as tx:
        site = tx.value("SELECT id FROM sites WHERE basename = :basename", basename=basename)
    path = f"/orgs/{organization}/sites/{site}"
    shared = world.call("admin", "PATCH", path, json={"visibility": "share-link"})
    assert shared.status_code == 200, shared.text
    link = world.post("admin", f"{path}/share-links", {"name": "For few"})
    key = link["urls"]["published"].rstrip("/").rpartition("/")[2]
    with access_log() as lines:
        for below in ("", "", "nothing"):
            visitor.get(f"{base}{key}/{below}")
        visitor.get(base)
    assert lines.getvalue().count("/{path*}") == 4 and key not in lines.getvalue()
    look = {"customization": {"styling": {"theme": "bold"}}}
    tried = world.call("admin", "POST", f"{path}/customization/preview", json=look)
    token = tried.json()["url"].partition("/~previewed/")[2].partition("/")[0]
    previewed = world.get("admin", f"{path}/publishing/preview")["url"]
    with access_log() as lines:
        for below in ("", "nothing"):
            visitor.get(f"/~previewed/{token}/{below}")
        query = previewed.partition("?")[2]
        visitor.get(base, dict([query.split("=")]))
    assert lines.getvalue().count("/{path*}") == 3
    assert token not in lines.getvalue() and query.partition("=")[2] not in lines.getvalue()
    visits = [span for span in traced.flush() if not span.name.partition(" ")[2].startswith("/v1/")]
    assert len(visits) == 11
    assert {values_of(span.attributes).get("url.path", "").rstrip("/") for span in visits[:4]} == {
        base.rstrip("/")
    }
    assert {span.name for span in visits[:4]} == {"GET readPage"}
    for secret in (key, "zq-query", token, query.partition("=")[2]):
        assert secret not in str(traced.requests)


def test_spans_caused_by_a_request_link_to_it(world, traced):
    """From a request to an event, its consumer, a job, a delivery, and its request: links are stored in rows,
    because each can run in another process."""
    address = traced.url.removeprefix("http://")
    world.context.settings = replace(world.context.settings, allow_private_fetch=address)
    hook = {"url": f"{traced.url}/hook", "events": ["space_content_updated"]}
    world.post("admin", world.home.path("/orgs/{organizationId}/webhooks"), hook)
    work(world)
    traced.flush()
    traced.requests.clear()
    begin_traces(traced)
    edit = {"changes": [{"operation": "update_page", "page": world.home["pageId"], "description": "Other"}]}
    world.call(
        "admin", "POST", world.home.path("/spaces/{spaceId}/content"), json=edit, headers={"baggage": "zq=1"}
    )
    traced.flush()
    request = traced.named("POST /v1/spaces/{spaceId}/content")
    begin_traces(traced)  # as in another process
    work(world)
    traced.flush()
    jobs = [span for span in traced.spans if span.name == "job deliverEvents"]
    deliveries = [span for span in traced.spans if span.name == "deliver space_content_updated"]
    (delivery,) = [span for span in deliveries if "octavo.webhook.id" in values_of(span.attributes)]
    (job,) = [span for span in jobs if span.span_id == delivery.parent_span_id]
    assert job.trace_id != request.trace_id and not job.parent_span_id
    for span in (job, delivery):
        assert [(link.trace_id, link.span_id) for link in span.links] == [(request.trace_id, request.span_id)]
    (sent,) = [span for span in traced.spans if span.parent_span_id == delivery.span_id]
    noted = values_of(sent.attributes)
    assert sent.name == "POST" and noted["server.address"] == "127.0.0.1"
    assert noted["http.response.status_code"] == 200 and "/hook" not in str(sent)
    ((path, headers),) = traced.others
    assert path == "/hook"
    assert headers["traceparent"].startswith(f"00-{sent.trace_id.hex()}-{sent.span_id.hex()}-0")
    assert "baggage" not in headers and "tracestate" not in headers


def test_without_a_collector_no_traces_are_sent_or_stored(world):
    world.post("admin", world.home.path("/orgs/{organizationId}/spaces"), {"title": "One"})
    with world.context.db.read() as tx:
        assert tx.value("SELECT count(*) FROM events WHERE trace IS NOT NULL") == 0
        assert tx.value("SELECT count(*) FROM jobs WHERE trace IS NOT NULL") == 0


def test_span_outcomes_are_counted_in_metrics():
    metrics = Metrics()
    metrics.count_spans("dropped", 3)
    assert 'octavo_spans_total{outcome="dropped"} 3.0' in metrics.text().decode()


@pytest.mark.slow
def test_processes_send_their_traces_without_waiting_at_shutdown(tmp_path, collector: Collector):
    told = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_BSP_SCHEDULE_DELAY": "100"}
    with serving_new(tmp_path / "data", "--workers", "2", **told) as octavo:
        assert httpx.get(f"{octavo.url}/openapi.json").status_code == 200
        collector.wait_for(lambda: any(span.name == "GET /openapi.json" for span in collector.spans))
        collector.wait_for(lambda: any(span.name.startswith("job ") for span in collector.spans))
        assert collector.resource["service.name"] == "octavo"
        collector.answer = None
        for _ in range(20):
            httpx.get(f"{octavo.url}/openapi.json")
        assert octavo.stop() == 0, "within ten seconds"
