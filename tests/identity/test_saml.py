"""SAML with two real identity providers, and known attacks."""

import base64
import copy
import zlib

import httpx
import pytest
import xmlsec
from lxml import etree

from identity_providers import (
    NS,
    Keys,
    encoded,
    flask_saml2_provider,
    instant,
    posted_form,
    pysaml2_provider,
    query_of,
    response_xml,
    sign,
)
from octavo.kit.clock import now
from octavo.organization.access.accounts import insert_user, set_password_hash
from octavo.organization.access.members import find_membership, upsert_member
from octavo.organization.identity import passwords
from octavo.organization.identity.removal import disable_member
from octavo.organization.identity.saml import signing_in
from octavo.organization.identity.saml.responses import RefusedResponse, read_response
from octavo.organization.identity.saml.service import Service
from octavo.organization.identity.saml.store import find_provider
from octavo.organization.identity.verification import verify_address
from world import NOBODY, PASSWORD, URL

KEYS = Keys()
OTHER = Keys("attacker.test")
ISSUER = "https://idp.test/metadata"
PROVIDERS = "/orgs/{organizationId}/saml"


def bearer(token):
    return {"authorization": f"Bearer {token}"}


def provider(world, place=None, **more):
    place = place or world.home
    world._client.cookies.clear()
    body = {
        "label": "Company",
        "entityID": ISSUER,
        "certificate": KEYS.certificate,
        "ssoURL": "https://idp.test/sso",
    }
    return world.post(place.admin, place.path(PROVIDERS), body | more)


def begin(world, made, **query):
    """Start a sign-in in a new browser and return the URL at the identity provider."""
    world._client.cookies.clear()
    answer = world.call(NOBODY, "GET", made["service"]["startURL"], params=query)
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


def request_id(url):
    """Return the ID of the request in a URL at the identity provider."""
    request = zlib.decompress(base64.b64decode(query_of(url)["SAMLRequest"]), -15)
    return etree.fromstring(request).get("ID")


def post(world, made, document, relay="", **form):
    """Post a response to the provider's ACS like a browser: from another site, and so without its cookies."""
    data = {"SAMLResponse": document if isinstance(document, str) else encoded(document)} | form
    if relay:
        data["RelayState"] = relay
    kept = dict(world._client.cookies)
    world._client.cookies.clear()
    answer = world.call(NOBODY, "POST", made["service"]["acsURL"], data=data)
    for name, value in kept.items():
        if name not in world._client.cookies:
            world._client.cookies.set(name, value)
    return answer


def arrive(world, made, document, relay=""):
    """Post a response and follow the redirect to the final response."""
    answer = post(world, made, document, relay)
    if answer.status_code == 303 and "/finish?" in answer.headers["location"]:
        return world.call(NOBODY, "GET", answer.headers["location"])
    return answer


def sign_in(world, made, keys=None, **more):
    """Complete a sign-in through a provider whose response contains ``more``."""
    asked = request_id(begin(world, made))
    return arrive(world, made, sign(response_xml(**honest(made, in_response_to=asked) | more), keys or KEYS))


def honest(made, **more):
    service = made["service"]
    return {"issuer": ISSUER, "audience": service["entityID"], "recipient": service["acsURL"]} | more


def session(answer):
    assert answer.status_code == 303, answer.text
    return answer.headers["set-cookie"].partition("=")[2].partition(";")[0]


def me(world, token):
    world._client.cookies.clear()
    return world.call(NOBODY, "GET", "/user", headers=bearer(token)).json()


# --- providers ----------------------------------------------------------------------------------------


def test_a_provider_is_pending_until_it_is_complete(world):
    made = world.post("admin", world.home.path(PROVIDERS), {"label": "Company"})
    assert (made["object"], made["status"], made["defaultRole"]) == ("saml-provider", "pending", "read")
    assert "ssoURL" not in made, "an empty text is no URL"
    path = world.home.path(PROVIDERS) + f"/{made['id']}"
    assert made["urls"]["location"] == f"{URL}/v1{path}"
    logins = world.home.path("/orgs/{organizationId}/sso")
    furnished = world.get("reader", logins)["items"]
    assert made["id"] not in [login["id"] for login in furnished]
    assert world.call(NOBODY, "GET", made["service"]["startURL"]).status_code == 404
    body = {"entityID": ISSUER, "certificate": KEYS.certificate, "ssoURL": "https://idp.test/sso"}
    changed = world.call("admin", "PATCH", path, json=body).json()
    assert changed["status"] == "active" and changed["label"] == "Company"
    start = made["service"]["startURL"]
    assert world.get("reader", logins) == {
        "items": [*furnished, {"id": made["id"], "label": "Company", "startURL": start}]
    }
    listed = world.get("admin", world.home.path(PROVIDERS))
    assert [p["id"] for p in listed["items"]] == [world.home["samlProviderId"], made["id"]]
    metadata = world.call(NOBODY, "GET", made["service"]["entityID"])
    assert metadata.headers["content-type"] == "application/samlmetadata+xml"
    root = etree.fromstring(metadata.content)
    assert root.get("entityID") == made["service"]["entityID"]
    assert made["service"]["acsURL"].encode() in metadata.content
    # Providers that read it once keep it.
    assert root.get("validUntil") is None and root.get("cacheDuration") is None
    assert world.call("admin", "DELETE", path).status_code == 205
    assert world.call("admin", "DELETE", path).status_code == 204
    assert world.call("admin", "GET", path).status_code == 404


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("label", ""),
        ("label", "x" * 31),
        ("certificate", "not one"),
        ("certificate", Keys(bits=1024).certificate),
        ("ssoURL", "javascript:alert(1)"),
        ("ssoURL", "https://user:pw@idp.test/"),
        ("ssoURL", "//idp.test"),
        ("ssoURL", "https://idp.test/\r\nX: y"),
        ("entityID", "x" * 1025),
        ("defaultRole", "owner"),
    ],
)
def test_an_invalid_provider_is_refused(world, field, value):
    before = world.digest()
    answer = world.call("admin", "POST", world.home.path(PROVIDERS), json={"label": "x", field: value})
    assert answer.status_code == 400 and field in answer.json()["error"]["message"]
    assert world.digest() == before


