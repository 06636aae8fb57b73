"""Files in Git LFS: a space has their bytes, the repository their pointers."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gitsync.developers import Developer, Synced, local_remotes
from gitsync.lfs_server import LfsServer, lfs_server, pointer
from gitsync.servers import SshServer, needs_git
from gitsync.test_remotes import allow, connect
from octavo.interchange.gitsync.credentials import Credential
from octavo.interchange.gitsync.lfs import LargeFiles, Tracked, read_pointer
from octavo.interchange.gitsync.remotes import RemoteConnection
from octavo.interchange.gitsync.repository import Repository
from octavo.kit.net.fetch import Fetcher
from world import World

PICTURE, OTHER = b"\x89PNG\r\n\x1a\n" + b"a" * 2000, b"\x89PNG\r\n\x1a\n" + b"b" * 3000
SECRET = "s3cret-of-lfs"
AT = ".gitbook/assets/big.png"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LfsServer]:
    with lfs_server() as found:
        allowed = Fetcher(found.url.removeprefix("http://"))

        def here(context: Any, space_id: str, branch: str, _: Any) -> LargeFiles:
            url, credential = f"{found.url}/acme/docs", Credential("token", SECRET)
            connection = RemoteConnection(url, lambda: credential, allowed, local=False, host_key=None)
            return LargeFiles(context, space_id, branch, connection)

        monkeypatch.setattr("octavo.interchange.gitsync.syncing.LargeFiles", here)
        yield found


@pytest.fixture
def developer(tmp_path: Path) -> Developer:
    made = Developer(tmp_path / "repository")
    made.commit(
        {
            "README.md": "# Home\n\n![A picture](.gitbook/assets/big.png)\n",
            ".gitattributes": "# large ones\n*.png filter=lfs diff=lfs merge=lfs -text\n/plain/** -filter\n",
            AT: pointer(PICTURE),
        }
    )
    return made


def problems(synced: Synced) -> list[tuple[str, str]]:
    return [(problem["path"], problem["code"]) for problem in synced.last()["problems"]]


def insert(synced: Synced, name: str, data: bytes) -> None:
    source = {"name": name, "contentType": "image/png", "base64": base64.b64encode(data).decode()}
    synced.edit({"operation": "insert_files", "files": [source]})


@pytest.mark.sqlite_first
def test_lfs_files_are_imported_and_exported_as_pointers(
    world: World, developer: Developer, server: LfsServer
) -> None:
    server.add(PICTURE)
    with local_remotes(world):
        synced = Synced(world, developer)
        assert synced.sync() == "synced", synced.state()
        assert synced.exported()[AT] == PICTURE and problems(synced) == []
        _, batch, headers = server.asked[0]
        basic = base64.b64encode(f"x-access-token:{SECRET}".encode()).decode()
        assert (
            batch == "/acme/docs.git/info/lfs/objects/batch" and headers["authorization"] == f"Basic {basic}"
        )
        assert server.asked[1][2]["x-grant"] == "g" and len(server.asked) == 2
        # Another version, by the fast path; a changed text requests nothing.
        developer.commit({AT: server.add(OTHER)})
        assert synced.sync() == "synced" and synced.exported()[AT] == OTHER
        asked = len(server.asked)
        developer.commit({"README.md": "# Home\n\nWords. ![A picture](.gitbook/assets/big.png)\n"})
        assert synced.sync() == "synced" and len(server.asked) == asked
        # What the space has new goes to the server, and its pointer into the repository.
        new = b"\x89PNG\r\n\x1a\n" + b"c" * 4000
        insert(synced, "new.png", new)
        insert(synced, "notes.txt", b"plain")
        assert synced.sync() == "synced", synced.state()
        files = developer.read()
        there = {path.rpartition("/")[2]: data for path, data in files.items()}
        assert there["new.png"] == pointer(new) and there["notes.txt"] == b"plain"
        assert new in server.objects.values() and files[AT] == pointer(OTHER)
        assert [path for method, path, _ in server.asked[-2:]][1] == "/verify"
        assert synced.sync() == "synced" and synced.last()["status"] == "nothing"
        before = synced.exported()
        assert before[AT] == OTHER and problems(synced) == []


@pytest.mark.parametrize("status", [404, 401, 501])
def test_pointers_are_kept_and_reported_if_the_server_fails(
    sqlite_world: World, developer: Developer, server: LfsServer, status: int
) -> None:
    with local_remotes(sqlite_world):
        synced = Synced(sqlite_world, developer)
        server.status = status
        assert synced.sync() == "synced", synced.state()
        assert synced.exported() == developer.read()
        assert problems(synced) == [(AT, "lfs_pointer")]
        # A file for LFS is not written plainly; the rest is.
        insert(synced, "new.png", OTHER)
        insert(synced, "notes.txt", b"plain")
        assert synced.sync() == "synced", synced.state()
        names = {path.rpartition("/")[2] for path in developer.read()}
        assert "notes.txt" in names and "new.png" not in names
        [(path, code)] = problems(synced)
        assert path.endswith("new.png") and code == "lfs_upload" and SECRET not in str(synced.last())


def test_a_busy_server_is_retried(sqlite_world: World, developer: Developer, server: LfsServer) -> None:
    with local_remotes(sqlite_world):
        synced = Synced(sqlite_world, developer)
        server.status = 503
        server.add(PICTURE)
        assert synced.sync() == "failed" and synced.state()["reason"] == "unreachable"
        server.status = None
        assert synced.sync() == "synced" and synced.exported()[AT] == PICTURE


@pytest.mark.parametrize("wrong", ["missing", "other bytes", "more bytes", "huge"])
def test_lfs_objects_that_do_not_match_their_pointer_are_refused(
    sqlite_world: World, developer: Developer, server: LfsServer, wrong: str
) -> None:
    if wrong != "missing":
        server.add(PICTURE)
    server.lies = {"other bytes": OTHER[: len(PICTURE)], "more bytes": PICTURE + b"!"}.get(wrong)
    if wrong == "huge":
        huge = pointer(PICTURE).replace(b"size %d" % len(PICTURE), b"size 999999999")
        developer.commit({AT: huge})
    with local_remotes(sqlite_world):
        synced = Synced(sqlite_world, developer)
        assert synced.sync() == "synced", synced.state()
        assert problems(synced) == [(AT, "lfs_pointer")] and synced.exported() == developer.read()


def test_the_credential_is_only_sent_to_the_repository(sqlite_world: World, server: LfsServer) -> None:
    space = sqlite_world.home["spaceId"]
    other = server.url.replace("127.0.0.1", "localhost")
    allowed = Fetcher(f"{server.url.removeprefix('http://')},{other.removeprefix('http://')}")
    url = f"{server.url}/docs.git"
    connection = RemoteConnection(
        url, lambda: Credential("token", SECRET), allowed, local=False, host_key=None
    )
    large = LargeFiles(sqlite_world.context, space, "main", connection)
    found = read_pointer(server.add(PICTURE))
    assert found is not None
    server.url = other
    large.download([found])
    assert large.has(found)
    assert ["authorization" in headers for _, _, headers in server.asked] == [True, False]
    # A pointer gives no right to bytes that another space has.
    server.objects.clear()
    stranger = RemoteConnection(url, lambda: None, allowed, local=False, host_key=None)
    elsewhere = LargeFiles(sqlite_world.context, "other", "main", stranger)
    elsewhere.download([found])
    assert not elsewhere.has(found) and "no such object" in elsewhere.explain_missing(found)


@needs_git
def test_over_ssh_the_server_names_the_lfs_server(sqlite_world: World, tmp_path: Path) -> None:
    world, git = sqlite_world, SshServer(tmp_path)
    developer = Developer(tmp_path / "docs.git")
    with lfs_server() as server:
        developer.commit({"README.md": "# Home\n", ".gitattributes": "*.png filter=lfs\n"})
        places = [f"127.0.0.1:{git.port}", server.url.removeprefix("http://")]
        granted = {"href": f"{server.url}/acme/info/lfs", "header": {"Authorization": "Bearer t"}}
        down, up = (f"git-lfs-authenticate /docs.git {way}" for way in ("download", "upload"))
        try:
            allow(world, *places)
            synced = connect(world, developer, f"ssh://git@127.0.0.1:{git.port}/docs.git")
            git.keys.add(" ".join(synced.connected["publicKey"].split()[:2]))
            assert synced.sync() == "synced", synced.last().get("message")
            # A server that knows nothing of it, one that sends into the network, and one that says too much.
            for number, said in enumerate(
                (b"", json.dumps({"href": "http://10.0.0.1/"}).encode(), b"x" * 70_000)
            ):
                git.said[down] = said
                developer.commit({AT: server.add(PICTURE + bytes([number]))})
                assert synced.sync() == "synced", synced.last().get("message")
                assert problems(synced) == [(AT, "lfs_pointer")]
            git.said |= {down: json.dumps(granted).encode(), up: json.dumps(granted).encode()}
            developer.commit({AT: server.add(OTHER)})
            assert synced.sync() == "synced", synced.last().get("message")
            assert synced.exported()[AT] == OTHER and problems(synced) == []
            insert(synced, "new.png", PICTURE + b"new")
            assert synced.sync() == "synced" and pointer(PICTURE + b"new") in developer.read().values()
            batches = [headers for _, path, headers in server.asked if path == "/acme/info/lfs/objects/batch"]
            assert {headers["authorization"] for headers in batches} == {"Bearer t"}
            assert all("authorization" not in one for _, path, one in server.asked if "/objects/" not in path)
            assert {command for command in git.commands if "lfs" in command} == {down, up}
        finally:
            git.close()


def test_lfs_files_are_determined_by_git_attributes(tmp_path: Path) -> None:
    developer = Developer(tmp_path / "repository")
    head = developer.commit(
        {
            ".gitattributes": "*.png filter=lfs\ndocs/raw/** filter=lfs\n/top.bin filter=lfs\nimages/ filter=lfs\n"
            "a/**/z.zip filter=lfs\n*.txt text\n*.psd -text\n\n",
            "docs/.gitattributes": "small.png -filter\n*.mov filter=lfs\n",
            "docs/x": "x",
        }
    )
    whole = Tracked(Repository(developer.repo, developer.where, ""), head)
    tracked = [
        "a.png",
        "docs/b/c.png",
        "docs/raw/x.txt",
        "docs/raw/y/z.psd",
        "top.bin",
        "docs/m.mov",
        "a/z.zip",
        "a/b/c/z.zip",
    ]
    plain = [
        "a.txt",
        "docs/small.png",
        "docs/top.bin",
        "m.mov",
        "images/x",
        "raw/x.txt",
        "b/z.zip",
        "docs/raw",
    ]
    assert [path for path in [*tracked, *plain] if whole(path)] == tracked
    # Attributes above the synced folder count as well.
    inside = Tracked(Repository(developer.repo, developer.where, "docs/"), head)
    assert inside("b/c.png") and inside("raw/x.txt") and not inside("small.png") and not inside("top.bin")
    assert not Tracked(Repository(developer.repo, developer.where, ""), None)("a.png")
    slow = developer.commit({".gitattributes": f"{'*a' * 90}b filter=lfs\n"})
    assert not Tracked(Repository(developer.repo, developer.where, ""), slow)("a" * 250)
