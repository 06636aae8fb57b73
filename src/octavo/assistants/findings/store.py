"""Database access for findings and scans."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct

from octavo.content.revisions.restrictions import HiddenPages, hidden_from
from octavo.core.checks.faults import CheckedPage
from octavo.errors import NotFound
from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.db.database import Row, Transaction, json_list
from octavo.kit.db.pagination import Slice, list_page
from octavo.organization.access.accounts import like_part
from octavo.organization.access.authorization import SiteAccess
from octavo.organization.access.visibility import select_visible_spaces
from octavo.sites.site.shown_spaces import sees_all_ever_shown

from .kinds import KINDS, SEVERITIES, Area, FindingKind, FindingStatus, FindingType, Severity
from .types import Evidence, Fixing, Found, Ignored, OpenFinding

ScanStatus = Literal["pending", "running", "done", "failed"]
ScanCause = Literal["manual", "schedule", "change"]
OrderBy = Literal["updatedAt", "severity", "sources", "priority"]
_Parameters = dict[str, Any]
_BATCH = 500
_MOST_SCANS = 100
"""Maximum number of scans to keep per site."""
_DONE_MS = 90 * 24 * 3600 * 1000
"""Milliseconds for which findings are kept after they are done."""


class AreaHealth(Struct, frozen=True):
    """Health of an area: a score from 0 to 100, and the number of open findings."""

    score: int
    open: int


class Health(Struct, frozen=True):
    """Health of a site after a scan."""

    score: int
    pages: int
    areas: dict[Area, AreaHealth]


class ScanRow(Struct, frozen=True):
    """Scan of a site. ``low``, ``medium``, and ``high``: the numbers of findings that it created."""

    id: str
    site_id: str
    status: ScanStatus
    cause: ScanCause
    created_at: int
    started_at: int | None
    finished_at: int | None
    failure: str | None
    low: int
    medium: int
    high: int
    health: Health | None


class FindingRow(Struct, frozen=True):
    """Finding of a site's scan. ``pages``: the number of pages that it concerns. ``changes``: the number of change
    requests created for it. ``url``: the external link that it concerns. ``question_id``: the visitor question that is
    evidence for it. ``topic_id``: the topic of that question. ``records``: the number of records that are evidence for
    it. ``ignored``: the number of pages on which it is ignored. ``views``: the number of views of its pages in the 30
    days before the scan. ``reason``: why it was dismissed on all pages. ``assigned_user`` and ``assigned_team``: the
    person or team that it is assigned to; at most one of the two is set. ``team_title``: the title of that team."""

    id: str
    site_id: str
    space_id: str | None
    scan_id: str
    kind: FindingKind
    type: FindingType
    title: str
    severity: Severity
    status: FindingStatus
    evidence: list[Evidence]
    fixing: Fixing | None
    pages: int
    changes: int
    views: int
    url: str | None
    question_id: str | None
    topic_id: str | None
    records: int
    ignored: int
    reason: str | None
    assigned_user: str | None
    assigned_team: str | None
    team_title: str | None
    created_at: int
    updated_at: int

    @property
    def area(self) -> Area:
        return KINDS[self.kind].area

    @property
    def is_fixable(self) -> bool:
        """Return whether the finding can be fixed in a change request without human input."""
        return self.fixing is not None or any(found.fix for found in self.evidence)


_SCAN = ", ".join(f"s.{name}" for name in ScanRow.__struct_fields__)
_ELSEWHERE = {
    "topic_id": "(SELECT q.topic_id FROM site_questions q WHERE q.id = f.question_id)",
    "records": "(SELECT count(*) FROM site_finding_records r WHERE r.finding_id = f.id)",
    "ignored": "(SELECT count(*) FROM site_finding_ignored i WHERE i.finding_id = f.id)",
    "team_title": "(SELECT t.title FROM teams t WHERE t.id = f.assigned_team)",
}
"""Columns of findings that are read from other tables."""
_FINDING = ", ".join(_ELSEWHERE.get(name, f"f.{name}") for name in FindingRow.__struct_fields__)
_decode_evidence = msgspec.json.Decoder(list[Evidence]).decode
_decode_fixing = msgspec.json.Decoder(Fixing).decode
_decode_health = msgspec.json.Decoder(Health).decode
_decode_check = msgspec.json.Decoder(CheckedPage).decode


def _scan(row: Row) -> ScanRow:
    values = dict(zip(ScanRow.__struct_fields__, row, strict=True))
    values["health"] = _decode_health(values["health"]) if values["health"] else None
    return ScanRow(**values)


def _finding(row: Row) -> FindingRow:
    values = dict(zip(FindingRow.__struct_fields__, row, strict=True))
    values["evidence"] = _decode_evidence(values["evidence"])
    values["fixing"] = _decode_fixing(values["fixing"]) if values["fixing"] else None
    return FindingRow(**values)


# --- scans ------------------------------------------------------------------------------------------------


def insert_scan(tx: Transaction, site_id: str, cause: ScanCause) -> ScanRow:
    """Insert a pending scan."""
    scan_id = ids.new_id()
    tx.run(
        """INSERT INTO site_scans (id, site_id, status, cause, created_at)
           VALUES (:id, :site, 'pending', :cause, :at)""",
        id=scan_id,
        site=site_id,
        cause=cause,
        at=now(),
    )
    return get_scan(tx, site_id, scan_id)


def find_scan(tx: Transaction, site_id: str, scan_id: str) -> ScanRow | None:
    row = tx.one(
        f"SELECT {_SCAN} FROM site_scans s WHERE s.site_id = :site AND s.id = :id", site=site_id, id=scan_id
    )
    return _scan(row) if row else None


def get_scan(tx: Transaction, site_id: str, scan_id: str) -> ScanRow:
    found = find_scan(tx, site_id, scan_id)
    if found is None:
        raise NotFound(f"This site has no scan with the ID {scan_id!r}.")
    return found


def find_pending_scan(tx: Transaction, site_id: str) -> ScanRow | None:
    row = tx.one(
        f"""SELECT {_SCAN} FROM site_scans s WHERE s.site_id = :site AND s.status = 'pending'
            ORDER BY s.id DESC LIMIT 1""",
        site=site_id,
    )
    return _scan(row) if row else None


def list_scans(
    tx: Transaction,
    site_id: str,
    limit: int,
    page: str | None,
    status: ScanStatus | None = None,
    *,
    topic: bool = False,
) -> Slice[ScanRow]:
    """Return the scans of a site, newest first. ``topic``: whether to return only scans of a topic. No scan has a
    topic, so the result is then empty."""
    where = (" AND s.status = :status" if status else "") + (" AND 1 = 0" if topic else "")
    return list_page(
        tx,
        limit,
        page,
        _SCAN,
        f"FROM site_scans s WHERE s.site_id = :site{where}",
        _scan,
        by="s.id",
        descending=True,
        site=site_id,
        status=status,
    )


def list_latest_scans(tx: Transaction, site_id: str, limit: int) -> list[ScanRow]:
    """Return the latest completed scans, oldest first."""
    rows = tx.all(
        f"""SELECT {_SCAN} FROM site_scans s WHERE s.site_id = :site AND s.status = 'done'
            ORDER BY s.id DESC LIMIT :limit""",
        site=site_id,
        limit=limit,
    )
    return [_scan(row) for row in reversed(rows)]


def update_scan(tx: Transaction, scan_id: str, **values: object) -> bool:
    """Update a scan. Return False if it no longer exists."""
    changes = ", ".join(f"{name} = :{name}" for name in values)
    return bool(tx.run(f"UPDATE site_scans SET {changes} WHERE id = :id", id=scan_id, **values))


def encode_health(health: Health) -> str:
    return msgspec.json.encode(health).decode()


def prune(tx: Transaction, site_id: str) -> None:
    """Delete old scans, and findings that were resolved long ago."""
    tx.run(
        """DELETE FROM site_scans WHERE site_id = :site AND id NOT IN (
             SELECT id FROM site_scans WHERE site_id = :site ORDER BY id DESC LIMIT :most)""",
        site=site_id,
        most=_MOST_SCANS,
    )
    tx.run(
        "DELETE FROM site_findings WHERE site_id = :site AND status = 'done' AND updated_at < :before",
        site=site_id,
        before=now() - _DONE_MS,
    )


# --- checks of pages --------------------------------------------------------------------------------------


def read_fingerprints(tx: Transaction, space_id: str) -> dict[str, str]:
    """Return the fingerprints of the last checks in a space, by page."""
    return dict(
        tx.all("SELECT page_id, fingerprint FROM page_checks WHERE space_id = :space", space=space_id)
    )


def read_checks(tx: Transaction, space_id: str) -> dict[str, CheckedPage]:
    """Return the check results in a space, by page."""
    rows = tx.all("SELECT page_id, result FROM page_checks WHERE space_id = :space", space=space_id)
    return {page_id: _decode_check(result) for page_id, result in rows}


def put_checks(tx: Transaction, space_id: str, checks: Mapping[str, tuple[str, CheckedPage]]) -> None:
    """Store check results with their fingerprints, by page."""
    tx.run_many(
        """INSERT INTO page_checks (space_id, page_id, fingerprint, result)
           VALUES (:space, :page, :fingerprint, :result)
           ON CONFLICT (space_id, page_id) DO UPDATE
             SET fingerprint = excluded.fingerprint, result = excluded.result""",
        (
            {
                "space": space_id,
                "page": page_id,
                "fingerprint": fingerprint,
                "result": msgspec.json.encode(checked).decode(),
            }
            for page_id, (fingerprint, checked) in sorted(checks.items())
        ),
    )


def delete_checks(tx: Transaction, space_id: str, page_ids: Sequence[str]) -> None:
    for start in range(0, len(page_ids), _BATCH):
        tx.run(
            "DELETE FROM page_checks WHERE space_id = :space AND page_id IN :pages",
            space=space_id,
            pages=page_ids[start : start + _BATCH],
        )


# --- findings ---------------------------------------------------------------------------------------------


_EVIDENCE_TEXT = """replace(replace(replace(f.evidence, '"page":', ''), '"quote":', ''), '"message":', '')"""
"""SQL for the evidence of ``site_findings f`` without the names of its fields."""


class FindingFilter(Struct, frozen=True, kw_only=True):
    """Filter for lists and statistics. ``page``: the ID of a page that the findings concern. If the status is
    ``open``, findings that are ignored on this page don't match. ``text``: text that the title or the evidence
    contains."""

    status: FindingStatus | None = None
    types: Sequence[FindingType] = ()
    kinds: Sequence[FindingKind] = ()
    severity: Severity | None = None
    has_changes: bool | None = None
    updated_after: int | None = None
    updated_before: int | None = None
    space: str | None = None
    page: str | None = None
    text: str | None = None
    change: str | None = None
    question: str | None = None
    topic: str | None = None
    assignee: str | None = None
    """ID of a person or a team. Findings that are assigned to a team of the person match, too."""
    from_questions: bool = False
    connections: Sequence[str] = ()
    """IDs of connections to sources. A finding matches if one of these connections has a record that is evidence
    for the finding. With ``from_questions``, findings with a question also match."""

    def where(self) -> tuple[str, _Parameters]:
        """Return SQL conditions on ``site_findings f``, with their parameters."""
        conditions: list[str] = []
        given: _Parameters = {}

        def add(condition: str, **values: object) -> None:
            conditions.append(condition)
            given.update(values)

        if self.status is not None:
            add("f.status = :status", status=self.status)
        if self.types:
            add("f.type IN :types", types=list(self.types))
        if self.kinds:
            add("f.kind IN :kinds", kinds=list(self.kinds))
        if self.severity is not None:
            add("f.severity = :severity", severity=self.severity)
        if self.has_changes is not None:
            add("f.changes > 0" if self.has_changes else "f.changes = 0")
        if self.updated_after is not None:
            add("f.updated_at > :updated_after", updated_after=self.updated_after)
        if self.updated_before is not None:
            add("f.updated_at < :updated_before", updated_before=self.updated_before)
        if self.space is not None:
            add("f.space_id = :of_space", of_space=self.space)
        if self.page is not None:
            add(
                "f.id IN (SELECT finding_id FROM site_finding_pages WHERE page_id = :of_page)",
                of_page=self.page,
            )
            if self.status == "open":
                add(
                    """NOT EXISTS (SELECT 1 FROM site_finding_ignored i
                         WHERE i.finding_id = f.id AND i.page_id = :of_page)"""
                )
        if self.text is not None:
            add(
                f"(lower(f.title) LIKE :of_text ESCAPE '!' OR lower({_EVIDENCE_TEXT}) LIKE :of_text ESCAPE '!')",
                of_text=like_part(self.text),
            )
        if self.change is not None:
            add(
                "f.id IN (SELECT finding_id FROM site_finding_changes WHERE change_id = :of_change)",
                of_change=self.change,
            )
        if self.question is not None:
            add("f.question_id = :of_question", of_question=self.question)
        if self.topic is not None:
            add(
                "f.question_id IN (SELECT q.id FROM site_questions q WHERE q.topic_id = :of_topic)",
                of_topic=self.topic,
            )
        if self.assignee is not None:
            add(
                """(f.assigned_user = :assignee OR f.assigned_team = :assignee OR f.assigned_team IN (
                     SELECT team_id FROM team_members WHERE user_id = :assignee))""",
                assignee=self.assignee,
            )
        evidence = ["f.question_id IS NOT NULL"] if self.from_questions else []
        if self.connections:
            evidence.append(
                """f.id IN (SELECT e.finding_id FROM site_finding_records e JOIN context_records r ON r.id = e.record_id
                     WHERE r.connection_id IN :of_connections)"""
            )
            given["of_connections"] = list(self.connections)
        if evidence:
            add(f"({' OR '.join(evidence)})")
        return "".join(f" AND {condition}" for condition in conditions), given


_OF_SITE = "s.deleted_at IS NULL AND s.id IN (SELECT space_id FROM site_spaces WHERE site_id = :site)"
"""Condition on ``spaces s``."""


def list_space_ids(tx: Transaction, site_id: str) -> list[str]:
    """Return the IDs of the spaces on a site, except deleted spaces."""
    return [
        row[0] for row in tx.all(f"SELECT s.id FROM spaces s WHERE {_OF_SITE} ORDER BY s.id", site=site_id)
    ]


def _seen(tx: Transaction, site: SiteAccess) -> tuple[str, _Parameters]:
    """Return SQL for the site's findings in spaces that the caller can see. Findings about the site as a whole
    quote visitors, who may have written about any page, so only callers who can see all spaces that are or were on the
    site, and all of their pages, can see these findings."""
    found = select_visible_spaces(site.organization, _OF_SITE, site=site.site_id)
    visible = [
        row[0] for row in tx.all(f"{found.prefix} SELECT v.id FROM {found.visible} v", **found.parameters)
    ]
    hidden = hidden_from(tx, site.organization)
    of_site = "f.space_id IS NULL OR " if sees_all_ever_shown(tx, site, hidden) else ""
    seen = f"SELECT id FROM {tx.given('visible', 'id')} AS v"
    about_hidden = " ".join(
        f"""AND NOT EXISTS (SELECT 1 FROM {pages} h WHERE h.finding_id = f.id
            AND NOT (1 = 1{hidden.condition("f.space_id", "h.page_id")}))"""
        for pages in ("site_finding_pages", "site_finding_sources")
    )
    rules = list_hidden_rules(tx, hidden) if hidden else []
    by_hidden = "AND NOT (f.kind = 'style' AND f.title IN :hidden_rules)" if rules else ""
    return (
        f"""FROM site_findings f WHERE f.site_id = :site AND ({of_site}f.space_id IN ({seen}))
            {about_hidden if hidden else ""} {by_hidden}""",
        {
            "site": site.site_id,
            "visible": json_list(visible),
            **hidden.parameters,
            **({"hidden_rules": rules} if rules else {}),
        },
    )


def list_hidden_rules(tx: Transaction, hidden: HiddenPages) -> list[str]:
    """Return all titles that hidden pages of style guides have or had. The title of a finding is the title of its rule
    when it was found. The finding is kept when the rule is renamed or deleted, or when the site gets another style
    guide."""
    guides = tx.all(
        "SELECT id FROM spaces WHERE type = 'styleguide' AND id IN :spaces", spaces=sorted(hidden.spaces)
    )
    pages = [(space_id, page_id) for (space_id,) in guides for page_id in sorted(hidden.of(space_id))]
    return list_titles(tx, pages)


def list_titles(tx: Transaction, pages: Sequence[tuple[str, str]]) -> list[str]:
    """Return all titles that these pages have or had. ``pages``: their IDs, each after the ID of its space."""
    if not pages:
        return []
    rows = tx.all(
        f"""SELECT DISTINCT p.title FROM {tx.given("hidden_rules", "space_id", "page_id")} AS g
            JOIN branches b ON b.space_id = g.space_id
            JOIN page_versions p ON p.branch_id = b.id AND p.page_id = g.page_id
            WHERE p.deleted = 0 ORDER BY p.title""",
        hidden_rules=msgspec.json.encode(pages).decode(),
    )
    return [row[0] for row in rows]


_ORDERS: dict[OrderBy, tuple[str, tuple[type, ...]]] = {
    "updatedAt": ("f.updated_at, f.id", (int, str)),
    "severity": ("f.severity_rank, f.pages, f.id", (int, int, str)),
    "sources": ("f.pages, f.updated_at, f.id", (int, int, str)),
    "priority": ("f.priority, f.severity_rank, f.id", (int, int, str)),
}


def list_findings(
    tx: Transaction,
    site: SiteAccess,
    chosen: FindingFilter,
    limit: int,
    page: str | None,
    order_by: OrderBy = "updatedAt",
) -> Slice[FindingRow]:
    """Return the findings of a site that the caller can see. They are sorted by time (latest first) or by severity
    (most severe first)."""
    source, seen = _seen(tx, site)
    where, given = chosen.where()
    by, key_types = _ORDERS[order_by]
    return list_page(
        tx,
        limit,
        page,
        _FINDING,
        source + where,
        _finding,
        by=by,
        key_types=key_types,
        descending=True,
        **seen,
        **given,
    )


def map_pages(tx: Transaction, finding_ids: Sequence[str]) -> dict[str, list[str]]:
    """Return the pages that each of these findings concerns, except those on which it is ignored."""
    found: dict[str, list[str]] = {id: [] for id in finding_ids}
    for id, page_id in tx.all(
        f"""SELECT p.finding_id, p.page_id FROM {tx.given("findings", "id")} AS g
            JOIN site_finding_pages p ON p.finding_id = g.id WHERE {_NOT_IGNORED}""",
        findings=json_list(finding_ids),
    ):
        found[id].append(page_id)
    return found


_NOT_IGNORED = """NOT EXISTS (SELECT 1 FROM site_finding_ignored i
    WHERE i.finding_id = p.finding_id AND i.page_id = p.page_id)"""
"""Condition on ``site_finding_pages p``."""


def map_ignored(tx: Transaction, finding_ids: Sequence[str]) -> dict[tuple[str, str], Ignored]:
    """Return the pages on which these findings are ignored, by finding and page."""
    rows = tx.all(
        f"""SELECT i.finding_id, i.page_id, i.reason, i.created_at FROM {tx.given("findings", "id")} AS g
            JOIN site_finding_ignored i ON i.finding_id = g.id""",
        findings=json_list(finding_ids),
    )
    return {(id, page_id): Ignored(reason, at) for id, page_id, reason, at in rows}


def put_ignored(tx: Transaction, finding_id: str, page_id: str, reason: str) -> None:
    """Record that a finding is ignored on a page, or change the reason."""
    tx.run(
        """INSERT INTO site_finding_ignored (finding_id, page_id, reason, created_at)
           VALUES (:finding, :page, :reason, :at)
           ON CONFLICT (finding_id, page_id) DO UPDATE SET reason = excluded.reason""",
        finding=finding_id,
        page=page_id,
        reason=reason,
        at=now(),
    )


def delete_ignored(tx: Transaction, finding_id: str, page_id: str | None = None) -> int:
    """Stop ignoring a finding on a page, or on all of its pages. Return the number of pages on which it was
    ignored."""
    return tx.run(
        "DELETE FROM site_finding_ignored WHERE finding_id = :finding"
        + (" AND page_id = :page" if page_id is not None else ""),
        finding=finding_id,
        page=page_id,
    )


def list_open(tx: Transaction, site_id: str) -> list[FindingRow]:
    """Return all open findings of a site, most severe first, for reports."""
    rows = tx.all(
        f"""SELECT {_FINDING} FROM site_findings f WHERE f.site_id = :site AND f.status = 'open'
            ORDER BY f.severity_rank DESC, f.id""",
        site=site_id,
    )
    return [_finding(row) for row in rows]


def count_changes_by(tx: Transaction, site_id: str, agent: str, since: int) -> int:
    """Return the number of change requests that an agent created for a site's findings."""
    found: int = tx.value(
        """SELECT count(DISTINCT c.id) FROM site_findings f JOIN site_finding_changes l ON l.finding_id = f.id
             JOIN change_requests c ON c.id = l.change_id
           WHERE f.site_id = :site AND c.agent = :agent AND c.created_at > :since""",
        site=site_id,
        agent=agent,
        since=since,
    )
    return found


