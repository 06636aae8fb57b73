"""The index in the database: FTS5 on SQLite, tsvector on PostgreSQL. The one other place that knows engines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from ..kit.db import Transaction
from .tokens import stem, words

_FIELDS = ("title", "heading", "body", "title_stems", "heading_stems", "stems")
_WEIGHTS = "0, 10, 5, 1, 10, 5, 1"
_OVER = 2
"""How many times more is taken from all spaces at first than is asked for of some."""


class SectionText(Struct, frozen=True):
    """One section of a page, as far as it stands under the same conditions; ``anchor`` None before the first
    heading."""

    anchor: str | None
    heading: str
    body: str
    conditions: tuple[str, ...] = ()


class Found(Struct, frozen=True):
    """A section that matched; ``score`` grows with how well. It is there for whom all of ``conditions`` hold."""

    id: int
    space_id: str
    page_id: str
    anchor: str | None
    heading: str
    titles: str
    score: float
    conditions: tuple[str, ...] = ()


def _found(row: Sequence[Any]) -> Found:
    conditions = msgspec.json.decode(row[-1], type=tuple[str, ...]) if row[-1] else ()
    return Found(*(*row[:-1], conditions))


def remove_pages(tx: Transaction, space_id: str, page_ids: Iterable[str]) -> None:
    lost: Counter[str] = Counter()
    for page_id in page_ids:
        known = tx.value(
            "SELECT words FROM search_pages WHERE space_id = :space AND page_id = :page",
            space=space_id,
            page=page_id,
        )
        if known is None:
            continue
        lost.update(msgspec.json.decode(known, type=list[str]))
        if tx.engine == "sqlite":
            tx.run(
                """DELETE FROM search_index WHERE rowid IN (
                     SELECT id FROM search_sections WHERE space_id = :space AND page_id = :page)""",
                space=space_id,
                page=page_id,
            )
        for table in ("search_sections", "search_pages"):
            tx.run(
                f"DELETE FROM {table} WHERE space_id = :space AND page_id = :page",
                space=space_id,
                page=page_id,
            )
    _count(tx, space_id, {word: -number for word, number in lost.items()})
    tx.run_many(
        "DELETE FROM search_words WHERE space_id = :space AND word = :word AND pages <= 0",
        [{"space": space_id, "word": word} for word in sorted(lost)],
    )


def add_page(
    tx: Transaction,
    space_id: str,
    page_id: str,
    titles: str,
    sections: Sequence[SectionText],
    *,
    computed: bool = False,
) -> set[str]:
    """Indexes a page that is not in the index; the different words it has (for ``count_words``).

    ``titles``: what it is called, a line for each title.
    """
    title_words = words(titles)
    # The empty word stands on every page: it counts them.
    every = {"", *title_words}
    for section in sections:
        heading_words, body_words = words(section.heading), words(section.body)
        every |= {*heading_words, *body_words}
        row = tx.one(
            """INSERT INTO search_sections (space_id, page_id, anchor, heading, body, conditions)
               VALUES (:space, :page, :anchor, :heading, :body, :conditions) RETURNING id""",
            space=space_id,
            page=page_id,
            anchor=section.anchor,
            heading=section.heading,
            body=section.body,
            conditions=msgspec.json.encode(section.conditions).decode() if section.conditions else None,
        )
        assert row is not None
        given: dict[str, Any] = {
            "id": row[0],
            "space": space_id,
            "title": " ".join(title_words),
            "heading": " ".join(heading_words),
            "body": " ".join(body_words),
            "title_stems": " ".join(map(stem, title_words)),
            "heading_stems": " ".join(map(stem, heading_words)),
            "stems": " ".join(map(stem, body_words)),
        }
        if tx.engine == "sqlite":
            tx.run(
                f"""INSERT INTO search_index (rowid, space, {", ".join(_FIELDS)})
                    VALUES (:id, :space, {", ".join(f":{field}" for field in _FIELDS)})""",
                **{**given, "space": f"s{space_id.lower()}"},
            )
        else:
            tx.run(
                f"""INSERT INTO search_index (section_id, space_id, words, stems) VALUES (:id, :space,
                      {_weighted("title", "heading", "body")},
                      {_weighted("title_stems", "heading_stems", "stems")})""",
                **given,
            )
    tx.run(
        """INSERT INTO search_pages (space_id, page_id, titles, words, computed)
           VALUES (:space, :page, :titles, :words, :computed)""",
        computed=int(computed),
        space=space_id,
        page=page_id,
        titles=titles,
        words=msgspec.json.encode(sorted(every)).decode(),
    )
    return every


def _weighted(title: str, heading: str, body: str) -> str:
    fields = ((title, "A"), (heading, "B"), (body, "D"))
    return " || ".join(f"setweight(to_tsvector('simple', :{field}), '{weight}')" for field, weight in fields)


def count_words(tx: Transaction, space_id: str, pages: Iterable[set[str]]) -> None:
    """Counts the words of pages that were added."""
    gained: Counter[str] = Counter()
    for every in pages:
        gained.update(every)
    _count(tx, space_id, gained)


def _count(tx: Transaction, space_id: str, changes: dict[str, int]) -> None:
    # In one order always, so that two writers never wait for each other in a circle.
    tx.run_many(
        """INSERT INTO search_words (space_id, word, pages) VALUES (:space, :word, :number)
           ON CONFLICT (space_id, word) DO UPDATE SET pages = search_words.pages + excluded.pages""",
        [{"space": space_id, "word": word, "number": number} for word, number in sorted(changes.items())],
    )


def list_computed(tx: Transaction, space_id: str) -> list[str]:
    """The ids of the computed pages that are indexed."""
    rows = tx.all("SELECT page_id FROM search_pages WHERE space_id = :space AND computed = 1", space=space_id)
    return [row[0] for row in rows]


def has_computed(tx: Transaction, space_id: str) -> bool:
    found = tx.one(
        "SELECT 1 FROM search_pages WHERE space_id = :space AND computed = 1 LIMIT 1", space=space_id
    )
    return found is not None


def clear(tx: Transaction, space_id: str) -> None:
    """Takes a space out of the index. What the sections have in it goes with them."""
    for table in ("search_sections", "search_pages", "search_words"):
        tx.run(f"DELETE FROM {table} WHERE space_id = :space", space=space_id)


class Indexed(Struct, frozen=True):
    """How many pages of a space are indexed, how many of them have sections, how many sections there are, how many
    of these are found; and of how many words the count is wrong."""

    pages: int
    pages_with_sections: int
    sections: int
    found: int
    wrong_words: int


def measure(tx: Transaction, space_id: str) -> Indexed:
    key = "rowid" if tx.engine == "sqlite" else "section_id"
    counted: dict[str, int] = dict(
        tx.all("SELECT word, pages FROM search_words WHERE space_id = :space", space=space_id)
    )
    pages = tx.all("SELECT words FROM search_pages WHERE space_id = :space", space=space_id)
    words = Counter(word for (known,) in pages for word in msgspec.json.decode(known, type=list[str]))
    row = tx.one(
        f"""SELECT count(DISTINCT s.page_id), count(*), count(i.{key}) FROM search_sections s
            LEFT JOIN search_index i ON i.{key} = s.id WHERE s.space_id = :space""",
        space=space_id,
    )
    assert row is not None
    with_sections, sections, found = row
    return Indexed(len(pages), with_sections, sections, found, len({*words.items()} ^ {*counted.items()}))


def copy_space(tx: Transaction, source_id: str, copy_id: str) -> None:
    """Indexes a copy of a space, from the index of the original."""
    given = {"source": source_id, "copy": copy_id}
    for table, columns in (
        ("search_pages", "page_id, titles, words, computed"),
        ("search_words", "word, pages"),
    ):
        tx.run(
            f"""INSERT INTO {table} (space_id, {columns})
                SELECT :copy, {columns} FROM {table} WHERE space_id = :source""",
            **given,
        )
    columns = "page_id, anchor, heading, body, conditions"
    if tx.engine == "sqlite":
        # There is one writer: the ids behind the last one are free.
        given["shift"] = tx.value(
            """SELECT (SELECT max(id) FROM search_sections) + 1 - min(id) FROM search_sections
               WHERE space_id = :source""",
            source=source_id,
        )
        tx.run(
            f"""INSERT INTO search_index (rowid, space, {", ".join(_FIELDS)})
               SELECT i.rowid + :shift, 's' || lower(:copy), {", ".join(f"i.{field}" for field in _FIELDS)}
               FROM search_sections s JOIN search_index i ON i.rowid = s.id WHERE s.space_id = :source""",
            **given,
        )
        tx.run(
            f"""INSERT INTO search_sections (id, space_id, {columns})
                SELECT id + :shift, :copy, {columns} FROM search_sections WHERE space_id = :source""",
            **given,
        )
    else:
        tx.run(
            f"""WITH fresh AS MATERIALIZED (
                  SELECT nextval(pg_get_serial_sequence('search_sections', 'id')) AS fresh_id, s.*
                  FROM search_sections s WHERE s.space_id = :source),
                copied AS (INSERT INTO search_sections (id, space_id, {columns})
                  SELECT fresh_id, :copy, {columns} FROM fresh)
                INSERT INTO search_index (section_id, space_id, words, stems)
                  SELECT f.fresh_id, :copy, i.words, i.stems FROM fresh f JOIN search_index i ON i.section_id = f.id""",
            **given,
        )


def pages_with(tx: Transaction, space_ids: Sequence[str], candidates: Iterable[str]) -> dict[str, int]:
    """On how many pages of these spaces each word stands, "" on all; words that stand nowhere are left out."""
    rows = tx.all(
        f"""SELECT w.word, sum(w.pages) FROM {tx.given("words", "word")} AS g
              CROSS JOIN search_words w  -- SQLite then looks up each word, and does not read the space for each
            WHERE w.word = g.word AND w.space_id IN :spaces GROUP BY w.word""",
        spaces=list(space_ids),
        words=msgspec.json.encode([[word] for word in sorted(set(candidates))]).decode(),
    )
    return {word: int(number) for word, number in rows}


class Term(Struct, frozen=True):
    """What must be matched: any of these words in a row (a phrase has several).

    ``prefix``: what was typed may go on. ``near``: words that may have been meant instead.
    """

    alternatives: tuple[tuple[str, ...], ...]
    prefix: bool = False
    near: tuple[str, ...] = ()

    @property
    def word(self) -> str | None:
        """The word, where it is no phrase."""
        return self.alternatives[0][0] if len(self.alternatives[0]) == 1 else None

    def every(self) -> tuple[tuple[str, ...], ...]:
        """What was typed, then what may have been meant."""
        return (*self.alternatives, *((word,) for word in self.near))


def match(
    tx: Transaction,
    space_ids: Sequence[str],
    terms: Sequence[Term],
    *,
    every: bool,
    stemmed: bool,
    limit: int,
) -> list[Found]:
    """Sections that match all terms (``every``) or any of them, best first."""
    if not terms or not space_ids:
        return []
    if tx.engine == "sqlite":
        return _match_sqlite(tx, space_ids, terms, every=every, stemmed=stemmed, limit=limit)
    return _match_postgres(tx, space_ids, terms, every=every, stemmed=stemmed, limit=limit)


def _shown(word: str, stemmed: bool) -> str:
    return stem(word) if stemmed else word


def _match_sqlite(
    tx: Transaction,
    space_ids: Sequence[str],
    terms: Sequence[Term],
    *,
    every: bool,
    stemmed: bool,
    limit: int,
) -> list[Found]:
    # A stem is cut already; what goes on behind it would be other words.
    goes_on = not (stemmed and every)

    def phrase(alternative: tuple[str, ...], prefix: bool) -> str:
        text = " ".join(_shown(word, stemmed) for word in alternative)
        return f'"{text}"' + ("*" if prefix and goes_on else "")

    parts = [
        "(" + " OR ".join(phrase(a, t.prefix and a in t.alternatives) for a in t.every()) + ")" for t in terms
    ]
    columns = "title_stems heading_stems stems" if stemmed else "title heading body"
    asked = f"({{{columns}}} : ({(' AND ' if every else ' OR ').join(parts)}))"

    def best(query: str, most: int) -> list[Found]:
        rows = tx.all(
            f"""SELECT s.id, s.space_id, s.page_id, s.anchor, s.heading, p.titles, -i.score, s.conditions
                FROM (SELECT rowid AS id, rank AS score FROM search_index
                      WHERE search_index MATCH :query AND rank MATCH 'bm25({_WEIGHTS})'
                      ORDER BY rank LIMIT :most) AS i
                  JOIN search_sections s ON s.id = i.id
                  JOIN search_pages p ON p.space_id = s.space_id AND p.page_id = s.page_id
                ORDER BY i.score, s.id""",
            query=query,
            most=most,
        )
        return [_found(row) for row in rows]

    # To rank, the engine counts the rows of every phrase: one for large spaces costs more than all others. It is
    # needed only where too much of what ranks high lies in other spaces.
    wanted = set(space_ids)
    everywhere = best(asked, limit * _OVER)
    found = [row for row in everywhere if row.space_id in wanted]
    if len(found) < limit and len(everywhere) == limit * _OVER:
        spaces = " OR ".join(f'"s{space_id.lower()}"' for space_id in space_ids)
        found = [
            row for row in best(f"({{space}} : ({spaces})) AND {asked}", limit) if row.space_id in wanted
        ]
    return found[:limit]


def _match_postgres(
    tx: Transaction,
    space_ids: Sequence[str],
    terms: Sequence[Term],
    *,
    every: bool,
    stemmed: bool,
    limit: int,
) -> list[Found]:
    goes_on = not (stemmed and every)

    def phrase(alternative: tuple[str, ...], prefix: bool) -> str:
        quoted = [
            "'" + _shown(w, stemmed).replace("'", "''").replace("\\", "\\\\") + "'" for w in alternative
        ]
        return "(" + " <-> ".join(quoted) + (":*" if prefix and goes_on else "") + ")"

    parts = [
        "(" + " | ".join(phrase(a, t.prefix and a in t.alternatives) for a in t.every()) + ")" for t in terms
    ]
    asked = (" & " if every else " | ").join(parts)
    column = "stems" if stemmed else "words"
    rows = tx.all(
        f"""SELECT s.id, s.space_id, s.page_id, s.anchor, s.heading, p.titles, m.score, s.conditions
            FROM (SELECT i.section_id, ts_rank_cd('{{0.1, 0.2, 0.5, 1.0}}', i.{column}, q.query, 1) AS score
                  FROM search_index i, (SELECT CAST(:query AS tsquery) AS query) AS q
                  WHERE i.space_id IN :spaces AND i.{column} @@ q.query
                  ORDER BY score DESC, i.section_id LIMIT :limit) AS m
              JOIN search_sections s ON s.id = m.section_id
              JOIN search_pages p ON p.space_id = s.space_id AND p.page_id = s.page_id
            ORDER BY m.score DESC, s.id""",
        query=asked,
        spaces=list(space_ids),
        limit=limit,
    )
    return [_found(row) for row in rows]


def read_bodies(tx: Transaction, section_ids: Sequence[int]) -> dict[int, str]:
    """The texts of sections, to quote from."""
    return dict(tx.all("SELECT id, body FROM search_sections WHERE id IN :ids", ids=list(section_ids)))


def words_beginning(
    tx: Transaction, space_ids: Sequence[str], prefix: str, limit: int = 20
) -> dict[str, int]:
    rows = tx.all(
        """SELECT word, sum(pages) FROM search_words
           WHERE space_id IN :spaces AND word >= :low AND word < :high GROUP BY word ORDER BY 2 DESC LIMIT :limit""",
        spaces=list(space_ids),
        low=prefix,
        high=prefix + "\U0010ffff",
        limit=limit,
    )
    return {word: int(number) for word, number in rows}
