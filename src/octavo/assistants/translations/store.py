"""Database access for translations, the translation memory, and the glossary."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from octavo.content.revisions.item_versions import Item
from octavo.core.pages import Page
from octavo.core.problems import Problem
from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Slice, list_page
from octavo.kit.texts import counted
from octavo.organization.access.authorization import OrgAccess
from octavo.organization.access.visibility import select_visible_spaces
from octavo.organization.spaces.garbage import release

from .similarity import signs as signs_of

MAX_PROBLEMS = 200


class TranslationRow(Struct, frozen=True):
    """Translation of a space. ``space_id``: the translated space. Durations are in milliseconds; ``instructions`` and
    ``problems`` are JSON."""

    id: str
    organization_id: str
    source_id: str
    space_id: str
    source_language: str
    language: str
    instructions: str
    formality: str
    status: str
    run: str | None
    run_by: str
    revision: str
    runs: int
    total_words: int
    total_pages: int
    total_duration: int
    latest_duration: int
    latest_pages: int
    latest_words: int
    done: int
    total: int
    untranslated: int
    notice: str | None
    problems: str
    created_at: int
    updated_at: int


class TranslatedPart(Struct, omit_defaults=True):
    """Result of a run for a page or item, without its text. ``source``: the fields of the source page at the time
    of the run. ``outdated``: the changed source segments for which people's translations of the previous text are
    kept."""

    page: Page | None = None
    item: Item | None = None
    source: dict[str, str] = {}
    outdated: dict[str, str] = {}


class TranslationPartRow(Struct, frozen=True):
    """Result of a run for a page or item, as described in the table's schema. People's edits aren't included,
    because they are the differences between this result and the space."""

    part_id: str
    seen: str
    source_body: str | None
    body: str | None
    missing: int
    written: TranslatedPart


class MemoryRow(Struct, frozen=True):
    """Entry of the translation memory. ``manner``: the hash of the style instructions, as described in the table's
    schema."""

    source: str
    target: str
    origin: str
    manner: str
    updated_at: int


class EntryRow(Struct, frozen=True):
    """Glossary entry. ``translations``: the words by language, as JSON."""

    id: str
    translations: str
    created_at: int
    updated_at: int


_TRANSLATION = ", ".join(f"t.{name}" for name in TranslationRow.__struct_fields__)
_ENTRY = ", ".join(EntryRow.__struct_fields__)


def insert_translation(
    tx: Transaction,
    *,
    organization_id: str,
    source_id: str,
    space_id: str,
    source_language: str,
    language: str,
    instructions: str,
    revision: str,
    run_by: str,
    formality: str = "default",
) -> TranslationRow:
    translation_id = ids.new_id()
    moment = now()
    tx.insert(
        "translations",
        id=translation_id,
        organization_id=organization_id,
        source_id=source_id,
        space_id=space_id,
        source_language=source_language,
        language=language,
        instructions=instructions,
        formality=formality,
        status="pending",
        run_by=run_by,
        revision=revision,
        created_at=moment,
        updated_at=moment,
    )
    return get_translation(tx, translation_id)


def get_translation(tx: Transaction, translation_id: str) -> TranslationRow:
    row = tx.one(f"SELECT {_TRANSLATION} FROM translations t WHERE t.id = :id", id=translation_id)
    assert row is not None
    return TranslationRow(*row)


def find_translation(tx: Transaction, organization_id: str, translation_id: str) -> TranslationRow | None:
    row = tx.one(
        f"SELECT {_TRANSLATION} FROM translations t WHERE t.id = :id AND t.organization_id = :org",
        id=translation_id,
        org=organization_id,
    )
    return TranslationRow(*row) if row else None


def is_translated(tx: Transaction, source_id: str, language: str) -> bool:
    """Return whether a space already has a translation into a language. A translation doesn't count if its space is
    in the trash."""
    found = tx.one(
        """SELECT 1 FROM translations t JOIN spaces s ON s.id = t.space_id AND s.deleted_at IS NULL
           WHERE t.source_id = :source AND t.language = :language""",
        source=source_id,
        language=language,
    )
    return found is not None


def delete_trashed(tx: Transaction, source_id: str, language: str) -> None:
    """Delete the translation into a language if the translated space is in the trash, so that a new translation can be
    created. If that space is restored later, it is no longer updated from the source."""
    rows = tx.all(
        """SELECT t.id FROM translations t JOIN spaces s ON s.id = t.space_id AND s.deleted_at IS NOT NULL
           WHERE t.source_id = :source AND t.language = :language""",
        source=source_id,
        language=language,
    )
    for (translation_id,) in rows:
        delete_translation(tx, translation_id)


def list_languages(tx: Transaction, source_id: str) -> list[str]:
    """Return the languages into which a space is translated."""
    rows = tx.all(
        """SELECT t.language FROM translations t JOIN spaces s ON s.id = t.space_id AND s.deleted_at IS NULL
           WHERE t.source_id = :source ORDER BY t.language""",
        source=source_id,
    )
    return [row[0] for row in rows]


def list_translations(tx: Transaction, org: OrgAccess, limit: int, page: str | None) -> Slice[TranslationRow]:
    """Return translations whose spaces the caller can see, newest first."""
    seen = select_visible_spaces(org, "s.deleted_at IS NULL")
    where = f"t.organization_id = :org AND EXISTS (SELECT 1 FROM {seen.visible} v WHERE v.id = t.space_id)"
    given: dict[str, Any] = {"org": org.organization_id, **seen.parameters}
    return list_page(
        tx,
        limit,
        page,
        _TRANSLATION,
        f"FROM translations t WHERE {where}",
        lambda row: TranslationRow(*row),
        by="t.id",
        descending=True,
        before=seen.prefix,
        **given,
    )


def delete_translation(tx: Transaction, translation_id: str) -> None:
    """Delete a translation. The space and the memory are kept."""
    for column in ("source_body", "body"):
        release(
            tx,
            "text",
            f"SELECT {column} AS hash FROM translated_parts WHERE translation_id = :id",
            id=translation_id,
        )
    tx.run("DELETE FROM translations WHERE id = :id", id=translation_id)


def remove_of_space(tx: Transaction, space_id: str) -> None:
    """Delete the translations from and into a deleted or transferred space. The translation memory keeps their
    text, but people can no longer see the text based on their access to this space."""
    tx.run("UPDATE translation_memory SET space_id = NULL WHERE space_id = :space", space=space_id)
    rows = tx.all(
        (
            "SELECT id FROM translations WHERE source_id = :space UNION SELECT id FROM translations "
            "WHERE space_id = :space"
        ),
        space=space_id,
    )
    for (translation_id,) in rows:
        delete_translation(tx, translation_id)


def set_instructions(tx: Transaction, translation_id: str, instructions: str, formality: str) -> None:
    tx.run(
        """UPDATE translations SET instructions = :instructions, formality = :formality, updated_at = :at
           WHERE id = :id""",
        id=translation_id,
        instructions=instructions,
        formality=formality,
        at=now(),
    )


# --- runs ---------------------------------------------------------------------------------------------


def start_run(tx: Transaction, translation_id: str, by: str) -> str:
    """Create a pending run. Its job starts later. If another run is in progress, it is replaced and has no further
    effect."""
    run = ids.new_id()
    tx.run(
        """UPDATE translations SET status = 'pending', run = :run, run_by = :by, done = 0, total = 0,
             updated_at = :at WHERE id = :id""",
        id=translation_id,
        run=run,
        by=by,
        at=now(),
    )
    return run


def begin_run(tx: Transaction, translation_id: str, run: str) -> TranslationRow | None:
    """Mark a run as running. Returns None if it has ended, was replaced, or doesn't exist."""
    begun = tx.run(
        "UPDATE translations SET status = 'running', updated_at = :at WHERE id = :id AND run = :run",
        id=translation_id,
        run=run,
        at=now(),
    )
    return get_translation(tx, translation_id) if begun else None


