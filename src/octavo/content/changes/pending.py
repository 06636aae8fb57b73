"""What people have written in a change request and is not in a revision yet: pages that are edited live.

Everything that uses the content of a change request for others, such as a merge, an edit through the API, a request for
a review, or a push to a branch, saves it first. Reads can't: each sees one snapshot, from before such a save.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import NamedTuple

from octavo.errors import OctavoError
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction

log = logging.getLogger("octavo.changes")


class Pending(NamedTuple):
    """Functions of what keeps unsaved text.

    ``since(tx, branch_id)``: since when something is unsaved, in milliseconds; None: all is saved.
    ``save(context, change_id)``: save it. Raises what the same edit through the API is refused with.
    """

    since: Callable[[Transaction, str], int | None]
    save: Callable[[Context, str], None]


_pending: list[Pending] = []


def register_pending(pending: Pending) -> None:
    """Register where unsaved text is."""
    _pending[:] = [pending]


def has_pending(tx: Transaction, branch_id: str) -> bool:
    return any(pending.since(tx, branch_id) is not None for pending in _pending)


def save_pending(context: Context, change_id: str) -> None:
    """Save what is unsaved. Raises what the same edit through the API is refused with."""
    for pending in _pending:
        pending.save(context, change_id)


def try_to_save_pending(context: Context, change_id: str) -> None:
    """Save what is unsaved as far as it can be saved."""
    try:
        save_pending(context, change_id)
    except OctavoError as error:
        log.warning("what is written can't be saved yet: %s", error.message, extra={"change": change_id})
