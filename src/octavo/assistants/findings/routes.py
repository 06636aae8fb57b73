"""Operations on a site's findings, the scans that found them, and the site's health."""

from __future__ import annotations

from msgspec import UNSET
from msgspec.structs import replace

from octavo.assistants.questions.filters import AnswerFilter
from octavo.assistants.questions.stats import measure_questions
from octavo.assistants.questions.store import list_by_id
from octavo.assistants.questions.wire import SiteQuestion, present_question
from octavo.assistants.sources.store import list_records_by_id
from octavo.assistants.sources.wire import ContextRecord, present_record
from octavo.content.changes.store import list_changes_by_id
from octavo.content.changes.wire import ChangeRequest, present_changes
from octavo.kit.clock import now
from octavo.kit.db.pagination import Listing, Next, PageQuery, present_slice, slice_items
from octavo.kit.http.operation import Area, Call
from octavo.organization.access.authorization import SiteAccess
from octavo.organization.access.roles import Can

from . import agent_settings_routes, editing, store, styleguide_routes, topic_routes, wire
from .fixing import fix_findings
from .health import measure_seen, without_hidden
from .scanning import request_scan
from .store import FindingFilter

operation = Area("sites").operation

__all__ = ["agent_settings_routes", "styleguide_routes", "topic_routes"]

_SITE = "/orgs/{organizationId}/sites/{siteId}"
_SCANS = f"{_SITE}/scans"
_FINDINGS = f"{_SITE}/findings"
_FINDING = _FINDINGS + "/{siteFindingId}"
_IGNORED = _FINDING + "/ignored-pages/{pageId}"
_WEEK = 7 * 24 * 3600 * 1000
_MOST_SCANS = 100


@operation("listSiteScans", "GET", _SCANS, needs=Can.VIEW)
def list_scans(call: Call, site: SiteAccess, query: wire.ScansQuery) -> Listing[wire.SiteScan]:
    """List the scans of a site, newest first. Scans always cover all topics, so filtering by `topic` returns no
    scans."""
    with call.db.read() as tx:
        found = store.list_scans(
            tx, site.site_id, query.limit, query.page, query.status, topic=query.topic is not None
        )
        rows = found.rows if measure_seen(tx, site) is None else without_hidden(tx, site, found.rows)
    return present_slice(
        replace(found, rows=rows), lambda row: wire.present_scan(call, site.organization_id, row)
    )


@operation("startSiteScan", "POST", _SCANS, needs=Can.EDIT, status=202)
def start_scan(call: Call, site: SiteAccess) -> wire.SiteScan:
    """Start a scan of a site. If a scan is already pending, returns the pending scan."""
    with call.db.write() as tx:
        row = request_scan(tx, site)
    shown = wire.present_scan(call, site.organization_id, row)
    call.response_headers["location"] = shown.urls.location
    return shown


@operation("getSiteScanById", "GET", _SCANS + "/{siteScanId}", needs=Can.VIEW, errors=(404,))
def get_scan(call: Call, site: SiteAccess, site_scan_id: str) -> wire.SiteScan:
    """Get a scan of a site."""
    with call.db.read() as tx:
        row = store.get_scan(tx, site.site_id, site_scan_id)
        if measure_seen(tx, site) is not None:
            [row] = without_hidden(tx, site, [row])
    return wire.present_scan(call, site.organization_id, row)


@operation("getSiteHealth", "GET", f"{_SITE}/health", needs=Can.VIEW)
def get_health(call: Call, site: SiteAccess) -> wire.SiteHealth:
    """Get the health of a site: its current and past scores by area. Scores cover all spaces of the site, but
    finding counts include only findings that you can see. If restricted pages are hidden from you, there is only a
    current score, and it covers only pages that you can see."""
    with call.db.read() as tx:
        scans = store.list_latest_scans(tx, site.site_id, _MOST_SCANS)
        latest = store.list_scans(tx, site.site_id, 1, None).rows
        if (seen := measure_seen(tx, site)) is not None:
            scans = [replace(scan, health=seen) for scan in scans[-1:]]
            latest = without_hidden(tx, site, latest)
        counts = store.count_findings(tx, site, FindingFilter())
        done = store.count_findings(tx, site, FindingFilter(status="done", updated_after=now() - _WEEK))
    return wire.present_health(
        call,
        site.organization_id,
        scans,
        latest[0] if latest else None,
        [(status, severity, count) for status, severity, _, count in counts],
        sum(count for *_, count in done),
    )


