"""Search index in the database, which uses FTS5 on SQLite and tsvector on PostgreSQL. Apart from ``kit``,
this is the only module that depends on the database engine.

Every word is indexed as ``KEY_word``, once with the key of its space and once with the key of its organization, so that
a lookup never reads entries of other spaces. Words of titles and headings are also indexed as ``hKEY_word``, so that
they can be found without reading the text of sections.
"""

from __future__ import annotations

import hashlib
import itertools
from base64 import b32encode
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from octavo.content.revisions.versions import current_version
from octavo.core.sentences import stem
from octavo.kit.db.database import Live, Transaction, json_list

from .tokens import words

_WEIGHTS = "10, 5, 1"
_HEADS = "h"
"""Prefix of the key for words in titles and headings."""
FEW = 16
"""Maximum number of spaces to look up individually. If there are more, they are looked up by organization."""
_SPACES_COUNTED = 1001
"""Maximum number of spaces of an organization in which to count pages with a word: the spaces with the most such
pages."""
_SPACES_BEGUN = 100
"""Number of spaces whose pages are counted for each completion of a prefix."""
_BEGINNINGS = 400
_BEGINNINGS_OF_MANY = 100
_BEGINNING_OF_MANY = f"""WITH RECURSIVE b(word) AS (
    SELECT min(word) FROM search_words WHERE organization_key = :key AND word >= :low AND word < :high
    UNION ALL SELECT (SELECT min(w.word) FROM search_words w
        WHERE w.organization_key = :key AND w.word > b.word AND w.word < :high)
      FROM b WHERE b.word IS NOT NULL)
  SELECT b.word, (SELECT sum(w.pages) FROM (SELECT pages FROM search_words
      WHERE organization_key = :key AND word = b.word ORDER BY pages DESC LIMIT {_SPACES_BEGUN}) AS w),
    (SELECT count(*) FROM (SELECT 1 FROM search_words
      WHERE organization_key = :key AND word = b.word LIMIT {_SPACES_BEGUN}) AS w)
    FROM b WHERE b.word IS NOT NULL LIMIT :most"""
"""Query that jumps from one distinct word to the next. Its cost doesn't depend on the number of spaces that contain a
word."""
_LISTED = 64
"""Number of spaces of an organization that are read at a time."""
_LAST_POSITION = 16_383
_COMPARED = 5000
"""Maximum number of sections to read for each term, and to compare, before sections outside the searched spaces are
dropped."""
_WALKED = 20
"""Number of sections that PostgreSQL reads in order for each requested section before other queries get a turn."""
_BATCH = 500
_MAX_WORDS = 10_000
"""Maximum number of different words of a page to count, about as many as in a novel. Pages with more words usually
contain data tables."""
_COUNTS = f"(p.version = {current_version('p.space_id', 'p.page_id')})"
_SECTION_COUNTS = f"s.version = {current_version('s.space_id', 's.page_id')}"
"""Condition for rows of ``search_pages p``, or ``search_sections s``, of the current version."""
_PAGE_OF_SECTION = "p.space_id = s.space_id AND p.page_id = s.page_id AND p.version = s.version"
_POSITIONS = 255
"""Maximum number of positions that PostgreSQL stores per word and text."""


class SectionText(Struct, frozen=True):
    """Section of a page, or a part of a section whose content has the same conditions. ``anchor``: the
    anchor; None before the first heading. ``names``: the identifiers that the section describes."""

    anchor: str | None
    heading: str
    body: str
    conditions: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def heads(self) -> str:
        """Return the heading and the names in their stored form, one per line."""
        return "\n".join((" ".join(self.heading.split()), *self.names))


class SourceHashes(Struct, frozen=True):
    """Hashes of a derived page. ``of``: the hash of all its sources. ``text``: the hash of the resulting text. Both are
    None if an older version of Octavo indexed the page."""

    of: str | None
    text: str | None


class IndexedPage(Struct, array_like=True):
    """Page in the form that is written to the index: its sections as rows, and its different words. ``draws``: whether
    the page has blocks rendered from other data. ``made``: the hashes of a derived page."""

    page_id: str
    titles: str
    words: list[str]
    sections: list[dict[str, str | None]]
    draws: bool = False
    made: SourceHashes | None = None


class SectionMatch(Struct, frozen=True):
    """Matching section. ``score``: its score; higher is better. The section is visible only if all
    ``conditions`` are met."""

    id: int
    space_id: str
    page_id: str
    anchor: str | None
    heading: str
    titles: str
    score: float
    conditions: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


def _read_conditions(stored: str | None) -> tuple[str, ...]:
    return msgspec.json.decode(stored, type=tuple[str, ...]) if stored else ()


