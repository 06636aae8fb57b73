"""Declare the tables for agents."""

from __future__ import annotations

from octavo.kit.db.tables import Table, declare, person, row

_OURS = "are connections to apps that know this server"

declare(
    Table(
        name="agent_clients", stays="are apps that registered with this server", json={"redirects": list[str]}
    ),
    Table(
        name="agents",
        of_organization="organization_id = :org",
        stays=_OURS,
        membership="user_id",
        columns=(person("user_id"),),
        secrets=("access_hash", "refresh_hash", "former_refresh_hash"),
        json={"scopes": list[str]},
    ),
    Table(
        name="agent_codes",
        of_organization="organization_id = :org",
        stays=_OURS,
        membership="user_id",
        columns=(person("user_id"), row("agent_id", "agents")),
        secrets=("hash",),
        json={"scopes": list[str]},
    ),
    Table(
        name="site_agents",
        of_organization="site_id IN (SELECT id FROM sites WHERE organization_id = :org)",
        stays=_OURS,
        secrets=("code_hash", "access_hash", "refresh_hash", "former_refresh_hash"),
    ),
    Table(
        name="agent_acts",
        of_organization="agent_id IN (SELECT id FROM agents WHERE organization_id = :org)",
        stays=_OURS,
    ),
)
