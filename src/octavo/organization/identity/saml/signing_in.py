"""Sign-in through an organization's identity provider, in three steps.

1. ``start``: the browser gets a cookie and is redirected to the provider.

2. ``receive``: the provider has the browser post its response. That request comes from another site, so it doesn't
  include Octavo's cookies. Therefore, its result is stored as an answer under a secret, and the browser is redirected
  with the secret.

3. ``finish``: a browser with the secret and the cookie gets a session. If the answer doesn't belong to a request, a
  person must confirm it. If the account's owner never accepted the membership, the owner must connect the account.

The provider is trusted only for its organization, so the session gives access only to that organization. With an email
address, the provider can identify only people who accepted their membership, and accounts that the organization
created."""

from __future__ import annotations

import secrets
from typing import Literal, NamedTuple
from urllib.parse import quote, urlencode

from msgspec import Struct

from octavo.errors import Conflict, Forbidden, Unauthorized
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor
from octavo.organization.access.accounts import (
    UserRow,
    find_user,
    find_user_by_email,
    has_verified_email,
    insert_user,
    set_manager,
)
from octavo.organization.access.auditing import Stranger, audit
from octavo.organization.access.members import (
    accept_membership,
    find_membership,
    notify_joined,
    set_sso,
    upsert_member,
)
from octavo.organization.access.teams import put_team_member
from octavo.organization.access.tokens import hash_token

from .. import linked_accounts, one_time, sessions
from ..redirects import local_path
from . import store
from .responses import Assertion, RefusedResponse, make_request, read_response
from .service import service

LIFETIME = 10 * 60_000
"""Maximum duration of the round trip to the provider, and lifetime of an unconfirmed answer, both in
milliseconds."""
PAGE = "/sso"
_ANSWER = "saml-answer"

Step = Literal["confirm", "connect"]


class _Asked(Struct, frozen=True):
    """Open sign-in request. ``binding``: the hash of the browser's cookie value."""

    next: str
    binding: str


class _Answer(Struct, frozen=True):
    """Verified result of a response. ``asked``: whether this browser started the sign-in."""

    provider_id: str
    subject: str
    email: str | None
    name: str | None
    next: str
    binding: str
    asked: bool


class BrowserRedirect(Struct, frozen=True):
    """Redirect for the browser. ``binding``: the new cookie value, or None to keep the current value."""

    url: str
    binding: str | None


class SamlSignIn(Struct, frozen=True):
    session: sessions.NewSession
    next: str


class PendingConfirmation(Struct, frozen=True):
    """Contents of the confirmation page."""

    step: Step
    organization: str
    provider: str
    email: str | None


class ReturningBrowser(NamedTuple):
    """Browser that returns from a provider. ``binding``: the browser's cookie value; empty if it has no cookie.
    ``person``: the user who is already signed in to Octavo in this browser, if any."""

    browser: sessions.Browser
    binding: str
    person: Actor | Stranger


def cookie_name(context: Context) -> str:
    return "__Host-octavo-saml" if context.settings.url.startswith("https://") else "octavo-saml"


def start(context: Context, provider_id: str, wanted: str | None) -> BrowserRedirect:
    """Return a redirect to the identity provider with an authentication request. Raises NotFound if there is
    no active provider with this ID."""
    with context.db.read() as tx:
        provider = store.get_active_provider(tx, provider_id)
    request = make_request(provider, service(context, provider_id))
    binding = secrets.token_urlsafe(32)
    asked = _Asked(local_path(wanted), hash_token(binding))
    with context.db.write() as tx:
        one_time.issue(tx, context.sealer, _asked(provider_id), asked, LIFETIME, secret=request.id)
    glue = "&" if "?" in provider.sso_url else "?"
    return BrowserRedirect(f"{provider.sso_url}{glue}{urlencode({'SAMLRequest': request.encoded})}", binding)


def _asked(provider_id: str) -> str:
    return f"saml {provider_id}"