def test_only_administrators_of_the_organization_set_providers(world):
    made = provider(world)
    path = world.home.path(PROVIDERS) + f"/{made['id']}"
    foreign = world.away.path(PROVIDERS) + f"/{made['id']}"
    before = world.digest()
    for who, status in (("creator", 403), ("reader", 403), ("stranger", 404), (NOBODY, 401)):
        assert world.call(who, "GET", path).status_code == status
        assert world.call(who, "PATCH", path, json={"defaultRole": "admin"}).status_code == status
        assert world.call(who, "DELETE", path).status_code == status
        assert world.call(who, "POST", world.home.path(PROVIDERS), json={"label": "x"}).status_code == status
    assert world.call("stranger", "GET", foreign).status_code == 404
    assert world.call("stranger", "PATCH", foreign, json={"label": "y"}).status_code == 404
    assert world.call("stranger", "DELETE", foreign).status_code == 204
    assert world.digest() == before


def team_of(world, place, title="Staff"):
    from octavo.kit import ids

    team = ids.new_id()
    with world.context.db.write() as tx:
        tx.run(
            "INSERT INTO teams (id, organization_id, title, created_at) VALUES (:id, :org, :title, 1)",
            id=team,
            org=place["organizationId"],
            title=title,
        )
    return team


def test_the_default_team_must_be_in_the_same_organization(world):
    own, foreign = team_of(world, world.home), team_of(world, world.away)
    made = provider(world, defaultTeam=own)
    assert made["defaultTeam"]["id"] == own and made["defaultTeam"]["members"] == 0
    path = world.home.path(PROVIDERS) + f"/{made['id']}"
    before = world.digest()
    assert world.call("admin", "PATCH", path, json={"defaultTeam": foreign}).status_code == 404
    assert (
        world.call(
            "admin", "POST", world.home.path(PROVIDERS), json={"label": "x", "defaultTeam": foreign}
        ).status_code
        == 404
    )
    assert world.digest() == before
    assert "defaultTeam" not in world.call("admin", "PATCH", path, json={"defaultTeam": None}).json()


# --- real identity providers --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pysaml2(tmp_path_factory):
    with pysaml2_provider(tmp_path_factory.mktemp("pysaml2")) as running:
        running.who.update(
            name_id="ada-1", attributes={"mail": "ada@example.org", "displayName": "Ada Lovelace"}
        )
        yield running


@pytest.fixture(scope="module")
def flask_saml2():
    with flask_saml2_provider() as running:
        yield running


@pytest.fixture(params=["pysaml2", "flask_saml2"])
def running(request):
    return request.getfixturevalue(request.param)


def trusting(world, running, place=None, **more):
    """Return an Octavo provider configured with the metadata of the running one."""
    known = {"entityID": running.entity_id, "certificate": running.certificate, "ssoURL": running.sso_url}
    made = provider(world, place, **known, **more)
    running.trust(world.call(NOBODY, "GET", made["service"]["entityID"]).content)
    return made


def test_a_company_signs_in_through_its_provider(world, running):
    team = team_of(world, world.home)
    made = trusting(world, running, defaultTeam=team, defaultRole="edit")
    action, form = running.log_in(begin(world, made, next="/o/1?tab=2"))
    assert action == made["service"]["acsURL"]
    answer = arrive(world, made, form["SAMLResponse"])
    assert answer.headers["location"] == f"{URL}/o/1?tab=2"
    token = session(answer)
    ada = me(world, token)
    assert ada["email"] == "ada@example.org"
    # A member with the default role and team, in this organization only.
    with world.context.db.read() as tx:
        rows = tx.all("SELECT organization_id, role, sso FROM members WHERE user_id = :id", id=ada["id"])
        assert rows == [(world.home["organizationId"], "edit", 1)]
        assert tx.all("SELECT team_id FROM team_members WHERE user_id = :id", id=ada["id"]) == [(team,)]
        assert tx.value("SELECT email_verified FROM users WHERE id = :id", id=ada["id"]) == 0
    assert (
        world.call(NOBODY, "GET", world.home.path("/spaces/{spaceId}"), headers=bearer(token)).status_code
        == 200
    )
    # The same response is refused, and so is a second response to the same request.
    replayed = arrive(world, made, form["SAMLResponse"])
    assert replayed.status_code == 401 and "was already used" in replayed.json()["error"]["message"]
    # The second sign-in finds the same person, who keeps a role assigned in the meantime.
    with world.context.db.write() as tx:
        tx.run("UPDATE members SET role = 'review' WHERE user_id = :id", id=ada["id"])
    _, form = running.log_in(begin(world, made))
    again = session(arrive(world, made, form["SAMLResponse"]))
    assert me(world, again)["id"] == ada["id"]
    with world.context.db.read() as tx:
        assert tx.value("SELECT role FROM members WHERE user_id = :id", id=ada["id"]) == "review"
    # Once disabled, she is signed out at once and can't return through the provider.
    with world.context.db.write() as tx:
        tx.run("UPDATE members SET disabled = 1 WHERE user_id = :id", id=ada["id"])
    assert world.call(NOBODY, "GET", "/user", headers=bearer(again)).status_code == 401
    _, form = running.log_in(begin(world, made))
    assert arrive(world, made, form["SAMLResponse"]).status_code == 403


