"""Collections and sites that are synced with one repository, each space in a folder of its own, on both engines."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gitsync.developers import Developer, local_remotes
from gitsync.servers import SECRET, http_server, needs_git
from gitsync.test_remotes import allow
from octavo.content.revisions.states import main_state
from octavo.interchange.gitsync.project_running import run_project
from octavo.interchange.transfer.exporting import export_files
from octavo.kit.ids import new_id
from octavo.kit.work.worker import Worker
from octavo.operations.admin.git_syncs import describe_sync, sync_now
from octavo.operations.admin.lookup import find_named
from world import World

DOCS = """\
# Our site
site:
  title: Acme docs
  structure:
    - type: section
      key: start
      title: Getting started
      children:
        - {type: space, key: start-en, title: Start, content: {directory: ./start}}
    - type: section
      key: api
      title: API
      children:
        - {type: space, key: api-en, title: API, content: {directory: reference/api}}
        - {type: space, key: old, title: Old, content: {directory: null}}
"""


class Project:
    """A collection or a site, synced with a repository."""

    def __init__(
        self,
        world: World,
        at: str,
        developer: Developer,
        first: str = "import",
        who: str = "admin",
        **more: Any,
    ) -> None:
        self.world, self.at, self.developer = world, at, developer
        self.id = at.rpartition("/")[2]
        body = {"remote": developer.url, "branch": "main", "first": first, **more}
        self.connected = world.post(who, f"{at}/git/sync", body)

    def sync(self, cause: Any = "asked") -> str | None:
        return run_project(self.world.context, self.id, cause, new_id())

    def state(self) -> Any:
        return self.world.get("admin", f"{self.at}/git/sync")

    def spaces(self) -> dict[str, str]:
        """Return the spaces by folder."""
        return {one["folder"]: one["space"] for one in self.state()["spaces"]}

    def statuses(self) -> set[str]:
        return {one["status"] for one in self.state()["spaces"]}

    def same(self) -> None:
        """Require that all spaces have the files of their folders, byte for byte."""
        files = self.developer.read()
        assert self.spaces()
        for folder, space in self.spaces().items():
            there = {path[len(folder) :]: data for path, data in files.items() if path.startswith(folder)}
            assert exported(self.world, space) == there, folder

    def write(self, space: str, title: str, text: str = "Words.\n") -> None:
        made = self.world.post("admin", f"/spaces/{space}/change-requests", {"subject": title})
        path = f"/spaces/{space}/change-requests/{made['id']}"
        change = {"operation": "insert_page", "title": title, "document": {"markdown": text}}
        self.world.post("admin", f"{path}/content?compat=false", {"changes": [change]})
        self.world.post("admin", f"{path}/merge")


def exported(world: World, space: str) -> dict[str, bytes]:
    context = world.context
    with context.db.read() as tx:
        found = export_files(tx, context.files, main_state(tx, space))
        return {file.path: b"".join(file.pieces) for file in found}


def make_space(world: World, title: str, parent: str | None = None) -> str:
    body = {"title": title, "parent": parent}
    return str(world.post("admin", world.home.path("/orgs/{organizationId}/spaces"), body)["id"])


@pytest.fixture
def developer(tmp_path: Path) -> Developer:
    return Developer(tmp_path / "repository")


@pytest.fixture
def local(world: World) -> Iterator[None]:
    with local_remotes(world):
        yield


@pytest.fixture
def collection(world: World, local: None) -> str:
    made = world.post("admin", world.home.path("/orgs/{organizationId}/collections"), {"title": "Docs"})
    return f"/collections/{made['id']}"


@pytest.fixture
def site(world: World, local: None) -> str:
    path = world.home.path("/orgs/{organizationId}/sites")
    return f"{path}/{world.post('admin', path, {'title': 'Docs', 'spaces': []})['id']}"


def titles(world: World, collection: str) -> set[str]:
    return {space["title"] for space in world.get("admin", f"{collection}/spaces")["items"]}


def test_each_folder_of_a_collection_is_a_space(world: World, collection: str, developer: Developer) -> None:
    parent = collection.rpartition("/")[2]
    developer.commit(
        {
            "docs/user-guide/README.md": "# Guide\n",
            "docs/api/README.md": "# API\n",
            "docs/images/a.txt": "no space",
            "docs/.hidden/README.md": "# No\n",
            "src/README.md": "# Elsewhere\n",
        }
    )
    guide, notes = make_space(world, "User guide", parent), make_space(world, "Notes", parent)
    preview = world.post(
        "admin",
        f"{collection}/git/preview",
        {"remote": developer.url, "branch": "main", "folder": "docs", "first": "import"},
    )
    assert [(one["folder"], one.get("space"), one["first"]) for one in preview["spaces"]] == [
        ("api/", None, "import"),
        ("notes/", notes, "export"),
        ("user-guide/", guide, "import"),
    ]
    project = Project(world, collection, developer, folder="docs")
    assert project.sync() == "synced", project.state()
    assert project.statuses() == {"synced"} and titles(world, collection) == {"User guide", "Notes", "Api"}
    assert project.spaces()["docs/user-guide/"] == guide and project.spaces()["docs/notes/"] == notes
    project.same()
    # Both sides continue: an edit, a new folder, a new space, and a renamed folder.
    api = project.spaces()["docs/api/"]
    project.write(api, "More")
    more = make_space(world, "Images", parent)
    developer.commit(
        {
            "docs/user-guide/README.md": None,
            "docs/guide/README.md": "# Guide\n",
            "docs/guide/new.md": "# New\n",
            "docs/blog/SUMMARY.md": "* [Post](post.md)\n",
            "docs/blog/post.md": "# Post\n",
        }
    )
    assert project.sync("poll") == "synced", project.state()
    project.same()
    spaces = project.spaces()
    assert spaces["docs/guide/"] == guide and spaces["docs/images-1/"] == more and "docs/blog/" in spaces
    assert project.statuses() == {"synced"}, project.state()
    assert "docs/api/more.md" in developer.files
    # A check without changes creates nothing.
    assert project.sync("poll") == "synced"
    head, before = developer.head, project.state()["spaces"]
    assert project.sync("poll") == "synced" and developer.head == head
    assert project.state()["spaces"] == before
    # Each space says where it is synced, as long as it is.
    assert world.get("admin", f"/spaces/{guide}")["gitSync"]["repoName"]
    assert world.call("admin", "DELETE", f"{collection}/git/sync").status_code == 205
    assert "gitSync" not in world.get("admin", f"/spaces/{guide}")


def test_a_folder_is_recognized_by_the_last_content_of_the_space(
    sqlite_world: World, developer: Developer
) -> None:
    world = sqlite_world
    with local_remotes(world):
        path = world.home.path("/orgs/{organizationId}/collections")
        collection = f"/collections/{world.post('admin', path, {'title': 'Docs'})['id']}"
        developer.commit({"one/README.md": "# One\n"})
        project = Project(world, collection, developer)
        assert project.sync() == "synced"
        one = project.spaces()["one/"]
        # The commit of the space comes after the check that found it.
        for title in ("Two", "Three", "Four"):
            project.write(one, title)
        assert project.sync() == "synced"
        inside = {path: data for path, data in developer.files.items() if path.startswith("one/")}
        renamed = {path.replace("one/", "uno/"): data for path, data in inside.items()}
        developer.commit({**dict.fromkeys(inside), **renamed, "uno/README.md": "# Uno\n"})
        assert project.sync() == "synced" and project.spaces() == {"uno/": one}
        project.same()


def test_a_space_moved_out_of_a_collection_loses_its_folder(
    world: World, collection: str, developer: Developer
) -> None:
    developer.commit({"one/README.md": "# One\n", "two/README.md": "# Two\n"})
    project = Project(world, collection, developer)
    assert project.sync() == "synced"
    one, two = project.spaces()["one/"], project.spaces()["two/"]
    world.post("admin", f"/spaces/{one}/move", {"parent": None})
    assert world.call("admin", "DELETE", f"/spaces/{two}").status_code == 205
    own = make_space(world, "Own", project.id)
    world.post(
        "admin",
        f"/spaces/{own}/git/sync",
        {"remote": "https://example.com/a/b", "branch": "x", "first": "export"},
    )
    assert project.sync() == "synced" and project.spaces() == {}
    assert [problem["code"] for problem in project.state()["problems"]] == ["synced"]
    assert world.call("admin", "GET", f"/spaces/{one}/git/sync").status_code == 404
    assert {"one/README.md", "two/README.md"} == set(developer.files)
    # It comes back to a folder of its own, and nothing of either side is overwritten.
    world.post("admin", f"/spaces/{one}/move", {"parent": project.id})
    assert project.sync() == "synced" and project.spaces() == {"one-1/": one}
    project.same()
    assert world.call("admin", "DELETE", f"{collection}/git/sync").status_code == 205
    assert world.call("admin", "GET", f"/spaces/{one}/git/sync").status_code == 404
    assert exported(world, one)["README.md"] == b"# One\n"


def test_project_settings_of_a_space_are_changed_in_the_project(
    sqlite_world: World, developer: Developer
) -> None:
    world = sqlite_world
    with local_remotes(world):
        path = world.home.path("/orgs/{organizationId}/collections")
        collection = f"/collections/{world.post('admin', path, {'title': 'Docs'})['id']}"
        developer.commit({"one/README.md": "# One\n"})
        project = Project(
            world, collection, developer, signCommits=True, commitMessage="From {change_request_subject}"
        )
        assert project.sync() == "synced"
        space = project.spaces()["one/"]
        at = f"/spaces/{space}/git/sync"
        found = world.get("admin", at)
        assert found["project"] == {"type": "collection", "id": project.id}
        assert found["signingKey"] == project.connected["signingKey"] and found["pollSeconds"] == 0
        for method, where, body in (
            ("PATCH", at, {"direction": "import"}),
            ("DELETE", at, None),
            ("POST", f"{at}/hook-secret", None),
            ("DELETE", f"/spaces/{space}/git/legacy-installation", None),
            ("POST", f"/spaces/{space}/git/import", {"url": "https://example.com/a/b", "ref": "main"}),
        ):
            assert world.call("admin", method, where, json=body).status_code == 409, (method, where)
        world.call(
            "admin", "PATCH", f"{collection}/git/sync", json={"direction": "export", "signCommits": False}
        )
        found = world.get("admin", at)
        assert found["direction"] == "export" and "signingKey" not in found
        # By the command as well.
        named = find_named(world.context, project.id, ["space", "collection", "site"], prefers="space")
        said = sync_now(world.context, named, None)
        assert [(one["folder"], one["status"]) for one in said["spaces"]] == [("one/", "synced")]
        assert said["collection"] == project.id and describe_sync(world.context, named) == said
        # No other sync gets into its folders.
        other = make_space(world, "Other")
        body = {"remote": developer.url, "branch": "main", "folder": "one/x", "first": "import"}
        assert world.call("admin", "POST", f"/spaces/{other}/git/sync", json=body).status_code == 409
        # It continues with only the permissions of the person who connected it.
        with world.context.db.write() as tx:
            tx.run("UPDATE git_projects SET user_id = :user", user=world.users["reader"])
        assert project.sync() == "failed" and project.state()["reason"] == "rights_lost"


def test_a_collection_that_only_imports_or_only_exports(sqlite_world: World, developer: Developer) -> None:
    world = sqlite_world
    with local_remotes(world):
        path = world.home.path("/orgs/{organizationId}/collections")
        for direction, wanted in (("import", {"one/"}), ("export", {"mine/"})):
            collection = f"/collections/{world.post('admin', path, {'title': 'Docs'})['id']}"
            there = Developer(developer.where.parent / direction)
            there.commit({"one/README.md": "# One\n"})
            make_space(world, "Mine", collection.rpartition("/")[2])
            project = Project(world, collection, there, direction=direction)
            assert project.sync() == "synced", project.state()
            assert set(project.spaces()) == wanted


def test_creating_spaces_from_folders_requires_permission(
    world: World, collection: str, developer: Developer
) -> None:
    grant = {"role": "admin", "users": [world.users["reader"]]}
    world.post("admin", f"{collection}/permissions", grant)
    parent = collection.rpartition("/")[2]
    one = make_space(world, "One", parent)
    developer.commit({"one/README.md": "# One\n", "two/README.md": "# Two\n"})
    project = Project(world, collection, developer, who="reader")
    assert project.sync() == "synced", project.state()
    assert titles(world, collection) == {"One"} and project.spaces() == {"one/": one}
    said = [(problem["path"], problem["code"]) for problem in project.state()["problems"]]
    assert said == [("two/", "rights_lost")]
    project.same()
    # It is created once a person with permission decides how.
    world.call("admin", "PATCH", f"{collection}/git/sync", json={"pollSeconds": 60})
    assert project.sync() == "synced" and titles(world, collection) == {"One", "Two"}
    project.same()


def test_failures_notify_the_connecting_person(
    world: World, collection: str, site: str, developer: Developer
) -> None:
    """Once per row of failures, for one of its spaces; the URL opens its Git sync settings."""
    developer.commit({"one/README.md": "# One\n", "docs.yaml": DOCS, "start/README.md": "# Start\n"})
    shown = make_space(world, "Shown")
    world.post("admin", f"{site}/site-spaces", {"spaceId": shown})
    for at, address in (
        (collection, f"/c/{collection.rpartition('/')[2]}/~/git"),
        (site, f"{site.replace('orgs', 'o')}/~/git"),
    ):
        project = Project(world, at, developer, branch="gone" if at == site else "main")
        if at == collection:
            assert project.sync() == "synced", project.state()
            developer.commit({"two/README.md": "# Two\n"}, parents=[], anew=True)
        for _ in range(2):
            assert project.sync() in ("failed", "stopped"), project.state()
        Worker(world.context.db, world.context).run_pending()
        told = [
            one for one in world.get("admin", "/user/notifications")["items"] if one["reason"] == "failed"
        ]
        here = [one for one in told if one["urls"]["app"].endswith(address)]
        assert [(one["problem"], one["events"]) for one in here] == [(project.state()["message"], 1)]


def test_one_decision_about_rewritten_history_applies_to_all_spaces(
    world: World, collection: str, developer: Developer
) -> None:
    developer.commit({"one/README.md": "# One\n", "two/README.md": "# Two\n"})
    project = Project(world, collection, developer)
    assert project.sync() == "synced"
    developer.commit({"one/README.md": "# Uno\n", "two/README.md": "# Two\n"}, parents=[], anew=True)
    assert project.sync() == "stopped" and project.state()["reason"] == "rewritten"
    assert world.call("admin", "POST", f"{collection}/git/sync/run", json={}).status_code == 409
    world.post("admin", f"{collection}/git/sync/run", {"first": "import"})
    assert project.sync() == "synced", project.state()
    assert project.statuses() == {"synced"}
    project.same()
    assert "Uno" in str(exported(world, project.spaces()["one/"]))


@pytest.mark.sqlite_first
def test_a_decision_applies_to_the_state_it_was_made_for(
    world: World, collection: str, developer: Developer
) -> None:
    developer.commit({"one/README.md": "# One\n", "two/README.md": "# Two\n"})
    project = Project(world, collection, developer)
    assert project.sync() == "synced"
    developer.commit({"one/README.md": "# Uno\n", "two/README.md": "# Due\n"}, parents=[], anew=True)
    assert project.sync() == "stopped"
    world.post("admin", f"{collection}/git/sync/run", {"first": "export"})
    developer.commit({"one/README.md": "# Uno\n\nPushed since.\n"})
    assert project.sync() == "synced"
    stopped = [(one["folder"], one["status"], one.get("reason")) for one in project.state()["spaces"]]
    assert stopped == [("one/", "stopped", "rewritten"), ("two/", "synced", None)]
    assert (
        "Pushed since." in developer.files["one/README.md"] and developer.files["two/README.md"] == "# Two\n"
    )
    world.post("admin", f"{collection}/git/sync/run", {"first": "import"})
    assert project.sync() == "synced" and project.statuses() == {"synced"}
    project.same()


def test_a_site_is_synced_with_its_docs_yaml(world: World, site: str, developer: Developer) -> None:
    files = {
        "docs.yaml": DOCS,
        "start/README.md": "# Hello\n\nThis is the beginning, and these words are in a language that is known.\n",
        "reference/api/README.md": "# API\n",
    }
    head = developer.commit(files)
    body = {"remote": developer.url, "branch": "main", "first": "import"}
    preview = world.post("admin", f"{site}/git/preview", body)
    assert [one["folder"] for one in preview["spaces"]] == ["start/", "reference/api/"]
    project = Project(world, site, developer)
    assert project.sync() == "synced", project.state()
    assert developer.head == head, "not a byte of it is written"
    assert set(project.spaces()) == {"start/", "reference/api/"} and project.statuses() == {"synced"}
    assert [problem["code"] for problem in project.state()["problems"]] == ["no_directory"]
    assert world.get("admin", site)["title"] == "Acme docs"
    assert project.sync() == "synced" and developer.head == head, "nor later, while nobody edits"
    project.same()
    # A folder that moved is the same space, whatever else changed in it.
    start = project.spaces()["start/"]
    moved = DOCS.replace("./start", "begin").replace("Getting started", "First steps")
    developer.commit({"docs.yaml": moved, "start/README.md": None, "begin/README.md": "# Hello\n"})
    assert project.sync() == "synced", project.state()
    assert project.spaces()["begin/"] == start and project.statuses() == {"synced"}
    project.same()
    sections = world.get("admin", f"{site}/structure")["structure"]
    assert [section["title"] for section in sections] == ["First steps", "API"]
    # Changes here are written there.
    world.call("admin", "PATCH", f"{site}/sections/{sections[1]['id']}", json={"title": "Reference"})
    added = make_space(world, "Changelog")
    world.post("admin", f"{site}/sections", {"spaceId": added, "title": "Changelog"})
    project.write(start, "More")
    assert project.sync() == "synced", project.state()
    docs = developer.files["docs.yaml"]
    assert "Reference" in docs and "changelog" in docs and "begin/more.md" in developer.files
    assert docs.startswith(
        """\
