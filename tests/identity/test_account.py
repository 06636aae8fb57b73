"""Changing how a person signs in: the confirmation that a session needs, and what tokens can't do."""

import pyotp
import pytest

from contract.samples import TOLD_ELSEWHERE, sample_of, send, succeeded
from octavo.kit.clock import iso, now
from octavo.kit.http.operation import TABLE
from octavo.operations.installation import load_packages
from octavo.organization.access.reach import PROOF_LASTS
from octavo.organization.access.roles import ACCOUNT
from octavo.organization.access.tokens import create_token
from octavo.organization.identity import factors
from world import NOBODY, PASSWORD

load_packages()

CHANGING = [op for op in TABLE.values() if op.needs in ACCOUNT and ACCOUNT[op.needs].proved]


def bearer(token):
    return {"authorization": f"Bearer {token}"}


def prepared(world, operation):
    sample = sample_of(operation)
    if sample.before is not None:
        sample.before(world, world.home)
    return sample


def test_sign_in_changes_require_proof_of_identity():
    assert {op.id for op in CHANGING} == {
        "setPassword",
        "setUpAccount",
        "startMfa",
        "confirmMfa",
        "renewMfaRecoveryCodes",
        "endMfa",
        "endSession",
        "endOtherSessions",
        "createPersonalToken",
        "revokePersonalToken",
        "connectSamlAccount",
        "startPasskey",
        "registerPasskey",
        "updatePasskey",
        "removePasskey",
        "connectAgent",
        "deleteOwnAccount",
        "deleteAccount",
        "updateAccount",
        "createAccountSignInLink",
        "resetAccountSecondFactor",
        "endAccountSessions",
        "mergeAccount",
        "makeOrganizationAdministrator",
    }
    own = [op for op in TABLE.values() if op.path.startswith("/user/") and op.method != "GET"]
    assert [op.id for op in own if op not in CHANGING] == [
        "setOwnAvatar",
        "removeOwnAvatar",
        "proveIdentity",
        "declineInvitation",
        "updateOwnNotification",
        "updateOwnNotifications",
        "updateOwnNotificationSettings",
        "addFavorite",
        "moveFavorite",
        "removeFavorite",
        "disconnectAgent",
        "undoAgentActs",
    ]


@pytest.mark.parametrize(
    "operation", [op for op in CHANGING if op.id != "connectSamlAccount"], ids=lambda operation: operation.id
)
def test_an_old_session_must_confirm_its_identity_first(world, operation):
    prepared(world, operation)
    old = world.session("admin", proved=False)
    before = world.digest()
    answer = send(world, "admin", operation, world.home, headers=old)
    assert (answer.status_code, world.digest()) == (403, before)
    assert answer.json()["error"]["reason"] == "proof_required"
    with world.context.db.write() as tx:
        tx.run("UPDATE sessions SET proved_at = :at", at=now())
    if operation.id not in TOLD_ELSEWHERE:
        assert succeeded(operation, send(world, "admin", operation, world.home, headers=old))


@pytest.mark.sqlite_first
@pytest.mark.parametrize(
    "operation", [op for op in CHANGING if ACCOUNT[op.needs].session], ids=lambda operation: operation.id
)
def test_no_token_changes_how_its_owner_signs_in(world, operation):
    prepared(world, operation)
    with world.context.db.write() as tx:
        # A token can't set the first password of an account either.
        tx.run("UPDATE users SET password_hash = NULL WHERE id = :id", id=world.users["admin"])
        scoped = create_token(tx, world.users["admin"], name="scoped", scopes=["access:write"])
    before = world.digest()
    for secret in (scoped, world.token("admin")):
        answer = send(world, "admin", operation, world.home, headers=bearer(secret))
        assert (answer.status_code, world.digest()) == (403, before)


def test_the_password_confirms_the_identity(world):
    old = world.session("reader", proved=False)

    def prove(**body):
        return world.call(NOBODY, "POST", "/user/proof", headers=old, json=body)

    def change():
        return world.call(NOBODY, "PUT", "/user/password", headers=old, json={"password": "battery staple"})

    assert prove(password="wrong").status_code == 403
    assert change().status_code == 403
    proved = prove(password=PASSWORD)
    assert proved.status_code == 200
    assert iso(now()) < proved.json()["provedUntil"] <= iso(now() + PROOF_LASTS)
    assert change().status_code == 204
    assert world.call("reader", "POST", "/user/proof", json={"password": "battery staple"}).status_code == 403


def test_confirming_identity_requires_the_two_factor_code(world):
    with world.context.db.write() as tx:
        secret = factors.start(tx, world.context.sealer, world.users["reader"])
        factors.confirm(tx, world.context.sealer, world.users["reader"], pyotp.TOTP(secret).now())
        codes = factors.renew_recovery_codes(tx, world.users["reader"])
    old = world.session("reader", proved=False)

    def prove(**body):
        answer = world.call(NOBODY, "POST", "/user/proof", headers=old, json={"password": PASSWORD, **body})
        return answer.status_code

    assert [prove(), prove(code="abcdef"), prove(code=codes[0])] == [403, 403, 200]
    assert prove(code=codes[0]) == 403


def test_passwords_cannot_be_guessed_by_confirmations(world):
    old = world.session("reader", proved=False)
    tries = [
        world.call(NOBODY, "POST", "/user/proof", headers=old, json={"password": "wrong"}).status_code
        for _ in range(11)
    ]
    assert tries == [403] * 10 + [429]


def test_a_token_creates_no_token_with_more_time_or_access(world):
    soon, later = now() + 3_600_000, now() + 7_200_000
    accounts = world.home.path("/orgs/{organizationId}/service-accounts/{serviceAccountId}/tokens")
    with world.context.db.write() as tx:
        owner = world.users["admin"]
        bound = create_token(tx, owner, name="b", organization_id=world.home["organizationId"])
        short = create_token(tx, owner, name="s", expires_at=soon)
        narrow = create_token(tx, owner, name="n", scopes=["access:write"])

    def make(secret, path, **body):
        return world.call(NOBODY, "POST", path, headers=bearer(secret), json={"name": "made", **body})

    for path in ("/user/tokens", accounts):
        assert make(short, path).status_code == 403
        assert make(short, path, expiresAt=iso(later)).status_code == 403
        assert make(short, path, expiresAt=iso(soon)).status_code == 201
        assert make(narrow, path).status_code == 403
        assert make(narrow, path, scopes=["access:write", "spaces:read"]).status_code == 403
        assert make(narrow, path, scopes=["access:write"]).status_code == 201
        made = make(bound, path)
        assert made.status_code == 201 and made.json()["organization"] == world.home["organizationId"]


def test_sessions_of_one_organization_require_another_sign_in(world):
    session = world.session("reader", organization_id=world.home["organizationId"], proved=False)
    body = {"password": PASSWORD}
    assert world.call(NOBODY, "POST", "/user/proof", headers=session, json=body).status_code == 403
    assert world.call(NOBODY, "POST", "/user/tokens", headers=session, json={"name": "x"}).status_code == 403
    fresh = world.session("reader", organization_id=world.home["organizationId"])
    made = world.call(NOBODY, "POST", "/user/tokens", headers=fresh, json={"name": "x"})
    assert made.json()["organization"] == world.home["organizationId"]
