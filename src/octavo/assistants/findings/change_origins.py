"""Show the finding, topic, or style guide check for which a change request was created, and filter change requests by
this origin."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import UNSET

from octavo.content.changes.store import register_filters
from octavo.content.changes.wire import (
    ChangeOrigin,
    ChangeRequestStyleguide,
    ChangeRequestTopic,
    register_origins,
)
from octavo.kit.clock import iso
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Person, Recipient, Script
from octavo.organization.access.authorization import SiteAccess, find_site_access
from octavo.organization.access.roles import Can

from .store import list_seen_ids, list_topics_of_changes
from .styleguide_store import list_runs_of_changes


def find_origins(to: Recipient, tx: Transaction, change_ids: Sequence[str]) -> dict[str, ChangeOrigin]:
    """Return the origins of change requests, by change request ID. Sites and findings that the recipient can't see are
    omitted."""
    topics = list_topics_of_changes(tx, change_ids)
    runs = list_runs_of_changes(tx, change_ids)
    named = {topic.site_id for topic in topics.values()} | {run.site_id for run in runs.values()}
    sites = _seen(to, tx, named)
    of_sites = {id: [topic.finding_id for topic in topics.values() if topic.site_id == id] for id in sites}
    findings = {one for id, ids in of_sites.items() if ids for one in list_seen_ids(tx, sites[id], ids)}
    found: dict[str, ChangeOrigin] = {}
    for change_id in change_ids:
        topic, run = topics.get(change_id), runs.get(change_id)
        origin = ChangeOrigin()
        if topic is not None and topic.site_id in sites:
            origin.topic = ChangeRequestTopic(
                site=topic.site_id,
                topic=topic.topic_id,
                finding=topic.finding_id if topic.finding_id in findings else UNSET,
            )
        if run is not None and run.site_id in sites:
            origin.styleguide = ChangeRequestStyleguide(
                site=run.site_id,
                run=run.run_id,
                changed_pages=run.changed_pages if run.changed_pages is not None else UNSET,
                checked_at=iso(run.checked_at),
            )
        found[change_id] = origin
    return found


def _seen(to: Recipient, tx: Transaction, site_ids: Iterable[str]) -> dict[str, SiteAccess]:
    """Return the recipient's access to those of these sites that the recipient can see, by ID."""
    caller = to.authenticated
    if not isinstance(caller, Person | Script):
        return {}
    rows = (
        tx.all("SELECT id, organization_id FROM sites WHERE id IN :ids", ids=sorted(site_ids))
        if site_ids
        else []
    )
    return {
        site_id: access
        for site_id, organization_id in rows
        if (access := find_site_access(tx, caller, Can.VIEW, organization_id, site_id)) is not None
    }


register_origins(find_origins)
register_filters(
    topic="""c.id IN (SELECT k.change_id FROM site_finding_changes k JOIN site_findings f ON f.id = k.finding_id
             JOIN site_questions q ON q.id = f.question_id WHERE q.topic_id = :topic)""",
    styleguide_run="c.id IN (SELECT k.change_id FROM styleguide_run_changes k WHERE k.run_id = :styleguide_run)",
    finding=":finding = 'none' AND c.id NOT IN (SELECT k.change_id FROM site_finding_changes k)",
)
