"""Read and write notifications, notification counts, watches, and settings in the database."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Struct

from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.db.database import Row, Transaction, json_list
from octavo.kit.db.pagination import Slice, list_page

from .types import DEFAULTS, Channel, Level, Reason, State


class NotificationContent(Struct, frozen=True, kw_only=True):
    """Content of a notification. ``about``: its subject; the next notification about the same subject replaces it."""

    about: str
    reason: Reason
    at: int
    status: str | None = None
    actor_id: str | None = None
    change_id: str | None = None
    page_id: str | None = None
    comment_id: str | None = None
    reply_id: str | None = None
    review_id: str | None = None
    revision: str | None = None
    problem: str | None = None


class NotificationRow(Struct, frozen=True, kw_only=True):
    """Notification of one person. ``at``: the time in milliseconds. ``events``: the number of events since it
    was last read."""

    id: str
    user_id: str
    space_id: str
    about: str
    reason: Reason
    status: Any
    actor_id: str | None
    change_id: str | None
    page_id: str | None
    comment_id: str | None
    reply_id: str | None
    review_id: str | None
    revision: str | None
    problem: str | None
    events: int
    state: State
    at: int


_NAMES = NotificationRow.__struct_fields__
_COLUMNS = ", ".join(f"n.{name}" for name in _NAMES)
_FLEETING = ("replied", "commented")
"""Reasons that don't replace an unread mention."""


def _row(values: Row) -> NotificationRow:
    return NotificationRow(**dict(zip(_NAMES, values, strict=True)))


# --- writing ------------------------------------------------------------------------------------------


def is_notified(tx: Transaction, user_id: str, about: str) -> bool:
    """Return whether a person has a notification about a subject, in any state."""
    found = tx.one(
        "SELECT 1 FROM notifications WHERE user_id = :user AND about = :about", user=user_id, about=about
    )
    return found is not None


def put_notification(
    tx: Transaction, user_id: str, space_id: str, note: NotificationContent, *, digest: bool = False
) -> NotificationRow:
    """Notify a person: insert a row, or mark the existing row about the same subject as unread again."""
    found = tx.one(
        f"SELECT {_COLUMNS} FROM notifications n WHERE n.user_id = :user AND n.about = :about{tx.for_update}",
        user=user_id,
        about=note.about,
    )
    before = _row(found) if found else None
    values: dict[str, Any] = {**msgspec.structs.asdict(note), "state": "unread", "digest": int(digest)}
    values["space_id"] = space_id
    if before is None:
        values |= {"id": ids.new_id(), "user_id": user_id, "events": 1}
        names = ", ".join(values)
        tx.run(
            f"INSERT INTO notifications ({names}) VALUES ({', '.join(f':{name}' for name in values)})",
            **values,
        )
    else:
        unread = before.state == "unread"
        if unread and before.reason == "mentioned" and note.reason in _FLEETING:
            values["reason"] = "mentioned"
        values |= {"id": before.id, "user_id": user_id, "events": before.events + 1 if unread else 1}
        changed = ", ".join(f"{name} = :{name}" for name in values if name not in ("id", "user_id"))
        tx.run(f"UPDATE notifications SET {changed} WHERE id = :id AND user_id = :user_id", **values)
    _count(tx, user_id, space_id, None if before is None else before.state, "unread")
    return NotificationRow(**{name: values[name] for name in _NAMES})


def _count(tx: Transaction, user_id: str, space_id: str, before: State | None, after: State | None) -> None:
    """Update a person's counts for a space after a notification changed from one state to another."""
    if before == after:
        return
    steps = {state: (state == after) - (state == before) for state in ("unread", "read", "done")}
    tx.run(
        """INSERT INTO notification_counts (user_id, space_id, unread, read, done)
           VALUES (:user, :space, :unread, :read, :done) ON CONFLICT (user_id, space_id) DO UPDATE
           SET unread = notification_counts.unread + excluded.unread,
               read = notification_counts.read + excluded.read, done = notification_counts.done + excluded.done""",
        user=user_id,
        space=space_id,
        **steps,
    )