# Our site
site:
  title: Acme docs
  structure:
    - type: section
      key: start
      title: First steps
      path: getting-started
      default: true
      children:
        - {type: space, key: start-en, title: Start, path: start, default: true, content: {directory: begin}}
    - type: section
      key: api
      title: Reference
"""
    ), "what somebody wrote stays, and gets what it did not say"
    assert project.spaces()["changelog/"] == added and project.statuses() == {"synced"}
    project.same()
    head = developer.head
    assert project.sync() == "synced" and developer.head == head
    # Both at once: a person decides which side wins.
    world.call("admin", "PATCH", f"{site}/sections/{sections[1]['id']}", json={"title": "Ours"})
    developer.commit({"docs.yaml": docs.replace("Reference", "Theirs")})
    assert project.sync() == "stopped" and project.state()["reason"] == "structure_conflict"
    world.post("admin", f"{site}/git/sync/run", {"first": "export"})
    docs = developer.files["docs.yaml"]
    developer.commit({"docs.yaml": f"{docs}# again\n", "begin/README.md": "# Hello\n\nPushed since.\n"})
    assert project.sync() == "stopped" and project.state()["reason"] == "structure_conflict"
    world.post("admin", f"{site}/git/sync/run", {"first": "export"})
    assert project.sync() == "synced", project.state()
    docs = developer.files["docs.yaml"]
    assert "Ours" in docs and docs.endswith("# again\n") and project.statuses() == {"synced"}
    assert "Pushed since." in developer.files["begin/README.md"], "a page is not what was decided"
    project.same()
    # And the other way around: a decision about a space doesn't apply to the structure.
    developer.commit({path: None for path in developer.files if path.startswith("begin/")})
    assert project.sync() == "synced" and "stopped" in project.statuses()
    world.post("admin", f"{site}/git/sync/run", {"first": "export"})
    developer.commit({"docs.yaml": docs.replace("Ours", "Theirs again")})
    assert project.sync() == "synced" and project.statuses() == {"synced"}, project.state()
    assert "Theirs again" in developer.files["docs.yaml"] and "begin/README.md" in developer.files


@pytest.mark.sqlite_first
def test_a_site_is_exported_to_an_empty_repository(world: World, site: str, developer: Developer) -> None:
    space = make_space(world, "Handbook")
    world.post("admin", f"{site}/site-spaces", {"spaceId": space})
    project = Project(world, site, developer, first="export")
    project.write(space, "Start")
    assert project.sync() == "synced", project.state()
    assert {"docs.yaml", "handbook/README.md"} <= set(developer.files)
    project.same()
    assert world.call("admin", "DELETE", site).status_code == 205
    assert world.call("admin", "GET", f"/spaces/{space}/git/sync").status_code == 404


@pytest.mark.parametrize(
    ("docs", "reason"),
    [
        (None, "emptied"),
        ("a: [", "content"),
        ("site: {structure: []}\n", "content"),
        ("site: {structure: [{type: space, key: a, content: {directory: gone}}]}\n", "content"),
    ],
)
def test_an_empty_docs_yaml_is_reported(
    sqlite_world: World, developer: Developer, docs: str | None, reason: str
) -> None:
    world = sqlite_world
    path = world.home.path("/orgs/{organizationId}/sites")
    with local_remotes(world):
        site = f"{path}/{world.post('admin', path, {'title': 'Docs', 'spaces': []})['id']}"
        developer.commit({"README.md": "# Home\n", **({"docs.yaml": docs} if docs else {})})
        project = Project(world, site, developer)
        assert project.sync() in ("failed", "stopped")
        assert project.state()["reason"] == reason and project.spaces() == {}


RENAMING = """\
site:
  title: Docs
  structure:
    - {type: space, key: open, title: Open, content: {directory: open}}
    - {type: space, key: secret-plans, title: Renamed, language: fr, content: {directory: null}}
