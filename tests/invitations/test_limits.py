"""Limits of invitations."""

import pytest

from octavo.organization.access.accounts import insert_user
from octavo.organization.access.members import upsert_member
from octavo.organization.access.tokens import hash_token
from octavo.organization.identity import one_time, signing_in
from octavo.organization.identity.removal import disable_member, remove_member
from octavo.organization.invitations import store
from world import NOBODY, PASSWORD

INVITES = "/orgs/{organizationId}/invites"
LINKS = "/orgs/{organizationId}/link-invites"


def bearer(token):
    return {"authorization": f"Bearer {token}"}


def invite(world, place, *emails, **body):
    return world.post(place.admin, place.path(INVITES), {"emails": list(emails), **body})


def secret_of(answer, email):
    url = next(item["url"] for item in answer["links"] if item["email"] == email)
    return url.rpartition("=")[2]


def join(world, who, place, secret):
    return world.call(who, "POST", f"{place.path(INVITES)}/{secret}").status_code


def register(world, secret, **more):
    body = {"secret": secret, "displayName": "New", "password": "battery staple", **more}
    return world.call(NOBODY, "POST", "/invitations", json=body)


def role_of(world, place, user_id):
    path = place.path("/orgs/{organizationId}/members/{user}", user=user_id)
    answer = world.call(place.admin, "GET", path)
    return answer.json()["role"] if answer.status_code == 200 else "nobody"


def link(world, place, who=None, **body):
    answer = world.call(who or place.admin, "POST", place.path(LINKS), json=body)
    return answer.json()["id"] if answer.status_code == 201 else answer.status_code


# --- email addresses -------------------------------------------------------------------------------------


def test_existing_accounts_are_added_and_others_get_a_link(world):
    answer = invite(
        world, world.away, "Editor@Example.org", {"email": "new@example.com", "role": None}, role="comment"
    )
    assert (answer["users"], answer["invited"]) == ([world.users["editor"]], 2)
    assert [item["email"] for item in answer["links"]] == ["new@example.com"]
    assert role_of(world, world.away, world.users["editor"]) == "comment"
    session = register(world, secret_of(answer, "new@example.com"), displayName="New").json()
    me = world.call(NOBODY, "GET", "/user", headers=bearer(session["token"])).json()
    assert (me["displayName"], me["email"]) == ("New", "new@example.com")
    assert role_of(world, world.away, me["id"]) is None
    again = world.call(NOBODY, "POST", "/sign-in", json={"email": me["email"], "password": "battery staple"})
    assert again.json()["status"] == "signed-in"


def test_without_a_role_people_get_the_default_one(world):
    answer = invite(world, world.away, "editor@example.org")
    assert role_of(world, world.away, answer["users"][0]) == "read"


def test_inviting_a_member_changes_nothing(world):
    """An invitation demotes no one, neither the last administrator nor a disabled member."""
    with world.context.db.write() as tx:
        disable_member(tx, world.home["organizationId"], world.users["editor"])
    answer = invite(world, world.home, "admin@example.org", "editor@example.org", role="read")
    assert (answer["users"], answer["invited"]) == ([], 0)
    assert role_of(world, world.home, world.users["admin"]) == "admin"
    path = world.home.path("/orgs/{organizationId}/members/{user}", user=world.users["editor"])
    assert world.get("admin", path)["disabled"] is True


def test_unverified_addresses_are_not_added(world):
    """The account may have been created by a stranger, such as another organization's identity provider."""
    with world.context.db.write() as tx:
        user = insert_user(tx, "victim@example.com", "Not the victim", verified=False)
    answer = invite(world, world.home, "victim@example.com", role="admin")
    assert answer["users"] == []
    assert role_of(world, world.home, user.id) == "nobody"


def test_an_invitation_is_valid_once_and_only_for_its_organization(world):
    with world.context.db.write() as tx:
        tx.run("UPDATE users SET email_verified = 0 WHERE id = :id", id=world.users["stranger"])
    secret = secret_of(invite(world, world.home, "stranger@example.org", role="read"), "stranger@example.org")
    assert join(world, "stranger", world.away, secret) == 404
    assert join(world, "reader", world.home, secret) == 404
    assert role_of(world, world.home, world.users["stranger"]) == "nobody"
    assert join(world, "stranger", world.home, secret) == 200
    assert role_of(world, world.home, world.users["stranger"]) == "read"
    with world.context.db.write() as tx:
        remove_member(tx, world.home["organizationId"], world.users["stranger"])
    assert join(world, "stranger", world.home, secret) == 404
    assert register(world, secret).status_code == 404


