"""Comments over their two places, a space and a change request: each operation, once for either."""

from __future__ import annotations

from ..access import Can, SpaceAccess
from ..changes import ChangeAccess
from ..kit.operation import Area, Call, Deletion
from ..kit.pagination import Listing, PageQuery, Slice, present_slice
from . import posting, store
from .places import Place
from .presenting import present_commenters, present_comments, present_replies
from .store import CommentFilter
from .wire import (
    Comment,
    CommenterMember,
    CommentReply,
    CommentsQuery,
    Format,
    FormatQuery,
    PostComment,
    PostReply,
    RepliesQuery,
    UpdateComment,
)

operation = Area("comments").operation

_SPACE = "/spaces/{spaceId}"
_CHANGE = "/spaces/{spaceId}/change-requests/{changeRequestId}"
_COMMENT = "/comments/{commentId}"
_REPLIES = f"{_COMMENT}/replies"
_REPLY = f"{_REPLIES}/{{commentReplyId}}"


# --- what both do -------------------------------------------------------------------------------------


def _list(call: Call, place: Place, query: CommentsQuery) -> Listing[Comment]:
    wanted = CommentFilter(query.status, query.target_page, query.authors)
    with call.db.read() as tx:
        found = store.list_comments(tx, place, wanted, query.order, query.limit, query.page)
        shown = present_comments(call, tx, place, found.rows, query.format)
    return present_slice(Slice(shown, found.count, found.next_token), lambda comment: comment)


def _show(call: Call, place: Place, comment_id: str, format: Format) -> Comment:
    with call.db.read() as tx:
        row = store.get_comment(tx, place, comment_id)
        return present_comments(call, tx, place, [row], format)[0]


def _list_replies(call: Call, place: Place, comment_id: str, query: RepliesQuery) -> Listing[CommentReply]:
    with call.db.read() as tx:
        store.get_comment(tx, place, comment_id)
        found = store.list_replies(tx, comment_id, query.limit, query.page)
        shown = present_replies(call, tx, place, found.rows, query.format)
    return present_slice(Slice(shown, found.count, found.next_token), lambda reply: reply)


def _show_reply(call: Call, place: Place, comment_id: str, reply_id: str, format: Format) -> CommentReply:
    with call.db.read() as tx:
        row = store.get_comment(tx, place, reply_id, comment_id)
        return present_replies(call, tx, place, [row], format)[0]


def _list_commenters(call: Call, place: Place, query: PageQuery) -> Listing[CommenterMember]:
    with call.db.read() as tx:
        found = store.list_commenters(tx, place, query.limit, query.page)
        shown = present_commenters(call, tx, found.rows)
    return present_slice(Slice(shown, found.count, found.next_token), lambda member: member)


# --- spaces -----------------------------------------------------------------------------------------


@operation("listCommentsInSpace", "GET", f"{_SPACE}/comments", needs=Can.VIEW, returns=Listing[Comment])
def list_comments_in_space(call: Call, space: SpaceAccess, query: CommentsQuery) -> Listing[Comment]:
    """The comments of a space, the newest first; filtered by status, page and authors."""
    return _list(call, Place.of(space), query)


@operation(
    "postCommentInSpace", "POST", f"{_SPACE}/comments", needs=Can.COMMENT, returns=Comment, errors=(400, 404)
)
def post_comment_in_space(call: Call, space: SpaceAccess, body: PostComment, query: FormatQuery) -> Comment:
    """Says something about a space, a page of it, a node of that page, or a cell of that node."""
    comment_id = posting.post(call, Place.of(space), body)
    return _show(call, Place.of(space), comment_id, query.format)


@operation("getCommentInSpace", "GET", f"{_SPACE}{_COMMENT}", needs=Can.VIEW, returns=Comment, errors=(404,))
def get_comment_in_space(call: Call, space: SpaceAccess, comment_id: str, query: FormatQuery) -> Comment:
    """One comment."""
    return _show(call, Place.of(space), comment_id, query.format)


@operation(
    "updateCommentInSpace",
    "PUT",
    f"{_SPACE}{_COMMENT}",
    needs=Can.COMMENT,
    returns=Comment,
    errors=(400, 403, 404),
)
def update_comment_in_space(
    call: Call, space: SpaceAccess, comment_id: str, body: UpdateComment, query: FormatQuery
) -> Comment:
    """Changes the words (only of one's own), resolves or opens again, adds and removes the caller's reactions."""
    posting.update(call, Place.of(space), comment_id, None, body)
    return _show(call, Place.of(space), comment_id, query.format)


