"""Visitor schemas of sites. They define the claims that conditions can use."""

from __future__ import annotations

import msgspec

from octavo.kit.clock import now
from octavo.kit.db.database import Transaction
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import SiteAccess

from ..publishing import require_publish_permission_if_published
from .schema import EMPTY, VisitorSchema

_decoder = msgspec.json.Decoder(VisitorSchema)


def find_schema(tx: Transaction, site_id: str) -> tuple[VisitorSchema, int] | None:
    """Return a site's schema and the time when it was set; None if the site has no schema."""
    row = tx.one("SELECT adaptive_schema, adaptive_updated_at FROM sites WHERE id = :site", site=site_id)
    if row is None or row[0] is None:
        return None
    return _decoder.decode(row[0]), row[1]


def get_schema(tx: Transaction, site_id: str) -> VisitorSchema:
    """Return the schema of a site, or an empty schema if none was set."""
    found = find_schema(tx, site_id)
    return found[0] if found is not None else EMPTY


def set_schema(tx: Transaction, site: SiteAccess, schema: VisitorSchema) -> None:
    """Set the schema of a site. Raises Forbidden if the site is published and has spaces that the caller
    can't publish, because the schema changes the results of conditions."""
    require_publish_permission_if_published(tx, site)
    before = find_schema(tx, site.site_id)
    tx.run(
        "UPDATE sites SET adaptive_schema = :schema, adaptive_updated_at = :at, updated_at = :at WHERE id = :site",
        schema=msgspec.json.encode(schema).decode(),
        at=now(),
        site=site.site_id,
    )
    audit(
        tx,
        site.actor,
        "site.visitorSchemaUpdated",
        site.organization_id,
        ("site", site.site_id),
        before=before[0] if before else None,
        after=schema,
    )
