"""Convert comments to their API format, in batches."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET

from octavo.content.changes.store import ChangeRow, get_change
from octavo.content.changes.suggesting import is_block_unchanged, resolve_nodes
from octavo.content.references.concealing import Concealment
from octavo.content.references.lookup import Owner
from octavo.content.references.resolving import page_owner
from octavo.content.revisions.page_versions import find_pages
from octavo.content.revisions.states import State
from octavo.core.app_urls import change_view
from octavo.kit.clock import iso
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Recipient
from octavo.organization.access.roles import Can
from octavo.organization.access.wire import User, present_people

from . import store
from .authorization import Discussion, discussion_of
from .bodies import document_json
from .store import CommentRow, Reaction, Replier, SuggestionRow
from .targets import TargetLocation, discussed_state, locate
from .wire import (
    Comment,
    CommentBody,
    CommentPermissions,
    CommentReply,
    CommentTarget,
    CommentUrls,
    EmojiReaction,
    Format,
    Id,
    ReactedUser,
    ReplierItem,
    Suggestion,
    TableCell,
)


class _Page:
    """Data needed to present the comments or replies of one discussion, loaded with a few queries."""

    def __init__(
        self, to: Recipient, tx: Transaction, discussion: Discussion, rows: Sequence[CommentRow]
    ) -> None:
        ids = [row.id for row in rows]
        self.reactions: dict[str, list[Reaction]] = {}
        for reaction in store.list_reactions(tx, ids):
            self.reactions.setdefault(reaction.comment_id, []).append(reaction)
        self.repliers: dict[str, list[Replier]] = {}
        for replier in store.list_repliers(tx, ids):
            self.repliers.setdefault(replier.comment_id, []).append(replier)
        people = [id for row in rows for id in (row.posted_by, row.resolved_by) if id]
        people += [r.user_id for found in self.reactions.values() for r in found]
        people += [r.user_id for found in self.repliers.values() for r in found]
        self.suggestions = store.list_suggestions(tx, ids) if discussion.change_id else {}
        people += [one.settled_by for one in self.suggestions.values() if one.settled_by]
        self.people: dict[str, User] = present_people(to, tx, people)
        self.call = to
        self.discussion = discussion
        self.talk: str | None = None
        if discussion.change_id:
            number = get_change(tx, discussion.change_id).number
            self.talk = to.app.space(discussion.space_id, f"{change_view(number)}/~/talk")

    def present_urls(self, location: str, thread: str) -> CommentUrls:
        """Return the URLs of a comment. ``thread``: the ID of the first comment of its thread."""
        discussion = self.discussion
        app = self.talk or self.call.app.thread(discussion.space_id, thread)
        return CommentUrls(app, self.call.url(f"{discussion.path}/{location}"))

    def present_reactions(self, row: CommentRow) -> list[EmojiReaction]:
        users: dict[str, list[ReactedUser]] = {}
        for reaction in self.reactions.get(row.id, ()):
            reacted = ReactedUser(self.people[reaction.user_id], iso(reaction.reacted_at))
            users.setdefault(reaction.emoji, []).append(reacted)
        return [EmojiReaction(emoji, len(reacted), reacted) for emoji, reacted in users.items()]

    def present_repliers(self, row: CommentRow) -> list[ReplierItem]:
        found = self.repliers.get(row.id, ())
        return [ReplierItem(iso(r.updated_at), r.count, self.people[r.user_id]) for r in found]

    def present_permissions(self, row: CommentRow) -> CommentPermissions:
        discussion = self.discussion
        return CommentPermissions(
            view=True,
            edit=discussion.may_edit(row.posted_by),
            reply=discussion.allows(Can.COMMENT),
            delete=discussion.may_delete(row.posted_by),
        )


class _Bodies:
    """Bodies of a discussion's comments, without links to pages that the reader can't see. ``state``: the state that
    the discussion is about, as the reader sees it."""

    def __init__(self, to: Recipient, tx: Transaction, state: State, rows: Sequence[CommentRow]) -> None:
        self._concealment = Concealment(to, tx, state)
        ids = [row.page_id for row in rows if row.page_id] if self._concealment.is_needed else []
        self._pages = find_pages(tx, state, ids)

    def present(self, row: CommentRow, format: Format) -> CommentBody:
        page = self._pages.get(row.page_id or "")
        owner = page_owner(page) if page is not None else Owner("", "page", None)
        body = self._concealment.markdown(row.body, owner)
        if format == "markdown":
            return CommentBody(markdown=body)
        return CommentBody(document=document_json(body))


def _present_target(row: CommentRow, where: TargetLocation) -> CommentTarget:
    return CommentTarget(
        space=row.space_id,
        revision=where.revision,
        page=Id(row.page_id) if row.page_id else UNSET,
        node=Id(row.node_id) if row.node_id else UNSET,
        table_cell=TableCell(*where.spot) if where.spot else UNSET,
        change_request=row.change_id or UNSET,
        review=row.review_id or UNSET,
        gone=True if where.gone else UNSET,
    )


def present_suggestions(
    to: Recipient,
    tx: Transaction,
    rows: Sequence[CommentRow],
    state: State,
    kept: dict[str, SuggestionRow],
    people: dict[str, User],
) -> dict[str, Suggestion]:
    """Return suggestions in their API format, by comment ID. ``state``: the state in which to find their blocks."""
    shown = {}
    for row in rows:
        found = kept.get(row.id)
        if found is None or row.page_id is None or row.node_id is None:
            continue
        is_open = found.status == "open"
        shown[row.id] = Suggestion(
            status=found.status,
            before=resolve_nodes(to, tx, state, row.page_id, found.was),
            after=resolve_nodes(to, tx, state, row.page_id, found.becomes),
            outdated=is_open and not is_block_unchanged(tx, state, row.page_id, row.node_id, found.was),
            settled_at=iso(found.settled_at) if found.settled_at else UNSET,
            settled_by=people[found.settled_by] if found.settled_by else UNSET,
            revision=found.revision or UNSET,
        )
    return shown


def present_comments(
    to: Recipient, tx: Transaction, discussion: Discussion, rows: Sequence[CommentRow], format: Format
) -> list[Comment]:
    page = _Page(to, tx, discussion, rows)
    state = discussed_state(tx, discussion)
    where = locate(tx, state, rows)
    bodies = _Bodies(to, tx, state, rows)
    suggestions = present_suggestions(to, tx, rows, state, page.suggestions, page.people)
    return [
        Comment(
            id=row.id,
            posted_by=page.people[row.posted_by],
            agent=row.agent or UNSET,
            posted_at=iso(row.posted_at),
            edited_at=iso(row.edited_at) if row.edited_at else UNSET,
            reactions=page.present_reactions(row),
            replies=row.replies,
            repliers=page.present_repliers(row),
            body=bodies.present(row, format),
            target=_present_target(row, where[row.id]),
            status="resolved" if row.resolved_at else "open",
            resolved_at=iso(row.resolved_at) if row.resolved_at else UNSET,
            resolved_by=page.people[row.resolved_by] if row.resolved_by else UNSET,
            urls=page.present_urls(row.id, row.id),
            permissions=page.present_permissions(row),
            suggestion=suggestions.get(row.id, UNSET),
        )
        for row in rows
    ]


def present_replies(
    to: Recipient, tx: Transaction, discussion: Discussion, rows: Sequence[CommentRow], format: Format
) -> list[CommentReply]:
    page = _Page(to, tx, discussion, rows)
    bodies = _Bodies(to, tx, discussed_state(tx, discussion), rows)
    return [
        CommentReply(
            id=row.id,
            posted_by=page.people[row.posted_by],
            agent=row.agent or UNSET,
            posted_at=iso(row.posted_at),
            edited_at=iso(row.edited_at) if row.edited_at else UNSET,
            reactions=page.present_reactions(row),
            body=bodies.present(row, format),
            urls=page.present_urls(f"{row.parent_id}/replies/{row.id}", row.parent_id or row.id),
            permissions=page.present_permissions(row),
        )
        for row in rows
    ]


def present_review_comments(
    to: Recipient, tx: Transaction, change: ChangeRow, review_ids: list[str], format: Format
) -> dict[str, Comment]:
    """Return the comments that belong to reviews, by review ID."""
    rows = store.list_review_comments(tx, change.id, review_ids)
    shown = present_comments(to, tx, discussion_of(tx, to.actor, change), rows, format)
    return {row.review_id: comment for row, comment in zip(rows, shown, strict=True) if row.review_id}
