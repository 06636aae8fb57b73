"""Restoring one organization, space, or site of a backup into a running server, next to the current one."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from octavo.errors import BadRequest, NotFound, OctavoError
from octavo.kit.secrets.sealing import KEY_FILE
from octavo.operations.admin.backup import back_up, verify_installation
from octavo.operations.admin.partial_restore import RestoredPart, list_backup_parts, opened_copy, restore_part
from octavo.operations.installation import close_context, open_context
from octavo.settings import Settings
from serving import octavo as run_command
from world import World


@pytest.fixture
def backed_up(world: World, tmp_path: Path) -> Path:
    target = tmp_path / "one.backup"
    back_up(world.context, target)
    return target


def take(world: World, backup: Path, kind: Any, name: str, **more: Any) -> RestoredPart:
    with opened_copy(world.context.settings, str(backup), None) as copy:
        return restore_part(world.context, copy, kind, name, label="from backup", **more)


def texts(world: World, space: str) -> dict[str, str]:
    pages = world.get("admin", f"/spaces/{space}/content/pages")["pages"]
    found = {}
    for page in pages:
        if page["type"] == "document":
            read = world.get(
                "admin", f"/spaces/{space}/content/page/{page['id']}", params={"format": "markdown"}
            )
            found[page["title"]] = read["markdown"]
    return found


@pytest.mark.sqlite_first
def test_the_content_of_a_backup_is_listed(world: World, backed_up: Path) -> None:
    space = world.home["spaceId"]
    with opened_copy(world.context.settings, str(backed_up), None) as copy:
        with world.context.db.write() as tx:
            tx.run("UPDATE spaces SET deleted_at = 1 WHERE id = :id", id=space)
        held = {(each.kind, each.id): each for each in list_backup_parts(world.context, copy)}
    assert held["organization", world.home["organizationId"]].present
    assert held["site", world.home["siteId"]].present
    gone = held["space", space]
    assert not gone.present
    assert (gone.pages or 0) > 0
    assert gone.changed_at is not None


@pytest.mark.sqlite_first
def test_a_space_is_restored_next_to_the_current_one(world: World, backed_up: Path) -> None:
    space = world.home["spaceId"]
    before = texts(world, space)
    assert before
    path = world.home.path("/spaces/{spaceId}/content")
    page = next(iter(world.get("admin", f"{path}/pages")["pages"]))
    body = {
        "changes": [{"operation": "update_page", "page": page["id"], "document": {"markdown": "# Lost\n"}}]
    }
    world.post("admin", path, body)
    damaged = texts(world, space)
    assert damaged != before
    part = take(world, backed_up, "space", space)
    assert part.organization == world.home["organizationId"]
    assert part.title.endswith("(from backup)")
    assert texts(world, part.id) == before
    assert texts(world, space) == damaged, "the present one is not touched"
    events = world.get(
        "admin",
        world.home.path("/orgs/{organizationId}/audit-events"),
        params={"action": "backup.restored"},
    )["items"]
    assert [event["target"]["id"] for event in events] == [part.id]
    again = take(world, backed_up, "space", space)
    assert again.id != part.id


@pytest.mark.sqlite_first
def test_a_site_is_restored_unpublished_with_its_own_spaces(world: World, backed_up: Path) -> None:
    site = world.home["siteId"]
    part = take(world, backed_up, "site", site)
    path = world.home.path("/orgs/{organizationId}/sites/")
    restored = world.get("admin", f"{path}{part.id}")
    assert restored["title"] == part.title
    assert not restored["published"]

    def spaces(of: str) -> set[str]:
        return {each["space"]["id"] for each in world.get("admin", f"{path}{of}/site-spaces")["items"]}

    assert spaces(part.id)
    assert not spaces(part.id) & spaces(site)
    titles = [world.get("admin", f"/spaces/{each}")["title"] for each in spaces(part.id)]
    assert all(title.endswith(part.title.partition(" (")[2]) for title in titles), titles


@pytest.mark.parametrize("kind", ["space", "site"])
def test_only_administrators_see_what_is_restored(world: World, tmp_path: Path, kind: str) -> None:
    """Restricted pages aren't restricted in the new spaces."""
    content, sites = world.home.path("/spaces/{spaceId}/content"), "/orgs/{organizationId}/sites/"
    rule = {
        "operation": "update_page",
        "page": world.home["pageId"],
        "visibleTo": [{"kind": "administrators"}],
    }
    world.post("admin", content, {"changes": [rule]})
    back_up(world.context, tmp_path / "one.backup")
    part = take(world, tmp_path / "one.backup", kind, world.home[f"{kind}Id"])
    if kind == "space":
        spaces = {part.id}
    else:
        path = world.home.path(f"{sites}{part.id}/site-spaces")
        spaces = {each["space"]["id"] for each in world.get("admin", path)["items"]}
    for space in spaces:
        assert world.call("admin", "GET", f"/spaces/{space}/content/pages").is_success
        for who in ("reviewer", "editor", "reader", "guest"):
            assert world.call(who, "GET", f"/spaces/{space}/content/pages").status_code == 404