@pytest.mark.sqlite_first
def test_a_company_member_is_added_to_a_collection_and_removed(world, running):
    """The entire process, with operations available to the company's administrator."""
    org = world.home.path("/orgs/{organizationId}")
    closed = world.post("admin", f"{org}/collections", {"title": "Board"})["id"]
    assert world.call("admin", "PATCH", f"/collections/{closed}", json={"defaultLevel": None}).is_success
    space = world.post("admin", f"{org}/spaces", {"title": "Minutes", "parent": closed})["id"]
    made = trusting(world, running, defaultRole="read")
    _, form = running.log_in(begin(world, made))
    token = session(arrive(world, made, form["SAMLResponse"]))
    ada = me(world, token)["id"]

    def sees(path):
        return world.call(NOBODY, "GET", path, headers=bearer(token)).status_code

    def finds():
        answer = world.call(NOBODY, "GET", f"{org}/spaces?limit=1000", headers=bearer(token)).json()
        return space in [item["id"] for item in answer["items"]]

    assert (sees(f"/collections/{closed}"), sees(f"/spaces/{space}"), finds()) == (404, 404, False)
    invited = world.call(
        "admin", "POST", f"/collections/{closed}/permissions", json={"users": [ada], "role": "edit"}
    )
    assert invited.status_code == 204, invited.text
    assert (sees(f"/collections/{closed}"), sees(f"/spaces/{space}"), finds()) == (200, 200, True)
    write = {"changes": [{"operation": "insert_page", "document": {"markdown": "# First meeting\n"}}]}
    wrote = world.call(NOBODY, "POST", f"/spaces/{space}/content", json=write, headers=bearer(token))
    assert wrote.status_code == 200, wrote.text
    assert world.call("admin", "DELETE", f"/collections/{closed}/permissions/users/{ada}").status_code == 205
    assert (sees(f"/collections/{closed}"), sees(f"/spaces/{space}"), finds()) == (404, 404, False)
    assert world.call("admin", "DELETE", f"{org}/members/{ada}").status_code == 205
    assert sees("/user") == 401
    told = [event["action"] for event in world.get("admin", f"{org}/audit-events?limit=1000")["items"]]
    assert {"permission.granted", "permission.removed", "member.removed"} <= set(told)


def unsolicited(made, pysaml2):
    """Return the form of an IdP-initiated sign-in."""
    url = pysaml2.sso_url.replace("/sso", "/unsolicited")
    page = httpx.get(url, params={"sp": made["service"]["entityID"], "acs": made["service"]["acsURL"]}).text
    return posted_form(page)[1]["SAMLResponse"]


OURS = {"origin": URL}


def use(world, path, answer, headers=OURS):
    return world.call(NOBODY, "POST", path, json={"answer": answer}, headers=headers)


def waiting(answer):
    """Return the secret of an answer that waits for confirmation."""
    assert answer.status_code == 303, answer.text
    assert answer.headers["location"].startswith(f"{URL}/sso?answer=")
    return answer.headers["location"].partition("answer=")[2]


def test_only_browsers_start_a_sign_in_unless_the_provider_can(world, pysaml2):
    made = trusting(world, pysaml2)
    before = world.digest()
    answer = post(world, made, unsolicited(made, pysaml2))
    assert answer.status_code == 401 and "idpInitiated" in answer.json()["error"]["message"]
    assert "set-cookie" not in answer.headers
    assert world.digest() == before


def test_a_sign_in_started_by_the_provider_asks_for_confirmation(world, pysaml2):
    made = trusting(world, pysaml2, idpInitiated=True)
    assert made["idpInitiated"] is True
    document = unsolicited(made, pysaml2)
    world._client.cookies.clear()
    arrived = post(world, made, document, relay="/spaces")
    secret = waiting(arrived)
    # No one is signed in yet, and the URL that completes a requested sign-in opens the page, too.
    assert world.call(NOBODY, "GET", "/user").status_code == 401
    finish = f"/saml/{made['id']}/finish?answer={secret}"
    assert waiting(world.call(NOBODY, "GET", finish)) == secret
    shown = use(world, "/sign-in/saml/answer", secret).json()
    assert shown == {
        "step": "confirm",
        "organization": "Home",
        "provider": "Company",
        "email": "ada@example.org",
    }
    # Neither another site nor another browser can confirm it.
    for headers in ({}, {"origin": "https://evil.test"}, {"sec-fetch-site": "same-site"}):
        assert use(world, "/sign-in/saml", secret, headers).status_code == 403
    kept = dict(world._client.cookies)
    world._client.cookies.clear()
    for path in ("/sign-in/saml/answer", "/sign-in/saml"):
        assert use(world, path, secret).status_code == 401
    world._client.cookies.set("octavo-saml", "another browser's")
    assert use(world, "/sign-in/saml", secret).status_code == 401
    world._client.cookies.update(kept)
    begun = use(world, "/sign-in/saml", secret)
    assert begun.json() == {"next": "/spaces"}
    assert world.call(NOBODY, "GET", "/user").json()["email"] == "ada@example.org"
    # The answer and the provider's response can each be used once.
    assert use(world, "/sign-in/saml", secret).status_code == 401
    replayed = post(world, made, document, relay="/spaces")
    assert replayed.status_code == 401 and "was already used" in replayed.json()["error"]["message"]


