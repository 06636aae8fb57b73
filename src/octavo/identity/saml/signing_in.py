"""Signing in through an organization's identity provider.

The provider is trusted for its organization and nothing else: the session reaches that organization only. Who is
not known to it yet is matched by e-mail with a member, or becomes a new member under a new account; an account of
somebody who is no member is never taken over by its address.
"""

from __future__ import annotations

from urllib.parse import urlencode

from msgspec import Struct

from ...access import audit, find_user_by_email, insert_user, upsert_member
from ...errors import Forbidden
from ...kit.clock import now
from ...kit.db import Transaction
from ...kit.operation import Call
from .. import linked_accounts, one_time, sessions
from ..redirects import local_path
from . import store
from .responses import Assertion, Refused, make_request, read_response
from .wire import service

LIFETIME = 10 * 60_000


class _Asked(Struct, frozen=True):
    next: str


class Finished(Struct, frozen=True):
    session: sessions.NewSession
    next: str


def start(call: Call, provider_id: str, wanted: str | None) -> str:
    """The URL that asks the identity provider who the browser's user is. Raises NotFound."""
    with call.db.read() as tx:
        provider = store.get_active_provider(tx, provider_id)
    request = make_request(provider, service(call, provider_id))
    with call.db.write() as tx:
        one_time.issue(
            tx,
            call.context.sealer,
            f"saml {provider_id}",
            _Asked(local_path(wanted)),
            LIFETIME,
            secret=request.id,
        )
    glue = "&" if "?" in provider.sso_url else "?"
    return f"{provider.sso_url}{glue}{urlencode({'SAMLRequest': request.encoded})}"


def finish(call: Call, provider_id: str, encoded: str, relay_state: str | None) -> Finished:
    """A session for whom the response names. Raises NotFound, Unauthorized, Forbidden."""
    with call.db.read() as tx:
        provider = store.get_active_provider(tx, provider_id)
    assertion = read_response(encoded, provider, service(call, provider_id), now())
    with call.db.write() as tx:
        following = local_path(relay_state)
        if not store.remember_assertion(tx, provider_id, assertion.id, assertion.expires_at):
            raise Refused("SAML response: used before")
        if assertion.in_response_to is not None:
            asked = one_time.take(
                tx, call.context.sealer, f"saml {provider_id}", assertion.in_response_to, _Asked
            )
            if asked is None:
                raise Refused("SAML response: answers a request that is not open")
            following = asked.next
        user_id = _person(tx, call, provider, assertion)
        session = sessions.begin(
            tx,
            user_id,
            "saml",
            client=call.client,
            agent=sessions.agent_of(call),
            organization_id=provider.organization_id,
        )
    return Finished(session, following)


def _person(tx: Transaction, call: Call, provider: store.ProviderRow, assertion: Assertion) -> str:
    known = linked_accounts.find_user_id(tx, provider.id, assertion.subject)
    user_id = known or _matched_or_made(tx, provider, assertion)
    if known is None:
        linked_accounts.link(tx, provider.id, assertion.subject, user_id)
    if not linked_accounts.may_sign_in(tx, user_id):
        raise Forbidden("This account is disabled.")
    row = tx.one(
        "SELECT disabled FROM members WHERE organization_id = :org AND user_id = :user",
        org=provider.organization_id,
        user=user_id,
    )
    if row is not None and row[0]:
        raise Forbidden("You are disabled in this organization.")
    if row is None:
        upsert_member(tx, provider.organization_id, user_id, provider.default_role)
        state = {"role": provider.default_role, "team": provider.default_team, "by": "saml"}
        audit(tx, call, "member.joined", provider.organization_id, ("user", user_id), after=state)
        if provider.default_team is not None:
            store.join_team(tx, provider.default_team, user_id)
    tx.run(
        "UPDATE members SET sso = 1 WHERE organization_id = :org AND user_id = :user AND sso = 0",
        org=provider.organization_id,
        user=user_id,
    )
    return user_id


def _matched_or_made(tx: Transaction, provider: store.ProviderRow, assertion: Assertion) -> str:
    if assertion.email is None:
        raise Forbidden("The identity provider does not tell your e-mail address.")
    user = find_user_by_email(tx, assertion.email)
    if user is not None:
        member = tx.one(
            "SELECT 1 FROM members WHERE organization_id = :org AND user_id = :user",
            org=provider.organization_id,
            user=user.id,
        )
        if member is None:
            raise Forbidden(
                "There is an account with your address that is no member of this organization. Sign in to it and"
                " accept an invitation first."
            )
        return user.id
    name = assertion.name or assertion.email.partition("@")[0]
    # Not verified: only this organization's provider says that the address is theirs.
    made = insert_user(tx, assertion.email, name, verified=False)
    tx.run("UPDATE users SET managed_by = :org WHERE id = :id", org=provider.organization_id, id=made.id)
    return made.id
