"""Events of many commits are delivered together; jobs start in the meantime."""

import threading

from octavo.errors import TemporarilyUnavailable
from octavo.kit.work import jobs, worker
from octavo.kit.work.worker import Worker
from settled import PATIENCE


def test_consecutive_commits_cause_one_lookup(database, monkeypatch):
    monkeypatch.setattr(worker, "_REST", 1000.0)
    fed, claimed, stop = [], threading.Semaphore(0), threading.Event()
    running = Worker(database, None, poll=1000.0)
    monkeypatch.setattr(running, "_feed", lambda: fed.append(1) or True)
    monkeypatch.setattr(running, "_claim", lambda most: claimed.release() or [])
    thread = threading.Thread(target=running.run_forever, args=(stop,))
    thread.start()
    try:
        assert claimed.acquire(timeout=PATIENCE) and claimed.acquire(timeout=PATIENCE)
        for _ in range(5):
            jobs.wake()
            assert claimed.acquire(timeout=PATIENCE)
    finally:
        stop.set()
        jobs.wake()
        thread.join(PATIENCE)
    assert len(fed) == 1


def test_an_unavailable_database_is_logged_without_a_traceback(database, monkeypatch, caplog):
    reported, stop = threading.Event(), threading.Event()
    running = Worker(database, None, poll=1000.0)

    def feed():
        reported.set()
        raise TemporarilyUnavailable("The database is not reachable right now.")

    monkeypatch.setattr(running, "_feed", feed)
    thread = threading.Thread(target=running.run_forever, args=(stop,))
    thread.start()
    assert reported.wait(PATIENCE)
    stop.set()
    jobs.wake()
    thread.join(PATIENCE)
    [record] = [one for one in caplog.records if "jobs can't be fetched" in one.message]
    assert record.levelname == "WARNING" and record.exc_info is None
    assert "not reachable" in record.message
