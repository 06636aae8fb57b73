"""The index in the database: FTS5 on SQLite, tsvector on PostgreSQL. The one other place that knows engines.

Every word is indexed as ``KEY_word``, once with the key of its space and once with that of its organization: a look-up
reads what is there, and nothing of other spaces.
"""

from __future__ import annotations

import hashlib
from base64 import b32encode
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from ..content import current_version
from ..core.wording import stem
from ..kit.db import Transaction
from .tokens import words

_WEIGHTS = "10, 5, 1"
_FEW = 16
"""So many spaces are looked up one by one; more of them by their organizations."""
_SPACES_ASKED = 100
"""Of so many spaces of an organization, those with most of it, the pages with a word are counted."""
_BEGINNINGS = 400
_LAST_POSITION = 16_383
_COMPARED = 5000
"""Sections that match most of the terms, out of which those in the spaces that are searched are taken."""
_BATCH = 500
_COUNTS = f"(p.version = {current_version('p.space_id', 'p.page_id')})"
_SECTION_COUNTS = f"s.version = {current_version('s.space_id', 's.page_id')}"
"""Whether a row of ``search_pages p``, or of ``search_sections s``, is of the version that counts."""
_PAGE_OF_SECTION = "p.space_id = s.space_id AND p.page_id = s.page_id AND p.version = s.version"
_POSITIONS = 255
"""What PostgreSQL keeps of the places of one word in one text."""


class SectionText(Struct, frozen=True):
    """One section of a page, as far as it stands under the same conditions; ``anchor`` None before the first
    heading."""

    anchor: str | None
    heading: str
    body: str
    conditions: tuple[str, ...] = ()


class PageText(Struct, array_like=True):
    """A page as it is written to the index: the rows of its sections, and the different words it has. ``draws``: it
    has blocks that are drawn from something else."""

    page_id: str
    titles: str
    words: list[str]
    sections: list[dict[str, str | None]]
    draws: bool = False


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


@lru_cache(maxsize=20_000)
def _key(id: str) -> str:
    """What is before the words of a space or an organization. Should two have the same, results are told apart by
    the space."""
    return b32encode(hashlib.blake2b(id.encode(), digest_size=5).digest()).decode().lower()


# --- writing --------------------------------------------------------------------------------------------


def prepare_page(
    tx: Transaction, space_id: str, page_id: str, titles: str, sections: Sequence[SectionText], draws: bool
) -> PageText:
    """Cuts a page into words. ``titles``: what it is called, a line for each title."""
    organization_key = _organization_key(tx, space_id)
    title_words = words(titles)
    # The empty word is on every page: it counts them.
    every = {"", *title_words}
    title_stems = [*map(stem, title_words)]
    rows: list[dict[str, str | None]] = []
    for section in sections:
        heading_words, body_words = words(section.heading), words(section.body)
        every |= {*heading_words, *body_words}
        stems = (title_stems, [*map(stem, heading_words)], [*map(stem, body_words)])
        rows.append(
            {
                "space": space_id,
                "page": page_id,
                "anchor": section.anchor,
                "heading": section.heading,
                "body": section.body,
                "conditions": msgspec.json.encode(section.conditions).decode()
                if section.conditions
                else None,
                **_indexed(tx, (_key(space_id), organization_key), stems),
            }
        )
    return PageText(page_id, titles, sorted(every), rows, draws)


def _organization_key(tx: Transaction, space_id: str) -> str:
    return _key(tx.value("SELECT organization_id FROM spaces WHERE id = :id", id=space_id) or "")


