"""Topics of a site with their questions and findings, limited to what the caller can see."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from octavo.assistants.questions import topics
from octavo.assistants.questions.filters import AnswerFilter
from octavo.assistants.questions.stats import QuestionStats, measure_topics
from octavo.assistants.questions.store import list_questions
from octavo.assistants.questions.topics import TopicRow
from octavo.assistants.sources.store import count_records_by_topic
from octavo.errors import NotFound
from octavo.kit.db.database import Transaction
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import SiteAccess

from . import store

_ASKED = 3
"""Maximum number of questions to show for a topic."""


class TopicState(Struct, frozen=True):
    """Topic with its statistics. ``asked``: its most frequent questions."""

    row: TopicRow
    stats: QuestionStats
    pages: int
    records: int
    open: int
    findings: int
    asked: Sequence[str]


def list_topics(tx: Transaction, site: SiteAccess, chosen: AnswerFilter) -> list[TopicState]:
    """Return the site's topics with statistics for the chosen answers. A topic is included if the caller can see at
    least one of its answers."""
    return _measure(tx, site, topics.list_topics(tx, site.site_id), chosen)


def find_topic(tx: Transaction, site: SiteAccess, topic_id: str) -> TopicState | None:
    """Return a topic if the caller can see at least one of its answers; otherwise, return None."""
    row = topics.find_topic(tx, site.site_id, topic_id)
    found = _measure(tx, site, [row], AnswerFilter()) if row is not None else []
    return found[0] if found else None


def get_topic(tx: Transaction, site: SiteAccess, topic_id: str) -> TopicState:
    """Return a topic. Raises NotFound if the caller can't see any of its answers."""
    found = find_topic(tx, site, topic_id)
    if found is None:
        raise NotFound(f"There is no topic with the ID {topic_id!r} on this site.")
    return found


def set_change_requests(tx: Transaction, site: SiteAccess, topic_id: str, allowed: bool) -> None:
    """Set whether findings of a topic can become change requests."""
    row = get_topic(tx, site, topic_id).row
    if allowed == row.change_requests:
        return
    topics.set_change_requests(tx, row.id, allowed)
    audit(
        tx,
        site.actor,
        "siteTopic.updated",
        site.organization_id,
        ("siteTopic", row.id),
        before={"changeRequests": row.change_requests, "label": row.label},
        after={"changeRequests": allowed, "label": row.label},
    )


def delete_findings(tx: Transaction, site: SiteAccess, topic_id: str) -> bool:
    """Delete the topic's findings that the caller can see. Return False if there are none."""
    found = find_topic(tx, site, topic_id)
    deleted = store.delete_findings_of_topic(tx, site, topic_id) if found is not None else 0
    if found is not None and deleted:
        audit(
            tx,
            site.actor,
            "siteTopic.findingsDeleted",
            site.organization_id,
            ("siteTopic", topic_id),
            before={"findings": deleted, "label": found.row.label},
        )
    return deleted > 0


def _measure(
    tx: Transaction, site: SiteAccess, rows: Sequence[TopicRow], chosen: AnswerFilter
) -> list[TopicState]:
    ids = [row.id for row in rows]
    seen = measure_topics(tx, site, AnswerFilter(), ids)
    counted = seen if chosen == AnswerFilter() else measure_topics(tx, site, chosen, ids)
    pages = topics.count_pages(tx, site)
    records = count_records_by_topic(tx, site.site_id)
    findings = store.count_by_topic(tx, site)
    return [
        TopicState(
            row,
            counted[row.id],
            pages.get(row.id, 0),
            records.get(row.id, 0),
            *findings.get(row.id, (0, 0)),
            _list_asked(tx, site, row.id),
        )
        for row in rows
        if seen[row.id].answers
    ]


def _list_asked(tx: Transaction, site: SiteAccess, topic_id: str) -> list[str]:
    found = list_questions(tx, site, AnswerFilter(topics=[topic_id]), _ASKED, None, "stats.answers", "desc")
    return [row.text for row in found.rows]
