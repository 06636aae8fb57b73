"""Wire format of translations and the glossary."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from octavo.core.document.description import DocumentNodes, DocumentObject
from octavo.core.languages import Language
from octavo.kit.clock import iso
from octavo.kit.db.pagination import PageQuery
from octavo.kit.http.operation import Recipient
from octavo.kit.texts import pattern

from .glossary import EntryChange
from .store import EntryRow, TranslationRow
from .types import Formality, TranslationStatus


class TranslationSource(Struct):
    space: str
    language: Language


class CreateTranslation(Struct):
    source: TranslationSource
    language: Language
    instructions: DocumentObject | UnsetType = UNSET
    formality: Formality = "default"


class UpdateTranslation(Struct):
    instructions: DocumentObject
    formality: Formality | UnsetType = UNSET


class Result(Struct):
    space: str
    revision: str
    language: Language


class Stats(Struct, rename="camel", kw_only=True):
    """Statistics of a run. Durations are in milliseconds."""

    runs: int
    total_words: int
    total_pages: int
    total_duration: int
    latest_run_duration: int
    latest_pages: int
    latest_words: int


class TranslationProgress(Struct):
    """Progress of a run, in pages. ``total``: the number of pages; 0 until it is known."""

    done: int
    total: int


class Permissions(Struct):
    view: bool
    edit: bool


class TranslationLocation(Struct):
    location: str


class Translation(Struct, rename="camel", kw_only=True):
    """Translation of a space. Octavo extensions: ``formality``; ``progress``; ``untranslated``, the number of
    segments that are still in the source language; ``notice``, a message about the last run; ``problems``, the
    segments that couldn't be translated."""

    object: Literal["translation"] = "translation"
    id: str
    status: TranslationStatus
    source: TranslationSource
    language: Language
    instructions: DocumentNodes
    formality: Formality
    result: Result
    created_at: str
    updated_at: str
    stats: Stats
    progress: TranslationProgress
    untranslated: int
    notice: str | UnsetType = UNSET
    problems: Raw
    permissions: Permissions
    urls: TranslationLocation


def present_translation(to: Recipient, row: TranslationRow, may_edit: bool) -> Translation:
    return Translation(
        id=row.id,
        status=row.status,  # type: ignore[arg-type]
        source=TranslationSource(row.source_id, row.source_language),  # type: ignore[arg-type]
        language=row.language,  # type: ignore[arg-type]
        instructions=Raw(row.instructions.encode()),
        formality=row.formality,  # type: ignore[arg-type]
        result=Result(row.space_id, row.revision, row.language),  # type: ignore[arg-type]
        created_at=iso(row.created_at),
        updated_at=iso(row.updated_at),
        stats=Stats(
            runs=row.runs,
            total_words=row.total_words,
            total_pages=row.total_pages,
            total_duration=row.total_duration,
            latest_run_duration=row.latest_duration,
            latest_pages=row.latest_pages,
            latest_words=row.latest_words,
        ),
        progress=TranslationProgress(row.done, row.total),
        untranslated=row.untranslated,
        notice=row.notice if row.notice is not None else UNSET,
        problems=Raw(row.problems.encode()),
        permissions=Permissions(True, may_edit),
        urls=TranslationLocation(to.url(f"/orgs/{row.organization_id}/translations/{row.id}")),
    )


# --- memory -------------------------------------------------------------------------------------------


class MatchesQuery(Struct):
    text: Annotated[str, Meta(min_length=1, max_length=2000)]


class MemoryMatch(Struct, rename="camel"):
    """Similar text. ``score``: the similarity; 1 means the same words in the same order. Untranslatable parts are
    replaced with ``…``."""

    source: str
    translation: str
    origin: Literal["machine", "person"]
    score: float
    updated_at: str


class MemoryMatches(Struct):
    items: list[MemoryMatch]


# --- glossary -----------------------------------------------------------------------------------------

Word = Annotated[str, Meta(min_length=1, max_length=255, pattern=pattern(r"^[^\n\r]*\Z", "be a single line"))]
Words = Annotated[dict[Language, Word], Meta(min_length=1)]


class InsertEntry(Struct, tag="insert"):
    translations: Words


class UpdateEntry(Struct, tag="update"):
    id: str
    translations: Words


class DeleteEntry(Struct, tag="delete"):
    id: str


class UpdateGlossary(Struct):
    operations: Annotated[list[InsertEntry | UpdateEntry | DeleteEntry], Meta(max_length=1000)]


def change_of(operation: InsertEntry | UpdateEntry | DeleteEntry) -> EntryChange:
    match operation:
        case InsertEntry(translations):
            return EntryChange(None, translations)
        case UpdateEntry(id, translations):
            return EntryChange(id, translations)
        case DeleteEntry(id):
            return EntryChange(id, None)


class GlossaryQuery(PageQuery):
    """Query parameters for the glossary. ``orderBy``: the language to sort by."""

    order_by: Language | None = None


class GlossaryEntry(Struct, rename="camel", kw_only=True):
    object: Literal["glossary-entry"] = "glossary-entry"
    id: str
    translations: dict[str, str]
    created_at: str
    updated_at: str
    urls: TranslationLocation


def present_entry(to: Recipient, organization_id: str, row: EntryRow) -> GlossaryEntry:
    return GlossaryEntry(
        id=row.id,
        translations=msgspec.json.decode(row.translations, type=dict[str, str]),
        created_at=iso(row.created_at),
        updated_at=iso(row.updated_at),
        urls=TranslationLocation(to.url(f"/orgs/{organization_id}/translations-glossary/{row.id}")),
    )
