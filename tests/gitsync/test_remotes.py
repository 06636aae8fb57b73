"""Real servers: smart http and ssh, with credentials, host keys, redirects, cuts and refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import paramiko
import pytest
from msgspec.structs import replace

from gitsync.developers import Developer, Synced
from gitsync.servers import SECRET, SshServer, http_server, needs_git
from world import World

pytestmark = needs_git


@pytest.fixture
def developer(tmp_path: Path) -> Developer:
    made = Developer(tmp_path / "docs.git")
    made.commit({"README.md": "# Home\n\nWords.\n", "guide.md": "# Guide\n\nMore words.\n"})
    config = made.where / "config"
    config.write_text(config.read_text() + "[http]\n\treceivepack = true\n")
    return made


def allow(world: World, *places: str) -> None:
    world.context.settings = replace(world.context.settings, allow_private_fetch=",".join(places))


def connect(world: World, developer: Developer, remote: str, **more: Any) -> Synced:
    found = Synced.__new__(Synced)
    found.world, found.developer, found.space = world, developer, world.home["spaceId"]
    body = {"remote": remote, "branch": "main", "first": "import", **more}
    found.connected = world.post("admin", found.at("/git/sync"), body)
    return found


def edit(synced: Synced, text: str) -> None:
    page = next(page for page in synced.pages().values() if page["title"] == "Guide")
    synced.edit({"operation": "update_page", "page": page["id"], "document": {"markdown": text}})


def test_a_space_is_synced_over_http_with_a_token(
    sqlite_world: World, developer: Developer, caplog: pytest.LogCaptureFixture
) -> None:
    world = sqlite_world
    with http_server(developer.where.parent) as server:
        allow(world, server.url.removeprefix("http://"))
        synced = connect(
            world, developer, f"{server.url}/docs.git", credential={"type": "token", "secret": SECRET}
        )
        assert synced.sync() == "synced", synced.state()
        edit(synced, "Words of the space.\n")
        assert synced.sync() == "synced", synced.state()
        assert "Words of the space." in developer.files["guide.md"]
        before = len(server.asked)
        assert synced.sync() == "synced"
        assert len(server.asked) - before <= 4, "nothing is fetched where nothing is new"
        developer.commit({"guide.md": "# Guide\n\nWords of the repository.\n"})
        assert synced.sync() == "synced"
        assert synced.exported() == developer.read()
        said = str(synced.state()) + str(world.get("admin", synced.at("/git/sync/runs"))) + caplog.text
        assert SECRET not in said and SECRET not in str(server.asked)
        with world.context.db.read() as tx:
            assert SECRET not in str(tx.all("SELECT * FROM git_syncs")) + str(tx.all("SELECT * FROM jobs"))
        copy = Path(world.context.settings.data_folder) / "git"
        for file in copy.rglob("*"):
            assert not file.is_file() or SECRET.encode() not in file.read_bytes()


def test_wrong_tokens_and_private_addresses_are_reported_and_retried(
    sqlite_world: World, developer: Developer
) -> None:
    world = sqlite_world
    with http_server(developer.where.parent) as server:
        synced = connect(
            world, developer, f"{server.url}/docs.git", credential={"type": "token", "secret": "wrong"}
        )
        assert synced.sync() == "failed"
        assert "private network" in synced.state()["message"] and not server.asked
        allow(world, server.url.removeprefix("http://"))
        assert synced.sync() == "failed"
        state = synced.state()
        assert state["reason"] == "unauthorized" and state["failures"] == 2 and "nextAt" in state
        # The person who connected it is notified of the first of consecutive failures.
        with world.context.db.read() as tx:
            told = tx.all("SELECT payload FROM events WHERE type = 'git_sync_failed'")
        assert len(told) == 1 and "private network" in told[0][0] and world.users["admin"] in told[0][0]
        world.call(
            "admin", "PATCH", synced.at("/git/sync"), json={"credential": {"type": "token", "secret": SECRET}}
        )
        assert synced.sync() == "synced", synced.state()
        server.redirect = "http://10.0.0.1"
        assert synced.sync() == "failed"
        assert "private network" in synced.state()["message"]
        other = [name for headers in server.headers for name in headers if name.lower() == "authorization"]
        assert other, "the credential goes to its own origin"


@pytest.mark.parametrize("after", range(8))
def test_a_connection_interrupted_anywhere_loses_nothing(
    sqlite_world: World, developer: Developer, after: int
) -> None:
    world = sqlite_world
    with http_server(developer.where.parent) as server:
        allow(world, server.url.removeprefix("http://"))
        synced = connect(
            world, developer, f"{server.url}/docs.git", credential={"type": "token", "secret": SECRET}
        )
        assert synced.sync() == "synced", synced.state()
        edit(synced, "Words of the space.\n")
        developer.commit({"README.md": "# Home\n\nWords of the repository.\n"})
        server.cut = after
        synced.sync()
        server.cut = None
        assert synced.sync() == "synced", synced.state()
        assert "Words of the space." in developer.files["guide.md"]
        assert "Words of the repository." in developer.files["README.md"]
        assert synced.exported() == developer.read() and synced.state()["ahead"] == 0


def test_a_space_is_synced_over_ssh_with_a_generated_key(sqlite_world: World, developer: Developer) -> None:
    world = sqlite_world
    server = SshServer(developer.where.parent)
    try:
        allow(world, f"127.0.0.1:{server.port}")
        synced = connect(world, developer, f"ssh://git@127.0.0.1:{server.port}/docs.git")
        public = synced.connected["publicKey"]
        assert public.startswith("ssh-ed25519 ")
        assert synced.sync() == "failed" and synced.state()["reason"] == "unauthorized"
        server.keys.add(" ".join(public.split()[:2]))
        assert synced.sync() == "synced", synced.state()
        assert synced.state()["hostKey"].startswith("ecdsa-sha2-nistp256 ")
        edit(synced, "Words of the space.\n")
        assert synced.sync() == "synced", synced.state()
        assert "Words of the space." in developer.files["guide.md"]
        server.host_key = paramiko.ECDSAKey.generate()
        assert synced.sync() == "stopped" and synced.state()["reason"] == "host_key_changed"
        world.call("admin", "PATCH", synced.at("/git/sync"), json={"forgetHostKey": True})
        assert synced.state()["status"] == "failed", "nothing is left to decide"
        assert synced.sync() == "synced", synced.state()
        assert "PRIVATE KEY" not in str(synced.state())
    finally:
        server.close()


def test_a_refused_push_is_reported_and_retried(sqlite_world: World, developer: Developer) -> None:
    world = sqlite_world
    hook = developer.where / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    with http_server(developer.where.parent) as server:
        allow(world, server.url.removeprefix("http://"))
        synced = connect(
            world, developer, f"{server.url}/docs.git", credential={"type": "token", "secret": SECRET}
        )
        assert synced.sync() == "synced", synced.state()
        hook.write_text("#!/bin/sh\necho protected >&2\nexit 1\n")
        hook.chmod(0o755)
        edit(synced, "Words of the space.\n")
        assert synced.sync() == "failed"
        assert synced.state()["reason"] == "push_refused" and synced.state()["ahead"] == 1
        hook.unlink()
        assert synced.sync() == "synced", synced.state()
        assert "Words of the space." in developer.files["guide.md"]
