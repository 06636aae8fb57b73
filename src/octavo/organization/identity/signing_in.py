"""Sign-in with a password, an emailed link, or a passkey, and with a code if two-factor authentication is on.

An unknown email address gets the same response as a wrong password, after the same amount of work. A request for
a link gets the same response whether or not a link is sent, because only the job that sends the link looks up the
person."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from octavo.core.json_types import JsonObject
from octavo.errors import Unauthorized, Unavailable
from octavo.kit.clock import DAY, now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.net import mail
from octavo.kit.secrets.sealing import Sealer
from octavo.kit.work import jobs
from octavo.organization.access.accounts import find_user
from octavo.organization.access.auditing import audit_person
from octavo.organization.access.tokens import SESSION_IDLE

from . import attempts, directory_sign_in, factors, one_time, passkeys, passwords, sessions
from .sessions import Browser
from .verification import verify_address

LINK_LIFETIME = 15 * 60_000
FIRST_LINK_LIFETIME = 24 * 60 * 60_000
CHALLENGE_LIFETIME = 5 * 60_000
CODE_TRIES = 10
_LINKS = 5
"""Maximum number of links to email to one address within a time window (see ``attempts``). A window is as long as a
link is valid."""
_SWEEP_EVERY = 3600


class _Person(Struct, frozen=True):
    id: str
    password_hash: str | None


class _Link(Struct, frozen=True):
    """Emailed link. ``first``: whether the link is valid only until the person first signs in. ``email``: the address
    of the account. The link is valid only while the account has this address."""

    user_id: str
    first: bool = False
    email: str | None = None


class SecondFactorNeeded(Struct, frozen=True):
    """Sign-in whose first factor was correct. To complete it, use ``challenge`` and a code, or one of the
    ``passkeys``."""

    challenge: str
    expires_at: int
    passkeys: bool


class CompletedSignIn(Struct, frozen=True):
    """Completed sign-in. ``device``: a value that makes later attempts from this device count separately
    (see ``attempts``)."""

    session: sessions.NewSession
    device: str


Outcome = CompletedSignIn | SecondFactorNeeded


class _Challenge(Struct, frozen=True):
    """Completed first factor. ``device``: the ID of the known device that it came from."""

    method: sessions.Method
    user_id: str
    device: str | None


def _find_person(tx: Transaction, email: str) -> _Person | None:
    """Return the person with this email address, unless the account is deactivated or is a service account."""
    row = tx.one(
        "SELECT id, password_hash FROM users WHERE email = :email AND disabled = 0 AND kind = 'person'",
        email=email.strip().lower(),
    )
    return _Person(*row) if row else None


def with_password(
    context: Context, browser: Browser, email: str, password: str, code: str | None, device: str | None = None
) -> Outcome:
    """Sign in with a password. For people in the server's directory, the directory checks the password.

    Raises Unauthorized if the password is wrong, TooManyRequests after too many attempts, and Unavailable if
    the directory can't be reached.
    """
    email = email.strip().lower()
    known = attempts.read_device(context.signer, device, email)
    counters = attempts.counters("password", email, browser.client, device=known)
    with context.db.write() as tx:
        attempts.record_or_refuse(tx, counters)
    with context.db.read() as tx:
        person = _find_person(tx, email)
        outside = person is not None and directory_sign_in.is_from_directory(tx, context.settings, person.id)
    fits = passwords.verify_password(person.password_hash if person else None, password)
    method: sessions.Method = "password"
    user_id = person.id if person is not None and fits and not outside else None
    if user_id is None:
        method, user_id = "ldap", directory_sign_in.authenticate(context, email, password)
    if user_id is None:
        _enqueue_failed_sign_in(context, browser, email, "password")
        raise Unauthorized("The email address or password is incorrect.")
    with context.db.write() as tx:
        attempts.uncount(tx, counters)
    return _complete_first_factor(context, browser, _Challenge(method, user_id, known), code)


def _complete_first_factor(
    context: Context, browser: Browser, proved: _Challenge, code: str | None
) -> Outcome:
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


def _begin(tx: Transaction, context: Context, browser: Browser, proved: _Challenge) -> CompletedSignIn:
    user = find_user(tx, proved.user_id)
    assert user is not None, "their first factor was just checked"
    session = sessions.begin(tx, user.id, proved.method, client=browser.client, agent=browser.agent)
    return CompletedSignIn(session, attempts.make_device(context.signer, user.email))


def with_code(context: Context, browser: Browser, challenge: str, code: str) -> CompletedSignIn:
    """Complete a sign-in with a code. Raises Unauthorized if the code is wrong, and TooManyRequests after
    too many attempts."""
    payload = context.signer.verify("second-factor", challenge)
    if payload is None:
        raise Unauthorized("This sign-in attempt has expired. Sign in again.")
    return _with_code(context, browser, msgspec.json.decode(payload, type=_Challenge), code)


def _with_code(context: Context, browser: Browser, proved: _Challenge, code: str) -> CompletedSignIn:
    user_id = proved.user_id
    counters = attempts.counters(
        "code", user_id, browser.client, per_account=CODE_TRIES, device=proved.device
    )
    with context.db.write() as tx:
        attempts.record_or_refuse(tx, counters)
    with context.db.write() as tx:
        # Check again, because the account may have been deactivated since the first factor.
        enabled = tx.one("SELECT 1 FROM users WHERE id = :id AND disabled = 0", id=user_id)
        if enabled and factors.accept(tx, context.sealer, user_id, code):
            attempts.uncount(tx, counters)
            return _begin(tx, context, browser, proved)
        audit_person(
            tx,
            "sign-in.failed",
            user_id,
            client=browser.client,
            actor="",
            after={"method": f"{proved.method} and code"},
        )
    raise Unauthorized("code: is incorrect or was already used")


def start_passkey(context: Context, browser: Browser, challenge: str | None) -> tuple[str, JsonObject]:
    """Start authentication with a passkey: return a challenge and options. Without ``challenge``, the passkey is the
    only sign-in step. With ``challenge``, the passkey replaces the two-factor code. Raises Unauthorized if the
    challenge is invalid, TooManyRequests after too many attempts, and Unavailable if passkeys aren't supported at this
    URL."""
    first = None
    if challenge is not None:
        first = context.signer.verify("second-factor", challenge)
        if first is None:
            raise Unauthorized("This sign-in attempt has expired. Sign in again.")
    with context.db.write() as tx:
        attempts.record_or_refuse(tx, attempts.client_counter("passkey", browser.client))
    user_id = msgspec.json.decode(first, type=_Challenge).user_id if first is not None else None
    with context.db.write() as tx:
        return passkeys.start_authentication(tx, context, user_id=user_id, first=first)


def with_passkey(
    context: Context, browser: Browser, challenge: str, credential: passkeys.UsedCredential
) -> CompletedSignIn:
    """Sign in with a passkey. Raises Unauthorized, always with the same message, if the sign-in fails."""
    found = passkeys.finish_authentication(context, challenge, credential)
    with context.db.write() as tx:
        if isinstance(found, passkeys.AcceptedPasskey):
            proved = (
                _Challenge("passkey", found.user_id, None)
                if found.first is None
                else msgspec.json.decode(found.first, type=_Challenge)
            )
            return _begin(tx, context, browser, proved)
        if found.user_id is not None:
            state = {"method": "passkey", "why": found.why}
            audit_person(tx, "sign-in.failed", found.user_id, client=browser.client, actor="", after=state)
    raise Unauthorized("This passkey is unknown, or the request took too long. Try again.")


def _enqueue_failed_sign_in(context: Context, browser: Browser, email: str, method: str) -> None:
    """Enqueue an audit entry for a failed attempt. The work is the same whether or not the person exists."""
    with context.db.write() as tx:
        jobs.enqueue(
            tx, "logFailedSignIn", email=email.strip().lower()[:320], method=method, client=browser.client
        )


@jobs.job("logFailedSignIn", bound="one sign-in", attempts=3, in_maintenance=True)
def log_failed_sign_in(context: Context, email: str, method: str, client: str) -> None:
    with context.db.write() as tx:
        person = _find_person(tx, email)
        if person is not None:
            state = {"method": method}
            audit_person(tx, "sign-in.failed", person.id, client=client, actor="", after=state)


# --- emailed links ----------------------------------------------------------------------------------


def request_link(context: Context, browser: Browser, email: str) -> None:
    """Enqueue an email with a link to the person with this email address, if any. Raises TooManyRequests
    after too many requests, and Unavailable if the server doesn't send email."""
    if not context.settings.smtp_url:
        raise Unavailable("This server can't send email. Set OCTAVO_SMTP_URL to turn on sign-in links.")
    email = email.strip().lower()
    with context.db.write() as tx:
        attempts.record_or_refuse(tx, attempts.client_counter("link", browser.client))
        # If the limit is exceeded, no link is sent, but the request succeeds, because the links that were
        # already sent are still valid.
        if attempts.record(tx, attempts.account_counter("link", email, _LINKS)):
            jobs.enqueue(tx, "mailSignInLink", email=email)


