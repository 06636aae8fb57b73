"""Event streams and presence."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from octavo.content.changes.store import find_state
from octavo.content.live.authorization import followed_page
from octavo.content.live.broadcasting import of_live_page
from octavo.content.revisions.restrictions import seen_by, unrestricted
from octavo.errors import BadRequest
from octavo.kit.clock import now
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Listing, Slice, present_slice
from octavo.kit.http.operation import Actor, Area, Call, Follow
from octavo.kit.work.hub import HubMessage, PagePlace, Topic
from octavo.kit.work.outbox import OutboxPosition, read_position
from octavo.organization.access.authorization import SignedIn, SpaceAccess, find_space_access, space_access
from octavo.organization.access.roles import Can
from octavo.organization.access.wire import present_people

from . import presence
from .authorization import FollowedPlace
from .broadcasting import of_change, of_main, of_person, of_space
from .store import PresenceRow, list_here, list_places
from .wire import (
    EventsQuery,
    OwnEventsQuery,
    PersonMessage,
    Presence,
    PresenceQuery,
    SayPresence,
    SpaceMessage,
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
            raise BadRequest(f"{place}: must be the ID of an event from the same kind of stream")
    return Follow(tuple(topics), owner, after, query.seconds, check, may_know)


@operation(
    "streamEventsInSpace",
    "GET",
    f"{_SPACE}/events",
    needs=Can.VIEW,
    returns=SpaceMessage,
    media_type=_STREAM,
    errors=(400, 503),
)
@operation(
    "streamEventsInChangeRequest",
    "GET",
    f"{_CHANGE}/events",
    needs=Can.VIEW,
    returns=SpaceMessage,
    media_type=_STREAM,
    errors=(400, 503),
)
def stream_events(call: Call, followed: FollowedPlace, query: EventsQuery) -> Follow:
    """Stream events as server-sent events: revisions, comments, reviews, and presence. The stream covers a space with
    its change requests, or one change request and the main content that it is based on. Clients that reconnect with
    `Last-Event-ID` receive the events they missed."""
    if followed.change_id is None:
        topics = [of_space(followed.space_id)]
    else:
        topics = [of_change(followed.change_id), of_main(followed.space_id)]
    owner = (followed.space.organization_id, followed.user_id)
    return _follow(
        call, topics, query, owner, may_know=lambda tx, message: _may_know(tx, call.actor, message)
    )


def _may_know(tx: Transaction, actor: Actor, message: HubMessage) -> bool:
    """Return whether a message can be sent to the actor, depending on the page that the message is about. A message
    that replaces another message is sent only to people who can't see the other message's page."""
    return _sees_page(tx, actor, message.page) and (
        message.instead_of is None or not _sees_page(tx, actor, message.instead_of)
    )


def _sees_page(tx: Transaction, actor: Actor, page: PagePlace | None) -> bool:
    if page is None:
        return True
    state = find_state(tx, page.space_id, page.change_request_id)
    if page.page_id not in unrestricted(tx, state).hidden:
        return True
    space = find_space_access(tx, actor, Can.VIEW, page.space_id)
    return space is not None and page.page_id not in seen_by(tx, space, state).hidden


@operation(
    "streamOwnEvents",
    "GET",
    "/user/events",
    needs=Can.SIGN_IN,
    returns=PersonMessage,
    media_type=_STREAM,
    errors=(400, 404, 503),
)
def stream_own_events(call: Call, caller: SignedIn, query: OwnEventsQuery) -> Follow:
    """Stream the events that concern the caller, as server-sent events: mentions, replies, review requests, and updates
    to their change requests, in all organizations that the token can access. `space` adds all events of these spaces,
    and `live` adds the steps and carets of a page that the caller is editing live, so that a client needs only one
    stream. Past steps aren't sent again: after each `ready` event, request the steps after your version."""

    def enter() -> list[SpaceAccess]:
        with call.db.read() as tx:
            if query.live is not None:
                followed_page(tx, call.actor, query.live)
            return [space_access(tx, call.actor, Can.VIEW, space_id) for space_id in query.space]

    def may_know(tx: Transaction, message: HubMessage) -> bool:
        if message.about and find_space_access(tx, call.actor, Can.VIEW, message.about) is None:
            return False
        return _may_know(tx, call.actor, message)

    entered = enter()
    topics = [of_person(caller.user_id), *map(of_space, query.space)]
    if query.live is not None:
        with call.db.read() as tx:
            topics.append(of_live_page(followed_page(tx, call.actor, query.live)))
    # A stream that belongs to no organization counts toward the person's own limit.
    owner = (entered[0].organization_id if entered else caller.user_id, caller.user_id)
    return _follow(call, topics, query, owner, enter, may_know)


# --- presence -----------------------------------------------------------------------------------------


@operation("listPresenceInSpace", "GET", f"{_SPACE}/presence", needs=Can.VIEW)
@operation("listPresenceInChangeRequest", "GET", f"{_CHANGE}/presence", needs=Can.VIEW)
def list_presence(call: Call, followed: FollowedPlace, query: PresenceQuery) -> Listing[Presence]:
    """List the people who are viewing or editing a space, including its change requests, or a single change request."""
    with call.db.read() as tx:
        moment = now()
        places = list_places(tx, followed.space_id, moment)
        hidden = {
            (place, page)
            for place in places
            for page in seen_by(tx, followed.space, find_state(tx, followed.space_id, place)).hidden
        }
        found = list_here(tx, followed.space_id, followed.change_id, hidden, query.limit, query.page, moment)
        shown = _present(call, tx, found.rows)
    return present_slice(Slice(shown, found.count, found.next_token), lambda one: one)


@operation(
    "sayPresenceInSpace",
    "PUT",
    f"{_SPACE}/presence/{{clientId}}",
    needs=Can.VIEW,
    errors=(400, 404, 409),
    in_maintenance=True,
)
@operation(
    "sayPresenceInChangeRequest",
    "PUT",
    f"{_CHANGE}/presence/{{clientId}}",
    needs=Can.VIEW,
    errors=(400, 404, 409),
    in_maintenance=True,
)
def say_presence(call: Call, followed: FollowedPlace, client_id: str, body: SayPresence) -> Presence:
    """Report the caller's location for one minute. Clients repeat the report every 30 seconds. The client chooses its
    own ID, which consists of letters, digits, `-`, and `_`. Each report replaces the client's previous location."""
    if not presence.is_client_id(client_id):
        raise BadRequest("clientId: must be 1 to 64 letters, digits, hyphens, or underscores")
    with call.db.read() as tx:
        here = presence.report(tx, followed, client_id, body.activity, body.page)
        return _present(call, tx, [here])[0]


@operation(
    "endPresenceInSpace", "DELETE", f"{_SPACE}/presence/{{clientId}}", needs=Can.VIEW, in_maintenance=True
)
@operation(
    "endPresenceInChangeRequest",
    "DELETE",
    f"{_CHANGE}/presence/{{clientId}}",
    needs=Can.VIEW,
    in_maintenance=True,
)
def end_presence(call: Call, followed: FollowedPlace, client_id: str) -> bool:
    """Remove the presence of one of the caller's clients."""
    with call.db.read() as tx:
        return presence.leave_place(tx, followed, client_id)


def _present(call: Call, tx: Transaction, rows: Iterable[PresenceRow]) -> list[Presence]:
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
