from __future__ import annotations

import gc
import shutil
import subprocess
import sys
import threading

from octavo.kit.db.database import SqliteDatabase
from octavo.kit.db.databases import open_database


def _put(database, name: str) -> None:
    with database.write() as tx:
        tx.run("INSERT INTO secrets (name, value) VALUES (:name, 'v')", name=name)


def _put_elsewhere(database_url: str) -> None:
    other = open_database(database_url)
    _put(other, "foreign")
    other.close()


def _is_soon_above(number: int, ask) -> bool:
    for _ in range(200):
        if ask() > number:
            return True
        threading.Event().wait(0.01)
    return False


def _settled_generation(database) -> int:
    """PostgreSQL listens from the first question on."""
    for _ in range(200):
        found = database.generation()
        if found is not None:
            return found
        threading.Event().wait(0.01)
    raise AssertionError("never listening")


def test_the_generation_changes_with_own_and_foreign_commits(database, database_url):
    first = _settled_generation(database)
    _put(database, "own")
    second = database.generation()
    assert second > first  # immediately: a thread reads its own writes
    _put_elsewhere(database_url)
    assert _is_soon_above(second, database.generation)


def test_the_recent_generation_includes_own_commits_immediately(database, database_url):
    _settled_generation(database)
    before = database.recent_generation()
    for name in "abc":
        _put(database, name)
        found = database.recent_generation()
        assert found > before
        before = found
    _put_elsewhere(database_url)
    assert _is_soon_above(before, database.recent_generation)


def test_generation_is_the_same_number_in_every_thread(database):
    _settled_generation(database)
    seen = []
    for name in "abc":
        _put(database, name)
        thread = threading.Thread(target=lambda: seen.append(database.generation()))
        thread.start()
        thread.join()
        assert seen[-1] == database.generation()
    assert len(set(seen)) == 3


def test_generation_of_an_open_read_is_the_one_of_its_snapshot(database):
    first = _settled_generation(database)
    with database.read() as tx:
        assert tx.value("SELECT COUNT(*) FROM secrets") == 0
        writer = threading.Thread(target=_put, args=(database, "a"))
        writer.start()
        writer.join()
        assert tx.value("SELECT COUNT(*) FROM secrets") == 0
        assert database.generation() == first
    assert database.generation() > first


def test_a_finished_thread_leaves_no_connection(sqlite_template, tmp_path):
    database = open_database(f"sqlite:///{shutil.copy(sqlite_template, tmp_path / 'octavo.db')}")

    def read() -> None:
        with database.read() as tx:
            tx.one("SELECT 1")

    read()
    before = len(database._all)
    for _ in range(5):
        thread = threading.Thread(target=read)
        thread.start()
        thread.join()
    gc.collect()  # a connection refers to itself
    assert len(database._all) == before
    database.close()


def test_a_database_opened_twice_keeps_its_log(tmp_path):
    """Closing a file drops all locks that this process has on it, and the next process takes the log for left over."""
    path = str(tmp_path / "octavo.db")
    first = SqliteDatabase(path)
    with first.write() as tx:
        tx.run("CREATE TABLE words (word TEXT NOT NULL)")
    second = SqliteDatabase(path)
    look = f"import sqlite3; c = sqlite3.connect({path!r}); c.execute('SELECT * FROM words').fetchall(); c.close()"
    subprocess.run([sys.executable, "-c", look], check=True)
    with first.write() as tx:
        tx.run("INSERT INTO words VALUES ('kept')")
    with second.read() as tx:
        assert tx.value("SELECT word FROM words") == "kept"
    first.close()
    second.close()


def _put_live(database, name: str) -> None:
    with database.write(live=True) as tx:
        tx.run("INSERT INTO secrets (name, value) VALUES (:name, 'v')", name=name)


def test_a_live_commit_is_counted_but_keeps_the_generation(database, database_url):
    first, commits = _settled_generation(database), database.commits()
    for name in "ab":
        _put_live(database, name)
        assert database.commits() > commits
        assert database.generation() == database.recent_generation() == first
        commits = database.commits()
        with database.read() as tx:
            assert tx.value("SELECT count(*) FROM secrets WHERE name = :name", name=name) == 1
            assert database.generation() == first
    _put(database, "own")
    second = database.generation()
    assert second > first
    _put_live(database, "live")
    assert database.generation() == second
    # Other processes' live commits are counted, too.
    commits = database.commits()
    other = open_database(database_url)
    _put_live(other, "foreign live")
    other.close()
    assert _is_soon_above(commits, database.commits)
    _put_elsewhere(database_url)
    assert _is_soon_above(second, database.generation)


def test_a_live_commit_changes_the_generation_if_another_process_committed_too(tmp_path):
    """If another process may have committed at the same time, cached values are read again."""
    path = str(tmp_path / "octavo.sqlite")
    database = SqliteDatabase(path)
    with database.write() as tx:
        tx.run("CREATE TABLE secrets (name TEXT, value TEXT)")
    first = database.generation()
    kept = database._keep_generation

    def commit_elsewhere(*before: int) -> None:
        other = SqliteDatabase(path)
        other._writer.execute("INSERT INTO secrets VALUES ('foreign', 'v')")
        other.close()
        kept(*before)

    database._keep_generation = commit_elsewhere  # type: ignore[method-assign]
    _put_live(database, "own")
    assert database.generation() > first
    database.close()