def set_state(tx: Transaction, rows: Iterable[NotificationRow], state: State) -> int:
    """Set the state of one person's notifications and return the number that changed."""
    changed = 0
    for row in rows:
        if row.state == state:
            continue
        changed += tx.run(
            """UPDATE notifications SET state = :state, digest = CASE WHEN :state = 'unread' THEN digest ELSE 0 END,
               events = CASE WHEN :state = 'unread' THEN 1 ELSE events END WHERE id = :id""",
            state=state,
            id=row.id,
        )
        _count(tx, row.user_id, row.space_id, row.state, state)
    return changed


def forget_about(tx: Transaction, about: str, limit: int = 500) -> int:
    """Delete at most ``limit`` notifications about a deleted subject and return their number."""
    return _delete(tx, "n.about = :about", limit, about=about)


def prune(tx: Transaction, state: State, before: int, limit: int = 500) -> int:
    """Delete at most ``limit`` notifications in a given state whose last event was before a given time (milliseconds).
    Returns their number."""
    return _delete(tx, "n.state = :state AND n.at < :before", limit, state=state, before=before)


def _delete(tx: Transaction, where: str, limit: int, **parameters: object) -> int:
    rows = tx.all(
        f"SELECT {_COLUMNS} FROM notifications n WHERE {where} ORDER BY n.user_id LIMIT :limit{tx.for_update}",
        limit=limit,
        **parameters,
    )
    for row in map(_row, rows):
        tx.run("DELETE FROM notifications WHERE id = :id", id=row.id)
        _count(tx, row.user_id, row.space_id, row.state, None)
    return len(rows)


# --- reading ------------------------------------------------------------------------------------------


class SpaceCounts(Struct, frozen=True):
    """Number of a person's notifications in a space, by state."""

    space_id: str
    unread: int
    read: int
    done: int


def list_counts(tx: Transaction, user_id: str) -> list[SpaceCounts]:
    rows = tx.all(
        """SELECT space_id, unread, read, done FROM notification_counts
           WHERE user_id = :user AND unread + read + done > 0""",
        user=user_id,
    )
    return [SpaceCounts(*row) for row in rows]


Pages = set[tuple[str, str, str]]
"""Pages, each as a triple of the space, the change request that shows the page ('' for main), and the page."""


def _outside(tx: Transaction, hidden: Pages, change: str = "coalesce(n.change_id, '')") -> str:
    """Return an SQL condition that leaves out rows ``n`` about hidden pages. It uses the parameter ``hidden``.
    ``change``: SQL for the change request that shows the row's page."""
    if not hidden:
        return ""
    pages = tx.given("hidden", "space_id", "change_id", "page_id")
    return f""" AND (n.page_id IS NULL OR (n.space_id, {change}, n.page_id) NOT IN
        (SELECT g.space_id, g.change_id, g.page_id FROM {pages} AS g))"""


def _given(hidden: Pages) -> str:
    return msgspec.json.encode(sorted(hidden)).decode()


def list_changes(tx: Transaction, user_id: str, space_id: str) -> list[str]:
    """List the change requests of a space in which a person was notified about pages. The result is empty
    if no version of any of the space's pages is restricted."""
    # A condition of the query below would be checked after reading all notifications.
    restricted = tx.one(
        """SELECT 1 FROM page_versions p CROSS JOIN branches b
           WHERE p.restricted = 1 AND b.id = p.branch_id AND b.space_id = :space LIMIT 1""",
        space=space_id,
    )
    if restricted is None:
        return []
    rows = tx.all(
        """SELECT DISTINCT change_id FROM notifications
           WHERE user_id = :user AND space_id = :space AND change_id IS NOT NULL AND page_id IS NOT NULL""",
        user=user_id,
        space=space_id,
    )
    return [row[0] for row in rows]


def count_visible(tx: Transaction, user_id: str, space_id: str, hidden: Pages) -> SpaceCounts:
    """Return the number of a person's notifications in a space, without those about hidden pages."""
    rows = tx.all(
        f"""SELECT n.state, count(*) FROM notifications n
            WHERE n.user_id = :user AND n.space_id = :space{_outside(tx, hidden)} GROUP BY n.state""",
        user=user_id,
        space=space_id,
        hidden=_given(hidden),
    )
    counts = {row[0]: row[1] for row in rows}
    return SpaceCounts(space_id, *(counts.get(state, 0) for state in ("unread", "read", "done")))