@pytest.mark.sqlite_first
def test_another_browser_cannot_complete_a_sign_in(world, running):
    made = trusting(world, running)
    _, form = running.log_in(begin(world, made))
    before = dict(world._client.cookies)
    arrived = post(world, made, form["SAMLResponse"])
    finish = arrived.headers["location"]
    assert "set-cookie" not in arrived.headers
    world._client.cookies.clear()
    assert world.call(NOBODY, "GET", finish).status_code == 401
    begin(world, made)  # the cookie of another sign-in isn't accepted
    assert world.call(NOBODY, "GET", finish).status_code == 401
    secret = finish.partition("answer=")[2]
    assert use(world, "/sign-in/saml", secret).status_code == 401
    world._client.cookies.clear()
    world._client.cookies.update(before)
    # Another provider's URL doesn't accept it either.
    other = provider(world, world.away)
    world._client.cookies.update(before)
    assert world.call(NOBODY, "GET", finish.replace(made["id"], other["id"])).status_code == 401
    assert world.call(NOBODY, "GET", finish).status_code == 303
    assert world.call(NOBODY, "GET", finish).status_code == 401


def test_a_saml_response_waits_only_briefly_for_confirmation(world, monkeypatch):
    made = provider(world, idpInitiated=True)
    secret = waiting(post(world, made, sign(response_xml(**honest(made)), KEYS)))
    real = now()
    monkeypatch.setattr(
        "octavo.organization.identity.one_time.now", lambda: real + signing_in.LIFETIME + 1000
    )
    assert use(world, "/sign-in/saml", secret).status_code == 401
    assert use(world, "/sign-in/saml/answer", secret).status_code == 401


@pytest.mark.sqlite_first
def test_a_response_is_only_valid_for_its_provider(world, running):
    one, two = trusting(world, running), trusting(world, running, world.away)
    _, form = running.log_in(begin(world, one))
    assert post(world, two, form["SAMLResponse"]).status_code == 401
    assert session(arrive(world, one, form["SAMLResponse"]))


# --- authorized accounts ------------------------------------------------------------------------------------


def membership(world, who, place=None):
    with world.context.db.read() as tx:
        found = find_membership(tx, (place or world.home)["organizationId"], world.users[who])
    return (found.role, found.accepted) if found else None


def own_session(world, who):
    """Sign a browser in with the account's own credentials; its provider cookies stay."""
    body = {"email": f"{who}@example.org", "password": PASSWORD, "cookie": True}
    answer = world.call(NOBODY, "POST", "/sign-in", json=body, headers=OURS)
    assert answer.status_code == 200, answer.text


def identities(world, who):
    with world.context.db.read() as tx:
        return tx.all(
            "SELECT provider, subject FROM external_identities WHERE user_id = :id", id=world.users[who]
        )


@pytest.mark.parametrize("who", ["stranger", "added"])
def test_a_matching_email_address_does_not_open_an_account(world, who):
    """Neither for a non-member nor for a member who was added but never accepted."""
    made = provider(world)
    if who == "added":
        who = "stranger"
        answer = world.post(
            "admin",
            world.home.path("/orgs/{organizationId}/invites"),
            {"emails": ["stranger@example.org"], "role": "read"},
        )
        assert answer["users"] == [world.users[who]]
        assert membership(world, who) == ("read", 0)
    before = membership(world, who)
    secret = waiting(sign_in(world, made, email="stranger@example.org"))
    assert membership(world, who) == before and identities(world, who) == []
    assert world.call(NOBODY, "GET", "/user").status_code == 401
    shown = use(world, "/sign-in/saml/answer", secret).json()
    assert (shown["step"], shown["email"]) == ("connect", "stranger@example.org")
    # Nothing about the account is revealed, and confirming instead of connecting is refused.
    assert "Stranger" not in use(world, "/sign-in/saml/answer", secret).text
    assert use(world, "/sign-in/saml", secret).status_code == 409
    assert use(world, "/sign-in/saml/connect", secret).status_code == 401
    # Another person's session or a token is refused too.
    own_session(world, "reader")
    assert use(world, "/sign-in/saml/connect", secret).status_code == 403
    token = world.call("stranger", "POST", "/sign-in/saml/connect", json={"answer": secret}, headers=OURS)
    assert token.status_code == 403
    assert membership(world, who) == before and identities(world, who) == []


def test_the_owner_of_an_account_connects_it_once(world):
    made = provider(world, defaultRole="comment")
    secret = waiting(sign_in(world, made, email="stranger@example.org"))
    own_session(world, "stranger")
    for headers in ({}, {"origin": "https://evil.test"}):
        assert use(world, "/sign-in/saml/connect", secret, headers).status_code == 403
    assert use(world, "/sign-in/saml/connect", secret).status_code == 200
    assert membership(world, "stranger") == ("comment", 1)
    # The new session reaches only this organization.
    assert world.call(NOBODY, "GET", world.home.path("/spaces/{spaceId}")).status_code == 200
    assert world.call(NOBODY, "GET", world.away.path("/spaces/{spaceId}")).status_code == 404
    assert use(world, "/sign-in/saml/connect", secret).status_code == 403  # and it can't change the account
    # The second time, no confirmation is needed.
    assert (
        me(world, session(sign_in(world, made, id="_two", email="stranger@example.org")))["id"]
        == world.users["stranger"]
    )
    # A removed member has to accept again.
    path = world.home.path("/orgs/{organizationId}/members/{user}", user=world.users["stranger"])
    assert world.call("admin", "DELETE", path).status_code == 205
    assert waiting(sign_in(world, made, id="_three", email="stranger@example.org"))
    assert world.call("stranger", "GET", "/user").status_code == 200  # the account itself is unchanged


