"""What the tables of organizations and teams are."""

from __future__ import annotations

from typing import get_args

from ..access import ORDER
from ..kit.tables import Table, declare, member, person, row
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
        name="proved_domains",
        of_organization="organization_id = :org",
        stays="what proves a domain here proves nothing in another installation",
        values={"proof": get_args(Proof)},
    ),
    Table(name="teams", of_organization="organization_id = :org"),
    Table(
        name="team_members",
        of_organization="team_id IN (SELECT id FROM teams WHERE organization_id = :org)",
        columns=(member("user_id"),),
        membership="user_id",
        values={"role": ("owner", "member")},
    ),
)
