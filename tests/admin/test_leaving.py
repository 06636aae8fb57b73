"""Deletion of an account: the preview, what ends, what is kept, and who can't be deleted."""

import pytest

from octavo.errors import Conflict
from octavo.kit.db.tables import find_wrong
from octavo.operations.admin import account_deletion
from octavo.organization.access.accounts import insert_user
from octavo.organization.access.members import upsert_member
from world import NOBODY


def _ask(world, user_id):
    with world.context.db.read() as tx:
        return account_deletion.preview_account_deletion(tx, world.context.settings, user_id)


def test_content_of_deleted_accounts_is_kept_without_a_name(world):
    home = world.home
    editor = world.users["editor"]
    change = world.post("editor", home.path("/spaces/{spaceId}/change-requests"), {"subject": "Mine"})
    comment = world.post(
        "editor",
        home.path("/spaces/{spaceId}/change-requests/") + f"{change['id']}/comments",
        {"body": {"markdown": "Here."}},
    )
    with world.context.db.read() as tx:
        email = tx.value("SELECT email FROM users WHERE id = :id", id=editor)
    before = world.get("editor", "/user/deletion")
    assert before["possible"] and before["comments"] >= 1 and before["changeRequests"] >= 1
    assert home["organizationId"] in [one["organization"] for one in before["organizations"]]
    headers = world.session("editor")
    assert world.call(NOBODY, "DELETE", "/user", headers=headers).status_code == 204
    assert world.call(NOBODY, "GET", "/user", headers=headers).status_code == 401
    assert world.call("editor", "GET", "/user").status_code == 401
    path = home.path("/spaces/{spaceId}/change-requests/") + change["id"]
    shown = world.get("admin", path)["createdBy"]
    assert shown["id"] == editor and shown["displayName"] == "Deleted user" and email not in str(shown)
    told = world.get("admin", f"{path}/comments/{comment['id']}")
    assert told["postedBy"]["displayName"] == "Deleted user"
    members = world.get("admin", home.path("/orgs/{organizationId}/members"), params={"limit": 1000})
    assert editor not in [one["id"] for one in members["items"]]
    # Nothing identifies the person anymore, and no row refers to a missing one.
    with world.context.db.read() as tx:
        for table in (
            "sessions",
            "tokens",
            "members",
            "team_members",
            "passkeys",
            "second_factors",
            "notifications",
        ):
            assert not tx.all(f"SELECT 1 FROM {table} WHERE user_id = :id", id=editor), table
        assert tx.value("SELECT count(*) FROM users WHERE email = :email", email=email) == 0
        assert list(find_wrong(tx, 10)) == []
    log = world.get(
        "admin", home.path("/orgs/{organizationId}/audit-events"), params={"action": "account.deleted"}
    )
    assert [one["target"]["id"] for one in log["items"]] == [editor] and email not in str(log)
    # It works once: the account no longer exists, and the address is free.
    with world.context.db.write() as tx:
        assert not account_deletion.delete_account(tx, world.context.settings, world.actor("admin"), editor)
        assert insert_user(tx, email, "Somebody else", verified=True).id != editor


def test_last_administrators_and_managed_accounts_cannot_be_deleted(world):
    home = world.home["organizationId"]
    with world.context.db.write() as tx:
        admin = insert_user(tx, "alone@example.com", "Alone", verified=True).id
        upsert_member(tx, home, admin, "admin")
        tx.run(
            "UPDATE members SET role = 'create' WHERE organization_id = :org AND user_id <> :id",
            org=home,
            id=admin,
        )
    assert [left.id for left in _ask(world, admin).organizations if left.last_admin] == [home]
    before = world.digest()

    def refused(user_id, words):
        with pytest.raises(Conflict, match=words), world.context.db.write() as tx:
            account_deletion.delete_account(tx, world.context.settings, world.actor("creator"), user_id)
        assert world.digest() == before

    refused(admin, "last administrator of Home")
    with world.context.db.write() as tx:
        tx.run("UPDATE users SET managed_by = :org WHERE id = :id", org=home, id=world.users["creator"])
    before = world.digest()
    refused(world.users["creator"], "managed by Home")
    headers = world.session("reader", proved=False)
    before = world.digest()
    assert world.call(NOBODY, "DELETE", "/user", headers=headers).status_code == 403
    assert world.call("reader", "DELETE", "/user").status_code == 403
    assert world.digest() == before