def set_progress(tx: Transaction, translation_id: str, run: str, done: int, total: int) -> bool:
    """Update the progress. Returns False if the run was canceled."""
    return bool(
        tx.run(
            "UPDATE translations SET done = :done, total = :total WHERE id = :id AND run = :run",
            id=translation_id,
            run=run,
            done=done,
            total=total,
        )
    )


def end_run(
    tx: Transaction,
    translation_id: str,
    run: str,
    *,
    revision: str | None = None,
    pages: int = 0,
    words: int = 0,
    duration: int = 0,
    untranslated: int | None = None,
    notice: str | None = None,
    problems: Sequence[Problem] = (),
) -> bool:
    """End a run in progress. Return False if the run isn't in progress. ``revision``: the revision that the run
    created, if any. Problems beyond ``MAX_PROBLEMS`` are counted but not stored."""
    kept = list(problems[:MAX_PROBLEMS])
    if len(problems) > len(kept):
        kept.append(
            Problem(
                "", 0, "more_problems", f"{counted(len(problems) - len(kept), 'more problem')} not listed"
            )
        )
    return bool(
        tx.run(
            """UPDATE translations SET status = 'completed', run = NULL, runs = runs + 1,
                 revision = coalesce(:revision, revision), total_pages = total_pages + :pages,
                 total_words = total_words + :words, total_duration = total_duration + :duration,
                 latest_pages = :pages, latest_words = :words, latest_duration = :duration,
                 untranslated = coalesce(:untranslated, untranslated), notice = :notice, problems = :problems,
                 updated_at = :at
               WHERE id = :id AND run = :run""",
            id=translation_id,
            run=run,
            revision=revision,
            pages=pages,
            words=words,
            duration=duration,
            untranslated=untranslated,
            notice=notice,
            problems=msgspec.json.encode(kept).decode(),
            at=now(),
        )
    )


