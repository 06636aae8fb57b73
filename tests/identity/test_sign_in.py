"""Passwords, sessions, links, two-factor authentication, and tokens, through the entire HTTP stack on both
engines."""

import msgspec
import pyotp
import pytest
from argon2 import PasswordHasher, Type, extract_parameters

from octavo.kit.clock import now
from octavo.kit.http.operation import TABLE, Person
from octavo.organization.access.accounts import set_password_hash
from octavo.organization.access.members import upsert_member
from octavo.organization.access.scopes import AREAS, Reach, allows
from octavo.organization.identity import attempts, passwords, sessions, signing_in
from world import NOBODY, PRODUCT_HASHER, URL

PASSWORD = "correct horse battery"


@pytest.fixture(scope="module")
def hashed():
    return passwords.hash_password(PASSWORD)


@pytest.fixture
def reader(world, hashed):
    """Give the reader a password and return their email address."""
    with world.context.db.write() as tx:
        set_password_hash(tx, world.users["reader"], hashed)
    world._client.cookies.clear()
    return "reader@example.org"


def sign_in(world, email, password=PASSWORD, **more):
    headers = more.pop("headers", {})
    return world.call(
        NOBODY, "POST", "/sign-in", json={"email": email, "password": password, **more}, headers=headers
    )


def bearer(token):
    return {"authorization": f"Bearer {token}"}


def test_a_password_session_works_and_ends_immediately(world, reader):
    answer = sign_in(world, "Reader@Example.org ")
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    assert "set-cookie" not in answer.headers
    token = answer.json()["token"]
    assert world.call(NOBODY, "GET", "/user", headers=bearer(token)).json()["id"] == world.users["reader"]
    listed = world.call(NOBODY, "GET", "/user/sessions", headers=bearer(token)).json()
    assert [(s["method"], s["current"]) for s in listed["items"]] == [("password", True)]
    other = sign_in(world, reader).json()
    path = f"/user/sessions/{listed['items'][0]['id']}"
    assert world.call("editor", "DELETE", path, headers=world.session("editor")).status_code == 204
    assert world.call(NOBODY, "DELETE", path, headers=bearer(other["token"])).status_code == 205
    assert world.call(NOBODY, "GET", "/user", headers=bearer(token)).status_code == 401
    assert world.call(NOBODY, "POST", "/sign-out", headers=bearer(other["token"])).status_code == 204
    assert world.call(NOBODY, "GET", "/user", headers=bearer(other["token"])).status_code == 401


def test_a_session_ends_when_it_is_old_or_idle(world, reader, clock):
    token = sign_in(world, reader).json()["token"]
    real = now()
    clock.set(real + 8 * 24 * 3_600_000)
    assert world.call(NOBODY, "GET", "/user", headers=bearer(token)).status_code == 401
    clock.reset()
    with world.context.db.write() as tx:
        tx.run("UPDATE sessions SET last_used_at = :at", at=real + sessions.LIFETIME - 1000)
    clock.set(real + sessions.LIFETIME + 1000)
    assert world.call(NOBODY, "GET", "/user", headers=bearer(token)).status_code == 401


def test_a_wrong_address_and_a_wrong_password_get_the_same_response(world, reader):
    wrong = sign_in(world, reader, "wrong password")
    unknown = sign_in(world, "nobody.at.all@example.org", "wrong password")
    with world.context.db.write() as tx:
        tx.run("UPDATE users SET password_hash = NULL WHERE id = :id", id=world.users["editor"])
        tx.run("UPDATE users SET disabled = 1 WHERE id = :id", id=world.users["reader"])
    without = sign_in(world, "editor@example.org", "wrong password")
    disabled = sign_in(world, reader)
    assert {a.status_code for a in (wrong, unknown, without, disabled)} == {401}
    assert len({a.content for a in (wrong, unknown, without, disabled)}) == 1


