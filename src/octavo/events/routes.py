"""Streams of events, and presence."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..access import Can, SignedIn, SpaceAccess, find_space_access, present_people, space_access
from ..errors import BadRequest
from ..kit.clock import now
from ..kit.db import Transaction
from ..kit.hub import HubMessage, Topic
from ..kit.operation import Area, Call, Deletion, Follow
from ..kit.outbox import OutboxPosition, read_position
from ..kit.pagination import Listing, Slice, present_slice
from . import presence
from .entering import Followed
from .store import Here, list_here
from .telling import of_change, of_main, of_person, of_space
from .wire import (
    EventsQuery,
    OwnEventsQuery,
    Presence,
    PresenceQuery,
    SayPresence,
    Told,
    ToldToPerson,
    present_presence,
)

operation = Area("events").operation

_SPACE = "/spaces/{spaceId}"
_CHANGE = "/spaces/{spaceId}/change-requests/{changeRequestId}"
_STREAM = "text/event-stream"


def _follow(
    call: Call,
    topics: Iterable[Topic],
    query: EventsQuery,
    owner: tuple[str, str],
    check: Callable[[], object] = lambda: None,
    may_know: Callable[[Transaction, HubMessage], bool] | None = None,
) -> Follow:
    after: OutboxPosition | None = None
    given = call.headers.get(b"last-event-id", b"").decode("latin-1") or query.after
    if given is not None:
        after = read_position(given)
        if after is None:
            place = "Last-Event-ID" if b"last-event-id" in call.headers else "after"
            raise BadRequest(f"{place}: expected the id of an event of such a stream")
    return Follow(tuple(topics), owner, after, query.seconds, check, may_know)


@operation(
    "streamEventsInSpace",
    "GET",
    f"{_SPACE}/events",
    needs=Can.VIEW,
    returns=Told,
    media_type=_STREAM,
    errors=(400, 503),
    extension=True,
)
@operation(
    "streamEventsInChangeRequest",
    "GET",
    f"{_CHANGE}/events",
    needs=Can.VIEW,
    returns=Told,
    media_type=_STREAM,
    errors=(400, 503),
    extension=True,
)
def stream_events(call: Call, followed: Followed, query: EventsQuery) -> Follow:
    """What happens in a space, its change requests included, or in one change request and on main below it, as
    server-sent events while it happens: revisions, comments, reviews, and who is present. Whoever comes back with
    `Last-Event-ID` is told what they missed."""
    if followed.change_id is None:
        topics = [of_space(followed.space_id)]
    else:
        topics = [of_change(followed.change_id), of_main(followed.space_id)]
    return _follow(call, topics, query, (followed.space.organization_id, followed.user_id))


@operation(
    "streamOwnEvents",
    "GET",
    "/user/events",
    needs=Can.SIGN_IN,
    returns=ToldToPerson,
    media_type=_STREAM,
    errors=(400, 404, 503),
    extension=True,
)
def stream_own_events(call: Call, caller: SignedIn, query: OwnEventsQuery) -> Follow:
    """What concerns the caller, as server-sent events while it happens: mentions, replies, requests for reviews, and
    what becomes of their change requests, in all organizations that the token reaches. `space` adds what happens in
    these spaces, so that one stream is enough."""

    def enter() -> list[SpaceAccess]:
        with call.db.read() as tx:
            return [space_access(tx, call.actor, Can.VIEW, space_id) for space_id in query.space]

    def may_know(tx: Transaction, message: HubMessage) -> bool:
        return not message.about or find_space_access(tx, call.actor, Can.VIEW, message.about) is not None

    entered = enter()
    topics = [of_person(caller.user_id), *map(of_space, query.space)]
    # A stream that is of no organization is on its person's own account.
    owner = (entered[0].organization_id if entered else caller.user_id, caller.user_id)
    return _follow(call, topics, query, owner, enter, may_know)


# --- presence -----------------------------------------------------------------------------------------


@operation(
    "listPresenceInSpace",
    "GET",
    f"{_SPACE}/presence",
    needs=Can.VIEW,
    returns=Listing[Presence],
    extension=True,
)
@operation(
    "listPresenceInChangeRequest",
    "GET",
    f"{_CHANGE}/presence",
    needs=Can.VIEW,
    returns=Listing[Presence],
    extension=True,
)
def list_presence(call: Call, followed: Followed, query: PresenceQuery) -> Listing[Presence]:
    """Who looks at or edits what just now: in a space with its change requests, or in one of them."""
    with call.db.read() as tx:
        found = list_here(tx, followed.space_id, followed.change_id, query.limit, query.page, now())
        shown = _present(call, tx, found.rows)
    return present_slice(Slice(shown, found.count, found.next_token), lambda one: one)


@operation(
    "sayPresenceInSpace",
    "PUT",
    f"{_SPACE}/presence/{{clientId}}",
    needs=Can.VIEW,
    returns=Presence,
    errors=(400, 404, 409),
    extension=True,
)
@operation(
    "sayPresenceInChangeRequest",
    "PUT",
    f"{_CHANGE}/presence/{{clientId}}",
    needs=Can.VIEW,
    returns=Presence,
    errors=(400, 404, 409),
    extension=True,
)
def say_presence(call: Call, followed: Followed, client_id: str, body: SayPresence) -> Presence:
    """Says where the caller is, for a minute: clients say it again every half minute. A client names itself, by
    letters, digits, `-` and `_`; one that was elsewhere is there no more."""
    if not presence.is_client_id(client_id):
        raise BadRequest("clientId: expected 1 to 64 letters, digits, `-` or `_`")
    with call.db.read() as tx:
        here = presence.say(tx, followed, client_id, body.activity, body.page)
        return _present(call, tx, [here])[0]


@operation(
    "endPresenceInSpace",
    "DELETE",
    f"{_SPACE}/presence/{{clientId}}",
    needs=Can.VIEW,
    returns=Deletion,
    extension=True,
)
@operation(
    "endPresenceInChangeRequest",
    "DELETE",
    f"{_CHANGE}/presence/{{clientId}}",
    needs=Can.VIEW,
    returns=Deletion,
    extension=True,
)
def end_presence(call: Call, followed: Followed, client_id: str) -> bool:
    """Says that a client of the caller has left."""
    with call.db.read() as tx:
        return presence.leave(tx, followed, client_id)


def _present(call: Call, tx: Transaction, rows: Iterable[Here]) -> list[Presence]:
    rows = list(rows)
    people = present_people(call, tx, [here.user_id for here in rows])
    return [
        present_presence(
            here.client_id,
            people[here.user_id],
            here.page_id,
            here.activity,
            here.came_at,
            here.change_request_id,
        )
        for here in rows
    ]
