"""The second factor: codes of an authenticator app (TOTP, RFC 6238), and recovery codes for when it is lost."""

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
"""Steps that a clock may be early or late."""
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
    """Whether this user's sign-in asks for a code."""
    return status(tx, user_id) is not None


def status(tx: Transaction, user_id: str) -> int | None:
    """The number of recovery codes left; None without a second factor in force."""
    row = tx.one(
        "SELECT recovery_hashes FROM second_factors WHERE user_id = :user AND confirmed = 1", user=user_id
    )
    return len(msgspec.json.decode(row[0])) if row else None


def start(tx: Transaction, sealer: Sealer, user_id: str) -> str:
    """A new secret, in force once ``confirm`` saw a code of it. Raises Conflict when one is in force."""
    if needs_code(tx, user_id):
        raise Conflict("There is a second factor already: end it first.")
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
    """What authenticator apps read from a QR code; they show the name of the ``installation``."""
    import pyotp

    return pyotp.TOTP(secret).provisioning_uri(name=email, issuer_name=installation)


def confirm(tx: Transaction, sealer: Sealer, user_id: str, code: str) -> list[str]:
    """Puts the started factor in force; the recovery codes, shown this once. Raises BadRequest, Conflict."""
    factor = find_factor(tx, sealer, user_id)
    if factor is None or factor.confirmed:
        raise Conflict("There is no second factor that waits for its first code.")
    step = _matching_step(factor, code)
    if step is None:
        raise BadRequest("code: this is not the code of just now")
    tx.run(
        "UPDATE second_factors SET confirmed = 1, last_step = :step WHERE user_id = :user",
        step=step,
        user=user_id,
    )
    return renew_recovery_codes(tx, user_id)


def renew_recovery_codes(tx: Transaction, user_id: str) -> list[str]:
    codes = [f"{secrets.token_hex(4)}-{secrets.token_hex(4)}" for _ in range(_RECOVERY_CODES)]
    _keep_recovery(tx, user_id, [hash_token(code) for code in codes])
    return codes


def accept(tx: Transaction, sealer: Sealer, user_id: str, code: str) -> bool:
    """Whether the code is right now, or an unused recovery code; either is used up by this."""
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
        _keep_recovery(tx, user_id, [kept for kept in factor.recovery_hashes if kept != hashed])
        return True
    return False


def end(tx: Transaction, user_id: str) -> bool:
    return tx.run("DELETE FROM second_factors WHERE user_id = :user", user=user_id) > 0


def _keep_recovery(tx: Transaction, user_id: str, hashes: list[str]) -> None:
    tx.run(
        "UPDATE second_factors SET recovery_hashes = :hashes WHERE user_id = :user",
        hashes=msgspec.json.encode(hashes).decode(),
        user=user_id,
    )


def _matching_step(factor: Factor, code: str) -> int | None:
    """The time step the code is of, when it is later than the last one taken."""
    import pyotp

    totp = pyotp.TOTP(factor.secret)
    present = now() // 1000 // _STEP
    for step in range(present - _DRIFT, present + _DRIFT + 1):
        if step > factor.last_step and secrets.compare_digest(totp.at(step * _STEP).encode(), code.encode()):
            return step
    return None