"""


def close(world: World, space: str, role: str | None) -> None:
    """Reduce the creator's role for a space."""
    world.call("admin", "PATCH", f"/spaces/{space}", json={"defaultLevel": None})
    if role is not None:
        body = {"role": role, "users": [world.users["creator"]]}
        world.post("admin", f"/spaces/{space}/permissions", body)


def shown_with_secret(world: World, site: str) -> tuple[str, str]:
    """Create a site that shows two spaces."""
    spaces = make_space(world, "Open"), make_space(world, "Secret plans")
    for space in spaces:
        world.post("admin", f"{site}/site-spaces", {"spaceId": space})
    return spaces


def test_syncing_a_site_requires_access_to_each_of_its_spaces(
    world: World, site: str, developer: Developer
) -> None:
    """Previously, docs.yaml could rename spaces that the person who connected it cannot see, and reveal their names."""
    _, secret = shown_with_secret(world, site)
    close(world, secret, None)
    developer.commit({"docs.yaml": RENAMING, "open/README.md": "# Open\n"})
    for first in ("import", "export"):
        body = {"remote": developer.url, "branch": "main", "first": first}
        for path in ("preview", "sync"):
            answer = world.call("creator", "POST", f"{site}/git/{path}", json=body)
            assert answer.status_code == 403 and "ecret" not in answer.text, (first, path)
            assert secret not in answer.text
    assert world.call("admin", "GET", f"{site}/git/sync").status_code == 404
    # Access to all of them is checked again each time.
    close(world, secret, "create")
    project = Project(world, site, developer, who="creator", first="export")
    assert project.sync() == "synced", project.state()
    world.call("admin", "DELETE", f"/spaces/{secret}/permissions/users/{world.users['creator']}")
    before = world.get("admin", f"/spaces/{secret}")
    developer.commit({"docs.yaml": RENAMING})
    assert project.sync() == "failed" and project.state()["reason"] == "rights_lost"
    assert "ecret" not in project.state()["message"]
    assert world.get("admin", f"/spaces/{secret}") == before
    shown = world.get("creator", f"{site}/git/sync")
    assert secret not in json.dumps(shown) and "ecret" not in json.dumps(shown)
    # Nor does a sync of another person continue without access to them.
    with world.context.db.write() as tx:
        tx.run("UPDATE git_projects SET user_id = :user", user=world.users["admin"])
    for method, path, body in (("PATCH", "", {"pollSeconds": 60}), ("DELETE", "", None)):
        answer = world.call("creator", method, f"{site}/git/sync{path}", json=body)
        assert answer.status_code == 403 and "ecret" not in answer.text


