"""Jobs that run scans: after changes, every night, and on request."""

from __future__ import annotations

from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.work import jobs
from octavo.kit.work.outbox import Event, consumer
from octavo.sites.site.store import get_site, list_all_sites, list_sites_of_space

from . import reminding
from .agent_settings import JOB as FIX
from .agent_settings import fix_by_itself
from .outbound import check_links
from .scanning import JOB, fail_scan, scan_site, start_scan

__all__ = ["reminding"]

_AFTER = 60_000
"""Milliseconds to wait for more changes to a space before scanning its sites."""
_LINKS_EVERY = 900.0
_EVERY = 24 * 3600.0
_ATTEMPTS = 5


@jobs.job(JOB, bound=None, attempts=_ATTEMPTS, seconds=600)
def run_scan(context: Context, site_id: str, organization_id: str, scan_id: str) -> None:
    """Scan a site. If the scan fails, the reason is recorded, and the scan is retried."""
    try:
        scan_site(context, site_id, organization_id, scan_id)
    except Exception as error:
        fail_scan(context, scan_id, f"{type(error).__name__}: {error}")
        raise


@jobs.job(FIX, bound="50 change requests", seconds=600)
def fix_open_findings(context: Context, site_id: str, organization_id: str) -> None:
    """Create the change requests that a site's agent is allowed to create without approval."""
    fix_by_itself(context, site_id, organization_id)


@consumer("findings")
def _after_change(tx: Transaction, event: Event) -> None:
    if event.type != "space_content_updated" or event.space_id is None:
        return
    for site in list_sites_of_space(tx, event.space_id):
        if site.published:
            jobs.enqueue(
                tx,
                "startScan",
                organization=site.organization_id,
                key=f"startScan {site.id}",
                run_at=event.created_at + _AFTER,
                site_id=site.id,
                cause="change",
            )


@jobs.job("startScan", bound="one row")
def begin_scan(context: Context, site_id: str, cause: str) -> None:
    """Start a scan of a site if the site still exists."""
    with context.db.write() as tx:
        if tx.one("SELECT 1 FROM sites WHERE id = :id", id=site_id):
            site = get_site(tx, site_id)
            start_scan(tx, site.id, site.organization_id, "change" if cause == "change" else "schedule")
        jobs.finish(tx)


@jobs.job("scanSites", bound="one row for each published site")
def scan_all_sites(context: Context) -> None:
    """Start a scan of every published site."""
    with context.db.read() as tx:
        sites = [site for site in list_all_sites(tx) if site.published]
    for site in sites:
        with context.db.write() as tx:
            jobs.enqueue(
                tx,
                "startScan",
                organization=site.organization_id,
                key=f"startScan {site.id}",
                site_id=site.id,
                cause="schedule",
            )


@jobs.job("checkLinks", bound="200 links", seconds=600, waits=True)
def check_due_links(context: Context) -> None:
    """Check external links that are due, and scan the sites whose findings change."""
    if not context.settings.check_links:
        return
    changed = check_links(context)
    with context.db.write() as tx:
        for space_id in sorted(changed):
            for site in list_sites_of_space(tx, space_id):
                if site.published:
                    jobs.enqueue(
                        tx,
                        "startScan",
                        organization=site.organization_id,
                        key=f"startScan {site.id}",
                        run_at=now() + _AFTER,
                        site_id=site.id,
                        cause="schedule",
                    )


jobs.schedule("checkLinks", _LINKS_EVERY, "checkLinks")
jobs.schedule("scanSites", _EVERY, "scanSites")