class CountingHasher(PasswordHasher):
    """Records the cost of each verified hash."""

    def __init__(self):
        super().__init__(time_cost=1, memory_cost=8, parallelism=1)
        self.compared = []

    def verify(self, hash, password):
        self.compared.append(extract_parameters(hash))
        return super().verify(hash, password)


def test_an_unknown_address_takes_as_long_as_a_wrong_password(world, reader, monkeypatch):
    hasher = CountingHasher()
    monkeypatch.setattr(passwords, "_HASHER", hasher)
    with world.context.db.write() as tx:
        tx.run("UPDATE users SET password_hash = NULL WHERE id = :id", id=world.users["editor"])
        tx.run("UPDATE users SET disabled = 1 WHERE id = :id", id=world.users["guest"])
    work = []
    for email in (reader, "unknown@example.org", "editor@example.org", "guest@example.org"):
        hasher.compared.clear()
        assert sign_in(world, email, "wrong password").status_code == 401
        work.append((email, list(hasher.compared)))
    assert work[0][1] == [extract_parameters(hasher.hash(PASSWORD))]
    assert [email for email, compared in work if compared != work[0][1]] == []


def test_hashing_a_password_has_the_configured_cost():
    """At least the parameters that RFC 9106, section 4, recommends for limited memory."""
    assert (PRODUCT_HASHER.type, PRODUCT_HASHER.parallelism) == (Type.ID, 1)
    assert PRODUCT_HASHER.time_cost >= 3 and PRODUCT_HASHER.memory_cost >= 64 * 1024


@pytest.mark.parametrize("email", ["reader@example.org", "unknown@example.org"])
def test_guessing_is_limited_for_known_and_unknown_addresses(world, reader, email, monkeypatch):
    monkeypatch.setattr(
        passwords, "verify_password", lambda stored, given: given == PASSWORD and stored is not None
    )
    for _ in range(attempts.PER_ACCOUNT_AND_ADDRESS):
        assert sign_in(world, email, "wrong password").status_code == 401
    refused = sign_in(world, email)
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) > 0
    # Another account from the same address is not affected.
    with world.context.db.write() as tx:
        set_password_hash(tx, world.users["editor"], "set")
    assert sign_in(world, "editor@example.org").status_code == 200


def test_guessing_from_one_ip_address_is_limited(world, monkeypatch):
    monkeypatch.setattr(passwords, "verify_password", lambda stored, given: False)
    monkeypatch.setattr(attempts, "PER_ADDRESS", 15)
    answers = [sign_in(world, f"user{n}@example.org", "wrong password").status_code for n in range(17)]
    assert answers == [401] * 15 + [429] * 2


def test_successful_sign_ins_do_not_count_as_guesses(world, reader, monkeypatch):
    monkeypatch.setattr(passwords, "verify_password", lambda stored, given: given == PASSWORD)
    answers = {sign_in(world, reader).status_code for _ in range(attempts.PER_ACCOUNT_AND_ADDRESS + 3)}
    assert answers == {200}


def test_hashing_is_limited(monkeypatch):
    monkeypatch.setattr(passwords, "_WAIT", 0.01)
    taken = [passwords._SLOTS.acquire() for _ in range(2)]
    try:
        with pytest.raises(passwords.TooManyRequests):
            passwords.hash_password(PASSWORD)
    finally:
        for _ in taken:
            passwords._SLOTS.release()


# --- the cookie ---------------------------------------------------------------------------------------


