"""Words that are always translated alike."""

from __future__ import annotations

from ..access import OrgAccess
from ..errors import BadRequest, NotFound
from ..kit.db import Transaction
from . import store
from .store import EntryRow
from .wire import DeleteEntry, InsertEntry, UpdateEntry, UpdateGlossary

MAX_ENTRIES = 5000
"""Of one organization: all are read for every run."""


def get_entry(tx: Transaction, org: OrgAccess, entry_id: str) -> EntryRow:
    found = store.find_entry(tx, org.organization_id, entry_id)
    if found is None:
        raise NotFound(f"There is no glossary entry {entry_id!r} in this organization.")
    return found


def update(tx: Transaction, org: OrgAccess, given: UpdateGlossary) -> None:
    """All of it or nothing. Raises NotFound for an entry that is not there, BadRequest for too many."""
    for number, operation in enumerate(given.operations):
        match operation:
            case InsertEntry(translations):
                store.insert_entry(tx, org.organization_id, translations)
            case UpdateEntry(id, translations):
                store.update_entry(tx, _required(tx, org, number, id), translations)
            case DeleteEntry(id):
                store.delete_entry(tx, _required(tx, org, number, id))
    if store.count_entries(tx, org.organization_id) > MAX_ENTRIES:
        raise BadRequest(f"operations: a glossary has at most {MAX_ENTRIES} entries.")


def _required(tx: Transaction, org: OrgAccess, number: int, entry_id: str) -> str:
    if store.find_entry(tx, org.organization_id, entry_id) is None:
        raise NotFound(
            f"operations[{number}].id: there is no glossary entry {entry_id!r} in this organization."
        )
    return entry_id
