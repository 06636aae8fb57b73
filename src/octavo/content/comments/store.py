"""Read and write comments, replies, and reactions in the database. A reply is a comment with a parent."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal

import msgspec
from msgspec import Struct

from octavo.content.changes.suggesting import AcceptedSuggestion, Nodes, SuggestedEdit
from octavo.errors import NotFound
from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.db.database import Transaction, json_list
from octavo.kit.db.pagination import Order, Slice, list_page

from .authorization import Discussion


class Anchor(Struct, frozen=True):
    """Target of a comment, and the revision in which the target was found."""

    revision: str
    page_id: str | None = None
    node_id: str | None = None
    record: str | None = None
    definition: str | None = None
    cell: str | None = None


class CommentRow(Struct, frozen=True):
    id: str
    place_id: str
    space_id: str
    change_id: str | None
    review_id: str | None
    parent_id: str | None
    page_id: str | None
    node_id: str | None
    record: str | None
    definition: str | None
    cell: str | None
    revision: str
    body: str
    posted_by: str
    agent: str | None
    posted_at: int
    edited_at: int | None
    resolved_at: int | None
    resolved_by: str | None
    replies: int


_COMMENT = ", ".join(f"c.{name}" for name in CommentRow.__struct_fields__)


def get_comment(
    tx: Transaction,
    discussion: Discussion,
    comment_id: str,
    parent_id: str | None = None,
    *,
    lock: bool = False,
) -> CommentRow:
    """Return a comment, or a reply to the comment ``parent_id``. ``lock``: whether to lock the row until
    the transaction ends. Raises NotFound if it doesn't exist or is hidden from the caller."""
    found = find_comment(tx, discussion, comment_id, parent_id, lock=lock)
    if found is None:
        what = "comment" if parent_id is None else "reply"
        raise NotFound(f"There is no {what} with the ID {comment_id!r} in this discussion.")
    return found


def find_comment(
    tx: Transaction,
    discussion: Discussion,
    comment_id: str,
    parent_id: str | None = None,
    *,
    lock: bool = False,
) -> CommentRow | None:
    row = tx.one(
        f"""SELECT {_COMMENT} FROM comments c WHERE c.id = :id AND c.place_id = :discussion
            AND c.parent_id {_is(parent_id)}{_seen(tx, discussion)}{tx.for_update if lock else ""}""",
        hidden=json_list(discussion.hidden),
        id=comment_id,
        discussion=discussion.id,
        parent=parent_id or "",
    )
    return CommentRow(*row) if row else None


def _seen(tx: Transaction, discussion: Discussion) -> str:
    """Return an SQL condition that leaves out comments on pages that the caller can't see. It uses the parameter
    ``hidden``."""
    if not discussion.hidden:
        return ""
    hidden = tx.among("hidden")
    return f""" AND (c.page_id IS NULL OR NOT c.page_id {hidden}) AND NOT EXISTS (
      SELECT 1 FROM comments p WHERE p.id = c.parent_id AND p.page_id {hidden})"""


def _is(parent_id: str | None) -> str:
    return "IS NULL" if parent_id is None else "= :parent"


class CommentFilter(Struct, frozen=True):
    """Filter for comments. ``authors``: the IDs of authors; empty for all. ``suggestion``: the status of
    the suggested edit."""

    status: str = "all"
    page_id: str | None = None
    authors: list[str] = []
    suggestion: str | None = None


_STATUS = {"all": "", "open": " AND c.resolved_at IS NULL", "resolved": " AND c.resolved_at IS NOT NULL"}


