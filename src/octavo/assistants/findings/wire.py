"""Wire format of findings and scans."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from octavo.assistants.questions.wire import Location
from octavo.content.changes.differences_wire import ChangedPage
from octavo.content.changes.wire import ChangeRequest
from octavo.content.references.viewing import load_view
from octavo.content.revisions.restrictions import shown_state
from octavo.core.document.description import DocumentNodes
from octavo.core.document.json import to_json
from octavo.core.document.nodes import Block, Document, Leaf, Mark, Text
from octavo.core.page_tree import PageTree
from octavo.errors import NotFound
from octavo.kit.clock import iso
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import DEFAULT_LIMIT, MAX_LIMIT, PageQuery
from octavo.kit.http.operation import Recipient
from octavo.kit.texts import pattern
from octavo.organization.access.wire import User, present_people

from .kinds import Area, FindingKind, FindingStatus, FindingType, Severity
from .outbound_store import FailureKind, LinkStatus, OutboundLinkRow, read_links
from .store import FindingFilter, FindingRow, Health, OrderBy, ScanCause, ScanRow, ScanStatus, map_ignored
from .types import Assignee


class ScanFindings(Struct):
    low: int
    medium: int
    high: int


class SiteScan(Struct, rename="camel", kw_only=True):
    """Scan of a site. ``findings``: the findings that it created. ``cause`` and ``score``: Octavo
    extensions."""

    id: str
    status: ScanStatus
    topic: str | None
    created_at: str
    findings: ScanFindings
    urls: Location
    cause: ScanCause
    object: Literal["site-scan"] = "site-scan"
    started_at: str | UnsetType = UNSET
    finished_at: str | UnsetType = UNSET
    failure_message: str | UnsetType = UNSET
    score: int | UnsetType = UNSET


class FindingEvidence(Struct, rename="camel", kw_only=True):
    """Evidence for a finding. ``quote``: the words on the page; ``message``: the problem with them."""

    quote: str
    message: str
    page: ChangedPage | UnsetType = UNSET


class OutboundLink(Struct, rename="camel", kw_only=True):
    """External link, with the result of its latest check. ``status`` is `canceled` once no page contains the
    link."""

    url: str
    status: LinkStatus
    failure_kind: FailureKind | UnsetType = UNSET
    http_status: int | UnsetType = UNSET
    checked_at: str | UnsetType = UNSET


class AssignedUser(Struct, tag_field="kind", tag="user"):
    """Person that a finding is assigned to."""

    user: User


class TeamTitle(Struct):
    id: str
    title: str


class AssignedTeam(Struct, tag_field="kind", tag="team"):
    """Team that a finding is assigned to."""

    team: TeamTitle


class SiteFinding(Struct, rename="camel", kw_only=True):
    """A problem found by a site scan. ``kind``, ``area``, ``space``, ``evidence``, ``views``, ``ignoredPages``,
    ``reason``, and ``assignee``: Octavo extensions."""

    id: str
    scan: str
    topic: str | None
    title: Annotated[str, Meta(max_length=256)]
    change_requests: int
    pages: int
    records: int
    questions: int
    status: FindingStatus
    type: FindingType
    severity: Severity
    description: DocumentNodes
    auto_fixable: bool
    created_at: str
    updated_at: str
    urls: Location
    kind: FindingKind
    area: Area
    evidence: list[FindingEvidence]
    views: int
    ignored_pages: int
    object: Literal["site-finding"] = "site-finding"
    space: str | UnsetType = UNSET
    outbound_link: OutboundLink | UnsetType = UNSET
    reason: str | UnsetType = UNSET
    assignee: AssignedUser | AssignedTeam | UnsetType = UNSET


class IgnoredOnPage(Struct, rename="camel"):
    """Reason for ignoring a finding on a page, and the time when someone chose to ignore it there."""

    reason: str
    created_at: str


class SiteFindingPage(Struct, rename="camel", kw_only=True):
    """Page that a finding concerns. ``ignored`` (an Octavo extension): present only if the finding is ignored on this
    page."""

    space_id: str
    page: ChangedPage
    ignored: IgnoredOnPage | UnsetType = UNSET
    object: Literal["site-finding-page"] = "site-finding-page"


class UpdateSiteFinding(Struct):
    """Changes to a finding. ``reason`` and ``assignee``: Octavo extensions. A null ``assignee``
    unassigns the finding."""

    status: FindingStatus | UnsetType = UNSET
    reason: Annotated[str, Meta(min_length=1, max_length=500)] | UnsetType = UNSET
    assignee: Assignee | None | UnsetType = UNSET


class IgnoreFinding(Struct):
    """Reason for ignoring a finding on a page."""

    reason: Annotated[str, Meta(min_length=1, max_length=500)]


class FixFindings(Struct):
    """Findings to fix together. ``findings``: the IDs of the findings."""

    findings: Annotated[list[str], Meta(min_length=1, max_length=100)]


class FixedFindings(Struct, rename="camel"):
    """Change requests that fix findings, one in each affected space."""

    change_requests: list[ChangeRequest]


class ScansQuery(PageQuery):
    topic: str | None = None
    status: ScanStatus | None = None


Source = Annotated[
    str,
    Meta(
        max_length=200,
        pattern=pattern(
            r"^(questions|connection:\w+)\Z", "be `questions`, or `connection:` followed by an ID"
        ),
    ),
]


class FindingStatsQuery(Struct, rename="camel", kw_only=True):
    """Query parameters for finding counts. ``kind``, ``space``, ``page``, ``search``, ``changeRequest``, and
    ``assignee``: Octavo extensions."""

    topic: str | None = None
    question: str | None = None
    status: FindingStatus | None = None
    type: list[FindingType] = []
    severity: Severity | None = None
    has_change_requests: bool | None = None
    source: list[Source] = []
    updated_after: datetime | None = None
    updated_before: datetime | None = None
    kind: list[FindingKind] = []
    space: str | None = None
    page_id: str | None = None
    search: Annotated[str, Meta(max_length=200)] | None = None
    change_request: str | None = None
    assignee: str | None = None

    @property
    def filter(self) -> FindingFilter:
        return FindingFilter(
            status=self.status,
            types=self.type,
            kinds=self.kind,
            severity=self.severity,
            has_changes=self.has_change_requests,
            updated_after=_milliseconds(self.updated_after),
            updated_before=_milliseconds(self.updated_before),
            space=self.space,
            page=self.page_id,
            text=self.search or None,
            change=self.change_request,
            question=self.question,
            from_questions="questions" in self.source,
            connections=[
                source.removeprefix("connection:") for source in self.source if source != "questions"
            ],
            topic=self.topic,
            assignee=self.assignee,
        )


class FindingsQuery(FindingStatsQuery, rename="camel", kw_only=True):
    page: str | None = None
    limit: Annotated[int, Meta(ge=0, le=MAX_LIMIT)] = DEFAULT_LIMIT
    order_by: OrderBy = "updatedAt"


class FindingStatuses(Struct):
    open: int
    done: int
    canceled: int


class SiteFindingStats(Struct, rename="camel", kw_only=True):
    """Finding counts. ``kinds`` (an Octavo extension): the number of open findings by kind."""

    total: int
    statuses: FindingStatuses
    severities: ScanFindings
    connectors: dict[str, int]
    questions: int
    merged_change_requests: int
    kinds: dict[str, int]


class AreaState(Struct, rename="camel", kw_only=True):
    """Health of an area. ``change``: the change in the score over the last week. ``trend``: the scores of past scans,
    oldest first."""

    area: Area
    score: int
    open: int
    change: int | UnsetType = UNSET
    trend: list[int]


class HealthPoint(Struct, rename="camel"):
    """Score at the time of a scan."""

    checked_at: str
    score: int


class SiteHealth(Struct, rename="camel", kw_only=True):
    """Health of a site. ``scan``: the latest scan, which may still be running. ``fixed``: the number of findings
    closed in the last week."""

    areas: list[AreaState]
    trend: list[HealthPoint]
    open: int
    high: int
    fixed: int
    score: int | UnsetType = UNSET
    checked_at: str | UnsetType = UNSET
    change: int | UnsetType = UNSET
    scan: SiteScan | UnsetType = UNSET


def _milliseconds(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp() * 1000)


def present_scan(to: Recipient, organization_id: str, row: ScanRow) -> SiteScan:
    return SiteScan(
        id=row.id,
        status=row.status,
        topic=None,
        created_at=iso(row.created_at),
        started_at=iso(row.started_at) if row.started_at else UNSET,
        finished_at=iso(row.finished_at) if row.finished_at else UNSET,
        findings=ScanFindings(row.low, row.medium, row.high),
        failure_message=row.failure or UNSET,
        urls=Location(to.url(f"/orgs/{organization_id}/sites/{row.site_id}/scans/{row.id}")),
        cause=row.cause,
        score=row.health.score if row.health else UNSET,
    )


class _Pages:
    """Pages that findings refer to. They are loaded once for each space."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._trees: dict[str, PageTree | None] = {}

    def find(self, space_id: str | None, page_id: str) -> ChangedPage | None:
        """Return a page; None if it was deleted."""
        if space_id is None:
            return None
        if space_id not in self._trees:
            try:
                self._trees[space_id] = load_view(self._tx, shown_state(self._tx, None, space_id)).every
            except NotFound:
                self._trees[space_id] = None
        tree = self._trees[space_id]
        page = tree.page(page_id) if tree is not None else None
        if tree is None or page is None:
            return None
        return ChangedPage(page.id, page.kind, page.title, tree.path(page))


