"""Operations on comments in the discussions of spaces and change requests. Each handler serves both kinds of
discussions."""

from __future__ import annotations

from msgspec import UNSET

from octavo.content.changes.commands import DocumentInput
from octavo.kit.db.pagination import Listing, PageQuery, Slice, present_slice
from octavo.kit.http.operation import Area, Call
from octavo.organization.access.roles import Can
from octavo.organization.orgs.members.store import list_members_by_id
from octavo.organization.orgs.members.wire import Member, present_member

from . import posting, store, suggesting
from .authorization import Discussion
from .presenting import present_comments, present_replies
from .store import CommentFilter
from .targets import About
from .wire import (
    Comment,
    CommentFormatQuery,
    CommentReply,
    CommentsQuery,
    Format,
    PostComment,
    PostReply,
    RepliesQuery,
    SettleSuggestion,
    UpdateComment,
)

operation = Area("comments").operation

_SPACE = "/spaces/{spaceId}"
_CHANGE = "/spaces/{spaceId}/change-requests/{changeRequestId}"
_COMMENT = "/comments/{commentId}"
_REPLIES = f"{_COMMENT}/replies"
_REPLY = f"{_REPLIES}/{{commentReplyId}}"


def _show(call: Call, discussion: Discussion, comment_id: str, format: Format) -> Comment:
    with call.db.read() as tx:
        row = store.get_comment(tx, discussion, comment_id)
        return present_comments(call, tx, discussion, [row], format)[0]


def _show_reply(
    call: Call, discussion: Discussion, comment_id: str, reply_id: str, format: Format
) -> CommentReply:
    with call.db.read() as tx:
        row = store.get_comment(tx, discussion, reply_id, comment_id)
        return present_replies(call, tx, discussion, [row], format)[0]


def _update(
    call: Call, discussion: Discussion, comment_id: str, reply_id: str | None, body: UpdateComment
) -> None:
    posting.update(
        call.context,
        discussion,
        comment_id,
        reply_id,
        said=body.body if body.body is not UNSET else None,
        resolved=body.resolved if body.resolved is not UNSET else None,
        added_reactions=body.added_reactions,
        removed_reactions=body.removed_reactions,
    )


# --- comments -----------------------------------------------------------------------------------------


@operation("listCommentsInSpace", "GET", f"{_SPACE}/comments", needs=Can.VIEW, agents="docs:read")
@operation(
    "listCommentsInChangeRequest",
    "GET",
    f"{_CHANGE}/comments",
    needs=Can.VIEW,
    errors=(404,),
    agents="docs:read",
)
def list_comments(call: Call, discussion: Discussion, query: CommentsQuery) -> Listing[Comment]:
    """List the comments of a space or change request, newest first. You can filter them by status, page,
    authors, or the status of the suggested edit."""
    wanted = CommentFilter(query.status, query.target_page, query.authors, query.suggestion)
    with call.db.read() as tx:
        found = store.list_comments(tx, discussion, wanted, query.order, query.limit, query.page)
        shown = present_comments(call, tx, discussion, found.rows, query.format)
    return present_slice(Slice(shown, found.count, found.next_token), lambda comment: comment)


@operation(
    "postCommentInSpace",
    "POST",
    f"{_SPACE}/comments",
    needs=Can.COMMENT,
    errors=(400, 404),
    agents="docs:comment",
)
@operation(
    "postCommentInChangeRequest",
    "POST",
    f"{_CHANGE}/comments",
    needs=Can.COMMENT,
    errors=(400, 404, 409, 413),
    agents="docs:comment",
)
def post_comment(call: Call, discussion: Discussion, body: PostComment, query: CommentFormatQuery) -> Comment:
    """Post a comment on a space or change request, a page, a node of that page, or a table cell of that
    node. In a change request, use `suggestion` to suggest an edit to the node, which must be a block of the
    page."""
    cell = body.table_cell
    comment_id = posting.post(
        call.context,
        discussion,
        body.body,
        About(body.page, body.node, (cell.record, cell.definition) if cell is not None else None),
        body.suggestion if isinstance(body.suggestion, DocumentInput) else None,
    )
    return _show(call, discussion, comment_id, query.format)


@operation("getCommentInSpace", "GET", f"{_SPACE}{_COMMENT}", needs=Can.VIEW, errors=(404,))
@operation("getCommentInChangeRequest", "GET", f"{_CHANGE}{_COMMENT}", needs=Can.VIEW, errors=(404,))
def get_comment(call: Call, discussion: Discussion, comment_id: str, query: CommentFormatQuery) -> Comment:
    """Get a comment."""
    return _show(call, discussion, comment_id, query.format)


@operation("updateCommentInSpace", "PUT", f"{_SPACE}{_COMMENT}", needs=Can.COMMENT, errors=(400, 403, 404))
@operation(
    "updateCommentInChangeRequest", "PUT", f"{_CHANGE}{_COMMENT}", needs=Can.COMMENT, errors=(400, 403, 404)
)
def update_comment(
    call: Call, discussion: Discussion, comment_id: str, body: UpdateComment, query: CommentFormatQuery
) -> Comment:
    """Update a comment: edit its body (author only), resolve or reopen it, and add or remove the caller's reactions."""
    _update(call, discussion, comment_id, None, body)
    return _show(call, discussion, comment_id, query.format)


