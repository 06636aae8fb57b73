"""Resolve, dismiss, and reopen findings, and ignore them on individual pages."""

from __future__ import annotations

from octavo.errors import Conflict, NotFound
from octavo.kit.db.database import Transaction
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import SiteAccess

from . import store
from .kinds import FindingStatus
from .store import FindingRow


def set_finding_status(tx: Transaction, site: SiteAccess, row: FindingRow, status: FindingStatus) -> None:
    """Set the status of a finding. Dismissing or reopening a finding applies to all of its pages."""
    if row.status == status:
        return
    if status != "done":
        store.delete_ignored(tx, row.id)
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


def ignore_on_page(tx: Transaction, site: SiteAccess, row: FindingRow, page_id: str, reason: str) -> None:
    """Ignore a finding on one of its pages. If it is then ignored on all of its pages, it is dismissed. Raises
    NotFound if the finding doesn't concern the page, and Conflict if it is already dismissed."""
    if page_id not in store.list_page_ids(tx, row.id):
        raise NotFound(f"This finding doesn't concern a page with the ID {page_id!r}.")
    ignored = store.map_ignored(tx, [row.id])
    if row.status == "canceled" and not ignored:
        raise Conflict("This finding is dismissed on all pages. Reopen it first.")
    store.put_ignored(tx, row.id, page_id, reason)
    if row.status in ("open", "candidate") and not store.map_pages(tx, [row.id])[row.id]:
        store.set_status(tx, row.id, "canceled")
    before = ignored.get((row.id, page_id))
    audit(
        tx,
        site.actor,
        "siteFinding.ignored",
        site.organization_id,
        ("siteFinding", row.id),
        before={"reason": before.reason} if before is not None else None,
        after={"page": page_id, "reason": reason, "title": row.title},
    )


def restore_on_page(tx: Transaction, site: SiteAccess, row: FindingRow, page_id: str) -> bool:
    """Stop ignoring a finding on a page. If the finding was ignored on all of its pages, it reopens. Return False
    if it wasn't ignored on this page."""
    if not store.delete_ignored(tx, row.id, page_id):
        return False
    if row.status == "canceled":
        store.set_status(tx, row.id, "open")
    audit(
        tx,
        site.actor,
        "siteFinding.restored",
        site.organization_id,
        ("siteFinding", row.id),
        before={"page": page_id, "title": row.title},
    )
    return True
