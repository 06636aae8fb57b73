"""What people have written in a change request and is not in a revision yet: pages that are edited live.

Everything that uses the content of a change request, such as a merge, an edit through the API, a request for a review,
or a push to a branch, saves it first. Reads declare it by the type of what they enter: ``WrittenState`` or
``WrittenChange``. Lists of pages and files, which no one edits live, don't.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import NamedTuple

from octavo.errors import OctavoError, TooManyRequests
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.scheduling.rates import RateLimiter

from .store import ChangeRow

log = logging.getLogger("octavo.changes")

_READS = 60
"""Saves of a change request in a minute because of reads. A client that reads whenever something is saved must not
have everything saved continuously. Reads beyond that see what was saved last, some seconds ago, and are told so."""


class Pending(NamedTuple):
    """Functions of what keeps unsaved text.

    ``since(tx, branch_id)``: since when something is unsaved, in milliseconds; None: all is saved.
    ``save(context, change_id)``: save it. Raises what the same edit through the API is refused with.
    ``hold(context, change_id)``: accept nothing further inside the block.
    """

    since: Callable[[Transaction, str], int | None]
    save: Callable[[Context, str], None]
    hold: Callable[[Context, str], AbstractContextManager[None]]


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


@contextmanager
def no_more_pending(context: Context, change_id: str) -> Iterator[None]:
    """Accept nothing that would have to be saved: who writes is asked to wait, and keeps it meanwhile."""
    with ExitStack() as held:
        for pending in _pending:
            held.enter_context(pending.hold(context, change_id))
        yield


def try_to_save_pending(context: Context, change_id: str) -> None:
    """Save what is unsaved as far as it can be saved."""
    try:
        save_pending(context, change_id)
    except OctavoError as error:
        log.warning("what is written can't be saved yet: %s", error.message, extra={"change": change_id})


class _Reads(RateLimiter):
    """Counter of saves because of reads, by change request."""


def can_save_for_read(context: Context, change: ChangeRow) -> bool:
    """Return whether a read of a change request can save it first, and count it."""
    reads = context.db.caches.get(_Reads) or context.db.caches.setdefault(_Reads, _Reads(_READS))
    try:
        reads.check(change.id)
    except TooManyRequests:
        return False
    return True
