"""Create, run, and delete translations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from octavo.assistants.models.instructing import read_instructions
from octavo.content.revisions.states import main_state
from octavo.errors import BadRequest, NotFound, require_found
from octavo.kit.db.database import Database, Transaction
from octavo.kit.work.jobs import enqueue
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import OrgAccess, SpaceAccess, space_access
from octavo.organization.access.roles import Can
from octavo.organization.spaces.duplicating import duplicate_space, prepare_copy
from octavo.organization.spaces.store import get_space, update_space

from . import store
from .store import TranslationRow

JOB = "translateSpace"
_MAX_TITLE = 50


class NewTranslation(NamedTuple):
    """Translation to create. ``source``: the space to translate. ``instructions``: the nodes of a document."""

    source: str
    source_language: str
    language: str
    instructions: Any
    formality: str


def get_translation(
    tx: Transaction, org: OrgAccess, translation_id: str, needs: Can = Can.VIEW
) -> tuple[TranslationRow, SpaceAccess]:
    """Return a translation and the caller's access to its space. This access determines what the caller can do with
    the translation. Raises NotFound if the caller can't see the translation, and Forbidden if the caller doesn't
    have the permission ``needs``."""
    missing = f"There is no translation with the ID {translation_id!r} in this organization."
    found = require_found(store.find_translation(tx, org.organization_id, translation_id), missing)
    try:
        return found, space_access(tx, org.actor, needs, found.space_id)
    except NotFound:
        raise NotFound(missing) from None


@contextmanager
def prepare(db: Database, org: OrgAccess, wanted: NewTranslation) -> Iterator[str | None]:
    """Provide the input for one call to ``create`` in the ``with`` block; see ``prepare_copy``. Raises the same errors
    as ``create``."""
    with db.read() as tx:
        source = _require_source(tx, org, wanted)
    with prepare_copy(db, source) as prepared:
        yield prepared


def _require_source(tx: Transaction, org: OrgAccess, wanted: NewTranslation) -> SpaceAccess:
    """Return the caller's access to the source. Raises NotFound or Forbidden if the caller doesn't have
    access to it, and BadRequest if it can't be translated."""
    source = space_access(tx, org.actor, Can.ADMIN, wanted.source)
    if source.organization_id != org.organization_id:
        raise NotFound(f"source.space: there is no space with the ID {wanted.source!r} in this organization")
    if wanted.language == wanted.source_language:
        raise BadRequest("language: must be different from the source language")
    if store.is_translated(tx, source.space_id, wanted.language):
        raise BadRequest(f"language: this space already has a translation into {wanted.language!r}")
    return source


def create(tx: Transaction, org: OrgAccess, wanted: NewTranslation, prepared: str | None) -> TranslationRow:
    """Create a copy of the source, and start the first run. Later runs keep the copy up to date. The copy is visible to
    the same people as the source. Raises NotFound or Forbidden if the caller doesn't have access to the source, and
    BadRequest if it can't be translated."""
    source = _require_source(tx, org, wanted)
    store.delete_trashed(tx, source.space_id, wanted.language)
    instructions = read_instructions(wanted.instructions)
    title = get_space(tx, source.space_id).title
    made = duplicate_space(tx, source, prepared)
    suffix = f" ({wanted.language})"
    update_space(
        tx,
        made.id,
        title=title[: _MAX_TITLE - len(suffix)] + suffix,
        language=wanted.language,
        edit_mode="live",
    )
    found = store.insert_translation(
        tx,
        organization_id=org.organization_id,
        source_id=source.space_id,
        space_id=made.id,
        source_language=wanted.source_language,
        language=wanted.language,
        instructions=instructions,
        formality=wanted.formality,
        revision=main_state(tx, made.id).revision_id,
        run_by=org.user_id,
    )
    target = ("translation", found.id)
    audit(
        tx, org.actor, "translation.created", org.organization_id, target, after={"source": source.space_id}
    )
    _start(tx, found, org.user_id)
    return store.get_translation(tx, found.id)


def run(tx: Transaction, org: OrgAccess, translation_id: str) -> None:
    """Start another run, or restart the run in progress. Raises NotFound if the translation or its source doesn't
    exist or isn't visible to the caller, and Forbidden if the caller doesn't have permission."""
    found, _ = get_translation(tx, org, translation_id, Can.EDIT)
    space_access(tx, org.actor, Can.VIEW, found.source_id)
    _start(tx, found, org.user_id)


def _start(tx: Transaction, found: TranslationRow, user_id: str) -> None:
    run = store.start_run(tx, found.id, user_id)
    enqueue(tx, JOB, organization=found.organization_id, translation=found.id, run=run)


def cancel(tx: Transaction, org: OrgAccess, translation_id: str) -> TranslationRow:
    """Cancel the run in progress. Completed translations stay in the translation memory, and the space isn't
    changed. Raises BadRequest if no run is in progress."""
    found, _ = get_translation(tx, org, translation_id, Can.EDIT)
    if not store.cancel_run(tx, found.id):
        raise BadRequest("This translation has no run in progress.")
    return store.get_translation(tx, found.id)


def delete(tx: Transaction, org: OrgAccess, translation_id: str) -> bool:
    """Delete a translation. Its space is kept, but is no longer updated from the source. Return False if the
    translation doesn't exist."""
    try:
        found, _ = get_translation(tx, org, translation_id, Can.EDIT)
    except NotFound:
        return False
    store.delete_translation(tx, found.id)
    target = ("translation", found.id)
    audit(
        tx, org.actor, "translation.removed", org.organization_id, target, before={"source": found.source_id}
    )
    return True
