"""Database access for questions and answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec
from msgspec import Struct

from octavo.core.json_types import JsonObject
from octavo.errors import NotFound
from octavo.kit.clock import now
from octavo.kit.db.database import Row, Transaction
from octavo.kit.db.pagination import Slice, list_page, slice_items
from octavo.organization.access.authorization import SiteAccess

from .filters import AnswerFilter, AnswerSight
from .types import AnswerPage, ChannelType, QuestionType, Relevance, Resolution

SortBy = Literal["askedAt", "stats.answered", "stats.feedback", "stats.answers"]
Direction = Literal["asc", "desc"]
_MOST_IN_THREAD = 200
_BATCH = 500


class QuestionRow(Struct, frozen=True):
    """Question that visitors asked in one or more wordings."""

    id: str
    site_id: str
    text: str
    type: QuestionType
    created_at: int
    asked_at: int


class SiteAnswerRow(Struct, frozen=True):
    """Answer to a question. ``text``: the question on one line. ``raw``: the question as it was asked. Personal
    data is masked in both fields."""

    id: str
    site_id: str
    question_id: str
    question_type: QuestionType
    text: str
    raw: str
    thread_id: str
    previous_id: str | None
    response_id: str
    language: str
    answered: Resolution
    relevance: Relevance
    rating: int | None
    channel_type: ChannelType
    channel_id: str | None
    created_at: int
    updated_at: int
    topic_id: str | None = None


_QUESTION = ", ".join(f"q.{name}" for name in QuestionRow.__struct_fields__)
_OF_QUESTION = {"question_type": "q.type", "topic_id": "q.topic_id"}
"""Columns of questions that are read as fields of answers, by field."""
_ANSWER = ", ".join(_OF_QUESTION.get(name, f"a.{name}") for name in SiteAnswerRow.__struct_fields__)
_decode_blocks = msgspec.json.Decoder(list[JsonObject]).decode


def _question(row: Row) -> QuestionRow:
    return QuestionRow(*row)


def _answer(row: Row) -> SiteAnswerRow:
    return SiteAnswerRow(*row)


# --- reading ----------------------------------------------------------------------------------------------

_SORTS: dict[SortBy, str] = {
    "askedAt": "q.asked_at",
    "stats.answered": "q.answered",
    "stats.feedback": "q.rating",
    "stats.answers": "q.answers",
}


def list_questions(
    tx: Transaction,
    site: SiteAccess,
    chosen: AnswerFilter,
    limit: int,
    page: str | None,
    sort: SortBy | None,
    direction: Direction,
) -> Slice[QuestionRow]:
    """Return the site's questions with at least one answer that matches the filter and that the caller can see. By
    default, they are sorted by creation time. With ``sort``, they are sorted by a value that is computed from all
    answers that the caller can see."""
    sight = AnswerSight.of(tx, site)
    column = _SORTS[sort] if sort is not None else ""
    of_question, of_answer = chosen.of_questions(), sight.and_also(chosen.of_answers())
    where = f"{of_question.sql}"
    if of_answer.sql:
        where += f""" AND EXISTS (
            SELECT 1 FROM site_question_answers a WHERE a.question_id = q.id{of_answer.sql})"""
    return list_page(
        tx,
        limit,
        page,
        _QUESTION,
        f"FROM {_seen_questions(sight)} q WHERE q.site_id = :site{where}",
        _question,
        by=f"{column}, q.id" if column else "q.id",
        key_types=(int, str) if column else (str,),
        descending=direction == "desc",
        site=site.site_id,
        **of_question.given,
        **of_answer.given,
    )


def _seen_questions(sight: AnswerSight) -> str:
    """Return SQL for a site's questions, with times and counts based only on the answers that the caller can see. The
    SQL uses the parameter ``site``."""
    seen = sight.condition.sql
    if not seen:
        return "site_questions"
    return f"""(SELECT w.id, w.site_id, w.text, w.type, w.topic_id, w.created_at, m.asked_at, m.answers, m.answered,
          m.rating
        FROM site_questions w JOIN (
          SELECT a.question_id, max(a.created_at) AS asked_at, count(*) AS answers,
            sum(CASE WHEN a.answered = 'yes' THEN 1 ELSE 0 END) AS answered, coalesce(sum(a.rating), 0) AS rating
          FROM site_question_answers a WHERE a.site_id = :site{seen} GROUP BY a.question_id) m
          ON m.question_id = w.id)"""


def get_question(tx: Transaction, site: SiteAccess, question_id: str) -> QuestionRow:
    """Return a question. Raises NotFound if the caller can't see any of its answers."""
    sight = AnswerSight.of(tx, site)
    row = tx.one(
        f"SELECT {_QUESTION} FROM {_seen_questions(sight)} q WHERE q.site_id = :site AND q.id = :id",
        site=site.site_id,
        id=question_id,
        **sight.condition.given,
    )
    if row is None:
        raise NotFound(f"There is no question with the ID {question_id!r} on this site.")
    return _question(row)


