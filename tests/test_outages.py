"""Outages of the database or file store: callers get an error, no data is lost, and no secret is logged."""

from __future__ import annotations

import base64
import errno
import io
import os
import secrets
import shutil
import socket
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TypeVar
from urllib.parse import parse_qs, urlsplit

import httpx
import obstore
import pytest

from octavo.errors import Damaged, DiskFull, TemporarilyUnavailable, Unavailable
from octavo.kit.db import database as db
from octavo.kit.db import postgres, postgres_connections
from octavo.kit.db.database import Database, statements_within
from octavo.kit.db.databases import open_database
from octavo.operations.admin.diagnosis import check_installation
from serving import Served, serving
from settled import PATIENCE
from world import World

T = TypeVar("T")
PASSWORD = "correct-horse-battery"


class Relay:
    """TCP port that forwards to a Unix socket, until it is cut."""

    def __init__(self, target: str) -> None:
        self._target = target
        self._silent: set[socket.socket] = set()
        self._open: list[socket.socket] = []
        self._changing = threading.Lock()
        self._listener = self._listen(0)
        self.port = self._listener.getsockname()[1]

    def _listen(self, port: int) -> socket.socket:
        listener = socket.create_server(("127.0.0.1", port))
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()
        return listener

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                incoming, _ = listener.accept()
            except OSError:
                return
            outgoing = socket.socket(socket.AF_UNIX)
            outgoing.connect(self._target)
            with self._changing:
                if listener.fileno() < 0:  # cut after this connection was accepted
                    incoming.close()
                    outgoing.close()
                    return
                self._open += [incoming, outgoing]
            for one, other in ((incoming, outgoing), (outgoing, incoming)):
                threading.Thread(target=self._pump, args=(one, other), daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                if source not in self._silent:
                    target.sendall(data)
        except OSError:
            pass

    def silence(self) -> None:
        """Keep connections open without forwarding anything, as if the server vanished from the network."""
        self._silent.update(self._open)

    def cut(self) -> None:
        with self._changing:
            for connection in (self._listener, *self._open):
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
                connection.close()
            self._open.clear()

    def mend(self) -> None:
        self._listener = self._listen(self.port)


@pytest.fixture
def relayed(postgres_databases, request) -> Iterator[tuple[Relay, str]]:  # type: ignore[no-untyped-def]
    """Yield a PostgreSQL database behind a relay, and its URL, which has a password."""
    url = urlsplit(postgres_databases.create(f"relayed_{abs(hash(request.node.name)) % 10**8}"))
    given = parse_qs(url.query)
    relay = Relay(f"{given['host'][0]}/.s.PGSQL.{given.get('port', ['5432'])[0]}")
    user = given.get("user", [url.username or "postgres"])[0]
    yield relay, f"postgresql://{user}:{PASSWORD}@127.0.0.1:{relay.port}{url.path}"
    relay.cut()


@pytest.mark.parametrize("replaced", [False, True])
def test_nothing_is_written_to_a_deleted_database_file(tmp_path: Path, replaced: bool) -> None:
    path = tmp_path / "octavo.db"
    database = open_database(f"sqlite:///{path}")
    with database.write() as tx:
        tx.run("CREATE TABLE things (id)")
    with database.read() as tx:
        assert tx.all("SELECT id FROM things") == []
    path.unlink()
    if replaced:
        path.touch()
    with pytest.raises(Damaged), database.write() as tx:
        tx.run("INSERT INTO things VALUES (1)")
    assert database.is_damaged()
    with database.read() as tx:
        assert tx.all("SELECT id FROM things") == []
    with ThreadPoolExecutor() as pool, pytest.raises(Damaged):
        pool.submit(lambda: database.read().__enter__()).result()
    assert path.exists() is replaced
    database.close()


def test_a_replaced_database_without_tables_is_reported(postgres_databases) -> None:  # type: ignore[no-untyped-def]
    database = open_database(postgres_databases.create("replaced"))
    with database.write() as tx:
        tx.run("DROP TABLE IF EXISTS migrations")
    try:
        for transaction in (database.read, database.read_cached, database.write):
            with pytest.raises(TemporarilyUnavailable, match="restore a backup"), transaction() as tx:
                tx.all("SELECT id FROM nothing")
    finally:
        database.close()


@pytest.mark.slow
def test_a_lost_database_is_reported_and_reconnected(relayed: tuple[Relay, str], tmp_path: Path) -> None:
    relay, url = relayed
    data = tmp_path / "data"
    environment = {"OCTAVO_DATABASE_URL": url, "OCTAVO_SMTP_URL": f"smtp://mailer:{PASSWORD}@127.0.0.1:1"}
    with serving(data, **environment) as served:
        token = (data / "admin-token").read_text().strip()
        headers = {"authorization": f"Bearer {token}"}
        relay.cut()
        signing_in = {"email": "admin@octavo.local", "password": PASSWORD}
        requests = [
            partial(httpx.get, f"{served.url}/v1/user", headers=headers),
            partial(httpx.post, f"{served.url}/v1/orgs", headers=headers, json={"title": "Not kept"}),
            partial(httpx.post, f"{served.url}/v1/sign-in", json=signing_in),
            partial(httpx.get, f"{served.url}/readyz"),
        ]
        with ThreadPoolExecutor(len(requests)) as pool:
            asked = list(pool.map(lambda request: request(timeout=60), requests))
        assert [answer.status_code for answer in asked] == [503] * 4
        assert all(int(answer.headers["retry-after"]) > 0 for answer in asked)
        assert "database" in asked[-1].text
        relay.mend()
        assert _eventually_ok(served)
        for _ in range(20):
            # On a busy machine, connecting can take longer than requests wait.
            made = httpx.post(f"{served.url}/v1/orgs", headers=headers, json={"title": "Kept"}, timeout=60)
            if made.status_code != 503:
                break
        assert made.status_code == 201
        titles = [org["title"] for org in httpx.get(f"{served.url}/v1/orgs", headers=headers).json()["items"]]
        assert titles.count("Kept") == 1 and "Not kept" not in titles
        log = served.output.read_text()
    shown = log.replace(token, "", 1)  # the first start prints it
    assert "database:" in log
    assert not [secret for secret in (token, PASSWORD) if secret in shown]
    assert "Traceback" not in log and "locals" not in log


def _eventually_ok(served: Served) -> bool:
    return any(httpx.get(f"{served.url}/readyz", timeout=60).status_code == 200 for _ in range(20))


def test_connections_that_died_unused_are_replaced(relayed: tuple[Relay, str], tmp_path: Path) -> None:
    relay, url = relayed
    with serving(tmp_path / "data", OCTAVO_DATABASE_URL=url) as served:
        headers = {"authorization": f"Bearer {(tmp_path / 'data' / 'admin-token').read_text().strip()}"}
        for _ in range(3):
            relay.cut()
            relay.mend()
            assert httpx.get(f"{served.url}/v1/user", headers=headers).status_code == 200


@pytest.mark.slow
def test_a_silently_lost_database_server_is_detected(relayed: tuple[Relay, str], monkeypatch) -> None:
    """No one waits forever, and changes of others are noticed again."""
    for module in (postgres, postgres_connections):
        monkeypatch.setattr(module, "CONNECT_SECONDS", 0.3)
    relay, url = relayed
    database = _tried_again(lambda: open_database(url))
    before = _heard(database, 0)
    relay.silence()
    with pytest.raises(TemporarilyUnavailable), statements_within(0.3), database.read():
        pass
    _tried_again(lambda: _read(database))
    other = _tried_again(lambda: open_database(url))
    _tried_again(lambda: _write(other))
    _heard(database, before)
    relay.silence()
    with pytest.raises(TemporarilyUnavailable):
        _begin_and_ask(database, relay)
    other.close()
    database.close()


def _begin_and_ask(database: Database, relay: Relay) -> None:
    """Run a statement of a transaction that has started."""
    _tried_again(lambda: _read(database))
    with statements_within(0.3), database.read() as tx:
        relay.silence()
        tx.value("SELECT 1")


def _read(database: Database) -> None:
    with database.read() as tx:
        tx.value("SELECT 1")


def _write(database: Database) -> None:
    with database.write() as tx:
        tx.run("INSERT INTO secrets (name, value) VALUES ('elsewhere', 'v') ON CONFLICT DO NOTHING")


def _tried_again(ask: Callable[[], T]) -> T:
    """Retry a call until it succeeds, because a busy machine may exceed the short timeout of this test."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return ask()
        except Unavailable:
            assert time.monotonic() < until


def _heard(database: Database, before: int) -> int:
    """Return the generation, as soon as it has changed."""
    until = time.monotonic() + PATIENCE
    while (now := database.generation()) is None or now <= before:
        assert time.monotonic() < until
        time.sleep(0.01)
    return now


def test_a_read_only_database_server_is_reported(relayed: tuple[Relay, str]) -> None:
    database = open_database(relayed[1])
    with pytest.raises(TemporarilyUnavailable), database.write() as tx:
        tx.run("SET TRANSACTION READ ONLY")
        tx.run("INSERT INTO secrets (name, value) VALUES ('a', 'v')")
    database.close()


def test_an_unreachable_database_ends_startup_immediately(tmp_path: Path) -> None:
    url = f"postgresql://octavo:{PASSWORD}@127.0.0.1:1/octavo"
    served = Served(tmp_path / "data", OCTAVO_DATABASE_URL=url)
    assert served.process.wait(timeout=PATIENCE) == 1
    told = served.output.read_text()
    assert told.startswith("octavo: OCTAVO_DATABASE_URL: ")
    assert len(told.splitlines()) == 1
    assert PASSWORD not in told and "Traceback" not in told


def test_equal_ports_are_refused(tmp_path: Path) -> None:
    served = Served(tmp_path / "data", "--port", "18999", "--reader-port", "18999", OCTAVO_SITES_URL=None)
    assert served.process.wait(timeout=PATIENCE) == 1
    assert "--reader-port" in served.output.read_text()
    assert not (tmp_path / "data").exists()


def test_a_full_disk_loses_nothing_and_is_recoverable(
    sqlite_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = sqlite_world
    writer: sqlite3.Connection = world.context.db._writer  # type: ignore[attr-defined]
    page = secrets.token_hex(200_000)
    writer.execute(f"PRAGMA max_page_count = {writer.execute('PRAGMA page_count').fetchone()[0] + 2}")
    change = {"operation": "insert_page", "title": "Big", "document": {"markdown": f"# Big\n\n{page}\n"}}
    path = f"/spaces/{world.home['spaceId']}/change-requests/{world.home['changeRequestId']}/content"
    try:
        answer = world.call("admin", "POST", path, json={"changes": [change]})
        assert answer.status_code == 503
        assert answer.headers["retry-after"]
        assert "disk" in answer.json()["error"]["message"] and "full" in answer.json()["error"]["message"]
        ready = world.call("admin", "GET", "http://octavo.test/readyz")
        assert (ready.status_code, ready.text) == (503, "not ready: disk: full; free some space\n")
        assert world.call("admin", "GET", f"/spaces/{world.home['spaceId']}").status_code == 200
    finally:
        writer.execute("PRAGMA max_page_count = 1073741823")
    monkeypatch.setattr(db, "_full_until", [0.0])
    assert world.call("admin", "GET", "http://octavo.test/readyz").status_code == 200
    assert world.call("admin", "POST", path, json={"changes": [change]}).status_code == 200


def test_a_full_disk_fails_the_readiness_check(sqlite_world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything was written; and files that find no room say the same."""
    world = sqlite_world
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=1000))
    assert world.call("admin", "GET", "http://octavo.test/readyz").status_code == 503
    findings = {part: (works, told) for part, works, told in check_installation(world.context.settings)}
    assert findings["disk"] == (False, "the disk is full: nothing can be written")

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(obstore, "put", refuse)
    with pytest.raises(DiskFull):
        world.context.files.put(io.BytesIO(secrets.token_bytes(20)))


