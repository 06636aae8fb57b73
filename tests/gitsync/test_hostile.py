"""Repositories that are odd, broken or gone: what a space cannot hold is named and stays in the repository."""

from __future__ import annotations

import shutil
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from gitsync.developers import Developer, Synced, local_remotes
from octavo.core import sources
from octavo.interchange.gitsync import reading
from world import World

PLAIN = {"README.md": "# Home\n\nWords.\n", "guide.md": "# Guide\n"}


@pytest.fixture
def developer(tmp_path: Path) -> Developer:
    return Developer(tmp_path / "repository")


@pytest.fixture
def remotes(sqlite_world: World) -> Any:
    with local_remotes(sqlite_world):
        yield sqlite_world


def blob(developer: Developer, data: bytes) -> str:
    from dulwich.objects import Blob

    made = Blob.from_string(data)
    developer.repo.object_store.add_object(made)
    return made.id.decode()


def oddities(developer: Developer) -> dict[str, Any]:
    return {
        "link.md": (0o120000, blob(developer, b"../../etc/passwd")),
        "module": (0o160000, "1" * 40),
        "caf\udce9.md": (0o100644, blob(developer, b"# Latin\n")),
        "back\\slash.md": (0o100644, blob(developer, b"# Back\n")),
        "Guide.md": "# Upper\n",
        "aux.md": "# Reserved\n",
        "tool.sh": (0o100755, blob(developer, b"#!/bin/sh\n")),
    }


@pytest.mark.parametrize("at_first", [True, False])
def test_unsupported_repository_entries_are_reported_and_kept(
    remotes: World, developer: Developer, at_first: bool
) -> None:
    developer.commit(PLAIN)
    if at_first:
        developer.commit(oddities(developer))
    synced = Synced(remotes, developer)
    assert synced.sync() == "synced", synced.state()
    if not at_first:
        developer.commit(oddities(developer))
        assert synced.sync() == "synced", synced.state()
    codes = {problem["code"] for problem in synced.last()["problems"]}
    assert {"symlink", "submodule", "unsafe_path"} <= codes
    before = developer.entries()
    page = next(page for page in synced.pages().values() if page["title"] == "Guide")
    synced.edit({"operation": "update_page", "page": page["id"], "document": {"markdown": "Edited.\n"}})
    synced.edit({"operation": "insert_page", "title": "New", "document": {"markdown": "Text.\n"}})
    assert synced.sync() == "synced", synced.state()
    after = developer.entries()
    changed = {path for path in before if after.get(path) != before[path]}
    assert changed == {"guide.md"} and after["tool.sh"][0] == 0o100755
    assert synced.sync() == "synced" and synced.last()["status"] == "nothing"


def test_files_that_are_too_large_stay_in_the_repository(
    remotes: World, developer: Developer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "MAX_FILE", 1000)
    monkeypatch.setattr(reading, "MAX_FILE", 1000)
    developer.commit({**PLAIN, "large.bin": b"x" * 2000})
    synced = Synced(remotes, developer)
    assert synced.sync() == "synced"
    assert [problem["code"] for problem in synced.last()["problems"] if problem["path"] == "large.bin"] == [
        "too_large"
    ]
    developer.commit({"other.bin": b"y" * 2000, "guide.md": "# Guide\n\nMore.\n"})
    assert synced.sync() == "synced"
    assert {"large.bin", "other.bin"} <= developer.entries().keys()
    assert not {"large.bin", "other.bin"} & synced.exported().keys()
    developer.commit({"other.bin": b"small"})
    assert synced.sync() == "synced" and synced.exported()["other.bin"] == b"small"


UNREADABLE: dict[str, tuple[str, bytes]] = {
    "isn't valid UTF-8": ("invalid_utf8", b"---\nhidden: true\n---\n# Guide \xff\xfe\n"),
    "too large": ("page_too_large", b"---\nhidden: true\n---\n# Guide\n" + b"words\n" * 200_000),
}


