"""Post, reply to, update, and delete comments. Each of these operations emits one event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from octavo.content.changes.commands import DocumentInput
from octavo.content.changes.store import ChangeRow, add_contribution
from octavo.content.changes.suggesting import SuggestedEdit
from octavo.content.revisions.node_positions import enqueue_notes
from octavo.errors import BadRequest, Forbidden
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction

from . import store
from .authorization import Discussion
from .bodies import Mentions, mentions_in, parse, parse_plain, resolve_mentions, source_of
from .events import emit_comment_event
from .reacting import MAX_EMOJIS, emoji_of
from .store import Anchor, CommentRow
from .suggesting import read_suggestion
from .targets import About, make_anchor
from .types import BodyInput


def _mention_fields(mentions: Mentions) -> dict[str, list[str]]:
    """Return the fields of an event that name newly mentioned people and teams."""
    found = {"mentioned_users": sorted(mentions.users), "mentioned_teams": sorted(mentions.teams)}
    return {name: ids for name, ids in found.items() if ids}


def _note_contribution(tx: Transaction, discussion: Discussion, at: int) -> None:
    if discussion.change_id is not None:
        add_contribution(tx, discussion.change_id, discussion.user_id, "comment", at=at)


def post(
    context: Context,
    discussion: Discussion,
    said: BodyInput,
    about: About,
    suggestion: DocumentInput | None = None,
) -> str:
    """Post a comment and return its ID. Raises NotFound if the page, node, or cell doesn't exist. For a
    suggested edit, it also raises the errors of ``read_suggestion``."""
    parsed = parse(said)
    suggested = read_suggestion(context, discussion, about, suggestion) if suggestion is not None else None
    with context.db.read() as tx:
        anchor = make_anchor(tx, discussion, about)
        discussion.require_may_comment(anchor.page_id)
        mentions = resolve_mentions(tx, discussion.space, parsed.document, Mentions())
    if suggested is not None:
        anchor = replace(anchor, revision=suggested.revision)
    body = source_of(parsed, may_be_empty=suggested is not None)
    with context.db.write() as tx:
        return _post(tx, discussion, body, anchor, mentions, None, suggested)


def _post(
    tx: Transaction,
    discussion: Discussion,
    body: str,
    anchor: Anchor,
    mentions: Mentions,
    review_id: str | None,
    suggested: SuggestedEdit | None = None,
) -> str:
    made = store.insert_comment(tx, discussion, body, anchor, review_id=review_id)
    if suggested is not None:
        store.insert_suggestion(tx, made.id, suggested)
    _note_contribution(tx, discussion, made.posted_at)
    if anchor.page_id is not None and anchor.node_id is not None:
        enqueue_notes(tx, discussion.space_id, [anchor.page_id])
    emit_comment_event(tx, "created", discussion, made, **_mention_fields(mentions))
    return made.id


class ReviewBody(NamedTuple):
    """Body of a review in its stored form."""

    body: str
    mentions: Mentions


def read_review(tx: Transaction, discussion: Discussion, given: Mapping[str, object]) -> ReviewBody | None:
    """Parse the body of a review; return None for ``{}``. Raises BadRequest if the body is invalid, and
    NotFound if a mentioned person can't be mentioned."""
    parsed = parse_plain(given)
    if parsed.silent:
        return None
    mentions = resolve_mentions(tx, discussion.space, parsed.document, Mentions())
    return ReviewBody(source_of(parsed), mentions)


def post_review(
    tx: Transaction, discussion: Discussion, change: ChangeRow, review_id: str, body: ReviewBody
) -> None:
    """Post the body of a review as a comment on its change request."""
    _post(tx, discussion, body.body, Anchor(change.revision), body.mentions, review_id)


def reply(context: Context, discussion: Discussion, comment_id: str, said: BodyInput) -> str:
    """Post a reply and return its ID."""
    parsed = parse(said)
    with context.db.read() as tx:
        discussion.require_may_comment(store.get_comment(tx, discussion, comment_id).page_id)
        mentions = resolve_mentions(tx, discussion.space, parsed.document, Mentions())
    body = source_of(parsed)
    with context.db.write() as tx:
        parent = store.get_comment(tx, discussion, comment_id, lock=True)
        made = store.insert_reply(tx, discussion, parent, body)
        _note_contribution(tx, discussion, made.posted_at)
        emit_comment_event(
            tx, "created", discussion, made, answered=parent.posted_by, **_mention_fields(mentions)
        )
        return made.id


