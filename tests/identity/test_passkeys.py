"""Passkeys: valid and invalid sign-ins."""

from __future__ import annotations

import msgspec
import pyotp
import pytest

from octavo.kit.clock import now
from octavo.organization.identity.verification import verify_address
from passkeys import Authenticator
from world import NOBODY, PASSWORD, URL, World

LAPTOP = {"name": "Laptop"}


def post(world: World, path: str, body: object = None, who: str = "") -> object:
    headers = world.session(who) if who else {}
    return world.call(who or NOBODY, "POST", path, json=body, headers=headers)


def made(world: World, who: str = "editor", **options: object) -> Authenticator:
    """Return an authenticator with a registered passkey."""
    key = Authenticator(URL, **options)
    started = post(world, "/user/passkeys/start", who=who).json()
    body = {"challenge": started["challenge"], "credential": key.make(started["options"]), **LAPTOP}
    answer = post(world, "/user/passkeys", body, who)
    assert answer.status_code == 201, answer.text
    return key


def started(world: World, **body: str) -> dict:
    answer = post(world, "/sign-in/passkey/start", body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def answered(world: World, begun: dict, credential: dict):
    body = {"challenge": begun["challenge"], "credential": credential}
    return post(world, "/sign-in/passkey", body)


def failures(world: World) -> list[str]:
    path = world.home.path("/orgs/{organizationId}/audit-events?action=sign-in.failed")
    return [event["after"]["why"] for event in world.get("admin", path)["items"]]


def test_a_passkey_signs_in_without_a_password(world: World) -> None:
    key = made(world, counter=1)
    begun = started(world)
    assert "allowCredentials" not in begun["options"], "nobody learns who has one"
    assert begun["options"]["userVerification"] == "required"
    key.counter = 2
    answer = answered(world, begun, key.sign(begun["options"]))
    assert answer.status_code == 200, answer.text
    token = answer.json()["token"]
    me = world.call(NOBODY, "GET", "/user", headers={"authorization": f"Bearer {token}"})
    assert me.json()["id"] == world.users["editor"]
    sessions = world.call("editor", "GET", "/user/sessions").json()["items"]
    assert sessions[0]["method"] == "passkey"
    # A challenge can be used once.
    key.counter = 3
    assert answered(world, begun, key.sign(begun["options"])).status_code == 401


WRONG = {
    "another site": {"origin": "https://octavo.evil"},
    "a page below the host": {"origin": "http://evil.octavo.test"},
    "not verified": {"verifies": False},
}


@pytest.mark.sqlite_first
@pytest.mark.parametrize("change", WRONG.values(), ids=list(WRONG))
def test_invalid_assertions_sign_no_one_in(world: World, change: dict) -> None:
    key = made(world)
    for name, value in change.items():
        setattr(key, name, value)
    begun = started(world)
    assert answered(world, begun, key.sign(begun["options"])).status_code == 401
    assert failures(world) == ["invalid response"]


def test_challenges_are_valid_only_for_their_purpose(world: World, monkeypatch) -> None:
    key = made(world)
    begun, other = started(world), started(world)
    assert answered(world, other, key.sign(begun["options"])).status_code == 401, "another challenge"
    making = post(world, "/user/passkeys/start", who="editor").json()
    assert answered(world, making, key.sign(begun["options"])).status_code == 401, "one to make a passkey"
    body = {
        **LAPTOP,
        "challenge": making["challenge"],
        "credential": Authenticator(URL).make(making["options"]),
    }
    assert post(world, "/user/passkeys", body, "reviewer").status_code == 400, "one of somebody else"
    begun = started(world)
    monkeypatch.setattr("octavo.organization.identity.one_time.now", lambda: now() + 5 * 60_000 + 1)
    assert answered(world, begun, key.sign(begun["options"])).status_code == 401, "too late"


def test_a_decreased_counter_means_a_copied_passkey(world: World) -> None:
    key = made(world, counter=7)
    begun = started(world)
    assert answered(world, begun, key.sign(begun["options"])).status_code == 401
    assert failures(world) == ["counter didn't increase"]
    key.counter = 8
    begun = started(world)
    assert answered(world, begun, key.sign(begun["options"])).status_code == 200


def test_passkeys_of_others_are_not_found(world: World) -> None:
    key, other = made(world), made(world, "reviewer")
    begun = started(world)
    signed = key.sign(begun["options"])
    signed["response"]["userHandle"] = other.user
    assert answered(world, begun, signed).status_code == 401
    key.id = other.id
    begun = started(world)
    assert answered(world, begun, key.sign(begun["options"])).status_code == 401, "signed by another key"
    # The same authenticator can't be registered twice.
    start = post(world, "/user/passkeys/start", who="reviewer").json()
    body = {**LAPTOP, "challenge": start["challenge"], "credential": other.make(start["options"])}
    assert post(world, "/user/passkeys", body, "reviewer").status_code == 409


def test_a_passkey_replaces_the_two_factor_code(world: World) -> None:
    key = made(world, verifies=False)
    secret = post(world, "/user/mfa", who="editor").json()["secret"]
    code = pyotp.TOTP(secret).now()
    assert post(world, "/user/mfa/confirm", {"code": code}, "editor").status_code == 200
    first = post(world, "/sign-in", {"email": "editor@example.org", "password": PASSWORD}).json()
    assert (first["status"], first["passkeys"]) == ("code-needed", True)
    begun = started(world, challenge=first["challenge"])
    assert [one["id"] for one in begun["options"]["allowCredentials"]] == [key.sign(begun["options"])["id"]]
    assert answered(world, begun, made(world, "reviewer").sign(begun["options"])).status_code == 401
    begun = started(world, challenge=first["challenge"])
    assert answered(world, begun, key.sign(begun["options"])).json()["status"] == "signed-in"
    assert post(world, "/sign-in/passkey/start", {"challenge": "made up"}).status_code == 401


def test_a_passkey_is_named_and_removed(world: World) -> None:
    key = made(world)
    headers = world.session("editor")
    (one,) = world.call("editor", "GET", "/user/passkeys").json()["items"]
    path = f"/user/passkeys/{one['id']}"
    named = world.call("editor", "PATCH", path, headers=headers, json={"name": "Phone"})
    assert named.json()["name"] == "Phone"
    stranger = world.session("reviewer")
    assert world.call("reviewer", "PATCH", path, headers=stranger, json={"name": "Mine"}).status_code == 404
    assert world.call("reviewer", "DELETE", path, headers=stranger).status_code == 204
    assert world.call("editor", "DELETE", path).status_code == 403, "a token does not change how one signs in"
    assert world.call("editor", "DELETE", path, headers=headers).status_code == 205
    begun = started(world)
    assert answered(world, begun, key.sign(begun["options"])).status_code == 401


@pytest.mark.parametrize("end", ["disabled", "proved"])
def test_passkeys_end_with_deactivation_or_verification(world: World, end: str) -> None:
    key = made(world)
    with world.context.db.write() as tx:
        if end == "disabled":
            tx.run("UPDATE users SET disabled = 1 WHERE id = :id", id=world.users["editor"])
        else:
            # Someone else may have used the account before its address was verified.
            tx.run("UPDATE users SET email_verified = 0 WHERE id = :id", id=world.users["editor"])
            verify_address(tx, world.users["editor"])
    begun = started(world)
    assert answered(world, begun, key.sign(begun["options"])).status_code == 401


NESTED = "gYGB" * 4000
"""CBOR: an array in an array, and so on."""
BAD = {
    "nested": {"attestationObject": NESTED},
    "empty map": {"attestationObject": "oA"},
    "no JSON": {"clientDataJSON": "AAAA"},
    "other JSON": {"clientDataJSON": "W10"},
}


@pytest.mark.sqlite_first
@pytest.mark.parametrize("change", BAD.values(), ids=list(BAD))
def test_invalid_passkeys_are_refused(world: World, change: dict[str, str]) -> None:
    start = post(world, "/user/passkeys/start", who="editor").json()
    credential = Authenticator(URL).make(start["options"])
    credential["response"] |= change
    body = {**LAPTOP, "challenge": start["challenge"], "credential": credential}
    answer = post(world, "/user/passkeys", body, "editor")
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["message"].startswith("credential: "), answer.text


def test_passkeys_require_a_host_name(world: World) -> None:
    world.context.settings = msgspec.structs.replace(world.context.settings, url="https://192.0.2.7")
    try:
        answer = post(world, "/sign-in/passkey/start", {})
    finally:
        world.context.settings = world._settings
    assert answer.status_code == 503, answer.text
    assert "OCTAVO_URL" in answer.text