def test_the_cookie_is_only_accepted_from_own_pages(world, reader):
    ours, theirs = {"origin": URL}, {"origin": "https://evil.example"}
    assert sign_in(world, reader, cookie=True, headers=theirs).status_code == 403
    assert sign_in(world, reader, cookie=True).status_code == 403
    answer = sign_in(world, reader, cookie=True, headers=ours)
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=Lax" in cookie and "Path=/" in cookie
    assert world.call(NOBODY, "GET", "/user").json()["id"] == world.users["reader"]
    change = {"json": {"name": "x"}}
    assert world.call(NOBODY, "POST", "/user/tokens", **change).status_code == 403
    assert world.call(NOBODY, "POST", "/user/tokens", headers=theirs, **change).status_code == 403
    assert world.call(NOBODY, "POST", "/user/tokens", headers={"origin": "null"}, **change).status_code == 403
    site = {"sec-fetch-site": "same-site"}
    assert world.call(NOBODY, "POST", "/user/tokens", headers=site, **change).status_code == 403
    assert world.call(NOBODY, "POST", "/user/tokens", headers=ours, **change).status_code == 201
    # An Authorization header takes precedence over the cookie.
    assert world.call("editor", "GET", "/user").json()["id"] == world.users["editor"]
    assert world.call(NOBODY, "POST", "/sign-out", headers=ours).status_code == 204
    assert world.call(NOBODY, "GET", "/user").status_code == 401
    # An old cookie doesn't prevent signing in.
    world._client.cookies.set("octavo", answer.json()["token"])
    assert sign_in(world, reader, cookie=True, headers=ours).status_code == 200
    world._client.cookies.clear()


# --- deactivated and removed people -------------------------------------------------------------------------------


def test_a_deactivated_user_loses_access_immediately(world, reader):
    token = sign_in(world, reader).json()["token"]
    assert world.call("reader", "GET", "/user").status_code == 200
    with world.context.db.write() as tx:
        tx.run("UPDATE users SET disabled = 1 WHERE id = :id", id=world.users["reader"])
    assert world.call("reader", "GET", "/user").status_code == 401
    assert world.call(NOBODY, "GET", "/user", headers=bearer(token)).status_code == 401


def test_a_disabled_member_loses_access_immediately(world, reader):
    token = sign_in(world, reader).json()["token"]
    space = world.home.path("/spaces/{spaceId}")
    assert world.call(NOBODY, "GET", space, headers=bearer(token)).status_code == 200
    with world.context.db.write() as tx:
        tx.run("UPDATE members SET disabled = 1 WHERE user_id = :id", id=world.users["reader"])
    for path in (space, world.home.path("/orgs/{organizationId}")):
        assert world.call("reader", "GET", path).status_code == 404
        assert world.call(NOBODY, "GET", path, headers=bearer(token)).status_code == 404


# --- password and links -------------------------------------------------------------------------------


def test_changing_the_password_ends_other_sessions(world, reader):
    one, two = (sign_in(world, reader).json()["token"] for _ in range(2))

    def change(token, **body):
        return world.call(NOBODY, "PUT", "/user/password", headers=bearer(token), json=body).status_code

    assert change(one, password="short") == 400
    assert change(one, password="reader@example.org") == 400
    assert change(one, password="another long one") == 204
    assert world.call(NOBODY, "GET", "/user", headers=bearer(one)).status_code == 200
    assert world.call(NOBODY, "GET", "/user", headers=bearer(two)).status_code == 401
    assert sign_in(world, reader).status_code == 401
    assert sign_in(world, reader, "another long one").status_code == 200


def test_sign_in_links_require_an_email_server(world):
    answer = world.call(NOBODY, "POST", "/sign-in/link", json={"email": "reader@example.org"})
    assert answer.status_code == 503


def test_an_emailed_link_signs_in_once(world, reader, monkeypatch):
    sent = []
    monkeypatch.setattr(signing_in.mail, "send", lambda url, **mail: sent.append(mail))
    settings = world.context.settings
    world.context.settings = msgspec.structs.replace(settings, smtp_url="smtp://mail.test:25")
    try:
        for email in ("reader@example.org", "nobody.at.all@example.org"):
            answer = world.call(NOBODY, "POST", "/sign-in/link", json={"email": email})
            assert (answer.status_code, answer.content) == (204, b"")
            signing_in.mail_link(world.context, email)
        assert [mail["to"] for mail in sent] == ["reader@example.org"]
        secret = sent[0]["text"].partition("link=")[2].split()[0]
        used = world.call(NOBODY, "POST", "/sign-in/link/use", json={"link": secret})
        assert used.json()["status"] == "signed-in"
        again = world.call(NOBODY, "POST", "/sign-in/link/use", json={"link": secret})
        assert again.status_code == 401
        # A person with access to the mailbox can set a new password without the old one.
        token = used.json()["token"]
        body = {"password": "forgot the old one"}
        assert (
            world.call(NOBODY, "PUT", "/user/password", headers=bearer(token), json=body).status_code == 204
        )
    finally:
        world.context.settings = settings