def _indexed(
    tx: Transaction, keys: tuple[str, str], stems: tuple[list[str], list[str], list[str]]
) -> dict[str, str]:
    """What the engine indexes of a section."""
    if tx.engine == "sqlite":
        title, heading, body = map(" ".join, stems)
        return {
            "space_key": keys[0],
            "organization_key": keys[1],
            "title_stems": title,
            "heading_stems": heading,
            "stems": body,
        }
    places: dict[str, list[str]] = {}
    at = 0
    for weight, part in zip("ABD", stems, strict=True):
        for word in part:
            at += 1
            places.setdefault(word, []).append(f"{min(at, _LAST_POSITION)}{weight}")
        at += 1  # no phrase goes over from one to the next
    lexemes = [
        f"'{key}_{word}':{','.join(list(dict.fromkeys(found))[:_POSITIONS])}"
        for word, found in places.items()
        for key in keys
    ]
    return {"lexemes": " ".join(lexemes)}


_INSERT = {
    "sqlite": """INSERT INTO search_sections (space_id, page_id, version, anchor, heading, body, conditions, space_key,
                   organization_key, title_stems, heading_stems, stems)
                 VALUES (:space, :page, :version, :anchor, :heading, :body, :conditions, :space_key,
                   :organization_key, :title_stems, :heading_stems, :stems)""",
    "postgresql": """WITH made AS (INSERT INTO search_sections (space_id, page_id, version, anchor, heading, body, conditions)
                       VALUES (:space, :page, :version, :anchor, :heading, :body, :conditions) RETURNING id)
                     INSERT INTO search_index (section_id, words)
                       SELECT id, CAST(:lexemes AS tsvector) FROM made""",
}
"""On SQLite a trigger indexes the row."""


_OF_A_PAGE = "space_id = :space AND page_id = :page AND version = :version"


def count_sections(tx: Transaction, space_id: str, page_ids: Sequence[str]) -> int:
    """How many sections these pages have."""
    found = 0
    for start in range(0, len(page_ids), _BATCH):
        found += tx.value(
            "SELECT count(*) FROM search_sections WHERE space_id = :space AND page_id IN :pages",
            space=space_id,
            pages=page_ids[start : start + _BATCH],
        )
    return found


def remove_pages(tx: Transaction, space_id: str, versions: Iterable[tuple[str, int]]) -> Counter[str]:
    """Takes pages, each in a version, out of the index; the words they had, by the number of pages (for
    ``count_words``)."""
    lost: Counter[str] = Counter()
    gone = []
    for page_id, version in versions:
        given = {"space": space_id, "page": page_id, "version": version}
        known = tx.value(f"SELECT words FROM search_pages WHERE {_OF_A_PAGE}", **given)
        if known is not None:
            lost.update(msgspec.json.decode(known, type=list[str]))
            gone.append(given)
    for table in ("search_sections", "search_pages"):
        tx.run_many(f"DELETE FROM {table} WHERE {_OF_A_PAGE}", gone)
    return lost


def add_pages(
    tx: Transaction,
    space_id: str,
    pages: Iterable[PageText],
    versions: Mapping[str, int],
    *,
    computed: bool = False,
) -> Counter[str]:
    """Indexes pages that are not in the index, each under its version; the words they have, by the number of pages
    (for ``count_words``)."""
    gained: Counter[str] = Counter()

    def rows() -> Iterator[dict[str, str | int | None]]:
        for page in pages:
            version = versions[page.page_id]
            tx.run(
                """INSERT INTO search_pages (space_id, page_id, version, titles, words, computed, draws)
                   VALUES (:space, :page, :version, :titles, :words, :computed, :draws)""",
                computed=int(computed),
                draws=int(page.draws),
                version=version,
                space=space_id,
                page=page.page_id,
                titles=page.titles,
                words=msgspec.json.encode(page.words).decode(),
            )
            gained.update(page.words)
            yield from ({**section, "version": version} for section in page.sections)

    batch: list[dict[str, str | int | None]] = []
    for row in rows():
        batch.append(row)
        if len(batch) == 200:
            tx.run_many(_INSERT[tx.engine], batch)
            batch.clear()
    tx.run_many(_INSERT[tx.engine], batch)
    return gained


