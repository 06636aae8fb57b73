"""Topics of a site's questions, which are significant words that questions have in common. No model is required."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from octavo.assistants.sources.store import list_topics_of_records, set_topics_of_records
from octavo.core.sentences import content_words, stems
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.ids import new_id
from octavo.kit.scheduling import deadlines
from octavo.kit.work import jobs
from octavo.organization.access.authorization import SiteAccess

from .filters import AnswerSight
from .matching import GENERAL_WORDS, words_of

_LEAST = 3
"""Minimum number of questions in a topic."""
_MOST = 30
"""Maximum number of topics per site."""
_COMMON, _MANY = 0.4, 20
"""Limits for common words. A word that occurs in more than this fraction of the questions, such as the product
name, is too common to be a topic. The second number is the minimum number of questions for this rule to apply."""
_SAMPLE = 50
"""Maximum number of questions to read when looking for the most common spelling of a word."""
_CHUNK = 500


class TopicRow(Struct, frozen=True):
    """Topic of a site. ``change_requests``: whether its findings can become change requests."""

    id: str
    site_id: str
    label: str
    change_requests: bool
    created_at: int
    updated_at: int


_TOPIC = "t.id, t.site_id, t.label, t.change_requests, t.created_at, t.updated_at"


def _topic(row: Sequence[object]) -> TopicRow:
    id, site_id, label, change_requests, created_at, updated_at = row
    return TopicRow(id, site_id, label, bool(change_requests), created_at, updated_at)  # type: ignore[arg-type]


def list_topics(tx: Transaction, site_id: str) -> list[TopicRow]:
    """Return the topics of a site, sorted by label. There are at most 30."""
    rows = tx.all(
        f"SELECT {_TOPIC} FROM site_topics t WHERE t.site_id = :site ORDER BY t.label", site=site_id
    )
    return [_topic(row) for row in rows]


def find_topic(tx: Transaction, site_id: str, topic_id: str) -> TopicRow | None:
    row = tx.one(
        f"SELECT {_TOPIC} FROM site_topics t WHERE t.site_id = :site AND t.id = :id",
        site=site_id,
        id=topic_id,
    )
    return _topic(row) if row else None


def set_change_requests(tx: Transaction, topic_id: str, allowed: bool) -> None:
    """Set whether findings of a topic can become change requests."""
    tx.run(
        "UPDATE site_topics SET change_requests = :allowed, updated_at = :at WHERE id = :id",
        id=topic_id,
        allowed=int(allowed),
        at=now(),
    )


def count_pages(tx: Transaction, site: SiteAccess) -> dict[str, int]:
    """Return the number of pages on which each topic's answers are based, by topic. Only answers that the caller
    can see are counted."""
    seen = AnswerSight.of(tx, site).condition
    return dict(
        tx.all(
            f"""SELECT q.topic_id, count(DISTINCT s.page_id) FROM site_questions q
                JOIN site_question_answers a ON a.question_id = q.id
                JOIN site_question_sources s ON s.answer_id = a.id
                WHERE q.site_id = :site AND q.topic_id IS NOT NULL{seen.sql} GROUP BY q.topic_id""",
            site=site.site_id,
            **seen.given,
        )
    )


# --- finding topics -----------------------------------------------------------------------------------------


def assign_topics(context: Context, site_id: str) -> None:
    """Find the topics of a site, and assign each question and record to the most frequent topic mentioned in it. Topics
    without questions are deleted."""
    with context.db.write() as tx:
        alive = tx.value(f"SELECT id FROM sites WHERE id = :site{tx.for_update}", site=site_id)
        frequent = _frequent_words(tx, site_id) if alive is not None else {}
        topics = _put_topics(tx, site_id, frequent)
        jobs.advance(tx)
    after: str | None = ""
    while after is not None:
        with context.db.write() as tx:
            after = _assign_chunk(tx, site_id, topics, frequent, after)
            jobs.advance(tx)
    _assign_records(context, site_id, topics, frequent)
    with context.db.write() as tx:
        tx.run(
            """DELETE FROM site_topics WHERE site_id = :site
               AND NOT EXISTS (SELECT 1 FROM site_questions q WHERE q.topic_id = site_topics.id)""",
            site=site_id,
        )
        jobs.advance(tx)


def _assign_records(
    context: Context, site_id: str, topics: Mapping[str, str], frequent: Mapping[str, int]
) -> None:
    """Assign each record of the site's sources to the most frequent topic mentioned in its title."""
    after = ""
    while True:
        with context.db.read() as tx:
            rows = list_topics_of_records(tx, site_id, after, _CHUNK)
        wanted = {record_id: topics.get(_best(words_of(title), frequent)) for record_id, title, _ in rows}
        changed = {record_id: wanted[record_id] for record_id, _, known in rows if wanted[record_id] != known}
        if changed:
            with context.db.write() as tx:
                set_topics_of_records(tx, changed)
                jobs.advance(tx)
        if len(rows) < _CHUNK:
            return
        after = rows[-1][0]
        deadlines.check()