def test_a_disabled_member_cannot_connect_an_identity(world):
    made = provider(world)
    with world.context.db.write() as tx:
        upsert_member(tx, world.home["organizationId"], world.users["stranger"], "read")
        disable_member(tx, world.home["organizationId"], world.users["stranger"])
    assert sign_in(world, made, email="stranger@example.org").status_code == 403


def test_unverified_addresses_are_not_matched(world):
    """Someone else may have created the account and would share it with the person from the provider."""
    made = provider(world)
    with world.context.db.write() as tx:
        squatter = insert_user(tx, "ada@example.org", "Squatter", verified=False).id
        set_password_hash(tx, squatter, passwords.hash_password("a long enough one"))
        upsert_member(tx, world.home["organizationId"], squatter, "read", accepted=True)
    assert waiting(sign_in(world, made))


def test_accounts_created_by_the_organization_match_until_the_owner_verifies_the_address(world):
    made = provider(world)
    ada = world.post(
        "admin", world.home.path("/orgs/{organizationId}/scim/v2/Users"), {"userName": "ada@example.org"}
    )
    assert me(world, session(sign_in(world, made)))["id"] == ada["id"]
    other = provider(world, world.away)
    assert waiting(sign_in(world, other, id="_two"))
    with world.context.db.write() as tx:
        verify_address(tx, ada["id"])
        assert tx.value("SELECT managed_by FROM users WHERE id = :id", id=ada["id"]) is None
    assert waiting(sign_in(world, made, id="_three"))


def test_a_member_matches_by_address_and_only_reaches_this_organization(world):
    made = provider(world)
    with world.context.db.write() as tx:
        upsert_member(tx, world.away["organizationId"], world.users["reader"], "admin")
    answer = sign_in(world, made, email="Reader@Example.org")
    headers = bearer(session(answer))
    assert me(world, headers["authorization"][7:])["id"] == world.users["reader"]
    assert world.call("reader", "GET", world.away.path("/spaces/{spaceId}")).status_code == 200
    for path in ("/orgs/{organizationId}", "/spaces/{spaceId}", "/orgs/{organizationId}/spaces"):
        assert world.call(NOBODY, "GET", world.home.path(path), headers=headers).status_code == 200
        assert world.call(NOBODY, "GET", world.away.path(path), headers=headers).status_code == 404
    # It also gives no control over the account: no password, no two-factor authentication, no token with a wider reach.
    body = {"password": "a long enough one"}
    assert world.call(NOBODY, "PUT", "/user/password", headers=headers, json=body).status_code == 403
    assert world.call(NOBODY, "POST", "/user/mfa", headers=headers, json={}).status_code == 403
    token = world.call(NOBODY, "POST", "/user/tokens", headers=headers, json={"name": "x"}).json()
    assert token["organization"] == world.home["organizationId"]
    path = world.away.path("/orgs/{organizationId}")
    assert world.call(NOBODY, "GET", path, headers=bearer(token["token"])).status_code == 404
    listed = world.call(NOBODY, "GET", "/user/tokens", headers=headers).json()
    assert [t["id"] for t in listed["items"]] == [token["id"]]


@pytest.mark.sqlite_first
def test_a_provider_with_our_domain_signs_in_people_with_a_session(world):
    """Browsers send the session cookie when the provider is at another hostname of the same domain."""
    made = provider(world)
    asked = request_id(begin(world, made))
    own_session(world, "reader")
    said = encoded(sign(response_xml(**honest(made, in_response_to=asked, email="reader@example.org")), KEYS))
    headers = {"origin": "https://idp.test"}
    sent = world.call(NOBODY, "POST", made["service"]["acsURL"], data={"SAMLResponse": said}, headers=headers)
    assert sent.status_code == 303, sent.text
    answer = world.call(NOBODY, "GET", sent.headers["location"])
    assert me(world, session(answer))["id"] == world.users["reader"]


def test_required_sign_on_admits_sessions_of_the_provider(world):
    made = provider(world)
    with world.context.db.write() as tx:
        tx.run("""UPDATE organizations SET settings = '{"sso":true}'""")
        set_password_hash(tx, world.users["reader"], passwords.hash_password("a long enough one"))
    token = session(sign_in(world, made, email="reader@example.org"))
    path = world.home.path("/spaces/{spaceId}")
    assert world.call(NOBODY, "GET", path, headers=bearer(token)).status_code == 200
    body = {"email": "reader@example.org", "password": "a long enough one"}
    world._client.cookies.clear()
    by_password = world.call(NOBODY, "POST", "/sign-in", json=body).json()["token"]
    assert world.call(NOBODY, "GET", path, headers=bearer(by_password)).status_code == 403