def cancel_run(tx: Transaction, translation_id: str) -> bool:
    """Cancel the run in progress, if any. A canceled run has no further effect."""
    return bool(
        tx.run(
            """UPDATE translations SET status = 'completed', run = NULL, notice = 'The last run was cancelled.',
                 updated_at = :at WHERE id = :id AND run IS NOT NULL""",
            id=translation_id,
            at=now(),
        )
    )


# --- parts --------------------------------------------------------------------------------------------


def list_parts(tx: Transaction, translation_id: str) -> dict[str, TranslationPartRow]:
    rows = tx.all(
        "SELECT part_id, seen, source_body, body, missing, written FROM translated_parts WHERE translation_id = :id",
        id=translation_id,
    )
    found = {}
    for part_id, seen, source_body, body, missing, written in rows:
        decoded = msgspec.json.decode(written, type=TranslatedPart)
        found[part_id] = TranslationPartRow(part_id, seen, source_body, body, missing, decoded)
    return found


def put_parts(
    tx: Transaction, translation_id: str, parts: Sequence[TranslationPartRow], gone: Iterable[str]
) -> None:
    removed = [*gone, *(part.part_id for part in parts)]
    for column in ("source_body", "body"):
        release(
            tx,
            "text",
            f"SELECT {column} AS hash FROM translated_parts WHERE translation_id = :id AND part_id IN :parts",
            id=translation_id,
            parts=removed,
        )
    tx.run(
        "DELETE FROM translated_parts WHERE translation_id = :id AND part_id IN :parts",
        id=translation_id,
        parts=removed,
    )
    tx.run_many(
        """INSERT INTO translated_parts (translation_id, part_id, seen, source_body, body, missing, written)
           VALUES (:id, :part_id, :seen, :source_body, :body, :missing, :written)""",
        [
            {
                **msgspec.structs.asdict(part),
                "id": translation_id,
                "written": msgspec.json.encode(part.written).decode(),
            }
            for part in parts
        ],
    )


# --- memory -------------------------------------------------------------------------------------------


