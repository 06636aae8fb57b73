"""Signing in by password, by a link in a mail, and with a second factor.

An address without an account is answered like one with another password, after the same work; a link that
nobody gets is answered like one that was sent, since the job that sends it looks the person up.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ..access import SESSION_IDLE, audit_person, find_user
from ..errors import Unauthorized, Unavailable
from ..kit import jobs, mail
from ..kit.allowances import DAY
from ..kit.clock import now
from ..kit.context import Context
from ..kit.db import Transaction
from ..kit.sealing import Sealer
from . import attempts, factors, one_time, passkeys, passwords, sessions
from .sessions import Browser
from .verification import verify_address

LINK_LIFETIME = 15 * 60_000
FIRST_LINK_LIFETIME = 24 * 60 * 60_000
CHALLENGE_LIFETIME = 5 * 60_000
CODE_TRIES = 10
_LINKS = 5
"""Mailed to one address in a window of ``attempts``, which is as long as a link is good."""
_SWEEP_EVERY = 3600


class _Person(Struct, frozen=True):
    id: str
    password_hash: str | None


class _Link(Struct, frozen=True):
    """``first``: good only until the person first signs in."""

    user_id: str
    first: bool = False


class SecondFactorNeeded(Struct, frozen=True):
    """The first factor was right; ``challenge`` and a code finish the sign-in, or one of the ``passkeys``."""

    challenge: str
    expires_at: int
    passkeys: bool


class SignedIn(Struct, frozen=True):
    """``device``: what makes the next tries from this device count apart, see ``attempts``."""

    session: sessions.NewSession
    device: str


Outcome = SignedIn | SecondFactorNeeded


class _Challenge(Struct, frozen=True):
    """``device``: the id of the known device that the first factor came from."""

    method: sessions.Method
    user_id: str
    device: str | None


def _find_person(tx: Transaction, email: str) -> _Person | None:
    """Somebody who may sign in: not disabled, and no service account."""
    row = tx.one(
        "SELECT id, password_hash FROM users WHERE email = :email AND disabled = 0 AND kind = 'person'",
        email=email.strip().lower(),
    )
    return _Person(*row) if row else None


def with_password(
    context: Context, browser: Browser, email: str, password: str, code: str | None, device: str | None = None
) -> Outcome:
    """Raises Unauthorized when something does not fit, TooManyRequests after too many tries."""
    email = email.strip().lower()
    known = attempts.read_device(context.signer, device, email)
    counters = attempts.counters("password", email, browser.client, device=known)
    with context.db.write() as tx:
        attempts.take(tx, counters)
    with context.db.read() as tx:
        person = _find_person(tx, email)
    fits = passwords.verify_password(person.password_hash if person else None, password)
    if person is None or not fits:
        _note_failure(context, browser, email, "password")
        raise Unauthorized("The address or the password is wrong.")
    with context.db.write() as tx:
        attempts.give_back(tx, counters)
    return _first_factor_done(context, browser, _Challenge("password", person.id, known), code)


def _first_factor_done(context: Context, browser: Browser, proved: _Challenge, code: str | None) -> Outcome:
    with context.db.write() as tx:
        if not factors.needs_code(tx, proved.user_id):
            return _begin(tx, context, browser, proved)
        has_passkeys = passkeys.has_any(tx, proved.user_id)
    if code is not None:
        return _with_code(context, browser, proved, code)
    expires = now() + CHALLENGE_LIFETIME
    payload = msgspec.json.encode(proved).decode()
    challenge = context.signer.sign("second-factor", payload, expires)
    return SecondFactorNeeded(challenge, expires, has_passkeys)


def _begin(tx: Transaction, context: Context, browser: Browser, proved: _Challenge) -> SignedIn:
    user = find_user(tx, proved.user_id)
    assert user is not None, "their first factor was just checked"
    session = sessions.begin(tx, user.id, proved.method, client=browser.client, agent=browser.agent)
    return SignedIn(session, attempts.make_device(context.signer, user.email))


def with_code(context: Context, browser: Browser, challenge: str, code: str) -> SignedIn:
    """The second step. Raises Unauthorized, TooManyRequests."""
    payload = context.signer.verify("second-factor", challenge)
    if payload is None:
        raise Unauthorized("challenge: unknown or expired. Sign in again.")
    return _with_code(context, browser, msgspec.json.decode(payload, type=_Challenge), code)


def _with_code(context: Context, browser: Browser, proved: _Challenge, code: str) -> SignedIn:
    user_id = proved.user_id
    counters = attempts.counters(
        "code", user_id, browser.client, per_account=CODE_TRIES, device=proved.device
    )
    with context.db.write() as tx:
        attempts.take(tx, counters)
    with context.db.write() as tx:
        # Asked anew: the account may have been disabled since the first factor.
        enabled = tx.one("SELECT 1 FROM users WHERE id = :id AND disabled = 0", id=user_id)
        if enabled and factors.accept(tx, context.sealer, user_id, code):
            attempts.give_back(tx, counters)
            return _begin(tx, context, browser, proved)
        audit_person(
            tx,
            "sign-in.failed",
            user_id,
            client=browser.client,
            actor="",
            after={"method": f"{proved.method} and code"},
        )
    raise Unauthorized("code: wrong, or used already")


def start_passkey(context: Context, browser: Browser, challenge: str | None) -> tuple[str, dict[str, Any]]:
    """A challenge for a passkey and what the browser is to do with it: a whole sign-in, or in place of the code that
    ``challenge`` waits for. Raises Unauthorized, TooManyRequests, Unavailable."""
    first = None
    if challenge is not None:
        first = context.signer.verify("second-factor", challenge)
        if first is None:
            raise Unauthorized("challenge: unknown or expired. Sign in again.")
    with context.db.write() as tx:
        attempts.take(tx, attempts.client_counter("passkey", browser.client))
    user_id = msgspec.json.decode(first, type=_Challenge).user_id if first is not None else None
    with context.db.write() as tx:
        return passkeys.begin(tx, context, user_id=user_id, first=first)


def with_passkey(
    context: Context, browser: Browser, challenge: str, credential: passkeys.UsedCredential
) -> SignedIn:
    """Raises Unauthorized, alike for whatever does not fit."""
    found = passkeys.finish(context, challenge, credential)
    with context.db.write() as tx:
        if isinstance(found, passkeys.Used):
            proved = (
                _Challenge("passkey", found.user_id, None)
                if found.first is None
                else msgspec.json.decode(found.first, type=_Challenge)
            )
            return _begin(tx, context, browser, proved)
        if found.user_id is not None:
            state = {"method": "passkey", "why": found.why}
            audit_person(tx, "sign-in.failed", found.user_id, client=browser.client, actor="", after=state)
    raise Unauthorized("This passkey is not known here, or its answer came too late. Try again.")


def _note_failure(context: Context, browser: Browser, email: str, method: str) -> None:
    """Has a failed try put into the log. The same work whether or not there is such a person."""
    with context.db.write() as tx:
        jobs.enqueue(
            tx, "logFailedSignIn", email=email.strip().lower()[:320], method=method, client=browser.client
        )


@jobs.job("logFailedSignIn", bound="one sign-in", attempts=3)
def log_failed_sign_in(context: Context, email: str, method: str, client: str) -> None:
    with context.db.write() as tx:
        person = _find_person(tx, email)
        if person is not None:
            state = {"method": method}
            audit_person(tx, "sign-in.failed", person.id, client=client, actor="", after=state)


# --- links in a mail ----------------------------------------------------------------------------------


def request_link(context: Context, browser: Browser, email: str) -> None:
    """Has a link mailed to the person with this address, if there is one. Raises TooManyRequests, Unavailable."""
    if not context.settings.smtp_url:
        raise Unavailable("This installation sends no mail (OCTAVO_SMTP_URL).")
    email = email.strip().lower()
    with context.db.write() as tx:
        attempts.take(tx, attempts.client_counter("link", browser.client))
        # Beyond that nothing is sent and nobody refused: a stranger who asked has had links sent that are still good.
        if attempts.count(tx, attempts.account_counter("link", email, _LINKS)):
            jobs.enqueue(tx, "mailSignInLink", email=email)


@jobs.job("mailSignInLink", bound="one mail", attempts=3)
def mail_link(context: Context, email: str) -> None:
    with context.db.write() as tx:
        secret = issue_link(tx, context.sealer, email)
    if secret is None:
        return
    mail.send(
        context.settings,
        to=email,
        subject="Your sign-in link",
        text=f"Sign in here within 15 minutes:\n\n{context.settings.url}/sign-in?link={secret}\n\n"
        "If you did not ask for this, ignore it: nobody is signed in until the link is opened.\n",
    )


def issue_link(tx: Transaction, sealer: Sealer, email: str) -> str | None:
    """The secret of a link that signs in the person with an address; None where nobody may sign in with it."""
    person = _find_person(tx, email)
    if person is None:
        return None
    return one_time.issue(tx, sealer, "link", _Link(person.id), LINK_LIFETIME)


def issue_first_link(tx: Transaction, sealer: Sealer, user_id: str) -> str | None:
    """The secret of a link for somebody who has yet to sign in for the first time; None for everybody else."""
    if not sessions.is_first_expected(tx, user_id):
        return None
    return one_time.issue(tx, sealer, "link", _Link(user_id, first=True), FIRST_LINK_LIFETIME)


def with_link(context: Context, browser: Browser, secret: str, code: str | None) -> Outcome:
    """Takes a link's secret, which is used up by this. Raises Unauthorized."""
    with context.db.write() as tx:
        link = one_time.take(tx, context.sealer, "link", secret, _Link)
        # Who opens the link reads the address's mail.
        known = link is not None and verify_address(tx, link.user_id)
        if link is not None and link.first and not sessions.is_first_expected(tx, link.user_id):
            known = False
    if link is None or not known:
        raise Unauthorized("link: unknown, used or expired. Ask for another one.")
    return _first_factor_done(context, browser, _Challenge("link", link.user_id, None), code)


# --- what is over is forgotten ------------------------------------------------------------------------


@jobs.job("forgetExpiredSignIns", bound="what expired since the last one")
def forget_expired(context: Context) -> None:
    moment = now()
    with context.db.write() as tx:
        tx.run("DELETE FROM sessions WHERE expires_at < :now OR last_used_at < :idle", now=moment,
               idle=moment - SESSION_IDLE)  # fmt: skip
        tx.run("DELETE FROM one_time_secrets WHERE expires_at < :now", now=moment)
        tx.run("DELETE FROM saml_assertions WHERE expires_at < :now", now=moment)
        tx.run("DELETE FROM attempts WHERE window_start < :before", before=moment - DAY)


jobs.schedule("forgetExpiredSignIns", _SWEEP_EVERY, "forgetExpiredSignIns")