@pytest.mark.parametrize("why", UNREADABLE)
@pytest.mark.parametrize("summary", [True, False])
@pytest.mark.parametrize("at_first", [True, False])
def test_a_file_that_cannot_be_a_page_stays_unchanged(
    remotes: World, developer: Developer, why: str, summary: bool, at_first: bool
) -> None:
    """It is a file with a link in its place, which can't be overwritten, until it can be a page again."""
    code, data = UNREADABLE[why]
    files = {
        **PLAIN,
        **({"SUMMARY.md": "# S\n\n* [Home](README.md)\n* [Guide](guide.md)\n"} if summary else {}),
    }
    developer.commit({**files, "guide.md": data} if at_first else files)
    synced = Synced(remotes, developer)
    assert synced.sync() == "synced", synced.state()
    if not at_first:
        before = synced.page("Guide")["id"]
        developer.commit({"guide.md": data})
        assert synced.sync() == "synced", synced.state()
        assert synced.page("Guide")["id"] == before
    assert code in {problem["code"] for problem in synced.last()["problems"]}
    head = developer.head
    link = synced.page("Guide")
    assert link["type"] == "link" and link["hidden"] and synced.exported() == developer.read()
    assert synced.sync() == "synced" and developer.head == head
    made = remotes.post("admin", synced.at("/change-requests"), {"subject": "An edit"})
    written = {"operation": "update_page", "page": link["id"], "document": {"markdown": "X\n"}}
    path = synced.at(f"/change-requests/{made['id']}/content?compat=false")
    assert remotes.call("admin", "POST", path, json={"changes": [written]}).status_code == 400
    synced.edit({"operation": "insert_page", "title": "New", "document": {"markdown": "Text.\n"}})
    assert synced.sync() == "synced", synced.state()
    assert synced.exported() == developer.read() and developer.read()["guide.md"] == data
    developer.commit({"guide.md": "# Guide\n\nText again.\n"})
    assert synced.sync() == "synced", synced.state()
    assert synced.exported() == developer.read()
    again = synced.page("Guide")
    assert (again["type"], again["id"]) == ("document", link["id"])


@pytest.mark.parametrize("summary", [True, False])
def test_a_file_added_by_both_sides_keeps_the_path_in_the_repository(
    remotes: World, developer: Developer, summary: bool
) -> None:
    files = {"SUMMARY.md": "# S\n\n* [Home](README.md)\n* [Guide](guide.md)\n"} if summary else {}
    developer.commit({**PLAIN, **files})
    synced = Synced(remotes, developer)
    assert synced.sync() == "synced", synced.state()
    synced.edit({"operation": "insert_page", "title": "New", "document": {"markdown": "Ours.\n"}})
    listed = {"SUMMARY.md": files["SUMMARY.md"] + "* [Theirs](new.md)\n"} if summary else {}
    developer.commit({"new.md": "# Theirs\n\nWords.\n", **listed})
    assert synced.sync() == "synced", synced.state()
    after = developer.files
    assert after["new.md"] == "# Theirs\n\nWords.\n" and "Ours." in after["new-1.md"]
    assert synced.exported() == developer.read()
    assert synced.sync() == "synced" and synced.last()["status"] == "nothing"


def test_names_with_decomposed_letters_stay_unchanged(remotes: World, developer: Developer) -> None:
    name = unicodedata.normalize("NFD", "r\xe9sum\xe9.md")
    developer.commit({**PLAIN, "guide.md": "# Guide\n\n[r](r\xe9sum\xe9.md)\n", name: "# R\n"})
    synced = Synced(remotes, developer)
    assert synced.sync() == "synced", synced.state()
    guide = synced.page("Guide")["id"]
    links = remotes.get("admin", synced.at(f"/content/page/{guide}/links"))["items"]
    assert [link["status"] for link in links] == ["ok"]
    page = synced.page("R")["id"]
    synced.edit({"operation": "update_page", "page": page, "document": {"markdown": "Edited.\n"}})
    assert synced.sync() == "synced", synced.state()
    assert "Edited." in developer.files[name] and synced.exported() == developer.read()


def test_an_empty_repository_gets_the_content_of_the_space(remotes: World, developer: Developer) -> None:
    synced = Synced(remotes, developer)
    assert synced.sync() == "stopped" and synced.state()["reason"] == "branch_gone"
    remotes.post("admin", synced.at("/git/sync/run"), {"first": "export"})
    assert synced.sync() == "synced", synced.state()
    assert synced.exported() == developer.read() and developer.parents(developer.head or "") == []


