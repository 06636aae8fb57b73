"""Branches and pull requests as change requests, and change requests as branches, on both engines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gitsync.developers import Developer, Synced, local_remotes
from octavo.content.changes import saving
from world import World

FILES: dict[str, Any] = {
    "SUMMARY.md": "# Summary\n\n* [Home](README.md)\n* [One](one.md)\n* [Two](two.md)\n",
    "README.md": "# Home\n\nWelcome.\n",
    "one.md": "# One\n\nFirst words.\n\nSecond words.\n\nThird words.\n",
    "two.md": "# Two\n\nMore words.\n",
    "code.py": "print(1)\n",
}


class Branches(Synced):
    """``topic``: a branch that fits the pattern."""

    def __init__(self, world: World, developer: Developer, **more: Any) -> None:
        super().__init__(world, developer, branchPattern="topic/*", **more)
        assert self.sync() == "synced", self.state()
        self.topic = Developer(developer.where, "topic/words")

    def begin(self, changes: dict[str, Any]) -> str:
        """Create a branch from the head of the synced one."""
        self.topic.repo.refs[self.topic.ref] = (self.developer.head or "").encode()
        return self.topic.commit(changes)

    def change(self) -> Any:
        [found] = self.branches()
        return self.world.get("admin", self.at(f"/change-requests/{found['changeRequest']}"))

    def of_change(self, path: str) -> str:
        [found] = self.branches()
        return self.at(f"/change-requests/{found['changeRequest']}{path}")

    def pages_of_change(self) -> dict[str, Any]:
        content = self.world.get("admin", self.of_change("/content"))
        return {page["title"]: page for page in content["pages"]}

    def text(self, title: str) -> str:
        page = self.pages_of_change()[title]["id"]
        return str(
            self.world.get("admin", self.of_change(f"/content/page/{page}?format=markdown"))["markdown"]
        )

    def edit_change(self, title: str, markdown: str) -> None:
        page = self.pages_of_change()[title]["id"]
        change = {"operation": "update_page", "page": page, "document": {"markdown": markdown}}
        self.world.post("admin", self.of_change("/content?compat=false"), {"changes": [change]})


@pytest.fixture
def synced(world: World, tmp_path: Path) -> Any:
    developer = Developer(tmp_path / "repository")
    developer.commit(FILES)
    with local_remotes(world):
        yield Branches(world, developer)


def test_a_branch_becomes_a_change_request_and_is_merged_with_its_commits(synced: Branches) -> None:
    new = FILES["SUMMARY.md"] + "* [New](new.md)\n"
    one = FILES["one.md"].replace("First", "Very first")
    synced.begin(
        {"one.md": one, "new.md": "# New\n\nBrand new.\n", "SUMMARY.md": new, "code.py": "print(2)\n"}
    )
    assert synced.sync() == "synced", synced.state()
    change = synced.change()
    assert (change["status"], change["subject"]) == ("open", "topic/words")
    assert "Very first" in synced.text("One") and "Brand new" in synced.text("New")
    assert "New" not in {page["title"] for page in synced.pages().values()}
    assert synced.last()["changeRequests"] == 1
    assert synced.sync() == "synced" and synced.last()["status"] == "nothing"
    # Pushed commits are merged with an edit that was made here.
    synced.edit_change("Two", "Words of a reviewer.\n")
    synced.topic.commit({"one.md": one.replace("Third", "And third")})
    assert synced.sync() == "synced"
    assert "And third" in synced.text("One") and "reviewer" in synced.text("Two")
    known = synced.pages_of_change()["New"]["id"]
    # A merge commit brings it, and the page keeps its id; the reviewer's words are not lost.
    synced.developer.commit(
        {path: synced.topic.files[path] for path in ("one.md", "new.md", "SUMMARY.md", "code.py")},
        parents=[synced.developer.head or "", synced.topic.head or ""],
    )
    assert synced.sync() == "synced", synced.state()
    assert synced.pages()["new"]["id"] == known
    changes = synced.world.get("admin", synced.at("/change-requests?status=open"))["items"]
    assert change["id"] in [one["id"] for one in changes]
    assert [problem["code"] for problem in synced.last()["problems"]] == ["edits_besides"]
    assert synced.exported() == synced.developer.read()
    synced.world.post("admin", synced.at(f"/change-requests/{change['id']}/merge"))
    assert synced.sync() == "synced"
    assert "reviewer" in synced.developer.files["two.md"]


@pytest.mark.sqlite_first
def test_people_who_pushed_cannot_approve(synced: Branches) -> None:
    world = synced.world
    with world.context.db.read() as tx:
        mails = dict(tx.all("SELECT id, email FROM users"))
    mine = f"R <{mails[world.users['reviewer']]}>"
    synced.begin({"code.py": "print(2)\n"})
    synced.topic.commit({"one.md": FILES["one.md"].replace("First", "My first")}, who=mine)
    synced.topic.commit({"two.md": "# Two\n\nOther words.\n"})
    assert synced.sync() == "synced", synced.state()
    reviews = synced.of_change("/reviews")
    answer = world.call("reviewer", "POST", reviews, json={"status": "approved"})
    assert answer.status_code == 403, answer.text
    assert world.call("creator", "POST", reviews, json={"status": "approved"}).status_code == 201
    synced.topic.commit({"two.md": "# Two\n\nStill other words.\n"})
    assert synced.sync() == "synced", synced.state()
    assert world.call("reviewer", "POST", reviews, json={"status": "approved"}).status_code == 201
    synced.topic.commit({"two.md": "# Two\n\nMy words.\n"}, who=mine)
    assert synced.sync() == "synced", synced.state()
    assert world.call("reviewer", "POST", reviews, json={"status": "approved"}).status_code == 403


@pytest.mark.parametrize("how", ["merge", "squash"])
def test_a_branch_without_changes_is_marked_as_merged(synced: Branches, how: str) -> None:
    synced.begin({"one.md": FILES["one.md"].replace("First", "Very first")})
    assert synced.sync() == "synced"
    parents = [synced.developer.head or ""] + ([synced.topic.head or ""] if how == "merge" else [])
    synced.developer.commit({"one.md": synced.topic.files["one.md"]}, parents=parents)
    if how == "squash":
        del synced.topic.repo.refs[synced.topic.ref]
    assert synced.sync() == "synced", synced.state()
    change = synced.change()
    assert change["status"] == "merged" and change["revisionMerged"] == synced.state()["revision"]
    assert synced.branches()[0]["status"] == "merged"


@pytest.mark.sqlite_first
def test_a_closed_branch_is_archived_and_reopened(synced: Branches) -> None:
    head = synced.begin({"one.md": FILES["one.md"].replace("First", "Very first")})
    assert synced.sync() == "synced"
    del synced.topic.repo.refs[synced.topic.ref]
    assert synced.sync() == "synced"
    assert (synced.change()["status"], synced.branches()[0]["status"]) == ("archived", "closed")
    synced.topic.repo.refs[synced.topic.ref] = head.encode()
    assert synced.sync() == "synced"
    assert (synced.change()["status"], synced.branches()[0]["status"]) == ("open", "open")


@pytest.mark.sqlite_first
def test_a_rebased_branch_contains_only_its_changes(synced: Branches) -> None:
    synced.begin({"one.md": FILES["one.md"].replace("First", "Very first")})
    assert synced.sync() == "synced"
    synced.developer.commit({"two.md": "# Two\n\nMain goes on.\n"})
    assert synced.sync() == "synced"
    synced.begin({"one.md": FILES["one.md"].replace("First", "Again first")})
    assert synced.sync() == "synced", synced.state()
    assert "Again first" in synced.text("One") and "Main goes on." in synced.text("Two")
    changed = synced.world.get("admin", synced.of_change("/changes"))["changes"]
    assert [one["page"]["title"] for one in changed] == ["One"]


@pytest.mark.sqlite_first
def test_edits_of_one_line_by_both_sides_conflict_in_the_change_request(synced: Branches) -> None:
    one = FILES["one.md"].replace("First", "Very first")
    synced.begin({"one.md": one})
    assert synced.sync() == "synced"
    synced.edit_change(
        "One", one.replace("# One\n\n", "").replace("Second words.", "Second of the reviewer.")
    )
    synced.topic.commit({"one.md": one.replace("Second words.", "Second of the developer.")})
    assert synced.sync() == "synced"
    [conflict] = synced.world.get("admin", synced.of_change("/conflicts"))["items"]
    assert "reviewer" in conflict["ours"] and "developer" in conflict["theirs"]
    assert conflict["origin"] == "repository" and "reviewer" in synced.text("One")


@pytest.mark.sqlite_first
def test_a_change_request_is_pushed_as_a_branch_and_continued_there(synced: Branches) -> None:
    world, developer = synced.world, synced.developer
    before = developer.head
    made = world.post("admin", synced.at("/change-requests"), {"subject": "Better words"})
    at = synced.at(f"/change-requests/{made['id']}")
    new = {"operation": "insert_page", "title": "Fresh", "document": {"markdown": "Fresh text.\n"}}
    world.post("admin", f"{at}/content?compat=false", {"changes": [new]})
    pushed = world.post("admin", f"{at}/git/push", {})
    assert (pushed["branch"], pushed["pushes"]) == (f"octavo/change-{made['number']}", True)
    assert synced.sync() == "synced", synced.state()
    there = Developer(developer.where, pushed["branch"])
    assert developer.head == before and there.parents(there.head or "") == [before]
    assert "Fresh text." in there.files["fresh.md"] and "fresh.md" in there.files["SUMMARY.md"]
    assert "Better words" in there.message()
    assert there.files["code.py"] == FILES["code.py"], "all else of the branch is the repository's"
    assert synced.sync() == "synced" and synced.last()["status"] == "nothing"
    # A developer continues, and so does a person in Octavo.
    there.commit({"fresh.md": there.files["fresh.md"] + "\nMore of it.\n"})
    synced.edit_change("Two", "Words of the space.\n")
    assert synced.sync() == "synced"
    assert "More of it." in synced.text("Fresh") and "Words of the space." in there.files["two.md"]
    assert "More of it." in there.files["fresh.md"]
    fresh = synced.pages_of_change()["Fresh"]["id"]
    # It is merged there.
    developer.commit(there.read(), parents=[developer.head or "", there.head or ""])
    assert synced.sync() == "synced", synced.state()
    assert synced.change()["status"] == "merged" and synced.pages()["fresh"]["id"] == fresh
    assert synced.exported() == developer.read()


def test_a_page_that_was_deleted_while_it_was_restricted_is_not_pushed(
    synced: Branches, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change request that is older than the rule keeps the page."""
    world = synced.world
    made = world.post("admin", synced.at("/change-requests"), {"subject": "Old words"})
    at = synced.at(f"/change-requests/{made['id']}")
    page = synced.pages()["one"]["id"]
    edit = {"operation": "update_page", "page": page, "document": {"markdown": "Secret words.\n"}}
    world.post("admin", f"{at}/content", {"changes": [edit]})
    with monkeypatch.context() as patch:
        # As if the space had been connected later.
        patch.setattr(saving, "is_synced", lambda tx, space: False)
        rule = {"operation": "update_page", "page": page, "visibleTo": [{"kind": "administrators"}]}
        synced.edit(rule)
    synced.edit({"operation": "delete_page", "page": page})
    world.post("admin", f"{at}/update")
    [conflict] = world.get("admin", f"{at}/conflicts")["items"]
    world.post("admin", f"{at}/conflicts/{conflict['id']}/resolve", {"choice": "ours"})
    assert "Secret" in world.get("admin", f"{at}/content/page/{page}?format=markdown")["markdown"]
    assert world.call("editor", "GET", f"{at}/content/page/{page}").status_code == 404
    world.post("admin", f"{at}/git/push", {"branch": "mine"})
    assert synced.sync() == "synced", synced.state()
    assert "restricted pages" in synced.branches()[0]["message"]
    assert Developer(synced.developer.where, "mine").head is None