def present_finding(to: Recipient, tx: Transaction, organization_id: str, row: FindingRow) -> SiteFinding:
    return present_findings(to, tx, organization_id, [row])[0]


def present_findings(
    to: Recipient, tx: Transaction, organization_id: str, rows: Sequence[FindingRow]
) -> list[SiteFinding]:
    pages = _Pages(tx)
    links = read_links(tx, [row.url for row in rows if row.url is not None])
    ignored = map_ignored(tx, [row.id for row in rows if row.ignored])
    people = present_people(to, tx, [row.assigned_user for row in rows if row.assigned_user])
    return [_present(to, pages, links, ignored, people, organization_id, row) for row in rows]


def _present_assignee(row: FindingRow, people: Mapping[str, User]) -> AssignedUser | AssignedTeam | UnsetType:
    if row.assigned_user is not None:
        return AssignedUser(people[row.assigned_user])
    if row.assigned_team is not None and row.team_title is not None:
        return AssignedTeam(TeamTitle(row.assigned_team, row.team_title))
    return UNSET


def _present(
    to: Recipient,
    pages: _Pages,
    links: Mapping[tuple[str, str], OutboundLinkRow],
    ignored: Container[tuple[str, str]],
    people: Mapping[str, User],
    organization_id: str,
    row: FindingRow,
) -> SiteFinding:
    # The evidence of an open finding is what there is to do. That of a dismissed one shows what is ignored.
    counted = [each for each in row.evidence if (row.id, each.page) not in ignored] or row.evidence
    evidence = [
        FindingEvidence(
            quote=each.quote, message=each.message, page=pages.find(row.space_id, each.page) or UNSET
        )
        for each in counted
    ]
    return SiteFinding(
        id=row.id,
        scan=row.scan_id,
        topic=row.topic_id,
        title=row.title,
        change_requests=row.changes,
        pages=row.pages,
        records=row.records,
        questions=0 if row.question_id is None else 1,
        status=row.status,
        type=row.type,
        severity=row.severity,
        description=_describe(evidence),
        auto_fixable=row.is_fixable,
        created_at=iso(row.created_at),
        updated_at=iso(row.updated_at),
        urls=Location(to.url(f"/orgs/{organization_id}/sites/{row.site_id}/findings/{row.id}")),
        kind=row.kind,
        area=row.area,
        evidence=evidence,
        views=row.views,
        ignored_pages=row.ignored,
        space=row.space_id or UNSET,
        outbound_link=_present_link(row.url, links.get((row.space_id or "", row.url)))
        if row.url is not None
        else UNSET,
        reason=row.reason or UNSET,
        assignee=_present_assignee(row, people),
    )