def test_deleting_a_provider_ends_its_sessions_and_changing_its_entity_forgets_identities(world):
    made = provider(world)
    token = session(sign_in(world, made))
    ada = me(world, token)["id"]
    path = world.home.path(PROVIDERS) + f"/{made['id']}"
    assert world.call("admin", "PATCH", path, json={"entityID": "https://other.test"}).status_code == 200
    eve = session(sign_in(world, made, issuer="https://other.test", email="eve@example.org", id="_two"))
    assert me(world, eve)["id"] != ada
    assert world.call("admin", "DELETE", path).status_code == 205
    assert world.call(NOBODY, "GET", "/user", headers=bearer(token)).status_code == 401


@pytest.mark.sqlite_first
@pytest.mark.parametrize(
    "relay",
    [
        "https://evil.example/",
        "//evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "/%0d%0aX:y\r\nX: y",
        "javascript:x",
    ],
)
def test_redirects_stay_on_this_server(world, relay):
    made = provider(world, idpInitiated=True)
    world._client.cookies.clear()
    secret = waiting(post(world, made, sign(response_xml(**honest(made)), KEYS), relay=relay))
    assert use(world, "/sign-in/saml", secret).json() == {"next": "/"}
    asked = request_id(begin(world, made, next=relay))
    xml = response_xml(**honest(made, in_response_to=asked, id="_two"))
    assert arrive(world, made, sign(xml, KEYS)).headers["location"] == f"{URL}/"


def test_a_key_rotation_uses_two_certificates(world):
    made = provider(world, certificate=OTHER.certificate + KEYS.certificate)
    assert session(sign_in(world, made, KEYS))
    assert session(sign_in(world, made, OTHER, id="_two"))


# --- attacks ------------------------------------------------------------------------------------------


def forged_assertion(signed, email="admin@example.org", id="_evil"):
    """Return a copy of the signed assertion with another name and without its signature."""
    evil = copy.deepcopy(signed)
    evil.set("ID", id)
    signature = evil.find("ds:Signature", NS)
    if signature is not None:
        evil.remove(signature)
    evil.find("a:Subject/a:NameID", NS).text = "admin"
    evil.find("a:AttributeStatement/a:Attribute/a:AttributeValue", NS).text = email
    return evil


def wrap(made, how):
    """Wrap a signed element in one of eight ways (Somorovsky et al., On Breaking SAML, 2012)."""
    if how <= 2:
        root = sign(response_xml(**honest(made)), KEYS, element="p:Response")
        signature = root.find("ds:Signature", NS)
        evil = copy.deepcopy(root)
        evil.set("ID", "_evil")
        old = evil.find("a:Assertion", NS)
        evil.replace(old, forged_assertion(old))
        original = copy.deepcopy(root)
        original.remove(original.find("ds:Signature", NS))
        evil.remove(evil.find("ds:Signature", NS))
        if how == 1:  # the original response inside the moved signature
            moved = copy.deepcopy(signature)
            moved.append(original)
            evil.insert(1, moved)
        else:  # next to the signature
            evil.insert(1, copy.deepcopy(signature))
            evil.insert(2, original)
        return evil
    root = sign(response_xml(**honest(made)), KEYS)
    signed = root.find("a:Assertion", NS)
    evil = forged_assertion(signed)
    if how == 3:  # the forged one before it
        root.insert(list(root).index(signed), evil)
    elif how == 4:  # the signed one inside the forged one
        root.replace(signed, evil)
        evil.append(signed)
    elif how == 5:  # the forged one carries the signature, the original is behind
        signature = signed.find("ds:Signature", NS)
        signed.remove(signature)
        evil.insert(1, signature)
        root.replace(signed, evil)
        root.append(signed)
    elif how == 6:  # the original inside the signature that the forged one carries
        signature = signed.find("ds:Signature", NS)
        signed.remove(signature)
        evil.insert(1, signature)
        root.replace(signed, evil)
        signature.append(signed)
    elif how == 7:  # the signed one in the response's extensions, with the same ID
        extensions = etree.Element(f"{{{NS['p']}}}Extensions")
        same = forged_assertion(signed, id=signed.get("ID"))
        root.replace(signed, same)
        extensions.append(signed)
        root.insert(1, extensions)
    elif how == 8:  # the original in an Object of the signature
        signature = signed.find("ds:Signature", NS)
        signed.remove(signature)
        evil.insert(1, signature)
        root.replace(signed, evil)
        container = etree.SubElement(signature, f"{{{NS['ds']}}}Object")
        container.append(signed)
    return root


def tampered(made):
    root = sign(response_xml(**honest(made)), KEYS)
    root.find("a:Assertion/a:Subject/a:NameID", NS).text = "admin"
    return root


def commented(made):
    """Split the name with a comment, for parsers that read only the first text node (CVE-2017-11427)."""
    root = sign(response_xml(**honest(made, name_id="admin.evil", email="admin@example.org.evil.test")), KEYS)
    text = etree.tostring(root).decode()
    return text.replace("admin@example.org.evil.test", "admin@example.org<!-- -->.evil.test")


def two_signed(made):
    root = sign(response_xml(**honest(made)), KEYS)
    other = sign(response_xml(**honest(made, id="_second", email="admin@example.org")), KEYS)
    root.append(other.find("a:Assertion", NS))
    return root


def unsigned_beside(made):
    root = sign(response_xml(**honest(made)), KEYS)
    root.append(forged_assertion(root.find("a:Assertion", NS)))
    return root


def dtd(made, body="<!ENTITY who 'admin'>"):
    return f"<!DOCTYPE Response [{body}]>" + etree.tostring(sign(response_xml(**honest(made)), KEYS)).decode()