def list_comments(
    tx: Transaction, discussion: Discussion, wanted: CommentFilter, order: Order, limit: int, page: str | None
) -> Slice[CommentRow]:
    """List the comments in a discussion, sorted by the time they were posted."""
    where = f"c.place_id = :discussion AND c.parent_id IS NULL{_seen(tx, discussion)}{_STATUS[wanted.status]}"
    parameters: dict[str, Any] = {"discussion": discussion.id, "hidden": json_list(discussion.hidden)}
    if wanted.page_id is not None:
        where += " AND c.page_id = :page"
        parameters["page"] = wanted.page_id
    if wanted.authors:
        where += " AND c.posted_by IN :authors"
        parameters["authors"] = wanted.authors
    if wanted.suggestion is not None:
        where += """ AND EXISTS (SELECT 1 FROM comment_suggestions s
                     WHERE s.comment_id = c.id AND s.status = :suggestion)"""
        parameters["suggestion"] = wanted.suggestion
    return _list(tx, where, parameters, order, limit, page)


def list_replies(tx: Transaction, comment_id: str, limit: int, page: str | None) -> Slice[CommentRow]:
    """List replies, oldest first."""
    return _list(tx, "c.parent_id = :parent", {"parent": comment_id}, "asc", limit, page)


def _list(
    tx: Transaction, where: str, parameters: dict[str, Any], order: Order, limit: int, page: str | None
) -> Slice[CommentRow]:
    return list_page(
        tx,
        limit,
        page,
        _COMMENT,
        f"FROM comments c WHERE {where}",
        lambda row: CommentRow(*row),
        by="c.id",
        descending=order == "desc",
        **parameters,
    )


def list_review_comments(tx: Transaction, change_id: str, review_ids: list[str]) -> list[CommentRow]:
    """List the comments that belong to these reviews."""
    rows = tx.all(
        f"""SELECT {_COMMENT} FROM comments c WHERE c.place_id = :change AND c.parent_id IS NULL
            AND c.review_id IN :reviews""",
        change=change_id,
        reviews=review_ids,
    )
    return [CommentRow(*row) for row in rows]


class Replier(Struct, frozen=True):
    comment_id: str
    user_id: str
    count: int
    updated_at: int


def list_repliers(tx: Transaction, comment_ids: list[str]) -> list[Replier]:
    """Return the number of each person's replies to these comments, and the time of their last reply, most
    recent first."""
    rows = tx.all(
        """SELECT c.parent_id, c.posted_by, count(*), max(c.posted_at) FROM comments c
           WHERE c.parent_id IN :ids GROUP BY c.parent_id, c.posted_by ORDER BY 4 DESC, 2""",
        ids=comment_ids,
    )
    return [Replier(*row) for row in rows]


_COMMENTERS = """FROM members m WHERE m.organization_id = :organization AND EXISTS (
  SELECT 1 FROM comments c WHERE c.place_id = :discussion AND c.posted_by = m.user_id{seen})"""


def list_commenters(tx: Transaction, discussion: Discussion, limit: int, page: str | None) -> Slice[str]:
    """List the IDs of organization members who commented or replied in the discussion."""
    return list_page(
        tx,
        limit,
        page,
        "m.user_id",
        _COMMENTERS.format(seen=_seen(tx, discussion)),
        lambda row: row[0],
        by="m.user_id",
        organization=discussion.space.organization_id,
        discussion=discussion.id,
        hidden=json_list(discussion.hidden),
    )


# --- writing ------------------------------------------------------------------------------------------


def insert_comment(
    tx: Transaction, discussion: Discussion, body: str, anchor: Anchor, *, review_id: str | None = None
) -> CommentRow:
    """Insert an open comment by the caller."""
    made = _insert(tx, discussion, body, anchor, review_id=review_id)
    _count(tx, made, +1)
    return made


def insert_reply(tx: Transaction, discussion: Discussion, parent: CommentRow, body: str) -> CommentRow:
    """Insert a reply by the caller. ``parent``: the comment that it replies to, which must be locked."""
    tx.run("UPDATE comments SET replies = replies + 1 WHERE id = :id", id=parent.id)
    return _insert(tx, discussion, body, Anchor(parent.revision), parent_id=parent.id)