def _present_link(url: str, row: OutboundLinkRow | None) -> OutboundLink:
    if row is None:
        return OutboundLink(url=url, status="canceled")
    return OutboundLink(
        url=url,
        status=row.status,
        failure_kind=row.failure_kind or UNSET,
        http_status=row.http_status if row.http_status is not None else UNSET,
        checked_at=iso(row.checked_at) if row.checked_at is not None else UNSET,
    )


def _describe(evidence: Sequence[FindingEvidence]) -> Raw:
    """Return the evidence as a document."""
    blocks = []
    for each in evidence:
        leaves = [Leaf(f"{each.page.title}: ", [Mark("bold")])] if each.page is not UNSET else []
        leaves.append(Leaf(f"“{each.quote}”"))
        if each.message:
            leaves.append(Leaf(f" {each.message}"))
        blocks.append(Block("paragraph", {}, [Text(leaves)]))
    return Raw(msgspec.json.encode(to_json(Document(blocks))))


def present_page(tx: Transaction, row: FindingRow, page_id: str) -> SiteFindingPage | None:
    """Return a page that a finding concerns; None if it was deleted."""
    page = _Pages(tx).find(row.space_id, page_id)
    if page is None:
        return None
    ignored = map_ignored(tx, [row.id]).get((row.id, page_id))
    return SiteFindingPage(
        space_id=row.space_id or "",
        page=page,
        ignored=IgnoredOnPage(ignored.reason, iso(ignored.created_at)) if ignored is not None else UNSET,
    )


