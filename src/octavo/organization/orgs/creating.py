"""Create organizations with their hostname and first administrator."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import partial

from octavo.core.free_names import free_name
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor
from octavo.organization.access.auditing import audit
from octavo.organization.access.members import upsert_member

from . import store
from .domains import set_domains

_HOSTNAME_MAX = 32
_HOSTNAME_MIN = 3


def hostname_for(title: str) -> str:
    """Return a host label for a title: 3 to 32 characters from a-z, 0-9, and hyphens.

    >>> hostname_for("Ænterprise & Söhne GmbH")
    'nterprise-sohne-gmbh'
    """
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    label = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:_HOSTNAME_MAX].strip("-")
    return label if len(label) >= _HOSTNAME_MIN else f"{label}-docs".lstrip("-")


def create_organization_for(
    tx: Transaction, actor: Actor, user_id: str, title: str, email_domains: Sequence[str]
) -> store.OrgRow:
    """Create an organization, with the caller as its administrator."""
    org = create_organization(tx, user_id, title.strip())
    store.set_email_domains(tx, org.id, set_domains(tx, org, email_domains))
    audit(tx, actor, "organization.created", org.id, ("organization", org.id), after={"title": org.title})
    return org


def create_organization(tx: Transaction, user_id: str, title: str) -> store.OrgRow:
    """Create an organization with the user as its administrator and an available hostname derived from the
    title."""
    wanted = hostname_for(title)

    def numbered(number: int) -> str:
        suffix = f"-{number + 1}"
        return wanted[: _HOSTNAME_MAX - len(suffix)] + suffix

    hostname = free_name(wanted, partial(store.hostname_is_taken, tx), numbered)
    org = store.insert_organization(tx, title, hostname)
    upsert_member(tx, org.id, user_id, "admin", accepted=True)
    if store.is_first_organization(tx, org.id):
        # The first organization belongs to the server administrator.
        store.trust_organization(tx, org.id)
    return org
