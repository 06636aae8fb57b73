"""Read and write organizations in the database. Rows are returned as frozen records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct, field

from octavo.core.free_mail import is_free_mail
from octavo.errors import NotFound
from octavo.kit import ids
from octavo.kit.clock import DAY, now
from octavo.kit.db.database import Row, Transaction
from octavo.kit.db.pagination import Slice, list_page


class OrgSettings(Struct, frozen=True, omit_defaults=True):
    """Settings that are displayed but rarely queried, and are therefore stored as JSON in
    ``organizations.settings``."""

    logo: str | None = None
    sso: bool = False
    ai: bool = True
    invite_links: bool = True
    merge_rules: dict[str, Any] = field(default_factory=lambda: {"type": "none"})
    default_content: dict[str, Any] | None = None


Proof = Literal["dns", "operator"]
"""Method by which a domain was verified: by a DNS record or by the server administrator. A mailbox in the domain isn't
sufficient."""


class DomainProof(Struct, frozen=True):
    proof: Proof
    proved_at: int


class OrgRow(Struct, frozen=True):
    """Organization with its settings. ``proved``: the verified domains among ``email_domains``."""

    id: str
    title: str
    hostname: str | None
    created_at: int
    default_role: str | None
    email_domains: list[str]
    settings: OrgSettings
    proved: dict[str, DomainProof] = {}


_COLUMNS = "o.id, o.title, o.hostname, o.created_at, o.default_role, o.email_domains, o.settings"


def _org(row: Row) -> OrgRow:
    id, title, hostname, created_at, default_role, domains, settings = row[:7]
    return OrgRow(
        id,
        title,
        hostname,
        created_at,
        default_role,
        msgspec.json.decode(domains, type=list[str]),
        msgspec.json.decode(settings, type=OrgSettings),
    )


def _with_proofs(tx: Transaction, orgs: list[OrgRow]) -> list[OrgRow]:
    naming = [org.id for org in orgs if org.email_domains]
    if not naming:
        return orgs
    found: dict[str, dict[str, DomainProof]] = {}
    for id, domain, proof, proved_at in tx.all(
        # An older process running alongside may still record verification by email address.
        """SELECT organization_id, domain, proof, proved_at FROM proved_domains
           WHERE organization_id IN :orgs AND proof IN ('dns', 'operator')""",
        orgs=naming,
    ):
        found.setdefault(id, {})[domain] = DomainProof(proof, proved_at)
    return [msgspec.structs.replace(org, proved=found.get(org.id, {})) for org in orgs]


def get_organization(tx: Transaction, organization_id: str) -> OrgRow:
    row = tx.one(f"SELECT {_COLUMNS} FROM organizations o WHERE o.id = :id", id=organization_id)
    if row is None:
        raise NotFound(f"There is no organization with the ID {organization_id!r}.")
    return _with_proofs(tx, [_org(row)])[0]


def is_first_organization(tx: Transaction, organization_id: str) -> bool:
    """Return whether no other organization exists."""
    return tx.one("SELECT 1 FROM organizations WHERE id <> :org LIMIT 1", org=organization_id) is None


def is_trusted(tx: Transaction, organization_id: str) -> bool:
    """Return whether the server administrator vouches for the hostnames and URLs of the organization's sites."""
    found = "SELECT 1 FROM trusted_organizations WHERE organization_id = :org"
    return tx.one(found, org=organization_id) is not None


def trust_organization(tx: Transaction, organization_id: str) -> None:
    tx.run(
        "INSERT INTO trusted_organizations (organization_id) VALUES (:org) ON CONFLICT DO NOTHING",
        org=organization_id,
    )


def find_organization_by_hostname(tx: Transaction, hostname: str) -> OrgRow | None:
    row = tx.one(f"SELECT {_COLUMNS} FROM organizations o WHERE o.hostname = :hostname", hostname=hostname)
    return _org(row) if row else None


HOSTNAME_RESERVED = 365 * DAY
"""Milliseconds for which no other organization can use a released hostname."""
_MAX_FORMER_HOSTNAMES = 10
"""Maximum number of former hostnames per organization. Older hostnames are released."""


def find_organization_by_former_hostname(tx: Transaction, hostname: str) -> OrgRow | None:
    """Return the organization that last released this hostname, if no other organization uses it now."""
    row = tx.one(
        f"""SELECT {_COLUMNS} FROM organization_former_hostnames f JOIN organizations o ON o.id = f.organization_id
            WHERE f.hostname = :hostname""",
        hostname=hostname,
    )
    return _org(row) if row else None


def list_organizations(
    tx: Transaction, user_id: str, organization_ids: list[str], limit: int, page: str | None
) -> Slice[tuple[OrgRow, str | None]]:
    """Return the given organizations that a person is an active member of, newest first, with the person's role."""
    source = """FROM organizations o JOIN members m ON m.organization_id = o.id
                WHERE m.user_id = :user AND m.disabled = 0 AND o.id IN :reached"""
    found = list_page(
        tx,
        limit,
        page,
        f"{_COLUMNS}, m.role",
        source,
        lambda row: (_org(row), row[7]),
        by="o.id",
        descending=True,
        user=user_id,
        reached=organization_ids,
    )
    orgs = _with_proofs(tx, [org for org, _ in found.rows])
    roles = [role for _, role in found.rows]
    return Slice(list(zip(orgs, roles, strict=True)), found.count, found.next_token)


