"""Convert notifications to the format used in the API and in emails, in batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import UNSET, Struct, UnsetType

from octavo.content.changes.store import ChangeRow, find_change, find_state
from octavo.content.revisions.page_versions import find_page, list_ancestors
from octavo.content.revisions.states import State
from octavo.core.app_urls import AppAddresses, change_view
from octavo.core.document.nodes import Block, Inline, Text, walk
from octavo.core.document.reader import read
from octavo.core.pages import Page
from octavo.kit.clock import iso
from octavo.kit.db.database import Transaction, json_list
from octavo.kit.http.operation import Recipient
from octavo.organization.access.accounts import list_users_by_id
from octavo.organization.access.authorization import find_collection_access, find_site_access
from octavo.organization.access.reach import actor_for_job
from octavo.organization.access.roles import Can
from octavo.organization.access.wire import present_people

from .store import NotificationRow
from .types import Reason
from .wire import (
    Notification,
    NotificationUrls,
    NotifiedChange,
    NotifiedComment,
    NotifiedContainer,
    NotifiedPage,
    NotifiedSpace,
)

_EXCERPT_LENGTH = 160
"""Maximum number of characters of a comment that are shown."""
_EXCERPT_SOURCE_LENGTH = 2000
"""Number of characters of a comment to read for its excerpt."""


class Subjects(Struct, frozen=True):
    """Current state of the subjects of notifications: spaces, change requests, pages, and comments."""

    spaces: dict[str, tuple[str, str]]
    """Title and organization by space ID."""
    changes: dict[str, ChangeRow]
    pages: dict[str, tuple[Page, str]]
    """Page with its path, by page ID."""
    words: dict[str, str]
    containers: dict[tuple[str, str], str]
    """Title by kind (``site`` or ``collection``) and ID."""

    def container(self, row: NotificationRow, kind: str) -> NotifiedContainer | UnsetType:
        found = container_of(row)
        if found is None or found[0] != kind or found not in self.containers:
            return UNSET
        return NotifiedContainer(found[1], self.containers[found])

    def space(self, row: NotificationRow) -> NotifiedSpace:
        title, organization = self.spaces[row.space_id]
        return NotifiedSpace(row.space_id, title, organization)

    def address(self, app: AppAddresses, row: NotificationRow) -> str:
        """Return the URL of the notification's subject in the app."""
        change = self.changes.get(row.change_id or "")
        path = self.pages[row.page_id][1] if row.page_id in self.pages else ""
        if change is not None:
            view = "/~/talk" if row.comment_id else "/~/review"
            if change.status == "merged" and not row.comment_id:
                return app.page(row.space_id, path) if path else app.space(row.space_id)
            return app.space(row.space_id, f"{change_view(change.number)}{view}")
        if row.reason == "failed":
            kind, _, run = row.about.partition(":")
            if kind == "translation":
                return app.organization(self.spaces[row.space_id][1], f"translations/{run}")
            if kind == "run":
                return app.space(row.space_id, "/~/import")
            match container_of(row):
                case "collection", id:
                    return f"{app.collection(id)}/~/git"
                case "site", id:
                    return f"{app.site(self.spaces[row.space_id][1], id)}/~/git"
            return app.space(row.space_id, "/~/settings/git")
        if row.comment_id:
            return app.thread(row.space_id, row.comment_id, path)
        if row.about.startswith("siteFinding:"):
            return app.site(self.spaces[row.space_id][1], row.about.split(":")[1], "health")
        return app.page(row.space_id, path) if path else app.space(row.space_id)


def container_of(row: NotificationRow) -> tuple[str, str] | None:
    """Return the kind and ID of the site or collection that a notification is about; None if it is about one
    space."""
    match row.about.split(":"):
        case "siteFinding", id, _:
            return "site", id
        case "sync", ("site" | "collection") as kind, id:
            return kind, id
    return None


def state_of(tx: Transaction, row: NotificationRow) -> State:
    """Return the state that contains the page of a notification: its change request or main."""
    return find_state(tx, row.space_id, row.change_id)


def _container_titles(
    tx: Transaction, rows: Sequence[NotificationRow], organizations: Mapping[str, str]
) -> dict[tuple[str, str], str]:
    """Return the titles of the sites and collections that the recipient can see. ``organizations``: the organizations
    of the spaces, by space ID."""
    titles: dict[tuple[str, str], str] = {}
    for row in rows:
        found = container_of(row)
        if found is None or found in titles or row.space_id not in organizations:
            continue
        kind, id = found
        organization = organizations[row.space_id]
        actor = actor_for_job(row.user_id, organization)
        if kind == "site":
            seen = find_site_access(tx, actor, Can.VIEW, organization, id) is not None
        else:
            seen = find_collection_access(tx, actor, Can.VIEW, id) is not None
        if seen:
            table = "sites" if kind == "site" else "collections"
            titles[found] = tx.value(f"SELECT title FROM {table} WHERE id = :id", id=id)
    return titles


