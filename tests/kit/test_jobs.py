from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import pytest

from octavo.errors import NotFound
from octavo.kit.clock import now
from octavo.kit.db.databases import open_database
from octavo.kit.scheduling import deadlines
from octavo.kit.work import jobs
from octavo.kit.work.jobs import enqueue, finish, list_jobs, retry_parked
from octavo.kit.work.worker import Worker
from settled import PATIENCE, until


@pytest.fixture(autouse=True)
def registry(monkeypatch):
    """Let each test register its own kinds."""
    monkeypatch.setattr(jobs, "kinds", {})
    monkeypatch.setattr(jobs, "former_kinds", {})
    monkeypatch.setattr(jobs, "schedules", {})
    monkeypatch.setattr(jobs, "feeders", [])


def _add(database, kind, **options):
    with database.write() as tx:
        enqueue(tx, kind, **options)


def _rows(database, columns="id"):
    with database.read() as tx:
        return tx.all(f"SELECT {columns} FROM jobs ORDER BY id")


class Running:
    """A worker in a thread of its own."""

    def __init__(self, database, context=None, **options):
        self.stop = threading.Event()
        self.thread = threading.Thread(
            target=Worker(database, context, **options).run_forever, args=(self.stop,)
        )

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *error):
        self.stop.set()
        jobs.wake()
        self.thread.join()


def test_a_job_gets_context_and_payload_and_is_deleted(database):
    seen = []

    @jobs.job("greet", bound="a test")
    def greet(context, name, version):
        seen.append((context, name, version))

    _add(database, "greet", name="Ann", version=3)
    assert Worker(database, "context").run_pending() == 1
    assert seen == [("context", "Ann", 3)]
    assert _rows(database) == []


def test_a_job_is_enqueued_in_the_transaction(database):
    with pytest.raises(ZeroDivisionError), database.write() as tx:
        enqueue(tx, "greet")
        raise ZeroDivisionError
    assert _rows(database) == []


def test_one_job_of_a_key_waits_even_while_another_runs(database):
    runs = []

    @jobs.job("index", bound="a test")
    def index(context, n):
        runs.append(n)
        if n == 1:
            _add(database, "index", key="space", n=3)

    _add(database, "index", key="space", n=1)
    _add(database, "index", key="space", n=2)
    _add(database, "index", key="other", n=4)
    assert Worker(database, None).run_pending() == 3
    assert sorted(runs) == [1, 3, 4]


def test_future_jobs_and_jobs_of_unknown_kinds_wait(database):
    @jobs.job("known", bound="a test")
    def known(context):
        raise AssertionError("too early")

    _add(database, "known", run_at=now() + 60_000)
    _add(database, "of-a-later-release")
    assert Worker(database, None).run_pending() == 0
    assert len(_rows(database)) == 2


def test_failed_jobs_are_retried_later_and_parked_with_their_error(database, clock):
    @jobs.job("fail", bound="a test", attempts=3)
    def fail(context, page):
        raise ValueError(f"page {page} is broken")

    _add(database, "fail", page="p1")
    delays = []
    moment = clock.advance(0)
    worker = Worker(database, None)
    for _ in range(3):
        assert worker.run_pending() == 1
        assert worker.run_pending() == 0
        ((run_at,),) = _rows(database, "run_at")
        delays.append(run_at - moment)
        clock.set(moment := run_at)
    assert 2_500 <= delays[0] <= 5_000 <= delays[1] <= 10_000
    assert worker.run_pending() == 0
    with database.read() as tx:
        ((parked,), _) = list_jobs(tx, state="parked")
    assert (parked.kind, parked.payload, parked.attempts) == ("fail", {"page": "p1"}, 3)
    assert parked.error.endswith("ValueError: page p1 is broken\n")

    with database.write() as tx:
        retry_parked(tx, [parked.id])
    assert worker.run_pending() == 1
    with pytest.raises(NotFound), database.write() as tx:
        retry_parked(tx, [parked.id])


def test_commits_wake_the_worker_of_the_process(database):
    ran = threading.Event()
    jobs.job("now", bound="a test")(lambda context: ran.set())
    with Running(database, poll=10 * PATIENCE):
        _add(database, "now")
        assert ran.wait(PATIENCE)
        until(lambda: not _rows(database))
        ran.clear()
        # It has nothing left to do, and looks by itself only long after the test gave up.
        _add(database, "now")
        assert ran.wait(PATIENCE)


