"""A damaged database is recognized once: it isn't ready, nothing is written, and messages ask for a restore."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from light_client import LightClient
from octavo.app import api_app
from octavo.errors import Damaged, Unavailable
from octavo.kit.context import Context
from octavo.kit.db.database import SqliteDatabase
from octavo.operations.admin.backup import verify_installation
from octavo.operations.installation import close_context, open_context
from octavo.settings import Settings
from serving import octavo_here
from settled import until
from world import URL, World

RESTORE = "restore it from a backup"


@contextmanager
def opened(data: Path) -> Iterator[Context]:
    context = open_context(Settings(data=str(data), url=URL))
    try:
        yield context
    finally:
        close_context(context)


def damage(data: Path, *tables: str, filler: bytes = b"\xff") -> None:
    """Overwrite the first page of tables, as a disk does that returns something else than was written."""
    path = data / "octavo.db"
    with closing(sqlite3.connect(path)) as connection:
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        pages = [
            connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()[0]
            for table in tables
        ]
    with path.open("r+b") as file:
        for page in pages:
            file.seek((page - 1) * size)
            file.write(filler * size)


@pytest.mark.parametrize("filler", [b"\xff", b"\0"])
def test_damage_is_detected_by_the_first_read(sqlite_world: World, tmp_path: Path, filler: bytes) -> None:
    data = sqlite_world.install(tmp_path / "data")
    whole = (data / "octavo.db").read_bytes()
    damage(data, "page_versions", filler=filler)
    with opened(data) as context, opened(data) as other:
        headers = {"authorization": f"Bearer {sqlite_world.token('admin')}"}
        clients = [LightClient(api_app(each), URL) for each in (context, other)]
        space = f"/v1/spaces/{sqlite_world.home['spaceId']}"
        page = f"{space}/content/page/{sqlite_world.home['pageId']}"
        for client in clients:
            assert client.ask("GET", "/readyz").status_code == 200
        answer = clients[0].ask("GET", page, headers=headers)
        assert (answer.status_code, "retry-after" in answer.headers) == (503, False)
        assert RESTORE in answer.json()["error"]["message"]
        for client in clients:  # the second one as well, which has not read it
            ready = client.ask("GET", "/readyz")
            assert (ready.status_code, ready.text) == (
                503,
                f"not ready: database: damaged; {RESTORE}\n",
            )
            wrote = client.ask("PATCH", space, headers=headers, json={"title": "Written"})
            assert wrote.status_code == 503 and RESTORE in wrote.json()["error"]["message"]
            # What can be read is still shown.
            shown = client.ask("GET", space, headers=headers)
            assert shown.status_code == 200 and shown.json()["title"] != "Written"
    with pytest.raises(Damaged):  # nor after the next start
        open_context(Settings(data=str(data), url=URL))
    told = octavo_here("verify", "--data", str(data))
    assert told.returncode == 1 and told.stdout.startswith("database: ") and RESTORE in told.stdout
    (data / "octavo.db").write_bytes(whole)
    with opened(data) as context:
        assert not context.db.is_damaged() and not (data / "octavo.db-damaged").exists()


@pytest.mark.parametrize("tables", [("page_versions",), ("bodies", "spaces"), ("audit_events",)])
def test_verify_reports_damaged_rows(sqlite_world: World, tmp_path: Path, tables: tuple[str, ...]) -> None:
    data = sqlite_world.install(tmp_path / "data")
    with opened(data) as context:
        damage(data, *tables)
        findings = verify_installation(context)
        assert len(findings) > 1 and RESTORE in findings[-1]


@pytest.mark.parametrize("command", ["verify", "check", "reindex"])
@pytest.mark.parametrize("tables", [("page_versions",), ("migrations",), ("organizations", "secrets")])
def test_no_command_ends_in_a_traceback(
    sqlite_world: World, tmp_path: Path, command: str, tables: tuple[str, ...]
) -> None:
    data = sqlite_world.install(tmp_path / "data")
    damage(data, *tables)
    done = octavo_here(command, "--data", str(data))
    assert "Traceback" not in done.stdout + done.stderr
    if command == "verify":
        assert done.returncode == 1 and RESTORE in done.stdout + done.stderr


def test_a_modified_text_is_reported_as_damage(tmp_path: Path) -> None:
    database = SqliteDatabase(str(tmp_path / "octavo.db"))
    with database.write() as tx:
        tx.script("CREATE TABLE texts (said TEXT)")
        tx.run("INSERT INTO texts (said) VALUES (CAST(:bytes AS TEXT))", bytes=b"\xff\xfe")
    with pytest.raises(Damaged), database.read() as tx:
        tx.all("SELECT said FROM texts")
    with pytest.raises(Damaged), database.write():
        pass
    database.close()


def test_a_file_that_is_not_a_database_is_reported(tmp_path: Path) -> None:
    (tmp_path / "octavo.db").write_bytes(b"something else entirely" * 1000)
    with pytest.raises(Unavailable, match=RESTORE):
        open_context(Settings(data=str(tmp_path), url=URL))


def test_a_damaged_word_index_is_rebuilt_without_an_outage(tmp_path: Path) -> None:
    database = SqliteDatabase(str(tmp_path / "octavo.db"))
    error = sqlite3.DatabaseError("database disk image is malformed")
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT_VTAB
    assert not isinstance(database._explained(error), Damaged)
    assert not database.is_damaged()
    database.close()


# --- PostgreSQL -------------------------------------------------------------------------------------------


@contextmanager
def broken(world: World, code: str) -> Iterator[None]:
    """Have the server report damage, as for a damaged page, whenever pages are requested."""
    database = world.context.db
    with database.migration() as tx:
        tx.script(
            f"""CREATE FUNCTION report_damage() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
                  RAISE EXCEPTION 'invalid page in block 0 of relation base/1/2' USING ERRCODE = '{code}'; END $$;
                ALTER TABLE page_versions RENAME TO whole_page_versions;
                CREATE VIEW page_versions AS SELECT * FROM whole_page_versions WHERE report_damage()"""
        )
    try:
        yield
    finally:
        database._damaged = False
        with database.migration() as tx:
            tx.script(
                """DROP VIEW page_versions; DROP FUNCTION report_damage();
                   ALTER TABLE whole_page_versions RENAME TO page_versions"""
            )


@pytest.mark.parametrize("code", ["XX001", "XX002"])
@pytest.mark.parametrize("world", ["postgresql"], indirect=True)
def test_damage_reported_by_postgresql_is_recognized(world: World, code: str) -> None:
    headers = {"authorization": f"Bearer {world.token('admin')}"}
    space = f"/v1/spaces/{world.home['spaceId']}"
    other = open_context(world.context.settings)
    try:
        clients = [LightClient(api_app(each), URL) for each in (world.context, other)]
        other.db.generation()
        until(lambda: other.db.generation() is not None)
        for client in clients:
            assert client.ask("GET", "/readyz").status_code == 200
        with broken(world, code):
            page = f"{space}/content/page/{world.home['pageId']}"
            answer = clients[0].ask("GET", page, headers=headers)
            assert (answer.status_code, "retry-after" in answer.headers) == (503, False), answer.text
            assert RESTORE in answer.json()["error"]["message"]
            until(other.db.is_damaged)
            for client in clients:  # the second one as well, which has not read it
                ready = client.ask("GET", "/readyz")
                assert ready.text == f"not ready: database: damaged; {RESTORE}\n"
                wrote = client.ask("PATCH", space, headers=headers, json={"title": "Written"})
                assert wrote.status_code == 503 and RESTORE in wrote.json()["error"]["message"]
                shown = client.ask("GET", space, headers=headers)
                assert shown.status_code == 200 and shown.json()["title"] != "Written"
            settings = world.context.settings
            told = octavo_here(
                "verify", "--data", settings.data, OCTAVO_DATABASE_URL=settings.database_url, OCTAVO_URL=URL
            )
            assert told.returncode == 1 and RESTORE in told.stdout, told.stderr
    finally:
        close_context(other)


@pytest.mark.parametrize("world", ["postgresql"], indirect=True)
def test_a_failed_read_reports_the_reason(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """And not that its transaction is over."""
    page = f"/spaces/{world.home['spaceId']}/content/page/{world.home['pageId']}"
    # No response comes from a cache.
    monkeypatch.setattr(world.context.db, "_current_generation", lambda: None)
    with broken(world, "57014"):  # canceled, as a statement that takes too long
        answer = world.call("admin", "GET", page)
        assert answer.status_code == 503 and not world.context.db.is_damaged(), answer.text