def list_changes_by(tx: Transaction, site: SiteAccess, agent: str, since: int) -> list[tuple[str, str]]:
    """Return the spaces and IDs of the change requests that an agent created for findings that the caller can see,
    newest first. Change requests that were undone are omitted."""
    source, seen = _seen(tx, site)
    rows = tx.all(
        f"""SELECT DISTINCT c.space_id, c.id FROM site_finding_changes l JOIN change_requests c ON c.id = l.change_id
            WHERE c.agent = :agent AND c.created_at > :since AND l.undone_at IS NULL
              AND l.finding_id IN (SELECT f.id {source}) ORDER BY c.id DESC""",
        agent=agent,
        since=since,
        **seen,
    )
    return [(space_id, change_id) for space_id, change_id in rows]


def mark_undone(tx: Transaction, change_ids: Sequence[str]) -> None:
    """Record that the change requests of an agent were undone."""
    tx.run(
        "UPDATE site_finding_changes SET undone_at = :at WHERE change_id IN :ids",
        at=now(),
        ids=list(change_ids),
    )


def list_open_seen(tx: Transaction, site: SiteAccess) -> list[OpenFinding]:
    """Return the open findings that the caller can see."""
    source, seen = _seen(tx, site)
    rows = tx.all(f"SELECT f.id, f.kind, f.severity {source} AND f.status = 'open'", **seen)
    pages = map_pages(tx, [row[0] for row in rows])
    return [OpenFinding(id, kind, severity, tuple(pages[id])) for id, kind, severity in rows]