def count_words(tx: Transaction, space_id: str, gained: Counter[str], lost: Counter[str]) -> None:
    """Counts the words of pages that were added and removed: only where that makes a difference."""
    key = _organization_key(tx, space_id)
    changes = {word: gained[word] - lost[word] for word in sorted({*gained, *lost})}
    rows = [
        {"space": space_id, "word": word, "number": number, "key": key}
        for word, number in changes.items()
        if number
    ]
    # In one order always, so that two writers never wait for each other in a circle.
    tx.run_many(
        """INSERT INTO search_words (space_id, word, pages, organization_key)
           VALUES (:space, :word, :number, :key)
           ON CONFLICT (space_id, word) DO UPDATE
             SET pages = search_words.pages + excluded.pages, organization_key = excluded.organization_key""",
        rows,
    )
    tx.run_many(
        "DELETE FROM search_words WHERE space_id = :space AND word = :word AND pages <= 0",
        [{"space": row["space"], "word": row["word"]} for row in rows if changes[str(row["word"])] < 0],
    )


def find_wrong_counts(tx: Transaction, space_id: str) -> dict[str, int]:
    """By word, how many pages are too few in its count, or below 0 too many. Pages count in every version that they
    are written in."""
    wrong: Counter[str] = Counter()
    after = ("", -1)
    while rows := tx.all(
        """SELECT page_id, version, words FROM search_pages WHERE space_id = :space
             AND page_id >= :page AND (page_id > :page OR version > :version)
           ORDER BY page_id, version LIMIT :limit""",
        space=space_id,
        page=after[0],
        version=after[1],
        limit=_BATCH,
    ):
        for _, _, known in rows:
            wrong.update(msgspec.json.decode(known, type=list[str]))
        after = rows[-1][:2]
    for word, pages in tx.all("SELECT word, pages FROM search_words WHERE space_id = :space", space=space_id):
        wrong[word] -= pages
    return {word: number for word, number in wrong.items() if number}


def list_computed(tx: Transaction, space_id: str) -> list[str]:
    """The ids of the computed pages that are indexed."""
    rows = tx.all(
        f"SELECT p.page_id FROM search_pages p WHERE p.space_id = :space AND p.computed = 1 AND {_COUNTS}",
        space=space_id,
    )
    return [row[0] for row in rows]


def list_drawing(tx: Transaction, space_id: str) -> list[str]:
    """The ids of the ordinary pages that have blocks which are drawn from something else."""
    rows = tx.all(
        f"SELECT p.page_id FROM search_pages p WHERE p.space_id = :space AND p.draws = 1 AND {_COUNTS}",
        space=space_id,
    )
    return [row[0] for row in rows]


def list_spaces_drawing(tx: Transaction, organization_id: str) -> list[str]:
    """The spaces of an organization that have such pages."""
    rows = tx.all(
        """SELECT s.id FROM spaces s WHERE s.organization_id = :org AND s.deleted_at IS NULL
             AND EXISTS (SELECT 1 FROM search_pages p WHERE p.space_id = s.id AND p.draws = 1) ORDER BY s.id""",
        org=organization_id,
    )
    return [row[0] for row in rows]


def has_computed(tx: Transaction, space_id: str) -> bool:
    found = tx.one(
        f"SELECT 1 FROM search_pages p WHERE p.space_id = :space AND p.computed = 1 AND {_COUNTS} LIMIT 1",
        space=space_id,
    )
    return found is not None


def clear(tx: Transaction, space_id: str) -> None:
    """Takes a space out of the index. What the sections have in it goes with them."""
    for table in ("search_sections", "search_pages", "search_words"):
        tx.run(f"DELETE FROM {table} WHERE space_id = :space", space=space_id)


class Indexed(Struct, frozen=True):
    """How many pages of a space are indexed, how many of them have sections, how many sections there are, how many
    of these are found; and of how many words the count is wrong, which also counts pages in versions that are being
    written or removed."""

    pages: int
    pages_with_sections: int
    sections: int
    found: int
    wrong_words: int


