"""Passkeys (WebAuthn). Users register, rename, and remove them, and use them instead of a password or a code.

The library checks the origin (always the app's origin), the host that a passkey is bound to, and the signature. This
module does the rest: a challenge expires quickly and can be used only once and for one purpose, and an authenticator
whose counter doesn't increase is rejected, because it may have been cloned."""

from __future__ import annotations

import struct
from collections.abc import Callable
from ipaddress import ip_address
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.core.json_types import JsonObject
from octavo.errors import BadRequest, Conflict, NotFound, Unavailable
from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.texts import pattern
from octavo.organization.access.accounts import UserRow
from octavo.settings import Settings

from . import one_time

if TYPE_CHECKING:
    from fido2.server import Fido2Server
    from fido2.webauthn import AttestedCredentialData

T = TypeVar("T")

MAX_PASSKEYS = 20
"""Maximum number of passkeys per account."""
LIFETIME = 5 * 60_000
"""Milliseconds allowed between a challenge and the browser's response."""

_UNREADABLE = (
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    AssertionError,
    RecursionError,
    struct.error,
)
"""Exceptions that the library raises if a response is malformed or doesn't match."""

Base64 = Annotated[
    str, Meta(min_length=1, max_length=2048, pattern=pattern(r"^[A-Za-z0-9_-]+=*\Z", "be base64url"))
]
LongBase64 = Annotated[
    str, Meta(min_length=1, max_length=16_384, pattern=pattern(r"^[A-Za-z0-9_-]+=*\Z", "be base64url"))
]


class MadeResponse(Struct, rename={"client_data": "clientDataJSON", "attestation": "attestationObject"}):
    client_data: Base64
    attestation: LongBase64


class MadeCredential(Struct):
    """A browser's response for a new passkey: the `RegistrationResponseJSON` of WebAuthn."""

    id: Base64
    response: MadeResponse


class UsedResponse(
    Struct,
    rename={"client_data": "clientDataJSON", "authenticator": "authenticatorData", "user": "userHandle"},
):
    client_data: Base64
    authenticator: Base64
    signature: Base64
    user: Base64 | None | UnsetType = UNSET


class UsedCredential(Struct):
    """A browser's response for an existing passkey: the `AuthenticationResponseJSON` of WebAuthn."""

    id: Base64
    response: UsedResponse


class PasskeyRow(Struct, frozen=True):
    id: str
    user_id: str
    name: str
    created_at: int
    last_used_at: int | None


class _PendingRegistration(Struct):
    user_id: str
    state: JsonObject


class _PendingAuthentication(Struct):
    """Pending authentication. ``user_id``: the required owner of the passkey; None to accept any passkey if the
    authenticator verified its user. ``first``: proof of the first factor."""

    state: JsonObject
    user_id: str | None
    first: str | None


class AcceptedPasskey(Struct, frozen=True):
    """Successful authentication with a passkey. ``first``: see ``start_authentication``."""

    user_id: str
    first: str | None


class RejectedPasskey(Struct, frozen=True):
    """Failed authentication with a passkey. ``user_id``: the owner of the passkey, if known. ``why``: the
    reason for the failure, which is shown to the owner."""

    user_id: str | None
    why: str


def _server(settings: Settings) -> Fido2Server:
    """Return a WebAuthn server that is bound to the host of the app. Loopback addresses become `localhost`. Raises
    Unavailable if browsers don't support passkeys at this URL."""
    host, origin = settings.address.host, settings.address.origin
    try:
        found = ip_address(host)
    except ValueError:
        pass
    else:
        if not found.is_loopback:
            raise Unavailable(
                "Passkeys require a domain name, but OCTAVO_URL contains an IP address. Set OCTAVO_URL to a"
                " URL with a domain name."
            )
        host, port = "localhost", settings.address.port
        origin = f"{settings.address.scheme}://{host}" + (f":{port}" if port else "")
    from fido2.server import Fido2Server
    from fido2.webauthn import PublicKeyCredentialRpEntity

    return Fido2Server(
        PublicKeyCredentialRpEntity(id=host, name=settings.name), verify_origin=lambda asked: asked == origin
    )


_ROW = "id, user_id, name, created_at, last_used_at"


def list_passkeys(tx: Transaction, user_id: str) -> list[PasskeyRow]:
    """Return the passkeys of a user, oldest first."""
    rows = tx.all(f"SELECT {_ROW} FROM passkeys WHERE user_id = :user ORDER BY id", user=user_id)
    return [PasskeyRow(*row) for row in rows]


