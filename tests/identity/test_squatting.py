"""A person who uses an email address without verifying it, or guesses passwords, doesn't lock its owner out."""

import msgspec
import pyotp
import pytest

from octavo.errors import Conflict
from octavo.kit.http import edge
from octavo.operations.admin.first_start import token_for
from octavo.organization.access.members import find_membership
from octavo.organization.identity import attempts, factors, passwords, signing_in
from octavo.organization.invitations import inviting
from world import NOBODY, PASSWORD

SQUATTER = "the squatter's password"
OWNER = "owner@example.com"
INVITES = "/orgs/{organizationId}/invites"


def bearer(token):
    return {"authorization": f"Bearer {token}"}


@pytest.fixture
def mails(world, monkeypatch):
    """Collect emails once a mail server is configured; ``turn_on`` does so."""
    sent = []
    monkeypatch.setattr(signing_in.mail, "send", lambda url, **mail: sent.append(mail))
    settings = world.context.settings
    world.context.settings = msgspec.structs.replace(settings, smtp_url="smtp://mail.test:25")
    world._client.cookies.clear()
    yield sent
    world.context.settings = settings


@pytest.fixture
def squatted(world, mails):
    """Create an account of someone else with the owner's address, from a link that was passed on, with
    everything they can set up to stay: password, two-factor authentication, session, and token. Return the session and
    the token."""
    settings = world.context.settings
    world.context.settings = msgspec.structs.replace(settings, smtp_url="")
    invited = world.post("stranger", world.away.path(INVITES), {"emails": [OWNER], "role": "read"})
    world.context.settings = settings
    secret = invited["links"][0]["url"].partition("secret=")[2]
    body = {"secret": secret, "displayName": "Squatter", "password": SQUATTER}
    session = world.call(NOBODY, "POST", "/invitations", json=body).json()["token"]
    start = world.call(NOBODY, "POST", "/user/mfa", headers=bearer(session))
    code = pyotp.TOTP(start.json()["secret"]).now()
    done = world.call(NOBODY, "POST", "/user/mfa/confirm", headers=bearer(session), json={"code": code})
    assert done.status_code == 200
    token = world.call(NOBODY, "POST", "/user/tokens", headers=bearer(session), json={"name": "x"}).json()[
        "token"
    ]
    return [session, token]


def user_id(world):
    with world.context.db.read() as tx:
        return tx.value("SELECT id FROM users WHERE email = :email", email=OWNER)


def expect_owner(world, token, squatted):
    """Assert that only the owner has access."""
    me = world.call(NOBODY, "GET", "/user", headers=bearer(token)).json()
    assert me["email"] == OWNER
    for left in squatted:
        assert world.call(NOBODY, "GET", "/user", headers=bearer(left)).status_code == 401
    assert (
        world.call(NOBODY, "POST", "/sign-in", json={"email": OWNER, "password": SQUATTER}).status_code == 401
    )
    with world.context.db.read() as tx:
        assert not factors.needs_code(tx, me["id"])
        assert tx.value("SELECT email_verified FROM users WHERE id = :id", id=me["id"]) == 1
        # The owner hasn't accepted what the squatter accepted.
        assert not find_membership(tx, world.away["organizationId"], me["id"]).accepted


def test_an_emailed_link_returns_an_account_to_its_owner(world, mails, squatted):
    assert world.call(NOBODY, "POST", "/sign-in/link", json={"email": OWNER}).status_code == 204
    signing_in.mail_link(world.context, OWNER)
    secret = mails[-1]["text"].partition("link=")[2].split()[0]
    used = world.call(NOBODY, "POST", "/sign-in/link/use", json={"link": secret}).json()
    # The squatter's two-factor code isn't required.
    assert used["status"] == "signed-in"
    expect_owner(world, used["token"], squatted)
    body = {"password": "the owner's password"}
    assert (
        world.call(NOBODY, "PUT", "/user/password", headers=bearer(used["token"]), json=body).status_code
        == 204
    )


