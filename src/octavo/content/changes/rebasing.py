"""Merge edits to an older revision with later saves, so that neither the edits nor the saves are lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from octavo.content.references.resolving import Resolver
from octavo.content.revisions.drafting import same_version
from octavo.content.revisions.page_versions import find_pages
from octavo.content.revisions.restrictions import as_seen
from octavo.content.revisions.states import State, revision_state
from octavo.content.revisions.store import Changes
from octavo.errors import BadRequest, NotFound
from octavo.kit.db.database import Transaction

from .applying import EditedContent, PageOutcome
from .commands import ContentChange
from .comparing import merge_edit
from .editing import edit
from .uploading import Upload

Resolving = Callable[[Transaction, State], Resolver]


def edit_since(
    resolver_of: Resolving,
    tx: Transaction,
    head: State,
    started: State | None,
    changes: Sequence[ContentChange],
    uploads: Sequence[Upload],
    base_revision: str | None,
) -> EditedContent:
    """Return the content that a batch writes on top of ``head``. ``base_revision``: the revision that the client has
    seen; the batch is merged with all changes saved after it. If it is None, the batch is applied to ``head``.
    ``resolver_of``: a function that returns the author's reference resolver for a state."""
    if base_revision is None or base_revision == head.revision_id:
        return edit(resolver_of(tx, head), tx, head, changes, uploads, started)
    base = _base(tx, head, base_revision)
    edited = edit(resolver_of(tx, base), tx, base, changes, uploads, started)
    merged = merge_edit(tx, base, head, edited)
    outcomes = [_outcome(outcome, merged.changes) for outcome in edited.outcomes]
    ids = {outcome.page_id for outcome in outcomes}
    alone = {**find_pages(tx, base, ids), **edited.changes.pages}
    after = {**find_pages(tx, head, ids), **merged.changes.pages}
    kept = {page.body for page in merged.changes.pages.values() if page is not None}
    kept |= {item.content for item in merged.changes.items.values() if item is not None}
    keys = {(key.owner_id, key.body): key for key in [*edited.keys, *merged.keys] if key.body in kept}
    return replace(
        edited,
        changes=merged.changes,
        bodies=[*edited.bodies, *merged.bodies],
        keys=list(keys.values()),
        outcomes=outcomes,
        conflicts=merged.conflicts,
        shared=frozenset(id for id in ids if not same_version(alone.get(id), after.get(id))),
    )


def _base(tx: Transaction, head: State, revision_id: str) -> State:
    """Return the state of a base revision. Raises BadRequest if ``head`` doesn't descend from it."""
    try:
        base = revision_state(tx, head.space_id, revision_id)
    except NotFound:
        raise NotFound(
            f"baseRevision: there is no revision with the ID {revision_id!r} in this space"
        ) from None
    if base.layers[0].branch_id not in {layer.branch_id for layer in head.layers}:
        raise BadRequest("baseRevision: this revision belongs to another change request")
    return as_seen(tx, base, head)


def _outcome(outcome: PageOutcome, changes: Changes) -> PageOutcome:
    """Return the outcome for a page. A page that was deleted on one side and edited on the other is kept."""
    if outcome.kind == "deleted_page" and changes.pages.get(outcome.page_id, True) is not None:
        return replace(outcome, kind="updated_page")
    return outcome