def test_a_vanished_repository_is_retried(remotes: World, developer: Developer, tmp_path: Path) -> None:
    developer.commit(PLAIN)
    synced = Synced(remotes, developer)
    assert synced.sync() == "synced"
    away = tmp_path / "away"
    shutil.move(developer.where, away)
    for failures in (1, 2):
        assert synced.sync() == "failed"
        assert (synced.state()["reason"], synced.state()["failures"]) == ("unreachable", failures)
    shutil.move(away, developer.where)
    assert synced.sync() == "synced" and synced.state()["failures"] == 0


def test_thousands_of_commits_are_synced_at_once(remotes: World, developer: Developer) -> None:
    developer.commit(PLAIN)
    synced = Synced(remotes, developer)
    assert synced.sync() == "synced"
    for number in range(2000):
        developer.commit({"guide.md": f"# Guide\n\nNumber {number}.\n"})
    assert synced.sync() == "synced"
    assert synced.last()["imported"] == 1 and synced.exported() == developer.read()


def test_two_spaces_cannot_share_a_folder(remotes: World, developer: Developer) -> None:
    developer.commit({**PLAIN, "docs/README.md": "# Docs\n"})
    Synced(remotes, developer, folder="docs")
    other = remotes.home["childSpaceId"] if "childSpaceId" in remotes.home.ids else None
    if other is None:
        made = remotes.post("admin", remotes.home.path("/orgs/{organizationId}/spaces"), {"title": "Other"})
        other = made["id"]
    body = {"remote": developer.url, "branch": "main", "first": "import"}
    for folder, status in (("docs/api", 409), ("", 409), ("docs", 409), ("elsewhere", 201)):
        answer = remotes.call("admin", "POST", f"/spaces/{other}/git/sync", json={**body, "folder": folder})
        assert answer.status_code == status, answer.text


@pytest.mark.parametrize(
    "other",
    [
        "https://GitHub.com/acme/docs",
        "https://github.com:443/Acme/docs.git/",
        "git@github.com:acme/docs.git",
        "ssh://git@github.com/acme/docs",
    ],
)
def test_a_folder_is_recognized_in_any_spelling_of_its_repository(sqlite_world: World, other: str) -> None:
    world = sqlite_world
    made = world.post("admin", world.home.path("/orgs/{organizationId}/spaces"), {"title": "Other"})
    body = {"remote": "https://github.com/acme/docs.git", "branch": "main", "first": "import"}
    world.post("admin", world.home.path("/spaces/{spaceId}/git/sync"), body)
    at = f"/spaces/{made['id']}/git/sync"
    answer = world.call("admin", "POST", at, json={**body, "remote": other})
    assert answer.status_code == 409, answer.text
    for free in ({"branch": "next"}, {"remote": "https://github.com:8443/acme/docs.git"}):
        assert world.call("admin", "POST", at, json={**body, **free}).status_code == 201
        world.call("admin", "DELETE", at)


BAD = [
    {"remote": "ftp://x/y"},
    {"remote": "https://user:secret@example.com/x.git"},
    {"remote": "https://example.com"},
    {"remote": "-oProxyCommand=evil"},
    {"remote": "ssh://-oProxyCommand=evil/x"},
    {"remote": "ext::sh -c id"},
    {"remote": "https://example.com/x.git?y=1"},
    {"branch": "../main"},
    {"branch": "a b"},
    {"branch": "-x"},
    {"branch": "x.lock"},
    {"branch": "@{u}"},
    {"folder": "../up"},
    {"folder": "a/.git/b"},
    {"folder": "a\\b"},
    {"credential": {"type": "token"}},
    {"credential": {"type": "ssh-key"}},
    {"credential": {"type": "token", "secret": "a\nb"}},
]


@pytest.mark.parametrize("wrong", BAD, ids=lambda wrong: str(wrong)[:50])
def test_errors_name_the_field_but_no_secrets(sqlite_world: World, wrong: dict[str, Any]) -> None:
    body = {"remote": "https://example.com/x.git", "branch": "main", "first": "import", **wrong}
    answer = sqlite_world.call(
        "admin", "POST", sqlite_world.home.path("/spaces/{spaceId}/git/sync"), json=body
    )
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["message"].startswith(next(iter(wrong))) and "secret@" not in answer.text


