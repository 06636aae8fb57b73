"""Signed commits: other programs accept the signatures."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from gitsync.developers import Developer, Synced, local_remotes
from world import World

needs_programs = pytest.mark.skipif(
    shutil.which("git") is None or shutil.which("ssh-keygen") is None,
    reason="git or ssh-keygen is not installed",
)


def verify(developer: Developer, commit: str, key: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    allowed = tmp_path / "allowed"
    allowed.write_text(f"octavo@example.com {key}\n")
    options = ["-c", "gpg.format=ssh", "-c", f"gpg.ssh.allowedSignersFile={allowed}"]
    return subprocess.run(
        ["git", "-C", str(developer.where), *options, "verify-commit", commit],
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )


@needs_programs
def test_commits_are_signed_on_request(world: World, tmp_path: Path) -> None:
    developer = Developer(tmp_path / "repository")
    developer.commit({"README.md": "# Home\n"})
    with local_remotes(world):
        synced = Synced(world, developer, signCommits=True)
        key = synced.connected["signingKey"]
        assert key.startswith("ssh-ed25519 ") and "PRIVATE" not in str(synced.connected)
        assert synced.sync() == "synced"
        synced.edit({"operation": "insert_page", "title": "Grün", "document": {"markdown": "Text.\n"}})
        assert synced.sync() == "synced", synced.state()
        done = verify(developer, developer.head or "", key, tmp_path)
        assert done.returncode == 0 and "Good" in done.stderr, done.stderr
        # The key is kept while signing is on, and is a new one after it was off.
        at = synced.at("/git/sync")
        assert world.call("admin", "PATCH", at, json={"signCommits": True}).json()["signingKey"] == key
        assert "signingKey" not in world.call("admin", "PATCH", at, json={"signCommits": False}).json()
        synced.edit({"operation": "insert_page", "title": "Two", "document": {"markdown": "Text.\n"}})
        assert synced.sync() == "synced", synced.state()
        assert verify(developer, developer.head or "", key, tmp_path).returncode != 0
        assert b"gpgsig" not in developer.repo[(developer.head or "").encode()].as_raw_string()
        assert world.call("admin", "PATCH", at, json={"signCommits": True}).json()["signingKey"] != key
