"""Actions that a site's agent can take without approval, and the change requests that it creates."""

from __future__ import annotations

from itertools import groupby
from typing import Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from octavo.content.changes.undoing import Ask, undo_change
from octavo.errors import Conflict, Forbidden, NotFound, OctavoError
from octavo.kit.clock import DAY, now
from octavo.kit.context import Context
from octavo.kit.db.database import Database, Transaction
from octavo.kit.work import jobs
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import SiteAccess, site_access
from octavo.organization.access.reach import actor_for_job
from octavo.organization.access.roles import Can

from . import store
from .fixing import fix_findings, list_fixable
from .kinds import FindingKind
from .store import FindingRow

TopicScans = Literal["auto", "never"]
FixableKind = Literal["broken-link", "broken-anchor", "style"]
NAME = "Octavo"
"""Name of the agent in change requests and in the audit log."""
JOB = "fixFindings"
_MOST_FIXED = 50
"""Maximum number of findings to fix in one change request."""


class AgentSettings(Struct, frozen=True):
    """Settings of a site's agent. ``change_requests``: whether the agent creates change requests. ``kinds``:
    the kinds of findings that it fixes. ``per_day``: the maximum number of its change requests in 24 hours.
    ``updated_by``: the person whose permissions the agent has."""

    topics: TopicScans = "auto"
    change_requests: Literal["auto-fixable", "never"] = "never"
    kinds: list[FixableKind] = []
    per_day: int = 5
    updated_by: str | None = None
    updated_at: int | None = None


def read_settings(tx: Transaction, site_id: str) -> AgentSettings:
    """Return the settings of a site. By default, the agent doesn't take any actions without approval."""
    row = tx.one(
        """SELECT topics, change_requests, kinds, per_day, updated_by, updated_at FROM site_agent_settings
           WHERE site_id = :site""",
        site=site_id,
    )
    if row is None:
        return AgentSettings()
    topics, change_requests, kinds, per_day, updated_by, updated_at = row
    decoded = msgspec.json.decode(kinds, type=list[FixableKind])
    return AgentSettings(topics, change_requests, decoded, per_day, updated_by, updated_at)


def write_settings(tx: Transaction, site: SiteAccess, settings: AgentSettings) -> AgentSettings:
    """Replace the settings of a site. From then on, the agent has the caller's permissions."""
    before = read_settings(tx, site.site_id)
    written = replace(settings, updated_by=site.user_id, updated_at=now())
    tx.run(
        """INSERT INTO site_agent_settings (site_id, topics, change_requests, kinds, per_day, updated_by, updated_at)
           VALUES (:site, :topics, :change_requests, :kinds, :per_day, :updated_by, :updated_at)
           ON CONFLICT (site_id) DO UPDATE SET topics = excluded.topics, change_requests = excluded.change_requests,
             kinds = excluded.kinds, per_day = excluded.per_day, updated_by = excluded.updated_by,
             updated_at = excluded.updated_at""",
        site=site.site_id,
        **{**msgspec.structs.asdict(written), "kinds": msgspec.json.encode(written.kinds).decode()},
    )
    shown = ("topics", "change_requests", "kinds", "per_day")
    audit(
        tx,
        site.actor,
        "site.agent-settings-updated",
        site.organization_id,
        ("site", site.site_id),
        before={name: getattr(before, name) for name in shown},
        after={name: getattr(written, name) for name in shown},
    )
    return written


def fix_by_itself(context: Context, site_id: str, organization_id: str) -> None:
    """Create the change requests that a site's settings allow, with the permissions of the person who saved the
    settings. There is at most one change request for each finding, so archiving it doesn't make the agent create
    another."""
    with context.db.read() as tx:
        settings = read_settings(tx, site_id)
        if settings.change_requests == "never" or settings.updated_by is None:
            return
        actor = replace(actor_for_job(settings.updated_by, organization_id), agent=NAME)
        try:
            site = site_access(tx, actor, Can.ADMIN, organization_id, site_id)
        except (Forbidden, NotFound):
            # The person can no longer change the settings, so the agent stops.
            return
        left = settings.per_day - store.count_changes_by(tx, site_id, NAME, now() - DAY)
        kinds: list[FindingKind] = list(settings.kinds)
        findings = [
            finding
            for finding in list_fixable(tx, organization_id, store.list_open(tx, site_id))
            if finding.kind in kinds and finding.changes == 0
        ]
    for group in _by_space(findings):
        if left <= 0:
            return
        try:
            left -= len(fix_findings(context, site, group))
        except (Conflict, Forbidden, NotFound):
            # The page changed since the scan, or the person can't edit the space. The next scan tries again.
            continue
        finally:
            jobs.renew()


class UndoneFix(Struct, rename="camel"):
    """Result of undoing a change request. ``revert``: the new change request that reverts it, if it had been
    merged. ``reason``: the reason why it couldn't be undone; omitted if it was undone."""

    space: str
    change_request: str
    result: Literal["archived", "reverted", "already", "stays"]
    revert: str | UnsetType = UNSET
    reason: str | UnsetType = UNSET


def undo_fixes(db: Database, site: SiteAccess, ask: Ask) -> list[UndoneFix]:
    """Undo the change requests that a site's agent created in the last 24 hours, newest first."""
    with db.read() as tx:
        changes = store.list_changes_by(tx, site, NAME, now() - DAY)
    found: list[UndoneFix] = []
    for space_id, change_id in changes:
        try:
            undone = undo_change(ask, space_id, change_id, made=True)
        except OctavoError as error:
            found.append(UndoneFix(space_id, change_id, "stays", reason=error.message))
        else:
            found.append(UndoneFix(space_id, change_id, undone.result, undone.revert or UNSET))
    with db.write() as tx:
        done = [each.change_request for each in found if each.result != "stays"]
        store.mark_undone(tx, done)
        audit(
            tx,
            site.actor,
            "site.agent-undone",
            site.organization_id,
            ("site", site.site_id),
            after={"changeRequests": len(done)},
        )
    return found


def _by_space(findings: list[FindingRow]) -> list[list[FindingRow]]:
    def space_of(finding: FindingRow) -> str:
        return finding.space_id or ""

    found = groupby(sorted(findings, key=space_of), key=space_of)
    return [list(group)[:_MOST_FIXED] for space, group in found if space]