def measure(tx: Transaction, space_id: str) -> Indexed:
    index = (
        "search_index_docsize i ON i.id = s.id"
        if tx.engine == "sqlite"
        else "search_index i ON i.section_id = s.id"
    )
    key = "id" if tx.engine == "sqlite" else "section_id"
    pages = tx.value(
        f"SELECT count(*) FROM search_pages p WHERE space_id = :space AND {_COUNTS}", space=space_id
    )
    row = tx.one(
        f"""SELECT count(DISTINCT s.page_id), count(*), count(i.{key}) FROM search_sections s
            LEFT JOIN {index} WHERE s.space_id = :space AND {_SECTION_COUNTS}""",
        space=space_id,
    )
    assert row is not None
    with_sections, sections, found = row
    return Indexed(pages, with_sections, sections, found, len(find_wrong_counts(tx, space_id)))


def copy_space(tx: Transaction, source_id: str, copy_id: str) -> None:
    """Indexes a copy of a space, from the index of the original."""
    given = {
        "source": source_id,
        "copy": copy_id,
        "key": _key(copy_id),
        "organization_key": _organization_key(tx, copy_id),
    }
    tx.run(
        f"""INSERT INTO search_pages (space_id, page_id, titles, words, computed, draws)
           SELECT :copy, page_id, titles, words, computed, draws FROM search_pages p
           WHERE space_id = :source AND {_COUNTS}""",
        source=source_id,
        copy=copy_id,
    )
    tx.run(
        """INSERT INTO search_words (space_id, word, pages, organization_key)
           SELECT :copy, word, pages, :organization_key FROM search_words WHERE space_id = :source""",
        source=source_id,
        copy=copy_id,
        organization_key=given["organization_key"],
    )
    others: Counter[str] = Counter()
    for (known,) in tx.all(
        f"SELECT words FROM search_pages p WHERE space_id = :source AND NOT {_COUNTS}", source=source_id
    ):
        others.update(msgspec.json.decode(known, type=list[str]))
    count_words(tx, copy_id, Counter(), others)
    columns = "page_id, anchor, heading, body, conditions"
    if tx.engine == "sqlite":
        stems = "title_stems, heading_stems, stems"
        tx.run(
            f"""INSERT INTO search_sections (space_id, {columns}, space_key, organization_key, {stems})
                SELECT :copy, {columns}, :key, :organization_key, {stems}
                FROM search_sections s WHERE space_id = :source AND {_SECTION_COUNTS} ORDER BY id""",
            **given,
        )
        return
    tx.run(
        f"""WITH fresh AS MATERIALIZED (
              SELECT nextval(pg_get_serial_sequence('search_sections', 'id')) AS fresh_id, s.*
              FROM search_sections s WHERE s.space_id = :source AND {_SECTION_COUNTS}),
            copied AS (INSERT INTO search_sections (id, space_id, {columns})
              SELECT fresh_id, :copy, {columns} FROM fresh)
            INSERT INTO search_index (section_id, words)
              SELECT f.fresh_id, CAST(replace(replace(CAST(i.words AS text),
                  '''' || CAST(:source_key AS text) || '_', '''' || CAST(:key AS text) || '_'),
                  '''' || CAST(:source_organization_key AS text) || '_',
                  '''' || CAST(:organization_key AS text) || '_') AS tsvector)
              FROM fresh f JOIN search_index i ON i.section_id = f.id""",
        **given,
        source_key=_key(source_id),
        source_organization_key=_organization_key(tx, source_id),
    )


# --- asking ---------------------------------------------------------------------------------------------


class Scope(Struct, frozen=True):
    """Spaces that are searched together. ``keys`` are theirs, or where they are many those of their organizations."""

    space_ids: frozenset[str]
    keys: tuple[str, ...]
    by_organization: bool


