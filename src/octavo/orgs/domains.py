"""Which e-mail domains are an organization's own: only those let people in."""

from __future__ import annotations

from collections.abc import Sequence

from ..access import audit
from ..errors import NotFound
from ..kit.context import Context
from ..kit.db import Transaction
from ..kit.names import find_texts
from ..kit.operation import Actor
from ..settings import parse_servers
from . import store
from .store import OrgRow, Proof


def record_of(context: Context, organization_id: str, domain: str) -> tuple[str, str]:
    """Name and text of the TXT record that proves a domain to be an organization's."""
    text = context.signer.derive("email domain", f"{organization_id} {domain}")
    return f"_octavo.{domain}", f"octavo-domain={text}"


def set_domains(tx: Transaction, actor: Actor | None, org: OrgRow, wanted: Sequence[str]) -> list[str]:
    """The domains in lower case, each once. Those with a verified address of an administrator are proved by that;
    what is not wanted any more is proved no longer."""
    domains = list(dict.fromkeys(domain.lower() for domain in wanted))
    store.forget_proofs(tx, org.id, [domain for domain in org.email_domains if domain not in domains])
    for domain in domains:
        if domain not in org.proved and store.is_domain_of_administrator(tx, org.id, domain):
            _note(tx, actor, org.id, domain, "address")
    return domains


def prove(context: Context, actor: Actor, organization_id: str, domain: str) -> OrgRow:
    """Looks for a proof of a domain that the organization names: an administrator's address, then the record.

    Raises NotFound for a domain that it does not name, Unavailable when no name server answers.
    """
    with context.db.read() as tx:
        org = store.get_organization(tx, organization_id)
        _require_named(org, domain)
        by_address = store.is_domain_of_administrator(tx, org.id, domain)
    if domain in org.proved:
        return org
    if not by_address:
        name, text = record_of(context, org.id, domain)
        if text not in find_texts(name, parse_servers(context.settings.dns_servers)):
            return org
    with context.db.write() as tx:
        org = store.get_organization(tx, organization_id)
        _require_named(org, domain)
        _note(tx, actor, org.id, domain, "address" if by_address else "dns")
        return store.get_organization(tx, organization_id)


def vouch(tx: Transaction, organization_id: str, domain: str) -> None:
    """Proves a domain by the operator's word. Raises NotFound for one that the organization does not name."""
    _require_named(store.get_organization(tx, organization_id), domain)
    _note(tx, None, organization_id, domain, "operator")


def _require_named(org: OrgRow, domain: str) -> None:
    if domain not in org.email_domains:
        raise NotFound(f"emailDomains: {domain!r} is not among those of the organization {org.id!r}.")


def _note(tx: Transaction, actor: Actor | None, organization_id: str, domain: str, proof: Proof) -> None:
    if store.insert_proof(tx, organization_id, domain, proof):
        target = ("organization", organization_id)
        audit(tx, actor, "organization.domain-proved", organization_id, target, after={domain: proof})