_WEEK = 7 * 24 * 3600 * 1000
_MOST_POINTS = 30


def present_health(
    to: Recipient,
    organization_id: str,
    scans: Sequence[ScanRow],
    latest: ScanRow | None,
    counts: Sequence[tuple[FindingStatus, Severity, int]],
    fixed: int,
) -> SiteHealth:
    """Return the health of a site in the API format. ``scans``: the completed scans, oldest first."""
    known = [(scan.finished_at or scan.created_at, scan.health) for scan in scans if scan.health is not None]
    shown = SiteHealth(
        areas=[],
        trend=[HealthPoint(iso(at), health.score) for at, health in known[-_MOST_POINTS:]],
        open=sum(count for status, _, count in counts if status == "open"),
        high=sum(count for status, severity, count in counts if status == "open" and severity == "high"),
        fixed=fixed,
        scan=present_scan(to, organization_id, latest) if latest is not None else UNSET,
    )
    if not known:
        return shown
    at, health = known[-1]
    before = _week_before(known)
    shown.score, shown.checked_at = health.score, iso(at)
    if before is not None:
        shown.change = health.score - before.score
    shown.areas = [
        AreaState(
            area=area,
            score=state.score,
            open=state.open,
            change=state.score - before.areas[area].score
            if before is not None and area in before.areas
            else UNSET,
            trend=[past.areas[area].score for _, past in known[-_MOST_POINTS:] if area in past.areas],
        )
        for area, state in health.areas.items()
    ]
    return shown


def _week_before(known: Sequence[tuple[int, Health]]) -> Health | None:
    """Return the health a week before the last scan, or at the first scan if that is more recent; None if there is
    only one scan."""
    if len(known) < 2:
        return None
    start = known[-1][0] - _WEEK
    earlier = [health for at, health in known[:-1] if at <= start]
    return earlier[-1] if earlier else known[0][1]