def test_invitations_expire_and_can_be_revoked(world, clock):
    answer = invite(world, world.home, "late@example.com", "unwanted@example.com")
    late, unwanted = (secret_of(answer, f"{name}@example.com") for name in ("late", "unwanted"))
    listed = world.get("admin", world.home.path(INVITES))["items"]
    invitation = next(item["id"] for item in listed if item["email"] == "unwanted@example.com")
    assert world.call("stranger", "DELETE", f"{world.away.path(INVITES)}/{invitation}").status_code == 204
    assert world.call("admin", "DELETE", f"{world.home.path(INVITES)}/{invitation}").status_code == 205
    assert register(world, unwanted).status_code == 404
    clock.advance(store.LIFETIME + 1)
    assert register(world, late).status_code == 404


def test_inviting_again_renews_the_secret(world):
    first = secret_of(invite(world, world.home, "new@example.com", role="admin"), "new@example.com")
    second = secret_of(invite(world, world.home, "new@example.com", role="read"), "new@example.com")
    assert register(world, first).status_code == 404
    session = register(world, second).json()
    me = world.call(NOBODY, "GET", "/user", headers=bearer(session["token"])).json()
    assert role_of(world, world.home, me["id"]) == "read"


@pytest.mark.parametrize("what", ["demoted", "removed", "disabled"])
def test_an_invitation_grants_no_more_than_its_creator_can(world, what):
    org = world.home["organizationId"]
    with world.context.db.write() as tx:
        tx.run("UPDATE members SET role = 'admin' WHERE user_id = :id", id=world.users["editor"])
    answer = world.post("editor", world.home.path(INVITES), {"emails": ["new@example.com"], "role": "admin"})
    open_link = link(world, world.home, "editor", role="admin")
    with world.context.db.write() as tx:
        if what == "demoted":
            tx.run("UPDATE members SET role = 'edit' WHERE user_id = :id", id=world.users["editor"])
        elif what == "removed":
            remove_member(tx, org, world.users["editor"])
        else:
            disable_member(tx, org, world.users["editor"])
    assert register(world, secret_of(answer, "new@example.com")).status_code == 404
    assert join(world, "stranger", world.home, open_link) == 404
    assert role_of(world, world.home, world.users["stranger"]) == "nobody"


def test_a_copied_link_does_not_open_an_existing_account(world):
    """The person who passes the link on knows it, so it must not sign them in as someone else."""
    with world.context.db.write() as tx:
        insert_user(tx, "victim@example.com", "Victim", verified=False)
    secret = secret_of(invite(world, world.home, "victim@example.com"), "victim@example.com")
    assert register(world, secret).status_code == 409


def test_accounts_created_with_a_copied_link_belong_to_the_verified_owner(world):
    """A holder of the link may have created the account first: their password and sessions end."""
    secret = secret_of(invite(world, world.home, "owner@example.com"), "owner@example.com")
    attacker = register(world, secret, password="the attacker's").json()["token"]
    assert world.call(NOBODY, "GET", "/user", headers=bearer(attacker)).status_code == 200
    with world.context.db.write() as tx:
        user_id = tx.value("SELECT id FROM users WHERE email = 'owner@example.com'")
        one_time.issue(tx, world.context.sealer, "link", signing_in._Link(user_id), 60_000, secret="proved")
    owner = world.call(NOBODY, "POST", "/sign-in/link/use", json={"link": "proved"}).json()["token"]
    assert world.call(NOBODY, "GET", "/user", headers=bearer(owner)).status_code == 200
    assert world.call(NOBODY, "GET", "/user", headers=bearer(attacker)).status_code == 401
    password = {"email": "owner@example.com", "password": "the attacker's"}
    assert world.call(NOBODY, "POST", "/sign-in", json=password).status_code == 401


def test_single_sign_on_is_only_for_people_of_this_organization(world):
    answer = invite(world, world.away, "editor@example.org", "new@example.com", sso=True)
    assert answer["failedSSOEmails"] == ["editor@example.org"]
    path = world.away.path("/orgs/{organizationId}/members/{user}", user=world.users["editor"])
    assert world.get("stranger", path)["sso"] is False
    session = register(world, secret_of(answer, "new@example.com")).json()
    me = world.call(NOBODY, "GET", "/user", headers=bearer(session["token"])).json()
    path = world.away.path("/orgs/{organizationId}/members/{user}", user=me["id"])
    assert world.get("stranger", path)["sso"] is True