def _found_section(row: Sequence[Any]) -> SectionMatch:
    id, space_id, page_id, anchor, heads, titles, score, stored = row
    heading, *names = heads.split("\n")
    conditions = _read_conditions(stored)
    return SectionMatch(id, space_id, page_id, anchor, heading, titles, score, conditions, tuple(names))


@lru_cache(maxsize=20_000)
def _key(id: str) -> str:
    """Return the prefix for the words of a space or organization. If two of them share a prefix, results are filtered
    by space."""
    return b32encode(hashlib.blake2b(id.encode(), digest_size=5).digest()).decode().lower()


# --- writing --------------------------------------------------------------------------------------------


def prepare_page(
    tx: Transaction,
    space_id: str,
    page_id: str,
    titles: str,
    sections: Sequence[SectionText],
    draws: bool,
    made: SourceHashes | None = None,
) -> IndexedPage:
    """Split a page into words. ``titles``: its titles, one per line."""
    organization_key = _organization_key(tx, space_id)
    title_words = words(titles)
    # The empty word is on every page, so its count is the number of pages.
    every = {"", *title_words}
    title_stems = [*map(stem, title_words)]
    rows: list[dict[str, str | None]] = []
    for section in sections:
        heading_words, body_words = words(section.heads), words(section.body)
        new = (word for word in itertools.chain(heading_words, body_words) if word not in every)
        every.update(itertools.islice(new, max(0, _MAX_WORDS - len(every))))
        stems = (title_stems, [*map(stem, heading_words)], [*map(stem, body_words)])
        rows.append(
            {
                "space": space_id,
                "page": page_id,
                "anchor": section.anchor,
                "heading": section.heads,
                "body": section.body,
                "conditions": msgspec.json.encode(section.conditions).decode()
                if section.conditions
                else None,
                **_indexed(tx, (_key(space_id), organization_key), stems),
            }
        )
    return IndexedPage(page_id, titles, sorted(every), rows, draws, made)


def _organization_key(tx: Transaction, space_id: str) -> str:
    return _key(tx.value("SELECT organization_id FROM spaces WHERE id = :id", id=space_id) or "")


def _indexed(
    tx: Transaction, keys: tuple[str, str], stems: tuple[list[str], list[str], list[str]]
) -> dict[str, str]:
    """Return the parts of a section that the engine indexes."""
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
        at += 1  # No phrase spans two texts.
    lexemes = []
    for word, found in places.items():
        heads = [place for place in found if not place.endswith("D")]
        for prefix, some in (("", found), (_HEADS, heads)):
            at_places = ",".join(list(dict.fromkeys(some))[:_POSITIONS])
            lexemes += [f"'{prefix}{key}_{word}':{at_places}" for key in keys if some]
    return {"lexemes": " ".join(lexemes)}


_INSERT = {
    "sqlite": """INSERT INTO search_sections (space_id, page_id, version, anchor, heading, body, conditions, space_key,
                   organization_key, title_stems, heading_stems, stems)
                 VALUES (:space, :page, :version, :anchor, :heading, :body, :conditions, :space_key,
                   :organization_key, :title_stems, :heading_stems, :stems)""",
    "postgresql": """WITH made AS (INSERT INTO search_sections (space_id, page_id, version, anchor,
        heading, body, conditions)
                       VALUES (:space, :page, :version, :anchor, :heading, :body, :conditions) RETURNING id)
                     INSERT INTO search_index (section_id, words)
                       SELECT id, CAST(:lexemes AS tsvector) FROM made""",
}
"""Statements that insert a section, by engine. On SQLite, a trigger indexes the row."""


_IS_PAGE_VERSION = "space_id = :space AND page_id = :page AND version = :version"


def count_sections(tx: Transaction, space_id: str, page_ids: Sequence[str]) -> int:
    """Return the number of sections of these pages."""
    found = 0
    for start in range(0, len(page_ids), _BATCH):
        found += tx.value(
            "SELECT count(*) FROM search_sections WHERE space_id = :space AND page_id IN :pages",
            space=space_id,
            pages=page_ids[start : start + _BATCH],
        )
    return found


def remove_pages(tx: Transaction, space_id: str, versions: Iterable[tuple[str, int]]) -> Counter[str]:
    """Remove the given versions of pages from the index. Return the number of removed pages that contain each word, for
    ``count_words``."""
    lost: Counter[str] = Counter()
    gone = []
    for page_id, version in versions:
        given = {"space": space_id, "page": page_id, "version": version}
        known = tx.value(f"SELECT words FROM search_pages WHERE {_IS_PAGE_VERSION}", **given)
        if known is not None:
            lost.update(msgspec.json.decode(known, type=list[str]))
        gone.append(given)
    for table in ("search_sections", "search_pages"):
        tx.run_many(f"DELETE FROM {table} WHERE {_IS_PAGE_VERSION}", gone)
    return lost


