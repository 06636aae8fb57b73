"""Read and write SAML providers in the database. Rows are returned as frozen records."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from octavo.errors import NotFound
from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.db.database import Row, Transaction
from octavo.kit.db.pagination import Slice, list_page


class ProviderRow(Struct, frozen=True):
    id: str
    organization_id: str
    label: str
    entity_id: str
    certificate: str
    sso_url: str
    default_team: str | None
    default_role: str | None
    idp_initiated: bool
    """Whether sign-ins that the provider initiates are accepted."""
    created_at: int

    @property
    def active(self) -> bool:
        """Return whether all values that a sign-in needs are set."""
        return bool(self.entity_id and self.certificate and self.sso_url)


CHANGEABLE = ("label", "entity_id", "certificate", "sso_url", "default_team", "default_role", "idp_initiated")
_COLUMNS = ", ".join(("id", "organization_id", *CHANGEABLE, "created_at"))


def _provider(row: Row) -> ProviderRow:
    values = dict(zip(ProviderRow.__struct_fields__, row, strict=True))
    return ProviderRow(**values | {"idp_initiated": bool(values["idp_initiated"])})


def find_provider(tx: Transaction, provider_id: str) -> ProviderRow | None:
    row = tx.one(f"SELECT {_COLUMNS} FROM saml_providers WHERE id = :id", id=provider_id)
    return _provider(row) if row else None


def get_provider(tx: Transaction, organization_id: str, provider_id: str) -> ProviderRow:
    """Return a provider of the organization. Raises NotFound if it doesn't exist or belongs to another
    organization."""
    found = find_provider(tx, provider_id)
    if found is None or found.organization_id != organization_id:
        raise NotFound(f"There is no SAML provider with the ID {provider_id!r} in this organization.")
    return found


def get_active_provider(tx: Transaction, provider_id: str) -> ProviderRow:
    found = find_provider(tx, provider_id)
    if found is None or not found.active:
        raise NotFound("This sign-in provider doesn't exist, or isn't set up yet. Check its settings.")
    return found


def list_providers(tx: Transaction, organization_id: str, limit: int, page: str | None) -> Slice[ProviderRow]:
    """Return the providers of an organization, oldest first."""
    return list_page(
        tx,
        limit,
        page,
        _COLUMNS,
        "FROM saml_providers WHERE organization_id = :org",
        _provider,
        org=organization_id,
    )


def list_active_providers(tx: Transaction, organization_id: str) -> list[ProviderRow]:
    """Return the active providers of an organization, oldest first."""
    rows = tx.all(
        f"SELECT {_COLUMNS} FROM saml_providers WHERE organization_id = :org ORDER BY id", org=organization_id
    )
    return [found for row in rows if (found := _provider(row)).active]


def insert_provider(tx: Transaction, organization_id: str, values: Mapping[str, object]) -> str:
    """Insert a provider, and return its ID. ``values``: keyed by the names in CHANGEABLE."""
    provider_id = ids.new_id()
    tx.run(
        f"""INSERT INTO saml_providers ({_COLUMNS})
            VALUES (:id, :org, {", ".join(f":{name}" for name in CHANGEABLE)}, :at)""",
        id=provider_id,
        org=organization_id,
        at=now(),
        **_booleans_as_integers(values),
    )
    return provider_id


def update_provider(tx: Transaction, provider_id: str, values: Mapping[str, object]) -> None:
    """Update a provider. ``values``: keyed by the names in CHANGEABLE."""
    assert set(values) <= set(CHANGEABLE)
    if values:
        columns = ", ".join(f"{name} = :{name}" for name in values)
        tx.run(
            f"UPDATE saml_providers SET {columns} WHERE id = :id",
            id=provider_id,
            **_booleans_as_integers(values),
        )


def _booleans_as_integers(values: Mapping[str, object]) -> dict[str, object]:
    return {name: int(value) if isinstance(value, bool) else value for name, value in values.items()}


def forget_identities(tx: Transaction, provider_id: str) -> None:
    """Remove the links between the provider's users and accounts, because the same IDs at another provider identify
    different people."""
    tx.run("DELETE FROM external_identities WHERE provider = :id", id=provider_id)


def delete_provider(tx: Transaction, organization_id: str, provider_id: str) -> bool:
    """Delete a provider, and end the sessions that were started through the organization's providers."""
    deleted = tx.run(
        "DELETE FROM saml_providers WHERE id = :id AND organization_id = :org",
        id=provider_id,
        org=organization_id,
    )
    if deleted:
        forget_identities(tx, provider_id)
        tx.run("DELETE FROM sessions WHERE organization_id = :org AND method = 'saml'", org=organization_id)
    return deleted > 0


def remember_assertion(tx: Transaction, provider_id: str, assertion_id: str, expires_at: int) -> bool:
    """Record an assertion. Return False if the assertion was already used."""
    return (
        tx.run(
            """INSERT INTO saml_assertions (provider_id, assertion_id, expires_at) VALUES (:provider, :id, :at)
               ON CONFLICT (provider_id, assertion_id) DO NOTHING""",
            provider=provider_id,
            id=assertion_id,
            at=expires_at,
        )
        > 0
    )
