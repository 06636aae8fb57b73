"""Passkeys (WebAuthn): made, named and removed by their owner; a sign-in by themselves, or in place of a code.

The library checks the origin, which is that of the app alone, the host that a passkey is bound to, and the signature.
Here is what it leaves to us: a challenge is good once and for a short time, and for what it was made for; and the
counter of an authenticator goes on, or there are two of it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from ipaddress import ip_address
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.errors import BadRequest, Conflict, NotFound, Unavailable
from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.organization.access.accounts import UserRow
from octavo.settings import Settings

from . import one_time

if TYPE_CHECKING:
    from fido2.server import Fido2Server
    from fido2.webauthn import AttestedCredentialData

T = TypeVar("T")

MOST = 20
"""Passkeys that one account has."""
LIFETIME = 5 * 60_000
"""Milliseconds that a browser has from the challenge to its answer."""

_UNREADABLE = (
    ValueError, TypeError, KeyError, IndexError, AttributeError, AssertionError, RecursionError, struct.error,
)  # fmt: skip
"""What the library raises for an answer that fits nothing, or that is no answer at all."""

Base64 = Annotated[str, Meta(min_length=1, max_length=2048, pattern=r"^[A-Za-z0-9_-]+=*\Z")]
LongBase64 = Annotated[str, Meta(min_length=1, max_length=16_384, pattern=r"^[A-Za-z0-9_-]+=*\Z")]


class MadeResponse(Struct, rename={"client_data": "clientDataJSON", "attestation": "attestationObject"}):
    client_data: Base64
    attestation: LongBase64


class MadeCredential(Struct):
    """What a browser gives for a new passkey: the `RegistrationResponseJSON` of WebAuthn."""

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
    """What a browser gives for a passkey that is used: the `AuthenticationResponseJSON` of WebAuthn."""

    id: Base64
    response: UsedResponse


class PasskeyRow(Struct, frozen=True):
    id: str
    user_id: str
    name: str
    created_at: int
    last_used_at: int | None


class _Making(Struct):
    user_id: str
    state: dict[str, Any]


class _Using(Struct):
    """``user_id``: whose passkey it must be; None: anybody's, who then has to be verified by the authenticator.
    ``first``: what the first factor proved."""

    state: dict[str, Any]
    user_id: str | None
    first: str | None


class Used(Struct, frozen=True):
    """A passkey was used rightly. ``first``: as in ``begin``."""

    user_id: str
    first: str | None


class Refused(Struct, frozen=True):
    """``user_id``: whose passkey it is, where that is known. ``why``: for its owner."""

    user_id: str | None
    why: str


def _server(settings: Settings) -> Fido2Server:
    """Bound to the host of the app; one's own machine is `localhost`. Raises Unavailable where browsers make no
    passkeys."""
    host, origin = settings.address.host, settings.address.origin
    try:
        found = ip_address(host)
    except ValueError:
        pass
    else:
        if not found.is_loopback:
            raise Unavailable("Passkeys need a host name: OCTAVO_URL has a bare address.")
        host, port = "localhost", settings.address.port
        origin = f"{settings.address.scheme}://{host}" + (f":{port}" if port else "")
    from fido2.server import Fido2Server
    from fido2.webauthn import PublicKeyCredentialRpEntity

    return Fido2Server(
        PublicKeyCredentialRpEntity(id=host, name=settings.name), verify_origin=lambda asked: asked == origin
    )


_ROW = "id, user_id, name, created_at, last_used_at"


def list_passkeys(tx: Transaction, user_id: str) -> list[PasskeyRow]:
    """Somebody's passkeys, the oldest first."""
    rows = tx.all(f"SELECT {_ROW} FROM passkeys WHERE user_id = :user ORDER BY id", user=user_id)
    return [PasskeyRow(*row) for row in rows]


def get_passkey(tx: Transaction, user_id: str, passkey_id: str) -> PasskeyRow:
    row = tx.one(
        f"SELECT {_ROW} FROM passkeys WHERE id = :id AND user_id = :user", id=passkey_id, user=user_id
    )
    if row is None:
        raise NotFound(f"You have no passkey {passkey_id!r}.")
    return PasskeyRow(*row)


def rename(tx: Transaction, passkey_id: str, name: str) -> None:
    tx.run("UPDATE passkeys SET name = :name WHERE id = :id", name=name, id=passkey_id)


def remove(tx: Transaction, user_id: str, passkey_id: str) -> bool:
    return tx.run("DELETE FROM passkeys WHERE id = :id AND user_id = :user", id=passkey_id, user=user_id) > 0


def has_any(tx: Transaction, user_id: str) -> bool:
    return tx.one("SELECT 1 FROM passkeys WHERE user_id = :user LIMIT 1", user=user_id) is not None


# --- making one ---------------------------------------------------------------------------------------


def begin_making(tx: Transaction, context: Context, user: UserRow) -> tuple[str, dict[str, Any]]:
    """A challenge, and what the browser is to make of it. Raises Conflict for somebody who has very many."""
    from fido2.webauthn import (
        PublicKeyCredentialUserEntity,
        ResidentKeyRequirement,
        UserVerificationRequirement,
    )

    server = _server(context.settings)
    if len(list_passkeys(tx, user.id)) >= MOST:
        raise Conflict(f"There are {MOST} passkeys already: remove one first.")
    options, state = server.register_begin(
        PublicKeyCredentialUserEntity(id=user.id.encode(), name=user.email, display_name=user.display_name),
        _credentials(tx, user.id),
        resident_key_requirement=ResidentKeyRequirement.REQUIRED,
        user_verification=UserVerificationRequirement.PREFERRED,
    )
    challenge = one_time.issue(tx, context.sealer, "passkey-made", _Making(user.id, state), LIFETIME)
    return challenge, dict(options.public_key)