def test_a_stopped_worker_finishes_running_jobs(database):
    started, go = threading.Event(), threading.Event()
    done = []

    @jobs.job("long", bound="a test")
    def long(context, n):
        started.set()
        go.wait()
        done.append(n)

    _add(database, "long", n=1)
    with Running(database, threads=1, poll=0.02) as running:
        assert started.wait(PATIENCE)
        _add(database, "long", n=2)
        running.stop.set()
        jobs.wake()
        running.thread.join(0.1)
        assert running.thread.is_alive()
        go.set()
    assert done == [1]
    assert len(_rows(database)) == 1


def test_a_long_job_keeps_its_lease(database, clock):
    runs, go = [], threading.Event()

    @jobs.job("long", bound="a test")
    def long(context):
        runs.append(1)
        go.wait(PATIENCE)

    clock.advance(0)
    _add(database, "long")
    try:
        with Running(database, lease=0.5, poll=0.02), Running(database, lease=0.5, poll=0.02):
            for _ in range(4):
                # The clock advances only after the lease was renewed, however long that takes.
                until(lambda: [row[0] for row in _rows(database, "lease_until")] == [now() + 500])
                clock.advance(400)
            go.set()
            until(lambda: not _rows(database))
    finally:
        go.set()
    assert runs == [1]


def test_a_worker_without_its_lease_writes_nothing(database):
    @jobs.job("write", bound="a test")
    def write(context):
        with database.write() as tx:
            tx.run("UPDATE jobs SET lease = 'another'")
        with database.write() as tx:
            tx.run("INSERT INTO secrets (name, value) VALUES ('effect', '')")
            finish(tx)

    _add(database, "write")
    Worker(database, None).run_pending()
    with database.read() as tx:
        assert tx.one("SELECT * FROM secrets") is None
        assert tx.all("SELECT lease, error FROM jobs") == [("another", None)]


def test_a_job_that_kills_its_workers_is_parked(database):
    jobs.job("deadly", bound="a test", attempts=2)(lambda context: None)
    _add(database, "deadly")
    with database.write() as tx:
        tx.run("UPDATE jobs SET state = 'running', attempts = 2, lease = 'dead', lease_until = :t", t=now())
    assert Worker(database, None).run_pending() == 0
    with database.read() as tx:
        assert "crashed" in list_jobs(tx, state="parked")[0][0].error


def test_schedules_run_once_across_workers(database, clock):
    runs = []
    jobs.job("sweep", bound="a test")(lambda context: runs.append(1))
    jobs.schedule("sweep-all", 60, "sweep")
    first, second = Worker(database, None), Worker(database, None)
    assert [first.run_pending(), second.run_pending(), first.run_pending()] == [1, 0, 0]
    clock.advance(60_001)
    assert [second.run_pending(), first.run_pending()] == [1, 0]


_WORKER = """
import sys, threading, time
from octavo.kit.work import jobs, worker
from octavo.kit.db.databases import open_database

database = open_database(sys.argv[1], 4)

began = []

@jobs.job("effect", bound="a test")
def effect(context, n):
    time.sleep(0.02)
    began.append(n)
    if sys.argv[3:] and len(began) > 5:
        print("stuck", flush=True)
        threading.Event().wait()
    with database.write() as tx:
        tx.run("INSERT INTO effects (n) VALUES (:n)", n=n)
        jobs.finish(tx)

stop = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), stop.set()), daemon=True).start()
print("ready", flush=True)
worker.Worker(database, None, threads=3, lease=float(sys.argv[2]), poll=0.05).run_forever(stop)
database.close()
"""


def _start_worker(database_url, lease, *more):
    return subprocess.Popen(
        [sys.executable, "-c", _WORKER, database_url, lease, *more],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )


def test_a_killed_worker_loses_and_repeats_nothing(database, database_url):
    with database.write() as tx:
        tx.script("CREATE TABLE effects (n BIGINT NOT NULL);")
    workers = []
    try:
        with database.write() as tx:
            for n in range(200):
                enqueue(tx, "effect", n=n)
        # Only jobs of the killed worker are taken over: on a busy machine, a running one can renew a short
        # lease too late.
        victim = _start_worker(database_url, "1", "victim")
        workers.append(victim)
        assert victim.stdout.readline() == "ready\n"
        assert victim.stdout.readline() == "stuck\n"  # it has done some jobs and holds others
        workers += [_start_worker(database_url, "3600") for _ in range(2)]
        for worker in workers[1:]:
            assert worker.stdout.readline() == "ready\n"
        victim.send_signal(signal.SIGKILL)
        victim.wait()
        until(lambda: not _rows(database))
        for worker in workers[1:]:
            worker.stdin.close()
            assert worker.wait(PATIENCE) == 0
        with database.read() as tx:
            assert [n for (n,) in tx.all("SELECT n FROM effects ORDER BY n")] == list(range(200))
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
            worker.stdout.close()
        with database.write() as tx:
            tx.script("DROP TABLE effects;")


