"""Queue of events to write, so that readers never wait for the database that counts their views.

Events are held in memory, up to a limit, and are written in batches. Many searches run while a reader types. Only
the searches after which the reader paused are counted. The reader is remembered only as long as these events are in
the queue."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence

from msgspec import Struct

from octavo.errors import TemporarilyUnavailable
from octavo.kit.clock import iso, now
from octavo.kit.context import Context
from octavo.kit.http.metrics import Metrics

from .collecting import Visitor, collect_of_sites
from .types import Event, SearchTypeQuery

log = logging.getLogger("octavo.insights")

_CAPACITY = 10_000
_TYPING = 1_500
"""Milliseconds without a keystroke after which a search counts as finished."""


class _QueuedEvent(Struct, frozen=True, gc=False):
    organization_id: str
    site_id: str
    event: Event | Callable[[], Event]
    visitor: Visitor
    typist: str
    at: int


class EventQueue:
    """Event queue of a process. It is thread-safe. ``capacity``: the maximum number of queued events."""

    def __init__(self, context: Context, metrics: Metrics | None = None, capacity: int = _CAPACITY) -> None:
        self._context = context
        self._metrics = metrics or Metrics()
        self._capacity = capacity
        self._lock, self._writing = threading.Lock(), threading.Lock()
        self._waiting: list[_QueuedEvent] = []
        self._dropped = 0

    def add(
        self,
        organization_id: str,
        site_id: str,
        event: Event | Callable[[], Event],
        visitor: Visitor,
        typist: str = "",
    ) -> None:
        """Queue an event of a published site, or drop it if the queue is full. ``event``: the event, or a function
        that creates the event when it is written, so that the request doesn't have to do that work. ``visitor``: the
        visitor's claims, in the format that conditions use. ``typist``: a key that is the same for all searches by a
        reader and is never stored."""
        found = _QueuedEvent(organization_id, site_id, event, visitor, typist, now())
        with self._lock:
            if len(self._waiting) < self._capacity:
                self._waiting.append(found)
            else:
                self._dropped += 1

    def write(self, *, everything: bool = False) -> None:
        """Write the queued events, except searches that are still being typed. ``everything``: whether to include
        these searches, too. This method never raises errors. While the database is unreachable, events stay
        queued. Events that fail for other reasons are dropped."""
        with self._writing:
            with self._lock:
                waiting, self._waiting = self._waiting, []
            settled, typing = (waiting, []) if everything else _split(waiting, now() - _TYPING)
            lost = 0
            try:
                if settled:
                    collect_of_sites(
                        self._context,
                        [
                            (one.organization_id, one.site_id, _event(one), one.visitor)
                            for one in _without_typing(settled)
                        ],
                    )
            except TemporarilyUnavailable as error:
                log.warning("views and searches can't be written yet, and will be retried: %s", error.message)
                typing = waiting
            except Exception:
                log.exception("views and searches couldn't be written, and aren't counted")
                lost = len(settled)
            with self._lock:
                together = typing + self._waiting
                self._waiting = together[: self._capacity]
                dropped = lost + self._dropped + len(together) - len(self._waiting)
                self._dropped = 0
            if dropped:
                log.warning("dropped %d views and searches", dropped)
                self._metrics.count_dropped_events(dropped)


class DeferredEvents:
    """Events that aren't queued until the response is final, because a response that is restarted reports its events
    again."""

    def __init__(self, queue: EventQueue) -> None:
        self._queue = queue
        self._held: list[Callable[[], None]] | None = []

    def add(
        self,
        organization_id: str,
        site_id: str,
        event: Event | Callable[[], Event],
        visitor: Visitor,
        typist: str = "",
    ) -> None:
        """Queue an event like ``EventQueue.add``. After ``release`` has been called, events are queued immediately."""
        if self._held is None:
            self._queue.add(organization_id, site_id, event, visitor, typist)
        else:
            self._held.append(lambda: self._queue.add(organization_id, site_id, event, visitor, typist))

    def release(self) -> None:
        held, self._held = self._held or [], None
        for add in held:
            add()


Events = EventQueue | DeferredEvents
"""Type of objects that accept events."""


def _event(one: _QueuedEvent) -> Event:
    event = one.event() if callable(one.event) else one.event
    event.timestamp = iso(one.at)
    return event


def _split(waiting: Sequence[_QueuedEvent], since: int) -> tuple[list[_QueuedEvent], list[_QueuedEvent]]:
    """Split events into finished events and events from readers who have searched after ``since``."""
    typists = {(one.site_id, one.typist) for one in waiting if one.typist and one.at > since}
    settled = [one for one in waiting if (one.site_id, one.typist) not in typists]
    return settled, [one for one in waiting if (one.site_id, one.typist) in typists]


def _without_typing(waiting: Sequence[_QueuedEvent]) -> list[_QueuedEvent]:
    """Return the events, except searches that ran while a reader was still typing or deleting the letters of
    another query."""
    searches: dict[tuple[str, str], list[str]] = {}
    places = []
    for one in waiting:
        asked = searches.setdefault((one.site_id, one.typist), [])
        places.append(len(asked))
        if isinstance(one.event, SearchTypeQuery) and one.typist:
            asked.append(one.event.query)
    return [
        one
        for one, place in zip(waiting, places, strict=True)
        if not one.typist or _is_longest(searches[one.site_id, one.typist], place)
    ]


def _is_longest(asked: Sequence[str], place: int) -> bool:
    query = asked[place]
    before = asked[place - 1] if place else ""
    after = asked[place + 1] if place + 1 < len(asked) else ""
    return not after.startswith(query) and (before == query or not before.startswith(query))