def foreign_encoding(made, encoding):
    xml = etree.tostring(sign(response_xml(**honest(made)), KEYS)).decode()
    return f'<?xml version="1.0" encoding="{encoding}"?>{xml}'.encode(encoding)


def status(made):
    xml = response_xml(**honest(made)).replace("status:Success", "status:Responder")
    return sign(xml, KEYS)


def with_another(made, name):
    root = etree.fromstring(response_xml(**honest(made)))
    element = root.find(f"a:Assertion/{name}", NS)
    element.addnext(copy.deepcopy(element))
    return sign(etree.tostring(root).decode(), KEYS)


def response_with_two_states(made):
    root = sign(response_xml(**honest(made)), KEYS)
    failed = copy.deepcopy(root.find("p:Status", NS))
    failed[0].set("Value", "urn:oasis:names:tc:SAML:2.0:status:Responder")
    root.append(failed)
    return root


def without(made, start, end):
    xml = response_xml(**honest(made))
    return sign(xml[: xml.index(start)] + xml[xml.index(end) + len(end) :], KEYS)


def several_references(made):
    root = sign(response_xml(**honest(made)), KEYS)
    info = root.find(".//ds:SignedInfo", NS)
    info.append(copy.deepcopy(info.find("ds:Reference", NS)))
    return root


def forged_only(made):
    root = sign(response_xml(**honest(made)), KEYS)
    signed = root.find("a:Assertion", NS)
    root.replace(signed, forged_assertion(signed))
    return root


ATTACKS = {
    **{f"wrapping {how}": lambda made, how=how: wrap(made, how) for how in range(1, 9)},
    "unsigned": lambda made: response_xml(**honest(made)),
    "signature taken off": forged_only,
    "tampered": tampered,
    "another key, embedded": lambda made: sign(response_xml(**honest(made)), OTHER),
    "another key on the response": lambda made: sign(
        response_xml(**honest(made)), OTHER, element="p:Response"
    ),
    "sha-1 signature": lambda made: sign(
        response_xml(**honest(made)), KEYS, method=xmlsec.constants.TransformRsaSha1
    ),
    "sha-1 digest": lambda made: sign(
        response_xml(**honest(made)), KEYS, digest=xmlsec.constants.TransformSha1
    ),
    "hmac with the certificate": lambda made: sign(
        response_xml(**honest(made)),
        KEYS,
        method=xmlsec.constants.TransformHmacSha256,
        secret=KEYS.certificate.encode(),
    ),
    "canonical form with comments": lambda made: sign(
        response_xml(**honest(made)), KEYS, canonical=xmlsec.constants.TransformExclC14NWithComments
    ),
    "comment in a name": commented,
    "two assertions": two_signed,
    "unsigned beside signed": unsigned_beside,
    "several references": several_references,
    "dtd": dtd,
    "external entity": lambda made: dtd(made, '<!ENTITY who SYSTEM "file:///etc/passwd">'),
    "entity bomb": lambda made: dtd(
        made, "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "x"}">' for n in range(10))
    ),
    "utf-16": lambda made: foreign_encoding(made, "utf-16"),
    "utf-7": lambda made: foreign_encoding(made, "utf-7"),
    "cdata": lambda made: (
        etree.tostring(sign(response_xml(**honest(made)), KEYS))
        .decode()
        .replace("ada@example.org", "<![CDATA[ada@example.org]]>")
    ),
    "another audience": lambda made: sign(response_xml(**honest(made, audience="https://other.test")), KEYS),
    "no audience": lambda made: without(made, "<a:AudienceRestriction>", "</a:AudienceRestriction>"),
    "another recipient": lambda made: sign(
        response_xml(
            **honest(made, recipient="https://other.test/acs", destination=made["service"]["acsURL"])
        ),
        KEYS,
    ),
    "a longer recipient": lambda made: sign(
        response_xml(
            **honest(
                made, recipient=made["service"]["acsURL"] + "/more", destination=made["service"]["acsURL"]
            )
        ),
        KEYS,
    ),
    "another destination": lambda made: sign(
        response_xml(**honest(made, destination=made["service"]["acsURL"] + "2")), KEYS
    ),
    "another issuer": lambda made: sign(response_xml(**honest(made, issuer="https://other.test")), KEYS),
    "answers what was not asked": lambda made: sign(
        response_xml(**honest(made, in_response_to="_unknown")), KEYS
    ),
    "expired": lambda made: sign(response_xml(**honest(made, begins=-600, ends=-120)), KEYS),
    "not valid yet": lambda made: sign(response_xml(**honest(made, begins=600, ends=900)), KEYS),
    "valid for a year": lambda made: sign(response_xml(**honest(made, ends=365 * 86_400)), KEYS),
    "no end": lambda made: sign(
        response_xml(**honest(made))
        .replace("NotOnOrAfter", "NotBefore", 1)
        .replace("<a:SubjectConfirmationData\n NotBefore", "<a:SubjectConfirmationData\n Address"),
        KEYS,
    ),
    "not a success": status,
    "no name": lambda made: without(made, "<a:NameID>", "</a:NameID>"),
    "no conditions": lambda made: without(made, "<a:Conditions", "</a:Conditions>"),
    "no statement": lambda made: without(made, "<a:AuthnStatement", "</a:AuthnStatement>"),
    "two conditions": lambda made: with_another(made, "a:Conditions"),
    "two subjects": lambda made: with_another(made, "a:Subject"),
    "two issuers": lambda made: with_another(made, "a:Issuer"),
    "two statements": lambda made: with_another(made, "a:AuthnStatement"),
    "a session that is over": lambda made: sign(
        response_xml(**honest(made)).replace(
            "<a:AuthnStatement ", f'<a:AuthnStatement SessionNotOnOrAfter="{instant(-120)}" '
        ),
        KEYS,
    ),
    "another version": lambda made: sign(
        response_xml(**honest(made)).replace('Version="2.0"', 'Version="1.1"', 1), KEYS
    ),
    "two states": response_with_two_states,
    "not base64": lambda made: "%%%",
    "not xml": lambda made: encoded("hello"),
    "empty": lambda made: "",
    "deep": lambda made: encoded("<a>" * 100_000),
    "another root": lambda made: encoded(
        etree.tostring(sign(response_xml(**honest(made)), KEYS).find("a:Assertion", NS))
    ),
}