def test_an_interrupted_push_is_recognized_as_our_own(
    synced: Branches, monkeypatch: pytest.MonkeyPatch
) -> None:
    from octavo.interchange.gitsync.remotes import RemoteConnection
    from octavo.interchange.gitsync.syncing import run_sync

    world = synced.world
    made = world.post("admin", synced.at("/change-requests"), {"subject": "Cut"})
    at = synced.at(f"/change-requests/{made['id']}")
    new = {"operation": "insert_page", "title": "Fresh", "document": {"markdown": "Fresh text.\n"}}
    world.post("admin", f"{at}/content?compat=false", {"changes": [new]})
    world.post("admin", f"{at}/git/push", {"branch": "mine"})
    real = RemoteConnection.push

    def cut(*arguments: Any, **named: Any) -> None:
        real(*arguments, **named)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(RemoteConnection, "push", cut)
        with pytest.raises(KeyboardInterrupt):
            run_sync(world.context, synced.space, "asked", "job")
    assert run_sync(world.context, synced.space, "asked", "job") == "synced"
    assert [page for page in synced.pages_of_change()] == ["Home", "One", "Two", "Fresh"]
    assert synced.branches()[0].get("message") is None
    assert world.get("admin", synced.of_change("/conflicts"))["items"] == []


def test_push_and_follow_errors_are_reported(synced: Branches) -> None:
    world = synced.world
    made = world.post("admin", synced.at("/change-requests"), {"subject": "Mine"})
    at = synced.at(f"/change-requests/{made['id']}")
    for branch, status in (("main", 409), ("a..b", 400), ("", 400)):
        assert world.call("admin", "POST", f"{at}/git/push", json={"branch": branch}).status_code == status
    synced.topic.commit({"other.md": "# Other\n"}, parents=[], anew=True)
    taken = Developer(synced.developer.where, "taken")
    taken.commit({"other.md": "# Other\n"}, parents=[], anew=True)
    new = {"operation": "insert_page", "title": "Fresh", "document": {"markdown": "Fresh text.\n"}}
    world.post("admin", f"{at}/content?compat=false", {"changes": [new]})
    world.post("admin", f"{at}/git/push", {"branch": "taken"})
    before = taken.head
    assert synced.sync() == "synced"
    assert "shares no history" in synced.state()["branchesMessage"]
    assert "already" in synced.branches()[0]["message"] and taken.head == before
    world.call("admin", "PATCH", synced.at("/git/sync"), json={"branchPattern": None})
    assert synced.sync() == "synced" and "branchesMessage" not in synced.state()
    answer = world.call("admin", "PATCH", synced.at("/git/sync"), json={"pullRequests": True})
    assert answer.status_code == 400 and "pullRequests" in answer.text
