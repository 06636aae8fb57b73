"""Event streams that notify clients immediately, without a thread for each client.

A process has one hub. After every commit by any process, it reads the events in the outbox after its position. Its
sources determine the topics of the events, and it passes the messages to the listeners of those topics. One thread
does all of this for all listeners; a listener itself is a waiting coroutine.

Clients get only messages that they are allowed to see. A listener's access is checked again before it gets a
message, when ``check_streams`` requests a check, and at least every ``QUIET`` seconds, unless there was no commit
since the last check.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Hashable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Lock
from typing import NamedTuple, Protocol

import msgspec

from octavo.errors import OctavoError
from octavo.kit.clock import iso, now
from octavo.kit.db.database import Database, Transaction
from octavo.kit.scheduling.owners import Owner
from octavo.kit.scheduling.pending import run_in
from octavo.kit.scheduling.shares import Shares

from . import outbox
from .outbox import Event, OutboxPosition

log = logging.getLogger("octavo.hub")

EACH = 100
QUIET = 15.0
"""Number of seconds without data after which the server sends a comment over a stream, because proxies
close streams that are silent for a minute."""
_LOOK = 0.05
"""Number of seconds between two checks for commits."""
_REST = 4.0
"""Length of the pause after a check for commits, as a multiple of the check's duration, so that the hub never uses
more than a fifth of a core."""
_LONGEST_REST = 5.0
_BATCH = 500
"""Number of events to read at a time."""
_REMEMBERED = 2000
"""Number of events to keep for clients that reconnect. Clients that have missed more events must reload all data."""
_CHECKED = 50
"""Number of listeners to check access for at a time."""
_UNSENT = 256 * 1024
"""Maximum number of unsent bytes for a slow client. If there are more, the stream ends, and the client reconnects."""
_FRESH = 5.0
"""Number of seconds for which an access check stays valid if there are no commits. It is limited because tokens
expire without a commit."""
_MISSING_SECONDS = 120.0
"""Number of seconds to wait for an event with a lower ID than events that have already been read. By then, the
transaction of the missing event must have ended."""
_RECONNECT = 3000
"""Time in milliseconds after which a client reconnects if its stream has ended."""

_CHECK = "streams_checked"

Topic = tuple[str, str]
"""Topic to listen to: a kind of object and its ID."""


class PagePlace(NamedTuple):
    """Page of a space, in a change request or, if that is None, in main."""

    space_id: str
    change_request_id: str | None
    page_id: str


class HubMessage(NamedTuple):
    """Message for listeners to any of these topics. A listener can check access to the message's subject
    (``Listener.may_know``). ``about``: the space that the subject belongs to. ``page``: the page that the message is
    about. ``instead_of``: the page of another message, if this message is for recipients who can't see that page."""

    topics: tuple[Topic, ...]
    kind: str
    data: msgspec.Struct
    about: str = ""
    page: PagePlace | None = None
    instead_of: PagePlace | None = None


class MessageSource(Protocol):
    """Source of messages. Each hub has its own instance, and calls its methods in the hub's thread, within a read
    transaction."""

    def messages_about(self, tx: Transaction, event: Event, topics: frozenset[Topic]) -> Iterable[HubMessage]:
        """Return messages about an event for the listeners to these topics. ``topics``: all topics that have
        listeners."""
        ...

    def other_messages(self, tx: Transaction, topics: frozenset[Topic]) -> Iterable[HubMessage]:
        """Return messages about other changes since the last call. These messages aren't repeated for clients that
        missed them."""
        ...


_sources: list[Callable[[], MessageSource]] = []


def source(make: Callable[[], MessageSource]) -> Callable[[], MessageSource]:
    """Register a source of messages."""
    _sources.append(make)
    return make