def add_pages(
    tx: Transaction,
    space_id: str,
    pages: Iterable[IndexedPage],
    versions: Mapping[str, int],
    *,
    computed: bool = False,
) -> Counter[str]:
    """Index pages that aren't in the index, each under its version. Return the number of added pages that contain each
    word, for ``count_words``."""
    gained: Counter[str] = Counter()

    def rows() -> Iterator[dict[str, str | int | None]]:
        for page in pages:
            version = versions[page.page_id]
            tx.run(
                """INSERT INTO search_pages (space_id, page_id, version, titles, words, computed, draws,
                   made_of, made_text)
                   VALUES (:space, :page, :version, :titles, :words, :computed, :draws, :made_of, :made_text)""",
                computed=int(computed),
                made_of=page.made.of if page.made else None,
                made_text=page.made.text if page.made else None,
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
    """Update the page count of each word whose count changes when pages are added or removed."""
    key = _organization_key(tx, space_id)
    changes = {word: gained[word] - lost[word] for word in sorted({*gained, *lost})}
    rows = [
        {"space": space_id, "word": word, "number": number, "key": key}
        for word, number in changes.items()
        if number
    ]
    # The order is always the same, so that two writers can't deadlock.
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
    """Return the number of pages missing from each word's count; negative if the count is too high. Every stored
    version of a page counts."""
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


def list_source_hashes(
    tx: Transaction, space_id: str, page_ids: Collection[str] | None = None
) -> dict[str, tuple[bool, SourceHashes]]:
    """For each indexed derived page, return whether it is a computed page, and its hashes. ``page_ids``:
    the IDs of the pages; by default, all of them."""
    rows = tx.all(
        f"""SELECT p.page_id, p.computed, p.made_of, p.made_text FROM search_pages p
            WHERE p.space_id = :space AND (p.computed = 1 OR p.draws = 1)
              {"AND p.page_id IN :pages" if page_ids is not None else ""} AND {_COUNTS}""",
        space=space_id,
        pages=list(page_ids or ()),
    )
    return {page_id: (bool(computed), SourceHashes(of, text)) for page_id, computed, of, text in rows}


def update_source_hashes(
    tx: Transaction, space_id: str, made: Mapping[str, SourceHashes], versions: Mapping[str, int]
) -> None:
    """Store the hashes of pages whose sources changed but whose text didn't."""
    tx.run_many(
        f"UPDATE search_pages SET made_of = :made_of WHERE {_IS_PAGE_VERSION}",
        [
            {"space": space_id, "page": page_id, "version": versions[page_id], "made_of": one.of}
            for page_id, one in made.items()
        ],
    )


def list_computed(tx: Transaction, space_id: str) -> list[str]:
    """Return the IDs of indexed computed pages."""
    rows = tx.all(
        f"SELECT p.page_id FROM search_pages p WHERE p.space_id = :space AND p.computed = 1 AND {_COUNTS}",
        space=space_id,
    )
    return [row[0] for row in rows]


def list_indexed(tx: Transaction, space_id: str, page_ids: Collection[str]) -> set[str]:
    """Return the given pages that are indexed with their own text."""
    found: set[str] = set()
    wanted = list(page_ids)
    for start in range(0, len(wanted), _BATCH):
        rows = tx.all(
            f"""SELECT p.page_id FROM search_pages p
                WHERE p.space_id = :space AND p.page_id IN :pages AND p.computed = 0 AND {_COUNTS}""",
            space=space_id,
            pages=wanted[start : start + _BATCH],
        )
        found.update(row[0] for row in rows)
    return found


def mark_waiting(tx: Transaction, space_id: str, versions: Iterable[tuple[str, int]]) -> None:
    """Mark pages, each in its current version, as waiting to be indexed."""
    tx.run_many(
        f"UPDATE search_pages SET waits = 1 WHERE {_IS_PAGE_VERSION}",
        [{"space": space_id, "page": page_id, "version": version} for page_id, version in versions],
    )


def find_waiting(tx: Transaction, page_ids: Collection[str]) -> set[tuple[str, str]]:
    """Return the given pages that are waiting to be indexed, as pairs of a space ID and a page ID."""
    if not page_ids:
        return set()
    rows = tx.all(
        f"""SELECT p.space_id, p.page_id FROM search_pages p
            WHERE p.page_id IN :pages AND p.waits = 1 AND {_COUNTS}""",
        pages=list(page_ids),
    )
    return {(space_id, page_id) for space_id, page_id in rows}


def list_waiting(tx: Transaction, space_id: str) -> list[str]:
    """Return the IDs of pages that are waiting to be indexed."""
    rows = tx.all(
        f"""SELECT p.page_id FROM search_pages p WHERE p.space_id = :space AND p.waits = 1 AND {_COUNTS}
            ORDER BY p.page_id""",
        space=space_id,
    )
    return [row[0] for row in rows]


def list_drawing(tx: Transaction, space_id: str) -> list[str]:
    """Return the IDs of ordinary pages with blocks rendered from other data."""
    rows = tx.all(
        f"SELECT p.page_id FROM search_pages p WHERE p.space_id = :space AND p.draws = 1 AND {_COUNTS}",
        space=space_id,
    )
    return [row[0] for row in rows]


def list_spaces_drawing(tx: Transaction, organization_id: str) -> list[str]:
    """Return the spaces of an organization that have pages with rendered blocks."""
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


class IndexCounts(Struct, frozen=True):
    """Counts of a space's index: indexed pages, pages with sections, sections, indexed sections, and words
    with a wrong count. The words include pages in versions that are being written or removed."""

    pages: int
    pages_with_sections: int
    sections: int
    found: int
    wrong_words: int


def measure(tx: Transaction, space_id: str) -> IndexCounts:
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
    return IndexCounts(pages, with_sections, sections, found, len(find_wrong_counts(tx, space_id)))


def copy_space(tx: Transaction, source_id: str, copy_id: str) -> None:
    """Index a duplicated space by copying the index of the original."""
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
        Live(f"""WITH fresh AS MATERIALIZED (
              SELECT nextval(pg_get_serial_sequence('search_sections', 'id')) AS fresh_id, s.*
              FROM search_sections s WHERE s.space_id = :source AND {_SECTION_COUNTS}),
            copied AS (INSERT INTO search_sections (id, space_id, {columns})
              SELECT fresh_id, :copy, {columns} FROM fresh)
            INSERT INTO search_index (section_id, words)
              SELECT f.fresh_id, CAST(regexp_replace(regexp_replace(CAST(i.words AS text),
                  '''(h?)' || CAST(:source_key AS text) || '_', '''\\1' || CAST(:key AS text) || '_', 'g'),
                  '''(h?)' || CAST(:source_organization_key AS text) || '_',
                  '''\\1' || CAST(:organization_key AS text) || '_', 'g') AS tsvector)
              FROM fresh f JOIN search_index i ON i.section_id = f.id"""),
        **given,
        source_key=_key(source_id),
        source_organization_key=_organization_key(tx, source_id),
    )


