"""A real PgBouncer in transaction mode between a process and PostgreSQL."""

from __future__ import annotations

import os
import random
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from octavo.content.revisions.deriving import check_derived
from octavo.errors import TemporarilyUnavailable, Unavailable
from octavo.kit.db.database import StaleCachedRead
from octavo.kit.db.databases import open_database
from octavo.operations.admin.first_start import token_for
from octavo.operations.admin.import_export import import_space
from octavo.operations.installation import close_context, load_packages, open_context
from octavo.organization.access.accounts import find_user_by_email
from octavo.organization.orgs.creating import create_organization
from octavo.settings import load
from tools import absent

pytestmark = pytest.mark.slow

CLIENTS, ROUNDS = 6, 20
_SECONDS = 10


class Pooled(NamedTuple):
    """The same empty database through PgBouncer, and itself."""

    url: str
    direct_url: str


def _program() -> str:
    found = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
    return found or absent("pgbouncer")


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@pytest.fixture
def pooled(postgres_databases) -> Iterator[Pooled]:
    program = _program()
    direct = postgres_databases.create_bare("pooled")
    given = conninfo_to_dict(direct)
    name, port = str(given.pop("dbname")), _free_port()
    folder = Path(tempfile.mkdtemp(prefix="octavo-pgbouncer-"))
    config = folder / "pgbouncer.ini"
    server = " ".join(f"{key}={value}" for key, value in given.items())
    # Two connections for everyone: code that relies on getting the same one again fails.
    config.write_text(
        f"[databases]\n{name} = {server}\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n"
        "auth_type = any\npool_mode = transaction\ndefault_pool_size = 2\nserver_round_robin = 1\n"
    )
    user = None
    if os.getuid() == 0:  # PgBouncer refuses to run as root; the server's socket is open to its owner
        host = Path(str(given.get("host", "")))
        user = host.stat().st_uid if host.is_absolute() else "nobody"
        os.chmod(folder, 0o755)
    process = subprocess.Popen([program, "-q", str(config)], user=user)
    url = f"postgresql://anybody@127.0.0.1:{port}/{name}"
    try:
        deadline = time.monotonic() + _SECONDS
        while True:
            try:
                psycopg.connect(url).close()
                break
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
        yield Pooled(url, direct)
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def test_a_pooler_without_the_server_behind_it_is_refused(pooled: Pooled) -> None:
    with pytest.raises(Unavailable, match="OCTAVO_DATABASE_DIRECT_URL"):
        open_database(pooled.url)


def test_a_wrong_direct_address_is_refused(pooled: Pooled, postgres_databases) -> None:
    elsewhere = postgres_databases.create_bare("elsewhere")
    for direct_url, said in (
        (pooled.url, "pooler"),
        (elsewhere, "another database"),
        ("postgresql://anybody@127.0.0.1:1/octavo", "refused"),
    ):
        with pytest.raises(Unavailable, match=f"^OCTAVO_DATABASE_DIRECT_URL.*{said}"):
            open_database(pooled.url, 3, direct_url)


def test_a_missing_pooler_connection_is_reported(pooled: Pooled) -> None:
    """Otherwise callers would wait for two minutes."""
    database = open_database(pooled.url, 3, pooled.direct_url)
    others = [psycopg.connect(pooled.url) for _ in range(2)]
    for other in others:
        other.execute("SELECT 1")
    with pytest.raises(TemporarilyUnavailable), database.read():
        pass
    for other in others:
        other.close()
    deadline = time.monotonic() + _SECONDS
    while True:
        try:
            with database.read() as tx:
                assert tx.value("SELECT 1") == 1
                break
        except TemporarilyUnavailable:
            assert time.monotonic() < deadline
    database.close()


