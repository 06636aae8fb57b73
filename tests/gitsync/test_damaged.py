"""Objects that no Git program would write: bombs, signs that databases refuse, commits and trees that do not parse."""

from __future__ import annotations

import hashlib
import zlib
from pathlib import Path
from typing import Any

import pytest
from dulwich.objects import Commit, Tree

from gitsync.developers import Developer, Synced, local_remotes
from octavo.interchange.gitsync import repository
from world import World

pytestmark = pytest.mark.sqlite_first

PLAIN = {"README.md": "# Home\n\nWords.\n", "guide.md": "# Guide\n"}


@pytest.fixture
def developer(tmp_path: Path) -> Developer:
    made = Developer(tmp_path / "repository")
    made.commit(PLAIN)
    return made


@pytest.fixture
def synced(world: World, developer: Developer) -> Any:
    with local_remotes(world):
        found = Synced(world, developer)
        assert found.sync() == "synced", found.state()
        yield found


def put(developer: Developer, kind: int, data: bytes) -> bytes:
    """Store an object verbatim that no library would write."""
    data = b"%s %d\0%s" % ({1: b"commit", 2: b"tree", 3: b"blob"}[kind], len(data), data)
    oid = hashlib.sha1(data).hexdigest()
    place = developer.where / "objects" / oid[:2] / oid[2:]
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(zlib.compress(data))
    return oid.encode()


def point(developer: Developer, commit: bytes) -> None:
    developer.repo.refs[developer.ref] = commit


def raw_commit(developer: Developer, *, tree: bytes | None = None, lines: bytes, message: bytes) -> bytes:
    head = (developer.head or "").encode()
    tree = tree or developer.repo[head].tree
    data = b"tree " + tree + b"\nparent " + head + b"\n" + lines + b"\n" + message
    return put(developer, Commit.type_num, data)


WHO = b"author %s 1700000000 +0000\ncommitter A <a@example.com> 1700000000 +0000\n"


def bomb(developer: Developer, leaf: bytes, mode: int) -> bytes:
    """Ten to the tenth names out of ten small trees."""
    at = leaf
    for _ in range(10):
        tree = Tree()
        for name in range(10):
            tree.add(b"%d" % name, mode, at)
        developer.repo.object_store.add_object(tree)
        at, mode = tree.id, 0o040000
    return bytes(at)


@pytest.mark.parametrize("of", ["files", "folders"])
def test_trees_that_expand_to_ten_billion_files_are_not_followed(
    synced: Synced, developer: Developer, of: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repository, "MOST_ENTRIES", 1000)
    leaf = put(developer, 3, b"x") if of == "files" else put(developer, 2, b"")
    tree = bomb(developer, leaf, 0o100644 if of == "files" else 0o040000)
    head = developer.head
    point(developer, raw_commit(developer, tree=tree, lines=WHO % b"A <a@example.com>", message=b"x"))
    assert synced.sync() == "failed" and synced.state()["reason"] == "too_large", synced.state()
    target = {"remote": developer.url, "branch": "main"}
    answer = synced.world.call("admin", "POST", synced.at("/git/preview"), json=target)
    assert answer.status_code == 400 and "more than" in answer.text
    point(developer, (head or "").encode())
    assert synced.sync() == "synced", synced.state()


@pytest.mark.parametrize(
    "who",
    [
        b"A\0B <a\0@example.com>",
        b"\xff\xfe <\xff@example.com>",
        b"<>",
        b"A <" + b"a" * 5000 + b"@example.com>",
    ],
)
def test_unusual_characters_in_commits_are_accepted(synced: Synced, developer: Developer, who: bytes) -> None:
    tree = developer.tree(
        {**developer.entries(), "new.md": (0o100644, put(developer, 3, b"# New\n").decode())}
    )
    message = b"A\0message \xff\xed\xa0\x80 \x1b[31m\n" + b"long " * 5000
    point(developer, raw_commit(developer, tree=tree, lines=WHO % who, message=message))
    assert synced.sync() == "synced", synced.state()
    assert "new" in synced.pages()
    assert synced.world.get("admin", synced.at("/content"))["git"]["oid"] == developer.head


@pytest.mark.parametrize(
    "lines",
    [b"", b"author nobody\ncommitter nobody\n", b"author A <a@b> 99999999999999999999 +9999\n", b"\xff\n"],
)
def test_unparsable_commits_are_reported(synced: Synced, developer: Developer, lines: bytes) -> None:
    head = developer.head
    tree = developer.tree(
        {**developer.entries(), "new.md": (0o100644, put(developer, 3, b"# New\n").decode())}
    )
    point(developer, raw_commit(developer, tree=tree, lines=lines, message=b"x"))
    assert synced.sync() in ("synced", "failed")
    point(developer, (head or "").encode())
    assert synced.sync() in ("synced", "stopped")


@pytest.mark.parametrize(
    "data", [b"garbage", b"100644 a\0short", b"40000 .git\0" + b"\1" * 20, b"9z a\0" + b"\1" * 20]
)
def test_unparsable_trees_are_reported(synced: Synced, developer: Developer, data: bytes) -> None:
    head = developer.head
    tree = put(developer, Tree.type_num, data)
    point(developer, raw_commit(developer, tree=tree, lines=WHO % b"A <a@example.com>", message=b"x"))
    assert synced.sync() in ("failed", "synced"), synced.state()
    target = {"remote": developer.url, "branch": "main"}
    assert synced.world.call("admin", "POST", synced.at("/git/preview"), json=target).status_code in (
        200,
        400,
    )
    point(developer, (head or "").encode())
    assert synced.sync() in ("synced", "stopped")
    assert synced.pages().keys() >= {"guide"}


def test_pages_with_characters_that_databases_refuse_are_kept(synced: Synced, developer: Developer) -> None:
    developer.commit(
        {"guide.md": "# Guide\n\nA\0B\n", "nul\x01.md": "# x\n", ".gitbook/vars.yaml": 'a: "\\0"\n'}
    )
    assert synced.sync() == "synced", synced.state()
    assert synced.last()["problems"]


def test_branches_with_unusual_names_are_shown(synced: Synced, developer: Developer) -> None:
    packed = developer.where / "packed-refs"
    head = (developer.head or "").encode()
    packed.write_bytes(
        b"# pack-refs with: peeled\n"
        + b"".join(
            head + b" refs/heads/" + name + b"\n" for name in (b"caf\xe9", b"ok", b"a" * 4000, "é".encode())
        )
    )
    target = {"remote": developer.url, "branch": "main"}
    answer = synced.world.call("admin", "POST", synced.at("/git/preview"), json=target)
    assert answer.status_code == 200, answer.text
    assert "ok" in answer.json()["branches"]
