"""Declare the tables for questions."""

from __future__ import annotations

from typing import Any, get_args

from octavo.kit.db.tables import Table, declare, row

from .types import ChannelType, QuestionType, Relevance, Resolution

_STAYS = "describes visitors of this server, and expires"

declare(
    Table(name="site_questions", stays=_STAYS, values={"type": get_args(QuestionType)}, long=("text",)),
    Table(name="site_topics", stays=_STAYS),
    Table(name="site_question_wordings", stays=_STAYS),
    Table(name="site_question_words", stays=_STAYS),
    Table(
        name="site_question_answers",
        stays=_STAYS,
        values={
            "answered": get_args(Resolution),
            "relevance": get_args(Relevance),
            "channel_type": get_args(ChannelType),
        },
        columns=(
            row("thread_id", "site_question_answers"),
            row("previous_id", "site_question_answers"),
            row("channel_id", "site_channels"),
        ),
        json={"response": list[dict[str, Any]]},
        long=("text", "raw"),
    ),
    Table(name="site_question_sources", stays=_STAYS),
)
