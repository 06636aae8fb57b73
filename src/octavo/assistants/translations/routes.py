"""Operations on translations and the glossary."""

from __future__ import annotations

from msgspec import UNSET

from octavo.assistants.models.instructing import read_instructions
from octavo.kit.clock import iso
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Listing, PageQuery, present_slice
from octavo.kit.http.operation import Area, Call
from octavo.organization.access.authorization import OrgAccess, SpaceAccess
from octavo.organization.access.roles import SPACE, Can, at_least

from . import glossary, managing, matching, running, store, wire
from .restricting import without_restricted
from .store import TranslationRow

operation = Area("translations").operation

_TRANSLATIONS = "/orgs/{organizationId}/translations"
_TRANSLATION = _TRANSLATIONS + "/{translationId}"
_GLOSSARY = "/orgs/{organizationId}/translations-glossary"

__all__ = ["running"]


def _present(call: Call, tx: Transaction, row: TranslationRow, space: SpaceAccess) -> wire.Translation:
    return wire.present_translation(call, without_restricted(tx, row), at_least(space.role, SPACE[Can.EDIT]))


@operation("listTranslations", "GET", _TRANSLATIONS, needs=Can.VIEW)
def list_translations(call: Call, org: OrgAccess, query: PageQuery) -> Listing[wire.Translation]:
    """List the translations whose spaces the caller can see, newest first."""
    with call.db.read() as tx:
        found = store.list_translations(tx, org, query.limit, query.page)
        return present_slice(
            found, lambda row: _present(call, tx, *managing.get_translation(tx, org, row.id))
        )


@operation(
    "createTranslation",
    "POST",
    _TRANSLATIONS,
    needs=Can.VIEW,
    status=201,
    errors=(400, 403, 404),
    yields=("content:write", "spaces:write"),
)
def create_translation(call: Call, org: OrgAccess, body: wire.CreateTranslation) -> wire.Translation:
    """Create a translation, which is a copy of a space in another language. Each run updates the copy from the
    original. Requires the `create` role for the source."""
    instructions = body.instructions if body.instructions is not UNSET else {"nodes": []}
    source = body.source
    wanted = managing.NewTranslation(
        source.space, source.language, body.language, instructions, body.formality
    )
    with managing.prepare(call.db, org, wanted) as prepared, call.db.write() as tx:
        made = managing.create(tx, org, wanted, prepared)
        return _present(call, tx, *managing.get_translation(tx, org, made.id))


@operation("getTranslation", "GET", _TRANSLATION, needs=Can.VIEW, errors=(404,))
def get_translation(call: Call, org: OrgAccess, translation_id: str) -> wire.Translation:
    """Get a translation with its progress and the segments that couldn't be translated."""
    with call.db.read() as tx:
        return _present(call, tx, *managing.get_translation(tx, org, translation_id))


@operation(
    "updateTranslation",
    "PUT",
    _TRANSLATION,
    needs=Can.VIEW,
    errors=(400, 403, 404),
    yields=("content:write", "spaces:write"),
)
def update_translation(
    call: Call, org: OrgAccess, translation_id: str, body: wire.UpdateTranslation
) -> wire.Translation:
    """Update a translation's instructions to the model and, with `formality`, the form of address for readers.
    Changes apply from the next run. If the formality changes, that run retranslates the affected segments."""
    stored = read_instructions(body.instructions)
    with call.db.write() as tx:
        found, space = managing.get_translation(tx, org, translation_id, Can.EDIT)
        formality = body.formality if body.formality is not UNSET else found.formality
        store.set_instructions(tx, found.id, stored, formality)
        return _present(call, tx, store.get_translation(tx, found.id), space)


@operation("deleteTranslation", "DELETE", _TRANSLATION, needs=Can.VIEW)
def delete_translation(call: Call, org: OrgAccess, translation_id: str) -> bool:
    """Delete a translation. Its space is kept, but is no longer updated from the source."""
    with call.db.write() as tx:
        return managing.delete(tx, org, translation_id)


@operation(
    "runTranslation",
    "POST",
    f"{_TRANSLATION}/run",
    needs=Can.VIEW,
    status=204,
    errors=(403, 404),
    yields=("content:write", "spaces:write"),
)
def run_translation(call: Call, org: OrgAccess, translation_id: str) -> None:
    """Update a translation from the current state of its source. A run in progress is restarted, and reuses the
    translations that it has already made."""
    with call.db.write() as tx:
        managing.run(tx, org, translation_id)


@operation("cancelTranslation", "POST", f"{_TRANSLATION}/cancel", needs=Can.VIEW, errors=(400, 403, 404))
def cancel_translation(call: Call, org: OrgAccess, translation_id: str) -> wire.Translation:
    """Cancel the run in progress. The space isn't changed, and completed translations stay in the translation
    memory. Returns 400 if no run is in progress."""
    with call.db.write() as tx:
        managing.cancel(tx, org, translation_id)
        return _present(call, tx, *managing.get_translation(tx, org, translation_id))


@operation(
    "findTranslationMatches",
    "GET",
    f"{_TRANSLATION}/matches",
    needs=Can.VIEW,
    errors=(400, 403, 404),
    yields=("content:read",),
)
def find_matches(
    call: Call, org: OrgAccess, translation_id: str, query: wire.MatchesQuery
) -> wire.MemoryMatches:
    """Find earlier translations of the same or similar text, most similar first. Requires permission to edit the
    translated space. Results come only from spaces that the caller can see."""
    with call.db.read() as tx:
        found, _ = managing.get_translation(tx, org, translation_id, Can.EDIT)
        near = matching.find_matches(tx, org, found, query.text)
    return wire.MemoryMatches(
        [
            wire.MemoryMatch(
                source=each.source,
                translation=each.target,
                origin=each.origin,  # type: ignore[arg-type]
                score=each.score,
                updated_at=iso(each.updated_at),
            )
            for each in near
        ]
    )


@operation("listGlossaryEntries", "GET", _GLOSSARY, needs=Can.VIEW)
def list_entries(call: Call, org: OrgAccess, query: wire.GlossaryQuery) -> Listing[wire.GlossaryEntry]:
    """List the glossary entries, which are words with fixed translations, oldest first or sorted by the words in
    one language."""
    with call.db.read() as tx:
        if query.order_by is None:
            found = store.list_entries(tx, org.organization_id, query.limit, query.page)
        else:
            found = glossary.list_sorted(tx, org, query.order_by, query.limit, query.page)
    return present_slice(found, lambda row: wire.present_entry(call, org.organization_id, row))


@operation("updateGlossaryEntries", "PUT", _GLOSSARY, needs=Can.CREATE_CONTENT, status=204, errors=(400, 404))
def update_entries(call: Call, org: OrgAccess, body: wire.UpdateGlossary) -> None:
    """Insert, update, and delete glossary entries. If one of the changes is invalid, none of them are applied."""
    with call.db.write() as tx:
        glossary.update(tx, org, [wire.change_of(operation) for operation in body.operations])


@operation("getGlossaryEntry", "GET", f"{_GLOSSARY}/{{glossaryEntryId}}", needs=Can.VIEW, errors=(404,))
def get_entry(call: Call, org: OrgAccess, glossary_entry_id: str) -> wire.GlossaryEntry:
    """Get a glossary entry."""
    with call.db.read() as tx:
        return wire.present_entry(call, org.organization_id, glossary.get_entry(tx, org, glossary_entry_id))
