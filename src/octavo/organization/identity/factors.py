"""Two-factor authentication: codes from an authenticator app (TOTP, RFC 6238), and recovery codes in case the
device is lost."""

from __future__ import annotations

import secrets

import msgspec
from msgspec import Struct

from octavo.errors import BadRequest, Conflict
from octavo.kit.clock import now
from octavo.kit.db.database import Transaction
from octavo.kit.secrets.sealing import Sealer, sealed_column
from octavo.organization.access.tokens import hash_token

_STEP = 30
_DRIFT = 1
"""Number of time steps by which a clock can be off, in either direction."""
_RECOVERY_CODES = 10
_SECRET = sealed_column("second_factors", "secret", "user_id")


class Factor(Struct, frozen=True):
    secret: str
    confirmed: bool
    last_step: int
    recovery_hashes: list[str]


def find_factor(tx: Transaction, sealer: Sealer, user_id: str) -> Factor | None:
    row = tx.one(
        f"""SELECT secret, confirmed, last_step, recovery_hashes FROM second_factors
            WHERE user_id = :user{tx.for_update}""",
        user=user_id,
    )
    if row is None:
        return None
    secret = _SECRET.open(sealer, row[0], user_id)
    return Factor(secret, bool(row[1]), row[2], msgspec.json.decode(row[3]))


def needs_code(tx: Transaction, user_id: str) -> bool:
    """Return whether this user must enter a code to sign in."""
    return status(tx, user_id) is not None


def status(tx: Transaction, user_id: str) -> int | None:
    """Return the number of unused recovery codes, or None if two-factor authentication is off."""
    row = tx.one(
        "SELECT recovery_hashes FROM second_factors WHERE user_id = :user AND confirmed = 1", user=user_id
    )
    return len(msgspec.json.decode(row[0])) if row else None


def start(tx: Transaction, sealer: Sealer, user_id: str) -> str:
    """Create a secret. It takes effect once ``confirm`` accepts a code. Raises Conflict if two-factor
    authentication is already on."""
    if needs_code(tx, user_id):
        raise Conflict("Two-factor authentication is already on. Turn it off before setting it up again.")
    import pyotp

    secret = pyotp.random_base32(32)
    tx.run(
        """INSERT INTO second_factors (user_id, secret, created_at) VALUES (:user, :secret, :at)
           ON CONFLICT (user_id) DO UPDATE SET secret = excluded.secret, created_at = excluded.created_at""",
        user=user_id,
        secret=_SECRET.seal(sealer, secret, user_id),
        at=now(),
    )
    return secret


def provisioning_uri(secret: str, email: str, installation: str) -> str:
    """Return the URI that authenticator apps read from a QR code. The apps display ``installation`` as the
    issuer."""
    import pyotp

    return pyotp.TOTP(secret).provisioning_uri(name=email, issuer_name=installation)


def confirm(tx: Transaction, sealer: Sealer, user_id: str, code: str) -> list[str]:
    """Turn on two-factor authentication, and return the recovery codes, which can't be retrieved again.
    Raises BadRequest if the code is wrong, and Conflict if two-factor authentication can't be turned on."""
    factor = find_factor(tx, sealer, user_id)
    if factor is None or factor.confirmed:
        raise Conflict("Two-factor authentication isn't being set up. Start the setup first.")
    step = _matching_step(factor, code)
    if step is None:
        raise BadRequest("code: must be the current code from the authenticator app")
    tx.run(
        "UPDATE second_factors SET confirmed = 1, last_step = :step WHERE user_id = :user",
        step=step,
        user=user_id,
    )
    return renew_recovery_codes(tx, user_id)


def renew_recovery_codes(tx: Transaction, user_id: str) -> list[str]:
    codes = [f"{secrets.token_hex(4)}-{secrets.token_hex(4)}" for _ in range(_RECOVERY_CODES)]
    _save_recovery_hashes(tx, user_id, [hash_token(code) for code in codes])
    return codes


def accept(tx: Transaction, sealer: Sealer, user_id: str, code: str) -> bool:
    """Return whether a code is currently valid or is an unused recovery code, and mark it as used. Each code can be
    used only once."""
    factor = find_factor(tx, sealer, user_id)
    if factor is None or not factor.confirmed:
        return False
    code = code.strip().lower().replace(" ", "")
    step = _matching_step(factor, code)
    if step is not None:
        tx.run("UPDATE second_factors SET last_step = :step WHERE user_id = :user", step=step, user=user_id)
        return True
    hashed = hash_token(code)
    if hashed in factor.recovery_hashes:
        _save_recovery_hashes(tx, user_id, [kept for kept in factor.recovery_hashes if kept != hashed])
        return True
    return False


def end(tx: Transaction, user_id: str) -> bool:
    return tx.run("DELETE FROM second_factors WHERE user_id = :user", user=user_id) > 0


def _save_recovery_hashes(tx: Transaction, user_id: str, hashes: list[str]) -> None:
    tx.run(
        "UPDATE second_factors SET recovery_hashes = :hashes WHERE user_id = :user",
        hashes=msgspec.json.encode(hashes).decode(),
        user=user_id,
    )


def _matching_step(factor: Factor, code: str) -> int | None:
    """Return the time step that the code matches, if it is later than the last accepted time step."""
    import pyotp

    totp = pyotp.TOTP(factor.secret)
    present = now() // 1000 // _STEP
    for step in range(present - _DRIFT, present + _DRIFT + 1):
        if step > factor.last_step and secrets.compare_digest(totp.at(step * _STEP).encode(), code.encode()):
            return step
    return None