def open_scope(tx: Transaction, space_ids: Sequence[str]) -> Scope:
    ids = frozenset(space_ids)
    if len(ids) <= _FEW:
        return Scope(ids, tuple(_key(id) for id in sorted(ids)), False)
    rows = tx.all(
        f"""SELECT DISTINCT s.organization_id FROM {tx.given("ids", "id")} AS g
            CROSS JOIN spaces s WHERE s.id = g.id""",
        ids=_column(ids),
    )
    return Scope(ids, tuple(sorted(_key(row[0]) for row in rows)), True)


def _column(values: Iterable[str]) -> str:
    return msgspec.json.encode([[value] for value in sorted(values)]).decode()


def pages_with(tx: Transaction, scope: Scope, candidates: Iterable[str]) -> dict[str, int]:
    """On how many pages of these spaces each word is, "" on all; words that are nowhere are left out.

    Of many spaces, only the pages of those with most of them are counted.
    """
    given = _column(set(candidates))
    if scope.by_organization:
        found: Counter[str] = Counter()
        for key in scope.keys:
            rows = tx.all(
                f"""SELECT g.word, (SELECT sum(w.pages) FROM (
                        SELECT pages FROM search_words WHERE organization_key = :key AND word = g.word
                        ORDER BY pages DESC LIMIT {_SPACES_ASKED}) AS w)
                    FROM {tx.given("words", "word")} AS g""",
                key=key,
                words=given,
            )
            found.update({word: int(number) for word, number in rows if number})
        return dict(found)
    rows = tx.all(
        f"""SELECT w.word, sum(w.pages) FROM {tx.given("words", "word")} AS g
              CROSS JOIN search_words w  -- SQLite then looks up each word, and does not read the space for each
            WHERE w.word = g.word AND w.space_id IN :spaces GROUP BY w.word""",
        spaces=sorted(scope.space_ids),
        words=given,
    )
    return {word: int(number) for word, number in rows}


def words_beginning(tx: Transaction, scope: Scope, prefix: str, limit: int = 20) -> dict[str, int]:
    """Words that begin so, with the number of pages; of very many the first are looked at."""
    column = "organization_key" if scope.by_organization else "space_id"
    rows = [
        row
        for key in (scope.keys if scope.by_organization else sorted(scope.space_ids))
        for row in tx.all(
            f"""SELECT word, pages FROM search_words
                WHERE {column} = :key AND word >= :low AND word < :high ORDER BY word LIMIT {_BEGINNINGS}""",
            key=key,
            low=prefix,
            high=prefix + "\U0010ffff",
        )
    ]
    found: Counter[str] = Counter()
    for word, pages in rows:
        found[word] += pages
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0]))[:limit])


class Term(Struct, frozen=True):
    """What must be matched: any of these words in a row (a phrase has several).

    ``prefix``: what was typed may go on; ``begun``: stems of words that begin so, and no longer look like it.
    ``near``: words that may have been meant instead. ``quoted``: a phrase that was asked for as one.
    """

    alternatives: tuple[tuple[str, ...], ...]
    prefix: bool = False
    begun: tuple[str, ...] = ()
    near: tuple[str, ...] = ()
    quoted: bool = False

    @property
    def word(self) -> str | None:
        """The word, where it is no phrase."""
        return self.alternatives[0][0] if len(self.alternatives[0]) == 1 else None

    def every(self) -> tuple[tuple[str, ...], ...]:
        """What was typed, then what may have been meant."""
        return (*self.alternatives, *((word,) for word in self.near))


class _Phrase(Struct, frozen=True):
    """Stems in a row; ``prefix``: the last of them may go on."""

    stems: tuple[str, ...]
    prefix: bool = False


def _phrases(term: Term) -> list[_Phrase]:
    found = [_Phrase(tuple(map(stem, words))) for words in term.every()]
    if term.prefix:
        # Not the stem goes on, but what was typed: what goes on behind a stem would be other words.
        found += [_Phrase((*map(stem, words[:-1]), words[-1]), True) for words in term.alternatives]
        found += [_Phrase((begun,)) for begun in term.begun]
    return list(dict.fromkeys(found))