def test_only_the_operator_can_sync_folders_of_the_server(sqlite_world: World, developer: Developer) -> None:
    body = {"remote": developer.url, "branch": "main", "first": "import"}
    path = sqlite_world.home.path("/spaces/{spaceId}/git/sync")
    answer = sqlite_world.call("admin", "POST", path, json=body)
    assert answer.status_code == 400 and answer.json()["error"]["message"].startswith("remote")
    old = {"url": developer.url, "ref": "refs/heads/main"}
    path = sqlite_world.home.path("/spaces/{spaceId}/git/import")
    assert sqlite_world.call("admin", "POST", path, json=old).status_code == 400
    # What revisions link to is a page of the web.
    for name in ("repoCommitURL", "repoTreeURL"):
        body = {"url": "https://git.example/a/b", "ref": "refs/heads/main", name: "javascript:alert(1)//"}
        answer = sqlite_world.call("admin", "POST", path, json=body)
        assert answer.status_code == 400 and name in answer.text


def test_the_operations_of_older_clients_run_the_same_sync(remotes: World, developer: Developer) -> None:
    developer.commit(PLAIN)
    space = remotes.home["spaceId"]
    old = {"url": developer.url, "ref": "refs/heads/main"}
    assert remotes.call("admin", "GET", f"/spaces/{space}/git/info").status_code == 404
    assert remotes.call("admin", "POST", f"/spaces/{space}/git/import", json=old).status_code == 204
    synced = Synced.__new__(Synced)
    synced.world, synced.developer, synced.space = remotes, developer, space
    assert synced.sync() == "synced", synced.state()
    assert synced.exported() == developer.read()
    info = remotes.get("admin", f"/spaces/{space}/git/info")
    assert info["repoName"] == "repository" and info["integration"] == "api"
    operation, _ = info.pop("operation"), info.pop("operationTimeout")
    assert (operation["state"], operation["direction"]) == ("success", "import")
    assert remotes.get("admin", f"/spaces/{space}")["gitSync"] == info
    listed = remotes.get("reader", remotes.home.path("/orgs/{organizationId}/spaces"))["items"]
    assert [one.get("gitSync") for one in listed if one["id"] == space] == [info]
    body = {**old, "commitMessage": "From the space"}
    assert remotes.call("admin", "POST", f"/spaces/{space}/git/export", json=body).status_code == 204
    other = {**old, "ref": "refs/heads/other"}
    developer.repo.refs[b"refs/heads/other"] = (developer.head or "").encode()
    assert remotes.call("admin", "POST", f"/spaces/{space}/git/import", json=other).status_code == 204
    assert remotes.call("admin", "DELETE", f"/spaces/{space}/git/legacy-installation").status_code == 205
    assert remotes.call("admin", "DELETE", f"/spaces/{space}/git/legacy-installation").status_code == 204
    assert "gitSync" not in remotes.get("admin", f"/spaces/{space}")


def test_a_preview_reports_changes_without_writing(remotes: World, developer: Developer) -> None:
    developer.commit({**PLAIN, "only/here.md": "# Here\n"})
    head = developer.head
    target = {"remote": developer.url, "branch": "main"}
    found = remotes.post("admin", remotes.home.path("/spaces/{spaceId}/git/preview"), target)
    assert "only/here.md" in found["onlyInRepository"] and "README.md" in found["different"]
    assert found["onlyInSpaceCount"] == len(found["onlyInSpace"]) > 0
    assert found["branches"] == ["main"] and developer.head == head
    missing = {**target, "branch": "nowhere"}
    found = remotes.post("admin", remotes.home.path("/spaces/{spaceId}/git/preview"), missing)
    assert found["onlyInRepositoryCount"] == 0 and "commit" not in found
    gone = {"remote": f"{developer.url}-gone", "branch": "main"}
    answer = remotes.call("admin", "POST", remotes.home.path("/spaces/{spaceId}/git/preview"), json=gone)
    assert answer.status_code == 400 and answer.json()["error"]["message"].startswith("remote")
