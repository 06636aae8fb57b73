"""OpenID Connect with a real provider (authlib's server side), and invalid tokens."""

import base64
import hmac
import json

import httpx
import msgspec
import pytest
from joserfc import jwk, jwt

from identity_providers import query_of
from octavo.errors import Unauthorized
from octavo.kit.clock import now
from octavo.organization.identity.oidc import read_id_token
from world import NOBODY, URL


@pytest.fixture(scope="module")
def issuer():
    import oidc_provider_mock  # takes a second

    with oidc_provider_mock.run_server_in_thread() as server:
        base = f"http://localhost:{server.server_port}"
        for sub, claims in {
            "ada": {"email": "ada@example.org", "email_verified": True, "name": "Ada Lovelace"},
            "rita": {"email": "Reader@example.org", "email_verified": True},
            "eve": {"email": "admin@example.org", "email_verified": False},
            "word": {"email": "admin@example.org", "email_verified": "true"},
        }.items():
            httpx.put(f"{base}/users/{sub}", json=claims).raise_for_status()
        yield base


@pytest.fixture
def oidc(world, issuer):
    settings = world.context.settings
    world.context.settings = msgspec.structs.replace(
        settings,
        oidc_issuer=issuer,
        oidc_client_id="octavo",
        oidc_client_secret="secret",
        allow_private_fetch=issuer.removeprefix("http://"),
    )
    world._client.cookies.clear()
    yield world
    world._client.cookies.clear()
    world.context.settings = settings


def begin(world, **query):
    answer = world.call(NOBODY, "GET", "/oidc/start", params=query)
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


def approve(url, sub):
    return httpx.post(url, data={"sub": sub}).headers["location"]


@pytest.mark.sqlite_first
def test_a_new_person_signs_in(oidc):
    world = oidc
    url = begin(world, next="/o/1")
    asked = query_of(url)
    assert asked["code_challenge_method"] == "S256" and asked["redirect_uri"] == f"{URL}/v1/oidc/callback"
    back = approve(url, "ada")
    answer = world.call(NOBODY, "GET", back)
    assert answer.status_code == 303, answer.text
    assert answer.headers["location"] == f"{URL}/o/1"
    ada = world.call(NOBODY, "GET", "/user").json()
    assert (ada["email"], ada["displayName"]) == ("ada@example.org", "Ada Lovelace")
    assert world.call(NOBODY, "GET", back).status_code == 401  # state and code can be used once
    answer = world.call(NOBODY, "GET", approve(begin(world), "ada"))
    assert answer.headers["location"] == f"{URL}/"
    assert world.call(NOBODY, "GET", "/user").json()["id"] == ada["id"]
    # The account is deactivated, and the provider can't restore it.
    with world.context.db.write() as tx:
        tx.run("UPDATE users SET disabled = 1 WHERE id = :id", id=ada["id"])
    assert world.call(NOBODY, "GET", "/user").status_code == 401
    assert world.call(NOBODY, "GET", approve(begin(world), "ada")).status_code == 403


@pytest.mark.sqlite_first
def test_only_a_verified_address_matches_an_account(oidc):
    world = oidc
    assert world.call(NOBODY, "GET", approve(begin(world), "rita")).status_code == 303
    assert world.call(NOBODY, "GET", "/user").json()["id"] == world.users["reader"]
    world._client.cookies.clear()
    for sub in ("eve", "word"):
        assert world.call(NOBODY, "GET", approve(begin(world), sub)).status_code == 403
        assert world.call(NOBODY, "GET", "/user").status_code == 401


def test_another_browser_cannot_complete_a_sign_in(oidc):
    world = oidc
    back = approve(begin(world), "ada")
    world._client.cookies.clear()
    assert world.call(NOBODY, "GET", back).status_code == 401
    begin(world)  # the cookie of another sign-in isn't accepted either
    assert world.call(NOBODY, "GET", back).status_code == 401
    assert world.call(NOBODY, "GET", "/oidc/callback?state=unknown&code=x").status_code == 401


@pytest.mark.sqlite_first
@pytest.mark.parametrize("wanted", ["https://evil.example", "//evil.example", "/\\evil.example", "/a\nb"])
def test_redirects_stay_on_this_server(oidc, wanted):
    back = approve(begin(oidc, next=wanted), "ada")
    assert oidc.call(NOBODY, "GET", back).headers["location"] == f"{URL}/"


def test_sign_in_without_a_provider_is_not_found(world):
    assert world.call(NOBODY, "GET", "/oidc/start").status_code == 503