def list_answers(
    tx: Transaction, site: SiteAccess, chosen: AnswerFilter, limit: int, page: str | None
) -> Slice[SiteAnswerRow]:
    """Return the answers that the caller can see, newest first."""
    of_question, found = chosen.of_questions(), AnswerSight.of(tx, site).and_also(chosen.of_answers())
    return list_page(
        tx,
        limit,
        page,
        _ANSWER,
        f"""FROM site_question_answers a JOIN site_questions q ON q.id = a.question_id
            WHERE a.site_id = :site{found.sql}{of_question.sql}""",
        _answer,
        by="a.id",
        descending=True,
        site=site.site_id,
        **found.given,
        **of_question.given,
    )


def get_answer(tx: Transaction, site: SiteAccess, answer_id: str) -> SiteAnswerRow:
    """Return an answer that the caller can see. Raises NotFound if there is none."""
    seen = AnswerSight.of(tx, site).and_also(None)
    row = tx.one(
        f"""SELECT {_ANSWER}
            FROM site_question_answers a JOIN site_questions q ON q.id = a.question_id
            WHERE a.site_id = :site AND a.id = :id{seen.sql}""",
        site=site.site_id,
        id=answer_id,
        **seen.given,
    )
    if row is None:
        raise NotFound(f"There is no answer with the ID {answer_id!r} on this site.")
    return _answer(row)


def list_thread(tx: Transaction, site: SiteAccess, thread_id: str) -> list[SiteAnswerRow]:
    """Return the answers of a conversation that the caller can see, oldest first."""
    seen = AnswerSight.of(tx, site).and_also(None)
    rows = tx.all(
        f"""SELECT {_ANSWER}
            FROM site_question_answers a JOIN site_questions q ON q.id = a.question_id
            WHERE a.site_id = :site AND a.thread_id = :thread{seen.sql} ORDER BY a.id LIMIT :most""",
        site=site.site_id,
        thread=thread_id,
        most=_MOST_IN_THREAD,
        **seen.given,
    )
    return [_answer(row) for row in rows]


def read_responses(tx: Transaction, answer_ids: Sequence[str]) -> dict[str, list[JsonObject]]:
    """Return the blocks of answers, by answer ID."""
    rows = tx.all("SELECT id, response FROM site_question_answers WHERE id IN :ids", ids=list(answer_ids))
    return {answer_id: _decode_blocks(response) for answer_id, response in rows}


def list_sources(
    tx: Transaction, site: SiteAccess, chosen: AnswerFilter, limit: int, page: str | None
) -> Slice[AnswerPage]:
    """Return the pages on which the chosen answers are based, sorted by ID, each with its average weight."""
    found = AnswerSight.of(tx, site).and_also(chosen.of_answers())
    joined = f"""FROM site_question_sources s JOIN site_question_answers a ON a.id = s.answer_id
                 WHERE a.site_id = :site{found.sql}"""
    given: dict[str, object] = {"site": site.site_id, **found.given}
    # A question has few pages, so read all of them and return a slice.
    rows = tx.all(
        f"""SELECT s.space_id, s.page_id, max(s.revision_id), max(s.title), sum(s.weight) / count(*)
            {joined} GROUP BY s.space_id, s.page_id ORDER BY s.page_id, s.space_id""",
        **given,
    )
    return slice_items(
        [AnswerPage(*row) for row in rows], limit, page, lambda one: f"{one.page_id} {one.space_id}"
    )


class UnansweredQuestion(Struct, frozen=True):
    """Unanswered question. ``unanswered``: the number of times it was asked without an answer."""

    id: str
    text: str
    unanswered: int
    asked_at: int