def load_subjects(tx: Transaction, rows: Sequence[NotificationRow]) -> Subjects:
    spaces = tx.all(
        f"SELECT id, title, organization_id FROM spaces WHERE id {tx.among('ids')}",
        ids=json_list({row.space_id for row in rows}),
    )
    changes = {
        row.change_id: change
        for row in rows
        if row.change_id and (change := find_change(tx, row.space_id, row.change_id)) is not None
    }
    pages: dict[str, tuple[Page, str]] = {}
    for row in rows:
        if row.page_id is None or row.page_id in pages:
            continue
        state = state_of(tx, row)
        page = find_page(tx, state, row.page_id)
        if page is not None:
            above = list_ancestors(tx, state, page)
            pages[page.id] = page, "/".join(one.slug for one in [*above, page])
    comment_ids = [id for row in rows for id in (row.reply_id or row.comment_id,) if id]
    words = tx.all(f"SELECT id, body FROM comments WHERE id {tx.among('ids')}", ids=json_list(comment_ids))
    return Subjects(
        {id: (title, organization) for id, title, organization in spaces},
        changes,
        pages,
        {id: excerpt(body) for id, body in words},
        _container_titles(tx, rows, {id: organization for id, _, organization in spaces}),
    )


def excerpt(body: str) -> str:
    """Return the beginning of a comment as a single line."""
    words = " ".join(" ".join(map(_words, read(body[:_EXCERPT_SOURCE_LENGTH]).nodes)).split())
    return words if len(words) <= _EXCERPT_LENGTH else f"{words[: _EXCERPT_LENGTH - 1].rstrip()}…"


def _words(block: Block) -> str:
    found = []
    for node in walk(block):
        if isinstance(node, Text):
            found += [leaf.text for leaf in node.leaves]
        elif isinstance(node, Inline) and node.type == "mention":
            found.append(node.data.get("label") or "")
    return "".join(found)


def _about(change: ChangeRow) -> NotifiedChange:
    return NotifiedChange(change.id, change.number, change.subject, change.status)  # type: ignore[arg-type]


def present(to: Recipient, tx: Transaction, rows: Sequence[NotificationRow]) -> list[Notification]:
    found = load_subjects(tx, rows)
    people = present_people(to, tx, [row.actor_id for row in rows if row.actor_id])
    shown = []
    for row in rows:
        change = found.changes.get(row.change_id or "")
        page = found.pages.get(row.page_id or "")
        comment_id = row.reply_id or row.comment_id
        comment = (
            NotifiedComment(row.comment_id, found.words.get(comment_id, ""), row.reply_id or UNSET)
            if row.comment_id and comment_id
            else UNSET
        )
        shown.append(
            Notification(
                id=row.id,
                reason=row.reason,
                state=row.state,
                events=row.events,
                at=iso(row.at),
                space=found.space(row),
                urls=NotificationUrls(found.address(to.app, row), to.url(f"/user/notifications/{row.id}")),
                user=people[row.actor_id] if row.actor_id else UNSET,
                site=found.container(row, "site"),
                collection=found.container(row, "collection"),
                change_request=_about(change) if change else UNSET,
                page=NotifiedPage(page[0].id, page[0].title, page[1]) if page else UNSET,
                comment=comment,
                review=row.review_id or UNSET,
                revision=row.revision or UNSET,
                status=row.status or UNSET,
                problem=row.problem or UNSET,
            )
        )
    return shown


# --- in emails ----------------------------------------------------------------------------------------

_SENTENCES: dict[Reason, str] = {
    "mentioned": "{who} mentioned you",
    "replied": "{who} replied",
    "commented": "{who} commented",
    "reviewRequested": "{who} requested your review",
    "merged": "{who} merged",
    "edited": "{who} edited",
    "reviewDue": "Due for review",
    "assigned": "{who} assigned a finding to you",
    "failed": "Failed",
}
_REVIEWED = {
    "approved": "{who} approved",
    "changes-requested": "{who} requested changes",
    "accepted": "{who} accepted your suggestion",
    "declined": "{who} declined your suggestion",
}
_STATUS = {
    "open": "{who} marked as ready for review",
    "draft": "{who} converted to draft",
    "archived": "{who} archived",
}


def sentence(tx: Transaction, found: Subjects, row: NotificationRow) -> str:
    """Return one line for an email: the person, their action, and its subject."""
    person = list_users_by_id(tx, [row.actor_id]).get(row.actor_id) if row.actor_id else None
    pattern = _SENTENCES.get(row.reason, "")
    if row.reason == "reviewed":
        pattern = _REVIEWED.get(row.status or "", "{who} reviewed")
    elif row.reason == "statusChanged":
        pattern = _STATUS.get(row.status or "", "{who} changed the status of")
    change, page = found.changes.get(row.change_id or ""), found.pages.get(row.page_id or "")
    where = found.containers.get(container_of(row) or ("", ""), found.spaces[row.space_id][0])
    if change is not None:
        where = f"#{change.number} {change.subject}".strip() + f" ({where})"
    elif page is not None:
        where = f"{page[0].title} ({where})"
    line = f"{pattern.format(who=person.display_name if person else 'Someone')}: {where}"
    return " ".join(line.split())
