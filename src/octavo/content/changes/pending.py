"""Unsaved text: text that people have typed on live-edited pages, in a change request or in main, and that isn't in a
revision yet.

Everything that uses the content of a change request, such as a merge, an edit through the API, a review request, or a
push to a branch, saves this text first. Operations that read page content require this through their scope type:
``WrittenState`` or ``WrittenChange``. Lists of pages and files don't need it, because no one edits these live.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import NamedTuple

from octavo.content.revisions.states import main_state
from octavo.errors import OctavoError, TooManyRequests
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.scheduling.rates import RateLimiter

from .store import ChangeRow, get_change

log = logging.getLogger("octavo.changes")

_READS = 60
"""Maximum number of saves per minute that reads can cause in a change request. Otherwise, a client that reads after
every save would cause continuous saves. Additional reads return the last saved content, which is a few seconds old, and
a header that indicates this."""


class Pending(NamedTuple):
    """Functions of the package that stores unsaved text.

    ``since(tx, branch_id)``: return the time in milliseconds of the oldest unsaved text; None if all changes are saved.
    ``save(context, branch_id)``: save the text. Raises the same errors as an edit through the API. ``hold(context,
    branch_id)``: reject new text during the ``with`` block.
    """

    since: Callable[[Transaction, str], int | None]
    save: Callable[[Context, str], None]
    hold: Callable[[Context, str], AbstractContextManager[None]]


_pending: list[Pending] = []


def register_pending(pending: Pending) -> None:
    """Register the functions of the package that stores unsaved text."""
    _pending[:] = [pending]


def has_pending(tx: Transaction, branch_id: str) -> bool:
    return any(pending.since(tx, branch_id) is not None for pending in _pending)


def save_pending(context: Context, change_id: str) -> None:
    """Save unsaved text. Raises the same errors as an edit through the API."""
    _save(context, _branch_of(context, change_id))


def _branch_of(context: Context, change_id: str) -> str:
    with context.db.read() as tx:
        return get_change(tx, change_id).branch_id


def _save(context: Context, branch_id: str) -> None:
    for pending in _pending:
        pending.save(context, branch_id)


@contextmanager
def no_more_pending(context: Context, change_id: str) -> Iterator[None]:
    """Reject new text during the ``with`` block. Clients keep their text and try again."""
    branch_id = _branch_of(context, change_id)
    with ExitStack() as stack:
        for pending in _pending:
            stack.enter_context(pending.hold(context, branch_id))
        yield


def try_to_save_pending(context: Context, change_id: str) -> None:
    """Save unsaved text, and ignore text that can't be saved."""
    try:
        save_pending(context, change_id)
    except OctavoError as error:
        log.warning("unsaved text can't be saved yet: %s", error.message, extra={"change": change_id})


def try_to_save_main(context: Context, space_id: str) -> None:
    """Save unsaved text in main, and ignore text that can't be saved."""
    try:
        with context.db.read() as tx:
            branch_id = main_state(tx, space_id).layers[0].branch_id
        _save(context, branch_id)
    except OctavoError as error:
        log.warning("unsaved text can't be saved yet: %s", error.message, extra={"space": space_id})


class _Reads(RateLimiter):
    """Rate limiter for saves that are caused by reads, with a separate limit for each change request."""


def can_save_for_read(context: Context, change: ChangeRow) -> bool:
    """Count a read of a change request, and return whether the read can save unsaved text first."""
    reads = context.db.caches.get(_Reads) or context.db.caches.setdefault(_Reads, _Reads(_READS))
    try:
        reads.check(change.id)
    except TooManyRequests:
        return False
    return True