def _insert(
    tx: Transaction,
    discussion: Discussion,
    body: str,
    anchor: Anchor,
    *,
    review_id: str | None = None,
    parent_id: str | None = None,
) -> CommentRow:
    row = CommentRow(
        id=ids.new_id(),
        place_id=discussion.id,
        space_id=discussion.space_id,
        change_id=discussion.change_id,
        review_id=review_id,
        parent_id=parent_id,
        page_id=anchor.page_id,
        node_id=anchor.node_id,
        record=anchor.record,
        definition=anchor.definition,
        cell=anchor.cell,
        revision=anchor.revision,
        body=body,
        posted_by=discussion.user_id,
        agent=discussion.agent,
        posted_at=now(),
        edited_at=None,
        resolved_at=None,
        resolved_by=None,
        replies=0,
    )
    values = {name: getattr(row, name) for name in CommentRow.__struct_fields__}
    named = ", ".join(f":{name}" for name in values)
    tx.run(f"INSERT INTO comments ({', '.join(values)}) VALUES ({named})", **values)
    return row


def set_body(tx: Transaction, comment_id: str, body: str) -> None:
    tx.run(
        "UPDATE comments SET body = :body, edited_at = :at WHERE id = :id", body=body, at=now(), id=comment_id
    )


def set_resolved(tx: Transaction, comment: CommentRow, by: str | None) -> None:
    """Resolve a comment, or reopen it if ``by`` is None. The comment must be locked and in the opposite
    state."""
    tx.run(
        "UPDATE comments SET resolved_at = :at, resolved_by = :by WHERE id = :id",
        at=now() if by else None,
        by=by,
        id=comment.id,
    )
    _count(tx, comment, -1 if by else +1)


def delete_comment(tx: Transaction, comment: CommentRow) -> None:
    """Delete a comment with its replies. The comment must be locked; for a reply, its parent must be
    locked, too."""
    tx.run("DELETE FROM comments WHERE id = :id", id=comment.id)
    if comment.parent_id is not None:
        tx.run("UPDATE comments SET replies = replies - 1 WHERE id = :id", id=comment.parent_id)
    elif comment.resolved_at is None:
        _count(tx, comment, -1)


def _count(tx: Transaction, comment: CommentRow, step: int) -> None:
    """Adjust the number of open comments in the comment's space or change request by ``step``."""
    table = "change_requests" if comment.change_id else "spaces"
    tx.run(f"UPDATE {table} SET comments = comments + :step WHERE id = :id", step=step, id=comment.place_id)


def count_open(tx: Transaction, place_id: str, page_ids: Collection[str]) -> int:
    """Return the number of open comments on these pages in the discussion of a space or change request."""
    if not page_ids:
        return 0
    count: int = tx.value(
        f"""SELECT count(*) FROM comments WHERE place_id = :place AND parent_id IS NULL AND resolved_at IS NULL
            AND page_id {tx.among("pages")}""",
        place=place_id,
        pages=json_list(page_ids),
    )
    return count


def count_by_author(
    tx: Transaction, change_id: str, page_ids: Collection[str]
) -> dict[str, tuple[int, int | None]]:
    """Return the number of comments and replies on these pages in a change request, by author, and the time of the
    author's last comment or reply that isn't on these pages."""
    if not page_ids:
        return {}
    on_pages = f"COALESCE(c.page_id, t.page_id) {tx.among('pages')}"
    rows = tx.all(
        f"""SELECT c.posted_by, sum(CASE WHEN {on_pages} THEN 1 ELSE 0 END),
                   max(CASE WHEN {on_pages} THEN NULL ELSE c.posted_at END)
            FROM comments c LEFT JOIN comments t ON t.id = c.parent_id
            WHERE c.place_id = :change GROUP BY c.posted_by""",
        change=change_id,
        pages=json_list(page_ids),
    )
    return {row[0]: (int(row[1]), row[2]) for row in rows if row[1]}


# --- reactions ----------------------------------------------------------------------------------------


class Reaction(Struct, frozen=True):
    comment_id: str
    emoji: str
    user_id: str
    reacted_at: int