def test_workers_of_several_processes_share_the_work(database, database_url):
    seen = []
    lock = threading.Lock()

    @jobs.job("count", bound="a test")
    def count(context, n):
        with lock:
            seen.append((context, n))
        time.sleep(0.01)

    with database.write() as tx:
        for n in range(60):
            enqueue(tx, "count", n=n)
    other = open_database(database_url)
    with Running(database, "a", threads=2, poll=0.02), Running(other, "b", threads=2, poll=0.02):
        until(lambda: not _rows(database))
    other.close()
    assert sorted(n for _, n in seen) == list(range(60))
    assert {who for who, _ in seen} == {"a", "b"}


# --- fairness -------------------------------------------------------------------------------------------


def test_emails_do_not_wait_for_slow_jobs_of_one_organization(database):
    go, mailed = threading.Event(), threading.Event()
    running, most = set(), []
    lock = threading.Lock()

    @jobs.job("import", bound="a test", seconds=3600)
    def slow(context, n):
        with lock:
            running.add(n)
            most.append(len(running))
        go.wait()
        with lock:
            running.discard(n)

    jobs.job("print", bound="a test", seconds=3600)(lambda context: go.wait())
    jobs.job("mail", bound="a test")(lambda context: mailed.set())
    with database.write() as tx:
        for n in range(50):
            enqueue(tx, "import", organization="one", n=n)
        for _ in range(50):
            enqueue(tx, "print", organization="one")
        enqueue(tx, "mail", organization="two")
    try:
        with Running(database, threads=4, poll=0.02):
            assert mailed.wait(PATIENCE)
            until(lambda: len(_rows_in(database, "running")) == 3 and len(running) == 2)
            mailed.clear()
            _add(database, "mail", organization="one")
            assert mailed.wait(PATIENCE)
            go.set()
            until(lambda: not _rows(database))
    finally:
        go.set()
    assert max(most) == 2


def _rows_in(database, state):
    with database.read() as tx:
        return tx.all("SELECT id FROM jobs WHERE state = :state", state=state)


def test_organizations_and_kinds_take_turns(database):
    seen = []
    for kind in ("import", "index"):
        jobs.job(kind, bound="a test")(lambda context, who, kind=kind: seen.append(f"{kind} {who}"))
    with database.write() as tx:
        for n in range(20):
            enqueue(tx, "import", organization="a", who=f"a{n % 10}")
        for who in ("b0", "b1", "c0"):
            enqueue(tx, "import", organization=who[0], who=who)
        enqueue(tx, "index", who="us")
    assert Worker(database, None).run_pending() == 24
    assert [word[:-1] for word in seen[:8]] == [
        "import a",
        "index u",
        "import b",
        "import c",
        "import a",
        "import b",
        "import a",
        "import a",
    ]


def test_claiming_a_job_takes_the_same_time_with_many_waiting(database):
    jobs.job("import", bound="a test")(lambda context: None)
    statements = []

    def claim(waiting):
        with database.write() as tx:
            for _ in range(waiting):
                enqueue(tx, "import", organization="one")
            enqueue(tx, "import", organization="two")
        worker = Worker(database, None)
        worker._served["import"] = "one"
        if database.engine == "postgresql":
            with database.write() as tx:
                tx.run("ANALYZE jobs")
        with database.read() as tx:
            plans = [_plan(tx, sql) for sql in _CLAIM]
        assert all("jobs_ready" in plan for plan in plans), plans
        write = database.write

        @contextmanager
        def counted():
            with write() as tx:
                execute = tx._execute
                count = 0

                def counting(*given):
                    nonlocal count
                    count += 1
                    return execute(*given)

                tx._execute = counting
                yield tx
                statements.append(count)

        database.write = counted
        try:
            (found,) = worker._claim(1)
        finally:
            database.write = write
        with database.read() as tx:
            assert tx.value("SELECT organization_id FROM jobs WHERE id = :id", id=found.id) == "two"

    claim(2)
    claim(5000)
    assert statements[0] == statements[1]