def test_octavo_works_behind_a_pooler(pooled: Pooled, tmp_path: Path) -> None:
    load_packages()
    environ = {
        "OCTAVO_DATA": str(tmp_path / "data"),
        "OCTAVO_DATABASE_URL": pooled.url,
        "OCTAVO_DATABASE_DIRECT_URL": pooled.direct_url,
    }
    context = open_context(load(environ=environ))
    try:
        token_for(context, email="a@example.com")
        with context.db.write() as tx:
            user = find_user_by_email(tx, "a@example.com")
            assert user is not None
            org = create_organization(tx, user.id, "Acme").id
        source = tmp_path / "source"
        source.mkdir()
        (source / "README.md").write_text("# Home\n\nA [page](page.md).\n")
        (source / "page.md").write_text("# Page\n\nText.\n")
        space = import_space(context, str(source), organization_id=org, title="Space").outcome.space
        with context.db.read() as tx:
            assert check_derived(tx, space, ()) == []
        _write_and_read_at_once(context.db)
        _keep_rows(context.db, pooled)
        _hear_of_others(context.db, pooled)
    finally:
        close_context(context)


def _write_and_read_at_once(database) -> None:
    """So often that the driver would prepare the statements, on connections that are given to others in between."""
    failed: list[BaseException] = []

    def work(client: int) -> None:
        try:
            for n in range(ROUNDS):
                with database.write() as tx:
                    tx.run(
                        "INSERT INTO secrets (name, value) VALUES (:name, :value)",
                        name=f"{client} {n}",
                        value=str(n),
                    )
                with database.read() as tx:
                    name = f"{client} {n}"
                    assert tx.value("SELECT value FROM secrets WHERE name = :name", name=name) == str(n)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(client,)) for client in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def _keep_rows(database, pooled: Pooled) -> None:
    """Read rows, possibly over a different connection in each transaction, all of the same snapshot as the
    cached rows. ``n`` is the same in all rows."""
    names = [f"kept {n}" for n in range(3)]
    with database.write() as tx:
        for name in names:
            tx.run("INSERT INTO secrets (name, value) VALUES (:name, '0')", name=name)
    failed: list[BaseException] = []
    done = threading.Event()

    def look(tx, chance: random.Random) -> None:
        values = [
            tx.value("SELECT value FROM secrets WHERE name = :name", name=name)
            for name in chance.sample(names, chance.randint(1, 3))
        ]
        assert len(set(values)) == 1, values

    def read(seed: int) -> None:
        chance = random.Random(seed)
        try:
            while not done.is_set():
                try:
                    with database.read_cached() as tx:
                        look(tx, chance)
                except StaleCachedRead:
                    with database.read() as tx:
                        look(tx, chance)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=read, args=(seed,)) for seed in range(CLIENTS)]
    for thread in threads:
        thread.start()
    other = open_database(pooled.url, 3, pooled.direct_url)
    try:
        for n in range(ROUNDS):
            if n % 2:
                with other.write() as tx:
                    tx.run("UPDATE secrets SET value = :n WHERE name LIKE 'kept %'", n=str(n))
            else:
                # No one is notified of it.
                with psycopg.connect(pooled.url) as connection:
                    connection.execute(f"UPDATE secrets SET value = '{n}' WHERE name LIKE 'kept %'")
            time.sleep(0.02)
    finally:
        done.set()
        for thread in threads:
            thread.join()
        other.close()
    assert not failed


def _hear_of_others(database, pooled: Pooled) -> None:
    """Check that notices of writes by another process arrive through the pooler."""

    def until(wanted) -> None:
        deadline = time.monotonic() + _SECONDS
        while not wanted(database.generation()):
            assert time.monotonic() < deadline
            time.sleep(0.01)

    until(lambda number: number is not None)
    before = database.generation()
    other = open_database(pooled.url, 3, pooled.direct_url)
    with other.write() as tx:
        tx.run("INSERT INTO secrets (name, value) VALUES ('elsewhere', 'v')")
    other.close()
    until(lambda number: number is not None and number > before)