def count_by_scan(
    tx: Transaction, site: SiteAccess, scan_ids: Sequence[str]
) -> dict[tuple[str, Severity], int]:
    """Return the number of each scan's findings that the caller can see, by scan and severity."""
    source, seen = _seen(tx, site)
    rows = tx.all(
        f"SELECT f.scan_id, f.severity, count(*) {source} AND f.scan_id IN :scans GROUP BY f.scan_id, f.severity",
        scans=list(scan_ids),
        **seen,
    )
    return {(scan_id, severity): count for scan_id, severity, count in rows}


def count_findings(
    tx: Transaction, site: SiteAccess, chosen: FindingFilter
) -> list[tuple[FindingStatus, Severity, FindingKind, int]]:
    """Return the number of findings that the caller can see, by status, severity, and kind."""
    source, seen = _seen(tx, site)
    where, given = chosen.where()
    rows = tx.all(
        f"SELECT f.status, f.severity, f.kind, count(*) {source}{where} GROUP BY f.status, f.severity, f.kind",
        **seen,
        **given,
    )
    return [(status, severity, kind, count) for status, severity, kind, count in rows]


def count_merged_changes(tx: Transaction, site: SiteAccess, chosen: FindingFilter) -> int:
    """Return the number of merged change requests that were created for findings that the caller can see."""
    source, seen = _seen(tx, site)
    where, given = chosen.where()
    return int(
        tx.value(
            f"""SELECT count(DISTINCT c.id) FROM site_finding_changes l JOIN change_requests c ON c.id = l.change_id
                WHERE c.status = 'merged' AND l.finding_id IN (SELECT f.id {source}{where})""",
            **seen,
            **given,
        )
    )