# --- querying -------------------------------------------------------------------------------------------


class OrganizationScope(Struct, frozen=True):
    """All spaces of an organization that a person can see. ``seen``: a function that filters space IDs, returning only
    those of visible spaces. It is called only for spaces with search results, so the visible spaces are never listed in
    full. ``some``: a few of the visible spaces."""

    id: str
    seen: Callable[[Sequence[str]], Iterable[str]]
    some: Sequence[str] = ()


class Scope(Struct, frozen=True):
    """Spaces that are searched together. ``keys``: the keys of the spaces, or of their organizations if
    there are many spaces. ``among``: a function that filters space IDs, returning only those to search.
    ``space_ids``: the IDs of all spaces if there are few of them."""

    space_ids: tuple[str, ...]
    keys: tuple[str, ...]
    among: Callable[[Collection[str]], Set[str]]
    by_organization: bool = False


def open_scope(tx: Transaction, spaces: Sequence[str] | OrganizationScope) -> Scope:
    if isinstance(spaces, OrganizationScope):
        return Scope((), (_key(spaces.id),), _cached_filter(spaces.seen), True)
    ids = frozenset(spaces)
    if len(ids) <= FEW:
        return Scope(tuple(sorted(ids)), tuple(_key(id) for id in sorted(ids)), ids.intersection)
    rows = tx.all(
        f"SELECT DISTINCT organization_id FROM spaces WHERE id {tx.among('ids')}", ids=json_list(sorted(ids))
    )
    return Scope((), tuple(sorted(_key(row[0]) for row in rows)), ids.intersection, True)


def _cached_filter(
    seen: Callable[[Sequence[str]], Iterable[str]],
) -> Callable[[Collection[str]], Set[str]]:
    known: dict[str, bool] = {}

    def among(ids: Collection[str]) -> Set[str]:
        if asked := sorted({id for id in ids if id not in known}):
            there = frozenset(seen(asked))
            known.update((id, id in there) for id in asked)
        return {id for id in ids if known[id]}

    return among