def match(
    tx: Transaction,
    scope: Scope,
    terms: Sequence[Term],
    *,
    every: bool,
    heads: bool = False,
    after: int = 0,
    limit: int,
) -> list[Found]:
    """Sections behind ``after`` that match all terms (``every``) or any of them, in the order of their ids.

    ``heads``: only where titles and headings do.
    """
    if not terms or not scope.space_ids:
        return []
    asked = _asked(tx, scope, terms, every, heads)
    spaces = "AND s.space_id IN (SELECT id FROM g)" if scope.by_organization else ""
    given = f"WITH g AS MATERIALIZED (SELECT id FROM {tx.given('ids', 'id')} AS i)"
    parameters: dict[str, Any] = {"query": asked, "after": after, "limit": limit}
    parameters["ids"] = _column(scope.space_ids if spaces else ())
    if tx.engine == "sqlite":
        rows = tx.all(
            f"""{given}
                SELECT s.id, s.space_id, s.page_id, s.anchor, s.heading, p.titles,
                  -bm25(search_index, {_WEIGHTS}), s.conditions
                FROM search_index
                  CROSS JOIN search_sections s ON s.id = search_index.rowid
                  CROSS JOIN search_pages p ON {_PAGE_OF_SECTION}
                WHERE search_index MATCH :query AND search_index.rowid > :after {spaces} AND {_SECTION_COUNTS}
                ORDER BY search_index.rowid LIMIT :limit""",
            **parameters,
        )
    else:
        # Section by section: with its guess of how many match, the planner would rather read the tables whole.
        rows = tx.all(
            f"""{given},
                hits AS MATERIALIZED (
                  SELECT section_id AS id FROM search_index
                  WHERE words @@ CAST(:query AS tsquery) AND section_id > :after)
                SELECT found.* FROM (SELECT id FROM hits ORDER BY id) AS h CROSS JOIN LATERAL (
                  SELECT s.id, s.space_id, s.page_id, s.anchor, s.heading, p.titles,
                    ts_rank_cd('{{0.1, 0.2, 0.5, 1.0}}', i.words, CAST(:query AS tsquery), 1), s.conditions
                  FROM search_sections s JOIN search_index i ON i.section_id = s.id
                    JOIN search_pages p ON {_PAGE_OF_SECTION}
                  WHERE s.id = h.id AND {_SECTION_COUNTS} {spaces} OFFSET 0) AS found
                ORDER BY h.id LIMIT :limit""",
            **parameters,
        )
    return [_found(row) for row in rows if row[1] in scope.space_ids]


def match_most(
    tx: Transaction, scope: Scope, terms: Sequence[tuple[Term, int]], *, limit: int
) -> list[Found]:
    """Sections that match at least two of the terms, those first whose terms weigh most together: that is the
    score."""
    if not terms or not scope.space_ids:
        return []
    parameters: dict[str, Any] = {"ids": _column(scope.space_ids), "limit": limit}
    matches = []
    for at, (term, weight) in enumerate(terms):
        parameters[f"query{at}"] = _asked(tx, scope, [term], False, False)
        parameters[f"weight{at}"] = weight
        matches.append(
            f"SELECT rowid AS id, CAST(:weight{at} AS INTEGER) AS weight FROM search_index"
            f" WHERE search_index MATCH :query{at}"
            if tx.engine == "sqlite"
            else f"SELECT section_id AS id, CAST(:weight{at} AS INTEGER) AS weight FROM search_index"
            f" WHERE words @@ CAST(:query{at} AS tsquery)"
        )
    given = f"""WITH g AS MATERIALIZED (SELECT id FROM {tx.given("ids", "id")} AS i),
          best AS MATERIALIZED (SELECT id, sum(weight) AS worth FROM ({" UNION ALL ".join(matches)}) AS m
            GROUP BY id HAVING count(*) > 1 ORDER BY worth DESC, id LIMIT {_COMPARED})"""
    columns = "s.id, s.space_id, s.page_id, s.anchor, s.heading, p.titles, b.worth, s.conditions"
    counts = f"s.space_id IN (SELECT id FROM g) AND {_SECTION_COUNTS}"
    if tx.engine == "sqlite":
        rows = tx.all(
            f"""{given}
                SELECT {columns} FROM best b CROSS JOIN search_sections s ON s.id = b.id
                  CROSS JOIN search_pages p ON {_PAGE_OF_SECTION}
                WHERE {counts} ORDER BY b.worth DESC, s.id LIMIT :limit""",
            **parameters,
        )
    else:
        rows = tx.all(
            f"""{given}
                SELECT found.* FROM best b CROSS JOIN LATERAL (
                  SELECT {columns} FROM search_sections s JOIN search_pages p ON {_PAGE_OF_SECTION}
                  WHERE s.id = b.id AND {counts} OFFSET 0) AS found
                ORDER BY b.worth DESC, b.id LIMIT :limit""",
            **parameters,
        )
    return [_found(row) for row in rows]