class ProvedPasskey(Struct, frozen=True):
    """A passkey that a browser proved to have, to be kept."""

    id: str
    credential: str
    counter: int


def finish_making(context: Context, user_id: str, challenge: str, made: MadeCredential) -> ProvedPasskey:
    """Raises BadRequest for what is no passkey, or for an unknown challenge, which is used up by this."""
    from fido2.utils import websafe_encode

    with context.db.write() as tx:
        making = one_time.take(tx, context.sealer, "passkey-made", challenge, _Making)
    if making is None or making.user_id != user_id:
        raise BadRequest("challenge: unknown, used or expired. Begin again.")
    answer = {
        "id": made.id,
        "rawId": made.id,
        "type": "public-key",
        "response": {
            "clientDataJSON": made.response.client_data,
            "attestationObject": made.response.attestation,
        },
    }
    given = _read(lambda: _server(context.settings).register_complete(making.state, answer))
    if given is None or given.credential_data is None:
        raise BadRequest("credential: this is no passkey that was made for this address with this challenge.")
    credential = given.credential_data
    return ProvedPasskey(
        websafe_encode(credential.credential_id), websafe_encode(bytes(credential)), given.counter
    )


def keep(tx: Transaction, user_id: str, proved: ProvedPasskey, name: str) -> PasskeyRow:
    """Raises Conflict for one that is known, and for one too many."""
    # Others may have been made since it was begun.
    if len(list_passkeys(tx, user_id)) >= MOST:
        raise Conflict(f"There are {MOST} passkeys already: remove one first.")
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
        raise Conflict("This passkey is known already.")
    return row


# --- using one ----------------------------------------------------------------------------------------


def begin(
    tx: Transaction, context: Context, *, user_id: str | None = None, first: str | None = None
) -> tuple[str, dict[str, Any]]:
    """A challenge, and what the browser is to sign. Without ``user_id`` anybody's passkey does, and the authenticator
    has to know who uses it. ``first`` comes back with the passkey."""
    from fido2.webauthn import UserVerificationRequirement

    options, state = _server(context.settings).authenticate_begin(
        _credentials(tx, user_id) if user_id else None,
        UserVerificationRequirement.PREFERRED if user_id else UserVerificationRequirement.REQUIRED,
    )
    challenge = one_time.issue(tx, context.sealer, "passkey-used", _Using(state, user_id, first), LIFETIME)
    return challenge, dict(options.public_key)


def finish(context: Context, challenge: str, used: UsedCredential) -> Used | Refused:
    """What a browser answered. The challenge is used up by this, whatever comes of it."""
    from fido2.utils import websafe_decode, websafe_encode
    from fido2.webauthn import AttestedCredentialData, AuthenticatorData

    with context.db.write() as tx:
        using = one_time.take(tx, context.sealer, "passkey-used", challenge, _Using)
    if using is None:
        return Refused(None, "unknown challenge")
    credential_id = _read(lambda: websafe_encode(websafe_decode(used.id)))
    with context.db.read() as tx:
        row = tx.one(
            """SELECT p.id, p.user_id, p.credential FROM passkeys p
                 JOIN users u ON u.id = p.user_id AND u.disabled = 0 AND u.kind = 'person'
               WHERE p.credential_id = :id""",
            id=credential_id or "",
        )
    if row is None:
        return Refused(using.user_id, "unknown passkey")
    passkey_id, user_id, credential = row
    handle = used.response.user or None
    if using.user_id not in (None, user_id) or handle not in (None, websafe_encode(user_id.encode())):
        return Refused(using.user_id, "passkey of another account")
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
    if _read(lambda: _server(context.settings).authenticate_complete(using.state, [known], answer)) is None:
        return Refused(user_id, "wrong answer")
    counter = AuthenticatorData(websafe_decode(used.response.authenticator)).counter
    with context.db.write() as tx:
        # Where an authenticator counts, what does not go on comes from a copy of it.
        counted = tx.run(
            """UPDATE passkeys SET counter = :counter, last_used_at = :at
               WHERE id = :id AND (counter < :counter OR (counter = 0 AND :counter = 0))""",
            id=passkey_id,
            counter=counter,
            at=now(),
        )
    return Used(user_id, using.first) if counted else Refused(user_id, "counter went back")


def _credentials(tx: Transaction, user_id: str) -> list[AttestedCredentialData]:
    from fido2.utils import websafe_decode
    from fido2.webauthn import AttestedCredentialData

    rows = tx.all("SELECT credential FROM passkeys WHERE user_id = :user ORDER BY id", user=user_id)
    return [AttestedCredentialData(websafe_decode(row[0])) for row in rows]


def _read(work: Callable[[], T]) -> T | None:
    """None where the library refuses what a browser sent."""
    try:
        return work()
    except _UNREADABLE:
        return None


class StartedPasskey(Struct):
    """``options``: for the browser, as WebAuthn writes them in JSON (`parseCreationOptionsFromJSON`,
    `parseRequestOptionsFromJSON`)."""

    challenge: str
    options: dict[str, Any]


def present_started(started: tuple[str, dict[str, Any]]) -> StartedPasskey:
    """The options of the library are its own types, which are texts and lists underneath."""
    import json

    challenge, options = started
    return StartedPasskey(challenge, msgspec.json.decode(json.dumps(options), type=dict[str, Any]))