@operation(
    "deleteCommentInSpace",
    "DELETE",
    f"{_SPACE}{_COMMENT}",
    needs=Can.COMMENT,
    returns=Deletion,
    errors=(403, 404),
)
def delete_comment_in_space(call: Call, space: SpaceAccess, comment_id: str) -> bool:
    """Deletes a comment with its replies: one's own, or anybody's for those who may edit the content."""
    return posting.delete(call, Place.of(space), comment_id)


@operation(
    "listCommentRepliesInSpace",
    "GET",
    f"{_SPACE}{_REPLIES}",
    needs=Can.VIEW,
    returns=Listing[CommentReply],
    errors=(404,),
)
def list_replies_in_space(
    call: Call, space: SpaceAccess, comment_id: str, query: RepliesQuery
) -> Listing[CommentReply]:
    """The replies to a comment, the first one first."""
    return _list_replies(call, Place.of(space), comment_id, query)


@operation(
    "postCommentReplyInSpace",
    "POST",
    f"{_SPACE}{_REPLIES}",
    needs=Can.COMMENT,
    returns=CommentReply,
    errors=(400, 404),
)
def post_reply_in_space(
    call: Call, space: SpaceAccess, comment_id: str, body: PostReply, query: FormatQuery
) -> CommentReply:
    """Replies to a comment."""
    reply_id = posting.reply(call, Place.of(space), comment_id, body)
    return _show_reply(call, Place.of(space), comment_id, reply_id, query.format)


@operation(
    "getCommentReplyInSpace", "GET", f"{_SPACE}{_REPLY}", needs=Can.VIEW, returns=CommentReply, errors=(404,)
)
def get_reply_in_space(
    call: Call, space: SpaceAccess, comment_id: str, comment_reply_id: str, query: FormatQuery
) -> CommentReply:
    """One reply."""
    return _show_reply(call, Place.of(space), comment_id, comment_reply_id, query.format)


@operation(
    "updateCommentReplyInSpace",
    "PUT",
    f"{_SPACE}{_REPLY}",
    needs=Can.COMMENT,
    returns=CommentReply,
    errors=(400, 403, 404),
)
def update_reply_in_space(
    call: Call,
    space: SpaceAccess,
    comment_id: str,
    comment_reply_id: str,
    body: UpdateComment,
    query: FormatQuery,
) -> CommentReply:
    """Changes the words (only of one's own) and the caller's reactions; `resolved` is about the thread."""
    posting.update(call, Place.of(space), comment_id, comment_reply_id, body)
    return _show_reply(call, Place.of(space), comment_id, comment_reply_id, query.format)


@operation(
    "deleteCommentReplyInSpace",
    "DELETE",
    f"{_SPACE}{_REPLY}",
    needs=Can.COMMENT,
    returns=Deletion,
    errors=(403, 404),
)
def delete_reply_in_space(call: Call, space: SpaceAccess, comment_id: str, comment_reply_id: str) -> bool:
    """Deletes a reply: one's own, or anybody's for those who may edit the content."""
    return posting.delete(call, Place.of(space), comment_id, comment_reply_id)


@operation(
    "listCommentersInSpace", "GET", f"{_SPACE}/commenters", needs=Can.VIEW, returns=Listing[CommenterMember]
)
def list_commenters_in_space(call: Call, space: SpaceAccess, query: PageQuery) -> Listing[CommenterMember]:
    """The members of the organization who commented or replied in a space."""
    return _list_commenters(call, Place.of(space), query)


# --- change requests --------------------------------------------------------------------------------


@operation(
    "listCommentsInChangeRequest",
    "GET",
    f"{_CHANGE}/comments",
    needs=Can.VIEW,
    returns=Listing[Comment],
    errors=(404,),
)
def list_comments_in_change(call: Call, change: ChangeAccess, query: CommentsQuery) -> Listing[Comment]:
    """The comments of a change request, the newest first; filtered by status, page and authors."""
    return _list(call, Place.of(change), query)


@operation(
    "postCommentInChangeRequest",
    "POST",
    f"{_CHANGE}/comments",
    needs=Can.COMMENT,
    returns=Comment,
    errors=(400, 404),
)
def post_comment_in_change(
    call: Call, change: ChangeAccess, body: PostComment, query: FormatQuery
) -> Comment:
    """Says something about a change request, a page of it, a node of that page, or a cell of that node."""
    comment_id = posting.post(call, Place.of(change), body)
    return _show(call, Place.of(change), comment_id, query.format)