def test_docs_yaml_only_renames_spaces_that_the_connector_administers(
    world: World, site: str, developer: Developer
) -> None:
    _, secret = shown_with_secret(world, site)
    close(world, secret, "read")
    developer.commit({"docs.yaml": RENAMING, "open/README.md": "# Open\n"})
    project = Project(world, site, developer, who="creator")
    before = world.get("admin", f"/spaces/{secret}")
    assert project.sync() == "failed" and project.state()["reason"] == "rights_lost"
    assert world.get("admin", f"/spaces/{secret}") == before
    # Its current name can be used.
    developer.commit({"docs.yaml": RENAMING.replace("Renamed, language: fr", "Secret plans")})
    assert project.sync() == "synced", project.state()
    assert world.get("admin", f"/spaces/{secret}") == before


def test_changing_a_project_requires_access_to_each_space(
    world: World, collection: str, developer: Developer
) -> None:
    make_space(world, "Open", collection.rpartition("/")[2])
    secret = make_space(world, "Secret plans", collection.rpartition("/")[2])
    project = Project(world, collection, developer, first="export")
    assert project.sync() == "synced" and len(project.spaces()) == 2
    close(world, secret, None)
    path = f"{collection}/git/sync"
    shown = world.get("creator", path)
    assert [one["folder"] for one in shown["spaces"]] == ["open/"] and shown["problems"] == []
    refused = [
        world.call("creator", "PATCH", path, json={"direction": "import"}),
        world.call("creator", "POST", f"{path}/run", json={"first": "import"}),
        world.call("creator", "DELETE", path),
    ]
    assert [answer.status_code for answer in refused] == [403, 403, 403]
    assert "ecret" not in "".join(answer.text for answer in refused)
    assert world.call("creator", "POST", f"{path}/run", json={}).status_code == 202
    assert project.sync() == "synced" and len(project.spaces()) == 2
    close(world, secret, "create")
    assert world.call("creator", "PATCH", path, json={"pollSeconds": 60}).status_code == 200