_WHERE = {"inbox": "n.state <> 'done'", "unread": "n.state = 'unread'", "done": "n.state = 'done'"}


def list_notifications(
    tx: Transaction,
    user_id: str,
    status: str,
    spaces: list[str],
    hidden: Pages,
    count: int,
    limit: int,
    page: str | None,
) -> Slice[NotificationRow]:
    """List notifications about these spaces except those about hidden pages, latest first. ``count``: the
    total number of notifications."""
    source = f"""FROM notifications n
        WHERE n.user_id = :user AND {_WHERE[status]} AND n.space_id {tx.among("spaces")}{_outside(tx, hidden)}"""
    return list_page(
        tx,
        limit,
        page,
        _COLUMNS,
        source,
        _row,
        by="n.at, n.id",
        key_types=(int, str),
        descending=True,
        count=count,
        user=user_id,
        spaces=json_list(spaces),
        hidden=_given(hidden),
    )


def find_notification(
    tx: Transaction, user_id: str, notification_id: str, *, lock: bool = False
) -> NotificationRow | None:
    row = tx.one(
        f"""SELECT {_COLUMNS} FROM notifications n WHERE n.id = :id AND n.user_id = :user
            {tx.for_update if lock else ""}""",
        id=notification_id,
        user=user_id,
    )
    return _row(row) if row else None


def lock_changing(
    tx: Transaction,
    user_id: str,
    spaces: list[str],
    only: list[str] | None,
    state: State,
    until: int,
    limit: int,
    hidden: Pages,
) -> list[NotificationRow]:
    """Lock and return up to ``limit`` notifications that a change to ``state`` affects: those created no later than
    ``until`` that don't have this state yet and aren't about hidden pages. ``only``: the IDs of the notifications; by
    default, all notifications in the inbox."""
    which = "n.state <> 'done'" if only is None else f"n.id {tx.among('only')}"
    rows = tx.all(
        f"""SELECT {_COLUMNS} FROM notifications n
            WHERE n.user_id = :user AND n.state <> :state AND {which} AND n.at <= :until
              AND n.space_id {tx.among("spaces")}{_outside(tx, hidden)}
            ORDER BY n.at DESC, n.id DESC LIMIT :limit{tx.for_update}""",
        user=user_id,
        state=state,
        until=until,
        limit=limit,
        spaces=json_list(spaces),
        hidden=_given(hidden),
        **({} if only is None else {"only": json_list(only)}),
    )
    return list(map(_row, rows))


# --- digests ------------------------------------------------------------------------------------------


def list_for_digest(tx: Transaction, user_id: str) -> list[NotificationRow]:
    """List a person's pending notifications for the next digest, latest first."""
    rows = tx.all(
        f"SELECT {_COLUMNS} FROM notifications n WHERE n.user_id = :user AND n.digest = 1 ORDER BY n.at DESC",
        user=user_id,
    )
    return list(map(_row, rows))


def list_digest_recipients(tx: Transaction, after: str, limit: int) -> list[str]:
    """List the people who have pending notifications for the next digest."""
    rows = tx.all(
        """SELECT DISTINCT user_id FROM notifications WHERE digest = 1 AND user_id > :after
           ORDER BY user_id LIMIT :limit""",
        after=after,
        limit=limit,
    )
    return [user_id for (user_id,) in rows]


def clear_digest(tx: Transaction, rows: Iterable[NotificationRow]) -> None:
    """Mark notifications as sent in a digest, except those that received new events after ``rows`` were loaded."""
    tx.run_many(
        "UPDATE notifications SET digest = 0 WHERE id = :id AND at = :at AND events = :events",
        [{"id": row.id, "at": row.at, "events": row.events} for row in rows],
    )


# --- watches ------------------------------------------------------------------------------------------


class WatchRow(Struct, frozen=True):
    """A person's setting to watch or mute a space or page. ``page_id``: the ID of the page; empty for the
    space."""

    user_id: str
    space_id: str
    page_id: str
    level: Level
    set_at: int


_WATCH = ", ".join(WatchRow.__struct_fields__)


