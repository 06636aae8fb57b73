"""Events that wait to be written: who reads a page never waits for the database that counts it.

They wait in memory, as many as fit, and are written many at once. Of the words of a search that are looked up while
they are typed, only those at which somebody stopped are counted; for that it is known who typed as long as they wait
here, and no longer.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence

from msgspec import Struct

from octavo.errors import OutOfReach
from octavo.kit.clock import iso, now
from octavo.kit.context import Context
from octavo.kit.http.metrics import Metrics

from .collecting import Visitor, collect_of_sites
from .types import Event, SearchTypeQuery

log = logging.getLogger("octavo.insights")

_CAPACITY = 10_000
_TYPING = 1_500
"""Milliseconds after which somebody who typed no further has stopped."""


class _Waiting(Struct, frozen=True, gc=False):
    organization_id: str
    site_id: str
    event: Event | Callable[[], Event]
    visitor: Visitor
    typist: str
    at: int


class EventQueue:
    """One for a process; safe to share between threads. ``capacity``: events that wait at most."""

    def __init__(self, context: Context, metrics: Metrics | None = None, capacity: int = _CAPACITY) -> None:
        self._context = context
        self._metrics = metrics or Metrics()
        self._capacity = capacity
        self._lock, self._writing = threading.Lock(), threading.Lock()
        self._waiting: list[_Waiting] = []
        self._dropped = 0

    def add(
        self,
        organization_id: str,
        site_id: str,
        event: Event | Callable[[], Event],
        visitor: Visitor,
        typist: str = "",
    ) -> None:
        """Has an event of a published site written soon; drops it when the queue is full. ``event``: it, or what makes
        it when it is written, which costs whoever is answered nothing. ``visitor``: who did it, as conditions ask for
        them. ``typist``: the same for searches of the same reader, never written."""
        found = _Waiting(organization_id, site_id, event, visitor, typist, now())
        with self._lock:
            if len(self._waiting) < self._capacity:
                self._waiting.append(found)
            else:
                self._dropped += 1

    def write(self, *, everything: bool = False) -> None:
        """Writes what waits, but for searches that are being typed just now unless ``everything`` is said. Raises
        nothing: what cannot be written waits on while the database is out of reach, and is dropped otherwise."""
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
            except OutOfReach as error:
                log.warning("views and searches are not written yet: %s", error.message)
                typing = waiting
            except Exception:
                log.exception("views and searches could not be written")
                lost = len(settled)
            with self._lock:
                together = typing + self._waiting
                self._waiting = together[: self._capacity]
                dropped = lost + self._dropped + len(together) - len(self._waiting)
                self._dropped = 0
            if dropped:
                log.warning("%d views and searches were not counted", dropped)
                self._metrics.count_dropped_events(dropped)


class HeldEvents:
    """What is added to a queue once the answer is sure: an answer that is begun anew says all of it again."""

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
        """As ``EventQueue.add``, and at once where ``release`` was called already."""
        if self._held is None:
            self._queue.add(organization_id, site_id, event, visitor, typist)
        else:
            self._held.append(lambda: self._queue.add(organization_id, site_id, event, visitor, typist))

    def release(self) -> None:
        held, self._held = self._held or [], None
        for add in held:
            add()


Events = EventQueue | HeldEvents
"""What takes events."""


def _event(one: _Waiting) -> Event:
    event = one.event() if callable(one.event) else one.event
    event.timestamp = iso(one.at)
    return event


def _split(waiting: Sequence[_Waiting], since: int) -> tuple[list[_Waiting], list[_Waiting]]:
    """Those that are settled, and the searches of whoever has searched ``since``."""
    typists = {(one.site_id, one.typist) for one in waiting if one.typist and one.at > since}
    settled = [one for one in waiting if (one.site_id, one.typist) not in typists]
    return settled, [one for one in waiting if (one.site_id, one.typist) in typists]


def _without_typing(waiting: Sequence[_Waiting]) -> list[_Waiting]:
    """Without searches on the way to longer words, or back from them, by the same reader."""
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