def check_streams(tx: Transaction, person: str, ended: int) -> int:
    """End the streams that a person can no longer see, in all processes, right after the transaction. Otherwise, an
    idle stream of a person who was signed out would stay open for up to ``QUIET`` seconds. ``ended``: the number of
    the person's sessions or tokens that just ended. If it is 0, nothing happens. Returns this number."""
    if ended:
        outbox.emit(tx, _CHECK, person=person)
    return ended


class _StreamMessage(msgspec.Struct, tag_field="kind", kw_only=True):
    timestamp: str


class Ready(_StreamMessage, tag="ready"):
    """First message of a stream. All later events are sent as they happen."""


class Reset(_StreamMessage, tag="reset"):
    """Message that tells the client to reload all data, because events after the last event that it received are no
    longer available."""


class Closed(_StreamMessage, tag="closed", kw_only=True):
    """Last message of a stream. The stream ends because a new request would be rejected with this error."""

    code: int
    message: str


class Listener:
    """Listener to topics.

    ``check``: a function that raises the error that a new request would be rejected with. ``may_know(tx, message)``
    returns whether the listener can see the subject of a message. ``after``: the position at which the listener stopped
    listening; None if the listener is new. ``seconds``: the duration of the stream; 0 for only past events. ``owner``:
    an organization, and the person or object in it. ``access``: everything that ``check`` and ``may_know`` depend on,
    except the database; listeners with the same value are checked together.
    """

    __slots__ = (
        "access",
        "after",
        "check",
        "checked_at",
        "checked_with",
        "ended",
        "given",
        "may_know",
        "owner",
        "quiet_since",
        "size",
        "topics",
        "until",
        "waiter",
    )

    def __init__(
        self,
        topics: Iterable[Topic],
        *,
        owner: Owner,
        access: Hashable,
        check: Callable[[], None],
        may_know: Callable[[Transaction, HubMessage], bool] | None = None,
        after: OutboxPosition | None = None,
        seconds: float,
    ) -> None:
        self.topics = frozenset(topics)
        self.owner = owner
        self.access = access
        self.check = check
        self.may_know = may_know
        self.after = after
        self.until = time.monotonic() + seconds
        self.checked_with: int | None = None
        self.checked_at = 0.0
        self.quiet_since = time.monotonic()
        self.given: list[bytes] = []
        self.size = 0
        self.ended = seconds <= 0
        self.waiter: asyncio.Future[None] | None = None

    def is_fresh(self, generation: int | None, moment: float) -> bool:
        return (
            generation is not None and self.checked_with == generation and moment - self.checked_at < _FRESH
        )

    def give(self, piece: bytes) -> None:
        """Add a chunk to send. Call this on the event loop."""
        if self.ended:
            return
        self.given.append(piece)
        self.size += len(piece)
        self.quiet_since = time.monotonic()
        if self.size > _UNSENT:
            self.given, self.ended = [], True
        self._wake()

    def end(self) -> None:
        """End the stream after all messages added so far. Call this on the event loop."""
        self.ended = True
        self._wake()

    def _wake(self) -> None:
        if self.waiter is not None and not self.waiter.done():
            self.waiter.set_result(None)


def wake_hub(db: Database) -> None:
    """Send what was just committed as soon as possible to the clients of this process."""
    hub: Hub | None = db.caches.get(Hub)
    if hub is not None:
        hub.wake()


def _frame(kind: str, data: msgspec.Struct, position: OutboxPosition | None) -> bytes:
    id = b"" if position is None else f"id: {position}\n".encode()
    return b"%bevent: %b\ndata: %b\n\n" % (id, kind.encode(), msgspec.json.encode(data))


