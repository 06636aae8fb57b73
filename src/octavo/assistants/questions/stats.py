"""Statistics on questions and answers for a site, a question, or a list of questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from octavo.kit.clock import WEEK, now
from octavo.kit.db.database import Row, Transaction
from octavo.organization.access.authorization import SiteAccess

from .filters import AnswerFilter, AnswerSight
from .types import ChannelType, QuestionType, Relevance, Resolution

WEEKS = 13


class QuestionStats(Struct):
    """Statistics on questions and answers. ``questions``: the number of questions by type. ``weeks``: the number of
    answers in each of the last weeks, oldest first."""

    questions: dict[QuestionType, int] = field(default_factory=dict)
    answers: int = 0
    positive: int = 0
    negative: int = 0
    answered: dict[Resolution, int] = field(default_factory=dict)
    relevance: dict[Relevance, int] = field(default_factory=dict)
    channel_types: dict[ChannelType, int] = field(default_factory=dict)
    channels: dict[str, int] = field(default_factory=dict)
    weeks: list[int] = field(default_factory=lambda: [0] * WEEKS)

    @property
    def total(self) -> int:
        return sum(self.questions.values())


def measure_site(tx: Transaction, site: SiteAccess, chosen: AnswerFilter) -> QuestionStats:
    """Return statistics on all answers that match the filter and that the caller can see."""
    return _measure(tx, site, chosen, "''", "", {}).get("", QuestionStats())


def measure_questions(
    tx: Transaction, site: SiteAccess, chosen: AnswerFilter, question_ids: Sequence[str]
) -> dict[str, QuestionStats]:
    """Return statistics on each of these questions."""
    found = _measure(
        tx, site, chosen, "a.question_id", " AND a.question_id IN :measured", {"measured": list(question_ids)}
    )
    return {question_id: found.get(question_id, QuestionStats()) for question_id in question_ids}


def measure_topics(
    tx: Transaction, site: SiteAccess, chosen: AnswerFilter, topic_ids: Sequence[str]
) -> dict[str, QuestionStats]:
    """Return statistics on each of these topics."""
    found = _measure(
        tx, site, chosen, "q.topic_id", " AND q.topic_id IN :measured", {"measured": list(topic_ids)}
    )
    return {topic_id: found.get(topic_id, QuestionStats()) for topic_id in topic_ids}


def _measure(
    tx: Transaction, site: SiteAccess, chosen: AnswerFilter, by: str, also: str, given: Mapping[str, object]
) -> dict[str, QuestionStats]:
    """Return statistics by the value of the SQL expression ``by``."""
    of_question, found = chosen.of_questions(), AnswerSight.of(tx, site).and_also(chosen.of_answers())
    source = f"""FROM site_question_answers a JOIN site_questions q ON q.id = a.question_id
                 WHERE a.site_id = :site{found.sql}{of_question.sql}{also}"""
    parameters = {"site": site.site_id, **found.given, **of_question.given, **given}
    stats: dict[str, QuestionStats] = {}
    types = tx.all(
        f"SELECT {by}, q.type, count(DISTINCT q.id) {source} GROUP BY {by}, q.type"
        if by != "''"
        else f"SELECT '', q.type, count(DISTINCT q.id) {source} GROUP BY q.type",
        **parameters,
    )
    for group, type, count in types:
        stats.setdefault(group, QuestionStats()).questions[type] = count
    pulse = now() - WEEKS * WEEK
    columns = "a.answered, a.relevance, a.rating, a.channel_type, a.channel_id"
    week = "CASE WHEN a.created_at > :pulse THEN (a.created_at - :pulse - 1) / :week ELSE -1 END"
    rows = tx.all(
        f"""SELECT g.grouped, {columns.replace("a.", "g.")}, g.week, count(*) FROM (
              SELECT {by} AS grouped, {columns}, {week} AS week {source}) g
            GROUP BY g.grouped, {columns.replace("a.", "g.")}, g.week""",
        pulse=pulse,
        week=WEEK,
        **parameters,
    )
    for group, *values, count in rows:
        _add(stats.setdefault(group, QuestionStats()), tuple(values), count)
    return stats


def _add(stats: QuestionStats, values: Row, count: int) -> None:
    answered, relevance, rating, channel_type, channel_id, week = values
    stats.answers += count
    if rating is not None:
        stats.positive += count if rating > 0 else 0
        stats.negative += count if rating < 0 else 0
    for counts, value in (
        (stats.answered, answered),
        (stats.relevance, relevance),
        (stats.channel_types, channel_type),
        (stats.channels, channel_id),
    ):
        if value is not None:
            counts[value] = counts.get(value, 0) + count
    if week >= 0:
        # The clock of another server can be slightly ahead, so answers may be in the future.
        stats.weeks[min(week, WEEKS - 1)] += count
