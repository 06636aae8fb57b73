"""Verification of an organization's email domains. Only verified domains let people join."""

from __future__ import annotations

from collections.abc import Sequence

from octavo.core.free_mail import is_free_mail
from octavo.errors import BadRequest, NotFound
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor
from octavo.kit.net.names import find_texts
from octavo.organization.access.accounts import is_operator
from octavo.organization.access.auditing import audit
from octavo.organization.access.reach import is_session
from octavo.settings import parse_servers

from . import store
from .store import OrgRow, Proof


def record_of(context: Context, organization_id: str, domain: str) -> tuple[str, str]:
    """Return the name and text of the TXT record that verifies an organization's domain."""
    text = context.signer.derive("email domain", f"{organization_id} {domain}")
    return f"_octavo.{domain}", f"octavo-domain={text}"


def set_domains(tx: Transaction, org: OrgRow, wanted: Sequence[str]) -> list[str]:
    """Return the domains in lowercase without duplicates, and delete the verification of removed domains.

    Raises BadRequest if a domain belongs to a public email provider."""
    domains = list(dict.fromkeys(domain.lower() for domain in wanted))
    for domain in domains:
        if is_free_mail(domain):
            raise BadRequest(
                f"emailDomains: {domain!r} belongs to a public email provider. Use one of your organization's"
                " own domains."
            )
    store.forget_proofs(tx, org.id, [domain for domain in org.email_domains if domain not in domains])
    return domains


def verify_domain(context: Context, actor: Actor, organization_id: str, domain: str) -> OrgRow:
    """Verify one of the organization's domains. This succeeds if a server administrator requests it in a session, or if
    the TXT record exists.

    Raises BadRequest if the domain belongs to a public email provider, NotFound if the organization doesn't list the
    domain, and Unavailable if no name server responds."""
    with context.db.read() as tx:
        org = store.get_organization(tx, organization_id)
        _require_named(org, domain)
        by_operator = is_session(actor) and is_operator(tx, context.settings, actor.user_id)
    if domain in org.proved:
        return org
    if not by_operator:
        name, text = record_of(context, org.id, domain)
        if text not in find_texts(name, parse_servers(context.settings.dns_servers)):
            return org
    with context.db.write() as tx:
        org = store.get_organization(tx, organization_id)
        _require_named(org, domain)
        _record_proof(tx, actor, org.id, domain, "operator" if by_operator else "dns")
        return store.get_organization(tx, organization_id)


def verify_domain_for_operator(tx: Transaction, organization_id: str, domain: str) -> None:
    """Verify a domain on behalf of the server administrator.

    Raises BadRequest if the domain belongs to a public email provider, and NotFound if the organization doesn't list
    the domain."""
    _require_named(store.get_organization(tx, organization_id), domain)
    _record_proof(tx, None, organization_id, domain, "operator")


def _require_named(org: OrgRow, domain: str) -> None:
    if is_free_mail(domain):
        raise BadRequest(
            f"{domain!r} belongs to a public email provider. Use one of your organization's own domains."
        )
    if domain not in org.email_domains:
        raise NotFound(
            f"emailDomains: {domain!r} isn't listed in the organization {org.id!r}. Add the domain to the"
            " organization's settings first."
        )


def _record_proof(
    tx: Transaction, actor: Actor | None, organization_id: str, domain: str, proof: Proof
) -> None:
    if store.insert_proof(tx, organization_id, domain, proof):
        target = ("organization", organization_id)
        audit(tx, actor, "organization.domain-proved", organization_id, target, after={domain: proof})
