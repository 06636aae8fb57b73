"""Files in Git LFS: a space has their bytes, the repository their pointers."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gitsync.developers import Developer, Synced, local_remotes
from gitsync.lfs_server import LfsServer, lfs_server, pointer
from octavo.gitsync.addresses import read_remote
from octavo.gitsync.credentials import Credential
from octavo.gitsync.lfs import LargeFiles, Tracked, read_pointer
from octavo.gitsync.repository import Repository
from octavo.kit.fetch import Fetcher
from world import World

PICTURE, OTHER = b"\x89PNG\r\n\x1a\n" + b"a" * 2000, b"\x89PNG\r\n\x1a\n" + b"b" * 3000
SECRET = "s3cret-of-lfs"
AT = ".gitbook/assets/big.png"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LfsServer]:
    with lfs_server() as found:
        allowed = Fetcher(found.url.removeprefix("http://"))

        def here(context: Any, row: Any) -> LargeFiles:
            remote = read_remote(f"{found.url}/acme/docs", local=False)
            credential = Credential("token", SECRET)
            return LargeFiles(context, row.space_id, remote, row.branch, credential, allowed)

        monkeypatch.setattr("octavo.gitsync.syncing.large_files", here)
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


def test_bytes_come_into_the_space_and_pointers_go_out(
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
        # Another version, by the fast way; a text beside it asks nobody anything.
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
def test_a_server_that_gives_nothing_leaves_the_pointer_and_says_so(
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


def test_a_server_that_is_busy_is_asked_again(
    sqlite_world: World, developer: Developer, server: LfsServer
) -> None:
    with local_remotes(sqlite_world):
        synced = Synced(sqlite_world, developer)
        server.status = 503
        server.add(PICTURE)
        assert synced.sync() == "failed" and synced.state()["reason"] == "unreachable"
        server.status = None
        assert synced.sync() == "synced" and synced.exported()[AT] == PICTURE


@pytest.mark.parametrize("wrong", ["missing", "other bytes", "more bytes", "huge"])
def test_what_is_not_what_the_pointer_says_is_not_taken(
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


def test_the_credential_goes_to_the_repository_alone(sqlite_world: World, server: LfsServer) -> None:
    space = sqlite_world.home["spaceId"]
    other = server.url.replace("127.0.0.1", "localhost")
    allowed = Fetcher(f"{server.url.removeprefix('http://')},{other.removeprefix('http://')}")
    remote = read_remote(f"{server.url}/docs.git", local=False)
    large = LargeFiles(sqlite_world.context, space, remote, "main", Credential("token", SECRET), allowed)
    found = read_pointer(server.add(PICTURE))
    assert found is not None
    server.url = other
    large.bring([found])
    assert large.has(found)
    assert ["authorization" in headers for _, _, headers in server.asked] == [True, False]
    # A pointer gives no right to bytes that another space has.
    server.objects.clear()
    elsewhere = LargeFiles(sqlite_world.context, "other", remote, "main", None, allowed)
    elsewhere.bring([found])
    assert not elsewhere.has(found) and "no such object" in elsewhere.why_not(found)
    over_ssh = read_remote("git@example.com:acme/docs.git", local=False)
    large = LargeFiles(sqlite_world.context, "other", over_ssh, "main", None, allowed)
    large.bring([found])
    assert "https" in large.why_not(found)


def test_which_files_are_in_lfs(tmp_path: Path) -> None:
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
        "a.png", "docs/b/c.png", "docs/raw/x.txt", "docs/raw/y/z.psd", "top.bin", "docs/m.mov", "a/z.zip", "a/b/c/z.zip",
    ]  # fmt: skip
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
    # What is above the synced folder counts as well.
    inside = Tracked(Repository(developer.repo, developer.where, "docs/"), head)
    assert inside("b/c.png") and inside("raw/x.txt") and not inside("small.png") and not inside("top.bin")
    assert not Tracked(Repository(developer.repo, developer.where, ""), None)("a.png")
    slow = developer.commit({".gitattributes": f"{'*a' * 90}b filter=lfs\n"})
    assert not Tracked(Repository(developer.repo, developer.where, ""), slow)("a" * 250)