# --- links --------------------------------------------------------------------------------------------


def test_a_link_belongs_to_one_organization(world):
    found = link(world, world.home, role="create")
    assert join(world, "stranger", world.away, found) == 404
    assert role_of(world, world.home, world.users["stranger"]) == "nobody"
    assert join(world, "admin", world.home, found) == 200
    assert role_of(world, world.home, world.users["admin"]) == "admin"


def test_organizations_can_turn_off_links(world):
    found = link(world, world.home, role="read")
    org = world.home.path("/orgs/{organizationId}")
    assert world.call("admin", "PATCH", org, json={"inviteLinks": False}).status_code == 200
    assert join(world, "stranger", world.home, found) == 404
    assert link(world, world.home, role="read") == 403
    assert world.call("admin", "PATCH", org, json={"inviteLinks": True}).status_code == 200
    assert join(world, "stranger", world.home, found) == 200


def test_removed_links_and_disabled_members_are_refused(world):
    found = link(world, world.home, role="read")
    with world.context.db.write() as tx:
        upsert_member(tx, world.away["organizationId"], world.users["reader"], None)
        disable_member(tx, world.home["organizationId"], world.users["reader"])
    assert join(world, "reader", world.home, found) == 404
    assert world.call("editor", "DELETE", f"{world.home.path(LINKS)}/{found}").status_code == 403
    assert world.call("admin", "DELETE", f"{world.home.path(LINKS)}/{found}").status_code == 205
    assert join(world, "stranger", world.home, found) == 404


def test_a_link_to_a_space_adds_a_guest(world):
    space = world.home["spaceId"]
    found = link(world, world.home, "creator", level="comment", space=space)
    shown = world.get("creator", f"{world.home.path(LINKS)}/{found}")
    assert (shown["level"], shown["space"]["id"], shown["redundant"]) == ("comment", space, True)
    assert join(world, "stranger", world.home, found) == 200
    assert role_of(world, world.home, world.users["stranger"]) is None
    assert world.get("stranger", f"/spaces/{space}")["permissions"]["comment"] is True
    assert world.call("stranger", "GET", world.home.path("/collections/{collectionId}")).status_code == 404
    # A person with a higher role keeps it, although a grant at the space would take precedence over it.
    assert join(world, "editor", world.home, found) == 200
    assert world.get("editor", f"/spaces/{space}")["permissions"]["edit"] is True


def test_no_one_grants_more_than_their_own_role(world):
    space = world.home["spaceId"]
    assert link(world, world.home, "creator", level="admin", space=space) == 403
    assert link(world, world.home, "editor", level="read", space=space) == 403
    assert link(world, world.home, "creator", role="read") == 403
    assert link(world, world.home, level="read", space=world.away["spaceId"]) == 404
    assert link(world, world.home, level="read", collection=world.away["collectionId"]) == 404
    assert link(world, world.home, level=None, space=space) == 400
    assert link(world, world.home, role="read", space=space) == 400
    assert link(world, world.home, role="owner") == 400
    high = link(world, world.home, level="admin", space=space)
    path = f"{world.home.path(LINKS)}/{high}"
    assert world.call("creator", "PATCH", path, json={"level": "create"}).status_code == 403
    assert world.call("admin", "PATCH", path, json={"role": "create"}).status_code == 400
    assert world.call("admin", "PATCH", path, json={"level": "review"}).json()["level"] == "review"


def test_a_collection_link_ends_when_its_creator_loses_access(world):
    collection = world.home["collectionId"]
    found = link(world, world.home, "creator", level="edit", collection=collection)
    assert world.get("admin", f"{world.home.path(LINKS)}/{found}")["collection"]["id"] == collection
    with world.context.db.write() as tx:
        tx.run("UPDATE members SET role = 'edit' WHERE user_id = :id", id=world.users["creator"])
    assert join(world, "stranger", world.home, found) == 404
    assert role_of(world, world.home, world.users["stranger"]) == "nobody"


def test_the_audit_log_records_invitations_without_secrets(world):
    answer = invite(world, world.home, "new@example.com", role="edit")
    secret = secret_of(answer, "new@example.com")
    register(world, secret)
    found = link(world, world.home, role="read")
    join(world, "stranger", world.home, found)
    told = world.call("admin", "GET", world.home.path("/orgs/{organizationId}/audit-events?limit=1000")).text
    for action in ("invitation.created", "member.joined", "invite-link.created", "session.begun"):
        assert action in told
    assert secret not in told and found not in told and hash_token(secret) not in told
    assert PASSWORD not in told
