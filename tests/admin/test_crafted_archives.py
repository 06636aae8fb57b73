"""Handcrafted organization archives: their content affects only the imported organization."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from octavo.errors import BadRequest
from octavo.kit.context import Context
from octavo.kit.db.rows import read_schema
from octavo.kit.db.tables import TABLES
from octavo.operations.admin.archive_checks import naming_columns
from octavo.operations.admin.archives import export_organization, import_organization
from octavo.operations.installation import close_context, open_context
from octavo.settings import Settings
from world import World

pytestmark = pytest.mark.sqlite_first

Row = dict[str, Any]


class Archive:
    """An exported organization, to be changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, table: str) -> Path:
        return self.folder / "rows" / f"{table}.jsonl"

    def rows(self, table: str) -> list[Row]:
        return [json.loads(line) for line in self.path(table).read_text().splitlines()]

    def write(self, table: str, rows: list[Row]) -> None:
        self.path(table).write_text("".join(json.dumps(row) + "\n" for row in rows))

    def change(self, table: str, change: Callable[[Row], Any], number: int = 0) -> None:
        rows = self.rows(table)
        change(rows[number])
        self.write(table, rows)

    def replace(self, old: str, new: str) -> None:
        """Replace a text everywhere in the archive."""
        for path in [*(self.folder / "rows").iterdir(), self.folder / "organization.json"]:
            path.write_text(path.read_text().replace(old, new))