def list_unanswered(tx: Transaction, site_id: str, since: int, limit: int) -> list[UnansweredQuestion]:
    """Return the relevant questions that were asked since a given time without results, most frequent first."""
    rows = tx.all(
        """SELECT q.id, q.text, count(*) AS unanswered, max(a.created_at)
           FROM site_question_answers a JOIN site_questions q ON q.id = a.question_id
           WHERE a.site_id = :site AND a.created_at >= :since AND a.answered = 'no' AND a.relevance = 'relevant'
           GROUP BY q.id, q.text ORDER BY unanswered DESC, q.id DESC LIMIT :limit""",
        site=site_id,
        since=since,
        limit=limit,
    )
    return [UnansweredQuestion(*row) for row in rows]


def list_by_id(tx: Transaction, question_ids: Sequence[str]) -> list[QuestionRow]:
    """Return these questions, if they still exist."""
    rows = tx.all(
        f"SELECT {_QUESTION} FROM site_questions q WHERE q.id IN :ids ORDER BY q.id", ids=list(question_ids)
    )
    return [_question(row) for row in rows]


# --- writing ----------------------------------------------------------------------------------------------


def find_by_wording(tx: Transaction, site_id: str, wording: str) -> str | None:
    """Return the ID of the question with a given wording."""
    found = tx.value(
        "SELECT question_id FROM site_question_wordings WHERE site_id = :site AND wording = :wording",
        site=site_id,
        wording=wording,
    )
    return str(found) if found is not None else None


def list_candidates(tx: Transaction, site_id: str, word: str, limit: int) -> list[str]:
    """Return the IDs of the latest questions that contain a word."""
    rows = tx.all(
        """SELECT question_id FROM site_question_words WHERE site_id = :site AND word = :word
           ORDER BY question_id DESC LIMIT :limit""",
        site=site_id,
        word=word,
        limit=limit,
    )
    return [row[0] for row in rows]


def read_words(tx: Transaction, question_ids: Sequence[str]) -> dict[str, set[str]]:
    """Return the significant words of questions, by ID."""
    found: dict[str, set[str]] = {}
    for question_id, word in tx.all(
        "SELECT question_id, word FROM site_question_words WHERE question_id IN :ids", ids=list(question_ids)
    ):
        found.setdefault(question_id, set()).add(word)
    return found


def read_best_pages(tx: Transaction, question_ids: Sequence[str]) -> dict[str, str]:
    """Return the main source page of each question's latest answer, by question."""
    rows = tx.all(
        """SELECT a.question_id, s.page_id FROM site_question_answers a
           JOIN site_question_sources s ON s.answer_id = a.id
           WHERE a.id IN (SELECT max(l.id) FROM site_question_answers l
                          WHERE l.question_id IN :ids GROUP BY l.question_id)
           ORDER BY s.weight, s.page_id DESC""",
        ids=list(question_ids),
    )
    return dict(rows)


def insert_question(
    tx: Transaction, question_id: str, site_id: str, text: str, type: QuestionType, words: Iterable[str]
) -> None:
    moment = now()
    tx.insert(
        "site_questions",
        id=question_id,
        site_id=site_id,
        text=text,
        type=type,
        created_at=moment,
        asked_at=moment,
    )
    tx.run_many(
        "INSERT INTO site_question_words (site_id, word, question_id) VALUES (:site, :word, :question)",
        [{"site": site_id, "word": word, "question": question_id} for word in sorted(words)],
    )


def put_wording(tx: Transaction, site_id: str, wording: str, question_id: str) -> None:
    tx.run(
        """INSERT INTO site_question_wordings (site_id, wording, question_id)
           VALUES (:site, :wording, :question) ON CONFLICT DO NOTHING""",
        site=site_id,
        wording=wording,
        question=question_id,
    )


def find_response(tx: Transaction, site_id: str, response_id: str) -> tuple[str, str] | None:
    """Return the ID of the answer with this response ID, and the ID of the answer's thread."""
    row = tx.one(
        "SELECT id, thread_id FROM site_question_answers WHERE site_id = :site AND response_id = :response",
        site=site_id,
        response=response_id,
    )
    return (row[0], row[1]) if row else None