def count_with_questions(tx: Transaction, site: SiteAccess, chosen: FindingFilter) -> int:
    """Return the number of questions that are evidence for findings that the caller can see."""
    source, seen = _seen(tx, site)
    where, given = chosen.where()
    return int(tx.value(f"SELECT count(f.question_id) {source}{where}", **seen, **given))


def count_by_connector(tx: Transaction, site: SiteAccess, chosen: FindingFilter) -> dict[str, int]:
    """Return the number of findings that the caller can see and that have records as evidence, by connector."""
    source, seen = _seen(tx, site)
    where, given = chosen.where()
    rows = tx.all(
        f"""SELECT c.connector, count(DISTINCT e.finding_id) FROM site_finding_records e
              JOIN context_records r ON r.id = e.record_id JOIN context_connections c ON c.id = r.connection_id
            WHERE e.finding_id IN (SELECT f.id {source}{where}) GROUP BY c.connector""",
        **seen,
        **given,
    )
    return dict(rows)


def count_by_topic(tx: Transaction, site: SiteAccess) -> dict[str, tuple[int, int]]:
    """Return the number of open findings and the total number of findings that the caller can see, by topic."""
    source, seen = _seen(tx, site)
    rows = tx.all(
        f"""SELECT q.topic_id, sum(CASE WHEN found.status = 'open' THEN 1 ELSE 0 END), count(*) FROM (
              SELECT f.question_id, f.status {source} AND f.question_id IS NOT NULL) found
            JOIN site_questions q ON q.id = found.question_id
            WHERE q.topic_id IS NOT NULL GROUP BY q.topic_id""",
        **seen,
    )
    return {topic_id: (open_, count) for topic_id, open_, count in rows}