_CLAIM = (
    "SELECT id, payload, attempts FROM jobs WHERE state = 'ready' AND kind = 'import'"
    " AND organization_id = 'one' ORDER BY run_at, id LIMIT 1",
    "SELECT organization_id FROM jobs WHERE state = 'ready' AND kind = 'import' AND organization_id > 'one'"
    " ORDER BY organization_id LIMIT 1",
)


def _plan(tx, sql):
    if tx.engine == "sqlite":
        return " ".join(str(row) for row in tx.all(f"EXPLAIN QUERY PLAN {sql}"))
    tx.run("SET LOCAL enable_seqscan = off")
    return " ".join(row[0] for row in tx.all(f"EXPLAIN {sql}"))


# --- time -----------------------------------------------------------------------------------------------


def test_a_job_beyond_its_deadline_stops_and_is_retried(database):
    ended = []

    @jobs.job("endless", bound="a test", seconds=0.2)
    def endless(context):
        try:
            while True:
                deadlines.check()
                assert 0 <= deadlines.remaining(60) <= 0.2
                time.sleep(0.01)
        finally:
            ended.append(True)

    _add(database, "endless")
    assert Worker(database, None).run_pending() == 1
    assert ended == [True]
    ((state, attempts, lease, error),) = _rows(database, "state, attempts, lease, error")
    assert (state, attempts, lease) == ("later", 1, None)
    assert "DeadlineExceeded" in error


def test_a_stuck_job_is_abandoned_and_its_thread_writes_nothing(database):
    go, lost = threading.Event(), []

    @jobs.job("stuck", bound="a test", attempts=1, seconds=0.1)
    def stuck(context):
        go.wait()
        try:
            with database.write() as tx:
                tx.run("INSERT INTO secrets (name, value) VALUES ('effect', '')")
                finish(tx)
        except Exception:
            # It has lost its lease, or PostgreSQL ended a statement for which no time was left.
            lost.append(True)
            raise

    ran = threading.Event()
    jobs.job("other", bound="a test")(lambda context: ran.set())
    _add(database, "stuck")
    try:
        # Its lease doesn't end: only the worker itself removes it from its thread.
        with Running(database, threads=3, lease=60, grace=0.1, poll=0.02):
            until(lambda: _rows_in(database, "parked"))
            _add(database, "other")
            assert ran.wait(PATIENCE)
            go.set()
            until(lambda: bool(lost))  # the worker does not wait for a thread that it gave up
    finally:
        go.set()
    assert lost == [True]
    with database.read() as tx:
        assert tx.one("SELECT * FROM secrets") is None
        assert "the job took longer than 0.1 seconds" in tx.value("SELECT error FROM jobs")


def test_a_second_run_by_the_same_worker_has_its_own_lease(database):
    """Each run has a lease of its own."""
    first = []

    @jobs.job("again", bound="a test")
    def again(context):
        if not first:
            first.append(jobs.running.get())
            with database.write() as tx:
                tx.run("UPDATE jobs SET lease_until = 0")
            worker.run_pending()
            with pytest.raises(jobs.LeaseLost), database.write() as tx:
                finish(tx)
        else:
            assert jobs.running.get().lease != first[0].lease

    worker = Worker(database, None)
    _add(database, "again")
    worker.run_pending()
    assert _rows(database) == []


# --- in parts -------------------------------------------------------------------------------------------


def test_a_failure_repeats_only_the_part_that_failed(database):
    """However often parts fail: a job that gets on is not parked."""
    done = []

    @jobs.job("in parts", bound=None, attempts=2)
    def in_parts(context, of, after=0):
        for part in range(after + 1, of + 1):
            done.append(part)
            if done.count(part) == 1:
                raise ConnectionError("away")
            with database.write() as tx:
                jobs.advance(tx, after=part)

    _add(database, "in parts", of=4)
    worker = Worker(database, None)
    while _rows(database):
        worker.run_pending()
        with database.write() as tx:
            assert tx.value("SELECT count(*) FROM jobs WHERE state = 'parked'") == 0
            tx.run("UPDATE jobs SET state = 'ready'")
    assert done == [1, 1, 2, 2, 3, 3, 4, 4]


