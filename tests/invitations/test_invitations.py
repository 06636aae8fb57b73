"""Joining an organization by invitation: who can, with which role, and how often."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest

from octavo.organization.access.accounts import insert_user
from octavo.organization.access.members import upsert_member
from octavo.organization.access.tokens import create_token
from octavo.organization.invitations.store import LIFETIME

PASSWORD = "correct horse battery"


class People:
    """Users without an organization, created on demand, with helpers for inviting and joining."""

    def __init__(self, world) -> None:
        self.world, self.tokens = world, {}
        self.org = world.home["organizationId"]
        self.path = f"/orgs/{self.org}"

    def new(self, email: str, *, verified: bool = True) -> str:
        with self.world.context.db.write() as tx:
            user = insert_user(tx, email, email.partition("@")[0], verified=verified)
            self.tokens[user.id] = create_token(tx, user.id, name="test")
        return user.id

    def call(self, user: str, method: str, path: str, **options):
        headers = {"authorization": f"Bearer {self.tokens[user]}"}
        return self.world.call("nobody", method, path, headers=headers, **options)

    def invite(self, *emails, **body):
        return self.world.post("admin", f"{self.path}/invites", {"emails": list(emails), **body})

    def secret(self, answer) -> str:
        return parse_qs(urlsplit(answer["links"][0]["url"]).query)["secret"][0]

    def link(self, **body) -> str:
        return self.world.post("admin", f"{self.path}/link-invites", body)["id"]

    def join(self, user: str, invite: str, org: str | None = None) -> int:
        return self.call(user, "POST", f"/orgs/{org or self.org}/invites/{invite}").status_code

    def role(self, user: str):
        with self.world.context.db.read() as tx:
            row = tx.one(
                "SELECT role FROM members WHERE organization_id = :org AND user_id = :user",
                org=self.org,
                user=user,
            )
        return "nobody" if row is None else row[0]

    def audited(self, action: str) -> int:
        with self.world.context.db.read() as tx:
            return tx.value(
                "SELECT count(*) FROM audit_events WHERE action = :action AND organization_id = :org",
                action=action,
                org=self.org,
            )


@pytest.fixture
def people(world):
    return People(world)


def test_people_with_a_verified_address_become_members_immediately(people):
    known, unproved = people.new("known@example.com"), people.new("unproved@example.com", verified=False)
    answer = people.invite(
        "Known@Example.com", {"email": "unproved@example.com", "role": "edit"}, role="comment"
    )
    assert answer["users"] == [known] and answer["invited"] == 2 and len(answer["links"]) == 1
    assert people.role(known) == "comment" and people.role(unproved) == "nobody"
    assert people.audited("member.joined") == 1 and people.audited("invitation.created") == 1
    # Inviting again leaves members unchanged.
    again = people.invite("known@example.com", role="admin")
    assert again["users"] == [] and again["invited"] == 0 and people.role(known) == "comment"


def test_an_invitation_is_for_one_address_and_valid_once(people):
    secret = people.secret(people.invite("guest@example.com", role="edit"))
    other, right = people.new("other@example.com"), people.new("guest@example.com", verified=False)
    assert people.join(other, secret) == 404
    assert people.join(right, secret, people.world.away["organizationId"]) == 404
    assert people.join(right, secret) == 200 and people.role(right) == "edit"
    assert people.join(right, secret) == 404
    with people.world.context.db.read() as tx:
        # A link that was passed on doesn't verify the address.
        assert tx.value("SELECT email_verified FROM users WHERE id = :id", id=right) == 0


def test_an_invitation_creates_an_account(people):
    secret = people.secret(people.invite("fresh@example.com", role="review"))
    body = {"secret": secret, "displayName": "Fresh", "password": PASSWORD}

    def accept(**changes):
        return people.world.call("nobody", "POST", "/invitations", json={**body, **changes})

    assert accept(secret="wrong").status_code == 404
    assert accept(password="short").status_code == 400
    answer = accept()
    assert answer.status_code == 200, answer.text
    headers = {"authorization": f"Bearer {answer.json()['token']}"}
    user = people.world.call("nobody", "GET", "/user", headers=headers).json()
    assert user["displayName"] == "Fresh" and people.role(user["id"]) == "review"
    assert accept().status_code == 404
    signed = people.world.call(
        "nobody", "POST", "/sign-in", json={"email": "fresh@example.com", "password": PASSWORD}
    )
    assert signed.status_code == 200, signed.text


def test_an_existing_account_is_not_taken_over(people):
    secret = people.secret(people.invite("late@example.com"))
    people.new("late@example.com", verified=False)
    body = {"secret": secret, "displayName": "Thief", "password": PASSWORD}
    assert people.world.call("nobody", "POST", "/invitations", json=body).status_code == 409


def test_expired_and_revoked_invitations_are_refused(people):
    expired = people.secret(people.invite("expired@example.com"))
    with people.world.context.db.write() as tx:
        tx.run("UPDATE invitations SET expires_at = expires_at - :life", life=LIFETIME)
    assert people.join(people.new("expired@example.com"), expired) == 404
    withdrawn = people.secret(people.invite("withdrawn@example.com"))
    listed = people.world.get("admin", f"{people.path}/invites")["items"]
    found = next(item for item in listed if item["email"] == "withdrawn@example.com")
    path = f"{people.path}/invites/{found['id']}"
    assert people.world.call("admin", "DELETE", path).status_code == 205
    assert people.world.call("admin", "DELETE", path).status_code == 204
    assert people.join(people.new("withdrawn@example.com"), withdrawn) == 404
    # A new invitation invalidates the previous link.
    first = people.secret(people.invite("twice@example.com"))
    second = people.secret(people.invite("twice@example.com"))
    user = people.new("twice@example.com", verified=False)
    assert people.join(user, first) == 404 and people.join(user, second) == 200


def test_a_link_raises_roles_but_never_lowers_them(people):
    link = people.link(role="comment")
    one, two = people.new("one@example.com"), people.new("two@example.com")
    with people.world.context.db.write() as tx:
        upsert_member(tx, people.org, two, "review")
    assert people.join(one, link) == 200 and people.role(one) == "comment"
    assert people.join(two, link) == 200 and people.role(two) == "review"
    assert people.join(people.new("three@example.com"), link, people.world.away["organizationId"]) == 404
    changed = people.world.call("admin", "PATCH", f"{people.path}/link-invites/{link}", json={"role": "edit"})
    assert changed.json()["role"] == "edit" and people.role(one) == "comment"
    assert people.join(one, link) == 200 and people.role(one) == "edit"
    assert people.world.call("admin", "DELETE", f"{people.path}/link-invites/{link}").status_code == 205
    assert people.join(people.new("four@example.com"), link) == 404


def test_links_can_invite_to_spaces_and_collections(people):
    world = people.world
    space = world.post("admin", f"{people.path}/spaces", {"title": "Secret"})["id"]
    world.call("admin", "PATCH", f"/spaces/{space}", json={"defaultLevel": None})
    link = people.link(space=space, level="edit")
    shown = world.get("admin", f"{people.path}/link-invites/{link}")
    assert shown["space"]["id"] == space and shown["level"] == "edit" and shown["redundant"] is True
    user = people.new("writer@example.com")
    assert people.call(user, "GET", f"/spaces/{space}").status_code == 404
    assert people.join(user, link) == 200 and people.role(user) is None
    assert people.call(user, "GET", f"/spaces/{space}").json()["permissions"]["edit"] is True
    assert world.get("admin", f"{people.path}/link-invites")["items"] == []
    patched = world.call("admin", "PATCH", f"{people.path}/link-invites/{link}", json={"role": "admin"})
    assert patched.status_code == 400


def test_a_disabled_member_cannot_rejoin_with_a_link(people):
    link, user = people.link(role="edit"), people.new("gone@example.com")
    with people.world.context.db.write() as tx:
        upsert_member(tx, people.org, user, "read")
        tx.run("UPDATE members SET disabled = 1 WHERE user_id = :user", user=user)
    assert people.join(user, link) == 404
    assert people.invite("gone@example.com", role="edit")["invited"] == 0


def test_disabled_links_are_refused(people):
    link = people.link(role="read")
    people.world.call("admin", "PATCH", people.path, json={"inviteLinks": False})
    assert people.join(people.new("late@example.com"), link) == 404
    made = people.world.call("admin", "POST", f"{people.path}/link-invites", json={"role": "read"})
    assert made.status_code == 403


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, {}),
        (400, {"level": "read"}),
        (400, {"role": "owner"}),
        (400, {"role": "read", "space": "x"}),
        (400, {"level": "read", "space": "x", "collection": "y"}),
        (404, {"level": "read", "space": "{spaceId}"}),
        (404, {"level": "read", "collection": "{collectionId}"}),
    ],
)
def test_invalid_links_are_refused(people, status, body):
    away = people.world.away
    body = {name: away.path(value) if isinstance(value, str) else value for name, value in body.items()}
    before = people.world.digest()
    answer = people.world.call("admin", "POST", f"{people.path}/link-invites", json=body)
    assert answer.status_code == status, answer.text
    assert people.world.digest() == before


@pytest.mark.parametrize("emails", [[], ["nobody"], ["a b@c"], ["a@b\nBcc: c@d"], [{"email": "a@b.c"}]])
def test_invalid_email_addresses_are_refused(people, emails):
    answer = people.world.call("admin", "POST", f"{people.path}/invites", json={"emails": emails})
    assert answer.status_code == 400


# --- contents of an invitation ---------------------------------------------------------------------------


def test_invited_people_can_read_their_invitation(people):
    world = people.world

    def read(secret):
        return world.call("nobody", "POST", "/invitations/read", json={"secret": secret})

    secret = people.secret(people.invite("new@example.org", role="read"))
    told = read(secret).json()
    title = world.get("admin", people.path)["title"]
    inviter = world.get("admin", "/user")["displayName"]
    app = world.context.app
    assert told == {
        "organization": {"id": people.org, "title": title},
        "invitedBy": inviter,
        "url": app.organization(people.org),
        "email": "new@example.org",
    }
    assert read(people.link(role="read")).json() == {
        "organization": {"id": people.org, "title": title},
        "invitedBy": inviter,
        "url": app.organization(people.org),
    }
    space = world.home["spaceId"]
    told = read(people.link(level="read", space=space)).json()
    assert told["content"] == world.get("admin", f"/spaces/{space}")["title"] and "email" not in told
    assert told["url"] == app.space(space)

    link = people.link(role="read")
    assert world.call("admin", "DELETE", f"{people.path}/link-invites/{link}").status_code < 300
    assert read(link).status_code == 404
    # The responses don't reveal the cause.
    assert read(link).json() == read("made up").json()


def test_accepting_an_invitation_sets_a_cookie_only_for_our_own_pages(people):
    secret = people.secret(people.invite("new@example.org"))
    body = {"secret": secret, "displayName": "New", "password": PASSWORD, "cookie": True}

    def accept(origin):
        return people.world.call("nobody", "POST", "/invitations", json=body, headers={"origin": origin})

    assert accept("https://elsewhere.example").status_code == 403
    accepted = accept(people.world.context.settings.url)
    assert accepted.status_code == 200 and accepted.headers["set-cookie"].count("HttpOnly") == 1