def insert_organization(tx: Transaction, title: str, hostname: str) -> OrgRow:
    org = OrgRow(ids.new_id(), title, hostname, now(), "read", [], OrgSettings())
    _claim_hostname(tx, hostname)
    tx.insert(
        "organizations",
        id=org.id,
        title=title,
        hostname=hostname,
        created_at=org.created_at,
        default_role=org.default_role,
    )
    return org


def hostname_is_taken(tx: Transaction, hostname: str, organization_id: str = "") -> bool:
    """Return whether another organization has this hostname or recently released it."""
    row = tx.one(
        """SELECT 1 FROM organizations WHERE hostname = :name AND id <> :org
           UNION ALL SELECT 1 FROM organization_former_hostnames
           WHERE hostname = :name AND organization_id <> :org AND given_up_at > :since""",
        name=hostname,
        org=organization_id,
        since=now() - HOSTNAME_RESERVED,
    )
    return row is not None


def _claim_hostname(tx: Transaction, hostname: str) -> None:
    tx.run("DELETE FROM organization_former_hostnames WHERE hostname = :name", name=hostname)


def change_hostname(tx: Transaction, org: OrgRow, hostname: str) -> None:
    """Change the hostname of an organization. Old links keep working through the former hostname."""
    _claim_hostname(tx, hostname)
    if org.hostname is not None:
        tx.insert(
            "organization_former_hostnames", hostname=org.hostname, organization_id=org.id, given_up_at=now()
        )
        tx.run(
            """DELETE FROM organization_former_hostnames WHERE organization_id = :org AND hostname NOT IN (
                 SELECT hostname FROM organization_former_hostnames WHERE organization_id = :org
                 ORDER BY given_up_at DESC, hostname LIMIT :most)""",
            org=org.id,
            most=_MAX_FORMER_HOSTNAMES,
        )
    update_organization(tx, org.id, {"hostname": hostname})


def update_organization(tx: Transaction, organization_id: str, columns: Mapping[str, object]) -> None:
    assignments = ", ".join(f"{name} = :{name}" for name in columns)
    tx.run(f"UPDATE organizations SET {assignments} WHERE id = :row", row=organization_id, **columns)


def forget_default_site(tx: Transaction, organization_id: str, site_id: str) -> None:
    """Clear the organization's default content if it is this site. Called when the site is deleted."""
    settings = get_organization(tx, organization_id).settings
    if settings.default_content is not None and settings.default_content.get("site") == site_id:
        settings = msgspec.structs.replace(settings, default_content=None)
        update_organization(tx, organization_id, {"settings": msgspec.json.encode(settings).decode()})


def set_default_site(tx: Transaction, organization_id: str, site_id: str) -> None:
    """Set a site as the organization's default content."""
    settings = get_organization(tx, organization_id).settings
    settings = msgspec.structs.replace(settings, default_content={"type": "site", "site": site_id})
    update_organization(tx, organization_id, {"settings": msgspec.json.encode(settings).decode()})


def list_organizations_by_domain(tx: Transaction, domain: str) -> list[OrgRow]:
    """Return the organizations that people with an email address in this domain can join, oldest first.

    A public email provider's domain is never verified, even if it was once recorded."""
    if is_free_mail(domain):
        return []
    rows = tx.all(
        f"""SELECT {_COLUMNS} FROM proved_domains p JOIN organizations o ON o.id = p.organization_id
            WHERE p.domain = :domain AND p.proof IN ('dns', 'operator') ORDER BY o.id""",
        domain=domain,
    )
    return [_org(row) for row in rows]


def set_email_domains(tx: Transaction, organization_id: str, domains: list[str]) -> None:
    update_organization(tx, organization_id, {"email_domains": msgspec.json.encode(domains).decode()})


def insert_proof(tx: Transaction, organization_id: str, domain: str, proof: Proof) -> bool:
    """Record the verification of a domain. Return False if it was already verified. An earlier verification
    by email address, which older versions supported, doesn't count."""
    return bool(
        tx.all(
            """INSERT INTO proved_domains (organization_id, domain, proof, proved_at)
               VALUES (:org, :domain, :proof, :at)
               ON CONFLICT (organization_id, domain) DO UPDATE SET proof = excluded.proof, proved_at =
               excluded.proved_at
                 WHERE proved_domains.proof = 'address' RETURNING domain""",
            org=organization_id,
            domain=domain,
            proof=proof,
            at=now(),
        )
    )


def forget_proofs(tx: Transaction, organization_id: str, domains: list[str]) -> None:
    tx.run(
        "DELETE FROM proved_domains WHERE organization_id = :org AND domain IN :domains",
        org=organization_id,
        domains=domains,
    )


def list_with_own_team(tx: Transaction, user_id: str) -> set[str]:
    """Return the IDs of organizations where a user owns a team."""
    rows = tx.all(
        """SELECT DISTINCT t.organization_id FROM team_members x JOIN teams t ON t.id = x.team_id
           WHERE x.user_id = :user AND x.role = 'owner'""",
        user=user_id,
    )
    return {row[0] for row in rows}
