"""Making, running and ending translations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from octavo.assistants.models.instructing import read_instructions
from octavo.content.revisions.store import main_state
from octavo.errors import BadRequest, NotFound
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


class Wanted(NamedTuple):
    """A translation that is to be made. ``source``: the space; ``instructions``: nodes of a document."""

    source: str
    source_language: str
    language: str
    instructions: Any
    formality: str


def get_translation(
    tx: Transaction, org: OrgAccess, translation_id: str, needs: Can = Can.VIEW
) -> tuple[TranslationRow, SpaceAccess]:
    """A translation, and the caller at the space that follows: what they may do there they may do with it. Raises
    NotFound, Forbidden."""
    missing = f"There is no translation {translation_id!r} in this organization."
    found = store.find_translation(tx, org.organization_id, translation_id)
    if found is None:
        raise NotFound(missing)
    try:
        return found, space_access(tx, org.actor, needs, found.space_id)
    except NotFound:
        raise NotFound(missing) from None


@contextmanager
def prepare(db: Database, org: OrgAccess, wanted: Wanted) -> Iterator[str | None]:
    """What one call of ``create`` in the block needs, as ``prepare_copy`` makes it. Raises as ``create``."""
    with db.read() as tx:
        source = _require_source(tx, org, wanted)
    with prepare_copy(db, source) as prepared:
        yield prepared


def _require_source(tx: Transaction, org: OrgAccess, wanted: Wanted) -> SpaceAccess:
    """Raises NotFound and Forbidden for the source, BadRequest where it has no such translation to come."""
    source = space_access(tx, org.actor, Can.ADMIN, wanted.source)
    if source.organization_id != org.organization_id:
        raise NotFound(f"source.space: there is no space {wanted.source!r} in this organization.")
    if wanted.language == wanted.source_language:
        raise BadRequest("language: expected another language than that of the source.")
    if store.is_translated(tx, source.space_id, wanted.language):
        raise BadRequest(f"language: this space has a translation into {wanted.language!r} already.")
    return source


def create(tx: Transaction, org: OrgAccess, wanted: Wanted, prepared: str | None) -> TranslationRow:
    """A copy of the source that follows it from now on, and its first run. It is seen by whom the source is seen.
    Raises NotFound and Forbidden for the source, BadRequest."""
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
    """Another run; one that is under way begins anew. Raises NotFound, also for a source that the caller does not
    see or that was deleted, and Forbidden."""
    found, _ = get_translation(tx, org, translation_id, Can.EDIT)
    space_access(tx, org.actor, Can.VIEW, found.source_id)
    _start(tx, found, org.user_id)


def _start(tx: Transaction, found: TranslationRow, user_id: str) -> None:
    run = store.start_run(tx, found.id, user_id)
    enqueue(tx, JOB, organization=found.organization_id, translation=found.id, run=run)


def cancel(tx: Transaction, org: OrgAccess, translation_id: str) -> TranslationRow:
    """Ends the run that is under way: what it translated is remembered, the space stays as it was. Raises BadRequest
    when there is none."""
    found, _ = get_translation(tx, org, translation_id, Can.EDIT)
    if not store.cancel_run(tx, found.id):
        raise BadRequest("No run of this translation is under way.")
    return store.get_translation(tx, found.id)


def delete(tx: Transaction, org: OrgAccess, translation_id: str) -> bool:
    """The space stays, and follows nothing any more. False when there is no such translation."""
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
