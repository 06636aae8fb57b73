"""SQL conditions for lists of questions and answers, which combine the caller's filter and access."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from octavo.content.revisions.restrictions import hidden_from
from octavo.kit.db.database import Transaction, json_list
from octavo.organization.access.authorization import SiteAccess
from octavo.organization.spaces.store import list_visible_space_ids
from octavo.sites.site.shown_spaces import sees_all_ever_shown
from octavo.sites.site.structure.store import load_structure

from .types import ChannelType, Helpfulness, QuestionType, Relevance, Resolution


class AnswerCondition(NamedTuple):
    """SQL condition with its parameters. ``sql``: the condition; either empty, or starting with ``AND``."""

    sql: str = ""
    given: dict[str, Any] = {}


class AnswerSight(Struct, frozen=True):
    """Condition for the answers that the caller can see, for the table alias ``a``."""

    condition: AnswerCondition

    @staticmethod
    def of(tx: Transaction, site: SiteAccess) -> AnswerSight:
        """Return the condition for answers from spaces and pages of the site that the caller can see. If there is a
        space or page that the caller can't see, answers without sources are also hidden, because they could be
        about that space or page, even if it is no longer part of the site. Organization administrators also see
        answers from spaces that are no longer part of the site."""
        if site.member_role == "admin":
            return AnswerSight(AnswerCondition())
        shown = {one.space_id for one in load_structure(tx, site.site_id).site_spaces.values()}
        seen = sorted(list_visible_space_ids(tx, site.organization, among=list(shown)))
        sql = f""" AND NOT EXISTS (SELECT 1 FROM site_question_sources h WHERE h.answer_id = a.id
                   AND h.space_id NOT IN (SELECT id FROM {tx.given("seen", "id")} AS g))"""
        hidden = hidden_from(tx, site.organization)
        if not sees_all_ever_shown(tx, site, hidden):
            sql += " AND EXISTS (SELECT 1 FROM site_question_sources h WHERE h.answer_id = a.id)"
        if hidden:
            sql += f""" AND NOT EXISTS (SELECT 1 FROM site_question_sources h WHERE h.answer_id = a.id
                        AND NOT (1 = 1{hidden.condition("h.space_id", "h.page_id")}))"""
        return AnswerSight(AnswerCondition(sql, {"seen": json_list(seen), **hidden.parameters}))

    def and_also(self, other: AnswerCondition | None) -> AnswerCondition:
        """Return the condition for visible answers that also satisfy ``other``."""
        if other is None:
            return self.condition
        return AnswerCondition(self.condition.sql + other.sql, {**self.condition.given, **other.given})


_HELPFUL: dict[Helpfulness, str] = {
    "low": "(a.rating = -1 OR (a.rating IS NULL AND a.answered = 'no'))",
    "medium": "(a.rating IS NULL AND a.answered = 'partially')",
    "high": "(a.rating = 1 OR (a.rating IS NULL AND a.answered = 'yes'))",
}


def helpfulness_of(rating: int | None, answered: Resolution) -> Helpfulness:
    """Return the helpfulness of an answer. It depends on the reader's rating if there is one, and otherwise on
    whether the answer resolved the question."""
    if rating is not None:
        return "high" if rating > 0 else "low"
    by_answer: dict[Resolution, Helpfulness] = {"no": "low", "partially": "medium", "yes": "high"}
    return by_answer[answered]


class AnswerFilter(Struct, frozen=True, kw_only=True):
    """Filter for questions, answers, and statistics. ``start`` and ``end``: times in milliseconds."""

    start: int | None = None
    end: int | None = None
    type: QuestionType | None = None
    relevance: Sequence[Relevance] = ()
    channel_types: Sequence[ChannelType] = ()
    answered: Sequence[Resolution] = ()
    helpfulness: Helpfulness | None = None
    language: str | None = None
    topics: Sequence[str] = ()
    question: str | None = None
    thread: str | None = None
    answer: str | None = None

    def of_answers(self) -> AnswerCondition:
        """Return the condition on answers, for the table alias ``a``."""
        parts: list[str] = []
        given: dict[str, Any] = {}

        def add(condition: str, name: str, value: object) -> None:
            if value is not None and value != []:
                parts.append(condition)
                given[name] = value

        add("a.created_at >= :start", "start", self.start)
        add("a.created_at <= :end_at", "end_at", self.end)
        add("a.relevance IN :relevance", "relevance", list(self.relevance))
        add("a.channel_type IN :channel_types", "channel_types", list(self.channel_types))
        add("a.answered IN :answered", "answered", list(self.answered))
        add("a.language = :language", "language", self.language)
        add("a.question_id = :question", "question", self.question)
        add("a.thread_id = :thread", "thread", self.thread)
        add("a.id = :answer", "answer", self.answer)
        if self.helpfulness is not None:
            parts.append(_HELPFUL[self.helpfulness])
        return AnswerCondition("".join(f" AND {part}" for part in parts), given)

    def of_questions(self) -> AnswerCondition:
        """Return the condition on questions, for the table alias ``q``."""
        parts: list[str] = []
        given: dict[str, Any] = {}
        if self.type is not None:
            parts.append("q.type = :of_type")
            given["of_type"] = self.type
        if self.topics:
            parts.append("q.topic_id IN :topics")
            given["topics"] = list(self.topics)
        return AnswerCondition("".join(f" AND {part}" for part in parts), given)
