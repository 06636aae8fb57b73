"""Scan a site: check pages that have changed, collect findings, and compare them with the findings of the last
scan."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from msgspec import Struct

from octavo.assistants.questions.topics import assign_topics
from octavo.content.references.viewing import SpaceView, load_view
from octavo.content.revisions.bodies import get_body
from octavo.content.revisions.restrictions import shown_state
from octavo.core.checks.faults import CheckedPage
from octavo.core.checks.pages import VERSION
from octavo.errors import NotFound
from octavo.kit.clock import DAY, now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.processes.page_checking import check_text
from octavo.kit.scheduling import deadlines
from octavo.kit.work import jobs
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import SiteAccess
from octavo.organization.spaces.store import find_place
from octavo.sites.insights.store import count_views
from octavo.sites.site.store import find_site, get_site, set_last_scan
from octavo.sites.site.structure.store import load_structure

from . import outbound_store, store
from .agent_settings import JOB as FIX
from .agent_settings import read_settings
from .asked_elsewhere import match_records
from .gathering import gather_findings
from .health import measure_health
from .kinds import FindingKind, FindingStatus, Severity
from .linked_code import follow_code
from .outbound import list_urls
from .searches import find_empty_searches
from .store import FindingRow, ScanRow, StoredFinding
from .styleguides import ReadRules, read_rules
from .types import Found, OpenFinding
from .unanswered import find_unanswered

_PAGES = 50
"""Number of pages to check between two writes to the database."""
_FINDINGS = 200
"""Number of findings to write in one transaction."""
JOB = "scanSite"


def start_scan(tx: Transaction, site_id: str, organization_id: str, cause: store.ScanCause) -> ScanRow:
    """Start a scan of a site, or return the scan that is already pending."""
    # The lock ensures that simultaneous requests find each other's scans.
    tx.one(f"SELECT id FROM sites WHERE id = :site{tx.for_update}", site=site_id)
    scan = store.find_pending_scan(tx, site_id)
    if scan is None:
        scan = store.insert_scan(tx, site_id, cause)
        jobs.enqueue(
            tx,
            JOB,
            organization=organization_id,
            site_id=site_id,
            organization_id=organization_id,
            scan_id=scan.id,
        )
    return scan


def request_scan(tx: Transaction, site: SiteAccess) -> ScanRow:
    """Start a scan at a person's request."""
    scan = start_scan(tx, site.site_id, site.organization_id, "manual")
    audit(
        tx, site.actor, "site.scanned", site.organization_id, ("site", site.site_id), after={"scan": scan.id}
    )
    return scan


def scan_site(context: Context, site_id: str, organization_id: str, scan_id: str) -> None:
    """Run a scan. Deleted sites, spaces, and pages are skipped; changes made during the scan trigger another
    scan."""
    with context.db.write() as tx:
        if not store.update_scan(tx, scan_id, status="running", started_at=now()):
            jobs.finish(tx)
            return
        jobs.advance(tx)
    with context.db.read() as tx:
        site = find_site(tx, site_id)
        rules = read_rules(tx, site.styleguide_id if site is not None else None)
    found: dict[str, Found] = {}
    pages = 0
    spaces = _list_spaces(context, site_id)
    for space_id in spaces:
        try:
            checked = check_space(context, space_id, rules)
            _store_links(context, space_id, checked)
            with context.db.read() as tx:
                view = load_view(tx, shown_state(tx, None, space_id))
            code = follow_code(context, space_id, view, checked)
            with context.db.read() as tx:
                pages += sum(1 for _ in view.every.documents())
                for each in gather_findings(tx, organization_id, view, checked, code):
                    found.setdefault(each.key, each)
        except NotFound:
            continue
        jobs.renew()
    with context.db.read() as tx:
        settings = read_settings(tx, site_id)
    if settings.topics == "auto":
        assign_topics(context, site_id)
    with context.db.read() as tx:
        for each in find_empty_searches(tx, site_id, organization_id, spaces):
            found.setdefault(each.key, each)
        for each in find_unanswered(context, tx, site_id, organization_id, spaces):
            found.setdefault(each.key, each)
        records = match_records(tx, site_id, found.values())
    _write_findings(context, site_id, scan_id, found)
    with context.db.write() as tx:
        store.set_records(tx, site_id, records)
        if find_site(tx, site_id) is not None:
            _finish(tx, site_id, scan_id, pages, found)
            if settings.change_requests != "never":
                jobs.enqueue(
                    tx,
                    FIX,
                    organization=organization_id,
                    key=f"{FIX} {site_id}",
                    site_id=site_id,
                    organization_id=organization_id,
                )
        jobs.finish(tx)