@needs_git
def test_a_project_is_synced_over_http_with_one_webhook(
    sqlite_world: World, developer: Developer, tmp_path: Path
) -> None:
    world = sqlite_world
    developer.commit({"one/README.md": "# One\n", "two/README.md": "# Two\n"})
    config = developer.where / "config"
    config.write_text(config.read_text() + "[http]\n\treceivepack = true\n")
    path = world.home.path("/orgs/{organizationId}/collections")
    collection = f"/collections/{world.post('admin', path, {'title': 'Docs'})['id']}"
    with http_server(tmp_path) as server:
        allow(world, server.url.removeprefix("http://"))
        credential = {"type": "token", "secret": SECRET}
        project = Project(
            world, collection, developer, remote=f"{server.url}/repository", credential=credential
        )
        assert project.sync() == "synced", project.state()
        project.write(project.spaces()["one/"], "More")
        assert project.sync() == "synced" and "one/more.md" in developer.files
        project.same()
        # All of them have one copy of the repository.
        copies = (Path(world.context.settings.data_folder) / "git").iterdir()
        assert {copy.name for copy in copies} & {project.id, *project.spaces().values()} == {project.id}
        with world.context.db.read() as tx:
            kept = str(tx.all("SELECT * FROM git_projects")) + str(tx.all("SELECT * FROM git_syncs"))
        assert SECRET not in kept + str(project.state())
        pushed = json.dumps({"ref": "refs/heads/main"}).encode()
        hook, secret = f"{collection}/git/hook", project.connected["hookSecret"].encode()
        signature = f"sha256={hmac.new(secret, pushed, hashlib.sha256).hexdigest()}"
        for sign, status in ((signature, 204), ("sha256=00", 404), (None, 400)):
            headers = {"x-hub-signature-256": sign} if sign else {}
            answer = world.call("nobody", "POST", hook, content=pushed, headers=headers)
            assert answer.status_code == status
        assert "hookedAt" in project.state()
        other = world.call("nobody", "POST", "/collections/none/git/hook", headers={"x-gitlab-token": "x"})
        assert other.status_code == 404
