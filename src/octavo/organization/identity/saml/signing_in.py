"""Signing in through an organization's identity provider, in three steps.

1. ``start``: the browser gets a cookie and is sent to the provider.
2. ``receive``: the provider has the browser post its response. That request comes from another site, so without our
   cookies: what it proves is kept as an answer under a secret, and the browser is sent on with it.
3. ``finish``: whoever has the secret and the cookie gets a session. An answer that was not asked for waits until a
   person confirms it, one about an account that never accepted the organization until its owner connects it.

The provider is trusted for its organization and nothing else: the session reaches that organization only. By their
address it finds only those who accepted to be members, and accounts that the organization has made.
"""

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
    joined,
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
"""Of the way to the provider, and of an answer that waits. Milliseconds."""
PAGE = "/sso"
_ANSWER = "saml-answer"

Step = Literal["confirm", "connect"]


class _Asked(Struct, frozen=True):
    """``binding``: the hash of what the browser has in its cookie."""

    next: str
    binding: str


class _Answer(Struct, frozen=True):
    """What a response has proved. ``asked``: whether this browser began the sign-in."""

    provider_id: str
    subject: str
    email: str | None
    name: str | None
    next: str
    binding: str
    asked: bool


class Leaving(Struct, frozen=True):
    """Where the browser goes next; ``binding``: what it must bring back in a cookie, None to keep what it has."""

    url: str
    binding: str | None


class Finished(Struct, frozen=True):
    session: sessions.NewSession
    next: str


class Waiting(Struct, frozen=True):
    """What the page of an answer shows, and what it asks for."""

    step: Step
    organization: str
    provider: str
    email: str | None


class Returning(NamedTuple):
    """Who comes back from a provider. ``binding``: what their browser was given when it was sent there, "" for one that
    brings nothing; ``person``: who is signed in there already."""

    browser: sessions.Browser
    binding: str
    person: Actor | Stranger


def cookie_name(context: Context) -> str:
    return "__Host-octavo-saml" if context.settings.url.startswith("https://") else "octavo-saml"


def start(context: Context, provider_id: str, wanted: str | None) -> Leaving:
    """On to the identity provider, with the question who the browser's user is. Raises NotFound."""
    with context.db.read() as tx:
        provider = store.get_active_provider(tx, provider_id)
    request = make_request(provider, service(context, provider_id))
    binding = secrets.token_urlsafe(32)
    asked = _Asked(local_path(wanted), hash_token(binding))
    with context.db.write() as tx:
        one_time.issue(tx, context.sealer, _asked(provider_id), asked, LIFETIME, secret=request.id)
    glue = "&" if "?" in provider.sso_url else "?"
    return Leaving(f"{provider.sso_url}{glue}{urlencode({'SAMLRequest': request.encoded})}", binding)


def _asked(provider_id: str) -> str:
    return f"saml {provider_id}"


def receive(context: Context, provider_id: str, encoded: str, relay_state: str | None) -> Leaving:
    """On to what becomes of a response. Raises NotFound, Unauthorized, Forbidden."""
    with context.db.read() as tx:
        provider = store.get_active_provider(tx, provider_id)
    assertion = read_response(encoded, provider, service(context, provider_id), now())
    binding = None
    with context.db.write() as tx:
        if not store.remember_assertion(tx, provider_id, assertion.id, assertion.expires_at):
            raise RefusedResponse("SAML response: used before")
        if assertion.in_response_to is not None:
            asked = one_time.take(tx, context.sealer, _asked(provider_id), assertion.in_response_to, _Asked)
            if asked is None:
                raise RefusedResponse("SAML response: answers a request that is not open")
        elif provider.idp_initiated:
            binding = secrets.token_urlsafe(32)
            asked = _Asked(local_path(relay_state), hash_token(binding))
        else:
            raise RefusedResponse(
                "SAML response: nobody asked for it here. Start at Octavo's sign-in page, or have the provider set to"
                " begin sign-ins itself (`idpInitiated`)."
            )
        secret = one_time.issue(tx, context.sealer, _ANSWER, _answer(provider_id, assertion, asked), LIFETIME)
    if binding is None:
        return Leaving(context.url(f"/saml/{provider_id}/finish?answer={secret}"), None)
    return Leaving(_page(context, secret), binding)


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


# --- what becomes of an answer ------------------------------------------------------------------------


def _get_answer(
    tx: Transaction, context: Context, binding: str, secret: str
) -> tuple[_Answer, store.ProviderRow]:
    """An answer, for the browser it was given to. Raises Unauthorized, NotFound."""
    answer = one_time.look(tx, context.sealer, _ANSWER, secret, _Answer)
    if answer is None or not secrets.compare_digest(hash_token(binding), answer.binding):
        raise Unauthorized(
            "answer: unknown, used, expired, or of another by.browser. Start the sign-in again."
        )
    return answer, store.get_active_provider(tx, answer.provider_id)


