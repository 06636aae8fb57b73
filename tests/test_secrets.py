"""Secrets on disk: encryption, key rotation, and file permissions."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from pathlib import Path

import msgspec
import pyotp
import pytest
from joserfc import jwt
from joserfc.jwk import OctKey

from octavo.delivery.agents import site_agents
from octavo.errors import Unavailable
from octavo.kit.clock import now
from octavo.kit.db.rows import read_schema
from octavo.kit.secrets.sealing import SEALED, count_by_key, rotate
from octavo.operations.admin.backup import back_up, restore
from octavo.operations.installation import close_context, load_packages, open_context
from octavo.organization.identity import factors, one_time, signing_in
from octavo.organization.invitations.store import find_link
from octavo.settings import Settings
from octavo.sites.site.audiences.visitor_auth import signing_key
from octavo.sites.site.store import get_site
from serving import octavo, octavo_here, serving
from world import NOBODY, PASSWORD, URL, World

NOT_SEALED = {
    ("attempts", "key"): "a hash of what is counted",
    ("content_references", "target_key"): "what a reference leads to",
    ("reference_targets", "target_key"): "what references lead to",
    ("events", "payload"): "ids",
    ("site_findings", "key"): "identifies a finding from scan to scan",
    ("git_projects", "credential"): "of which kind it is",
    ("git_projects", "host_key"): "a public key",
    ("git_projects", "public_key"): "a public key",
    ("git_projects", "signing_key"): "a public key",
    ("git_syncs", "credential"): "of which kind it is",
    ("git_syncs", "host_key"): "a public key",
    ("git_syncs", "public_key"): "a public key",
    ("git_syncs", "signing_key"): "a public key",
    ("jobs", "payload"): "ids and addresses",
    ("outbound_links", "url_key"): "identifies a URL",
    ("passkeys", "credential"): "a public key",
    (
        "passkeys",
        "credential_id",
    ): "what browsers know a passkey by; it opens nothing without its private key",
    ("model_calls", "input_tokens"): "a count",
    ("model_calls", "output_tokens"): "a count",
    ("search_sections", "organization_key"): "a number of the index",
    ("search_sections", "space_key"): "a number of the index",
    ("search_words", "organization_key"): "a number of the index",
    ("share_links", "key_hash"): "a hash",
    ("site_redirects", "source_key"): "the path it leads from",
    ("site_section_groups", "docs_key"): "a key of docs.yaml",
    ("site_sections", "docs_key"): "a key of docs.yaml",
    ("site_spaces", "docs_key"): "a key of docs.yaml",
    ("jobs", "unique_key"): "what a job is about",
    ("node_keys", "keys"): "names of blocks",
    ("users", "password_hash"): "argon2id",
}
"""Columns that sound like secrets, and why they are not sealed."""


def dump(world: World) -> str:
    """Return every value of every row."""
    found = []
    with world.context.db.read() as tx:
        for table in world.tables():
            for row in tx.all(f'SELECT * FROM "{table}"'):
                found += [
                    bytes(v).decode("latin-1") if isinstance(v, memoryview | bytes) else str(v) for v in row
                ]
    return "\n".join(found)


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def secrets_made(world: World) -> dict[str, str]:
    """Return one of every secret that the API returns or accepts, created by its operations."""
    org, made = world.home.path("/orgs/{organizationId}"), {}
    world._client.cookies.clear()
    signed = world.call(
        NOBODY, "POST", "/sign-in", json={"email": "reader@example.org", "password": PASSWORD}
    ).json()
    made |= {"password": PASSWORD, "session": signed["token"], "device": signed["device"]}
    own = bearer(signed["token"])
    made["token"] = world.call(NOBODY, "POST", "/user/tokens", headers=own, json={"name": "x"}).json()[
        "token"
    ]
    account = world.post("admin", f"{org}/service-accounts", {"name": "Directory"})["id"]
    made["service token"] = world.post("admin", f"{org}/service-accounts/{account}/tokens", {"name": "x"})[
        "token"
    ]
    started = world.call(NOBODY, "POST", "/user/mfa", headers=own).json()
    made["second factor"] = started["secret"]
    body = {"code": pyotp.TOTP(started["secret"]).now()}
    codes = world.call(NOBODY, "POST", "/user/mfa/confirm", headers=own, json=body).json()["recoveryCodes"]
    made |= {f"recovery code {n}": code for n, code in enumerate(codes)}
    body = {"email": "reader@example.org", "password": PASSWORD}
    made["challenge"] = world.call(NOBODY, "POST", "/sign-in", json=body).json()["challenge"]
    invited = world.post("admin", f"{org}/invites", {"emails": ["new@example.com"]})
    made["invitation"] = invited["links"][0]["url"].partition("secret=")[2]
    made["invite link"] = world.post("admin", f"{org}/link-invites", {"role": "read"})["id"]
    with world.context.db.write() as tx:
        link = signing_in._Link(world.users["reader"])
        made["mailed link"] = one_time.issue(tx, world.context.sealer, "link", link, 60_000)
        made["payload"] = world.users["reader"][::-1]
        one_time.issue(tx, world.context.sealer, "other", signing_in._Link(made["payload"]), 60_000)
    site = world.home.path("/orgs/{organizationId}/sites/{siteId}")
    world.call("admin", "PATCH", site, json={"visibility": "visitor-auth"})
    world.post("admin", f"{site}/publish")
    with world.context.db.write() as tx:
        row = get_site(tx, world.home["siteId"])
        key = OctKey.import_key(signing_key(world.context.signer, row))
        visitor = jwt.encode({"alg": "HS256"}, {"exp": now() // 1000 + 600}, key)
        agreed = site_agents.SiteConsent(row.id, "pen", "https://pen.example/", "c", None, "p")
        made["visitor"] = visitor
        made["code"] = site_agents.connect_visitor(tx, world.context, row, agreed, visitor, False)
    installed = world.home.path("/git/installations/{spaceId}")
    target = {"type": "space", "spaceId": world.home["spaceId"]}
    world.post("admin", "/git/installations", {"provider": "gitlab", "target": target})
    made["git token"] = "glpat-of-an-installation"
    body = {"providerConfiguration": {"accessToken": made["git token"]}}
    assert world.call("admin", "PATCH", installed, json=body).status_code == 200
    made["source token"] = "ghp-of-a-source-of-records"
    setup = {"repository": "acme/docs", "token": made["source token"]}
    body = {"connector": "builtin:github-issues", "setupSettings": setup}
    world.post("admin", world.home.path("/orgs/{organizationId}/sites/{siteId}/context-connections"), body)
    made["signing"] = world.context.signer._secret.hex()
    key = (world._folder / "secret-key").read_text().strip()
    made["key"] = key
    return made


def test_the_database_contains_no_plain_secrets(world: World) -> None:
    made = secrets_made(world)
    assert len(set(made.values())) == len(made) and all(len(secret) >= 16 for secret in made.values())
    text = dump(world)
    assert world.users["reader"] in text  # the dump is one
    assert [name for name, secret in made.items() if secret in text] == []


def test_every_secret_column_is_encrypted_or_hashed(world: World) -> None:
    load_packages()
    sealed = {(column.table, column.column) for column in SEALED}
    words = ("secret", "password", "token", "key", "payload", "verifier", "credential", "private")
    with world.context.db.read() as tx:
        tables = read_schema(world.context.db, tx)
    for column in SEALED:
        assert {column.column, *column.key} <= set(tables[column.table].columns)
    suspected = {
        (table.name, column)
        for table in tables.values()
        for column in table.columns
        if any(word in column for word in words) and not column.endswith("token_id")
    }
    # Columns of the index of SQLite; PostgreSQL keeps these numbers within a word of it.
    elsewhere = (
        set()
        if world.context.db.engine == "sqlite"
        else {key for key in NOT_SEALED if key[0] == "search_sections"}
    )
    assert NOT_SEALED.keys() - elsewhere <= suspected
    unknown = suspected - sealed - NOT_SEALED.keys()
    assert not unknown, f"seal it, or say here why not: {sorted(unknown)}"


def test_encrypted_values_only_decrypt_in_their_row(world: World) -> None:
    with world.context.db.write() as tx:
        for who in ("reader", "editor"):
            factors.start(tx, world.context.sealer, world.users[who])
        tx.run(
            "UPDATE second_factors SET secret = (SELECT secret FROM second_factors WHERE user_id = :one)"
            " WHERE user_id = :two",
            one=world.users["reader"],
            two=world.users["editor"],
        )
        with pytest.raises(Unavailable, match="another row"):
            factors.find_factor(tx, world.context.sealer, world.users["editor"])


# --- keys ---------------------------------------------------------------------------------------------


def settings_of(world: World, **changes: str) -> Settings:
    return msgspec.structs.replace(world.context.settings, **changes)


def reopened(settings: Settings, work) -> None:
    context = open_context(settings)
    try:
        work(context)
    finally:
        close_context(context)


def test_secrets_of_an_older_version_are_encrypted_at_the_next_start(world: World) -> None:
    """Values were stored as plain text; the secrets given out then stay valid."""
    signed = world.context.signer.sign("purpose", "payload")
    secret, link = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP", "the-id-of-an-invite-link-is-its-secret"
    org = world.home["organizationId"]
    with world.context.db.write() as tx:
        tx.run("UPDATE secrets SET value = :value", value=world.context.signer._secret.hex())
        tx.run(
            "INSERT INTO second_factors (user_id, secret, confirmed, created_at) VALUES (:user, :secret, 1, 1)",
            user=world.users["reader"],
            secret=secret,
        )
        tx.run(
            """INSERT INTO invite_links (id, secret, organization_id, target_type, target_id, role, \
created_by, created_at)
               VALUES (:link, :link, :org, 'organization', :org, 'read', :by, 1)""",
            link=link,
            org=org,
            by=world.users["admin"],
        )

    def look(context) -> None:
        assert context.signer.verify("purpose", signed) == "payload"
        with context.db.write() as tx:
            assert set(count_by_key(tx)) == {context.sealer.current}
            assert factors.find_factor(tx, context.sealer, world.users["reader"]).secret == secret
            assert find_link(tx, context.sealer, org, link).secret == link
            assert tx.one("SELECT 1 FROM invite_links WHERE id = :id OR secret = :id", id=link) is None

    reopened(world.context.settings, look)
    reopened(world.context.settings, look)  # nothing is encrypted twice


def test_a_missing_key_prevents_startup_and_is_named(world: World, tmp_path: Path) -> None:
    needed, before = world.context.sealer.current, world.digest()
    elsewhere = settings_of(world, data=str(tmp_path / "empty"))
    for settings in (elsewhere, msgspec.structs.replace(elsewhere, secret_key="f" * 64)):
        with pytest.raises(Unavailable, match=needed) as raised:
            open_context(settings)
        assert "OCTAVO_SECRET_KEY" in raised.value.message and "f" * 64 not in raised.value.message
        # A server with another key needs both.
        assert ("Add the missing key after these keys" in raised.value.message) is bool(settings.secret_key)
        # No key is made up that could not open anything.
        assert not (tmp_path / "empty" / "secret-key").exists()
    assert world.digest() == before
    key = (world._folder / "secret-key").read_text().strip()
    reopened(msgspec.structs.replace(elsewhere, secret_key=f"{'f' * 64},{key}"), lambda context: None)


def test_the_encryption_key_can_be_rotated(world: World, tmp_path: Path) -> None:
    secrets_made(world)
    old, new = (world._folder / "secret-key").read_text().strip(), "a new passphrase, much longer"
    new_key = new.replace(",", " ")
    both = settings_of(world, data=str(tmp_path), secret_key=f"{new_key},{old}")

    def change(context) -> None:
        load_packages()
        assert context.sealer.current != world.context.sealer.current
        with context.db.read() as tx:
            assert set(count_by_key(tx)) == {world.context.sealer.current}
        with context.db.write() as tx:
            assert rotate(tx, context.sealer) >= len(SEALED)
            assert rotate(tx, context.sealer) == 0
            assert set(count_by_key(tx)) == {context.sealer.current}

    reopened(both, change)
    alone = msgspec.structs.replace(both, secret_key=new_key)

    def look(context) -> None:
        assert context.signer._secret == world.context.signer._secret
        with context.db.write() as tx:
            assert factors.find_factor(tx, context.sealer, world.users["reader"]) is not None

    reopened(alone, look)
    with pytest.raises(Unavailable):
        open_context(msgspec.structs.replace(both, secret_key=old))


@pytest.mark.sqlite_first
def test_a_backup_requires_the_key_it_was_created_with(
    world: World, database_url: str, tmp_path: Path
) -> None:
    secrets_made(world)
    file = tmp_path / "backup.zip"
    back_up(world.context, file)
    target = Settings(data=str(tmp_path / "target"), database_url=database_url, url=URL)
    for wrong in (target, msgspec.structs.replace(target, secret_key="0" * 64)):
        with pytest.raises(Unavailable, match=world.context.sealer.current):
            restore(wrong, file)
        assert not (tmp_path / "target" / "secret-key").exists()
    shutil.copy(world._folder / "secret-key", tmp_path / "target" / "secret-key")
    restore(target, file)
    reopened(target, lambda context: context.signer.sign("x", "y"))


# --- on the disk, as a process ------------------------------------------------------------------------


def open_to_others(folder: Path) -> list[str]:
    return [
        f"{oct(path.lstat().st_mode & 0o777)} {path.relative_to(folder.parent)}"
        for path in (folder, *folder.rglob("*"))
        if path.lstat().st_mode & 0o077 and not path.is_symlink()
    ]


def test_files_in_the_data_folder_are_private(sqlite_world: World, tmp_path: Path) -> None:
    """Of a fresh installation with content, and of an older one whose files were open to all."""
    fresh, older = tmp_path / "fresh", sqlite_world.install(tmp_path / "older")
    for path in (older, *older.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    (older / "admin-token").write_text("oct_token\n")
    umask = os.umask(0o000)
    try:
        for data in (fresh, older):
            with serving(data) as served:
                assert (data / "octavo.db-wal").exists() and any((data / "files").rglob("*"))
                assert open_to_others(data) == []
                assert served.process.poll() is None
        assert (fresh / "secret-key").stat().st_mode & 0o777 == 0o600
        assert octavo("backup", str(tmp_path / "b.zip"), "--data", str(fresh)).returncode == 0
        assert (
            octavo(
                "export", "--organization", organization(fresh), str(tmp_path / "out"), "--data", str(fresh)
            ).returncode
            == 0
        )
        for written in (tmp_path / "b.zip", tmp_path / "out"):
            assert open_to_others(written) == []
    finally:
        os.umask(umask)


def organization(data: Path) -> str:
    with sqlite3.connect(data / "octavo.db") as connection:
        return str(connection.execute("SELECT id FROM organizations").fetchone()[0])


def test_on_the_command_line(sqlite_world: World, tmp_path: Path) -> None:
    data = str(sqlite_world.install(tmp_path / "data"))
    old = (tmp_path / "data" / "secret-key").read_text().strip()
    new = "0123456789abcdef" * 4
    found = json.loads(octavo_here("check", "--data", data, "--json", OCTAVO_SECRET_KEY=new).stdout)
    secrets = next(entry for entry in found if entry["part"] == "secrets")
    assert secrets["ok"] and "rotate" in secrets["message"]
    done = octavo_here("secrets", "rotate", "--data", data, "--json", OCTAVO_SECRET_KEY=new)
    assert done.returncode == 0 and json.loads(done.stdout)["sealed"] >= 1
    (tmp_path / "data" / "secret-key").unlink()
    refused = octavo_here("check", "--data", data, "--json")
    assert refused.returncode == 1
    assert [e["part"] for e in json.loads(refused.stdout) if not e["ok"]] == ["secrets"]
    assert octavo_here("verify", "--data", data, OCTAVO_SECRET_KEY=new).stdout == "No problems found\n"
    assert octavo_here("verify", "--data", data, OCTAVO_SECRET_KEY=old).returncode == 1
