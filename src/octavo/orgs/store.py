"""Organizations."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct, field

from ..errors import NotFound
from ..kit import ids
from ..kit.clock import now
from ..kit.db import Transaction
from ..kit.pagination import Slice, decode_token, slice_rows


class OrgSettings(Struct, frozen=True, omit_defaults=True):
    """What is shown and seldom asked for; kept as JSON in ``organizations.settings``."""

    logo: str | None = None
    sso: bool = False
    ai: bool = True
    invite_links: bool = True
    merge_rules: dict[str, Any] = field(default_factory=lambda: {"type": "none"})
    default_content: dict[str, Any] | None = None


class OrgRow(Struct, frozen=True):
    id: str
    title: str
    hostname: str | None
    created_at: int
    default_role: str | None
    email_domains: list[str]
    settings: OrgSettings


_COLUMNS = "o.id, o.title, o.hostname, o.created_at, o.default_role, o.email_domains, o.settings"


def _org(row: tuple[Any, ...]) -> OrgRow:
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


def get_organization(tx: Transaction, organization_id: str) -> OrgRow:
    row = tx.one(f"SELECT {_COLUMNS} FROM organizations o WHERE o.id = :id", id=organization_id)
    if row is None:
        raise NotFound(f"There is no organization {organization_id!r}.")
    return _org(row)


def find_organization_by_hostname(tx: Transaction, hostname: str) -> OrgRow | None:
    row = tx.one(f"SELECT {_COLUMNS} FROM organizations o WHERE o.hostname = :hostname", hostname=hostname)
    return _org(row) if row else None


def list_organizations(
    tx: Transaction, user_id: str, organization_ids: list[str], limit: int, page: str | None
) -> Slice[tuple[OrgRow, str | None]]:
    """Those of these organizations that a person is an enabled member of, newest first, each with their role there."""
    after = decode_token(page, str)
    mine = """FROM organizations o JOIN members m ON m.organization_id = o.id
              WHERE m.user_id = :user AND m.disabled = 0 AND o.id IN :reached"""
    rows = tx.all(
        f"SELECT {_COLUMNS}, m.role {mine} AND o.id < :after ORDER BY o.id DESC LIMIT :limit",
        user=user_id,
        after=after[0] if after else "~",
        limit=limit + 1,
        reached=organization_ids,
    )
    count = tx.value(f"SELECT count(*) {mine}", user=user_id, reached=organization_ids)
    return slice_rows([(_org(row), row[7]) for row in rows], limit, count, lambda item: (item[0].id,))


def insert_organization(tx: Transaction, title: str, hostname: str, email_domains: list[str]) -> OrgRow:
    org = OrgRow(ids.new_id(), title, hostname, now(), "read", email_domains, OrgSettings())
    tx.run(
        """INSERT INTO organizations (id, title, hostname, created_at, default_role, email_domains)
           VALUES (:id, :title, :hostname, :at, :role, :domains)""",
        id=org.id,
        title=title,
        hostname=hostname,
        at=org.created_at,
        role=org.default_role,
        domains=msgspec.json.encode(email_domains).decode(),
    )
    return org


def hostname_is_taken(tx: Transaction, hostname: str) -> bool:
    return tx.one("SELECT 1 FROM organizations WHERE hostname = :h", h=hostname) is not None


def update_organization(tx: Transaction, organization_id: str, columns: dict[str, Any]) -> None:
    assignments = ", ".join(f"{name} = :{name}" for name in columns)
    tx.run(f"UPDATE organizations SET {assignments} WHERE id = :row", row=organization_id, **columns)


def set_default_site(tx: Transaction, organization_id: str, site_id: str) -> None:
    """Makes a site what the organization shows by default."""
    settings = get_organization(tx, organization_id).settings
    settings = msgspec.structs.replace(settings, default_content={"type": "site", "site": site_id})
    update_organization(tx, organization_id, {"settings": msgspec.json.encode(settings).decode()})


def list_organizations_by_domain(tx: Transaction, domain: str) -> list[OrgRow]:
    """The organizations that people with an address in this domain may join, oldest first."""
    rows = tx.all(
        f"SELECT {_COLUMNS} FROM organizations o WHERE o.email_domains LIKE :like ORDER BY o.id",
        like=f'%"{domain}"%',
    )
    # LIKE takes `_` for any letter.
    return [org for row in rows if domain in (org := _org(row)).email_domains]


def list_with_own_team(tx: Transaction, user_id: str) -> set[str]:
    """The organizations in which somebody owns a team."""
    rows = tx.all(
        """SELECT DISTINCT t.organization_id FROM team_members x JOIN teams t ON t.id = x.team_id
           WHERE x.user_id = :user AND x.role = 'owner'""",
        user=user_id,
    )
    return {row[0] for row in rows}