def insert_answer(
    tx: Transaction, row: SiteAnswerRow, blocks: list[JsonObject], sources: Sequence[AnswerPage]
) -> None:
    """Insert an answer, and count it for its question."""
    values = {name: getattr(row, name) for name in row.__struct_fields__ if name not in _OF_QUESTION}
    tx.run(
        f"""INSERT INTO site_question_answers ({", ".join(values)}, response)
            VALUES ({", ".join(f":{name}" for name in values)}, :response)""",
        response=msgspec.json.encode(blocks).decode(),
        **values,
    )
    tx.run_many(
        """INSERT INTO site_question_sources (answer_id, space_id, page_id, revision_id, title, weight)
           VALUES (:answer, :space_id, :page_id, :revision_id, :title, :weight)""",
        [{"answer": row.id, **msgspec.structs.asdict(source)} for source in sources],
    )
    tx.run(
        """UPDATE site_questions SET answers = answers + 1, answered = answered + :answered,
             asked_at = CASE WHEN asked_at > :at THEN asked_at ELSE :at END WHERE id = :id""",
        id=row.question_id,
        answered=1 if row.answered == "yes" else 0,
        at=row.created_at,
    )


def rate_answer(tx: Transaction, site_id: str, response_id: str, rating: int) -> None:
    """Store a reader's rating of an answer. It replaces an earlier rating."""
    row = tx.one(
        f"""SELECT id, question_id, rating FROM site_question_answers
            WHERE site_id = :site AND response_id = :response{tx.for_update}""",
        site=site_id,
        response=response_id,
    )
    if row is None or row[2] == rating:
        return
    tx.run(
        "UPDATE site_question_answers SET rating = :rating, updated_at = :at WHERE id = :id",
        id=row[0],
        rating=rating,
        at=now(),
    )
    tx.run(
        "UPDATE site_questions SET rating = rating + :change WHERE id = :id",
        id=row[1],
        change=rating - (row[2] or 0),
    )


def delete_old(tx: Transaction, before: int, limit: int) -> int:
    """Delete at most ``limit`` answers given before a time, and questions that then have no answers. Return the
    number of deleted answers."""
    rows = tx.all(
        """SELECT id, question_id FROM site_question_answers WHERE created_at < :before
           ORDER BY created_at LIMIT :limit""",
        before=before,
        limit=limit,
    )
    _delete(tx, rows)
    return len(rows)


def delete_excess(tx: Transaction, site_id: str, most: int, limit: int) -> int:
    """Delete at most ``limit`` of a site's answers, but keep the latest ``most`` answers. Return the number of
    deleted answers."""
    oldest = tx.value(
        """SELECT id FROM site_question_answers WHERE site_id = :site
           ORDER BY id DESC LIMIT 1 OFFSET :most""",
        site=site_id,
        most=most,
    )
    if oldest is None:
        return 0
    rows = tx.all(
        """SELECT id, question_id FROM site_question_answers WHERE site_id = :site AND id <= :oldest
           ORDER BY id LIMIT :limit""",
        site=site_id,
        oldest=oldest,
        limit=limit,
    )
    _delete(tx, rows)
    return len(rows)


def list_sites_with_answers(tx: Transaction, more_than: int) -> list[str]:
    """Return the IDs of sites with more than ``more_than`` answers."""
    rows = tx.all(
        "SELECT site_id FROM site_question_answers GROUP BY site_id HAVING count(*) > :most", most=more_than
    )
    return [row[0] for row in rows]


def _delete(tx: Transaction, rows: Sequence[Row]) -> None:
    for start in range(0, len(rows), _BATCH):
        batch = rows[start : start + _BATCH]
        tx.run("DELETE FROM site_question_answers WHERE id IN :ids", ids=[row[0] for row in batch])
        questions = sorted({row[1] for row in batch})
        tx.run(
            """UPDATE site_questions SET
                 answers = (SELECT count(*) FROM site_question_answers a WHERE a.question_id = site_questions.id),
                 answered = (SELECT count(*) FROM site_question_answers a
                             WHERE a.question_id = site_questions.id AND a.answered = 'yes'),
                 rating = (SELECT coalesce(sum(a.rating), 0) FROM site_question_answers a
                           WHERE a.question_id = site_questions.id)
               WHERE id IN :ids""",
            ids=questions,
        )
        tx.run("DELETE FROM site_questions WHERE id IN :ids AND answers = 0", ids=questions)