def delete_findings_of_topic(tx: Transaction, site: SiteAccess, topic_id: str) -> int:
    """Delete the topic's findings that the caller can see, and return the number of deleted findings."""
    source, seen = _seen(tx, site)
    return tx.run(
        f"""DELETE FROM site_findings WHERE id IN (SELECT f.id {source}
            AND f.question_id IN (SELECT id FROM site_questions WHERE topic_id = :topic))""",
        topic=topic_id,
        **seen,
    )


def get_finding(tx: Transaction, site: SiteAccess, finding_id: str) -> FindingRow:
    """Return a finding that the caller can see. Raises NotFound if there is none."""
    source, seen = _seen(tx, site)
    row = tx.one(f"SELECT {_FINDING} {source} AND f.id = :id", id=finding_id, **seen)
    if row is None:
        raise NotFound(f"There is no finding with the ID {finding_id!r} on this site.")
    return _finding(row)


def list_seen_ids(tx: Transaction, site: SiteAccess, finding_ids: Iterable[str]) -> set[str]:
    """Return which of these IDs belong to findings of the site that the caller can see."""
    source, seen = _seen(tx, site)
    rows = tx.all(f"SELECT f.id {source} AND f.id {tx.among('ids')}", ids=json_list(finding_ids), **seen)
    return {row[0] for row in rows}


