"""Declare the tables for sign-in."""

from __future__ import annotations

from octavo.kit.db.tables import Table, declare
from octavo.organization.access.roles import ORDER

_OPENS = "gives access to this server"

declare(
    Table(name="sessions", stays="secret", secrets=("hash",)),
    Table(name="attempts", stays="temporary"),
    Table(name="first_sign_ins", stays=_OPENS),
    Table(name="one_time_secrets", stays="secret", secrets=("hash",)),
    Table(name="second_factors", stays="secret", secrets=("recovery_hashes",)),
    Table(name="passkeys", stays=_OPENS),
    Table(
        name="saml_providers",
        of_organization="organization_id = :org",
        values={"default_role": ORDER},
        long=("certificate",),
    ),
    Table(name="saml_assertions", stays=_OPENS),
    Table(
        name="external_identities",
        of_organization="provider IN (SELECT id FROM saml_providers WHERE organization_id = :org)",
        stays=_OPENS,
        membership="user_id",
    ),
    Table(name="directory_groups", stays="rebuilt by the next synchronization with the directory"),
)
