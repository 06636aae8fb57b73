"""Who looks at or edits what just now.

Clients say it every now and then, most of them without any news. So it waits in memory for a second and is written
together with what others say: each commit makes everything that a process keeps be looked at again.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from threading import Lock

from msgspec.structs import replace

from octavo.content.revisions.store import find_page
from octavo.errors import Conflict, Forbidden, NotFound
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.database import Database, Transaction
from octavo.organization.access.roles import SPACE, Can, at_least

from . import store
from .authorization import Followed
from .store import LASTS, Here
from .types import Activity

MOST_CLIENTS = 20
"""Of one person at a time."""
_RENEWED = 30_000
"""Milliseconds for which what was said before stands without being written again."""

_Key = tuple[str, str]
_CLIENT_ID = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)


def is_client_id(text: str) -> bool:
    return _CLIENT_ID.fullmatch(text) is not None


class _Waiting:
    """What this process has been told and not written yet; None: they left."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.said: dict[_Key, Here | None] = {}
        self.written_at = 0

    def over(self, rows: Iterable[Here]) -> dict[_Key, Here]:
        """What the rows say together with what waits."""
        found: dict[_Key, Here] = {row.key: row for row in rows}
        with self.lock:
            waiting = dict(self.said)
        for key, here in waiting.items():
            if here is None:
                found.pop(key, None)
            else:
                found[key] = here
        return found


def _waiting(owner: Database | Transaction) -> _Waiting:
    found: _Waiting | None = owner.caches.get(_Waiting)
    return found if found is not None else owner.caches.setdefault(_Waiting, _Waiting())


def say(tx: Transaction, followed: Followed, client_id: str, activity: Activity, page_id: str | None) -> Here:
    """Notes where somebody is, for a minute. Raises NotFound for a page that is not there, Forbidden for editing by who
    may not, Conflict for more clients than one person has."""
    if activity == "editing" and not at_least(followed.space.role, SPACE[Can.EDIT]):
        raise Forbidden("activity: this needs the right to edit here.")
    if page_id is not None and find_page(tx, followed.state(tx), page_id) is None:
        raise NotFound(f"page: there is no page {page_id!r} here.")
    waiting, moment = _waiting(tx), now()
    own = waiting.over(store.list_of_person(tx, followed.user_id, moment))
    own = {key: here for key, here in own.items() if key[0] == followed.user_id}
    here = Here(
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
        raise Conflict(f"One person is present with {MOST_CLIENTS} clients at most.")
    if before is not None and before.is_at(here):
        here = replace(here, came_at=before.came_at)
        if moment - before.said_at < _RENEWED:
            return before
    with waiting.lock:
        waiting.said[here.key] = here
    return here


def leave(tx: Transaction, followed: Followed, client_id: str) -> bool:
    """Whether they were there."""
    waiting, key = _waiting(tx), (followed.user_id, client_id)
    here = waiting.over(store.list_of_person(tx, followed.user_id, now())).get(key)
    if here is None or (here.space_id, here.change_request_id) != (followed.space_id, followed.change_id):
        return False
    with waiting.lock:
        waiting.said[key] = None
    return True


def write_presence(context: Context) -> None:
    """Writes what waits, and removes what is over. Called about every second, where presence is said."""
    waiting, moment = _waiting(context.db), now()
    with waiting.lock:
        said, waiting.said = waiting.said, {}
        if said:
            waiting.written_at = moment
    if not said:
        # What nobody wrote for so long, nobody has to remove.
        if moment - waiting.written_at > 2 * LASTS:
            return
        with context.db.read() as tx:
            if not store.has_ended(tx, moment):
                return
    with context.db.write() as tx:
        store.put(tx, [here for here in said.values() if here is not None])
        store.remove(tx, [key for key, here in said.items() if here is None])
        store.remove_ended(tx, moment)


def present_at(tx: Transaction, spaces: Collection[str], changes: Collection[str]) -> dict[_Key, Here]:
    """Who is at any of these, as it is written."""
    return {here.key: here for here in store.list_present(tx, spaces, changes, now())}