@operation("getSiteFindingStats", "GET", f"{_SITE}/stats/findings", needs=Can.VIEW)
def get_stats(call: Call, site: SiteAccess, query: wire.FindingStatsQuery) -> wire.SiteFindingStats:
    """Get finding counts for a site, in the spaces that you can see."""
    with call.db.read() as tx:
        counts = store.count_findings(tx, site, query.filter)
        questions = store.count_with_questions(tx, site, query.filter)
        merged = store.count_merged_changes(tx, site, query.filter)
        connectors = store.count_by_connector(tx, site, query.filter)
    kinds: dict[str, int] = {}
    for status, _, kind, count in counts:
        if status == "open":
            kinds[kind] = kinds.get(kind, 0) + count
    return wire.SiteFindingStats(
        total=sum(count for *_, count in counts),
        statuses=wire.FindingStatuses(
            **{name: sum(c for s, _, _, c in counts if s == name) for name in ("open", "done", "canceled")}
        ),
        severities=wire.ScanFindings(
            **{name: sum(c for _, s, _, c in counts if s == name) for name in ("low", "medium", "high")}
        ),
        connectors=connectors,
        questions=questions,
        merged_change_requests=merged,
        kinds=kinds,
    )


@operation("listSiteFindings", "GET", _FINDINGS, needs=Can.VIEW)
def list_findings(call: Call, site: SiteAccess, query: wire.FindingsQuery) -> Listing[wire.SiteFinding]:
    """List a site's findings in the spaces that you can see, newest first. `orderBy` can be `severity` (most severe
    first) or `sources` (most pages first)."""
    with call.db.read() as tx:
        found = store.list_findings(tx, site, query.filter, query.limit, query.page, query.order_by)
        items = wire.present_findings(call, tx, site.organization_id, found.rows)
    return Listing(items, found.count, Next(found.next_token) if found.next_token else UNSET)


@operation("fixSiteFindings", "POST", f"{_FINDINGS}/change-requests", needs=Can.VIEW, errors=(404, 409))
def fix_several(call: Call, site: SiteAccess, body: wire.FixFindings) -> wire.FixedFindings:
    """Create draft change requests that fix these findings, one in each affected space. Findings without an
    automatic fix are skipped. Requires the editor role in these spaces."""
    with call.db.read() as tx:
        rows = [store.get_finding(tx, site, id) for id in dict.fromkeys(body.findings)]
    changes = fix_findings(call.context, site, rows)
    with call.db.read() as tx:
        return wire.FixedFindings(present_changes(call, tx, changes))


@operation("getSiteFindingById", "GET", _FINDING, needs=Can.VIEW, errors=(404,))
def get_finding(call: Call, site: SiteAccess, site_finding_id: str) -> wire.SiteFinding:
    """Get a finding."""
    with call.db.read() as tx:
        row = store.get_finding(tx, site, site_finding_id)
        return wire.present_finding(call, tx, site.organization_id, row)


@operation("updateSiteFindingById", "PATCH", _FINDING, needs=Can.EDIT, errors=(404,))
def update_finding(
    call: Call, site: SiteAccess, site_finding_id: str, body: wire.UpdateSiteFinding
) -> wire.SiteFinding:
    """Resolve, dismiss, reopen, or assign a finding. A finding that is `done` reopens if a scan still finds it; a
    `canceled` finding stays dismissed, and can have a reason."""
    with call.db.write() as tx:
        row = store.get_finding(tx, site, site_finding_id)
        editing.update_finding(tx, site, row, body.status, body.reason, body.assignee)
        return wire.present_finding(
            call, tx, site.organization_id, store.get_finding(tx, site, site_finding_id)
        )


