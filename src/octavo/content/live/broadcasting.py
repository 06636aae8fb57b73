"""Messages about live pages for connected clients: steps, carets, and saves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from octavo.kit.clock import now
from octavo.kit.db.database import Transaction
from octavo.kit.work.hub import HubMessage, Topic, source
from octavo.kit.work.outbox import Event
from octavo.organization.access.accounts import list_users_by_id

from . import store
from .branches import get_branch
from .documents import LoadedBatch, find_first_version
from .store import CaretRow, LiveRow, PageKey
from .wire import LiveReset, SavedEvent, StepsEvent, present_batches, present_caret_event

_BACK = 15_000
"""Age in milliseconds of the steps that are sent when a page is read for the first time. Otherwise, a client that
starts to follow the page just before it is read would miss some steps."""
_KIND = "live"


def of_live_page(key: PageKey) -> Topic:
    return _KIND, f"{key.branch_id}/{key.page_id}"


_Client = tuple[str, str]
"""ID of a client, and the ID of its user."""


class _Known(NamedTuple):
    """Page data that has already been sent."""

    row: LiveRow
    carets: dict[_Client, CaretRow]


@source
class LiveMessages:
    """Source of messages about live pages."""

    def __init__(self) -> None:
        self._known: dict[PageKey, _Known] = {}

    def messages_about(self, tx: Transaction, event: Event, topics: frozenset[Topic]) -> Iterable[HubMessage]:
        return ()

    def other_messages(self, tx: Transaction, topics: frozenset[Topic]) -> Iterable[HubMessage]:
        keys = [PageKey(*id.split("/", 1)) for kind, id in topics if kind == _KIND]
        if not keys:
            self._known = {}
            return []
        rows, places = store.list_live(tx, keys), store.list_carets(tx, keys)
        known, self._known = self._known, {}
        messages: list[HubMessage] = []
        for key in keys:
            row = rows.get(key)
            if row is None:
                continue
            before = known.get(key)
            carets = {(caret.client, caret.user_id): caret for caret in places.get(key, ())}
            messages += self._of_page(tx, key, before, _Known(row, carets))
            self._known[key] = _Known(row, carets)
        return messages

    def _of_page(
        self, tx: Transaction, key: PageKey, before: _Known | None, after: _Known
    ) -> Iterator[HubMessage]:
        topics, row = (of_live_page(key),), after.row
        if before is not None and before.row.epoch != row.epoch:
            yield HubMessage(topics, "live-reset", LiveReset())
            return
        last = before.row.version if before is not None else _find_recent(tx, key)
        if row.version > last:
            batches = [_loaded(batch) for batch in store.list_batches(tx, key, last)]
            if batches:
                yield HubMessage(topics, "steps", StepsEvent(row.version, present_batches(batches)))
        if before is not None and (row.saved_version, row.revision, row.refused) != (
            before.row.saved_version,
            before.row.revision,
            before.row.refused,
        ):
            refused = msgspec.json.decode(row.refused)
            yield HubMessage(topics, "saved", SavedEvent(row.saved_version, row.revision, refused))
        yield from self._of_carets(tx, topics, before.carets if before is not None else {}, after.carets)

    def _of_carets(
        self,
        tx: Transaction,
        topics: tuple[Topic, ...],
        before: dict[_Client, CaretRow],
        after: dict[_Client, CaretRow],
    ) -> Iterator[HubMessage]:
        moved = [caret for name, caret in after.items() if before.get(name) != caret]
        gone = [caret for name, caret in before.items() if name not in after]
        if moved or gone:
            known = list_users_by_id(tx, [caret.user_id for caret in (*moved, *gone)])
            for caret, is_gone in [(caret, False) for caret in moved] + [(caret, True) for caret in gone]:
                yield HubMessage(topics, "caret", present_caret_event(caret, known, gone=is_gone))


def _find_recent(tx: Transaction, key: PageKey) -> int:
    """Return the version after which steps are sent when a page is read for the first time."""
    first = find_first_version(tx, key, get_branch(tx, key.branch_id).state)
    return max(first, store.find_version_at(tx, key, now() - _BACK) or 0)


def _loaded(batch: store.BatchRow) -> LoadedBatch:
    return LoadedBatch(batch, ())
