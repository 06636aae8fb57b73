"""Schedule the computation of an organization's computed pages. The module ``computing`` performs it."""

from __future__ import annotations

from octavo.content.revisions.page_versions import list_spaces_with_computed
from octavo.kit.db.database import Transaction
from octavo.kit.work import jobs

from . import store
from .store import IntegrationRow

JOB = "computeWithIntegrations"


def order_computing(tx: Transaction, organization_id: str) -> None:
    """Schedule the computation of computed pages whose input has changed."""
    for space_id in (
        list_spaces_with_computed(tx, organization_id) if store.computes(tx, organization_id) else ()
    ):
        jobs.enqueue(tx, JOB, organization=organization_id, key=f"{JOB} {space_id}", space_id=space_id)


def order_for(tx: Transaction, row: IntegrationRow) -> None:
    """Schedule the computation of pages in all organizations in which an integration is installed. Call this after
    the integration itself has changed."""
    for installation in store.list_all_installations(tx, row.id) if row.manifest.content_sources else ():
        order_computing(tx, installation.organization_id)


def order_retry(tx: Transaction, organization_id: str, space_id: str, *, tries: int, run_at: int) -> None:
    """Schedule a retry after a failure, at a time in milliseconds. The retry doesn't delay other scheduled
    computations."""
    key = f"{JOB} {space_id} again"
    jobs.enqueue(
        tx, JOB, organization=organization_id, key=key, run_at=run_at, space_id=space_id, tries=tries
    )
