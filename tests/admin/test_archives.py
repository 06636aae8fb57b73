"""Export of a whole organization as a folder, import into an empty server, and another export."""

import filecmp
import json
from pathlib import Path

import pytest

from octavo.content.revisions import staging
from octavo.errors import BadRequest
from octavo.operations.admin.archives import export_organization, import_organization
from octavo.operations.admin.backup import verify_installation
from octavo.operations.installation import close_context, open_context
from octavo.organization.access.authorization import space_access
from octavo.organization.access.roles import Can
from octavo.organization.spaces.duplicating import prepare_copy
from octavo.organization.spaces.purging import purge_spaces
from octavo.settings import Settings
from serving import octavo_here
from world import World


@pytest.fixture
def empty(database_url, tmp_path):
    """Return an empty server, on each engine."""
    settings = Settings(data=str(tmp_path / "empty"), database_url=database_url, url="http://octavo.test")
    context = open_context(settings)
    yield context
    close_context(context)


def differences(one: Path, two: Path) -> list[str]:
    compared = filecmp.dircmp(one, two, ignore=[])
    found = [*compared.left_only, *compared.right_only]
    same, different, failed = filecmp.cmpfiles(one, two, compared.common_files, shallow=False)
    found += [*different, *failed]
    for name in compared.common_dirs:
        found += differences(one / name, two / name)
    return found


def test_an_exported_organization_is_imported_without_loss(world: World, empty, tmp_path: Path) -> None:
    home = world.home["organizationId"]
    first, second = tmp_path / "first", tmp_path / "second"
    moved = export_organization(world.context, home, first)
    assert moved.spaces >= 1
    (readme,) = first.glob(f"spaces/*{world.home['spaceId']}/README.md")
    assert readme.read_bytes() == (Path(__file__).parents[1] / "handbook" / "README.md").read_bytes()
    taken = import_organization(empty, first)
    assert taken == moved
    export_organization(empty, home, second)
    assert differences(first, second) == []
    with empty.db.read() as tx:
        # Derived data exists again; data of others doesn't.
        assert tx.value("SELECT count(*) FROM search_sections") > 0
        assert tx.value("SELECT count(*) FROM organizations") == 1
        assert tx.value("SELECT count(*) FROM users WHERE password_hash IS NOT NULL") == 0
        assert tx.value("SELECT count(*) FROM change_requests") == 2


def test_an_unfinished_copy_is_purged_after_an_import(
    world: World, empty, tmp_path: Path, clock, monkeypatch
) -> None:
    monkeypatch.setattr(staging, "MOST_AT_ONCE", 0)
    with world.context.db.read() as tx:
        access = space_access(tx, world.actor("admin"), Can.ADMIN, world.home["spaceId"])
    with prepare_copy(world.context.db, access) as copy:
        export_organization(world.context, world.home["organizationId"], tmp_path / "out")
    import_organization(empty, tmp_path / "out")
    assert verify_installation(empty) == []
    clock.advance(25 * 3_600_000)
    purge_spaces(empty)
    with empty.db.read() as tx:
        assert tx.value("SELECT count(*) FROM spaces WHERE id = :id", id=copy) == 0
        assert tx.value("SELECT count(*) FROM spaces WHERE id = :id", id=world.home["spaceId"]) == 1
    assert verify_installation(empty) == []


def test_an_archive_contains_no_secrets(sqlite_world: World, tmp_path: Path) -> None:
    export_organization(sqlite_world.context, sqlite_world.home["organizationId"], tmp_path / "out")
    with sqlite_world.context.db.read() as tx:
        secrets = {row[0] for row in tx.all("SELECT hash FROM tokens UNION SELECT hash FROM sessions")}
        secrets |= {
            row[0] for row in tx.all("SELECT password_hash FROM users WHERE password_hash IS NOT NULL")
        }
        secrets |= {row[0] for row in tx.all("SELECT value FROM secrets")}
    text = "".join(path.read_text() for path in (tmp_path / "out" / "rows").iterdir())
    assert secrets and not [secret for secret in secrets if secret in text]
    assert sqlite_world.away["spaceId"] not in text


def test_existing_people_keep_their_accounts(sqlite_world: World, empty, tmp_path: Path) -> None:
    world, out = sqlite_world, tmp_path / "out"
    export_organization(world.context, world.home["organizationId"], out)
    with empty.db.write() as tx:
        tx.run(
            "INSERT INTO users (id, email, display_name, password_hash, created_at)"
            " VALUES ('me', 'admin@example.org', 'Me', 'mine', 1)"
        )
    import_organization(empty, out)
    with empty.db.read() as tx:
        assert tx.one("SELECT display_name, password_hash FROM users WHERE id = 'me'") == ("Me", "mine")
        assert tx.value("SELECT role FROM members WHERE user_id = 'me'") == "admin"
        assert tx.value("SELECT count(*) FROM users WHERE email = 'admin@example.org'") == 1
    with pytest.raises(BadRequest, match="already"):
        import_organization(empty, out)


def test_a_changed_or_damaged_folder_is_refused(sqlite_world: World, empty, tmp_path: Path) -> None:
    world, out = sqlite_world, tmp_path / "out"
    export_organization(world.context, world.home["organizationId"], out)
    with pytest.raises(BadRequest, match="empty"):
        export_organization(world.context, world.home["organizationId"], out)
    with pytest.raises(BadRequest, match="no organization"):
        export_organization(world.context, "nobody", tmp_path / "other")
    (page,) = out.glob(f"spaces/*{world.home['spaceId']}/README.md")
    page.write_text("changed")
    with pytest.raises(BadRequest, match="missing or were changed after the export"):
        import_organization(empty, out)
    about = json.loads((out / "organization.json").read_text())
    (out / "organization.json").write_text(json.dumps({**about, "version": 99}))
    with pytest.raises(BadRequest, match="must be"):
        import_organization(empty, out)
    with empty.db.read() as tx:
        assert tx.value("SELECT count(*) FROM organizations") == 0


def test_on_the_command_line(sqlite_world: World, tmp_path: Path) -> None:
    data = sqlite_world.install(tmp_path / "data")
    out = tmp_path / "out"
    home = sqlite_world.home["organizationId"]
    done = octavo_here("export", "--organization", home, str(out), "--data", str(data), "--json")
    assert (done.returncode, json.loads(done.stdout)["organization"]) == (0, home), done.stderr
    done = octavo_here("import", str(out), "--data", str(tmp_path / "new"), "--json", "--quiet")
    assert (done.returncode, json.loads(done.stdout)["organization"]) == (0, home), done.stderr
    assert octavo_here("export", str(out), "--data", str(data)).returncode == 1
    assert octavo_here("import", str(data), "--data", str(data)).returncode == 1