@operation(
    "getCommentInChangeRequest", "GET", f"{_CHANGE}{_COMMENT}", needs=Can.VIEW, returns=Comment, errors=(404,)
)
def get_comment_in_change(call: Call, change: ChangeAccess, comment_id: str, query: FormatQuery) -> Comment:
    """One comment."""
    return _show(call, Place.of(change), comment_id, query.format)


@operation(
    "updateCommentInChangeRequest",
    "PUT",
    f"{_CHANGE}{_COMMENT}",
    needs=Can.COMMENT,
    returns=Comment,
    errors=(400, 403, 404),
)
def update_comment_in_change(
    call: Call, change: ChangeAccess, comment_id: str, body: UpdateComment, query: FormatQuery
) -> Comment:
    """Changes the words (only of one's own), resolves or opens again, adds and removes the caller's reactions."""
    posting.update(call, Place.of(change), comment_id, None, body)
    return _show(call, Place.of(change), comment_id, query.format)


@operation(
    "deleteCommentInChangeRequest",
    "DELETE",
    f"{_CHANGE}{_COMMENT}",
    needs=Can.COMMENT,
    returns=Deletion,
    errors=(403, 404),
)
def delete_comment_in_change(call: Call, change: ChangeAccess, comment_id: str) -> bool:
    """Deletes a comment with its replies: one's own, or anybody's for those who may edit the content."""
    return posting.delete(call, Place.of(change), comment_id)


@operation(
    "listCommentRepliesInChangeRequest",
    "GET",
    f"{_CHANGE}{_REPLIES}",
    needs=Can.VIEW,
    returns=Listing[CommentReply],
    errors=(404,),
)
def list_replies_in_change(
    call: Call, change: ChangeAccess, comment_id: str, query: RepliesQuery
) -> Listing[CommentReply]:
    """The replies to a comment, the first one first."""
    return _list_replies(call, Place.of(change), comment_id, query)


@operation(
    "postCommentReplyInChangeRequest",
    "POST",
    f"{_CHANGE}{_REPLIES}",
    needs=Can.COMMENT,
    returns=CommentReply,
    errors=(400, 404),
)
def post_reply_in_change(
    call: Call, change: ChangeAccess, comment_id: str, body: PostReply, query: FormatQuery
) -> CommentReply:
    """Replies to a comment."""
    reply_id = posting.reply(call, Place.of(change), comment_id, body)
    return _show_reply(call, Place.of(change), comment_id, reply_id, query.format)


@operation(
    "getCommentReplyInChangeRequest",
    "GET",
    f"{_CHANGE}{_REPLY}",
    needs=Can.VIEW,
    returns=CommentReply,
    errors=(404,),
)
def get_reply_in_change(
    call: Call, change: ChangeAccess, comment_id: str, comment_reply_id: str, query: FormatQuery
) -> CommentReply:
    """One reply."""
    return _show_reply(call, Place.of(change), comment_id, comment_reply_id, query.format)


@operation(
    "updateCommentReplyInChangeRequest",
    "PUT",
    f"{_CHANGE}{_REPLY}",
    needs=Can.COMMENT,
    returns=CommentReply,
    errors=(400, 403, 404),
)
def update_reply_in_change(
    call: Call,
    change: ChangeAccess,
    comment_id: str,
    comment_reply_id: str,
    body: UpdateComment,
    query: FormatQuery,
) -> CommentReply:
    """Changes the words (only of one's own) and the caller's reactions; `resolved` is about the thread."""
    posting.update(call, Place.of(change), comment_id, comment_reply_id, body)
    return _show_reply(call, Place.of(change), comment_id, comment_reply_id, query.format)


@operation(
    "deleteCommentReplyInChangeRequest",
    "DELETE",
    f"{_CHANGE}{_REPLY}",
    needs=Can.COMMENT,
    returns=Deletion,
    errors=(403, 404),
)
def delete_reply_in_change(call: Call, change: ChangeAccess, comment_id: str, comment_reply_id: str) -> bool:
    """Deletes a reply: one's own, or anybody's for those who may edit the content."""
    return posting.delete(call, Place.of(change), comment_id, comment_reply_id)


@operation(
    "listCommentersInChangeRequest",
    "GET",
    f"{_CHANGE}/commenters",
    needs=Can.VIEW,
    returns=Listing[CommenterMember],
    errors=(404,),
)
def list_commenters_in_change(call: Call, change: ChangeAccess, query: PageQuery) -> Listing[CommenterMember]:
    """The members of the organization who commented or replied in a change request."""
    return _list_commenters(call, Place.of(change), query)
