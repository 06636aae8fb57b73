"""A batch of changes to the content of a state: applied in order, all of it or nothing.

Nothing is written here: the batch is applied to a draft, and what comes out of that is what a revision has to write.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from octavo.content.references.resolving import Resolver
from octavo.content.revisions.store import State
from octavo.errors import OctavoError
from octavo.kit.db.database import Transaction

from .applying import Applying, Edited
from .commands import ContentChange
from .uploading import Upload


def edit(
    resolver: Resolver,
    tx: Transaction,
    state: State,
    changes: Iterable[ContentChange],
    uploads: Sequence[Upload] = (),
    started: State | None = None,
) -> Edited:
    """Applies the changes to a state. ``resolver``: what references in it mean to the caller. ``started``: what ``revert_page`` goes back to when it names no revision.
    Raises BadRequest, NotFound or Conflict, naming the change."""
    batch = Applying(tx, state, started, uploads, resolver)
    for number, change in enumerate(changes):
        try:
            batch.apply(change)
        except OctavoError as error:
            raise error.inside(f"changes[{number}]") from None
    return batch.finish()