def receive(context: Context, provider_id: str, encoded: str, relay_state: str | None) -> BrowserRedirect:
    """Verify a response, and return a redirect to the next step. Raises NotFound if the provider doesn't
    exist, Unauthorized if the response is invalid, and Forbidden if the person can't sign in."""
    with context.db.read() as tx:
        provider = store.get_active_provider(tx, provider_id)
    assertion = read_response(encoded, provider, service(context, provider_id), now())
    binding = None
    with context.db.write() as tx:
        if not store.remember_assertion(tx, provider_id, assertion.id, assertion.expires_at):
            raise RefusedResponse("SAML response: was already used. Start over on the sign-in page.")
        if assertion.in_response_to is not None:
            asked = one_time.redeem(tx, context.sealer, _asked(provider_id), assertion.in_response_to, _Asked)
            if asked is None:
                raise RefusedResponse(
                    "SAML response: belongs to an unknown or expired sign-in request. Start over on the"
                    " sign-in page."
                )
        elif provider.idp_initiated:
            binding = secrets.token_urlsafe(32)
            asked = _Asked(local_path(relay_state), hash_token(binding))
        else:
            raise RefusedResponse(
                "SAML response: wasn't requested by Octavo. Start on Octavo's sign-in page, or turn on"
                " `idpInitiated` to allow sign-ins that start with the provider."
            )
        secret = one_time.issue(tx, context.sealer, _ANSWER, _answer(provider_id, assertion, asked), LIFETIME)
    if binding is None:
        return BrowserRedirect(context.url(f"/saml/{provider_id}/finish?answer={secret}"), None)
    return BrowserRedirect(_page(context, secret), binding)


def _answer(provider_id: str, assertion: Assertion, asked: _Asked) -> _Answer:
    return _Answer(
        provider_id,
        assertion.subject,
        assertion.email,
        assertion.name,
        asked.next,
        asked.binding,
        assertion.in_response_to is not None,
    )


def _page(context: Context, secret: str) -> str:
    return f"{context.settings.url}{PAGE}?answer={quote(secret)}"


# --- completing an answer -----------------------------------------------------------------------------


def _get_answer(
    tx: Transaction, context: Context, binding: str, secret: str
) -> tuple[_Answer, store.ProviderRow]:
    """Return an answer and its provider, for the browser that received the answer. Raises Unauthorized if
    the answer is unknown, has expired, or was received by another browser, and NotFound if the provider was
    deleted."""
    answer = one_time.peek(tx, context.sealer, _ANSWER, secret, _Answer)
    if answer is None or not secrets.compare_digest(hash_token(binding), answer.binding):
        raise Unauthorized(
            "This sign-in has expired, was already used, or was started in another browser. Start over on the"
            " sign-in page."
        )
    return answer, store.get_active_provider(tx, answer.provider_id)


def describe_answer(context: Context, binding: str, secret: str) -> PendingConfirmation:
    """Return an answer's contents and the required step. Raises the same errors as ``finish``."""
    with context.db.read() as tx:
        answer, provider = _get_answer(tx, context, binding, secret)
        title = tx.value("SELECT title FROM organizations WHERE id = :id", id=provider.organization_id)
        known = _find_person(tx, provider, answer)
        step: Step = "connect" if known is not None and not known.vouched else "confirm"
        return PendingConfirmation(step, title, provider.label, answer.email)


def finish(context: Context, by: ReturningBrowser, provider_id: str, secret: str) -> SamlSignIn | str:
    """Start a session if this browser requested the answer and the provider is trusted for the account.
    Otherwise, return the URL of the confirmation page.

    Raises Unauthorized if the answer is unknown or has expired, Forbidden if the person can't sign in, and
    NotFound if the provider was deleted."""
    with context.db.write() as tx:
        answer, provider = _get_answer(tx, context, by.binding, secret)
        if answer.provider_id != provider_id:
            raise Unauthorized(
                "This sign-in was started with a different provider. Start over on the sign-in page."
            )
        known = _find_person(tx, provider, answer)
        if not answer.asked or (known is not None and not known.vouched):
            return _page(context, secret)
        return _sign_in(tx, context, by, provider, answer, secret, known)


def confirm(context: Context, by: ReturningBrowser, secret: str) -> SamlSignIn:
    """Start a session after the person has confirmed the sign-in in the browser.

    Raises Conflict if the account's owner must connect the account first, and the same errors as ``finish``."""
    with context.db.write() as tx:
        answer, provider = _get_answer(tx, context, by.binding, secret)
        known = _find_person(tx, provider, answer)
        if known is not None and not known.vouched:
            raise Conflict(
                "An account with this email address already exists. Sign in to it, then connect it to the"
                " provider."
            )
        return _sign_in(tx, context, by, provider, answer, secret, known)