def _best(words: Iterable[str], frequent: Mapping[str, int]) -> str:
    """Return the most frequent of these words; an empty string if none of them is frequent."""
    return max(
        (word for word in words if word in frequent), key=lambda word: (frequent[word], word), default=""
    )


def _frequent_words(tx: Transaction, site_id: str) -> dict[str, int]:
    """Return the words that enough questions have in common, each with the number of questions."""
    total = tx.value("SELECT count(*) FROM site_questions WHERE site_id = :site", site=site_id)
    rows = tx.all(
        """SELECT word, count(*) AS questions FROM site_question_words WHERE site_id = :site
           GROUP BY word HAVING count(*) >= :least ORDER BY questions DESC, word LIMIT :most""",
        site=site_id,
        least=_LEAST,
        most=_MOST + len(GENERAL_WORDS),
    )
    found = {
        word: questions
        for word, questions in rows
        if word not in GENERAL_WORDS and (total < _MANY or questions <= total * _COMMON)
    }
    return dict(list(found.items())[:_MOST])


def _put_topics(tx: Transaction, site_id: str, frequent: Mapping[str, int]) -> dict[str, str]:
    """Insert topics for new words, and return the IDs of the topics by word."""
    known = dict(tx.all("SELECT word, id FROM site_topics WHERE site_id = :site", site=site_id))
    for word in frequent:
        if word not in known:
            known[word] = new_id()
            moment = now()
            tx.insert(
                "site_topics",
                id=known[word],
                site_id=site_id,
                word=word,
                label=_label_of(tx, site_id, word),
                created_at=moment,
                updated_at=moment,
            )
    return {word: known[word] for word in frequent}


def _label_of(tx: Transaction, site_id: str, word: str) -> str:
    """Return a word in its most common spelling."""
    rows = tx.all(
        """SELECT q.text FROM site_question_words w JOIN site_questions q ON q.id = w.question_id
           WHERE w.site_id = :site AND w.word = :word ORDER BY q.id DESC LIMIT :limit""",
        site=site_id,
        word=word,
        limit=_SAMPLE,
    )
    forms: Counter[str] = Counter()
    for (text,) in rows:
        forms.update(
            form for stem, form in zip(stems(text), content_words(text), strict=True) if stem == word
        )
    form = max(forms, key=lambda form: (forms[form], form), default=word)
    return form[:1].upper() + form[1:]


def _assign_chunk(
    tx: Transaction, site_id: str, topics: Mapping[str, str], frequent: Mapping[str, int], after: str
) -> str | None:
    """Assign the questions that follow an ID to topics. Return the last ID of this batch; None at the end."""
    rows = tx.all(
        """SELECT id, topic_id FROM site_questions WHERE site_id = :site AND id > :after
           ORDER BY id LIMIT :limit""",
        site=site_id,
        after=after,
        limit=_CHUNK,
    )
    ids = [row[0] for row in rows]
    found: dict[str, list[str]] = {}
    if topics and ids:
        for question_id, word in tx.all(
            "SELECT question_id, word FROM site_question_words WHERE question_id IN :ids AND word IN :words",
            ids=ids,
            words=list(topics),
        ):
            found.setdefault(question_id, []).append(word)
    changed = []
    for question_id, topic_id in rows:
        wanted = topics.get(_best(found.get(question_id, ()), frequent))
        if wanted != topic_id:
            changed.append({"id": question_id, "topic": wanted})
    tx.run_many("UPDATE site_questions SET topic_id = :topic WHERE id = :id", changed)
    return ids[-1] if len(ids) == _CHUNK else None
