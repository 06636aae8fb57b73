"""Server administrators change accounts of people, by operation and by command."""

from __future__ import annotations

import pytest

from octavo.errors import Conflict
from octavo.operations.admin import accounts
from octavo.organization.access.accounts import insert_user
from octavo.organization.access.auditing import Stranger
from octavo.organization.access.members import upsert_member
from octavo.organization.identity import sessions
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
