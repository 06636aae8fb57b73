from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

from octavo.kit.clock import now
from octavo.kit.http.metrics import Metrics
from octavo.kit.work import jobs


def _samples(metrics: Metrics) -> dict:
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(metrics.text().decode())
        for sample in family.samples
    }


def test_requests_are_counted_by_operation_and_status():
    metrics = Metrics()
    get_space, get_page = metrics.meter("getSpace"), metrics.meter("getPage")
    for status in (200, 200, 404):
        get_space.count(status, 0.003)
    get_page.count(500, 20)
    found = _samples(metrics)
    name = "octavo_requests_total"
    assert found[name, ("operation", "getSpace"), ("status", "200")] == 2
    assert found[name, ("operation", "getSpace"), ("status", "404")] == 1
    assert found[name, ("operation", "getPage"), ("status", "500")] == 1
    bucket = "octavo_request_seconds_bucket"
    assert found[bucket, ("le", "0.0025"), ("operation", "getSpace")] == 0
    assert found[bucket, ("le", "0.005"), ("operation", "getSpace")] == 3
    assert found[bucket, ("le", "10.0"), ("operation", "getPage")] == 0
    assert found["octavo_request_seconds_sum", ("operation", "getPage")] == 20


def test_two_registries_do_not_share_their_counts():
    first, second = Metrics(), Metrics()
    first.meter("getSpace").count(200, 0.1)
    second.meter("getSpace")
    assert ("octavo_requests_total", ("operation", "getSpace"), ("status", "200")) not in _samples(second)


def test_jobs_and_events_are_reported(database) -> None:
    with database.write() as tx:
        jobs.enqueue(tx, "makePrint", print_id="a")
        jobs.enqueue(tx, "makePrint", print_id="b", run_at=now() + 60_000)
        jobs.enqueue(tx, "runImport", run="c")
        tx.run("UPDATE jobs SET run_at = run_at - 5000 WHERE state = 'ready'")
        tx.run("UPDATE jobs SET state = 'parked' WHERE kind = 'runImport'")
    metrics = Metrics()
    metrics.watch(database)
    lines = metrics.text().decode().splitlines()
    assert 'octavo_jobs{kind="makePrint",state="waiting"} 1.0' in lines
    assert 'octavo_jobs{kind="makePrint",state="parked"} 0.0' in lines
    assert 'octavo_jobs{kind="runImport",state="parked"} 1.0' in lines
    (oldest,) = [
        line
        for line in lines
        if line.startswith('octavo_jobs_oldest_seconds{kind="makePrint",state="waiting"}')
    ]
    assert 5 <= float(oldest.split()[-1]) < 60