def test_an_emailed_invitation_returns_an_account_to_its_owner(world, mails, squatted):
    answer = world.post("admin", world.home.path(INVITES), {"emails": [OWNER], "role": "edit"})
    assert answer["users"] == []
    with world.context.db.read() as tx:
        invitation = tx.value("SELECT id FROM invitations WHERE email = :email", email=OWNER)
    inviting.mail_invitation(world.context, invitation)
    secret = mails[-1]["text"].partition("secret=")[2].split()[0]
    body = {"secret": secret, "displayName": "The Owner", "password": "the owner's password"}
    made = world.call(NOBODY, "POST", "/invitations", json=body)
    assert made.status_code == 200, made.text
    expect_owner(world, made.json()["token"], squatted)
    assert (
        world.call(NOBODY, "GET", "/user", headers=bearer(made.json()["token"])).json()["displayName"]
        == "The Owner"
    )
    with world.context.db.read() as tx:
        found = find_membership(tx, world.home["organizationId"], user_id(world))
        assert (found.role, found.accepted) == ("edit", 1)
    assert world.call(NOBODY, "POST", "/invitations", json=body).status_code == 404
    signed = world.call(NOBODY, "POST", "/sign-in", json={"email": OWNER, "password": "the owner's password"})
    assert signed.json()["status"] == "signed-in"


def test_the_operator_returns_an_account_to_its_owner_without_email(world, mails, squatted):
    expect_owner(world, token_for(world.context, email=OWNER, hand_over=True), squatted)
    # For an account with a verified address, nothing ends.
    token_for(world.context, email="reader@example.org", hand_over=True)
    assert world.call("reader", "GET", "/user").status_code == 200


def test_a_token_from_the_command_line_ends_sessions_only_on_request(world, squatted):
    """On servers without email, no address is verified, and creating a token must not cost people their
    password."""
    token = token_for(world.context, email=OWNER)
    assert world.call(NOBODY, "GET", "/user", headers=bearer(token)).status_code == 200
    for credential in squatted:
        assert world.call(NOBODY, "GET", "/user", headers=bearer(credential)).status_code == 200
    with world.context.db.read() as tx:
        assert passwords.find_password(tx, user_id(world)) is not None
    # But a squatter can't join an organization with the address.
    with pytest.raises(Conflict, match="--hand-over"):
        token_for(world.context, email=OWNER, organization_id=world.home["organizationId"])


def test_an_invitation_does_not_take_over_a_verified_account(world, mails):
    world.post("admin", world.home.path(INVITES), {"emails": [OWNER]})
    with world.context.db.read() as tx:
        invitation = tx.value("SELECT id FROM invitations WHERE email = :email", email=OWNER)
    inviting.mail_invitation(world.context, invitation)
    secret = mails[-1]["text"].partition("secret=")[2].split()[0]
    with world.context.db.write() as tx:
        tx.run("UPDATE users SET email = :email WHERE id = :id", email=OWNER, id=world.users["stranger"])
    before = world.digest()
    body = {"secret": secret, "displayName": "Eve", "password": "the owner's password"}
    assert world.call(NOBODY, "POST", "/invitations", json=body).status_code == 409
    assert world.digest() == before


def test_a_setup_started_by_a_squatter_cannot_be_completed(world, mails, squatted, monkeypatch):
    """Their request is authorized before the owner verifies the address, and continues afterwards."""
    from octavo.organization.identity.verification import verify_address

    session = squatted[0]
    owner = user_id(world)

    hashed = passwords.hash_password

    def hashed_too_late(password):
        with world.context.db.write() as tx:
            verify_address(tx, owner)
        return hashed(password)

    monkeypatch.setattr(passwords, "hash_password", hashed_too_late)
    body = {"password": "another of the squatter"}
    assert world.call(NOBODY, "PUT", "/user/password", headers=bearer(session), json=body).status_code == 401
    with world.context.db.read() as tx:
        assert passwords.find_password(tx, owner) is None


# --- guessing -----------------------------------------------------------------------------------------


@pytest.fixture
def fast(monkeypatch):
    monkeypatch.setattr(
        passwords, "verify_password", lambda stored, given: given == PASSWORD and stored is not None
    )


def sign_in(world, password=PASSWORD, client="192.0.2.1", **more):
    """Attempt to sign in from a client address given in the proxy's header."""
    body = {"email": "reader@example.org", "password": password, **more}
    call = world.call(NOBODY, "POST", "/sign-in", json=body, headers={"x-forwarded-for": client})
    return call


@pytest.fixture
def proxied(monkeypatch):
    """Identify clients by the header of their proxy."""

    def client_of(self, peer, headers):
        return headers.get(b"x-forwarded-for", b"192.0.2.99").decode()

    monkeypatch.setattr(edge.Edge, "_client", client_of)


