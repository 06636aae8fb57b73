"""Presence: the people who are currently viewing or editing each page.

Clients report presence regularly, usually without changes. Reports are buffered in memory for a second and written
together, because after every commit, each process checks all of its caches again.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from threading import Lock

from msgspec.structs import replace

from octavo.content.revisions.page_versions import find_page
from octavo.errors import Conflict, Forbidden, NotFound
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.database import Database, Transaction
from octavo.organization.access.roles import SPACE, Can, at_least

from . import store
from .authorization import FollowedPlace
from .store import LIFETIME, PresenceRow
from .types import Activity

MOST_CLIENTS = 20
"""Maximum number of clients per person at a time."""
_RENEWAL = 30_000
"""Time in milliseconds before an unchanged report is written again."""

_Key = tuple[str, str]
_CLIENT_ID = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)


def is_client_id(text: str) -> bool:
    return _CLIENT_ID.fullmatch(text) is not None


class _PendingReports:
    """Presence reports that this process has received but not yet written. A value of None means that the
    client left."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.reports: dict[_Key, PresenceRow | None] = {}
        self.written_at = 0

    def applied_to(self, rows: Iterable[PresenceRow]) -> dict[_Key, PresenceRow]:
        """Return the stored rows updated with the buffered reports."""
        found: dict[_Key, PresenceRow] = {row.key: row for row in rows}
        with self.lock:
            pending = dict(self.reports)
        for key, here in pending.items():
            if here is None:
                found.pop(key, None)
            else:
                found[key] = here
        return found


def _pending(owner: Database | Transaction) -> _PendingReports:
    found: _PendingReports | None = owner.caches.get(_PendingReports)
    return found if found is not None else owner.caches.setdefault(_PendingReports, _PendingReports())


def report(
    tx: Transaction, followed: FollowedPlace, client_id: str, activity: Activity, page_id: str | None
) -> PresenceRow:
    """Record a person's location for one minute. Raises NotFound if the page doesn't exist, Forbidden if
    the person reports editing without permission, and Conflict if the person has too many clients."""
    if activity == "editing" and not at_least(followed.space.role, SPACE[Can.EDIT]):
        raise Forbidden("activity: `editing` requires permission to edit this content")
    if page_id is not None and find_page(tx, followed.state(tx), page_id) is None:
        raise NotFound(f"page: there is no page with the ID {page_id!r} in this version of the space")
    pending, moment = _pending(tx), now()
    own = pending.applied_to(store.list_of_person(tx, followed.user_id, moment))
    own = {key: here for key, here in own.items() if key[0] == followed.user_id}
    here = PresenceRow(
        user_id=followed.user_id,
        client_id=client_id,
        space_id=followed.space_id,
        change_request_id=followed.change_id,
        page_id=page_id,
        activity=activity,
        came_at=moment,
        said_at=moment,
        organization_id=followed.space.organization_id,
    )
    before = own.get(here.key)
    if before is None and len(own) >= MOST_CLIENTS:
        raise Conflict(
            f"You have this content open in {MOST_CLIENTS} tabs or apps, which is the limit. Close one of them first."
        )
    if before is not None and before.is_at(here):
        here = replace(here, came_at=before.came_at)
        if moment - before.said_at < _RENEWAL:
            return before
    with pending.lock:
        pending.reports[here.key] = here
    return here


def leave_place(tx: Transaction, followed: FollowedPlace, client_id: str) -> bool:
    """Remove a client and return whether it was present."""
    pending, key = _pending(tx), (followed.user_id, client_id)
    here = pending.applied_to(store.list_of_person(tx, followed.user_id, now())).get(key)
    if here is None or (here.space_id, here.change_request_id) != (followed.space_id, followed.change_id):
        return False
    with pending.lock:
        pending.reports[key] = None
    return True


def write_presence(context: Context) -> None:
    """Write the buffered reports and remove expired rows. Processes that receive reports call this about
    once per second."""
    pending, moment = _pending(context.db), now()
    with pending.lock:
        reports, pending.reports = pending.reports, {}
        if reports:
            pending.written_at = moment
    if not reports:
        # Nothing has been written for so long that all rows have expired and been removed.
        if moment - pending.written_at > 2 * LIFETIME:
            return
        with context.db.read() as tx:
            if not store.has_ended(tx, moment):
                return
    with context.db.write(live=True) as tx:
        store.put(tx, [here for here in reports.values() if here is not None])
        store.remove(tx, [key for key, here in reports.items() if here is None])
        store.remove_ended(tx, moment)


def present_at(tx: Transaction, spaces: Collection[str], changes: Collection[str]) -> dict[_Key, PresenceRow]:
    """Return the stored presence rows of any of these spaces or change requests."""
    return {here.key: here for here in store.list_present(tx, spaces, changes, now())}