def document_of(attack, made):
    found = attack(made)
    return found if isinstance(found, str) and not found.lstrip().startswith("<") else encoded(found)


@pytest.mark.sqlite_first
@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_refused_and_changes_nothing(world, name):
    made = provider(world, idpInitiated=True)  # so that it isn't refused for being unsolicited
    before = world.digest()
    answer = post(world, made, document_of(ATTACKS[name], made))
    assert answer.status_code == (400 if name == "empty" else 401), answer.text
    assert "set-cookie" not in answer.headers
    assert world.digest() == before


def test_the_unmodified_response_of_each_attack_is_accepted(world):
    made = provider(world, idpInitiated=True)
    for n, options in enumerate(
        (
            {},
            {"element": "p:Response"},
            {"canonical": xmlsec.constants.TransformInclC14N},
            {"method": xmlsec.constants.TransformRsaSha512, "digest": xmlsec.constants.TransformSha512},
        )
    ):
        answer = post(world, made, sign(response_xml(**honest(made, id=f"_{n}")), KEYS, **options))
        assert waiting(answer), options


def reader_of(world, made):
    """Return a function that reads a document as a response of this provider."""
    service = Service(made["service"]["acsURL"], made["service"]["startURL"], made["service"]["entityID"])
    with world.context.db.read() as tx:
        row = find_provider(tx, made["id"])
    return lambda root: read_response(encoded(root), row, service, now())


def test_no_part_of_a_signed_response_can_be_changed(world):
    """Every single character of text and attributes in the assertion is protected."""
    made = provider(world)
    read = reader_of(world, made)
    whole = sign(response_xml(**honest(made)), KEYS)
    assert read(whole).email == "ada@example.org"
    places = 0
    for number, element in enumerate(whole.find("a:Assertion", NS).iter()):
        if element.tag.startswith(f"{{{NS['ds']}}}X509"):
            continue
        for attribute in (None, *element.keys()):
            changed = copy.deepcopy(whole)
            target = list(changed.find("a:Assertion", NS).iter())[number]
            if attribute is None:
                if not (target.text or "").strip():
                    continue
                target.text = target.text[:-1] + ("A" if target.text[-1] != "A" else "B")
            else:
                target.set(attribute, target.get(attribute) + "x")
            with pytest.raises(RefusedResponse):
                read(changed)
            places += 1
    assert places > 20


@pytest.mark.sqlite_first
@pytest.mark.parametrize("element", ["a:Assertion", "p:Response"])
def test_saml_responses_with_missing_parts_are_refused(world, element):
    """Elements, attributes, and texts of the signed part, of its signature, and of the response around it."""
    made = provider(world)
    read = reader_of(world, made)
    whole = sign(response_xml(**honest(made)), KEYS, element=element)
    assert read(whole).email == "ada@example.org"
    accepted = set()
    for number, one in enumerate(whole.iter()):
        for part in (None, "", *one.keys()):
            changed = copy.deepcopy(whole)
            target = list(changed.iter())[number]
            if part is None:
                if target.getparent() is None:
                    continue
                target.getparent().remove(target)
            elif part == "":
                if not (target.text or "").strip():
                    continue
                target.text = None
            else:
                del target.attrib[part]
            try:
                read(changed)
            except RefusedResponse:
                continue
            accepted.add((etree.QName(one).localname, part))
    # Unsigned and unused parts: hints on the key, and the unsigned parts of a response.
    hints = {(name, part) for name in ("KeyInfo", "X509Data", "X509Certificate") for part in (None, "")}
    loose = {("Response", "Destination"), ("Response", "ID"), ("Response", "IssueInstant"), ("Issuer", None)}
    assert accepted <= (hints | loose if element == "a:Assertion" else hints)


@pytest.mark.sqlite_first
def test_a_certificate_that_expired_still_signs_people_in(world):
    """Providers keep using expired certificates. Trust is based on the configured key."""
    old = Keys(days=-30)
    made = provider(world, certificate=old.certificate)
    assert reader_of(world, made)(sign(response_xml(**honest(made)), old)).email == "ada@example.org"


def test_forms_are_decoded_as_browsers_send_them(world):
    made = provider(world)
    acs = made["service"]["acsURL"]
    document = encoded(sign(response_xml(**honest(made)), KEYS))
    assert world.call(NOBODY, "POST", acs, json={"SAMLResponse": document}).status_code == 400
    assert world.call(NOBODY, "POST", acs, data={"SAMLResponse": [document, document]}).status_code == 400
    assert world.call(NOBODY, "POST", acs, data={"x": "y"}).status_code == 400
    assert (
        world.call(
            NOBODY, "POST", acs.replace(made["id"], "unknown"), data={"SAMLResponse": document}
        ).status_code
        == 404
    )