def get_passkey(tx: Transaction, user_id: str, passkey_id: str) -> PasskeyRow:
    row = tx.one(
        f"SELECT {_ROW} FROM passkeys WHERE id = :id AND user_id = :user", id=passkey_id, user=user_id
    )
    if row is None:
        raise NotFound(f"You have no passkey with the ID {passkey_id!r}.")
    return PasskeyRow(*row)


def rename(tx: Transaction, passkey_id: str, name: str) -> None:
    tx.run("UPDATE passkeys SET name = :name WHERE id = :id", name=name, id=passkey_id)


def remove(tx: Transaction, user_id: str, passkey_id: str) -> bool:
    return tx.run("DELETE FROM passkeys WHERE id = :id AND user_id = :user", id=passkey_id, user=user_id) > 0


def has_any(tx: Transaction, user_id: str) -> bool:
    return tx.one("SELECT 1 FROM passkeys WHERE user_id = :user LIMIT 1", user=user_id) is not None


# --- registration ---------------------------------------------------------------------------------------


def start_registration(tx: Transaction, context: Context, user: UserRow) -> tuple[str, JsonObject]:
    """Return a challenge and the options for creating a passkey. Raises Conflict if the user has the maximum
    number of passkeys."""
    from fido2.webauthn import (
        PublicKeyCredentialUserEntity,
        ResidentKeyRequirement,
        UserVerificationRequirement,
    )

    server = _server(context.settings)
    if len(list_passkeys(tx, user.id)) >= MAX_PASSKEYS:
        raise Conflict(
            f"You already have {MAX_PASSKEYS} passkeys, which is the limit. Remove one before adding another."
        )
    options, state = server.register_begin(
        PublicKeyCredentialUserEntity(id=user.id.encode(), name=user.email, display_name=user.display_name),
        _credentials(tx, user.id),
        resident_key_requirement=ResidentKeyRequirement.REQUIRED,
        user_verification=UserVerificationRequirement.PREFERRED,
    )
    challenge = one_time.issue(
        tx, context.sealer, "passkey-made", _PendingRegistration(user.id, state), LIFETIME
    )
    return challenge, dict(options.public_key)


class ProvedPasskey(Struct, frozen=True):
    """Verified passkey that hasn't been saved yet."""

    id: str
    credential: str
    counter: int


def finish_registration(
    context: Context, user_id: str, challenge: str, made: MadeCredential
) -> ProvedPasskey:
    """Verify a new passkey, and use up its challenge. Raises BadRequest if the challenge is unknown or the
    passkey is invalid."""
    from fido2.utils import websafe_encode

    with context.db.write() as tx:
        making = one_time.redeem(tx, context.sealer, "passkey-made", challenge, _PendingRegistration)
    if making is None or making.user_id != user_id:
        raise BadRequest("This request has expired or was already used. Add the passkey again.")
    answer = {
        "id": made.id,
        "rawId": made.id,
        "type": "public-key",
        "response": {
            "clientDataJSON": made.response.client_data,
            "attestationObject": made.response.attestation,
        },
    }
    given = _call_library(lambda: _server(context.settings).register_complete(making.state, answer))
    if given is None or given.credential_data is None:
        raise BadRequest(
            "credential: must be a passkey for this server and this request. Add the passkey again."
        )
    credential = given.credential_data
    return ProvedPasskey(
        websafe_encode(credential.credential_id), websafe_encode(bytes(credential)), given.counter
    )


def save(tx: Transaction, user_id: str, proved: ProvedPasskey, name: str) -> PasskeyRow:
    """Save a verified passkey. Raises Conflict if the passkey is already registered or the limit is
    reached."""
    # Other passkeys may have been added since the registration started.
    if len(list_passkeys(tx, user_id)) >= MAX_PASSKEYS:
        raise Conflict(
            f"You already have {MAX_PASSKEYS} passkeys, which is the limit. Remove one before adding another."
        )
    row = PasskeyRow(ids.new_id(), user_id, name, now(), None)
    added = tx.run(
        """INSERT INTO passkeys (id, user_id, name, credential_id, credential, counter, created_at)
           VALUES (:id, :user, :name, :credential_id, :credential, :counter, :at)
           ON CONFLICT (credential_id) DO NOTHING""",
        id=row.id,
        user=user_id,
        name=name,
        credential_id=proved.id,
        credential=proved.credential,
        counter=proved.counter,
        at=row.created_at,
    )
    if not added:
        raise Conflict("This passkey is already registered.")
    return row