def map_sources(tx: Transaction, finding_ids: Sequence[str]) -> dict[str, list[str]]:
    """Return the pages that each of these findings quotes or names but doesn't concern."""
    found: dict[str, list[str]] = {id: [] for id in finding_ids}
    for id, page_id in tx.all(
        f"""SELECT p.finding_id, p.page_id FROM {tx.given("findings", "id")} AS g
            JOIN site_finding_sources p ON p.finding_id = g.id""",
        findings=json_list(finding_ids),
    ):
        found[id].append(page_id)
    return found


def list_page_ids(tx: Transaction, finding_id: str) -> list[str]:
    """Return the IDs of all pages that a finding concerns."""
    return [
        row[0]
        for row in tx.all("SELECT page_id FROM site_finding_pages WHERE finding_id = :id", id=finding_id)
    ]


def list_pages(tx: Transaction, finding_id: str, limit: int, page: str | None) -> Slice[str]:
    """Return the IDs of the pages that a finding concerns."""
    return _list_of(tx, "site_finding_pages", "page_id", finding_id, limit, page)


def list_change_ids(tx: Transaction, finding_id: str, limit: int, page: str | None) -> Slice[str]:
    """Return the IDs of the change requests that were created for a finding."""
    return _list_of(tx, "site_finding_changes", "change_id", finding_id, limit, page)


def list_record_ids(tx: Transaction, finding_id: str, limit: int, page: str | None) -> Slice[str]:
    """Return the IDs of the records that are evidence for a finding."""
    return _list_of(tx, "site_finding_records", "record_id", finding_id, limit, page)