def put_watch(tx: Transaction, user_id: str, space_id: str, page_id: str, level: Level) -> WatchRow:
    row = tx.one(
        f"""INSERT INTO watches ({_WATCH}) VALUES (:user, :space, :page, :level, :at)
            ON CONFLICT (user_id, space_id, page_id) DO UPDATE SET level = excluded.level, set_at = excluded.set_at
            RETURNING {_WATCH}""",
        user=user_id,
        space=space_id,
        page=page_id,
        level=level,
        at=now(),
    )
    assert row is not None
    return WatchRow(*row)


def find_watch(tx: Transaction, user_id: str, space_id: str, page_id: str) -> WatchRow | None:
    row = tx.one(
        f"SELECT {_WATCH} FROM watches WHERE user_id = :user AND space_id = :space AND page_id = :page",
        user=user_id,
        space=space_id,
        page=page_id,
    )
    return WatchRow(*row) if row else None


def delete_watch(tx: Transaction, user_id: str, space_id: str, page_id: str) -> bool:
    return bool(
        tx.run(
            "DELETE FROM watches WHERE user_id = :user AND space_id = :space AND page_id = :page",
            user=user_id,
            space=space_id,
            page=page_id,
        )
    )


def list_watched_spaces(tx: Transaction, user_id: str) -> list[str]:
    rows = tx.all("SELECT DISTINCT space_id FROM watches WHERE user_id = :user", user=user_id)
    return [space_id for (space_id,) in rows]


def list_watches(
    tx: Transaction, user_id: str, spaces: list[str], hidden: Pages, limit: int, page: str | None
) -> Slice[WatchRow]:
    """List a person's watches in these spaces, except watches on hidden pages."""
    source = f"""FROM watches n WHERE n.user_id = :user AND n.space_id {tx.among("spaces")}
        {_outside(tx, hidden, "''")}"""
    return list_page(
        tx,
        limit,
        page,
        _WATCH,
        source,
        lambda row: WatchRow(*row),
        by="space_id, page_id",
        key_types=(str, str),
        user=user_id,
        spaces=json_list(spaces),
        hidden=_given(hidden),
    )


def list_watchers(tx: Transaction, space_id: str, page_ids: list[str], after: str, limit: int) -> list[str]:
    """List the IDs of people who watch a space or one of these pages, in order, starting after the ID ``after``."""
    rows = tx.all(
        f"""SELECT DISTINCT user_id FROM watches WHERE space_id = :space AND level = 'watching'
            AND page_id {tx.among("pages")} AND user_id > :after ORDER BY user_id LIMIT :limit""",
        space=space_id,
        pages=json_list(["", *page_ids]),
        after=after,
        limit=limit,
    )
    return [user_id for (user_id,) in rows]


def list_levels(
    tx: Transaction, space_id: str, page_ids: list[str], user_ids: Iterable[str]
) -> dict[str, list[WatchRow]]:
    """Return these people's watches on a space and these pages, by person."""
    rows = tx.all(
        f"""SELECT {_WATCH} FROM watches WHERE space_id = :space AND page_id {tx.among("pages")}
            AND user_id {tx.among("users")}""",
        space=space_id,
        pages=json_list(["", *page_ids]),
        users=json_list(user_ids),
    )
    found: dict[str, list[WatchRow]] = {}
    for row in rows:
        found.setdefault(row[0], []).append(WatchRow(*row))
    return found


# --- settings -----------------------------------------------------------------------------------------

_CHANNELS = dict[Reason, Channel]


def list_channels(tx: Transaction, user_ids: Iterable[str]) -> dict[str, dict[Reason, Channel]]:
    """Return these people's notification channels by reason, including defaults."""
    wanted = list(user_ids)
    rows = tx.all(
        f"SELECT user_id, channels FROM notification_settings WHERE user_id {tx.among('users')}",
        users=json_list(wanted),
    )
    chosen = {user_id: msgspec.json.decode(channels, type=_CHANNELS) for user_id, channels in rows}
    return {user_id: {**DEFAULTS, **chosen.get(user_id, {})} for user_id in wanted}


def set_channels(tx: Transaction, user_id: str, channels: dict[Reason, Channel]) -> None:
    tx.run(
        """INSERT INTO notification_settings (user_id, channels, updated_at) VALUES (:user, :channels, :at)
           ON CONFLICT (user_id) DO UPDATE SET channels = excluded.channels, updated_at = excluded.updated_at""",
        user=user_id,
        channels=msgspec.json.encode(channels).decode(),
        at=now(),
    )