def test_a_part_that_never_succeeds_is_parked(database):
    @jobs.job("in parts", bound=None, attempts=2)
    def in_parts(context, after=0):
        if not after:
            with database.write() as tx:
                jobs.advance(tx, after=1)
        raise ConnectionError("away")

    _add(database, "in parts")
    worker = Worker(database, None)
    for _ in range(2):
        worker.run_pending()
        with database.write() as tx:
            tx.run("UPDATE jobs SET state = 'ready' WHERE state = 'later'")
    assert [(state, payload) for state, payload in _rows(database, "state, payload")] == [
        ("parked", '{"after":1}')
    ]


@pytest.mark.parametrize("kept", [True, False])
def test_each_part_has_the_time_limit_of_the_job(database, kept):
    parts = []

    @jobs.job("in parts", bound=None, attempts=1, seconds=60)
    def in_parts(context):
        for part in range(5):
            jobs.running.get().deadline.at -= 50
            deadlines.check()
            if kept:
                with database.write() as tx:
                    jobs.advance(tx)
            else:
                jobs.renew()
            parts.append(part)

    _add(database, "in parts")
    Worker(database, None).run_pending()
    assert (parts, _rows(database)) == ([0, 1, 2, 3, 4], [])


def test_parts_run_until_one_returns_nothing(database):
    left, transactions = [2, 2, 0], []

    def part(tx):
        jobs.running.get().deadline.at -= 50
        transactions.append(tx)
        return left.pop(0)

    @jobs.job("in parts", bound=None, attempts=1, seconds=60)
    def in_parts(context):
        jobs.run_parts(database, part)

    _add(database, "in parts")
    Worker(database, None).run_pending()
    assert (left, _rows(database)) == ([], [])
    assert len(set(map(id, transactions))) == 3


def test_a_part_beyond_the_time_limit_fails(database):
    @jobs.job("in parts", bound=None, attempts=1, seconds=60)
    def in_parts(context):
        jobs.renew()
        jobs.running.get().deadline.at -= 70
        jobs.renew()

    _add(database, "in parts")
    Worker(database, None).run_pending()
    ((state, error),) = _rows(database, "state, error")
    assert state == "parked" and "DeadlineExceeded" in error


def test_a_part_is_not_written_after_another_worker_claimed_the_job(database):
    @jobs.job("in parts", bound=None)
    def in_parts(context):
        with database.write() as tx:
            tx.run("UPDATE jobs SET lease = 'another'")
        with database.write() as tx:
            tx.run("INSERT INTO secrets (name, value) VALUES ('effect', '')")
            jobs.advance(tx)

    _add(database, "in parts")
    Worker(database, None).run_pending()
    with database.read() as tx:
        assert tx.one("SELECT * FROM secrets") is None


def test_work_outside_a_job_has_no_parts(database):
    with database.write() as tx:
        jobs.advance(tx, after=1)
    jobs.renew()
    with deadlines.limited(0), pytest.raises(deadlines.DeadlineExceeded):
        jobs.renew()


def test_jobs_of_former_and_unknown_kinds_are_not_lost(database, clock):
    """During an upgrade, processes of two versions share the queue."""
    seen = []

    @jobs.job("analyze", bound="a test", formerly="analyse")
    def analyze(context, id):
        seen.append(id)

    _add(database, "analyse", id=1, key="analyse:1")
    _add(database, "analyze", id=2, key="analyze:2")
    _add(database, "analyse", id=3, run_at=now() + 1000)
    _add(database, "ofANewerVersion", id=4)
    worker = Worker(database, None)
    assert worker.run_pending() == 2
    clock.advance(1000)
    assert worker.run_pending() == 1
    assert sorted(seen) == [1, 2, 3]
    assert _rows(database, "kind, state") == [("ofANewerVersion", "ready")]

    # The process of the newer version starts before the job is given up.
    clock.advance(86_400_000)
    jobs.schedule("anything", 60, "analyze")
    jobs.kinds["ofANewerVersion"] = jobs.kinds["analyze"]
    worker.run_pending()
    assert 4 in seen
    del jobs.kinds["ofANewerVersion"], jobs.schedules["anything"]

    _add(database, "ofARemovedVersion", id=5)
    clock.advance(3 * 86_400_000)
    jobs.schedule("another", 60, "analyze")
    Worker(database, None)._feed()
    ((state, error),) = [
        row[1:] for row in _rows(database, "kind, state, error") if row[0] == "ofARemovedVersion"
    ]
    assert (state, "ofARemovedVersion" in error) == ("parked", True)