# --- authentication -----------------------------------------------------------------------------------


def start_authentication(
    tx: Transaction, context: Context, *, user_id: str | None = None, first: str | None = None
) -> tuple[str, JsonObject]:
    """Return a challenge and the options for signing it.

    Without ``user_id``, any passkey is accepted and the authenticator must verify its user. ``first``: proof
    of the first factor, which is returned with the result."""
    from fido2.webauthn import UserVerificationRequirement

    options, state = _server(context.settings).authenticate_begin(
        _credentials(tx, user_id) if user_id else None,
        UserVerificationRequirement.PREFERRED if user_id else UserVerificationRequirement.REQUIRED,
    )
    challenge = one_time.issue(
        tx, context.sealer, "passkey-used", _PendingAuthentication(state, user_id, first), LIFETIME
    )
    return challenge, dict(options.public_key)


def finish_authentication(
    context: Context, challenge: str, used: UsedCredential
) -> AcceptedPasskey | RejectedPasskey:
    """Check the browser's response. The challenge is used up in any case."""
    from fido2.utils import websafe_decode, websafe_encode
    from fido2.webauthn import AttestedCredentialData, AuthenticatorData

    with context.db.write() as tx:
        using = one_time.redeem(tx, context.sealer, "passkey-used", challenge, _PendingAuthentication)
    if using is None:
        return RejectedPasskey(None, "unknown challenge")
    credential_id = _call_library(lambda: websafe_encode(websafe_decode(used.id)))
    with context.db.read() as tx:
        row = tx.one(
            """SELECT p.id, p.user_id, p.credential FROM passkeys p
                 JOIN users u ON u.id = p.user_id AND u.disabled = 0 AND u.kind = 'person'
               WHERE p.credential_id = :id""",
            id=credential_id or "",
        )
    if row is None:
        return RejectedPasskey(using.user_id, "unknown passkey")
    passkey_id, user_id, credential = row
    handle = used.response.user or None
    if using.user_id not in (None, user_id) or handle not in (None, websafe_encode(user_id.encode())):
        return RejectedPasskey(using.user_id, "passkey belongs to another account")
    answer = {
        "id": used.id,
        "rawId": used.id,
        "type": "public-key",
        "response": {
            "clientDataJSON": used.response.client_data,
            "authenticatorData": used.response.authenticator,
            "signature": used.response.signature,
        },
    }
    known = AttestedCredentialData(websafe_decode(credential))
    if (
        _call_library(lambda: _server(context.settings).authenticate_complete(using.state, [known], answer))
        is None
    ):
        return RejectedPasskey(user_id, "invalid response")
    counter = AuthenticatorData(websafe_decode(used.response.authenticator)).counter
    with context.db.write() as tx:
        # An authenticator with a counter has been cloned if its counter doesn't increase.
        counted = tx.run(
            """UPDATE passkeys SET counter = :counter, last_used_at = :at
               WHERE id = :id AND (counter < :counter OR (counter = 0 AND :counter = 0))""",
            id=passkey_id,
            counter=counter,
            at=now(),
        )
    return (
        AcceptedPasskey(user_id, using.first)
        if counted
        else RejectedPasskey(user_id, "counter didn't increase")
    )


def _credentials(tx: Transaction, user_id: str) -> list[AttestedCredentialData]:
    from fido2.utils import websafe_decode
    from fido2.webauthn import AttestedCredentialData

    rows = tx.all("SELECT credential FROM passkeys WHERE user_id = :user ORDER BY id", user=user_id)
    return [AttestedCredentialData(websafe_decode(row[0])) for row in rows]


def _call_library(work: Callable[[], T]) -> T | None:
    """Return the result of ``work``, or None if the library rejects the browser's response."""
    try:
        return work()
    except _UNREADABLE:
        return None


class StartedPasskey(Struct):
    """Challenge with ``options`` for the browser in WebAuthn's JSON format (`parseCreationOptionsFromJSON`,
    `parseRequestOptionsFromJSON`)."""

    challenge: str
    options: JsonObject


def present_started(started: tuple[str, JsonObject]) -> StartedPasskey:
    """Return the challenge with its options, converted from the library's own types to plain JSON."""
    import json

    challenge, options = started
    return StartedPasskey(challenge, msgspec.json.decode(json.dumps(options), type=dict[str, Any]))