@pytest.fixture(scope="module")
def exported(_sqlite_once: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the archives of both organizations, ``home`` and ``away``, before any change."""
    world, folder = _sqlite_once.renew(), tmp_path_factory.mktemp("exported")
    for place in (world.home, world.away):
        export_organization(world.context, place["organizationId"], folder / place.name)
    return folder


@pytest.fixture
def archive(exported: Path, tmp_path: Path) -> Archive:
    return Archive(shutil.copytree(exported / "home", tmp_path / "home"))


@pytest.fixture
def new(sqlite_template: Path, tmp_path: Path) -> Iterator[Context]:
    """Return a server without accounts."""
    data = tmp_path / "new"
    data.mkdir()
    shutil.copy(sqlite_template, data / "octavo.db")
    context = open_context(
        Settings(data=str(data), url="http://api.octavo.test", sites_url="http://docs.octavo.test")
    )
    yield context
    close_context(context)


@pytest.fixture
def installation(database_url, exported: Path, tmp_path: Path):
    """Return a server with another organization, on each engine."""
    context = open_context(
        Settings(data=str(tmp_path / "here"), database_url=database_url, url="http://octavo.test")
    )
    import_organization(context, exported / "away")
    yield context
    close_context(context)


def all_rows(context) -> dict[str, list[str]]:
    with context.db.read() as tx:
        return {
            name: sorted(map(repr, tx.all(f"SELECT * FROM {name}")))
            for name in read_schema(context.db, tx)
            if name not in ("bodies", "unused")
        }


def set_to(**values: Any) -> Callable[[Row], Any]:
    return lambda row: row.update(values)


FOREIGN = "foreign0000000000000"

CASES: list[tuple[str, Callable[[Row], Any], str]] = [
    # Members, teams, and grants elsewhere, or of people who aren't members.
    ("members", set_to(organization_id=FOREIGN), "organization_id"),
    ("members", set_to(user_id=FOREIGN), "user_id"),
    ("members", set_to(role="owner of everything"), "role"),
    ("team_members", set_to(team_id=FOREIGN), "team_id"),
    ("team_members", set_to(user_id="outsider"), "user_id"),
    ("team_members", set_to(role="king"), "role"),
    ("grants", set_to(object_id=FOREIGN), "object_id"),
    ("grants", set_to(subject_id="outsider"), "subject_id"),
    ("grants", set_to(subject_type="team"), "subject_id"),
    ("grants", set_to(object_type="organization"), "object_type"),
    ("grants", set_to(role="all"), "role"),
    ("saml_providers", set_to(default_team=FOREIGN), "default_team"),
    ("saml_providers", set_to(default_role="all"), "default_role"),
    ("scim_resources", set_to(kind="user", user_id="outsider"), "user_id"),
    # Content of others.
    ("spaces", set_to(organization_id=FOREIGN), "organization_id"),
    ("spaces", set_to(collection_id=FOREIGN), "collection_id"),
    ("spaces", set_to(main_branch=FOREIGN), "main_branch"),
    (
        "spaces",
        set_to(merge_rules='{"type":"rules","rules":[{"rule":"reviewer","users":["x"]}]}'),
        "merge_rules",
    ),
    ("site_spaces", set_to(space_id=FOREIGN), "space_id"),
    ("site_spaces", set_to(site_id=FOREIGN), "site_id"),
    ("branches", set_to(space_id=FOREIGN), "space_id"),
    ("page_versions", set_to(branch_id=FOREIGN), "branch_id"),
    ("page_versions", set_to(body="../../secrets"), "body"),
    ("revisions", set_to(parents=f'["{FOREIGN}"]'), "parents"),
    ("revisions", set_to(parents="[1]"), "parents"),
    ("comments", set_to(place_id=FOREIGN), "place_id"),
    ("node_keys", set_to(owner_id=FOREIGN), "owner_id"),
    ("audit_events", set_to(organization_id=FOREIGN), "organization_id"),
    ("audit_events", set_to(actor_id=FOREIGN), "actor_id"),
    (
        "organizations",
        set_to(settings=f'{{"default_content":{{"kind":"site","site":"{FOREIGN}"}}}}'),
        "settings",
    ),
    # People.
    ("users", set_to(email="ADMIN@example.org"), "email"),
    ("users", set_to(email=7), "email"),
    ("users", set_to(managed_by=FOREIGN), "managed_by"),
    ("users", set_to(password_hash="x"), "password_hash"),
    ("users", set_to(kind="god"), "kind"),
    # Values of other types and sizes.
    ("spaces", set_to(title=5), "title"),
    ("spaces", set_to(title="x" * 5000), "title"),
    ("spaces", set_to(title="a\0b"), "title"),
    ("spaces", set_to(title=None), "title"),
    ("spaces", lambda row: row.pop("title"), "title"),
    ("spaces", set_to(changes_open="many"), "changes_open"),
    ("spaces", set_to(changes_open=2**40), "changes_open"),
    ("spaces", set_to(created_at=-5), "created_at"),
    ("spaces", set_to(id="../x"), "id"),
    ("spaces", set_to(rank="~"), "rank"),
    ("spaces", set_to(merge_rules="no json"), "merge_rules"),
    ("spaces", set_to(merge_rules="[]"), "merge_rules"),
    ("spaces", set_to(merge_rules="[" * 100_000), "merge_rules"),
    ("spaces", set_to(of_a_later_release=1), "of_a_later_release"),
    ("organizations", set_to(settings='{"sso":"yes"}'), "settings"),
    ("page_versions", set_to(fields='{"hidden":"very"}'), "fields"),
    ("page_versions", set_to(fields='{"unknown":1}'), "fields"),
    ("page_versions", set_to(kind="spell"), "kind"),
    ("item_versions", set_to(fields='{"width":"wide"}'), "fields"),
    ("item_versions", set_to(kind="anything"), "kind"),
    ("revisions", set_to(conflicts='[{"kind":"war"}]'), "conflicts"),
    ("node_keys", set_to(keys='{"a":1}'), "keys"),
    # Places that no site or organization can have; the installation itself is at docs.octavo.test.
    ("organizations", set_to(hostname="~files"), "hostname"),
    ("organizations", set_to(hostname="Octavo Docs"), "hostname"),
    ("sites", set_to(basename="../other"), "basename"),
    ("sites", set_to(basename="~assets"), "basename"),
    ("sites", set_to(basename="Docs"), "basename"),
    ("sites", set_to(basename="x" * 101), "basename"),
    ("sites", set_to(hostname="docs.octavo.test"), "hostname"),
    ("sites", set_to(hostname="api.octavo.test"), "hostname"),
    ("sites", set_to(hostname="Docs.Example.org"), "hostname"),
    ("sites", set_to(hostname="localhost"), "hostname"),
    ("sites", set_to(hostname="docs.example.org/x"), "hostname"),
    ("sites", set_to(proxy_host="docs.octavo.test", proxy_path="/x"), "proxy"),
    ("sites", set_to(proxy_host="example.org", proxy_path="/a b"), "proxy"),
    ("sites", set_to(proxy_host="example.org", proxy_path="/x" * 300), "proxy"),
    ("sites", set_to(proxy_host="Example.org", proxy_path="/x"), "proxy_host"),
    ("sites", set_to(proxy_host="example.org"), "proxy_path"),
    ("sites", set_to(hostname="a.example.org", proxy_host="a.example.org", proxy_path="/x"), "proxy"),
    ("site_former_names", set_to(basename="~assets"), "basename"),
]


def _name(case: object) -> str:
    return case if isinstance(case, str) else ""


@pytest.mark.parametrize(("table", "change", "column"), CASES, ids=_name)
def test_rows_with_forbidden_references_or_values_are_refused(
    sqlite_world: World, archive: Archive, new: Context, table: str, change, column: str
) -> None:
    _add_rows(archive, sqlite_world)
    # Listed among the people, but no member.
    outsider = {
        **archive.rows("users")[0],
        "id": "outsider",
        "email": "outsider@example.org",
    }
    archive.write("users", [*archive.rows("users"), outsider])
    archive.change(table, change)
    with pytest.raises(BadRequest, match=rf"rows/{table}\.jsonl:\d+: {table}\.{column}: "):
        import_organization(new, archive.folder)
    with new.db.read() as tx:
        assert tx.value("SELECT count(*) FROM organizations") == 0
        assert tx.value("SELECT count(*) FROM users") == 0


def _add_rows(archive: Archive, world: World) -> None:
    """Add rows to tables that are empty in the world, so that each can be damaged."""
    ids = world.home.ids
    if not archive.rows("grants"):
        archive.write(
            "grants",
            [
                {
                    "object_type": "space",
                    "object_id": ids["spaceId"],
                    "subject_type": "user",
                    "subject_id": world.users["reader"],
                    "role": "edit",
                    "created_at": 1,
                }
            ],
        )
    if not archive.rows("team_members"):
        member = {
            "team_id": ids["teamId"],
            "user_id": world.users["reader"],
            "joined_at": 1,
            "role": "member",
        }
        archive.write("team_members", [member])
    if not archive.rows("node_keys"):
        page = next(row for row in archive.rows("page_versions") if row["page_id"] == ids["pageId"])
        archive.write("node_keys", [{"owner_id": page["page_id"], "body": page["body"], "keys": "{}"}])
    if not archive.rows("site_former_names"):
        former = {
            "organization_id": world.home["organizationId"],
            "basename": "before",
            "site_id": ids["siteId"],
            "created_at": 1,
        }
        archive.write("site_former_names", [former])


def test_archives_with_only_the_added_rows_are_accepted(
    sqlite_world: World, archive: Archive, tmp_path: Path
) -> None:
    _add_rows(archive, sqlite_world)
    context = open_context(Settings(data=str(tmp_path / "new")))
    import_organization(context, archive.folder)
    close_context(context)


def test_every_column_with_a_reference_is_checked(
    sqlite_world: World, archive: Archive, tmp_path: Path
) -> None:
    """For each column of each table, as declared or by a foreign key: the first row that names something is made to
    name something else."""
    _add_rows(archive, sqlite_world)
    context = open_context(Settings(data=str(tmp_path / "new")))
    tried = []
    try:
        with context.db.read() as tx:
            schemas = read_schema(context.db, tx)
        for name in (name for name, table in TABLES.items() if table.is_exported):
            kept = archive.path(name).read_text()
            for column in naming_columns(TABLES[name], schemas[name]):
                rows = archive.rows(name)
                row = next((row for row in rows if column.read(row)), None)
                if row is None:
                    continue
                column.rename(row, lambda old: FOREIGN)
                archive.write(name, rows)
                with pytest.raises(
                    BadRequest, match=rf"{name}\.{column.name}: |: must contain exactly one row"
                ):
                    import_organization(context, archive.folder)
                archive.path(name).write_text(kept)
                tried.append(f"{name}.{column.name}")
        assert len(set(tried)) > 40
        import_organization(context, archive.folder)
    finally:
        close_context(context)


@pytest.mark.parametrize(
    "name",
    [
        "spaceId",
        "collectionId",
        "siteId",
        "teamId",
        "samlProviderId",
        "revisionId",
        "changeRequestId",
        "commentId",
        "reviewId",
        "fontId",
        "auditEventId",
        "userId",
        "serviceAccountId",
    ],
)
def test_an_id_that_exists_on_this_server_is_refused(
    sqlite_world: World, installation, archive: Archive, name: str
) -> None:
    archive.replace(sqlite_world.home[name], sqlite_world.away[name])
    before = all_rows(installation)
    with pytest.raises(BadRequest, match=r"rows/\w+\.jsonl:\d+: "):
        import_organization(installation, archive.folder)
    assert all_rows(installation) == before


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO grants (object_type, object_id, subject_type, subject_id, created_at)"
        " VALUES ('space', :space, 'user', 'x', 1)",
        "INSERT INTO grants (object_type, object_id, subject_type, subject_id, created_at)"
        " VALUES ('space', 'x', 'team', :team, 1)",
        "INSERT INTO external_identities (provider, subject, user_id, created_at)"
        " SELECT :provider, 'x', min(id), 1 FROM users",
    ],
)
def test_leftover_grants_for_an_id_are_not_inherited(
    sqlite_world: World, installation, archive: Archive, statement: str
) -> None:
    ids = sqlite_world.home.ids
    with installation.db.write() as tx:
        tx.run(statement, space=ids["spaceId"], team=ids["teamId"], provider=ids["samlProviderId"])
    with pytest.raises(BadRequest, match="is already used in"):
        import_organization(installation, archive.folder)


@pytest.mark.parametrize(
    ("theirs", "ours", "column"),
    [
        ({"hostname": "docs.example.org"}, {"hostname": "docs.example.org"}, "hostname"),
        ({"hostname": "docs.example.org"}, {"proxy_host": "docs.example.org", "proxy_path": "/a"}, "proxy"),
        ({"proxy_host": "example.org.uk", "proxy_path": "/a"}, {"hostname": "example.org.uk"}, "hostname"),
        (
            {"proxy_host": "example.org", "proxy_path": "/a"},
            {"proxy_host": "example.org", "proxy_path": "/a"},
            "proxy",
        ),
    ],
)
def test_the_path_of_an_existing_site_is_refused(
    sqlite_world: World, installation, archive: Archive, theirs: Row, ours: Row, column: str
) -> None:
    with installation.db.write() as tx:
        values = ", ".join(f"{name} = :{name}" for name in theirs)
        tx.run(f"UPDATE sites SET {values} WHERE id = :id", id=sqlite_world.away["siteId"], **theirs)
    before = all_rows(installation)
    archive.change("sites", set_to(**ours))
    with pytest.raises(BadRequest, match=rf"sites\.jsonl:1: sites\.{column}: "):
        import_organization(installation, archive.folder)
    assert all_rows(installation) == before


def test_the_host_name_of_an_existing_organization_is_refused(installation, archive: Archive) -> None:
    with installation.db.read() as tx:
        taken = tx.value("SELECT hostname FROM organizations")
    archive.change("organizations", set_to(hostname=taken))
    with pytest.raises(BadRequest, match=r"organizations\.hostname: is already in use"):
        import_organization(installation, archive.folder)


def test_an_import_changes_no_data_of_other_organizations(
    sqlite_world: World, installation, archive: Archive
) -> None:
    before = all_rows(installation)
    import_organization(installation, archive.folder)
    after = all_rows(installation)
    for table, rows in before.items():
        if not TABLES[table].derived:
            assert set(rows) <= set(after[table]), table


@pytest.mark.parametrize("table", ["page_versions", "item_versions", "font_faces"])
def test_content_of_others_cannot_be_referenced_by_its_hash(
    sqlite_world: World, installation, archive: Archive, table: str
) -> None:
    """The hash of a text or file that exists on the server but not in the archive is refused."""
    column = {"page_versions": "body", "item_versions": "content", "font_faces": "hash"}[table]
    where = " WHERE kind = 'file'" if table == "item_versions" else ""
    text = "# A secret of others\n"
    with installation.db.write() as tx:
        digest = tx.value(f"SELECT max({column}) FROM {table}{where}")
        if table == "page_versions":
            from octavo.content.revisions.bodies import put_bodies

            (digest,) = put_bodies(tx, [text])
    rows = archive.rows(table)
    row = next(row for row in rows if not where or row["kind"] == "file")
    for path in archive.folder.rglob("*"):
        if path.is_file() and path.parent.name != "rows" and _hash(path) == digest:
            path.unlink()
    row[column] = digest
    archive.write(table, rows)
    with pytest.raises(BadRequest, match="missing or were changed after the export"):
        import_organization(installation, archive.folder)


def _hash(path: Path) -> str:
    import hashlib

    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_node_keys_of_the_same_text_elsewhere_stay_unchanged(
    sqlite_world: World, archive: Archive, installation
) -> None:
    page = next(row for row in archive.rows("page_versions") if row["body"])
    with installation.db.write() as tx:
        tx.run(
            "UPDATE page_versions SET page_id = :page, body = :body WHERE page_id = :old",
            page=page["page_id"],
            body=page["body"],
            old=sqlite_world.away["pageId"],
        )
    keys = {"owner_id": page["page_id"], "body": page["body"], "keys": '{"a":"b"}'}
    archive.write("node_keys", [*archive.rows("node_keys"), keys])
    with pytest.raises(BadRequest, match=r"node_keys\.keys: .*must match the block keys"):
        import_organization(installation, archive.folder)


def test_cycles_and_invalid_states_are_refused(archive: Archive, tmp_path: Path) -> None:
    context = open_context(Settings(data=str(tmp_path / "new")))
    spoiled = tmp_path / "spoiled"

    def refuse(match: str, change: Callable[[Archive], None]) -> None:
        shutil.rmtree(spoiled, ignore_errors=True)
        shutil.copytree(archive.folder, spoiled)
        change(Archive(spoiled))
        with pytest.raises(BadRequest, match=match):
            import_organization(context, spoiled)

    def circle(table: str, id: str, parent: str) -> Callable[[Archive], None]:
        def change(archive: Archive) -> None:
            rows = archive.rows(table)
            rows[0][parent] = rows[0][id]
            archive.write(table, rows)

        return change

    refuse("collections.parent_id: .* ancestors", circle("collections", "id", "parent_id"))
    refuse("comments.parent_id: .* ancestors", circle("comments", "id", "parent_id"))
    refuse("pages of this revision form a cycle", circle("page_versions", "page_id", "parent_id"))

    def main_of_another(archive: Archive) -> None:
        rows = archive.rows("spaces")
        rows[0]["main_branch"], rows[1]["main_branch"] = rows[1]["main_branch"], rows[0]["main_branch"]
        archive.write("spaces", rows)

    refuse("main_branch: must be a branch of this space", main_of_another)
    refuse(
        "revision: must be the revision of this branch",
        lambda archive: archive.change("branches", set_to(sequence=99)),
    )
    refuse("isn't unique", lambda archive: archive.write("spaces", archive.rows("spaces") * 2))
    refuse(
        "isn't unique",
        lambda archive: archive.write(
            "users", [*archive.rows("users"), {**archive.rows("users")[0], "id": "other"}]
        ),
    )
    refuse("must contain exactly one row", lambda archive: archive.write("organizations", []))
    refuse(
        "must contain exactly one row",
        lambda archive: archive.write(
            "organizations",
            [*archive.rows("organizations"), {**archive.rows("organizations")[0], "id": "second"}],
        ),
    )
    refuse("spaces.jsonl:1: ", lambda archive: archive.path("spaces").write_text("{"))
    refuse("spaces.jsonl:1: ", lambda archive: archive.path("spaces").write_text('{"id": {}}\n'))
    refuse("spaces.jsonl:1: ", lambda archive: archive.path("spaces").write_text('{"id": true}\n'))
    close_context(context)


def test_people_are_matched_by_email_address_and_kind(
    sqlite_world: World, archive: Archive, installation
) -> None:
    with installation.db.write() as tx:
        tx.run(
            "INSERT INTO users (id, email, display_name, kind, created_at)"
            " VALUES ('robot', 'reader@example.org', 'Robot', 'service', 1)"
        )
    with pytest.raises(
        BadRequest,
        match=r"users\.kind: reader@example.org: the archive has a personal account .* this server has a service",
    ):
        import_organization(installation, archive.folder)
    with installation.db.write() as tx:
        tx.run("UPDATE users SET kind = 'person' WHERE id = 'robot'")
        before = tx.one("SELECT * FROM users WHERE id = 'robot'")
    import_organization(installation, archive.folder)
    home = sqlite_world.home["organizationId"]
    with installation.db.read() as tx:
        assert tx.one("SELECT * FROM users WHERE id = 'robot'") == before
        assert tx.all("SELECT organization_id, role FROM members WHERE user_id = 'robot'") == [(home, "read")]
        managed = tx.all(
            "SELECT managed_by FROM users WHERE id = :id", id=sqlite_world.home["serviceAccountId"]
        )
        assert managed == [(home,)]


def test_content_of_a_refused_archive_is_marked_unused(
    sqlite_world: World, archive: Archive, installation
) -> None:
    archive.replace(sqlite_world.home["siteId"], sqlite_world.away["siteId"])
    with pytest.raises(BadRequest, match="already exists on this server"):
        import_organization(installation, archive.folder)
    with installation.db.read() as tx:
        named = {row["body"] for row in archive.rows("page_versions") if row["body"]}
        assert named <= {row[0] for row in tx.all("SELECT hash FROM unused WHERE kind = 'text'")}


def test_messages_name_the_file_and_the_line(archive: Archive, tmp_path: Path) -> None:
    archive.change("page_versions", set_to(branch_id=FOREIGN), number=2)
    context = open_context(Settings(data=str(tmp_path / "new")))
    with pytest.raises(BadRequest) as refused:
        import_organization(context, archive.folder)
    close_context(context)
    wanted = (
        rf".*rows/page_versions\.jsonl:3: page_versions\.branch_id: '{FOREIGN}' isn't one of the "
        rf"branches in this archive"
    )
    assert re.fullmatch(wanted, refused.value.message)
