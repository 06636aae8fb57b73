"""Continuous backup of a server on SQLite, and restoring it to a moment."""

from __future__ import annotations

import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from octavo.errors import BadRequest, TemporarilyUnavailable, Unavailable
from octavo.kit.clock import parse_iso
from octavo.kit.context import Context
from octavo.operations.admin import continuous_backup as following
from octavo.operations.admin.backup_storage import BackupPlace
from octavo.operations.admin.continuous_backup import Terms, follow
from octavo.operations.admin.continuous_restore import list_entries, prune, restore_followed, verify_followed
from octavo.operations.admin.partial_restore import list_backup_parts, opened_copy
from octavo.operations.installation import close_context, open_context
from octavo.settings import Settings
from serving import octavo_here
from settled import PATIENCE, until
from world import World

QUICK = Terms(every=0.02, base_hours=24)


@pytest.fixture
def source(sqlite_world: World, tmp_path: Path) -> Iterator[Context]:
    """Return a copy of the world, which other connections can't affect."""
    context = open_context(
        Settings(data=str(sqlite_world.install(tmp_path / "data")), url="http://octavo.test")
    )
    yield context
    close_context(context)


@contextmanager
def followed(context: Context, place: BackupPlace, terms: Terms = QUICK) -> Iterator[None]:
    stop, failed = threading.Event(), []

    def run() -> None:
        try:
            follow(context, place, terms, stop)
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(PATIENCE)
        assert not thread.is_alive()
    if failed:
        raise failed[0]


def kinds(place: BackupPlace) -> list[str]:
    return [entry.kind for entry in sorted(list_entries(place.list("log/")))]


def rename(context: Context, title: str) -> None:
    with context.db.write() as tx:
        tx.run("UPDATE organizations SET title = :t", t=title)


def begin_the_log_anew(context: Context) -> None:
    with closing(sqlite3.connect(context.settings.data_folder / "octavo.db")) as other:
        assert other.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()[0] == 0


def title_of(settings: Settings) -> str:
    with closing(sqlite3.connect(settings.data_folder / "octavo.db")) as database:
        return str(database.execute("SELECT min(title) FROM organizations").fetchone()[0])


def target(tmp_path: Path, source: Context, name: str) -> Settings:
    data = tmp_path / name
    data.mkdir()
    shutil.copy(source.settings.data_folder / "secret-key", data)
    return Settings(data=str(data), url="http://octavo.test")


def test_any_moment_can_be_restored_with_its_files(source: Context, tmp_path: Path) -> None:
    place = BackupPlace(str(tmp_path / "place"), new=True)
    with followed(source, place):
        until(lambda: "base" in kinds(place))
        moments = []
        for number in range(2):
            file = source.files.put(f"file {number}".encode())
            with source.db.write() as tx:
                tx.run("UPDATE organizations SET title = :t", t=f"Title {number}")
                # As large as to be in the log for several pages.
                tx.run("UPDATE spaces SET title = :d", d="x" * 20_000)
            until(lambda count=number: kinds(place).count("pages") > count)
            moments.append(max(list_entries(place.list("log/"))).time)
            assert place.files.exists(file.hash)
    assert verify_followed(place, fresh=60_000) == []
    for number, moment in enumerate(moments):
        settings = target(tmp_path, source, f"target-{number}")
        taken = restore_followed(settings, place, moment)
        assert (parse_iso(taken.moment), taken.missing) == (moment, [])
        assert title_of(settings) == f"Title {number}"
    assert octavo_here("verify", "--data", settings.data).stdout == "No problems found\n"
    with pytest.raises(BadRequest, match="already"):
        restore_followed(settings, place)
    with pytest.raises(BadRequest, match="earliest point in time"):
        restore_followed(target(tmp_path, source, "early"), place, moments[0] - 10 * 86_400_000)
    nobodys = Settings(data=str(tmp_path / "nobodys"), url="http://octavo.test")
    with pytest.raises(Unavailable, match="OCTAVO_SECRET_KEY"):
        restore_followed(nobodys, place)
    assert [path.name for path in (tmp_path / "nobodys").iterdir()] == []
    on_postgresql = Settings(data=str(tmp_path / "other"), database_url="postgresql://x/y")
    with pytest.raises(BadRequest, match="to SQLite"):
        restore_followed(on_postgresql, place)


