"""Apply a batch of changes to a state. If one change fails, none are applied.

This module doesn't write to the database: the batch is applied to a draft, and the result is the content to write in a
revision.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from octavo.content.references.resolving import Resolver
from octavo.content.revisions.states import State
from octavo.errors import OctavoError
from octavo.kit.db.database import Transaction

from .applying import BatchApplication, EditedContent
from .commands import ContentChange
from .uploading import Upload


def edit(
    resolver: Resolver,
    tx: Transaction,
    state: State,
    changes: Iterable[ContentChange],
    uploads: Sequence[Upload] = (),
    started: State | None = None,
) -> EditedContent:
    """Apply changes to a state. ``resolver``: the caller's reference resolver. ``started``: the state that
    ``revert_page`` restores if no revision is given. Raises BadRequest, NotFound, or Conflict if a change can't be
    applied; the message names the change."""
    batch = BatchApplication(tx, state, started, uploads, resolver)
    for number, change in enumerate(changes):
        try:
            batch.apply(change)
        except OctavoError as error:
            raise error.inside(f"changes[{number}]") from None
    return batch.finish()