def count_matches(
    tx: Transaction, scope: Scope, terms: Sequence[Term], *, every: bool, by_space: bool, most: int
) -> int:
    """How many pages match, or spaces with such pages; ``most`` where these are as many or more."""
    asked = _asked(tx, scope, terms, every, False)
    different = "s.space_id" if by_space else "s.space_id, s.page_id"
    source = (
        "search_index CROSS JOIN search_sections s ON s.id = search_index.rowid WHERE search_index MATCH :query"
        if tx.engine == "sqlite"
        else "search_index i JOIN search_sections s ON s.id = i.section_id"
        " WHERE i.words @@ CAST(:query AS tsquery)"
    )
    return int(
        tx.value(
            f"""WITH g AS MATERIALIZED (SELECT id FROM {tx.given("ids", "id")} AS i)
                SELECT count(*) FROM (SELECT DISTINCT {different} FROM {source}
                  AND s.space_id IN (SELECT id FROM g) AND {_SECTION_COUNTS} LIMIT :most) AS found""",
            query=asked,
            ids=_column(scope.space_ids),
            most=most,
        )
    )


def _asked(tx: Transaction, scope: Scope, terms: Sequence[Term], every: bool, heads: bool) -> str:
    """The query in the engine's own words."""
    show = _sqlite_phrase if tx.engine == "sqlite" else _postgres_phrase
    either, both = (" OR ", " AND ") if tx.engine == "sqlite" else (" | ", " & ")
    parts = [
        "(" + either.join(show(key, phrase, heads) for key in scope.keys for phrase in _phrases(term)) + ")"
        for term in terms
    ]
    asked = (both if every else either).join(parts)
    return f"{{title heading}} : ({asked})" if heads and tx.engine == "sqlite" else asked


def _sqlite_phrase(key: str, phrase: _Phrase, heads: bool) -> str:
    text = " ".join(f"{key}_{word}" for word in phrase.stems)
    return f'"{text}"' + ("*" if phrase.prefix else "")


def _postgres_phrase(key: str, phrase: _Phrase, heads: bool) -> str:
    where = "AB" if heads else ""
    last = len(phrase.stems) - 1
    quoted = []
    for n, word in enumerate(phrase.stems):
        text = f"{key}_{word}".replace("\\", "\\\\").replace("'", "''")
        flags = ("*" if phrase.prefix and n == last else "") + where
        quoted.append(f"'{text}'" + (f":{flags}" if flags else ""))
    return "(" + " <-> ".join(quoted) + ")"


def read_bodies(tx: Transaction, section_ids: Sequence[int]) -> dict[int, str]:
    """The texts of sections, to quote from."""
    return dict(tx.all("SELECT id, body FROM search_sections WHERE id IN :ids", ids=list(section_ids)))
