"""Bounds of what runs as a process of its own."""

from __future__ import annotations

import stat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from octavo.kit.processes import subprocesses as apart
from octavo.kit.processes.subprocesses import ProcessLimits, run_apart
from octavo.kit.scheduling.deadlines import DeadlineExceeded, limited

USUAL = ProcessLimits(memory=2 * 1024**3, file=2**20, seconds=60)


def runs_within(folder: Path, bounds: ProcessLimits) -> bool:
    (folder / "source").write_text(
        '{"openapi": "3.1.0", "info": {"title": "T", "version": "1"}, "paths": {}}'
    )
    return run_apart("octavo.sites.openapi.compiling", folder, bounds=bounds)


def test_a_bounded_process_leaves_no_files_behind(tmp_path: Path) -> None:
    assert runs_within(tmp_path, USUAL)
    assert stat.S_IMODE((tmp_path / "result.json").stat().st_mode) == 0o600


@pytest.mark.parametrize("less", [{"memory": 16 * 2**20}, {"file": 10}, {"seconds": 0.001}], ids=str)
def test_a_process_beyond_a_limit_ends(tmp_path: Path, less: dict[str, float]) -> None:
    assert not runs_within(tmp_path, USUAL._replace(**less))


def test_a_busy_machine_extends_the_time_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[float] = []

    def note(command: list[str], **options: Any) -> Any:
        given.append(options["seconds"])
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(apart, "run_child", note)
    assert runs_within(tmp_path, USUAL)
    assert given == [10 * USUAL.seconds]


def test_exceeding_the_deadline_of_the_caller_does_not_blame_the_input(tmp_path: Path) -> None:
    with limited(0), pytest.raises(DeadlineExceeded):
        runs_within(tmp_path, USUAL)