@jobs.job("mailSignInLink", bound="one mail", attempts=3, in_maintenance=True)
def mail_link(context: Context, email: str) -> None:
    with context.db.write() as tx:
        secret = issue_link(tx, context.sealer, email)
    if secret is None:
        return
    mail.send(
        context.settings,
        to=email,
        subject="Your sign-in link",
        text="Use this link to sign in. It expires in 15 minutes and can be used once:\n\n"
        f"{context.settings.url}/sign-in?link={secret}\n\n"
        "If you didn't request this email, you can ignore it.\n",
    )


def issue_link(tx: Transaction, sealer: Sealer, email: str) -> str | None:
    """Return the secret of a sign-in link for an email address, or None if no one can sign in with this address."""
    person = _find_person(tx, email)
    if person is None:
        return None
    return one_time.issue(tx, sealer, "link", _Link(person.id, email=email.strip().lower()), LINK_LIFETIME)


def issue_first_link(tx: Transaction, sealer: Sealer, user_id: str) -> str | None:
    """Return the secret of a link for a person who has never signed in, or None for anyone else."""
    if not sessions.has_never_signed_in(tx, user_id):
        return None
    return one_time.issue(tx, sealer, "link", _Link(user_id, first=True), FIRST_LINK_LIFETIME)


def with_link(context: Context, browser: Browser, secret: str, code: str | None) -> Outcome:
    """Sign in with a link's secret, which can be used only once. Raises Unauthorized if the secret is invalid."""
    with context.db.write() as tx:
        link = one_time.redeem(tx, context.sealer, "link", secret, _Link)
        user = find_user(tx, link.user_id) if link is not None else None
        current = user is not None and link is not None and link.email in (None, user.email)
        # Opening the link proves access to the mailbox.
        known = link is not None and current and verify_address(tx, link.user_id)
        if link is not None and link.first and not sessions.has_never_signed_in(tx, link.user_id):
            known = False
    if link is None or not known:
        raise Unauthorized("This link is invalid, was already used, or has expired. Request a new one.")
    return _complete_first_factor(context, browser, _Challenge("link", link.user_id, None), code)


# --- cleanup ------------------------------------------------------------------------------------------


@jobs.job("forgetExpiredSignIns", bound="everything that expired since the last run")
def forget_expired(context: Context) -> None:
    moment = now()
    with context.db.write() as tx:
        tx.run(
            "DELETE FROM sessions WHERE expires_at < :now OR last_used_at < :idle",
            now=moment,
            idle=moment - SESSION_IDLE,
        )
        tx.run("DELETE FROM one_time_secrets WHERE expires_at < :now", now=moment)
        tx.run("DELETE FROM saml_assertions WHERE expires_at < :now", now=moment)
        tx.run("DELETE FROM attempts WHERE window_start < :before", before=moment - DAY)


jobs.schedule("forgetExpiredSignIns", _SWEEP_EVERY, "forgetExpiredSignIns")
