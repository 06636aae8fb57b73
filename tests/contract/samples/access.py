import pyotp

from octavo.kit.clock import now
from octavo.organization.access.roles import ORGANIZATION, Can
from octavo.organization.access.tokens import hash_token
from octavo.organization.identity import factors, one_time, signing_in
from world import PASSWORD, Place, World

from . import MEMBERS_ONLY, Sample

_SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
_RECOVERY_CODE = "01234567-89abcdef"
PHOTO = "R0lGODlhAQABAIAAAAUEBAAAACwAAAAAAQABAAACAkQBADs="


def _link_in_a_mail(world: World, place: Place) -> None:
    with world.context.db.write() as tx:
        payload = signing_in._Link(world.users["reader"])
        one_time.issue(tx, world.context.sealer, "link", payload, signing_in.LINK_LIFETIME, secret="link")


def _second_factors(world: World, *, confirmed: bool) -> None:
    with world.context.db.write() as tx:
        for user_id in world.users.values():
            tx.run(
                """INSERT INTO second_factors (user_id, secret, confirmed, recovery_hashes, created_at)
                   VALUES (:user, :secret, :confirmed, :hashes, :at)""",
                user=user_id,
                secret=factors._SECRET.seal(world.context.sealer, _SECRET, user_id),
                confirmed=int(confirmed),
                hashes=f'["{hash_token(_RECOVERY_CODE)}"]',
                at=now(),
            )


def _started_second_factor(world: World, place: Place) -> None:
    _second_factors(world, confirmed=False)


def _second_factor(world: World, place: Place) -> None:
    _second_factors(world, confirmed=True)


SAMPLES = {
    "updateUserById": Sample(body={"displayName": "Renamed"}, like=(ORGANIZATION, Can.ADMIN)),
    "listAuditEvents": Sample(query={"action": "space.created", "from": "2026-01-01T00:00:00Z"}),
    "getAuditEvent": Sample(),
    "listOrganizationAuditEventActions": Sample(),
    "getAuthenticatedUser": Sample(),
    "getUserById": Sample(like=MEMBERS_ONLY),
    # Signing in and out
    "signIn": Sample(body={"email": "reader@example.org", "password": PASSWORD}),
    "signInWithCode": Sample(body={"challenge": "made up", "code": "000000"}),
    "requestSignInLink": Sample(body={"email": "reader@example.org"}),
    "signInWithLink": Sample(before=_link_in_a_mail, body={"link": "link"}),
    "discoverSignIn": Sample(body={"email": "reader@example.org"}),
    "signOut": Sample(),
    "startOpenIdSignIn": Sample(),
    "finishOpenIdSignIn": Sample(query={"state": "made up", "code": "made up"}),
    "startSamlSignIn": Sample(query={"next": "/spaces"}),
    "getSamlMetadata": Sample(),
    "receiveSamlResponse": Sample(),
    "finishSamlSignIn": Sample(query={"answer": "made up"}),
    "readSamlAnswer": Sample(body={"answer": "made up"}),
    "confirmSamlSignIn": Sample(body={"answer": "made up"}),
    "connectSamlAccount": Sample(body={"answer": "made up"}),
    # One's own account
    "listSessions": Sample(),
    "endSession": Sample(),
    "endOtherSessions": Sample(),
    "proveIdentity": Sample(body={"password": PASSWORD}),
    "setPassword": Sample(body={"password": "battery staple"}),
    "setUpAccount": Sample(body={"displayName": "Ines Okafor", "password": "battery staple"}),
    "getMfa": Sample(),
    "startMfa": Sample(),
    "confirmMfa": Sample(
        before=_started_second_factor, body=lambda place: {"code": pyotp.TOTP(_SECRET).now()}
    ),
    "renewMfaRecoveryCodes": Sample(before=_second_factor, body={"code": _RECOVERY_CODE}),
    "endMfa": Sample(before=_second_factor, body={"code": _RECOVERY_CODE}),
    "setOwnAvatar": Sample(body={"image": PHOTO}),
    "removeOwnAvatar": Sample(),
    "listPasskeys": Sample(),
    "startPasskey": Sample(),
    "registerPasskey": Sample(
        body={
            "challenge": "unknown",
            "name": "Laptop",
            "credential": {"id": "AAAA", "response": {"clientDataJSON": "e30", "attestationObject": "oA"}},
        }
    ),
    "updatePasskey": Sample(path={"passkeyId": "personalTokenId"}, body={"name": "Phone"}),
    "removePasskey": Sample(path={"passkeyId": "personalTokenId"}),
    "startPasskeySignIn": Sample(body={}),
    "signInWithPasskey": Sample(
        body={
            "challenge": "unknown",
            "credential": {
                "id": "AAAA",
                "response": {"clientDataJSON": "e30", "authenticatorData": "AAAA", "signature": "AAAA"},
            },
        }
    ),
    "listPersonalTokens": Sample(),
    "createPersonalToken": Sample(body={"name": "Desktop", "scopes": ["read"]}),
    "revokePersonalToken": Sample(path={"tokenId": "personalTokenId"}),
    # Service accounts
    "listServiceAccounts": Sample(),
    "createServiceAccount": Sample(body={"name": "Importer"}),
    "deleteServiceAccount": Sample(),
    "listServiceAccountTokens": Sample(),
    "createServiceAccountToken": Sample(body={"name": "Second", "expiresAt": "2100-01-01T00:00:00Z"}),
    "revokeServiceAccountToken": Sample(),
    # Identity providers of an organization
    "listSAMLProvidersInOrganizationById": Sample(),
    "createOrganizationSAMLProvider": Sample(
        body=lambda place: {"label": "Second", "defaultTeam": place["teamId"]}
    ),
    "getOrganizationSAMLProviderById": Sample(),
    "updateOrganizationSAMLProvider": Sample(
        body=lambda place: {"label": "Renamed", "defaultTeam": place["teamId"]}
    ),
    "deleteOrganizationSAMLProvider": Sample(),
    "listSSOProviderLoginsInOrganization": Sample(),
}