def _list_of(
    tx: Transaction, table: str, column: str, finding_id: str, limit: int, page: str | None
) -> Slice[str]:
    """Return a finding's values in a column of a table, sorted."""
    return list_page(
        tx,
        limit,
        page,
        column,
        f"FROM {table} WHERE finding_id = :finding",
        lambda row: str(row[0]),
        by=column,
        finding=finding_id,
    )


class TopicOfChange(Struct, frozen=True):
    """Topic of the finding that a change request fixes."""

    site_id: str
    topic_id: str
    finding_id: str


def list_topics_of_changes(tx: Transaction, change_ids: Sequence[str]) -> dict[str, TopicOfChange]:
    """Return the topics for which change requests were created, by change request."""
    rows = tx.all(
        f"""SELECT l.change_id, f.site_id, q.topic_id, f.id FROM {tx.given("changes", "id")} AS g
              JOIN site_finding_changes l ON l.change_id = g.id JOIN site_findings f ON f.id = l.finding_id
              JOIN site_questions q ON q.id = f.question_id
            WHERE q.topic_id IS NOT NULL ORDER BY f.id DESC""",
        changes=json_list(change_ids),
    )
    return {change_id: TopicOfChange(*rest) for change_id, *rest in rows}


def set_status(tx: Transaction, finding_id: str, status: FindingStatus, reason: str | None = None) -> None:
    """Set the status of a finding. ``reason``: why it is dismissed."""
    tx.run(
        "UPDATE site_findings SET status = :status, reason = :reason, updated_at = :at WHERE id = :id",
        id=finding_id,
        status=status,
        reason=reason,
        at=now(),
    )


def set_assignee(tx: Transaction, finding_id: str, user_id: str | None, team_id: str | None) -> None:
    """Assign a finding to a person or a team. If both are None, the finding is unassigned."""
    tx.run(
        """UPDATE site_findings SET assigned_user = :user, assigned_team = :team, updated_at = :at
           WHERE id = :id""",
        id=finding_id,
        user=user_id,
        team=team_id,
        at=now(),
    )


def link_change(tx: Transaction, finding_id: str, change_id: str) -> None:
    """Record that a change request was created for a finding."""
    tx.run(
        """INSERT INTO site_finding_changes (finding_id, change_id) VALUES (:finding, :change)
           ON CONFLICT DO NOTHING""",
        finding=finding_id,
        change=change_id,
    )
    tx.run(
        """UPDATE site_findings SET updated_at = :at, changes = (
             SELECT count(*) FROM site_finding_changes WHERE finding_id = :finding) WHERE id = :finding""",
        finding=finding_id,
        at=now(),
    )


class StoredFinding(Struct, frozen=True):
    """Fields of a stored finding to compare with the results of a scan. ``ignored``: the pages on which the finding
    is ignored."""

    id: str
    status: FindingStatus
    digest: tuple[str | None, ...]
    ignored: frozenset[str] = frozenset()
    sources: frozenset[str] = frozenset()


def read_findings(tx: Transaction, site_id: str) -> dict[str, StoredFinding]:
    """Return all findings of a site, by key."""
    rows = tx.all(
        "SELECT key, id, status, title, severity, evidence, fixing, space_id FROM site_findings WHERE site_id = :site",
        site=site_id,
    )
    ignored, sources = (
        _map_pages_of(tx, site_id, table) for table in ("site_finding_ignored", "site_finding_sources")
    )
    return {
        key: StoredFinding(
            id, status, tuple(rest), frozenset(ignored.get(id, ())), frozenset(sources.get(id, ()))
        )
        for key, id, status, *rest in rows
    }


def _map_pages_of(tx: Transaction, site_id: str, table: str) -> dict[str, set[str]]:
    """Return the page IDs in a table that links findings to pages, for all findings of a site, by finding."""
    found: dict[str, set[str]] = {}
    for id, page_id in tx.all(
        f"""SELECT p.finding_id, p.page_id FROM {table} p JOIN site_findings f ON f.id = p.finding_id
            WHERE f.site_id = :site""",
        site=site_id,
    ):
        found.setdefault(id, set()).add(page_id)
    return found


def columns_of(found: Found) -> dict[str, str | None]:
    """Return the columns that store the content of a finding."""
    return {
        "title": found.title,
        "severity": found.severity,
        "evidence": msgspec.json.encode(found.evidence).decode(),
        "fixing": msgspec.json.encode(found.fixing).decode() if found.fixing else None,
        "space_id": found.space_id,
    }