def fingerprint(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


_MEMORY = "m.source, m.target, m.origin, m.manner, m.updated_at"


def find_memory(
    tx: Transaction, organization_id: str, source_language: str, language: str, texts: Iterable[str]
) -> dict[str, MemoryRow]:
    """Return the entries of the translation memory for these segments."""
    rows = tx.all(
        f"""SELECT {_MEMORY} FROM translation_memory m WHERE m.organization_id = :org
              AND m.source_language = :source AND m.language = :language AND m.fingerprint IN :fingerprints""",
        org=organization_id,
        source=source_language,
        language=language,
        fingerprints=sorted({fingerprint(text) for text in texts}),
    )
    return {row[0]: MemoryRow(*row) for row in rows}


def list_similar(
    tx: Transaction,
    org: OrgAccess,
    source_language: str,
    language: str,
    signs: Sequence[int],
    limit: int,
) -> list[MemoryRow]:
    """Return segments that share MinHash values (``signs``), from spaces that the caller can see. Segments with the
    most shared values come first."""
    seen = select_visible_spaces(org, "s.deleted_at IS NULL")
    rows = tx.all(
        f"""{seen.prefix} SELECT {_MEMORY} FROM (
              SELECT fingerprint, count(*) AS shared FROM translation_memory_signs
              WHERE organization_id = :org AND source_language = :source AND language = :language AND sign IN :signs
              GROUP BY fingerprint) near
            JOIN translation_memory m ON m.organization_id = :org AND m.source_language = :source
              AND m.language = :language AND m.fingerprint = near.fingerprint
            WHERE EXISTS (SELECT 1 FROM {seen.visible} v WHERE v.id = m.space_id)
            ORDER BY near.shared DESC, m.fingerprint LIMIT :limit""",
        org=org.organization_id,
        source=source_language,
        language=language,
        signs=list(signs),
        limit=limit,
        **seen.parameters,
    )
    return [MemoryRow(*row) for row in rows]


def withhold_memory(tx: Transaction, row: TranslationRow, texts: Iterable[str]) -> None:
    """Exclude these segments of a translation from translators' matches. Runs still use them."""
    tx.run_many(
        """UPDATE translation_memory SET space_id = NULL WHERE organization_id = :org
             AND source_language = :source_language AND language = :language AND fingerprint = :fingerprint
             AND space_id = :space""",
        [
            {
                "org": row.organization_id,
                "source_language": row.source_language,
                "language": row.language,
                "fingerprint": fingerprint(text),
                "space": row.space_id,
            }
            for text in sorted(set(texts))
        ],
    )


def store_memory(
    tx: Transaction, row: TranslationRow, texts: Mapping[str, str], origin: str, manners: Mapping[str, str]
) -> None:
    """Store translations by their source text. Only people can replace human translations. ``manners``: the hashes
    of the style instructions, by segment, for segments that have instructions."""
    kept = "WHERE translation_memory.origin = 'machine'" if origin == "machine" else ""
    shared = {
        "org": row.organization_id,
        "source_language": row.source_language,
        "language": row.language,
    }
    given = [{**shared, "fingerprint": fingerprint(source), "source": source} for source in texts]
    tx.run_many(
        f"""INSERT INTO translation_memory (organization_id, source_language, language, fingerprint, source, target,
                                            origin, manner, space_id, updated_at)
            VALUES (:org, :source_language, :language, :fingerprint, :source, :target, :origin, :manner, :space, :at)
            ON CONFLICT (organization_id, source_language, language, fingerprint) DO UPDATE SET
              target = excluded.target, origin = excluded.origin, manner = excluded.manner,
              space_id = excluded.space_id, updated_at = excluded.updated_at {kept}""",
        [
            {
                **each,
                "target": texts[each["source"]],
                "origin": origin,
                "manner": manners.get(each["source"], ""),
                "space": row.space_id,
                "at": now(),
            }
            for each in given
        ],
    )
    tx.run_many(
        """INSERT INTO translation_memory_signs (organization_id, source_language, language, sign, fingerprint)
           VALUES (:org, :source_language, :language, :sign, :fingerprint) ON CONFLICT DO NOTHING""",
        [
            {**shared, "sign": sign, "fingerprint": each["fingerprint"]}
            for each in given
            for sign in signs_of(each["source"])
        ],
    )


# --- glossary -----------------------------------------------------------------------------------------


def find_entry(tx: Transaction, organization_id: str, entry_id: str) -> EntryRow | None:
    row = tx.one(
        f"SELECT {_ENTRY} FROM glossary_entries WHERE id = :id AND organization_id = :org",
        id=entry_id,
        org=organization_id,
    )
    return EntryRow(*row) if row else None


def list_entries(tx: Transaction, organization_id: str, limit: int, page: str | None) -> Slice[EntryRow]:
    """Return entries, oldest first."""
    source = "FROM glossary_entries WHERE organization_id = :org"
    return list_page(tx, limit, page, _ENTRY, source, lambda row: EntryRow(*row), org=organization_id)


def list_all_entries(tx: Transaction, organization_id: str) -> list[EntryRow]:
    rows = tx.all(f"SELECT {_ENTRY} FROM glossary_entries WHERE organization_id = :org", org=organization_id)
    return [EntryRow(*row) for row in rows]


def count_entries(tx: Transaction, organization_id: str) -> int:
    count: int = tx.value(
        "SELECT count(*) FROM glossary_entries WHERE organization_id = :org", org=organization_id
    )
    return count


def insert_entry(tx: Transaction, organization_id: str, translations: Mapping[object, str]) -> None:
    moment = now()
    tx.insert(
        "glossary_entries",
        id=ids.new_id(),
        organization_id=organization_id,
        translations=msgspec.json.encode(translations).decode(),
        created_at=moment,
        updated_at=moment,
    )


def update_entry(tx: Transaction, entry_id: str, translations: Mapping[object, str]) -> None:
    tx.run(
        "UPDATE glossary_entries SET translations = :translations, updated_at = :at WHERE id = :id",
        id=entry_id,
        translations=msgspec.json.encode(translations).decode(),
        at=now(),
    )


def delete_entry(tx: Transaction, entry_id: str) -> None:
    tx.run("DELETE FROM glossary_entries WHERE id = :id", id=entry_id)


def read_glossary(
    tx: Transaction, organization_id: str, source_language: str, language: str
) -> dict[str, str]:
    """Return the glossary for translating from one language into another."""
    found = {}
    for (stored,) in tx.all(
        "SELECT translations FROM glossary_entries WHERE organization_id = :org ORDER BY id",
        org=organization_id,
    ):
        words = msgspec.json.decode(stored, type=dict[str, str])
        if source_language in words and language in words:
            found[words[source_language]] = words[language]
    return found
