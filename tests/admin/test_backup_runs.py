"""The last backups are recorded, and reported when they fail or grow old."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from octavo.errors import Unavailable
from octavo.kit.http.metrics import Metrics
from octavo.kit.work import backup_runs
from octavo.kit.work.backup_runs import last_successful_backup, list_backups, recorded
from octavo.operations.admin.diagnosis import Finding, check_context
from serving import octavo_here as run_command
from world import World

DAY = 24 * 3600_000


def find_finding(world: World) -> Finding:
    return next(each for each in check_context(world.context) if each[0] == "backup")


def age(world: World) -> str | None:
    metrics = Metrics()
    metrics.watch(world.context.db)
    lines = metrics.text().decode().splitlines()
    return next((line.split()[1] for line in lines if line.startswith("octavo_backup_age_seconds ")), None)


def test_a_backup_is_reported_as_good_failed_or_old(world: World, clock: Any) -> None:
    assert find_finding(world) == ("backup", True, "`octavo backup` hasn't written a backup yet")
    assert age(world) is None
    with recorded(world.context.db, "/backups") as note_size:
        note_size(10)
    assert find_finding(world)[1]
    clock.advance(DAY)
    assert float(age(world) or 0) >= DAY / 1000
    with pytest.raises(Unavailable), recorded(world.context.db, "/backups"):
        raise Unavailable("the disk is full")
    works, said = find_finding(world)[1:]
    assert not works
    assert "the disk is full" in said
    with world.context.db.read() as tx:
        good = last_successful_backup(tx)
        assert good is not None
        assert (good.bytes, [each.problem for each in list_backups(tx, 9)]) == (
            10,
            ["the disk is full", None],
        )
    with recorded(world.context.db, "/backups"):
        pass
    assert find_finding(world)[1]
    clock.advance(3 * DAY)
    assert "more than two days ago" in find_finding(world)[2]


def test_only_the_last_backup_runs_are_kept(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backup_runs, "KEPT", 2)
    for number in range(4):
        with recorded(world.context.db, f"/{number}"):
            pass
    with world.context.db.read() as tx:
        assert [each.place for each in list_backups(tx, 9)] == ["/3", "/2"]


def test_the_command_records_its_backups(sqlite_world: World, tmp_path: Path) -> None:
    data = str(sqlite_world.install(tmp_path / "data"))
    for place in (tmp_path / "one.backup", f"{tmp_path / 'places'}/"):
        assert run_command("backup", str(place), "--data", data).returncode == 0
    assert run_command("backup", str(tmp_path / "one.backup"), "--data", data).returncode == 1
    told = run_command("check", "--data", data, "--json")
    assert "already exists" in told.stdout