def test_a_restarted_follower_continues_if_the_log_still_contains_its_position(
    source: Context, tmp_path: Path
) -> None:
    place = BackupPlace(str(tmp_path / "place"), new=True)
    with followed(source, place):
        until(lambda: "base" in kinds(place))
        with pytest.raises(BadRequest, match="another process is already backing up"):
            follow(source, place, QUICK, threading.Event())
        rename(source, "While it was followed")
    rename(source, "While nobody looked")
    with followed(source, place):
        until(lambda: kinds(place).count("pages") == 2)
    assert kinds(place).count("base") == 1
    settings = target(tmp_path, source, "target")
    restore_followed(settings, place)
    assert title_of(settings) == "While nobody looked"
    # The whole log was moved into the database and started again.
    begin_the_log_anew(source)
    rename(source, "In another log")
    with followed(source, place):
        until(lambda: kinds(place).count("base") == 2)
    settings = target(tmp_path, source, "later")
    restore_followed(settings, place)
    assert title_of(settings) == "In another log"
    assert verify_followed(place) == []


def test_damage_and_gaps_are_reported(source: Context, tmp_path: Path) -> None:
    place = BackupPlace(str(tmp_path / "place"), new=True)
    with followed(source, place):
        until(lambda: "base" in kinds(place))
        for number in range(3):
            rename(source, f"Title {number}")
            until(lambda count=number: kinds(place).count("pages") > count)
    first, second, third = sorted(each for each in list_entries(place.list("log/")) if each.kind == "pages")
    path = tmp_path / "place" / second.name
    whole = path.read_bytes()
    settings = target(tmp_path, source, "target")
    other = whole.replace(b'"number":2', b'"number":3')
    for damaged in (whole[:-1], whole[:-40] + b"\0" + whole[-39:], b"", other):
        path.write_bytes(damaged)
        assert any(second.name in finding for finding in verify_followed(place))
        with pytest.raises(BadRequest, match="damaged|same name as another"):
            restore_followed(settings, place)
    path.unlink()
    assert "file 2 of the backup" in verify_followed(place)[0]
    with pytest.raises(BadRequest, match="Use --until to restore"):
        restore_followed(settings, place)
    restore_followed(settings, place, first.time)
    assert title_of(settings) == "Title 0"
    assert verify_followed(place, fresh=1) != []
    for empty in (tmp_path / "nothing", tmp_path / "only-a-backup"):
        empty.mkdir()
        with pytest.raises(BadRequest, match="no full backup"):
            restore_followed(settings_without_database(tmp_path, empty.name), BackupPlace(str(empty)))


def settings_without_database(tmp_path: Path, name: str) -> Settings:
    return Settings(data=str(tmp_path / f"data-{name}"))


def test_the_log_stays_short_and_nothing_is_lost_while_the_target_is_unavailable(
    source: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "_LOG_BYTES", 400_000)
    monkeypatch.setattr(following, "_AGAIN", 0.02)
    place = BackupPlace(str(tmp_path / "place"), new=True)
    put, away = place.put, threading.Event()

    def maybe(name: str, pieces: Any) -> None:
        if away.is_set():
            raise TemporarilyUnavailable("away")
        put(name, pieces)

    monkeypatch.setattr(place, "put", maybe)
    log = source.settings.data_folder / "octavo.db-wal"
    longest = 0
    with followed(source, place):
        until(lambda: "base" in kinds(place))
        for number in range(60):
            if number in (20, 40):
                (away.set if number == 20 else away.clear)()
            with source.db.write() as tx:
                tx.run("UPDATE spaces SET title = :d", d=f"{number}" * 40_000)
            time.sleep(0.01)
            if number > 50:
                time.sleep(0.05)
            longest = max(longest, log.stat().st_size)
        rename(source, "The end")
    # It grew while nothing could be stored, and was started again before and after.
    assert longest < 60 * 8 * 40_000
    assert kinds(place).count("base") == 1
    settings = target(tmp_path, source, "target")
    restore_followed(settings, place)
    assert title_of(settings) == "The end"
    assert verify_followed(place) == []