def test_guesses_of_strangers_do_not_lock_out_the_owner(world, fast, proxied):
    device = sign_in(world).json()["device"]
    statuses = [
        sign_in(world, "a wrong password", f"198.51.100.{n}").status_code
        for n in range(attempts.PER_ACCOUNT // attempts.PER_ACCOUNT_AND_ADDRESS + 1)
        for _ in range(attempts.PER_ACCOUNT_AND_ADDRESS)
    ]
    assert statuses.count(401) == attempts.PER_ACCOUNT and statuses[-1] == 429
    # The account is locked for all guesses, even from the owner's address.
    assert sign_in(world).status_code == 429
    assert sign_in(world, client="203.0.113.5").status_code == 429
    # The owner's device is recognized and can sign in from anywhere.
    assert sign_in(world, device=device, client="203.0.113.5").status_code == 200
    # It has its own limited number of attempts.
    own = [
        sign_in(world, "a wrong password", device=device).status_code for _ in range(attempts.PER_DEVICE + 1)
    ]
    assert own == [401] * attempts.PER_DEVICE + [429]


@pytest.mark.sqlite_first
def test_a_device_belongs_to_one_account_and_cannot_be_forged(world, fast, proxied):
    device = sign_in(world).json()["device"]
    other = world.call(
        NOBODY, "POST", "/sign-in", json={"email": "editor@example.org", "password": PASSWORD}
    ).json()
    for n in range(attempts.PER_ACCOUNT):
        sign_in(world, "a wrong password", f"198.51.100.{n}")
    for wrong in (other["device"], device[:-2] + "AA", "made up", device.partition(".")[0]):
        assert sign_in(world, device=wrong).status_code == 429, wrong
    assert sign_in(world, device=device).status_code == 200


def test_an_attacker_with_the_password_cannot_lock_out_the_second_factor(world, proxied):
    """Ten wrong codes lock the account for others, but not for the owner's device."""
    with world.context.db.write() as tx:
        secret = factors.start(tx, world.context.sealer, world.users["reader"])
        factors.confirm(tx, world.context.sealer, world.users["reader"], pyotp.TOTP(secret).now())
        codes = factors.renew_recovery_codes(tx, world.users["reader"])
    device = sign_in(world, code=codes[0]).json()["device"]
    thief = sign_in(world, client="198.51.100.1").json()["challenge"]

    def code(challenge, value):
        body = {"challenge": challenge, "code": value}
        return world.call(NOBODY, "POST", "/sign-in/code", json=body).status_code

    assert [code(thief, "abcdef") for _ in range(signing_in.CODE_TRIES + 1)][-1] == 429
    assert code(thief, codes[1]) == 429
    waiting = sign_in(world, device=device, client="203.0.113.5").json()
    assert code(waiting["challenge"], codes[1]) == 200


def test_link_requests_by_strangers_do_not_block_the_owner(world, mails):
    """No request is refused, links that were sent remain valid, and only a few are sent."""
    from octavo.kit.work.worker import Worker

    ask = [
        world.call(NOBODY, "POST", "/sign-in/link", json={"email": "reader@example.org"}).status_code
        for _ in range(signing_in._LINKS + 3)
    ]
    assert set(ask) == {204}
    Worker(world.context.db, world.context).run_pending()
    assert len(mails) == signing_in._LINKS
    assert signing_in.LINK_LIFETIME >= attempts.WINDOW
    secret = mails[-1]["text"].partition("link=")[2].split()[0]
    used = world.call(NOBODY, "POST", "/sign-in/link/use", json={"link": secret})
    assert used.json()["status"] == "signed-in"


def test_counters_expire_with_their_window(world, fast, clock):
    for _ in range(attempts.PER_ACCOUNT_AND_ADDRESS):
        sign_in(world, "a wrong password")
    assert sign_in(world).status_code == 429
    clock.advance(attempts.WINDOW)
    assert sign_in(world).status_code == 200


@pytest.mark.sqlite_first
def test_a_company_behind_one_ip_address_can_sign_in(world):
    ask = {
        world.call(NOBODY, "POST", "/sign-in/discover", json={"email": f"user{n}@example.org"}).status_code
        for n in range(150)
    }
    assert ask == {200}