def look(context: Context, binding: str, secret: str) -> Waiting:
    """What an answer says and waits for. Raises Unauthorized, Forbidden, NotFound."""
    with context.db.read() as tx:
        answer, provider = _get_answer(tx, context, binding, secret)
        title = tx.value("SELECT title FROM organizations WHERE id = :id", id=provider.organization_id)
        known = _find_person(tx, provider, answer)
        step: Step = "connect" if known is not None and not known.vouched else "confirm"
        return Waiting(step, title, provider.label, answer.email)


def finish(context: Context, by: Returning, provider_id: str, secret: str) -> Finished | str:
    """A session for whom an answer names that this browser has asked for; else the page that asks the person.

    Raises Unauthorized, Forbidden, NotFound.
    """
    with context.db.write() as tx:
        answer, provider = _get_answer(tx, context, by.binding, secret)
        if answer.provider_id != provider_id:
            raise Unauthorized("answer: of another provider")
        known = _find_person(tx, provider, answer)
        if not answer.asked or (known is not None and not known.vouched):
            return _page(context, secret)
        return _sign_in(tx, context, by, provider, answer, secret, known)


def confirm(context: Context, by: Returning, secret: str) -> Finished:
    """A session for whom an answer names, when the person in front of the browser wants it.

    Raises Conflict for an account that its owner must connect first, Unauthorized, Forbidden, NotFound.
    """
    with context.db.write() as tx:
        answer, provider = _get_answer(tx, context, by.binding, secret)
        known = _find_person(tx, provider, answer)
        if known is not None and not known.vouched:
            raise Conflict("There is an account with this address: sign in to it, then connect it.")
        return _sign_in(tx, context, by, provider, answer, secret, known)


def connect(context: Context, by: Returning, actor: Actor, secret: str) -> Finished:
    """Lets the provider vouch for the account whose owner asks for it, and makes them a member of the organization.

    Raises Forbidden for anybody but the owner, Unauthorized, NotFound.
    """
    with context.db.write() as tx:
        sessions.require_still_in(tx, actor)
        answer, provider = _get_answer(tx, context, by.binding, secret)
        known = _find_person(tx, provider, answer)
        if known is None or known.user_id != actor.user_id:
            raise Forbidden(
                "The identity provider speaks of somebody else than the account that you are signed in to."
            )
        return _sign_in(tx, context, by, provider, answer, secret, known)


class _Known(Struct, frozen=True):
    """An account that an answer may mean. ``vouched``: the provider's word is enough for it."""

    user_id: str
    member: bool
    vouched: bool


def _find_person(tx: Transaction, provider: store.ProviderRow, answer: _Answer) -> _Known | None:
    """None for somebody without an account. Raises Forbidden for who may not sign in."""
    linked_id = linked_accounts.find_user_id(tx, provider.id, answer.subject)
    user: UserRow | None
    if linked_id is not None:
        user = find_user(tx, linked_id)
    elif answer.email is None:
        raise Forbidden("The identity provider does not tell your e-mail address.")
    else:
        user = find_user_by_email(tx, answer.email)
    if user is None:
        return None
    if not linked_accounts.may_sign_in(tx, user.id):
        raise Forbidden("This account is disabled.")
    membership = find_membership(tx, provider.organization_id, user.id)
    if membership is not None and membership.disabled:
        raise Forbidden("You are disabled in this organization.")
    # An address that nobody proved may be on the account of somebody else.
    accepted = bool(membership and membership.accepted) and has_verified_email(tx, user.id)
    ours = linked_id is not None or linked_accounts.is_made_by(tx, user.id, provider.organization_id)
    vouched = accepted or ours
    return _Known(user.id, membership is not None, vouched)


def _sign_in(
    tx: Transaction,
    context: Context,
    by: Returning,
    provider: store.ProviderRow,
    answer: _Answer,
    secret: str,
    known: _Known | None,
) -> Finished:
    if one_time.take(tx, context.sealer, _ANSWER, secret, _Answer) is None:
        raise Unauthorized("answer: used just now. Start the sign-in again.")
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
    return Finished(session, answer.next)


def _make_account(tx: Transaction, provider: store.ProviderRow, answer: _Answer) -> str:
    assert answer.email is not None, "who has no address was refused"
    name = answer.name or answer.email.partition("@")[0]
    # Not verified: only this organization's provider says that the address is theirs.
    made = insert_user(tx, answer.email, name, verified=False)
    set_manager(tx, made.id, provider.organization_id)
    return made.id


def _become_member(
    tx: Transaction, by: Returning, provider: store.ProviderRow, user_id: str, *, member: bool
) -> None:
    organization_id = provider.organization_id
    if not member:
        upsert_member(tx, organization_id, user_id, provider.default_role)
        state = {"role": provider.default_role, "team": provider.default_team, "by": "saml"}
        target = ("user", user_id)
        audit(tx, by.person, "member.joined", organization_id, target, after=state)
        if provider.default_team is not None:
            put_team_member(tx, provider.default_team, user_id)
        joined(tx, organization_id, user_id, vouched=True)
    accept_membership(tx, organization_id, user_id)
    set_sso(tx, organization_id, user_id)