class Hub:
    """Hub of a process. ``most``: the maximum number of listeners at a time. One organization can have at most
    three quarters of them, and one person in it at most ``EACH``."""

    def __init__(self, db: Database, most: int) -> None:
        self._db = db
        self._places = Shares("event streams are open", most, each=(most * 3 // 4, EACH))
        self._sources: list[MessageSource] = []
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="octavo-hub")
        self._lock = Lock()
        """Lock for the listeners by topic."""
        self._by_topic: dict[Topic, set[Listener]] = {}
        self._listeners: set[Listener] = set()
        self._latest: deque[tuple[Event, OutboxPosition]] = deque(maxlen=_REMEMBERED)
        self._remembers = False
        """Whether all ``_REMEMBERED`` events have been read."""
        self._position = OutboxPosition(0)
        self._missing_since: dict[int, float] = {}
        self._checked: dict[Hashable, float] = {}
        """Times of the last checks at the generation ``_checked_with``, by ``Listener.access``. A page that is open in
        hundreds of tabs of a few people is checked a few times after a commit, not hundreds of times."""
        self._checked_with: int | None = None
        self._unsure: dict[object, int | None] = {}
        """People who lost access, each with the generation at which their listeners were checked. The event can be read
        before the generation of its commit begins, so cached values could still allow access."""
        self._commits: int | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pump: asyncio.Task[None] | None = None
        self._woken = asyncio.Event()
        self._closed = False
        db.caches[Hub] = self

    @property
    def count(self) -> int:
        return len(self._listeners)

    async def follow(self, listener: Listener) -> AsyncGenerator[bytes, None]:
        """Yield the chunks of a stream until it ends.

        Before the first chunk, raises Busy if there are too many streams, or the error that rejects the listener's
        request. After ``close`` has been called, a new stream ends with its first chunk instead of an
        error, because browsers reconnect (to another process) only if there is no error.
        """
        loop = self._loop = asyncio.get_running_loop()
        give_back = self._places.wait(listener.owner, 0)
        self._listeners.add(listener)
        try:
            yield await run_in(self._thread, self._attach, listener)
            if self._closed:
                return
            if not listener.ended and self._pump is None:
                self._pump = loop.create_task(self._run())
            while True:
                if listener.given:
                    pieces, listener.given, listener.size = listener.given, [], 0
                    yield b"".join(pieces)
                elif listener.ended:
                    return
                else:
                    listener.waiter = loop.create_future()
                    await listener.waiter
        finally:
            self._detach(listener)
            give_back()

    def end_streams(self) -> None:
        """End all streams. The clients reconnect. Call this on the event loop."""
        for listener in list(self._listeners):
            listener.end()

    def close(self) -> None:
        """End all streams, and end new streams with their first chunk. Call this on the event loop."""
        self._closed = True
        self.end_streams()
        if self._pump is not None:
            self._pump.cancel()

    def wake(self) -> None:
        """Check for commits now instead of within ``_LOOK`` seconds."""
        if self._loop is not None:
            with suppress(RuntimeError):  # The loop is closed: no one listens any longer.
                self._loop.call_soon_threadsafe(self._woken.set)

    def shut_down(self) -> None:
        self._thread.shutdown(wait=True)

    def _forget(self, listener: Listener) -> None:
        with self._lock:
            for topic in listener.topics:
                there = self._by_topic.get(topic)
                if there is not None:
                    there.discard(listener)
                    if not there:
                        del self._by_topic[topic]

    def _detach(self, listener: Listener) -> None:
        with self._lock:
            listener.ended = True
        self._forget(listener)
        self._listeners.discard(listener)
        if not self._listeners and self._pump is not None:
            self._pump.cancel()
            self._pump = None

    async def _run(self) -> None:
        woken = self._woken = asyncio.Event()
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(woken.wait(), _LOOK)
            woken.clear()
            commits = self._db.commits()
            if commits is None or commits != self._commits:
                started = time.monotonic()
                await run_in(self._thread, self._look)
                self._commits = commits
                await asyncio.sleep(min(_REST * (time.monotonic() - started), _LONGEST_REST))
            moment = time.monotonic()
            quiet = []
            for listener in list(self._listeners):
                if listener.until <= moment:
                    listener.end()
                elif moment - listener.quiet_since >= QUIET:
                    quiet.append(listener)
            for first in range(0, len(quiet), _CHECKED):
                await run_in(self._thread, self._keep, quiet[first : first + _CHECKED])

    def _hand_out(self, given: Sequence[tuple[Listener, bytes | None]]) -> None:
        """Pass chunks to listeners. If a chunk is None, the stream ends. This runs on the event loop."""
        for listener, piece in given:
            if piece is None:
                listener.end()
            else:
                listener.give(piece)

    # --- in the hub's thread --------------------------------------------------------------------------

    def _attach(self, listener: Listener) -> bytes:
        """Return the first message for a listener: the events that it has missed, and its position."""
        with self._db.read() as tx:
            generation = self._db.generation()
            if self._by_topic:
                # Everything that this read sees is sent to the other listeners first, so that no one misses
                # it or gets it twice.
                self._take(tx, generation)
            else:
                self._begin(tx, generation)
            listener.checked_with, listener.checked_at = generation, time.monotonic()
            said = [b"retry: %d\n\n" % _RECONNECT]
            missed = self._missed(tx, listener.after)
            if missed is None:
                said.append(_frame("reset", Reset(timestamp=iso(now())), None))
            for event, position in missed or ():
                for message in self._said_of(tx, event, listener.topics):
                    if self._concerns(tx, listener, message):
                        said.append(_frame(message.kind, message.data, position))
            said.append(_frame("ready", Ready(timestamp=iso(now())), self._position))
        with self._lock:
            if not listener.ended:
                for topic in listener.topics:
                    self._by_topic.setdefault(topic, set()).add(listener)
        return b"".join(said)

    def _begin(self, tx: Transaction, generation: int | None) -> None:
        """Discard earlier events, because no events were read while there were no listeners."""
        self._sources = [make() for make in _sources]
        self._latest = deque(outbox.latest_events(tx, _BATCH), _REMEMBERED)
        self._remembers = False
        self._position = self._latest[-1][1] if self._latest else OutboxPosition(0)
        self._missing_since = dict.fromkeys(self._position.missing, time.monotonic())

    def _missed(
        self, tx: Transaction, after: OutboxPosition | None
    ) -> list[tuple[Event, OutboxPosition]] | None:
        """Return the events from a position to the current position; None if they are no longer available."""
        if after is None:
            return []
        first = self._latest[0][0].id if self._latest else self._position.last + 1
        if after.last < first - 1 and not self._remembers:
            # Clients that reconnect after a restart request events that this process has not seen itself.
            self._latest = deque(outbox.latest_events(tx, _REMEMBERED), _REMEMBERED)
            self._remembers = True
            first = self._latest[0][0].id if self._latest else first
        if not first - 1 <= after.last <= self._position.last:
            return None
        return [found for found in self._latest if found[0].id > after.last or found[0].id in after.missing]

    def _look(self) -> None:
        try:
            with self._db.read() as tx:
                self._take(tx, self._db.generation())
        except OctavoError as error:
            log.warning("events can't be read: %s", error.message)
        except Exception:
            log.exception("events can't be read")

    def _take(self, tx: Transaction, generation: int | None) -> None:
        """Send all new events that are visible to this read."""
        topics = self._topics()
        given: list[tuple[Listener, bytes | None]] = []
        for person in [one for one, checked_with in self._unsure.items() if checked_with != generation]:
            del self._unsure[person]
            self._check(person, generation, given)
        more = True
        while more:
            found = outbox.events_after(tx, self._position, _BATCH)
            more = len(found) >= _BATCH
            for event, position in found:
                if event.type == _CHECK:
                    self._check(event.payload["person"], generation, given)
                    self._unsure[event.payload["person"]] = generation
                for message in self._said_of(tx, event, topics):
                    self._give(tx, message, position, generation, given)
            if found:
                self._latest.extend(found)
                self._wait_for_missing(found[-1][1])
        for maker in self._sources:
            for message in maker.other_messages(tx, topics):
                self._give(tx, message, None, generation, given)
        self._send(given)

    def _wait_for_missing(self, position: OutboxPosition) -> None:
        moment = time.monotonic()
        since = {id: self._missing_since.get(id, moment) for id in position.missing}
        self._missing_since = {id: begun for id, begun in since.items() if moment - begun < _MISSING_SECONDS}
        self._position = OutboxPosition(position.last, tuple(self._missing_since))

    def _topics(self) -> frozenset[Topic]:
        with self._lock:
            return frozenset(self._by_topic)

    def _said_of(self, tx: Transaction, event: Event, topics: frozenset[Topic]) -> Iterable[HubMessage]:
        for maker in self._sources:
            try:
                yield from maker.messages_about(tx, event, topics)
            except Exception:
                # The event is skipped: it would stop all streams.
                log.exception("an event couldn't be converted to messages", extra={"event": event.id})

    def _give(
        self,
        tx: Transaction,
        message: HubMessage,
        position: OutboxPosition | None,
        generation: int | None,
        given: list[tuple[Listener, bytes | None]],
    ) -> None:
        with self._lock:
            listeners = {one for topic in message.topics for one in self._by_topic.get(topic, ())}
        if not listeners:
            return
        frame = _frame(message.kind, message.data, position)
        known: dict[Hashable, bool] = {}
        for listener in listeners:
            if not self._may_listen(listener, generation, given):
                continue
            if listener.access not in known:
                known[listener.access] = self._concerns(tx, listener, message)
            if known[listener.access]:
                given.append((listener, frame))

    def _check(
        self, person: object, generation: int | None, given: list[tuple[Listener, bytes | None]]
    ) -> None:
        with self._lock:
            listeners = {one for there in self._by_topic.values() for one in there if one.owner[1] == person}
        self._checked = {}
        for listener in listeners:
            listener.checked_with = None
            self._may_listen(listener, generation, given)

    @staticmethod
    def _concerns(tx: Transaction, listener: Listener, message: HubMessage) -> bool:
        return listener.may_know is None or listener.may_know(tx, message)

    def _may_listen(
        self, listener: Listener, generation: int | None, given: list[tuple[Listener, bytes | None]]
    ) -> bool:
        """Return whether a listener still has access. If not, send the error as its last message."""
        moment = time.monotonic()
        if listener.is_fresh(generation, moment):
            return True
        if generation is None or generation != self._checked_with:
            self._checked, self._checked_with = {}, generation
        checked_at = self._checked.get(listener.access)
        if checked_at is not None and moment - checked_at < _FRESH:
            listener.checked_with, listener.checked_at = generation, checked_at
            return True
        try:
            listener.check()
        except OctavoError as error:
            refused = Closed(timestamp=iso(now()), code=error.status, message=error.message)
        except Exception:
            log.exception("a listener's access couldn't be checked")
            refused = Closed(timestamp=iso(now()), code=500, message="Something went wrong on the server.")
        else:
            listener.checked_with, listener.checked_at = generation, moment
            if generation is not None:
                self._checked[listener.access] = moment
            return True
        self._forget(listener)
        given += [(listener, _frame("closed", refused, None)), (listener, None)]
        return False

    def _keep(self, quiet: Sequence[Listener]) -> None:
        """Send comments on streams that have been idle for a long time, and end the streams of listeners who no
        longer have access."""
        given: list[tuple[Listener, bytes | None]] = []
        try:
            with self._db.read():
                generation = self._db.generation()
                given += [(one, b":\n\n") for one in quiet if self._may_listen(one, generation, given)]
        except OctavoError as error:
            log.warning("listeners' access couldn't be checked: %s", error.message)
        except Exception:
            log.exception("listeners' access couldn't be checked")
        self._send(given)

    def _send(self, given: list[tuple[Listener, bytes | None]]) -> None:
        if given and self._loop is not None:
            with suppress(RuntimeError):  # The loop is closed: no one listens any longer.
                self._loop.call_soon_threadsafe(self._hand_out, given)