class SiteFault(Struct, frozen=True):
    """Open finding of a site, as shown in reports. ``path``: the path of its first page, relative to the site's
    URL."""

    kind: FindingKind
    severity: Severity
    path: str
    text: str


def scan_now(context: Context, site_id: str) -> list[SiteFault]:
    """Scan a site in the calling thread, and return its open findings, most severe first."""
    with context.db.write() as tx:
        site = get_site(tx, site_id)
        scan = store.insert_scan(tx, site_id, "manual")
    scan_site(context, site_id, site.organization_id, scan.id)
    found: list[SiteFault] = []
    with context.db.read() as tx:
        for row in store.list_open(tx, site_id):
            first = row.evidence[0] if row.evidence else None
            text = f"{row.title}: {first.quote} {first.message}".strip() if first is not None else row.title
            found.append(SiteFault(row.kind, row.severity, _path_of(tx, site_id, row), text))
    return found


def _path_of(tx: Transaction, site_id: str, row: FindingRow) -> str:
    if row.space_id is None or not row.evidence:
        return ""
    tree = load_view(tx, shown_state(tx, None, row.space_id)).every
    page = tree.page(row.evidence[0].page)
    return (find_place(tx, row.space_id, site_id) or "") + (tree.url_path(page) if page is not None else "")


def fail_scan(context: Context, scan_id: str, message: str) -> None:
    """Record the reason for a scan's failure."""
    with context.db.write() as tx:
        store.update_scan(tx, scan_id, status="failed", finished_at=now(), failure=message[:1000])


def _list_spaces(context: Context, site_id: str) -> list[str]:
    with context.db.read() as tx:
        rows = load_structure(tx, site_id).site_spaces.values()
    return sorted({row.space_id for row in rows})


def check_space(context: Context, space_id: str, rules: ReadRules) -> dict[str, CheckedPage]:
    """Check the pages of a space that changed since the last scan, or all pages if the rules changed. Return the
    results for all pages, by ID."""
    with context.db.read() as tx:
        view = load_view(tx, shown_state(tx, None, space_id))
        known = store.read_fingerprints(tx, space_id)
    wanted = {
        page.id: fingerprint
        for page in view.every.all_pages()
        if page.kind == "document" and not page.computed and (fingerprint := _fingerprint(page.body, rules))
    }
    changed = [page_id for page_id, fingerprint in wanted.items() if known.get(page_id) != fingerprint]
    gone = sorted(known.keys() - wanted.keys())
    for start in range(0, len(changed), _PAGES):
        deadlines.check()
        batch = changed[start : start + _PAGES]
        made = _check_pages(context, view, batch, rules)
        with context.db.write() as tx:
            store.put_checks(
                tx, space_id, {page_id: (wanted[page_id], checked) for page_id, checked in made.items()}
            )
            jobs.advance(tx)
    with context.db.write() as tx:
        store.delete_checks(tx, space_id, gone)
        jobs.advance(tx)
    with context.db.read() as tx:
        checks = store.read_checks(tx, space_id)
    return {page_id: checked for page_id, checked in checks.items() if page_id in wanted}


