"""Server administrators start backups in the app, and see storage, jobs by hour, and the version of the data."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from octavo.kit.clock import HOUR, iso, now
from octavo.kit.work import jobs
from octavo.kit.work.job_hours import add_jobs, list_job_hours
from octavo.kit.work.jobs import enqueue
from octavo.kit.work.worker import Worker
from octavo.operations.admin import backup_jobs
from octavo.operations.admin.backup import verify_backup
from octavo.operations.admin.storage_usage import measure_storage
from octavo.settings import SettingsError, load
from world import World


def ask(world: World, method: str = "GET", path: str = "") -> Any:
    return world.call("admin", method, f"/installation{path}", headers=world.session("admin"))


@pytest.fixture
def place(world: World, tmp_path: Path) -> Path:
    folder = tmp_path / "backups"
    world.context.settings = msgspec.structs.replace(world.context.settings, backup_place=str(folder))
    return folder


def test_without_a_place_the_answer_names_the_setting(world: World) -> None:
    answer = ask(world, "POST", "/backups")
    assert answer.status_code == 409
    assert "OCTAVO_BACKUP_PLACE" in answer.json()["error"]["message"]
    assert "backupPlace" not in ask(world).json()


def test_only_server_administrators_start_backups(world: World, place: Path) -> None:
    answer = world.call("creator", "POST", "/installation/backups", headers=world.session("creator"))
    assert answer.status_code == 403


def test_a_backup_runs_as_a_job_and_is_verified(
    world: World, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backup_jobs, "_NOTED_EVERY", 0)
    with world.context.db.write() as tx:
        tx.run("DELETE FROM jobs")
    assert ask(world, "POST", "/backups").json()["done"] == 0
    assert ask(world, "POST", "/backups").status_code == 409, "one at a time"
    assert "total" not in ask(world).json()["runningBackup"]
    seen: list[Any] = []
    advance = jobs.advance

    def note(tx: Any, **payload: object) -> None:
        advance(tx, **payload)
        tx.after_commit(lambda: seen.append(ask(world).json()["runningBackup"]))

    monkeypatch.setattr(jobs, "advance", note)
    Worker(world.context.db, world.context).run_pending()
    found = ask(world).json()
    assert "runningBackup" not in found
    assert found["lastGoodBackup"]["place"] == str(place)
    (written,) = place.glob("*.backup")
    assert verify_backup(written) == []
    assert found["lastGoodBackup"]["bytes"] == written.stat().st_size
    assert all(each["done"] < each["total"] for each in seen)


def test_a_failed_backup_says_why(world: World, place: Path) -> None:
    place.write_text("a file where the folder should be")
    ask(world, "POST", "/backups")
    Worker(world.context.db, world.context).run_pending()
    found = ask(world).json()
    assert str(place) in found["backups"][0]["problem"]
    assert "lastGoodBackup" not in found


@pytest.mark.parametrize("wrong", ["backups", "ftp://backups", "./backups"])
def test_a_place_is_an_absolute_path_or_a_bucket(wrong: str) -> None:
    with pytest.raises(SettingsError, match="OCTAVO_BACKUP_PLACE: must be the absolute path"):
        load(environ={"OCTAVO_BACKUP_PLACE": wrong})


def test_storage_is_measured_by_kind(world: World, place: Path) -> None:
    place.mkdir()
    (place / "octavo-2026-11-26T03-20-00Z.backup").write_bytes(b"x" * 1000)
    assert ask(world).json()["storage"] == []
    measure_storage(world.context)
    found = ask(world).json()
    sizes = {each["kind"]: each["bytes"] for each in found["storage"]}
    assert list(sizes) == ["files", "pages", "search", "other", "backups"]
    assert all(size > 0 for kind, size in sizes.items() if kind not in ("files", "backups"))
    assert sizes["backups"] == 1000
    parts = sizes["pages"] + sizes["search"] + sizes["other"]
    assert parts <= found["database"]["bytes"] * 1.05


def test_jobs_are_counted_by_hour(world: World, clock: Any) -> None:
    with world.context.db.write() as tx:
        add_jobs(tx, 5, 1)
    clock.advance(HOUR)
    with world.context.db.write() as tx:
        add_jobs(tx, 2, 0)
        add_jobs(tx, 1, 0)
        hours = list_job_hours(tx)
    assert [(each.done, each.failed) for each in hours[-3:]] == [(0, 0), (5, 1), (3, 0)]
    assert len(hours) == 24
    assert ask(world).json()["jobHours"][-1] == {"hour": iso(now() // HOUR * HOUR), "done": 3, "failed": 0}
    clock.advance(72 * HOUR)
    with world.context.db.write() as tx:
        add_jobs(tx, 1, 0)
        assert tx.value("SELECT count(*) FROM job_hours") == 1


def test_a_worker_counts_the_jobs_that_it_ran(world: World) -> None:
    with world.context.db.write() as tx:
        tx.run("DELETE FROM jobs")
        enqueue(tx, "measureStorage")
    stop = threading.Event()
    worker = threading.Thread(target=Worker(world.context.db, world.context).run_forever, args=(stop,))
    worker.start()
    while True:
        with world.context.db.read() as tx:
            if not tx.value("SELECT count(*) FROM jobs WHERE kind = 'measureStorage'"):
                break
        time.sleep(0.05)
    stop.set()
    worker.join()
    with world.context.db.read() as tx:
        assert list_job_hours(tx)[-1].done >= 1


def test_data_of_another_version_is_reported(world: World) -> None:
    assert ask(world).json()["data"]["writtenBy"] == "current"
    with world.context.db.write() as tx:
        number = tx.value("SELECT max(number) FROM migrations")
        tx.run("UPDATE migrations SET number = 299901010000 WHERE number = :number", number=number)
    assert ask(world).json()["data"]["writtenBy"] == "newer"
    with world.context.db.write() as tx:
        tx.run("DELETE FROM migrations WHERE number = 299901010000")
    assert ask(world).json()["data"]["writtenBy"] == "older"