def pages_containing(tx: Transaction, scope: Scope, candidates: Iterable[str]) -> dict[str, int]:
    """Return the number of pages in these spaces that contain each word; the empty word represents all pages. Words
    without pages are omitted.

    In large organizations, only the spaces with the most pages are counted.
    """
    given = sorted(set(candidates))
    if scope.by_organization:
        found: Counter[str] = Counter()
        for key in scope.keys:
            rows = tx.all(
                f"""SELECT g.word, (SELECT sum(w.pages) FROM (
                        SELECT pages FROM search_words WHERE organization_key = :key AND word = g.word
                        ORDER BY pages DESC LIMIT {_SPACES_COUNTED}) AS w)
                    FROM {tx.given("words", "word")} AS g""",
                key=key,
                words=json_list(given),
            )
            found.update({word: int(number) for word, number in rows if number})
        return dict(found)
    rows = tx.all(
        f"""SELECT word, sum(pages) FROM search_words
            WHERE space_id IN :spaces AND word {tx.among("words")} GROUP BY word""",
        spaces=scope.space_ids,
        words=json_list(given),
    )
    return {word: int(number) for word, number in rows}


class PrefixMatches(Struct, frozen=True):
    """Known words with a prefix and their number of pages, most pages first. ``is_complete``: whether the list includes
    all such words, with all of their pages."""

    words: dict[str, int]
    is_complete: bool


def words_beginning(tx: Transaction, scope: Scope, prefix: str) -> PrefixMatches:
    """Return words with a prefix; if there are very many, only the first words."""
    found: Counter[str] = Counter()
    is_complete = True
    for key in scope.keys if scope.by_organization else scope.space_ids:
        most = _BEGINNINGS_OF_MANY if scope.by_organization else _BEGINNINGS
        rows = tx.all(
            _BEGINNING_OF_MANY
            if scope.by_organization
            else """SELECT word, pages, 1 FROM search_words
                    WHERE space_id = :key AND word >= :low AND word < :high ORDER BY word LIMIT :most""",
            key=key,
            low=prefix,
            high=prefix + "\U0010ffff",
            most=most,
        )
        is_complete = is_complete and len(rows) < most and all(row[2] < _SPACES_BEGUN for row in rows)
        for word, pages, _ in rows:
            found[word] += int(pages)
    return PrefixMatches(dict(sorted(found.items(), key=lambda item: (-item[1], item[0]))), is_complete)