def update(
    context: Context,
    discussion: Discussion,
    comment_id: str,
    reply_id: str | None,
    *,
    said: BodyInput | None = None,
    resolved: bool | None = None,
    added_reactions: Sequence[str] = (),
    removed_reactions: Sequence[str] = (),
) -> None:
    """Update the body or status of a comment or reply, or the caller's reactions to it. No event is emitted if nothing
    changes. Raises Forbidden if the caller changes another person's text, or isn't allowed to comment on the page."""
    added = {emoji_of(text, "addedReactions") for text in added_reactions}
    removed = {emoji_of(text, "removedReactions") for text in removed_reactions}
    if both := added & removed:
        raise BadRequest(
            f"removedReactions: {min(both)} is also in `addedReactions`. Include each emoji in only one of"
            " the two."
        )
    body, mentions = None, Mentions()
    if said is not None:
        parsed = parse(said)
        with context.db.read() as tx:
            row = _find(tx, discussion, comment_id, reply_id)
            _require_own(discussion, row)
            mentions = resolve_mentions(tx, discussion.space, parsed.document, mentions_in(row.body))
        body = source_of(parsed)
    with context.db.write() as tx:
        thread = store.get_comment(tx, discussion, comment_id, lock=True)
        discussion.require_may_comment(thread.page_id)
        row = thread if reply_id is None else _find(tx, discussion, comment_id, reply_id, lock=True)
        changed = []
        if body is not None and body != row.body:
            _require_own(discussion, row)
            store.set_body(tx, row.id, body)
            changed.append("body")
        if resolved is not None and resolved != (thread.resolved_at is not None):
            store.set_resolved(tx, thread, discussion.user_id if resolved else None)
            changed.append("resolved")
        if _react(tx, discussion, row, added, removed):
            changed.append("reactions")
        if changed:
            emit_comment_event(tx, "updated", discussion, row, changed=changed, **_mention_fields(mentions))


def _find(
    tx: Transaction, discussion: Discussion, comment_id: str, reply_id: str | None, *, lock: bool = False
) -> CommentRow:
    if reply_id is None:
        return store.get_comment(tx, discussion, comment_id, lock=lock)
    return store.get_comment(tx, discussion, reply_id, comment_id, lock=lock)


def _require_own(discussion: Discussion, row: CommentRow) -> None:
    if not discussion.may_edit(row.posted_by):
        raise Forbidden("body: only the author can edit a comment")


def _react(
    tx: Transaction, discussion: Discussion, row: CommentRow, added: set[str], removed: set[str]
) -> bool:
    changed = [store.remove_reaction(tx, row.id, emoji, discussion.user_id) for emoji in sorted(removed)]
    new = [store.add_reaction(tx, row.id, emoji, discussion.user_id) for emoji in sorted(added)]
    if any(new) and store.count_emojis(tx, row.id) > MAX_EMOJIS:
        raise BadRequest(f"addedReactions: a comment can have at most {MAX_EMOJIS} different emoji")
    return any(changed) or any(new)


def delete(context: Context, discussion: Discussion, comment_id: str, reply_id: str | None = None) -> bool:
    """Delete a comment with its replies, or a reply, and return whether it existed. Raises Forbidden if the
    caller isn't allowed to delete it."""
    with context.db.write() as tx:
        row = thread = store.find_comment(tx, discussion, comment_id, lock=True)
        if thread is not None and reply_id is not None:
            row = store.find_comment(tx, discussion, reply_id, thread.id, lock=True)
        if row is None:
            return False
        discussion.require_may_comment(thread.page_id if thread is not None else None)
        if not discussion.may_delete(row.posted_by):
            raise Forbidden(
                "Only the author and people who can edit the content can delete this comment or reply."
            )
        store.delete_comment(tx, row)
        emit_comment_event(tx, "deleted", discussion, row)
        return True