def list_reactions(tx: Transaction, comment_ids: list[str]) -> list[Reaction]:
    """List reactions, oldest first."""
    rows = tx.all(
        """SELECT comment_id, emoji, user_id, reacted_at FROM comment_reactions WHERE comment_id IN :ids
           ORDER BY reacted_at, emoji, user_id""",
        ids=comment_ids,
    )
    return [Reaction(*row) for row in rows]


def add_reaction(tx: Transaction, comment_id: str, emoji: str, user_id: str) -> bool:
    """Add a reaction and return whether it is new."""
    return bool(
        tx.run(
            """INSERT INTO comment_reactions (comment_id, emoji, user_id, reacted_at)
               VALUES (:comment, :emoji, :user, :at) ON CONFLICT (comment_id, emoji, user_id) DO NOTHING""",
            comment=comment_id,
            emoji=emoji,
            user=user_id,
            at=now(),
        )
    )


def remove_reaction(tx: Transaction, comment_id: str, emoji: str, user_id: str) -> bool:
    """Remove a reaction and return whether it existed."""
    return bool(
        tx.run(
            "DELETE FROM comment_reactions WHERE comment_id = :comment AND emoji = :emoji AND user_id = :user",
            comment=comment_id,
            emoji=emoji,
            user=user_id,
        )
    )


def count_emojis(tx: Transaction, comment_id: str) -> int:
    """Return the number of different emoji on a comment."""
    found: int = tx.value(
        "SELECT count(DISTINCT emoji) FROM comment_reactions WHERE comment_id = :comment", comment=comment_id
    )
    return found


# --- suggestions --------------------------------------------------------------------------------------


class SuggestionRow(Struct, frozen=True):
    """Suggested edit. ``was`` and ``becomes``: the nodes before and after the edit, with references as in the
    page's file. ``revision_before`` and ``revision``: the revisions of the change request before and after
    the suggestion was accepted."""

    comment_id: str
    was: Nodes
    becomes: Nodes
    status: Literal["open", "accepted", "declined"]
    settled_at: int | None
    settled_by: str | None
    revision_before: str | None
    revision: str | None


_SUGGESTION = ", ".join(SuggestionRow.__struct_fields__)


def insert_suggestion(tx: Transaction, comment_id: str, made: SuggestedEdit) -> None:
    """Insert an open suggestion."""
    tx.insert(
        "comment_suggestions",
        comment_id=comment_id,
        was=msgspec.json.encode(made.was).decode(),
        becomes=msgspec.json.encode(made.becomes).decode(),
        status="open",
    )


def find_suggestion(tx: Transaction, comment_id: str) -> SuggestionRow | None:
    return list_suggestions(tx, [comment_id]).get(comment_id)


def list_suggestions(tx: Transaction, comment_ids: list[str]) -> dict[str, SuggestionRow]:
    """Return suggestions by comment ID."""
    rows = tx.all(f"SELECT {_SUGGESTION} FROM comment_suggestions WHERE comment_id IN :ids", ids=comment_ids)
    return {
        id: SuggestionRow(id, msgspec.json.decode(was), msgspec.json.decode(becomes), *rest)
        for id, was, becomes, *rest in rows
    }


def set_suggestion_status(
    tx: Transaction, seen: SuggestionRow, status: str, by: str, accepted: AcceptedSuggestion | None
) -> bool:
    """Set the status if the suggestion still matches ``seen``. Returns whether the status was set."""
    is_open = status == "open"
    return bool(
        tx.run(
            """UPDATE comment_suggestions SET status = :status, settled_at = :at, settled_by = :by,
               revision_before = :before, revision = :revision WHERE comment_id = :comment AND status = :seen""",
            comment=seen.comment_id,
            status=status,
            seen=seen.status,
            at=None if is_open else now(),
            by=None if is_open else by,
            before=accepted.before if accepted else None,
            revision=accepted.after if accepted else None,
        )
    )
