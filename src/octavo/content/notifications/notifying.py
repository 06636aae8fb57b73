"""Notify people of an event in a separate job. The request that merges, comments, or reviews only writes
one event row, no matter how many people are watching."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from msgspec.structs import replace

from octavo.content.changes.store import find_state
from octavo.content.revisions.restrictions import find_rules, hidden_from
from octavo.core.json_types import JsonObject
from octavo.kit.clock import DAY, now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.work import jobs
from octavo.kit.work.outbox import Event, consumer, emit
from octavo.organization.access.authorization import find_site_access, find_space_access, role_of_person
from octavo.organization.access.page_rules import PageViewer, level_at
from octavo.organization.access.reach import actor_for_job
from octavo.organization.access.roles import Can
from octavo.organization.access.teams import list_team_ids

from . import mailing, store
from .recipients import CONCERNING, Concern, passes_mute, read_concern
from .store import NotificationContent
from .types import NOTIFIED, Reason, State

BATCH = 200
"""Number of people notified in one transaction."""
KEEP: dict[State, int] = {"done": 30, "read": 90, "unread": 365}
"""Number of days that notifications are kept, by state."""


@consumer("notifications")
def enqueue_notifications(tx: Transaction, event: Event) -> None:
    if event.organization_id is None or event.space_id is None:
        return
    if event.type == "comment_deleted":
        jobs.enqueue(
            tx, "forgetNotifications", organization=event.organization_id, comment=event.payload["comment"]
        )
    elif event.type in CONCERNING:
        jobs.enqueue(tx, "notifyPeople", organization=event.organization_id, event=event._asdict())


@jobs.job("notifyPeople", bound="a batch of people")
def notify_people(context: Context, event: JsonObject, after: str | None = None) -> None:
    """Notify the recipients of an event in batches ordered by user ID; each batch is a separate job.
    ``after``: the last user ID of the previous batch."""
    occurred = Event(**event)
    with context.db.read() as tx:
        concern = read_concern(tx, occurred)
        if concern is None:
            return
        people = _next_people(tx, occurred, concern, after or "")
        notes = _list_notes(tx, occurred, concern, people)
    with context.db.write() as tx:
        for note, reasons in notes.items():
            notify(
                context,
                tx,
                occurred.organization_id or "",
                occurred.space_id or "",
                note,
                reasons,
                of=occurred.type,
                **occurred.payload,
            )
        if len(people) == BATCH:
            jobs.enqueue(
                tx, "notifyPeople", organization=occurred.organization_id, event=event, after=people[-1]
            )
        jobs.finish(tx)


def notify(
    context: Context,
    tx: Transaction,
    organization_id: str,
    space_id: str,
    note: NotificationContent,
    reasons: Mapping[str, Reason],
    **payload: object,
) -> None:
    """Notify people about a subject in a space through the channels that each person chose. ``reasons``: the reason for
    notifying each person, by user ID. ``payload``: additional fields of the event that lists the new notifications."""
    channels = store.list_channels(tx, reasons)
    users = {}
    for user_id, reason in sorted(reasons.items()):
        channel = channels[user_id][reason]
        if channel == "off":
            continue
        row = store.put_notification(
            tx, user_id, space_id, replace(note, reason=reason), digest=channel == "digest"
        )
        users[user_id] = [row.id, reason]
        if channel == "mail":
            mailing.enqueue(context, tx, organization_id, row)
    if users:
        emit(tx, NOTIFIED, organization_id=organization_id, space_id=space_id, users=users, **payload)


def _next_people(tx: Transaction, event: Event, concern: Concern, after: str) -> list[str]:
    """Return the next batch of direct recipients and watchers. They are notified in batches because a mentioned team
    can have thousands of members."""
    found = set(sorted(user_id for user_id in concern.direct if user_id > after)[:BATCH])
    if concern.watched is not None:
        found.update(store.list_watchers(tx, event.space_id or "", concern.pages, after, BATCH))
    return sorted(found)[:BATCH]


def _list_notes(
    tx: Transaction, event: Event, concern: Concern, people: list[str]
) -> dict[NotificationContent, dict[str, Reason]]:
    """Return the notifications to send, each with the people to notify and the reason for each of them. The person who
    caused the event, people who muted the space or page, and people who can't see the space or any of the pages are
    left out. Watches on pages that a person can't see have no effect."""
    reasons: dict[str, Reason] = {}
    for user_id in people:
        reason = concern.direct.get(user_id, concern.watched)
        if reason is not None and (user_id in concern.direct or user_id != event.payload.get("by")):
            reasons[user_id] = reason
    levels = store.list_levels(tx, event.space_id or "", concern.pages, reasons)
    found: dict[NotificationContent, dict[str, Reason]] = {}
    for user_id, reason in reasons.items():
        seen = _list_seen(tx, event, concern, user_id)
        watches = [row for row in levels.get(user_id, []) if not row.page_id or row.page_id in (seen or ())]
        if seen is None or not (passes_mute(reason) or not _is_muted(watches)):
            continue
        if user_id in concern.direct or any(row.level == "watching" for row in watches):
            found.setdefault(concern.note_about(seen), {})[user_id] = reason
    return found