@operation("deleteCommentInSpace", "DELETE", f"{_SPACE}{_COMMENT}", needs=Can.COMMENT, errors=(403, 404))
@operation(
    "deleteCommentInChangeRequest", "DELETE", f"{_CHANGE}{_COMMENT}", needs=Can.COMMENT, errors=(403, 404)
)
def delete_comment(call: Call, discussion: Discussion, comment_id: str) -> bool:
    """Delete a comment with its replies. Authors can delete their own comments; people who can edit the
    content can delete any comment."""
    return posting.delete(call.context, discussion, comment_id)


@operation(
    "settleSuggestionInChangeRequest",
    "PUT",
    f"{_CHANGE}{_COMMENT}/suggestion",
    needs=Can.EDIT,
    errors=(400, 404, 409),
    yields=("changes:write",),
)
def settle_suggestion(
    call: Call, discussion: Discussion, comment_id: str, body: SettleSuggestion, query: CommentFormatQuery
) -> Comment:
    """Accept, decline, or reopen the edit that a comment suggests. Accepting creates a revision of the
    change request, attributed to the author of the suggestion; reopening an accepted suggestion reverts
    that revision. The comment thread is resolved or reopened accordingly. Returns 409 if the block has been
    edited in a conflicting way in the meantime."""
    suggesting.settle_suggestion(call.context, discussion, comment_id, body.status)
    return _show(call, discussion, comment_id, query.format)


# --- replies ------------------------------------------------------------------------------------------


@operation(
    "listCommentRepliesInSpace",
    "GET",
    f"{_SPACE}{_REPLIES}",
    needs=Can.VIEW,
    errors=(404,),
    agents="docs:read",
)
@operation(
    "listCommentRepliesInChangeRequest",
    "GET",
    f"{_CHANGE}{_REPLIES}",
    needs=Can.VIEW,
    errors=(404,),
    agents="docs:read",
)
def list_replies(
    call: Call, discussion: Discussion, comment_id: str, query: RepliesQuery
) -> Listing[CommentReply]:
    """List the replies to a comment, oldest first."""
    with call.db.read() as tx:
        store.get_comment(tx, discussion, comment_id)
        found = store.list_replies(tx, comment_id, query.limit, query.page)
        shown = present_replies(call, tx, discussion, found.rows, query.format)
    return present_slice(Slice(shown, found.count, found.next_token), lambda reply: reply)


@operation(
    "postCommentReplyInSpace",
    "POST",
    f"{_SPACE}{_REPLIES}",
    needs=Can.COMMENT,
    errors=(400, 404),
    agents="docs:comment",
)
@operation(
    "postCommentReplyInChangeRequest",
    "POST",
    f"{_CHANGE}{_REPLIES}",
    needs=Can.COMMENT,
    errors=(400, 404),
    agents="docs:comment",
)
def post_reply(
    call: Call, discussion: Discussion, comment_id: str, body: PostReply, query: CommentFormatQuery
) -> CommentReply:
    """Post a reply to a comment."""
    reply_id = posting.reply(call.context, discussion, comment_id, body.body)
    return _show_reply(call, discussion, comment_id, reply_id, query.format)


@operation("getCommentReplyInSpace", "GET", f"{_SPACE}{_REPLY}", needs=Can.VIEW, errors=(404,))
@operation("getCommentReplyInChangeRequest", "GET", f"{_CHANGE}{_REPLY}", needs=Can.VIEW, errors=(404,))
def get_reply(
    call: Call, discussion: Discussion, comment_id: str, comment_reply_id: str, query: CommentFormatQuery
) -> CommentReply:
    """Get a reply."""
    return _show_reply(call, discussion, comment_id, comment_reply_id, query.format)


@operation("updateCommentReplyInSpace", "PUT", f"{_SPACE}{_REPLY}", needs=Can.COMMENT, errors=(400, 403, 404))
@operation(
    "updateCommentReplyInChangeRequest",
    "PUT",
    f"{_CHANGE}{_REPLY}",
    needs=Can.COMMENT,
    errors=(400, 403, 404),
)
def update_reply(
    call: Call,
    discussion: Discussion,
    comment_id: str,
    comment_reply_id: str,
    body: UpdateComment,
    query: CommentFormatQuery,
) -> CommentReply:
    """Update a reply: edit its body (author only) and add or remove the caller's reactions. `resolved`
    applies to the whole thread."""
    _update(call, discussion, comment_id, comment_reply_id, body)
    return _show_reply(call, discussion, comment_id, comment_reply_id, query.format)


@operation("deleteCommentReplyInSpace", "DELETE", f"{_SPACE}{_REPLY}", needs=Can.COMMENT, errors=(403, 404))
@operation(
    "deleteCommentReplyInChangeRequest", "DELETE", f"{_CHANGE}{_REPLY}", needs=Can.COMMENT, errors=(403, 404)
)
def delete_reply(call: Call, discussion: Discussion, comment_id: str, comment_reply_id: str) -> bool:
    """Delete a reply. Authors can delete their own replies; people who can edit the content can delete any reply."""
    return posting.delete(call.context, discussion, comment_id, comment_reply_id)


# --- participants -------------------------------------------------------------------------------------


@operation("listCommentersInSpace", "GET", f"{_SPACE}/commenters", needs=Can.VIEW)
@operation("listCommentersInChangeRequest", "GET", f"{_CHANGE}/commenters", needs=Can.VIEW, errors=(404,))
def list_commenters(call: Call, discussion: Discussion, query: PageQuery) -> Listing[Member]:
    """List the members of the organization who commented or replied in a space or change request."""
    with call.db.read() as tx:
        found = store.list_commenters(tx, discussion, query.limit, query.page)
        members = list_members_by_id(tx, discussion.organization_id, list(found.rows))
    return present_slice(found, lambda user_id: present_member(call, members[user_id]))