def test_a_provider_in_a_private_network_must_be_allowed_by_a_setting(oidc):
    oidc.context.settings = msgspec.structs.replace(
        oidc.context.settings, oidc_issuer="http://127.0.0.1:9", allow_private_fetch=""
    )
    refused = oidc.call(NOBODY, "GET", "/oidc/start")
    assert refused.status_code == 502 and "127.0.0.1" not in refused.text, "anybody may see it"


@pytest.mark.sqlite_first
def test_an_unavailable_provider_is_reported(oidc):
    """Both before the redirect and on return from the provider."""
    back = approve(begin(oidc), "ada")
    oidc.context.settings = msgspec.structs.replace(
        oidc.context.settings, oidc_issuer="http://localhost:9", allow_private_fetch="localhost:9"
    )
    for path in ("/oidc/start", back):
        page = oidc.call(NOBODY, "GET", path, headers={"accept": "text/html"})
        assert page.status_code == 502 and "<title>You aren&#39;t signed in" in page.text
        assert "localhost:9" not in page.text, "anybody may see it"


# --- invalid tokens ------------------------------------------------------------------------

KEY = jwk.RSAKey.generate_key(2048, {"kid": "one", "use": "sig"})
OTHER = jwk.RSAKey.generate_key(2048, {"kid": "one", "use": "sig"})
KEYS = {"keys": [KEY.as_dict(private=False)]}


def claims(**changes):
    moment = now() // 1000
    found = {
        "iss": "https://idp.test",
        "aud": "octavo",
        "sub": "ada",
        "nonce": "n",
        "iat": moment,
        "exp": moment + 300,
        "email": "ada@example.org",
        "email_verified": True,
    }
    return {name: value for name, value in (found | changes).items() if value is not None}


def token(key=KEY, alg="RS256", header=None, **changes):
    return jwt.encode({"alg": alg, "kid": "one"} | (header or {}), claims(**changes), key, algorithms=[alg])


def part(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def read(text, keys=KEYS):
    return read_id_token(text, keys, issuer="https://idp.test", client_id="octavo", nonce="n")


def test_a_valid_token_is_accepted():
    assert read(token()).email == "ada@example.org"
    assert read(token(aud=["octavo"])).subject == "ada"
    assert read(token(aud=["octavo", "api"], azp="octavo")).subject == "ada"
    assert read(token(email_verified=None)).email is None


def hmac_with_public_key():
    signed = f"{part({'alg': 'HS256', 'kid': 'one'})}.{part(claims())}"
    mac = hmac.digest(KEY.as_pem(private=False), signed.encode(), "sha256")
    return f"{signed}.{base64.urlsafe_b64encode(mac).rstrip(b'=').decode()}"


FORGERIES = {
    "alg none": lambda: f"{part({'alg': 'none'})}.{part(claims())}.",
    "alg None": lambda: f"{part({'alg': 'None', 'kid': 'one'})}.{part(claims())}.",
    "hmac with the public key": hmac_with_public_key,
    "another key under the same id": lambda: token(OTHER),
    "an embedded key": lambda: token(OTHER, header={"jwk": OTHER.as_dict(private=False)}),
    "an unknown key": lambda: token(header={"kid": "two"}),
    "another issuer": lambda: token(iss="https://evil.test"),
    "another audience": lambda: token(aud="other"),
    "another audience in a list": lambda: token(aud=["other"]),
    "for several, not for us": lambda: token(aud=["octavo", "other"], azp="other"),
    "for several, not saying who": lambda: token(aud=["octavo", "other"]),
    "no audience": lambda: token(aud=None),
    "another nonce": lambda: token(nonce="m"),
    "no nonce": lambda: token(nonce=None),
    "expired": lambda: token(exp=now() // 1000 - 120),
    "no end": lambda: token(exp=None),
    "an end that is no number": lambda: token(exp="never"),
    "from the future": lambda: token(iat=now() // 1000 + 3600),
    "not yet": lambda: token(nbf=now() // 1000 + 3600),
    "nobody": lambda: token(sub=None),
    "nobody in particular": lambda: token(sub=""),
    "a number for a name": lambda: token(sub=5),
    "tampered": lambda: token()[:-4] + "AAAA",
    "cut": lambda: token().rpartition(".")[0],
    "nothing": lambda: "",
    "not a token": lambda: "a.b.c",
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_token_is_refused(name):
    with pytest.raises(Unauthorized):
        read(FORGERIES[name]())


def test_symmetric_keys_of_a_key_set_are_not_used():
    secret = jwk.OctKey.generate_key(256, {"kid": "one"})
    forged = jwt.encode({"alg": "HS256", "kid": "one"}, claims(), secret, algorithms=["HS256"])
    with pytest.raises(Unauthorized):
        read(forged, {"keys": [secret.as_dict()]})