def insert_findings(tx: Transaction, site_id: str, scan_id: str, found: Sequence[Found]) -> None:
    moment = now()
    rows = []
    placed: list[tuple[str, Found]] = []
    for each in found:
        finding_id = ids.new_id()
        rows.append(
            {
                "id": finding_id,
                "site": site_id,
                "scan": scan_id,
                "key": each.key,
                "kind": each.kind,
                "type": KINDS[each.kind].type,
                "rank": SEVERITIES[each.severity],
                "pages": len(each.pages),
                "url": each.url,
                "question": each.question,
                "at": moment,
                **columns_of(each),
            }
        )
        placed.append((finding_id, each))
    tx.run_many(
        """INSERT INTO site_findings (id, site_id, space_id, scan_id, key, kind, type, title, severity,
             severity_rank, status, evidence, fixing, pages, url, question_id, created_at, updated_at)
           VALUES (:id, :site, :space_id, :scan, :key, :kind, :type, :title, :severity, :rank, 'open',
             :evidence, :fixing, :pages, :url, :question, :at, :at)
           ON CONFLICT (site_id, key) DO NOTHING""",
        rows,
    )
    _put_pages(tx, placed)


def update_findings(tx: Transaction, scan_id: str, found: Mapping[str, tuple[Found, FindingStatus]]) -> None:
    """Update the content and status of findings with the results of a scan. ``found``: the results by finding ID."""
    moment = now()
    tx.run_many(
        """UPDATE site_findings SET scan_id = :scan, title = :title, severity = :severity, severity_rank = :rank,
             status = :status, reason = CASE WHEN :status = 'canceled' THEN reason END, evidence = :evidence,
             fixing = :fixing, space_id = :space_id, pages = :pages, updated_at = :at
           WHERE id = :id""",
        (
            {
                "id": finding_id,
                "scan": scan_id,
                "rank": SEVERITIES[each.severity],
                "status": status,
                "pages": len(each.pages),
                "at": moment,
                **columns_of(each),
            }
            for finding_id, (each, status) in sorted(found.items())
        ),
    )
    for table in ("site_finding_pages", "site_finding_sources"):
        tx.run(f"DELETE FROM {table} WHERE finding_id IN :ids", ids=sorted(found))
    _put_pages(tx, [(id, each) for id, (each, _) in sorted(found.items())])


def rank_findings(tx: Transaction, site_id: str, days: Mapping[str, int], views: Mapping[str, int]) -> None:
    """Set the numbers of views and the priorities of a site's open findings. ``days``: the number of days for which
    a review has been overdue, by the finding's key. ``views``: the number of views of each page."""
    found: dict[str, tuple[int, int]] = {}
    stored: dict[str, tuple[int, int]] = {}
    for id, key, seen, priority, page_id in tx.all(
        f"""SELECT f.id, f.key, f.views, f.priority, p.page_id
           FROM site_findings f JOIN site_finding_pages p ON p.finding_id = f.id
           WHERE f.site_id = :site AND f.status = 'open' AND {_NOT_IGNORED}""",
        site=site_id,
    ):
        stored[id] = seen, priority
        total = found.get(id, (0, 0))[0] + views.get(page_id, 0)
        found[id] = total, total * days.get(key, 1)
    tx.run_many(
        "UPDATE site_findings SET views = :views, priority = :priority WHERE id = :id",
        (
            {"id": id, "views": total, "priority": priority}
            for id, (total, priority) in sorted(found.items())
            if stored[id] != (total, priority)
        ),
    )


def _put_pages(tx: Transaction, found: Sequence[tuple[str, Found]]) -> None:
    """Store the pages and sources of findings. ``found``: the findings with their IDs."""
    for table, listed in (
        ("site_finding_pages", [(id, each.pages) for id, each in found]),
        ("site_finding_sources", [(id, sorted(each.sources)) for id, each in found]),
    ):
        # Another scan may have inserted the finding first, together with its pages.
        tx.run_many(
            f"""INSERT INTO {table} (finding_id, page_id)
                SELECT f.id, :page FROM site_findings f WHERE f.id = :finding
                ON CONFLICT DO NOTHING""",
            ({"finding": id, "page": page} for id, pages in listed for page in pages),
        )


def set_records(tx: Transaction, site_id: str, records: Mapping[str, Sequence[str]]) -> None:
    """Replace the records that are evidence for a site's open findings. ``records``: the record IDs, by the
    finding's key."""
    tx.run(
        """DELETE FROM site_finding_records WHERE finding_id IN (
             SELECT id FROM site_findings WHERE site_id = :site AND status IN ('open', 'candidate'))""",
        site=site_id,
    )
    # Records may have been deleted since they were matched.
    tx.run_many(
        """INSERT INTO site_finding_records (finding_id, record_id)
           SELECT f.id, r.id FROM site_findings f JOIN context_records r ON r.site_id = f.site_id
           WHERE f.site_id = :site AND f.key = :key AND r.id = :record ON CONFLICT DO NOTHING""",
        (
            {"site": site_id, "key": key, "record": record}
            for key, found in sorted(records.items())
            for record in found
        ),
    )


def close_findings(tx: Transaction, finding_ids: Sequence[str]) -> None:
    """Mark findings that a scan no longer found as done."""
    tx.run(
        "UPDATE site_findings SET status = 'done', updated_at = :at WHERE id IN :ids",
        ids=list(finding_ids),
        at=now(),
    )
