"""Server administrators change accounts of people, by operation and by command."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest

from octavo.errors import BadRequest, Conflict, NotFound
from octavo.kit.db.rows import read_schema
from octavo.kit.db.tables import TABLES
from octavo.kit.work.worker import Worker
from octavo.operations.admin import accounts
from octavo.operations.admin.account_merging import merge_accounts
from octavo.operations.admin.archive_checks import naming_columns
from octavo.operations.admin.first_start import token_for
from octavo.organization.access.accounts import insert_user
from octavo.organization.access.auditing import Stranger
from octavo.organization.access.members import upsert_member
from octavo.organization.identity import sessions
from octavo.organization.orgs.creating import create_organization
from world import NOBODY

BY = Stranger("command line")


def audited(world, action):
    path = world.home.path("/orgs/{organizationId}/audit-events")
    return world.get("admin", path, params={"action": action})["items"]


def test_deactivated_accounts_lose_sessions_and_tokens_and_can_be_activated(world):
    editor = world.users["editor"]
    headers = world.session("editor")
    with world.context.db.write() as tx:
        accounts.set_activation(tx, world.context.settings, BY, editor, active=False)
    assert world.call(NOBODY, "GET", "/user", headers=headers).status_code == 401
    assert world.call("editor", "GET", "/user").status_code == 401
    with world.context.db.write() as tx, pytest.raises(Conflict, match="deactivated"):
        accounts.create_sign_in_link(tx, world.context, BY, editor)
    with pytest.raises(Conflict, match="deactivated"):
        token_for(world.context, email="editor@example.org")
    with world.context.db.write() as tx:
        accounts.set_activation(tx, world.context.settings, BY, editor, active=True)
        link = accounts.create_sign_in_link(tx, world.context, BY, editor)
    assert world.call(NOBODY, "GET", "/user", headers=headers).status_code == 401
    signed_in = world.post(NOBODY, "/sign-in/link/use", {"link": link.partition("link=")[2]})
    assert signed_in["status"] == "signed-in"
    actions = [event["action"] for event in audited(world, "account.deactivated")]
    actions += [event["action"] for event in audited(world, "account.activated")]
    assert actions == ["account.deactivated", "account.activated"]


def test_last_administrators_and_server_administrators_stay_active(world):
    settings = world.context.settings
    home = world.home["organizationId"]
    with world.context.db.write() as tx:
        alone = insert_user(tx, "alone@example.com", "Alone", verified=True).id
        upsert_member(tx, home, alone, "admin")
        tx.run(
            "UPDATE members SET role = 'create' WHERE organization_id = :org AND user_id <> :id",
            org=home,
            id=alone,
        )
    before = world.digest()
    with world.context.db.write() as tx, pytest.raises(Conflict, match="last administrator"):
        accounts.set_activation(tx, settings, BY, alone, active=False)
    with world.context.db.read() as tx:
        operator = tx.value("SELECT id FROM users WHERE email = :email", email=min(settings.operators))
    for act in (
        lambda tx: accounts.set_activation(tx, settings, BY, operator, active=False),
        lambda tx: accounts.change_email(tx, settings, BY, operator, "other@example.com"),
    ):
        with world.context.db.write() as tx, pytest.raises(Conflict, match="server administrator"):
            act(tx)
    assert world.digest() == before


def test_two_last_administrators_deactivated_together_leave_one(world):
    settings, home = world.context.settings, world.home["organizationId"]
    with world.context.db.write() as tx:
        both = [insert_user(tx, f"{name}@example.com", name, verified=True).id for name in ("One", "Two")]
        for user in both:
            upsert_member(tx, home, user, "admin")
        tx.run(
            "UPDATE members SET role = 'create' WHERE organization_id = :org AND user_id NOT IN :both",
            org=home,
            both=both,
        )

    def deactivate(user):
        with world.context.db.write() as tx:
            accounts.set_activation(tx, settings, BY, user, active=False)

    for _ in range(5):
        with ThreadPoolExecutor(2) as threads:
            running = [threads.submit(deactivate, user) for user in both]
            done = [each.exception() for each in running]
            assert [type(each) for each in done].count(Conflict) == 1, done
        with world.context.db.write() as tx:
            for user in both:
                accounts.set_activation(tx, settings, BY, user, active=True)


def test_a_new_email_address_is_verified_and_invalidates_links_to_the_old_one(world):
    editor, settings = world.users["editor"], world.context.settings
    with world.context.db.write() as tx:
        old = accounts.create_sign_in_link(tx, world.context, BY, editor).partition("link=")[2]
        accounts.change_email(tx, settings, BY, editor, "Moved@Example.com")
        new = accounts.create_sign_in_link(tx, world.context, BY, editor).partition("link=")[2]
        row = tx.one("SELECT email, email_verified FROM users WHERE id = :id", id=editor)
        taken = tx.value("SELECT email FROM users WHERE id = :id", id=world.users["reader"])
    assert tuple(row) == ("moved@example.com", 1)
    assert world.call(NOBODY, "POST", "/sign-in/link/use", json={"link": old}).status_code == 401
    assert world.post(NOBODY, "/sign-in/link/use", {"link": new})["status"] == "signed-in"
    with world.context.db.write() as tx, pytest.raises(Conflict, match="^email: "):
        accounts.change_email(tx, settings, BY, editor, taken)
    assert len(audited(world, "account.email-changed")) == 1


def test_an_administrator_ends_sessions_and_two_factor_authentication_once(world):
    editor = world.users["editor"]
    with world.context.db.write() as tx:
        sessions.begin(tx, editor, "password", client="", agent="")
        tx.run(
            """INSERT INTO second_factors (user_id, secret, confirmed, last_step, recovery_hashes, created_at)
               VALUES (:user, 'x', 1, 0, '[]', 0)""",
            user=editor,
        )
        assert accounts.end_sessions(tx, BY, editor) == 1 and accounts.end_sessions(tx, BY, editor) == 0
        assert accounts.reset_second_factor(tx, BY, editor)
        assert not accounts.reset_second_factor(tx, BY, editor)
    assert len(audited(world, "sessions.ended")) == len(audited(world, "second-factor.reset")) == 1


def second_account(world, email="editor.private@example.com"):
    """Create another account of the person "editor", with something of every kind."""
    home = world.home["organizationId"]
    with world.context.db.write() as tx:
        second = insert_user(tx, email, "Editor, private", verified=True).id
        upsert_member(tx, home, second, "admin")
        elsewhere = create_organization(tx, second, "Own place").id
        tx.run(
            "INSERT INTO external_identities (provider, subject, user_id, created_at) VALUES ('p', 's', :u, 0)",
            u=second,
        )
        sessions.begin(tx, second, "password", client="", agent="")
        for user in (second, world.users["editor"]):
            tx.run(
                "INSERT INTO watches (user_id, space_id, level, set_at) VALUES (:u, :s, 'watching', 0)",
                u=user,
                s=world.home["spaceId"],
            )
        tx.run("UPDATE comments SET posted_by = :u", u=second)
        tx.run(
            "UPDATE spaces SET merge_rules = :rules WHERE id = :id",
            rules=msgspec.json.encode({"rules": [{"users": [second]}]}).decode(),
            id=world.home["spaceId"],
        )
    return second, elsewhere


def test_merging_moves_everything_but_secrets_and_history(world):
    editor, home = world.users["editor"], world.home["organizationId"]
    second, elsewhere = second_account(world)
    answer = world.call(
        "admin",
        "POST",
        f"/installation/users/{second}/merge",
        json={"into": editor},
        headers=world.session("admin"),
    )
    assert (answer.status_code, answer.json()["id"]) == (200, editor)
    Worker(world.context.db, world.context).run_pending()
    with world.context.db.read() as tx:
        roles = dict(tx.all("SELECT organization_id, role FROM members WHERE user_id = :id", id=editor))
        assert roles == {home: "admin", elsewhere: "admin"}
        assert tx.value("SELECT user_id FROM external_identities WHERE subject = 's'") == editor
        assert not tx.value("SELECT count(*) FROM sessions WHERE user_id = :id", id=second)
        assert tx.value("SELECT count(*) FROM watches WHERE user_id = :id", id=editor) == 1
        assert tx.value("SELECT kind FROM users WHERE id = :id", id=second) == "deleted"
        # The tables of history are the only ones that still name the account.
        for name, schema in read_schema(world.context.db, tx).items():
            for column in naming_columns(TABLES[name], schema) if name in TABLES else ():
                if not column.is_person or name.startswith("audit_"):
                    continue
                named = f"SELECT count(*) FROM {name} WHERE {column.name} LIKE :id"
                assert tx.value(named, id=f"%{second}%") == 0, (name, column.name)
        assert tx.value("SELECT count(*) FROM comments WHERE posted_by = :id", id=editor) > 0
    assert audited(world, "account.merged")[0]["actor"]["id"] == world.users["admin"]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ("UPDATE users SET managed_by = :org WHERE id = :second", "managed by"),
        ("UPDATE users SET disabled = 1 WHERE id = :editor", "other account is deactivated"),
        ("UPDATE members SET disabled = 1 WHERE user_id = :editor", "deactivated in"),
    ],
)
def test_a_merge_that_would_give_more_than_someone_has_is_refused(world, change, problem):
    editor = world.users["editor"]
    second, _ = second_account(world)
    with world.context.db.write() as tx:
        tx.run(change, org=world.home["organizationId"], second=second, editor=editor)
    before = world.digest()
    with world.context.db.write() as tx, pytest.raises(Conflict, match=problem):
        merge_accounts(tx, world.context, BY, second, editor)
    with world.context.db.write() as tx, pytest.raises(BadRequest, match="^into: "):
        merge_accounts(tx, world.context, BY, second, second)
    with world.context.db.write() as tx, pytest.raises(NotFound):
        merge_accounts(tx, world.context, BY, second, "nobody")
    assert world.digest() == before


def test_an_organization_gets_another_administrator(world):
    home, headers = world.home["organizationId"], world.session("admin")
    with world.context.db.write() as tx:
        new = insert_user(tx, "new@example.com", "New", verified=True).id
    path = f"/installation/organizations/{home}/administrators"
    for user in (new, new, world.users["reader"]):
        assert world.call("admin", "PUT", f"{path}/{user}", headers=headers).status_code == 204
    with world.context.db.read() as tx:
        admins = {row[0] for row in tx.all("SELECT user_id FROM members WHERE role = 'admin'")}
    assert {new, world.users["reader"]} <= admins
    added = [event["target"]["id"] for event in audited(world, "member.added")]
    assert added.count(new) == 1
    assert world.call("admin", "PUT", f"{path}/nobody", headers=headers).status_code == 404
    assert world.call("editor", "PUT", f"{path}/{new}", headers=world.session("editor")).status_code == 403
