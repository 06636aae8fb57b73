"""``octavo git``, while a server syncs."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path

import pytest

from gitsync.developers import Developer, Synced, local_remotes
from octavo.cli import git_syncs
from octavo.cli.main import main
from world import World


@pytest.mark.sqlite_first
def test_syncs_are_shown_created_and_listed(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # The installation of this test, which the command would otherwise look for in a data folder.
    monkeypatch.setattr(git_syncs, "opened", lambda options: nullcontext(world.context))

    def octavo(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(["git", *arguments])
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out, err

    developer = Developer(tmp_path / "repository")
    developer.commit({"README.md": "# Home\n", "SUMMARY.md": "* [Home](README.md)\n* [None](none.md)\n"})
    with local_remotes(world):
        synced = Synced(world, developer)
        code, out, _ = octavo("sync", synced.space, "--json")
        assert (code, json.loads(out)["status"]) == (0, "synced")
        code, out, _ = octavo("status", synced.space)
        assert code == 0 and out.splitlines()[0].split() == ["WHAT", "IS"]
        assert ["branch", "main"] in [line.split() for line in out.splitlines()]
        developer.commit({"README.md": "# Start\n"})
        assert octavo("sync", synced.space)[0] == 0
        code, out, err = octavo("log", synced.space)
        heading, newest, *_ = out.splitlines()
        assert code == 0
        assert heading.split() == ["WHEN", "STATUS", "CAUSE", "IN", "OUT", "CONFLICTS", "COMMIT", "MESSAGE"]
        assert newest.split()[1:3] == ["done", "asked"]
        runs = json.loads(octavo("log", synced.space, "--limit", "1", "--json")[1])
        assert len(runs) == 1 and runs[0]["imported"] >= 1
        for problem in runs[0]["problems"]:
            assert f"{problem['message']}" in err
    # A repository that is no longer there.
    assert octavo("sync", synced.space)[0] == 1
    code, out, _ = octavo("status", synced.space, "--json")
    assert code == 1 and json.loads(out)["status"] in ("failed", "stopped")