@operation("ignoreSiteFindingOnPage", "PUT", _IGNORED, needs=Can.EDIT, errors=(404, 409))
def ignore(
    call: Call, site: SiteAccess, site_finding_id: str, page_id: str, body: wire.IgnoreFinding
) -> wire.SiteFinding:
    """Ignore a finding on one of its pages. The finding stays open on its other pages, and later scans don't report it
    on this page again. If a finding is ignored on all of its pages, its status is `canceled`."""
    with call.db.write() as tx:
        row = store.get_finding(tx, site, site_finding_id)
        editing.ignore_on_page(tx, site, row, page_id, body.reason)
        return wire.present_finding(call, tx, site.organization_id, store.get_finding(tx, site, row.id))


@operation("restoreSiteFindingOnPage", "DELETE", _IGNORED, needs=Can.EDIT, errors=(404,))
def restore(call: Call, site: SiteAccess, site_finding_id: str, page_id: str) -> bool:
    """Report a finding again on a page where it was ignored."""
    with call.db.write() as tx:
        return editing.restore_on_page(tx, site, store.get_finding(tx, site, site_finding_id), page_id)


@operation("listPagesForSiteFinding", "GET", f"{_FINDING}/pages", needs=Can.VIEW, errors=(404,))
def list_pages(
    call: Call, site: SiteAccess, site_finding_id: str, query: PageQuery
) -> Listing[wire.SiteFindingPage]:
    """List the pages that a finding concerns, including pages on which it is ignored."""
    with call.db.read() as tx:
        row = store.get_finding(tx, site, site_finding_id)
        found = store.list_pages(tx, row.id, query.limit, query.page)
        items = [page for id in found.rows if (page := wire.present_page(tx, row, id)) is not None]
    return Listing(items, found.count, Next(found.next_token) if found.next_token else UNSET)


@operation("listQuestionsForSiteFinding", "GET", f"{_FINDING}/questions", needs=Can.VIEW, errors=(404,))
def list_questions(
    call: Call, site: SiteAccess, site_finding_id: str, query: PageQuery
) -> Listing[SiteQuestion]:
    """List the visitor questions that are evidence for a finding."""
    with call.db.read() as tx:
        row = store.get_finding(tx, site, site_finding_id)
        rows = list_by_id(tx, [row.question_id] if row.question_id is not None else [])
        found = slice_items(rows, query.limit, query.page, lambda question: question.id)
        counted = measure_questions(tx, site, AnswerFilter(), [question.id for question in found.rows])
    return present_slice(
        found, lambda question: present_question(call, site.organization_id, question, counted[question.id])
    )


@operation("listRecordsForSiteFinding", "GET", f"{_FINDING}/records", needs=Can.EDIT, errors=(404,))
def list_records(
    call: Call, site: SiteAccess, site_finding_id: str, query: PageQuery
) -> Listing[ContextRecord]:
    """List the records that are evidence for a finding because their titles ask for the same thing."""
    with call.db.read() as tx:
        row = store.get_finding(tx, site, site_finding_id)
        found = store.list_record_ids(tx, row.id, query.limit, query.page)
        rows = list_records_by_id(tx, found.rows)
    items = [present_record(call, site.organization_id, record) for record in rows]
    return Listing(items, found.count, Next(found.next_token) if found.next_token else UNSET)


@operation(
    "listChangeRequestsForSiteFinding", "GET", f"{_FINDING}/change-requests", needs=Can.VIEW, errors=(404,)
)
def list_changes(
    call: Call, site: SiteAccess, site_finding_id: str, query: PageQuery
) -> Listing[ChangeRequest]:
    """List the change requests that were created to fix a finding."""
    with call.db.read() as tx:
        row = store.get_finding(tx, site, site_finding_id)
        found = store.list_change_ids(tx, row.id, query.limit, query.page)
        items = present_changes(call, tx, list_changes_by_id(tx, found.rows))
    return Listing(items, found.count, Next(found.next_token) if found.next_token else UNSET)


@operation(
    "triggerChangeRequestsForSiteFinding",
    "POST",
    f"{_FINDING}/change-requests",
    needs=Can.VIEW,
    status=202,
    errors=(404, 409),
)
def trigger_changes(call: Call, site: SiteAccess, site_finding_id: str) -> None:
    """Create a draft change request that fixes a finding. The change request is added to the finding's change requests.
    Requires the editor role in the finding's space. Returns an error for a finding without an automatic fix."""
    with call.db.read() as tx:
        row = store.get_finding(tx, site, site_finding_id)
    fix_findings(call.context, site, [row])
