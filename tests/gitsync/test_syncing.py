"""A space and a branch that stay in step, on both engines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gitsync.developers import Developer, Synced, local_remotes
from octavo.content.changes import saving
from octavo.interchange.gitsync import syncing
from octavo.interchange.transfer.importing import import_files
from world import World

FILES: dict[str, Any] = {
    "README.md": "# Home\r\n\r\nWelcome   here.  \r\n",
    "SUMMARY.md": (
        "# Table of contents\n\n* [Home](README.md)\n* [Guide](guide/README.md)\n"
        "  * [One](guide/one.md)\n  * [Two](guide/two.md)\n\n## More\n\n* [Site](https://example.com)\n"
    ),
    "guide/README.md": "# Guide\n\nStart.\n",
    "guide/one.md": "---\ndescription: First\n---\n\n# One\n\nFirst words.\n\nSecond words.\n\nThird words.\n",
    "guide/two.md": "# Two\n\n![a](../.gitbook/assets/a.png)\n",
    ".gitbook/assets/a.png": b"\x89PNG not really \x00\xff",
    ".gitbook/includes/note.md": "---\ntitle: Note\n---\n\nA note.\n",
    ".gitbook/vars.yaml": "name: Octavo\n",
    "script.py": "print(1)\n",
}


@pytest.fixture
def developer(tmp_path: Path) -> Developer:
    made = Developer(tmp_path / "repository")
    made.commit(FILES)
    return made


@pytest.fixture
def synced(world: World, developer: Developer) -> Any:
    with local_remotes(world):
        found = Synced(world, developer)
        assert found.sync() == "synced", found.state()
        yield found


def same(synced: Synced) -> None:
    """Both sides have the same files, byte for byte."""
    assert synced.exported() == synced.developer.read()


@pytest.mark.sqlite_first
def test_the_first_import_changes_no_byte_and_the_same_commit_twice_does_nothing(synced: Synced) -> None:
    same(synced)
    head = synced.developer.head
    before = synced.state()
    assert (before["commit"], before["status"], before["ahead"]) == (head, "synced", 0)
    assert synced.sync() == "synced"
    assert synced.last()["status"] == "nothing"
    assert synced.state()["revision"] == before["revision"] and synced.developer.head == head
    revision = synced.world.get("admin", synced.at("/content"))
    assert revision["git"]["oid"] == head and revision["git"]["createdByService"] is False
    page = synced.pages()["guide/one"]
    oid = synced.developer.entries()["guide/one.md"][1]
    assert page["git"] == {"oid": oid, "path": "guide/one.md"}
    assert {file["git"]["path"] for file in revision["files"]} >= {".gitbook/assets/a.png"}


@pytest.mark.sqlite_first
def test_an_edit_on_either_side_is_synced_to_the_other(synced: Synced) -> None:
    developer = synced.developer
    one = synced.pages()["guide/one"]["id"]
    synced.edit(
        {"operation": "update_page", "page": one, "document": {"markdown": "First words.\n\nNew words.\n"}}
    )
    assert synced.sync() == "synced"
    last = synced.last()
    assert (last["exported"], last["imported"], last["conflicts"]) == (1, 0, 0)
    assert "New words." in developer.files["guide/one.md"]
    assert developer.files["README.md"] == FILES["README.md"], "untouched bytes stay"
    assert developer.message().startswith("OCTAVO-") and "An edit" in developer.message()
    same(synced)
    developer.commit({"guide/two.md": "# Two\n\nOther text.\n", "guide/three.md": "# Three\n"})
    assert synced.sync() == "synced"
    assert "Other text." in synced.markdown(synced.pages()["guide/two"]["id"])
    same(synced)
    head = developer.head
    assert synced.sync() == "synced" and developer.head == head, "what came from a sync is not synced back"


@pytest.mark.sqlite_first
def test_edits_of_one_page_by_both_sides_are_merged(synced: Synced) -> None:
    developer = synced.developer
    one = synced.pages()["guide/one"]["id"]
    text = "First words.\n\nSecond words.\n\nThird words of the space.\n"
    synced.edit({"operation": "update_page", "page": one, "document": {"markdown": text}})
    changed = developer.files["guide/one.md"].replace("First words.", "First words of the repository.")
    developer.commit({"guide/one.md": changed})
    assert synced.sync() == "synced"
    found = developer.files["guide/one.md"]
    assert "First words of the repository." in found and "Third words of the space." in found
    assert synced.last()["conflicts"] == 0
    same(synced)


@pytest.mark.sqlite_first
def test_conflicting_changes_become_a_change_request(synced: Synced) -> None:
    developer, world = synced.developer, synced.world
    one = synced.pages()["guide/one"]["id"]
    text = "First words of the space.\n\nSecond words.\n\nThird words.\n"
    synced.edit({"operation": "update_page", "page": one, "document": {"markdown": text}})
    changed = developer.files["guide/one.md"].replace("First words.", "First words of the repository.")
    developer.commit({"guide/one.md": changed, "guide/two.md": "# Two\n\nThe rest goes on.\n"})
    assert synced.sync() == "synced"
    last = synced.last()
    assert last["conflicts"] == 1
    assert "First words of the space." in developer.files["guide/one.md"]
    assert "The rest goes on." in synced.markdown(synced.pages()["guide/two"]["id"])
    same(synced)
    path = synced.at(f"/change-requests/{last['changeRequest']}")
    conflict = world.get("admin", f"{path}/conflicts")["items"][0]
    assert "of the space" in conflict["ours"] and "of the repository" in conflict["theirs"]
    assert conflict["origin"] == "repository"
    world.post("admin", f"{path}/conflicts/{conflict['id']}/resolve", {"choice": "theirs"})
    world.post("admin", f"{path}/merge")
    assert synced.sync() == "synced"
    assert "First words of the repository." in developer.files["guide/one.md"]
    same(synced)


@pytest.mark.sqlite_first
def test_moved_deleted_and_new_pages_are_synced_to_the_other_side(synced: Synced) -> None:
    developer = synced.developer
    pages = synced.pages()
    synced.edit(
        {"operation": "update_page", "page": pages["guide/two"]["id"], "into": None, "at": 0},
        {"operation": "insert_page", "title": "Fresh", "document": {"markdown": "Fresh text.\n"}},
        {"operation": "delete_page", "page": pages["guide/one"]["id"]},
    )
    assert synced.sync() == "synced"
    same(synced)
    files = developer.files
    assert "guide/one.md" not in files and "Fresh" in files["SUMMARY.md"]
    assert files["SUMMARY.md"].index("Two") < files["SUMMARY.md"].index("Home")
    fresh = next(page for page in synced.pages().values() if page["title"] == "Fresh")
    summary = files["SUMMARY.md"].replace(
        "* [Guide](guide/README.md)", "* [Fresh start](sub/fresh.md)\n* [Guide](guide/README.md)"
    )
    kept = [line for line in summary.split("\n") if "(fresh.md)" not in line]
    developer.commit({"SUMMARY.md": "\n".join(kept), "fresh.md": None, "sub/fresh.md": files["fresh.md"]})
    assert synced.sync() == "synced"
    moved = next(page for page in synced.pages().values() if page["title"] == "Fresh start")
    assert moved["id"] == fresh["id"], "a page that moved is the same page"
    same(synced)


@pytest.mark.sqlite_first
def test_the_first_export_adds_a_commit_with_all_content(world: World, tmp_path: Path) -> None:
    developer = Developer(tmp_path / "repository")
    with local_remotes(world):
        synced = Synced(world, developer, "export")
        assert synced.sync() == "synced", synced.state()
        same(synced)
        developer.commit({"README.md": "# Changed\n\nBy a developer.\n"})
        assert synced.sync() == "synced"
        same(synced)
    other = Developer(tmp_path / "other")
    with local_remotes(world):
        first = other.commit({"docs/old.md": "old\n", "code.py": "1\n"})
        world.call("admin", "DELETE", synced.at("/git/sync"))
        synced = Synced(world, other, "export", folder="docs")
        assert synced.sync() == "synced", synced.state()
        files = other.files
        assert files["code.py"] == "1\n" and "docs/old.md" not in files and "docs/README.md" in files
        assert other.parents(other.head or "") == [first]


@pytest.mark.parametrize("what", ["force", "gone", "emptied", "other"])
def test_a_replaced_repository_waits_for_a_decision(synced: Synced, what: str) -> None:
    developer, world = synced.developer, synced.world
    one = synced.pages()["guide/one"]["id"]
    synced.edit({"operation": "update_page", "page": one, "document": {"markdown": "Words of the space.\n"}})
    if what == "force":
        developer.commit({"README.md": "# Rewritten\n"}, parents=[])
    elif what == "gone":
        del developer.repo.refs[developer.ref]
    elif what == "emptied":
        developer.commit({}, anew=True)
    else:
        developer.commit({"other.md": "# Other\n"}, parents=[], anew=True)
    head, exported = developer.head, synced.exported()
    assert synced.sync() == "stopped"
    state = synced.state()
    assert state["reason"] == {"gone": "branch_gone", "emptied": "emptied"}.get(what, "rewritten")
    assert developer.head == head and synced.exported() == exported, "nobody wrote anything"
    assert world.call("admin", "POST", synced.at("/git/sync/run"), json={}).status_code == 409
    world.post("admin", synced.at("/git/sync/run"), {"first": "export"})
    assert synced.sync() == "synced", synced.state()
    assert "Words of the space." in developer.files["guide/one.md"]
    same(synced)


def test_a_space_that_only_imports_never_writes_the_repository(world: World, developer: Developer) -> None:
    with local_remotes(world):
        synced = Synced(world, developer, direction="import")
        assert synced.sync() == "synced"
        head = developer.head
        one = synced.pages()["guide/one"]["id"]
        text = "First words of the space.\n\nSecond words.\n\nThird words.\n"
        synced.edit({"operation": "update_page", "page": one, "document": {"markdown": text}})
        assert synced.sync() == "synced" and developer.head == head and synced.state()["ahead"] == 1
        changed = developer.files["guide/one.md"].replace("Third words.", "Third words of the repository.")
        head = developer.commit({"guide/one.md": changed})
        assert synced.sync() == "synced" and developer.head == head
        both = synced.markdown(one)
        assert "First words of the space." in both and "Third words of the repository." in both
        changed = changed.replace("First words.", "First words of the repository.")
        developer.commit({"guide/one.md": changed})
        assert synced.sync() == "synced" and synced.last()["conflicts"] == 1
        assert "First words of the space." in synced.markdown(one)
        world.call("admin", "PATCH", synced.at("/git/sync"), json={"direction": "both"})
        assert synced.sync() == "synced" and synced.state()["ahead"] == 0
        same(synced)


@pytest.mark.sqlite_first
def test_an_export_only_space_gets_repository_changes_as_change_requests(
    world: World, developer: Developer
) -> None:
    with local_remotes(world):
        synced = Synced(world, developer, direction="export")
        assert synced.sync() == "synced"
        developer.commit({"guide/two.md": "# Two\n\nWords of the repository.\n"})
        assert synced.sync() == "synced", synced.state()
        two = synced.pages()["guide/two"]["id"]
        assert "Words of the repository." not in synced.markdown(two)
        path = synced.at(f"/change-requests/{synced.last()['changeRequest']}")
        page = world.get("admin", f"{path}/content/page/{two}?format=markdown")
        assert "Words of the repository." in page["markdown"]
        same(synced)
        world.post("admin", f"{path}/merge")
        assert synced.sync() == "synced"
        assert "Words of the repository." in developer.files["guide/two.md"]
        same(synced)


def test_commits_name_their_authors_and_revisions_the_connecting_person(synced: Synced) -> None:
    developer, world = synced.developer, synced.world
    one, two = synced.pages()["guide/one"]["id"], synced.pages()["guide/two"]["id"]
    synced.edit(
        {"operation": "update_page", "page": one, "document": {"markdown": "By the administrator.\n"}}
    )
    made = world.post("editor", synced.at("/change-requests"), {"subject": "By an editor"})
    path = synced.at(f"/change-requests/{made['id']}")
    change = {"operation": "update_page", "page": two, "document": {"markdown": "By an editor.\n"}}
    world.post("editor", f"{path}/content", {"changes": [change]})
    world.post("admin", f"{path}/merge")
    assert synced.sync() == "synced"
    with world.context.db.read() as tx:
        mails = dict(tx.all("SELECT id, email FROM users"))
    editor, admin = mails[world.users["editor"]], mails[world.users["admin"]]
    assert editor in developer.author() and "Co-authored-by: " in developer.message()
    assert admin in developer.message() and f"OCTAVO-{made['number']}: By an editor" in developer.message()
    developer.commit({"README.md": "# Home\n\nMine.\n"}, who=f"Ed <{editor}>", message="Say it better")
    assert synced.sync() == "synced"
    revision = world.get("admin", synced.at("/content"))
    assert revision["git"]["message"] == "Say it better"
    # A commit can claim any author; a revision is by the person who let the repository in.
    with world.context.db.read() as tx:
        author = tx.value("SELECT author FROM revisions WHERE id = :id", id=revision["id"])
    assert author == world.users["admin"]


def test_a_commit_after_a_kill_names_its_authors(synced: Synced, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*arguments: Any, **named: Any) -> None:
        raise KeyboardInterrupt

    developer, world = synced.developer, synced.world
    page = synced.pages()["guide/one"]["id"]
    markdown = "First words.\n\nNew words.\n"
    synced.edit({"operation": "update_page", "page": page, "document": {"markdown": markdown}})
    head = developer.head
    for file in ("more.md", "again.md"):
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr("octavo.interchange.gitsync.remotes.RemoteConnection.push", killed)
            syncing.run_sync(world.context, synced.space, "asked", "job")
        assert developer.head == head, "nothing was pushed"
        head = developer.commit({file: "# More\n"})
    assert syncing.run_sync(world.context, synced.space, "asked", "job") == "synced", synced.state()
    assert "New words." in developer.files["guide/one.md"]
    with world.context.db.read() as tx:
        writer = tx.value("SELECT email FROM users WHERE id = :id", id=world.users["admin"])
    assert writer in developer.author() and "An edit" in developer.message()
    synced.edit({"operation": "update_page", "page": page, "document": {"markdown": "Only these.\n"}})
    assert synced.sync() == "synced"
    assert "\n* " not in developer.message(), "what was described once is not described again"
    same(synced)


def test_a_killed_first_import_does_not_overwrite_edits(
    world: World, developer: Developer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*arguments: Any, **named: Any) -> None:
        import_files(*arguments, **named)
        raise KeyboardInterrupt

    with local_remotes(world):
        synced = Synced(world, developer)
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(syncing, "import_files", killed)
            syncing.run_sync(world.context, synced.space, "asked", "job")
        page = next(page for page in synced.pages().values() if page["type"] == "document")
        text = f"# {page['title']}\n\nWritten meanwhile.\n"
        synced.edit({"operation": "update_page", "page": page["id"], "document": {"markdown": text}})
        developer.commit({"more.md": "# More\n"})
        assert syncing.run_sync(world.context, synced.space, "asked", "job") == "synced", synced.state()
        assert "Written meanwhile." in " ".join(developer.files.values())
        assert synced.exported() == developer.read()


@pytest.mark.parametrize("first", ["import", "export"])
def test_a_page_that_is_restricted_during_a_sync_is_not_pushed(
    world: World, developer: Developer, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    with local_remotes(world):
        synced = Synced(world, developer, first)
        if first == "import":
            synced.sync()
        change = world.post("admin", synced.at("/change-requests"), {"subject": "Plans"})["id"]
        path = synced.at(f"/change-requests/{change}")
        page = {"operation": "insert_page", "title": "Plans", "document": {"markdown": "Secret words.\n"}}
        # As if the draft were older than the connection.
        monkeypatch.setattr(saving, "is_synced", lambda tx, space: False)
        rule = {"visibleTo": [{"kind": "administrators"}]}
        world.post("admin", f"{path}/content", {"changes": [{**page, **rule}]})
        fetch = syncing.Sync.fetch

        def merge_meanwhile(sync: syncing.Sync, copy: Any) -> str | None:
            world.call("admin", "POST", f"{path}/merge")
            return fetch(sync, copy)

        monkeypatch.setattr(syncing.Sync, "fetch", merge_meanwhile)
        head = developer.head
        synced.sync()
        assert synced.state()["message"].startswith("Restricted pages")
        assert developer.head == head
