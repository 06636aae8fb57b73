"""Glossary of words with fixed translations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from octavo.errors import BadRequest, NotFound
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Slice, slice_items
from octavo.organization.access.authorization import OrgAccess

from . import store
from .store import EntryRow

MAX_ENTRIES = 5000
"""Maximum number of entries per organization, because every run reads all of them."""


class EntryChange(NamedTuple):
    """Change to an entry. ``id``: the entry to change; None to insert a new entry. ``translations``: the new
    translations; None to delete the entry."""

    id: str | None
    translations: Mapping[Any, str] | None


def get_entry(tx: Transaction, org: OrgAccess, entry_id: str) -> EntryRow:
    found = store.find_entry(tx, org.organization_id, entry_id)
    if found is None:
        raise NotFound(f"There is no glossary entry with the ID {entry_id!r} in this organization.")
    return found


def list_sorted(
    tx: Transaction, org: OrgAccess, language: str, limit: int, page: str | None
) -> Slice[EntryRow]:
    """Return one page of the entries, sorted by the words in one language. Entries without a word in that language
    come last."""

    def key(row: EntryRow) -> str:
        word = msgspec.json.decode(row.translations, type=dict[str, str]).get(language)
        return f"{int(word is None)} {(word or '').casefold()} {row.id}"

    return slice_items(store.list_all_entries(tx, org.organization_id), limit, page, key)


def update(tx: Transaction, org: OrgAccess, changes: Sequence[EntryChange]) -> None:
    """Apply all changes or, if one of them is invalid, none. Raises NotFound if an entry doesn't exist, and
    BadRequest if there are too many entries."""
    for number, (id, translations) in enumerate(changes):
        if translations is None:
            assert id is not None
            store.delete_entry(tx, _require_entry(tx, org, number, id))
        elif id is None:
            store.insert_entry(tx, org.organization_id, translations)
        else:
            store.update_entry(tx, _require_entry(tx, org, number, id), translations)
    if store.count_entries(tx, org.organization_id) > MAX_ENTRIES:
        raise BadRequest(
            f"operations: a glossary can have at most {MAX_ENTRIES:,} entries. Delete one before adding"
            " another."
        )


def _require_entry(tx: Transaction, org: OrgAccess, number: int, entry_id: str) -> str:
    if store.find_entry(tx, org.organization_id, entry_id) is None:
        raise NotFound(
            f"operations[{number}].id: there is no glossary entry with the ID {entry_id!r} in this"
            " organization"
        )
    return entry_id