@pytest.mark.slow
def test_a_follower_writes_to_a_bucket(source: Context, tmp_path: Path, s3_environment: object) -> None:
    place = BackupPlace("s3://docs/followed")
    with followed(source, place):
        until(lambda: "base" in kinds(place))
        rename(source, "In a bucket")
        until(lambda: "pages" in kinds(place))
    assert verify_followed(place) == []
    settings = target(tmp_path, source, "target")
    assert restore_followed(settings, place).missing == []
    assert title_of(settings) == "In a bucket"
    # The newest base and what came after it stay, however old.
    prune(place, 1 << 60, 1 << 60, set())
    assert verify_followed(place) == []


def test_old_log_entries_and_bases_are_removed(source: Context, tmp_path: Path) -> None:
    place = BackupPlace(str(tmp_path / "place"), new=True)
    with followed(source, place):
        until(lambda: "base" in kinds(place))
        kept = source.files.put(b"kept")
        rename(source, "With a file")
        until(lambda: "pages" in kinds(place))
    begin_the_log_anew(source)
    rename(source, "Later")
    with followed(source, place):
        until(lambda: kinds(place).count("base") == 2)
    entries = sorted(list_entries(place.list("log/")))
    later = [entry for entry in entries if entry.kind == "base"][1]
    everything = {hash for hash, _, _ in place.files.list_all()}
    prune(place, entries[0].time, entries[0].time, everything)
    assert sorted(list_entries(place.list("log/"))) == entries
    # Bases stay for longer than the pages between them.
    prune(place, later.time, entries[0].time, everything)
    assert kinds(place).count("base") == 2 and "pages" not in kinds(place)
    prune(place, later.time, later.time, everything)
    assert {entry.generation for entry in list_entries(place.list("log/"))} == {later.generation}
    assert place.files.exists(kept.hash)
    settings = target(tmp_path, source, "target")
    restore_followed(settings, place)
    assert title_of(settings) == "Later"


def test_on_the_command_line(sqlite_world: World, tmp_path: Path) -> None:
    data = sqlite_world.install(tmp_path / "data")
    place = f"{tmp_path / 'place'}/"
    first = octavo_here("backup", place, "--data", str(data), "--keep", "3")
    assert first.returncode == 0 and ".backup" in first.stdout, first.stderr
    name = first.stdout.split("/")[-1].strip()
    old = tmp_path / "place" / "octavo-2020-01-01T00-00-00Z.backup"
    shutil.copy(tmp_path / "place" / name, old)
    time.sleep(1.0 - time.time() % 1.0)
    assert octavo_here("backup", place, "--data", str(data), "--keep", "3").returncode == 0
    assert not old.exists() and len(list((tmp_path / "place").glob("*.backup"))) == 2
    assert octavo_here("verify", place).stdout == "No problems found\n"
    refused = [
        ("verify", f"{tmp_path}/absent/"),
        ("verify", place, "--fresh", "10m"),
        ("restore", place, "--until", "2026-01-01T00:00", "--data", str(tmp_path / "third")),
        ("backup", str(tmp_path / "a.backup"), "--keep", "3", "--data", str(data)),
        ("backup", place, "--moments", "3", "--data", str(data)),
    ]
    for arguments in refused:
        said = octavo_here(*arguments)
        assert said.returncode == 1 and "\noctavo: " in f"\n{said.stderr}", arguments
    assert octavo_here("restore", place, "--until", "yesterday").returncode == 2


def test_one_space_is_restored_to_a_moment(source: Context, tmp_path: Path) -> None:
    place = BackupPlace(str(tmp_path / "place"), new=True)
    with followed(source, place):
        until(lambda: "base" in kinds(place))
        rename(source, "As it was")
        until(lambda: "pages" in kinds(place))
        moment = max(list_entries(place.list("log/"))).time
        rename(source, "As it is")
    with opened_copy(source.settings, place.address, moment) as copy:
        held = {each.title for each in list_backup_parts(source, copy)}
        assert "As it was" in held
        assert "As it is" not in held
    with pytest.raises(BadRequest), opened_copy(source.settings, place.address, 1):
        pass