def test_discovery_does_not_reveal_accounts(world):
    answers = [
        world.call(NOBODY, "POST", "/sign-in/discover", json={"email": email})
        for email in ("reader@example.org", "unknown@example.org")
    ]
    assert answers[0].content == answers[1].content
    assert answers[0].json() == {"methods": ["password"], "sso": []}


# --- two-factor authentication --------------------------------------------------------------------------------


@pytest.fixture
def enrolled(world, reader):
    """Turn on two-factor authentication for the reader; returns (address, TOTP, recovery codes, the used
    code)."""
    token = sign_in(world, reader).json()["token"]
    start = world.call(NOBODY, "POST", "/user/mfa", headers=bearer(token))
    totp = pyotp.TOTP(start.json()["secret"])
    assert pyotp.parse_uri(start.json()["uri"]).secret == totp.secret
    assert world.call(NOBODY, "GET", "/user/mfa", headers=bearer(token)).json()["enabled"] is False
    used = totp.now()
    bad = world.call(NOBODY, "POST", "/user/mfa/confirm", headers=bearer(token), json={"code": "000000x"})
    assert bad.status_code == 400
    done = world.call(NOBODY, "POST", "/user/mfa/confirm", headers=bearer(token), json={"code": used})
    codes = done.json()["recoveryCodes"]
    assert len(set(codes)) == 10
    return reader, totp, codes, used