def connect(context: Context, by: ReturningBrowser, actor: Actor, secret: str) -> SamlSignIn:
    """Trust the provider for the caller's account and make the caller a member of the organization.

    Raises Forbidden if the caller isn't the account's owner, and the same errors as ``finish``."""
    with context.db.write() as tx:
        sessions.require_still_signed_in(tx, actor)
        answer, provider = _get_answer(tx, context, by.binding, secret)
        known = _find_person(tx, provider, answer)
        if known is None or known.user_id != actor.user_id:
            raise Forbidden(
                "The sign-in provider returned a different account than the one you're signed in to. Sign in"
                " with the same account."
            )
        return _sign_in(tx, context, by, provider, answer, secret, known)


class _Known(Struct, frozen=True):
    """Existing account that an answer refers to. ``vouched``: whether the provider's response is sufficient to sign
    in."""

    user_id: str
    member: bool
    vouched: bool


def _find_person(tx: Transaction, provider: store.ProviderRow, answer: _Answer) -> _Known | None:
    """Return the account that an answer refers to, or None. Raises Forbidden if the account isn't allowed to
    sign in."""
    linked_id = linked_accounts.find_user_id(tx, provider.id, answer.subject)
    user: UserRow | None
    if linked_id is not None:
        user = find_user(tx, linked_id)
    elif answer.email is None:
        raise Forbidden(
            "The sign-in provider didn't send your email address. Ask your administrator to include it."
        )
    else:
        user = find_user_by_email(tx, answer.email)
    if user is None:
        return None
    if not linked_accounts.can_sign_in(tx, user.id):
        raise Forbidden("This account is deactivated. Ask an administrator to reactivate it.")
    membership = find_membership(tx, provider.organization_id, user.id)
    if membership is not None and membership.disabled:
        raise Forbidden("Your access to this organization is disabled. Ask an administrator to restore it.")
    # An account with an unverified email address may belong to someone else.
    accepted = bool(membership and membership.accepted) and has_verified_email(tx, user.id)
    ours = linked_id is not None or linked_accounts.is_created_by(tx, user.id, provider.organization_id)
    vouched = accepted or ours
    return _Known(user.id, membership is not None, vouched)


def _sign_in(
    tx: Transaction,
    context: Context,
    by: ReturningBrowser,
    provider: store.ProviderRow,
    answer: _Answer,
    secret: str,
    known: _Known | None,
) -> SamlSignIn:
    if one_time.redeem(tx, context.sealer, _ANSWER, secret, _Answer) is None:
        raise Unauthorized("This sign-in was already used. Start over on the sign-in page.")
    user_id = known.user_id if known else _make_account(tx, provider, answer)
    if linked_accounts.find_user_id(tx, provider.id, answer.subject) is None:
        linked_accounts.link(tx, provider.id, answer.subject, user_id)
    _become_member(tx, by, provider, user_id, member=known is not None and known.member)
    session = sessions.begin(
        tx,
        user_id,
        "saml",
        client=by.browser.client,
        agent=by.browser.agent,
        organization_id=provider.organization_id,
    )
    return SamlSignIn(session, answer.next)


def _make_account(tx: Transaction, provider: store.ProviderRow, answer: _Answer) -> str:
    assert answer.email is not None, "an answer without an address was rejected"
    name = answer.name or answer.email.partition("@")[0]
    # The address isn't verified, because only this organization's provider confirms that it belongs to the
    # person.
    made = insert_user(tx, answer.email, name, verified=False)
    set_manager(tx, made.id, provider.organization_id)
    return made.id


def _become_member(
    tx: Transaction, by: ReturningBrowser, provider: store.ProviderRow, user_id: str, *, member: bool
) -> None:
    organization_id = provider.organization_id
    if not member:
        upsert_member(tx, organization_id, user_id, provider.default_role)
        state = {"role": provider.default_role, "team": provider.default_team, "by": "saml"}
        target = ("user", user_id)
        audit(tx, by.person, "member.joined", organization_id, target, after=state)
        if provider.default_team is not None:
            put_team_member(tx, provider.default_team, user_id)
        notify_joined(tx, organization_id, user_id, vouched=True)
    accept_membership(tx, organization_id, user_id)
    set_sso(tx, organization_id, user_id)
