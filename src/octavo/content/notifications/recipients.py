"""Recipients of events, and the reasons for notifying them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from octavo.content.changes.store import ChangeRow, find_change
from octavo.content.revisions.history import get_revision
from octavo.content.revisions.states import Layer, list_changed, revision_state
from octavo.errors import NotFound
from octavo.kit.db.database import Transaction
from octavo.kit.work.outbox import Event
from octavo.organization.orgs.teams.store import list_member_ids

from .store import NotificationContent
from .types import Reason

FAILURES = {"git_sync_failed": "sync", "import_failed": "run", "translation_failed": "translation"}
"""Events for failed runs, each with the prefix that ``about`` has in its notifications."""
CONCERNING = FAILURES.keys() | {
    "change_request_merged",
    "change_request_review_requested",
    "change_request_review_submitted",
    "change_request_status_updated",
    "comment_created",
    "comment_reply_created",
    "comment_reply_updated",
    "comment_updated",
    "finding_assigned",
    "space_content_updated",
}
"""Events that can lead to notifications."""


_EDITS = "edits:"
"""Prefix of ``about`` in notifications of edits."""


class Concern(Struct, frozen=True):
    """People to notify about an event. ``direct``: the people to notify regardless of their watches, each with the
    reason. ``pages``: the pages that the event is about. ``watched``: the reason for notifying people who watch the
    space or one of these pages; None if watchers aren't notified."""

    note: NotificationContent
    direct: dict[str, Reason]
    pages: list[str]
    watched: Reason | None

    def note_about(self, seen: list[str]) -> NotificationContent:
        """Return the notification for people who can see only these pages, as if there were no others."""
        if len(seen) != 1:
            return self.note
        about = self.note.about
        return replace(
            self.note,
            about=f"{_EDITS}{seen[0]}" if about.startswith(_EDITS) else about,
            page_id=seen[0],
        )


_URGENT = frozenset({"mentioned", "reviewRequested", "assigned", "failed"})
"""Reasons that lead to a notification even if a person muted the space or page."""


def passes_mute(reason: Reason) -> bool:
    return reason in _URGENT


class _About(NamedTuple):
    about: str
    watched: Reason | None
    pages: list[str]
    merged_from: str | None = None


def read_concern(tx: Transaction, event: Event) -> Concern | None:
    """Return the recipients of an event; None if its subject no longer exists."""
    payload = event.payload
    change_id = payload.get("change_request")
    change = find_change(tx, event.space_id or "", change_id) if change_id else None
    if change_id and change is None:
        return None
    try:
        subject = _about(tx, event)
    except NotFound:
        return None
    direct: dict[str, Reason] = {}
    for reason, user_id in _direct(tx, event, change):
        if user_id != payload.get("by"):
            direct.setdefault(user_id, reason)
    note = NotificationContent(
        about=subject.about,
        reason=subject.watched or "commented",
        at=event.created_at,
        status=payload.get("status") or payload.get("suggestion"),
        actor_id=payload.get("by"),
        change_id=subject.merged_from or (change.id if change else None),
        page_id=payload.get("page") or (subject.pages[0] if len(subject.pages) == 1 else None),
        comment_id=payload.get("comment"),
        reply_id=payload.get("reply"),
        review_id=payload.get("review"),
        revision=payload.get("revision"),
        problem=payload.get("problem"),
    )
    return Concern(note, direct, subject.pages, subject.watched)


def _about(tx: Transaction, event: Event) -> _About:
    payload = event.payload
    if event.type.startswith("comment_"):
        created = event.type.endswith("_created")
        pages = [payload["page"]] if payload.get("page") else _page_of(tx, payload["comment"])
        return _About(f"comment:{payload['comment']}", "commented" if created else None, pages)
    if event.type == "space_content_updated":
        revision = get_revision(tx, payload["revision"])
        pages = payload["pages"] if "pages" in payload else _pages_of(tx, event)
        if revision.merged_from is not None:
            return _About(f"change:{revision.merged_from}", "merged", pages, revision.merged_from)
        alone = pages[0] if len(pages) == 1 else event.space_id
        return _About(f"{_EDITS}{alone}", "edited", pages)
    if event.type == "finding_assigned":
        of = f"siteFinding:{payload['site']}" if "site" in payload else "finding"
        return _About(f"{of}:{payload['finding']}", None, payload.get("pages", []))
    if event.type in FAILURES:
        return _About(f"{FAILURES[event.type]}:{payload['run']}", None, [])
    opened = event.type == "change_request_status_updated" and payload.get("status") == "open"
    return _About(f"change:{payload['change_request']}", "statusChanged" if opened else None, [])


def _page_of(tx: Transaction, comment_id: str) -> list[str]:
    found = tx.value("SELECT page_id FROM comments WHERE id = :id", id=comment_id)
    return [found] if found else []


def _pages_of(tx: Transaction, event: Event) -> list[str]:
    """Return the IDs of the pages that a large revision changed."""
    state = revision_state(tx, event.space_id or "", event.payload["revision"])
    before = get_revision(tx, event.payload["revision"]).sequence - 1
    layer: Layer = state.layers[0]
    return sorted(list_changed(tx, layer, before).pages)


def _direct(tx: Transaction, event: Event, change: ChangeRow | None) -> Iterator[tuple[Reason, str]]:
    """Yield the direct recipients, most important reason first."""
    payload: dict[str, Any] = event.payload
    for user_id in payload.get("mentioned_users", []):
        yield "mentioned", user_id
    for user_id in list_member_ids(tx, payload.get("mentioned_teams", [])):
        yield "mentioned", user_id
    if event.type == "change_request_review_requested":
        yield "reviewRequested", payload["user"]
    if event.type == "finding_assigned":
        for user_id in payload.get("assigned_users") or list_member_ids(tx, payload["assigned_teams"]):
            yield "assigned", user_id
    if event.type in FAILURES:
        yield "failed", payload["user"]
    if payload.get("suggestion") in ("accepted", "declined"):
        for (user_id,) in tx.all("SELECT posted_by FROM comments WHERE id = :id", id=payload["comment"]):
            yield "reviewed", user_id
    if event.type == "comment_reply_created":
        replies = tx.all(
            "SELECT DISTINCT posted_by FROM comments WHERE id = :thread OR parent_id = :thread",
            thread=payload["comment"],
        )
        for (user_id,) in replies:
            yield "replied", user_id
    reason = _CONTRIBUTOR_REASONS.get(event.type)
    if reason is not None and change is not None:
        yield reason, change.created_by
        if event.type != "change_request_status_updated":
            writers = tx.all(
                "SELECT user_id FROM change_contributors WHERE change_id = :change AND action = 'edit'",
                change=change.id,
            )
            for (user_id,) in writers:
                yield reason, user_id


_CONTRIBUTOR_REASONS: dict[str, Reason] = {
    "change_request_merged": "merged",
    "change_request_review_submitted": "reviewed",
    "change_request_status_updated": "statusChanged",
    "comment_created": "commented",
    "comment_reply_created": "commented",
}
"""Reasons for notifying the people who worked on a change request."""