def test_warnings_precede_outages(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(db, "_full_until", [0.0])

    def findings() -> dict[str, tuple[bool, str]]:
        return {part: (works, told) for part, works, told in check_installation(world.context.settings)}

    found = findings()
    assert found["disk"][0] and "GB free" in found["disk"][1]
    on_a_server = world.context.db.engine == "postgresql"
    assert ("clock" in found) == ("version" in found) == on_a_server
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=2_000_000, total=10**12))
    moment = time.time()
    monkeypatch.setattr(time, "time", lambda: moment + 60)
    found = findings()
    assert not found["disk"][0] and "rejected when the disk is full" in found["disk"][1]
    if on_a_server:
        assert found["version"][0] and not found["clock"][0] and "time server" in found["clock"][1]


def test_an_unavailable_file_store_is_reported(world: World) -> None:
    files = Path(world.context.settings.files.removeprefix("file://"))
    away = files.with_name("away")
    files.rename(away)
    files.write_text("no folder")
    content = base64.b64encode(b"bytes nobody stored before").decode()
    change = {
        "operation": "insert_files",
        "files": [{"name": "a.txt", "base64": content, "contentType": "text/plain"}],
    }
    path = f"/spaces/{world.home['spaceId']}/change-requests/{world.home['changeRequestId']}/content"
    answer = world.call("admin", "POST", path, json={"changes": [change]})
    assert (answer.status_code, bool(answer.headers.get("retry-after"))) == (503, True), answer.text
    files.unlink()
    away.rename(files)
    assert world.call("admin", "POST", path, json={"changes": [change]}).status_code == 200
