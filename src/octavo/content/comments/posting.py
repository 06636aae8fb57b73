"""Saying something, answering, changing and taking back what was said; one event for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from octavo.content.changes.commands import DocumentInput
from octavo.content.changes.store import ChangeRow, add_contribution
from octavo.content.changes.suggesting import Suggested
from octavo.content.revisions.node_positions import enqueue_notes
from octavo.errors import BadRequest, Forbidden
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction

from . import store
from .authorization import Discussion
from .bodies import Mentions, mentions_in, parse, parse_plain, resolve_mentions, source_of
from .events import emit_about
from .reacting import MAX_EMOJIS, emoji_of
from .store import Anchor, CommentRow
from .suggesting import read_suggestion
from .targets import About, attach
from .types import Said


def _mentioned(mentions: Mentions) -> dict[str, list[str]]:
    """For an event: who is mentioned that was not before."""
    found = {"mentioned_users": sorted(mentions.users), "mentioned_teams": sorted(mentions.teams)}
    return {name: ids for name, ids in found.items() if ids}


def _note_contribution(tx: Transaction, discussion: Discussion) -> None:
    if discussion.change_id is not None:
        add_contribution(tx, discussion.change_id, discussion.user_id, "comment")


def post(
    context: Context,
    discussion: Discussion,
    said: Said,
    about: About,
    suggestion: DocumentInput | None = None,
) -> str:
    """The id of the new comment. Raises NotFound for a page, node or cell that is not there, and for what it suggests
    as ``read_suggestion`` does."""
    parsed = parse(said)
    suggested = read_suggestion(context, discussion, about, suggestion) if suggestion is not None else None
    with context.db.read() as tx:
        anchor = attach(tx, discussion, about)
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
    suggested: Suggested | None = None,
) -> str:
    made = store.insert_comment(tx, discussion, body, anchor, review_id=review_id)
    if suggested is not None:
        store.insert_suggestion(tx, made.id, suggested)
    _note_contribution(tx, discussion)
    if anchor.page_id is not None and anchor.node_id is not None:
        enqueue_notes(tx, discussion.space_id, [anchor.page_id])
    emit_about(tx, "created", discussion, made, **_mentioned(mentions))
    return made.id


class ReviewWords(NamedTuple):
    """What a review says, as it is kept."""

    body: str
    mentions: Mentions


def read_review(tx: Transaction, discussion: Discussion, given: dict[str, Any]) -> ReviewWords | None:
    """None for ``{}``. Raises BadRequest, and NotFound for who cannot be mentioned."""
    parsed = parse_plain(given)
    if parsed.silent:
        return None
    mentions = resolve_mentions(tx, discussion.space, parsed.document, Mentions())
    return ReviewWords(source_of(parsed), mentions)


def post_review(
    tx: Transaction, discussion: Discussion, change: ChangeRow, review_id: str, said: ReviewWords
) -> None:
    """What a review says, as a comment of its change request."""
    _post(tx, discussion, said.body, Anchor(change.revision), said.mentions, review_id)


def reply(context: Context, discussion: Discussion, comment_id: str, said: Said) -> str:
    """The id of the new reply."""
    parsed = parse(said)
    with context.db.read() as tx:
        store.get_comment(tx, discussion, comment_id)
        mentions = resolve_mentions(tx, discussion.space, parsed.document, Mentions())
    body = source_of(parsed)
    with context.db.write() as tx:
        parent = store.get_comment(tx, discussion, comment_id, lock=True)
        made = store.insert_reply(tx, discussion, parent, body)
        _note_contribution(tx, discussion)
        emit_about(tx, "created", discussion, made, answered=parent.posted_by, **_mentioned(mentions))
        return made.id


def update(
    context: Context,
    discussion: Discussion,
    comment_id: str,
    reply_id: str | None,
    *,
    said: Said | None = None,
    resolved: bool | None = None,
    added_reactions: Sequence[str] = (),
    removed_reactions: Sequence[str] = (),
) -> None:
    """Changes the words, the status or the caller's reactions of a comment or reply. Nothing is told when nothing
    differs. Raises Forbidden for somebody else's words."""
    added = {emoji_of(text, "addedReactions") for text in added_reactions}
    removed = {emoji_of(text, "removedReactions") for text in removed_reactions}
    if both := added & removed:
        raise BadRequest(f"removedReactions: {min(both)} is in addedReactions too.")
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
            emit_about(tx, "updated", discussion, row, changed=changed, **_mentioned(mentions))


def _find(
    tx: Transaction, discussion: Discussion, comment_id: str, reply_id: str | None, *, lock: bool = False
) -> CommentRow:
    if reply_id is None:
        return store.get_comment(tx, discussion, comment_id, lock=lock)
    return store.get_comment(tx, discussion, reply_id, comment_id, lock=lock)


def _require_own(discussion: Discussion, row: CommentRow) -> None:
    if not discussion.may_edit(row.posted_by):
        raise Forbidden("body: only who said it may change it.")


def _react(
    tx: Transaction, discussion: Discussion, row: CommentRow, added: set[str], removed: set[str]
) -> bool:
    changed = [store.remove_reaction(tx, row.id, emoji, discussion.user_id) for emoji in sorted(removed)]
    new = [store.add_reaction(tx, row.id, emoji, discussion.user_id) for emoji in sorted(added)]
    if any(new) and store.count_emojis(tx, row.id) > MAX_EMOJIS:
        raise BadRequest(f"addedReactions: a comment takes {MAX_EMOJIS} different ones at most.")
    return any(changed) or any(new)


def delete(context: Context, discussion: Discussion, comment_id: str, reply_id: str | None = None) -> bool:
    """Takes back a comment with its replies, or a reply; whether it was there. Raises Forbidden."""
    with context.db.write() as tx:
        row = thread = store.find_comment(tx, discussion, comment_id, lock=True)
        if thread is not None and reply_id is not None:
            row = store.find_comment(tx, discussion, reply_id, thread.id, lock=True)
        if row is None:
            return False
        if not discussion.may_delete(row.posted_by):
            raise Forbidden("Only who said it, or who may edit the content, may delete it.")
        store.delete_comment(tx, row)
        emit_about(tx, "deleted", discussion, row)
        return True