def _list_seen(tx: Transaction, event: Event, concern: Concern, user_id: str) -> list[str] | None:
    """Return the pages of an event that a person can see; None if the person must not be notified, because they can't
    see the space or any of the pages."""
    space_id = event.space_id or ""
    role = role_of_person(tx, event.organization_id or "", "space", space_id, user_id)
    if role is None or ("site" in event.payload and not _sees_whole_site(tx, event, user_id)):
        return None
    if not concern.pages:
        return []
    rules = find_rules(tx, find_state(tx, space_id, concern.note.change_id))
    if rules.keys().isdisjoint(concern.pages):
        return concern.pages
    teams = list_team_ids(tx, event.organization_id or "", user_id)
    viewer = PageViewer(user_id, frozenset(teams), role)
    seen = [page for page in concern.pages if level_at(rules.get(page, ()), viewer) is not None]
    if event.type == "finding_assigned" and len(seen) < len(concern.pages):
        # Findings quote all of their pages.
        return None
    return seen or None


def _sees_whole_site(tx: Transaction, event: Event, user_id: str) -> bool:
    """Return whether a person can see the site that an event is about, and all of its spaces and pages."""
    organization_id, spaces = event.organization_id or "", event.payload["spaces"]
    actor = actor_for_job(user_id, organization_id)
    site = find_site_access(tx, actor, Can.VIEW, organization_id, event.payload["site"])
    if site is None or not all(find_space_access(tx, actor, Can.VIEW, id) for id in spaces):
        return False
    return not any(map(hidden_from(tx, site.organization).of, spaces))


def _is_muted(watches: list[store.WatchRow]) -> bool:
    """Return whether a person has muted the event, given that person's watches. Settings for pages take precedence over
    settings for the space. If any affected page is watched, the event isn't muted."""
    of_pages = [row.level for row in watches if row.page_id]
    levels = of_pages or [row.level for row in watches]
    return bool(levels) and "watching" not in levels


@jobs.job("forgetNotifications", bound=None)
def forget_notifications(context: Context, comment: str) -> None:
    """Delete the notifications about a deleted thread."""
    jobs.run_parts(context.db, lambda tx: store.forget_about(tx, f"comment:{comment}"))


@jobs.job("pruneNotifications", bound=None, seconds=600)
def prune_notifications(context: Context) -> None:
    """Delete notifications whose retention period has passed."""
    for state, days in KEEP.items():
        jobs.run_parts(context.db, partial(store.prune, state=state, before=now() - days * DAY))


jobs.schedule("pruneNotifications", 86_400, "pruneNotifications")