def spaces_containing(tx: Transaction, scope: Scope, terms: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the spaces that contain a word of each term. For each word of the first term, the spaces with
    the most pages come first."""
    first, *others = terms
    also = "".join(
        f" AND EXISTS (SELECT 1 FROM search_words o WHERE o.space_id = w.space_id AND o.word IN :words{n})"
        for n in range(len(others))
    )
    given = {f"words{n}": words for n, words in enumerate(others)}
    found: set[str] = set()
    for key, word in itertools.product(scope.keys, first):
        for start in itertools.count(step=_LISTED):
            rows = tx.all(
                f"""SELECT w.space_id FROM search_words w WHERE w.organization_key = :key AND w.word = :word{also}
                    ORDER BY w.pages DESC, w.space_id DESC LIMIT {_LISTED} OFFSET :start""",
                key=key,
                word=word,
                start=start,
                **given,
            )
            searched = scope.among([row[0] for row in rows])
            fresh = [row[0] for row in rows if row[0] in searched and row[0] not in found]
            found.update(fresh)
            yield from fresh
            if len(rows) < _LISTED:
                break


class Term(Struct, frozen=True):
    """Search term, which matches any of its words or phrases (sequences of words).

    ``prefix``: whether the typed word may be incomplete. ``begun``: the stems of completions that no longer start with
    the prefix. ``near``: possible corrections. ``quoted``: whether it is a quoted phrase. ``is_frequent``: whether the
    term occurs on so many pages that results aren't ranked by it. Such a term is completed only by ``begun``, and in
    titles and headings.
    """

    alternatives: tuple[tuple[str, ...], ...]
    prefix: bool = False
    begun: tuple[str, ...] = ()
    near: tuple[str, ...] = ()
    quoted: bool = False
    is_frequent: bool = False

    @property
    def word(self) -> str | None:
        """Return the word, or None for a phrase."""
        return self.alternatives[0][0] if len(self.alternatives[0]) == 1 else None

    def every(self) -> tuple[tuple[str, ...], ...]:
        """Return the alternatives as typed, then the corrections."""
        return (*self.alternatives, *((word,) for word in self.near))


class _Phrase(Struct, frozen=True):
    """Stems in sequence. ``prefix``: whether the last stem is a prefix."""

    stems: tuple[str, ...]
    prefix: bool = False


def _phrases(term: Term, heads: bool) -> list[_Phrase]:
    found = [_Phrase(tuple(map(stem, words))) for words in term.every()]
    if term.prefix:
        if heads or not term.is_frequent:
            # The typed word is completed instead of its stem, whose completions would be different words.
            found += [_Phrase((*map(stem, words[:-1]), words[-1]), True) for words in term.alternatives]
        found += [_Phrase((begun,)) for begun in term.begun]
    return list(dict.fromkeys(found))


class Window(Struct, frozen=True):
    """Part of the matches. ``after``: the last section in it. ``is_last``: whether there are no more matches."""

    rows: list[SectionMatch]
    after: int
    is_last: bool


_COLUMNS = "s.id, s.space_id, s.page_id, s.anchor, s.heading, p.titles"


def match(
    tx: Transaction,
    scope: Scope,
    terms: Sequence[Term],
    *,
    every: bool,
    heads: bool = False,
    after: int = 0,
    limit: int,
) -> Window:
    """Return sections whose IDs follow ``after``, ordered by ID. ``every``: whether sections must match all terms
    instead of any of them. Scores are based only on terms that aren't frequent.

    ``heads``: whether to match only titles and headings.
    """
    if not terms or not scope.keys:
        return Window([], after, True)
    queries = _engine_queries(tx, scope, terms, every, heads)
    given = {"after": after, "limit": limit, **queries}
    if tx.engine == "sqlite":
        found, score = _sqlite_matches(queries)
        rows = tx.all(
            f"""SELECT {_COLUMNS}, {score}, s.conditions FROM search_index
                  CROSS JOIN search_sections s ON s.id = search_index.rowid
                  CROSS JOIN search_pages p ON {_PAGE_OF_SECTION}
                WHERE {found} AND search_index.rowid > :after AND {_SECTION_COUNTS}
                ORDER BY search_index.rowid LIMIT :limit""",
            **given,
        )
    else:
        score = _POSTGRES_SCORE if queries["ranking"] else "0"
        # This joins section by section: with its own estimate of matches, the planner would read whole
        # tables. All matches are computed first, and then those after the given id are selected; otherwise it
        # would read the ids of all sections to intersect both.
        rows = tx.all(
            f"""WITH hits AS MATERIALIZED (
                  SELECT section_id AS id FROM search_index WHERE words @@ CAST(:query AS tsquery))
                SELECT found.* FROM (SELECT id FROM hits WHERE id > :after ORDER BY id) AS h CROSS JOIN LATERAL (
                  SELECT {_COLUMNS}, {score}, s.conditions
                  FROM search_sections s {"JOIN search_index i ON i.section_id = s.id" if queries["ranking"] else ""}
                    JOIN search_pages p ON {_PAGE_OF_SECTION}
                  WHERE s.id = h.id AND {_SECTION_COUNTS} OFFSET 0) AS found
                ORDER BY h.id LIMIT :limit""",
            **given,
        )
    return _window(scope, rows, after, len(rows) < limit)


def match_best(
    tx: Transaction, scope: Scope, terms: Sequence[Term], *, heads: bool = False, start: int = 0, limit: int
) -> Window:
    """Return sections that match all terms, highest scores first, starting after the first ``start`` sections. At least
    one of the terms must not be frequent. ``heads``: whether to match only titles and headings.

    ``after`` in the window is the number of matches up to its end, including matches in former versions.
    """
    queries = _engine_queries(tx, scope, terms, True, heads)
    given = {"start": start, "limit": limit, **queries}
    if tx.engine == "sqlite":
        matches, score = _sqlite_matches(queries)
        best = f"""SELECT search_index.rowid AS id, {score} AS score FROM search_index
            WHERE {matches} ORDER BY score DESC, id LIMIT :limit OFFSET :start"""
        rows = tx.all(
            f"""SELECT {_COLUMNS}, best.score, s.conditions, {_SECTION_COUNTS} FROM ({best}) AS best
                  CROSS JOIN search_sections s ON s.id = best.id
                  CROSS JOIN search_pages p ON {_PAGE_OF_SECTION}
                ORDER BY best.score DESC, best.id""",
            **given,
        )
    else:
        rows = tx.all(
            f"""WITH best AS MATERIALIZED (
                  SELECT section_id AS id, {_POSTGRES_SCORE} AS score FROM search_index i
                  WHERE words @@ CAST(:query AS tsquery) ORDER BY score DESC, id LIMIT :limit OFFSET :start)
                SELECT found.* FROM best CROSS JOIN LATERAL (
                  SELECT {_COLUMNS}, best.score, s.conditions, {_SECTION_COUNTS}
                  FROM search_sections s JOIN search_pages p ON {_PAGE_OF_SECTION}
                  WHERE s.id = best.id OFFSET 0) AS found
                ORDER BY best.score DESC, best.id""",
            **given,
        )
    current = [row[:-1] for row in rows if row[-1]]
    found = _window(scope, current, 0, len(rows) < limit)
    return msgspec.structs.replace(found, after=start + len(rows))


def _engine_queries(
    tx: Transaction, scope: Scope, terms: Sequence[Term], every: bool, heads: bool
) -> dict[str, str]:
    """Return the query for all terms, and the query for the terms used for scores (empty if there are none)."""
    ranking = [term for term in terms if not term.is_frequent]
    if not every and len(ranking) < len(terms):
        ranking = []
    return {
        "query": _engine_query(tx, scope, terms, every, heads),
        "ranking": _engine_query(tx, scope, ranking, every, heads),
    }


def _sqlite_matches(queries: Mapping[str, str]) -> tuple[str, str]:
    """Return SQL for matches in ``search_index``: the condition, and the score."""
    score = f"-bm25(search_index, {_WEIGHTS})" if queries["ranking"] else "0"
    if not queries["ranking"] or queries["ranking"] == queries["query"]:
        return "search_index MATCH :query", score
    # FTS5 reads all positions of a word to rank by it.
    return (
        """search_index MATCH :ranking
           AND +search_index.rowid IN (SELECT rowid FROM search_index WHERE search_index MATCH :query)""",
        score,
    )


_POSTGRES_SCORE = "ts_rank_cd('{0.1, 0.2, 0.5, 1.0}', i.words, CAST(:ranking AS tsquery), 1)"


def _window(scope: Scope, rows: Sequence[Sequence[Any]], after: int, is_last: bool) -> Window:
    """Return the rows of sections in the searched spaces as a window."""
    searched = scope.among({row[1] for row in rows})
    found = [_found_section(row) for row in rows if row[1] in searched]
    return Window(found, rows[-1][0] if rows else after, is_last)


def match_often(
    tx: Transaction, space_id: str, terms: Sequence[Term], *, every: bool, after: int, limit: int
) -> Window:
    """Return sections of a space whose IDs follow ``after``, without scores. Use this for terms that are so frequent
    that the index isn't used. ``every``: whether sections must match all terms instead of any of them."""
    scope = open_scope(tx, [space_id])
    if tx.engine == "sqlite":
        return match(tx, scope, terms, every=every, after=after, limit=limit)
    # The PostgreSQL index returns nothing before it has found everything, so the sections themselves are read
    # in order.
    walked = (
        "SELECT id FROM search_sections WHERE space_id = :space AND id > :after ORDER BY id LIMIT :walked"
    )
    given = {"space": space_id, "after": after, "walked": limit * _WALKED}
    rows = tx.all(
        f"""SELECT found.* FROM (
              SELECT section_id AS id FROM search_index
              WHERE section_id = ANY(ARRAY({walked})) AND words @@ CAST(:query AS tsquery) ORDER BY section_id) AS h
            CROSS JOIN LATERAL (
              SELECT {_COLUMNS}, 0, s.conditions
              FROM search_sections s JOIN search_pages p ON {_PAGE_OF_SECTION}
              WHERE s.id = h.id AND {_SECTION_COUNTS} OFFSET 0) AS found
            ORDER BY h.id LIMIT :limit""",
        limit=limit,
        query=_engine_query(tx, scope, terms, every, False),
        **given,
    )
    if len(rows) == limit:
        return _window(scope, rows, after, False)
    end = tx.value(f"SELECT max(id) FROM ({walked}) AS w HAVING count(*) = :walked", **given)
    found = _window(scope, rows, after, end is None)
    return found if end is None else msgspec.structs.replace(found, after=end)


def match_most(
    tx: Transaction, scope: Scope, terms: Sequence[tuple[Term, int]], *, limit: int
) -> list[SectionMatch]:
    """Return sections that match any of the terms, highest total weight first; the weight is the score."""
    if not terms or not scope.keys:
        return []
    parameters: dict[str, Any] = {}
    matches = []
    for at, (term, weight) in enumerate(terms):
        parameters[f"query{at}"] = _engine_query(tx, scope, [term], False, False)
        parameters[f"weight{at}"] = weight
        # The limit keeps PostgreSQL from starting parallel workers for so few rows.
        matches.append(
            f"""SELECT * FROM (SELECT rowid AS id, CAST(:weight{at} AS INTEGER) AS weight FROM search_index
                  WHERE search_index MATCH :query{at} LIMIT {_COMPARED}) AS m{at}"""
            if tx.engine == "sqlite"
            else f"""SELECT * FROM (SELECT section_id AS id, CAST(:weight{at} AS INTEGER) AS weight FROM search_index
                  WHERE words @@ CAST(:query{at} AS tsquery) LIMIT {_COMPARED}) AS m{at}"""
        )
    best = tx.all(
        f"""SELECT id, sum(weight) AS worth FROM ({" UNION ALL ".join(matches)}) AS m
            GROUP BY id ORDER BY worth DESC, id LIMIT {_COMPARED}""",
        **parameters,
    )
    found: list[SectionMatch] = []
    for start in range(0, len(best), limit):
        worth = {id: int(weight) for id, weight in best[start : start + limit]}
        rows = tx.all(
            f"""SELECT {_COLUMNS}, 0, s.conditions FROM search_sections s JOIN search_pages p ON {_PAGE_OF_SECTION}
                WHERE s.id {tx.among("ids", "BIGINT")} AND {_SECTION_COUNTS}""",
            ids=json_list(worth),
        )
        searched = scope.among({row[1] for row in rows})
        found += [
            msgspec.structs.replace(_found_section(row), score=worth[row[0]])
            for row in rows
            if row[1] in searched
        ]
        if len(found) >= limit:
            break
    return sorted(found, key=lambda row: (-row.score, row.id))[:limit]


def count_matches(tx: Transaction, scope: Scope, terms: Sequence[Term], *, by_space: bool, most: int) -> int:
    """Return the number of pages (or spaces, with ``by_space``) that match all terms, at most ``most``. If there are
    many spaces, only the first ``most`` matches are checked against the searched spaces."""
    different = "s.space_id" if by_space else "s.space_id, s.page_id"
    rows = tx.all(
        f"SELECT DISTINCT {different} {_matching(tx)} LIMIT :most",
        query=_engine_query(tx, scope, terms, True, False),
        most=most,
    )
    searched = scope.among({row[0] for row in rows})
    return sum(row[0] in searched for row in rows)


def list_matches(tx: Transaction, scope: Scope, terms: Sequence[Term], *, most: int) -> list[SectionMatch]:
    """Return at most ``most`` sections that match all terms, one for each page and set of conditions, without their
    text. If there are many spaces, only the first ``most`` matches are checked against the searched spaces."""
    rows = tx.all(
        f"SELECT DISTINCT s.space_id, s.page_id, s.conditions {_matching(tx)} LIMIT :most",
        query=_engine_query(tx, scope, terms, True, False),
        most=most,
    )
    searched = scope.among({row[0] for row in rows})
    return [
        SectionMatch(0, space_id, page_id, None, "", "", 0.0, _read_conditions(stored))
        for space_id, page_id, stored in rows
        if space_id in searched
    ]


def _matching(tx: Transaction) -> str:
    """Return SQL for the sections ``s`` of current versions that match the parameter ``query``."""
    if tx.engine == "sqlite":
        return f"""FROM search_index CROSS JOIN search_sections s ON s.id = search_index.rowid
          WHERE search_index MATCH :query AND {_SECTION_COUNTS}"""
    return f"""FROM (SELECT section_id AS id FROM search_index WHERE words @@ CAST(:query AS tsquery)
            OFFSET 0) AS h
          CROSS JOIN LATERAL (SELECT s.space_id, s.page_id, s.conditions FROM search_sections s
            WHERE s.id = h.id AND {_SECTION_COUNTS} OFFSET 0) AS s"""


def _engine_query(tx: Transaction, scope: Scope, terms: Sequence[Term], every: bool, heads: bool) -> str:
    """Return the query in the syntax of the engine."""
    show = _sqlite_phrase if tx.engine == "sqlite" else _postgres_phrase
    either, both = (" OR ", " AND ") if tx.engine == "sqlite" else (" | ", " & ")
    keys = [f"{_HEADS}{key}" for key in scope.keys] if heads else scope.keys
    parts = [
        "(" + either.join(show(key, phrase) for key in keys for phrase in _phrases(term, heads)) + ")"
        for term in terms
    ]
    return (both if every else either).join(parts)


def _sqlite_phrase(key: str, phrase: _Phrase) -> str:
    text = " ".join(f"{key}_{word}" for word in phrase.stems)
    return f'"{text}"' + ("*" if phrase.prefix else "")


def _postgres_phrase(key: str, phrase: _Phrase) -> str:
    last = len(phrase.stems) - 1
    quoted = []
    for n, word in enumerate(phrase.stems):
        text = f"{key}_{word}".replace("\\", "\\\\").replace("'", "''")
        quoted.append(f"'{text}'" + (":*" if phrase.prefix and n == last else ""))
    return "(" + " <-> ".join(quoted) + ")"


def read_bodies(tx: Transaction, section_ids: Collection[int]) -> dict[int, str]:
    """Return the text of sections, by ID."""
    if not section_ids:
        return {}
    rows = tx.all(
        f"SELECT id, body FROM search_sections WHERE id {tx.among('ids', 'BIGINT')}",
        ids=json_list(section_ids),
    )
    return dict(rows)