def test_a_two_factor_code_is_required_and_valid_once(world, enrolled, clock):
    email, totp, _, used = enrolled

    def code_in(seconds):
        return totp.at(clock.advance(seconds * 1000) // 1000)

    waiting = sign_in(world, email).json()
    assert waiting["status"] == "code-needed" and "token" not in waiting

    def second(code, challenge=waiting["challenge"]):
        return world.call(NOBODY, "POST", "/sign-in/code", json={"challenge": challenge, "code": code})

    assert second(used).status_code == 401  # used by the enrollment
    code = code_in(90)
    assert second(code).json()["status"] == "signed-in"
    assert second(code).status_code == 401
    assert second(code_in(150), "forged." + waiting["challenge"]).status_code == 401
    assert sign_in(world, email, code=code_in(200)).json()["status"] == "signed-in"
    assert sign_in(world, email, "wrong password", code=code_in(300)).status_code == 401


def test_a_recovery_code_is_valid_once(world, enrolled):
    email, _, codes, _ = enrolled
    assert sign_in(world, email, code=codes[0].upper()).json()["status"] == "signed-in"
    assert sign_in(world, email, code=codes[0]).status_code == 401
    token = sign_in(world, email, code=codes[1]).json()["token"]
    left = world.call(NOBODY, "GET", "/user/mfa", headers=bearer(token)).json()
    assert left == {"enabled": True, "recoveryCodesLeft": 8}
    # A session alone can't turn it off.
    end = {"headers": bearer(token)}
    assert world.call(NOBODY, "POST", "/user/mfa/end", json={"code": "123456"}, **end).status_code == 403
    assert world.call(NOBODY, "POST", "/user/mfa", **end).status_code == 409
    assert world.call(NOBODY, "POST", "/user/mfa/end", json={"code": codes[2]}, **end).status_code == 204
    assert sign_in(world, email).json()["status"] == "signed-in"


def test_codes_cannot_be_guessed(world, enrolled, clock):
    email, totp, *_ = enrolled
    clock.set((now() // attempts.WINDOW + 1) * attempts.WINDOW)  # keep the entire test in one window
    challenge = sign_in(world, email).json()["challenge"]
    body = {"challenge": challenge, "code": "abcdef"}
    answers = [world.call(NOBODY, "POST", "/sign-in/code", json=body).status_code for _ in range(11)]
    assert answers == [401] * 10 + [429]
    body["code"] = totp.at(clock.advance(90_000) // 1000)
    assert world.call(NOBODY, "POST", "/sign-in/code", json=body).status_code == 429


# --- tokens -------------------------------------------------------------------------------------------


def test_a_personal_token_is_valid_until_it_expires(world):
    made = world.post("reader", "/user/tokens", {"name": " CI "})
    assert (made["name"], made["scopes"], made["token"][:4]) == ("CI", None, "oct_")
    listed = world.get("reader", "/user/tokens")["items"]
    assert listed[0]["id"] == made["id"] and "token" not in listed[0]
    assert world.call(NOBODY, "GET", "/user", headers=bearer(made["token"])).status_code == 200
    path = f"/user/tokens/{made['id']}"
    assert world.call("editor", "DELETE", path, headers=world.session("editor")).status_code == 204
    assert world.call(NOBODY, "GET", "/user", headers=bearer(made["token"])).status_code == 200
    assert world.call("reader", "DELETE", path, headers=world.session("reader")).status_code == 205
    assert world.call("reader", "DELETE", path, headers=world.session("reader")).status_code == 204
    assert world.call(NOBODY, "GET", "/user", headers=bearer(made["token"])).status_code == 401


def test_a_token_expires(world, clock):
    for wrong in ("2020-01-01T00:00:00Z", "tomorrow"):
        body = {"name": "x", "expiresAt": wrong}
        answer = world.call("reader", "POST", "/user/tokens", json=body)
        assert answer.status_code == 400 and "expiresAt" in answer.json()["error"]["message"]
    made = world.post("reader", "/user/tokens", {"name": "x", "expiresAt": "2100-01-01T00:00:00Z"})
    assert made["expiresAt"] == "2100-01-01T00:00:00.000Z"
    assert world.call(NOBODY, "GET", "/user", headers=bearer(made["token"])).status_code == 200
    clock.set(4_102_444_800_001)
    assert world.call(NOBODY, "GET", "/user", headers=bearer(made["token"])).status_code == 401


def test_scopes_limit_a_token_and_everything_it_creates(world):
    unknown = world.call("admin", "POST", "/user/tokens", json={"name": "x", "scopes": ["everything"]})
    assert unknown.status_code == 400

    def token(*scopes):
        return bearer(world.post("admin", "/user/tokens", {"name": "x", "scopes": list(scopes)})["token"])

    org, spaces = world.home.path("/orgs/{organizationId}"), world.home.path("/orgs/{organizationId}/spaces")

    def reach(headers):
        return (
            world.call(NOBODY, "GET", org, headers=headers).status_code,
            world.call(NOBODY, "GET", spaces, headers=headers).status_code,
            world.call(NOBODY, "POST", spaces, headers=headers, json={"title": "New"}).status_code,
            world.call(NOBODY, "POST", "/user/tokens", headers=headers, json={"name": "y"}).status_code,
        )

    assert reach(token("read")) == (200, 200, 403, 403)
    assert reach(token("spaces:read")) == (403, 200, 403, 403)
    assert reach(token("spaces:write")) == (403, 200, 201, 403)
    assert reach(token("read", "write")) == (200, 200, 201, 403)
    assert reach(token("admin")) == (200, 200, 201, 201)
    narrow = token("access:write", "spaces:read")
    for scopes, status in ((["spaces:read"], 201), (["spaces:write"], 403), (["admin"], 403)):
        body = {"name": "z", "scopes": scopes}
        answer = world.call(NOBODY, "POST", "/user/tokens", headers=narrow, json=body)
        assert answer.status_code == status, scopes


def test_every_operation_has_an_area():
    assert {operation.area for operation in TABLE.values()} <= set(AREAS)
    reading = [
        o.id for o in TABLE.values() if o.method != "GET" and allows(Reach(Person, frozenset({"read"})), o)
    ]
    assert reading == ["signOut"]


# --- service accounts ---------------------------------------------------------------------------------


def test_a_service_account_only_acts_in_its_organization(world):
    base = world.home.path("/orgs/{organizationId}/service-accounts")
    account = world.post("admin", base, {"name": "Importer", "role": "create"})
    made = world.post("admin", f"{base}/{account['id']}/tokens", {"name": "one"})
    headers = bearer(made["token"])
    spaces = world.home.path("/orgs/{organizationId}/spaces")
    assert world.call(NOBODY, "POST", spaces, headers=headers, json={"title": "New"}).status_code == 201
    assert (
        world.call(NOBODY, "GET", world.away.path("/orgs/{organizationId}"), headers=headers).status_code
        == 404
    )
    assert world.call(NOBODY, "POST", "/orgs", headers=headers, json={"title": "Own"}).status_code == 403
    password = {"password": "a long enough one"}
    assert world.call(NOBODY, "PUT", "/user/password", headers=headers, json=password).status_code == 403
    # Even as a member elsewhere, because its token is bound to the organization.
    with world.context.db.write() as tx:
        upsert_member(tx, world.away["organizationId"], account["id"], "admin")
    assert (
        world.call(NOBODY, "GET", world.away.path("/orgs/{organizationId}"), headers=headers).status_code
        == 404
    )
    assert world.call(NOBODY, "GET", world.away.path("/spaces/{spaceId}"), headers=headers).status_code == 404
    listed = world.call(NOBODY, "GET", "/orgs", headers=headers).json()
    assert [o["id"] for o in listed["items"]] == [world.home["organizationId"]] and listed["count"] == 1

    foreign = world.away.path("/orgs/{organizationId}/service-accounts")
    before = world.digest()
    assert world.call("stranger", "GET", f"{foreign}/{account['id']}/tokens").status_code == 404
    assert (
        world.call("stranger", "POST", f"{foreign}/{account['id']}/tokens", json={"name": "x"}).status_code
        == 404
    )
    assert world.call("stranger", "DELETE", f"{foreign}/{account['id']}").status_code == 204
    assert (
        world.call("stranger", "DELETE", f"{foreign}/{account['id']}/tokens/{made['id']}").status_code == 404
    )
    assert world.digest() == before
    assert world.call("creator", "POST", base, json={"name": "x"}).status_code == 403
    assert world.call("creator", "GET", base).status_code == 403

    assert world.call("admin", "DELETE", f"{base}/{account['id']}").status_code == 205
    assert world.call(NOBODY, "GET", "/user", headers=headers).status_code == 401
    assert account["id"] not in [left["id"] for left in world.get("admin", base)["items"]]


def test_a_person_cannot_be_managed_as_a_service_account(world):
    base = world.home.path("/orgs/{organizationId}/service-accounts")
    reader = world.users["reader"]
    assert world.call("admin", "POST", f"{base}/{reader}/tokens", json={"name": "x"}).status_code == 404
    assert world.call("admin", "DELETE", f"{base}/{reader}").status_code == 204
    assert world.call("reader", "GET", "/user").status_code == 200


# --- forced single sign-on ----------------------------------------------------------------------------


def test_required_sign_on_only_admits_passwords_of_administrators(world, reader, hashed):
    with world.context.db.write() as tx:
        set_password_hash(tx, world.users["admin"], hashed)
        tx.run(
            """UPDATE organizations SET settings = '{"sso":true}' WHERE id = :id""",
            id=world.home["organizationId"],
        )
    mine = bearer(sign_in(world, reader).json()["token"])
    admins = bearer(sign_in(world, "admin@example.org").json()["token"])
    for path in ("/orgs/{organizationId}", "/spaces/{spaceId}", "/collections/{collectionId}"):
        assert world.call(NOBODY, "GET", world.home.path(path), headers=mine).status_code == 403
        assert world.call(NOBODY, "GET", world.home.path(path), headers=admins).status_code == 200
    assert world.call(NOBODY, "GET", "/user", headers=mine).status_code == 200
