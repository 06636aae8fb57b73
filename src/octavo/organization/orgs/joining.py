"""Join an organization by the domain of a verified email address."""

from __future__ import annotations

from octavo.core.free_mail import is_free_mail
from octavo.errors import BadRequest, NotFound
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor
from octavo.organization.access.accounts import find_user, has_verified_email
from octavo.organization.access.auditing import audit
from octavo.organization.access.members import (
    accept_membership,
    find_membership,
    notify_joined,
    upsert_member,
)

from . import store


def _own_domain(tx: Transaction, user_id: str) -> str | None:
    user = find_user(tx, user_id)
    if user is None or not has_verified_email(tx, user_id):
        return None
    return user.email.rpartition("@")[2]


def list_joinable(tx: Transaction, user_id: str, domain: str) -> list[store.OrgRow]:
    """Return the organizations that verified this domain, if the caller's verified email address belongs to the
    domain."""
    return store.list_organizations_by_domain(tx, domain) if _own_domain(tx, user_id) == domain else []


def join_by_domain(tx: Transaction, actor: Actor, user_id: str, organization_id: str) -> None:
    """Add the caller as a member with the default role. An existing member keeps their role."""
    domain = _own_domain(tx, user_id)
    if domain is None:
        raise BadRequest("Your email address isn't verified. Sign in with an emailed link to verify it.")
    missing = NotFound(
        f"There is no organization with the ID {organization_id!r} that people with a {domain} email address can join."
    )
    try:
        org = store.get_organization(tx, organization_id)
    except NotFound:
        raise missing from None
    membership = find_membership(tx, org.id, user_id)
    if domain not in org.proved or is_free_mail(domain) or (membership is not None and membership.disabled):
        raise missing
    if membership is None:
        upsert_member(tx, org.id, user_id, org.default_role)
        notify_joined(tx, org.id, user_id)
        state = {"role": org.default_role, "by": "domain"}
        audit(tx, actor, "member.joined", org.id, ("user", user_id), after=state)
    accept_membership(tx, org.id, user_id)
