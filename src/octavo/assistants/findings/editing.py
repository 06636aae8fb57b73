"""Resolve, dismiss, and reopen findings."""

from __future__ import annotations

from octavo.kit.db.database import Transaction
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import SiteAccess

from . import store
from .kinds import FindingStatus
from .store import FindingRow


def set_finding_status(tx: Transaction, site: SiteAccess, row: FindingRow, status: FindingStatus) -> None:
    """Set the status of a finding."""
    if row.status == status:
        return
    store.set_status(tx, row.id, status)
    audit(
        tx,
        site.actor,
        "siteFinding.updated",
        site.organization_id,
        ("siteFinding", row.id),
        before={"status": row.status, "title": row.title},
        after={"status": status, "title": row.title},
    )