def _store_links(context: Context, space_id: str, checked: dict[str, CheckedPage]) -> None:
    """Store external links for background checks, or delete them if background checks are turned off."""
    wanted = list_urls(checked.values()) if context.settings.check_links else {}
    with context.db.write() as tx:
        outbound_store.sync_links(tx, space_id, wanted)
        jobs.advance(tx)


def _fingerprint(body: str | None, rules: ReadRules) -> str:
    return hashlib.sha256(f"{VERSION} {rules.digest} {body}".encode()).hexdigest() if body else ""


def _check_pages(
    context: Context, view: SpaceView, page_ids: Iterable[str], rules: ReadRules
) -> dict[str, CheckedPage]:
    made: dict[str, CheckedPage] = {}
    for page_id in page_ids:
        page = view.every.any_page(page_id)
        if page is None or page.body is None:
            continue
        try:
            with context.db.read() as tx:
                text = get_body(tx, page.body)
        except LookupError:
            continue  # The text was removed along with its page or space.
        checked = check_text(page_id, text, rules.rules)
        if (
            checked is not None
        ):  # Otherwise, the results of its last check stay, and the next scan tries again.
            made[page_id] = checked
    return made


def _write_findings(context: Context, site_id: str, scan_id: str, found: dict[str, Found]) -> None:
    """Insert new findings, update known findings, and close findings that weren't found again."""
    with context.db.read() as tx:
        known = store.read_findings(tx, site_id)
    new = [each for key, each in found.items() if key not in known]
    differing = {
        known[key].id: (each, _next_status(known[key], each))
        for key, each in found.items()
        if key in known and _differs(known[key], each)
    }
    gone = [row.id for key, row in known.items() if key not in found and row.status in ("open", "candidate")]
    for start in range(0, len(new), _FINDINGS):
        with context.db.write() as tx:
            store.insert_findings(tx, site_id, scan_id, new[start : start + _FINDINGS])
            jobs.advance(tx)
    ids = sorted(differing)
    for start in range(0, len(ids), _FINDINGS):
        with context.db.write() as tx:
            batch = {id: differing[id] for id in ids[start : start + _FINDINGS]}
            store.update_findings(tx, scan_id, batch)
            jobs.advance(tx)
    for start in range(0, len(gone), _FINDINGS):
        with context.db.write() as tx:
            store.close_findings(tx, gone[start : start + _FINDINGS])
            jobs.advance(tx)
    with context.db.write() as tx:
        counts = dict.fromkeys(("low", "medium", "high"), 0)
        for each in new:
            counts[each.severity] += 1
        store.update_scan(tx, scan_id, **counts)


def _next_status(row: StoredFinding, found: Found) -> FindingStatus:
    """Return the status of a finding that was found again: a fixed finding reopens, and a dismissed finding stays
    dismissed. A finding that is ignored on some pages is open as long as it also concerns other pages."""
    if row.ignored:
        return "canceled" if row.ignored.issuperset(found.pages) else "open"
    return "open" if row.status == "done" else row.status


def _differs(row: StoredFinding, found: Found) -> bool:
    columns = store.columns_of(found)
    stored = tuple(columns[name] for name in ("title", "severity", "evidence", "fixing", "space_id"))
    is_same = row.digest == stored and row.sources == found.sources
    return row.status != _next_status(row, found) or not is_same


def _finish(tx: Transaction, site_id: str, scan_id: str, pages: int, found: dict[str, Found]) -> None:
    known = store.read_findings(tx, site_id)
    open_ = [
        OpenFinding(
            key, each.kind, each.severity, tuple(id for id in each.pages if id not in known[key].ignored)
        )
        for key, each in found.items()
        if key in known and known[key].status == "open"
    ]
    health = measure_health(pages, open_)
    moment = now()
    store.update_scan(
        tx, scan_id, status="done", finished_at=moment, health=store.encode_health(health), failure=None
    )
    set_last_scan(tx, site_id, moment)
    days = {key: each.days for key, each in found.items()}
    store.rank_findings(tx, site_id, days, count_views(tx, site_id, moment - 30 * DAY))
    store.prune(tx, site_id)