@pytest.mark.sqlite_first
def test_an_organization_is_restored_only_if_it_is_missing(
    world: World, backed_up: Path, tmp_path: Path
) -> None:
    with pytest.raises(BadRequest, match="still on this server"):
        take(world, backed_up, "organization", world.home["organizationId"])
    with pytest.raises(NotFound):
        take(world, backed_up, "space", "no such space")


def test_a_missing_organization_is_restored_with_its_ids(sqlite_world: World, tmp_path: Path) -> None:
    target = tmp_path / "one.backup"
    back_up(sqlite_world.context, target)
    (tmp_path / "other").mkdir()
    shutil.copy(sqlite_world.context.settings.data_folder / KEY_FILE, tmp_path / "other")
    settings = Settings(data=str(tmp_path / "other"), url=sqlite_world.context.settings.url)
    home, away = sqlite_world.home, sqlite_world.away
    context = open_context(settings)
    try:
        with opened_copy(settings, str(target), None) as copy:
            part = restore_part(context, copy, "organization", home["organizationId"], label="from backup")
            with pytest.raises(BadRequest, match="--org"):
                restore_part(context, copy, "space", away["spaceId"], label="from backup")
            there = restore_part(
                context, copy, "space", away["spaceId"], organization_id=part.id, label="from backup"
            )
        assert (part.id, there.organization) == (home["organizationId"], part.id)
        with context.db.read() as tx:
            assert tx.value("SELECT count(*) FROM spaces WHERE id = :id", id=home["spaceId"]) == 1
        assert verify_installation(context) == []
    finally:
        close_context(context)


def damaged(source: Path, target: Path, name: str) -> Path:
    """Return a copy of a backup in which one part has other bytes."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for each in old.namelist():
            content = old.read(each)
            new.writestr(each, content[:-2] + b"~~" if each == name else content)
    return target


@pytest.mark.sqlite_first
def test_damaged_newer_and_foreign_backups_are_refused(world: World, backed_up: Path, tmp_path: Path) -> None:
    space = world.home["spaceId"]
    with zipfile.ZipFile(backed_up) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        file = next(name for name in archive.namelist() if name.startswith("files/"))
    for number, name in enumerate(("manifest.json", "rows/spaces.jsonl", "rows/bodies.jsonl", file)):
        with pytest.raises(BadRequest):
            take(world, damaged(backed_up, tmp_path / f"{number}.backup", name), "space", space)
    with pytest.raises(BadRequest):
        (tmp_path / "text.backup").write_text("no backup")
        take(world, tmp_path / "text.backup", "space", space)
    with pytest.raises(OctavoError):
        take(world, tmp_path / "missing.backup", "space", space)
    newer = tmp_path / "newer.backup"
    manifest["migrations"].append(209912310000)
    with zipfile.ZipFile(backed_up) as old, zipfile.ZipFile(newer, "w") as new:
        for each in old.namelist():
            new.writestr(each, json.dumps(manifest) if each == "manifest.json" else old.read(each))
    with pytest.raises(BadRequest, match="newer version"):
        take(world, newer, "space", space)
    settings = world.context.settings
    (tmp_path / "foreign").mkdir()
    with (
        pytest.raises(OctavoError, match="key"),
        opened_copy(replace(settings, data=str(tmp_path / "foreign")), str(backed_up), None),
    ):
        pass


@pytest.mark.slow
def test_on_the_command_line(sqlite_world: World, tmp_path: Path) -> None:
    data = str(sqlite_world.install(tmp_path / "data"))
    target, space = str(tmp_path / "one.backup"), sqlite_world.home["spaceId"]
    assert run_command("backup", target, "--data", data).returncode == 0
    listed = run_command("restore", target, "--list", "--json", "--data", data)
    assert listed.returncode == 0, listed.stderr
    assert space in {each["id"] for each in json.loads(listed.stdout)}
    done = run_command("restore", target, "--space", space, "--json", "--quiet", "--data", data)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["title"].endswith("(from backup)")
    for wrong in (("--list", "--space", space), ("--org", "home"), ("--list", "--until", "2026-01-01T00:00")):
        assert run_command("restore", target, *wrong, "--data", data).returncode == 1
