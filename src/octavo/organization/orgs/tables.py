"""Declare the tables for organizations."""

from __future__ import annotations

from typing import get_args

from octavo.kit.db.tables import Table, declare, person, row
from octavo.organization.access.roles import ORDER

from .settings import check_hostname
from .store import OrgSettings, Proof

declare(
    Table(
        name="organizations",
        of_organization="id = :org",
        columns=(
            person("settings", path=("merge_rules", "rules", "users")),
            row("settings", "sites", path=("default_content", "site")),
        ),
        values={"default_role": ORDER},
        json={"email_domains": list[str], "settings": OrgSettings},
        check=check_hostname,
    ),
    Table(
        name="organization_former_hostnames",
        of_organization="organization_id = :org",
        stays="hostnames are reserved on the server where they were released",
    ),
    Table(
        name="trusted_organizations",
        of_organization="organization_id = :org",
        stays="trust applies only on this server",
    ),
    Table(
        name="proved_domains",
        of_organization="organization_id = :org",
        stays="the verification of a domain applies only on this server",
        values={"proof": get_args(Proof)},
    ),
)
